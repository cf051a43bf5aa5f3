package store

import (
	"hash/maphash"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"

	"indirtui/traces"
)

const (
	chunkRows = 1 << 16
	blockRows = 1 << 8
	maxName   = 512 // bytes of a name in a row; the detail has all of it
)

// A Row is what the list shows of a request.
type Row struct {
	ID, Parent   uint64
	Start        time.Time
	Took         time.Duration // zero while it runs
	Verb         traces.Verb
	Outcome      traces.Outcome
	Served       traces.Served
	Flags        traces.Flags
	Indirection  string
	Key          string // at most 512 bytes of it, as of all names here
	Terminus     string // in effect, asked or not; "" before it is routed
	Cache        string
	Environment  string
	Run          string
	Transaction  string // Puppet's transaction_uuid of the run; "" until a request names it
	Caller       string
	Instance     string            // which program of a fleet traced it; "" in this process
	SetBy        traces.SourceKind // source of the terminus
	CacheSetBy   traces.SourceKind // source of the cache
	Origin       string            // origin of the first fault: "terminus exec"; "" if nothing failed
	Fault        string            // its message, redacted; "" until the writer has seen it
	Size         int               // of the answer's value; zero if unknown
	CacheWritten bool
	Touched      bool // held or changed by the user or a breakpoint
	Nested       bool
	Sent         bool // sent from the screen
	RunGuessed   bool // Run is a guess by connection and time
	Marked       bool
	Commented    bool
	Lost         bool // the detail was dropped
	Mark         byte // 'a' to 'z'; others are a mark without a letter
}

// A row is a Row in 112 bytes without a pointer, so that a million of them cost
// the collector nothing. Other rows are named by their distance.
type row struct {
	start, took int64 // nanoseconds
	line        int64 // offset of its line in the file; 0 if there is none

	ind, key, env, run, caller, terminus, cache, origin, fault uint32 // names of its chunk

	parent  uint32 // back to the parent
	child   uint32 // on to the newest nested request
	sibling uint32 // back to the one before with the same parent
	prev    uint32 // back to the one before it in its run
	next    uint32 // on to the one after it in its run
	same    uint32 // back to the one that ended before with the same indirection and key
	good    uint32 // back to the last good one of these
	replays uint32 // back to the one that it repeats
	slot    uint32 // where its detail is in the ring
	size    uint32

	bits                                               uint16
	verb, outcome, served, flags, setBy, cacheBy, mark uint8
}

// Bits of a row.
const (
	present      uint16 = 1 << iota // it is a request, not a hole
	ended                           // it has its outcome
	settled                         // nothing more will come of it
	lost                            // its detail was dropped
	marked                          // by the user
	commented                       // by the user
	cacheWritten                    // the cache was written
	sent                            // sent from the screen
	runGuessed                      // the run is a guess
	touched                         // held or changed by the user or a breakpoint
)

// pinned reports whether r must not be dropped: marked, commented or running
// requests.
func (r *row) pinned() bool { return r.bits&(marked|commented) != 0 || r.bits&ended == 0 }

// public converts r, whose number is id.
func (r *row) public(id uint64, n names, dst *Row) {
	*dst = Row{
		ID: id, Start: when(r.start), Took: time.Duration(r.took), Parent: back(id, r.parent),
		Verb: traces.Verb(r.verb), Outcome: traces.Outcome(r.outcome), Served: traces.Served(r.served), Flags: traces.Flags(r.flags),
		Indirection: n.name(r.ind), Key: n.name(r.key), Terminus: n.name(r.terminus), Cache: n.name(r.cache),
		Environment: n.name(r.env), Caller: n.name(r.caller), Origin: n.name(r.origin), Fault: n.name(r.fault),
		SetBy: traces.SourceKind(r.setBy), CacheSetBy: traces.SourceKind(r.cacheBy), Size: int(r.size),
		CacheWritten: r.bits&cacheWritten != 0, Touched: r.bits&touched != 0, Nested: r.parent != 0, Sent: r.bits&sent != 0,
		Marked: r.bits&marked != 0, Commented: r.bits&commented != 0, Lost: r.bits&lost != 0, RunGuessed: r.bits&runGuessed != 0, Mark: r.mark,
	}
	dst.Run, dst.Transaction = runOf(n.name(r.run))
	dst.Caller, dst.Instance = callerOf(dst.Caller)
}

