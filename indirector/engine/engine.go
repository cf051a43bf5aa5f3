// Package engine puts an Indirector together with settings, routes, termini, and
// the store that keeps the traces.
//
//	e, err := engine.New(engine.Options{Specs: termini.Specs(), Termini: termini.All(), Application: "agent"})
//	defer e.Close()
//	resp, err := e.Ask(ctx, &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: "web01"})
//
// By default an Engine is read-only: see [Engine.Ask].
package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/debugger"
	"indirtui/indirector/redact"
	"indirtui/indirector/routes"
	"indirtui/indirector/settings"
	"indirtui/traces"
	"indirtui/traces/store"
)

// Options configure New. Specs and Termini are required. The zero value of the
// rest reads Puppet's own directories as the application agent, and keeps the
// traces in memory.
type Options struct {
	Specs   []indirector.Spec
	Termini []indirector.Descriptor

	ConfDir, VarDir string
	Application     string // "" is agent
	Action          string // of a face: sets termini after routes.yaml
	Environment     string
	RouteFile       string // "" is the setting route_file
	Set             []settings.Override
	Process         settings.Options                  // user and host; zero is this process
	Assign          []Assignment                      // routes assigned at the start
	Write           bool                              // allow changes of real data
	Quirks          map[string]bool                   // ids of rules whose oddity is wanted
	Recording       string                            // file for the traces; "" is none
	Rows            int                               // see store.Options
	Memory          int64                             // see store.Options
	Once            bool                              // see store.Options
	Rotate          int64                             // see store.Options
	Keep            int                               // see store.Options
	KeepBytes       int64                             // see store.Options
	Elsewhere       bool                              // environments are a server's; no directory is looked for
	Session         store.Session                     // see store.Options
	Source          string                            // shown as the source; "" is "in process"
	Ended           func(*store.Store, *traces.Trace) // see store.Options
	Debugger        indirector.Debugger               // replaces debugger, for tests; nil never holds
	Debug           *debugger.Options                 // nil: nothing can be held. Project, Recorder, Writes, Timeout, Redact and Now are filled in
	Now             func() time.Time
	Log             *slog.Logger
	Crash           func(v any, stack []byte)
	Zone            *time.Location // of times in Problems; nil is the local one
	Ruby            indirector.Ruby
	Secrets         []string // more words that make a name a secret
	Certname        func() string
}

// An Assignment puts a terminus, perhaps wrapped, into a slot.
type Assignment struct{ Indirection, Slot, Terminus string }

// An Engine is a running Indirector with its store. It is safe for concurrent
// use.
type Engine struct {
	*indirector.Indirector
	Settings    *settings.Current
	Store       *store.Store
	Redactor    *redact.Redactor
	Debugger    *debugger.Debugger // nil if nothing can be held
	Application string
	Source      string

	write   atomic.Bool
	options Options
	now     atomic.Pointer[Configuration]

	mu        sync.Mutex // guards the fields below, and the order of changes
	set       []settings.Override
	preferred []preference
	unusable  string // why what is on disk could not be read again; "" if it could
}

// A Configuration is what was read. It is never changed, only replaced: see
// [Engine.Override].
type Configuration struct {
	Settings    *settings.Settings
	Environment string
	Problems    []Problem // worst first
	RoutesFile  routes.Result
	Routes      indirector.Routes // as configured, before any assignment

	files []file // that it was read from
}

// Configuration returns the configuration in force.
func (e *Engine) Configuration() *Configuration { return e.now.Load() }

// A Problem is a fault of the configuration. Puppet ends with the fatal ones;
// an Engine goes on.
type Problem struct {
	Fatal  bool
	Source string // "routes.yaml:4", "puppet.conf:7"; "" if unknown
	Text   string
	onDisk bool // it is about what is on disk now, not about what was read
}

func (p Problem) String() string {
	if p.Source == "" || strings.Contains(p.Text, p.Source) {
		return p.Text
	}
	return p.Source + ": " + p.Text
}

// ErrReadOnly reports a write refused in read-only mode.
var ErrReadOnly = errors.New("refused: read-only mode. Start with --write or use :write on")

