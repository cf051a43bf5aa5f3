// Package store keeps requests: every one as a [Row], the newest with their
// traces, and everything in a recording, if there is one. A [Store] is a
// traces.Recorder; an opened recording is a Store too.
//
// # What happens to a request
//
// Begin and End take a lock, write a row of 112 bytes, for which the writer has
// made room, and put the trace into a ring. That is all that the request waits
// for. One goroutine, the writer, takes traces out of the ring a moment later,
// many at once, asks Options.Render for the value, redacts every text, and appends
// lines to the recording. When it falls behind, the oldest traces that are still
// unwritten are dropped and counted; their rows stay.
//
// # What is dropped
//
// At the limit of memory go, in this order, the live instances, the values, the
// details, the rows; the oldest first. With a recording the first three are
// only forgotten: they are read back from it. Marked, commented and running
// requests are never dropped. Every loss is counted in [Stats].
//
// # The recording
//
// One JSON object per line, append-only. The first field names the kind of
// line; unknown lines and fields are ignored. Enumerations are written as
// the names that package traces gives them, durations in nanoseconds, times in
// RFC 3339. Fields that are empty are left out. Text that is not UTF-8 is
// written with replacement characters, bodies that are not UTF-8 as base64.
//
//	{"indirtui":1,"started":…,"source":…,     the first line: format version
//	 "session":…,"instance":…,"to":…,"part":…} and, if it is shipped, see Session
//	{"body":SHA-256,"format":…,"text":…}      a value, once; or "base64", or
//	 "pieces":[{"text":…},{"body":SHA-256}]    some of which are values
//	{"trace":7,"t":…,"took":…,"verb":…,"ind":…,"key":…,"env":…,"run":…,
//	 "guessed":true,"caller":…,"from":…,"parent":…,"prev":…,"replay":true,"good":…,"out":…,"served":…,"flags":[…],
//	 "terminus":…,"cache":…,"setby":…,"csetby":…,"cwritten":true,"touched":true,
//	 "origin":…,"fault":…,"size":…,"lost":true,         so far it is the row
//	 "steps":[{"step":…,"is":…,"why":…,"about":…,"at":…,"took":…}],
//	 "pstep":…,"traceparent":…,"app":…,"idle":[…],"options":[{"name":…,"value":…}],
//	 "primary":[{"terminus":…,"by":…,"place":…,"not":…,"note":…,"setting":…,
//	 "symbol":true,"t":…}],
//	 "caches":[…],"spans":[{"id":…,"parent":…,"step":…,"kind":…,"name":…,"is":…,
//	 "why":…,"about":…,"at":…,"took":…,"attrs":[{"name":…,"value":…}],"err":…,"request":…}],
//	 "faults":[{"origin":…,"step":…,"message":…,"hidden":…,"shown":true,"path":…}],
//	 "notes":[…],"noted":[…],"changes":[…],"held":…,"value":{"model":…,"format":…,"size":…,"digest":…,"masked":…,"source":…},
//	 "sent":{…},"origins":{…},"named":…,"party":…,"failed":…,"failedwith":…,"error":…,"recorded":…}
//	{"mark":7,"as":"a","t":…}                 a mark; as "" takes it away
//	{"comment":7,"text":…,"t":…}              a comment
//	{"event":…,"t":…}                         something beside the requests
//	{"end":{"requests":…,"comments":…},"t":…} the last line, if it was closed
//
// A request has its line when it has ended; "lost" is one whose detail was
// dropped. A line that cannot be read is passed over with a note.
package store

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"indirtui/traces"
)

