package store_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"indirtui/traces"
	"indirtui/traces/store"
)

// TestPieces records values that differ in a few bytes beside a large piece.
func TestPieces(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("the values of all facts ", 100)
	content := func(n any) string { return fmt.Sprintf(`{"expiration":%d,%q}`, n, large) }
	render := func(_ string, n any) traces.Value {
		whole := content(n)
		at := strings.Index(whole, large)
		return traces.Value{Model: "facts", Format: "json", Size: len(whole), Pieces: []traces.Piece{
			{Text: []byte(whole[:at])}, {Text: []byte(large), Digest: digest([]byte(large))}, {Text: []byte(whole[at+len(large):])},
		}}
	}
	const n = 20
	check := func(t *testing.T, s *store.Store) {
		t.Helper()
		for id := range uint64(n) {
			tr, err := s.Trace(id + 1)
			if err != nil {
				t.Fatal(err)
			}
			want := content(int(id))
			if b, err := s.Body(tr.Value()); err != nil || string(b) != want || tr.Value().Digest != digest([]byte(want)) {
				t.Errorf("value %d: got %q, %v, want %q", id, b, err, want)
			}
		}
	}
	for name, path := range map[string]string{"file": file(t), "memory": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, store.Options{Path: path, Render: render})
			for i := range n {
				record(s, find("facts", "web01"), i)
			}
			check(t, s)
			flush(t, s)
			check(t, s)
			if path == "" {
				return
			}
			check(t, reopen(t, s))
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := bytes.Count(b, []byte(large)); got != 1 {
				t.Errorf("the recording has the piece %d times", got)
			}
		})
	}
}

// TestHostilePieces reads values whose pieces cannot be what they should.
func TestHostilePieces(t *testing.T) {
	t.Parallel()
	const text = `piece`
	megabyte := strings.Repeat("m", 1<<20)
	line := func(d, rest string) string { return fmt.Sprintf(`{"body":"%s","format":"json",%s}`, d, rest) + "\n" }
	of := func(d string) string { return fmt.Sprintf(`{"body":"%s"}`, d) }
	whole := digest([]byte("a piece"))
	for name, tt := range map[string]struct{ lines, want string }{
		"whole": {line(digest([]byte(text)), `"text":"piece"`) + line(whole, `"pieces":[{"text":"a "},`+of(digest([]byte(text)))+`]`), ""},
		"gone":  {line(whole, `"pieces":[{"text":"a "},`+of(digest([]byte(text)))+`]`), "dropped"},
		"other": {line(digest([]byte(text)), `"text":"peace"`) + line(whole, `"pieces":[{"text":"a "},`+of(digest([]byte(text)))+`]`), "SHA-256 is another"},
		"name":  {line(whole, `"pieces":[{"body":"x"}]`), "is no SHA-256"},
		"loop":  {line(whole, `"pieces":[{"text":"a "},`+of(whole)+`]`), "SHA-256 is another"},
		"bomb":  {line(digest([]byte(megabyte)), `"text":"`+megabyte+`"`) + line(whole, `"pieces":[`+strings.Repeat(of(digest([]byte(megabyte)))+",", 16)+of(digest([]byte(megabyte)))+`]`), "is longer than 16777216 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := read(t, write(t, []byte(`{"indirtui":1}`+"\n"+tt.lines)))
			b, err := r.Body(traces.Value{Digest: whole})
			if tt.want == "" && (err != nil || string(b) != "a piece") || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %d bytes, %v, want %q", len(b), err, tt.want)
			}
		})
	}
}
