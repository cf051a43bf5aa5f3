package flatfile

import (
	"strings"
	"unicode/utf8"
)

// maxBraces bounds what a pattern such as {a,b}{a,b}{a,b} can grow to.
const maxBraces = 1024

// braces returns the patterns that {a,b} stands for, in Ruby's order. A brace
// that is not closed stands for nothing.
func braces(pattern string) []string {
	var all []string
	budget := maxBraces
	expand(pattern, &all, &budget)
	return all
}

func expand(pattern string, all *[]string, budget *int) {
	open, end, depth := -1, -1, 0
	for i := 0; i < len(pattern) && end < 0; i++ {
		switch pattern[i] {
		case '{':
			if depth == 0 {
				open = i
			}
			depth++
		case '}':
			if depth--; depth == 0 {
				end = i
			}
			depth = max(depth, 0)
		}
	}
	if open < 0 {
		*all = append(*all, pattern)
		*budget--
		return
	}
	if *budget--; end < 0 {
		return
	}
	for _, choice := range commas(pattern[open+1 : end]) {
		if *budget <= 0 {
			return
		}
		expand(pattern[:open]+choice+pattern[end+1:], all, budget)
	}
}

// commas splits at those commas that are not within braces.
func commas(s string) []string {
	var parts []string
	depth, start := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			depth--
		case ',':
			if depth == 0 {
				parts, start = append(parts, s[start:i]), i+1
			}
		}
	}
	return append(parts, s[start:])
}

// fnmatch reports whether name matches a pattern of *, ? and [sets]. A leading
// dot is matched by nothing but a dot.
func fnmatch(pattern, name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(pattern, ".") {
		return false
	}
	star, from := -1, 0 // of the last star, and the end of its match
	p, n := 0, 0
	for n < len(name) {
		if p < len(pattern) && pattern[p] == '*' {
			star, from = p, n
			p++
			continue
		}
		if next, width, ok := matchOne(pattern, p, name[n:]); ok {
			p, n = next, n+width
			continue
		}
		if star < 0 {
			return false
		}
		_, width := utf8.DecodeRuneInString(name[from:])
		from += width
		p, n = star+1, from
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// matchOne matches one character of s. It returns where the pattern goes on
// and how long the character is.
func matchOne(pattern string, p int, s string) (next, width int, ok bool) {
	if p == len(pattern) {
		return p, 0, false
	}
	c, width := utf8.DecodeRuneInString(s)
	switch pattern[p] {
	case '?':
		return p + 1, width, true
	case '[':
		next, ok := set(pattern[p+1:], c)
		return p + 1 + next, width, ok
	}
	want, size := utf8.DecodeRuneInString(pattern[p:])
	return p + size, width, want == c && pattern[p:p+size] == s[:width]
}

// set reports whether c is of the set at the start of s, and where it ends.
func set(s string, c rune) (end int, ok bool) {
	i := 0
	not := strings.HasPrefix(s, "!") || strings.HasPrefix(s, "^")
	if not {
		i++
	}
	in := false
	for i < len(s) && s[i] != ']' {
		low, size := utf8.DecodeRuneInString(s[i:])
		i += size
		high := low
		if strings.HasPrefix(s[i:], "-") && i+1 < len(s) && s[i+1] != ']' {
			high, size = utf8.DecodeRuneInString(s[i+1:])
			i += 1 + size
		}
		in = in || low <= c && c <= high
	}
	if i == len(s) {
		return i, false // the set has no end
	}
	return i + 1, in != not
}
