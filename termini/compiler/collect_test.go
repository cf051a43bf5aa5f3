package compiler_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/format"
	"indirtui/indirector/golden"
	"indirtui/indirector/model"
	"indirtui/indirector/origins"
	"indirtui/indirector/settings"
	"indirtui/termini"
	"indirtui/traces"
)

// A step is a compile of real Puppet Server with PuppetDB behind it.
type step struct {
	Compile     string         `json:"compile"` // "" of what is done to PuppetDB only
	Environment string         `json:"environment"`
	Facts       map[string]any `json:"facts"`
	Status      int            `json:"status"`
	Catalog     map[string]any `json:"catalog"`
	Error       struct {
		Message string `json:"message"`
	} `json:"error"`
	PuppetDB []exchange `json:"puppetdb"`
}

// An exchange is a request that Puppet Server sent to PuppetDB.
type exchange struct {
	Command  string          `json:"command"`
	Query    string          `json:"query"`
	Answered json.RawMessage `json:"answered"`
}

// What other nodes export is searched for as Puppet does, as often, and has the same place
// in the catalog. Rules STORE-COL-01 to STORE-COL-09.
func TestGoldenCollect(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(golden.Path(t, "stores", "collect", "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		ID    string `json:"id"`
		Site  string `json:"site"`
		Steps []step `json:"steps"`
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			for i, s := range c.Steps {
				if s.Compile != "" {
					t.Run(fmt.Sprint(i, " ", s.Compile), func(t *testing.T) { s.check(t, c.Site) })
				}
			}
		})
	}
}

// check compiles one catalog. PuppetDB answers as it did then.
func (s *step) check(t *testing.T, site string) {
	t.Parallel()
	root, environment := t.TempDir(), "environment"
	if s.Environment != "" {
		environment += "_" + s.Environment
	}
	manifests := filepath.Join(root, "environments", environment, "manifests")
	if err := os.MkdirAll(manifests, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(manifests, "site.pp"), site, 0o644)
	db := &puppetdb{step: s}
	e := db.engine(t, root)
	node := s.Compile + ".example.com"
	facts, err := json.Marshal(s.Facts)
	if err != nil {
		t.Fatal(err)
	}
	values, err := format.DecodeJSON(facts, format.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := e.Do(t.Context(), &indirector.Request{
		Indirection: "catalog", Verb: indirector.Find, Key: node, Environment: environment,
		Remote: &indirector.Remote{Node: node, Authenticated: true, Extensions: map[string]string{}},
		Options: []indirector.Option{
			{Name: "facts", Value: &model.Facts{Name: node, Values: values}}, {Name: "facts_format", Value: "application/json"},
		},
	})
	if diff := gocmp.Diff(s.queries(), db.asked); diff != "" {
		t.Errorf("queries (-want +got):\n%s", diff)
	}
	if s.Status != 200 {
		if err == nil {
			t.Fatalf("it compiles, want the error %s", s.Error.Message)
		}
		got := "Server Error: " + strings.ReplaceAll(indirector.Message(err), root+"/", "/code/")
		if diff := gocmp.Diff(s.Error.Message, got); diff != "" {
			t.Errorf("error (-want +got):\n%s", diff)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	catalog, ok := resp.Instance().(*model.Catalog)
	if !ok {
		t.Fatalf("there is no catalog, but %v", resp.Value)
	}
	made, err := format.AppendJSON(nil, catalog.Data().With("version", data.OfString("<VERSION>")).With("catalog_uuid", data.OfString("<UUID>")).
		With("code_id", data.OfString("")))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(made), root+"/", "/code/")), &got); err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(s.Catalog, got); diff != "" {
		t.Errorf("catalog (-want +got):\n%s", diff)
	}
}

