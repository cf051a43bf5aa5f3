package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzKept reads anything as what is kept for a project: it is refused, or
// written so that it is read again.
func FuzzKept(f *testing.F) {
	for _, text := range []string{`{"project":"/etc/puppet","ignore":[".parameters.*timestamp"],"baseline":"/a/base.ind"}`, `{"ignore":[1]}`, `{"project":"/x"}`, "", "null", "[]", `{"baseline":"\u0000"`} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "project.json")
	read := func(t *testing.T, b []byte) (*kept, error) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return readKept(path)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		k, err := read(t, text)
		if err != nil {
			return
		}
		b, err := json.MarshalIndent(k, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		again, err := read(t, b)
		if err != nil || again.Project != k.Project || again.Baseline != k.Baseline || len(k.Ignore) > 0 && !cmp.Equal(again.Ignore, k.Ignore) {
			t.Errorf("%q: wrote %s, read %+v, %v", text, b, again, err)
		}
	})
}
