package attached_test

import (
	"strings"
	"testing"

	"indirtui/indirector/host/terminal"
	"indirtui/indirector/probe"
	"indirtui/ui/attached"
	"indirtui/ui/session"
	"indirtui/ui/uitest"
)

// processes are watched, without a command of ours.
type processes []probe.Process

func (p processes) Processes() []probe.Process { return p }
func (processes) Terminal() *terminal.Terminal { return nil }
func (processes) Guide() string                { return "the guide" }

func TestStates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		p    probe.Process
		want string
	}{
		{"one that runs", probe.Process{Requests: 3, Running: 2, Held: 1}, "3 ended, 2 running, 1 held"},
		{"one that has left", probe.Process{Requests: 3, Gone: true}, "3 ended, gone"},
		{"one that stands still", probe.Process{Requests: 3, Gone: true, Why: "it does not read"}, "cut off: it does not read, 3 ended"},
		{"lost lines", probe.Process{Dropped: 2, Faults: 1}, "2 lines dropped, 1 faults of the probe"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := attached.New(&session.Env{Shared: uitest.NewClock().Shared()}, processes{tt.p})
			a.Resize(100, 20)
			if got := a.View()[0].String(); !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q in it", got, tt.want)
			}
		})
	}
}
