package indirector_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/traces"
)

// stream is a terminus that yields n widgets and then fails, if err is set.
type stream struct {
	n   int
	err error
}

func (s stream) Yield(ctx context.Context, _ *indirector.Request, yield func(indirector.Instance) error) error {
	for i := range s.n {
		if err := yield(widget{name: fmt.Sprint(i), origin: "stream"}); err != nil {
			return err
		}
	}
	return s.err
}

func streaming(s stream) indirector.Descriptor {
	return indirector.Descriptor{
		Indirection: "node", Name: "stream", Type: s, KeepsExpiry: true,
		New: func(indirector.Env) (indirector.Terminus, error) { return s, nil },
	}
}

// Rule IND-SRCH-02 holds for instances that the caller takes as they come, from
// a terminus that yields them and from one that lists them.
func TestYield(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	tests := []struct {
		name     string
		terminus string
		stream   stream
		stop     error // what the caller returns for the second instance
		taken    string
		want     any // the answer, or the text of the error
		expiry   traces.Answer
	}{
		{"it yields", "stream", stream{n: 3}, nil, "0 1 2", 3, traces.Set},
		{"it yields nothing", "stream", stream{}, nil, "", 0, traces.NotAsked},
		{"it fails on the way", "stream", stream{2, errors.New("broke")}, nil, "0 1", "broke", traces.NotReached},
		{"it has nothing", "stream", stream{0, indirector.NotFound(traces.NotFound, "")}, nil, "", "nil", traces.NotAsked},
		{"it lists", "main", stream{}, nil, "n1 n2", 2, traces.Set},
		{"the caller has enough", "stream", stream{n: 3}, enough, "0 1", "the caller took no more after 2 instances: enough", traces.NotReached},
		{"the caller of a list has enough", "main", stream{}, enough, "n1 n2", "the caller took no more after 2 instances: enough", traces.NotReached},
		{"a caller who stops ends the search even if the terminus fails otherwise", "stream", stream{3, nil}, context.Canceled, "0 1", "the caller took no more after 2 instances: context canceled", traces.NotReached},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, streaming(tt.stream))
			s.main.m["n1"], s.main.m["n2"] = widget{name: "n1"}, widget{name: "n2"}
			var taken []string
			got, err := s.ask(search, 0, keyed("n"), func(r *indirector.Request) {
				r.Terminus = tt.terminus
				r.Wants = &indirector.Wants{Yield: func(i indirector.Instance) error {
					if w := i.(widget); !w.at.Equal(dated.at) {
						t.Errorf("%s is outdated %v", w.name, w.at)
					}
					if taken = append(taken, i.Key()); len(taken) == 2 {
						return tt.stop
					}
					return nil
				}}
			})
			s.gives(tt.want)(got, err)
			slices.Sort(taken)
			if got := strings.Join(taken, " "); got != tt.taken {
				t.Errorf("taken: got %q, want %q", got, tt.taken)
			}
			if tt.stop != nil {
				located := (*indirector.Error)(nil)
				if !errors.Is(err, tt.stop) || !errors.As(err, &located) || len(located.Done) != 1 {
					t.Errorf("got %#v", err)
				}
			}
			tr := s.keep.Last()
			if got := tr.Steps[traces.ExpirySet].Answer; got != tt.expiry && err == nil {
				t.Errorf("expiry: got %v, want %v", got, tt.expiry)
			}
			if n, ok := tt.want.(int); ok && tr.Steps[traces.Terminus].Because.About != fmt.Sprint(n) {
				t.Errorf("the trace counts %q", tr.Steps[traces.Terminus].Because.About)
			}
		})
	}
}

// Without a Yield, what a terminus yields becomes a list.
func TestYieldCollected(t *testing.T) {
	t.Parallel()
	s := newScene(t, streaming(stream{n: 2}))
	got, err := s.ask(search, 0, keyed("*"), func(r *indirector.Request) { r.Terminus = "stream" })
	if list, _ := got.([]indirector.Instance); err != nil || len(list) != 2 || list[1].(widget).at != dated.at {
		t.Errorf("got %v, %v", got, err)
	}
}

// What a debugger injects is taken in the same way.
func TestYieldInjected(t *testing.T) {
	t.Parallel()
	h := newFixture(t, func(cfg *indirector.Config, ds *[]indirector.Descriptor) {
		cfg.Debugger = holdFunc(func(s *indirector.Stop) indirector.Verdict {
			if s.Point.Step == traces.Terminus && !s.Done {
				return indirector.Verdict{Skip: true, Set: true, Value: []indirector.Instance{widget{name: "mine"}}}
			}
			return indirector.Verdict{}
		})
	})
	var taken []string
	resp, err := h.Do(t.Context(), &indirector.Request{Indirection: "node", Verb: search, Key: "*", Wants: &indirector.Wants{Yield: func(i indirector.Instance) error {
		taken = append(taken, i.Key())
		return nil
	}}})
	if err != nil || resp.Value != 1 || strings.Join(taken, " ") != "mine" || resp.Served != traces.ByInjection {
		t.Errorf("got %v, %v, %v", resp, err, taken)
	}
}

type holdFunc func(*indirector.Stop) indirector.Verdict

func (g holdFunc) Stops() *indirector.Stops {
	all := new(indirector.Stops)
	all.Set(indirector.AllStops)
	return all
}

func (g holdFunc) Hold(_ context.Context, s *indirector.Stop) (indirector.Verdict, error) {
	return g(s), nil
}

func (g holdFunc) Left(uint64) {}

// A cancelled search ends, even if the terminus does not look, and no more of a
// long one is held than is recorded.
func TestYieldLong(t *testing.T) { // alone: it measures the memory of the process
	s := newScene(t, streaming(stream{n: 1_000_000}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n, most := 0, uint64(0)
	_, err := s.Do(ctx, &indirector.Request{Indirection: "node", Verb: search, Key: "*", Terminus: "stream", Wants: &indirector.Wants{Yield: func(indirector.Instance) error {
		if n++; n%50_000 == 0 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
		if n == 200_000 {
			cancel()
		}
		return nil
	}}})
	if !errors.Is(err, context.Canceled) || n != 200_000 {
		t.Errorf("got %v after %d", err, n)
	}
	if most > 24<<20 {
		t.Errorf("%d bytes were held", most)
	}
}
