package format

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"indirtui/indirector/data"
)

// AppendJSON appends v to b as Ruby's json writes it: compact, in UTF-8, with
// escapes only for quotes, backslashes and control characters. Keys and symbols
// become strings. Not a number, infinity, bytes that are not UTF-8 and nesting
// deeper than 100 are errors. Rule FMT-02.
func AppendJSON(b []byte, v data.Value) ([]byte, error) {
	w := jsonWriter{b: b, maxDepth: jsonDepth}
	w.value(v)
	if w.err == nil && !utf8.Valid(w.b[len(b):]) {
		w.err = malformedIn(v)
	}
	return w.b, w.err
}

// AppendPSON appends v to b as PSON: like JSON, but bytes are written as they
// are, numbers as they print, and to any depth. Rule FMT-03.
func AppendPSON(b []byte, v data.Value) ([]byte, error) {
	w := jsonWriter{b: b, maxDepth: math.MaxInt, raw: true}
	w.value(v)
	return w.b, w.err
}

// A jsonWriter appends to b. The first error stays in err.
type jsonWriter struct {
	b               []byte
	err             error
	depth, maxDepth int
	raw             bool // PSON
}

func (w *jsonWriter) value(v data.Value) {
	switch v.Kind() {
	case data.Nil:
		w.b = append(w.b, "null"...)
	case data.Bool:
		w.b = strconv.AppendBool(w.b, v.Bool())
	case data.Int:
		w.b = strconv.AppendInt(w.b, v.Int(), 10)
	case data.Big:
		w.b = v.Big().Append(w.b, 10)
	case data.Float:
		w.float(v.Float())
	case data.String, data.Symbol:
		w.string(v.Str())
	case data.List:
		w.list(v.List())
	case data.Hash:
		w.hash(v.Hash())
	}
}

func (w *jsonWriter) enter() {
	if w.depth++; w.depth > w.maxDepth && w.err == nil {
		w.err = tooDeep(w.maxDepth) // Ruby counts back before it raises
	}
}

func (w *jsonWriter) list(l []data.Value) {
	if w.enter(); w.err != nil {
		return
	}
	w.b = append(w.b, '[')
	for i := range l {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.value(l[i])
	}
	w.b = append(w.b, ']')
	w.depth--
}

func (w *jsonWriter) hash(h []data.Pair) {
	if w.enter(); w.err != nil {
		return
	}
	w.b = append(w.b, '{')
	for i := range h {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		p := &h[i]
		if s, ok := p.Key.AsStr(); ok {
			w.string(s)
		} else {
			w.string(p.Key.Text())
		}
		w.b = append(w.b, ':')
		if s, ok := p.Value.AsStr(); ok { // most are: it saves a call
			w.string(s)
		} else {
			w.value(p.Value)
		}
	}
	w.b = append(w.b, '}')
	w.depth--
}

func (w *jsonWriter) float(f float64) {
	if !w.raw && (math.IsNaN(f) || math.IsInf(f, 0)) && w.err == nil {
		w.err = fmt.Errorf("%s not allowed in JSON", data.FormatFloat(f))
	}
	w.b = appendFloat(w.b, f)
}

// appendFloat is data.FormatFloat without garbage for the usual floats.
func appendFloat(b []byte, f float64) []byte {
	if a := math.Abs(f); a < 1e-4 || a >= 1e15 || math.IsNaN(f) {
		return append(b, data.FormatFloat(f)...)
	}
	n := len(b)
	b = strconv.AppendFloat(b, f, 'f', -1, 64)
	if bytes.IndexByte(b[n:], '.') < 0 {
		b = append(b, ".0"...)
	}
	return b
}

const hexDigits = "0123456789abcdef"

// escapeOf is the letter after the backslash; u for \u00XX.
var escapeOf = func() (t [256]byte) {
	for c := range 0x20 {
		t[c] = 'u'
	}
	for c, e := range map[byte]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'} {
		t[c] = e
	}
	return t
}()

// string is a look at eight bytes at a time and one copy for nearly all. Runs
// between escapes took twice as long.
func (w *jsonWriter) string(s string) {
	if text := unsafe.Slice(unsafe.StringData(s), len(s)); !plain(text) {
		w.b = append(appendEscaped(append(w.b, '"'), text), '"')
		return
	}
	i, end := len(w.b), len(w.b)+len(s)+1
	b := slices.Grow(w.b, len(s)+2)[:end+1]
	b[i], b[end] = '"', '"'
	copy(b[i+1:end], s)
	w.b = b
}

// plain reports whether b has neither a quote, nor a backslash, nor a control
// character. The last eight bytes overlap those before them.
func plain(b []byte) bool {
	n := len(b)
	switch {
	case n >= 8:
		for i := 0; i < n-8; i += 8 {
			if special(binary.LittleEndian.Uint64(b[i:])) != 0 {
				return false
			}
		}
		return special(binary.LittleEndian.Uint64(b[n-8:])) == 0
	case n >= 4:
		return special(uint64(binary.LittleEndian.Uint32(b))|uint64(binary.LittleEndian.Uint32(b[n-4:]))<<32) == 0
	case n > 0:
		return special(uint64(b[0])|uint64(b[n/2])<<8|uint64(b[n-1])<<16|0x2020202020000000) == 0
	}
	return true
}

func appendEscaped(b, text []byte) []byte {
	for start := 0; ; {
		n := plainRun(text[start:])
		b = append(b, text[start:start+n]...)
		if start += n; start == len(text) {
			return b
		}
		c := text[start]
		e := escapeOf[c]
		b = append(b, '\\', e)
		if e == 'u' {
			b = append(b, '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		start++
	}
}

// malformedIn returns the error for the first string in v that is not UTF-8.
func malformedIn(v data.Value) error {
	switch v.Kind() {
	case data.String, data.Symbol:
		if !utf8.ValidString(v.Str()) {
			return malformed(v.Str())
		}
	case data.List:
		for _, x := range v.List() {
			if err := malformedIn(x); err != nil {
				return err
			}
		}
	case data.Hash:
		for _, p := range v.Hash() {
			if err := cmp.Or(malformedIn(p.Key), malformedIn(p.Value)); err != nil {
				return err
			}
		}
	}
	return nil
}

// malformed returns Ruby's error for bytes that are not UTF-8.
func malformed(s string) error {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r != utf8.RuneError || n > 1 {
			i += n
			continue
		}
		if i+trailing(s[i]) >= len(s) {
			break
		}
		return errors.New("source sequence is illegal/malformed utf-8")
	}
	return errors.New("partial character in source, but hit end")
}

// trailing returns the number of bytes that a first byte announces.
func trailing(c byte) int {
	switch {
	case c >= 0xFC:
		return 5
	case c >= 0xF8:
		return 4
	case c >= 0xF0:
		return 3
	case c >= 0xE0:
		return 2
	case c >= 0xC0:
		return 1
	}
	return 0
}
