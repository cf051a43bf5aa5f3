package cli

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzKept reads anything as what is kept for a project: it is taken over as a
// whole, and written so that it is read again, or not at all.
func FuzzKept(f *testing.F) {
	for _, text := range []string{`{"project":"/etc/puppet","ignore":[".parameters.*timestamp"],"baseline":"/a/base.ind"}`, `{"ignore":[1]}`, `{"project":"/x"}`, "", "null", "[]", `{"baseline":"\u0000"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		k := kept{Project: "/p"}
		if err := k.read(text); err != nil {
			if len(k.Ignore) > 0 || k.Baseline != "" {
				t.Errorf("%q: %v, and got %q, %q", text, err, k.Ignore, k.Baseline)
			}
			return
		}
		b, err := json.MarshalIndent(&k, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		var again kept
		if err := again.read(b); err != nil || k.Project != "/p" || again.Baseline != k.Baseline || len(k.Ignore) > 0 && !cmp.Equal(again.Ignore, k.Ignore) {
			t.Errorf("%q: wrote %s, read %+v, %v", text, b, again.Ignore, err)
		}
	})
}
