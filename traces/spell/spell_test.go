package spell_test

import (
	"strings"
	"testing"

	"indirtui/traces/spell"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"json", "yaml", "memory", "node_terminus", "agent"}
	for s, want := range map[string]string{
		"jsno": "json", "YMAL": "yaml", "agnet": "agent", "node_termini": "node_terminus",
		"puppetdb": "", "": "", "x": "", strings.Repeat("json", 100): "",
	} {
		if got := spell.Nearest(s, names); got != want {
			t.Errorf("%.20s: got %q, want %q", s, got, want)
		}
	}
}
