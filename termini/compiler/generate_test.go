package compiler

import (
	"os"
	"regexp"
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

func TestValidate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a shell")
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	for _, tt := range []struct{ command, want string }{
		{"grep -q good", ""},
		{"test % -ef %", ""},
		{"/bin/sh -c 'cat $0; exit 3'", "Execution of '/bin/sh -c 'cat $0; exit 3' <FILE>' returned 3: good\nlines"},
		{"grep -q bad % ", "Execution of 'grep -q bad <FILE> ' returned 1: "},
		{"/no/such/command", "Execution of '/no/such/command <FILE>' returned 1: "},
	} {
		got := ""
		if err := validate(t.Context(), "good\nlines\n", tt.command); err != nil {
			got = regexp.MustCompile(regexp.QuoteMeta(dir)+`/\w+`).ReplaceAllString(err.Error(), "<FILE>")
		}
		if got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", tt.command, got, tt.want)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
