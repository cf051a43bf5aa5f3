package store

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"indirtui/traces"
)

// wantText writes s as appendText does, one character at a time.
func wantText(s []byte) []byte {
	b := []byte{'"'}
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		switch short := bytes.IndexByte([]byte("\"\\\n\t\r"), s[0]); {
		case short >= 0:
			b = append(b, '\\', "\"\\ntr"[short])
		case traces.Shows(r):
			b = append(b, s[:n]...)
		default:
			b = traces.AppendEscape(b, r)
		}
		s = s[n:]
	}
	return append(b, '"')
}

// TestTextsOfEveryByte puts each byte, and characters of every length, at each
// place of texts that are shorter, as long and longer than what is looked at in
// one go.
func TestTextsOfEveryByte(t *testing.T) {
	t.Parallel()
	odd := []string{"\u00e9", "\u00ad", "\u2028", "\u20ac", "\U0001f600", "\ufffd", "\xe2\x82", "\"\"", "\u00e9\"", "\\\n\\"}
	for c := range 256 {
		odd = append(odd, string([]byte{byte(c)}))
	}
	for _, o := range odd {
		for n := range 20 {
			for i := range n + 1 {
				text := append(append(bytes.Repeat([]byte{'a'}, i), o...), bytes.Repeat([]byte{'~'}, n-i)...)
				want := wantText(text)
				if got := appendText(nil, text); !bytes.Equal(got, want) {
					t.Fatalf("appendText(%q): got %s, want %s", text, got, want)
				}
				if got := appendLong(nil, text); !bytes.Equal(got, want) {
					t.Fatalf("appendLong(%q): got %s, want %s", text, got, want)
				}
			}
		}
	}
}
