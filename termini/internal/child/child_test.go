package child_test

import (
	"slices"
	"testing"

	"indirtui/termini/internal/child"
)

func TestBufferKeepsTheFirstBytes(t *testing.T) {
	t.Parallel()
	full := 0
	b := child.Buffer{Max: 5, Full: func() { full++ }}
	for _, s := range []string{"abc", "de", "f", "ghi"} {
		if n, err := b.Write([]byte(s)); n != len(s) || err != nil {
			t.Errorf("%s: got %d, %v", s, n, err)
		}
	}
	if string(b.Kept) != "abcde" || full != 1 {
		t.Errorf("kept %q, full %d times", b.Kept, full)
	}
}

func TestEnvironmentHasNoUser(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	t.Setenv("KEPT", "yes")
	got := child.Environment()
	if slices.Contains(got, "HOME=/home/me") || slices.Contains(got, "LC_ALL=de_DE.UTF-8") || !slices.Contains(got, "LC_ALL=C") || !slices.Contains(got, "KEPT=yes") {
		t.Errorf("got %q", got)
	}
}
