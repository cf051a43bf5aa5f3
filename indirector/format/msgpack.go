package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"

	"indirtui/indirector/data"
)

var (
	errShort     = errors.New("end of buffer reached")
	errExtension = errors.New("unexpected extension type")
)

// DecodeMsgpack reads one MessagePack object. Bytes after it, extension types,
// lengths beyond the end and nesting deeper than 128 are errors; binary strings
// are strings. Rule FMT-04.
//
// The value shares one private copy of b.
func DecodeMsgpack(b []byte, l Limits) (data.Value, error) {
	if err := l.check(b); err != nil {
		return data.Value{}, err
	}
	d := msgpackDecoder{builder: newBuilder(b, l), n: len(b), maxDepth: l.depth(msgpackDepth)}
	defer d.free()
	d.guess = len(b) / 24
	v := d.value()
	if d.err == nil && d.i < d.n {
		d.fail(fmt.Errorf("%d extra bytes after the deserialized object", d.n-d.i))
	}
	if d.err != nil {
		return data.Value{}, d.err
	}
	return v, nil
}

// A msgpackDecoder reads text[i:n]. The first error stays in err.
type msgpackDecoder struct {
	*builder
	i, n            int
	depth, maxDepth int
}

// take returns the position of the next n bytes and skips them.
func (d *msgpackDecoder) take(n int) (int, bool) {
	i := d.i
	if n > d.n-i {
		d.fail(errShort)
		d.i = d.n
		return i, false
	}
	d.i += n
	return i, true
}

// uint takes a big-endian number of that many bytes.
func (d *msgpackDecoder) uint(size int) uint64 {
	i, ok := d.take(size)
	if !ok {
		return 0
	}
	switch size {
	case 1:
		return uint64(d.text[i])
	case 2:
		return uint64(binary.BigEndian.Uint16(d.text[i:]))
	case 4:
		return uint64(binary.BigEndian.Uint32(d.text[i:]))
	}
	return binary.BigEndian.Uint64(d.text[i:])
}

func (d *msgpackDecoder) value() data.Value {
	i, ok := d.take(1)
	if !ok {
		return data.Value{}
	}
	switch c := d.text[i]; {
	case c < 0x80:
		return data.OfInt(int64(c))
	case c < 0x90:
		return d.mapOf(int(c & 0x0F))
	case c < 0xA0:
		return d.arrayOf(int(c & 0x0F))
	case c < 0xC0:
		return d.stringOf(int(c & 0x1F))
	case c >= 0xE0:
		return data.OfInt(int64(int8(c)))
	default:
		return d.long(c)
	}
}

// long takes what follows a byte that announces a longer form.
func (d *msgpackDecoder) long(c byte) data.Value {
	switch c {
	case 0xC0:
		return data.Value{}
	case 0xC2, 0xC3:
		return data.OfBool(c == 0xC3)
	case 0xC4, 0xC5, 0xC6: // binary
		return d.stringOf(d.length(1 << (c - 0xC4)))
	case 0xCA:
		return data.OfFloat(float64(math.Float32frombits(uint32(d.uint(4)))))
	case 0xCB:
		return data.OfFloat(math.Float64frombits(d.uint(8)))
	case 0xCC, 0xCD, 0xCE:
		return data.OfInt(int64(d.uint(1 << (c - 0xCC))))
	case 0xCF:
		return ofUint(d.uint(8))
	case 0xD0:
		return data.OfInt(int64(int8(d.uint(1))))
	case 0xD1:
		return data.OfInt(int64(int16(d.uint(2))))
	case 0xD2:
		return data.OfInt(int64(int32(d.uint(4))))
	case 0xD3:
		return data.OfInt(int64(d.uint(8)))
	case 0xD9, 0xDA, 0xDB:
		return d.stringOf(d.length(1 << (c - 0xD9)))
	case 0xDC, 0xDD:
		return d.arrayOf(d.length(2 << (c - 0xDC)))
	case 0xDE, 0xDF:
		return d.mapOf(d.length(2 << (c - 0xDE)))
	case 0xC1:
		d.fail(errors.New("invalid byte"))
	default:
		d.fail(errExtension)
	}
	return data.Value{}
}

func ofUint(n uint64) data.Value {
	if n > math.MaxInt64 {
		return data.OfBig(new(big.Int).SetUint64(n))
	}
	return data.OfInt(int64(n))
}

func (d *msgpackDecoder) length(size int) int { return int(d.uint(size)) }

func (d *msgpackDecoder) stringOf(n int) data.Value {
	i, ok := d.take(n)
	if !ok {
		return data.Value{}
	}
	return d.str(i, i+n)
}

// enter begins a container of n elements of at least size bytes each, so that
// a claim of billions in a few bytes is refused at once.
func (d *msgpackDecoder) enter(n, size int) bool {
	if d.depth++; d.depth > d.maxDepth {
		d.fail(errors.New("stack level too deep"))
	}
	if n > (d.n-d.i)/size {
		d.fail(errShort)
	}
	return d.err == nil
}