// Options are the options of Open. The zero value keeps all in memory.
type Options struct {
	// Path is the recording to make. It must not exist. "" records in memory
	// only.
	Path string
	// Rotate is the size in bytes after which a new file is begun at Path; the
	// one before gets a number: x.jsonl becomes x.1.jsonl. Each stands for itself.
	// 0 is never.
	Rotate int64
	// Keep is how many files of the recording stay, KeepBytes how many bytes in
	// all; the oldest are removed. 0 is no limit.
	Keep      int
	KeepBytes int64
	// Stopped is called by the writer when nothing can be written, as on a full
	// disk, and with nil when the recording goes on. May be nil.
	Stopped func(error)
	// Source names in the recording where the requests were traced.
	Source string
	// Session is what the recording is to be shipped as; zero if it stays here.
	Session Session
	// Rows is how many rows are kept in memory; 0 is 24 chunks of 65 536, the
	// least is two. Whole chunks are dropped.
	Rows int
	// Details is how many finished traces are kept in memory, including those
	// waiting for the writer; 0 is 8192.
	Details int
	// Memory is the limit for everything together, in bytes; 0 is 256 MB.
	Memory int64
	// Body is the largest value that is kept, Bodies the limit for all values
	// of a recording, in bytes; 0 is 16 MB and 1 GB.
	Body, Bodies int64
	// Render renders an instance, redacted. It is called by the writer, and
	// when a request is read before the writer has seen it. Model is the name
	// of the indirection. If nil, no values are kept.
	Render func(model string, instance any) traces.Value
	// Origins renders where what is in an instance is from, redacted; the zero Value if
	// that is not known. It is called like Render. May be nil.
	Origins func(model string, instance any) traces.Value
	// Weigh estimates the memory of an instance, in bytes. It is called by End,
	// and must be quick. If nil, instances are as large as those before.
	Weigh func(instance any) int64
	// Once drops an instance when it was rendered: Instance does not find it.
	Once bool
	// Rendered returns how many bytes Render keeps, which count as the Store's
	// own; it must not wait. If nil, there are none.
	Rendered func() int64
	// RedactText redacts every text of a request, comments and events, and
	// returns the number of redactions. It is called like Render, and for new
	// keys and other names of rows when a request begins and ends; what it
	// returned stays as it is when it is redacted again. If nil, texts stay as
	// they are.
	RedactText func(string) (string, int)
	// Ended is called by the writer with every finished request, redacted. It
	// must not wait, and not change it. Requests whose detail was dropped
	// before are left out. May be nil.
	Ended func(*Store, *traces.Trace)
	// Now is the clock of rates and comments; nil is time.Now.
	Now func() time.Time
}

// A Store keeps requests. It is safe for concurrent use; only Flush and Close
// wait for a disk.
type Store struct {
	opts     Options
	seed     maphash.Seed
	readOnly bool
	remote   Remote // of a followed store; nil if it has a file
	changed  chan struct{}
	wake     chan struct{} // of the writer, which lingers then
	hurry    chan struct{} // of the writer, at once
	quit     chan struct{} // closed by Close; ends the reading of a recording
	done     sync.WaitGroup
	rendered rendered
	clean    cleanSlots
	pairs    *cleanPairs
	phrases  phrases             // of the writer
	newest   atomic.Pointer[any] // the last instance
	askers   atomic.Pointer[func(*traces.Traceparent) uint64]

	mu      sync.Mutex // guards the fields below
	closed  bool
	last    uint64          // the newest number
	chunks  []*chunk        // in order of their numbers; nil where nothing was
	first   uint64          // the number of the first row of the first chunk
	floor   uint64          // everything below was dropped
	kept    map[uint64]*row // rows of chunks that were dropped
	attic   *chunk          // their names
	held    int             // blocks of all chunks
	spares  spares
	rows    int             // requests in all chunks
	byKey   aging[answered] // by indirection and key
	byRun   aging[uint64]   // the newest of each run
	lastKey keyed
	again   map[uint64][]uint64
	ring    ring
	asked   asked
	bodies  bodies
	stats   counters

	comments map[uint64][]Comment
	events   []Event
	touched  []uint64 // rows that changed out of turn, for views; the newest of them
	untold   int      // how many were touched before these
	notes    []string
	whole    uint64 // of a followed store: no row is missing from this one on
	file     file
	loaded   int64 // bytes of a recording that were read
}

// answered holds the newest requests of an indirection and key.
type answered struct{ last, good uint64 }

var _ traces.Keeper = (*Store)(nil)

// Open returns an empty Store and, if there is a path, makes its recording. The
// error is one of the file.
func Open(opts Options) (*Store, error) {
	s := newStore(opts)
	if opts.Path != "" {
		f, err := os.OpenFile(opts.Path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return nil, fmt.Errorf("make recording: %w", err)
		}
		header := appendHeader(nil, s.opts.Now(), opts.Source, opts.Session, 0)
		if _, err := f.Write(header); err != nil {
			return nil, errors.Join(fmt.Errorf("make recording: %w", err), f.Close())
		}
		s.file = file{f: f, size: int64(len(header))}
	}
	s.done.Go(s.write)
	return s, nil
}

