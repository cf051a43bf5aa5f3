package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"indirtui/traces"
	"indirtui/traces/store"
)

// reopen closes s and opens what it has recorded.
func reopen(tb testing.TB, s *store.Store) *store.Store {
	tb.Helper()
	if err := s.Close(); err != nil {
		tb.Fatal(err)
	}
	return read(tb, s.Path())
}

// read opens a recording and waits until all of it is read.
func read(tb testing.TB, path string) *store.Store {
	tb.Helper()
	r, err := store.OpenFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { r.Close() })
	for {
		if done, total := r.Loading(); done == total {
			return r
		}
		<-r.Changed()
	}
}

// fill gives every field below v a value that no other has, if there is room.
func fill(v reflect.Value, next *int) {
	*next++
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(epoch.Add(time.Duration(*next)).Local()))
			return
		}
		if v.Type() == reflect.TypeFor[traces.Later]() { // what is written has all spans
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), next)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), next)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), next)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), next)
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d \"<\\>\x00\x7f\u0085é\u202e\n", *next))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*next))
	case reflect.Uint64:
		v.SetUint(uint64(*next))
	case reflect.Uint8: // an enumeration of at least three names, or flags
		v.SetUint(uint64(1 + *next%2))
	default:
		panic(v.Kind())
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	s := open(t, store.Options{Path: file(t)})
	var tr traces.Trace
	next := 0
	fill(reflect.ValueOf(&tr).Elem(), &next)
	tr.Values.Answer.Body, tr.Values.Sent.Body, tr.Values.Origins.Body = []byte("the value"), []byte("sent \xff"), []byte("origins")
	for _, v := range tr.Values.All() {
		v.Pieces = nil
	}
	tr.Parent = 1
	record(s, find("facts", "first"), nil)
	tr.Previous, tr.LastGood = 1, 0 // there is no good one
	want := tr
	want.ID = s.Begin(&tr)
	tr.ID = want.ID
	s.End(&tr, nil)
	flush(t, s)
	r := reopen(t, s)
	got, err := r.Trace(want.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range want.Values.All() {
		v.Digest = digest(v.Body)
		v.Body = nil
	}
	if d := cmp.Diff(&want, got); d != "" {
		t.Errorf("written and read (-want +got):\n%s", d)
	}
	for _, v := range []struct {
		value traces.Value
		want  string
	}{{got.Value(), "the value"}, {got.Sent(), "sent \xff"}, {got.Origins(), "origins"}} {
		if b, err := r.Body(v.value); err != nil || string(b) != v.want {
			t.Errorf("got body %q, %v, want %q", b, err, v.want)
		}
	}
	if l := r.Links(want.ID); l.Replays != 1 || l.Parent != 1 {
		t.Errorf("got links %+v", l)
	}
}

// TestRowRoundTrip checks that a row is the same before and after.
func TestRowRoundTrip(t *testing.T) {
	t.Parallel()
	s := open(t, store.Options{Path: file(t)})
	record(s, find("catalog", "web01"), nil)
	var tr traces.Trace
	next := 0
	fill(reflect.ValueOf(&tr).Elem(), &next)
	tr.Parent, tr.Previous, tr.Primary, tr.Caller = 1, 0, primary, "you"
	tr.Cache = traces.Slot{{Terminus: "json", Kind: traces.FromRoutesFile}}
	tr.Steps[traces.CacheWrite].Answer = traces.Written
	id := record(s, &tr, nil)
	flush(t, s)
	want, ok := s.Row(id)
	if !ok || want.Terminus != "yaml" || want.Cache != "json" || !want.CacheWritten || !want.Nested || !want.Sent || want.Fault == "" || want.SetBy != traces.FromSetting {
		t.Errorf("got %v, %+v", ok, want)
	}
	got, _ := reopen(t, s).Row(id)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-live +recorded):\n%s", d)
	}
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	const workers, each = 8, 1000
	s := open(t, store.Options{Path: file(t), Details: workers * each, Render: render})
	stop := make(chan struct{})
	var lookers, all sync.WaitGroup
	lookers.Go(func() {
		v := s.View(nil)
		rows := make([]store.Row, 100)
		for {
			v.Extend(0)
			_, last := s.Range()
			s.Rows(max(last, 100)-99, rows)
			s.Stats()
			s.Links(last)
			if tr, err := s.Trace(last); err == nil && tr.ID != last {
				t.Errorf("got trace %d, want %d", tr.ID, last)
			}
			select {
			case <-stop:
				return
			case <-s.Changed():
			}
		}
	})
	for w := range workers {
		all.Go(func() {
			for i := range each {
				tr := find("facts", fmt.Sprint("web", i%100))
				tr.Run = fmt.Sprint("run", w)
				record(s, tr, fmt.Sprint("value ", i%10))
			}
		})
	}
	all.Wait()
	flush(t, s)
	close(stop)
	s.AddEvent("over")
	lookers.Wait()
	st := s.Stats()
	if st.Total != workers*each || st.By[traces.Good] != workers*each || st.Running != 0 || st.DroppedDetails != 0 {
		t.Errorf("got %+v", st)
	}
	r := reopen(t, s)
	if first, last := r.Range(); first != 1 || last != workers*each {
		t.Errorf("got %d to %d", first, last)
	}
	for id := uint64(1); id <= workers*each; id += 97 {
		if _, err := r.Trace(id); err != nil {
			t.Error(err)
		}
	}
}

