package requests_test

import (
	"strings"
	"testing"

	"indirtui/traces/query"
	"indirtui/ui/requests"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/uitest"
)

// A fleetLog remembers what was wanted of it.
type fleetLog struct {
	session.Log
	wanted []string
	about  string
}

func (l *fleetLog) Want(e *query.Expr) { l.wanted = append(l.wanted, e.String()) }
func (l *fleetLog) About() string      { return l.about }

// A filter is asked of a fleet, and what that does not answer is in the title.
func TestFleet(t *testing.T) {
	t.Parallel()
	clock, log := uitest.NewClock(), &fleetLog{Log: uitest.Site(t), about: "proxy2 holds #7 find catalog web01"}
	env := &session.Env{Shared: clock.Shared(), Log: log}
	r := requests.New(env)
	r.Resize(140, 20)
	perform(r, r.Update(session.Snapshot{Stats: log.Stats()}))
	perform(r, r.Update(screen.Filter{Text: "ind=catalog"}))
	perform(r, r.Update(screen.Filter{Text: ""}))
	if got := strings.Join(log.wanted, "; "); got != "ind=catalog; " {
		t.Errorf("the fleet was asked for %q", got)
	}
	if left, _ := r.Context(); !strings.Contains(left.String(), "all 47 · proxy2 holds #7 find catalog web01") {
		t.Errorf("got %q", left.String())
	}
}
