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

// A pkg is what is known of a package.
type pkg struct {
	name, desired, failed, status string
	ensure                        data.Value
	mark                          data.Value // nil if it is not known
	version, release, arch        string     // of RPM
}

func (p *pkg) properties() []data.Pair {
	is := []data.Pair{data.P("ensure", p.ensure)}
	if isAbsent(p.ensure) {
		return append(is, data.P("mark", absent))
	}
	return append(is, data.P("mark", p.mark))
}

// packages are those that a package manager was asked for: all at once, or one by one.
type packages struct {
	known map[string]*pkg
	query func(ctx context.Context, s System, r *types.Resource) (*pkg, error) // asks for one
}

// keep notes what was read of all.
func (k *packages) keep(all []*pkg) {
	k.known = make(map[string]*pkg, len(all))
	for _, p := range all {
		k.known[p.name] = p
	}
}

// of returns the package of a resource: as it was read, or asked for by itself.
func (k *packages) of(ctx context.Context, s System, r *types.Resource) (*pkg, error) {
	if p := k.known[r.Name()]; p != nil {
		return p, nil
	}
	p, err := k.query(ctx, s, r)
	if err == nil {
		if k.known == nil {
			k.known = map[string]*pkg{}
		}
		k.known[r.Name()] = p
	}
	return p, err
}

// Retrieve reads the properties of a package that r has.
func (k *packages) Retrieve(ctx context.Context, s System, r *types.Resource) ([]data.Pair, error) {
	p, err := k.of(ctx, s, r)
	if err != nil {
		return nil, err
	}
	return retrieved(r, p.ensure, func(name string) (data.Value, error) {
		if name == "mark" {
			return p.mark, nil
		}
		return data.Value{}, nil
	})
}

// A debian does packages by dpkg, or by apt above it. Rules RES-PKG-01 and RES-PKG-02.
type debian struct {
	packages
	apt bool
	log logger
	// manual are the packages that were installed by hand before anything was changed.
	// Puppet asks for them whenever it lists, which takes longer than all the rest.
	manual []string
	asked  bool
}

func newDpkg(log logger) Provider { return newDebianPackages(log, false) }
func newApt(log logger) Provider  { return newDebianPackages(log, true) }

func newDebianPackages(log logger, apt bool) *debian {
	d := &debian{apt: apt, log: log}
	d.query = d.ask
	return d
}

// dpkgFormat has its quotes, because Puppet gives it to dpkg-query with them.
const dpkgFormat = `'${Status} ${Package} ${Version}\n'`

// Without a shell the quotes are printed, too: two of them are between packages.
var dpkgLine = regexp.MustCompile(`^'*(\S+) +(\S+) +(\S+) (\S+) (\S*)$`)

func parseDpkg(line string) *pkg {
	m := dpkgLine.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	p := &pkg{desired: m[1], failed: m[2], status: m[3], name: m[4], ensure: data.OfString(m[5]), mark: data.OfSymbol("none")}
	switch m[3] {
	case "not-installed":
		p.ensure = data.OfSymbol("purged")
	case "config-files", "half-installed", "unpacked", "half-configured":
		p.ensure = absent
	}
	if p.desired == "hold" {
		p.mark = data.OfSymbol("hold")
	}
	return p
}

// list asks for all packages at once.
func (d *debian) list(ctx context.Context, s System) ([]*pkg, error) {
	out, err := execute(ctx, s, command(s, "dpkg-query"), "-W", "--showformat", dpkgFormat)
	if failed := (*ExecutionFailure)(nil); errors.As(err, &failed) {
		// Puppet has lost the output by then, and shows the pipe that it came from.
		return nil, &indirector.Failure{Class: "Puppet::ExecutionFailure", Message: "#<IO:(closed)>", Origin: "exec", Hidden: out, Err: err}
	}
	if err != nil {
		return nil, err
	}
	var all []*pkg
	for line := range strings.Lines(out) {
		if p := parseDpkg(strings.TrimSuffix(line, "\n")); p != nil {
			all = append(all, p)
		}
	}
	return all, nil
}

func (d *debian) Instances(ctx context.Context, s System) ([]Instance, error) {
	return instancesOf(d.list(ctx, s))
}

func instancesOf(packages []*pkg, err error) ([]Instance, error) {
	all := make([]Instance, len(packages))
	for i, p := range packages {
		all[i] = Instance{Name: p.name, Properties: p.properties()}
	}
	return all, err
}

func (d *debian) Prefetch(ctx context.Context, s System, _ []*types.Resource) error {
	all, err := d.list(ctx, s)
	d.keep(all)
	return err
}

