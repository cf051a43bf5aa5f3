package site_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/hiera"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/loader"
	"indirtui/indirector/language/site"
	"indirtui/indirector/language/syntax"
)

const level = `function h::lk(String $key, Hash $options, Puppet::LookupContext $context) {
  $file = "${dir}/data/f.txt"
  case $key {
    'boom': { fail('boom') }
    'unknown_function': { h::nothere() }
    'method': { $context.nope() }
    'args': { $context.interpolate() }
    'nested': { [1].each |$x| { $context.not_found() } }
    'file': { $context.cached_file_data($file) }
    'fileblock': { $context.cached_file_data($file) |$t| { $t.upcase } }
    'nofile': { $context.cached_file_data('/nonexistent/x') }
    'entries': { $context.cache_all({a => 1, b => 2}) $context.cached_entries.map |$k, $v| { "${k}=${v}" } }
    'entriesblock': { $context.cache('a', 7) $context.cached_entries |$k, $v| { notice("${k} ${v}") } }
    'entriesblock1': { $context.cache('a', 7) $context.cached_entries |$e| { notice($e) } }
    'has': { [$context.cache_has_key('zz'), $context.cached_value('zz')] }
    'cachebad': { $context.cache([1], 2) }
    'explain': { $context.explain || { 'because of me' } 'e' }
    'inlookup': { lookup('dh') }
    'recurse': { lookup('recurse') }
    'sens': { Sensitive('secret') }
    'type': { Integer[1,2] }
    'undefd': { undef }
    'inter': { $context.interpolate({'a' => "%{lookup('dh')}x"}) }
    'interbad': { $context.interpolate("%{nope('a')}") }
    'str': { "${context}" }
    'isobj': { [$context =~ Object, $context =~ Puppet::LookupContext, $context =~ Any] }
    'ret': { return('r') }
    'brk': { break() }
    'warn': { warning('from function') 'w' }
    'unkvar': { $nope }
    'top': { "${v}" }
    'ts': { Timestamp('2020-01-01') }
    'deflt': { default }
    'yaml': { yaml_data({path => "${dir}/data/own.yaml"}, $context) }
    /^deeper/: { lookup("${key}x") }
    'env': { "${context.environment_name}|${context.module_name}" }
    default: { $context.not_found }
  }
}`

// layout are the files of the environment that the tests are in.
var layout = map[string]string{
	"hiera.yaml":                    "version: 5\nhierarchy:\n  - {name: lk, lookup_key: h::lk}\n  - {name: dh, data_hash: h::dh}\n",
	"data/f.txt":                    "file text\n",
	"data/own.yaml":                 "a: [1, 2]\n",
	"modules/h/functions/lk.pp":     level,
	"modules/h/functions/dh.pp":     `function h::dh(Hash $options, Puppet::LookupContext $context) { {'dh' => '%{facts.x}', 'n' => {'a' => [1]}, 'inner' => Sensitive('s')} }`,
	"modules/h/templates/glob.epp":  `<%= $v %>|<%= $facts["x"] %>`,
	"modules/h/templates/p.epp":     "<%- | Integer $a, Integer $b = $a + 1, String $c = \"${b}\" | -%>\n<%= $a %>,<%= $b %>,<%= $c %>,<%= $v %>",
	"modules/h/templates/loop.epp":  "<%- | $p | -%>\n<% $p.each |$i| { -%>\n<% if $i == 2 { next() } -%>\n<%= $i %>\n<% } -%>\nend",
	"modules/h/templates/none.epp":  `<%- || -%>none`,
	"modules/h/templates/err.epp":   "line1\n<%= h::nothere() %>\n",
	"modules/h/templates/inner.epp": `x<%= inline_epp("<${''}%= 2 %${''}>") %>z`,
	"modules/h/files/out":           "-> /etc/hostname",
}