// The trace has what a collector asked below it, and each attribute is known to be of the
// node that exports it.
func TestCollected(t *testing.T) {
	t.Parallel()
	const row = `{"status":200,"body":[{"type":"Notify","title":"n","file":"/e/site.pp","line":3,"certname":"a","parameters":{"message":"hi"}}]}`
	db := &puppetdb{step: &step{Status: 200, PuppetDB: []exchange{{Query: "1", Answered: []byte(row)}, {Query: "2", Answered: []byte(row)}}}}
	root := t.TempDir()
	manifests := filepath.Join(root, "environments", "production", "manifests")
	if err := os.MkdirAll(manifests, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(manifests, "site.pp"), "Notify <<| tag == 'x' |>> { message => 'other' }", 0o644)
	e := db.engine(t, root)
	resp, err := e.Do(t.Context(), &indirector.Request{
		Indirection: "catalog", Verb: indirector.Find, Key: "b", Options: []indirector.Option{
			{Name: "facts", Value: &model.Facts{Name: "b", Values: data.OfHash(nil)}}, {Name: "facts_format", Value: "application/json"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Store.Flush(); err != nil {
		t.Fatal(err)
	}
	trace, lost := e.Store.Trace(resp.Trace)
	if lost != nil {
		t.Fatal(lost)
	}
	var got []string
	spans := trace.Spans
	for i, s := range spans {
		if s.Kind == traces.Nested && strings.HasPrefix(s.Name, "search") {
			got = append(got, s.Name+": "+s.Answer)
			if at := slices.IndexFunc(spans, func(x traces.Span) bool { return x.ID == s.Parent }); at < 0 || at > i {
				t.Errorf("%s is below nothing", s.Name)
			} else {
				got = append(got, "  of "+spans[at].Name+": "+spans[at].Answer)
			}
		}
	}
	want := []string{
		"search resource Notify: 1 found", "  of collector Notify <<| tag == 'x' |>>: 1 collected",
		"search resource Notify: 1 found", "  of collector Notify <<| tag == 'x' |>>: 0 collected",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	catalog := resp.Instance().(*model.Catalog)
	document := catalog.Origins.Document(func(s string) string { return s })
	sources := document.Find("Notify[n]").Sources("message")
	if diff := gocmp.Diff([]origins.Source{
		{From: "collector", File: filepath.Join(manifests, "site.pp"), Line: 1},
		{From: "exported resource", Level: "of a", File: "/e/site.pp", Line: 3},
	}, sources); diff != "" {
		t.Error(diff)
	}
}

// queries are those that Puppet Server sent.
func (s *step) queries() (all []string) {
	for _, x := range s.PuppetDB {
		if x.Query != "" {
			all = append(all, x.Query)
		}
	}
	return all
}

// A puppetdb stands in the place of store_configs.
type puppetdb struct {
	step  *step
	asked []string
}

// engine returns an engine of a server with storeconfigs, which has what db answers.
func (db *puppetdb) engine(t *testing.T, root string) *engine.Engine {
	t.Helper()
	all := termini.All()
	for _, name := range []string{"catalog", "facts", "resource"} {
		all = append(all, indirector.Descriptor{
			Indirection: name, Name: "store_configs", Doc: "A recorded PuppetDB.", Type: (*puppetdb)(nil),
			New: func(indirector.Env) (indirector.Terminus, error) { return db, nil },
		})
	}
	e, err := engine.New(engine.Options{
		Specs: termini.Specs(), Termini: all, ConfDir: filepath.Join(root, "conf"), VarDir: filepath.Join(root, "var"),
		Application: "server", Write: true, Log: slog.New(slog.DiscardHandler),
		Set: []settings.Override{
			{Name: "certname", Value: "puppet.example.com"},
			{Name: "codedir", Value: root},
			{Name: "environmentpath", Value: filepath.Join(root, "environments")},
			{Name: "storeconfigs", Value: "true"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// Find implements indirector.Finder.
func (db *puppetdb) Find(context.Context, *indirector.Request) (indirector.Instance, error) {
	return nil, indirector.ErrNotFound
}

// Save implements indirector.Saver.
func (db *puppetdb) Save(_ context.Context, r *indirector.Request) (any, error) {
	if r.Indirection == "catalog" && db.step.Status != 200 {
		return nil, &indirector.Failure{Class: "Puppet::Error", Message: strings.TrimPrefix(db.step.Error.Message, "Server Error: ")}
	}
	return nil, nil
}

// Search implements indirector.Searcher: it answers the next query that was recorded.
func (db *puppetdb) Search(_ context.Context, r *indirector.Request) ([]indirector.Instance, error) {
	host, _ := r.Option("host").(string)
	filter, _ := r.Option("filter").(data.Value)
	query := []any{"and", []any{"=", "type", r.Key}, []any{"=", "exported", true}, []any{"not", []any{"=", "certname", host}}}
	if !filter.IsNil() {
		query = append(query, condition(filter))
	}
	text, err := json.Marshal(query)
	if err != nil {
		return nil, err
	}
	db.asked = append(db.asked, string(text))
	n := 0
	for _, x := range db.step.PuppetDB {
		if x.Query == "" {
			continue
		}
		if n++; n == len(db.asked) {
			return db.answer(x)
		}
	}
	return nil, errors.New("this was not asked")
}

func (db *puppetdb) answer(x exchange) ([]indirector.Instance, error) {
	answered, err := format.DecodeJSON(x.Answered, format.Limits{})
	if err != nil {
		return nil, err
	}
	if answered.IsNil() {
		message := strings.TrimSuffix(strings.TrimPrefix(db.step.Error.Message, "Server Error: "), " on node "+db.step.Compile+".example.com")
		return nil, &indirector.Failure{Class: "Puppet::Error", Message: message}
	}
	var all []indirector.Instance
	for _, row := range answered.Get("body").List() {
		r := &model.Resource{
			Type: row.Get("type").Str(), Title: row.Get("title").Str(), File: row.Get("file").Str(), Line: row.Get("line").Int(), Exported: true,
			Parameters: row.Get("parameters"), Exporter: row.Get("certname").Str(),
		}
		all = append(all, r)
	}
	return all, nil
}

// condition is a filter as PuppetDB has it.
func condition(filter data.Value) any {
	l := filter.List()
	switch op := l[1].Str(); op {
	case "and", "or":
		return []any{op, condition(l[0]), condition(l[2])}
	default:
		var c any
		switch name := l[0].Str(); name {
		case "tag":
			c = []any{"=", name, strings.ToLower(l[2].Str())}
		case "title":
			c = []any{"=", name, plain(l[2])}
		default:
			c = []any{"=", []any{"parameter", name}, plain(l[2])}
		}
		if op == "!=" {
			return []any{"not", c}
		}
		return c
	}
}

func plain(v data.Value) json.RawMessage {
	text, err := format.AppendJSON(nil, v)
	if err != nil {
		panic(err)
	}
	return text
}
