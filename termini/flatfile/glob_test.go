package flatfile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"indirtui/indirector/host/fnmatch"
)

// TestGlob compares with Ruby's Dir.glob in a directory of these files. Rule
// TERM-FILE-12.
func TestGlob(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"!", ".hidden", "A", "[", "a", "a b", "a-b", "ab", "abc", "a}b", "b", "x,y", "{a", "é", "日本"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f := files{dir: dir}
	everything := []string{"!", "A", "[", "a", "a b", "a-b", "ab", "abc", "a}b", "b", "x,y", "{a", "é", "日本"}
	for pattern, want := range map[string][]string{
		"*": everything, "**": everything,
		"a*": {"a", "a b", "a-b", "ab", "abc", "a}b"}, "*b*": {"a b", "a-b", "ab", "abc", "a}b", "b"}, "*c": {"abc"}, "a*c": {"abc"},
		"?": {"!", "A", "[", "a", "b", "é"}, "??": {"ab", "{a", "日本"}, "?本": {"日本"},
		"{a,b}": {"a", "b"}, "{b,a}": {"b", "a"}, "{a,b}*": {"a", "a b", "a-b", "ab", "abc", "a}b", "b"}, "{a,{b,ab}}": {"a", "b", "ab"},
		"{a}": {"a"}, "{,a}b": {"b", "ab"}, "{x,y}": nil, "{}": nil, "{a": nil, "a}b": {"a}b"},
		"[ab]": {"a", "b"}, "[!a]": {"!", "A", "[", "b", "é"}, "[^a]": {"!", "A", "[", "b", "é"}, "[a-c]": {"a", "b"}, "[a-b]?": {"ab"},
		"[a-]b": {"ab"}, "[": nil, "[a": nil, "[]": nil, "a[]b": nil, "[!]": {"!", "A", "[", "a", "b", "é"}, "[日]*": {"日本"},
		"x,y": {"x,y"}, "é": {"é"}, "nobody": nil, ".h*": {".hidden"}, "]": nil,
	} {
		got, err := f.glob(pattern)
		for i := range got {
			got[i] = strings.TrimPrefix(got[i], dir+"/")
		}
		if pattern == "{}" { // the directory itself
			got = slices.DeleteFunc(got, func(s string) bool { return s == "" })
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v; want %q", pattern, got, err, want)
		}
	}
}

// Braces that would expand to far too many patterns end at a limit.
func TestBracesEnd(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"", "{"} {
		if got := len(fnmatch.Braces(strings.Repeat("{a,b}", 60) + end)); got > fnmatch.MaxBraces {
			t.Errorf("got %d patterns, want %d at most", got, fnmatch.MaxBraces)
		}
	}
	if got := fnmatch.Braces(strings.Repeat("{", 10_000)); got != nil {
		t.Errorf("got %d patterns of open braces", len(got))
	}
}

func FuzzGlob(f *testing.F) {
	for _, s := range []string{"*", "{a,b}[!x-z]?", "[", "{{},", "\xff*", "*?*?*"} {
		f.Add(s, "name")
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		for _, p := range fnmatch.Braces(pattern) {
			if fnmatch.Match(p, name) && strings.HasPrefix(name, ".") && !strings.HasPrefix(strings.TrimPrefix(p, `\`), ".") {
				t.Errorf("%q matches the hidden %q", p, name)
			}
		}
		if !strings.ContainsAny(name, `*?[{}\`) && !fnmatch.Match(name, name) {
			t.Errorf("%q does not match itself", name)
		}
	})
}

// TestExpiration looks for the expiration at the end of a file, and in all of
// it when it is elsewhere.
func TestExpiration(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("v", 2*tail)
	for content, want := range map[string]string{
		`{"name":"n","values":{"a":1},"expiration":"2021-01-01T00:00:00.000000000Z"}`:    "2021-01-01T00:00:00Z",
		`{"name":"n","values":{"a":"` + long + `"},"expiration":"2021-01-01T00:00:00Z"}`: "2021-01-01T00:00:00Z",
		`{"expiration":"2021-01-01T00:00:00Z","name":"n","values":{"a":"` + long + `"}}`: "2021-01-01T00:00:00Z",
		`{"name":"n","values":{"a":1}}`:                                                                         "",
		`{"name":"n","values":{"expiration":"2021-01-01T00:00:00Z"}}`:                                           "",
		`{"name":"n","values":{"a":{"b":1,"expiration":"2021-01-01T00:00:00Z"}}}`:                               "",
		"--- !ruby/object:Puppet::Node::Facts\nname: n\nvalues:\n  a: 1\nexpiration: '2021-01-01T00:00:00Z'\n":  "2021-01-01T00:00:00Z",
		"--- !ruby/object:Puppet::Node::Facts\nexpiration: '2021-01-01T00:00:00Z'\nname: n\nvalues:\n  a: 1\n":  "2021-01-01T00:00:00Z",
		"--- !ruby/object:Puppet::Node::Facts\nname: n\nvalues:\n  expiration: '2021-01-01T00:00:00Z'\n":        "",
		"--- !ruby/object:Puppet::Node::Facts\nname: n\nexpiration: 2012-01-01 00:30:00.5 +00:00\nvalues: {}\n": "2012-01-01T00:30:00.5Z",
		"": "",
	} {
		name := "f.json"
		if !strings.HasPrefix(content, "{") {
			name = "f.yaml"
		}
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		at, err := expiration(path, int64(len(content)))
		got := ""
		if !at.IsZero() {
			got = at.UTC().Format("2006-01-02T15:04:05.999Z07:00")
		}
		if got != want || err != nil {
			t.Errorf("got %q, %v; want %q of\n%.200s", got, err, want, content)
		}
	}
}
