package query_test

import (
	"errors"
	"slices"
	"testing"

	"indirtui/traces/query"
)

// An expression prints itself so that it is read again as itself, and matches
// the same requests. A text that is none has an error inside of the text, and
// what is offered instead, if anything, is at least another text.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "web01", "hidden t>-1h", "ind=catalog took>5s step(terminus took>4s)", `err~"connection \"refused\"\\"`,
		"http.status in (404,403) and not key=plugins*", "node=db07* prev(ind=node out=nil)", "@marked or #1042..1050",
		"run and (a|b)", "because=skipped(cache-hit)", "!(a b) 'c d'", "t=23:00..01:00", "t=2025-11-20T14:02:00Z", "step('route' cache read)",
		"err~", "key=\xff*\x00", "İ=ſK", "step.cache-read.answer!=(a, \"b c\")",
	} {
		f.Add(text, len(text)/2)
	}
	w := demo()
	f.Fuzz(func(t *testing.T, text string, pos int) {
		for _, s := range query.Complete(text, pos) {
			if s.Start < 0 || s.Start > s.End || s.End > len(text) {
				t.Fatalf("Complete(%q, %d): %+v", text, pos, s)
			}
		}
		e, err := query.ParseAt(text, now)
		if err != nil {
			var bad *query.SyntaxError
			if !errors.As(err, &bad) || bad.Offset < 0 || bad.Offset > len(text) || bad.Want == "" || bad.Got == "" || bad.Fix == text && text != "" {
				t.Fatalf("Parse(%q): %#v", text, err)
			}
			return
		}
		again, err := query.ParseAt(e.String(), now)
		if err != nil {
			t.Fatalf("%q prints %q: %v", text, e, err)
		}
		if again.String() != e.String() || again.Simple() != e.Simple() {
			t.Fatalf("%q prints %q, which prints %q", text, e, again)
		}
		if a, b := w.matched(e), w.matched(again); !slices.Equal(a, b) {
			t.Fatalf("%q matches %v; printed as %q it matches %v", text, a, e, b)
		}
	})
}

// An expectation prints itself so that it is read again as itself, and has the
// same verdict.
func FuzzExpectation(f *testing.F) {
	for _, text := range []string{
		"count(out=stale) = 0", "max(took, ind=catalog) < 2s", "max(took)<=5s", "none(hidden)", "same(baseline, verb=find)", `same("a b", )`,
		"count() != 3", "max(size, key=\"a)\") > 1k", "none(prev(ind=node) and (a or b))", "count(", "max(key) = 1", "count(x) = 99999999999999999999",
	} {
		f.Add(text)
	}
	w := demo()
	f.Fuzz(func(t *testing.T, text string) {
		x, err := query.ParseExpectationAt(text, now)
		if err != nil {
			var bad *query.SyntaxError
			if !errors.As(err, &bad) || bad.Offset < 0 || bad.Offset > len(text) {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		again, err := query.ParseExpectationAt(x.String(), now)
		if err != nil || again.String() != x.String() {
			t.Fatalf("%q prints %q, which is read as %v, %v", text, x, again, err)
		}
		if a, b := x.Check(w.seq(), w.seq()), again.Check(w.seq(), w.seq()); a.Met != b.Met || a.Found != b.Found {
			t.Fatalf("%q: got %+v; printed as %q %+v", text, a, x, b)
		}
	})
}

func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "web01", `a "b" c`, `a b\`, `\"`, `\\`, "'x", "(a", "a(b)", "a,b", "a\u2003b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 1000 {
			return
		}
		text := "key=" + query.Quote(s)
		e, err := query.Parse(text)
		if err != nil || e.String() != text {
			t.Fatalf("%q: %q, %v", text, e, err)
		}
	})
}
