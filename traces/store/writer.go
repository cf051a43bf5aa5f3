package store

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"indirtui/traces"
)

// A slot is the detail of one finished request in memory.
type slot struct {
	id       uint64 // 0 is an empty slot
	trace    *traces.Trace
	instance any
	size     int64 // of the trace, an estimate; zero until it is done
	body     int64 // of the instance, an estimate; zero if there is none
	valued   bool  // the trace has values
	done     bool  // the writer has seen it: trace is redacted, and written if there is a file
	taken    bool  // of a safe one: the writer has it in its hands
	own      bool  // the instance is not that of the request before it, and counts
}

// A ring holds the newest details. Those between taken and head wait for the
// writer: the ring is its queue.
type ring struct {
	slots       []slot
	head, taken uint64          // positions; the slot is the position modulo the length
	oldest      uint64          // position below which instances were dropped at the limit of memory
	emptied     uint64          // position below which details were
	safe        map[uint64]slot // pinned details, by number
	unsafe      int             // how many of these the writer has not seen
	overrun     bool            // since the writer last looked, details were dropped that it had not seen
	lost        backlog         // requests whose detail was dropped and that the file does not know
	traces      int64           // bytes of details
	instances   int64           // bytes of live instances
	seen        int64           // mean size of the last values, for those not seen yet
	waiting     int64           // bytes of live instances that the writer has not seen
	flushes     []flush
	written     uint64 // position below which the writer is done
}

type flush struct {
	until uint64
	done  chan struct{}
}

// A backlog is a queue of numbers. Most come in order: of those, only the ends are kept.
type backlog struct {
	runs  []numbers
	first int // of the runs that wait
	n     int // how many numbers wait
}

// numbers are those from from on, without end.
type numbers struct{ from, end uint64 }

func (b *backlog) add(id uint64) {
	b.n++
	if last := len(b.runs) - 1; last >= b.first && b.runs[last].end == id {
		b.runs[last].end++
		return
	}
	if b.first > len(b.runs)/2 {
		b.runs = b.runs[:copy(b.runs, b.runs[b.first:])]
		b.first = 0
	}
	b.runs = append(b.runs, numbers{id, id + 1})
}

// take returns the next number, of which there must be one.
func (b *backlog) take() uint64 {
	b.n--
	r := &b.runs[b.first]
	id := r.from
	if r.from++; r.from == r.end {
		b.first++
	}
	return id
}

// A bodyKey is the first half of a SHA-256, which is enough to find a value.
type bodyKey [16]byte

// A bodyAt is where a value is: in the file, or in memory with the number of
// details that want it.
type bodyAt struct {
	offset int64
	bytes  []byte
	users  int
}

type bodies struct {
	at      map[bodyKey]bodyAt
	written int64 // bytes in the file
	inside  int64 // bytes in memory
}

// maxBodies bounds the number of different values.
const maxBodies = 1 << 20

func (b *bodies) memory() int64 { return b.inside + int64(len(b.at))*96 }

// unseen estimates a detail until the writer has seen it.
const unseen = 3 << 10

func (r *ring) memory() int64 {
	return r.traces + r.instances + int64(r.head-r.taken)*unseen + r.waiting + int64(len(r.slots))*int64(unsafe.Sizeof(slot{}))
}

func (r *ring) at(position uint64) *slot { return &r.slots[position%uint64(len(r.slots))] }

// push puts the detail of r into the ring. An instance for which the writer has
// no time or no room is dropped.
func (s *Store) push(t *traces.Trace, instance any, own bool, weight int64, r *row) {
	g := &s.ring
	n := uint64(len(g.slots))
	if g.head-g.taken == n {
		s.dropWaiting()
	}
	r.slot = uint32(g.head % n)
	sl := &g.slots[r.slot]
	if sl.id != 0 && sl.done {
		s.forget(sl)
	}
	if own && s.opts.Weigh == nil {
		weight = g.seen
	}
	if own && (weight > s.opts.Memory || g.waiting > 0 && g.waiting+weight > s.opts.Memory/4) {
		instance, own, weight = nil, false, 0
		s.stats.droppedBodies++
	}
	*sl = slot{id: t.ID, trace: t, instance: instance, own: own, body: weight}
	g.waiting += weight
	g.head++
	if g.head-g.taken > n/4 {
		signal(s.hurry)
	}
}

