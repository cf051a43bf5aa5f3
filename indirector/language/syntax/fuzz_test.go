package syntax_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/golden"
	"indirtui/indirector/language/syntax"
)

// Any source is read without a panic; what is valid is printed, and means the same
// when it is read again.
func FuzzParse(f *testing.F) {
	for r := range golden.Rows[recorded](f, filepath.Join("testdata", "trees.jsonl")) {
		f.Add(r.Code, r.EPP)
	}
	for r := range golden.Rows[row](f, golden.Path(f, "lang", "eval.jsonl")) {
		f.Add(r.Code, false)
	}
	f.Fuzz(func(t *testing.T, code string, epp bool) { roundTrip(t, code, epp) })
}

// roundTrip holds the tree of a source against that of what is printed of it.
func roundTrip(t *testing.T, code string, epp bool) {
	t.Helper()
	o := syntax.Options{EPP: epp}
	prog, report := syntax.Parse(&syntax.Source{Text: code}, o)
	if report.Failure != nil {
		_ = report.Failure.Error()
		return
	}
	printed := syntax.Print(prog)
	again, report := syntax.Parse(&syntax.Source{Text: printed}, o)
	if report.Failure != nil {
		if regexpInstead(printed) {
			return
		}
		t.Fatalf("%q was printed as %q: %v", code, printed, report.Failure)
	}
	if diff := cmp.Diff(syntax.PN(prog, true), syntax.PN(again, true)); diff != "" && !regexpInstead(printed) {
		t.Errorf("%q was printed as %q (-want +got):\n%s", code, printed, diff)
	}
}

// regexpInstead reports whether a / behind a brace may have become the beginning of
// a regular expression: it divides only if no other / follows.
func regexpInstead(printed string) bool { return strings.Contains(printed, "} / ") }

// Random programs, and all that were recorded, mean the same when they are printed.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for r := range golden.Rows[row](t, golden.Path(t, "lang", "eval.jsonl")) {
		roundTrip(t, r.Code, false)
	}
	for r := range golden.Rows[recorded](t, filepath.Join("testdata", "trees.jsonl")) {
		roundTrip(t, r.Code, r.EPP)
	}
	for _, q := range []question{{Code: "include { a => 1 } -> Foo[a]"}, {Code: "[notice { }]"}, {Code: "include({'a b' => 1})"}} {
		roundTrip(t, q.Code, q.EPP)
	}
	g := newGenerator(t, 1)
	for range 3000 {
		q := g.question()
		roundTrip(t, q.Code, q.EPP)
	}
}

// With every option a source has the same problems twice, and it is valid if none
// of them is an error.
func FuzzCheck(f *testing.F) {
	for r := range golden.Rows[row](f, golden.Path(f, "lang", "eval.jsonl")) {
		f.Add(r.Code, uint8(len(r.Code)), "a")
	}
	f.Fuzz(func(t *testing.T, code string, strict uint8, allowed string) {
		o := syntax.Options{DuplicateKeys: syntax.Strictness(strict % 3), Allowed: func(name string) bool { return strings.HasPrefix(name, allowed) }}
		src := &syntax.Source{File: "x.pp", Text: code}
		prog, first := syntax.Parse(src, o)
		_, second := syntax.Parse(src, o)
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("%q (-first +second):\n%s", code, diff)
		}
		if (prog == nil) != (first.Failure != nil) {
			t.Errorf("%q: a program is %v, and the failure %v", code, prog != nil, first.Failure)
		}
		for _, p := range first.Logged {
			if p.Severity == syntax.Error && first.Failure == nil {
				t.Errorf("%q: %v is logged, and nothing failed", code, p)
			}
		}
	})
}