func newStore(opts Options) *Store {
	opts.Rows = max(cmp.Or(opts.Rows, 24*chunkRows), 2*chunkRows)
	opts.Details = cmp.Or(opts.Details, 8192)
	opts.Memory = cmp.Or(opts.Memory, 256<<20)
	opts.Body = cmp.Or(opts.Body, 16<<20)
	opts.Bodies = cmp.Or(opts.Bodies, 1<<30)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	opts.RedactText = remembering(opts.RedactText)
	seed := maphash.MakeSeed()
	s := &Store{
		opts: opts, seed: seed,
		changed: make(chan struct{}, 1), wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1), quit: make(chan struct{}),
		kept: map[uint64]*row{}, again: map[uint64][]uint64{},
		pairs: newCleanPairs(),
		byKey: aging[answered]{limit: opts.Rows}, byRun: aging[uint64]{limit: opts.Rows},
		ring:   ring{slots: make([]slot, opts.Details), safe: map[uint64]slot{}},
		bodies: bodies{at: map[bodyKey]bodyAt{}}, comments: map[uint64][]Comment{},
		stats: counters{traffic: map[string]*traffic{}},
	}
	s.attic = s.newChunk(0)
	return s
}

// Begin adds a request and returns its number, or 0 after Close. The trace has
// no number yet, or one of Reserve.
func (s *Store) Begin(t *traces.Trace) uint64 {
	s.asker(t)
	s.mu.Lock()
	id, _, _ := s.beginRow(t)
	s.mu.Unlock()
	if id != 0 {
		s.notify()
	}
	return id
}

// beginRow adds a row and returns its number, or 0 after Close, and its chunk.
func (s *Store) beginRow(t *traces.Trace) (uint64, *row, *chunk) {
	if s.closed || s.readOnly {
		return 0, nil, nil
	}
	id := s.number(t.ID)
	c, r := s.make(id)
	s.rows++
	r.start, r.bits, r.verb, r.flags = nanos(t.Start), present, uint8(t.Verb), uint8(t.Flags)
	r.ind, r.key = c.intern(ofIndirection, t.Indirection), c.intern(ofKey, t.Key)
	r.run, r.caller = c.intern(ofRun, t.Run), c.intern(ofCaller, t.Caller)
	if t.From != nil {
		r.caller = c.intern(ofCaller, t.Caller+"\x00"+t.From.Name)
	}
	if t.Caller == "you" {
		r.bits |= sent
	}
	if t.RunGuessed {
		r.bits |= runGuessed
	}
	s.linkParent(id, r, t.Parent)
	s.linkReplay(id, r, t.Previous)
	if t.Run != "" {
		if newest := s.byRun.at(maphash.String(s.seed, t.Run)); *newest < id {
			s.linkRun(id, r, *newest)
			*newest = id
		} else {
			s.joinRun(id, r, t.Run)
		}
		s.nameRun(id, r, t.Transaction)
	}
	s.stats.begin(r.start)
	return id, r, c
}

// End takes the trace of a request that has ended, and completes its Outcome,
// Previous and LastGood. It is the store's from then on.
func (s *Store) End(t *traces.Trace, instance any) {
	if t.ID == 0 {
		return
	}
	own, weight := s.weigh(instance)
	s.mu.Lock()
	r, c := s.row(t.ID)
	if s.closed || r == nil || r.bits&ended != 0 {
		s.mu.Unlock()
		return
	}
	if r.outcome == uint8(traces.HeldOutcome) {
		s.stats.held--
	}
	s.endRow(t, r, c)
	s.push(t, instance, own, weight, r)
	s.mu.Unlock()
	signal(s.wake)
	s.notify()
}

// Keep is Begin and End in one.
func (s *Store) Keep(t *traces.Trace, instance any) uint64 {
	s.asker(t)
	own, weight := s.weigh(instance)
	s.mu.Lock()
	id, r, c := s.beginRow(t)
	if id == 0 {
		s.mu.Unlock()
		return 0
	}
	t.ID = id
	s.endRow(t, r, c)
	s.push(t, instance, own, weight, r)
	s.mu.Unlock()
	signal(s.wake)
	s.notify()
	return id
}

