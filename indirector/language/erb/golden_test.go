package erb_test

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/golden"
	"indirtui/indirector/language/erb"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/fn"
	"indirtui/indirector/language/syntax"
)

// A row is one of eval_erb.jsonl: a call of a function that renders, and what real Puppet
// made of it.
type row struct {
	ID        string
	Code      string
	Error     *string
	RubyError bool `json:"ruby_error"`
	Line      int
	Column    int
	Type      string
	String    string
}

// render evaluates a program with the variables of the recorder.
func render(t *testing.T, code string, variables []data.Pair) (data.Value, error) {
	t.Helper()
	library := maps.Clone(fn.Library())
	maps.Copy(library, erb.Functions(erb.Options{
		Library: library,
		Find: func(_ *eval.Invocation, name string) (string, *erb.Template, bool) {
			text, ok := files[name]
			tmpl, _ := erb.Parse(text) // its error is that of Render
			return "/m/" + name, tmpl, ok
		},
		Names: func(*eval.Invocation, string) ([]string, error) { return []string{"main"}, nil },
		Variables: func(c *eval.Invocation) []data.Pair {
			all := slices.Clone(variables)
			for _, name := range []string{"x", "n", "s", "l", "h"} {
				if v, ok := c.Variable(name); ok {
					all = append(all, data.P(name, v))
				}
			}
			return all
		},
	}))
	prog, report := syntax.Parse(&syntax.Source{Text: code}, syntax.Options{})
	if report.Failure != nil {
		t.Fatal(code, report.Failure.Message)
	}
	thread := eval.NewThread(eval.Options{MaxSteps: 100_000, MaxBytes: 64 << 20})
	for _, p := range variables {
		thread.Set(p.Key.Str(), p.Value)
	}
	return thread.Run(t.Context(), eval.Compile(prog, library))
}

// variablesOf returns the variables of the recorder's top scope.
func variablesOf(t *testing.T) []data.Pair {
	t.Helper()
	facts := golden.YAML(t, golden.PathBeside(t, "../eval", "lang", "env", "facts.yaml"))
	return append(slices.Clone(facts.Hash()),
		data.P("facts", facts), data.P("environment", data.OfString("golden")), data.P("title", data.OfString("main")),
		data.P("trusted", data.OfHash([]data.Pair{data.P("certname", data.OfString("node1.example.test"))})))
}

// Every template becomes what it became in real Puppet.
func TestGoldenEvalERB(t *testing.T) {
	t.Parallel()
	variables := variablesOf(t)
	taken, left := 0, 0
	for r := range golden.Rows[row](t, golden.Path(t, "lang", "eval_erb.jsonl")) {
		v, err := render(t, r.Code, variables)
		var failed *eval.Error
		errors.As(err, &failed)
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			left++
			t.Logf("%s is outside the subset: %v", r.ID, err)
			continue
		case err == nil && r.Error != nil:
			t.Errorf("%s %s:\n got %s\nwant the error %s", r.ID, r.Code, v.Text(), *r.Error)
		case err != nil && r.Error == nil:
			t.Errorf("%s %s:\n got the error %s\nwant %q", r.ID, r.Code, err, r.String)
		case r.RubyError:
		case err != nil && strings.TrimSpace(failed.Message) != strings.TrimSpace(*r.Error):
			t.Errorf("%s %s:\n got the error %s\nwant the error %s", r.ID, r.Code, failed.Message, *r.Error)
		case err != nil && (failed.Line != r.Line || failed.Column != r.Column):
			t.Errorf("%s %s:\n got the place %d:%d\nwant %d:%d", r.ID, r.Code, failed.Line, failed.Column, r.Line, r.Column)
		case err == nil && eval.Text(v) != r.String:
			t.Errorf("%s %s:\n got %q\nwant %q", r.ID, r.Code, eval.Text(v), r.String)
		}
		taken++
	}
	t.Logf("%d rows were rendered, %d are outside the subset", taken, left)
	if taken < 100 && os.Getenv("INDIRTUI_GOLDEN") == "" {
		t.Errorf("only %d rows were rendered", taken)
	}
}

// files are templates that tests render by name.
var files = map[string]string{
	"m/a.erb":     "<%= @x %>!",
	"m/b.erb":     "[<%= scope.function_template(['m/a.erb']) %>]",
	"m/self.erb":  "<%= scope.function_template(['m/self.erb']) %>",
	"m/bad.erb":   "a\n<%= nil + 1 %>",
	"m/ruby.erb":  "\n\n<%= File.read('/x') %>",
	"m/end.erb":   "<% if true %>",
	"m/fails.erb": "<% begin; scope.function_fail(['no']); rescue Puppet::ParseError => e %>caught <%= e.message %><% end %>",
}

// Rule LANG-ERB-05: templates of files, and what their errors name.
func TestTemplate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ code, want, problem string }{
		{`$x = 1 template('m/a.erb', 'm/b.erb')`, "1![1!]", ""},
		{`template('m/fails.erb')`, "caught no", ""},
		{`template('m/none.erb')`, "", "Could not find template 'm/none.erb'"},
		{`template('m/bad.erb')`, "", "Failed to parse template m/bad.erb:\n  Filepath: /m/m/bad.erb\n  Line: 2\n  Detail: undefined method `+' for nil:NilClass\n"},
		{`template('m/ruby.erb')`, "", "template m/ruby.erb, line 3: the constant File is not supported without Ruby"},
		{`template('m/end.erb')`, "", "(erb):1: syntax error"},
		{`template('m/self.erb')`, "", "1000 calls within each other: template m/self.erb calls template m/self.erb"},
	} {
		v, err := render(t, tt.code, nil)
		switch {
		case tt.problem == "" && (err != nil || v.Str() != tt.want):
			t.Errorf("%s: got %q, %v, want %q", tt.code, v.Str(), err, tt.want)
		case tt.problem != "" && (err == nil || !strings.Contains(err.Error(), tt.problem)):
			t.Errorf("%s: got %v, want %s", tt.code, err, tt.problem)
		}
	}
}
