// Package debugger stops requests between two steps: it is an
// [indirector.Debugger] with breakpoints.
//
//	d, err := debugger.New(debugger.Options{})
//	b, err := debugger.Parse("ind=catalog key=db07* before cache-read do hold once")
//	d.Add(b)
//	// a request is held; <-d.Changed()
//	for _, h := range d.Held() {
//		d.Edit(h.ID, debugger.Edit{Name: "ignore_cache", Value: "false"})
//		d.Resume(h.ID, debugger.Step)
//	}
//
// A breakpoint is WHEN (an expression of package query) × WHERE (before or
// after one of the ten steps) × WHAT (an Action), with limits. A held request
// waits on its own goroutine without a lock, and goes on by itself after
// Options.HoldLimit. It can be inspected, changed, and stepped through, together
// with its nested requests.
//
// Without breakpoints a request costs a load at each step. At armed breakpoints it
// costs reading its row and one match each; nothing is copied before one matches.
package debugger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/traces/query"
)

// A Recorder holds the requests: a *store.Store.
type Recorder interface {
	SetHeld(id uint64, held bool)
	Subject(id uint64) (query.Subject, bool)
}

// Options are the options of New. The zero value holds for two minutes, keeps
// no breakpoints, and allows everything.
type Options struct {
	Dir       string        // of the breakpoints, one file for each project; "" keeps none
	Project   string        // absolute path of its configuration
	HoldLimit time.Duration // until a request goes on by itself; 0 is 2 min, negative is no limit
	MaxHeld   int           // at once; 0 is 1000. The others pass and are counted
	Recorder  Recorder      // nil: relations in expressions match nothing
	// Writes reports whether answers may be invented; nil is always.
	Writes func() bool
	// Timeout returns how long the caller of a request waits for it and the
	// source of that ("http_read_timeout"). Zero is unknown. May be nil.
	Timeout func(*indirector.Request) (time.Duration, string)
	Redact  func(string) string // of what is logged; may be nil
	Now     func() time.Time    // nil is time.Now
	Rand    func() float64      // from 0 to 1; nil is math/rand
}

// ErrReadOnly reports an answer that may not be invented in read-only mode.
var ErrReadOnly = errors.New("refused: read-only mode. Start with --write or use :write on")

// ErrGone reports a request that is not held, or no longer.
var ErrGone = errors.New("the request is not held")

// A Debugger holds requests. It is safe for concurrent use.
type Debugger struct {
	o       Options
	path    string // "" is none
	stops   indirector.Stops
	at      atomic.Pointer[places]
	walkers atomic.Int32 // requests that are stepped through
	leaving atomic.Int32 // requests that Left looks for
	changed chan struct{}
	rearmed chan struct{}
	saving  sync.Mutex // one file at a time

	mu     sync.Mutex // guards the fields below
	off    bool
	closed bool
	breaks []*breakpoint
	last   int // number of the newest breakpoint
	held   map[uint64]*held
	walks  map[uint64]*walk
	runs   map[string]bool // whose next resource a walk stops
	lines  []Line
	unread []string // lines of the file that could not be read
}

// places holds the armed breakpoints by place. It is replaced, never changed.
type places struct {
	steps [2 * traces.StepCount][]*breakpoint
	code  []*breakpoint // in programs
}

func placeOf(s traces.Step, after bool) int {
	i := 2 * int(s)
	if after {
		i++
	}
	return i
}

// A breakpoint is a Breakpoint with its state.
type breakpoint struct {
	Breakpoint
	id       string
	on       bool   // guarded by Debugger.mu
	restored bool   // guarded by Debugger.mu
	only     uint64 // id of the one request it is for; 0 is all
	late     bool   // the expression needs the outcome so far
	seen     atomic.Uint64
	hits     atomic.Uint64
	at       atomic.Int64
}

func newBreakpoint(b Breakpoint, id string) *breakpoint {
	n := &breakpoint{Breakpoint: b, id: id, late: !b.When.Simple()}
	for _, name := range b.When.Names() {
		switch name {
		case "out", "served", "took", "setby", "hidden", "failed", "slow":
			n.late = true
		}
	}
	return n
}

// An Info is a breakpoint as it is shown.
type Info struct {
	ID string // "b1"
	Breakpoint
	On       bool
	Restored bool      // from the file, and not armed since
	Seen     uint64    // requests it matched since it was armed
	Hits     uint64    // how often it acted since it was armed
	Last     time.Time // when it acted last; zero if never
}

// A Line was logged by a breakpoint.
type Line struct {
	At      time.Time
	Request uint64
	By      string // "b2"
	Text    string
}

