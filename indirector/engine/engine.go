// Package engine puts one running house together: settings, routes, termini,
// and the store that keeps the traces.
//
//	e, err := engine.New(engine.Options{Specs: termini.Specs(), Termini: termini.All(), Application: "agent"})
//	defer e.Close()
//	resp, err := e.Ask(ctx, &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: "web01"})
//
// An Engine looks freely and touches nothing: see [Engine.Ask].
package engine

import (
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
	"indirtui/indirector/mask"
	"indirtui/indirector/routes"
	"indirtui/indirector/settings"
	"indirtui/traces"
	"indirtui/traces/store"
)

// Options are what an Engine is made of. Specs and Termini are required; the
// zero value of the rest reads Puppet's own directories as the application
// agent, and keeps the traces in memory.
type Options struct {
	Specs   []indirector.Spec
	Termini []indirector.Descriptor

	ConfDir, VarDir string
	Application     string // "" is agent
	Action          string // of a face: sets termini after routes.yaml was read
	Environment     string
	RouteFile       string // "" is the setting route_file
	Set             []settings.Override
	Process         settings.Options                  // user and host; the zero value is those of this process
	Assign          []Assignment                      // routes that a person wants from the start
	Write           bool                              // whether real data may be touched
	Quirks          map[string]bool                   // rule ids whose original oddity is wanted
	Recording       string                            // file that the traces are written to; "" is none
	Rows            int                               // see store.Options
	Memory          int64                             // see store.Options
	Elsewhere       bool                              // environments are another server's: none is looked for here
	Source          string                            // name of the source on screen; "" is "in process"
	Ended           func(*store.Store, *traces.Trace) // see store.Options
	Gate            indirector.Gate                   // of tests, instead of a debugger; nil never holds
	Debug           *debugger.Options                 // nil: nothing can be held. Project, Recorder, Writes, Timeout, Mask and Now are filled in
	Now             func() time.Time
	Log             *slog.Logger
	Crash           func(v any, stack []byte)
	Secrets         []string // further words that make a name a secret
	Certname        func() string
}

// An Assignment lets another terminus, which may be wrapped, fill a slot.
type Assignment struct{ Indirection, Slot, Terminus string }

// An Engine is one running house. It is safe for concurrent use.
type Engine struct {
	*indirector.Indirector
	Settings    *settings.Current
	Store       *store.Store
	Mask        *mask.Mask
	Debugger    *debugger.Debugger // nil if nothing can be held
	Application string
	Source      string

	write   atomic.Bool
	options Options
	now     atomic.Pointer[Configuration]

	mu        sync.Mutex // guards what follows, and the order of changes
	set       []settings.Override
	preferred []preference
}

// A Configuration is what was read, and what is wrong with it. It is never
// changed, only replaced: see [Engine.Override].
type Configuration struct {
	Settings    *settings.Settings
	Environment string
	Problems    []Problem // worst first
	RoutesFile  routes.Result
	Routes      indirector.Routes // as they are configured, before anybody changes them
}

// Configuration returns the configuration in force.
func (e *Engine) Configuration() *Configuration { return e.now.Load() }

// A Problem is something that is wrong with the configuration. Puppet ends
// with the fatal ones; an Engine goes on, so that a person can look.
type Problem struct {
	Fatal bool
	Place string // "routes.yaml:4", "puppet.conf:7"; "" if unknown
	Text  string
}

func (p Problem) String() string {
	if p.Place == "" || strings.Contains(p.Text, p.Place) {
		return p.Text
	}
	return p.Place + ": " + p.Text
}

// ErrReadOnly is that real data would be touched, and that is not allowed.
var ErrReadOnly = errors.New("refused: read-only mode. Start with --write or use :write on")

// New returns a running Engine. An error is that it cannot run at all; what is
// wrong with puppet.conf or routes.yaml is in Problems.
func New(o Options) (*Engine, error) {
	if o.Application == "" {
		o.Application = "agent"
	}
	registry, err := indirector.NewRegistry(o.Specs, o.Termini)
	if err != nil {
		return nil, err
	}
	e := &Engine{Application: o.Application, Source: o.Source, Mask: mask.New(mask.Rules{Names: o.Secrets})}
	if e.Source == "" {
		e.Source = "in process"
	}
	e.write.Store(o.Write)
	e.options = o
	c, err := e.read(nil, registry)
	if err != nil {
		return nil, err
	}
	e.Settings = settings.NewCurrent(c.Settings)
	e.now.Store(c)
	r := NewRenderer(e.Mask)
	e.Store, err = store.Open(store.Options{
		Path: o.Recording, Rows: o.Rows, Memory: o.Memory, Render: r.Render, Rendered: r.Memory, MaskText: e.Mask.Text, Ended: o.Ended, Now: o.Now,
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
		Gate: e.gate(o, c), Quirks: o.Quirks, Now: o.Now, Log: o.Log, Crash: o.Crash,
		Environments: environments, Environment: c.Environment, Application: o.Application,
	})
	if err != nil {
		return nil, errors.Join(err, e.Store.Close())
	}
	for _, a := range o.Assign {
		if err := e.Indirector.Assign(a.Indirection, a.Slot, traces.Choice{Terminus: a.Terminus, Source: traces.FromYou, Place: "--route"}); err != nil {
			return nil, errors.Join(fmt.Errorf("--route %s.%s=%s: %w", a.Indirection, a.Slot, a.Terminus, withHidden(err)), e.Close())
		}
	}
	return e, nil
}

