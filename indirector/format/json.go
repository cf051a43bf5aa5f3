package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"indirtui/indirector/data"
)

// DecodeJSON reads one JSON document the way Ruby's json does: comments are
// blanks; an unknown escape stands for its character; of equal keys the last
// value counts; integers have any size and floats may overflow to infinity;
// bytes need not be UTF-8. NaN, a byte order mark, anything after the document
// and nesting deeper than 100 are errors. Rule FMT-02.
//
// The value shares one private copy of b.
func DecodeJSON(b []byte, l Limits) (data.Value, error) {
	if err := l.check(b); err != nil {
		return data.Value{}, err
	}
	d := jsonDecoder{builder: newBuilder(b, l), source: b, n: len(b), maxDepth: l.depth(jsonDepth)}
	defer d.free()
	d.guess = bytes.Count(b, []byte{':'})
	v, i := d.value(d.blank(0))
	if d.err == nil {
		if i = d.blank(i); i < d.n {
			d.unexpected(i)
		}
	}
	if d.err != nil {
		return data.Value{}, d.err
	}
	return v, nil
}

// A jsonDecoder reads text[:n]. The padding behind it is zero bytes, which no
// rule accepts, so that a look ahead needs no check. Methods take a position
// and return the next; the first error stays in err, and everything after it
// is worthless.
type jsonDecoder struct {
	*builder
	source          []byte // for messages; text has resolved escapes
	n               int
	depth, maxDepth int
}

// unexpected fails at position i.
func (d *jsonDecoder) unexpected(i int) {
	if d.err != nil {
		return
	}
	i = min(i, d.n)
	line := 1 + bytes.Count(d.source[:i], []byte{'\n'})
	column := i - bytes.LastIndexByte(d.source[:i], '\n')
	if i == d.n {
		d.fail(fmt.Errorf("unexpected end at line %d column %d", line, column))
		return
	}
	rest := d.source[i:min(d.n, i+40)]
	d.fail(fmt.Errorf("unexpected token at '%s' at line %d column %d", rest, line, column))
}

// blank skips blanks and comments.
func (d *jsonDecoder) blank(i int) int {
	for {
		switch c := d.text[i]; {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			i++
		case c == '/':
			n := comment(d.text[i:d.n])
			if n == 0 {
				d.unexpected(i)
				return i
			}
			i += n
		default:
			return i
		}
	}
}

// comment returns the length of the comment at the start of b; zero if it is
// none, or does not end.
func comment(b []byte) int {
	end := -1
	switch {
	case bytes.HasPrefix(b, []byte("//")):
		end = bytes.IndexByte(b, '\n') + 1
	case bytes.HasPrefix(b, []byte("/*")):
		if end = bytes.Index(b[2:], []byte("*/")); end >= 0 {
			end += 4
		}
	}
	return max(end, 0)
}

func (d *jsonDecoder) value(i int) (data.Value, int) {
	switch c := d.text[i]; c {
	case '"':
		j, end := d.string(i + 1)
		return d.str(i+1, j), end
	case '{':
		return d.object(i + 1)
	case '[':
		return d.array(i + 1)
	case 't':
		if binary.LittleEndian.Uint32(d.text[i:]) == 'e'<<24|'u'<<16|'r'<<8|'t' {
			return data.OfBool(true), i + 4
		}
	case 'f':
		if binary.LittleEndian.Uint32(d.text[i+1:]) == 'e'<<24|'s'<<16|'l'<<8|'a' {
			return data.OfBool(false), i + 5
		}
	case 'n':
		if binary.LittleEndian.Uint32(d.text[i:]) == 'l'<<24|'l'<<16|'u'<<8|'n' {
			return data.Value{}, i + 4
		}
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return d.number(i)
	}
	d.unexpected(i)
	return data.Value{}, i
}

func (d *jsonDecoder) enter() bool {
	if d.depth++; d.depth > d.maxDepth {
		d.fail(tooDeep(d.depth))
		return false
	}
	return true
}

func (d *jsonDecoder) array(i int) (data.Value, int) {
	if !d.enter() {
		return data.Value{}, i
	}
	base := len(d.vals)
	if i = d.blank(i); d.text[i] == ']' {
		d.depth--
		return data.OfList(nil), i + 1
	}
	for {
		var v data.Value
		v, i = d.value(i)
		if d.err != nil {
			return data.Value{}, i
		}
		d.count()
		d.vals = append(d.vals, v)
		if i = d.blank(i); d.text[i] == ',' {
			i = d.blank(i + 1)
			continue
		}
		if d.text[i] != ']' {
			d.unexpected(i)
			return data.Value{}, i
		}
		d.depth--
		return d.list(base), i + 1
	}
}

