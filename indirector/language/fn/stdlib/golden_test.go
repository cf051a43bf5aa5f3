package stdlib_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/golden"
	"indirtui/indirector/hiera"
	"indirtui/indirector/language/compile"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/loader"
	"indirtui/indirector/language/site"
	"indirtui/indirector/language/syntax"
)

// installed is where Debian's packages of modules are.
const installed = "/usr/share/puppet/modules"

// A row is one of eval_stdlib.jsonl: an expression, and what real Puppet made of it.
type row struct {
	ID        string
	Code      string
	Settings  map[string]string
	Error     *string
	RubyError bool `json:"ruby_error"`
	Line      int
	Column    int
	Type      string
	String    string
	Logs      []logged
}

type logged struct {
	Level, Message, Source string
	Line                   int
}

// A fixture evaluates programs that see the module, one after the other in one thread, as
// the recorder was one process.
type fixture struct {
	*site.Site
	o    site.Options
	logs []logged
}

func newFixture(t *testing.T, facts data.Value) *fixture {
	t.Helper()
	env, err := filepath.Abs(golden.PathBeside(t, "../../eval", "lang", "env"))
	if err != nil {
		t.Fatal(err)
	}
	modules := t.TempDir() // the module alone, whatever else is installed
	if err := os.Symlink(filepath.Join(installed, "stdlib"), filepath.Join(modules, "stdlib")); err != nil {
		t.Fatal(err)
	}
	f := &fixture{}
	variables := hiera.Variables{"facts": facts, "environment": data.OfString("golden")}
	for _, p := range facts.Hash() {
		variables[p.Key.Str()] = p.Value
	}
	f.o = site.Options{
		Programs: site.NewPrograms(), Variables: variables,
		Open: func() (*loader.Environment, error) {
			return loader.Open(loader.Options{Dir: env, Modulepath: filepath.Join(env, "modules") + ":" + modules})
		},
		Eval: eval.Options{
			MaxSteps: 10_000_000, MaxBytes: 1 << 30,
			Log: func(e eval.LogEntry) {
				if e.Level == "debug" {
					return
				}
				l := logged{e.Level, strings.ReplaceAll(e.Message, modules, "<SYSTEM_MODULES>"), e.Source, e.Line}
				if e.Source != "" {
					l.Line = 0 // the recorder asked for no place there
				}
				f.logs = append(f.logs, l)
			},
		},
	}
	f.Site = site.New(f.o)
	return f
}

func (s *fixture) evaluate(t *testing.T, code string) (v data.Value, logs []logged, err error) {
	t.Helper()
	s.logs = nil
	prog, report := syntax.Parse(&syntax.Source{Text: code}, syntax.Options{})
	if p := report.Failure; p != nil {
		return v, nil, &eval.Error{Message: p.Message, Line: p.Line, Column: p.Column}
	}
	if v, err = s.Run(t.Context(), prog); !errors.Is(err, errors.ErrUnsupported) {
		return v, s.logs, err
	}
	s.logs = nil // it declares something, for which there is a catalog
	_, failed := site.Compile(t.Context(), s.o, compile.Options{
		Node: compile.Node{Name: "node1.example.test", Environment: "golden"},
		End: func(run func(*eval.Program) (data.Value, error)) {
			v, err = run(eval.Compile(prog, s.o.Programs.Library()))
		},
	}, "undef")
	return v, s.logs, errors.Join(err, failed)
}

// Every call of a function and every use of a type of the module gives what it gave to
// real Puppet.
func TestGoldenEvalStdlib(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(filepath.Join(installed, "stdlib")); err != nil {
		t.Skip("the module stdlib is not installed, so its types are not there")
	}
	s := newFixture(t, golden.YAML(t, golden.PathBeside(t, "../../eval", "lang", "env", "facts.yaml")))
	taken, left := 0, map[string]int{}
	for r := range golden.Rows[row](t, golden.Path(t, "lang", "eval_stdlib.jsonl")) {
		if strings.HasPrefix(r.Type, "Runtime[") {
			left["values of classes of Ruby"]++
			continue
		}
		v, logs, err := s.evaluate(t, r.Code)
		if errors.Is(err, errors.ErrUnsupported) {
			_, what, _ := strings.Cut(err.Error(), "Call, ")
			left[cmp.Or(regexp.MustCompile(` \(line.*`).ReplaceAllString(what, ""), err.Error())]++
			continue
		}
		if needs := missing(err); needs != "" {
			left[needs]++
			continue
		}
		taken++
		for _, difference := range r.differences(v, logs, err) {
			t.Errorf("%s %q:\n%s", r.ID, r.Code, difference)
		}
	}
	t.Logf("%d rows were evaluated", taken)
	for _, why := range slices.Sorted(maps.Keys(left)) {
		t.Logf("%d rows were left out: %s", left[why], why)
	}
	if taken < 380 && os.Getenv("INDIRTUI_GOLDEN") == "" {
		t.Errorf("only %d rows were evaluated", taken)
	}
}

// missing returns what a failed row needs that is no part of this package, or "".
func missing(err error) string {
	if err == nil {
		return ""
	}
	for _, name := range []string{"epp", "inline_epp", "find_template"} {
		if strings.Contains(err.Error(), "Unknown function: '"+name+"'") {
			return "the function " + name
		}
	}
	return ""
}

// differences holds an outcome against a row.
func (r row) differences(v data.Value, logs []logged, err error) []string {
	var all []string
	differ := func(what, got, want string) {
		if got != want {
			all = append(all, what+":\n got "+got+"\nwant "+want)
		}
	}
	var failed *eval.Error
	switch {
	case err == nil && r.Error != nil:
		differ("no error", eval.Text(v)+" of "+eval.TypeOf(v).String(), *r.Error)
	case r.RubyError:
	case errors.As(err, &failed) && r.Error == nil:
		differ("an error", failed.Error(), r.String+" of "+r.Type)
	case r.Error != nil:
		differ("the error", strings.TrimSpace(failed.Message), strings.TrimSpace(*r.Error))
		if failed.Line != r.Line || failed.Column != r.Column {
			differ("the place", failed.Error(), (&eval.Error{Message: *r.Error, Line: r.Line, Column: r.Column}).Error())
		}
	default:
		differ("the type", eval.TypeOf(v).String(), r.Type)
		differ("the string", eval.Text(v), r.String)
	}
	if !slices.Equal(logs, r.Logs) && !r.RubyError {
		got, _ := json.Marshal(logs)
		want, _ := json.Marshal(r.Logs)
		differ("the logs", string(got), string(want))
	}
	return all
}
