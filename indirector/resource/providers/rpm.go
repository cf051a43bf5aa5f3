package providers

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// A redhat does packages by rpm, or by yum or dnf above it. Rule RES-PKG-03.
type redhat struct {
	packages
	program string // rpm, yum or dnf
	log     logger
	updates map[string]string // versions by name, with and without architecture; nil: not asked
}

func newRPM(log logger) Provider { return newRedhatPackages(log, "rpm") }
func newYum(log logger) Provider { return newRedhatPackages(log, "yum") }
func newDnf(log logger) Provider { return newRedhatPackages(log, "dnf") }

func newRedhatPackages(log logger, program string) *redhat {
	p := &redhat{program: program, log: log}
	p.query = p.ask
	return p
}

const rpmFormat = `%{NAME} %|EPOCH?{%{EPOCH}}:{0}| %{VERSION} %{RELEASE} %{ARCH}\n`

var rpmLine = regexp.MustCompile(`^'?(\S+) (\S+) (\S+) (\S+) (\S+)$`)

// separator stands between versions that are installed side by side.
const separator = "; "

// parseRPM reads lines that are in order of names. Several versions become one package.
func parseRPM(lines []string) []*pkg {
	var all []*pkg
	for _, line := range lines {
		m := rpmLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		version := m[3] + "-" + m[4]
		if m[2] != "0" {
			version = m[2] + ":" + version
		}
		if n := len(all); n > 0 && all[n-1].name == m[1] {
			last := all[n-1]
			if !strings.Contains(last.ensure.Str(), version) {
				last.ensure = data.OfString(last.ensure.Str() + separator + version)
			}
			continue
		}
		all = append(all, &pkg{name: m[1], ensure: data.OfString(version), version: m[3], release: m[4], arch: m[5]})
	}
	return all
}

// list asks for all packages at once.
func (p *redhat) list(ctx context.Context, s System) ([]*pkg, error) {
	out, err := execute(ctx, s, command(s, "rpm"), "-qa", "--nosignature", "--nodigest", "--qf", rpmFormat)
	if failed := (*ExecutionFailure)(nil); errors.As(err, &failed) {
		return nil, &indirector.Failure{Message: "Failed to list packages", Origin: "exec", Err: err}
	}
	lines := strings.Split(out, "\n")
	slices.Sort(lines)
	return parseRPM(lines), err
}

func (p *redhat) Instances(ctx context.Context, s System) ([]Instance, error) {
	all, err := instancesOf(p.list(ctx, s))
	for i := range all {
		all[i].Properties = all[i].Properties[:1] // it marks none
	}
	return all, err
}

func (p *redhat) Prefetch(ctx context.Context, s System, _ []*types.Resource) error {
	if p.program != "rpm" && s.UID() != 0 {
		return failure("The yum provider can only be used as root")
	}
	all, err := p.list(ctx, s)
	p.keep(all)
	return err
}

// ask asks for one package, by its name or by what it provides.
func (p *redhat) ask(ctx context.Context, s System, r *types.Resource) (*pkg, error) {
	argv := []string{command(s, "rpm"), "-q", r.Name(), "--nosignature", "--nodigest", "--qf", rpmFormat}
	out, code, err := ask(ctx, s, argv...)
	if err == nil && code != 0 && r.Value("allow_virtual").Truthy() {
		out, code, err = ask(ctx, s, append(argv, "--whatprovides")...)
	}
	if err != nil {
		return nil, err
	}
	if found := parseRPM(strings.Split(out, "\n")); code == 0 && len(found) > 0 {
		return found[0], nil
	}
	gone := data.OfSymbol("purged")
	if p.program == "rpm" {
		gone = absent // it cannot purge
	}
	return &pkg{name: r.Name(), ensure: gone}, nil
}

func (p *redhat) Set(ctx context.Context, s System, r *types.Resource, property string) error {
	if property != "ensure" {
		return nil
	}
	switch r.Value("ensure").Text() {
	case "absent":
		return p.erase(ctx, s, r)
	case "purged":
		return p.run(ctx, s, command(s, p.program), "-y", "erase", r.Name())
	case "present", "installed":
		return p.install(ctx, s, r)
	default:
		return updated(p.install(ctx, s, r))
	}
}

func (p *redhat) run(ctx context.Context, s System, argv ...string) error {
	_, err := executeAs(ctx, s, Command{Argv: argv, Limit: -1})
	return err
}

