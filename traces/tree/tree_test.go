package tree

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

func sampleRoot(t *testing.T) *Node {
	t.Helper()
	root, err := Parse([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestTree(t *testing.T) {
	t.Parallel()
	root := sampleRoot(t)
	root.FoldAll(true)
	var got []string
	for _, r := range root.Rows() {
		got = append(got, strings.Repeat(" ", r.Depth)+r.Label()+"|"+r.Summary()+"|"+r.Path())
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
		n := root.At(strings.Index(sample, part))
		if n.Path() != want {
			t.Errorf("%s: got %q, want %q", part, n.Path(), want)
		}
		shown := false
		for _, r := range root.Rows() {
			shown = shown || r.Node == n
		}
		if !shown {
			t.Errorf("%s: what is above %s was not opened", part, want)
		}
	}
}

// All JSON has an equal tree and an equal YAML.
func FuzzTree(f *testing.F) {
	for _, s := range []string{sample, `[]`, `{}`, `"x"`, `[[[1]],{"a":[{"b":null,"c":[]}]}]`, `{"":"","yes":"no","- a":"b: c","1":"0x1"}`, `["\u0000\ud800", "\n", "#", " "]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		root, err := Parse(body)
		if err != nil {
			return
		}
		root.FoldAll(true)
		for _, r := range root.Rows() {
			_, _, _ = r.Label(), r.Summary(), r.Text()
			if !json.Valid(r.Body[r.From:r.To]) {
				t.Fatalf("%s is no JSON: %q", r.Path(), r.Body[r.From:r.To])
			}
		}
		for i := range body {
			root.At(i)
		}
	})
}

func TestYAMLReadsTheSame(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		want := randomValue(r, 4)
		body, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		root, err := Parse(body)
		if err != nil {
			t.Fatal(err)
		}
		if !root.Folds() {
			continue
		}
		text := AppendYAML(nil, root, 0, 1<<20)
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

// A list without anything below it ends at the limit, too.
func TestYAMLEnds(t *testing.T) {
	t.Parallel()
	root, err := Parse([]byte("[" + strings.Repeat("1,", 1000) + "1]"))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(AppendYAML(nil, root, 0, 100)); got > 110 {
		t.Errorf("got %d bytes, want about 100", got)
	}
}