// New returns a running Engine. Faults of puppet.conf or routes.yaml are no
// error, but Problems of the Configuration.
func New(o Options) (*Engine, error) {
	o.Application = cmp.Or(o.Application, "agent")
	registry, err := indirector.NewRegistry(o.Specs, o.Termini)
	if err != nil {
		return nil, err
	}
	e := &Engine{Application: o.Application, Source: o.Source, Redactor: redact.New(redact.Rules{Names: o.Secrets})}
	e.Source = cmp.Or(e.Source, "in process")
	e.write.Store(o.Write)
	e.options = o
	c, err := e.read(nil, registry)
	if err != nil {
		return nil, err
	}
	e.Settings = settings.NewCurrent(c.Settings)
	e.now.Store(c)
	r := NewRenderer(e.Redactor)
	origins := r.Origins
	if o.Once && o.Recording == "" {
		origins = nil // neither a screen nor a recording shows them
	}
	e.Store, err = store.Open(store.Options{
		Path: o.Recording, Rotate: o.Rotate, Keep: o.Keep, KeepBytes: o.KeepBytes, Stopped: stopped(o.Log), Rows: o.Rows, Memory: o.Memory, Render: r.Render, Origins: origins, Rendered: r.Memory, Weigh: weigh, Once: o.Once, RedactText: e.Redactor.Text, Ended: o.Ended, Now: o.Now,
		Session: o.Session,
	})
	if err != nil {
		return nil, err
	}
	environments := e.knowsEnvironment
	if o.Elsewhere {
		environments = nil
	}
	around := c.surroundings()
	e.Indirector, err = indirector.New(indirector.Config{
		Registry: registry, Routes: c.Routes, Settings: around.Settings, SettingsIn: around.SettingsIn, Recorder: e.Store,
		Debugger: e.newDebugger(o, c), Quirks: o.Quirks, Now: o.Now, Log: o.Log, Crash: o.Crash,
		Environments: environments, Environment: c.Environment, Application: o.Application, Ruby: o.Ruby,
		Owner: func(indirection, terminus string) string {
			return owner(registry, e.Configuration().Settings)(indirection, terminus)
		},
	})
	if err != nil {
		return nil, errors.Join(err, e.Store.Close())
	}
	for _, a := range o.Assign {
		if err := e.Indirector.Assign(a.Indirection, a.Slot, traces.Choice{Terminus: a.Terminus, Kind: traces.FromYou, Source: "--route"}); err != nil {
			return nil, errors.Join(fmt.Errorf("--route %s.%s=%s: %w", a.Indirection, a.Slot, a.Terminus, withHidden(err)), e.Close())
		}
	}
	return e, nil
}

// stopped logs that nothing can be recorded, and that it can again.
func stopped(log *slog.Logger) func(error) {
	if log == nil {
		return nil
	}
	return func(err error) {
		if err != nil {
			log.Error("the recording stopped; it goes on when it can be written", "err", err)
		} else {
			log.Warn("the recording goes on")
		}
	}
}

// withHidden adds what Puppet's words leave out.
func withHidden(err error) error {
	if f := (*indirector.Failure)(nil); errors.As(err, &f) && f.Hidden != "" {
		return fmt.Errorf("%w (%s)", err, f.Hidden)
	}
	return err
}

// newDebugger makes the debugger. Breakpoints that cannot be read are a
// Problem.
func (e *Engine) newDebugger(o Options, c *Configuration) indirector.Debugger {
	if o.Debug == nil {
		return o.Debugger
	}
	d := *o.Debug
	if d.Project == "" {
		d.Project, _ = e.Settings.Get("confdir")
	}
	d.Recorder, d.Writes, d.Timeout, d.Now = e.Store, e.Writes, e.patience, o.Now
	d.Redact = func(text string) string {
		redacted, _ := e.Redactor.Text(text)
		return redacted
	}
	var err error
	if e.Debugger, err = debugger.New(d); err != nil {
		c.Problems = append(c.Problems, Problem{Text: err.Error()})
	}
	return e.Debugger
}

// patience is how long a client on the network waits: its http_read_timeout,
// taken to be ours.
func (e *Engine) patience(req *indirector.Request) (time.Duration, string) {
	if req.Remote == nil {
		return 0, ""
	}
	if strings.HasPrefix(req.Caller, "server ") { // its puppetdb.conf is not at hand, so that is the default
		return 30 * time.Second, "server_url_timeout"
	}
	const name = "http_read_timeout"
	text, _ := e.Settings.Get(name)
	d, err := indirector.ParseDuration(text)
	if err != nil {
		return 0, ""
	}
	return d, name
}

// read reads settings and routes; set is stronger than all else.
func (e *Engine) read(set []settings.Override, registry *indirector.Registry) (*Configuration, error) {
	c := new(Configuration)
	if err := c.readSettings(e.options, set); err != nil {
		return nil, err
	}
	c.files = c.look(e.options)
	c.Environment, _ = c.Settings.Get("environment")
	c.readRoutes(e.options, registry)
	c.Routes = c.RoutesFile.Routes
	return c, nil
}

