package traces_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"indirtui/traces"
)

// A span that was measured elsewhere lies within the one above it.
func TestMeasured(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	live := &traces.Live{Context: t.Context(), Trace: &traces.Trace{Start: now}, Now: func() time.Time { return now }}
	now = now.Add(time.Second)
	ctx, above := traces.Start(live, traces.Exec, "above")
	now = now.Add(10 * time.Second)
	_, span := traces.Start(ctx, traces.Code, "measured")
	span.Measured(2*time.Second, 3*time.Second)
	span.End("", traces.Because{}, nil)
	above.End("", traces.Because{}, nil)
	got := live.Trace.Spans
	if got[0].At != 3*time.Second || got[0].Took != 3*time.Second || got[1].At != time.Second || got[1].Took != 10*time.Second {
		t.Errorf("got %+v", got)
	}
}

// What a series notes is like a span that ended at once; what begins after it is not below it.
func TestNote(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	live := &traces.Live{Context: t.Context(), Trace: &traces.Trace{Start: now}, Now: func() time.Time { return now }, Step: traces.Terminus}
	ctx, a := traces.Start(live, traces.Code, "all")
	ctx, series := traces.Series(ctx)
	now = now.Add(time.Second)
	why := traces.Because{Reason: traces.Unsuitable, About: "x"}
	series.Note(traces.Note, "provider", "failed", why, errors.New("it is none"))
	leaf := traces.StartLeaf(ctx, traces.File, "look")
	leaf.Attr("path", "/x")
	live.Expect(100)
	leaf.End("", traces.Because{}, nil)
	series.Show()
	a.End("", traces.Because{}, nil)
	want := []traces.Span{
		{ID: 2, Parent: 1, Step: traces.Terminus, Kind: traces.Note, Name: "provider", Answer: "failed", Because: why, At: time.Second, Took: 1, Err: "it is none"},
		{ID: 3, Parent: 1, Step: traces.Terminus, Kind: traces.File, Name: "look", At: time.Second, Took: 1, Attrs: []traces.Attr{{Key: "path", Value: "/x"}}},
		{ID: 1, Step: traces.Terminus, Kind: traces.Code, Name: "all", Took: time.Second},
	}
	if !reflect.DeepEqual(live.Trace.Spans, want) {
		t.Errorf("got %+v", live.Trace.Spans)
	}
	if cap(live.Trace.Spans) < 100 {
		t.Errorf("there is room for %d spans, want that for the 100 that are expected", cap(live.Trace.Spans))
	}
	series.Note(traces.Note, "compare", "nothing to do", traces.Because{Reason: traces.InSync}, nil)
	series.Begin(traces.Note, "flush")
	late := traces.StartLeaf(ctx, traces.File, "write")
	now = now.Add(time.Second)
	series.End("written", traces.Because{}, nil)
	series.Finish()
	late.End("", traces.Because{}, nil)
	want = []traces.Span{
		want[2], want[0], want[1],
		{ID: 4, Parent: 1, Step: traces.Terminus, Kind: traces.Note, Name: "compare", Answer: "nothing to do", Because: traces.Because{Reason: traces.InSync}, At: time.Second, Took: 1},
		{ID: 5, Parent: 1, Step: traces.Terminus, Kind: traces.Note, Name: "flush", Answer: "written", At: time.Second, Took: time.Second},
		{ID: 6, Parent: 1, Step: traces.Terminus, Kind: traces.File, Name: "write", At: time.Second, Took: time.Second},
	}
	if got := live.Trace.Completed().Spans; len(live.Trace.Spans) != 4 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	live.Close()
	live.Expect(1)
	series.Note(traces.Note, "late", "", why, nil) // is dropped
	var none *traces.Active
	none.Note(traces.Note, "of nothing", "", why, nil)
	var untraced *traces.Live
	untraced.Expect(1)
	untraced.Look(func(*traces.Trace) { t.Error("there is a trace of nothing") })
}