// dropWaiting drops the oldest detail that waits for the writer, or puts it
// where the writer finds it later. Its slot is taken next.
func (s *Store) dropWaiting() {
	g := &s.ring
	sl := g.at(g.taken)
	g.taken++
	g.disown(sl)
	r, _ := s.row(sl.id)
	if r != nil && r.pinned() {
		g.safe[sl.id] = *sl
		g.unsafe++
		return
	}
	s.lose(sl.id, r)
	g.overrun = true
	sl.trace.Free()
}

// disown notes that sl does not wait any longer, or not with its instance.
func (r *ring) disown(sl *slot) {
	r.waiting -= sl.body
	sl.body = 0
}

// lose counts the detail of id, whose row is r, as lost.
func (s *Store) lose(id uint64, r *row) {
	s.stats.droppedDetails++
	if r == nil {
		return
	}
	r.bits |= lost | settled
	if s.file.f != nil && s.file.err == nil {
		s.ring.lost.add(id)
	}
	s.unkeep(id)
}

// forget drops a detail from memory that the writer is done with. If the file
// does not have it, it is lost, unless it is pinned.
func (s *Store) forget(sl *slot) {
	s.ring.traces -= sl.size
	s.ring.instances -= sl.body
	r, _ := s.row(sl.id)
	switch {
	case r != nil && r.line != 0:
	case r != nil && r.pinned():
		d := *sl
		d.instance, d.body = nil, 0
		s.ring.safe[sl.id] = d
	default:
		if sl.valued {
			for _, v := range sl.trace.Values.All() {
				s.release(v.Value)
			}
		}
		s.lose(sl.id, r)
	}
}

// release drops one reference to a value in memory. The last one frees it;
// freed is its size in bytes.
func (s *Store) release(v *traces.Value) (freed int64) {
	if v.Digest == "" {
		return 0
	}
	k, err := digestOf(v.Digest)
	b, ok := s.bodies.at[k]
	if err != nil || !ok || b.bytes == nil {
		return 0
	}
	b.users--
	if s.bodies.at[k] = b; b.users > 0 {
		return 0
	}
	freed = int64(len(b.bytes))
	s.bodies.inside -= freed
	delete(s.bodies.at, k)
	return freed
}

// batch is what the writer does in one go.
const batch = 64

// write is the writer. It ends when the store was closed and all is written.
func (s *Store) write() {
	var w work
	for {
		s.resume(false)
		if s.take(&w) {
			began := time.Now()
			s.process(&w)
			s.put(&w)
			s.provide()
			s.rotate()
			s.notify()
			if w.overrun {
				s.rest(time.Since(began))
			}
			continue
		}
		select {
		case <-s.wake:
			s.linger()
		case <-s.hurry:
		case <-s.quit:
			if !s.take(&w) {
				s.finishFile()
				return
			}
			s.process(&w)
			s.put(&w)
		}
	}
}

// linger lets requests pile up for a moment, unless one waits for the writer, or there
// are many. To wake the writer takes longer than half of what a request pays for being
// recorded, and one call of the system writes many lines as well as one.
func (s *Store) linger() {
	const moment = 2 * time.Millisecond
	select {
	case <-time.After(moment):
	case <-s.hurry:
	case <-s.quit:
	}
}

// rest lets the requests have the processor. When details are being dropped
// already, more of them will be whatever the writer does: it takes a fifth of
// the time then, and the requests go on at twice the rate.
func (s *Store) rest(worked time.Duration) {
	const longest = 20 * time.Millisecond
	select {
	case <-time.After(min(4*worked, longest)):
	case <-s.quit:
	}
}

// work is a batch on its way to the file.
type work struct {
	from    uint64 // position of the first of slots in the ring
	slots   []slot
	raw     []*traces.Trace // of slots, before they were redacted
	safe    int             // how many at the end of slots come from the safe
	replays []bool
	lines   [][]byte
	rows    []bareRow
	passed  bool // rows were passed over: those waiting for the file need not wait for them
	overrun bool // details are being dropped and Flush does not wait

	writing  bool
	base     int64   // where out will be in the file
	out      []byte  // not yet written
	offsets  []int64 // of slots, then of rows
	bodies   []newBody
	spans    []traces.Span // of one line
	redacted uint64
	dropped  uint64
}

