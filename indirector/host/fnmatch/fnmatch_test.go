package fnmatch

import (
	"strings"
	"testing"
)

// FuzzFnmatch holds patterns without sets against a slow and simple matcher.
func FuzzFnmatch(f *testing.F) {
	for _, s := range [][2]string{
		{"*.txt", "a.txt"},
		{"*", ".hidden"},
		{".*", ".hidden"},
		{"a?c", "aéc"},
		{"[a-c]x", "bx"},
		{"[!a]", "b"},
		{`\*`, "*"},
		{"**a*", "banana"},
		{"[", "["},
		{"[a", "a"},
		{"[]", "]"},
		{`[\]]`, "]"},
		{"", ""},
		{`\`, `\`},
		{"*a*a*a*a*a*a*a*b", strings.Repeat("a", 60)},
		{"\xff?", "\xff\xfe"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern) > 30 || len(name) > 30 {
			return
		}
		got := Match(pattern, name)
		if strings.ContainsAny(pattern, `[\`) {
			return
		}
		want := slow(pattern, name) && !(strings.HasPrefix(name, ".") && !strings.HasPrefix(pattern, "."))
		if got != want {
			t.Errorf("Match(%q, %q) = %v", pattern, name, got)
		}
	})
}

func slow(p, s string) bool {
	switch {
	case p == "":
		return s == ""
	case p[0] == '*':
		for strings.HasPrefix(p, "**") {
			p = p[1:]
		}
		for i := 0; i <= len(s); {
			if slow(p[1:], s[i:]) {
				return true
			}
			if i == len(s) {
				break
			}
			_, n := character(s[i:])
			i += n
		}
		return false
	case s == "":
		return false
	}
	c, n := character(s)
	d, m := character(p)
	return (p[0] == '?' && m == 1 || c == d) && slow(p[m:], s[n:])
}