// ask asks for one package.
func (d *debian) ask(ctx context.Context, s System, r *types.Resource) (*pkg, error) {
	if r.Value("allow_virtual").Truthy() {
		if err := d.provided(ctx, s, r); err != nil {
			return nil, err
		}
	}
	out, err := execute(ctx, s, command(s, "dpkg-query"), "-W", "--showformat", dpkgFormat, r.Name())
	if failed := (*ExecutionFailure)(nil); errors.As(err, &failed) {
		return &pkg{name: r.Name(), failed: "ok", status: "missing", ensure: data.OfSymbol("purged")}, nil
	}
	if err != nil {
		return nil, err
	}
	line, _, _ := strings.Cut(out, "\n")
	p := parseDpkg(line)
	if p == nil {
		p = &pkg{name: r.Name(), failed: "ok", status: "missing", ensure: absent}
	}
	if p.failed != "ok" {
		return nil, failure("Package %s, version %s is in error state: %s", p.name, p.ensure.Text(), p.failed)
	}
	if d.apt && p.ensure.Kind() == data.String {
		out, err := execute(ctx, s, command(s, "apt-mark"), "showmanual", r.Name())
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(out) == r.Name() {
			p.mark = data.OfSymbol("manual")
		}
	}
	return p, nil
}

// provided finds the package that provides a virtual one, and is meant from then on.
func (d *debian) provided(ctx context.Context, s System, r *types.Resource) error {
	out, code, err := ask(ctx, s, command(s, "dpkg-query"), "-W", "--showformat", `'${Status} ${Package} ${Version} [${Provides}]\n'`)
	if err != nil || code != 0 {
		return err
	}
	named := regexp.MustCompile(`[\[ ]` + regexp.QuoteMeta(r.Name()) + `[\],]`)
	for line := range strings.Lines(out) {
		if !named.MatchString(line) {
			continue
		}
		head, _, _ := strings.Cut(line, " [")
		if p := parseDpkg(head); p != nil {
			d.log.line(Line{Level: "info", Message: "Package " + r.Name() + " is virtual, defaulting to " + p.name})
			return r.Set("name", data.OfString(p.name))
		}
		return nil
	}
	return nil
}

func (d *debian) Set(ctx context.Context, s System, r *types.Resource, property string) error {
	if d.apt && !d.asked {
		out, err := execute(ctx, s, command(s, "apt-mark"), "showmanual")
		if err != nil {
			return err
		}
		d.manual, d.asked = strings.Split(out, "\n"), true
	}
	if property == "mark" {
		return d.hold(ctx, s, r, r.Value("mark").Text() == "hold")
	}
	switch want := r.Value("ensure"); want.Text() {
	case "absent":
		return d.remove(ctx, s, r, false)
	case "purged":
		return d.remove(ctx, s, r, true)
	case "present", "installed":
		return d.install(ctx, s, r)
	default:
		return updated(d.install(ctx, s, r))
	}
}

// updated words the error of what was to become another version.
func updated(err error) error {
	if err != nil {
		return failure("Could not update: %w", err)
	}
	return nil
}

// aptEnvironment keeps apt from asking.
var aptEnvironment = []string{"DEBIAN_FRONTEND=noninteractive", "APT_LISTBUGS_FRONTEND=none", "APT_LISTCHANGES_FRONTEND=none"}

// change runs a command that changes packages. It may take as long as it needs.
func (d *debian) change(ctx context.Context, s System, argv ...string) error {
	c := Command{Argv: argv, Limit: -1}
	if d.apt {
		c.Env = aptEnvironment
	}
	_, err := executeAs(ctx, s, c)
	return err
}

// hold lets dpkg keep a version, or not.
func (d *debian) hold(ctx context.Context, s System, r *types.Resource, yes bool) error {
	state := " install\n"
	if yes {
		state = " hold\n"
	}
	_, err := s.Run(ctx, Command{Argv: []string{"dpkg", "--set-selections"}, Stdin: []byte(r.Name() + state), Apart: true})
	return err
}

// held runs an installation with the package let go before and held after it.
func (d *debian) held(ctx context.Context, s System, r *types.Resource, install func() error) error {
	p, err := d.of(ctx, s, r)
	if err != nil {
		return err
	}
	if p.mark.Text() == "hold" {
		if err := d.hold(ctx, s, r, false); err != nil {
			return err
		}
	}
	err = install()
	if r.Value("mark").Text() == "hold" {
		err = errors.Join(err, d.hold(ctx, s, r, true))
	}
	return err
}

