package authconf

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a file.
const (
	maxFile  = 1 << 20 // bytes
	maxDepth = 32      // of nested maps and lists, and of parts of a key
	maxKeys  = 1000    // of one map
)

// A ParseError is the first error in a file.
type ParseError struct {
	File   string
	Line   int // from 1
	Detail string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Detail)
}

// A kind is the type of a value.
type kind uint8

const (
	null kind = iota
	text
	number
	boolean
	list
	object
)

func (k kind) String() string {
	return [...]string{"null", "text", "a number", "true or false", "a list", "a map"}[k]
}

// A value is a value of a file, with its first line.
type value struct {
	kind  kind
	line  int
	text  string // of text, number and boolean, as written
	items []value
	pairs []pair // in the order of the first occurrence of their keys
}

type pair struct {
	key   string
	line  int
	value value
}

// get returns the value of a key, or nil.
func (v *value) get(key string) *value {
	for i := range v.pairs {
		if v.pairs[i].key == key {
			return &v.pairs[i].value
		}
	}
	return nil
}

// set sets a key. Two maps are merged, all else is replaced.
func (v *value) set(key string, line int, to value) {
	old := v.get(key)
	switch {
	case old == nil && len(v.pairs) >= maxKeys:
		panic(&ParseError{Line: line, Detail: fmt.Sprintf("a map has more than %d keys", maxKeys)})
	case old == nil:
		v.pairs = append(v.pairs, pair{key, line, to})
	case old.kind == object && to.kind == object:
		for _, p := range to.pairs {
			old.set(p.key, p.line, p.value)
		}
	default:
		*old = to
	}
}

// A reader reads HOCON, the format of Puppet Server's configuration: JSON with
// comments, unquoted keys and texts, keys with dots, = for :, new lines for
// commas. What refers outside of the file, include and ${…}, is refused.
type reader struct {
	file  string
	src   string
	at    int
	line  int
	depth int
}

// parseHOCON reads a file, a map with or without braces.
func parseHOCON(file, src string) (v value, err error) {
	r := &reader{file: file, src: src, line: 1}
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case *ParseError:
			failed.File = file
			v, err = value{}, failed
		default:
			panic(failed)
		}
	}()
	if len(src) > maxFile {
		r.fail("the file is larger than %d bytes", maxFile)
	}
	if !utf8.ValidString(src) {
		r.fail("the file is not UTF-8")
	}
	r.src = strings.TrimPrefix(r.src, "\ufeff")
	r.skip()
	if r.peek() == '{' {
		v = r.object()
		r.skip()
	} else {
		v = value{kind: object, line: r.line}
		r.members(&v, 0)
	}
	if r.at < len(r.src) {
		r.fail("%s after the end of the map", r.here())
	}
	return v, nil
}

// fail ends the reading with an error.
func (r *reader) fail(format string, args ...any) {
	panic(&ParseError{File: r.file, Line: r.line, Detail: fmt.Sprintf(format, args...)})
}

// here quotes the text at the current position.
func (r *reader) here() string {
	if r.at >= len(r.src) {
		return "the end of the file"
	}
	rest := r.src[r.at:]
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	if runes := []rune(rest); len(runes) > 20 {
		rest = string(runes[:20]) + "…"
	}
	return strconv.Quote(rest)
}

func (r *reader) peek() byte {
	if r.at < len(r.src) {
		return r.src[r.at]
	}
	return 0
}

func (r *reader) has(prefix string) bool { return strings.HasPrefix(r.src[r.at:], prefix) }

// blanks skips white space and comments of the line, and reports whether there
// was any.
func (r *reader) blanks() bool {
	start := r.at
	for r.at < len(r.src) {
		if r.has("//") || r.peek() == '#' {
			end := strings.IndexByte(r.src[r.at:], '\n')
			if end < 0 {
				end = len(r.src) - r.at
			}
			r.at += end
			continue
		}
		c, n := utf8.DecodeRuneInString(r.src[r.at:])
		if c == '\n' || !isBlank(c) {
			break
		}
		r.at += n
	}
	return r.at > start
}

func isBlank(c rune) bool { return unicode.IsSpace(c) || c == '\ufeff' || '\x1c' <= c && c <= '\x1f' }

// skip skips white space, comments and ends of lines, and reports whether a
// line ended.
func (r *reader) skip() bool {
	ended := false
	for {
		r.blanks()
		if r.peek() != '\n' {
			return ended
		}
		r.at++
		r.line++
		ended = true
	}
}

