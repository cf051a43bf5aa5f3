package transaction_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/probetest"
	"indirtui/indirector/resource/systemtest"
	"indirtui/indirector/resource/transaction"
)

// A visitor plays the terminus of a run: it notes what became of each resource.
type visitor struct {
	fail, leave, stop string // titles
	edit              func(*model.Resource)
	seen              []string
	stopped           bool
}

func (s *visitor) request(ctx context.Context, v *transaction.Visit) error {
	wanted := v.Wanted()
	switch wanted.Title {
	case s.fail:
		return errors.New("no space left")
	case s.leave:
		return nil
	case s.stop:
		s.stopped = true
	}
	if s.edit != nil {
		edited := *wanted
		s.edit(&edited)
		wanted = &edited
	}
	taken, err := v.Take(ctx, wanted)
	what := wanted.Title + " " + taken.Outcome.String() + ": " + taken.Because.String() + ": " + taken.Text
	if err != nil {
		what = wanted.Title + " failed: " + err.Error()
	}
	s.seen = append(s.seen, what)
	if _, err := v.Take(ctx, wanted); err == nil {
		s.seen = append(s.seen, "it was taken twice")
	}
	return err
}

// TestVisits: what is a request may be changed, failed and left out.
func TestVisits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		visitor  visitor
		settings map[string]any
		fail     string
		want     []string
	}{
		{"a run", visitor{}, nil, "", []string{"a chg: out-of-sync(one): defined 'one' as 'x'", "b same: in-sync: ", "c chg: refreshed-by(Probe[a]): Triggered 'refresh' from 1 event"}},
		{"noop", visitor{}, map[string]any{"noop": true}, "", []string{"a plan: noop(setting): current_value 'absent', should be 'x' (noop)", "b same: in-sync: ", "c plan: noop(setting): "}},
		{"tags", visitor{}, map[string]any{"tags": "other"}, "", []string{"a skip: tags(other): ", "b skip: tags(other): ", "c skip: tags(other): "}},
		{"failed", visitor{fail: "a"}, nil, "", []string{"b skip: dependency-failed(Probe[a]): ", "c skip: dependency-failed(Probe[a]): "}},
		{"left out", visitor{leave: "a"}, nil, "", []string{"b same: in-sync: ", "c same: in-sync: "}},
		{"a change fails", visitor{}, nil, "Probe[a] changeone", []string{
			"a failed: change from 'absent' to 'x' failed: stopped there", "b skip: dependency-failed(Probe[a]): ", "c skip: dependency-failed(Probe[a]): ",
		}},
		{"a refresh is lost", visitor{}, nil, "Probe[c] refresh", []string{
			"a chg: out-of-sync(one): defined 'one' as 'x'", "b same: in-sync: ", "c chg: refresh-lost(Probe[a]): Failed to call refresh: stopped there",
		}},
		{"edited", visitor{edit: func(m *model.Resource) {
			if m.Title == "a" {
				m.Parameters = m.Parameters.With("one", data.OfString("y"))
			}
		}}, nil, "", []string{"a chg: out-of-sync(one): defined 'one' as 'y'", "b same: in-sync: ", "c chg: refreshed-by(Probe[a]): Triggered 'refresh' from 1 event"}},
		{"edited wrongly", visitor{edit: func(m *model.Resource) {
			if m.Title == "a" {
				m.Parameters = m.Parameters.With("colour", data.OfString("red"))
			}
		}}, nil, "", []string{"a failed: no parameter named 'colour'", "b skip: dependency-failed(Probe[a]): ", "c skip: dependency-failed(Probe[a]): "}},
		{"ended while it was held", visitor{stop: "a"}, nil, "", []string{"a skip: you(the run was ended): "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			m := p.system(systemtest.Case{}, p.settings(tt.settings))
			world := &probetest.World{Root: p.dir + "/root"}
			s := &tt.visitor
			c := with(with(probes("a", "b:a", "c"), 0, "one", "x"), 2, "subscribe", "Probe[a]")
			var visited []string
			result := transaction.Run(t.Context(), c, transaction.Options{
				Settings: agent(m), System: m, Types: allTypes(), Provider: world.Provider, Observer: &watcher{fail: tt.fail},
				Stop: func() bool { return s.stopped },
				Request: func(ctx context.Context, v *transaction.Visit) error {
					if v.Wanted().Type != "Probe" {
						_, err := v.Take(ctx, v.Wanted())
						return err
					}
					visited = append(visited, v.Wanted().Title)
					return s.request(v.Context(ctx), v)
				},
			})
			if d := cmp.Diff(tt.want, s.seen); d != "" {
				t.Errorf("want -, got +\n%s", d)
			}
			if !slices.Equal(visited, []string{"a", "b", "c"}) && s.stop == "" {
				t.Errorf("visited %v", visited)
			}
			if failed := result.Report.Status == "failed"; failed != (s.fail != "" || tt.fail != "" || tt.name == "edited wrongly") {
				t.Errorf("the report is %s", result.Report.Status)
			}
		})
	}
}

// TestUnsuitableVisit: what no provider can do here is a request that fails.
func TestUnsuitableVisit(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	m := p.system(systemtest.Case{}, p.settings(nil))
	world := &probetest.World{Root: p.dir + "/root"}
	s := &visitor{}
	transaction.Run(t.Context(), with(probes("a", "b"), 0, "provider", "unfit"), transaction.Options{
		Settings: agent(m), System: m, Types: allTypes(), Provider: world.Provider,
		Request: func(ctx context.Context, v *transaction.Visit) error {
			if v.Wanted().Type != "Probe" {
				return nil
			}
			return s.request(v.Context(ctx), v)
		},
	})
	if d := cmp.Diff([]string{"b same: in-sync: ", "a failed: provider unfit cannot work here"}, s.seen); d != "" {
		t.Errorf("want -, got +\n%s", d)
	}
}

// TestVisitOf finds what a request belongs to by its context alone.
func TestVisitOf(t *testing.T) {
	t.Parallel()
	if v := transaction.VisitOf(t.Context()); v != nil {
		t.Errorf("got %v of no run", v)
	}
	v := new(transaction.Visit)
	if got := transaction.VisitOf(v.Context(t.Context())); got != v {
		t.Errorf("got %v", got)
	}
}
