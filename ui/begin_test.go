package ui_test

import (
	"context"
	"testing"
	"time"

	"indirtui/ui"
	"indirtui/ui/uitest"
)

// A demo begins where something is wrong, with the story of that, unless the user
// was faster.
func TestADemoBeginsAtAFailure(t *testing.T) {
	t.Parallel()
	begin := func() *uitest.Player {
		return uitest.New(t, ui.Config{Log: newTestEngine(t).play().log, Begin: func(context.Context) bool { return true }}, 80, 24)
	}
	p := begin()
	p.Want("follow on", "> ").Wait(time.Second).Want("follow off", "- #7 find node", "printed nothing, so Puppet has no node")
	p = begin()
	p.Keys("g").Wait(time.Second).Want("- #1 find catalog")
}
