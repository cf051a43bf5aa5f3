// Package debugger stops requests between two questions: it is the
// indirector.Gate of a person.
//
//	d, err := debugger.New(debugger.Options{})
//	b, err := debugger.Parse("ind=catalog key=db07* before cache-read do hold once")
//	d.Add(b)
//	// the house holds a request; <-d.Changed()
//	for _, h := range d.Held() {
//		d.Edit(h.ID, debugger.Edit{Name: "ignore_cache", Value: "false"})
//		d.Resume(h.ID, debugger.Step)
//	}
//
// A breakpoint is WHEN (an expression of package query) × WHERE (before or
// after one of the ten steps) × WHAT (an Action), with limits. A held request
// waits on its own goroutine, holds no lock and nobody up, and goes on by itself
// after Options.HoldLimit. It can be looked at, changed, and stepped through,
// together with the requests that it asks.
//
// A request that no breakpoint is meant for costs a load at each step. One that
// passes armed breakpoints costs the reading of its row and one match for each
// breakpoint at that place; nothing is copied before something matches.
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

// A Recorder is where requests are recorded: a *store.Store.
type Recorder interface {
	SetHeld(id uint64, held bool)
	Subject(id uint64) (query.Subject, bool)
}

// Options are the options of New. The zero value holds for two minutes, keeps
// breakpoints nowhere, and allows everything.
type Options struct {
	Dir       string        // where breakpoints are kept, one file for each project; "" is nowhere
	Project   string        // what they are of: the absolute path of its configuration
	HoldLimit time.Duration // after which a request goes on by itself; 0 is 2 min, negative is never
	MaxHeld   int           // how many may be held at once; 0 is 1000. The others pass, and are counted
	Recorder  Recorder      // nil: relations of expressions lead nowhere
	// Writes reports whether answers may be invented; nil is always.
	Writes func() bool
	// Timeout says how long the caller of a request waits for it, and how that is
	// known ("http_read_timeout"). Zero is that nobody knows. Nil never knows.
	Timeout func(*indirector.Request) (time.Duration, string)
	Redact  func(string) string // takes secrets out of what is logged; nil leaves them
	Now     func() time.Time    // nil is time.Now
	Rand    func() float64      // from 0 to 1; nil is a good one
}

// ErrReadOnly is that an answer would be invented, and that is not allowed.
var ErrReadOnly = errors.New("refused: read-only mode. Start with --write or use :write on")

// ErrGone is that a request is not held, or not any longer.
var ErrGone = errors.New("the request is not held")

// A Debugger holds requests. It is safe for concurrent use.
type Debugger struct {
	o       Options
	path    string // of the file; "" is none
	stops   indirector.Stops
	at      atomic.Pointer[places]
	walkers atomic.Int32 // how many requests are stepped through
	leaving atomic.Int32 // how many requests are remembered until they end
	changed chan struct{}
	saving  sync.Mutex // one file at a time

	mu     sync.Mutex // guards what follows
	off    bool
	closed bool
	breaks []*breakpoint
	last   int // the number of the newest breakpoint
	held   map[uint64]*held
	walks  map[uint64]*walk
	passed uint64
	lines  []Line
	unread []string // lines of the file that are no breakpoints
}

// places is what is armed, by place. It is replaced, never changed.
type places [2 * traces.StepCount][]*breakpoint

func placeOf(s traces.Step, after bool) int {
	i := 2 * int(s)
	if after {
		i++
	}
	return i
}

