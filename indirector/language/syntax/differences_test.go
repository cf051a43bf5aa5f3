package syntax_test

import "testing"

// What random programs found: here this parser once differed from real Puppet, whose
// answers these are.
func TestDifferences(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		q    question
		want answer
	}{
		{
			"LANG-LEX-08 a message has a regular expression as Ruby shows it",
			question{Code: `class/re\/x/`},
			answer{Error: `Syntax error at '(?-mix:re\/x)'`, Line: 1, Column: 6},
		},
		{
			"LANG-LEX-09 a string that begins with a quote",
			question{Code: `$x = ''';"""`},
			answer{PN: `(block (= (var "x") "'") "\"")`},
		},
		{
			"LANG-LEX-11 true as a variable, behind an error",
			question{Code: `"${}${true}"`},
			answer{Error: "Syntax error at ''", Line: 1, Column: 5},
		},
		{
			"LANG-GRAM-06 a hash with *, behind an error",
			question{Code: `@foo { * => 1 }`},
			answer{Error: "Virtual (@) can only be applied to a Resource Expression", Line: 1, Column: 1},
		},
		{
			"LANG-CHK-21 text before parentheses",
			question{Code: "text\n<% (1) %>", EPP: true},
			answer{Error: "Ambiguous EPP parameter expression. Probably missing '<%-' before parameters to remove leading whitespace", Line: 1, Column: 1},
		},
	} {
		t.Run(tt.name, func(t *testing.T) { compare(t, tt.q, tt.want) })
	}
}

// Where Puppet fails inside, there is an error here.
func TestPuppetFailsInside(t *testing.T) {
	t.Parallel()
	for _, code := range []string{`"${true}"`, "foo { * => 1 }", "include { * => 1 }", "a::", "$::", "/[/", "/(/ =~ 'x'", "'\xff'", `"\u{110000}"`, `"\ud800"`, "@(\"E\"/)\na\\\n- E\n"} {
		if a := ours(question{Code: code}); a.Error == "" {
			t.Errorf("%q: got %s, want an error", code, a.PN)
		}
	}
}