func (d *debian) install(ctx context.Context, s System, r *types.Resource) error {
	if !d.apt {
		return d.unpack(ctx, s, r)
	}
	if err := d.preseed(ctx, s, r); err != nil {
		return err
	}
	version, err := d.version(ctx, s, r)
	if err != nil {
		return err
	}
	if err := noDisc(ctx, s, r); err != nil {
		return err
	}
	argv := []string{command(s, "apt-get"), "-q", "-y"}
	if v := r.Value("configfiles"); v.Text() == "keep" {
		argv = append(argv, "-o", "DPkg::Options::=--force-confold")
	} else if !v.IsNil() {
		argv = append(argv, "-o", "DPkg::Options::=--force-confnew")
	}
	what := r.Name()
	if version != "" {
		what += "=" + version
		argv = append(argv, "--force-yes")
	}
	if source := r.Value("source"); source.Truthy() {
		what = source.Text()
	}
	argv = append(argv, options(r, "install_options")...)
	if err := d.held(ctx, s, r, func() error { return d.change(ctx, s, append(argv, "install", what)...) }); err != nil {
		return err
	}
	if !r.Value("source").Truthy() || version == "" {
		return nil
	}
	return d.check(ctx, s, r, version)
}

// check looks whether an installation from a source gave the version that was wanted.
func (d *debian) check(ctx context.Context, s System, r *types.Resource, version string) error {
	is, err := d.query(ctx, s, r)
	if err != nil {
		return err
	}
	if in, _ := debianIn(is.ensure, r.Value("ensure")); !in {
		return failure("Failed to update to version %s, got version %s instead", version, is.ensure.Text())
	}
	return nil
}

// version is the one to ask apt for: of a range the best that there is; "" is any.
func (d *debian) version(ctx context.Context, s System, r *types.Resource) (string, error) {
	want := r.Value("ensure")
	if want.Kind() != data.String {
		return "", nil
	}
	in, ok := debianRange(want.Str())
	if !ok || in.exact {
		return want.Str(), nil
	}
	out, err := execute(ctx, s, command(s, "apt-cache"), "madison", r.Name())
	if err != nil {
		return "", err
	}
	best := ""
	for line := range strings.Lines(out) {
		parts := strings.Split(line, "|")
		if len(parts) < 2 {
			continue
		}
		if v := strings.TrimSpace(parts[1]); debianValid(v) && in.has(v) && (best == "" || compareDebian(v, best) > 0) {
			best = v
		}
	}
	if best == "" {
		return want.Str(), nil
	}
	return best, nil
}

// unpack is dpkg's installation, from a file.
func (d *debian) unpack(ctx context.Context, s System, r *types.Resource) error {
	source := r.Value("source")
	if !source.Truthy() {
		return &indirector.Failure{Class: "ArgumentError", Message: "You cannot install dpkg packages without a source"}
	}
	force := "--force-confnew"
	if r.Value("configfiles").Text() == "keep" {
		force = "--force-confold"
	}
	return d.held(ctx, s, r, func() error { return d.change(ctx, s, command(s, "dpkg"), force, "-i", source.Text()) })
}

func (d *debian) remove(ctx context.Context, s System, r *types.Resource, purge bool) error {
	if !d.apt {
		option := "-r"
		if purge {
			option = "--purge"
		}
		return d.change(ctx, s, command(s, "dpkg"), option, r.Name())
	}
	if err := d.preseed(ctx, s, r); err != nil {
		return err
	}
	argv := []string{command(s, "apt-get"), "-y", "-q"}
	if p, err := d.of(ctx, s, r); err != nil {
		return err
	} else if p.mark.Text() == "hold" {
		argv = append(argv, "--allow-change-held-packages")
	}
	argv = append(argv, "remove")
	if purge {
		argv = append(argv, "--purge")
	}
	if err := d.change(ctx, s, append(argv, r.Name())...); err != nil || !purge {
		return err
	}
	return d.change(ctx, s, command(s, "dpkg"), "--purge", r.Name())
}

// preseed answers the questions of a package before they are asked.
func (d *debian) preseed(ctx context.Context, s System, r *types.Resource) error {
	file := r.Value("responsefile")
	if !file.Truthy() {
		return nil
	}
	if _, err := s.Stat(ctx, file.Text()); err != nil {
		d.log.own(r, "info", "No responsefile specified or non existent, not preseeding anything")
		return nil
	}
	d.log.own(r, "info", "Preseeding "+file.Text()+" to debconf-set-selections")
	return d.change(ctx, s, command(s, "debconf-set-selections"), file.Text())
}