func (r *reader) enter() {
	if r.depth++; r.depth > maxDepth {
		r.fail("more than %d levels within each other", maxDepth)
	}
}

func (r *reader) object() value {
	r.enter()
	defer func() { r.depth-- }()
	v := value{kind: object, line: r.line}
	begin := r.line
	r.at++
	r.members(&v, '}')
	if r.peek() != '}' {
		r.fail("the map that begins on line %d has no end: want }, got %s", begin, r.here())
	}
	r.at++
	return v
}

// members reads the pairs of a map up to end, or to the end of the file if it
// is 0.
func (r *reader) members(v *value, end byte) {
	r.skip()
	for r.at < len(r.src) && r.peek() != end {
		r.member(v)
		if !r.between(end, "a pair") {
			return
		}
	}
}

// between skips what separates two elements: a comma, or an end of line. It
// reports whether another element may follow.
func (r *reader) between(end byte, what string) bool {
	ended := r.skip()
	if r.peek() == ',' && r.at < len(r.src) {
		r.at++
		r.skip()
		if r.peek() == ',' {
			r.fail("two commas without %s between them", what)
		}
		return true
	}
	if r.at < len(r.src) && r.peek() != end && !ended {
		r.fail("want a comma or a new line after %s, got %s", what, r.here())
	}
	return ended
}

func (r *reader) member(v *value) {
	line := r.line
	path := r.key()
	r.skip()
	var to value
	add := false
	switch {
	case r.peek() == '{':
		to = r.value()
	case r.has("+="):
		r.at += 2
		add = true
		r.skip()
		to = r.value()
	case r.peek() == '=' || r.peek() == ':':
		r.at++
		r.skip()
		to = r.value()
	default:
		r.fail("want = or : or { after the key %q, got %s", strings.Join(path, "."), r.here())
	}
	for _, key := range path[:len(path)-1] {
		inner := v.get(key)
		if inner == nil || inner.kind != object {
			v.set(key, line, value{kind: object, line: line})
			inner = v.get(key)
		}
		v = inner
	}
	last := path[len(path)-1]
	if add {
		old := v.get(last)
		switch {
		case old == nil:
			to = value{kind: list, line: line, items: []value{to}}
		case old.kind == list:
			to = value{kind: list, line: old.line, items: append(old.items, to)}
		default:
			r.fail("+= to %q, which is %s", last, old.kind)
		}
	}
	v.set(last, line, to)
}

// key reads a key: a.b.c is three, "a.b" is one.
func (r *reader) key() []string {
	var path []string
	var part strings.Builder
	quoted, blank := false, ""
	next := func() {
		if part.Len() == 0 && !quoted {
			r.fail("a key has an empty part before %s", r.here())
		}
		path = append(path, part.String())
		if len(path) > maxDepth {
			r.fail("a key has more than %d parts", maxDepth)
		}
		part.Reset()
		quoted, blank = false, ""
	}
	if r.has("include") && len(r.src) > r.at+7 && !isPlain(r.src[r.at+7:]) && strings.ContainsAny(r.src[r.at+7:r.at+8], " \t\"(") {
		r.fail("include is not read here: write all rules into this file")
	}
	for r.at < len(r.src) {
		switch c := r.peek(); {
		case c == '"':
			part.WriteString(blank)
			part.WriteString(r.quoted())
			quoted, blank = true, ""
		case c == '.':
			r.at++
			next()
		case c == ' ' || c == '\t':
			start := r.at
			r.blanks()
			if part.Len() > 0 {
				blank = r.src[start:r.at]
			}
		case isPlain(r.src[r.at:]):
			_, n := utf8.DecodeRuneInString(r.src[r.at:])
			part.WriteString(blank)
			part.WriteString(r.src[r.at : r.at+n])
			r.at += n
			blank = ""
		default:
			next()
			return path
		}
	}
	next()
	return path
}

// isPlain reports whether s begins an unquoted text.
func isPlain(s string) bool {
	c, _ := utf8.DecodeRuneInString(s)
	return s != "" && !isBlank(c) && !strings.ContainsRune("$\"{}[]:=,+#`^?!@*&\\", c) && !strings.HasPrefix(s, "//")
}

