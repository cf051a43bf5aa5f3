package indirector

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"indirtui/traces"
	"indirtui/traces/spell"
)

// Off is the name that a Choice gives to switch a cache off.
const Off = "off"

// A Route is every opinion on the terminus and on the cache of an indirection.
type Route struct{ Primary, Cache traces.Slot }

// Routes is the route of every indirection, by name. It is never changed, only
// replaced.
type Routes map[string]Route

// The names of the two slots of a route.
const (
	SlotTerminus = "terminus"
	SlotCache    = "cache"
)

// A Change is one entry of the journal of the route table. Gap L1.
type Change struct {
	At          time.Time
	Indirection string // "" if the whole table was replaced
	Slot        string // SlotTerminus, SlotCache, "ttl", or "" for the whole table
	Old, New    traces.Choice
	Why         string // "assign", "reset", "undo", "redo", "swap"
	before      Routes
	after       Routes
}

// A table is the route table as requests use it: what Routes say, with the
// winners looked up. It is never changed, so that a request that has read it
// goes by one table from beginning to end.
type table struct {
	routes Routes
	by     map[string]*resolved
}

type resolved struct {
	spec          *Spec
	route         Route
	primary       traces.Choice
	cache         traces.Choice
	primaryHolder *holder
	cacheHolder   *holder // nil if no cache is routed
	around        *around
}

// newTable works out a table. A wrapper that was chosen in the table before and
// still is goes on counting; one that is chosen anew counts anew. anew is the
// indirection for which somebody has just chosen something, "" if nobody has.
func (x *Indirector) newTable(routes Routes, before *table, anew, slot string) *table {
	t := &table{routes: routes, by: make(map[string]*resolved, len(routes))}
	around := x.around.Load()
	for i := range x.cfg.Registry.specs {
		spec := &x.cfg.Registry.specs[i]
		r := &resolved{spec: spec, route: routes[spec.Name], around: around}
		r.primary, r.cache = r.route.Primary.Winner(), r.route.Cache.Winner()
		var was resolved
		if before != nil {
			was = *before.by[spec.Name]
		}
		if r.primary.Terminus != "" {
			r.primaryHolder = x.holder(spec.Name, r.primary)
			if h := was.primaryHolder; h != nil && was.primary == r.primary && (anew != spec.Name || slot != SlotTerminus) {
				r.primaryHolder = h
			}
		}
		if r.cache.Terminus != "" && r.cache.Terminus != Off {
			r.cacheHolder = x.holder(spec.Name, r.cache)
			if h := was.cacheHolder; h != nil && was.cache == r.cache && (anew != spec.Name || slot != SlotCache) {
				r.cacheHolder = h
			}
		}
		t.by[spec.Name] = r
	}
	return t
}

// A WrapperCount is how often a fault or delay was reached since it was chosen,
// and how often it has acted.
type WrapperCount struct {
	Wrapper      string // as written: "fault(rest, 503, first=2)"
	Seen, Acted  int64
	First, Every int64 // its limits; 0 is none
}

func (c WrapperCount) String() string {
	text := fmt.Sprintf("acted %d", c.Acted)
	if c.First > 0 {
		text += fmt.Sprintf(" of %d", c.First)
	}
	text += fmt.Sprintf(" times, asked %d times", c.Seen)
	if c.Every > 1 {
		text += fmt.Sprintf(", next at %d", (c.Seen/c.Every+1)*c.Every)
	}
	return text
}

// WrapperCounts returns the counts of the faults and delays that a slot of an
// indirection is wrapped in, from the outermost in; none if it is not.
func (x *Indirector) WrapperCounts(indirection, slot string) []WrapperCount {
	r := x.table.Load().by[indirection]
	if r == nil {
		return nil
	}
	h := r.primaryHolder
	if slot == SlotCache {
		h = r.cacheHolder
	}
	if h == nil || h.desc == nil || !strings.Contains(h.name, "(") || h.open(x) != nil {
		return nil
	}
	var all []WrapperCount
	h.terminus.(*wrapper).counts(&all)
	return all
}

// A holder holds a terminus, which is made when it is first needed: the one of
// its name, or a wrapper, of which each who has chosen it has its own. A
// constructor that fails does so at every use. Rules IND-TERM-09, IND-TERM-10.
type holder struct {
	indirection, name string
	desc              *Descriptor // nil if there is no such terminus
	once              sync.Once
	terminus          Terminus
	verbs             Verbs
	filter            Filterer
	authorizer        Authorizer
	validator         Validator
	sharer            Sharer
	softener          Softener
	keepsExpiry       bool
	err               error
}

type holderKey struct {
	indirection, name string
	symbol            bool // only with the quirk IND-TERM-09
}