var disc = regexp.MustCompile(`(?m)^[^#]*cdrom:`)

func noDisc(ctx context.Context, s System, r *types.Resource) error {
	sources, err := s.ReadFile(ctx, s.Path("/etc/apt/sources.list"))
	if err == nil && disc.Match(sources) && r.Value("allowcdrom").Text() != "true" {
		return failure("/etc/apt/sources.list contains a cdrom source; not installing.  Use 'allowcdrom' to override this failure.")
	}
	return nil
}

// options are those of a parameter that has texts and hashes.
func options(r *types.Resource, name string) []string {
	v := r.Value(name)
	if v.IsNil() {
		return nil
	}
	all := v.List()
	if v.Kind() != data.List {
		all = []data.Value{v}
	}
	var words []string
	for _, e := range all {
		pairs := slices.Clone(e.Hash())
		slices.SortFunc(pairs, func(a, b data.Pair) int { return strings.Compare(a.Key.Text(), b.Key.Text()) })
		for _, p := range pairs {
			words = append(words, p.Key.Text()+"="+p.Value.Text())
		}
		if e.Kind() != data.Hash {
			words = append(words, e.Text())
		}
	}
	return words
}

var candidate = regexp.MustCompile(`Candidate:\s+(\S+)\s`)

// latest is the version that apt would install, or that a file has.
func (d *debian) latest(ctx context.Context, s System, r *types.Resource) (data.Value, error) {
	if d.apt {
		out, err := execute(ctx, s, command(s, "apt-cache"), "policy", r.Name())
		if err != nil {
			return data.Value{}, err
		}
		if m := candidate.FindStringSubmatch(out); m != nil {
			return data.OfString(m[1]), nil
		}
		d.log.own(r, "err", "Could not find latest version")
		return data.Value{}, nil
	}
	source := r.Value("source")
	if !source.Truthy() {
		return data.Value{}, failure("Could not update: You cannot install dpkg packages without a source")
	}
	out, err := execute(ctx, s, command(s, "dpkg-deb"), "--show", source.Text())
	if err != nil {
		return data.Value{}, err
	}
	name, version, ok := strings.Cut(strings.TrimSpace(out), "\t")
	if !ok {
		return data.Value{}, failure("undefined method `captures' for nil:NilClass")
	}
	if !strings.Contains(name, r.Name()) {
		d.log.own(r, "warning", "source doesn't contain named package, but "+name)
	}
	return data.OfString(version), nil
}

// InSync compares what is installed with what is wanted.
func (d *debian) InSync(ctx context.Context, s System, r *types.Resource, property string, is data.Value) (in, ok bool, err error) {
	return packageInSync(r, property, is,
		func() (data.Value, error) { return d.latest(ctx, s, r) },
		func(want data.Value) (bool, error) {
			if !d.apt {
				return false, nil
			}
			in, _ := debianIn(is, want)
			return in, nil
		})
}

// packageInSync is what all packages have in common.
func packageInSync(r *types.Resource, property string, is data.Value, latest func() (data.Value, error), in func(want data.Value) (bool, error)) (bool, bool, error) {
	if property != "ensure" {
		return false, false, nil
	}
	gone := isAbsent(is) || is.Kind() == data.Symbol && is.Str() == "purged"
	for _, want := range r.Should("ensure") {
		name := ""
		if want.Kind() == data.Symbol {
			name = want.Str()
		}
		switch name {
		case "present", "installed":
			if !gone {
				return true, true, nil
			}
		case "latest":
			if gone {
				return false, true, nil
			}
			newest, err := latest()
			if err != nil {
				return false, true, failure("Could not get latest version: %w", err)
			}
			r.Latest = newest
			if data.Equal(newest, is) {
				return true, true, nil
			}
		case "absent":
			if gone {
				return true, true, nil
			}
		case "purged":
			if is.Kind() == data.Symbol && is.Str() == "purged" {
				return true, true, nil
			}
		default:
			if data.Equal(want, is) {
				return true, true, nil
			}
			ok, err := in(want)
			return ok, true, err
		}
	}
	return false, true, nil
}

// Flush marks what apt changed as installed by hand; what dpkg changed is asked for
// again.
func (d *debian) Flush(ctx context.Context, s System, r *types.Resource) error {
	if !d.apt {
		delete(d.known, r.Name())
		return nil
	}
	if isAbsent(r.Value("ensure")) || slices.Contains(d.manual, r.Name()) {
		return nil
	}
	return d.change(ctx, s, command(s, "apt-mark"), "manual", r.Name())
}
