package eval_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
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

// A row is one of eval.jsonl: an expression, and what real Puppet made of it.
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

// An outcome is what an expression becomes.
type outcome struct {
	value data.Value
	err   error
	logs  []logged
}

// evaluate evaluates a program as the recorder did.
func evaluate(env string, programs *loader.Cache, code string, settings map[string]string, facts data.Value) outcome {
	var out outcome
	strict := map[string]syntax.Strictness{"error": syntax.StrictError, "off": syntax.StrictOff}[settings["strict"]]
	prog, report := syntax.Parse(&syntax.Source{Text: code}, syntax.Options{DuplicateKeys: strict})
	for _, p := range report.Logged {
		out.logs = append(out.logs, logged{p.Severity.String(), p.Message, "", p.Line})
	}
	if report.Failure != nil {
		p := report.Failure
		out.err = &eval.Error{Message: p.Message, Line: p.Line, Column: p.Column}
		return out
	}
	opts := eval.Options{
		Strict: strict, StrictVariables: settings["strict_variables"] == "true",
		MaxSteps: 100_000, MaxBytes: 64 << 20,
		Log: func(e eval.LogEntry) {
			if e.Level == "debug" {
				return
			}
			l := logged{e.Level, e.Message, e.Source, e.Line}
			if e.Source != "" {
				l.Line = 0 // the recorder asked for no place there
			}
			out.logs = append(out.logs, l)
		},
	}
	environment := data.OfString("golden")
	variables := hiera.Variables{
		"facts": facts, "environment": environment, "server_facts": data.OfHash([]data.Pair{data.P("environment", environment)}),
		"trusted": data.OfHash([]data.Pair{data.P("certname", data.OfString("node1.example.test")), data.P("extensions", data.OfHash(nil))}),
	}
	for _, p := range facts.Hash() {
		variables[p.Key.Str()] = p.Value
	}
	options := site.Options{
		Eval: opts, Variables: variables, Programs: programs,
		Open: func() (*loader.Environment, error) {
			if env == "" {
				return loader.Open(loader.Options{})
			}
			return loader.Open(loader.Options{Dir: env, Modulepath: filepath.Join(env, "modules")})
		},
		Hiera: hiera.Options{
			EnvironmentDir: env, Strict: settings["strict"], GlobalConfig: filepath.Join(env, "no", "hiera.yaml"),
			Module: func(name string) (string, bool) {
				dir := filepath.Join(env, "modules", name)
				_, err := os.Stat(dir)
				return dir, err == nil
			},
		},
		Generate: func(ctx context.Context, command []string) (string, error) {
			out, err := exec.CommandContext(ctx, command[0], command[1:]...).Output()
			return string(out), err
		},
	}
	node := compile.Node{
		Name: "node1.example.test", Environment: "golden", Parameters: facts.Hash(), Facts: facts,
		Trusted: variables["trusted"], ServerFacts: variables["server_facts"],
	}
	_, err := site.Compile(context.Background(), options, compile.Options{
		Node: node, RichData: true, // what becomes of the catalog does not matter
		Settings: compile.SettingsOf([]data.Pair{data.P("environment", data.OfString("production"))}),
		End: func(run func(*eval.Program) (data.Value, error)) {
			out.value, out.err = run(eval.Compile(prog, programs.Library()))
		},
	}, "undef")
	if err != nil {
		out.err = err
	}
	return out
}

// converted is what the recorder logged when it wrote a value.
var converted = regexp.MustCompile(`^(?:\[.*\])* contains a .* value\. It will be converted to the String `)

var address = regexp.MustCompile(`:0x(?:XXXX|[0-9a-f]{16})`)

// Every expression has the value, the type, the
// logs or the error that real Puppet gave it.
func TestGoldenEval(t *testing.T) {
	t.Parallel()
	facts := golden.YAML(t, golden.Path(t, "lang", "env", "facts.yaml"))
	env, err := filepath.Abs(golden.Path(t, "lang", "env"))
	if err != nil {
		t.Fatal(err)
	}
	programs := site.NewPrograms()
	taken, left, once := 0, map[string]int{}, map[string]bool{}
	for r := range golden.Rows[row](t, golden.PathBeside(t, "../syntax", "lang", "eval.jsonl")) {
		if unrecorded(r) {
			left["a recorder that can write the value"]++
			continue
		}
		out := evaluate(env, programs, r.Code, r.Settings, facts)
		out.logs = slices.DeleteFunc(out.logs, func(l logged) bool {
			again := once[l.Message] // the recorder was one process
			once[l.Message] = strings.HasSuffix(l.Message, ")") && strings.Contains(l.Message, "\n   (")
			return again
		})
		taken++
		for _, difference := range r.differences(env, out) {
			t.Errorf("%s %q:\n%s", r.ID, r.Code, difference)
		}
	}
	t.Logf("%d rows were evaluated", taken)
	for _, why := range slices.Sorted(maps.Keys(left)) {
		t.Logf("%d rows were left out, which need %s", left[why], why)
	}
	if taken < 4200 && os.Getenv("INDIRTUI_GOLDEN") == "" {
		t.Errorf("only %d rows were evaluated", taken)
	}
}

// unrecorded reports whether the recorder could not write the value of a row, or lacked a
// library that this program has.
func unrecorded(r row) bool {
	return r.Error != nil &&
		(strings.Contains(*r.Error, "attempting to serialize value") || strings.Contains(*r.Error, "only supported when the hiera_eyaml library is present") || strings.HasPrefix(*r.Error, "Initializer for class"))
}

// differences holds an outcome against a row.
func (r row) differences(env string, out outcome) []string {
	var all []string
	differ := func(what, got, want string) {
		if env != "" {
			got = strings.ReplaceAll(got, env, "<ENV>")
		}
		if got != want {
			all = append(all, what+":\n got "+got+"\nwant "+want)
		}
	}
	var failed *eval.Error
	switch {
	case out.err == nil && r.Error != nil:
		differ("no error", eval.Text(out.value)+" of "+eval.TypeOf(out.value).String(), *r.Error)
	case r.RubyError:
	case errors.As(out.err, &failed) && r.Error == nil:
		differ("an error", failed.Error(), r.String+" of "+r.Type)
	case r.Error != nil:
		differ("the error", strings.TrimSpace(failed.Message), address.ReplaceAllString(strings.TrimSpace(*r.Error), ""))
		if strings.ReplaceAll(failed.Message, env, "<ENV>") == *r.Error && (failed.Line != r.Line || failed.Column != r.Column) {
			differ("the place", failed.Error(), (&eval.Error{Message: *r.Error, Line: r.Line, Column: r.Column}).Error())
		}
	default:
		differ("the type", eval.TypeOf(out.value).String(), r.Type)
		differ("the string", eval.Text(out.value), address.ReplaceAllString(r.String, ""))
	}
	r.Logs = slices.DeleteFunc(slices.Clone(r.Logs), func(l logged) bool { // by the recorder, when it wrote the value
		return converted.MatchString(l.Message)
	})
	if !slices.Equal(out.logs, r.Logs) && !r.RubyError {
		got, _ := json.Marshal(out.logs)
		want, _ := json.Marshal(r.Logs)
		differ("the logs", string(got), string(want))
	}
	return all
}
