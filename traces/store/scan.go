package store

import (
	"encoding/json"
	"math"
	"unicode/utf8"
)

// A scanner reads the line of a request as probes write it: names that are known, no
// blanks. Of anything else it gives up, and encoding/json reads the line, which takes
// five times as long and decides what is wrong. The texts of requests are mostly the
// same few, so that one is kept for all.
type scanner struct {
	b     []byte
	at    int
	odd   bool // something is not as expected: what was read is worth nothing
	texts map[string]string
}

// What is kept of texts.
const (
	maxTexts = 4096
	maxText  = 96 // bytes
)

// scan reads a line into an empty l. It reports false where encoding/json must.
func (s *scanner) scan(b []byte, l *line) bool {
	s.b, s.at, s.odd = b, 0, false
	s.object(func(name string) { s.field(name, l) })
	return !s.odd && s.at == len(b)
}

// is takes a byte if it comes next.
func (s *scanner) is(c byte) bool {
	if s.at < len(s.b) && s.b[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *scanner) must(c byte) { s.odd = !s.is(c) || s.odd }

// object reads an object. Field reads the value of a name.
func (s *scanner) object(field func(name string)) {
	for more := s.open('{', '}'); more; more = s.more('}') {
		name := s.raw()
		s.must(':')
		if !s.odd {
			field(string(name))
		}
	}
}

// array reads an array, element by element.
func (s *scanner) array(element func()) {
	for more := s.open('[', ']'); more; more = s.more(']') {
		element()
	}
}

func (s *scanner) open(first, last byte) bool {
	s.must(first)
	return !s.odd && !s.is(last)
}

func (s *scanner) more(last byte) bool {
	if s.odd || s.is(last) {
		return false
	}
	s.must(',')
	return !s.odd
}

// raw reads a string in which nothing is escaped, and nothing is not ASCII.
func (s *scanner) raw() []byte {
	s.must('"')
	from := s.at
	for ; s.at < len(s.b); s.at++ {
		switch c := s.b[s.at]; {
		case c == '"':
			s.at++
			return s.b[from : s.at-1]
		case c < ' ' || c == '\\' || c >= utf8.RuneSelf:
			s.odd = true
			return nil
		}
	}
	s.odd = true
	return nil
}

// text reads any string.
func (s *scanner) text() string {
	begin := s.at
	b := s.raw()
	if !s.odd {
		return s.keep(b)
	}
	if begin >= len(s.b) || s.b[begin] != '"' {
		return ""
	}
	for s.at = begin + 1; s.at < len(s.b) && s.b[s.at] != '"'; s.at++ {
		if s.b[s.at] == '\\' {
			s.at++
		}
	}
	if s.at >= len(s.b) {
		return ""
	}
	s.at++
	var text string
	s.odd = json.Unmarshal(s.b[begin:s.at], &text) != nil
	return text
}

func (s *scanner) keep(b []byte) string {
	if len(b) > maxText {
		return string(b)
	}
	if text, ok := s.texts[string(b)]; ok {
		return text
	}
	if s.texts == nil || len(s.texts) >= maxTexts {
		s.texts = make(map[string]string)
	}
	text := string(b)
	s.texts[text] = text
	return text
}

// num reads a number without a fraction.
func (s *scanner) num() (n int64) {
	negative := s.is('-')
	from := s.at
	for ; s.at < len(s.b) && s.b[s.at] >= '0' && s.b[s.at] <= '9'; s.at++ {
		digit := int64(s.b[s.at] - '0')
		if n > (math.MaxInt64-digit)/10 {
			s.odd = true
			return 0
		}
		n = 10*n + digit
	}
	if s.at == from || s.b[from] == '0' && s.at > from+1 {
		s.odd = true
	}
	if negative {
		return -n
	}
	return n
}

// id reads a number that is not negative.
func (s *scanner) id() uint64 {
	n := s.num()
	s.odd = s.odd || n < 0
	return uint64(n)
}

func (s *scanner) boolean() bool {
	for _, word := range []string{"true", "false"} {
		if len(s.b)-s.at >= len(word) && string(s.b[s.at:s.at+len(word)]) == word {
			s.at += len(word)
			return word == "true"
		}
	}
	s.odd = true
	return false
}

func (s *scanner) strings(into *[]string) {
	s.odd = s.odd || len(*into) > 0 // it comes twice
	s.array(func() { *into = append(*into, s.text()) })
}

// objects reads an array of objects. Field reads the value of a name into an element.
func objects[T any](s *scanner, into *[]T, field func(name string, e *T)) {
	s.odd = s.odd || len(*into) > 0 // it comes twice
	s.array(func() {
		var e T
		s.object(func(name string) { field(name, &e) })
		*into = append(*into, e)
	})
}