func (x *Indirector) holder(indirection string, c traces.Choice) *holder {
	if strings.Contains(c.Terminus, "(") && traces.NoSource < c.Kind && c.Kind < traces.FromThread {
		return &holder{indirection: indirection, name: c.Terminus} // Puppet knows no wrappers
	}
	if strings.Contains(c.Terminus, "(") { // it counts, and belongs to who has chosen it
		return &holder{indirection: indirection, name: c.Terminus, desc: x.cfg.Registry.Descriptor(indirection, c.Terminus)}
	}
	key := holderKey{indirection, c.Terminus, c.Symbol && x.cfg.Quirks["IND-TERM-09"]}
	if h, ok := x.holders.Load(key); ok {
		return h.(*holder)
	}
	h, _ := x.holders.LoadOrStore(key, &holder{
		indirection: indirection, name: c.Terminus,
		desc: x.cfg.Registry.Descriptor(indirection, c.Terminus),
	})
	return h.(*holder)
}

// anew returns a holder for the same description, which makes its own terminus.
func (h *holder) anew() *holder {
	return &holder{indirection: h.indirection, name: h.name, desc: h.desc}
}

// open makes the terminus if that has not been done.
func (h *holder) open(x *Indirector) error {
	h.once.Do(func() {
		if h.desc == nil {
			h.err = x.unknownTerminus(h.indirection, h.name)
			return
		}
		h.terminus, h.err = h.desc.New(x.env(h.indirection, h.name))
		if h.err != nil {
			return
		}
		h.verbs = VerbsOf(h.terminus)
		h.filter = ability[Filterer](h.terminus)
		h.authorizer = ability[Authorizer](h.terminus)
		h.validator = ability[Validator](h.terminus)
		h.sharer = ability[Sharer](h.terminus)
		h.softener = ability[Softener](h.terminus)
		h.keepsExpiry = h.desc.KeepsExpiry
		if k := ability[Keeper](h.terminus); k != nil {
			h.keepsExpiry = k.KeepsExpiry()
		}
	})
	return h.err
}

// unknownTerminus is Puppet's error for a name that is no terminus, with what
// could be used instead. Rules IND-SEL-05, IND-TERM-11.
func (x *Indirector) unknownTerminus(indirection, name string) error {
	f := &Failure{Class: "ArgumentError", Message: fmt.Sprintf(msgNoTerminus, name, indirection), Err: ErrNoRoute}
	if name == "" {
		f.Message = fmt.Sprintf(msgInvalidTerminus, `""`)
	}
	known := x.cfg.Registry.Termini(indirection)
	f.Hidden = "there are: " + strings.Join(known, ", ")
	if strings.Contains(name, "(") {
		if _, err := x.cfg.Registry.wrapped(indirection, name, 0); err != nil {
			f.Hidden = err.Error()
			return f
		}
	}
	if len(known) == 0 {
		f.Hidden = "this build has no terminus of " + indirection
	}
	if near := spell.Nearest(name, known); near != "" && name != "" {
		f.Hidden = "nearest: " + near + "; " + f.Hidden
	}
	return f
}

// Routes returns the table in force.
func (x *Indirector) Routes() Routes { return x.table.Load().routes }

// Explain returns the route of one indirection: every opinion on its terminus
// and cache, strongest first. Gap L1.
func (x *Indirector) Explain(indirection string) (Route, bool) {
	r, ok := x.Routes()[indirection]
	return r, ok
}

// Assign lets c have its say on a slot, SlotTerminus or SlotCache, of an
// indirection, above what was said before by sources that are not stronger.
// The terminus must exist and, unless it is Off, must be makeable by name; if
// it is not, nothing changes. Rules IND-SEL-01, IND-SEL-05, IND-SEL-06.
func (x *Indirector) Assign(indirection, slot string, c traces.Choice) error {
	spec := x.cfg.Registry.Spec(indirection)
	if spec == nil {
		return &Failure{Class: "ArgumentError", Message: fmt.Sprintf(msgNoIndirection, indirection), Hidden: hint(x.cfg.Registry.Nearest(indirection)), Err: ErrNoRoute}
	}
	if slot != SlotTerminus && slot != SlotCache {
		return &Failure{Class: "ArgumentError", Message: fmt.Sprintf(msgSetting, slot)}
	}
	off := slot == SlotCache && c.Terminus == Off
	if !off && x.cfg.Registry.Descriptor(indirection, c.Terminus) == nil {
		return x.unknownTerminus(indirection, c.Terminus)
	}
	if c.At.IsZero() {
		c.At = x.now()
	}
	x.change("assign", indirection, slot, c, func(r Route) Route {
		if slot == SlotCache {
			r.Cache = push(r.Cache, c)
		} else {
			r.Primary = push(r.Primary, c)
		}
		return r
	})
	return nil
}

func hint(near string) string {
	if near == "" {
		return ""
	}
	return "nearest: " + near
}

// push puts c above everything that is not of a stronger source.
func push(s traces.Slot, c traces.Choice) traces.Slot {
	i := 0
	for i < len(s) && s[i].Kind > c.Kind {
		i++
	}
	return slices.Insert(slices.Clone(s), i, c)
}

// Reset forgets every explicit choice of terminus of an indirection, as
// Puppet's reset_terminus_class does: only the setting is left. An indirection
// whose terminus is fixed in code then has none. Rule IND-SEL-03.
func (x *Indirector) Reset(indirection string, by traces.Choice) {
	x.change("reset", indirection, SlotTerminus, by, func(r Route) Route {
		r.Primary = slices.DeleteFunc(slices.Clone(r.Primary), func(c traces.Choice) bool {
			return c.Why == "" && c.Setting == "" && c.Kind != traces.FromSetting
		})
		return r
	})
}

