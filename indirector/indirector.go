// Package indirector carries requests to the termini that answer them. It
// knows no user interface, no file format and no network.
//
// An indirection (facts, node, catalog, …) binds one model to many termini
// (yaml, json, exec, …). A request names an indirection, a verb and a key. It
// walks through a fixed list of steps, see [Indirector.Do]; each step is one
// question with an answer and a reason.
//
// # Writing a terminus
//
// A terminus is a type with one to five one-method interfaces, see [Finder] to
// [Destroyer], and a [Descriptor]. Package terminustest runs a suite on it.
//
//   - The Descriptor names indirection, terminus, a Doc whose first sentence is a
//     summary, every setting that is read (with words for it), the rules that are
//     kept, and whether expirations survive (KeepsExpiry). Type is a typed nil of
//     what New returns.
//   - It does not trace steps, cache, authorize or pause: the Indirector does. Work
//     worth seeing, such as a file read, opens a span by traces.Start.
//   - What is absent is [NotFound] with a reason; a search that matches nothing is
//     an empty list, not nil. Other errors are a [Failure] in Puppet's words.
//   - Keys are input. With rule IND-KEY-01 those that are no names ("..", "a/b", "c:x",
//     a NUL) are refused with [ErrInvalid]; nothing outside of its directory is touched.
//   - It is safe for concurrent use; a find never returns part of a save.
//   - It stops when the context ends, and returns the context's error.
//   - Goroutines are started by Env.Go and end with Close; settings, clock, logger
//     and other indirections come from [Env] too.
//   - A [Lister] calls yield until it returns false; Peek, list and find agree on
//     what is there, and on its expiration.
//   - Instances are not changed once returned.
package indirector

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"indirtui/traces"
)

// Levels are those of logs by the names that Puppet has for them.
var Levels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "notice": LevelNotice, "warning": slog.LevelWarn,
	"err": slog.LevelError, "alert": LevelCritical, "emerg": LevelCritical, "crit": LevelCritical,
}

// LevelNotice and LevelCritical are Puppet's notice and crit.
const (
	LevelNotice   = slog.LevelInfo + 2
	LevelCritical = slog.LevelError + 4
)

// maxDepth is how deep requests may nest; beyond, it is a loop.
const maxDepth = 64

// Config configures New. Registry and Routes are required.
type Config struct {
	Registry *Registry
	Routes   Routes
	Settings Settings // nil knows none
	// SettingsIn returns the settings of another environment, which exists. If
	// nil, Settings.
	SettingsIn func(environment string) Settings
	Recorder   traces.Recorder        // nil records nothing
	Debugger   Debugger               // nil never holds
	Quirks     map[string]bool        // ids of rules whose oddity is wanted
	Now        func() time.Time       // nil is time.Now
	Log        *slog.Logger           // nil discards
	Crash      func(v any, at []byte) // called when a goroutine of a terminus panics; nil panics on
	// Environments returns nil if there is such an environment, else an
	// *EnvironmentNotFound. If nil, there is every one.
	Environments func(name string) error
	// Owner returns what has a terminus that the Registry lacks, or "". If nil,
	// nothing has.
	Owner       func(indirection, terminus string) string
	Environment string // the current environment; "" is production
	Application string
	Ruby        Ruby
}

// A Ruby is whether code of modules that is written in Ruby may be run, which happens in a
// process of its own. The zero value is no.
type Ruby struct {
	Path   string // of the interpreter; "" runs nothing
	Remote bool   // for requests from the network, too
	// Resources is the path of the interpreter for resources whose types or providers are
	// written in Ruby. If it is empty, None is why.
	Resources, None string
}

// For returns the path of the interpreter that may be used for a request; "" if none may.
func (r Ruby) For(req *Request) string {
	if req.Remote != nil && !r.Remote {
		return ""
	}
	return r.Path
}

// ForResources is For of what is done in Ruby with resources and devices. Without one, none
// is why.
func (r Ruby) ForResources(req *Request) (path, none string) {
	if req.Remote != nil && !r.Remote {
		return "", "requests from the network may not run it"
	}
	if r.Resources == "" && r.None == "" {
		return "", "none is allowed"
	}
	return r.Resources, r.None
}

