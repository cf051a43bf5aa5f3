package indirector

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"indirtui/traces"
	"indirtui/traces/spell"
)

// Off as a Choice of cache switches it off.
const Off = "off"

// A Route holds the candidates for terminus and cache of an indirection, and for
// its ttl: a number of seconds. Without a ttl the setting runinterval holds. Rule
// IND-EXP-02.
type Route struct{ Primary, Cache, TTL traces.Slot }

// Slot returns one of the slots of a route.
func (r Route) Slot(name string) traces.Slot { return *r.at(name) }

func (r *Route) at(slot string) *traces.Slot {
	switch slot {
	case SlotCache:
		return &r.Cache
	case SlotTTL:
		return &r.TTL
	}
	return &r.Primary
}

// each returns the route with every slot changed by edit.
func (r Route) each(edit func(slot string, s traces.Slot) traces.Slot) Route {
	for _, name := range [...]string{SlotTerminus, SlotCache, SlotTTL} {
		*r.at(name) = edit(name, *r.at(name))
	}
	return r
}

// Slots returns the names of the slots that are shown: that of the ttl only if
// there are candidates for one.
func (r Route) Slots() []string {
	if len(r.TTL) == 0 {
		return []string{SlotTerminus, SlotCache}
	}
	return []string{SlotTerminus, SlotCache, SlotTTL}
}

// Agrees reports whether two routes come to the same terminus, cache and ttl.
func (r Route) Agrees(other Route) bool {
	for _, name := range [...]string{SlotTerminus, SlotCache, SlotTTL} {
		if r.Slot(name).Winner().Terminus != other.Slot(name).Winner().Terminus {
			return false
		}
	}
	return true
}

// Routes are the routes of all indirections, by name. They are never changed,
// only replaced.
type Routes map[string]Route

// The slots of a route.
const (
	SlotTerminus = "terminus"
	SlotCache    = "cache"
	SlotTTL      = "ttl"
)

// A Change is an entry of the journal of routes. Gap L1.
type Change struct {
	At          time.Time
	Indirection string // "" if the whole table was replaced
	Slot        string // SlotTerminus, SlotCache, SlotTTL, or "" for the whole table
	Old, New    traces.Choice
	Why         string // "assign", "reset", "undo", "redo", "swap"
	before      Routes
	after       Routes
}

// A table holds Routes with their winners. It is never changed, so that a
// request sees one table throughout.
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
	// ttl returns how long what is found stays fresh: as was chosen for the route,
	// else the setting runinterval. Dated is why. Rule IND-EXP-02.
	ttl   func() time.Duration
	dated traces.Because
	own   *atomic.Pointer[ownRoute] // the last one that was made of this
}

// ParseTTL reads a ttl: a number of seconds, which Puppet would also take if it is
// zero or less. What would not fit into 270 years is refused. Rule IND-EXP-02.
func ParseTTL(text string) (time.Duration, error) {
	n, err := strconv.ParseInt(text, 10, 34)
	if err != nil {
		return 0, &Failure{Class: "ArgumentError", Message: msgTTL, Hidden: fmt.Sprintf("%q is no number of seconds", text)}
	}
	return time.Duration(n) * time.Second, nil
}

