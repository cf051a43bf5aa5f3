package probe

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"indirtui/traces"
	"indirtui/traces/store"
)

// A decoder turns the lines of one connection into requests of a store. Its
// lines are read by one goroutine; others may ask for numbers and for the
// process.
type decoder struct {
	o     *Options
	asker func(*traces.Traceparent) (known, bool) // who sent a traceparent
	held  func(*Held)                             // takes a request that is held
	went  func(number uint64, why error)          // it goes on

	offset time.Time // when the monotonic clock was zero
	conn   [16]byte
	reader store.WatchedReader
	routes map[uint64]*Route
	open   map[uint64]*opened
	parts  map[uint64]*parts
	bytes  int    // of parts
	run    string // of all that it asks; "" if that is not one
	nth    int    // of the connections of its process

	mu      sync.Mutex // guards the fields below
	process Process
	numbers numbers
	newest  uint64                     // the highest number of a request
	table   []*Route                   // in the order in which they were announced
	running map[uint64]uint64          // the numbers of requests that run, by those of the store
	wanted  map[uint64][]chan answered // those whose value was asked for
}

// A Route is what a process has announced about an indirection: the candidates
// of both slots, strongest first.
type Route struct {
	Number      uint64
	Indirection string
	Primary     traces.Slot
	Cache       traces.Slot
}

// opened is a request that runs.
type opened struct {
	trace *traces.Trace
	notes []traces.Remark
	held  bool
}

// parts are the values of a request whose line has not come.
type parts struct {
	models [2]string // of the answer, and of what was sent
	texts  [2][]byte
	next   [2]int // parts that have come
}

// known is what may be asked about a request after it has ended.
type known struct {
	id               uint64
	run, transaction string
}

// numbers are the numbers of the probe and what they mean. Old ones are forgotten.
type numbers struct{ young, old map[uint64]known }

func (n *numbers) get(number uint64) (known, bool) {
	k, ok := n.young[number]
	if !ok {
		k, ok = n.old[number]
	}
	return k, ok
}

func (n *numbers) set(number uint64, k known) {
	if len(n.young) >= maxNumbers {
		n.old, n.young = n.young, nil
	}
	if n.young == nil {
		n.young = make(map[uint64]known)
	}
	n.young[number] = k
}

// newDecoder begins with the first line of a process.
func newDecoder(o *Options, first []byte) (*decoder, error) {
	d := &decoder{
		o: o, routes: map[uint64]*Route{}, open: map[uint64]*opened{}, parts: map[uint64]*parts{}, running: map[uint64]uint64{},
		wanted: map[uint64][]chan answered{},
		asker:  func(*traces.Traceparent) (known, bool) { return known{}, false },
		held:   func(*Held) {}, went: func(uint64, error) {},
	}
	d.process.Since = o.now()
	if err := take(first, d.describe); err != nil {
		return nil, fmt.Errorf("line %q: %w", "attach", err)
	}
	return d, nil
}

// describe takes what a process is. That comes again when more of it is known, as
// Puppet's settings.
func (d *decoder) describe(a *Attach) error {
	conn, err := hex.DecodeString(a.Conn)
	switch {
	case a.Version != Version:
		return fmt.Errorf("its protocol has version %d, and this program version %d", a.Version, Version)
	case err != nil || len(conn) != len(d.conn) || [16]byte(conn) == [16]byte{}:
		return fmt.Errorf("the name of its connection, %.40q, is not 32 hexadecimal digits", a.Conn)
	case d.process.Conn != "" && d.process.Conn != a.Conn:
		return fmt.Errorf("the name of its connection was %s before", d.process.Conn)
	}
	a.Argv, a.Host, a.Certname = d.o.redacted(a.Argv), d.o.redacted(a.Host), d.o.redacted(a.Certname)
	for i := range a.Settings {
		s := &a.Settings[i]
		s[1] = d.o.redacted(s[1])
	}
	if a.Wall == 0 {
		a.Wall = d.process.Since.UnixNano()
	}
	d.conn, d.offset = [16]byte(conn), time.Unix(0, a.Wall).Add(-time.Duration(a.Mono))
	d.count(func(p *Process) {
		p.Attach = *a
		if p.Name = p.name(d.nth); p.oneRun() {
			d.run = a.Conn[:8]
		}
	})
	return nil
}

