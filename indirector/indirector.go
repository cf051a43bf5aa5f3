// Package indirector carries requests to the termini that answer them. It
// knows no user interface, no file format and no network.
//
// An indirection (facts, node, catalog, …) binds one model to many termini
// (yaml, json, exec, …). A request names an indirection, a verb and a key. It
// walks through a fixed list of steps, see [Indirector.Do]: each step is one
// question with an answer and a reason, and all that is done around a step is
// done in one function, watch. Termini know nothing of that: they implement
// one to five one-method interfaces.
package indirector

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"indirtui/traces"
)

// LevelNotice and LevelCritical are the levels of what Puppet logs as notice and
// as crit.
const (
	LevelNotice   = slog.LevelInfo + 2
	LevelCritical = slog.LevelError + 4
)

// maxDepth is how deep requests may nest before it is taken for a loop.
const maxDepth = 64

// Config is all that an Indirector needs. Registry and Routes are required.
type Config struct {
	Registry *Registry
	Routes   Routes
	Settings Settings // nil knows none
	// SettingsIn returns the settings of an environment that exists and is not the
	// current one. A nil function returns Settings.
	SettingsIn func(environment string) Settings
	Recorder   traces.Recorder        // nil keeps nothing
	Debugger   Debugger               // nil never holds
	Quirks     map[string]bool        // rule ids whose original oddity is wanted
	Now        func() time.Time       // nil is time.Now
	Log        *slog.Logger           // nil discards
	Crash      func(v any, at []byte) // what to do when a goroutine of a terminus panics; nil panics on
	// Environments says whether there is an environment by that name: nil, or
	// an *EnvironmentNotFound. A nil function knows them all.
	Environments func(name string) error
	Environment  string // the current environment; "" is production
	Application  string
}

// An Indirector is one running house. It is safe for concurrent use; several
// may live in one process without knowing of each other.
type Indirector struct {
	cfg        Config
	plans      *plans
	holders    sync.Map // of holderKey to *holder
	table      atomic.Pointer[table]
	around     atomic.Pointer[around]
	ttls       sync.Map // of indirection to time.Duration, of those set by SetTTL
	shared     sync.Map // of name to func() any
	goroutines sync.WaitGroup
	stops      *Stops // of the gate; empty without one

	mu      sync.Mutex // guards what follows, and the order of table changes
	journal []Change
	retired []*holder // of termini that have been made anew
}

// An around is what the house goes by beside its routes. It is never changed,
// only replaced, so that a request that has read its route goes by one of them.
type around struct {
	Surroundings
	ttl func() time.Duration // as the setting runinterval says
}

// Surroundings are what a house and its termini read settings from, as in
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
	if s.Environment == "" {
		s.Environment = "production"
	}
	return &around{s, sync.OnceValue(func() time.Duration {
		text, _ := s.Settings.Get("runinterval")
		d, err := ParseDuration(text)
		if err != nil {
			return 1800 * time.Second
		}
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

// New returns an Indirector. Names in Routes that are no terminus are no error
// here: the requests that meet them fail as Puppet's do.
func New(cfg Config) (*Indirector, error) {
	if cfg.Registry == nil {
		return nil, errors.New("indirector: no registry")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	x := &Indirector{cfg: cfg, plans: newPlans(), stops: new(Stops)}
	if cfg.Debugger != nil {
		x.stops = cfg.Debugger.Stops()
	}
	x.around.Store(newAround(Surroundings{cfg.Settings, cfg.SettingsIn, cfg.Environment}))
	x.table.Store(x.newTable(cfg.Routes, nil, "", ""))
	return x, nil
}

func (x *Indirector) now() time.Time { return x.cfg.Now() }

// Registry returns what the Indirector knows. It never changes.
func (x *Indirector) Registry() *Registry { return x.cfg.Registry }

// Close waits for the goroutines of termini and closes those termini that
// have been made and are an io.Closer.
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

// env is what a terminus may take from its surroundings.
func (x *Indirector) env(indirection, terminus string) Env {
	return Env{
		Indirection: indirection,
		Terminus:    terminus,
		Application: x.cfg.Application,
		Spec:        x.cfg.Registry.Spec(indirection),
		Settings:    x.around.Load().Settings,
		SettingsIn:  func(environment string) Settings { return x.around.Load().of(environment) },
		Do:          x.nested,
		Sibling:     func(name string) (Terminus, error) { return x.Terminus(indirection, name) },
		Shared: func(name string, make func() any) any {
			once, _ := x.shared.LoadOrStore(name, sync.OnceValue(make))
			return once.(func() any)()
		},
		Go:  x.spawn,
		Log: x.cfg.Log.With("indirection", indirection, "terminus", terminus),
		Now: x.cfg.Now,
	}
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

// Terminus returns a terminus of an indirection, made if need be, for those
// who look at what it keeps (Lister, Peeker). Asking it for instances goes by
// Do, or nobody will know.
func (x *Indirector) Terminus(indirection, name string) (Terminus, error) {
	h := x.holder(indirection, traces.Choice{Terminus: name})
	if err := h.open(x); err != nil {
		return nil, err
	}
	return h.terminus, nil
}

// TTL is how long a found instance of an indirection stays fresh: what was set
// by SetTTL, else the setting runinterval, read once. Rule IND-EXP-02.
func (x *Indirector) TTL(indirection string) time.Duration {
	return x.ttl(indirection, x.around.Load())
}

func (x *Indirector) ttl(indirection string, a *around) time.Duration {
	if d, ok := x.ttls.Load(indirection); ok {
		return d.(time.Duration)
	}
	return a.ttl()
}

// Reconfigure replaces what settings are read from, and with it the whole route
// table. Termini that read one of the settings that changed reports are made
// anew when they are next needed; the others stay, with all that they keep.
// Requests on their way go on with the routes, the settings and the termini
// that they began with. Why is for the journal: ":set node_terminus=yaml".
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
		x.shared.Clear() // what was made by the old settings; who has it keeps it
	}
	// Wrappers belong to the table. They go on counting where they were.
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

// SetTTL sets the time to live of an indirection, in whole seconds. Rules
// IND-EXP-02, gap L2.
func (x *Indirector) SetTTL(indirection, seconds string, by traces.Choice) error {
	n, err := strconv.Atoi(seconds)
	if err != nil {
		return &Failure{Class: "ArgumentError", Message: msgTTL, Hidden: "got " + strconv.Quote(seconds)}
	}
	old := x.TTL(indirection)
	x.ttls.Store(indirection, time.Duration(n)*time.Second)
	x.mu.Lock()
	defer x.mu.Unlock()
	by.Terminus = seconds
	routes := x.Routes()
	x.journal = append(x.journal, Change{
		At: x.now(), Indirection: indirection, Slot: "ttl", Why: "assign",
		Old: traces.Choice{Terminus: strconv.Itoa(int(old / time.Second))}, New: by, before: routes, after: routes,
	})
	return nil
}

// ParseDuration reads a duration as Puppet's settings write it: a number, and
// perhaps y, d, h, m or s.
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