// newTable looks up the winners. A wrapper that stays chosen keeps its counts,
// unless it was just assigned to slot of the indirection anew ("" is none).
func (x *Indirector) newTable(routes Routes, before *table, anew, slot string) *table {
	t := &table{routes: routes, by: make(map[string]*resolved, len(routes))}
	around := x.around.Load()
	for i := range x.cfg.Registry.specs {
		spec := &x.cfg.Registry.specs[i]
		r := &resolved{spec: spec, route: routes[spec.Name], around: around, own: new(atomic.Pointer[ownRoute])}
		r.primary, r.cache = r.route.Primary.Winner(), r.route.Cache.Winner()
		r.ttl, r.dated = around.ttl, traces.Because{Reason: traces.TTL}
		if c := r.route.TTL.Winner(); c.Terminus != "" {
			life, _ := ParseTTL(c.Terminus) // Assign has read it
			r.ttl = func() time.Duration { return life }
			r.dated.About = c.Terminus + " s, " + c.Kind.String() + " " + c.Source
		}
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

// A WrapperCount counts a fault or delay since it was chosen.
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

// WrapperCounts returns the counts of the faults and delays around a slot,
// outermost first.
func (x *Indirector) WrapperCounts(indirection, slot string) []WrapperCount {
	r := x.table.Load().by[indirection]
	if r == nil {
		return nil
	}
	var h *holder
	switch slot {
	case SlotTerminus:
		h = r.primaryHolder
	case SlotCache:
		h = r.cacheHolder
	}
	if h == nil || h.desc == nil || !strings.Contains(h.name, "(") || h.open(x) != nil {
		return nil
	}
	var all []WrapperCount
	h.terminus.(*wrapper).counts(&all)
	return all
}

// A holder makes its terminus when it is first needed. Each choice of a wrapper
// has its own. A constructor that fails does so at every use. Rules
// IND-TERM-09, IND-TERM-10.
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
	if strings.Contains(c.Terminus, "(") { // it counts for this choice alone
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

// anew returns a holder of the same Descriptor with its own terminus.
func (h *holder) anew() *holder {
	return &holder{indirection: h.indirection, name: h.name, desc: h.desc}
}

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

// Lacking returns the sentence about a terminus that owner has and this program
// lacks.
func Lacking(terminus, owner string) string { return fmt.Sprintf(msgLacking, terminus, owner) }

// unknownTerminus is Puppet's error for an unknown name, with what exists. What
// only this program lacks is no error of Puppet's. Rules IND-SEL-05,
// IND-TERM-11.
func (x *Indirector) unknownTerminus(indirection, name string) error {
	f := &Failure{Class: "ArgumentError", Message: fmt.Sprintf(msgNoTerminus, name, indirection), Err: ErrNoRoute}
	if name == "" {
		f.Message = fmt.Sprintf(msgInvalidTerminus, `""`)
	}
	known := x.cfg.Registry.Termini(indirection)
	f.Hidden = "there are: " + strings.Join(known, ", ")
	if owner := x.cfg.Owner(indirection, name); owner != "" {
		f.Class, f.Message, f.Err = "", Lacking(name, owner), ErrLacking
		return f
	}
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

// Explain returns the candidates for terminus and cache of an indirection,
// strongest first. Gap L1.
func (x *Indirector) Explain(indirection string) (Route, bool) {
	r, ok := x.Routes()[indirection]
	return r, ok
}

// Assign adds the candidate c to a slot, SlotTerminus, SlotCache or SlotTTL, above
// those of sources that are not stronger. The terminus must exist, except Off, and
// a ttl must be a number; otherwise nothing changes. Rules IND-SEL-01, IND-SEL-05,
// IND-SEL-06, IND-EXP-02.
func (x *Indirector) Assign(indirection, slot string, c traces.Choice) error {
	spec := x.cfg.Registry.Spec(indirection)
	if spec == nil {
		return &Failure{Class: "ArgumentError", Message: fmt.Sprintf(msgNoIndirection, indirection), Hidden: hint(x.cfg.Registry.Nearest(indirection)), Err: ErrNoRoute}
	}
	switch {
	case slot == SlotTTL:
		if _, err := ParseTTL(c.Terminus); err != nil {
			return err
		}
	case slot != SlotTerminus && slot != SlotCache:
		return &Failure{Class: "ArgumentError", Message: fmt.Sprintf(msgSetting, slot)}
	case slot == SlotCache && c.Terminus == Off:
	case x.cfg.Registry.Descriptor(indirection, c.Terminus) == nil:
		return x.unknownTerminus(indirection, c.Terminus)
	}
	if c.At.IsZero() {
		c.At = x.now()
	}
	x.change("assign", indirection, slot, c, func(r Route) Route { return r.with(slot, c) })
	return nil
}

func hint(near string) string {
	if near == "" {
		return ""
	}
	return "nearest: " + near
}

// push puts c above the first candidate that is not of a stronger source.
func push(s traces.Slot, c traces.Choice) traces.Slot {
	i := 0
	for i < len(s) && s[i].Kind > c.Kind {
		i++
	}
	return slices.Insert(slices.Clone(s), i, c)
}

// Withdraw removes the candidates of a source: "reset to configured". Rule
// IND-SEL-03.
func (x *Indirector) Withdraw(indirection string, source traces.SourceKind) {
	without := func(_ string, s traces.Slot) traces.Slot {
		return slices.DeleteFunc(slices.Clone(s), func(c traces.Choice) bool { return c.Kind == source })
	}
	x.change("reset", indirection, "", traces.Choice{Kind: source}, func(r Route) Route {
		return r.each(without)
	})
}

func (x *Indirector) change(why, indirection, slot string, c traces.Choice, edit func(Route) Route) {
	x.mu.Lock()
	defer x.mu.Unlock()
	before := x.Routes()
	after := maps.Clone(before)
	old := after[indirection]
	after[indirection] = edit(old)
	x.journal = append(x.journal, Change{
		At: x.now(), Indirection: indirection, Slot: slot, Why: why,
		Old: old.Slot(slot).Winner(), New: c, before: before, after: after,
	})
	anew := ""
	if why == "assign" {
		anew = indirection
	}
	x.table.Store(x.newTable(after, x.table.Load(), anew, slot))
}

// SwapRoutes replaces the table and returns the old one. Requests on their way
// keep theirs.
func (x *Indirector) SwapRoutes(next Routes, why string) (previous Routes) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.swap(next, x.table.Load(), why)
}

// swap replaces the table. Wrappers keep their counts of before. x.mu is held.
func (x *Indirector) swap(next Routes, before *table, why string) (previous Routes) {
	previous = x.Routes()
	x.journal = append(x.journal, Change{At: x.now(), Why: why, before: previous, after: next})
	x.table.Store(x.newTable(next, before, "", ""))
	return previous
}

// With returns Routes with c assigned, as by [Indirector.Assign].
func (r Routes) With(indirection, slot string, c traces.Choice) Routes {
	after := maps.Clone(r)
	after[indirection] = after[indirection].with(slot, c)
	return after
}

func (r Route) with(slot string, c traces.Choice) Route {
	s := r.at(slot)
	*s = push(*s, c)
	return r
}

// Rebase returns next with the changes from old to now applied to it.
func Rebase(now, old, next Routes) Routes {
	rebased := maps.Clone(next)
	for name, route := range now {
		rebased[name] = next[name].each(func(slot string, s traces.Slot) traces.Slot {
			return rebase(route.Slot(slot), old[name].Slot(slot), s)
		})
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

// Before returns the table that the change replaced.
func (c Change) Before() Routes { return c.before }

// After returns the table that the change made.
func (c Change) After() Routes { return c.after }

// A Thread is a view of an Indirector with some termini of its own: Puppet's
// thread-local selection, made visible. It is not safe for concurrent use. Rule
// IND-SEL-09.
type Thread struct {
	x    *Indirector
	name string
	own  map[string][2]string
}

// Thread returns a view that does not differ from x yet.
func (x *Indirector) Thread(name string) *Thread {
	return &Thread{x: x, name: name, own: make(map[string][2]string)}
}

// Assign chooses a terminus or cache for this Thread only.
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

// Do is [Indirector.Do] with the termini of the Thread. Rule IND-SEL-09.
func (t *Thread) Do(ctx context.Context, req *Request) (Response, error) {
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