func render(model string, instance any) traces.Value {
	return traces.Value{Model: model, Format: "text", Body: []byte(fmt.Sprint(instance))}
}

func TestDedupe(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", file(t)} {
		s := open(t, store.Options{Path: path, Render: render, Body: 100})
		body := strings.Repeat("same ", 10)
		for range 50 {
			record(s, find("facts", "web01"), body)
		}
		flush(t, s)
		long := record(s, find("facts", "web01"), strings.Repeat("long", 100))
		flush(t, s)
		tr, err := s.Trace(7)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := s.Body(tr.Value()); err != nil || string(b) != body || tr.Value().Size != len(body) {
			t.Errorf("got %q, %v, size %d", b, err, tr.Value().Size)
		}
		tr, _ = s.Trace(long)
		if _, err := s.Body(tr.Value()); !errors.Is(err, store.ErrDropped) || tr.Value().Size != 400 {
			t.Errorf("a body over the limit: got %v, size %d", err, tr.Value().Size)
		}
		if n := s.Stats().DroppedBodies; n != 1 {
			t.Errorf("got %d dropped bodies, want 1", n)
		}
		if path == "" {
			continue
		}
		text, _ := os.ReadFile(path)
		if n := bytes.Count(text, []byte(body)); n != 1 {
			t.Errorf("the body was written %d times", n)
		}
	}
}

// TestRenderedCounts checks that what Render keeps counts as memory.
func TestRenderedCounts(t *testing.T) {
	t.Parallel()
	const kept = 3 << 20
	without, with := open(t, store.Options{}), open(t, store.Options{Rendered: func() int64 { return kept }})
	if got := with.Stats().Memory - without.Stats().Memory; got != kept {
		t.Errorf("got %d bytes more, want %d", got, kept)
	}
}

// TestRedact checks that no secret gets through: not from memory before or
// after the writer, not from the file.
func TestRedact(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	redact := func(s string) (string, int) {
		return strings.ReplaceAll(s, secret, "(masked)"), strings.Count(s, secret)
	}
	release := make(chan struct{})
	s := open(t, store.Options{Path: file(t), RedactText: redact, Render: func(string, any) traces.Value {
		<-release
		return traces.Value{}
	}})
	record(s, find("facts", "holds the writer"), 1)
	tr := find("facts", "web01")
	tr.Options = []traces.Option{{Name: "o", Value: secret}}
	tr.Steps[traces.Terminus].Because.About = secret
	tr.Spans = []traces.Span{{ID: 1, Name: secret, Answer: secret, Err: secret, Because: traces.Because{About: secret}, Attrs: []traces.Attr{{Key: "a", Value: secret}}}}
	tr.Faults = []traces.Fault{{Message: secret, Hidden: secret, Path: secret, Origin: secret}}
	tr.Notes, tr.Touched, tr.Error = []traces.Remark{{Text: secret}}, []string{secret}, secret
	spans, notes, touched := tr.Spans, tr.Notes, tr.Touched
	id := record(s, tr, nil)
	before, err := s.Trace(id)
	if err != nil {
		t.Fatal(err)
	}
	close(release)
	flush(t, s)
	after, _ := s.Trace(id)
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("before and after the writer: %s", d)
	}
	row, _ := s.Row(id)
	if text := fmt.Sprintf("%+v %+v", *before, row); strings.Contains(text, secret) {
		t.Error("memory has the secret: ", text)
	}
	if text, _ := os.ReadFile(s.Path()); bytes.Contains(text, []byte(secret)) {
		t.Errorf("the file has the secret:\n%s", text)
	}
	if spans[0].Name != secret || notes[0].Text != secret || touched[0] != secret {
		t.Error("what the trace refers to was changed")
	}
	if n := s.Stats().Redacted; n != 14 {
		t.Errorf("got %d redacted texts, want 14", n)
	}
}

