package rtype_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/golden"
	"indirtui/indirector/language/rtype"
)

// A described is a type as testdata/types.rb prints it.
type described struct {
	Keys       []string             `json:"keys"`
	Titles     []rtype.TitlePattern `json:"titles"`
	Properties []string             `json:"properties"`
	Parameters []string             `json:"parameters"`
	Many       bool                 `json:"many"`
	Error      string               `json:"error"`
}

// describe is what we know of a type, in that form.
func describe(t *rtype.Type) described {
	d := described{Keys: append([]string{}, t.Keys...), Titles: t.Titles, Many: t.Many, Properties: []string{}, Parameters: []string{}}
	for _, a := range t.Attributes {
		if a.Kind == rtype.Property {
			d.Properties = append(d.Properties, a.Name)
		} else {
			d.Parameters = append(d.Parameters, a.Name)
		}
	}
	return d
}

// text is a type in one line, with what was not understood.
func text(t *rtype.Type) string {
	d := describe(t)
	parts := []string{strings.Join(d.Properties, " "), strings.Join(d.Parameters, " "), "keys " + strings.Join(d.Keys, " ")}
	if d.Many {
		parts = append(parts, "many")
	}
	if t.Open {
		parts = append(parts, "open")
	}
	if !slices.Equal(d.Keys, []string{"name"}) || len(t.Titles) != 1 || t.Titles[0].String() != "/(.*)/m name" {
		var titles []string
		for _, p := range t.Titles {
			titles = append(titles, p.String())
		}
		parts = append(parts, "titles "+strings.Join(titles, ", "))
	}
	for _, n := range t.Notes {
		parts = append(parts, fmt.Sprintf("%d: %s", n.Line, n.Text))
	}
	return strings.Join(parts, "; ")
}

// The table of built-in types is what was recorded from real Puppet. Rule
// LANG-RT-01.
func TestGoldenTypes(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(golden.Path(t, "lang", "types.json"))
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		Metaparameters json.RawMessage
		Types          map[string]struct {
			Isomorphic bool
			Keys       []string `json:"key_attributes"`
			Titles     []struct {
				Pattern struct {
					Source  string
					Options int
				}
				Attributes []string
				Procs      bool
			} `json:"title_patterns"`
			Attributes json.RawMessage
		}
	}
	if err := json.Unmarshal(b, &recorded); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(keysOf(t, recorded.Metaparameters), rtype.Metaparameters()); diff != "" {
		t.Errorf("metaparameters (-want +got):\n%s", diff)
	}
	builtin := rtype.BuiltIn()
	for name, r := range recorded.Types {
		want := described{Keys: r.Keys, Many: !r.Isomorphic, Properties: []string{}, Parameters: []string{}}
		for _, p := range r.Titles {
			want.Titles = append(want.Titles, rtype.TitlePattern{Pattern: p.Pattern.Source, Options: p.Pattern.Options, Attributes: p.Attributes, Converted: p.Procs})
		}
		var kinds map[string]struct{ Kind string }
		if err := json.Unmarshal(r.Attributes, &kinds); err != nil {
			t.Fatal(err)
		}
		for _, a := range keysOf(t, r.Attributes) {
			if kinds[a].Kind == "property" {
				want.Properties = append(want.Properties, a)
			} else {
				want.Parameters = append(want.Parameters, a)
			}
		}
		if builtin[name] == nil {
			t.Errorf("there is no %s", name)
			continue
		}
		if diff := cmp.Diff(want, describe(builtin[name])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		delete(builtin, name)
	}
	if len(builtin) > 0 {
		t.Errorf("%d types are not in the recording", len(builtin))
	}
}

// keysOf returns the keys of a JSON object in their order.
func keysOf(t *testing.T, object json.RawMessage) []string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(object)))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key.(string))
	}
	return keys
}

// Every resource type of the recorded catalogs is read, and all of it.
func TestGoldenTypeFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(golden.Path(t, "lang", "modules"), "*/modules/*/lib/puppet/type/*.rb"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".rb")
		if got := rtype.Ruby(name, file, string(b)); len(got.Notes) > 0 || got.Open || len(got.Attributes) == 0 {
			t.Errorf("%s: %s", file, text(got))
		}
	}
}
