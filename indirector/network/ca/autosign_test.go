package ca

import (
	"slices"
	"strings"
	"testing"
)

// FuzzAutosign reads any list of names: the line that matches is one of the
// list, and signs by itself, too; invalid lines sign nothing.
func FuzzAutosign(f *testing.F) {
	for _, list := range []string{"web01.example.com\n", "# all\n*.example.com\r\n\n*", "a b\n*\n", "*com", "*.", ".", "web01.example.com # x"} {
		f.Add(list, "web01.example.com")
		f.Add(list, "")
	}
	f.Fuzz(func(t *testing.T, list, name string) {
		line, bad := matchingLine([]byte(list), name)
		lines := strings.Split(list, "\n")
		for _, s := range bad {
			if n, _ := matchingLine([]byte(s), name); n != 0 || !slices.Contains(lines, s) && !slices.Contains(lines, s+"\r") {
				t.Errorf("%q of %q is invalid, and matches in line %d", s, list, n)
			}
		}
		if line == 0 {
			return
		}
		if line > len(lines) {
			t.Fatalf("%q: line %d of %d", list, line, len(lines))
		}
		s := strings.TrimSuffix(lines[line-1], "\r")
		if n, _ := matchingLine([]byte(s), name); n != 1 || s != name && !strings.HasPrefix(s, "*") {
			t.Errorf("%q: line %d, %q, matches %q in the list, and by itself in line %d", list, line, s, name, n)
		}
	})
}