// kindOf returns the name of the first field of a line, which is its kind.
func kindOf(line []byte) string {
	rest, ok := bytes.CutPrefix(line, []byte(`{"`))
	kind, _, found := bytes.Cut(rest, []byte(`":`))
	if !ok || !found || len(kind) > 20 {
		return ""
	}
	return string(kind)
}

// line takes a line. The error is why the connection must end.
func (d *decoder) line(b []byte) error {
	kind := kindOf(b)
	var err error
	switch kind {
	case "begin", "trace", "route":
		var w store.Watched
		if w, err = d.reader.Read(b); err != nil {
			break
		}
		switch {
		case kind == "route":
			err = d.announce(w)
		case w.ID == 0:
			err = errors.New("a request needs a number")
		case kind == "begin":
			err = d.begin(w)
		default:
			d.end(w)
		}
	case "attach":
		err = take(b, d.describe)
	case "value":
		err = take(b, d.value)
	case "log":
		err = take(b, d.log)
	case "exchange":
		err = take(b, d.exchange)
	case "held":
		err = take(b, d.hold)
	case "went":
		err = take(b, func(w *went) error { d.letGo(w); return nil })
	case "swapped":
		err = take(b, func(s *swapped) error {
			d.swapped(s.ID, fmt.Sprintf("the %s of %s is %s now, for this %s; it was %s", s.Slot, s.Ind, s.To, s.For, s.Was), false)
			return nil
		})
	case "refused":
		err = take(b, func(r *refused) error {
			d.refused(r)
			return nil
		})
	case "dropped":
		err = take(b, d.dropped)
	case "bye":
		err = take(b, d.bye)
	case "":
		err = errors.New("it is no object of JSON whose first field is its kind")
	default:
		err = fmt.Errorf("there is no line of the kind %.20q", kind)
	}
	if err != nil && kind != "" {
		err = fmt.Errorf("line %q: %w", kind, err)
	}
	return err
}

// refused takes what a process cannot do.
func (d *decoder) refused(r *refused) {
	text := fmt.Sprintf("%s %d is refused: %s", r.What, r.ID, r.Why)
	switch {
	case r.What == "swap":
		d.swapped(r.ID, text, true)
	case r.What == "open" && d.opened(uint64(r.ID), answered{err: errors.New(d.o.redacted(r.Why))}):
	default:
		d.event("%s", text)
	}
}

// swapped notes what became of a swap.
func (d *decoder) swapped(id int, text string, refused bool) {
	d.event("%s", text)
	if d.o.Holder != nil {
		d.o.Holder.Swapped(d.Process(), id, d.o.redacted(text), refused)
	}
}

// take reads a line and does something with it.
func take[T any](b []byte, do func(*T) error) error {
	var l T
	if err := json.Unmarshal(b, &l); err != nil {
		return err
	}
	return do(&l)
}

// at converts the clock of the process.
func (d *decoder) at(mono time.Duration) time.Time { return d.offset.Add(mono) }

// number returns what is known of a request; its number in the store is reserved
// if it was not seen yet.
func (d *decoder) number(number uint64) known {
	d.mu.Lock()
	defer d.mu.Unlock()
	k, ok := d.numbers.get(number)
	if !ok {
		k.id, k.run = d.o.Store.Reserve(), d.run
		d.numbers.set(number, k)
	}
	return k
}

// ahead is how far the number of a request that has sent something may be beyond
// those that were seen to begin: the lines of the other side may be faster.
const ahead = 1 << 10

// exchangeOf is the number of an exchange without a request, among those of requests.
// A traceparent has the lower half of it.
func exchangeOf(n uint64) uint64 { return 1<<63 | n&0xffff }

// sent returns what is known of what has sent a span: a request, or an exchange
// without one.
func (d *decoder) sent(span uint64) (known, bool) {
	number := span >> 16
	alone := number == 0
	if alone {
		number = exchangeOf(span)
	}
	d.mu.Lock()
	k, ok := d.numbers.get(number)
	may := !d.process.Gone && (alone || number <= d.newest+ahead)
	d.mu.Unlock()
	if !ok && may {
		return d.number(number), true
	}
	return k, ok
}

func (d *decoder) learn(number uint64, k known) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.numbers.set(number, k)
	d.newest = max(d.newest, number)
}

// count changes what is known of the process.
func (d *decoder) count(change func(*Process)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&d.process)
	d.process.Running = len(d.open)
}

// Process returns what is known of the process.
func (d *decoder) Process() Process {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.process
}

