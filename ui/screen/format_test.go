package screen_test

import (
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/traces"
	"indirtui/ui/screen"
)

func TestFormats(t *testing.T) {
	t.Parallel()
	const ms, s = time.Millisecond, time.Second
	tests := []struct{ what, got, want string }{
		{"no time", screen.Millis(0), "0"},
		{"microseconds", screen.Millis(49 * time.Microsecond), "0"},
		{"tenths", screen.Millis(312 * time.Microsecond), "0.3"},
		{"nearly one", screen.Millis(990 * time.Microsecond), "1"},
		{"milliseconds", screen.Millis(8153 * ms), "8153"},
		{"too long for milliseconds", screen.MillisIn(1000*s, 5), "1000s"},
		{"too long for seconds", screen.MillisIn(400*24*time.Hour, 5), "400d"},
		{"it fits", screen.MillisIn(8153*ms, 5), "8153"},
		{"took microseconds", screen.Took(38 * time.Microsecond), "38 us"},
		{"took milliseconds", screen.Took(412 * ms), "412 ms"},
		{"took seconds", screen.Took(8153 * ms), "8.15 s"},
		{"took minutes", screen.Took(125 * s), "2m"},
		{"took nothing", screen.Took(0), "0 ms"},
		{"age in seconds", traces.Age(31 * s), "31s"},
		{"age in hours", traces.Age(91 * time.Minute), "1h 31m"},
		{"age in days", traces.Age(41 * 24 * time.Hour), "41d"},
		{"age in the future", traces.Age(-s), "0s"},
		{"bytes", screen.Bytes(214), "214 B"},
		{"kilobytes", screen.Bytes(182341), "182 kB"},
		{"megabytes", screen.Bytes(1 << 30), "1 073 MB"},
		{"groups", screen.Grouped(-1234567), "-1 234 567"},
		{"one", screen.Plural(1, "request"), "1 request"},
		{"many", screen.Plural(1047, "request"), "1 047 requests"},
		{"terminus and cache", screen.ServedBy(&screen.Row{Terminus: "rest", Cache: "json", CacheWritten: true, Outcome: traces.Good, Served: traces.ByTerminus}), "T rest +C"},
		{"cache", screen.ServedBy(&screen.Row{Terminus: "rest", Cache: "json", Outcome: traces.Hit, Served: traces.ByCache}), "C json"},
		{"running", screen.ServedBy(&screen.Row{}), "..."},
		{"injected", screen.ServedBy(&screen.Row{Outcome: traces.Sim, Served: traces.ByInjection}), "sim"},
		{"not routed", screen.ServedBy(&screen.Row{Outcome: traces.Err}), "-"},
		{"verb", screen.VerbCode(traces.Destroy), "dstr"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.what, tt.got, tt.want)
		}
	}
}

func TestUndo(t *testing.T) {
	t.Parallel()
	var u screen.Undos
	var log string
	add := func(name string) {
		u.Add(screen.Change{
			Command: name,
			Undo:    func() tea.Cmd { log += "-" + name; return nil },
			Redo:    func() tea.Cmd { log += "+" + name; return nil },
		})
	}
	add("a")
	add("b")
	for range 3 {
		u.Undo()
	}
	u.Redo()
	add("c")
	if command, _ := u.Redo(); command != "" {
		t.Errorf("redo after a new change: got %q, want nothing", command)
	}
	u.Undo()
	if want := "-b-a+a-c"; log != want {
		t.Errorf("got %s, want %s", log, want)
	}
}
