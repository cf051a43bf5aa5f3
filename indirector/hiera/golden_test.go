package hiera_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/format/psych"
	"indirtui/indirector/golden"
	"indirtui/indirector/hiera"
	"indirtui/indirector/language/fn"
	"indirtui/indirector/language/loader"
	"indirtui/indirector/language/site"
)

// A recorded is one directory of recordings: an environment with its lookups.
type recorded struct {
	dir      string // absolute
	lookups  []data.Value
	settings data.Value
	scope    hiera.Variables
	once     *hiera.Warnings // what is logged once, in the whole directory
	cache    *hiera.Cache
	logs     []string
}

const certname = "node1.example.test"

func openSite(t *testing.T, dir string) *recorded {
	t.Helper()
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := &recorded{dir: dir, cache: hiera.NewCache()}
	s.once = &hiera.Warnings{Log: func(m string) { s.logs = append(s.logs, m) }}
	spec := readYAML(t, filepath.Join(dir, "lookups.yaml"))
	s.lookups = spec.List()
	if spec.Kind() == data.Hash {
		s.lookups, s.settings = spec.Get("lookups").List(), spec.Get("settings")
	}
	facts := data.OfHash(nil)
	if _, err := os.Stat(filepath.Join(dir, "facts.yaml")); err == nil {
		facts = sanitized(readYAML(t, filepath.Join(dir, "facts.yaml")))
	}
	extensions := spec.Get("extensions")
	if extensions.IsNil() {
		extensions = data.OfHash(nil)
	}
	s.scope = hiera.Variables{
		"facts": facts, "environment": data.OfString("production"), "server_facts": data.OfHash(nil),
		"trusted": data.OfHash([]data.Pair{
			data.P("authenticated", data.OfString("remote")), data.P("certname", data.OfString(certname)),
			data.P("extensions", extensions), data.P("hostname", data.OfString("node1")),
			data.P("domain", data.OfString("example.test")), data.P("external", data.OfHash(nil)),
		}),
	}
	for _, p := range facts.Hash() {
		s.scope[p.Key.Text()] = p.Value
	}
	s.assign(strings.ReplaceAll(spec.Get("code").Text(), "<KEYS>", filepath.Join(dir, "keys")))
	return s
}

var (
	classes     = regexp.MustCompile(`class (\w+) \{([^}]*)\}`)
	assignments = regexp.MustCompile(`\$(\w+) = '([^']*)'`)
)

// assign sets the variables that a manifest of assignments sets. It knows no other
// code, and the rows that need it fail.
func (s *recorded) assign(code string) {
	for _, class := range classes.FindAllStringSubmatch(code, -1) {
		for _, m := range assignments.FindAllStringSubmatch(class[2], -1) {
			s.scope[class[1]+"::"+m[1]] = data.OfString(m[2])
		}
	}
	for _, m := range assignments.FindAllStringSubmatch(classes.ReplaceAllString(code, ""), -1) {
		s.scope[m[1]] = data.OfString(m[2])
	}
}

