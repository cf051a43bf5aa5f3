package widget_test

import (
	"context"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
	"indirtui/ui/term"
	"indirtui/ui/uitest"
	"indirtui/ui/widget"
)

// slow is a screen that waits.
type slow struct {
	screen.Screen
	widget.Wait
}

func (s *slow) Update(msg tea.Msg) tea.Cmd {
	cmd, _ := s.Tick(msg)
	return cmd
}

func (s *slow) shown() string {
	var l term.Line
	s.Put(&l, term.Quiet, "listing")
	return l.String()
}

func TestWait(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		still bool
		after time.Duration
		want  string
	}{
		{"at first", false, 499 * time.Millisecond, "listing"},
		{"half a second", false, 500 * time.Millisecond, "/ listing  0.5 s"},
		{"it turns", false, 600 * time.Millisecond, "- listing  0.6 s"},
		{"and comes round", false, 900 * time.Millisecond, "/ listing  0.9 s"},
		{"many seconds", false, 42 * time.Second, "| listing  42 s"},
		{"minutes", false, 125 * time.Second, "\\ listing  2 min 5 s"},
		{"without motion", true, 1700 * time.Millisecond, "listing  1.5 s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, s := uitest.NewClock(), new(slow)
			env := c.Shared()
			env.Still = tt.still
			s.Begin(&env, s)
			c.Pass(tt.after)
			if got := s.shown(); got != tt.want || c.Ticks() != 1 {
				t.Errorf("got %q and %d timers, want %q and one", got, c.Ticks(), tt.want)
			}
		})
	}
}

// What has a known end shows how much is done: as a bar, and without motion as a
// number.
func TestWaitPart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name        string
		still       bool
		after       time.Duration
		done, total int64
		want        string
	}{
		{"at first", false, 499 * time.Millisecond, 1, 2, "reading"},
		{"nothing is done", false, time.Second, 0, 9, "---------------- 0%  reading  1.0 s"},
		{"half", false, time.Second, 1 << 40, 2 << 40, "========-------- 50%  reading  1.0 s"},
		{"nearly all", false, time.Second, 999, 1000, "================ 99%  reading  1.0 s"},
		{"more than all", false, time.Second, 3, 2, "================ 100%  reading  1.0 s"},
		{"less than nothing", false, time.Second, -1, 2, "---------------- 0%  reading  1.0 s"},
		{"of what is not known", false, time.Second, 0, 0, "- reading  1.0 s"},
		{"without motion", true, 1700 * time.Millisecond, 1, 3, "33%  reading  1.5 s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, p := range []term.Palette{term.NoStyle, 0} {
				c, s := uitest.NewClock(), new(slow)
				env := c.Shared()
				env.Still, env.Theme.Palette = tt.still, p
				s.Begin(&env, s)
				c.Pass(tt.after)
				var l term.Line
				if s.PutPart(&l, term.Quiet, "reading", tt.done, tt.total); l.String() != tt.want {
					t.Errorf("palette %d: got %q, want %q", p, l.String(), tt.want)
				}
			}
		})
	}
}

// Nothing ticks when nothing goes on, and a tick that is late belongs to nothing.
func TestWaitEnds(t *testing.T) {
	t.Parallel()
	c, s := uitest.NewClock(), new(slow)
	env := c.Shared()
	s.Begin(&env, s)
	if s.Begin(&env, s) != nil {
		t.Error("it begins twice")
	}
	c.Pass(time.Second)
	s.End()
	if got := s.shown(); got != "listing" {
		t.Errorf("after the end: %q", got)
	}
	s.Begin(&env, s) // the tick of the first one is still to come
	c.Pass(400 * time.Millisecond)
	if got := s.shown(); got != "listing" || c.Ticks() != 1 {
		t.Errorf("at the second beginning: %q and %d timers", got, c.Ticks())
	}
	s.End()
	if c.Pass(time.Hour); c.Ticks() != 0 {
		t.Errorf("%d timers after the end", c.Ticks())
	}
	if _, mine := s.Tick("else"); mine {
		t.Error("it takes what is no tick")
	}
	if s.Begin(&screen.Shared{}, s) != nil {
		t.Error("it ticks without a clock")
	}
}

func TestFormWaitsForItsPreview(t *testing.T) {
	t.Parallel()
	c := uitest.NewClock()
	env := c.Shared()
	f := widget.NewForm(&env, widget.Form{
		Fields: []widget.Field{{Label: "WHEN"}}, PreviewRows: 1,
		Check:   func([]string) (string, *widget.Problem, int) { return "", nil, 0 },
		Preview: func(context.Context, []string) []string { return []string{"12 requests"} },
	})
	f.Resize(80, 10)
	f.Load()
	c.Pass(2 * time.Second)
	if got := f.View().Text(); !strings.Contains(got, "counting  2.0 s") {
		t.Error(got)
	}
}