func TestStale(t *testing.T) {
	t.Parallel()
	failed := func(run string) *traces.Trace {
		tr := find("catalog", "web01")
		tr.Run, tr.Flags, tr.Outcome, tr.Error = run, traces.IgnoreCache, traces.Err, "500"
		return tr
	}
	good := func(run string) *traces.Trace {
		tr := find("catalog", "web01")
		tr.Run = run
		return tr
	}
	cached := func(run string) *traces.Trace {
		tr := find("catalog", "web01")
		tr.Run, tr.Flags, tr.Outcome, tr.Served = run, traces.IgnoreTerminus, traces.Hit, traces.ByCache
		return tr
	}
	other := func(run string) *traces.Trace {
		tr := find("file_metadata", "plugins")
		tr.Run = run
		return tr
	}
	asked := cached("a")
	asked.Flags = 0
	for _, tt := range []struct {
		name   string
		before []*traces.Trace
		tr     *traces.Trace
		want   traces.Outcome
	}{
		{"after a failure in the run", []*traces.Trace{failed("a")}, cached("a"), traces.Stale},
		{"with others between", []*traces.Trace{failed("a"), other("a"), failed("b"), good("b")}, cached("a"), traces.Stale},
		{"after a failure in another run", []*traces.Trace{failed("b")}, cached("a"), traces.Hit},
		{"after a good answer", []*traces.Trace{failed("a"), good("a")}, cached("a"), traces.Hit},
		{"without a run", []*traces.Trace{failed("")}, cached(""), traces.Stale},
		{"the first", nil, cached("a"), traces.Hit},
		{"when the terminus was not ruled out", []*traces.Trace{failed("a")}, asked, traces.Hit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := open(t, store.Options{Path: file(t)})
			for _, b := range tt.before {
				record(s, b, nil)
			}
			copied := *tt.tr
			id := record(s, &copied, nil)
			flush(t, s)
			tr, err := s.Trace(id)
			if err != nil {
				t.Fatal(err)
			}
			row, _ := s.Row(id)
			if tr.Outcome != tt.want || row.Outcome != tt.want {
				t.Errorf("got %v in the trace, %v in the row, want %v", tr.Outcome, row.Outcome, tt.want)
			}
			again, _ := reopen(t, s).Row(id)
			if again.Outcome != tt.want {
				t.Errorf("got %v in the recording, want %v", again.Outcome, tt.want)
			}
			if n := s.Stats().Stale; n != map[bool]uint64{true: 1}[tt.want == traces.Stale] {
				t.Errorf("got %d stale", n)
			}
		})
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	s := open(t, store.Options{Path: file(t)})
	first := find("catalog", "web01") // 1
	first.Run = "r"
	first.ID = s.Begin(first)
	for range 2 { // 2, 3
		child := find("node", "web01")
		child.Run, child.Parent = "r", first.ID
		record(s, child, nil)
	}
	s.End(first, nil)
	failed := find("catalog", "web01") // 4
	failed.Run, failed.Outcome = "r", traces.Err
	failedID := record(s, failed, nil)
	replay := find("catalog", "web01") // 5
	replay.Previous = failedID
	record(s, replay, nil)
	flush(t, s)
	for name, s := range map[string]*store.Store{"live": s, "recorded": reopen(t, s)} {
		for id, want := range map[uint64]store.Links{
			1: {Children: []uint64{2, 3}, NextInRun: 4},
			2: {Parent: 1, NextInRun: 3},
			3: {Parent: 1, PrevInRun: 2, Previous: 2, LastGood: 2},
			4: {PrevInRun: 1, Previous: 1, LastGood: 1, ReplayedBy: []uint64{5}},
			5: {Replays: 4, Previous: 4, LastGood: 1},
		} {
			if d := cmp.Diff(want, s.Links(id)); d != "" {
				t.Errorf("%s: links of %d (-want +got):\n%s", name, id, d)
			}
		}
		tr, err := s.Trace(4)
		if name == "live" { // it is closed
			continue
		}
		if err != nil || tr.Previous != 3 || tr.LastGood != 1 {
			t.Errorf("%s: got %+v, %v", name, tr, err)
		}
	}
}

