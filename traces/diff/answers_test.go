package diff_test

import (
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector/host/files"
	"indirtui/traces"
	"indirtui/traces/diff"
	"indirtui/traces/store"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	const tagA, tagB = `"(masked NAME, 7 B, tag 11aa)"`, `"(masked NAME, 7 B, tag 22bb)"`
	for _, tt := range []struct {
		name, a, b string
		o          diff.Options
		bare       bool // A is kept without values
		want       diff.Verdict
		note       string
	}{
		{name: "neither", want: diff.NoValue, note: "no value"},
		{name: "gone", a: `{"x":1}`, want: diff.OneSided, note: "there is no value any more"},
		{name: "new", b: `{"x":1}`, want: diff.OneSided, note: "there was no value"},
		{name: "same bytes", a: `{"x":1}`, b: `{"x":1}`, want: diff.Equal, note: "value equal"},
		{name: "another order", a: `{"x":1,"y":2}`, b: `{"y":2,"x":1}`, want: diff.Equal, note: "value equal"},
		{name: "changed", a: `{"x":1,"y":2}`, b: `{"x":2,"z":2}`, want: diff.Different, note: "value differs in 3 places"},
		{name: "ignored", a: `{"x":1,"y":2}`, b: `{"x":2,"y":2}`, o: diff.Options{Ignore: []string{".x"}}, want: diff.Equal, note: "value equal, 1 ignored"},
		{name: "masked, one recording, same secret", a: `{"x":` + tagA + `}`, b: `{"x":` + tagA + `}`, want: diff.Equal, note: "value equal"},
		{name: "masked, one recording, another secret", a: `{"x":` + tagA + `}`, b: `{"x":` + tagB + `}`, want: diff.Different, note: "value differs in 1 place"},
		{name: "masked, two recordings", a: `{"x":` + tagA + `}`, b: `{"x":` + tagB + `}`, o: diff.Options{Apart: true}, want: diff.Redacted, note: "value equal but for what is masked"},
		{name: "no text of JSON", a: `{"x":1}`, b: `x`, want: diff.Different, note: "value differs in 1 place"},
		{name: "not recorded", a: `{"x":1}`, b: `{"x":2}`, bare: true, want: diff.Uncompared, note: "value not compared: its value was not recorded"},
		{name: "not recorded, and the same", a: `{"x":1}`, b: `{"x":1}`, bare: true, want: diff.Equal, note: "value equal"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			kept := record(t, "", one{"a", "exec", tt.a, traces.Good}, one{"a", "exec", tt.b, traces.Good})
			var log diff.Log = kept
			if tt.bare {
				path := filepath.Join(t.TempDir(), "bare.jsonl")
				none := store.Edit{Keep: func(*traces.Trace, *traces.Value) bool { return false }}
				f, err := files.Create(path, files.Options{New: true})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := kept.SaveEdited(f, []uint64{1, 2}, none); err != nil {
					t.Fatal(err)
				}
				bare, err := store.OpenFile(path)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = bare.Close() })
				for done, total := bare.Loading(); done < total; done, total = bare.Loading() {
					<-bare.Changed()
				}
				log = bare
			}
			a, err := log.Trace(1)
			if err != nil {
				t.Fatal(err)
			}
			b, err := kept.Trace(2)
			if err != nil {
				t.Fatal(err)
			}
			got := diff.Answers(log, a, kept, b, tt.o)
			if got.Verdict != tt.want || got.String() != tt.note {
				t.Errorf("got %s: %s; want %s: %s", got.Verdict, &got, tt.want, tt.note)
			}
			var tally diff.Tally
			tally.Add(&got)
			tally.Add(&got)
			if text := tally.String(); strings.Contains(text, "2 of 2 changed") != (tt.want == diff.Different) || strings.Contains(text, "2 not compared") != (tt.want == diff.Uncompared) {
				t.Errorf("tally: %s", text)
			}
		})
	}
}

// Texts compares what no log has.
func TestTexts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ a, b, want string }{
		{`{"n":1,"version":1}`, `{"n":1,"version":2}`, "value equal, 1 ignored"},
		{`{"n":1}`, `{"n":2,"m":3}`, "value differs in 2 places"},
		{`{`, `{}`, "value not compared: "},
	} {
		got := diff.Texts([]byte(tt.a), []byte(tt.b), diff.Options{Ignore: []string{".version"}})
		if text := got.String(); !strings.HasPrefix(text, tt.want) {
			t.Errorf("%s and %s: got %q, want %q", tt.a, tt.b, text, tt.want)
		}
	}
}
