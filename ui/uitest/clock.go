package uitest

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
	"indirtui/ui/term"
)

// A Clock stands still until a test turns it: for screens by themselves, whose
// commands the test does not run.
type Clock struct {
	now    time.Time
	timers []clockTimer
}

type clockTimer struct {
	at  time.Time
	msg screen.For
}

// NewClock returns a clock that stands at Began.
func NewClock() *Clock { return &Clock{now: Began} }

// Shared returns what a screen needs to show that it waits.
func (c *Clock) Shared() screen.Shared {
	keys, _ := screen.NewKeys(nil)
	return screen.Shared{
		Theme: &term.Theme{Glyphs: term.ASCII, Palette: term.NoStyle}, Keys: keys,
		Now: func() time.Time { return c.now }, Zone: time.UTC,
		After: func(d time.Duration, msg tea.Msg) tea.Cmd {
			if msg, ok := msg.(screen.For); ok {
				c.timers = append(c.timers, clockTimer{c.now.Add(d), msg})
			}
			return func() tea.Msg { return nil }
		},
	}
}

// Pass lets time pass: what becomes due meanwhile happens when it is due.
func (c *Clock) Pass(d time.Duration) {
	end := c.now.Add(d)
	for {
		next := -1
		for i, t := range c.timers {
			if !t.at.After(end) && (next < 0 || t.at.Before(c.timers[next].at)) {
				next = i
			}
		}
		if next < 0 {
			c.now = end
			return
		}
		t := c.timers[next]
		c.timers = append(c.timers[:next], c.timers[next+1:]...)
		c.now = t.at
		t.msg.Screen.Update(t.msg.Msg)
	}
}

// Ticks returns how many timers run.
func (c *Clock) Ticks() int { return len(c.timers) }
