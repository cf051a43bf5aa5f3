package store

import (
	"os"
	"path/filepath"
	"testing"

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
		tr.ID = s.Begin(tr)
		s.End(tr, value)
		return tr.ID
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
		if b, err := s.Body(tr.Value); err != nil || string(b) != want {
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

// TestRowSize keeps the promise that a row is small and has no pointers that
// the collector would follow.
func TestRowSize(t *testing.T) {
	t.Parallel()
	c := newStore(Options{}).newChunk(0)
	c.row(0, true)
	if n := (c.memory() - 4*int64(cap(c.names.ends))) / blockRows; n > 128 {
		t.Errorf("a row has %d bytes", n)
	}
}
