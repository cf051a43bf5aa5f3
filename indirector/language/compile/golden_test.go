package compile_test

import (
	"bytes"
	"context"
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
	"indirtui/indirector/format"
	"indirtui/indirector/golden"
	"indirtui/indirector/hiera"
	"indirtui/indirector/language/compile"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/loader"
	"indirtui/indirector/language/site"
	"indirtui/indirector/language/syntax"
)

// systemModules is where Debian has modules.
const systemModules = "/usr/share/puppet/modules"

const certname = "node1.example.test"

// A logged is a row of logs.json.
type logged struct {
	Level   string `json:"level"`
	Message string `json:"message"`
	Source  string `json:"source,omitempty"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
}

// A recording is one case, and how it is compiled.
type recording struct {
	dir   string
	conf  data.Value // case.yaml
	facts data.Value
	node  data.Value // node.yaml
	logs  []logged
}

func openRecording(t *testing.T, dir string) *recording {
	t.Helper()
	return &recording{
		dir: dir, conf: golden.YAML(t, filepath.Join(dir, "case.yaml")),
		facts: sanitized(golden.YAML(t, filepath.Join(dir, "facts.yaml"))), node: golden.YAML(t, filepath.Join(dir, "node.yaml")),
	}
}

// beyond returns what a case needs that is not there, or "".
func (r *recording) beyond() string {
	if _, err := os.Stat(systemModules + "/stdlib"); err != nil && r.conf.Get("system_modules").Bool() {
		return "modules of the system"
	}
	return ""
}

// environment returns the site that the recorder compiled in.
func (r *recording) environment(environment string, log func(eval.LogEntry)) site.Options {
	path := filepath.Join(r.dir, "modules")
	if r.conf.Get("system_modules").Bool() {
		path += ":" + systemModules
	}
	manifest := r.conf.Get("manifest").Str()
	if manifest == "" {
		manifest = "site.pp"
	}
	setting := func(name string) string {
		return r.conf.Dig("settings", name).Text()
	}
	var disabled []string
	for _, kind := range r.conf.Dig("settings", "disable_warnings").List() {
		disabled = append(disabled, kind.Text())
	}
	strict := setting("strict")
	h := hiera.FromSettings(func(name string) string {
		return map[string]string{"modulepath": path, "strict": strict, "data_binding_terminus": "hiera"}[name]
	}, environment)
	h.EnvironmentDir, h.GlobalConfig = r.dir, filepath.Join(r.dir, "global", "hiera.yaml")
	h.Warnings = &hiera.Warnings{Log: func(m string) { log(eval.LogEntry{Level: "warning", Message: m}) }}
	return site.Options{
		Programs: site.NewPrograms(), Hiera: h,
		Open: func() (*loader.Environment, error) {
			return loader.Open(loader.Options{Dir: r.dir, Modulepath: path, Manifest: filepath.Join(r.dir, manifest), Strict: strict})
		},
		Syntax: syntax.OptionsOf(setting),
		Eval: eval.Options{
			StrictVariables: r.conf.Dig("settings", "strict_variables").Bool(), Log: log,
			Strict: syntax.OptionsOf(setting).DuplicateKeys, DisableWarnings: disabled,
		},
	}
}

// options are those that the recorder compiled with.
func (r *recording) options() compile.Options {
	environment := "production"
	if name := r.node.Get("environment").Str(); name != "" {
		environment = name
	}
	server := []data.Pair{
		data.P("serverversion", data.OfString("7.23.0")), data.P("servername", data.OfString("puppet.example.test")),
		data.P("serverip", data.OfString("192.0.2.1")),
	}
	node := compile.Node{
		Name: certname, Environment: environment, Facts: r.facts,
		ServerFacts: data.OfHash(append(server[:3:3], data.P("environment", data.OfString(environment)))),
		Trusted: data.OfHash([]data.Pair{
			data.P("authenticated", data.OfString("remote")), data.P("certname", data.OfString(certname)),
			data.P("extensions", hash(r.conf.Get("extensions"))), data.P("hostname", data.OfString("node1")),
			data.P("domain", data.OfString("example.test")), data.P("external", hash(r.conf.Get("external"))),
		}),
		Parameters: slices.Concat(r.node.Get("parameters").Hash(), r.facts.Hash(), server),
	}
	classes := r.node.Get("classes")
	for _, p := range classes.Hash() {
		node.Classes = append(node.Classes, compile.Class{Name: p.Key.Str(), Params: p.Value.Hash()})
	}
	for _, name := range classes.List() {
		node.Classes = append(node.Classes, compile.Class{Name: name.Str()})
	}
	rich, isSet := r.conf.Lookup("rich_data")
	strictVariables := r.conf.Dig("settings", "strict_variables").Bool()
	return compile.Options{
		Node: node, RichData: !isSet || rich.Bool(), Version: versioned, UUID: "<UUID>",
		Settings: compile.SettingsOf([]data.Pair{data.P("strict_variables", data.OfBool(strictVariables))}),
	}
}

func (r *recording) log(e eval.LogEntry) {
	if e.Source != "" {
		e.File, e.Line = "", 0 // the recorder asked for no place there
	}
	if e.Level != "debug" {
		r.logs = append(r.logs, logged{e.Level, e.Message, e.Source, e.File, e.Line})
	}
}

// sanitized returns a fact as nodes are given it: undef is an empty text.
func sanitized(v data.Value) data.Value {
	switch v.Kind() {
	case data.Nil:
		return data.OfString("")
	case data.Symbol:
		return data.OfString(v.Str())
	case data.List, data.Hash:
		return v.Map(sanitized)
	}
	return v
}

func hash(v data.Value) data.Value {
	if v.IsNil() {
		return data.OfHash(nil)
	}
	return v
}

// Every catalog is that of real Puppet, key by key, or fails with its words; and it logs
// the same. What agents are given has no exported resources. Rule TERM-COMP-10.
func TestGoldenCatalogs(t *testing.T) {
	t.Parallel()
	root := golden.PathBeside(t, "../syntax", "lang", "catalogs")
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	left, taken := map[string]int{}, 0
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		r := openRecording(t, filepath.Join(root, entry.Name()))
		if why := r.beyond(); why != "" {
			left[why]++
			continue
		}
		taken++
		t.Run(entry.Name(), func(t *testing.T) {
			t.Parallel()
			r.check(t)
		})
	}
	t.Logf("%d catalogs are compiled", taken)
	for _, why := range slices.Sorted(maps.Keys(left)) {
		t.Logf("%d cases were left out, which need %s", left[why], why)
	}
	if taken < 90 && os.Getenv("INDIRTUI_GOLDEN") == "" {
		t.Errorf("only %d cases were taken", taken)
	}
}

func (r *recording) check(t *testing.T) {
	t.Helper()
	var want outcome
	text, err := os.ReadFile(filepath.Join(r.dir, "error.txt"))
	if err == nil {
		want.Error = strings.TrimSuffix(string(text), "\n")
	} else if want.Catalog, err = os.ReadFile(filepath.Join(r.dir, "catalog.json")); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(r.dir, "logs.json")); err == nil {
		if err := json.Unmarshal(text, &want.Logs); err != nil {
			t.Fatal(err)
		}
	}
	r.compare(t, want)
}

// An outcome is what real Puppet made of a site: a catalog or an error, and what it logged.
type outcome struct {
	Catalog json.RawMessage `json:"catalog"`
	Error   string          `json:"error"`
	Ruby    string          `json:"ruby"` // the class of an error that is none of Puppet's
	Logs    []logged        `json:"logs"`
}

// ownPlace is where a template failed, if that was within Puppet: in one of the functions
// that it called.
var ownPlace = regexp.MustCompile(`Filepath: <PUPPET_LIB>/.*\n  Line: \d+`)

// unplaced returns the texts of an error without the places where templates failed, if
// Puppet's are its own: there is no such file here.
func unplaced(got, want string) (string, string) {
	if !ownPlace.MatchString(want) {
		return got, want
	}
	place := regexp.MustCompile(`Filepath: .*\n  Line: \d+`)
	return place.ReplaceAllString(got, ""), place.ReplaceAllString(want, "")
}

// compare compiles a site and holds it against what real Puppet made of it.
func (r *recording) compare(t *testing.T, want outcome) {
	t.Helper()
	o := r.options()
	result, err := site.Compile(t.Context(), r.environment(o.Node.Environment, r.log), o, "")
	want.Error = strings.ReplaceAll(want.Error, ":0xXXXX>", ">") // the address of an object
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		t.Skip(err)
	case want.Error != "" && err == nil:
		t.Errorf("it compiles, want the error %s", want.Error)
	case want.Error != "":
		if got, text := unplaced(r.plain(err.Error()), want.Error); got != text && want.Ruby == "" && !rubyWords.MatchString(want.Error) {
			t.Errorf("error:\n got %s\nwant %s", got, want.Error)
		}
		r.logs = slices.DeleteFunc(r.logs, func(l logged) bool { return l.Level == "err" && l.Message == err.Error() })
	case err != nil:
		t.Errorf("it fails: %v", err)
	default:
		text, err := format.AppendJSON(nil, result.ForAgent().Data())
		if err != nil {
			t.Fatal(err)
		}
		differ(t, r.plain(string(text)), string(want.Catalog))
	}
	for i := range r.logs {
		r.logs[i].File, r.logs[i].Message = r.plain(r.logs[i].File), r.plain(r.logs[i].Message)
		if i < len(want.Logs) {
			r.logs[i].Message, want.Logs[i].Message = unplaced(r.logs[i].Message, want.Logs[i].Message)
		}
	}
	if !slices.Equal(r.logs, want.Logs) {
		t.Errorf("logs:\n got %+v\nwant %+v", r.logs, want.Logs)
	}
}

// plain returns a text with the directories named as in recordings.
func (r *recording) plain(s string) string {
	return strings.NewReplacer(r.dir, "<ENV>", systemModules, "<SYSTEM_MODULES>").Replace(s)
}

// differ shows the first lines that are not those of a recording.
func differ(t *testing.T, got, want string) {
	t.Helper()
	a, b := lines(t, []byte(got)), lines(t, []byte(want))
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			from := max(0, i-12)
			t.Errorf("line %d:\n got\n%s\nwant\n%s", i+1, strings.Join(a[from:min(len(a), i+12)], "\n"), strings.Join(b[min(from, len(b)):min(len(b), i+12)], "\n"))
			return
		}
	}
	if len(a) != len(b) {
		t.Errorf("got %d lines, want %d", len(a), len(b))
	}
}

// lines returns JSON a line for each value.
func lines(t *testing.T, text []byte) []string {
	t.Helper()
	var compact, out bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		t.Fatal(err)
	}
	if err := json.Indent(&out, compact.Bytes(), "", " "); err != nil {
		t.Fatal(err)
	}
	return strings.Split(out.String(), "\n")
}

// versioned is the version that recordings have.
func versioned(context.Context) (data.Value, error) { return data.OfString("<VERSION>"), nil }
