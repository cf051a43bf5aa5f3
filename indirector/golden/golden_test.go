package golden_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"indirtui/indirector/golden"
)

// end is a test that notes how it ended.
type end struct {
	testing.TB
	how string
}

func (e *end) Helper() {}

func (e *end) Skipf(format string, args ...any) {
	e.how = "skipped: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (e *end) Fatalf(format string, args ...any) {
	e.how = "failed: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestPath(t *testing.T) {
	set, empty := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(set, "formats", "out"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, set, part, want string }{
		{"the copy", "", "formats", filepath.Join("testdata", "formats")},
		{"a part that is there", set, "formats", filepath.Join(set, "formats")},
		{"a part that is not", set, "dispatch", "skipped: the set " + set + " has no dispatch"},
		{"nothing", empty, "formats", "failed: " + empty + " is no set of golden data: it has neither dispatch nor formats nor fileserver nor rich nor lang nor stores nor ral"},
		{"nowhere", filepath.Join(empty, "x"), "formats", "failed: " + filepath.Join(empty, "x") + " is no set of golden data: it has neither dispatch nor formats nor fileserver nor rich nor lang nor stores nor ral"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("INDIRTUI_GOLDEN", tt.set)
			e := &end{TB: t}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				e.how = golden.Path(e, tt.part)
			}()
			<-ended
			if e.how != tt.want {
				t.Errorf("got %s, want %s", e.how, tt.want)
			}
		})
	}
}