// value reads a value up to the end of the line. Adjacent ones are joined if
// texts, merged if maps, appended if lists.
func (r *reader) value() value {
	v, blank, first := value{line: r.line}, "", true
	plain := false // whether v is a single unquoted text
	var joined strings.Builder
	for {
		var next value
		unquoted := false
		switch c := r.peek(); {
		case r.at >= len(r.src):
			next.line = 0
		case c == '{':
			next = r.object()
		case c == '[':
			next = r.list()
		case c == '"':
			line := r.line
			next = value{kind: text, text: r.quoted(), line: line}
		case c == '$':
			r.fail("%s: references are not read here: write the value itself; text with $ needs quotes", r.here())
		case isPlain(r.src[r.at:]):
			next, unquoted = value{kind: text, text: r.plain(), line: r.line}, true
		}
		if next.line == 0 {
			break
		}
		switch {
		case first:
			v, plain = next, unquoted
			joined.WriteString(next.text)
		case v.kind == object && next.kind == object:
			for _, p := range next.pairs {
				v.set(p.key, p.line, p.value)
			}
		case v.kind == list && next.kind == list:
			v.items = append(v.items, next.items...)
		case v.kind == text && next.kind == text:
			joined.WriteString(blank)
			joined.WriteString(next.text)
			plain = false
		default:
			r.fail("%s is followed by %s: want a comma or a new line between them", v.kind, next.kind)
		}
		first = false
		start := r.at
		r.blanks()
		blank = r.src[start:r.at]
	}
	if first {
		r.fail("want a value, got %s; text with special characters needs quotes", r.here())
	}
	v.text = joined.String()
	if plain {
		v.settle()
	}
	return v
}

// settle determines the kind of an unquoted text.
func (v *value) settle() {
	switch v.text {
	case "true", "false":
		v.kind = boolean
	case "null":
		v.kind = null
	default:
		if f, err := strconv.ParseFloat(v.text, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) && strings.Trim(v.text, "+-.0123456789eE") == "" {
			v.kind = number
		}
	}
}

func (r *reader) plain() string {
	start := r.at
	for isPlain(r.src[r.at:]) {
		_, n := utf8.DecodeRuneInString(r.src[r.at:])
		r.at += n
	}
	return r.src[start:r.at]
}

func (r *reader) list() value {
	r.enter()
	defer func() { r.depth-- }()
	v := value{kind: list, line: r.line}
	begin := r.line
	r.at++
	r.skip()
	for r.at < len(r.src) && r.peek() != ']' {
		v.items = append(v.items, r.value())
		if !r.between(']', "an element") {
			break
		}
	}
	if r.peek() != ']' {
		r.fail("the list that begins on line %d has no end: want ], got %s", begin, r.here())
	}
	r.at++
	return v
}

// quoted reads "…" with the escapes of JSON, or """…""" without any.
func (r *reader) quoted() string {
	begin := r.line
	if r.has(`"""`) {
		r.at += 3
		end := strings.Index(r.src[r.at:], `"""`)
		if end < 0 {
			r.fail(`the text that begins on line %d has no end: want """`, begin)
		}
		for strings.HasPrefix(r.src[r.at+end+1:], `"""`) { // extra quotes belong to the text
			end++
		}
		s := r.src[r.at : r.at+end]
		r.at += end + 3
		r.line += strings.Count(s, "\n")
		return s
	}
	start := r.at
	r.at++
	for r.at < len(r.src) {
		switch r.peek() {
		case '"':
			r.at++
			return r.unescape(r.src[start+1 : r.at-1])
		case '\\':
			r.at++
		case '\n':
			r.fail("a text in quotes goes over the end of its line")
		}
		r.at++
	}
	r.at = len(r.src)
	r.fail("the text that begins on line %d has no end: want \"", begin)
	return ""
}

func (r *reader) unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case '"', '\\', '/':
			b.WriteByte(s[i])
		case 'b', 'f', 'n', 'r', 't':
			b.WriteByte("\b\f\n\r\t"[strings.IndexByte("bfnrt", s[i])])
		case 'u':
			n, err := strconv.ParseUint(s[i+1:min(i+5, len(s))], 16, 16)
			if err != nil || i+5 > len(s) {
				r.fail(`\u in a text in quotes needs four hexadecimal digits`)
			}
			b.WriteRune(rune(n)) // half a surrogate pair becomes U+FFFD, which matches no name
			i += 4
		default:
			c, _ := utf8.DecodeRuneInString(s[i:])
			r.fail(`\%c is no escape; a backslash in quotes is written \\`, c)
		}
	}
	return b.String()
}
