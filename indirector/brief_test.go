package indirector_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/traces"
)

// keeper is a terminus that keeps the context and the request of every find.
type keeper struct {
	*mem
	contexts []context.Context
	requests []*indirector.Request
}

func (k *keeper) Find(ctx context.Context, r *indirector.Request) (indirector.Instance, error) {
	k.contexts, k.requests = append(k.contexts, ctx), append(k.requests, r)
	return k.mem.Find(ctx, r)
}

// findsIn returns a function that finds a key in t, as facts.
func findsIn(t *testing.T, terminus indirector.Terminus, brief bool, route string) func(key string) indirector.Response {
	t.Helper()
	x := briefly(t, terminus, brief, route, new(numbers))
	return func(key string) indirector.Response {
		resp, err := x.Do(t.Context(), &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
}

// briefly returns an Indirector whose facts are in terminus.
func briefly(t *testing.T, terminus indirector.Terminus, brief bool, route string, r traces.Recorder) *indirector.Indirector {
	t.Helper()
	reg, err := indirector.NewRegistry(
		[]indirector.Spec{{Name: "facts", Class: "Widget", Default: "memory"}},
		[]indirector.Descriptor{{
			Indirection: "facts", Name: "memory", Type: terminus, Brief: brief,
			New: func(indirector.Env) (indirector.Terminus, error) { return terminus, nil },
		}})
	if err != nil {
		t.Fatal(err)
	}
	x, err := indirector.New(indirector.Config{
		Registry: reg, Recorder: r,
		Routes: indirector.Routes{"facts": {Primary: traces.Slot{{Terminus: route, Kind: traces.FromRequest}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// numbers is a recorder that numbers requests.
type numbers struct{ last uint64 }

func (n *numbers) Begin(*traces.Trace) uint64 { n.last++; return n.last }
func (*numbers) End(*traces.Trace, any)       {}

// keepers is a recorder that takes requests as a whole.
type keepers struct {
	numbers
	kept, ended int
}

func (k *keepers) End(*traces.Trace, any) { k.ended++ }

func (k *keepers) Keep(t *traces.Trace, _ any) uint64 {
	if t.Outcome != traces.Good || t.Steps[traces.Filter].Answer != traces.Unfiltered {
		panic("it has not ended")
	}
	k.kept++
	return k.Begin(t)
}

// TestKept holds that the recorder gets a request as a whole if it was seen by brief
// termini only, and its number with the beginning if an error has that.
func TestKept(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, key   string
		brief       bool
		kept, ended int
	}{
		{"brief", "web01", true, 1, 0},
		{"not brief", "web01", false, 0, 1},
		{"not found", "web02", true, 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			stored := &mem{m: map[string]indirector.Instance{"web01": widget{"web01", "a", time.Time{}}}}
			r := new(keepers)
			x := briefly(t, stored, tt.brief, "memory", r)
			resp, err := x.Do(t.Context(), &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: tt.key})
			id := uint64(0)
			if located := (*indirector.Error)(nil); errors.As(err, &located) {
				id = located.Trace
			} else if err == nil {
				id = resp.Trace
			}
			if id != 1 || r.kept != tt.kept || r.ended != tt.ended {
				t.Errorf("got number %d (%v), %d kept, %d ended; want 1, %d, %d", id, err, r.kept, r.ended, tt.kept, tt.ended)
			}
		})
	}
}

// TestUsedAgain holds that what a request leaves behind stays as it is: the answer,
// and what a terminus that is not brief keeps.
func TestUsedAgain(t *testing.T) {
	t.Parallel()
	stored := &mem{m: map[string]indirector.Instance{
		"web01": widget{"web01", "a", time.Time{}}, "web02": widget{"web02", "b", time.Time{}},
	}}
	for _, c := range []struct {
		name, route string
		brief       bool
	}{
		{"brief", "memory", true}, {"not brief", "memory", false}, {"wrapped", "delay(memory, 1ms)", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			k := &keeper{mem: stored}
			find := findsIn(t, k, c.brief, c.route)
			first := find("web01")
			second := find("web02")
			if first.Value.(widget).name != "web01" || first.Trace != 1 || second.Value.(widget).name != "web02" || second.Trace != 2 {
				t.Errorf("got %+v and %+v", first, second)
			}
			if c.brief && c.route == "memory" {
				return
			}
			for i, want := range []string{"web01", "web02"} {
				id, _, _ := traces.FromContext(k.contexts[i]).Request()
				if k.requests[i].Key != want || id != uint64(i)+1 {
					t.Errorf("kept of request %d: key %q, number %d", i+1, k.requests[i].Key, id)
				}
			}
		})
	}
}