func TestRunning(t *testing.T) {
	t.Parallel()
	s := open(t, store.Options{})
	tr := find("facts", "web01")
	tr.Outcome, tr.Primary = traces.Run, nil
	tr.ID = s.Begin(tr)
	row, ok := s.Row(tr.ID)
	if !ok || row.Outcome != traces.Run || row.Key != "web01" || s.Stats().Running != 1 {
		t.Errorf("got %+v, %v", row, ok)
	}
	s.SetHeld(tr.ID, true)
	if row, _ := s.Row(tr.ID); row.Outcome != traces.HeldOutcome || s.Stats().Held != 1 {
		t.Errorf("held: got %+v, %+v", row, s.Stats())
	}
	if got, err := s.Trace(tr.ID); err != nil || got.Outcome != traces.HeldOutcome || got.Key != "web01" {
		t.Errorf("got %+v, %v", got, err)
	}
	tr.Key, tr.Outcome, tr.Primary = "web02", traces.Good, primary
	id, again := tr.ID, *tr
	s.End(tr, nil)
	s.End(&again, nil) // does nothing
	row, _ = s.Row(id)
	if st := s.Stats(); row.Outcome != traces.Good || row.Key != "web02" || row.Terminus != "yaml" || st.Held+st.Running != 0 || st.By[traces.Good] != 1 {
		t.Errorf("ended: got %+v, %+v", row, st)
	}
}

// TestWriterBehind checks that rows survive when details do not, and that every
// loss is counted and recorded.
func TestWriterBehind(t *testing.T) {
	t.Parallel()
	release, inside := make(chan struct{}), make(chan struct{}, 1000)
	s := open(t, store.Options{Path: file(t), Details: 16, Render: func(string, any) traces.Value {
		inside <- struct{}{}
		<-release
		return traces.Value{}
	}})
	record(s, find("facts", "holds the writer"), 1)
	<-inside
	record(s, find("facts", "marked"), nil)
	if err := s.SetMark(2, 'a'); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		record(s, find("facts", fmt.Sprint("web", i)), nil)
	}
	// The writer has one, one is safe, the ring has sixteen.
	const dropped = 102 - 1 - 1 - 16
	if n := s.Stats().DroppedDetails; n != dropped {
		t.Errorf("got %d dropped details, want %d", n, dropped)
	}
	if _, err := s.Trace(3); !errors.Is(err, store.ErrDropped) {
		t.Errorf("got %v, want ErrDropped", err)
	}
	if tr, err := s.Trace(2); err != nil || tr.Key != "marked" {
		t.Errorf("the marked one: got %+v, %v", tr, err)
	}
	close(release)
	flush(t, s)
	for name, s := range map[string]*store.Store{"live": s, "recorded": reopen(t, s)} {
		rows := make([]store.Row, 200)
		n := s.Rows(1, rows)
		if n != 102 {
			t.Errorf("%s: got %d rows, want 102", name, n)
		}
		var gone uint64
		for _, r := range rows[:n] {
			if r.Lost {
				gone++
			}
			if r.Outcome != traces.Good || r.Key == "" {
				t.Errorf("%s: got %+v", name, r)
			}
		}
		if gone != dropped || s.Stats().DroppedDetails != dropped {
			t.Errorf("%s: got %d lost rows and %d counted, want %d", name, gone, s.Stats().DroppedDetails, dropped)
		}
		if rows[1].Mark != 'a' {
			t.Errorf("%s: got %+v", name, rows[1])
		}
	}
	r := read(t, s.Path())
	if _, err := r.Trace(3); !errors.Is(err, store.ErrDropped) {
		t.Errorf("recorded: got %v, want ErrDropped", err)
	}
	if tr, err := r.Trace(2); err != nil || tr.Key != "marked" {
		t.Errorf("recorded, the marked one: got %+v, %v", tr, err)
	}
}

