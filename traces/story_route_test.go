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

// What a terminus is called is known by its descriptor, or else by what it did:
// one that asked over the network asks a server, however it is named.
func TestStoryOfParty(t *testing.T) {
	t.Parallel()
	get := traces.Span{ID: 2, Step: traces.Terminus, Kind: traces.Network, Name: "GET /"}
	below := func(kind traces.Kind) []traces.Span {
		get := get
		get.Parent = 1
		return []traces.Span{{ID: 1, Step: traces.Terminus, Kind: kind, Name: "selector", Answer: "rest"}, get}
	}
	early := get
	early.Step = traces.Route
	for _, tt := range []struct {
		name, terminus, party, want string
		spans                       []traces.Span
	}{
		{"by its descriptor", "upstream", "the server", "the server answered", nil},
		{"another one", "puppetdb", "PuppetDB", "PuppetDB answered", []traces.Span{get}},
		{"by an exchange", "site", "", "the server answered", []traces.Span{get}},
		{"by the exchange of one that was chosen", "selector", "", "the server answered", below(traces.Choose)},
		{"an exchange for something else", "site", "", "terminus site answered", below(traces.Nested)},
		{"an exchange before it", "site", "", "terminus site answered", []traces.Span{early}},
		{"by its family", "rest", "", "the server answered", nil},
		{"unknown", "upstream", "", "terminus upstream answered", nil},
	} {
		tr := &traces.Trace{
			Verb: traces.Find, Indirection: "catalog", Outcome: traces.Good, Served: traces.ByTerminus,
			Primary: traces.Slot{{Terminus: tt.terminus, Kind: traces.FromSetting}}, Party: tt.party, Spans: tt.spans,
		}
		if got := traces.Story(tr); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
