package ui_test

import (
	"testing"

	"indirtui/ui/uitest"
)

// A run is one line: its node, when it began, how long it took, and what came of
// it; its number is below. It is offered behind run= in the same way.
func TestRunsAreOneLineEach(t *testing.T) {
	t.Parallel()
	uitest.Sizes(t, func(t *testing.T, _ string, width, height int) {
		p := start(t, newTestEngine(t).play(), width, height)
		p.Keys(".", "r").Want("NODE", "BEGAN", "WHAT CAME OF IT", "catalog failed", "old catalog from ca")
		p.Keys("esc", "/", "run=").Want("14:01:01 web01", "3.01 s", "old catalog from ca")
		p.Keys("tab", "enter").Want("run=")
	})
}