// TestInstancesWait checks that instances which the writer has no time for are
// dropped and counted, and that one that was rendered goes if it is wanted once.
func TestInstancesWait(t *testing.T) {
	t.Parallel()
	const memory, weight = 64 << 20, 1 << 20
	release, inside := make(chan struct{}), make(chan struct{}, 1000)
	s := open(t, store.Options{Memory: memory, Once: true, Weigh: func(v any) int64 {
		if v == "huge" {
			return memory + 1
		}
		return weight
	}, Render: func(string, any) traces.Value {
		inside <- struct{}{}
		<-release
		return traces.Value{}
	}})
	record(s, find("facts", "holds the writer"), 0)
	<-inside
	const n = 200
	for i := range n {
		record(s, find("facts", fmt.Sprint("web", i)), i+1)
	}
	live := 0
	for id := range uint64(n) {
		if _, ok := s.Instance(id + 2); ok {
			live++
		}
	}
	if st := s.Stats(); live == 0 || live > memory/4/weight || int(st.DroppedBodies) != n-live {
		t.Errorf("%d instances wait, %d were dropped; want at most %d, and all others counted", live, st.DroppedBodies, memory/4/weight)
	}
	close(release)
	flush(t, s)
	if _, ok := s.Instance(2); ok {
		t.Error("an instance is there after it was rendered")
	}
	before := s.Stats().DroppedBodies
	record(s, find("facts", "web"), "huge")
	if n := s.Stats().DroppedBodies; n != before+1 {
		t.Errorf("%d values were dropped, then %d, want one more", before, n)
	}
}

// TestRowsGoneBeforeWritten checks that Flush does not wait for rows that were
// dropped before they were written.
func TestRowsGoneBeforeWritten(t *testing.T) {
	t.Parallel()
	release, inside := make(chan struct{}), make(chan struct{}, 1000)
	s := open(t, store.Options{Path: file(t), Rows: 1, Details: 16, Render: func(string, any) traces.Value {
		inside <- struct{}{}
		<-release
		return traces.Value{}
	}})
	record(s, find("facts", "holds the writer"), 1)
	<-inside
	for range 4 << 16 {
		record(s, find("facts", "web"), nil)
	}
	close(release)
	flush(t, s)
	st := s.Stats()
	if st.DroppedRows == 0 || st.DroppedDetails != 4<<16+1-16 {
		t.Errorf("got %+v", st)
	}
	if first, last := s.Range(); last-first+1+st.DroppedRows != st.Total {
		t.Errorf("got rows from %d to %d, %+v", first, last, st)
	}
}

