package indirector

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"unsafe"

	"indirtui/traces"
)

// TestFlightSize holds that what a request allocates is of a small size class.
// Above 512 bytes the allocator puts a header before each object that has
// pointers, and takes a slower path: that has cost two thirds of a find which
// nobody records. Every class below that is a collection less often. What only
// few callers need goes into Wants.
func TestFlightSize(t *testing.T) {
	t.Parallel()
	const class, with = 320, 384 // of the allocator; those between are 352
	if size := unsafe.Sizeof(kept{}); size > class {
		t.Errorf("a request keeps %d bytes, and should keep %d at the most: a Request has %d, a Response %d", size, class,
			unsafe.Sizeof(Request{}), unsafe.Sizeof(Response{}))
	}
	if size := unsafe.Sizeof(recorded{}); size > with {
		t.Errorf("one that is recorded keeps %d bytes, and should keep %d at the most", size, with)
	}
}

// One is a terminus that finds one key, and fails for another.
type one struct{}

func (one) Find(_ context.Context, req *Request) (Instance, error) {
	switch req.Key {
	case "web01":
		return Name("web01"), nil
	case "fails":
		return nil, errors.New("out of order")
	case "panics":
		panic("out of order")
	}
	return nil, NotFound(traces.NotFound, "")
}

// frees is a recorder that gives every trace back.
type frees struct{}

func (frees) Begin(*traces.Trace) uint64 { return 1 }
func (frees) End(t *traces.Trace, _ any) { t.Free() }

func newOne(tb testing.TB, r traces.Recorder) *Indirector {
	tb.Helper()
	reg, err := NewRegistry([]Spec{{Name: "facts", Class: "Widget", Default: "one"}}, []Descriptor{{
		Indirection: "facts", Name: "one", Type: one{}, New: func(Env) (Terminus, error) { return one{}, nil },
	}})
	if err != nil {
		tb.Fatal(err)
	}
	x, err := New(Config{Registry: reg, Recorder: r, Routes: Routes{"facts": {Primary: traces.Slot{{Terminus: "one", Source: traces.FromDeclaration}}}}})
	if err != nil {
		tb.Fatal(err)
	}
	return x
}

// TestFlightsBeginEmpty holds that nothing of a request is left for the one that
// uses its flight again.
func TestFlightsBeginEmpty(t *testing.T) {
	t.Parallel()
	for _, r := range []traces.Recorder{nil, frees{}} {
		x := newOne(t, r)
		for _, key := range []string{"web01", "absent", "fails", "panics"} {
			req := &Request{
				Indirection: "facts", Verb: Find, Key: key, Caller: "cli", Run: "r1", Terminus: "one", Options: []Option{{"secret", "hunter2"}},
				Wants: &Wants{Notes: []string{"a note"}, Take: func(context.Context, *Response) error { return errors.New("not taken") }},
			}
			_, _ = x.Do(t.Context(), req)
			f := x.newFlight(&Request{})
			want := &flight{x: x, kept: f.kept, live: f.live}
			want.live.Trace = f.live.Trace
			if r == nil {
				want.unrecorded.live.Trace = f.live.Trace
			}
			if !reflect.DeepEqual(f, want) || !reflect.DeepEqual(f.live.Trace, new(traces.Trace)) || !reflect.DeepEqual(*f.kept, kept{}) {
				t.Errorf("after %q: got %+v", key, f)
			}
		}
	}
}

// TestFindAllocatesOnce holds that a find allocates what may be kept of it, and
// nothing else.
func TestFindAllocatesOnce(t *testing.T) {
	for _, r := range []traces.Recorder{nil, frees{}} {
		x, req := newOne(t, r), &Request{Indirection: "facts", Verb: Find, Key: "web01"}
		find := func() { _, _ = x.Do(t.Context(), req) }
		least := testing.AllocsPerRun(100, find)
		for range 20 { // the race detector empties pools at random
			least = min(least, testing.AllocsPerRun(10, find))
		}
		if least > 1 {
			t.Errorf("recorder %T: got %v allocations, want 1", r, least)
		}
	}
}