func readYAML(t *testing.T, path string) data.Value {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := psych.Decode(b, psych.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return doc.Value
}

// compile begins a compile with the site's layers.
func (s *recorded) compile() *hiera.Compile {
	global := filepath.Join(s.dir, "global", "hiera.yaml")
	if _, err := os.Stat(global); err != nil {
		global = filepath.Join(s.dir, "none", "no-hiera.yaml")
	}
	o := hiera.Options{
		EnvironmentDir: s.dir, GlobalConfig: global, Scope: s.scope, Cache: s.cache, Warnings: s.once,
		Strict: s.settings.Get("strict").Text(),
		Module: func(name string) (string, bool) {
			dir := filepath.Join(s.dir, "modules", name)
			stat, err := os.Stat(dir)
			return dir, err == nil && stat.IsDir() && !strings.ContainsAny(name, ":/.") && name != ""
		},
	}
	return withLanguage(o).Data
}

// withLanguage returns a site whose environment has its modules in a directory of it.
func withLanguage(o hiera.Options) *site.Site {
	return site.New(site.Options{
		Hiera: o, Programs: loader.NewCache(fn.Library(), nil),
		Open: func() (*loader.Environment, error) {
			return loader.Open(loader.Options{Dir: o.EnvironmentDir, Modulepath: filepath.Join(o.EnvironmentDir, "modules")})
		},
	})
}

func queryOf(l data.Value) hiera.Query {
	q := hiera.Query{
		Type: l.Get("type").Text(), Merge: l.Get("merge"), Default: l.Get("default"),
		Overrides: l.Get("override"), Defaults: l.Get("default_values"),
	}
	_, q.HasDefault = l.Lookup("default")
	if keys, ok := l.Lookup("keys"); ok {
		for _, k := range keys.List() {
			q.Keys = append(q.Keys, k.Text())
		}
		return q
	}
	q.Keys = []string{l.Get("key").Text()}
	return q
}

// A row is one recorded lookup.
type row struct {
	ID          string          `json:"id"`
	Value       json.RawMessage `json:"value"`
	Error       string          `json:"error"`
	Exception   string          `json:"exception"`
	ExplainText *string         `json:"explain_text"`
	ExplainHash json.RawMessage `json:"explain_hash"`
	Logs        []struct{ Level, Message string }
}

func readRows(t *testing.T, path string) []row {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	if err := json.Unmarshal(b, &rows); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return rows
}

func toJSON(t *testing.T, v data.Value) string {
	t.Helper()
	b, err := format.AppendJSON(nil, finite(v))
	if err != nil {
		return "not JSON: " + err.Error()
	}
	return string(b)
}

// finite writes numbers that JSON has not as the recordings do.
func finite(v data.Value) data.Value {
	switch v.Kind() {
	case data.Float:
		if math.IsInf(v.Float(), 0) || math.IsNaN(v.Float()) {
			return data.OfHash([]data.Pair{data.P("__ptype", data.OfString("GoldenFloat")), data.P("__pvalue", data.OfString(v.Text()))})
		}
	case data.List:
		list := slices.Clone(v.List())
		for i := range list {
			list[i] = finite(list[i])
		}
		return data.OfList(list)
	case data.Hash:
		pairs := slices.Clone(v.Hash())
		for i := range pairs {
			pairs[i].Value = finite(pairs[i].Value)
		}
		return data.OfHash(pairs)
	}
	return v
}

// binary makes bytes of what is recorded as Binary: a text is its bytes here.
func binary(t *testing.T, want string) string {
	t.Helper()
	var b struct {
		Type  string `json:"__ptype"`
		Value []byte `json:"__pvalue"`
	}
	if json.Unmarshal([]byte(want), &b) != nil || b.Type != "Binary" {
		return want
	}
	return toJSON(t, data.OfString(string(b.Value)))
}

func normal(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	v, err := format.DecodeJSON(raw, format.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return toJSON(t, v)
}

// missing returns what a row needs that is not here, if its error is that.
func missing(err error) (string, bool) {
	var e *hiera.Error
	if errors.As(err, &e) && e.Class == hiera.Lacking {
		return e.Message, true
	}
	return "", false
}

func sites(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(golden.Path(t, "hiera"), "*", "lookups.yaml"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for i, d := range dirs {
		dirs[i] = filepath.Dir(d)
	}
	return dirs
}

// TestGoldenHiera looks up what real Puppet looked up, each in a compile of its own:
// values, errors with their classes, warnings, and the explanations of some.
func TestGoldenHiera(t *testing.T) {
	t.Parallel()
	for _, dir := range sites(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			s := openSite(t, dir)
			for i, want := range readRows(t, filepath.Join(dir, "expected.json")) {
				s.logs = nil
				l := s.lookups[i]
				q := queryOf(l)
				explain, options := l.Get("explain").Truthy(), l.Get("explain_options").Truthy()
				if explain || options {
					q.Record = &hiera.Record{OptionsOnly: options && !explain}
				}
				v, err := s.compile().Lookup(q)
				if what, ok := missing(err); ok {
					t.Logf("row %s is left out: %s", want.ID, what)
					continue
				}
				s.check(t, want, v, err)
				if q.Record != nil {
					s.checkRecord(t, want, q.Record, err)
				}
			}
		})
	}
}

// sanitized returns a fact as nodes are given it: undef is an empty text.
func sanitized(v data.Value) data.Value {
	switch v.Kind() {
	case data.Nil:
		return data.OfString("")
	case data.List, data.Hash:
		return v.Map(sanitized)
	}
	return v
}

// library matches what precedes the words of a library of Ruby, which change with
// its versions.
var library = regexp.MustCompile(`^(.*Error was|Unable to parse \(.*\.json\):)`)

// check compares an answer with the recorded one.
func (s *recorded) check(t *testing.T, want row, v data.Value, err error) {
	t.Helper()
	if want.Error != "" {
		got := s.normal(fmt.Sprint(err))
		if words := library.FindString(want.Error); words == "" && got != want.Error || !strings.HasPrefix(got, words) {
			t.Errorf("row %s: error\n got %s\nwant %s", want.ID, got, want.Error)
		}
		var e *hiera.Error
		if errors.As(err, &e) && string(e.Class) != want.Exception {
			t.Errorf("row %s: class %s, want %s", want.ID, e.Class, want.Exception)
		}
	} else if err != nil {
		t.Errorf("row %s: %s", want.ID, s.normal(err.Error()))
	} else if got, want0 := s.normal(toJSON(t, v)), binary(t, normal(t, want.Value)); got != want0 {
		t.Errorf("row %s: value\n got %s\nwant %s", want.ID, got, want0)
	}
	var logs []string
	for _, l := range want.Logs {
		logs = append(logs, l.Message)
	}
	for i := range s.logs {
		s.logs[i] = s.normal(s.logs[i])
	}
	if d := cmp.Diff(logs, s.logs); d != "" {
		t.Errorf("row %s: warnings %s", want.ID, d)
	}
}

// rubyType matches a type in an explanation: Puppet replaces the text of a convert_to
// in the data by the object, and then shows that with its address. Here data stays as
// it was read.
var rubyType = regexp.MustCompile(`#<Puppet::Pops::Types::P(\w+)Type:0xXXXX[^>]*>`)

func (s *recorded) checkRecord(t *testing.T, want row, r *hiera.Record, err error) {
	t.Helper()
	if want.ExplainText != nil {
		if d := cmp.Diff(rubyType.ReplaceAllString(*want.ExplainText, `"$1"`), s.normal(r.Text())); d != "" {
			t.Errorf("row %s: explanation %s", want.ID, d)
		}
	}
	if want.ExplainHash != nil && err == nil {
		if got, want0 := s.normal(toJSON(t, r.Data())), normal(t, want.ExplainHash); got != want0 {
			t.Errorf("row %s: structure\n got %s\nwant %s", want.ID, got, want0)
		}
	}
}

func (s *recorded) normal(text string) string { return strings.ReplaceAll(text, s.dir, "<ENV>") }

// TestGoldenHieraExplained compares the explanation of every lookup, as text and as
// structure. Each row was recorded in a compile of its own. Rules HIERA-EXP-01 to
// HIERA-EXP-03.
func TestGoldenHieraExplained(t *testing.T) {
	t.Parallel()
	for _, dir := range sites(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			s := openSite(t, dir)
			for i, want := range readRows(t, filepath.Join(dir, "explain.json")) {
				q := queryOf(s.lookups[i])
				q.Record = new(hiera.Record)
				_, err := s.compile().Lookup(q)
				if what, ok := missing(err); ok {
					t.Logf("row %s is left out: %s", want.ID, what)
					continue
				}
				s.checkRecord(t, want, q.Record, err)
			}
		})
	}
}
