package diff

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestValues(t *testing.T) {
	t.Parallel()
	const secretA, secretB = `"(masked Sensitive, 9 B, tag 77c2)"`, `"(masked Sensitive, 9 B, tag 0a0a)"`
	tests := []struct {
		name, a, b string
		options    Options
		want       string // sign and path of each difference
	}{
		{name: "equal", a: `{"a":1}`, b: `{"a":1}`},
		{name: "changed", a: `{"a":1,"b":2}`, b: `{"a":1,"b":3}`, want: "~.b"},
		{name: "only on one side", a: `{"a":1}`, b: `{"b":1}`, want: "-.a +.b"},
		{name: "order of keys", a: `{"a":1,"b":2}`, b: `{"b":2,"a":1}`},
		{name: "the last of two keys counts", a: `{"a":1,"a":2}`, b: `{"a":2}`},
		{name: "deep", a: `{"a":{"b":{"c":1}}}`, b: `{"a":{"b":{"c":2}}}`, want: "~.a.b.c"},
		{name: "odd keys", a: `{"a.b":{"":1}}`, b: `{"a.b":{"":2}}`, want: `~."a.b".""`},
		{name: "resources by name", a: `[{"type":"A","title":"x","v":1},{"type":"B","title":"y"}]`, b: `[{"type":"B","title":"y"},{"type":"A","title":"x","v":2}]`, want: "~[A[x]].v"},
		{name: "a resource more", a: `{"resources":[{"type":"A","title":"x"}]}`, b: `{"resources":[{"type":"B","title":"y"},{"type":"A","title":"x"}]}`, want: "+.resources[B[y]]"},
		{name: "two of one name are a list", a: `[{"type":"A","title":"x"},{"type":"A","title":"x"}]`, b: `[{"type":"A","title":"x"}]`, want: "-[1]"},
		{name: "edges by their ends", a: `[{"source":"A","target":"B"},{"source":"A","target":"C"}]`, b: `[{"source":"A","target":"C"},{"source":"A","target":"B"}]`},
		{name: "what lists have in common", a: `["a","b","c"]`, b: `["b","c","d"]`, want: "-[0] +[2]"},
		{name: "hashes in a list are compared inside", a: `[1,{"a":1},2]`, b: `[1,{"a":2},2]`, want: "~[1].a"},
		{name: "another kind", a: `{"a":[1]}`, b: `{"a":{"b":1}}`, want: "~.a"},
		{name: "a rule", a: `{"a":1,"b":2}`, b: `{"a":2,"b":3}`, options: Options{Ignore: []string{"a"}}, want: "~.b"},
		{name: "a rule with stars", a: `{"p":{"timestamp":1,"x":{"old_timestamp":1}}}`, b: `{"p":{"timestamp":2,"x":{"old_timestamp":2}}}`, options: Options{Ignore: []string{".p*timestamp"}}},
		{name: "one secret", a: `{"s":` + secretA + `}`, b: `{"s":` + secretA + `}`},
		{name: "two secrets", a: `{"s":` + secretA + `}`, b: `{"s":` + secretB + `}`, want: "~.s"},
		{name: "unknown", a: `{"s":` + secretA + `}`, b: `{"s":` + secretB + `}`, options: Options{Apart: true}, want: "?.s"},
		{name: "masked otherwise", a: `{"s":` + secretA + `}`, b: `{"s":"(masked Sensitive, 8 B, tag 0a0a)"}`, options: Options{Apart: true}, want: "~.s"},
		{name: "nearly masked", a: `{"s":"(masked ) , tag "}`, b: `{"s":"(masked ) , tag x)"}`, options: Options{Apart: true}, want: "~.s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, err := compareJSON([]byte(tt.a), []byte(tt.b), tt.options)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, l := range v.Lines {
				if l.Kind.Differs() && !l.Part {
					got = append(got, string(rune(l.Kind))+l.Path)
				}
			}
			if strings.Join(got, " ") != tt.want || v.Differences+v.Unknown != len(got) || v.Equal() != (strings.Trim(tt.want, "?.s") == "") {
				t.Errorf("got %q and %d differences, want %q", got, v.Differences, tt.want)
			}
		})
	}
}