type newBody struct {
	key    bodyKey
	offset int64 // in the file; 0 if it is not there
	value  traces.Value
}

// A bareRow is a row without a detail, on its way to the file.
type bareRow struct {
	id    uint64
	row   row
	names names
}

// urgent reports whether so many rows without detail wait that some may be
// dropped before they are written. They come first then, and the writer does
// not rest: rows are worth more than details.
func (s *Store) urgent() bool {
	return int64(s.ring.lost.n) > min(int64(s.opts.Rows/4), s.opts.Memory/1024)
}

// take gives the writer something to do, or reports that there is nothing.
func (s *Store) take(w *work) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := &s.ring
	*w = work{
		from: g.taken, slots: w.slots[:0], raw: w.raw[:0], replays: w.replays[:0], rows: w.rows[:0],
		writing: s.file.f != nil && s.file.err == nil, base: s.file.size, out: w.out[:0], offsets: w.offsets[:0], bodies: w.bodies[:0], spans: w.spans[:0],
	}
	late := s.urgent()
	w.overrun = g.overrun && len(g.flushes) == 0 && !late
	g.overrun = g.overrun && late
	for !late && len(w.slots) < batch && g.taken < g.head {
		sl := g.at(g.taken)
		w.slots = append(w.slots, *sl)
		g.disown(sl)
		g.taken++
	}
	idle := !late && len(w.slots) < batch
	if g.unsafe > 0 {
		s.takeSafe(w)
	}
	for i := range w.slots {
		r, _ := s.row(w.slots[i].id)
		w.replays = append(w.replays, r != nil && r.replays != 0)
	}
	w.lines, s.file.lines = s.file.lines, nil
	switch {
	case late:
		s.takeRows(w, 1<<10)
	case idle:
		s.takeRows(w, batch)
	}
	return len(w.slots)+len(w.lines)+len(w.rows) > 0 || w.passed
}

// takeSafe takes the pinned details.
func (s *Store) takeSafe(w *work) {
	g := &s.ring
	for id, sl := range g.safe {
		if sl.done || sl.taken {
			continue
		}
		w.slots = append(w.slots, sl)
		w.safe++
		g.unsafe--
		sl.taken = true
		g.safe[id] = sl
	}
}

// takeRows takes up to n rows that the file has to know without their detail.
// Those that memory does not have any longer are passed over.
func (s *Store) takeRows(w *work, n int) {
	g := &s.ring
	for g.lost.n > 0 && len(w.rows) < n {
		id := g.lost.take()
		if r, c := s.row(id); r != nil {
			w.rows = append(w.rows, bareRow{id, *r, c.names})
		} else {
			w.passed = true
		}
	}
	if g.lost.n == 0 {
		g.lost = backlog{}
	}
}

// head is the row as the file holds it.
func (b *bareRow) head() Head {
	var r Row
	b.row.public(b.id, b.names, &r)
	return headOfRow(&r, Links{
		PrevInRun: back(b.id, b.row.prev), LastGood: back(b.id, b.row.good), Replays: back(b.id, b.row.replays),
	})
}

// process redacts and renders what was taken, and formats lines. It holds no
// lock.
func (s *Store) process(w *work) {
	const enough = 1 << 20 // bytes to be written at once
	if w.writing {
		w.out = append(w.out, slices.Concat(w.lines...)...)
	}
	for i := range w.slots {
		s.processSlot(w, i)
		if len(w.out) > enough {
			s.writeOut(w)
		}
	}
	for i := range w.rows {
		if !w.writing {
			w.offsets = append(w.offsets, 0)
			continue
		}
		w.offsets = append(w.offsets, w.base+int64(len(w.out)))
		h := w.rows[i].head()
		w.out = appendRow(w.out, &h)
	}
	s.writeOut(w)
}