// Withdraw removes what source said about an indirection: "reset to configured".
func (x *Indirector) Withdraw(indirection string, source traces.SourceKind) {
	without := func(s traces.Slot) traces.Slot {
		return slices.DeleteFunc(slices.Clone(s), func(c traces.Choice) bool { return c.Kind == source })
	}
	x.change("reset", indirection, "", traces.Choice{Kind: source}, func(r Route) Route {
		return Route{without(r.Primary), without(r.Cache)}
	})
}

func (x *Indirector) change(why, indirection, slot string, c traces.Choice, edit func(Route) Route) {
	x.mu.Lock()
	defer x.mu.Unlock()
	before := x.Routes()
	after := maps.Clone(before)
	old := after[indirection]
	after[indirection] = edit(old)
	was := old.Primary
	if slot == SlotCache {
		was = old.Cache
	}
	x.journal = append(x.journal, Change{
		At: x.now(), Indirection: indirection, Slot: slot, Why: why,
		Old: was.Winner(), New: c, before: before, after: after,
	})
	anew := ""
	if why == "assign" {
		anew = indirection
	}
	x.table.Store(x.newTable(after, x.table.Load(), anew, slot))
}

// SwapRoutes replaces the whole table and returns the old one. Requests on
// their way go by the table that they have read.
func (x *Indirector) SwapRoutes(next Routes, why string) (previous Routes) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.swap(next, x.table.Load(), why)
}

// swap replaces the table by one that follows on another. x.mu is held.
func (x *Indirector) swap(next Routes, before *table, why string) (previous Routes) {
	previous = x.Routes()
	x.journal = append(x.journal, Change{At: x.now(), Why: why, before: previous, after: next})
	x.table.Store(x.newTable(next, before, "", ""))
	return previous
}

// With returns a table in which c has its say on a slot of an indirection, as by
// [Indirector.Assign].
func (r Routes) With(indirection, slot string, c traces.Choice) Routes {
	after := maps.Clone(r)
	route := after[indirection]
	if slot == SlotCache {
		route.Cache = push(route.Cache, c)
	} else {
		route.Primary = push(route.Primary, c)
	}
	after[indirection] = route
	return after
}

// Rebase returns next with what was chosen since old on top of it: a route that
// is as in old is that of next. What of old was taken away is taken away.
func Rebase(now, old, next Routes) Routes {
	rebased := maps.Clone(next)
	for name, route := range now {
		rebased[name] = Route{
			rebase(route.Primary, old[name].Primary, next[name].Primary),
			rebase(route.Cache, old[name].Cache, next[name].Cache),
		}
	}
	return rebased
}

func rebase(now, old, next traces.Slot) traces.Slot {
	gone := func(c traces.Choice) bool { return slices.Contains(old, c) && !slices.Contains(now, c) }
	s := slices.DeleteFunc(slices.Clone(next), gone)
	for _, c := range slices.Backward(now) {
		if !slices.Contains(old, c) {
			s = push(s, c)
		}
	}
	return s
}

// Journal returns every change since the start, oldest first. Gap L1.
func (x *Indirector) Journal() []Change {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Clone(x.journal)
}

// Before returns the table that the change replaced, and After the one it made.
func (c Change) Before() Routes { return c.before }

// After returns the table that the change made.
func (c Change) After() Routes { return c.after }

// A Thread is a view of an Indirector in which some termini are others, for
// one line of execution: Puppet's thread-local selection, made visible. It may
// be used by one goroutine at a time. Rule IND-SEL-09.
type Thread struct {
	x    *Indirector
	name string
	own  map[string][2]string
}

// Thread returns a view that differs from x in nothing yet.
func (x *Indirector) Thread(name string) *Thread {
	return &Thread{x: x, name: name, own: make(map[string][2]string)}
}

// Assign chooses a terminus or cache for the requests of this Thread only.
func (t *Thread) Assign(indirection, slot, terminus string) error {
	own := t.own[indirection]
	switch slot {
	case SlotTerminus:
		own[0] = terminus
	case SlotCache:
		own[1] = terminus
	default:
		return &Failure{Class: "ArgumentError", Message: fmt.Sprintf(msgSetting, slot)}
	}
	if terminus != Off && t.x.cfg.Registry.Descriptor(indirection, terminus) == nil {
		return t.x.unknownTerminus(indirection, terminus)
	}
	t.own[indirection] = own
	return nil
}

// Do answers a request of this Thread, by its own choices where it has made
// any. Rule IND-SEL-09.
func (t *Thread) Do(ctx context.Context, req *Request) (*Response, error) {
	own := t.own[req.Indirection]
	r := *req
	if r.Terminus == "" && own[0] != "" {
		r.Terminus, r.By, r.Source = own[0], traces.FromThread, "thread "+t.name
	}
	if r.Cache == "" && own[1] != "" {
		r.Cache, r.By, r.Source = own[1], traces.FromThread, "thread "+t.name
	}
	return t.x.Do(ctx, &r)
}
