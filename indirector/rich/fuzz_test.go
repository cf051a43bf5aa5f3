package rich_test

import (
	"bufio"
	"os"
	"testing"

	"indirtui/indirector/format"
	"indirtui/indirector/rich"
)

// Whatever was read is read again as it is.
func FuzzRead(f *testing.F) {
	file, err := os.Open("testdata/rich/cases.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		f.Add(lines.Bytes())
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
