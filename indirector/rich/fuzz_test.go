package rich_test

import (
	"bytes"
	"testing"

	"indirtui/indirector/format"
	"indirtui/indirector/golden"
	"indirtui/indirector/rich"
)

// Whatever was read is read again as it is.
func FuzzRead(f *testing.F) {
	for line := range golden.Lines(f, golden.Path(f, "rich", "cases.jsonl")) {
		f.Add(bytes.Clone(line))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := format.DecodeJSON(b, format.Limits{})
		if err != nil {
			return
		}
		rich.Text(v)
		once, _, err := rich.Read(v)
		if err != nil {
			return
		}
		if _, _, err := rich.Read(once); err != nil {
			t.Errorf("%s is read as %s, which is refused: %v", v, once, err)
		}
	})
}