// endRow completes the row of t.
func (s *Store) endRow(t *traces.Trace, r *row, c *chunk) {
	primary, cache := winner(t.Primary), winner(t.Cache)
	r.took, r.verb, r.flags, r.served = int64(t.Took), uint8(t.Verb), uint8(t.Flags), uint8(t.Served)
	r.env = c.intern(ofEnvironment, t.Environment)
	s.lateRun(r, c, t)
	r.terminus, r.setBy = c.intern(ofTerminus, primary.Terminus), uint8(primary.Kind)
	r.cache, r.cacheBy = c.intern(ofCache, cache.Terminus), uint8(cache.Kind)
	if c.names.name(r.key) != t.Key { // it was changed while it was held
		r.key = c.intern(ofKey, t.Key)
	}
	if t.Steps[traces.CacheWrite].Answer == traces.Written {
		r.bits |= cacheWritten
	}
	if t.IsTouched() {
		r.bits |= touched
	}
	s.judge(t, r, s.sameKey(t.Indirection, t.Key))
	r.outcome = uint8(t.Outcome)
	r.bits |= ended
	s.stats.end(t)
}

// weigh reports whether an instance is another than that of the request before,
// and what it weighs. What a memory terminus answers again and again is in
// memory once.
func (s *Store) weigh(instance any) (other bool, weight int64) {
	if instance == nil {
		return false, 0
	}
	if last := s.newest.Load(); last != nil && isPointer(instance) && *last == instance {
		return false, 0
	}
	own := instance // its address escapes, and that of the argument would at each call
	s.newest.Store(&own)
	if s.opts.Weigh != nil {
		weight = s.opts.Weigh(instance)
	}
	return true, weight
}

var noChoice traces.Choice

// winner is Slot.Winner without the copy of a large struct.
func winner(s traces.Slot) *traces.Choice {
	for i := range s {
		if s[i].Terminus != "" && s[i].Why == "" {
			return &s[i]
		}
	}
	return &noChoice
}

// SetHeld marks a running request as held, or not.
func (s *Store) SetHeld(id uint64, held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, _ := s.row(id)
	if r == nil || r.bits&ended != 0 || held == (r.outcome == uint8(traces.HeldOutcome)) {
		return
	}
	if held {
		r.outcome = uint8(traces.HeldOutcome)
		s.stats.held++
	} else {
		r.outcome = uint8(traces.Run)
		s.stats.held--
	}
	s.notify()
}

// Range returns the numbers of the first and last row in memory, or zeros. A
// recording may have holes between them. Rows that were kept when those around
// them were dropped lie before the first; a View has them.
func (s *Store) Range() (first, last uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bounds()
}

func (s *Store) bounds() (first, last uint64) {
	if s.last == 0 || len(s.chunks) == 0 {
		return 0, 0
	}
	return max(s.first, 1), s.last
}

// Rows fills dst with rows from number from on, in order, and returns their
// number. Holes are left out; the next call begins after the last Row of this
// one.
func (s *Store) Rows(from uint64, dst []Row) int {
	var raw [64]row
	var ids [64]uint64
	n := 0
	for n < len(dst) {
		k, names := s.copyRows(from, raw[:min(len(raw), len(dst)-n)], ids[:])
		if k == 0 {
			break
		}
		for i := range k {
			raw[i].public(ids[i], names, &dst[n+i])
		}
		n += k
		from = ids[k-1] + 1
	}
	return n
}

// copyRows copies rows of one chunk, from number from on, with their names.
func (s *Store) copyRows(from uint64, raw []row, ids []uint64) (n int, _ names) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from = max(from, s.first, 1)
	for from <= s.last {
		c := s.chunk(from)
		if c == nil {
			from = (from/chunkRows + 1) * chunkRows
			continue
		}
		end := min(c.base+chunkRows-1, s.last)
		for from <= end && n < len(raw) {
			b := c.blocks[from%chunkRows/blockRows]
			if b == nil {
				from = (from/blockRows + 1) * blockRows
				continue
			}
			if r := &b[from%blockRows]; r.bits&present != 0 {
				raw[n], ids[n] = *r, from
				n++
			}
			from++
		}
		if n > 0 {
			return n, c.names
		}
	}
	return 0, names{}
}