func (d *jsonDecoder) object(i int) (data.Value, int) {
	if !d.enter() {
		return data.Value{}, i
	}
	base := len(d.pairs)
	if i = d.blank(i); d.text[i] == '}' {
		d.depth--
		return data.OfHash(nil), i + 1
	}
	for {
		if d.text[i] != '"' {
			d.unexpected(i)
			return data.Value{}, i
		}
		start := i + 1
		end, next := d.string(start)
		if i = next; d.text[i] != ':' {
			if i = d.blank(i); d.text[i] != ':' {
				d.unexpected(i)
				return data.Value{}, i
			}
		}
		if i++; d.text[i] <= ' ' || d.text[i] == '/' {
			i = d.blank(i)
		}
		var v data.Value
		if d.text[i] == '"' { // as of most: it saves a call
			at := i + 1
			end, next := d.string(at)
			v, i = d.str(at, end), next
		} else {
			v, i = d.value(i)
		}
		if d.err != nil {
			return data.Value{}, i
		}
		d.count()
		d.pairs = append(d.pairs, data.Pair{Key: d.str(start, end), Value: v})
		d.marks = append(d.marks, d.mark(start, end))
		if d.text[i] == ',' && d.text[i+1] == '"' { // compact, as it nearly always is
			i++
			continue
		}
		if i = d.blank(i); d.text[i] == ',' {
			i = d.blank(i + 1)
			continue
		}
		if d.text[i] != '}' {
			d.unexpected(i)
			return data.Value{}, i
		}
		d.depth--
		return d.hash(base), i + 1
	}
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special returns a word whose lowest set bit is in the first byte of x that is
// a quote, a backslash or a control character; zero if there is none. A byte
// with its second bit turned is below 33 if it is a quote or a control
// character: one subtraction finds both.
func special(x uint64) uint64 {
	q := x ^ 2*ones
	s := x ^ '\\'*ones
	return ((q - 0x21*ones) | (s - ones)) &^ x & highs
}

// plainRun returns the number of bytes at the start of b that are neither a
// quote, nor a backslash, nor a control character. It looks at eight at a time.
func plainRun(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		if found := special(binary.LittleEndian.Uint64(b[i:])); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(b) && b[i] >= 0x20 && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// string reads the string whose first byte after the quote is at i. It returns
// the end of its text, which begins at i, and the position after the closing
// quote. Escapes are resolved in place: their text is never longer, and the
// copy is ours.
func (d *jsonDecoder) string(i int) (end, next int) {
	start, text := i, d.text
	found := special(binary.LittleEndian.Uint64(text[i:]))
	for found == 0 { // the padding ends it: zero is a control character
		i += 8
		found = special(binary.LittleEndian.Uint64(text[i:]))
	}
	if i += bits.TrailingZeros64(found) / 8; text[i] == '"' {
		return i, i + 1
	}
	return d.escaped(start, i)
}

// escaped is string for one with escapes, the first of them at i. Like Ruby it
// first finds the end and then resolves the escapes, since a broken surrogate
// pair may swallow the backslash that protects a quote.
func (d *jsonDecoder) escaped(start, i int) (end, next int) {
	last, ok := d.closing(i)
	if !ok {
		return start, i
	}
	return d.resolve(start, i, last), last + 1
}

// closing returns the position of the quote that closes the string around i.
func (d *jsonDecoder) closing(i int) (int, bool) {
	for d.text[i] != '"' {
		switch {
		case d.text[i] != '\\' || d.text[i+1] < 0x20: // a control character, or the end
			d.unexpected(i)
			return i, false
		case d.text[i+1] != 'u':
			i += 2
		default:
			if _, ok := hex4(d.text[i+2:]); !ok {
				d.unexpected(i)
				return i, false
			}
			i += 6
		}
		i += plainRun(d.text[i:])
	}
	return i, true
}

var escapes = [256]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// resolve resolves the escapes of text[start:end], the first of them at i, and
// returns the new end.
func (d *jsonDecoder) resolve(start, i, end int) int {
	w := i       // where the next byte goes
	run := start // where the bytes without an escape began
	for i < end {
		if d.text[i] != '\\' {
			d.text[w] = d.text[i]
			w, i = w+1, i+1
			continue
		}
		c := d.text[i+1]
		if c == 'u' {
			w, i = d.unicode(w, i, run, end)
			if d.err != nil {
				return w
			}
		} else {
			if e := escapes[c]; e != 0 {
				c = e
			}
			d.text[w] = c
			w, i = w+1, i+2
		}
		run = i
		n := plainRun(d.text[i:max(i, end)])
		copy(d.text[w:], d.text[i:i+n])
		w, i = w+n, i+n
	}
	return w
}

// unicode resolves \uXXXX. A high surrogate takes the next escape as its
// partner whatever it is, stands as a question mark in place of the next byte
// when that begins no such escape, and is an error near the end of the string.
func (d *jsonDecoder) unicode(w, i, run, end int) (int, int) {
	if end-i < 6 {
		d.fail(fmt.Errorf("incomplete unicode character escape sequence at '%s'", d.source[run:]))
		return w, i
	}
	r := unescape(d.text[i+2:])
	next := i + 6
	if r&0xFC00 != 0xD800 {
		return len(appendRune(d.text[:w], r)), next
	}
	if end-next < 6 {
		d.fail(fmt.Errorf("521: incomplete surrogate pair at '%s'", d.source[run:]))
		return w, i
	}
	if d.text[next] != '\\' || d.text[next+1] != 'u' {
		d.text[w] = '?'
		return w + 1, next + 1
	}
	r = (r&0x3F)<<10 | (r>>6&0xF+1)<<16 | unescape(d.text[next+2:])&0x3FF
	return len(appendRune(d.text[:w], r)), next + 6
}

// unescape returns the character of four digits.
func unescape(b []byte) rune {
	if r, ok := hex4(b); ok {
		return r
	}
	return utf8.RuneError
}

func hex4(b []byte) (r rune, ok bool) {
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// appendRune is utf8.AppendRune that writes lone surrogates, as Ruby does.
func appendRune(b []byte, r rune) []byte {
	if r >= 0xD800 && r < 0xE000 {
		return append(b, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
	}
	return utf8.AppendRune(b, r)
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// number reads a number. Those below 19 digits are read on the way.
func (d *jsonDecoder) number(start int) (data.Value, int) {
	i := start
	if d.text[i] == '-' {
		i++
	}
	first := i
	n := uint64(0)
	for isDigit(d.text[i]) {
		n = n*10 + uint64(d.text[i]-'0')
		i++
	}
	if i == first || d.text[first] == '0' && i > first+1 {
		d.unexpected(start)
		return data.Value{}, i
	}
	switch d.text[i] {
	case '.', 'e', 'E':
		return d.float(start, i)
	}
	if i-first > 18 {
		v, err := bigInt(d.text[start:i])
		d.failIf(err)
		return v, i
	}
	if first > start {
		return data.OfInt(-int64(n)), i
	}
	return data.OfInt(int64(n)), i
}

func (d *jsonDecoder) float(start, i int) (data.Value, int) {
	if d.text[i] == '.' {
		if i++; !isDigit(d.text[i]) {
			d.unexpected(start)
			return data.Value{}, i
		}
		for isDigit(d.text[i]) {
			i++
		}
	}
	if d.text[i]|0x20 == 'e' {
		if i++; d.text[i] == '+' || d.text[i] == '-' {
			i++
		}
		if !isDigit(d.text[i]) {
			d.unexpected(start)
			return data.Value{}, i
		}
		for isDigit(d.text[i]) {
			i++
		}
	}
	return parseFloat(d.text[start:i]), i
}

// parseFloat reads a float that is in order; one too large is infinite.
func parseFloat(b []byte) data.Value {
	f, _ := strconv.ParseFloat(unsafe.String(unsafe.SliceData(b), len(b)), 64)
	return data.OfFloat(f)
}

// maxDigits bounds integers, since reading one takes quadratic time.
const maxDigits = 100_000

func bigInt(b []byte) (data.Value, error) {
	if len(b) > maxDigits {
		return data.Value{}, fmt.Errorf("an integer of %d digits is longer than the limit of %d", len(b), maxDigits)
	}
	n, ok := new(big.Int).SetString(string(b), 10)
	if !ok {
		return data.Value{}, errors.New("malformed integer")
	}
	return data.OfBig(n), nil
}