// What has gone into a longest common sequence is common, grows on both sides,
// and none of what was put in is missed.
func TestMatches(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		a, b := random(r), random(r)
		got := matches(a, b)
		for i, m := range got {
			if a[m[0]] != b[m[1]] || i > 0 && (m[0] <= got[i-1][0] || m[1] <= got[i-1][1]) {
				t.Fatalf("%v and %v: got %v", a, b, got)
			}
		}
		if want := common(a, b); len(got) != want {
			t.Fatalf("%v and %v: got %v, want %d of them", a, b, got, want)
		}
	}
}

func random(r *rand.Rand) []uint64 {
	out := make([]uint64, r.IntN(12))
	for i := range out {
		out[i] = r.Uint64N(4)
	}
	return out
}

// common is the length of a longest common sequence, by the book.
func common(a, b []uint64) int {
	row := make([]int, len(b)+1)
	for i := range a {
		last := slices.Clone(row)
		for j := range b {
			if row[j+1] = max(row[j], last[j+1]); a[i] == b[j] {
				row[j+1] = last[j] + 1
			}
		}
	}
	return row[len(b)]
}

// FuzzJSON: nothing breaks it; a value is equal to itself, and what differs one
// way round differs the other.
func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,2,{"type":"A","title":"b"}]}`), []byte(`{"a":[2,1]}`))
	f.Add([]byte(`["(masked a, 1 B, tag 0)",{"":[]}]`), []byte(`[{"source":"a","target":"b"}]`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		o := Options{Ignore: []string{"x*y", "*.z"}, Apart: true}
		if v, err := compareJSON(a, a, o); err == nil && !v.Equal() {
			t.Fatalf("%q differs from itself", a)
		}
		there, err := compareJSON(a, b, o)
		if err != nil {
			return
		}
		back, err := compareJSON(b, a, o)
		if err != nil || there.Equal() != back.Equal() {
			t.Fatalf("%q and %q: %d and %d differences, %v", a, b, there.Differences, back.Differences, err)
		}
	})
}

// catalog is one with n resources, of which every tenth is another one in an
// other version.
func catalog(n, version int) []byte {
	type hash map[string]any
	var resources, edges []any
	for i := range n {
		content := fmt.Sprintf("content of %d, line after line of it\n", i)
		if i%10 == 0 {
			content += fmt.Sprint(version)
		}
		resources = append(resources, hash{
			"type": "File", "title": fmt.Sprintf("/etc/app/conf.d/%d.conf", i), "exported": false, "file": "/etc/puppet/manifests/site.pp", "line": i,
			"tags":       []string{"file", "node", "class", "profile::app", fmt.Sprintf("app%d", i)},
			"parameters": hash{"ensure": "file", "mode": "0644", "owner": "root", "group": "root", "content": content, "require": []string{"Package[app]", "Package[base]"}},
		})
		edges = append(edges, hash{"source": "Class[Profile::App]", "target": fmt.Sprintf("File[/etc/app/conf.d/%d.conf]", i)})
	}
	if version > 0 {
		slices.Reverse(edges)
		resources = append(resources[:n/2], resources[n/2+5:]...)
	}
	b, err := json.Marshal(hash{"name": "web01", "version": version, "resources": resources, "edges": edges, "classes": []string{"settings", "profile::app"}})
	if err != nil {
		panic(err)
	}
	return b
}

func TestCatalogs(t *testing.T) {
	t.Parallel()
	v, err := compareJSON(catalog(1000, 0), catalog(1000, 1), Options{})
	if err != nil {
		t.Fatal(err)
	}
	// One in ten has other content, the version is another one, and five are gone,
	// one of them of those that would differ.
	if want := 99 + 5 + 1 + 0; v.Differences != want {
		t.Errorf("got %d differences, want %d", v.Differences, want)
	}
}

// BenchmarkCatalogs compares two catalogs of 5000 resources: 200 ms are allowed.
func BenchmarkCatalogs(b *testing.B) {
	one, two := catalog(5000, 0), catalog(5000, 1)
	b.SetBytes(int64(len(one)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := compareJSON(one, two, Options{Ignore: []string{"*.timestamp"}}); err != nil {
			b.Fatal(err)
		}
	}
}