// Spent reports whether it reached its limit and was disarmed.
func (i *Info) Spent() bool { return !i.On && i.First > 0 && i.Hits >= uint64(i.First) }

// Count describes Hits and Seen: "2 of 5, matched 7, next at 9".
func (i *Info) Count() string {
	text := strconv.FormatUint(i.Hits, 10)
	if i.First > 0 {
		text += " of " + strconv.Itoa(i.First)
	}
	if i.Every > 1 || i.Percent > 0 || i.Seen != i.Hits {
		text += fmt.Sprintf(", matched %d", i.Seen)
	}
	switch {
	case i.Spent():
		text += ", spent"
	case i.Every > 1:
		text += fmt.Sprintf(", next at %d", (i.Seen/uint64(i.Every)+1)*uint64(i.Every))
	}
	return text
}

// maxLines is how many logged lines are kept.
const maxLines = 1000

// New returns a Debugger with the breakpoints of its file, disarmed. The
// Debugger is usable even if reading the file failed.
func New(o Options) (*Debugger, error) {
	o.HoldLimit = cmp.Or(o.HoldLimit, 2*time.Minute)
	o.MaxHeld = cmp.Or(o.MaxHeld, 1000)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	d := &Debugger{
		o: o, changed: make(chan struct{}, 1), rearmed: make(chan struct{}, 1),
		held: map[uint64]*held{}, walks: map[uint64]*walk{}, runs: map[string]bool{},
	}
	d.at.Store(new(places))
	if o.Dir != "" {
		d.path = fileOf(o.Dir, o.Project)
	}
	return d, d.load()
}

// Changed has one slot. It is sent to when a request is held or goes on, or
// breakpoints change.
func (d *Debugger) Changed() <-chan struct{} { return d.changed }

func (d *Debugger) notify() { signal(d.changed) }

// signal fills the slot of a channel.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Add arms a breakpoint and keeps it. The error is ErrReadOnly, or that of the
// file, when the breakpoint is armed but not kept.
func (d *Debugger) Add(b Breakpoint) (Info, error) {
	if err := d.mayInvent(b.Action); err != nil {
		return Info{}, err
	}
	d.mu.Lock()
	d.last++
	n := newBreakpoint(b, "b"+strconv.Itoa(d.last))
	n.on = true
	d.breaks = append(d.breaks, n)
	return n.info(), d.changeBreaks()
}

// Replace changes a breakpoint, arms it and resets its counts.
func (d *Debugger) Replace(id string, b Breakpoint) (info Info, err error) {
	if err := d.mayInvent(b.Action); err != nil {
		return Info{}, err
	}
	n := newBreakpoint(b, id)
	n.on = true
	err = d.edit(id, func(i int) error {
		d.breaks[i], info = n, n.info()
		return nil
	})
	return info, err
}

// Arm arms or disarms a breakpoint.
func (d *Debugger) Arm(id string, on bool) error {
	return d.edit(id, func(i int) error {
		b := d.breaks[i]
		if on {
			if err := d.mayInvent(b.Action); err != nil {
				return err
			}
			b.reset()
		}
		b.on, b.restored = on, false
		return nil
	})
}

// Remove deletes a breakpoint.
func (d *Debugger) Remove(id string) error {
	return d.edit(id, func(i int) error {
		d.breaks = slices.Delete(d.breaks, i, i+1)
		return nil
	})
}

// edit changes d.breaks at a breakpoint under d.mu, then applies and saves all.
func (d *Debugger) edit(id string, change func(i int) error) error {
	d.mu.Lock()
	i := slices.IndexFunc(d.breaks, func(b *breakpoint) bool { return b.id == id && b.only == 0 })
	err := fmt.Errorf("there is no breakpoint %q", id)
	if i >= 0 {
		err = change(i)
	}
	if err != nil {
		d.mu.Unlock()
		return err
	}
	return d.changeBreaks()
}

// Breaks returns all breakpoints, oldest first.
func (d *Debugger) Breaks() []Info {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []Info
	for _, b := range d.breaks {
		if b.only == 0 {
			all = append(all, b.info())
		}
	}
	return all
}

// SetOff disarms everything and releases every held request, or arms again what
// was armed, with new counts.
func (d *Debugger) SetOff(off bool) {
	d.mu.Lock()
	if d.off && !off {
		for _, b := range d.breaks {
			if b.on {
				b.reset()
			}
		}
	}
	d.off = off
	if off {
		for _, h := range d.held {
			d.letGo(h, Continue, indirector.Verdict{})
		}
		clear(d.walks)
		clear(d.runs)
	}
	d.arrange()
	d.mu.Unlock()
	d.notify()
}

// Off returns what SetOff set.
func (d *Debugger) Off() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.off
}

