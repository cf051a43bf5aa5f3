// Package fnmatch matches names of files with patterns as Ruby does, for levels of hiera,
// the ignore of fileserving and searches of flatfile.
package fnmatch

import (
	"strings"
	"unicode/utf8"
)

// Match reports whether name matches pattern, as Ruby's File.fnmatch without
// flags: * ? [set] and \, where only a dot matches a leading dot. It takes at
// most len(pattern) * len(name) steps.
func Match(pattern, name string) bool {
	if name != "" && name[0] == '.' && !strings.HasPrefix(unescape(pattern), ".") {
		return false
	}
	p, s := pattern, name
	starP, starS, star := "", "", false
	for {
		if p != "" && p[0] == '*' {
			for p != "" && p[0] == '*' {
				p = p[1:]
			}
			if p == "" {
				return true
			}
			starP, starS, star = p, s, true
			continue
		}
		if s == "" {
			return unescape(p) == ""
		}
		if rest, n, ok := single(p, s); ok {
			p, s = rest, s[n:]
			continue
		}
		if !star || starS == "" {
			return false
		}
		_, n := character(starS)
		starS = starS[n:]
		p, s = starP, starS
	}
}

// unescape returns p without a backslash at its beginning. One at the end of a
// pattern stands for nothing.
func unescape(p string) string { return strings.TrimPrefix(p, `\`) }

// character returns the first character; a byte that is none stands for
// itself.
func character(s string) (rune, int) {
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 {
		r = utf8.MaxRune + 1 + rune(s[0])
	}
	return r, n
}

// single matches one character of s with the beginning of p. It returns the
// rest of p, and the length of the character.
func single(p, s string) (rest string, n int, ok bool) {
	c, n := character(s)
	switch {
	case strings.HasPrefix(p, "?"):
		return p[1:], n, true
	case strings.HasPrefix(p, "["):
		rest, ok = set(p[1:], c)
		return rest, n, ok
	}
	if p = unescape(p); p == "" {
		return "", 0, false
	}
	d, m := character(p)
	return p[m:], n, c == d
}

// set matches a character with what follows a bracket. A set without an end
// matches nothing.
func set(p string, c rune) (rest string, ok bool) {
	not := p != "" && (p[0] == '!' || p[0] == '^')
	if not {
		p = p[1:]
	}
	found := false
	for p != "" {
		if p[0] == ']' {
			return p[1:], found != not
		}
		if p = unescape(p); p == "" {
			break
		}
		low, n := character(p)
		p = p[n:]
		high := low
		if len(p) > 1 && p[0] == '-' && p[1] != ']' {
			if p = unescape(p[1:]); p == "" {
				break
			}
			high, n = character(p)
			p = p[n:]
		}
		found = found || low <= c && c <= high || c == low || c == high
	}
	return "", false
}
