package syntax_test

import (
	"strings"
	"testing"

	"indirtui/indirector/language/syntax"
)

// Of several errors all are logged, up to max_errors; of one none. Section 3 of the
// specification.
func TestReport(t *testing.T) {
	t.Parallel()
	const twoErrors, warnings, deprecated = "$A = 1\n$B = 2\n", "$c = { a => 1, a => 2, a => 3 }\n", "define plan() {}\n"
	for _, tt := range []struct {
		name, code string
		options    syntax.Options
		logged     int
		failure    string
	}{
		{"nothing", "$a = 1", syntax.Options{}, 0, ""},
		{"a warning", warnings, syntax.Options{}, 2, ""},
		{"one warning is enough", warnings, syntax.Options{MaxWarnings: 1}, 1, ""},
		{"no warnings", warnings, syntax.Options{MaxWarnings: -1}, 0, ""},
		{"a deprecation", deprecated, syntax.Options{MaxWarnings: -1}, 1, ""},
		{"no deprecation", deprecated, syntax.Options{MaxDeprecations: -1}, 0, ""},
		{"one error", "$A = 1", syntax.Options{}, 0, "Illegal variable name, The given name 'A'"},
		{"two errors", twoErrors, syntax.Options{}, 2, "Language validation logged 2 errors. Giving up"},
		{"errors and warnings", twoErrors + warnings, syntax.Options{}, 4, "Language validation logged 2 errors, and 2 warnings. Giving up"},
		{"many errors", strings.Repeat(twoErrors, 10), syntax.Options{}, 10, "Language validation logged 20 errors. Giving up"},
		{"as many as wanted", strings.Repeat(twoErrors, 10), syntax.Options{MaxErrors: 3}, 3, "Language validation logged 20 errors. Giving up"},
		{"the first error", twoErrors, syntax.Options{MaxErrors: 1}, 0, "Illegal variable name, The given name 'A'"},
		{"no error", twoErrors, syntax.Options{MaxErrors: -1}, 0, "Illegal variable name, The given name 'A'"},
	} {
		_, report := syntax.Parse(&syntax.Source{Text: tt.code}, tt.options)
		failure := ""
		if report.Failure != nil {
			failure = report.Failure.Message
		}
		if len(report.Logged) != tt.logged || !strings.HasPrefix(failure, tt.failure) || (failure == "") != (tt.failure == "") {
			t.Errorf("%s: got %d logged and %q, want %d and %q", tt.name, len(report.Logged), failure, tt.logged, tt.failure)
		}
	}
}

// LANG-CHK-11: what a file of a module may define, and what may stand in it.
func TestModuleFiles(t *testing.T) {
	t.Parallel()
	allowed := func(name string) bool { return strings.HasPrefix(name, "mod::a") }
	for _, tt := range []struct{ code, want string }{
		{"class mod::a { }", ""},
		{"class mod::a { $x = 1 } define mod::a::b() { } function mod::a::c() { } type Mod::A = Integer", ""},
		{"", ""},
		{"class mod::b { }", "Unacceptable location. The name 'mod::b' is unacceptable in file 'a.pp' (file: a.pp, line: 1, column: 1)"},
		{"node x { }", "This Node Definition is unacceptable as a top level construct in this location (file: a.pp, line: 1, column: 1)"},
		{"class mod::a { }\nnotice(1)", "This Function Call is unacceptable as a top level construct in this location (file: a.pp, line: 2, column: 1)"},
	} {
		_, report := syntax.Parse(&syntax.Source{File: "a.pp", Text: tt.code}, syntax.Options{Allowed: allowed})
		got := ""
		if report.Failure != nil {
			got = report.Failure.Error()
		}
		if got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.code, got, tt.want)
		}
	}
}
