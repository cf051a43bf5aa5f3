package requests_test

import (
	"strings"
	"testing"
	"time"

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
