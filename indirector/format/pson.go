package format

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"indirtui/indirector/data"
)

// DecodePSON reads one PSON document the way Puppet's own parser does: the top
// level is a list or a hash, nesting ends at 19, and a document that just stops
// after a comma or an opening bracket is taken for complete. An escape with
// bytes above 7F decodes to what Puppet makes of it on a current Ruby, which is
// not the character that was meant. Rule FMT-03.
func DecodePSON(b []byte, l Limits) (data.Value, error) {
	if err := l.check(b); err != nil {
		return data.Value{}, err
	}
	d := psonDecoder{builder: newBuilder(b, l), source: b, maxDepth: l.depth(psonDepth)}
	defer d.free()
	d.guess = bytes.Count(b, []byte{':'})
	v := d.document()
	if d.err != nil {
		return data.Value{}, d.err
	}
	return v, nil
}

// A psonDecoder reads source from i on. The first error stays in err.
type psonDecoder struct {
	*builder
	source          []byte
	i               int
	depth, maxDepth int
}

func (d *psonDecoder) more() bool { return d.err == nil && d.i < len(d.source) }

// scan takes c if it is next.
func (d *psonDecoder) scan(c byte) bool {
	if d.i < len(d.source) && d.source[d.i] == c {
		d.i++
		return true
	}
	return false
}

func (d *psonDecoder) next(c byte) bool { return d.i < len(d.source) && d.source[d.i] == c }

// failAt fails with Puppet's words, which end in the text that follows.
func (d *psonDecoder) failAt(words string) {
	d.fail(errorf(psonNext, words, d.peek()))
}

func (d *psonDecoder) peek() []byte { return d.source[d.i:min(len(d.source), d.i+20)] }

func (d *psonDecoder) document() (v data.Value) {
	found := false
	for d.more() {
		if c := d.source[d.i]; (c == '{' || c == '[') && !found {
			found = true
			v, _ = d.value()
			continue
		} else if c == '{' || c == '[' {
			d.i++ // Puppet fails after it has taken the bracket
		} else if d.blank() {
			continue
		}
		d.fail(errorf(notPSON, d.peek()))
	}
	if !found {
		d.fail(errorf(noPSON))
	}
	return v
}

// A comment may not hold every combination of stars and slashes.
var psonComment = regexp.MustCompile(`^/\*(?:[^*/]|/[^*]|\*[^/])*/?\*/`)

// blank skips blanks and comments and reports whether there were any.
func (d *psonDecoder) blank() bool {
	start := d.i
	for d.i < len(d.source) {
		rest := d.source[d.i:]
		n := 0
		switch c := rest[0]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			n = 1
		case bytes.HasPrefix(rest, []byte("//")):
			n = bytes.IndexAny(rest, "\r\n") + 1
		case bytes.HasPrefix(rest, []byte("/*")):
			n = len(psonComment.Find(rest))
		}
		if n == 0 {
			break
		}
		d.i += n
	}
	return d.i > start
}

// value takes a value and reports whether there was one.
func (d *psonDecoder) value() (data.Value, bool) {
	if d.i >= len(d.source) {
		return data.Value{}, false
	}
	switch c := d.source[d.i]; {
	case c == '"':
		start, end, ok := d.string()
		return d.str(start, end), ok
	case c == '[':
		d.i++
		return d.array(), true
	case c == '{':
		d.i++
		return d.object(), true
	case c == '-' || isDigit(c):
		return d.number()
	case d.word("true"):
		return data.OfBool(true), true
	case d.word("false"):
		return data.OfBool(false), true
	case d.word("null"):
		return data.Value{}, true
	}
	return data.Value{}, false
}

func (d *psonDecoder) word(w string) bool {
	if !bytes.HasPrefix(d.source[d.i:], []byte(w)) {
		return false
	}
	d.i += len(w)
	return true
}

// number takes as much as makes a number: "01" is a zero, and a one behind it.
func (d *psonDecoder) number() (data.Value, bool) {
	b := d.text[d.i:] // padded with zero bytes
	i := 0
	if b[0] == '-' {
		i = 1
	}
	if !isDigit(b[i]) {
		return data.Value{}, false
	}
	if b[i] == '0' {
		i++
	} else {
		i += digits(b[i:])
	}
	if end := i + fraction(b[i:]); end > i {
		d.i += end
		return parseFloat(b[:end]), true
	}
	d.i += i
	v, err := bigInt(b[:i])
	d.failIf(err)
	return v, true
}

func digits(b []byte) int {
	n := 0
	for isDigit(b[n]) {
		n++
	}
	return n
}

// fraction returns the length of the fraction and exponent at the start of b.
func fraction(b []byte) int {
	n := 0
	if b[0] == '.' {
		if n = digits(b[1:]); n == 0 {
			return 0
		}
		n++
	}
	if b[n]|0x20 != 'e' {
		return n
	}
	e := n + 1
	if b[e] == '+' || b[e] == '-' {
		e++
	}
	if k := digits(b[e:]); k > 0 {
		return e + k
	}
	return n
}

func (d *psonDecoder) enter() bool {
	if d.depth++; d.depth > d.maxDepth {
		d.fail(tooDeep(d.depth))
		return false
	}
	return true
}

