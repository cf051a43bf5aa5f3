package psych_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"indirtui/indirector/format/psych"
)

// golden returns the directory of the golden data of formats.
func golden(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("INDIRTUI_GOLDEN"); dir != "" {
		return filepath.Join(dir, "formats")
	}
	return filepath.Join("testdata", "formats")
}

func goldenFiles(t testing.TB, name string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(golden(t), "out", "*", name))
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
