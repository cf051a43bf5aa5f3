package compiler

import (
	"runtime"
	"testing"
)

func TestGenerate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a shell")
	}
	for _, tt := range []struct{ script, want string }{
		{"echo out; echo err >&2", "out\nerr\n"},
		{"echo because; exit 3", "Execution of '/bin/sh -c echo because; exit 3' returned 3: because"},
	} {
		got, err := generate(t.Context(), []string{"/bin/sh", "-c", tt.script})
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.script, got, tt.want)
		}
	}
}