// TestDropOrder checks what is dropped first when memory is short.
func TestDropOrder(t *testing.T) {
	t.Parallel()
	big := func(i int) string { return strings.Repeat(fmt.Sprintf("%06d", i), 500) } // 3 kB, and 12 kB as an instance
	run := func(memory int64, n int) (*store.Store, store.Stats) {
		s := open(t, store.Options{Memory: memory, Render: render, Details: 8192})
		if err := s.SetMark(record(s, find("facts", "marked"), big(1<<20)), 'm'); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			record(s, find("facts", fmt.Sprint("web", i)), big(i))
			if i%100 == 0 {
				flush(t, s)
			}
		}
		flush(t, s)
		return s, s.Stats()
	}
	has := func(s *store.Store, id uint64) string {
		tr, err := s.Trace(id)
		if err != nil {
			return "row"
		}
		if _, ok := s.Instance(id); ok {
			return "instance"
		}
		if _, err := s.Body(tr.Value()); err == nil {
			return "value"
		}
		return "detail"
	}
	for _, tt := range []struct {
		name                          string
		memory                        int64
		old, newest                   string
		droppedBodies, droppedDetails bool
	}{
		{"room for all", 512 << 20, "instance", "instance", false, false},
		{"instances have their share", 256 << 20, "value", "instance", false, false},
		{"instances go first", 16 << 20, "value", "instance", false, false},
		{"then values", 7 << 20, "detail", "value", true, false},
		{"then details", 1 << 20, "row", "detail", true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, st := run(tt.memory, 2000)
			rank := []string{"row", "detail", "value", "instance"}
			if old, newest := has(s, 2), has(s, 2001); old != tt.old || slices.Index(rank, newest) < slices.Index(rank, tt.newest) {
				t.Errorf("got %s of the oldest, %s of the newest, want %s, at least %s; %+v", old, newest, tt.old, tt.newest, st)
			}
			if m := has(s, 1); m == "row" || m == "detail" {
				t.Errorf("got only the %s of the marked one", m)
			}
			if (st.DroppedBodies > 0) != tt.droppedBodies || (st.DroppedDetails > 0) != tt.droppedDetails || st.DroppedRows > 0 {
				t.Errorf("got %+v", st)
			}
			if st.Memory > tt.memory && tt.old != "row" {
				t.Errorf("got %d bytes, limit %d", st.Memory, tt.memory)
			}
		})
	}
}

// TestNeverDropped checks what stays: what is marked, commented, held or
// running, with its value, even if another one of the same value goes.
func TestNeverDropped(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		memory int64
		n      int // requests after them
		lost   func(store.Stats) bool
	}{
		{"values", 7 << 20, 4000, func(st store.Stats) bool { return st.DroppedBodies > 0 }},
		{"details", 1 << 20, 4000, func(st store.Stats) bool { return st.DroppedDetails > 0 }},
		{"rows", 1 << 20, 200_000, func(st store.Stats) bool { return st.DroppedRows > 0 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := open(t, store.Options{Memory: tt.memory, Render: render, Details: 8192})
			same := strings.Repeat("shared", 500)
			record(s, find("facts", "nobody's"), same)
			held, slow := find("facts", "held"), find("facts", "slow")
			held.ID, slow.ID = s.Begin(held), s.Begin(slow)
			marked, commented := record(s, find("facts", "marked"), same), record(s, find("facts", "commented"), same)
			s.SetHeld(held.ID, true)
			if err := errors.Join(s.SetMark(marked, 'm'), s.AddComment(commented, "why?")); err != nil {
				t.Fatal(err)
			}
			for i := range tt.n {
				record(s, find("facts", fmt.Sprint("web", i)), strings.Repeat(fmt.Sprintf("%06d", i), 500))
				if i%100 == 0 {
					flush(t, s)
				}
			}
			flush(t, s)
			st := s.Stats()
			if !tt.lost(st) {
				t.Fatalf("nothing was dropped: %+v", st)
			}
			if st.Held != 1 || st.Running != 2 {
				t.Errorf("got %d held, %d running", st.Held, st.Running)
			}
			for _, id := range []uint64{held.ID, slow.ID, marked, commented} {
				if _, ok := s.Row(id); !ok {
					t.Errorf("the row of #%d has gone", id)
				}
			}
			for _, id := range []uint64{marked, commented} {
				tr, err := s.Trace(id)
				if err != nil {
					t.Errorf("#%d: %v", id, err)
					continue
				}
				if b, err := s.Body(tr.Value()); err != nil || string(b) != same {
					t.Errorf("the value of #%d: got %d bytes, %v", id, len(b), err)
				}
			}
			s.SetHeld(held.ID, false)
			s.End(held, nil)
			s.End(slow, nil)
		})
	}
}

