package modules_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"indirtui/indirector/modules"
)

// write makes files with these texts below a new directory.
func write(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestModules(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"a/ntp/f": "", "a/Apt/f": "", "a/file": "", "a/x-y/f": "", "b/ntp/f": "", "b/mysql/f": "",
	})
	path := modules.Path(filepath.Join(dir, "a") + ":" + filepath.Join(dir, "none") + ":" + filepath.Join(dir, "b"))
	if want := []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}; !cmp.Equal(want, path) {
		t.Fatalf("got the directories %q, want %q", path, want)
	}
	ntp := modules.Module{Name: "ntp", Dir: filepath.Join(dir, "a/ntp"), In: filepath.Join(dir, "a")}
	mysql := modules.Module{Name: "mysql", Dir: filepath.Join(dir, "b/mysql"), In: filepath.Join(dir, "b")}
	t.Run("LANG-LOAD-03 the first of a name wins", func(t *testing.T) {
		t.Parallel()
		got, err := modules.All(path)
		byName := cmpopts.SortSlices(func(a, b modules.Module) bool { return a.Name < b.Name })
		if diff := cmp.Diff([]modules.Module{ntp, mysql}, got, byName); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
	for name, want := range map[string]modules.Module{"ntp": ntp, "mysql": mysql, "": {}, "Apt": {}, "file": {}, "../b/ntp": {}} {
		if got, ok := modules.Find(path, name); got != want || ok != (want.Name != "") {
			t.Errorf("%q: got %v, %v, want %v", name, got, ok, want)
		}
	}
	if _, err := modules.All([]string{filepath.Join(dir, "none")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		version, err string
		broken       bool // JSON
	}{
		`{}`: {},
		`{"source": "s", "author": "a", "version": "1.2.3", "license": "l", "dependencies": []}`:   {version: "1.2.3"},
		`{"source": "s", "author": "a", "version": 1, "license": "l", "dependencies": []}`:         {},
		`{"author": "a", "version": "1", "license": "l", "dependencies": []}`:                      {err: "No source module metadata provided for m"},
		`{"source": "s", "author": "a", "version": null, "license": "l", "dependencies": []}`:      {err: "No version module metadata provided for m"},
		`{"source": "s", "author": "a", "version": "1", "license": "l", "dependencies": {"a": 1}}`: {err: `The value for the key dependencies in the file metadata.json of the module m must be an array, not: '{"a": 1}'`},
		`{"source`: {err: "unexpected end of JSON input", broken: true},
	} {
		got, err := modules.Module{Name: "m"}.Metadata([]byte(text))
		problem := ""
		if err != nil {
			problem = err.Error()
		}
		if bad := (*json.SyntaxError)(nil); got.Version != want.version || problem != want.err || errors.As(err, &bad) != want.broken {
			t.Errorf("%s: got %q, %v, want %+v", text, got.Version, err, want)
		}
	}
}
