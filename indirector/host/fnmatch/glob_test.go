package fnmatch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/host/fnmatch"
)

// Glob finds what Ruby finds, in its order.
func TestGlob(t *testing.T) {
	t.Parallel()
	ruby, err := exec.LookPath("ruby")
	if err != nil {
		t.Skip("ruby is not installed")
	}
	dir := t.TempDir()
	for _, name := range []string{"a/x.yaml", "a/y.yml", "b.yaml", "a/c/d.yaml", "a/c/.hidden.yaml", ".h/z.yaml", "c/b.yaml", "[x]/e.yaml", "a/c/e/f.yaml"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	patterns := []string{
		"*", "*.yaml", "**/*.yaml", "a/**/*.yaml", "{b,a/x}.yaml", "a/*", "?/*.yaml", "[ab]/*.yaml", "**/d.yaml", "**", "a/**", "zzz/*",
		"a/x.yaml", "**/c/*.yaml", `\[x]/*.yaml`, "*/c/**/*.yaml", ".h/*.yaml", "link/*.yaml", "**/{d,f}.yaml",
	}
	args := []string{"-e", `ARGV[1..].each { |p| puts Dir.glob(File.join(ARGV[0], p)).join(",") }`, dir}
	out, err := exec.CommandContext(t.Context(), ruby, append(args, patterns...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	for i, p := range patterns {
		got := strings.Join(fnmatch.Glob(filepath.Join(dir, p), 1000), ",")
		if d := cmp.Diff(strings.ReplaceAll(want[i], dir, ""), strings.ReplaceAll(got, dir, "")); d != "" {
			t.Errorf("%s: %s", p, d)
		}
	}
	if got := fnmatch.Glob(filepath.Join(dir, "**/*.yaml"), 2); len(got) != 2 {
		t.Errorf("got %d paths, want the two that are the limit", len(got))
	}
}