func (d *decoder) event(format string, args ...any) {
	d.o.Store.AddEvent(d.Process().Name + ": " + fmt.Sprintf(format, args...))
}

// announce takes the candidates for an indirection.
func (d *decoder) announce(w store.Watched) error {
	if len(d.routes) >= maxRoutes {
		return fmt.Errorf("more than %d sets of candidates", maxRoutes)
	}
	r := &Route{Number: w.Route, Indirection: w.Indirection, Primary: w.Primary, Cache: w.Cache}
	d.routes[r.Number] = r
	d.mu.Lock()
	defer d.mu.Unlock()
	d.table = append(d.table, r)
	return nil
}

// complete gives a request what this program knows about it.
func (d *decoder) complete(w store.Watched) known {
	t := w.Trace
	above := d.above(t) // first: a Store wants its number to be lower
	me := d.number(t.ID)
	if t.Parent = above.id; t.Parent == 0 || t.Parent >= me.id {
		t.Parent, t.ParentStep = 0, 0
	}
	t.From = &traces.Instance{Name: d.process.Name, Number: t.ID}
	t.ID = me.id
	if t.Start.IsZero() {
		t.Start = d.at(w.At)
	}
	if t.Application == "" {
		t.Application = d.process.App
	}
	if t.Caller == "" {
		t.Caller = t.Application
	}
	for i := range t.Spans {
		if n := &t.Spans[i].Request; *n != 0 {
			*n = d.number(*n).id
		}
	}
	if r := d.routes[w.Route]; r != nil {
		t.Primary, t.Cache = r.Primary, r.Cache
	}
	d.join(t, me, above)
	me.run, me.transaction = t.Run, t.Transaction
	return me
}

// above is the request that asked t, of this process or of another. The one of the
// other process is numbered first, since all else is below it.
func (d *decoder) above(t *traces.Trace) (above known) {
	var asker known
	if t.Traceparent != nil {
		asker, _ = d.asker(t.Traceparent)
	}
	if t.Parent == 0 {
		t.ParentStep = traces.Terminus
		return asker
	}
	if above = d.number(t.Parent); above.run == "" {
		above.run, above.transaction = asker.run, asker.transaction
	}
	return above
}

// join puts a request into the run of what asked it, else into that of the
// process, else into the one that its transaction_uuid names.
func (d *decoder) join(t *traces.Trace, me, above known) {
	uuid := t.Run
	switch {
	case me.run != "":
		t.Run, t.Transaction = me.run, me.transaction
	case above.run != "":
		t.Run, t.Transaction = above.run, above.transaction
	case d.run != "":
		t.Run = d.run
	}
	if uuid != "" && uuid != t.Run {
		t.Transaction = uuid
	}
}

func (d *decoder) begin(w store.Watched) error {
	number := w.ID
	if d.open[number] != nil {
		return fmt.Errorf("request %d has begun before", number)
	}
	if len(d.open) >= maxOpen {
		return fmt.Errorf("more than %d requests run", maxOpen)
	}
	me := d.complete(w)
	if w.ID = d.o.Store.Begin(w.Trace); w.ID != me.id {
		me.id = w.ID // the reserved number was too old
	}
	d.learn(number, me)
	d.open[number] = &opened{trace: w.Trace}
	d.count(func(*Process) { d.running[w.ID] = number })
	return nil
}

// end takes the line of a request that has ended. One whose begin was dropped, or that
// took no time, begins now.
func (d *decoder) end(w store.Watched) {
	number, t := w.ID, w.Trace
	o := d.open[number]
	if o != nil {
		d.begun(w, o)
	}
	me := d.complete(w)
	if o != nil && t.Parent == 0 {
		t.Parent, t.ParentStep = o.trace.Parent, o.trace.ParentStep
	}
	if p := d.parts[number]; p != nil {
		t.Values = d.valuesOf(p)
		d.drop(number)
	}
	if o != nil && o.held {
		d.release(number, o, errors.New("it has ended"))
	}
	explain(t, &d.process)
	d.o.ended(t)
	if o != nil {
		d.o.Store.End(t, nil) // the trace is the Store's then
	} else {
		me.id = d.o.Store.Keep(t, nil) // likewise; the reserved number may be too old
	}
	d.learn(number, me)
	d.count(func(p *Process) { p.Requests++; delete(d.running, me.id) })
}