// A breakpoint is a Breakpoint at work.
type breakpoint struct {
	Breakpoint
	id       string
	on       bool   // guarded by Debugger.mu
	restored bool   // likewise
	only     uint64 // the one request that it is for; 0 if it is for all
	late     bool   // the expression asks for what became of the request so far
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

// An Info is a breakpoint as people see it.
type Info struct {
	ID string // "b1"
	Breakpoint
	On       bool
	Restored bool      // from a file of an earlier time, and not armed since
	Seen     uint64    // how many requests it was meant for, since it was armed
	Hits     uint64    // how often it has done something, since it was armed
	Last     time.Time // when it last did; zero if never
}

// A Line is what a breakpoint has logged.
type Line struct {
	At      time.Time
	Request uint64
	By      string // "b2"
	Text    string
}

// Spent reports whether it has done all that it was to do, and disarmed itself.
func (i *Info) Spent() bool { return !i.On && i.First > 0 && i.Hits >= uint64(i.First) }

// Count is what it has done since it was armed, against its limits: "2 of 5,
// every 3rd, matched 7, the next is match 9".
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

// maxLines is how many logged lines are kept, the newest.
const maxLines = 1000

// New returns a Debugger with the breakpoints of its file, disarmed. The error
// is one of the file; the Debugger is usable all the same.
func New(o Options) (*Debugger, error) {
	o.HoldLimit = cmp.Or(o.HoldLimit, 2*time.Minute)
	o.MaxHeld = cmp.Or(o.MaxHeld, 1000)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	d := &Debugger{o: o, changed: make(chan struct{}, 1), held: map[uint64]*held{}, walks: map[uint64]*walk{}}
	d.at.Store(new(places))
	if o.Dir != "" {
		d.path = fileOf(o.Dir, o.Project)
	}
	return d, d.load()
}

// Changed has room for one: it is sent to when a request is held or goes on,
// and when breakpoints change.
func (d *Debugger) Changed() <-chan struct{} { return d.changed }

func (d *Debugger) notify() {
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

// Add arms a breakpoint and keeps it. The error is ErrReadOnly, or one of the
// file: the breakpoint is armed then, and not kept.
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

// Replace changes what a breakpoint does. It is armed, and counts anew.
func (d *Debugger) Replace(id string, b Breakpoint) (Info, error) {
	if err := d.mayInvent(b.Action); err != nil {
		return Info{}, err
	}
	d.mu.Lock()
	i := d.find(id)
	if i < 0 {
		d.mu.Unlock()
		return Info{}, unknown(id)
	}
	n := newBreakpoint(b, id)
	n.on = true
	d.breaks[i] = n
	return n.info(), d.changeBreaks()
}

// Arm arms or disarms a breakpoint.
func (d *Debugger) Arm(id string, on bool) error {
	d.mu.Lock()
	i := d.find(id)
	if i < 0 {
		d.mu.Unlock()
		return unknown(id)
	}
	b := d.breaks[i]
	if on {
		if err := d.mayInvent(b.Action); err != nil {
			d.mu.Unlock()
			return err
		}
		b.reset()
	}
	b.on, b.restored = on, false
	return d.changeBreaks()
}

// Remove forgets a breakpoint.
func (d *Debugger) Remove(id string) error {
	d.mu.Lock()
	i := d.find(id)
	if i < 0 {
		d.mu.Unlock()
		return unknown(id)
	}
	d.breaks = slices.Delete(d.breaks, i, i+1)
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

// SetOff disarms everything at once and lets every held request go, or arms
// again what was armed, which counts anew.
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
	}
	d.arrange()
	d.mu.Unlock()
	d.notify()
}

// Off reports whether everything is disarmed by SetOff.
func (d *Debugger) Off() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.off
}

// HoldLimit is after which a request that is held goes on by itself; negative is
// never.
func (d *Debugger) HoldLimit() time.Duration { return d.o.HoldLimit }

// Lines returns what breakpoints have logged, oldest first; the newest
// thousand.
func (d *Debugger) Lines() []Line {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.lines)
}

// Passed returns how many requests were not held because too many were.
func (d *Debugger) Passed() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.passed
}

// Close lets every held request go on. None is held from then on.
func (d *Debugger) Close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.SetOff(true)
}

// reset lets b count anew: "once" is meant once more.
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

func unknown(id string) error { return fmt.Errorf("there is no breakpoint %q", id) }

func (d *Debugger) find(id string) int {
	return slices.IndexFunc(d.breaks, func(b *breakpoint) bool { return b.id == id && b.only == 0 })
}

// mayInvent refuses what would give a false answer where that is not allowed.
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

// changeBreaks puts changed breakpoints to work and keeps them. It unlocks d.mu.
func (d *Debugger) changeBreaks() error {
	d.arrange()
	d.mu.Unlock()
	d.notify()
	return d.save()
}

