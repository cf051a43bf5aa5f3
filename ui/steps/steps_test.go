package steps_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui"
	"indirtui/ui/screen"
	"indirtui/ui/uitest"
)

// keys are all that do something here.
var keys = strings.Fields("j k G g l l h H L ctrl+d ctrl+u pgdown pgup enter esc enter / terminus enter n N ] [ } { tab shift+tab v esc m a ' a D esc d y esc Y w esc r R esc b esc B esc 3j ? esc")

// open shows the steps of requests with the given traces, of which the last is on
// the screen.
func open(t *testing.T, list ...traces.Trace) *uitest.Player {
	t.Helper()
	s, err := store.Open(store.Options{Now: func() time.Time { return uitest.Began }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for i := range list {
		tr := list[i]
		tr.ID = s.Begin(&tr)
		if tr.Outcome != traces.Run {
			s.End(&tr, nil)
		}
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	p := uitest.New(t, ui.Config{Log: s, Save: func(name, _ string) (string, int, error) { return name, 0, nil }}, 80, 24)
	return p.Keys("G", "enter")
}

func find(key string) traces.Trace {
	return traces.Trace{Verb: traces.Find, Indirection: "facts", Key: key, Start: uitest.Began, Took: time.Second, Outcome: traces.Good, Served: traces.ByTerminus}
}

func TestEdges(t *testing.T) {
	t.Parallel()
	running := find("web01")
	running.Outcome, running.Took = traces.Run, 0
	early := find("web01")
	early.Spans = []traces.Span{{ID: 1, Step: traces.Terminus, Kind: traces.File, Name: "before it began", At: -time.Hour, Took: time.Hour}}
	long := find("web01")
	long.Spans = []traces.Span{{ID: 1, Step: traces.Terminus, Kind: traces.File, Name: "longer than it", At: 1 << 60, Took: 1<<63 - 1}}
	orphans := find("web01")
	orphans.Spans = []traces.Span{{ID: 1, Parent: 7, Step: traces.Terminus, Name: "of nobody"}, {ID: 2, Parent: 2, Step: traces.Terminus, Name: "of itself"}, {ID: 3, Parent: 4, Name: "round"}, {ID: 4, Parent: 3, Name: "and round"}}
	for name, tr := range map[string]traces.Trace{
		"nothing is known": {}, "it runs": running, "a span before the request": early, "a span longer than the request": long, "spans without parents": orphans,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open(t, tr).Exact().Try(keys...)
		})
	}
}

// The number of a deep row ends with its place among its like, where there is no room for
// all of it.
func TestDeepNumbers(t *testing.T) {
	t.Parallel()
	tr := find("web01")
	for i := range 12 {
		tr.Spans = append(tr.Spans, traces.Span{ID: i + 1, Parent: min(i, 2), Step: traces.Terminus, Kind: traces.Code, Name: fmt.Sprintf("part%d", i)})
	}
	p := open(t, tr).Keys("H", "L", "G")
	for _, want := range []string{" .9 ", " .10 "} {
		if !strings.Contains(p.Frame(), want) {
			t.Errorf("no row is %q:\n%s", want, p.Frame())
		}
	}
}

func TestThousandsOfSpans(t *testing.T) {
	t.Parallel()
	tr := find("web01")
	for i := range 5000 {
		tr.Spans = append(tr.Spans, traces.Span{
			ID: i + 1, Parent: i / 3, Step: traces.Terminus, Kind: traces.File, Name: fmt.Sprintf("read %04d", i), Answer: "ok",
			At: time.Duration(i) * time.Microsecond, Took: time.Microsecond, Attrs: []traces.Attr{{Key: "path", Value: strings.Repeat("x", i)}},
		})
	}
	p := open(t, tr)
	p.Keys("L").Want("read 0000").Keys("/", "4999", "enter").Want("read 49")
	p.Try("L", "G", "k", "enter", "esc", "H", "g")
}

// Many requests of one run: } and { go through them, and the same screen shows
// them.
func TestRun(t *testing.T) {
	t.Parallel()
	var list []traces.Trace
	for i := range 50 {
		tr := find(fmt.Sprintf("key%02d", i))
		tr.Run = "8f3c"
		list = append(list, tr)
	}
	p := open(t, list...)
	p.Want("key49").Keys("{", "{").Want("key47").Keys("}").Want("key48").Keys("}", "}").Want("not now: there is no later request")
	p.Keys("esc").Want("- Requests ")
}

func TestHostileSteps(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 8))
	for i := range 8 {
		open(t, uitest.HostileTrace(r, i)).Try(keys...)
	}
	tr := find(strings.Repeat("k\x1b[2J", 1<<15))
	tr.Error = strings.Repeat("line\u202e\n", 1<<16)
	tr.Notes = []traces.Remark{{Step: traces.Terminus, Explains: traces.AnyFailure, Text: tr.Error}}
	open(t, tr).Try(keys...)
}

// A request that is not there, or not any more, is shown as that.
func TestGone(t *testing.T) {
	t.Parallel()
	p := open(t, find("web01"))
	p.Keys("esc")
	p.Send(screen.Open{Request: 4711})
	p.Exact().Try(keys...)
}
