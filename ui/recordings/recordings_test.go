package recordings_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/traces/export"
	"indirtui/ui/recordings"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/uitest"
)

// What stands behind the name of a file: the selector survives as it is
// written, whatever is in its quotes.
func TestWhat(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text   string
		format export.Format // given before
		want   recordings.What
		bad    string
	}{
		{text: "", want: recordings.What{}},
		{text: "@run", want: recordings.What{Selector: "@run"}},
		{text: "csv", want: recordings.What{Format: export.CSV}},
		{text: `err="connection  refused" har bodies=none`, want: recordings.What{Selector: `err="connection  refused"`, Format: export.HAR, Bodies: export.NoBody}},
		{text: `key='a b' bodies=failed jsonl`, want: recordings.What{Selector: "key='a b'", Format: export.JSONL, Bodies: export.FailedBodies}},
		{text: `err="saved with bodies=some"`, want: recordings.What{Selector: `err="saved with bodies=some"`}},
		{text: `"csv"`, want: recordings.What{Selector: `"csv"`}},
		{text: "hidden csv", format: export.OTLP, want: recordings.What{Selector: "hidden csv", Format: export.OTLP}},
		{text: "hidden csv har", want: recordings.What{Selector: "hidden csv", Format: export.HAR}},
		{text: "key=it's", want: recordings.What{Selector: "key=it's"}},
		{text: "@run bodies=some", bad: "bodies=some is not known; there are: all, small, failed, none"},
	} {
		got := recordings.What{Format: tt.format}
		err := got.Read(tt.text)
		if tt.bad != "" {
			if err == nil || err.Error() != tt.bad {
				t.Errorf("%s: got %v, want %s", tt.text, err, tt.bad)
			}
			continue
		}
		if err != nil || got != tt.want {
			t.Errorf("%s: got %+v, %v, want %+v", tt.text, got, err, tt.want)
		}
	}
}

// What is read is written so that it is read again.
func FuzzWhat(f *testing.F) {
	f.Add(`err="connection  refused" har bodies=none`)
	f.Add("csv bodies=all csv")
	f.Add("key=it's \t csv")
	f.Fuzz(func(t *testing.T, text string) {
		var a, b recordings.What
		if a.Read(text) != nil {
			return
		}
		if a.Format == "" {
			a.Format = export.Recording
		}
		if a.Bodies == "" {
			a.Bodies = export.AnyBody
		}
		a.Name = "x"
		line, ok := strings.CutPrefix(a.String(), "x ")
		if err := b.Read(line); err != nil || !ok {
			t.Fatalf("%q is written %q, which is refused: %v", text, a.String(), err)
		}
		if b.Name = "x"; a != b {
			t.Errorf("%q: got %+v, want %+v", text, b, a)
		}
	})
}

// Saving reports how much is done, in every format. When it is stopped nothing is
// left behind.
func TestLongWork(t *testing.T) {
	t.Parallel()
	log := uitest.Site(t)
	o := recordings.Options{Log: log, Redact: func(s string) (string, int) { return s, 0 }}
	for _, f := range export.Formats() {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "saved")
			env := &session.Env{Log: log}
			work := recordings.Write(env, o, recordings.What{Name: path, Selector: "@all", Format: f})().(screen.Work)
			ctx, stop := context.WithCancel(t.Context())
			half := func(done, total int64) {
				if done >= total/2 {
					stop()
				}
			}
			if got, want := work.Do(ctx, half).(screen.Toast).Text, "save "+path+": stopped by you"; got != want {
				t.Errorf("stopped: got %q, want %q", got, want)
			}
			if left, _ := os.ReadDir(filepath.Dir(path)); len(left) > 0 {
				t.Errorf("it left %v", left)
			}
			var last [2]int64
			toast := work.Do(t.Context(), func(done, total int64) { last = [2]int64{done, total} }).(screen.Toast)
			if toast.Bad || last[1] == 0 || last[0] < last[1]-1 {
				t.Errorf("not stopped: got %+v and %d of %d", toast, last[0], last[1])
			}
		})
	}
}
