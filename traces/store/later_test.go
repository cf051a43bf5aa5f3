package store_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"indirtui/traces"
	"indirtui/traces/store"
)

// secretSpans are a span and one below it, with a secret.
type secretSpans struct{}

func (secretSpans) Len() int { return 2 }

func (secretSpans) AppendSpans(to []traces.Span) []traces.Span {
	return append(to,
		traces.Span{ID: 1, Name: "look up k", Answer: "hunter2"},
		traces.Span{ID: 2, Parent: 1, Name: "in hunter2.yaml", Attrs: []traces.Attr{{Key: "written", Value: "hunter2"}}})
}

// Spans that are made later are there, without secrets, for all who read a trace: from
// memory, before and after the writer has seen it, from a recording, and when it ends.
func TestLaterSpans(t *testing.T) {
	t.Parallel()
	hide := func(s string) (string, int) {
		return strings.ReplaceAll(s, "hunter2", "(hidden)"), strings.Count(s, "hunter2")
	}
	want := []traces.Span{
		{ID: 1, Step: traces.Terminus, Name: "look up k", Answer: "(hidden)", At: 5, Took: 1},
		{ID: 2, Parent: 1, Step: traces.Terminus, Name: "in (hidden).yaml", Attrs: []traces.Attr{{Key: "written", Value: "(hidden)"}}, At: 5, Took: 1},
	}
	check := func(name string, tr *traces.Trace, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, tr.Spans); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	later := func() *traces.Trace {
		tr := find("data_binding", "k")
		tr.Later = traces.Later{Maker: secretSpans{}, Step: traces.Terminus, At: 5}
		return tr
	}
	memory := open(t, store.Options{RedactText: hide})
	id := record(memory, later(), nil)
	tr, err := memory.Trace(id)
	check("in memory", tr, err)
	flush(t, memory)
	for range 2 {
		tr, err = memory.Trace(id)
		check("written in memory", tr, err)
	}
	ended := make(chan *traces.Trace, 1)
	recorded := open(t, store.Options{Path: file(t), RedactText: hide, Ended: func(_ *store.Store, tr *traces.Trace) { ended <- tr }})
	id = record(recorded, later(), nil)
	flush(t, recorded)
	check("ended", <-ended, nil)
	tr, err = recorded.Trace(id)
	check("recorded", tr, err)
	tr, err = reopen(t, recorded).Trace(id)
	check("read again", tr, err)
}

// What is secret in the small spans of a series is not recorded, be it the first time or the
// same as in the request before.
func TestSmallSpans(t *testing.T) {
	t.Parallel()
	hide := func(s string) (string, int) {
		return strings.ReplaceAll(s, "hunter2", "(hidden)"), strings.Count(s, "hunter2")
	}
	want := []traces.Span{
		{ID: 1, Step: traces.Terminus, Kind: traces.Note, Name: "provider", Answer: "(hidden)", Took: 1},
		{ID: 2, Step: traces.Terminus, Kind: traces.Note, Name: "change", Because: traces.Because{Reason: traces.OutOfSync, About: "(hidden)"}, Took: 1},
		{ID: 3, Step: traces.Terminus, Kind: traces.Note, Name: "compare (hidden)", Answer: "differs", Because: traces.Because{Reason: traces.OutOfSync}, Took: 1},
	}
	s := open(t, store.Options{Path: file(t), RedactText: hide})
	var ids []uint64
	for range 3 {
		tr := find("resource", "k")
		live := &traces.Live{Context: t.Context(), Trace: tr, Now: func() time.Time { return tr.Start }, Step: traces.Terminus}
		_, series := traces.Series(live)
		series.Note(traces.Note, "provider", "hunter2", traces.Because{}, nil)
		series.Note(traces.Note, "change", "", traces.Because{Reason: traces.OutOfSync, About: "hunter2"}, nil)
		series.Note(traces.Note, "compare hunter2", "differs", traces.Because{Reason: traces.OutOfSync}, nil)
		series.Finish()
		live.Close()
		ids = append(ids, record(s, tr, nil))
	}
	flush(t, s)
	recorded, err := os.ReadFile(s.Path())
	if err != nil || strings.Contains(string(recorded), "hunter2") {
		t.Errorf("the recording has the secret: %s, %v", recorded, err)
	}
	for _, s := range []*store.Store{s, reopen(t, s)} {
		for _, id := range ids {
			tr, err := s.Trace(id)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, tr.Spans); d != "" {
				t.Errorf("request %d (-want +got):\n%s", id, d)
			}
		}
	}
}
