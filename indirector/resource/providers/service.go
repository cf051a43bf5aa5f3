package providers

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

func itoa(n int) string { return strconv.Itoa(n) }

// A service is what all kinds of services have in common: own commands and the process
// table. Rule RES-SVC-02.
type service struct {
	log logger
	way way
}

// A way is how one kind of system does services. A command that is nil is left to
// the process table, or refused.
type way interface {
	// words is the command that starts, stops, restarts, or answers whether a service
	// runs.
	words(ctx context.Context, s System, r *types.Resource, verb string) ([]string, error)
	enabled(ctx context.Context, s System, r *types.Resource) (data.Value, error)
	// enable sees to it that a service starts with the system, or not, or cannot.
	enable(ctx context.Context, s System, r *types.Resource, to string) error
}

func newBase(log logger) Provider { return &service{log, base{}} }

// base knows no commands but those of the resource.
type base struct{}

func (base) words(_ context.Context, _ System, r *types.Resource, verb string) ([]string, error) {
	if verb != "start" {
		return nil, nil
	}
	if binary := r.Value("binary"); binary.Truthy() {
		return []string{binary.Text()}, nil
	}
	return nil, &indirector.Failure{Message: "Services must specify a start command or a binary"}
}

func (base) enabled(context.Context, System, *types.Resource) (data.Value, error) {
	return data.Value{}, nil
}
func (base) enable(context.Context, System, *types.Resource, string) error { return nil }

// run runs the command of a verb: that of the resource, or that of the system. It returns
// false if there is none.
func (v *service) run(ctx context.Context, s System, r *types.Resource, verb string) (Result, bool, error) {
	c := Command{Shell: r.Value(verb).Text(), Locale: true}
	if c.Shell == "" {
		argv, err := v.way.words(ctx, s, r, verb)
		if err != nil || argv == nil {
			return Result{}, false, err
		}
		c.Argv = argv
	} else if !strings.ContainsAny(c.Shell, "*?{}[]<>()~&|\\$;'`\"\n#=%") {
		c.Argv, c.Shell = strings.Fields(c.Shell), "" // Ruby gives it to no shell either
	}
	result, err := s.Run(ctx, c)
	if err == nil && verb != "status" && result.Exit != 0 {
		err = failure("Could not %s %s: %w", verb, r.Ref(), &ExecutionFailure{c.String(), result})
	}
	return result, true, err
}

// status is running or stopped.
func (v *service) status(ctx context.Context, s System, r *types.Resource) (data.Value, error) {
	result, ok, err := v.run(ctx, s, r, "status")
	if err != nil {
		return data.Value{}, err
	}
	runs := result.Exit == 0
	if !ok {
		pid, err := v.process(ctx, s, r)
		if err != nil {
			return data.Value{}, err
		}
		runs = pid != ""
	}
	if runs {
		return data.OfSymbol("running"), nil
	}
	return data.OfSymbol("stopped"), nil
}

// process looks for the pattern of a service in the process table, and returns the first
// pid, or "".
func (v *service) process(ctx context.Context, s System, r *types.Resource) (string, error) {
	pattern, err := regexp.Compile(r.Value("pattern").Text())
	if err != nil {
		return "", failure("the pattern of %s is no regular expression: %w", r.Ref(), err)
	}
	out, err := execute(ctx, s, "ps", "-ef")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(strings.ToValidUTF8(out, "\uFFFD")) {
		if words := strings.Fields(line); len(words) > 1 && pattern.MatchString(line) {
			return words[1], nil
		}
	}
	return "", nil
}

func (v *service) Retrieve(ctx context.Context, s System, r *types.Resource) ([]data.Pair, error) {
	var is []data.Pair
	for _, name := range r.Properties() {
		var value data.Value
		var err error
		switch name {
		case "ensure":
			value, err = v.status(ctx, s, r)
		case "enable":
			value, err = v.way.enabled(ctx, s, r)
		}
		if err != nil {
			return nil, err
		}
		is = append(is, data.P(name, value))
	}
	return is, nil
}

// Set starts or stops a service, then sees to it that it is enabled or not.
func (v *service) Set(ctx context.Context, s System, r *types.Resource, property string) error {
	if property == "enable" {
		return v.way.enable(ctx, s, r, r.Value("enable").Text())
	}
	if property != "ensure" {
		return nil
	}
	verb := "start"
	if r.Value("ensure").Text() == "stopped" {
		verb = "stop"
	}
	if err := v.do(ctx, s, r, verb); err != nil || !r.Has("enable") {
		return err
	}
	is, err := v.way.enabled(ctx, s, r)
	if err != nil {
		return err
	}
	in, ok, err := v.InSync(ctx, s, r, "enable", is)
	if err == nil && !ok {
		in, err = r.InSync("enable", is)
	}
	if err != nil || in {
		return err
	}
	return v.way.enable(ctx, s, r, r.Value("enable").Text())
}

