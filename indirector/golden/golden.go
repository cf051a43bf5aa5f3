// Package golden finds answers recorded from real Puppet: the copy beside the
// test, or the set that INDIRTUI_GOLDEN names.
package golden

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/format/psych"
)

// Path returns the path of a part of the set. If it is missing, the test is
// skipped if INDIRTUI_GOLDEN names a set with other parts, and fails otherwise.
func Path(tb testing.TB, part ...string) string {
	tb.Helper()
	return PathBeside(tb, ".", part...)
}

// PathBeside is Path for a part whose copy is beside the tests of another package,
// in the directory dir.
func PathBeside(tb testing.TB, dir string, part ...string) string {
	tb.Helper()
	set := os.Getenv("INDIRTUI_GOLDEN")
	if set == "" {
		return filepath.Join(append([]string{dir, "testdata"}, part...)...)
	}
	path := filepath.Join(append([]string{set}, part...)...)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	for _, other := range []string{"dispatch", "formats", "fileserver", "rich", "lang", "stores", "ral"} {
		if entries, err := os.ReadDir(filepath.Join(set, other)); err == nil && len(entries) > 0 {
			tb.Skipf("the set %s has no %s", set, filepath.Join(part...))
		}
	}
	tb.Fatalf("%s is no set of golden data: it has neither dispatch nor formats nor fileserver nor rich nor lang nor stores nor ral", set)
	return ""
}

// YAML returns what a YAML file has, and an empty hash if there is no file, or nothing in
// it.
func YAML(tb testing.TB, path string) data.Value {
	tb.Helper()
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return data.OfHash(nil)
	}
	if err != nil {
		tb.Fatal(err)
	}
	doc, err := psych.Decode(text, psych.Limits{})
	if err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	if doc.Value.IsNil() {
		return data.OfHash(nil)
	}
	return doc.Value
}

// DropExtra empties the fields named Extra of an instance, at any depth: the
// keys that Puppet ignores and models keep.
func DropExtra(instance any) { dropExtra(reflect.ValueOf(instance)) }

func dropExtra(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			dropExtra(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			dropExtra(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch f := v.Field(i); {
			case strings.HasSuffix(v.Type().Field(i).Name, "Extra"):
				f.SetZero()
			case f.CanSet():
				dropExtra(f)
			}
		}
	}
}
