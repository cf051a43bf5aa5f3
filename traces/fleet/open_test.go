//go:build unix

package fleet_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"indirtui/traces"
	"indirtui/traces/fleet"
	"indirtui/traces/query"
	"indirtui/traces/store"
)

// open opens a fleet, which is closed at the end of the test.
func open(t testing.TB, url string) *fleet.Fleet {
	t.Helper()
	f, err := fleet.Open(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// until waits for something that happens by itself.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !is() {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain for " + what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// shown are the requests of a view, oldest first.
func shown(t testing.TB, f *fleet.Fleet, v *store.View) (all []store.Row) {
	t.Helper()
	for !v.Extend(0) {
	}
	for i := range v.Len() {
		r, ok := f.Store.Row(v.At(i))
		if !ok {
			t.Fatalf("#%d is in the view and not there", v.At(i))
		}
		all = append(all, r)
	}
	return all
}

// filled is a database with the recording of one instance.
func filled(t testing.TB, n int) (url string, in instance) {
	t.Helper()
	url = database(t)
	in = record(t, url, "proxy1", store.Options{})
	in.askMany(t, n)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	shipAll(t, url, in.Path())
	return url, in
}

func TestOpen(t *testing.T) {
	t.Parallel()
	url, in := filled(t, 3000)
	f := open(t, url)
	all := f.Store.View(nil)
	first := shown(t, f, all)
	if len(first) == 0 || len(first) == 3000 {
		t.Fatalf("%d requests at first", len(first))
	}
	log, err := store.OpenFile(in.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	until(t, "the recording", func() bool { done, total := log.Loading(); return done == total })

	newest := first[len(first)-1]
	tr, err := f.Store.Trace(newest.ID)
	if err != nil {
		t.Fatal(err)
	}
	want, err := log.Trace(tr.From.Number)
	if err != nil {
		t.Fatal(err)
	}
	if tr.From.String() != "proxy1 #3000" || tr.Key != want.Key || tr.Outcome != want.Outcome || len(tr.Spans) != 1 || !tr.Start.Equal(want.Start) || newest.Instance != "proxy1" {
		t.Errorf("got %+v of %+v, want %+v", tr, newest, want)
	}
	got, err := f.Store.Body(tr.Value())
	body, err2 := log.Body(want.Value())
	if err != nil || err2 != nil || string(got) != string(body) || len(got) == 0 {
		t.Errorf("got %q, %v; want %q, %v", got, err, body, err2)
	}

	until(t, "the oldest requests", func() bool { // older ones come when the oldest are looked at
		rows := shown(t, f, all)
		return len(rows) == 3000
	})
	rows := shown(t, f, all)
	for i, r := range rows {
		tr, err := f.Store.Trace(r.ID)
		if err != nil || tr.From.Number != uint64(i+1) {
			t.Fatalf("row %d is %v: %v", i, tr.From, err)
		}
		if r.Nested {
			up, ok := f.Store.Row(r.Parent)
			if !ok || up.Indirection != "catalog" {
				t.Fatalf("row %d is nested in %+v, %v", i, up, ok)
			}
			if kids := f.Store.Links(up.ID).Children; !slices.Contains(kids, r.ID) {
				t.Fatalf("%v are the nested ones of row %d, want %d", kids, i, r.ID)
			}
		}
	}
}

func TestOpenNothing(t *testing.T) {
	t.Parallel()
	if _, err := fleet.Open(t.Context(), database(t)); err == nil {
		t.Error("a database without a schema was opened")
	}
}

// TestFilter finds what is older than what is loaded, and takes it away again.
func TestFilter(t *testing.T) {
	t.Parallel()
	url, _ := filled(t, 3000)
	for _, tt := range []struct {
		filter string
		want   int
		partly bool // not all of it has a column
	}{
		{"node=node3.example.com", 300, false},
		{"node=NODE3*", 0, false},
		{"key=node3* failed", 43, false},
		{"out=err", 429, false},
		{"run=00000003", 20, false},
		{"instance=proxy1 ind=facts key!=node4*", 257, false},
		{"took>=2ms", 0, false},
		{"key=node3* because=setting", 0, true},
		{"not (ind=catalog or ind=facts)", 0, false},
	} {
		t.Run(tt.filter, func(t *testing.T) {
			f := open(t, url)
			e, err := query.Parse(tt.filter)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Load(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			rows := shown(t, f, f.Store.View(e))
			if len(rows) != tt.want {
				t.Errorf("got %d, want %d", len(rows), tt.want)
			}
			if !slices.IsSortedFunc(rows, func(a, b store.Row) int { return a.Start.Compare(b.Start) }) {
				t.Error("they are not in the order of time")
			}
			if partly := f.About() != ""; partly != tt.partly {
				t.Errorf("got %q", f.About())
			}
			all := shown(t, f, f.Store.View(nil))
			if took := all[len(all)-1].Start.Sub(all[0].Start); took != time.Duration(len(all)-1)*time.Millisecond {
				t.Errorf("without a filter there are %d in %s: some are missing between", len(all), took)
			}
		})
	}
}

// TestNews shows what is shipped while a fleet is open.
func TestNews(t *testing.T) {
	t.Parallel()
	url, _ := filled(t, 100)
	f := open(t, url)
	in := record(t, url, "proxy2", store.Options{})
	s, err := fleet.Ship(fleet.ShipOptions{URL: url, Path: in.Path(), Held: func() []fleet.Held {
		return []fleet.Held{{Number: 7, Name: "find catalog web01", Since: epoch}}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	all := f.Store.View(nil)
	for k := range 5 {
		in.ask(traces.Trace{Indirection: "node", Key: fmt.Sprint("new", k), Start: epoch.Add(time.Hour)}, "{}")
		until(t, "a new request", func() bool {
			rows := shown(t, f, all)
			last := rows[len(rows)-1]
			return last.Key == fmt.Sprint("new", k) && last.Instance == "proxy2" && len(rows) == 101+k
		})
	}
	until(t, "what is held", func() bool { return f.About() == "proxy2 holds #7 find catalog web01" })
}