func (d *psonDecoder) array() data.Value {
	if !d.enter() {
		return data.Value{}
	}
	base := len(d.vals)
	comma := false
loop:
	for d.more() {
		v, ok := d.value()
		switch {
		case d.err != nil:
		case ok:
			d.count()
			d.vals = append(d.vals, v)
			d.blank()
			if comma = d.scan(','); !comma && !d.next(']') {
				d.failAt("expected ',' or ']' in array at")
			}
		case d.scan(']'):
			if comma {
				d.failAt("expected next element in array at")
			}
			break loop
		case !d.blank():
			d.failAt("unexpected token in array at")
		}
	}
	d.depth--
	return d.list(base)
}

func (d *psonDecoder) object() data.Value {
	if !d.enter() {
		return data.Value{}
	}
	base := len(d.pairs)
	comma := false
loop:
	for d.more() {
		start, end, ok := 0, 0, false
		if d.next('"') {
			start, end, ok = d.string()
		}
		switch {
		case d.err != nil:
		case ok:
			comma = d.pair(start, end)
		case d.scan('}'):
			if comma {
				d.failAt("expected next name, value pair in object at")
			}
			break loop
		case !d.blank():
			d.failAt("unexpected token in object at")
		}
	}
	d.depth--
	return d.hash(base)
}

// pair takes what follows a key and reports whether a comma ended it.
func (d *psonDecoder) pair(start, end int) (comma bool) {
	if d.blank(); !d.scan(':') {
		d.failAt("expected ':' in object at")
		return false
	}
	d.blank()
	v, ok := d.value()
	if !ok && d.err == nil {
		d.failAt("expected value in object at")
	}
	if d.err != nil {
		return false
	}
	d.count()
	d.pairs = append(d.pairs, data.Pair{Key: d.str(start, end), Value: v})
	d.marks = append(d.marks, d.mark(start, end))
	if d.blank(); d.scan(',') {
		return true
	}
	if !d.next('}') {
		d.failAt("expected ',' or '}' in object at")
	}
	return false
}

// string takes a string, whose text is then text[start:end]. If there is none
// it takes nothing.
func (d *psonDecoder) string() (start, end int, ok bool) {
	start = d.i + 1
	i := start
	for {
		i += plainRun(d.text[i:])
		if d.text[i] == '"' {
			break
		}
		if d.text[i] != '\\' || d.text[i+1] < 0x20 {
			return 0, 0, false
		}
		i += 2
	}
	d.i = i + 1
	return start, d.unescape(start, i), true
}

// unescape resolves the escapes of text[i:end] in place and returns the new
// end.
func (d *psonDecoder) unescape(i, end int) int {
	k := bytes.IndexByte(d.text[i:end], '\\')
	if k < 0 {
		return end
	}
	var mix mixture
	mix.add("ASCII-8BIT", d.text[i:i+k])
	w := i + k
	for i = w; i < end && d.err == nil; {
		from := w
		kind := "ASCII-8BIT"
		switch c := d.text[i]; {
		case c != '\\':
			d.text[w] = c
			w, i = w+1, i+1
		case d.text[i+1] == 'u':
			kind = "UTF-8"
			w, i = d.unicode(w, i, end)
		default:
			c = d.text[i+1]
			if e := escapes[c]; e != 0 {
				c = e
			}
			d.text[w] = c
			w, i = w+1, i+2
		}
		if mix.add(kind, d.text[from:w]) {
			d.fail(errorf(mixedPSON, mix.kind, kind))
		}
	}
	return w
}

// A mixture detects a string with bytes above 7F both as they are and as
// escapes, which are two encodings to Ruby.
type mixture struct{ kind string }

func (m *mixture) add(kind string, b []byte) (mixed bool) {
	if m.kind == kind {
		return false
	}
	for _, c := range b {
		if c < utf8.RuneSelf {
			continue
		}
		if m.kind != "" {
			return true
		}
		m.kind = kind
		break
	}
	return false
}

// unicode resolves a run of \uXXXX the way Puppet does: each half of an escape
// becomes a character, the UTF-8 bytes of these are read as UTF-16. For escapes
// below 80 in both halves this is right.
func (d *psonDecoder) unicode(w, i, end int) (int, int) {
	var wide []byte
	for i+6 <= end && d.text[i] == '\\' && d.text[i+1] == 'u' {
		r, ok := hex4(d.text[i+2:])
		if !ok {
			break
		}
		wide = utf8.AppendRune(utf8.AppendRune(wide, r>>8), r&0xFF)
		i += 6
	}
	if wide == nil {
		d.fail(errorf(shortEscape))
		return w, i
	}
	if len(wide)%2 != 0 {
		rest := data.InspectString(string(wide[len(wide)-1:]))
		if strings.HasPrefix(rest, `"\u`) { // to Ruby it is a byte, not a letter
			rest = fmt.Sprintf(`"\x%02X"`, wide[len(wide)-1])
		}
		d.fail(errorf(halfPSON, rest))
		return w, i
	}
	for k := 0; k < len(wide); k += 2 {
		w = len(utf8.AppendRune(d.text[:w], rune(wide[k])<<8|rune(wide[k+1])))
	}
	return w, i
}
