package ui_test

import (
	"strings"
	"testing"

	"indirtui/ui"
	"indirtui/ui/uitest"
)

// The screen has how far what is recorded was shipped, and that a fleet is shown.
func TestShippedOnScreen(t *testing.T) {
	t.Parallel()
	text, well := "shipped to db1/traces, 12 behind", true
	p := uitest.New(t, ui.Config{Log: uitest.Site(t), Source: "in process", Shipped: func() (string, bool) { return text, well }}, 140, 30)
	if got := p.Frame(); !strings.Contains(got, text) {
		t.Errorf("got\n%s", got)
	}
	p = uitest.New(t, ui.Config{Log: uitest.Site(t), Source: "fleet db1/traces", Fleet: "db1/traces"}, 140, 30)
	if got := p.Frame(); !strings.Contains(got, "FLEET") || !strings.Contains(got, "db1/traces") {
		t.Errorf("got\n%s", got)
	}
}