func (s *Store) processSlot(w *work, i int) {
	sl := &w.slots[i]
	w.raw = append(w.raw, sl.trace)
	raw := sl.trace
	if s.opts.Ended != nil {
		raw = raw.Completed()
	}
	t, redacted := s.finish(raw, sl.instance)
	w.redacted += uint64(redacted)
	if t.Values != nil && !w.writing {
		for _, v := range t.Values.All() {
			s.join(v.Value)
		}
	}
	if s.opts.Ended != nil {
		s.opts.Ended(s, t)
	}
	if t.Values != nil {
		if s.opts.Ended != nil {
			v := *t.Values // a copy of t that Ended has made keeps the bytes
			t.Values = &v
		}
		for _, v := range t.Values.All() {
			s.keepBody(w, v.Value)
			sl.valued = sl.valued || v.Digest != ""
		}
	}
	sl.trace, sl.done = t, true
	sl.size = int64(unsafe.Sizeof(*t)) + sizeOf(t)
	if sl.own && s.opts.Weigh == nil {
		sl.body = 256 + 4*int64(t.Value().Size)
	}
	if s.opts.Once {
		sl.instance, sl.body = nil, 0
	}
	if !w.writing {
		w.offsets = append(w.offsets, 0)
		return
	}
	w.offsets = append(w.offsets, w.base+int64(len(w.out)))
	if t.Later.Maker == nil {
		w.out = s.phrases.appendTrace(w.out, t, w.replays[i])
		return
	}
	kept := t.Spans // a line has all spans; who looks at the trace makes them again
	w.spans = t.Later.Insert(append(w.spans[:0], kept...))
	if s.opts.RedactText != nil {
		s.redactKnown(w.spans)
	}
	t.Spans = w.spans
	w.out = s.phrases.appendTrace(w.out, t, w.replays[i])
	t.Spans = kept
}

// writeOut writes what there is. When that fails, the recording ends where the
// last whole write ended.
func (s *Store) writeOut(w *work) {
	if len(w.out) == 0 {
		return
	}
	_, err := s.file.f.Write(w.out)
	if err == nil {
		w.base += int64(len(w.out))
	} else {
		err = fmt.Errorf("write recording: %w", errors.Join(err, s.file.f.Truncate(w.base-s.file.base)))
		w.writing = false
		for i, at := range w.offsets {
			if at >= w.base {
				w.offsets[i] = 0
			}
		}
		for i := range w.bodies {
			if w.bodies[i].offset >= w.base {
				w.bodies[i].offset = 0
			}
		}
		s.stop(err)
	}
	if w.out = w.out[:0]; cap(w.out) > 8<<20 {
		w.out = nil
	}
}

// sizeOf is an estimate of what t needs beside itself.
func sizeOf(t *traces.Trace) int64 {
	n := len(t.Key) + len(t.Error)
	if t.Later.Maker != nil {
		n += 64 * t.Later.Maker.Len()
	}
	for i := range t.Spans {
		n += int(unsafe.Sizeof(t.Spans[i])) + len(t.Spans[i].Name) + len(t.Spans[i].Answer) + 64*len(t.Spans[i].Attrs)
	}
	for i := range t.Faults {
		n += 128 + len(t.Faults[i].Message) + len(t.Faults[i].Hidden)
	}
	for i := range t.Notes {
		n += int(unsafe.Sizeof(t.Notes[i])) + len(t.Notes[i].Text)
	}
	for _, s := range t.Touched {
		n += len(s)
	}
	return int64(n + 64*len(t.Options))
}

// join makes one of the pieces of a value, which in memory share nothing, unless it is too
// large to be kept.
func (s *Store) join(v *traces.Value) {
	if int64(v.Size) <= s.opts.Body {
		v.Body, v.Pieces = v.Content(), nil
	}
}

// keepBody takes the bytes out of v: they are kept elsewhere, or not at all. In
// the file, a piece that several values have is written once.
func (s *Store) keepBody(w *work, v *traces.Value) {
	if !hasBody(v) {
		return
	}
	body := *v
	v.Body, v.Pieces = nil, nil
	if int64(body.Size) > s.opts.Body {
		w.dropped++
		return
	}
	for _, p := range body.Pieces {
		if p.Digest != "" && !s.addBody(w, traces.Value{Digest: p.Digest, Format: body.Format, Body: p.Text}) {
			return
		}
	}
	s.addBody(w, body)
}

