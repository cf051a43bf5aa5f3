package format

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"indirtui/indirector/data"
)

// AppendJSON appends v to b as Ruby's json writes it: compact, in UTF-8, with
// escapes only for quotes, backslashes and control characters. Keys and symbols
// become strings. Not a number, infinity, bytes that are not UTF-8 and nesting
// deeper than 100 are errors. Rule FMT-02.
func AppendJSON(b []byte, v data.Value) ([]byte, error) {
	w := jsonWriter{b: b, maxDepth: jsonDepth}
	w.value(v)
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
		w.err = tooDeep(w.maxDepth) // Ruby counts back before it says so
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
		if k := p.Key.Kind(); k == data.String || k == data.Symbol {
			w.string(p.Key.Str())
		} else {
			w.string(p.Key.Text())
		}
		w.b = append(w.b, ':')
		w.value(p.Value)
	}
	w.b = append(w.b, '}')
	w.depth--
}

func (w *jsonWriter) float(f float64) {
	if !w.raw && (math.IsNaN(f) || math.IsInf(f, 0)) && w.err == nil {
		w.err = fmt.Errorf("%s not allowed in JSON", data.FormatFloat(f))
	}
	w.b = append(w.b, data.FormatFloat(f)...)
}

const hexDigits = "0123456789abcdef"

// escapeOf is the letter after the backslash; u for \u00XX, zero for none.
var escapeOf = func() (t [256]byte) {
	for c := range 0x20 {
		t[c] = 'u'
	}
	for c, e := range map[byte]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'} {
		t[c] = e
	}
	return t
}()

func (w *jsonWriter) string(s string) {
	b := append(w.b, '"')
	start := 0
	high := byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		high |= c
		e := escapeOf[c]
		if e == 0 {
			continue
		}
		b = append(b, s[start:i]...)
		start = i + 1
		b = append(b, '\\', e)
		if e == 'u' {
			b = append(b, '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	b = append(b, s[start:]...)
	w.b = append(b, '"')
	if high >= utf8.RuneSelf && !w.raw && w.err == nil && !utf8.ValidString(s) {
		w.err = malformed(s)
	}
}

// malformed says what Ruby says of bytes that are not UTF-8.
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

// trailing is how many bytes a first byte announces.
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