// HoldLimit is how long a request is held before it goes on by itself; negative
// is no limit.
func (d *Debugger) HoldLimit() time.Duration { return d.o.HoldLimit }

// Lines returns the newest thousand logged lines, oldest first.
func (d *Debugger) Lines() []Line {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.lines)
}

// Close releases every held request. None is held from then on.
func (d *Debugger) Close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.SetOff(true)
}

func (b *breakpoint) reset() {
	b.hits.Store(0)
	b.seen.Store(0)
}

func (b *breakpoint) info() Info {
	i := Info{ID: b.id, Breakpoint: b.Breakpoint, On: b.on, Restored: b.restored, Seen: b.seen.Load(), Hits: b.hits.Load()}
	if at := b.at.Load(); at != 0 {
		i.Last = time.Unix(0, at)
	}
	return i
}

// mayInvent returns ErrReadOnly if the action would give a false answer and
// that is not allowed.
func (d *Debugger) mayInvent(a Action) error {
	switch a.Do {
	case Value, Truncate, Corrupt:
		return d.writes()
	case Set:
		for _, e := range a.Edits {
			if e.Name == "value" {
				return d.writes()
			}
		}
	}
	return nil
}

func (d *Debugger) writes() error {
	if d.o.Writes != nil && !d.o.Writes() {
		return ErrReadOnly
	}
	return nil
}

// changeBreaks applies and saves changed breakpoints. It unlocks d.mu.
func (d *Debugger) changeBreaks() error {
	d.arrange()
	d.mu.Unlock()
	d.notify()
	return d.save()
}

// arrange recomputes what is armed where. The caller holds d.mu.
func (d *Debugger) arrange() {
	at := new(places)
	var stops indirector.StopSet
	leaving := len(d.walks)
	if !d.off {
		for _, b := range d.breaks {
			if b.only != 0 {
				leaving++
			}
			switch {
			case b.on && b.Where.Code != (Place{}):
				at.code = append(at.code, b)
			case b.on:
				i := placeOf(b.Where.Step, b.Where.After)
				at.steps[i] = append(at.steps[i], b)
				stops |= indirector.StopAt(b.Where.Step, b.Where.After)
			}
		}
	}
	walkers := len(d.walks) + len(d.runs)
	if walkers > 0 {
		stops = indirector.AllStops
	}
	stops = stops.WithCode(len(at.code) > 0 || walkers > 0)
	d.walkers.Store(int32(walkers))
	d.leaving.Store(int32(leaving))
	d.at.Store(at)
	d.stops.Set(stops)
	signal(d.rearmed)
}

// An Armed is where requests of other processes are to stop, too.
type Armed struct {
	ID      string // of the breakpoint; "" for a request that is stepped through
	Request uint64 // the only one that is meant; 0 is all
	Nested  bool   // what that request asks is meant, too
	Breakpoint
}