func (c *Configuration) surroundings() indirector.Surroundings {
	return indirector.Surroundings{Settings: c.Settings, SettingsIn: (&elsewhere{settings: c.Settings}).in, Environment: c.Environment}
}

func (c *Configuration) readSettings(o Options, set []settings.Override) error {
	p := o.Process
	if p.Home == "" && p.Dir == "" {
		p = settings.Process()
	}
	p.ConfDir, p.VarDir, p.Environment, p.Overrides = o.ConfDir, o.VarDir, o.Environment, o.Set
	if o.Certname != nil {
		p.Certname = o.Certname
	}
	app, known := routes.Find(o.Application)
	if !known {
		var names []string
		for _, a := range routes.Applications() {
			names = append(names, a.Name)
		}
		return fmt.Errorf("no application is called %q; there are: %s", o.Application, strings.Join(names, ", "))
	}
	if err := knowsAction(app, o.Action); err != nil {
		return err
	}
	for _, d := range o.Termini {
		for _, s := range d.Settings {
			p.Define = append(p.Define, settings.Definition{Name: s.Name, Doc: s.Doc, Type: s.Type, Default: s.Default})
		}
	}
	p = app.Options(p, o.Action)
	p.Overrides = append(p.Overrides, set...)
	s, err := settings.Load(p)
	if s == nil {
		return err
	}
	c.Settings = s
	if info, err := os.Stat(o.ConfDir); o.ConfDir != "" && (err != nil || !info.IsDir()) {
		c.Problems = append(c.Problems, Problem{Text: fmt.Sprintf("there is no directory %s (confdir), so nothing is configured", o.ConfDir)})
	}
	if err != nil {
		c.Problems = append(c.Problems, Problem{Fatal: true, Text: err.Error()})
	}
	for _, w := range s.Warnings() {
		c.Problems = append(c.Problems, Problem{Text: w.String()})
	}
	return nil
}

func knowsAction(app routes.Application, action string) error {
	var names []string
	for _, a := range app.Actions {
		if a.Name == action {
			return nil
		}
		names = append(names, a.Name)
	}
	if action == "" {
		return nil
	}
	return fmt.Errorf("application %s has no action %q that sets termini; there are: %s", app.Name, action, strings.Join(names, ", "))
}

// readRoutes reads the route table, and notes what is wrong on the candidates
// concerned, so that every trace shows it.
func (c *Configuration) readRoutes(o Options, registry *indirector.Registry) {
	result, err := routes.Load(routes.Input{
		Registry: registry, Settings: c.Settings, Application: o.Application, Action: o.Action, File: o.RouteFile, Owner: owner(registry, c.Settings),
	})
	if err != nil {
		p := Problem{Fatal: true, Text: err.Error()}
		if re := (*routes.Error)(nil); errors.As(err, &re) {
			if re.Line > 0 {
				p.Source = re.Source()
			}
			wouldNotStart(result.Routes, re)
		}
		c.Problems = append([]Problem{p}, c.Problems...)
	}
	for _, w := range result.Warnings {
		atUse := w.ID == routes.BadTerminus || w.ID == routes.Lacking
		p := Problem{Text: w.String()} // which may be the same for several indirections
		if !w.Expected && (!atUse || written(w)) && !slices.Contains(c.Problems, p) {
			c.Problems = append(c.Problems, p)
		}
		for name, r := range result.Routes {
			switch {
			case atUse: // the request that meets it fails with it
			case w.Indirection == name && w.Slot == indirector.SlotCache:
				r.Cache = noted(r.Cache, w.Text, func(traces.Choice) bool { return true })
			case w.Indirection == name:
				r.Primary = noted(r.Primary, w.Text, func(traces.Choice) bool { return true })
			case w.Indirection == "" && w.ID == routes.NoSection:
				missed := func(c traces.Choice) bool { return c.Kind == traces.FromRoutesFile && c.Why != "" }
				r.Primary, r.Cache = noted(r.Primary, w.Text, missed), noted(r.Cache, w.Text, missed)
			}
			result.Routes[name] = r
		}
	}
	c.RoutesFile = result
}

