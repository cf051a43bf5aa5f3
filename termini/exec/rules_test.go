//go:build unix

package exec_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/traces"
)

// TestNothingPrinted runs a classifier that prints nothing, which is no node,
// and one that fails: neither result shows stderr.
func TestNothingPrinted(t *testing.T) {
	t.Parallel()
	for _, stdout := range []string{"", " \n\t\n"} {
		t.Run("TERM-ENC-04 nothing but blanks is nil", func(t *testing.T) {
			t.Parallel()
			_, trace, err := ask(t.Context(), t, settings{"external_nodes": script(t, "#!/bin/sh\nprintf '"+stdout+"'\n")})
			if !errors.Is(err, indirector.ErrNotFound) || !strings.Contains(err.Error(), traces.NilFromEmptyOutput.String()) {
				t.Errorf("got %v", err)
			}
			if got := fmt.Sprint(trace.Notes); got != "[the classifier (ENC) printed nothing, so Puppet has no node]" {
				t.Errorf("notes: %q", got)
			}
		})
	}
	t.Run("TERM-ENC-02 TERM-ENC-03 the words of a failure are those of stdout", func(t *testing.T) {
		t.Parallel()
		enc := script(t, "#!/bin/sh\necho said\necho hidden >&2\nexit 1\n")
		_, _, err := ask(t.Context(), t, settings{"external_nodes": enc})
		if got, want := indirector.Message(err), "Failed to find n1 via exec: Execution of '"+enc+" n1' returned 1: said"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if f := (*indirector.Failure)(nil); !errors.As(err, &f) || !strings.Contains(f.Hidden, "hidden") {
			t.Errorf("stderr is lost: %+v", f)
		}
	})
	t.Run("TERM-ENC-02 a command that is not there looks like exit 1", func(t *testing.T) {
		t.Parallel()
		_, _, err := ask(t.Context(), t, settings{"external_nodes": "/no/such/enc"})
		if got := indirector.Message(err); got != "Failed to find n1 via exec: Execution of '/no/such/enc n1' returned 1: " {
			t.Errorf("got %q", got)
		}
	})
}
