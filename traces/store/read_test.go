package store_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"indirtui/traces"
	"indirtui/traces/store"
)

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// sample is a small recording.
func sample(tb testing.TB) []byte {
	tb.Helper()
	s, err := store.Open(store.Options{Path: file(tb), Render: render})
	if err != nil {
		tb.Fatal(err)
	}
	for i := range 3 {
		tr := find("facts", fmt.Sprint("web", i))
		tr.Faults = []traces.Fault{{Message: "no"}}
		record(s, tr, fmt.Sprint("value ", i))
	}
	if err := errors.Join(s.AddComment(2, "why"), s.Close()); err != nil {
		tb.Fatal(err)
	}
	b, err := os.ReadFile(s.Path())
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func write(tb testing.TB, b []byte) string {
	tb.Helper()
	path := file(tb)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// check reads the remains of a recording: every request with a whole line must
// be there, with its detail, and no other.
func check(tb testing.TB, b []byte) {
	tb.Helper()
	r := read(tb, write(tb, b))
	defer r.Close()
	whole := b[:bytes.LastIndexByte(b, '\n')+1]
	want := bytes.Count(whole, []byte(`{"trace":`))
	rows := make([]store.Row, 10)
	n := r.Rows(1, rows)
	if n != want {
		tb.Errorf("cut at %d: got %d rows, want %d", len(b), n, want)
	}
	for _, row := range rows[:n] {
		tr, err := r.Trace(row.ID)
		if err != nil {
			tb.Errorf("cut at %d: %v", len(b), err)
			continue
		}
		if body, err := r.Body(tr.Value()); err != nil || string(body) != fmt.Sprint("value ", row.ID-1) {
			tb.Errorf("cut at %d: got value %q, %v", len(b), body, err)
		}
	}
	if damaged := len(whole) < len(b) || len(b) == 0; damaged != (len(r.Notes()) > 0) && !bytes.Contains(b, []byte(`"comment"`)) {
		tb.Errorf("cut at %d: got notes %q", len(b), r.Notes())
	}
}

func TestTruncated(t *testing.T) {
	t.Parallel()
	b := sample(t)
	for n := range len(b) + 1 {
		check(t, b[:n])
	}
}

func TestDamagedTail(t *testing.T) {
	t.Parallel()
	b := sample(t)
	for _, tail := range []string{"\x00\x00\x00\x00", `{"trace":4,"t":`, "\n\n", "garbage\n", `{"trace":"x"}` + "\n", "[]\n", "null\n", "\xff\xfe\n", `{"body":"00","text":"x"}` + "\n"} {
		r := read(t, write(t, append(bytes.Clone(b), tail...)))
		if _, last := r.Range(); last != 3 {
			t.Errorf("after %q: got last %d, want 3", tail, last)
		}
		if blank := strings.TrimSpace(tail) == "" || tail == "null\n"; blank == (len(r.Notes()) > 0) {
			t.Errorf("after %q: got notes %q", tail, r.Notes())
		}
	}
}

func TestDamagedMiddle(t *testing.T) {
	t.Parallel()
	lines := bytes.SplitAfter(sample(t), []byte("\n"))
	for i := 1; i < len(lines)-1; i++ {
		b := bytes.Join([][]byte{bytes.Join(lines[:i], nil), []byte("{\"trace\":\x00\n"), bytes.Join(lines[i:], nil)}, nil)
		r := read(t, write(t, b))
		rows := make([]store.Row, 10)
		if n := r.Rows(1, rows); n != 3 || len(r.Notes()) != 1 {
			t.Errorf("damage before line %d: got %d rows, notes %q", i+1, n, r.Notes())
		}
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	const header = `{"indirtui":1}` + "\n"
	for _, tt := range []struct {
		name, text string
		err        string // part of it; "" if it opens
		rows       int
	}{
		{"empty", "", "", 0},
		{"only a header", header, "", 0},
		{"something else", "hello\nworld\n", "not a recording", 0},
		{"something else without a line", "hello", "not a recording", 0},
		{"JSON of somebody else", "{\"a\":1}\n", "not a recording", 0},
		{"a newer format", `{"indirtui":2}` + "\n", "version 2", 0},
		{"unknown fields and lines", `{"x":{},"indirtui":1}` + "\n" + `{"weather":"fine"}` + "\n" +
			`{"trace":7,"new":[1],"verb":"find","steps":[{"step":"future","is":"odd"},{"step":"terminus","is":"ok","x":1}],"more":{}}` + "\n", "", 1},
		{"sorted fields", header + `{"ind":"facts","steps":[],"trace":7,"verb":"find"}` + "\n", "", 1},
		{"a number twice", header + strings.Repeat(`{"trace":7,"verb":"find","steps":[]}`+"\n", 2), "", 1},
		{"the greatest number", header + `{"trace":7,"verb":"find","steps":[]}` + "\n" + `{"trace":18446744073709551615,"verb":"find","steps":[]}` + "\n", "", 1},
		{"only the greatest number", header + `{"trace":18446744073709551615,"verb":"find","steps":[]}` + "\n", "", 0},
		{"numbers far apart", header + `{"trace":7000000,"verb":"find","steps":[]}` + "\n" + `{"trace":7,"verb":"find","steps":[]}` + "\n", "", 2},
		{"a traceparent that is none", header + `{"trace":7,"verb":"find","steps":[],"traceparent":"00-12"}` + "\n", "", 1},
		{"a child before its parent", header + `{"trace":2,"parent":1,"verb":"find","steps":[]}` + "\n" + `{"trace":1,"verb":"find","steps":[]}` + "\n", "", 2},
		{"its own parent", header + `{"trace":1,"parent":1,"prev":1,"good":1,"replay":true,"verb":"find","steps":[]}` + "\n", "", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := write(t, []byte(tt.text))
			r, err := store.OpenFile(path)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			rows := make([]store.Row, 10)
			if n := r.Rows(0, rows); n != tt.rows {
				t.Errorf("got %d rows, want %d; notes %q", n, tt.rows, r.Notes())
			}
			for _, row := range rows[:tt.rows] {
				if _, err := r.Trace(row.ID); err != nil {
					t.Error(err)
				}
				r.Links(row.ID)
			}
		})
	}
	if _, err := store.OpenFile(t.TempDir()); err == nil {
		t.Error("a directory was opened")
	}
	if _, err := store.OpenFile(file(t)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want ErrNotExist", err)
	}
}

// TestLongLines reads lines longer than all buffers.
func TestLongLines(t *testing.T) {
	t.Parallel()
	s := open(t, store.Options{Path: file(t), Render: render})
	value := strings.Repeat("é\x00", 1<<20)
	record(s, find("catalog", "web01"), value)
	tr := find("catalog", "web02")
	tr.Notes = []traces.Remark{{Text: value}}
	record(s, tr, nil)
	long := find("facts", strings.Repeat("k", 10_000))
	record(s, long, nil)
	r := reopen(t, s)
	got, err := r.Trace(1)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := r.Body(got.Value()); err != nil || string(b) != value {
		t.Errorf("got %d bytes, %v", len(b), err)
	}
	if got, err := r.Trace(2); err != nil || got.Notes[0].Text != value {
		t.Errorf("got %v", err)
	}
	row, _ := r.Row(3)
	if got, err := r.Trace(3); err != nil || len(got.Key) != 10_000 || len(row.Key) != 512 {
		t.Errorf("got %v, %d bytes in the row", err, len(row.Key))
	}
}

// FuzzOpenFile checks that any bytes are read without a panic, and that a
// truncation keeps what was before.
func FuzzOpenFile(f *testing.F) {
	b := sample(f)
	f.Add(b, uint(len(b)))
	f.Add(b, uint(len(b)/2))
	f.Add([]byte(`{"indirtui":1}`+"\n"+`{"body":"`+digest([]byte("b"))+`","text":"b"}`+"\n"+
		`{"body":"`+digest([]byte("ab"))+`","pieces":[{"text":"a"},{"body":"`+digest([]byte("b"))+`"}]}`+"\n"+
		`{"trace":1,"steps":[],"value":{"digest":"`+digest([]byte("ab"))+`"}}`+"\n"), uint(300))
	f.Add([]byte(`{"indirtui":1}`+"\n"+`{"trace":18446744073709551615,"parent":1,"steps":[]}`+"\n"), uint(1000))
	f.Fuzz(func(t *testing.T, b []byte, cut uint) {
		keys := func(b []byte) []store.Row {
			r, err := store.OpenFile(write(t, b))
			if err != nil {
				return nil
			}
			defer r.Close()
			for done, total := r.Loading(); done < total; done, total = r.Loading() {
				<-r.Changed()
			}
			rows := make([]store.Row, 100)
			rows = rows[:r.Rows(0, rows)]
			for _, row := range rows {
				if tr, err := r.Trace(row.ID); err == nil {
					_, _ = r.Body(tr.Value())
				}
				r.Links(row.ID)
			}
			for v := r.View(nil); !v.Extend(0); {
			}
			return rows
		}
		whole := keys(b)
		short := b[:min(cut, uint(len(b)))]
		short = short[:bytes.LastIndexByte(short, '\n')+1]
		if part := keys(short); len(part) > len(whole) && len(whole) < 100 {
			t.Errorf("%d rows in a part, %d in all", len(part), len(whole))
		}
	})
}
