package widget

import (
	"fmt"
	"strconv"
	"time"

	"github.com/charmbracelet/bubbles/spinner"
	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
	"indirtui/ui/term"
)

// A Wait shows that something goes on: after half a second a sign that turns, and
// for how long. The zero Wait shows nothing. Its clock is that of Shared, and
// nothing ticks while nothing goes on.
type Wait struct {
	env   *screen.Shared
	on    screen.Screen
	sign  spinner.Model
	since time.Time
	took  time.Duration // as of the last tick
	round int           // counts beginnings: ticks of those before are late
	runs  bool
}

const (
	// unseen is how long it may take without a sign.
	unseen = 500 * time.Millisecond
	// turning is the time between two signs; what takes longer than a minute turns
	// once a second.
	turning = time.Second / 10
)

// ticked is the message of the clock.
type ticked struct {
	wait  *Wait
	round int
}

// Begin begins to wait, unless it has begun: the ticks are messages to the
// screen, which gives them to Tick.
func (w *Wait) Begin(env *screen.Shared, on screen.Screen) tea.Cmd {
	if w.runs || env.After == nil { // a program without a screen has no clock for them
		return nil
	}
	*w = Wait{env: env, on: on, since: env.Now(), round: w.round + 1, runs: true}
	w.sign = spinner.New(
		spinner.WithSpinner(spinner.Spinner{Frames: env.Theme.Glyphs.Turning, FPS: turning}),
		spinner.WithStyle(env.Theme.Lip(term.Accent)),
	)
	return w.after(unseen)
}

func (w *Wait) after(d time.Duration) tea.Cmd {
	return w.env.After(d, screen.For{Screen: w.on, Msg: ticked{w, w.round}})
}

// End is the end of it.
func (w *Wait) End() { w.runs, w.took = false, 0 }

// Tick takes a tick, and reports whether the message is one.
func (w *Wait) Tick(msg tea.Msg) (tea.Cmd, bool) {
	m, ok := msg.(ticked)
	if !ok || m.wait != w {
		return nil, false
	}
	if !w.runs || m.round != w.round {
		return nil, true
	}
	w.took = w.env.Now().Sub(w.since)
	if w.env.Still || w.took >= time.Minute {
		return w.after(time.Second), true
	}
	w.sign, _ = w.sign.Update(w.sign.Tick()) // when it turns again is decided here
	return w.after(turning), true
}

// Long reports whether it has taken so long that it is shown.
func (w *Wait) Long() bool { return w.took >= unseen }

// Put puts words about what goes on: the sign in front of them, and how long it
// has taken behind them.
func (w *Wait) Put(l *term.Line, style term.Style, words string) {
	if !w.Long() {
		l.Put(style, words)
		return
	}
	if !w.env.Still && len(w.sign.Spinner.Frames) > 0 {
		l.Append(w.env.Theme.Drawn(w.sign.View())[0])
		l.Space(1)
	}
	l.Put(style, words+"  "+elapsed(w.took))
}

// Waiting is what a screen shows that has nothing else to show yet.
func Waiting(w *Wait, words string) term.Lines {
	l := term.Of(term.Plain, "   ")
	w.Put(&l, term.Quiet, words)
	return term.Lines{{}, l}
}

func elapsed(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + " s"
	}
	return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
}
