package steps_test

import (
	"fmt"
	"strings"
	"testing"

	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui/steps"
)

// A replay asks as who asked, and leaves out what was not recorded in full.
func TestRequestOf(t *testing.T) {
	t.Parallel()
	log, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for _, tt := range []struct {
		caller  string
		options []traces.Option
		want    string // node, options, notes
		without string
	}{
		{"you", []traces.Option{{Name: "a", Value: "1"}}, " [{a 1}] 0", ""},
		{"agent web01", []traces.Option{{Name: "job", Value: "(masked secret, 3 B, tag 0a1b)"}}, "web01 [{job (masked secret, 3 B, tag 0a1b)}] 0", ""},
		{"agent", nil, " [] 0", ""},
		{"agent web01", []traces.Option{{Name: "facts", Value: strings.Repeat("x", 200) + "…"}, {Name: "b", Value: "…"}, {Name: "c", Value: "(*model.Facts web01)"}}, "web01 [{b …}] 2", ", without facts and c, not recorded in full"},
	} {
		tr := &traces.Trace{Verb: traces.Find, Indirection: "catalog", Key: "web01", Caller: tt.caller, Options: tt.options}
		req := steps.AsAgent(log, tr)
		node, notes := "", 0
		if req.Remote != nil {
			node = req.Remote.Node
		}
		if req.Wants != nil {
			notes = len(req.Wants.Notes)
		}
		if got := fmt.Sprintf("%s %v %d", node, req.Options, notes); got != tt.want {
			t.Errorf("%s %v: got %s, want %s", tt.caller, tt.options, got, tt.want)
		}
		if got := steps.Without(tr); got != tt.without {
			t.Errorf("%s: got %q, want %q", tt.caller, got, tt.without)
		}
		if tt.caller == "agent web01" && steps.RequestOf(log, tr).Remote != nil {
			t.Error("RequestOf asks as an agent")
		}
	}
}