func (p *redhat) install(ctx context.Context, s System, r *types.Resource) error {
	if p.program == "rpm" {
		return p.unpack(ctx, s, r)
	}
	level := "0"
	if p.program == "dnf" {
		level = "1"
	}
	head := append([]string{command(s, p.program), "-d", "0", "-e", level, "-y"}, options(r, "install_options")...)
	name, source := r.Name(), r.Value("source")
	if !r.Value("allow_virtual").Truthy() {
		if err := p.run(ctx, s, append(slices.Clone(head), "list", name)...); err != nil {
			return err
		}
	}
	want := first(r.Should("ensure"))
	what, operation, version := name, "install", ""
	if source.Truthy() && want.Text() != "latest" {
		what = source.Text()
	}
	switch {
	case want.Text() == "latest":
		is, err := p.query(ctx, s, r)
		if err != nil {
			return err
		}
		if is.ensure.Kind() == data.String {
			operation = p.update()
		}
	case want.Kind() == data.String:
		var err error
		if version, err = p.best(ctx, s, r, want.Str()); err != nil {
			return err
		}
		if !source.Truthy() {
			what = withVersion(name, version)
		}
		if operation, err = p.operation(ctx, s, r, version); err != nil {
			return err
		}
	}
	out, err := executeAs(ctx, s, Command{Argv: append(head, operation, what), Limit: -1})
	if err != nil {
		return err
	}
	if slices.Contains(strings.Split(out, "\n"), "No package "+what+" available.") {
		return failure("Could not find package %s", what)
	}
	return p.check(ctx, s, r, version)
}

// withVersion puts a version behind a name, before the architecture that the name may end
// with.
func withVersion(name, version string) string {
	if at := architectures.FindStringIndex(name); at != nil {
		return name[:at[0]] + name[at[1]:] + "-" + version + name[at[0]:at[1]]
	}
	return name + "-" + version
}

// check looks whether the version that was wanted is there now.
func (p *redhat) check(ctx context.Context, s System, r *types.Resource, version string) error {
	if version == "" {
		return nil
	}
	is, err := p.query(ctx, s, r)
	if err != nil {
		return err
	}
	if is.ensure.Kind() != data.String {
		return failure("Could not find package %s", r.Name())
	}
	if !p.in(r, is.ensure, r.Value("ensure")) {
		return failure("Failed to update to version %s, got version %s instead", version, is.ensure.Str())
	}
	return nil
}

func (p *redhat) update() string {
	if p.program == "dnf" {
		return "upgrade"
	}
	return "update"
}

// operation is what makes a version of the one that is there.
func (p *redhat) operation(ctx context.Context, s System, r *types.Resource, version string) (string, error) {
	is, err := p.query(ctx, s, r)
	if err != nil || is.ensure.Kind() != data.String {
		return "install", err
	}
	c := compareRPM(version, is.ensure.Str())
	switch {
	case r.Value("install_only").Truthy(), c > 0:
		return p.update(), nil
	case c < 0:
		return "downgrade", nil
	}
	return "install", nil
}

// best is the newest version that is available within a range, or the version itself.
func (p *redhat) best(ctx context.Context, s System, r *types.Resource, want string) (string, error) {
	in, ok := rpmRange(want)
	if !ok || in.exact {
		return want, nil
	}
	out, err := execute(ctx, s, command(s, p.program), "list", r.Name(), "--showduplicates")
	if err != nil {
		return "", err
	}
	_, out, _ = strings.Cut(out, "Available Packages\n")
	best := ""
	for line := range strings.Lines(out) {
		if words := strings.Fields(line); len(words) > 1 && in.has(words[1]) && (best == "" || compareWhole(words[1], best) > 0) {
			best = words[1]
		}
	}
	if best == "" {
		return want, nil
	}
	if epoch, rest, ok := strings.Cut(best, ":"); ok && strings.Trim(epoch, "0123456789") == "" {
		best = rest
	}
	return best, nil
}

// unpack is rpm's installation, from a file.
func (p *redhat) unpack(ctx context.Context, s System, r *types.Resource) error {
	source := r.Value("source")
	if !source.Truthy() {
		return failure("RPMs must specify a package source")
	}
	is, err := p.of(ctx, s, r)
	if err != nil {
		return err
	}
	want := first(r.Should("ensure"))
	if data.Equal(want, is.ensure) {
		return nil
	}
	if want.Text() == "latest" {
		if newest, err := p.latest(ctx, s, r); err != nil || data.Equal(newest, is.ensure) {
			return err
		}
	}
	argv := []string{command(s, "rpm"), "-i"}
	if is.ensure.Kind() == data.String {
		argv = []string{command(s, "rpm"), "-U", "--oldpackage"}
	}
	return p.run(ctx, s, append(append(argv, options(r, "install_options")...), source.Text())...)
}

