package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPrune checks which recordings go when there are too many or too large
// ones.
func TestPrune(t *testing.T) {
	t.Parallel()
	const ended = `{"indirtui":1}` + "\n" + `{"end":{}}` + "\n"
	day := func(n int) string { return fmt.Sprintf("2026-01-%02dT10.00.00.000000.jsonl", n) }
	for _, tt := range []struct {
		name string
		keep int
		size int64
		gone []string
	}{
		{"no limit", 0, 0, nil},
		{"number", 4, 0, []string{day(1), day(3)}},
		{"size", 0, 1 << 20, nil},
		{"small size", 0, 1, []string{day(1), day(3), day(4), day(5), "2026-01-06T10.00.00.000000.2.jsonl"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write := func(name, text string, at time.Time) {
				t.Helper()
				path := filepath.Join(dir, name)
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(path, at, at); err != nil {
					t.Fatal(err)
				}
			}
			from := time.Now().Add(-time.Hour)
			for n := range 5 {
				write(day(n+1), ended, from.Add(time.Duration(n)*time.Minute))
			}
			write("2026-01-06T10.00.00.000000.2.jsonl", ended, from.Add(10*time.Minute))
			write("2026-01-07T10.00.00.000000.jsonl", `{"indirtui":1}`+"\n", from) // its program runs
			write("mine.jsonl", ended, from.Add(-time.Hour))
			write("project-1.json", `{"baseline":"`+filepath.Join(dir, day(2))+`"}`, from)
			before := inDir(t, dir)
			var err strings.Builder
			(&program{Streams: Streams{Err: &err}}).prune(dir, tt.keep, tt.size)
			after := inDir(t, dir)
			gone := slices.DeleteFunc(before, func(name string) bool { return slices.Contains(after, name) })
			if !slices.Equal(gone, tt.gone) || err.Len() > 0 {
				t.Errorf("got %q, %q; want %q", gone, err.String(), tt.gone)
			}
		})
	}
}

func inDir(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}
