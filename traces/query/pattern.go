package query

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A pattern is a text with stars. It ignores case unless it was written with a
// capital letter.
type pattern struct {
	parts []string // between the stars, at least one; in lower case if fold
	fold  bool
}

func newPattern(text string) pattern {
	fold := strings.IndexFunc(text, unicode.IsUpper) < 0
	if fold {
		text = strings.ToLower(text)
	}
	return pattern{strings.Split(text, "*"), fold}
}

// match reports whether all of s fits.
func (p pattern) match(s string) bool {
	n, ok := p.prefix(s, p.parts[0])
	if !ok {
		return false
	}
	s = s[n:]
	last := len(p.parts) - 1
	if last == 0 {
		return s == ""
	}
	for _, part := range p.parts[1:last] {
		i, n := p.index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+n:]
	}
	return p.suffix(s, p.parts[last])
}

// prefix returns how many bytes of s part takes at its beginning.
func (p pattern) prefix(s, part string) (int, bool) {
	if !p.fold {
		return len(part), strings.HasPrefix(s, part)
	}
	i := 0
	for j := 0; j < len(part); {
		if i == len(s) {
			return 0, false
		}
		if part[j] < utf8.RuneSelf && s[i] < utf8.RuneSelf {
			if lower(s[i]) != part[j] {
				return 0, false
			}
			i, j = i+1, j+1
			continue
		}
		a, n := utf8.DecodeRuneInString(s[i:])
		b, m := utf8.DecodeRuneInString(part[j:])
		if unicode.ToLower(a) != b {
			return 0, false
		}
		i, j = i+n, j+m
	}
	return i, true
}

// index returns where part is in s and how many bytes it takes there, or -1.
func (p pattern) index(s, part string) (at, n int) {
	if !p.fold {
		return strings.Index(s, part), len(part)
	}
	for i := 0; i <= len(s); i++ {
		if n, ok := p.prefix(s[i:], part); ok {
			return i, n
		}
	}
	return -1, 0
}

func (p pattern) suffix(s, part string) bool {
	if !p.fold {
		return strings.HasSuffix(s, part)
	}
	// A letter and its lower case may differ in length, by two bytes at most.
	for i := max(0, len(s)-3*len(part)); i <= len(s); i++ {
		if n, ok := p.prefix(s[i:], part); ok && i+n == len(s) {
			return true
		}
	}
	return false
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
