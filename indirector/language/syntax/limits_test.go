package syntax_test

import (
	"fmt"
	"strings"
	"testing"

	"indirtui/indirector/language/syntax"
)

// However deep a source nests, it ends in an error that names the limit and the
// place. Rule LANG-LEX-15.
func TestLimits(t *testing.T) {
	t.Parallel()
	const deep = 20_000
	nested := func(before, middle, after string) string {
		return strings.Repeat(before, deep) + middle + strings.Repeat(after, deep)
	}
	for _, tt := range []struct{ name, code, want string }{
		{"parentheses", nested("(", "1", ")"), "nests deeper than 1000"},
		{"arrays", nested("[", "1", "]"), "nests deeper than 1000"},
		{"hashes", nested("{a => ", "1", "}"), "nests deeper than 1000"},
		{"calls", nested("f(", "1", ")"), "nests deeper than 1000"},
		{"keys", nested("F[", "1", "]"), "nests deeper than 1000"},
		{"prefixes", nested("!", "1", ""), "nests deeper than 1000"},
		{"minus", nested("- ", "1", ""), "nests deeper than 1000"},
		{"unfoldings", nested("*", "1", ""), "nests deeper than 1000"},
		{"virtual", nested("@", "1", ""), "nests deeper than 1000"},
		{"assignments", nested("$a = ", "1", ""), "nests deeper than 1000"},
		{"conditions", nested("if true { ", "1", "}"), "nests deeper than 1000"},
		{"else", "if 1 {} " + nested("elsif 1 {} ", "", ""), "nests deeper than 1000"},
		{"options", nested("case 1 { 1: { ", "1", "}}"), "nests deeper than 1000"},
		{"choices", nested("1 ? { 1 => ", "1", "}"), "nests deeper than 1000"},
		{"choices without braces", nested("1 ? 1 => ", "1", ""), "nests deeper than 1000"},
		{"classes", nested("class a { ", "", "}"), "nests deeper than 1000"},
		{"lambdas", nested("f() |$x| { ", "1", "}"), "nests deeper than 1000"},
		{"defaults", nested("f() |$x = ", "1", "|"), "nests deeper than 1000"},
		{"titles", nested("a { (", "1", "): }"), "nests deeper than 1000"},
		{"interpolations", nested(`"${`, "1", `}"`), "nests deeper than 1000"},
		{"interpolations of text", nested(`"a${f(`, "1", `)}"`), "nests deeper than 1000"},
		{"operators", nested("1 + ", "1", ""), "chain of more than 10000"},
		{"accesses", "$a" + nested("[1]", "", ""), "chain of more than 10000"},
		{"methods", "$a" + nested(".a", "", ""), "chain of more than 10000"},
		{"calls of calls", "f" + nested("(1)", "", ""), "chain of more than 10000"},
		{"relationships", nested("F[a] -> ", "F[a]", ""), "chain of more than 10000"},
		{"chains in parentheses", strings.Repeat("(", 900) + "1" + strings.Repeat(" + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1)", 900), "chain of more than 10000"},
		{"overrides", "F[a] { }" + nested(" { }", "", ""), "is not valid as a resource"},
		{"size", strings.Repeat(" ", syntax.MaxBytes+1), "larger than 16777216 bytes"},
	} {
		for _, epp := range []bool{false, true} {
			code, size := tt.code, len(tt.code) > syntax.MaxBytes
			if epp && !size {
				code = "<% " + code + " %>"
			}
			_, report := syntax.Parse(&syntax.Source{File: "x.pp", Text: code}, syntax.Options{EPP: epp})
			if f := report.Failure; f == nil || !strings.Contains(f.Message, tt.want) || f.File != "x.pp" || f.Line == 0 && !size {
				t.Errorf("%s: got %v, want %q", tt.name, f, tt.want)
			}
		}
	}
}

// Of very many problems only some are kept, and all are counted.
func TestVeryManyProblems(t *testing.T) {
	t.Parallel()
	code := "$x = [" + strings.Repeat("$A, {a => 1, a => 2}, ", 5000) + "]"
	_, report := syntax.Parse(&syntax.Source{Text: code}, syntax.Options{MaxErrors: 1 << 20, MaxWarnings: 1 << 20})
	if report.Failure == nil || report.Failure.Message != "Language validation logged 5000 errors, and 5000 warnings. Giving up" || len(report.Logged) != 2000 {
		t.Errorf("got %d problems and %v", len(report.Logged), report.Failure)
	}
}

// Heredocs may have manifests that have heredocs. Within what one interpolates there is none:
// Puppet fails inside.
func TestNestedHeredocs(t *testing.T) {
	t.Parallel()
	manifests := "1"
	for i := range 30 {
		manifests = fmt.Sprintf("$x = @(E%d:pp)\n%s\n| E%[1]d\n", i, manifests)
	}
	roundTrip(t, manifests, false)
	if _, report := syntax.Parse(&syntax.Source{Text: manifests}, syntax.Options{}); report.Failure != nil {
		t.Errorf("%q: %v", manifests, report.Failure)
	}
	nested := "@(\"A\")\n${@(B)\nb\n| B\n}\n| A"
	if _, report := syntax.Parse(&syntax.Source{Text: nested}, syntax.Options{}); report.Failure == nil {
		t.Errorf("%q is parsed", nested)
	}
}

// Long is no problem; only deep is.
func TestLong(t *testing.T) {
	t.Parallel()
	const count = 50_000
	for _, code := range []string{
		strings.Repeat("$x = 1\n", count),
		"$x = [" + strings.Repeat("1, ", count) + "]",
		"$x = {" + strings.Repeat("a => 1, ", count) + "}",
		"f(" + strings.Repeat("1, ", count) + "1)",
		"$x = '" + strings.Repeat("\\\\", count) + "'",
		`$x = "` + strings.Repeat("$x ${y}", count) + `"`,
		`$x = "` + strings.Repeat(`\u0041`, count) + `"`,
		`$x = "` + strings.Repeat(`\u{5c}`, count) + `"`,
		"foo { " + strings.Repeat("'a': b => 1; ", count) + "}",
		"case 1 { " + strings.Repeat("1: {} ", count) + "}",
		strings.Repeat("/* */ # x\n", count),
		`$x = "` + strings.Repeat(`\q`, 20*count) + `"`,
		"$x = [" + strings.Repeat(`"\q", `, count) + "]",
		"$x = [" + strings.Repeat("0x1F, 017, ", count) + "]",
		"$x = @(\"E\")\n" + strings.Repeat("  ${x}\n", count) + "  | E\n",
		strings.Repeat("$x = @(E)\ntext\n| E\n", count),
	} {
		if _, report := syntax.Parse(&syntax.Source{Text: code}, syntax.Options{DuplicateKeys: syntax.StrictOff}); report.Failure != nil {
			t.Errorf("%.40q…: %v", code, report.Failure)
		}
	}
}
