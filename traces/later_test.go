package traces_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"indirtui/traces"
)

// made are a span and one below it.
type made string

func (m made) Len() int { return 2 }

func (m made) AppendSpans(to []traces.Span) []traces.Span {
	return append(to, traces.Span{ID: 1, Name: string(m)}, traces.Span{ID: 2, Parent: 1, Name: string(m) + " below"})
}

// Spans that are made later stand where they were added: below what was open, and between
// what was begun before and after.
func TestLater(t *testing.T) {
	t.Parallel()
	at := time.Unix(1, 0)
	live := &traces.Live{Context: t.Context(), Trace: &traces.Trace{Start: at}, Step: traces.Terminus, Now: func() time.Time { at = at.Add(time.Second); return at }}
	ctx, outer := traces.Start(live, traces.Code, "outer")
	traces.AddLater(ctx, made("first"))
	_, inner := traces.Start(ctx, traces.Code, "inner")
	inner.End("", traces.Because{}, nil)
	outer.End("", traces.Because{}, nil)
	traces.AddLater(live, made("second"))
	traces.AddLater(t.Context(), made("of no request"))
	all := live.Trace.Completed()
	if all == live.Trace || all.Completed() != all {
		t.Error("a trace is complete before it is completed, or not after that")
	}
	var got []string
	for _, s := range all.Spans {
		got = append(got, fmt.Sprintf("%d %d %s %v %v", s.ID, s.Parent, s.Name, s.Step, s.At))
	}
	want := "1 0 outer terminus 1s\n2 1 first terminus 2s\n3 2 first below terminus 2s\n4 1 inner terminus 3s\n5 0 second terminus 6s\n6 5 second below terminus 6s"
	if got := strings.Join(got, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