// begun adds to a request that has ended what is known since it began.
func (d *decoder) begun(w store.Watched, o *opened) {
	t := w.Trace
	if w.Route == 0 && t.Primary == nil {
		t.Primary, t.Cache = o.trace.Primary, o.trace.Cache
	}
	if t.Traceparent == nil {
		t.Traceparent = o.trace.Traceparent
	}
	t.Notes = append(t.Notes, o.notes...)
	delete(d.open, w.ID)
}

// letGo takes note that a request is not held any longer.
func (d *decoder) letGo(w *went) {
	if o := d.open[w.Number]; o != nil && o.held {
		d.release(w.Number, o, fmt.Errorf("it went on by itself in the process: %.20s", w.Why))
	}
}

func (d *decoder) release(number uint64, o *opened, why error) {
	o.held = false
	d.o.Store.SetHeld(o.trace.ID, false)
	d.count(func(p *Process) { p.Held-- })
	d.went(number, why)
}

// hold gives a request that is held to those who decide about it.
func (d *decoder) hold(h *Held) error {
	if d.open[h.Number] == nil {
		w, err := h.watched()
		if err == nil {
			err = d.begin(w)
		}
		if err != nil {
			return err
		}
	}
	o := d.open[h.Number]
	if _, ok := traces.ParseStep(h.Step); !ok {
		return fmt.Errorf("there is no step %.40q", h.Step)
	}
	b, err := json.Marshal(map[string]json.RawMessage{"steps": h.Steps, "spans": h.Spans, "faults": h.Faults})
	if err != nil {
		return err
	}
	so, err := d.reader.Read(b)
	if err != nil {
		return err
	}
	t := o.trace.Clone()
	t.Steps, t.Spans, t.Faults = so.Steps, so.Spans, so.Faults
	if !o.held {
		o.held = true
		d.o.Store.SetHeld(t.ID, true)
		d.count(func(p *Process) { p.Held++ })
	}
	h.Trace, h.Process = &t, d.Process()
	d.held(h)
	return nil
}

// watched is a held request as it has begun, if the line has enough of it.
func (h *Held) watched() (w store.Watched, err error) {
	t := &traces.Trace{
		ID: h.Number, Verb: traces.ParseVerb(h.Verb), Indirection: h.Ind, Key: h.Key, Environment: h.Env, Parent: h.Parent,
		Caller: h.Caller, Application: h.App, Run: h.Run,
	}
	if h.Number == 0 || t.Verb == traces.NoVerb || h.Ind == "" {
		return w, fmt.Errorf("request %d does not run", h.Number)
	}
	t.ParentStep, _ = traces.ParseStep(h.ParentStep)
	if p, ok := traces.ParseTraceparent(h.Traceparent); ok {
		t.Traceparent = &p
	}
	for _, name := range h.Flags {
		t.Flags |= traces.ParseFlag(name)
	}
	return store.Watched{Trace: t, Begin: true, Route: h.Route, At: time.Duration(h.Began)}, nil
}

func (d *decoder) dropped(l *dropped) error {
	d.count(func(p *Process) { p.Dropped += l.Lines })
	d.event("the probe dropped %d lines, for which its buffer had no room", l.Lines)
	return nil
}

func (d *decoder) bye(l *bye) error {
	d.count(func(p *Process) { p.Faults, p.Fault = l.Faults, d.o.redacted(l.Last) })
	if l.Faults > 0 {
		d.event("%d faults of the probe, the last one: %s", l.Faults, l.Last)
	}
	return nil
}

// leave ends what is left when the connection has ended, because of err if that
// is not nil.
func (d *decoder) leave(err error) {
	const unseen = "the connection to the process ended before the request did"
	for number, o := range d.open {
		t := o.trace
		t.Took = max(d.o.now().Sub(t.Start), 1)
		t.Outcome, t.Error = traces.Err, unseen
		t.Faults = append(t.Faults, traces.Fault{Origin: "probe", Step: traces.Caller, Message: unseen, Shown: true})
		t.Notes = append(t.Notes, o.notes...)
		if o.held {
			d.release(number, o, errGone)
		}
		d.o.ended(t)
		d.o.Store.End(t, nil)
	}
	clear(d.open)
	why := ""
	if err != nil {
		why = err.Error()
		d.event("its connection was ended: %s", why)
	} else {
		d.event("left after %d requests", d.Process().Requests)
	}
	d.count(func(p *Process) { p.Gone, p.Why = true, why; clear(d.running) })
}
