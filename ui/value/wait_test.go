package value_test

import (
	"strings"
	"testing"
	"time"

	"indirtui/indirector/model"
	"indirtui/traces"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/uitest"
	"indirtui/ui/value"
)

// What is read in the background shows for how long.
func TestReadingTakesLong(t *testing.T) {
	t.Parallel()
	trace := &traces.Trace{Verb: traces.Find, Values: &traces.Values{Answer: traces.Value{Model: "facts", Size: 300}}}
	for want, show := range map[string]func(*session.Env) screen.Screen{
		"loading 300 B  2.0 s": func(env *session.Env) screen.Screen { return value.New(env, trace) },
		"reading  2.0 s": func(env *session.Env) screen.Screen {
			return value.NewFile(env, "motd", &model.FileContent{Contents: model.Bytes("hello")}, nil)
		},
		"0 found so far  2.0 s": func(env *session.Env) screen.Screen { return value.NewListing(env, "search", nil) },
	} {
		clock := uitest.NewClock()
		s := screen.AbilitiesOf(show(&session.Env{Shared: clock.Shared(), Log: uitest.Site(t)}))
		s.Resize(80, 20)
		s.Load()
		clock.Pass(2 * time.Second)
		_, right := s.Context()
		if got := right.String() + s.View().Text(); !strings.Contains(got, want) {
			t.Errorf("want %q:\n%s", want, got)
		}
	}
}
