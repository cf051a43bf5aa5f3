package compile_test

import (
	"strings"
	"testing"
)

// What cannot be defined is an error, and never the end of the program.
func TestBadDefinitions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ code, want string }{
		"class inherits itself":      {"class a inherits a { }\ninclude a", "Class a inherits itself: a, a"},
		"class inherits in a circle": {"class a inherits b { }\nclass b inherits c { }\nclass c inherits b { }\ninclude a", "Class a inherits itself: a, b, c, b"},
		"function twice":             {"function f() { 1 }\nfunction f() { 2 }", "Attempt to redefine entity 'http://puppet.com/2016.1/runtime/function/f'. Originally set at file://site.pp?line=1&pos=1."},
		"type twice":                 {"type T = Integer\ntype T = String", "Attempt to redefine entity 'http://puppet.com/2016.1/runtime/type/t'. Originally set at file://site.pp?line=1&pos=6."},
		"realize of no reference":    {"realize('x')", `Puppet::Parser::Compiler failed with error ArgumentError: No title provided and "x" is not a valid resource reference`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := compiled(t, c.code, nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// Classes see what a regular expression matched where they are included, if that is at the
// top; a function of a program comes before one of the language.
func TestSeen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ code, want string }{
		"match of an if":              {"if 'abc' =~ /b(c)/ { include k }\nclass k { include l }\nclass l { notify { \"m ${1}\": } }", "Notify[m c]"},
		"match after the if":          {"if 'abc' =~ /b(c)/ { }\ninclude k\nclass k { notify { \"m ${1}\": } }", "Notify[m ]"},
		"match within a class":        {"class k { if 'x' =~ /(x)/ { include l } }\nclass l { notify { \"m ${1}\": } }\ninclude k", "Notify[m ]"},
		"function of the same name":   {"function upcase($x) { 'mine' }\nnotify { upcase('a'): }", "Notify[mine]"},
		"getvar of another parameter": {"class k($a = getvar('k::b', 1), $b = 2) { }\nclass { 'k': a => 3 }\nnotify { \"m ${k::a}\": }", "Notify[m 3]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := compiled(t, c.code, nil)
			if err != nil {
				t.Fatal(err)
			}
			var refs []string
			for _, r := range result.Catalog.Resources {
				refs = append(refs, r.Type+"["+r.Title+"]")
			}
			if !strings.Contains(strings.Join(refs, " "), c.want) {
				t.Errorf("got %v, want %s", refs, c.want)
			}
		})
	}
}
