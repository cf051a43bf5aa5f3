package fileserving_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"indirtui/indirector"
	"indirtui/indirector/model"
)

// wide makes a directory that a search with links=follow finds n files in, n a
// multiple of 1000: they are a thousand, seen through links.
func wide(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range 1000 {
		write(t, dir, map[string]string{fmt.Sprintf("real/%03d", i): ""})
	}
	for i := range n/1000 - 1 {
		if err := os.Symlink("real", fmt.Sprintf("%s/link%03d", dir, i)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// yields asks for what a search finds, one at a time, as JSON.
func (h *fixture) yields(t *testing.T, req indirector.Request) (found []string, n any, err error) {
	t.Helper()
	resp, err := h.Do(t.Context(), req.Yielding(func(i indirector.Instance) error {
		found = append(found, seen(t, i))
		return nil
	}))
	if err != nil {
		return found, nil, err
	}
	return found, resp.Value, nil
}

// seen is all that is to be seen of an instance.
func seen(t *testing.T, i indirector.Instance) string {
	t.Helper()
	if c, ok := i.(*model.FileContent); ok {
		return fmt.Sprint(c.Path, c.RelativePath, c.Links, c.Contents)
	}
	return shown(t, i)
}

// What is yielded is what a search lists, in the same order, for every way to
// search.
func TestYield(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{
		"mounts/one/lib/a.rb": "1", "mounts/two/lib/a.rb": "2", "mounts/two/lib/b/c.rb": "c", "mounts/one/lib/b/d.rb": "d",
		"mounts/one/files/x": "x", "mounts/one/files/l": "-> x", "mounts/one/files/d/y": "y",
	}
	for i := range 300 {
		files[fmt.Sprintf("mounts/one/files/many/%d", i)] = fmt.Sprint(i)
	}
	write(t, dir, files)
	h := newFixture(t, values{"modulepath": dir + "/mounts"}, nil)
	for _, tt := range []struct {
		terminus, key string
		options       []indirector.Option
	}{
		{"file", dir + "/mounts", []indirector.Option{option("recurse", true)}},
		{"file", dir + "/mounts/one/files/x", nil},
		{"file", dir + "/mounts", []indirector.Option{option("recurse", true), option("links", "follow"), option("checksum_type", "md5")}},
		{"file", dir + "/mounts", []indirector.Option{option("recurse", true), option("max_files", 5)}},
		{"file", dir + "/mounts", []indirector.Option{option("recurse", true), option("max_files", 5000)}},
		{"file", dir + "/mounts", []indirector.Option{option("recurse", true), option("ignore", "many")}},
		{"file", dir + "/mounts", []indirector.Option{option("recurse", true), option("checksum_type", "sha3")}},
		{"file", dir + "/nothing", nil},
		{"file_server", "modules/one", []indirector.Option{option("recurse", true)}},
		{"file_server", "modules/three", nil},
		{"file_server", "plugins", []indirector.Option{option("recurse", true)}},
		{"file_server", "pluginfacts", []indirector.Option{option("recurse", true)}},
		{"selector", "modules/one", []indirector.Option{option("recurse", true)}},
		{"selector", "nothing/here", nil},
		{"http", "http://127.0.0.1/", nil},
	} {
		for _, ind := range []string{"file_metadata", "file_content"} {
			t.Run(fmt.Sprint(ind, tt), func(t *testing.T) {
				req := indirector.Request{Indirection: ind, Verb: indirector.Search, Key: tt.key, Terminus: tt.terminus, Options: tt.options}
				resp, wantErr := h.Do(t.Context(), &req)
				var want []string
				if wantErr == nil {
					for _, i := range resp.Value.([]indirector.Instance) {
						want = append(want, seen(t, i))
					}
				}
				got, n, err := h.yields(t, req)
				if fmt.Sprint(err) != fmt.Sprint(wantErr) {
					t.Errorf("got %v, want %v", err, wantErr)
				}
				if err == nil && n != len(want) {
					t.Errorf("got the number %v of %d", n, len(want))
				}
				if diff := gocmp.Diff(want, got); diff != "" {
					t.Errorf("-list +yielded:\n%s", diff)
				}
			})
		}
	}
}

// The first are there before the last are found: what is wrong at the end does
// not keep them back.
func TestYieldEarly(t *testing.T) {
	t.Parallel()
	dir := wide(t, 20_000)
	write(t, dir, map[string]string{"z/z/z/loop": "-> ../.."})
	h := newFixture(t, values{}, nil)
	found, _, err := h.yields(t, indirector.Request{
		Indirection: "file_metadata", Verb: indirector.Search, Key: dir, Terminus: "file",
		Options: []indirector.Option{option("recurse", true), option("links", "follow"), option("checksum_type", "none")},
	})
	if err == nil || !strings.Contains(err.Error(), "symbolic links") || len(found) < 10_000 {
		t.Errorf("got %d and %v", len(found), err)
	}
}

// A search of 100 000 files is taken in constant memory, and ends where the
// caller ends it.
func TestYieldLarge(t *testing.T) { // alone: it measures the memory of the process
	dir := wide(t, 100_000)
	h := newFixture(t, values{}, nil)
	enough := errors.New("enough")
	for _, stop := range []string{"", "error", "cancel"} {
		t.Run("stop "+stop, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			n, most, sum := 0, uint64(0), "md5"
			if stop == "" {
				sum = "none" // what is held does not depend on it
			}
			resp, err := h.Do(ctx, &indirector.Request{
				Indirection: "file_metadata", Verb: indirector.Search, Key: dir, Terminus: "file",
				Options: []indirector.Option{option("recurse", true), option("links", "follow"), option("checksum_type", sum), option("max_files", -1)},
				Wants: &indirector.Wants{Yield: func(indirector.Instance) error {
					if n++; n%20_000 == 0 {
						var m runtime.MemStats
						runtime.GC()
						runtime.ReadMemStats(&m)
						most = max(most, m.HeapAlloc)
					}
					switch {
					case n == 30_000 && stop == "error":
						return enough
					case n == 30_000 && stop == "cancel":
						cancel()
					}
					return nil
				}},
			})
			switch stop {
			case "":
				if err != nil || resp.Value != 100_102-1 {
					t.Errorf("got %v, %v", resp, err)
				}
			case "error":
				if !errors.Is(err, enough) || n != 30_000 {
					t.Errorf("got %v after %d", err, n)
				}
			default:
				if !errors.Is(err, context.Canceled) || n != 30_000 {
					t.Errorf("got %v after %d", err, n)
				}
			}
			if most > 48<<20 {
				t.Errorf("%d bytes were held", most)
			}
		})
	}
}

// A merged mount of 100 000 files of four modules, a thousand of which lose, is
// taken in a bounded heap.
func TestYieldMerged(t *testing.T) { // alone: it measures the memory of the process
	const modules = 4
	dir := t.TempDir()
	for m := range modules {
		lib := fmt.Sprintf("%s/m%d/lib", dir, m)
		for i := range 1000 {
			write(t, lib, map[string]string{fmt.Sprintf("real%d/some_provider_of_a_type_%04d.rb", max(m, 1), i): ""})
		}
		for i := range 24 {
			if err := os.Symlink(fmt.Sprintf("real%d", max(m, 1)), fmt.Sprintf("%s/puppet_provider_%d_%03d", lib, max(m, 1)+m*10, i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	h := newFixture(t, values{"modulepath": dir}, nil)
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, most, n := held(), uint64(0), 0
	_, err := h.Do(t.Context(), &indirector.Request{
		Indirection: "file_metadata", Verb: indirector.Search, Key: "plugins", Terminus: "file_server",
		Options: []indirector.Option{option("recurse", true), option("links", "follow"), option("checksum_type", "none"), option("max_files", -1)},
		Wants: &indirector.Wants{Yield: func(indirector.Instance) error {
			if n++; n%20_000 == 0 {
				most = max(most, held())
			}
			return nil
		}},
	})
	// Of the first two modules one directory of a thousand is the same.
	if want := 1 + modules*25*1001 - 1001; err != nil || n != want {
		t.Errorf("got %d and %v, want %d", n, err, want)
	}
	t.Logf("%d KiB more than before", (most-before)>>10)
	if most > before+48<<20 {
		t.Errorf("%d bytes were held", most-before)
	}
}

// A caller that takes long, and one that panics, leave no goroutine behind: the
// Indirector waits for all when it closes.
func TestYieldPanic(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 200 {
		write(t, dir, map[string]string{filepath.Join("d", fmt.Sprint(i)): "x"})
	}
	h := newFixture(t, values{}, nil)
	_, err := h.Do(t.Context(), &indirector.Request{
		Indirection: "file_metadata", Verb: indirector.Search, Key: dir, Terminus: "file",
		Options: []indirector.Option{option("recurse", true)},
		Wants:   &indirector.Wants{Yield: func(indirector.Instance) error { panic("oops") }},
	})
	if err == nil || !strings.Contains(err.Error(), "panic: oops") {
		t.Errorf("got %v", err)
	}
}
