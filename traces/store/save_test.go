package store_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/host/files"
	"indirtui/traces"
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

// Where what is in an answer is from is kept like the answer: in memory, in the recording
// and in what is saved of it, each once; and it is not remembered of other answers.
func TestOrigins(t *testing.T) {
	t.Parallel()
	origins := func(model string, instance any) traces.Value {
		if instance == "unknown" {
			return traces.Value{}
		}
		return traces.Value{Model: model, Format: "text", Body: fmt.Append(nil, "origins of ", instance)}
	}
	for _, path := range []string{"", file(t)} {
		s := open(t, store.Options{Path: path, Render: render, Origins: origins})
		for _, instance := range []string{"a", "unknown", "a"} {
			record(s, find("catalog", "web01"), instance)
		}
		sent := find("catalog", "web01")
		sent.Verb = traces.Save
		record(s, sent, "a")
		flush(t, s)
		saved := file(t)
		if n, err := save(s, saved, []uint64{1, 2, 3, 4}); n != 4 || err != nil {
			t.Fatalf("saved %d, %v", n, err)
		}
		text, _ := os.ReadFile(saved)
		if n := strings.Count(string(text), `"text":"origins of a"`); n != 1 {
			t.Errorf("%d times in the file:\n%s", n, text)
		}
		own := s
		if path != "" {
			own = reopen(t, s)
		}
		for i, log := range []*store.Store{own, read(t, saved)} {
			for id, want := range []string{"origins of a", "", "origins of a", ""} {
				tr, err := log.Trace(uint64(id + 1))
				if err != nil {
					t.Fatal(err)
				}
				if b, err := log.Body(tr.Origins()); string(b) != want || want != "" && err != nil {
					t.Errorf("store %d, request %d: got %q, %v, want %q", i, id+1, b, err, want)
				}
			}
		}
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