// A preparer does something before a service is started or restarted, and words failures.
type preparer interface {
	prepare(ctx context.Context, s System, r *types.Resource, verb string) error
	explain(ctx context.Context, s System, r *types.Resource, verb string, err error) error
}

// do starts, stops or restarts.
func (v *service) do(ctx context.Context, s System, r *types.Resource, verb string) error {
	p, prepares := v.way.(preparer)
	if prepares {
		if err := p.prepare(ctx, s, r, verb); err != nil {
			return err
		}
	}
	_, ok, err := v.run(ctx, s, r, verb)
	switch {
	case err != nil && prepares && ctx.Err() == nil:
		return p.explain(ctx, s, r, verb, err)
	case err != nil || ok:
		return err
	case verb == "restart":
		return errors.Join(v.do(ctx, s, r, "stop"), v.do(ctx, s, r, "start"))
	}
	return v.kill(ctx, s, r)
}

// kill ends the process of a service that has no command to stop.
func (v *service) kill(ctx context.Context, s System, r *types.Resource) error {
	pid, err := v.process(ctx, s, r)
	if err != nil {
		return err
	}
	if pid == "" {
		v.log.own(r, "info", r.Name()+" is not running")
		return nil
	}
	out, err := execute(ctx, s, command(s, "kill"), pid)
	if failed := (*ExecutionFailure)(nil); errors.As(err, &failed) {
		return failure("Could not kill %s, PID %s: %s", r.Name(), pid, out)
	}
	return err
}

// Refresh restarts what runs. Rule RES-REF-07.
func (v *service) Refresh(ctx context.Context, s System, r *types.Resource) error {
	is, err := v.status(ctx, s, r)
	if err != nil {
		return err
	}
	if is.Text() != "running" {
		v.log.note(r, "debug", "Skipping restart; service is not running")
		return nil
	}
	return v.do(ctx, s, r, "restart")
}

// InSync leaves the comparison to the type, unless the way knows better.
func (v *service) InSync(ctx context.Context, s System, r *types.Resource, property string, is data.Value) (in, ok bool, err error) {
	if c, knows := v.way.(Comparer); knows && property == "enable" {
		return c.InSync(ctx, s, r, property, is)
	}
	return false, false, nil
}

// An initWay does services by scripts. Rule RES-SVC-04.
type initWay struct {
	log logger
	by  string // init, debian or redhat
}

func newInit(log logger) Provider   { return newInitWay(log, "init") }
func newDebian(log logger) Provider { return newInitWay(log, "debian") }
func newRedhat(log logger) Provider { return newInitWay(log, "redhat") }

// An initService is a service that can be listed.
type initService struct {
	service
	way *initWay
}

func newInitWay(log logger, by string) Provider {
	w := &initWay{log, by}
	return &initService{service{log, w}, w}
}

func (w *initWay) words(ctx context.Context, s System, r *types.Resource, verb string) ([]string, error) {
	asks := verb == "status" && r.Value("hasstatus").Text() != "true"
	if asks || verb == "restart" && r.Value("hasrestart").Text() != "true" {
		return nil, nil
	}
	if w.by == "redhat" || w.by == "debian" && verb == "status" {
		return []string{command(s, "service"), r.Name(), verb}, nil
	}
	script, err := w.script(ctx, s, r)
	if err != nil {
		return nil, err
	}
	return []string{script, verb}, nil
}

// script is the init script of a service.
func (w *initWay) script(ctx context.Context, s System, r *types.Resource) (string, error) {
	dirs := r.Value("path").List()
	if one := r.Value("path"); one.Kind() == data.String {
		dirs = []data.Value{one}
	}
	for _, suffix := range []string{"", ".sh"} {
		for _, dir := range dirs {
			name := path.Join(dir.Text(), r.Name()+suffix)
			if info, err := s.Stat(ctx, dir.Text()); err != nil || info.Kind != "directory" {
				continue
			}
			if _, err := s.Stat(ctx, name); err == nil {
				return name, nil
			}
		}
	}
	return "", failure("Could not find init script for '%s'", r.Name())
}

func (w *initWay) enabled(ctx context.Context, s System, r *types.Resource) (data.Value, error) {
	switch w.by {
	case "debian":
		return queryDebian(ctx, s, r)
	case "redhat":
		_, code, err := ask(ctx, s, command(s, "chkconfig"), r.Name())
		return data.OfSymbol(strconv.FormatBool(code == 0)), err
	}
	return data.Value{}, nil
}

