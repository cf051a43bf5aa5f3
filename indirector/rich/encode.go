package rich

import (
	"fmt"
	"strconv"
	"strings"
)

// An EncodedURI is what Puppet passes to Ruby's parser: path, query and fragment are
// escaped.
type EncodedURI struct {
	Scheme    string // with its colon
	Authority string // with its slashes
	Path      string
	Query     string // with its question mark, or the escaped sign of the fragment
}

// String is the whole.
func (e *EncodedURI) String() string { return e.Scheme + e.Authority + e.Path + e.Query }

// Opaque reports whether something that is no path follows the scheme.
func (e *EncodedURI) Opaque() bool {
	return e.Scheme != "" && e.Authority == "" && e.Path != "" && e.Path[0] != '/'
}

// EncodeURI takes a text apart, up to the end of the line in which its fragment begins.
func EncodeURI(text string) *EncodedURI {
	e := new(EncodedURI)
	rest := text
	if i := strings.IndexAny(rest, ":/?#"); i > 0 && rest[i] == ':' {
		e.Scheme, rest = rest[:i+1], rest[i+1:]
	}
	if strings.HasPrefix(rest, "//") {
		end := 2 + len(until(rest[2:], "/?#"))
		e.Authority, rest = rest[:end], rest[end:]
	}
	path := until(rest, "?#")
	e.Path, rest = escape(path, "-_.!~*'();/?:@&=+$,[]"), rest[len(path):]
	if after, ok := strings.CutPrefix(rest, "?"); ok {
		query := until(after, "#")
		rest = after[len(query):]
		var pairs []string
		for pair := range strings.SplitSeq(strings.TrimRight(query, "&"), "&") {
			var parts []string
			for part := range strings.SplitSeq(strings.TrimRight(pair, "="), "=") {
				parts = append(parts, escape(part, "-_.~"))
			}
			pairs = append(pairs, strings.Join(parts, "="))
		}
		e.Query = "?" + strings.Join(pairs, "&")
	}
	if fragment, ok := strings.CutPrefix(rest, "#"); ok {
		fragment = "%23" + escape(until(fragment, "\n"), "-_.~")
		switch {
		case e.Query != "":
			e.Query += fragment
		case e.Path != "":
			e.Path += fragment
		default:
			e.Authority += fragment
		}
	}
	return e
}

// until returns s up to the first of the signs.
func until(s, signs string) string {
	if i := strings.IndexAny(s, signs); i >= 0 {
		return s[:i]
	}
	return s
}

// escape percent-encodes all but letters, digits and the signs that stay.
func escape(s, stay string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || strings.IndexByte(stay, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// UnescapeURI replaces percent sequences by their bytes.
func UnescapeURI(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b []byte
	for i := 0; i < len(s); i++ {
		if n, err := strconv.ParseUint(s[i+1:min(len(s), i+3)], 16, 8); s[i] == '%' && err == nil {
			b = append(b, byte(n))
			i += 2
		} else {
			b = append(b, s[i])
		}
	}
	return string(b)
}