// here returns a site over these files, and its directory.
func here(t *testing.T, log func(eval.LogEntry)) (*site.Site, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range layout {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		target, isLink := strings.CutPrefix(text, "-> ")
		err := error(nil)
		if isLink {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return site.New(site.Options{
		Programs: site.NewPrograms(), Eval: eval.Options{Log: log},
		Variables: hiera.Variables{"dir": data.OfString(dir), "facts": data.OfHash(nil)},
		Open: func() (*loader.Environment, error) {
			return loader.Open(loader.Options{Dir: dir, Modulepath: filepath.Join(dir, "modules")})
		},
		Hiera: hiera.Options{
			EnvironmentDir: dir, GlobalConfig: filepath.Join(dir, "none", "hiera.yaml"),
			Module: func(name string) (string, bool) { return filepath.Join(dir, "modules", name), name == "h" },
		},
	}), dir
}

// run returns what a program logs and its value, or its error.
func run(t *testing.T, code string) string {
	t.Helper()
	var logged strings.Builder
	s, dir := here(t, func(e eval.LogEntry) {
		if !strings.Contains(e.Message, "deprecated") {
			logged.WriteString(e.Level + ": " + e.String() + "\n")
		}
	})
	prog, report := syntax.Parse(&syntax.Source{Text: code}, syntax.Options{})
	if report.Failure != nil {
		t.Fatal(report.Failure)
	}
	v, err := s.Run(t.Context(), prog)
	text := eval.Text(v)
	if err != nil {
		text = err.Error()
	}
	return strings.ReplaceAll(logged.String()+text, dir, "<ENV>")
}

const (
	call   = "Evaluation Error: Error while evaluating a Function Call, "
	method = "Evaluation Error: Error while evaluating a Method call, "
	inLk   = " (file: <ENV>/modules/h/functions/lk.pp, line: "
)

// Functions as levels do what they do in real Puppet 7.23, which was asked with the same
// files. Rule HIERA-DATA-05.
func TestLevels(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"dh": "", "n": "{a => [1]}", "inner": "Sensitive [value redacted]",
		"boom":             call + "boom" + inLk + "4, column: 15)",
		"unknown_function": "Evaluation Error: Unknown function: 'h::nothere'." + inLk + "5, column: 27)",
		"method":           "Evaluation Error: Unknown function: 'nope'." + inLk + "6, column: 30)",
		"args":             method + "'function Puppet::LookupContext[interpolate]' expects 1 argument, got none" + inLk + "7, column: 35)",
		"nested":           "Function lookup() did not find a value for the name 'nested'",
		"file":             "file text\n", "fileblock": "FILE TEXT\n",
		"nofile":       method + "No such file or directory @ rb_file_s_stat - /nonexistent/x" + inLk + "11, column: 42)",
		"entries":      "[a=1, b=2]",
		"entriesblock": "notice: Scope(Class[main]): a 7\n", "entriesblock1": "notice: Scope(Class[main]): [a, 7]\n",
		"has":      "[false, ]",
		"cachebad": method + "'function Puppet::LookupContext[cache]' parameter '' expects a value of type Undef or Scalar, got Tuple" + inLk + "16, column: 33)",
		"explain":  "e", "inlookup": "",
		"recurse": call + "Lookup of key 'recurse' failed: Recursive lookup detected in [recurse]" + inLk + "19, column: 18)",
		"sens":    "Sensitive [value redacted]", "type": "Integer[1, 2]", "undefd": "", "inter": "{a => x}",
		"interbad": "Unknown interpolation method 'nope'", "str": "Puppet::LookupContext({})", "isobj": "[true, true, true]", "ret": "r",
		"brk":    "break() from context where this is illegal" + inLk + "28)",
		"warn":   "warning: Scope(Class[main]): from function\nw",
		"unkvar": "warning: Unknown variable: 'nope'." + inLk + "30, column: 17)\n",
		"top":    "top", "ts": "2020-01-01T00:00:00.000000000 UTC", "deflt": "default",
		"nothing": "Function lookup() did not find a value for the name 'nothing'",
		"yaml":    "{a => [1, 2]}", "env": "production|",
	} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			if got := run(t, "$v = 'top' lookup('"+key+"')"); got != want {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
		})
	}
}

// Lookups that call functions that look up other keys end, too. Rule LANG-EV-10.
func TestDeepLookups(t *testing.T) {
	t.Parallel()
	got := run(t, "lookup('deeper')")
	if want := "calls within each other"; !strings.Contains(got, want) {
		t.Errorf("got %.300s, want %s", got, want)
	}
}