// withHidden adds to Puppet's words what a person can do about it.
func withHidden(err error) error {
	if f := (*indirector.Failure)(nil); errors.As(err, &f) && f.Hidden != "" {
		return fmt.Errorf("%w (%s)", err, f.Hidden)
	}
	return err
}

// gate makes the debugger. Breakpoints that cannot be read are a problem, and no
// reason not to start.
func (e *Engine) gate(o Options, c *Configuration) indirector.Gate {
	if o.Debug == nil {
		return o.Gate
	}
	d := *o.Debug
	if d.Project == "" {
		d.Project, _ = e.Settings.Get("confdir")
	}
	d.Recorder, d.Writes, d.Timeout, d.Now = e.Store, e.Writes, e.patience, o.Now
	d.Mask = func(text string) string {
		masked, _ := e.Mask.Text(text)
		return masked
	}
	var err error
	if e.Debugger, err = debugger.New(d); err != nil {
		c.Problems = append(c.Problems, Problem{Text: err.Error()})
	}
	return e.Debugger
}

// patience is how long who asks over the network waits for an answer, as far as
// our own settings tell: an agent on the same site has the same ones.
func (e *Engine) patience(req *indirector.Request) (time.Duration, string) {
	if req.Remote == nil {
		return 0, ""
	}
	const name = "http_read_timeout"
	text, _ := e.Settings.Get(name)
	d, err := indirector.ParseDuration(text)
	if err != nil {
		return 0, ""
	}
	return d, name
}

// read reads settings and routes: what is in set is stronger than all else.
func (e *Engine) read(set []settings.Override, registry *indirector.Registry) (*Configuration, error) {
	c := new(Configuration)
	if err := c.readSettings(e.options, set); err != nil {
		return nil, err
	}
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

// readRoutes reads the route table, and hangs what is to be known about it on
// the choices that it is about, so that every trace can tell.
func (c *Configuration) readRoutes(o Options, registry *indirector.Registry) {
	result, err := routes.Load(routes.Input{
		Registry: registry, Settings: c.Settings, Application: o.Application, Action: o.Action, File: o.RouteFile,
	})
	if err != nil {
		p := Problem{Fatal: true, Text: err.Error()}
		if re := (*routes.Error)(nil); errors.As(err, &re) {
			if re.Line > 0 {
				p.Place = re.Place()
			}
			wouldNotStart(result.Routes, re)
		}
		c.Problems = append([]Problem{p}, c.Problems...)
	}
	for _, w := range result.Warnings {
		if w.ID != routes.BadTerminus || written(w) {
			c.Problems = append(c.Problems, Problem{Text: w.String()})
		}
		for name, r := range result.Routes {
			switch {
			case w.ID == routes.BadTerminus: // the request that meets it says so
			case w.Indirection == name && w.Slot == indirector.SlotCache:
				r.Cache = noted(r.Cache, w.Text, func(traces.Choice) bool { return true })
			case w.Indirection == name:
				r.Primary = noted(r.Primary, w.Text, func(traces.Choice) bool { return true })
			case w.Indirection == "" && w.ID == routes.NoSection:
				missed := func(c traces.Choice) bool { return c.Source == traces.FromRoutesFile && c.Why != "" }
				r.Primary, r.Cache = noted(r.Primary, w.Text, missed), noted(r.Cache, w.Text, missed)
			}
			result.Routes[name] = r
		}
	}
	c.RoutesFile = result
}

// written reports whether it is about something that a person wrote. That
// Puppet's own defaults name termini which this build does not have is seen
// in the route table, and said by the requests that meet them.
func written(w routes.Diagnostic) bool {
	return w.File != "" || strings.Contains(w.Place, ".conf:") || strings.Contains(w.Place, "--")
}

// wouldNotStart notes what Puppet ends with on the indirection that it is
// about, or on all of them.
func wouldNotStart(table indirector.Routes, re *routes.Error) {
	note := "Puppet would not start: " + strings.TrimPrefix(re.Error(), "Could not configure routes from "+re.File+": ")
	_, about := table[re.Indirection]
	for name, r := range table {
		if !about || name == re.Indirection {
			r.Primary = noted(r.Primary, note, func(traces.Choice) bool { return true })
			table[name] = r
		}
	}
}

// noted returns the slot with a note on the first choice that wants one.
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

// environmentName is what Puppet takes for the name of an environment.
var environmentName = regexp.MustCompile(`^\w+$`)

// knowsEnvironment reports whether there is a directory environment by that
// name. Rule IND-REQ-10.
func (e *Engine) knowsEnvironment(name string) error {
	path, _ := e.Settings.Get("environmentpath")
	for _, dir := range filepath.SplitList(path) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.IsDir() && environmentName.MatchString(name) {
			return nil
		}
	}
	return &indirector.EnvironmentNotFound{Name: name, Path: path}
}