// erase removes a package by rpm.
func (p *redhat) erase(ctx context.Context, s System, r *types.Resource) error {
	is, err := p.query(ctx, s, r)
	if err != nil {
		return err
	}
	names := []string{is.name}
	nav := is.name + "-" + is.version
	switch {
	case is.version != "" && strings.HasPrefix(r.Name(), nav+"-"+is.release):
		names = []string{nav + "-" + is.release}
	case is.version != "" && strings.HasPrefix(r.Name(), nav):
		names = []string{nav}
	case r.Value("install_only").Truthy():
		names = nil
		for version := range strings.SplitSeq(is.ensure.Text(), separator) {
			names = append(names, is.name+"-"+version)
		}
	}
	if is.arch != "" && strings.HasSuffix(r.Name(), "."+is.arch) {
		names[len(names)-1] += "." + is.arch
	}
	argv := append([]string{command(s, "rpm"), "-e"}, options(r, "uninstall_options")...)
	return p.run(ctx, s, append(argv, names...)...)
}

var updateVersion = regexp.MustCompile(`^(?:\d+:)?\S+-\S+$`)

// latest is the version that there is an update to, else the one that is there.
func (p *redhat) latest(ctx context.Context, s System, r *types.Resource) (data.Value, error) {
	if p.program == "rpm" {
		source := r.Value("source")
		if !source.Truthy() {
			return data.Value{}, failure("RPMs must specify a package source")
		}
		out, err := execute(ctx, s, command(s, "rpm"), "-q", "--qf", rpmFormat, "-p", source.Text())
		if found := parseRPM(strings.Split(out, "\n")); err == nil && len(found) > 0 {
			return found[0].ensure, nil
		}
		return data.Value{}, err
	}
	if p.updates == nil {
		if err := p.askUpdates(ctx, s, r); err != nil {
			return data.Value{}, err
		}
	}
	if version := p.updates[r.Name()]; version != "" {
		if !strings.Contains(version, ":") {
			version = "0:" + version
		}
		return data.OfString(version), nil
	}
	is, err := p.of(ctx, s, r)
	if err != nil {
		return data.Value{}, err
	}
	if is.ensure.Kind() != data.String {
		return data.Value{}, &indirector.Failure{Class: "Puppet::DevError", Message: "Tried to get latest on a missing package"}
	}
	return is.ensure, nil
}

// askUpdates asks once for all packages that there are updates of.
func (p *redhat) askUpdates(ctx context.Context, s System, r *types.Resource) error {
	argv := []string{command(s, p.program), "check-update"}
	for _, option := range options(r, "install_options") {
		if name, _, _ := strings.Cut(option, "="); slices.Contains([]string{"--enablerepo", "--disablerepo", "--disableexcludes"}, name) {
			argv = append(argv, option)
		}
	}
	result, err := s.Run(ctx, Command{Argv: argv, Apart: true})
	if err != nil {
		return err
	}
	p.updates = map[string]string{}
	if result.Exit != 0 && result.Exit != 100 {
		p.log.own(r, "warning", "Could not check for updates, '"+command(s, p.program)+" check-update' exited with "+itoa(result.Exit))
	}
	if result.Exit == 100 {
		parseUpdates(string(result.Output), p.updates)
	}
	return nil
}

// parseUpdates reads what check-update prints: names with architecture, versions and
// repositories, up to what is obsolete.
func parseUpdates(out string, updates map[string]string) {
	var words []string
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "Obsoleting") || strings.HasPrefix(line, "Security:") || strings.HasPrefix(line, "Update") {
			break
		}
		words = append(words, strings.Fields(line)...)
	}
	for i := 0; i+1 < len(words); i++ {
		at := strings.LastIndexByte(words[i], '.')
		if at <= 0 || !updateVersion.MatchString(words[i+1]) {
			continue
		}
		for _, name := range []string{words[i], words[i][:at]} {
			if updates[name] == "" {
				updates[name] = words[i+1]
			}
		}
		i += 2
	}
}

func (p *redhat) in(r *types.Resource, is, want data.Value) bool {
	if is.Kind() != data.String || want.Kind() != data.String {
		return false
	}
	versions := strings.Split(is.Str(), separator)
	if len(versions) > 1 && !r.Value("install_only").Truthy() {
		return false
	}
	bounds, ok := rpmRange(want.Str())
	return slices.ContainsFunc(versions, func(v string) bool {
		if p.program != "rpm" && ok && !bounds.exact {
			return bounds.has(v)
		}
		return compareRPM(want.Str(), v) == 0
	})
}

// InSync compares what is installed with what is wanted.
func (p *redhat) InSync(ctx context.Context, s System, r *types.Resource, property string, is data.Value) (in, ok bool, err error) {
	return packageInSync(r, property, is,
		func() (data.Value, error) { return p.latest(ctx, s, r) },
		func(want data.Value) (bool, error) { return p.in(r, is, want), nil })
}

// Flush forgets what was known of a package.
func (p *redhat) Flush(_ context.Context, _ System, r *types.Resource) error {
	delete(p.known, r.Name())
	return nil
}