// An Indirector answers requests. It is safe for concurrent use; a process may
// have several, which share nothing.
type Indirector struct {
	cfg     Config
	plans   *plans
	holders sync.Map // of holderKey to *holder
	table   atomic.Pointer[table]
	around  atomic.Pointer[around]
	read    atomic.Pointer[time.Time] // when both clocks were read; see now
	spare   sync.Pool                 // of *call; see answered

	shared     sync.Map // of name to func() any
	former     sync.Map // of name to any: what was shared under other settings, until it is made anew
	goroutines sync.WaitGroup
	stops      *Stops        // of the debugger; empty without one
	keeper     traces.Keeper // the recorder, if it takes requests as a whole; else nil

	mu      sync.Mutex // guards the fields below, and the order of table changes
	journal []Change
	retired []*holder // of termini that were replaced
}

// An around is what a request reads beside its routes. It is never changed,
// only replaced, so that a request sees one of them throughout.
type around struct {
	Surroundings
	ttl func() time.Duration // the setting runinterval
}

// Surroundings are where an Indirector and its termini read settings, see
// [Config].
type Surroundings struct {
	Settings    Settings
	SettingsIn  func(environment string) Settings
	Environment string
}

func newAround(s Surroundings) *around {
	if s.Settings == nil {
		s.Settings = noSettings{}
	}
	s.Environment = cmp.Or(s.Environment, "production")
	return &around{s, sync.OnceValue(func() time.Duration {
		d, _ := DurationOf(s.Settings, "runinterval", 1800*time.Second)
		return d
	})}
}

// of returns the settings of an environment.
func (a *around) of(environment string) Settings {
	if environment == "" || environment == a.Environment || a.SettingsIn == nil {
		return a.Settings
	}
	return a.SettingsIn(environment)
}

type noSettings struct{}

func (noSettings) Get(string) (value, place string) { return "", "" }

// New returns an Indirector. A name in Routes that is no terminus is an error
// of the requests that meet it, as in Puppet.
func New(cfg Config) (*Indirector, error) {
	if cfg.Registry == nil {
		return nil, errors.New("indirector: no registry")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Owner == nil {
		cfg.Owner = func(string, string) string { return "" }
	}
	x := &Indirector{cfg: cfg, plans: newPlans(), stops: new(Stops)}
	x.keeper, _ = cfg.Recorder.(traces.Keeper)
	if cfg.Debugger != nil {
		x.stops = cfg.Debugger.Stops()
	}
	x.around.Store(newAround(Surroundings{cfg.Settings, cfg.SettingsIn, cfg.Environment}))
	x.table.Store(x.newTable(cfg.Routes, nil, "", ""))
	return x, nil
}

func (x *Indirector) now() time.Time {
	if x.cfg.Now != nil {
		return x.cfg.Now()
	}
	// time.Now reads two clocks. One is enough while the other was read lately: a
	// wall clock that was set is noticed within a second.
	if read := x.read.Load(); read != nil {
		if d := time.Since(*read); d < time.Second {
			return read.Add(d)
		}
	}
	now := time.Now()
	x.read.Store(&now)
	return now
}

// since returns how long ago t was. Of the two clocks that time.Now reads it needs
// one, at half the price.
func (x *Indirector) since(t time.Time) time.Duration {
	if x.cfg.Now == nil {
		return time.Since(t)
	}
	return x.cfg.Now().Sub(t)
}

// Registry returns the registry, which never changes.
func (x *Indirector) Registry() *Registry { return x.cfg.Registry }

// Close waits for the goroutines of termini and closes every terminus that is
// an io.Closer.
func (x *Indirector) Close() error {
	var errs []error
	end := func(h *holder) {
		h.once.Do(func() { h.err = errors.New("the indirector is closed") })
		if c, ok := h.terminus.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, h := range x.retired {
		end(h)
	}
	x.holders.Range(func(_, v any) bool {
		end(v.(*holder))
		return true
	})
	x.goroutines.Wait()
	return errors.Join(errs...)
}

func (x *Indirector) env(indirection, terminus string) Env {
	return Env{
		Indirection:  indirection,
		Terminus:     terminus,
		Application:  x.cfg.Application,
		Ruby:         x.cfg.Ruby,
		Spec:         x.cfg.Registry.Spec(indirection),
		Settings:     x.around.Load().Settings,
		SettingsIn:   func(environment string) Settings { return x.around.Load().of(environment) },
		Environments: x.cfg.Environments,
		Do:           x.nested,
		Sibling:      func(name string) (Terminus, error) { return x.Terminus(indirection, name) },
		Described:    func(name string) *Descriptor { return x.cfg.Registry.Descriptor(indirection, name) },
		Passed:       func(other, name string) string { return x.Passed(other, name, nil).Terminus },
		Shared: func(name string, make func(before any) any) any {
			once, _ := x.shared.LoadOrStore(name, sync.OnceValue(func() any {
				before, _ := x.former.LoadAndDelete(name)
				return make(before)
			}))
			return once.(func() any)()
		},
		Go:  x.spawn,
		Log: x.cfg.Log.With("indirection", indirection, "terminus", terminus),
		Now: x.now,
	}
}

// Shared returns what termini have in common, as far as one has needed it, in the order
// of its names. After settings have changed it is what it was before, until one needs it
// again. It stays theirs: it is not closed. It is safe for concurrent use.
func (x *Indirector) Shared() (all []any) {
	byName := make(map[string]any)
	x.former.Range(func(name, v any) bool {
		byName[name.(string)] = v
		return true
	})
	x.shared.Range(func(name, once any) bool {
		byName[name.(string)] = once.(func() any)()
		return true
	})
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, byName[name])
	}
	return all
}

