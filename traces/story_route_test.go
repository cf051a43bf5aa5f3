package traces_test

import (
	"testing"

	"indirtui/traces"
)

// A note on a candidate is the story only of a request whose route the
// candidate decided, or would have.
func TestStoryOfRoute(t *testing.T) {
	t.Parallel()
	const note = "routes.yaml has no section for application 'apply'"
	missed := func(terminus string) traces.Choice {
		return traces.Choice{Terminus: terminus, Kind: traces.FromRoutesFile, Why: "not applied", Note: note}
	}
	json := traces.Choice{Terminus: "json", Kind: traces.FromSetting}
	for _, tt := range []struct {
		name           string
		verb           traces.Verb
		primary, cache traces.Slot
		served         traces.Served
		want           string
	}{
		{"another terminus", traces.Find, traces.Slot{missed("yaml"), json}, nil, traces.ByTerminus, note},
		{"the same terminus", traces.Find, traces.Slot{missed("json"), json}, nil, traces.ByTerminus, "terminus json answered"},
		{"below the winner", traces.Find, traces.Slot{json, missed("yaml")}, nil, traces.ByTerminus, "terminus json answered"},
		{"a cache", traces.Find, traces.Slot{json}, traces.Slot{missed("yaml")}, traces.ByTerminus, note},
		{"a cache, of a search", traces.Search, traces.Slot{json}, traces.Slot{missed("yaml")}, traces.ByTerminus, "terminus json listed"},
	} {
		tr := &traces.Trace{Verb: tt.verb, Indirection: "facts", Outcome: traces.Good, Served: tt.served, Primary: tt.primary, Cache: tt.cache}
		if got := traces.Story(tr); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
