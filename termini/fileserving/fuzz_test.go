package fileserving

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
)

// FuzzConfiguration reads any text as fileserver.conf: what it makes of it has
// proper names, and a path that is there or has placeholders.
func FuzzConfiguration(f *testing.F) {
	for _, s := range []string{
		"# comment\n\n[site]\n  path /tmp # here\n  allow *\n", "[a]\npath /nonexistent\n[b]\npath /%h/%%\ndeny x\n", "path /tmp\n",
		"[m]\npath = /tmp\n", "[m]\n[m]\n", "x [m]\r\npath\t/tmp\r\n", "\xff", "[modules]\npath /tmp", "[m]\nallow\n", "[m]\npath  #x\n", "",
	} {
		f.Add(s)
	}
	log := slog.New(slog.DiscardHandler)
	f.Fuzz(func(t *testing.T, text string) {
		mounts, err := parse("fileserver.conf", []byte(text), log)
		if err != nil {
			if indirector.Message(err) == "" {
				t.Errorf("%q: an error without words", text)
			}
			return
		}
		for name, m := range mounts {
			if name != m.name || !isMountName(name) || strings.Contains(name, "\n") {
				t.Errorf("%q: a mount called %q, %q", text, name, m.name)
			}
			if m.path == "" != isBuilt(name) {
				t.Errorf("%q: mount %s has the path %q", text, name, m.path)
			}
			expand(m.path, map[byte]string{'h': "a", 'H': "a.b", 'd': "b"})
		}
	})
}

type none struct{}

func (none) Get(string) (value, source string) { return "", "" }

func timeZero() time.Time { return time.Time{} }

// FuzzKey splits any key: what is accepted stays below the mount.
func FuzzKey(f *testing.F) {
	for _, s := range []string{"modules/m/f", "m/../x", "m//a///b", "", "/", "m/.", "m/a/..", "m\n/x", "modules/\x00"} {
		f.Add(s)
	}
	c := newConfiguration(indirector.Env{Settings: none{}, Now: timeZero, Log: slog.New(slog.DiscardHandler)})
	f.Fuzz(func(t *testing.T, key string) {
		_, path, _, err := c.split(key)
		if err != nil {
			return
		}
		if full := filepath.Join("/srv/mount", path); full != "/srv/mount" && !strings.HasPrefix(full, "/srv/mount/") {
			t.Errorf("%q leads to %s", key, full)
		}
	})
}

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
		got := fnmatch(pattern, name)
		if strings.ContainsAny(pattern, `[\`) {
			return
		}
		want := slow(pattern, name) && !(strings.HasPrefix(name, ".") && !strings.HasPrefix(pattern, "."))
		if got != want {
			t.Errorf("fnmatch(%q, %q) = %v", pattern, name, got)
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