// TestDropRows checks that old rows go, except pinned ones.
func TestDropRows(t *testing.T) {
	t.Parallel()
	s := open(t, store.Options{Rows: 1, Details: 64}) // two chunks are the least
	record(s, find("facts", "marked"), nil)
	record(s, find("facts", "commented"), nil)
	if err := errors.Join(s.SetMark(1, 'x'), s.AddComment(2, "why?")); err != nil {
		t.Fatal(err)
	}
	slow := find("facts", "slow")
	slow.ID = s.Begin(slow)
	all := s.View(nil)
	for i := range 200_000 {
		record(s, find("facts", fmt.Sprint(i)), nil)
		if i == 100_000 {
			all.Extend(1 << 20)
		}
	}
	first, last := s.Range()
	if last != 200_003 || first != 131_072 {
		t.Errorf("got %d to %d", first, last)
	}
	for id, key := range map[uint64]string{1: "marked", 2: "commented", 3: "slow", first: fmt.Sprint(first - 4)} {
		if r, ok := s.Row(id); !ok || r.Key != key {
			t.Errorf("row %d: got %+v, %v", id, r, ok)
		}
	}
	if _, ok := s.Row(4); ok {
		t.Error("row 4 is still there")
	}
	if n := s.Stats().DroppedRows; n != first-1-3 {
		t.Errorf("got %d dropped rows, want %d", n, first-1-3)
	}
	s.End(slow, nil)
	if r, ok := s.Row(3); !ok || r.Outcome != traces.Good {
		t.Errorf("the slow one: got %+v, %v", r, ok)
	}
	fresh := s.View(nil)
	for !all.Extend(0) || !fresh.Extend(0) {
	}
	for name, v := range map[string]*store.View{"old": all, "new": fresh} {
		if n := int(last-first) + 1 + 3; v.Len() != n || v.At(0) != 1 || v.At(2) != 3 || v.At(3) != first || v.At(n-1) != last {
			t.Errorf("%s view: got %d requests from %d, %d, %d, %d on, want %d", name, v.Len(), v.At(0), v.At(1), v.At(2), v.At(3), n)
		}
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	now := epoch
	s := open(t, store.Options{Path: file(t), Now: func() time.Time { return now }, Source: "proxy :8140"})
	for i := range 3 {
		record(s, find("facts", fmt.Sprint("web", i)), nil)
	}
	err := errors.Join(s.SetMark(1, 'a'), s.SetMark(2, 'b'), s.SetMark(2, 0), s.SetMark(3, 0xe9), s.AddComment(2, "look\nhere"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetMark(9, 'a'); !errors.Is(err, store.ErrDropped) {
		t.Errorf("got %v, want ErrDropped", err)
	}
	s.AddEvent("route node: exec")
	flush(t, s)
	r := reopen(t, s)
	for id, want := range map[uint64]byte{1: 'a', 2: 0, 3: 0xe9} {
		if row, _ := r.Row(id); row.Mark != want || row.Marked != (want != 0) {
			t.Errorf("row %d: got %+v", id, row)
		}
	}
	if d := cmp.Diff([]store.Comment{{At: epoch, Text: "look\nhere"}}, r.Comments(2)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]store.Event{{At: epoch, Text: "route node: exec"}}, r.Events()); d != "" {
		t.Error(d)
	}
	if err := r.SetMark(1, 'b'); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("got %v, want ErrReadOnly", err)
	}
	info, err := store.Inspect(s.Path())
	want := store.Info{Path: s.Path(), Version: 1, Source: "proxy :8140", Started: epoch, Size: r.Stats().FileSize, Ended: true, Requests: 3, Comments: 1}
	if err != nil || info != want {
		t.Errorf("got %+v, %v, want %+v", info, err, want)
	}
}

func TestTraffic(t *testing.T) {
	t.Parallel()
	now := epoch.Add(30 * time.Second)
	s := open(t, store.Options{Now: func() time.Time { return now }})
	for i := range 101 {
		tr := find("facts", "web01")
		tr.Start, tr.Took = epoch.Add(time.Duration(i%25)*time.Second+5*time.Second), time.Duration(i)*time.Millisecond
		if i%10 == 0 {
			tr.Outcome = traces.Err
		}
		record(s, tr, nil)
	}
	got := s.Traffic("facts")
	if got.Requests != 101 || got.Errors != 11 || got.Max != 100*time.Millisecond {
		t.Errorf("got %+v", got)
	}
	for name, d := range map[string][2]time.Duration{"p50": {got.P50, 50 * time.Millisecond}, "p95": {got.P95, 95 * time.Millisecond}} {
		if diff := d[0] - d[1]; max(diff, -diff) > d[1]*7/100 {
			t.Errorf("%s: got %v, want about %v", name, d[0], d[1])
		}
	}
	if s.Traffic("node") != (store.Traffic{}) {
		t.Error("traffic where there was none")
	}
	rates := s.Rates()
	var sum uint32
	for _, n := range rates {
		sum += n
	}
	if sum != 101 || rates[59] != 0 || rates[58] != 4 || rates[34] != 5 {
		t.Errorf("got %v", rates)
	}
	if st := s.Stats(); st.Rate != 4 || st.Failed != 11 {
		t.Errorf("got %+v", st)
	}
}

// TestPanickingRender notes an instance that cannot be rendered.
func TestPanickingRender(t *testing.T) {
	t.Parallel()
	s := open(t, store.Options{Render: func(string, any) traces.Value { panic("bad bytes") }})
	id := record(s, find("facts", "web01"), 1)
	flush(t, s)
	tr, err := s.Trace(id)
	if err != nil || len(tr.Notes) != 1 || !strings.Contains(tr.Notes[0].Text, "bad bytes") {
		t.Errorf("got %+v, %v", tr, err)
	}
	if v, ok := s.Instance(id); !ok || v != 1 {
		t.Errorf("got instance %v, %v", v, ok)
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()
	s := open(t, store.Options{Path: file(t)})
	tr := find("facts", "web01")
	tr.ID = s.Begin(tr)
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	s.End(tr, nil)
	if id := s.Begin(tr); id != 0 {
		t.Errorf("got number %d from a closed store", id)
	}
	if _, err := store.Open(store.Options{Path: s.Path()}); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second recording in its place: got %v", err)
	}
}

// TestFactsElsewhere notes facts stored under another environment than that of
// the last catalog. Pain P27.
func TestFactsElsewhere(t *testing.T) {
	t.Parallel()
	catalog := func(node, environment string, outcome traces.Outcome) *traces.Trace {
		tr := find("catalog", node)
		tr.Environment, tr.Outcome = environment, outcome
		return tr
	}
	facts := func(environment string) *traces.Trace {
		tr := find("facts", "web01")
		tr.Verb, tr.Environment = traces.Save, environment
		return tr
	}
	nested, refused := facts("production"), facts("production")
	nested.Parent, refused.Outcome = 1, traces.Err
	for _, tt := range []struct {
		name   string
		before []*traces.Trace
		tr     *traces.Trace
		want   string
	}{
		{"no catalog", nil, facts("production"), ""},
		{"the same", []*traces.Trace{catalog("web01", "production", traces.Good)}, facts("production"), ""},
		{"another", []*traces.Trace{catalog("web01", "tests", traces.Good)}, facts("production"), "stored under environment production, but the last catalog of web01 was asked for in environment tests (#1)"},
		{"the second counts", []*traces.Trace{catalog("web01", "production", traces.Good), catalog("web01", "tests", traces.Good)}, facts("tests"), ""},
		{"of another node", []*traces.Trace{catalog("web02", "tests", traces.Good)}, facts("production"), ""},
		{"a catalog that failed", []*traces.Trace{catalog("web01", "tests", traces.Err)}, facts("production"), ""},
		{"asked by the catalog", []*traces.Trace{catalog("web01", "tests", traces.Good)}, nested, ""},
		{"not stored", []*traces.Trace{catalog("web01", "tests", traces.Good)}, refused, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := open(t, store.Options{})
			for _, b := range tt.before {
				copied := *b
				record(s, &copied, nil)
			}
			copied := *tt.tr
			id := record(s, &copied, nil)
			flush(t, s)
			tr, err := s.Trace(id)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Trim(fmt.Sprint(tr.Notes), "[]"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A copy that Ended makes of a trace keeps the bytes of its values, which the
// store itself keeps elsewhere.
func TestEndedCopy(t *testing.T) {
	t.Parallel()
	var kept traces.Trace
	s := open(t, store.Options{
		Render: func(model string, _ any) traces.Value { return traces.Value{Model: model, Body: []byte("the value")} },
		Ended:  func(_ *store.Store, tr *traces.Trace) { kept = *tr },
	})
	record(s, find("facts", "web01"), "instance")
	flush(t, s)
	if got := kept.Value(); string(got.Body) != "the value" {
		t.Errorf("got %+v", got)
	}
}
