package store_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/host/files"
	"indirtui/traces/store"
)

func TestSave(t *testing.T) {
	t.Parallel()
	s := open(t, store.Options{Path: file(t), Render: render})
	for i := range 5 {
		record(s, busy(i), fmt.Sprint("value ", i%2))
	}
	if err := errors.Join(s.SetMark(4, 'q'), s.AddComment(4, "why")); err != nil {
		t.Fatal(err)
	}
	flush(t, s)
	path := file(t)
	if n, err := save(s, path, []uint64{2, 4, 99}); n != 2 || err != nil {
		t.Fatalf("saved %d, %v", n, err)
	}
	r := read(t, path)
	for _, id := range []uint64{2, 4} {
		want, _ := s.Trace(id)
		got, err := r.Trace(id)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%v (-saved +read):\n%s", err, d)
		}
		if b, err := r.Body(got.Value()); err != nil || string(b) != "value 1" {
			t.Errorf("got %q, %v", b, err)
		}
	}
	rows := make([]store.Row, 10)
	if n := r.Rows(0, rows); n != 2 || rows[1].ID != 4 || rows[1].Mark != 'q' || len(r.Comments(4)) != 1 {
		t.Errorf("got %d rows, %+v", n, rows[:n])
	}
	if _, err := save(s, path, nil); !errors.Is(err, os.ErrExist) {
		t.Errorf("got %v, want ErrExist", err)
	}
	if len(r.Notes()) > 0 {
		t.Error(r.Notes())
	}
}

// save writes requests to a new file.
func save(s *store.Store, path string, ids []uint64) (int, error) {
	f, err := files.Create(path, files.Options{New: true})
	if err != nil {
		return 0, err
	}
	return s.Save(f, ids)
}
