package eval_test

import (
	"errors"
	"strings"
	"testing"

	"indirtui/indirector/golden"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/fn"
	"indirtui/indirector/language/syntax"
)

// Any program that is valid ends: in a value, in an error of its own, or in one that names
// a limit. What was evaluated can be evaluated again.
func FuzzRun(f *testing.F) {
	n := 0
	for r := range golden.Rows[row](f, golden.PathBeside(f, "../syntax", "lang", "eval.jsonl")) {
		if n%20 == 0 { // a fuzzer runs all that it begins with before it goes on
			f.Add(r.Code, false)
		}
		n++
	}
	f.Add("<%- | $a = 1 | -%>\n<% [1, 2].each |$x| { -%>\n<%= $x + $a %>\n<% } -%>", true)
	f.Fuzz(func(t *testing.T, code string, template bool) {
		if template {
			code = "inline_epp('" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(code) + "')"
		}
		prog, report := syntax.Parse(&syntax.Source{Text: code}, syntax.Options{})
		if report.Failure != nil {
			return
		}
		p := eval.Compile(prog, fn.Library())
		for range 2 {
			thread := eval.NewThread(eval.Options{MaxSteps: 20_000, MaxBytes: 8 << 20, MaxDepth: 100})
			v, err := thread.Run(t.Context(), p)
			if err == nil {
				_, _ = eval.Text(v), eval.TypeOf(v).String()
				continue
			}
			var failed *eval.Error
			if !errors.As(err, &failed) || strings.HasPrefix(failed.Message, "internal error") {
				t.Fatalf("%q: %v\n%v", code, err, errors.Unwrap(err))
			}
		}
	})
}
