package value

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

const sample = ` { "name" : "web01", "n": [1, -2.5e3, {"type":"File","title":"/etc/a","x":{}}, []],
	"odd key": {"a.b": "q\"\\"}, "nothing": null, "secret": "(masked Sensitive, 3 B, tag 0)" } `

func sampleRoot(t *testing.T) *node {
	t.Helper()
	root, err := parse([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestTree(t *testing.T) {
	t.Parallel()
	root := sampleRoot(t)
	root.foldAll(true)
	var got []string
	for _, r := range root.rows() {
		got = append(got, strings.Repeat(" ", r.depth)+r.label()+"|"+r.summary()+"|"+r.path())
	}
	want := []string{
		`|{5}|`, ` name|"web01"|.name`, ` n|[4]|.n`, `  [0]|1|.n[0]`, `  [1]|-2.5e3|.n[1]`, `  [2]|File[/etc/a]|.n[2]`,
		`   type|"File"|.n[2].type`, `   title|"/etc/a"|.n[2].title`, `   x|{0}|.n[2].x`, `  [3]|[0]|.n[3]`,
		` odd key|{1}|."odd key"`, `  a.b|"q\"\\"|."odd key"."a.b"`, ` nothing|null|.nothing`, ` secret|(masked Sensitive, 3 B, tag 0)|.secret`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAtFindsTheNodeOfAByte(t *testing.T) {
	t.Parallel()
	for part, want := range map[string]string{"web01": ".name", "-2.5": ".n[1]", "/etc/a": ".n[2].title", `"title"`: ".n[2].title", "a.b": `."odd key"."a.b"`} {
		root := sampleRoot(t)
		n := root.at(strings.Index(sample, part))
		if n.path() != want {
			t.Errorf("%s: got %q, want %q", part, n.path(), want)
		}
		shown := false
		for _, r := range root.rows() {
			shown = shown || r.node == n
		}
		if !shown {
			t.Errorf("%s: what is above %s was not opened", part, want)
		}
	}
}

// Whatever is JSON has a tree that says the same, and a YAML that reads the
// same.
func FuzzTree(f *testing.F) {
	for _, s := range []string{sample, `[]`, `{}`, `"x"`, `[[[1]],{"a":[{"b":null,"c":[]}]}]`, `{"":"","yes":"no","- a":"b: c","1":"0x1"}`, `["\u0000\ud800", "\n", "#", " "]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		root, err := parse(body)
		if err != nil {
			return
		}
		root.foldAll(true)
		for _, r := range root.rows() {
			_, _, _ = r.label(), r.summary(), r.text()
			if !json.Valid(r.body[r.from:r.to]) {
				t.Fatalf("%s is no JSON: %q", r.path(), r.body[r.from:r.to])
			}
		}
		for i := range body {
			root.at(i)
		}
	})
}

func TestYAMLSaysTheSame(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		want := randomValue(r, 4)
		body, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		root, err := parse(body)
		if err != nil {
			t.Fatal(err)
		}
		if !root.folds() {
			continue
		}
		text := appendYAML(nil, root, 0, 1<<20)
		var got any
		if err := yaml.Unmarshal(text, &got); err != nil {
			t.Fatalf("%v\n%s\n%s", err, body, text)
		}
		again, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if string(again) != string(body) {
			t.Fatalf("got %s\nwant %s\nYAML:\n%s", again, body, text)
		}
	}
}

var words = []string{"", "a", "yes", "null", "~", "1", "-1.5", "0x10", "a: b", "- x", "#", "a #b", "x:", " lead", "trail ", "'", `"`, "é", "日本", "a\nb", "\t", "{", "[x]", "*a", "&b", "!c", "%", "@", "`", "=", "<<", "2001-01-01", "1_000", ".inf"}

func randomValue(r *rand.Rand, depth int) any {
	switch n := r.IntN(8); {
	case depth > 0 && n < 3:
		m := map[string]any{}
		for range r.IntN(4) {
			m[words[r.IntN(len(words))]] = randomValue(r, depth-1)
		}
		return m
	case depth > 0 && n < 5:
		l := []any{}
		for range r.IntN(4) {
			l = append(l, randomValue(r, depth-1))
		}
		return l
	case n == 5:
		return r.IntN(3) == 0
	case n == 6:
		return r.IntN(1000)
	}
	return words[r.IntN(len(words))]
}

func TestDiff(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, a, b string
		want       []string // sign, path
	}{
		{"equal", `{"a":1}`, `{"a":1}`, nil},
		{"changed", `{"a":1,"b":2}`, `{"a":1,"b":3}`, []string{"~.b"}},
		{"only left and right", `{"a":1}`, `{"b":1}`, []string{"-.a", "+.b"}},
		{"order of keys", `{"a":1,"b":2}`, `{"b":2,"a":1}`, nil},
		{"deep", `{"a":{"b":{"c":1}}}`, `{"a":{"b":{"c":2}}}`, []string{"~.a.b.c"}},
		{"resources by name", `[{"type":"A","title":"x","v":1},{"type":"B","title":"y"}]`, `[{"type":"B","title":"y"},{"type":"A","title":"x","v":2}]`, []string{"~[A[x]].v"}},
		{"lists by what they have in common", `["a","b","c"]`, `["b","c","d"]`, []string{"-[0]", "+[2]"}},
		{"another kind", `{"a":[1]}`, `{"a":{"b":1}}`, []string{"~.a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, err := parse([]byte(tt.a))
			if err != nil {
				t.Fatal(err)
			}
			b, err := parse([]byte(tt.b))
			if err != nil {
				t.Fatal(err)
			}
			d := differ{}
			differs := d.compare("", "", a, b, 0)
			var got []string
			for _, c := range d.out {
				if c.differs() {
					got = append(got, string(rune(c.sign))+c.path)
				}
			}
			if !reflect.DeepEqual(got, tt.want) || differs != (len(tt.want) > 0) {
				t.Errorf("got %q (%t), want %q", got, differs, tt.want)
			}
		})
	}
}
