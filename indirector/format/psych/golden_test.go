package psych_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/format/psych"
	"indirtui/indirector/golden"
)

func goldenFiles(t testing.TB, name string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(golden.Path(t, "formats", "out"), "*", name))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files %s: %v", name, err)
	}
	return files
}

// What Puppet wrote is read and written again with the same bytes.
func TestGoldenRoundTrip(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"wire.yaml", "terminus.yaml"} {
		for _, file := range goldenFiles(t, name) {
			id := filepath.Base(filepath.Dir(file))
			t.Run(id+"/"+name, func(t *testing.T) {
				t.Parallel()
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				doc, err := psych.Decode(want, psych.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				if doc.Empty || doc.Tag == "" {
					t.Errorf("got empty %v, tag %q", doc.Empty, doc.Tag)
				}
				members := map[string]string{}
				for _, f := range doc.Foreign {
					members[f.Path] = f.Class
				}
				got := psych.Append(nil, doc.Value, psych.EncodeOptions{
					Tag: doc.Tag, Members: members,
					QuoteColons: name == "wire.yaml" && doc.Tag == "Puppet::Node::Facts",
				})
				if !bytes.Equal(got, want) {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

// What Puppet wrote as YAML holds the data that it wrote as JSON.
func TestGoldenSameAsJSON(t *testing.T) {
	t.Parallel()
	for _, file := range goldenFiles(t, "wire.yaml") {
		dir := filepath.Dir(file)
		json, err := os.ReadFile(filepath.Join(dir, "wire.json"))
		if err != nil || bytes.IndexByte(json, '{') < 0 {
			continue // this model has no JSON form
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			want := fromJSON(t, json)
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := psych.Decode(text, psych.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if doc.Tag == "Puppet::FileServing::Metadata" || doc.Tag == "Puppet::FileBucket::File" || doc.Tag == "Puppet::Resource" {
				// Ruby writes the variables of these objects, not their data
				// hash; what both have is the same.
				for _, p := range want.Hash() {
					got, ok := doc.Value.Lookup(p.Key.Str())
					if ok && got.Kind() == p.Value.Kind() && got.Kind() == data.String && !data.Equal(got, p.Value) {
						t.Errorf("%v: got %v, want %v", p.Key, got, p.Value)
					}
				}
				return
			}
			if id := doc.Value.Get("catalog_uuid"); !id.IsNil() {
				want = want.With("catalog_uuid", id) // Puppet invents one each time, if it has to
			}
			if !data.Equal(doc.Value, want) {
				t.Errorf("got  %v\nwant %v", doc.Value, want)
			}
		})
	}
}

// A hostile is one damaged or malicious text and Puppet's answer.
type hostile struct {
	ID        string          `json:"id"`
	Model     string          `json:"model"`
	Via       string          `json:"via"`
	Base64    []byte          `json:"base64"`
	Value     json.RawMessage `json:"value"`
	Error     string          `json:"error"`
	RubyError bool            `json:"ruby_error"`
}

// formatClasses are those that Puppet permits over the wire.
var formatClasses = []string{"Puppet::Node::Facts", "Puppet::Node", "Puppet::Transaction::Report", "Puppet::Resource", "Puppet::Resource::Catalog"}

// Hostile texts fail with Puppet's words where this layer decides, and give
// the data that Puppet reads where it reads any.
func TestGoldenHostile(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(golden.Path(t, "formats", "hostile.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []hostile
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	for _, tt := range all {
		if tt.Via != "format:yaml" && tt.Via != "terminus:yaml" {
			continue
		}
		t.Run(tt.ID, func(t *testing.T) {
			t.Parallel()
			text := tt.Base64
			permitted, file := formatClasses, "<unknown>"
			limits := psych.Limits{KeepBOM: true}
			if tt.Via == "terminus:yaml" {
				class, ok := map[string]string{
					"facts": "Puppet::Node::Facts", "node": "Puppet::Node", "report": "Puppet::Transaction::Report", "catalog": "Puppet::Resource::Catalog",
				}[tt.Model]
				if !ok {
					t.Fatalf("no class is known for the model %q", tt.Model)
				}
				_, rest, _ := strings.Cut(tt.Error, ": (")
				file, _, _ = strings.Cut(rest, ")")
				permitted, limits = []string{class, "Symbol"}, psych.Limits{}
			}
			doc, err := psych.Decode(text, limits)
			message := ""
			if doc != nil {
				if f, ok := doc.Refused(permitted...); ok {
					message = f.Message(file)
				}
			}
			if message == "" && err != nil {
				message = psych.Message(err, file)
			}
			switch {
			case tt.Error == "" && message != "":
				t.Errorf("%q: got error %q, want a value", text, message)
			case tt.Error == "":
				sameAsRead(t, doc, tt)
			case message == "" && psychWords(tt.Error):
				t.Errorf("%q: got %v, want error %q", text, doc.Value, tt.Error)
			case message != "" && !strings.HasSuffix(tt.Error, ": "+message) && !tt.RubyError:
				t.Errorf("%q: got error %q, want %q", text, message, tt.Error)
			}
		})
	}
}

// psychWords reports whether an error comes from reading the YAML rather than
// from what was made of it.
func psychWords(s string) bool {
	for _, words := range []string{" at line ", "Tried to load", "Unknown alias"} {
		if strings.Contains(s, words) {
			return true
		}
	}
	return false
}

// sameAsRead compares the document with the data hash that Puppet made of it,
// as far as models leave values alone.
func sameAsRead(t *testing.T, doc *psych.Document, tt hostile) {
	t.Helper()
	want := fromJSON(t, tt.Value)
	if want.Kind() != data.Hash {
		if doc.Empty || doc.Value.IsNil() {
			if want.Truthy() {
				t.Errorf("got nothing, want %v", want)
			}
			return
		}
		if !data.Equal(doc.Value, want) {
			t.Errorf("got %v, want %v", doc.Value, want)
		}
		return
	}
	if strings.Contains(string(tt.Value), "__ptype") || strings.Contains(string(tt.Base64), "_timestamp") {
		return // infinities, which JSON does not have, and what facts move
	}
	for _, key := range []string{"name", "host", "values"} {
		got, w := doc.Value.Get(key), want.Get(key)
		if got = withoutSymbols(got); got.Kind() == w.Kind() && !data.Equal(got, w) {
			t.Errorf("%s: got %v, want %v", key, got, w)
		}
	}
}

// withoutSymbols is v as JSON would have it.
func withoutSymbols(v data.Value) data.Value {
	switch v.Kind() {
	case data.Symbol:
		return data.OfString(v.Str())
	case data.List:
		var l []data.Value
		for _, x := range v.List() {
			l = append(l, withoutSymbols(x))
		}
		return data.OfList(l)
	case data.Hash:
		var h []data.Pair
		for _, p := range v.Hash() {
			h = append(h, data.Pair{Key: data.OfString(withoutSymbols(p.Key).Text()), Value: withoutSymbols(p.Value)})
		}
		return data.OfHash(h)
	}
	return v
}
