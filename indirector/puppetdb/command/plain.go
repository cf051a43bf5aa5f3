package command

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"indirtui/indirector/data"
	"indirtui/indirector/rich"
)

// plain returns a value in which what is rich is text. It is v itself if there is
// nothing to change, as nearly always. Rule PDB-CAT-03.
func (m *munger) plain(v data.Value) data.Value {
	if isPlain(v) {
		return v
	}
	switch v.Kind() {
	case data.List:
		l := make([]data.Value, v.Len())
		for i, x := range v.List() {
			l[i] = m.plain(x)
		}
		return data.OfList(l)
	case data.Hash:
		return m.plainHash(v)
	}
	return data.OfString(scrub(v.Text()))
}

func isPlain(v data.Value) bool {
	switch v.Kind() {
	case data.String:
		return utf8.ValidString(v.Str())
	case data.Symbol, data.Rich:
		return false
	case data.List:
		return !slices.ContainsFunc(v.List(), func(x data.Value) bool { return !isPlain(x) })
	case data.Hash:
		h := v.Hash()
		for i := range h {
			if k := h[i].Key; k.Kind() != data.String || isReserved(k.Str()) || !isPlain(h[i].Value) {
				return false
			}
		}
	}
	return true
}

func isReserved(key string) bool { return key == "__ptype" || key == "__pvalue" }

// plainHash is plain for hashes: an encoded value becomes text, and so do keys. Of keys that
// are the same text, the last one counts.
func (m *munger) plainHash(v data.Value) data.Value {
	pairs := v.Hash()
	switch name := v.Get("__ptype"); {
	case name.Str() == "Sensitive":
		return data.OfString(m.secret())
	case name.Str() == "Hash":
		pairs = nil
		l := v.Get("__pvalue").List()
		for i := 0; i+1 < len(l); i += 2 {
			pairs = append(pairs, data.Pair{Key: l[i], Value: l[i+1]})
		}
	case !name.IsNil():
		return data.OfString(scrub(rich.Text(v)))
	}
	h := make([]data.Pair, 0, len(pairs))
	at := map[string]int{}
	for _, p := range pairs {
		key := m.plainKey(p.Key)
		i, again := at[key]
		if !again {
			i = len(h)
			at[key] = i
			h = append(h, data.P(key, data.Value{}))
		}
		h[i].Value = m.plain(p.Value)
	}
	return data.OfHash(h)
}

func (m *munger) plainKey(k data.Value) string {
	key := k.Text()
	switch name := k.Get("__ptype"); {
	case name.Str() == "Sensitive":
		key = m.secret()
	case !name.IsNil():
		key = rich.Text(k)
	}
	if isReserved(key) {
		return "reserved key: " + key
	}
	return key
}

// secret returns the text for a Sensitive within another value. Puppet numbers them
// differently every time, so that such a catalog never equals the last one; here
// the numbers are those within the catalog.
func (m *munger) secret() string {
	m.secrets++
	return fmt.Sprintf("#<Sensitive [value redacted]:%d>", m.secrets)
}

// scrub returns a text in which each part that is no character is U+FFFD, as Ruby
// counts parts: a character that is cut off is one.
func scrub(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		for k := min(3, len(s)-i); r == utf8.RuneError && n == 1 && k > 1; k-- {
			if !utf8.FullRuneInString(s[i : i+k]) {
				n = k
			}
		}
		b.WriteRune(r)
		i += n
	}
	return b.String()
}
