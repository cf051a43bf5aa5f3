package rich_test

import (
	"bytes"
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
	for line := range golden.Lines(t, golden.Path(t, "rich", "cases.jsonl")) {
		c, err := format.DecodeJSON(line, format.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		check(t, c)
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
