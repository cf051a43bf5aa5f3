package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"indirtui/traces/store"
)

// TestRotate checks that a recording is split into files that stand for
// themselves, that the oldest go, and that what is left is found.
func TestRotate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		opts store.Options
		most int // files
	}{
		{"by number", store.Options{Rotate: 64 << 10, Keep: 3}, 3},
		{"by size", store.Options{Rotate: 64 << 10, KeepBytes: 4 * 64 << 10}, 5},
		{"all", store.Options{Rotate: 256 << 10}, 100},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := tt.opts
			opts.Path, opts.Render, opts.Details = file(t), render, 16
			s := open(t, opts)
			text := strings.Repeat("the same in all of them ", 500)
			const n = 2000
			for i := range n {
				record(s, find("facts", fmt.Sprint("web", i)), text)
				if i%16 == 15 {
					flush(t, s)
				}
			}
			old := 0
			for id := uint64(1); id <= n; id++ {
				tr, err := s.Trace(id)
				switch {
				case errors.Is(err, store.ErrDropped):
					old++
				case err != nil || tr.ID != id:
					t.Fatalf("request %d: got %+v, %v", id, tr, err)
				}
			}
			if tt.most < 100 && old == 0 || tt.most == 100 && old > 0 {
				t.Errorf("%d requests are gone", old)
			}
			if tr, err := s.Trace(n); err != nil {
				t.Error(err)
			} else if b, err := s.Body(tr.Value()); err != nil || string(b) != text {
				t.Errorf("the value: got %d bytes, %v", len(b), err)
			}
			onDisk := s.Stats().FileSize
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			checkParts(t, opts, tt.most, n-old, text, onDisk)
		})
	}
}

// checkParts opens all files of a recording.
func checkParts(t *testing.T, opts store.Options, most, requests int, text string, size int64) {
	t.Helper()
	paths, err := filepath.Glob(strings.TrimSuffix(opts.Path, filepath.Ext(opts.Path)) + "*")
	if err != nil || len(paths) < 2 || len(paths) > most || !slices.Contains(paths, opts.Path) {
		t.Fatalf("got files %q, %v, want at most %d", paths, err, most)
	}
	total, found := int64(0), 0
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if total += info.Size(); info.Size() > 2*opts.Rotate {
			t.Errorf("%s has %d bytes, want about %d", path, info.Size(), opts.Rotate)
		}
		if known, err := store.Inspect(path); err != nil || !known.Ended {
			t.Errorf("%s: got %+v, %v, want its end", path, known, err)
		}
		r := read(t, path)
		first, last := r.Range()
		rows := make([]store.Row, 3000)
		found += r.Rows(first, rows)
		if tr, err := r.Trace(last); err != nil {
			t.Errorf("%s: %v", path, err)
		} else if b, err := r.Body(tr.Value()); err != nil || string(b) != text {
			t.Errorf("%s does not stand for itself: got %d bytes, %v", path, len(b), err)
		}
		if notes := r.Notes(); len(notes) > 0 {
			t.Errorf("%s: got %q", path, notes)
		}
	}
	if found != requests {
		t.Errorf("the files have %d requests, the store %d", found, requests)
	}
	if total < size || total > size+1000 { // and the last line
		t.Errorf("got %d bytes, the store says %d", total, size)
	}
}