func (x *Indirector) spawn(f func()) {
	x.goroutines.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				if x.cfg.Crash == nil {
					panic(v)
				}
				x.cfg.Crash(v, debug.Stack())
			}
		}()
		f()
	})
}

// Terminus returns a terminus, made if need be, to look at what it keeps
// (Lister, Peeker). Asking it for instances bypasses Do and its trace.
func (x *Indirector) Terminus(indirection, name string) (Terminus, error) {
	h := x.holder(indirection, traces.Choice{Terminus: name})
	if err := h.open(x); err != nil {
		return nil, err
	}
	return h.terminus, nil
}

// Reconfigure replaces the settings and the whole route table. Termini that
// read a setting for which changed is true are made anew when next needed; the
// others stay. Requests on their way keep the routes, settings and termini that
// they began with. Why is for the journal: ":set node_terminus=yaml".
func (x *Indirector) Reconfigure(s Surroundings, next Routes, changed func(setting string) bool, why string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.around.Store(newAround(s))
	stale := func(h *holder) bool {
		return h != nil && h.desc != nil && slices.ContainsFunc(h.desc.Settings, func(s Setting) bool { return changed(s.Name) })
	}
	some := false
	x.holders.Range(func(key, v any) bool {
		if h := v.(*holder); stale(h) {
			some = true
			x.retired = append(x.retired, h)
			x.holders.Store(key, h.anew())
		}
		return true
	})
	if some {
		x.shared.Range(func(name, once any) bool { // made by the old settings; its users keep it
			x.former.Store(name, once.(func() any)())
			x.shared.Delete(name)
			return true
		})
	}
	// Wrappers belong to the table, and keep their counts.
	before := &table{by: make(map[string]*resolved)}
	for name, r := range x.table.Load().by {
		kept := *r
		for _, h := range []**holder{&kept.primaryHolder, &kept.cacheHolder} {
			switch {
			case stale(*h) && strings.Contains((*h).name, "("):
				*h = (*h).anew()
			case stale(*h):
				*h = nil
			}
		}
		before.by[name] = &kept
	}
	x.swap(next, before, why)
}

// DurationOf returns the value of a setting, or the given one if there is none.
// The error names the setting and its source; the value is then the given one,
// too.
func DurationOf(s Settings, name string, unset time.Duration) (time.Duration, error) {
	text, source := s.Get(name)
	if text == "" {
		return unset, nil
	}
	d, err := ParseDuration(text)
	if err != nil {
		return unset, fmt.Errorf("setting %s (%s): %w", name, source, err)
	}
	return d, nil
}

// ParseDuration reads a duration of Puppet's settings: a number, and perhaps y,
// d, h, m or s.
func ParseDuration(s string) (time.Duration, error) {
	unit := time.Second
	if s != "" {
		switch s[len(s)-1] {
		case 'y':
			unit = 365 * 24 * time.Hour
		case 'd':
			unit = 24 * time.Hour
		case 'h':
			unit = time.Hour
		case 'm':
			unit = time.Minute
		}
	}
	n, err := strconv.Atoi(strings.TrimRight(s, "ydhms"))
	if err != nil {
		return 0, fmt.Errorf("duration %q: want a number, and perhaps y, d, h, m or s", s)
	}
	return time.Duration(n) * unit, nil
}
