package cli

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The form shows what would be saved and redacted, and the message afterwards
// shows the same. A recording without values names them as left out.
func TestSaveForm(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	alone(t, nil, func(tr *trip) {
		tr.command("recordings", "Recordings  in ")
		path := filepath.Join(t.TempDir(), "bare.ind")
		tr.key("w", "save as", "1 047 requests, at most ", "masked ")
		redacted := func() string { return regexp.MustCompile(`masked \d+`).FindString(tr.Frame()) }
		before := redacted()
		if before == "masked 0" || before == "" {
			t.Fatalf("nothing is masked in\n%s", tr.Frame())
		}
		tr.Keys("ctrl+u", path)
		tr.sees(before)
		tr.Keys("tab", "ctrl+u", "ind=")
		tr.sees("save as").Not(before)
		tr.Keys("ctrl+u", "run=5a1b", "tab", "tab", "up")
		tr.sees("6 requests, at most ", "6 values left out", "nothing in it is masked")
		tr.key("enter", "saved 6 requests to ", "masked 0, ")
		tr.command("save "+filepath.Join(filepath.Dir(path), "all.ind")+" @all", before)
		tr.key("esc", "- Requests ")
		tr.leave()
		tr.close()

		s, err := openSession(path)
		if err != nil {
			t.Fatal(err)
		}
		for size, cells := range sizes {
			tr.size = size
			tr.show(s, cells[0], cells[1])
			tr.sees("all 6").filter("ind=catalog", "1 of ").key("v", "This recording has no values (saved without bodies).")
			for !strings.Contains(tr.Frame(), "[Meta]") {
				tr.key("tab", "Tree")
			}
			tr.sees("served by", "sha256")
		}
		tr.close()
	})
}
