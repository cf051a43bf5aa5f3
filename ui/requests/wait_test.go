package requests_test

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/requests"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/uitest"
)

// What is gathered in the background shows for how long.
func TestGatheringTakesLong(t *testing.T) {
	t.Parallel()
	for want, show := range map[string]func(*session.Env) screen.Screen{
		"gathering groups  2.0 s":   func(env *session.Env) screen.Screen { return requests.New(env) },
		"gathering failures  2.0 s": func(env *session.Env) screen.Screen { return requests.NewFailures(env) },
	} {
		clock := uitest.NewClock()
		env := &session.Env{Shared: clock.Shared(), Log: uitest.Site(t)}
		s := show(env)
		s.Resize(80, 20)
		s.Update(session.Snapshot{Stats: env.Log.Stats()})
		s.Update(screen.Group{By: "run"})
		clock.Pass(2 * time.Second)
		if got := s.View().Text(); !strings.Contains(got, want) {
			t.Errorf("want %q:\n%s", want, got)
		}
	}
}

// A loadingLog is a log of which a part was read.
type loadingLog struct {
	session.Log
	done int64
}

func (l *loadingLog) Loading() (done, total int64) { return l.done, 40_000_000 }

// A recording that is read shows how much of it was, until all was.
func TestReadingTakesLong(t *testing.T) {
	t.Parallel()
	clock, log := uitest.NewClock(), &loadingLog{uitest.Site(t), 10_000_000}
	env := &session.Env{Shared: clock.Shared(), Log: log}
	r := requests.New(env)
	r.Resize(80, 20)
	perform(r, r.Update(session.Snapshot{Stats: log.Stats()}))
	clock.Pass(2 * time.Second)
	if left, _ := r.Context(); !strings.Contains(left.String(), "Requests  ====------------ 25%  reading, 10 MB of 40 MB  2.0 s") {
		t.Errorf("got %q", left.String())
	}
	log.done = 40_000_000
	clock.Pass(2 * time.Second)
	if left, _ := r.Context(); !strings.Contains(left.String(), "Requests  all 47") || clock.Ticks() != 0 {
		t.Errorf("when all was read: got %q and %d timers", left.String(), clock.Ticks())
	}
}

// A filter shows how many of the requests it has looked at.
func TestFilterTakesLong(t *testing.T) {
	t.Parallel()
	for _, still := range []bool{false, true} {
		clock := uitest.NewClock()
		env := &session.Env{Shared: clock.Shared(), Log: uitest.Site(t)}
		env.Still = still
		r := requests.New(env)
		r.Resize(80, 20)
		looks := r.Update(screen.Filter{Text: "ind=node"})
		r.Update(session.Snapshot{Stats: env.Log.Stats()})
		clock.Pass(2 * time.Second)
		want := "0%  so far 0 of 0/47 checked  2.0 s"
		if still {
			want = strings.Replace(want, "2.0 s", "1.5 s", 1)
		} else {
			want = "---------------- " + want
		}
		left, _ := r.Context()
		if body := r.View().Text(); !strings.Contains(left.String(), "  "+want) || !strings.Contains(body, "   "+want) {
			t.Errorf("without motion %v: got %q and\n%s", still, left.String(), body)
		}
		perform(r, looks)
		clock.Pass(2 * time.Second)
		if left, right := r.Context(); strings.Contains(left.String(), "so far") || !strings.Contains(right.String(), "of 47") || clock.Ticks() != 0 {
			t.Errorf("when it is done: got %q, %q and %d timers", left.String(), right.String(), clock.Ticks())
		}
	}
}

// perform runs a command and what comes of it, for a screen by itself.
func perform(s screen.Screen, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			perform(s, c)
		}
	case screen.Background:
		perform(s, msg.Cmd)
	case screen.For:
		perform(s, s.Update(msg.Msg))
	}
}
