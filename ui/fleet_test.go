package ui_test

import (
	"slices"
	"strings"
	"testing"
	"time"

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

// What stores were sent is in the first line if there is room, and what went wrong in the
// lower border.
func TestStoresOnScreen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text        string
		well        bool
		width       int
		first, last bool
	}{
		{"puppetdb: queued 10:42:07, 3 waiting", true, 140, true, false},
		{"puppetdb: queued 10:42:07, 3 waiting", true, 80, false, false},
		{"puppetdb: failed 10:42:07", false, 140, false, true},
		{"puppetdb: failed 10:42:07", false, 80, false, true},
		{"", true, 140, false, false},
	} {
		var zone *time.Location
		stores := func(z *time.Location) (string, bool) { zone = z; return tt.text, tt.well }
		frame := func(cfg ui.Config) []string {
			return strings.Split(strings.TrimRight(uitest.New(t, cfg, tt.width, 30).Frame(), "\n"), "\n")
		}
		with, without := frame(ui.Config{Log: uitest.Site(t), Source: "in process", Stores: stores}), frame(ui.Config{Log: uitest.Site(t), Source: "in process"})
		if zone != time.UTC {
			t.Errorf("%q: the zone is %v", tt.text, zone)
		}
		border := len(with) - 3
		if got := strings.Contains(with[0], "puppetdb"); got != tt.first {
			t.Errorf("%q at %d: the first line is %s", tt.text, tt.width, with[0])
		}
		if got := strings.Contains(with[border], "puppetdb"); got != tt.last {
			t.Errorf("%q at %d: the border is %s", tt.text, tt.width, with[border])
		}
		if !tt.first && !tt.last && !slices.Equal(with, without) {
			t.Errorf("%q at %d: got\n%s", tt.text, tt.width, strings.Join(with, "\n"))
		}
	}
}