// queryDebian asks invoke-rc.d, and counts links where it does not know.
func queryDebian(ctx context.Context, s System, r *types.Resource) (data.Value, error) {
	_, code, err := ask(ctx, s, "/usr/sbin/invoke-rc.d", "--quiet", "--query", r.Name(), "start")
	if err != nil {
		return data.Value{}, err
	}
	enabled := code == 104 || code == 106
	if code == 101 || code == 105 {
		name := r.Name()
		if strings.Contains(name, ".service") {
			name, _, _ = strings.Cut(name, ".")
		}
		enabled = startLinks(ctx, s, name) >= 4
	}
	return data.OfSymbol(strconv.FormatBool(enabled)), nil
}

// startLinks counts /etc/rc*.d/S??name.
func startLinks(ctx context.Context, s System, name string) int {
	dirs, err := s.ReadDir(ctx, s.Path("/etc"))
	if err != nil {
		return 0
	}
	n := 0
	for _, dir := range dirs {
		if ok, _ := filepath.Match("rc*.d", dir); !ok {
			continue
		}
		links, _ := s.ReadDir(ctx, path.Join(s.Path("/etc"), dir)) // without it there are none
		for _, link := range links {
			if len(link) == len(name)+3 && link[0] == 'S' && link[3:] == name {
				n++
			}
		}
	}
	return n
}

func (w *initWay) enable(ctx context.Context, s System, r *types.Resource, to string) error {
	yes := to == "true"
	if w.by == "redhat" {
		argv := [][]string{{"--level", "0123456", r.Name(), "off"}}
		verb := "disable"
		if yes {
			verb, argv = "enable", [][]string{{"--add", r.Name()}, {r.Name(), "on"}}
		}
		for _, args := range argv {
			if _, err := execute(ctx, s, append([]string{command(s, "chkconfig")}, args...)...); err != nil {
				return failure("Could not %s %s: %w", verb, r.Name(), err)
			}
		}
		return nil
	}
	if w.by != "debian" {
		return nil
	}
	update := command(s, "update-rc.d")
	calls := [][]string{{"-f", r.Name(), "remove"}, {r.Name(), "defaults"}}
	if !yes {
		var err error
		if calls, err = w.disabling(ctx, s, r); err != nil {
			return err
		}
	}
	for _, args := range calls {
		if _, err := execute(ctx, s, append([]string{update}, args...)...); err != nil {
			return err
		}
	}
	return nil
}

// disabling are the calls of update-rc.d that disable: its older versions cannot.
func (w *initWay) disabling(ctx context.Context, s System, r *types.Resource) ([][]string, error) {
	result, err := s.Run(ctx, Command{Shell: "dpkg --compare-versions $(dpkg-query -W --showformat '${Version}' sysv-rc) ge 2.88 ; echo $?"})
	if n, _ := strconv.Atoi(strings.TrimSpace(string(result.Output))); n == 0 {
		return [][]string{{r.Name(), "disable"}}, err
	}
	return [][]string{{"-f", r.Name(), "remove"}, {r.Name(), "stop", "00", "1", "2", "3", "4", "5", "6", "."}}, err
}

// notServices are scripts in the directory of init that are none.
var notServices = strings.Fields(`functions.sh reboot.sh shutdown.sh functions halt killall single linuxconf reboot boot
	wait-for-state portmap-wait rcS module-init-tools plymouth-ready idmapd-mounting startpar-bridge cryptdisks-udev
	statd-mounting gssd-mounting`)

// Instances are the scripts that can be run. What they are is left to Retrieve.
func (v *initService) Instances(ctx context.Context, s System) ([]Instance, error) {
	dir := s.Path("/etc/init.d")
	names, err := s.ReadDir(ctx, dir)
	if err != nil {
		return nil, nil //nolint:nilerr // without the directory there are none
	}
	var all []Instance
	for _, name := range names {
		file := path.Join(dir, name)
		info, err := s.Lstat(ctx, file)
		if err == nil && info.Kind == "link" {
			if to, _ := s.Readlink(ctx, file); to == "/lib/init/upstart-job" {
				continue
			}
			info, err = s.Stat(ctx, file)
		}
		if err != nil || strings.HasPrefix(name, ".") || slices.Contains(notServices, name) || info.Kind == "directory" || info.Mode&0o111 == 0 {
			continue
		}
		all = append(all, Instance{Name: name})
	}
	return all, nil
}