func (d *msgpackDecoder) arrayOf(n int) data.Value {
	if !d.enter(n, 1) {
		return data.Value{}
	}
	base := len(d.vals)
	for range n {
		v := d.value()
		if d.err != nil {
			return data.Value{}
		}
		d.count()
		d.vals = append(d.vals, v)
	}
	d.depth--
	return d.list(base)
}

func (d *msgpackDecoder) mapOf(n int) data.Value {
	if !d.enter(n, 2) {
		return data.Value{}
	}
	base := len(d.pairs)
	for range n {
		k := d.value()
		end := d.i
		v := d.value()
		if d.err != nil {
			return data.Value{}
		}
		d.count()
		d.pairs = append(d.pairs, data.Pair{Key: k, Value: v})
		d.marks = append(d.marks, d.markKey(k, end))
	}
	d.depth--
	return d.hash(base)
}

// markKey marks a key that ended at end. Keys that are not strings are rare,
// and share a mark so that they are compared in full.
func (d *msgpackDecoder) markKey(k data.Value, end int) uint64 {
	if k.Kind() != data.String {
		return 0
	}
	return d.mark(end-k.Len(), end)
}

// AppendMsgpack appends v to b as Ruby's msgpack writes it: the shortest form
// of every number and length, floats with 64 bits, strings and symbols as
// strings. Integers beyond 64 bits are an error. Rule FMT-04.
func AppendMsgpack(b []byte, v data.Value) ([]byte, error) {
	w := msgpackWriter{b: b}
	w.value(v)
	return w.b, w.err
}

type msgpackWriter struct {
	b   []byte
	err error
}

func (w *msgpackWriter) value(v data.Value) {
	switch v.Kind() {
	case data.Nil:
		w.b = append(w.b, 0xC0)
	case data.Bool:
		c := byte(0xC2)
		if v.Bool() {
			c = 0xC3
		}
		w.b = append(w.b, c)
	case data.Int:
		w.int(v.Int())
	case data.Big:
		w.big(v.Big())
	case data.Float:
		w.b = binary.BigEndian.AppendUint64(append(w.b, 0xCB), math.Float64bits(v.Float()))
	case data.String, data.Symbol:
		w.string(v.Str())
	case data.List:
		w.head(v.Len(), 0x90, 16, 0, 0xDC)
		for _, x := range v.List() {
			w.value(x)
		}
	case data.Hash:
		w.head(v.Len(), 0x80, 16, 0, 0xDE)
		h := v.Hash()
		for i := range h {
			w.value(h[i].Key)
			w.value(h[i].Value)
		}
	}
}

// head writes a length: in one byte below few, else after the byte for 8 bits
// (if there is one), 16 bits or, one higher, 32 bits.
func (w *msgpackWriter) head(n int, fix byte, few int, c8, c16 byte) {
	switch {
	case n < few:
		w.b = append(w.b, fix|byte(n))
	case n < 1<<8 && c8 != 0:
		w.b = append(w.b, c8, byte(n))
	case n < 1<<16:
		w.b = append(w.b, c16, byte(n>>8), byte(n))
	default:
		w.b = binary.BigEndian.AppendUint32(append(w.b, c16+1), uint32(n))
	}
}

func (w *msgpackWriter) string(s string) {
	w.head(len(s), 0xA0, 32, 0xD9, 0xDA)
	w.b = append(w.b, s...)
}

func (w *msgpackWriter) int(n int64) {
	switch {
	case n >= 0:
		w.uint(uint64(n))
	case n >= -32:
		w.b = append(w.b, byte(n))
	case n >= math.MinInt8:
		w.b = append(w.b, 0xD0, byte(n))
	case n >= math.MinInt16:
		w.b = binary.BigEndian.AppendUint16(append(w.b, 0xD1), uint16(n))
	case n >= math.MinInt32:
		w.b = binary.BigEndian.AppendUint32(append(w.b, 0xD2), uint32(n))
	default:
		w.b = binary.BigEndian.AppendUint64(append(w.b, 0xD3), uint64(n))
	}
}

func (w *msgpackWriter) uint(n uint64) {
	switch {
	case n < 0x80:
		w.b = append(w.b, byte(n))
	case n < 1<<8:
		w.b = append(w.b, 0xCC, byte(n))
	case n < 1<<16:
		w.b = binary.BigEndian.AppendUint16(append(w.b, 0xCD), uint16(n))
	case n < 1<<32:
		w.b = binary.BigEndian.AppendUint32(append(w.b, 0xCE), uint32(n))
	default:
		w.b = binary.BigEndian.AppendUint64(append(w.b, 0xCF), n)
	}
}

func (w *msgpackWriter) big(n *big.Int) {
	if n.IsUint64() {
		w.uint(n.Uint64())
		return
	}
	if w.err != nil {
		return
	}
	w.err = errors.New("bignum too big to convert into `unsigned long long'")
	if n.Sign() < 0 {
		w.err = errors.New("bignum too big to convert into `long long'")
	}
}