// Row returns the row of id and whether it is in memory.
func (s *Store) Row(id uint64) (Row, bool) {
	if s.remote != nil {
		s.remote.Near(id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, c := s.row(id)
	if r == nil {
		return Row{}, false
	}
	var out Row
	r.public(id, c.names, &out)
	return out, true
}

// row returns the row of id and the chunk with its names, or nil.
func (s *Store) row(id uint64) (*row, *chunk) {
	if c := s.chunk(id); c != nil {
		if r := c.row(id, nil); r != nil && r.bits&present != 0 {
			return r, c
		}
		return nil, nil
	}
	if r := s.kept[id]; r != nil {
		return r, s.attic
	}
	return nil, nil
}

func (s *Store) chunk(id uint64) *chunk {
	if id < s.first || id > s.last {
		return nil
	}
	if i := int(id/chunkRows - s.first/chunkRows); i < len(s.chunks) {
		return s.chunks[i]
	}
	return nil
}

// make returns the row of id, which may be new, in a chunk that may be new.
func (s *Store) make(id uint64) (*chunk, *row) {
	if len(s.chunks) == 0 {
		s.first = id / chunkRows * chunkRows
	}
	for id < s.first { // a recording has requests in the order of their ends
		s.chunks = slices.Insert(s.chunks, 0, nil)
		s.first -= chunkRows
	}
	i := int(id/chunkRows - s.first/chunkRows)
	for len(s.chunks) <= i {
		s.chunks = append(s.chunks, nil)
	}
	if s.chunks[i] == nil {
		if i > 0 && s.chunks[i-1] != nil {
			s.chunks[i-1].seal()
		}
		s.chunks[i] = s.newChunk(id / chunkRows * chunkRows)
	}
	c := s.chunks[i]
	held := c.held
	r := c.row(id, &s.spares)
	s.held += c.held - held
	for s.held*blockRows > s.opts.Rows && s.dropChunk() {
	}
	return c, r
}

// dropChunk drops the oldest rows except pinned ones, and reports whether there
// were any. The last two chunks stay.
func (s *Store) dropChunk() bool {
	if len(s.chunks) <= 2 {
		return false
	}
	c := s.chunks[0]
	if c != nil {
		for b, block := range c.blocks {
			if block == nil {
				continue
			}
			for i := range block {
				r := &block[i]
				id := c.base + uint64(b)*blockRows + uint64(i)
				switch {
				case r.bits&present == 0:
				case r.pinned():
					s.rows--
					s.keep(id, r, c)
				default:
					s.rows--
					s.stats.droppedRows++
					delete(s.again, id)
				}
			}
		}
		s.held -= c.held
	}
	s.chunks = slices.Delete(s.chunks, 0, 1)
	s.first += chunkRows
	s.floor = s.first
	return true
}

// keep moves a row into the attic.
func (s *Store) keep(id uint64, r *row, from *chunk) {
	k := *r
	for kind, name := range []*uint32{&k.ind, &k.key, &k.env, &k.run, &k.caller, &k.terminus, &k.cache, &k.origin, &k.fault} {
		*name = s.attic.intern(nameKind(kind), from.names.name(*name))
	}
	s.kept[id] = &k
}

// unkeep drops a row from the attic unless it must stay.
func (s *Store) unkeep(id uint64) {
	if r := s.kept[id]; r != nil && !r.pinned() {
		delete(s.kept, id)
		delete(s.again, id)
		s.stats.droppedRows++
	}
}

// Changed returns a channel of one slot that is filled after any change.
func (s *Store) Changed() <-chan struct{} { return s.changed }

func (s *Store) notify() { signal(s.changed) }

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Path returns the path of the recording, or "".
func (s *Store) Path() string { return s.opts.Path }

// Notes returns remarks on the recording: a damaged tail, a full disk.
func (s *Store) Notes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.notes)
}

func (s *Store) note(format string, args ...any) {
	const enough = 100
	if len(s.notes) < enough {
		s.notes = append(s.notes, fmt.Sprintf(format, args...))
	}
}

// Close writes what waits and ends the recording. Running requests are not
// recorded. The error is that of the file. Closing twice is legal.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.quit)
	s.mu.Unlock()
	s.done.Wait()
	s.notify()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file.f == nil {
		return s.file.err
	}
	return errors.Join(s.file.err, s.file.f.Close())
}

// keptIDs returns the numbers of the rows in the attic, in order.
func (s *Store) keptIDs() []uint64 { return slices.Sorted(maps.Keys(s.kept)) }