// callerOf divides the name of a caller, behind which the instance of a fleet
// is, as the transaction_uuid is behind a run.
func callerOf(text string) (caller, instance string) {
	caller, instance, _ = strings.Cut(text, "\x00")
	return caller, instance
}

// The run of a row is its name and, once known, its transaction_uuid behind a
// NUL, which needs no column.
func runOf(text string) (run, transaction string) {
	run, transaction, _ = strings.Cut(text, "\x00")
	return run, transaction
}

// nanos and when convert a time; zero stays zero.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func when(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n)
}

// back returns the number at distance before id; zero stays zero.
func back(id uint64, distance uint32) uint64 {
	if distance == 0 {
		return 0
	}
	return id - uint64(distance)
}

// distance returns how far from lies before to; zero if it does not, or too
// far.
func distance(from, to uint64) uint32 {
	if from == 0 || from >= to || to-from > 1<<32-1 {
		return 0
	}
	return uint32(to - from)
}

// names holds the texts of a chunk, each once. It only grows, so that a copy of
// the struct can be read meanwhile. Name 0 is "".
type names struct {
	text []byte
	ends []uint32
}

func (n *names) name(i uint32) string {
	if i == 0 {
		return ""
	}
	begin := n.ends[i-1]
	return unsafe.String(unsafe.SliceData(n.text[begin:]), int(n.ends[i]-begin))
}

func (n *names) add(s string) uint32 {
	if len(n.ends) == 0 {
		n.ends = append(n.ends, 0)
	}
	n.text = append(n.text, s...)
	n.ends = append(n.ends, uint32(len(n.text)))
	return uint32(len(n.ends) - 1)
}

// A block is the piece in which memory for rows is taken.
type block [blockRows]row

// spares are blocks for rows to come, made by the writer: the first use of new memory is
// a fault for each page, which takes longer than all else that a request pays for its row.
type spares struct {
	blocks []*block
	used   int // since the writer last looked
}

// maxSpares bounds how far the writer goes ahead.
const maxSpares = chunkRows / blockRows

// take returns an empty block.
func (s *spares) take() *block {
	s.used++
	last := len(s.blocks) - 1
	if last < 0 {
		return new(block)
	}
	b := s.blocks[last]
	s.blocks[last], s.blocks = nil, s.blocks[:last]
	return b
}

// provide makes as many spare blocks as were used since the last time, and one.
func (s *Store) provide() {
	s.mu.Lock()
	n := min(s.spares.used+1, maxSpares) - len(s.spares.blocks)
	s.spares.used = 0
	s.mu.Unlock()
	for range n {
		b := new(block)
		clear(b[:]) // which touches each page
		s.mu.Lock()
		s.spares.blocks = append(s.spares.blocks, b)
		s.mu.Unlock()
	}
}

// A chunk is 65 536 rows and their names. It is dropped as a whole, so that
// keys cannot pile up.
type chunk struct {
	base   uint64 // the number of the first row
	blocks [chunkRows / blockRows]*block
	held   int // blocks
	names  names
	seed   maphash.Seed
	redact func(string) (string, int) // nil changes nothing
	index  map[uint64]uint32          // names by hash; all are redacted
	recent [nameKinds]uint32          // the newest name of each kind, shared by most requests
}

type nameKind int

const (
	ofIndirection nameKind = iota
	ofKey
	ofEnvironment
	ofRun
	ofCaller
	ofTerminus
	ofCache
	ofOrigin
	ofFault
	nameKinds
)

func (s *Store) newChunk(base uint64) *chunk {
	return &chunk{base: base, seed: s.seed, redact: s.opts.RedactText, index: make(map[uint64]uint32)}
}

// row returns the row of id, which must belong to c; nil if its block is absent
// and there is nothing to make one of.
func (c *chunk) row(id uint64, grow *spares) *row {
	b := &c.blocks[id%chunkRows/blockRows]
	if *b == nil {
		if grow == nil {
			return nil
		}
		*b = grow.take()
		c.held++
	}
	return &(*b)[id%blockRows]
}