// owner returns a function that finds what has a terminus that this program
// lacks: a file of Ruby in a module or among the plugins, where Puppet would load it
// from. Rule IND-TERM-02.
func owner(registry *indirector.Registry, s *settings.Settings) func(indirection, terminus string) string {
	return func(indirection, terminus string) string {
		if registry.Has(indirection, terminus) || !rubyName.MatchString(terminus) {
			return ""
		}
		file := filepath.Join("puppet", "indirector", indirection, terminus+".rb")
		libdir, _ := s.Get("libdir")
		if exists(filepath.Join(libdir, file)) {
			return "a plugin in " + libdir
		}
		path, _ := s.Get("modulepath")
		for _, dir := range filepath.SplitList(path) {
			found, _ := filepath.Glob(filepath.Join(escaped.Replace(dir), "*", "lib", file))
			if len(found) > 0 {
				module := strings.TrimSuffix(found[0], string(filepath.Separator)+filepath.Join("lib", file))
				return "the module " + filepath.Base(module)
			}
		}
		return ""
	}
}

var (
	rubyName = regexp.MustCompile(`^\w+$`)                                     // of a file that Puppet loads
	escaped  = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`) // for Glob
)

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// written reports whether the warning is about a file or flag. Missing termini
// among Puppet's defaults are left to the requests that meet them.
func written(w routes.Diagnostic) bool {
	return w.File != "" || strings.Contains(w.Source, ".conf:") || strings.Contains(w.Source, "--")
}

// wouldNotStart notes Puppet's fatal error on the indirection it is about, or
// on all.
func wouldNotStart(table indirector.Routes, re *routes.Error) {
	note := "Puppet would not start: " + re.Message
	if re.Hint != "" {
		note += "; " + re.Hint
	}
	if re.Line > 0 {
		note += " (" + re.Source() + ")"
	}
	_, about := table[re.Indirection]
	for name, r := range table {
		if !about || name == re.Indirection {
			r.Primary = noted(r.Primary, note, func(traces.Choice) bool { return true })
			table[name] = r
		}
	}
}

// noted returns the slot with a note on the first candidate that wants one.
func noted(s traces.Slot, note string, wants func(traces.Choice) bool) traces.Slot {
	for i := range s {
		if wants(s[i]) && s[i].Note == "" {
			s = append(traces.Slot(nil), s...)
			s[i].Note = note
			break
		}
	}
	return s
}

// environmentName is Puppet's syntax of an environment's name.
var environmentName = regexp.MustCompile(`^\w+$`)

// knowsEnvironment returns nil if there is such an environment. Rule IND-REQ-10.
func (e *Engine) knowsEnvironment(name string) error {
	if configured, _ := e.Settings.Get("environment"); settings.Internal(configured, name) {
		return nil
	}
	path, _ := e.Settings.Get("environmentpath")
	for _, dir := range filepath.SplitList(path) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.IsDir() && environmentName.MatchString(name) {
			return nil
		}
	}
	return &indirector.EnvironmentNotFound{Name: name, Path: path}
}

// Ask answers a request. In read-only mode it refuses save, destroy and expire,
// and is Once otherwise.
func (e *Engine) Ask(ctx context.Context, req *indirector.Request) (indirector.Response, error) {
	if !e.Writes() && (req.Verb == indirector.Save || req.Verb == indirector.Destroy || req.Verb == indirector.Expire) {
		return indirector.Response{}, ErrReadOnly
	}
	return e.Once(ctx, req)
}

// Once answers an explicit command. In read-only mode no find writes a routed
// cache, see [indirector.Indirector.Look]; a cache that the request names is
// written.
func (e *Engine) Once(ctx context.Context, req *indirector.Request) (indirector.Response, error) {
	if !e.Writes() {
		return e.Look(ctx, req)
	}
	return e.Do(ctx, req)
}

// Writes reports whether real data may be changed.
func (e *Engine) Writes() bool { return e.write.Load() }

// SetWrite leaves or enters read-only mode.
func (e *Engine) SetWrite(on bool) { e.write.Store(on) }

// Prefer chooses termini by indirection, as an application of Puppet does:
// above settings, below routes.yaml. It is part of the configuration. Place is
// the source in traces.
func (e *Engine) Prefer(place string, termini map[string]string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := *e.now.Load()
	for _, name := range slices.Sorted(maps.Keys(termini)) {
		choice := traces.Choice{Terminus: termini[name], Kind: traces.FromApplication, Source: place, At: time.Now()}
		if err := e.Assign(name, indirector.SlotTerminus, choice); err != nil {
			return fmt.Errorf("%s: %s: %w", place, name, err)
		}
		e.preferred = append(e.preferred, preference{name, choice})
		c.Routes = c.Routes.With(name, indirector.SlotTerminus, choice)
	}
	e.now.Store(&c)
	return nil
}

// A preference is a choice by Prefer.
type preference struct {
	indirection string
	choice      traces.Choice
}

// Configured returns the routes as configured at the start or by the last
// Override.
func (e *Engine) Configured() indirector.Routes { return e.now.Load().Routes }

// Overrides returns the indirections whose route differs from the configured
// one.
func (e *Engine) Overrides() []string {
	var names []string
	now, start := e.Routes(), e.Configured()
	for _, name := range e.Registry().Names() {
		if !now[name].Agrees(start[name]) {
			names = append(names, name)
		}
	}
	return names
}

// Close closes the Indirector and the recording, and releases held requests.
func (e *Engine) Close() error {
	if e.Debugger != nil {
		e.Debugger.Close()
	}
	return errors.Join(e.Indirector.Close(), e.Store.Close())
}

// StateDir returns indirtui's folder in the XDG state directory, made if need
// be.
func StateDir() (string, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find a place for recordings: %w; set XDG_STATE_HOME", err)
		}
		dir = filepath.Join(home, ".local", "state")
	}
	dir = filepath.Join(dir, "indirtui")
	if err := os.MkdirAll(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("make a place for recordings: %w; set XDG_STATE_HOME to a directory that can be written", err)
	}
	return dir, nil
}

// Entries is Walk as a list.
func (e *Engine) Entries(ctx context.Context, indirections ...string) ([]indirector.Entry, error) {
	var all []indirector.Entry
	err := e.Walk(ctx, func(en indirector.Entry) bool {
		all = append(all, en)
		return true
	}, indirections...)
	return all, err
}

// Walk calls yield for every entry of the listable termini of some
// indirections, or of all, routed ones first, until it returns false. Nothing
// is asked. A terminus that cannot be listed is an Entry without a Key, with
// Err. A file shared by termini belongs to the routed one. Gap L6.
func (e *Engine) Walk(ctx context.Context, yield func(indirector.Entry) bool, indirections ...string) error {
	if len(indirections) == 0 {
		indirections = e.Registry().Names()
	}
	for _, ind := range indirections {
		if e.Registry().Spec(ind) == nil {
			return fmt.Errorf("no indirection is called %q", ind)
		}
		if more, err := e.walk(ctx, ind, yield); err != nil || !more {
			return err
		}
	}
	return nil
}

func (e *Engine) walk(ctx context.Context, ind string, yield func(indirector.Entry) bool) (more bool, err error) {
	owned := make(map[string]bool) // files of routed termini
	more = true
	for _, name := range e.listers(ind) {
		routed := e.Routed(ind, name)
		err := e.list(ctx, ind, name, func(en indirector.Entry) bool {
			if en.Path != "" && !routed && owned[en.Path] {
				return true
			}
			if routed && en.Path != "" {
				owned[en.Path] = true
			}
			more = yield(en) && ctx.Err() == nil
			return more
		})
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case !more:
			return false, nil
		case err != nil:
			more = yield(indirector.Entry{Indirection: ind, Terminus: name, Size: -1, Err: err})
		}
	}
	return more, nil
}

// listers returns the listable termini of an indirection, routed ones first.
func (e *Engine) listers(ind string) []string {
	names := slices.DeleteFunc(slices.Clone(e.Registry().Termini(ind)), func(name string) bool {
		_, can := e.Registry().Descriptor(ind, name).Type.(indirector.Lister)
		return !can
	})
	slices.SortStableFunc(names, func(a, b string) int {
		switch x, y := e.Routed(ind, a), e.Routed(ind, b); {
		case x == y:
			return 0
		case x:
			return -1
		}
		return 1
	})
	return names
}

func (e *Engine) list(ctx context.Context, indirection, terminus string, yield func(indirector.Entry) bool) error {
	t, err := e.Terminus(indirection, terminus)
	if err != nil {
		return err
	}
	return t.(indirector.Lister).List(ctx, yield)
}

// Routed reports whether a terminus is the primary one or the cache.
func (e *Engine) Routed(indirection, terminus string) bool {
	r, _ := e.Explain(indirection)
	return r.Primary.Winner().Terminus == terminus || r.Cache.Winner().Terminus == terminus
}

// RedactSetting returns the value of a setting without secrets.
func (e *Engine) RedactSetting(name, value string) string {
	redacted, _ := e.Redactor.Value(data.OfHash([]data.Pair{data.P(name, data.OfString(value))}))
	text, _ := e.Redactor.Text(redacted.Get(name).Str())
	return text
}
