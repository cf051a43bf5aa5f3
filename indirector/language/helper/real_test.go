package helper_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/golden"
	"indirtui/indirector/hiera"
	"indirtui/indirector/language/compile"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/site"
)

// An answer is what comes of a manifest.
type answer struct {
	Code      string          `json:"code"`
	Resources json.RawMessage `json:"resources,omitempty"`
	Error     string          `json:"error,omitempty"`
	Fatal     string          `json:"fatal,omitempty"` // the class of an error that ends Puppet
	Logs      []string        `json:"logs"`
}

// interpreter is the path of Ruby; without it the test is skipped.
func interpreter(tb testing.TB) string {
	tb.Helper()
	path, err := exec.LookPath("ruby")
	if err != nil {
		tb.Skip("ruby is not installed, so no function in Ruby is run")
	}
	return path
}

var facts = data.OfHash([]data.Pair{
	data.P("os", data.OfHash([]data.Pair{data.P("name", data.OfString("Debian"))})),
	data.P("memorysize", data.OfString("2.00 GiB")),
})

// compiled compiles a manifest with modules of a path.
func compiled(tb testing.TB, code, modulepath string) (out answer) {
	tb.Helper()
	out = answer{Code: code, Logs: []string{}}
	get := func(name string) string {
		return map[string]string{"modulepath": modulepath, "strict": "warning"}[name]
	}
	o := site.FromSettings(get, hiera.FromSettings(get, "production"), site.NewPrograms())
	o.Ruby = interpreter(tb)
	o.Eval.Log = func(e eval.LogEntry) {
		if e.Level != "err" && e.Level != "debug" {
			out.Logs = append(out.Logs, e.Level+": "+e.String())
		}
	}
	node := compile.Node{Name: "node1.example.test", Environment: "production", Facts: facts, Trusted: data.OfHash([]data.Pair{data.P("certname", data.OfString("node1.example.test"))}), Parameters: facts.Hash()}
	result, err := site.Compile(tb.Context(), o, compile.Options{Node: node, RichData: true}, code)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	var all []data.Value
	for _, r := range result.Catalog.Data().Get("resources").List() {
		kind, parameters := r.Get("type"), r.Get("parameters")
		if parameters.IsNil() {
			parameters = data.OfHash(nil)
		}
		if slices.Contains([]string{"Stage", "Class"}, kind.Str()) && parameters.Len() == 0 {
			continue
		}
		all = append(all, data.OfList([]data.Value{kind, r.Get("title"), parameters}))
	}
	if out.Resources, err = format.AppendJSON(nil, data.OfList(all)); err != nil {
		tb.Fatal(err)
	}
	return out
}

// same compares manifests with what real Puppet makes of them.
func same(t *testing.T, modulepath string, codes []string) {
	t.Helper()
	golden.NeedsPuppet(t)
	questions := make([]answer, len(codes))
	for i, code := range codes {
		questions[i].Code = code
	}
	for _, want := range golden.Ask[answer](t, questions, "--disable=did_you_mean", "testdata/puppet.rb", modulepath) {
		got := compiled(t, want.Code, modulepath)
		if want.Fatal != "" { // Puppet ends; the words are ours
			if !strings.Contains(got.Error, "of module '") && !strings.Contains(got.Error, "template ") {
				t.Errorf("%s\n got %s\nwant an error of ours in place of %s: %s", want.Code, got.Error, want.Fatal, want.Error)
			}
			continue
		}
		want.Error = strings.TrimSpace(want.Error)
		if got.Error != want.Error || string(got.Resources) != string(want.Resources) {
			t.Errorf("%s\n got %s%s\nwant %s%s", want.Code, got.Resources, got.Error, want.Resources, want.Error)
		}
		if !slices.Equal(got.Logs, want.Logs) {
			t.Errorf("%s\n got the log %q\nwant %q", want.Code, got.Logs, want.Logs)
		}
	}
}

// Functions and templates of a module do what they do in Puppet, and fail in its words.
func TestReal(t *testing.T) {
	t.Parallel()
	modules, err := filepath.Abs(filepath.Join("testdata", "modules"))
	if err != nil {
		t.Fatal(err)
	}
	same(t, modules, slices.Concat(manifests(t, "manifests.txt"), manifests(t, "templates.txt"), manifests(t, "lookups.txt"), manifests(t, "blocks.txt")))
}

// manifests are the lines of a file, without comments.
func manifests(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			codes = append(codes, line)
		}
	}
	return codes
}

// Functions that modules of Debian have in Ruby do what they do in Puppet.
func TestInstalled(t *testing.T) {
	t.Parallel()
	const installed = "/usr/share/puppet/modules"
	var codes []string
	lacking := map[string]bool{}
	for _, code := range manifests(t, "installed.txt") {
		if m := moduleOf(code); m != "" {
			if _, err := os.Stat(filepath.Join(installed, m)); err != nil {
				lacking[m] = true
				continue
			}
		}
		codes = append(codes, code)
	}
	if len(lacking) > 0 {
		t.Logf("functions of these modules are left out, which are not installed: %s", strings.Join(slices.Sorted(maps.Keys(lacking)), ", "))
	}
	if len(codes) == 0 {
		t.Skip("no module of Debian is installed, so no function of theirs is called")
	}
	same(t, installed, codes)
}

// moduleOf returns the module of the first function in a manifest that is one of a module.
func moduleOf(code string) string {
	for _, m := range [][2]string{
		{"apache", "apache"},
		{"bool2httpd", "apache"},
		{"nexus", "archive"},
		{"archive::", "archive"},
		{"go_md5", "archive"},
		{"augeas", "augeas_core"},
		{"collectd", "collectd"},
		{"ini_settings", "inifile"},
		{"memcached", "memcached"},
		{"monit", "monit"},
		{"mysql", "mysql"},
		{"staging", "staging"},
		{"scope_defaults", "staging"},
		{"translate", "translate"},
	} {
		if strings.Contains(code, m[0]) {
			return m[1]
		}
	}
	return ""
}
