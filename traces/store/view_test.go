package store_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/traces/store"
)

func expr(tb testing.TB, text string) *query.Expr {
	tb.Helper()
	e, err := query.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

func ids(v *store.View) []uint64 {
	var all []uint64
	for i := range v.Len() {
		all = append(all, v.At(i))
	}
	return all
}

func extend(v *store.View) {
	for !v.Extend(0) {
	}
}

func TestView(t *testing.T) {
	t.Parallel()
	s := open(t, store.Options{Path: file(t)})
	parent := find("catalog", "web01") // 1
	parent.Run, parent.Caller = "r", "you"
	parent.ID = s.Begin(parent)
	child := find("node", "web01") // 2
	child.Run, child.Parent, child.Outcome = "r", 1, traces.ErrHidden
	child.Faults = []traces.Fault{{Origin: "cache-read yaml", Message: "connection refused"}}
	record(s, child, nil)
	s.End(parent, nil)
	for i := range 3 { // 3, 4, 5
		tr := find("facts", fmt.Sprintf("db%02d", i))
		tr.Took = time.Duration(i) * time.Second
		tr.Spans = []traces.Span{{ID: 1, Kind: traces.File, Name: "read " + tr.Key}}
		tr.Steps[traces.Terminus] = traces.Question{Answer: traces.OK, Took: tr.Took}
		record(s, tr, nil)
	}
	if err := s.SetMark(4, 'a'); err != nil {
		t.Fatal(err)
	}
	if err := s.AddComment(5, "odd one"); err != nil {
		t.Fatal(err)
	}
	flush(t, s)
	views := map[string][]uint64{
		"":                        {1, 2, 3, 4, 5},
		"web01":                   {1, 2},
		"ind=facts took>=1s":      {4, 5},
		"hidden":                  {2},
		"@marked":                 {4},
		"odd":                     {5},
		"nested":                  {2},
		"sent":                    {1},
		"child(out=err~)":         {1},
		"parent(ind=catalog)":     {2},
		"prev(ind=catalog)":       {2},
		"next(ind=node)":          {1},
		"run(hidden)":             {1, 2},
		"err~refused":             {2},
		"step(terminus took>1s)":  {5},
		"#2..3":                   {2, 3},
		"setby=setting ind=facts": {3, 4, 5},
	}
	check := func(name string, s *store.Store) {
		for text, want := range views {
			v := s.View(expr(t, text))
			extend(v)
			if got := ids(v); !slices.Equal(got, want) {
				t.Errorf("%s: %q: got %v, want %v", name, text, got, want)
			}
			if n, total := v.Checked(); n != 5 || total != 5 {
				t.Errorf("%s: %q: checked %d of %d", name, text, n, total)
			}
		}
	}
	check("live", s)
	check("recorded", reopen(t, s))
}

// A view is right again after everything that can change what it shows.
func TestViewFollows(t *testing.T) {
	t.Parallel()
	s := open(t, store.Options{})
	running, good, marked, all := s.View(expr(t, "out=run")), s.View(expr(t, "out=ok")), s.View(expr(t, "@marked")), s.View(nil)
	want := func(when string, r, g, m, a []uint64) {
		t.Helper()
		for _, tt := range []struct {
			name string
			v    *store.View
			want []uint64
		}{{"running", running, r}, {"good", good, g}, {"marked", marked, m}, {"all", all, a}} {
			extend(tt.v)
			if got := ids(tt.v); !slices.Equal(got, tt.want) {
				t.Errorf("%s: %s: got %v, want %v", when, tt.name, got, tt.want)
			}
		}
	}
	want("empty", nil, nil, nil, nil)
	a, b := find("facts", "a"), find("facts", "b")
	a.Outcome, b.Outcome = traces.Run, traces.Run
	a.ID, b.ID = s.Begin(a), s.Begin(b)
	want("begun", []uint64{1, 2}, nil, nil, []uint64{1, 2})
	b.Outcome = traces.Good
	s.End(b, nil)
	want("the second ended", []uint64{1}, []uint64{2}, nil, []uint64{1, 2})
	a.Outcome = traces.Good
	s.End(a, nil)
	flush(t, s)
	if err := s.SetMark(1, 'x'); err != nil {
		t.Fatal(err)
	}
	want("both ended", nil, []uint64{1, 2}, []uint64{1}, []uint64{1, 2})
	if err := s.SetMark(1, 0); err != nil {
		t.Fatal(err)
	}
	record(s, find("facts", "c"), nil)
	want("a third", nil, []uint64{1, 2, 3}, nil, []uint64{1, 2, 3})
	if i, j := good.Index(2), good.Index(99); i != 1 || j != 3 {
		t.Errorf("got index %d and %d", i, j)
	}
	if good.At(-1) != 0 || good.At(3) != 0 {
		t.Error("a request outside of the view")
	}
}

func TestViewBudget(t *testing.T) {
	t.Parallel()
	s := open(t, store.Options{})
	for range 1000 {
		record(s, find("facts", "a"), nil)
	}
	v := s.View(nil)
	for n := 300; n < 1000; n += 300 {
		if v.Extend(300) || v.Len() != n {
			t.Errorf("got %d, want %d", v.Len(), n)
		}
	}
	if !v.Extend(300) || v.Len() != 1000 {
		t.Errorf("got %d, want all", v.Len())
	}
}

// million is a store with a million requests of as many keys.
func million(tb testing.TB, opts store.Options) *store.Store {
	s := open(tb, opts)
	for i := range 1_000_000 {
		tr := find("facts", fmt.Sprintf("node%07d.example.com", i))
		tr.Took = time.Duration(i)
		record(s, tr, nil)
	}
	flush(tb, s)
	return s
}

// BenchmarkFilter is the time until a filter has seen a million requests, and
// until its first part is there.
func BenchmarkFilter(b *testing.B) {
	s := million(b, store.Options{})
	for _, text := range []string{"", "out=err", "key=node0999*", "took>900us ind=facts", "not hidden"} {
		e := expr(b, text)
		b.Run("all/"+text, func(b *testing.B) {
			for b.Loop() {
				extend(s.View(e))
			}
		})
		b.Run("first/"+text, func(b *testing.B) {
			for b.Loop() {
				s.View(e).Extend(0)
			}
		})
	}
}

// BenchmarkScreen is a screen of rows out of a million.
func BenchmarkScreen(b *testing.B) {
	s := million(b, store.Options{})
	rows := make([]store.Row, 60)
	b.ReportAllocs()
	i := uint64(0)
	for b.Loop() {
		i = (i + 7919) % 900_000
		if s.Rows(i+1, rows) != 60 {
			b.Fatal("no rows")
		}
	}
}

// A view of a recording that is still being read gets every request, though
// parents come after their children.
func TestViewOfLoading(t *testing.T) {
	t.Parallel()
	const families, children = 500, 3
	s := open(t, store.Options{Path: file(t)})
	for i := range families {
		parent := find("catalog", fmt.Sprint("web", i))
		parent.ID = s.Begin(parent)
		for range children {
			child := busy(i)
			child.Parent = parent.ID
			record(s, child, nil)
		}
		s.End(parent, nil)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := store.OpenFile(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, parents := r.View(nil), r.View(expr(t, "ind=catalog"))
	for done, total := r.Loading(); done < total; done, total = r.Loading() {
		v.Extend(100)
		parents.Extend(0)
		<-r.Changed()
	}
	extend(v)
	extend(parents)
	if v.Len() != families*(children+1) || parents.Len() != families {
		t.Errorf("got %d and %d, want %d and %d", v.Len(), parents.Len(), families*(children+1), families)
	}
	if !slices.IsSorted(ids(v)) {
		t.Error("not in order")
	}
	if n, total := v.Checked(); n != total || total != v.Len() {
		t.Errorf("checked %d of %d", n, total)
	}
}

// A run is found by its name and by its transaction_uuid, also the requests that
// came before that was known, live and in a recording.
func TestTransaction(t *testing.T) {
	t.Parallel()
	s := open(t, store.Options{Path: file(t)})
	named, other, unnamed := s.View(expr(t, "run=u1")), s.View(expr(t, "run=4f2a91c3")), s.View(expr(t, "run=u2"))
	of := func(run, transaction string) *traces.Trace {
		tr := find("file_metadata", "plugins")
		tr.Run, tr.Transaction = run, transaction
		return tr
	}
	record(s, of("4f2a91c3", ""), nil) // 1
	record(s, of("another", ""), nil)  // 2
	late := of("4f2a91c3", "")         // 3 ends after what follows, and so comes last in the recording
	late.ID = s.Begin(late)
	extend(named)
	if named.Len() != 0 {
		t.Errorf("before it is known: %v", ids(named))
	}
	record(s, of("4f2a91c3", "u1"), nil) // 4
	record(s, of("4f2a91c3", ""), nil)   // 5
	record(s, of("u2", "u2"), nil)       // 6
	s.End(late, nil)
	flush(t, s)
	check := func(name string, v *store.View, want ...uint64) {
		t.Helper()
		if extend(v); !slices.Equal(ids(v), want) {
			t.Errorf("%s: got %v, want %v", name, ids(v), want)
		}
	}
	check("the uuid", named, 1, 3, 4, 5)
	check("the name", other, 1, 3, 4, 5)
	check("the uuid is the name", unnamed, 6)
	again := reopen(t, s)
	for _, s := range []*store.Store{s, again} {
		check("another view", s.View(expr(t, "run=u1")), 1, 3, 4, 5)
		for _, id := range []uint64{1, 3, 4, 5} {
			tr, err := s.Trace(id)
			if row, _ := s.Row(id); err != nil || row.Run != "4f2a91c3" || row.Transaction != "u1" || tr.Run != "4f2a91c3" || tr.Transaction != "u1" {
				t.Errorf("#%d: row %q %q, detail %+v, %v", id, row.Run, row.Transaction, tr, err)
			}
		}
		if row, _ := s.Row(6); row.Run != "u2" || row.Transaction != "" {
			t.Errorf("#6: row %q %q", row.Run, row.Transaction)
		}
	}
}

// A transaction_uuid, which a client may choose, is redacted as all texts are.
func TestTransactionIsRedacted(t *testing.T) {
	t.Parallel()
	path := file(t)
	s := open(t, store.Options{Path: path, RedactText: func(s string) (string, int) {
		return strings.ReplaceAll(s, "secret", "(masked)"), strings.Count(s, "secret")
	}})
	tr := find("node", "web01")
	tr.Run, tr.Transaction = "r", "a secret"
	record(s, tr, nil)
	flush(t, s)
	if row, _ := s.Row(1); row.Run != "r" || row.Transaction != "a (masked)" {
		t.Errorf("got %q, %q", row.Run, row.Transaction)
	}
	if b, err := os.ReadFile(path); err != nil || strings.Contains(string(b), "secret") {
		t.Errorf("got %s, %v", b, err)
	}
}

// A view that was not extended for long is right again, although it is not known
// any longer what was touched since.
func TestViewRestarts(t *testing.T) {
	t.Parallel()
	s := open(t, store.Options{})
	for range 3 {
		record(s, find("facts", "web01"), nil)
	}
	v := s.View(expr(t, "@marked"))
	extend(v)
	for i := range 1<<16 + 2 {
		if err := s.SetMark(1+uint64(i/(1<<16)), 'a'); err != nil {
			t.Fatal(err)
		}
	}
	if extend(v); !slices.Equal(ids(v), []uint64{1, 2}) {
		t.Errorf("got %v, want 1 and 2", ids(v))
	}
	if n, total := v.Checked(); n != 3 || total != 3 {
		t.Errorf("checked %d of %d", n, total)
	}
}
