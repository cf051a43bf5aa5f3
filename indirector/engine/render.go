package engine

import (
	"bytes"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/redact"
	"indirtui/traces"
)

// A Renderer shows instances to a store: as JSON, redacted. Contents of files
// are not read; it shows what is known of them. It is safe for concurrent use.
//
// It remembers the redacted text of large parts, so that facts which are found
// again, with another expiration, are not redacted and rendered again. A part
// is known by a keyed digest, and nothing of it is kept in the clear. The rules
// of redaction are those of the Renderer: with other rules there is another.
type Renderer struct {
	redactor *redact.Redactor
	seeds    [2]maphash.Seed
	size     atomic.Int64 // of the texts of parts, in bytes

	mu    sync.Mutex // guards what follows
	parts map[partKey]part
	order []partKey         // of parts, the oldest first
	once  [onceSeen]partKey // parts that were seen once, the newest ones
	next  int               // the place in once that is written next
}

// A partKey is a seeded digest of a part. Without the seeds it reveals nothing.
type partKey [2]uint64

// A part is the text of a pair of a hash.
type part struct {
	text   []byte
	hidden int // how many values were redacted
}

const (
	onceSeen  = 256     // a part is kept when it comes again while it is among these
	fewItems  = 8       // what has less is not worth a digest
	keptParts = 4 << 20 // bytes of texts
	maxPart   = 1 << 20 // bytes of one text
)

// NewRenderer returns a Renderer that redacts by m.
func NewRenderer(m *redact.Redactor) *Renderer {
	return &Renderer{redactor: m, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, parts: map[partKey]part{}}
}

// Memory returns how many bytes the Renderer keeps: 4 MB at the most.
func (r *Renderer) Memory() int64 { return r.size.Load() }

// Render returns the value of an instance of a model. The zero Value is what
// cannot be shown.
func (r *Renderer) Render(model string, instance any) traces.Value {
	v, source, ok := describe(instance)
	if !ok {
		v, ok = dataOf(instance)
	}
	if !ok {
		return traces.Value{}
	}
	room := rooms.Get().(*[]byte)
	defer func() {
		if cap(*room) <= maxRoom {
			rooms.Put(room)
		}
	}()
	hidden, ok := 0, false
	if *room, hidden, ok = r.inParts((*room)[:0], v); !ok {
		redacted, all := r.redactor.Value(v)
		hidden = len(all)
		var err error
		if *room, err = format.AppendJSON((*room)[:0], redacted); err != nil { // bytes that are not UTF-8, as PSON allows
			if *room, err = format.AppendPSON((*room)[:0], redacted); err != nil {
				return traces.Value{Model: model, Source: source}
			}
		}
	}
	body := bytes.Clone(*room)
	return traces.Value{Model: model, Format: "json", Size: len(body), Body: body, Redacted: hidden, Source: source}
}

// rooms are where values are written that are kept with not a byte too much:
// the memory that one grows through is used for the next.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

// maxRoom is the size of the largest room that is used again.
const maxRoom = 1 << 20

// inParts appends the JSON of a hash with large parts. It reports false where
// there are none, where the rules must see the whole, and where JSON cannot
// hold a part.
func (r *Renderer) inParts(b []byte, v data.Value) (text []byte, hidden int, ok bool) {
	pairs := v.Hash()
	if !slices.ContainsFunc(pairs, isLarge) || slices.ContainsFunc(pairs, redact.Governs) {
		return b, 0, false
	}
	b = append(b, '{')
	for i, end := 0, 0; i < len(pairs); i = end {
		if i > 0 {
			b = append(b, ',')
		}
		var n int
		if end = i + 1; isLarge(pairs[i]) {
			b, n, ok = r.large(b, pairs[i:end])
		} else {
			for end < len(pairs) && !isLarge(pairs[end]) {
				end++
			}
			b, n, ok = r.inside(b, pairs[i:end])
		}
		if !ok {
			return b, 0, false
		}
		hidden += n
	}
	return append(b, '}'), hidden, true
}

func isLarge(p data.Pair) bool {
	k := p.Value.Kind()
	return (k == data.List || k == data.Hash) && p.Value.Len() >= fewItems
}

// inside appends what stands between the braces of a hash of the pairs.
func (r *Renderer) inside(b []byte, pairs []data.Pair) (text []byte, hidden int, ok bool) {
	redacted, all := r.redactor.Value(data.OfHash(pairs))
	start := len(b)
	b, err := format.AppendJSON(b, redacted)
	if err != nil {
		return b, 0, false
	}
	return slices.Delete(b[:len(b)-1], start, start+1), len(all), true
}

// large is inside for one pair whose text may be known.
func (r *Renderer) large(b []byte, pair []data.Pair) (text []byte, hidden int, ok bool) {
	key := r.key(data.OfHash(pair))
	known, again := r.find(key)
	if known.text != nil {
		return append(b, known.text...), known.hidden, true
	}
	start := len(b)
	if b, hidden, ok = r.inside(b, pair); ok && again && len(b)-start <= maxPart {
		r.keep(key, part{bytes.Clone(b[start:]), hidden})
	}
	return b, hidden, ok
}

// key returns the digest of v.
func (r *Renderer) key(v data.Value) partKey {
	room := rooms.Get().(*[]byte)
	b := data.AppendBinary((*room)[:0], v)
	key := partKey{maphash.Bytes(r.seeds[0], b), maphash.Bytes(r.seeds[1], b)}
	clear(b) // it has secrets
	if *room = b; cap(b) <= maxRoom {
		rooms.Put(room)
	}
	return key
}

// find returns the part of a key, and whether that has been seen before.
func (r *Renderer) find(key partKey) (known part, again bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, again = r.parts[key]; again || slices.Contains(r.once[:], key) {
		return known, true
	}
	r.once[r.next] = key
	r.next = (r.next + 1) % len(r.once)
	return known, false
}

// keep remembers a part, and forgets the oldest ones for it.
func (r *Renderer) keep(key partKey, p part) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.parts[key]; ok {
		return
	}
	size := r.size.Load() + int64(len(p.text))
	for size > keptParts {
		size -= int64(len(r.parts[r.order[0]].text))
		delete(r.parts, r.order[0])
		r.order = slices.Delete(r.order, 0, 1)
	}
	r.parts[key], r.order = p, append(r.order, key)
	r.size.Store(size)
}
