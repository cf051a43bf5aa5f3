package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/traces"
)

// TestWriteFails fails writing: the recording ends with a whole line, a note
// gives the reason, and details stay in memory. It is internal since a full disk
// is not available.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	s, err := Open(Options{Path: filepath.Join(t.TempDir(), "full.ind"), Render: func(m string, v any) traces.Value {
		return traces.Value{Model: m, Format: "text", Body: []byte(v.(string))}
	}})
	if err != nil {
		t.Fatal(err)
	}
	record := func(value string) uint64 {
		tr := &traces.Trace{Verb: traces.Find, Indirection: "facts", Key: "web01", Outcome: traces.Good}
		id := s.Begin(tr)
		tr.ID = id
		s.End(tr, value)
		return id
	}
	record("before")
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	good := s.file.f
	readOnly, err := os.Open(good.Name())
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.file.f = readOnly
	s.mu.Unlock()
	id := record("after")
	if err := s.Flush(); err == nil {
		t.Error("Flush does not tell")
	}
	if len(s.Notes()) != 1 {
		t.Errorf("got notes %q", s.Notes())
	}
	for id, want := range map[uint64]string{1: "before", id: "after"} {
		tr, err := s.Trace(id)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := s.Body(tr.Value()); err != nil || string(b) != want {
			t.Errorf("got %q, %v, want %q", b, err, want)
		}
	}
	if err := s.Close(); err == nil {
		t.Error("Close does not tell")
	}
	if err := good.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := OpenFile(good.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, last := r.Range(); last != 1 || len(r.Notes()) != 0 {
		t.Errorf("got last %d, notes %q", last, r.Notes())
	}
}

// TestWritingGoesOn fails writing for a while: that is reported at once, and the
// recording goes on after what is missing was written down.
func TestWritingGoesOn(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	reported := make(chan error, 10)
	path := filepath.Join(t.TempDir(), "full.ind")
	s, err := Open(Options{Path: path, Now: func() time.Time { return now }, Stopped: func(err error) { reported <- err }})
	if err != nil {
		t.Fatal(err)
	}
	record := func() {
		t.Helper()
		tr := &traces.Trace{Verb: traces.Find, Indirection: "facts", Key: "web01", Outcome: traces.Good}
		tr.ID = s.Begin(tr)
		s.End(tr, nil)
	}
	swap := func(f *os.File) (old *os.File) {
		s.mu.Lock()
		defer s.mu.Unlock()
		old, s.file.f = s.file.f, f
		return old
	}
	record()
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	readOnly, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer readOnly.Close()
	good := swap(readOnly)
	record()
	if err := s.Flush(); err == nil || <-reported == nil || !s.Stats().Stopped.Equal(now) {
		t.Errorf("got %v, stopped %v", err, s.Stats().Stopped)
	}
	swap(good)
	now = now.Add(time.Minute)
	record()
	if err := s.Flush(); err != nil || <-reported != nil || !s.Stats().Stopped.IsZero() {
		t.Errorf("later: got %v, stopped %v", err, s.Stats().Stopped)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	r, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if first, last := r.Range(); first != 1 || last != 3 || len(r.Notes()) != 0 {
		t.Errorf("got %d to %d, notes %q", first, last, r.Notes())
	}
	if e := r.Events(); len(e) != 1 || !strings.HasPrefix(e[0].Text, "nothing was recorded since 2023-11-14T") {
		t.Errorf("got events %v", e)
	}
}

// TestRowSize keeps the promise that a row is small and has no pointers that
// the collector would follow.
func TestRowSize(t *testing.T) {
	t.Parallel()
	c := newStore(Options{}).newChunk(0)
	c.row(0, new(spares))
	if n := (c.memory() - 4*int64(cap(c.names.ends))) / blockRows; n > 128 {
		t.Errorf("a row has %d bytes", n)
	}
}

// TestBacklog takes out what was put in, in its order, whether the numbers come in
// order or not.
func TestBacklog(t *testing.T) {
	t.Parallel()
	var b backlog
	var want []uint64
	for _, id := range []uint64{1, 2, 3, 5, 4, 6, 7, 9, 10, 11, 8, 12, 13, 14} {
		b.add(id)
		want = append(want, id)
		if id%2 == 0 { // half of them wait
			if got := b.take(); got != want[0] {
				t.Fatalf("got %d, want %d", got, want[0])
			}
			want = want[1:]
		}
	}
	for b.n > 0 {
		if got := b.take(); len(want) == 0 || got != want[0] {
			t.Fatalf("got %d, want %v", got, want)
		}
		want = want[1:]
	}
	if len(want) > 0 {
		t.Errorf("%v are missing", want)
	}
	if b.add(15); b.take() != 15 {
		t.Error("a queue that was empty does not return its number")
	}
}

// TestSpares makes as many blocks ahead as were used lately, and all of them empty.
func TestSpares(t *testing.T) {
	t.Parallel()
	s := newStore(Options{})
	for _, tt := range []struct{ use, want int }{{0, 1}, {3, 4}, {maxSpares + 2, maxSpares}, {maxSpares, maxSpares}, {1, maxSpares - 1}} {
		for range tt.use {
			if b := s.spares.take(); *b != (block{}) {
				t.Error("a block is not empty")
			}
		}
		before := len(s.spares.blocks)
		s.provide()
		if n := len(s.spares.blocks); n != max(tt.want, before) {
			t.Errorf("after %d were used: got %d, want %d", tt.use, n, tt.want)
		}
	}
}
