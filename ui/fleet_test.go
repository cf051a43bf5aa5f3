package ui_test

import (
	"strings"
	"testing"
	"time"

	"indirtui/indirector/stores"
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

// What stores were sent is in the first line as far as there is room, and what went
// wrong in the lower border.
func TestStoresOnScreen(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 10, 42, 7, 0, time.UTC)
	one := func(name string, k stores.Kind) stores.State {
		l := stores.NewLog(name)
		l.Add(k, at, "replace facts of web01")
		return l.State()
	}
	well, stored, failed := one("puppetdb", stores.Queued), one("sqlite", stores.Stored), one("postgresql", stores.Failed)
	for _, tt := range []struct {
		states      []stores.State
		width       int
		first, last string // "" has none
	}{
		{[]stores.State{well}, 140, "puppetdb: queued 10:42:07", ""},
		{[]stores.State{well}, 80, "", ""},
		{[]stores.State{stored, well}, 160, "sqlite: stored 10:42:07  puppetdb: queued 10:42:07", ""},
		{[]stores.State{stored, well}, 130, "sqlite: stored 10:42:07", ""},
		{[]stores.State{failed}, 140, "", "postgresql: failed 10:42:07"},
		{[]stores.State{failed, stored}, 140, "sqlite: stored 10:42:07", "postgresql: failed 10:42:07"},
		{[]stores.State{failed}, 80, "", "postgresql: failed 10:42:07"},
		{[]stores.State{{Name: "puppetdb"}}, 140, "", ""},
		{nil, 140, "", ""},
	} {
		asked := 0
		states := func() []stores.State { asked++; return tt.states }
		p := uitest.New(t, ui.Config{Log: uitest.Site(t), Source: "in process", Stores: states}, tt.width, 30)
		lines := strings.Split(strings.TrimRight(p.Frame(), "\n"), "\n")
		for what, at := range map[string]int{"first": 0, "last": len(lines) - 3} {
			want := map[string]string{"first": tt.first, "last": tt.last}[what]
			line := lines[at]
			if found := strings.Contains(line, "10:42:07"); found != (want != "") || !strings.Contains(line, want) {
				t.Errorf("%d columns: the %s line is %q, want %q in it", tt.width, what, line, want)
			}
		}
		before := asked
		for range 10 {
			_ = p.Frame()
		}
		if asked != before {
			t.Errorf("stores were asked %d times for ten frames", asked-before)
		}
	}
}
