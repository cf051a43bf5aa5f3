package requests

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/traces/store"
	"indirtui/ui/session"
	"indirtui/ui/term"
)

// logOf returns a log of n requests with any values.
func logOf(t testing.TB, n, rows int) *store.Store {
	t.Helper()
	s, err := store.Open(store.Options{Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	r := rand.New(rand.NewPCG(uint64(n), 3))
	words := []string{"", "a", "b", "ab", "zz", "日本", "\x1b[2J", "A"}
	for i := range n {
		tr := &traces.Trace{
			Verb: traces.Verb(1 + r.IntN(5)), Indirection: words[r.IntN(len(words))], Key: fmt.Sprint(words[r.IntN(len(words))], r.IntN(50)),
			Primary: traces.Slot{{Terminus: words[r.IntN(len(words))], Kind: traces.FromSetting}},
			Outcome: traces.Outcome(1 + r.IntN(int(traces.OutcomeCount)-1)), Took: time.Duration(r.Int64N(1 << (1 + r.IntN(50)))), Start: time.Unix(int64(i), 0),
		}
		if i%500 == 3 {
			tr.Took = -time.Second // a recording may hold anything
		}
		id := s.Begin(tr)
		tr.ID = id
		if i%97 != 5 { // those run for ever
			s.End(tr, nil)
		}
		if i%1000 == 1 {
			if err := s.SetMark(id, 'a'); err != nil { // which is kept when its neighbours are dropped
				t.Fatal(err)
			}
		}
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	return s
}

// What is sorted by numbers is in the order in which comparing the columns puts
// it, with a filter and without one, when rows were dropped, when there are none.
func TestSortView(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 3000} {
		for _, filter := range []string{"", "ind=zz", "took>5ms", "verb=find or verb=save or verb=head"} {
			checkOrder(t, logOf(t, n, 0), filter)
		}
	}
	dropped := logOf(t, 140_000, 66_000)
	if first, _ := dropped.Range(); first <= 1 {
		t.Fatal("nothing was dropped")
	}
	checkOrder(t, dropped, "")
}

func checkOrder(t *testing.T, log *store.Store, filter string) {
	t.Helper()
	var e *query.Expr
	if filter != "" {
		var err error
		if e, err = query.Parse(filter); err != nil {
			t.Fatal(err)
		}
	}
	v := log.View(e)
	for !v.Extend(0) {
	}
	for _, column := range sortable[1:] {
		var want []session.Row
		for i := range v.Len() {
			if row, ok := log.Row(v.At(i)); ok {
				want = append(want, row)
			}
		}
		slices.SortStableFunc(want, func(a, b session.Row) int {
			switch column {
			case "verb":
				return cmp.Compare(a.Verb, b.Verb)
			case "ind":
				return strings.Compare(a.Indirection, b.Indirection)
			case "key":
				return strings.Compare(a.Key, b.Key)
			case "served":
				return strings.Compare(session.ServedBy(&a), session.ServedBy(&b))
			case "ms":
				return cmp.Compare(max(a.Took, 0), max(b.Took, 0))
			}
			return cmp.Compare(a.Outcome, b.Outcome)
		})
		got := sortView(log, v, column)
		if len(got.ids) != len(want) {
			t.Fatalf("%s of %q: got %d requests, want %d", column, filter, len(got.ids), len(want))
		}
		for i := range want {
			if got.ids[i] != want[i].ID {
				t.Fatalf("%s of %q: at %d got #%d, want #%d", column, filter, i, got.ids[i], want[i].ID)
			}
		}
	}
}

func TestOrderKnowsWhereARequestIs(t *testing.T) {
	t.Parallel()
	o := &order{ids: []uint64{7, 3, 9}}
	for _, tt := range []struct {
		id      uint64
		near    int
		reverse bool
		want    int
	}{{3, 1, false, 1}, {3, 0, false, 1}, {7, 5, false, 0}, {7, 0, true, 2}, {9, 0, true, 0}, {4, 0, false, -1}, {4, -1, true, -1}} {
		if got := o.index(tt.id, tt.near, tt.reverse); got != tt.want {
			t.Errorf("%+v: got %d", tt, got)
		}
	}
}

// A clock that was set back between two failures makes no hole in the screen.
func TestTimelineOfAClockThatGoesBack(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_700_000_000, 0)
	for _, tt := range []struct {
		at   []time.Duration
		want string
	}{
		{nil, ""},
		{[]time.Duration{0}, ""},
		{[]time.Duration{0, 0}, ""},
		{[]time.Duration{0, time.Minute}, "#..#"},
		{[]time.Duration{time.Hour, 0, time.Minute}, "#..-"},
	} {
		f := failure{}
		for _, d := range tt.at {
			f.at = append(f.at, at.Add(d))
		}
		if got := f.timeline(term.ASCII.Spark, 4); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.at, got, tt.want)
		}
	}
}