// intern returns the name of a text, redacted and cut to what a row holds. What
// has a name already is not redacted again.
func (c *chunk) intern(kind nameKind, text string) uint32 {
	if text == "" {
		return 0
	}
	if i := c.recent[kind]; i != 0 && c.names.name(i) == text {
		return i
	}
	h, i := c.find(text)
	if i == 0 {
		if redacted := shorten(c.redacted(text), maxName); redacted != text {
			text = redacted
			h, i = c.find(text)
		}
	}
	if i == 0 {
		i = c.names.add(text)
		c.index[h] = i
	}
	c.recent[kind] = i
	return i
}

// find returns the name of a text, or 0 and where in the index it belongs. On a
// collision of hashes the next slot is tried.
func (c *chunk) find(text string) (h uint64, i uint32) {
	for h = maphash.String(c.seed, text); ; h++ {
		if i = c.index[h]; i == 0 || c.names.name(i) == text {
			return h, i
		}
	}
}

func (c *chunk) redacted(text string) string {
	if c.redact != nil {
		text, _ = c.redact(text)
	}
	return text
}

// seal drops the index of names. Requests that end later start another; a few
// names are then stored twice.
func (c *chunk) seal() { c.index = make(map[uint64]uint32) }

func (c *chunk) memory() int64 {
	return int64(c.held)*blockRows*int64(unsafe.Sizeof(row{})) + int64(cap(c.names.text)) + 4*int64(cap(c.names.ends)) + 32*int64(len(c.index))
}

// keyHash is the hash of an indirection and key.
func (s *Store) keyHash(indirection, key string) uint64 {
	return maphash.String(s.seed, indirection)*31 + maphash.String(s.seed, key)
}

// A keyed is an indirection and key with their hash, so that repeated ones are
// not hashed again.
type keyed struct {
	indirection, key string
	hash             uint64
}

// sameKey is keyHash under the lock.
func (s *Store) sameKey(indirection, key string) uint64 {
	if k := &s.lastKey; k.hash == 0 || k.key != key || k.indirection != indirection {
		*k = keyed{indirection, key, s.keyHash(indirection, key)}
	}
	return s.lastKey.hash
}

// shorten cuts s to at most limit bytes, with an ellipsis.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// An aging map forgets keys that were not used during its last limit new
// entries. Its values lie in blocks, without a pointer, and do not move.
type aging[V any] struct {
	young, old generation[V]
	limit      int
	h          uint64 // used last; most requests repeat the one before
	v          *V     // its value; may be nil
}

type generation[V any] struct {
	index  map[uint64]uint32
	blocks []*[agingBlock]V
}

const agingBlock = 1 << 10

// at returns the value of h, perhaps a new one. The pointer is valid until the
// next call.
func (a *aging[V]) at(h uint64) *V {
	if a.v == nil || a.h != h {
		a.h, a.v = h, a.find(h)
	}
	return a.v
}

func (a *aging[V]) find(h uint64) *V {
	if i, ok := a.young.index[h]; ok {
		return a.young.value(i)
	}
	if len(a.young.index) >= a.limit {
		a.old, a.young = a.young, generation[V]{}
	}
	v := a.young.add(h)
	if i, ok := a.old.index[h]; ok {
		*v = *a.old.value(i)
	}
	return v
}

func (g *generation[V]) value(i uint32) *V { return &g.blocks[i/agingBlock][i%agingBlock] }

func (g *generation[V]) add(h uint64) *V {
	if g.index == nil {
		g.index = make(map[uint64]uint32)
	}
	i := uint32(len(g.index))
	if int(i/agingBlock) == len(g.blocks) {
		g.blocks = append(g.blocks, new([agingBlock]V))
	}
	g.index[h] = i
	return g.value(i)
}

func (a *aging[V]) memory() int64 {
	var v V
	return int64(len(a.young.index)+len(a.old.index)) * (24 + int64(unsafe.Sizeof(v)))
}
