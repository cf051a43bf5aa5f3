package rich_test

import (
	"bufio"
	"bytes"
	"os"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/golden"
	"indirtui/indirector/rich"
)

// TestGoldenRich reads rich data as real Puppet read it when testdata/rich.rb
// recorded it.
func TestGoldenRich(t *testing.T) {
	t.Parallel()
	file, err := os.Open(golden.Path(t, "rich", "cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cases := bufio.NewScanner(file)
	cases.Buffer(nil, 1<<20)
	n := 0
	for ; cases.Scan(); n++ {
		c, err := format.DecodeJSON(cases.Bytes(), format.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		check(t, c)
	}
	if cases.Err() != nil || n == 0 {
		t.Fatalf("%d cases, %v", n, cases.Err())
	}
}

func check(t *testing.T, c data.Value) {
	t.Helper()
	given := c.Get("given")
	got, notes, err := rich.Read(given)
	want, refused := c.Lookup("error")
	switch {
	case strings.Contains(want.Str(), "`exclude_end'"), strings.Contains(want.Str(), "`intersection' for nil"):
		// Ruby's library cannot merge these ranges of versions. They are kept.
	case len(notes) > 0: // what only a module decides, and is kept
	case strings.HasPrefix(want.Str(), "No implementation mapping"):
		if err == nil {
			t.Errorf("%s\ngot %s without a note, want error %s", given, got, want.Str())
		}
	case err != nil && err.Error() == "stack level too deep":
		// Puppet finds an endless value only after other errors.
		if !refused {
			t.Errorf("%s\ngot error %s\nwant %s", given, err, c.Get("written"))
		}
	case refused && err == nil:
		t.Errorf("%s\ngot  %s\nwant error %s", given, got, want.Str())
	case refused && !c.Get("ruby_error").Bool() && err.Error() != want.Str():
		t.Errorf("%s\ngot error  %s\nwant error %s", given, err, want.Str())
	case !refused && err != nil:
		t.Errorf("%s\ngot error %s\nwant %s", given, err, c.Get("written"))
	case !refused:
		g, _ := format.AppendJSON(nil, got)
		w, _ := format.AppendJSON(nil, c.Get("written"))
		if !bytes.Equal(g, w) {
			t.Errorf("%s\ngot  %s\nwant %s", given, g, w)
		}
	}
}
