package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
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
	traces.Piece
	hidden int // how many values were redacted
}

// A rendering is the text of a value that is being made. What is between the
// parts that are known is in one room.
type rendering struct {
	room   []byte
	known  []traces.Piece
	at     []int // where in the room the known parts belong
	hidden int
}

const (
	onceSeen  = 256     // a part is kept when it comes again while it is among these
	fewItems  = 8       // what has less is not worth a digest
	keptParts = 4 << 20 // bytes of texts
	maxPart   = 1 << 20 // bytes of one text
	minShared = 512     // bytes of a text that is worth a digest of its own
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
	x := rendering{room: (*room)[:0]}
	defer func() {
		if *room = x.room; cap(x.room) <= maxRoom {
			rooms.Put(room)
		}
	}()
	if !r.inParts(&x, v) {
		redacted, all := r.redactor.Value(v)
		var err error
		x = rendering{hidden: len(all)}
		if x.room, err = format.AppendJSON((*room)[:0], redacted); err != nil { // bytes that are not UTF-8, as PSON allows
			if x.room, err = format.AppendPSON((*room)[:0], redacted); err != nil {
				return traces.Value{Model: model, Source: source}
			}
		}
	}
	return x.value(traces.Value{Model: model, Format: "json", Redacted: x.hidden, Source: source})
}

// Origins returns where what is in a catalog is from; the zero Value if that is not known.
func (r *Renderer) Origins(name string, instance any) traces.Value {
	c, _ := instance.(*model.Catalog)
	if c == nil || c.Origins == nil {
		return traces.Value{}
	}
	hidden := 0
	room := rooms.Get().(*[]byte)
	text := c.Origins.AppendJSON((*room)[:0], func(text string) string {
		text, n := r.redactor.Text(text)
		hidden += n
		return text
	})
	body := bytes.Clone(text)
	if *room = text; cap(text) <= maxRoom {
		rooms.Put(room)
	}
	return traces.Value{Model: name, Format: "json", Body: body, Size: len(body), Redacted: hidden}
}

// value puts the body into v.
func (x *rendering) value(v traces.Value) traces.Value {
	text := bytes.Clone(x.room)
	if v.Size = len(text); len(x.known) == 0 {
		v.Body = text
		return v
	}
	v.Pieces = make([]traces.Piece, 0, 2*len(x.known)+1)
	from := 0
	for i, p := range x.known {
		v.Pieces = append(v.Pieces, traces.Piece{Text: text[from:x.at[i]]}, p)
		v.Size += len(p.Text)
		from = x.at[i]
	}
	v.Pieces = append(v.Pieces, traces.Piece{Text: text[from:]})
	return v
}

// rooms are where values are written that are kept with not a byte too much:
// the memory that one grows through is used for the next.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

// maxRoom is the size of the largest room that is used again.
const maxRoom = 1 << 20

// inParts appends the JSON of a hash with large parts. It reports false where
// there are none, where the rules must see the whole, and where JSON cannot
// hold a part.
func (r *Renderer) inParts(x *rendering, v data.Value) bool {
	pairs := v.Hash()
	if !slices.ContainsFunc(pairs, isLarge) || slices.ContainsFunc(pairs, redact.Governs) {
		return false
	}
	x.room = append(x.room, '{')
	for i, end := 0, 0; i < len(pairs); i = end {
		if i > 0 {
			x.room = append(x.room, ',')
		}
		add := r.inside
		if end = i + 1; isLarge(pairs[i]) {
			add = r.large
		} else {
			for end < len(pairs) && !isLarge(pairs[end]) {
				end++
			}
		}
		if !add(x, pairs[i:end]) {
			return false
		}
	}
	x.room = append(x.room, '}')
	return true
}

func isLarge(p data.Pair) bool {
	k := p.Value.Kind()
	return (k == data.List || k == data.Hash) && p.Value.Len() >= fewItems
}

// inside appends what stands between the braces of a hash of the pairs.
func (r *Renderer) inside(x *rendering, pairs []data.Pair) bool {
	redacted, all := r.redactor.Value(data.OfHash(pairs))
	start := len(x.room)
	b, err := format.AppendJSON(x.room, redacted)
	if err != nil {
		return false
	}
	x.room = slices.Delete(b[:len(b)-1], start, start+1)
	x.hidden += len(all)
	return true
}

// large is inside for one pair whose text may be known.
func (r *Renderer) large(x *rendering, pair []data.Pair) bool {
	key := r.key(data.OfHash(pair))
	known, again := r.find(key)
	if known.Text != nil {
		x.known, x.at = append(x.known, known.Piece), append(x.at, len(x.room))
		x.hidden += known.hidden
		return true
	}
	start, hidden := len(x.room), x.hidden
	if !r.inside(x, pair) {
		return false
	}
	if again && len(x.room)-start <= maxPart {
		r.keep(key, newPart(bytes.Clone(x.room[start:]), x.hidden-hidden))
	}
	return true
}

func newPart(text []byte, hidden int) part {
	p := part{traces.Piece{Text: text}, hidden}
	if len(text) >= minShared {
		sum := sha256.Sum256(text)
		p.Digest = hex.EncodeToString(sum[:])
	}
	return p
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
	size := r.size.Load() + int64(len(p.Text))
	for size > keptParts {
		size -= int64(len(r.parts[r.order[0]].Text))
		delete(r.parts, r.order[0])
		r.order = slices.Delete(r.order, 0, 1)
	}
	r.parts[key], r.order = p, append(r.order, key)
	r.size.Store(size)
}