// Armed returns the armed breakpoints and the requests that are stepped through, both
// in a fixed order.
func (d *Debugger) Armed() []Armed {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []Armed
	if d.off {
		return nil
	}
	for _, b := range d.breaks {
		if b.on {
			all = append(all, Armed{ID: b.id, Request: b.only, Breakpoint: b.Breakpoint})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(d.walks)) {
		w := d.walks[id]
		all = append(all, Armed{Request: id, Nested: w.how == Step || id != w.at})
	}
	return all
}

// Rearmed has one slot. It is sent to when what Armed returns may have changed.
func (d *Debugger) Rearmed() <-chan struct{} { return d.rearmed }

// Walk returns how a request is stepped through; Continue if it is not.
func (d *Debugger) Walk(id uint64) Go {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w := d.walks[id]; w != nil {
		return w.how
	}
	return Continue
}

// Stops returns the points with armed breakpoints.
func (d *Debugger) Stops() *indirector.Stops { return &d.stops }

// Left forgets a request that has ended.
func (d *Debugger) Left(id uint64) {
	if d.leaving.Load() == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	before := len(d.breaks)
	d.breaks = slices.DeleteFunc(d.breaks, func(b *breakpoint) bool { return b.only == id && id != 0 })
	if w := d.walks[id]; w != nil {
		if w.run != "" && w.how == Step && w.depths[id] == 0 {
			d.runs[w.run] = true
		}
		delete(d.walks, id)
		delete(w.depths, id)
		d.arrange()
	} else if len(d.breaks) != before {
		d.arrange()
	}
}

// Hold acts on the matching breakpoints, and holds the request if one of them
// or a step asks for it.
func (d *Debugger) Hold(ctx context.Context, s *indirector.Stop) (indirector.Verdict, error) {
	var turn turn
	here := d.at.Load().code
	if s.Code == nil {
		here = d.at.Load().steps[placeOf(s.Point.Step, s.Done)]
	}
	if len(here) > 0 {
		u := subjects.Get().(*subject)
		u.read(d, s)
		for _, b := range here {
			if (s.Code == nil || b.Where.Code.fits(s.Code)) && u.matches(b) && b.counts(d) {
				if err := d.perform(ctx, &turn, b, s, u); err != nil {
					u.free()
					return indirector.Verdict{}, err
				}
			}
		}
		u.free()
	}
	if turn.hold == "" && d.walkers.Load() > 0 && d.walksTo(s) {
		turn.hold = "step"
	}
	if turn.hold != "" {
		return d.wait(ctx, s, &turn)
	}
	return turn.verdict(), nil
}

// counts reports whether the limits of b let it act, and counts.
func (b *breakpoint) counts(d *Debugger) bool {
	seen := b.seen.Add(1)
	if b.Every > 1 && seen%uint64(b.Every) != 0 {
		return false
	}
	if b.Percent > 0 && d.o.Rand()*100 >= b.Percent {
		return false
	}
	hit := b.hits.Add(1)
	if b.First > 0 && hit >= uint64(b.First) {
		if hit > uint64(b.First) {
			b.hits.Add(^uint64(0))
			return false
		}
		d.mu.Lock()
		b.on = b.on && b.hits.Load() < uint64(b.First) // unless it was armed again meanwhile
		if b.only != 0 {
			d.breaks = slices.DeleteFunc(d.breaks, func(x *breakpoint) bool { return x == b })
		}
		d.arrange()
		d.mu.Unlock()
		d.notify()
	}
	b.at.Store(d.o.Now().UnixNano())
	return true
}

// A subject is a stopped request as expressions see it.
type subject struct {
	d      *Debugger
	stop   *indirector.Stop
	row    query.Row
	trace  *traces.Trace // only during look
	expr   *query.Expr
	yes    bool
	judged bool // the row has the outcome so far
}

var subjects = sync.Pool{New: func() any { return new(subject) }}

func (u *subject) read(d *Debugger, s *indirector.Stop) {
	t := s.Trace
	u.d, u.stop = d, s
	query.ReadRow(&u.row, t)
	u.judged = false
	u.row.Environment = cmp.Or(u.row.Environment, s.Request.Environment)
	u.row.Terminus = cmp.Or(u.row.Terminus, s.Request.Terminus)
	u.row.Cache = cmp.Or(u.row.Cache, s.Request.Cache)
}

// addOutcome adds the outcome so far.
func (u *subject) addOutcome() {
	if u.judged {
		return
	}
	u.judged = true
	s := u.stop
	u.row.Served, u.row.Outcome = s.Served, s.Outcome()
	for step := int(s.Point.Step); step >= 0 && u.row.Took == 0; step-- {
		if q := &s.Trace.Steps[step]; q.Took > 0 {
			u.row.Took = max(q.At+q.Took-s.Held(), 1)
		}
	}
}

// free returns u to the pool. Clearing the texts of its row would take longer
// than to match.
func (u *subject) free() {
	u.d, u.stop, u.trace, u.expr = nil, nil, nil, nil
	subjects.Put(u)
}

func (u *subject) matches(b *breakpoint) bool {
	switch {
	case b.only != 0 && b.only != u.row.ID:
		return false
	case b.late:
		u.addOutcome()
	}
	if b.When.Simple() {
		return b.When.Match(u)
	}
	u.expr, u.yes = b.When, false
	u.stop.Look(u.look)
	return u.yes
}

func (u *subject) look(t *traces.Trace) {
	t = t.Completed()
	u.trace = t
	if err := u.stop.Err; err != nil { // not recorded yet
		c := t.Clone()
		c.Error = indirector.Message(err)
		u.trace = &c
	}
	u.yes = u.expr.Match(u)
	u.trace = nil
}

// Row returns the request's row.
func (u *subject) Row() *query.Row { return &u.row }

// Trace returns the trace during look.
func (u *subject) Trace() *traces.Trace { return u.trace }

// Related reports whether a related request, which is recorded, matches.
func (u *subject) Related(r query.Relation, match func(query.Subject) bool) bool {
	if u.d.o.Recorder == nil {
		return r == query.Run && match(u)
	}
	in, ok := u.d.o.Recorder.Subject(u.row.ID)
	return ok && in.Related(r, match)
}

// sorted returns the held requests, oldest first. The caller holds d.mu.
func (d *Debugger) sorted() []*held {
	return slices.SortedFunc(maps.Values(d.held), func(a, b *held) int {
		return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.id, b.id))
	})
}