// What a function explains is part of the record of the lookup.
func TestExplained(t *testing.T) {
	t.Parallel()
	s, _ := here(t, nil)
	record := new(hiera.Record)
	if _, err := s.Data.Lookup(hiera.Query{Keys: []string{"explain"}, Record: record}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(record.Text(), "because of me\n") {
		t.Errorf("got %s", record.Text())
	}
	record.Reset()
	if _, err := s.Data.Lookup(hiera.Query{Keys: []string{"inlookup"}, Record: record}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(record.Text(), `Searching for "dh"`) {
		t.Errorf("a lookup within a function is not recorded: %s", record.Text())
	}
	r, err := s.Data.Search("sens", hiera.Query{})
	if err != nil || !r.Secret {
		t.Errorf("got %v, %v, want a secret", r, err)
	}
}

// A function that runs away is ended by the context of the request.
func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	files := map[string]string{
		"hiera.yaml":                        "{version: 5, hierarchy: [{name: a, lookup_key: environment::f}]}",
		"functions/environment/f.pp":        "function environment::f($k, $o, $c) { 100000000.each |$x| { } }",
		"modules/unused/metadata.json":      "{}",
		"modules/unused/functions/extra.pp": "",
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	settings := map[string]string{"modulepath": filepath.Join(dir, "modules")}
	o := site.FromSettings(func(name string) string { return settings[name] }, hiera.Options{EnvironmentDir: dir}, site.NewPrograms())
	o.Context = ctx
	_, err := site.New(o).Data.Lookup(hiera.Query{Keys: []string{"k"}})
	if err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) || errors.Is(err, hiera.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

// Templates do what they do in real Puppet 7.23. Rules LANG-EPP-02 to LANG-EPP-04.
func TestTemplates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ code, want string }{
		{`$v = 'top' epp('h/glob')`, "top|"},
		{`function f($l) { epp('h/glob.epp') } $v = 'top' f(1)`, "top|"},
		{`function g($l) { inline_epp('<%= $l %>') } g(7)`, "7"},
		{`[1].map |$y| { inline_epp('<%= $y %>') }`, "[1]"},
		{`[1].map |$y| { inline_epp('<% [2].each |$z| { %><%= $y %><%= $z %><% } %>') }`, "[12]"},
		{`$v = 't' epp('h/p', {a => 1})`, "1,2,2,t"},
		{`epp('h/p', {a => 'x', b => 'y', zz => 1, yy => 2})`, call + "lambda:\n  has no parameter named 'zz'\n  has no parameter named 'yy'\n" +
			"  parameter 'a' expects an Integer value, got String\n  parameter 'b' expects an Integer value, got String (line: 1, column: 1)"},
		{`epp('h/p', {a => undef})`, "Evaluation Error: The value '' cannot be converted to Numeric. (file: <ENV>/modules/h/templates/p.epp, line: 1, column: 32)"},
		{`epp('h/p', {a => 1, b => undef})`, "warning: Unknown variable: 'v'. (file: <ENV>/modules/h/templates/p.epp, line: 2, column: 35)\n1,2,2,"},
		{`epp('h/loop.epp', {p => [1,2,3]})`, "1\n3\nend"},
		{`epp('h/none.epp')`, "none"},
		{`epp('h/none.epp', {a => 1})`, call + "lambda: has no parameter named 'a' (line: 1, column: 1)"},
		{`epp('h/err.epp')`, "Evaluation Error: Unknown function: 'h::nothere'. (file: <ENV>/modules/h/templates/err.epp, line: 2, column: 5)"},
		{`epp('h/inner.epp')`, "x2z"},
		{`inline_epp('<%= Sensitive("x") %>y')`, "Sensitive [value redacted]"},
		{`unwrap(inline_epp('<%= Sensitive("x") %>y'))`, "xy"},
		{`inline_epp('<%= [Sensitive("x")] %>y')`, "[Sensitive [value redacted]]y"},
		{`inline_epp('a<% next(5) %>y')`, call + "value returned from function 'inline_epp' has wrong type, expects a value of type String or Sensitive[String], got Integer (line: 1, column: 1)"},
		{`inline_epp('<% return(5) %>y')`, "5"},
		{`inline_epp('a<% break() %>y')`, "break() from context where this is illegal (file: inlined-epp-text, line: 1)"},
		{`[1,2].each |$q| { inline_epp('a<% break() %>y') }`, "[1, 2]"},
		{`$x = 5 inline_epp('<% $x = 1 %><%= $x %>')`, "1"},
		{`$x = 5 inline_epp('<%= $x %>', {x => 6})`, "6"},
		{`inline_epp('<% if "a1" =~ /a(\d)/ { %><%= $1 %><% } %>')`, "1"},
		{`inline_epp('<%- | $a = 1, $a = 2 | -%>x')`, call + "inline_epp(): Invalid EPP: The parameter 'a' is declared more than once in the parameter list (file: inlined-epp-text, line: 1, column: 15) (line: 1, column: 1)"},
		{`inline_epp('<% function f() {} %>')`, call + "inline_epp(): Invalid EPP: A Function Definition may only appear at toplevel (file: inlined-epp-text, line: 1, column: 4) (line: 1, column: 1)"},
		{`inline_epp('<%= $nope %>')`, "warning: Unknown variable: 'nope'. (file: inlined-epp-text, line: 1, column: 5)\n"},
		{`epp('/nonexistent/a.epp')`, call + "Could not find template '/nonexistent/a.epp' (line: 1, column: 1)"},
		{`epp("${dir}/modules/h/templates/inner")`, "x2z"},
		{`epp('nomodule/x.epp')`, call + "Could not find template 'nomodule/x.epp' (line: 1, column: 1)"},
		{`epp('h/glob', {'bad key' => 1})`, call + "'epp' parameter 'parameters' key of entry 'bad key' expects a match for Pattern[/^\\w+$/], got 'bad key' (line: 1, column: 1)"},
		{`inline_epp('<% notice($title) %>')`, "notice: Scope(Class[main]): main\n"},
		{`inline_epp('<%= { 5 } %>x')`, "5x"},
		{`epp('h/p', {})`, call + "lambda: expects a value for parameter $a (line: 1, column: 1)"},
		{`inline_epp('<%- | $a = $b, $b = 1 | -%>x')`, call + "lambda: default expression for $a tries to illegally access not yet evaluated $b (line: 1, column: 1)"},
		{`inline_epp('<%- | $a = $a | -%>x')`, call + "lambda: default expression for $a tries to illegally access not yet evaluated $a (line: 1, column: 1)"},
		{`inline_epp('<%- | $a, $b = [1].map |$x| { $x + $a } | -%>x')`, call + "lambda: expects a value for parameter $a (line: 1, column: 1)"},
		{`$a = 7 inline_epp('<%- | $a, $b = $a | -%>x')`, call + "lambda: expects a value for parameter $a (line: 1, column: 8)"},
		{`inline_epp('<%- | $a = [1].map |$b| { $b }, $b = 3 | -%><%= $a %>')`, "[1]"},
		{`inline_epp('<%- | $a = [1].map |$b| { [2].map |$y| { $b } }, $b = 3 | -%><%= $a %>')`, "[[1]]"},
		{`$x = 1 inline_epp('<%- | $a = $x | -%><% $x = 2 -%><%= $a %>')`, "1"},
	} {
		t.Run(tt.code, func(t *testing.T) {
			t.Parallel()
			if got := run(t, tt.code); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// Functions of files and data, and what they refuse, in Puppet's words.
func TestFunctions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ code, want string }{
		{`file('h/../hiera.yaml')`, call + "Could not find any files from h/../hiera.yaml (line: 1, column: 1)"},
		{`file('h/../../../hiera.yaml')`, call + "Could not find any files from h/../../../hiera.yaml (line: 1, column: 1)"},
		{`file('h/out')`, call + "Could not find any files from h/out (line: 1, column: 1)"},
		{`file("${dir}/data/f.txt")`, "file text\n"},
		{`[find_file('h'), find_file(), find_file(['a', "${dir}/data/f.txt"])]`, "[, , <ENV>/data/f.txt]"},
		{`file()`, call + "file(): Wrong number of arguments given (0 for minimum 1) (line: 1, column: 1)"},
		{`generate('echo')`, call + "Generators must be fully qualified (line: 1, column: 1)"},
		{`generate('/bin/e;cho')`, call + "Generators can only contain alphanumerics, file separators, and dashes (line: 1, column: 1)"},
		{`generate('/bin/../echo')`, call + "Can not use generators with '..' in them. (line: 1, column: 1)"},
		{`generate('/bin/echo')`, call + "Failed to execute generator /bin/echo: programs may not run commands here (line: 1, column: 1)"},
		{`lookup('nokey', String, 'first') |$n| { 5 }`, call + "Value returned from default block has wrong type, expects a String value, got Integer (line: 1, column: 1)"},
		{`lookup(['a', 'b'], undef, undef, 3)`, "3"},
		{`lookup({name => 'x', override => {'x' => 1}, value_type => String})`, call + "Value found for key 'x' in override hash has wrong type, expects a String value, got Integer (line: 1, column: 1)"},
		{`lookup({name => 'x', default_values_hash => {'x' => 1}})`, "1"},
		{`lookup('x', {default_values_hash => {'x' => 1}, value_type => String})`, call + "Value found for key 'x' in default values hash has wrong type, expects a String value, got Integer (line: 1, column: 1)"},
		{`[lookup('x', {default_value => undef}), lookup('x', undef, undef, undef)]`, "[, ]"},
		{`hiera('x') |$k| { "b ${k}" }`, "b x"},
		{`yaml_data({'path' => '/x'}, 'y')`, call + "'yaml_data' parameter 'context' expects a Puppet::LookupContext value, got String (line: 1, column: 1)"},
	} {
		t.Run(tt.code, func(t *testing.T) {
			t.Parallel()
			if got := run(t, tt.code); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}