// addBody adds a value to those that are kept, and to the file. It reports
// false if there is no more room.
func (s *Store) addBody(w *work, v traces.Value) bool {
	k, _ := digestOf(v.Digest)
	size := int64(len(v.Body))
	for _, p := range v.Pieces {
		if p.Digest == "" {
			size += int64(len(p.Text))
		}
	}
	s.mu.Lock()
	at, known := s.bodies.at[k]
	known = known && (!w.writing || at.offset > s.file.base) // each file stands for itself
	full := !known && (len(s.bodies.at)+len(w.bodies) >= maxBodies || w.writing && s.bodies.written+size > s.opts.Bodies)
	if !known && !full && w.writing {
		s.bodies.written += size
	}
	s.mu.Unlock()
	switch {
	case full:
		w.dropped++
	case !w.writing:
		w.bodies = append(w.bodies, newBody{key: k, value: v})
	case !known && !slices.ContainsFunc(w.bodies, func(b newBody) bool { return b.key == k }):
		w.bodies = append(w.bodies, newBody{k, w.base + int64(len(w.out)), v})
		w.out = appendBody(w.out, v)
	}
	return !full
}

// put records what was processed.
func (s *Store) put(w *work) {
	defer w.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	g := &s.ring
	s.file.size = w.base
	s.stats.redacted += w.redacted
	s.stats.droppedBodies += w.dropped
	for _, b := range w.bodies {
		s.putBody(b)
	}
	for i := range w.slots {
		s.putSlot(w, i)
		if raw := w.raw[i]; raw.Key != w.slots[i].trace.Key {
			s.asked.keep(raw.ID, raw.Key)
		}
	}
	for i := range w.rows {
		id := w.rows[i].id
		if r, _ := s.row(id); r != nil {
			r.line = w.offsets[len(w.slots)+i]
			s.unkeep(id)
		}
	}
	g.written = max(g.written, w.from+uint64(len(w.slots)-w.safe))
	s.limit()
	g.flushes = slices.DeleteFunc(g.flushes, func(f flush) bool {
		if f.until > g.written || len(s.file.lines)+g.lost.n > 0 {
			return false
		}
		close(f.done)
		return true
	})
}

// release lets go of what was put: of traces, there are redacted copies now.
func (w *work) release() {
	for _, raw := range w.raw {
		raw.Free()
	}
	clear(w.slots) // they hold instances
	clear(w.raw)
}

func (s *Store) putSlot(w *work, i int) {
	g := &s.ring
	sl := w.slots[i]
	if r, c := s.row(sl.id); r != nil {
		r.line = w.offsets[i]
		r.size = uint32(min(max(sl.trace.Value().Size, 0), 1<<32-1))
		r.bits |= settled
		origin, fault := firstFault(sl.trace)
		r.origin, r.fault = c.intern(ofOrigin, origin), c.intern(ofFault, fault)
	}
	here := g.at(w.from + uint64(i))
	switch {
	case i >= len(w.slots)-w.safe && w.offsets[i] != 0:
		delete(g.safe, sl.id)
	case i >= len(w.slots)-w.safe:
		sl.instance, sl.body = nil, 0
		g.safe[sl.id] = sl
	case here.id == sl.id:
		*here = sl
		g.traces += sl.size
		g.instances += sl.body
		if sl.own {
			g.seen += (sl.body - g.seen) / 16
		}
	default: // it was overtaken: the ring has gone round
		sl.size, sl.body = 0, 0 // never counted
		s.forget(&sl)
	}
	if w.offsets[i] != 0 {
		s.unkeep(sl.id)
	}
}

func (s *Store) putBody(b newBody) {
	at, ok := s.bodies.at[b.key]
	switch {
	case !ok:
		if at.offset = b.offset; b.offset == 0 {
			at.bytes = b.value.Content()
		}
		s.bodies.inside += int64(len(at.bytes))
	case b.offset > at.offset:
		s.bodies.inside -= int64(len(at.bytes))
		at = bodyAt{offset: b.offset}
	}
	if at.bytes != nil {
		at.users++
	}
	s.bodies.at[b.key] = at
}

// Live instances may have one of instanceShare parts of the memory, and the newest are kept in any
// case. With more, a request that makes a large one pays for memory that was never used
// before: that is a quarter of what it takes to find facts in a database.
const (
	instanceShare = 16
	newest        = 32
)

