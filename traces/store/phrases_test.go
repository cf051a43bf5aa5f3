package store

import (
	"testing"
	"time"

	"indirtui/traces"
)

// A line is the same whatever lines were before it, and only what is written is known.
func TestPhrases(t *testing.T) {
	t.Parallel()
	slot := traces.Slot{{Terminus: "ral", Source: "this request"}, {Terminus: "other", Why: "left"}}
	trace := func(change func(*traces.Trace)) *traces.Trace {
		tr := &traces.Trace{
			ID: 1, Verb: traces.Save, Indirection: "resource", Key: "file//a", Primary: slot, Cache: slot[1:],
			Spans: []traces.Span{{ID: 1, Kind: traces.Note, Name: "compare", Answer: "nothing to do", At: 7, Took: 1}},
		}
		tr.Steps[traces.Terminus] = traces.Question{Answer: traces.OK, Because: traces.Because{Reason: traces.InSync}, Took: 5}
		change(tr)
		return tr
	}
	many := make([]traces.Span, 20)
	for i := range many {
		many[i] = traces.Span{ID: i + 1, Name: "look", Answer: "file"}
	}
	var p phrases
	for range 2 {
		for _, tr := range []*traces.Trace{
			trace(func(*traces.Trace) {}),
			trace(func(tr *traces.Trace) { tr.Steps[traces.Terminus].Took = 6 }),
			trace(func(tr *traces.Trace) { tr.Steps[traces.Terminus].Because.About = "a \"name\"" }),
			trace(func(tr *traces.Trace) { tr.Primary = tr.Primary[:1] }),
			trace(func(tr *traces.Trace) { tr.Primary, tr.Cache = nil, slot }),
			trace(func(tr *traces.Trace) { tr.Spans[0].At, tr.Spans[0].Took = 8, time.Second }),
			trace(func(tr *traces.Trace) { tr.Spans[0].Answer, tr.Spans[0].Parent = "differs", 3 }),
			trace(func(tr *traces.Trace) {
				tr.Spans[0].Err, tr.Spans[0].Attrs = "no", []traces.Attr{{Key: "k", Value: "v"}}
			}),
			trace(func(tr *traces.Trace) { tr.Spans = many }),
			trace(func(tr *traces.Trace) { tr.Spans, tr.Steps = nil, [traces.StepCount]traces.Question{} }),
		} {
			if got, want := p.appendTrace(nil, tr, false), new(phrases).appendTrace(nil, tr, false); string(got) != string(want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
	}
	seen, other := traces.Span{ID: 1, Name: "look", Answer: "file"}, traces.Span{ID: 1, Name: "look", Answer: "secret"}
	failed, late := seen, traces.Span{ID: 20, Name: "look", Answer: "file"}
	failed.Err = "secret"
	if !p.knows(0, &seen) || p.knows(0, &other) || p.knows(0, &failed) || p.knows(19, &late) {
		t.Error("something is known that was not written, or what was written is not")
	}
}