// arrange works out what is armed where. The caller holds d.mu.
func (d *Debugger) arrange() {
	at := new(places)
	var stops indirector.StopSet
	leaving := len(d.walks)
	if !d.off {
		for _, b := range d.breaks {
			if b.only != 0 {
				leaving++
			}
			if b.on {
				i := placeOf(b.Where.Step, b.Where.After)
				at[i] = append(at[i], b)
				stops |= indirector.StopAt(b.Where.Step, b.Where.After)
			}
		}
	}
	if len(d.walks) > 0 {
		stops = indirector.AllStops
	}
	d.walkers.Store(int32(len(d.walks)))
	d.leaving.Store(int32(leaving))
	d.at.Store(at)
	d.stops.Set(stops)
}

// Stops implements indirector.Gate.
func (d *Debugger) Stops() *indirector.Stops { return &d.stops }

// Left implements indirector.Gate.
func (d *Debugger) Left(id uint64) {
	if d.leaving.Load() == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	before := len(d.breaks)
	d.breaks = slices.DeleteFunc(d.breaks, func(b *breakpoint) bool { return b.only == id && id != 0 })
	if w := d.walks[id]; w != nil {
		delete(d.walks, id)
		delete(w.depths, id)
		d.arrange()
	} else if len(d.breaks) != before {
		d.arrange()
	}
}

// Hold implements indirector.Gate.
func (d *Debugger) Hold(ctx context.Context, s *indirector.Stop) (indirector.Verdict, error) {
	var turn turn
	if here := d.at.Load()[placeOf(s.Point.Step, s.Done)]; len(here) > 0 {
		u := subjects.Get().(*subject)
		u.read(d, s)
		for _, b := range here {
			if u.matches(b) && b.counts(d) {
				if err := d.act(ctx, &turn, b, s, u); err != nil {
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

// counts reports whether the limits of b let it act, and counts that it does.
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
		b.on = b.on && b.hits.Load() < uint64(b.First) // it may have been armed anew meanwhile
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

// A subject is a request at a stop, as expressions see it.
type subject struct {
	d     *Debugger
	stop  *indirector.Stop
	row   query.Row
	trace *traces.Trace // while nobody adds to it
	expr  *query.Expr
	yes   bool
	told  bool // whether the row has what became of the request so far
}

var subjects = sync.Pool{New: func() any { return new(subject) }}

func (u *subject) read(d *Debugger, s *indirector.Stop) {
	t := s.Trace
	u.d, u.stop = d, s
	query.ReadRow(&u.row, t)
	u.told = false
	if u.row.Environment == "" {
		u.row.Environment = s.Request.Environment
	}
	if u.row.Terminus == "" {
		u.row.Terminus = s.Request.Terminus
	}
	if u.row.Cache == "" {
		u.row.Cache = s.Request.Cache
	}
}

// tell adds what became of the request so far.
func (u *subject) tell() {
	if u.told {
		return
	}
	u.told = true
	s := u.stop
	u.row.Served, u.row.Outcome = s.Served, s.Outcome()
	for step := int(s.Point.Step); step >= 0 && u.row.Took == 0; step-- {
		if q := &s.Trace.Steps[step]; q.Took > 0 {
			u.row.Took = q.At + q.Took
		}
	}
}

// free gives u to the next request. The texts of its row stay until then: to
// clear them took longer than to match.
func (u *subject) free() {
	u.d, u.stop, u.trace, u.expr = nil, nil, nil, nil
	subjects.Put(u)
}

func (u *subject) matches(b *breakpoint) bool {
	switch {
	case b.only != 0 && b.only != u.row.ID:
		return false
	case b.late:
		u.tell()
	}
	if b.When.Simple() {
		return b.When.Match(u)
	}
	u.expr, u.yes = b.When, false
	u.stop.Look(u.look)
	return u.yes
}

func (u *subject) look(t *traces.Trace) {
	u.trace = t
	if err := u.stop.Err; err != nil { // the house has not noted it yet
		c := t.Clone()
		c.Error = indirector.Message(err)
		u.trace = &c
	}
	u.yes = u.expr.Match(u)
	u.trace = nil
}

// Row implements query.Subject.
func (u *subject) Row() *query.Row { return &u.row }

// Trace implements query.Subject.
func (u *subject) Trace() *traces.Trace { return u.trace }

// Related implements query.Subject.
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