// limit drops what is too much: instances, values, details, rows. It begins
// with the oldest, and where it ended the last time.
func (s *Store) limit() {
	g := &s.ring
	tail := g.head - min(g.head, uint64(len(g.slots)))
	g.oldest, g.emptied = max(g.oldest, tail), max(g.emptied, tail)
	over := s.memory() - s.opts.Memory
	over -= s.dropInstances(over, g.taken)
	s.dropInstances(g.instances-s.opts.Memory/instanceShare, g.taken-min(g.taken, newest))
	if over > 0 {
		over -= s.dropBodies(over)
	}
	for p := g.taken; over > 0 && g.waiting > 0 && p < g.head; p++ {
		if sl := g.at(p); sl.instance != nil && !s.isPinned(sl.id) {
			over -= sl.body
			g.disown(sl)
			sl.instance, sl.own = nil, false
			s.stats.droppedBodies++
		}
	}
	for ; over > 0 && g.emptied < g.taken; g.emptied++ {
		if sl := g.at(g.emptied); sl.id != 0 && sl.done && !s.isPinned(sl.id) {
			over -= sl.size
			s.forget(sl)
			*sl = slot{}
		}
	}
	for over > 0 && len(s.chunks) > 2 {
		if c := s.chunks[0]; c != nil {
			over -= c.memory()
		}
		s.dropChunk()
	}
}

// dropInstances drops the oldest live instances below a position, and returns how many bytes.
func (s *Store) dropInstances(over int64, below uint64) (freed int64) {
	g := &s.ring
	for ; freed < over && g.oldest < below; g.oldest++ {
		if sl := g.at(g.oldest); sl.done && !s.isPinned(sl.id) {
			freed += sl.body
			g.instances -= sl.body
			sl.instance, sl.body = nil, 0
		}
	}
	return freed
}

// dropBodies drops values of the oldest details from memory and returns how
// many bytes. A value that a newer detail has too, or one that must stay, stays.
func (s *Store) dropBodies(over int64) (freed int64) {
	if s.bodies.inside == 0 {
		return 0
	}
	g := &s.ring
	for p := g.emptied; p < g.taken && freed < over; p++ {
		sl := g.at(p)
		if sl.id == 0 || !sl.done || !sl.valued || s.isPinned(sl.id) {
			continue
		}
		sl.valued = false
		for _, v := range sl.trace.Values.All() {
			if n := s.release(v.Value); n > 0 {
				freed += n
				s.stats.droppedBodies++
			}
		}
	}
	return freed
}

func (s *Store) isPinned(id uint64) bool {
	r, _ := s.row(id)
	return r != nil && r.pinned()
}

// finishFile writes the last line.
func (s *Store) finishFile() {
	s.resume(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.ring.flushes {
		close(f.done)
	}
	s.ring.flushes = nil
	if s.file.f == nil || s.file.err != nil {
		return
	}
	last := appendEnd(nil, s.end(), s.opts.Now())
	if _, err := s.file.f.Write(last); err != nil {
		s.file.err = fmt.Errorf("end recording: %w", err)
		return
	}
	s.file.size += int64(len(last))
}

// Flush waits until everything that ended before is written. The error is the
// one that ended the writing, if any did.
func (s *Store) Flush() error {
	s.mu.Lock()
	if s.closed || s.readOnly {
		s.mu.Unlock()
		s.done.Wait()
		return s.fileErr()
	}
	f := flush{s.ring.head, make(chan struct{})}
	if s.ring.written >= f.until && len(s.file.lines)+s.ring.lost.n == 0 {
		close(f.done)
	} else {
		s.ring.flushes = append(s.ring.flushes, f)
	}
	s.mu.Unlock()
	signal(s.hurry)
	<-f.done
	return s.fileErr()
}

// Settle waits until there is room for details that wait for the writer, so that none is
// dropped: those who need not go on at once call it before End or Keep. Many may.
func (s *Store) Settle() {
	s.mu.Lock()
	g := &s.ring
	waiting, room := g.head-g.taken, uint64(len(g.slots))
	if s.closed || s.readOnly || waiting < room/2 {
		s.mu.Unlock()
		return
	}
	f := flush{g.head - room/4, make(chan struct{})}
	g.flushes = append(g.flushes, f)
	s.mu.Unlock()
	signal(s.hurry)
	<-f.done
}

func (s *Store) fileErr() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file.err
}