// Ask answers a request of a person who looks around. In read-only mode it
// refuses to save, destroy and expire; see also Once.
func (e *Engine) Ask(ctx context.Context, req *indirector.Request) (*indirector.Response, error) {
	if !e.Writes() && (req.Verb == indirector.Save || req.Verb == indirector.Destroy || req.Verb == indirector.Expire) {
		return nil, ErrReadOnly
	}
	return e.Once(ctx, req)
}

// Once answers a request that a person has spelled out as a command. In
// read-only mode no find writes a routed cache, see [indirector.Indirector.Look];
// a cache that the request names itself is the person's own wish.
func (e *Engine) Once(ctx context.Context, req *indirector.Request) (*indirector.Response, error) {
	if !e.Writes() {
		return e.Look(ctx, req)
	}
	return e.Do(ctx, req)
}

// Writes reports whether real data may be touched.
func (e *Engine) Writes() bool { return e.write.Load() }

// SetWrite allows or forbids touching real data.
func (e *Engine) SetWrite(on bool) { e.write.Store(on) }

// Prefer chooses termini by indirection, as an application of Puppet does for
// itself: settings are weaker, routes.yaml is stronger. It belongs to the start,
// see Configured. Place says who wants it, for the traces.
func (e *Engine) Prefer(place string, termini map[string]string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := *e.now.Load()
	for _, name := range slices.Sorted(maps.Keys(termini)) {
		choice := traces.Choice{Terminus: termini[name], Source: traces.FromApplication, Place: place, At: time.Now()}
		if err := e.Assign(name, indirector.SlotTerminus, choice); err != nil {
			return fmt.Errorf("%s: %s: %w", place, name, err)
		}
		e.preferred = append(e.preferred, preference{name, choice})
		c.Routes = c.Routes.With(name, indirector.SlotTerminus, choice)
	}
	e.now.Store(&c)
	return nil
}

// A preference is what an application chose for itself.
type preference struct {
	indirection string
	choice      traces.Choice
}

// Configured returns the route table as it is configured: as it was at the
// start, or since settings were last changed.
func (e *Engine) Configured() indirector.Routes { return e.now.Load().Routes }

// Overrides returns the indirections whose route is not the configured one.
func (e *Engine) Overrides() []string {
	var names []string
	now, start := e.Routes(), e.Configured()
	for _, name := range e.Registry().Names() {
		a, b := now[name], start[name]
		if a.Primary.Winner().Terminus != b.Primary.Winner().Terminus || a.Cache.Winner().Terminus != b.Cache.Winner().Terminus {
			names = append(names, name)
		}
	}
	return names
}

// Close takes the house down and closes the recording.
func (e *Engine) Close() error {
	if e.Debugger != nil {
		e.Debugger.Close()
	}
	return errors.Join(e.Indirector.Close(), e.Store.Close())
}

// StateDir is where recordings go: indirtui's folder in the user's state
// directory. It is made if need be. (XDG base directories.)
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

// Entries lists what the termini of one indirection keep, or of all: see Walk.
func (e *Engine) Entries(ctx context.Context, indirections ...string) ([]indirector.Entry, error) {
	var all []indirector.Entry
	err := e.Walk(ctx, func(en indirector.Entry) bool {
		all = append(all, en)
		return true
	}, indirections...)
	return all, err
}

// Walk calls yield for what the termini of some indirections keep, or of all,
// until it returns false: those that can tell (Lister), routed or not, what is
// routed first. Nothing is asked for. A terminus that cannot be listed is an
// Entry without a Key whose Err says why. A file of several termini belongs to
// the one that is routed. Gap L6.
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
	owned := make(map[string]bool) // the files of the termini that are routed
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

// listers returns the termini of an indirection that can be listed, what is
// routed first.
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

// Routed reports whether a terminus is the one that is asked, or the cache.
func (e *Engine) Routed(indirection, terminus string) bool {
	r, _ := e.Explain(indirection)
	return r.Primary.Winner().Terminus == terminus || r.Cache.Winner().Terminus == terminus
}

// MaskSetting returns the value of a setting as it may be shown.
func (e *Engine) MaskSetting(name, value string) string {
	masked, _ := e.Mask.Value(data.OfHash([]data.Pair{data.P(name, data.OfString(value))}))
	text, _ := e.Mask.Text(masked.Get(name).Str())
	return text
}
