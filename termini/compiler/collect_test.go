package compiler_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
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
	"indirtui/indirector/settings"
	"indirtui/termini"
)

// A step is a compile of real Puppet Server with PuppetDB behind it.
type step struct {
	Compile     string         `json:"compile"`    // "" of what is done to PuppetDB only:
	Deactivate  string         `json:"deactivate"` // a node
	Swallow     bool           `json:"swallow"`    // what the next compile stores, for a while
	Refuse      bool           `json:"refuse"`     // the query or the catalog of the next compile
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

// A collectCase is a site and what its nodes did, one after the other.
type collectCase struct {
	ID    string `json:"id"`
	Site  string `json:"site"`
	Steps []step `json:"steps"`
}

func collectCases(t *testing.T) (cases []collectCase) {
	t.Helper()
	text, err := os.ReadFile(golden.PathBeside(t, "../../indirector/puppetdb", "stores", "collect", "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// What other nodes export is searched for as Puppet does, as often, and has the same place
// in the catalog. Rules STORE-COL-01 to STORE-COL-09.
func TestGoldenCollect(t *testing.T) {
	t.Parallel()
	for _, c := range collectCases(t) {
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
	root := t.TempDir()
	db := &puppetdb{step: s}
	e := db.engine(t, root)
	s.layOut(t, root, site)
	resp, err := s.ask(t, e, "")
	if diff := gocmp.Diff(s.queries(), db.asked); diff != "" {
		t.Errorf("queries (-want +got):\n%s", diff)
	}
	s.compare(t, root, resp, err)
}

// environment returns the name of the environment that has the site.
func (s *step) environment() string {
	if s.Environment != "" {
		return "environment_" + s.Environment
	}
	return "environment"
}

// layOut writes the site below root.
func (s *step) layOut(t *testing.T, root, site string) {
	t.Helper()
	manifests := filepath.Join(root, "environments", s.environment(), "manifests")
	if err := os.MkdirAll(manifests, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(manifests, "site.pp"), site, 0o644)
}

// ask sends the request of an agent. The cache is "" for the routed one.
func (s *step) ask(t *testing.T, e *engine.Engine, cache string) (indirector.Response, error) {
	t.Helper()
	node := s.Compile + ".example.com"
	facts, err := json.Marshal(s.Facts)
	if err != nil {
		t.Fatal(err)
	}
	values, err := format.DecodeJSON(facts, format.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return e.Do(t.Context(), &indirector.Request{
		Indirection: "catalog", Verb: indirector.Find, Key: node, Environment: s.environment(), Cache: cache,
		Remote: &indirector.Remote{Node: node, Authenticated: true, Extensions: map[string]string{}},
		Options: []indirector.Option{
			{Name: "facts", Value: &model.Facts{Name: node, Values: values}}, {Name: "facts_format", Value: "application/json"},
		},
	})
}

// compare compares what came of the request. The order of resources and edges is that of
// the store, and has no meaning. Rule STORE-COL-11.
func (s *step) compare(t *testing.T, root string, resp indirector.Response, err error) {
	t.Helper()
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
	if diff := gocmp.Diff(sorted(s.Catalog), sorted(got)); diff != "" {
		t.Errorf("catalog (-want +got):\n%s", diff)
	}
}

// sorted returns a catalog whose resources and edges have an order.
func sorted(catalog map[string]any) map[string]any {
	catalog = maps.Clone(catalog)
	for _, name := range []string{"resources", "edges"} {
		list, _ := catalog[name].([]any)
		list = slices.Clone(list)
		slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		catalog[name] = list
	}
	return catalog
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

// A puppetdb stands behind store_configs.
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
			Indirection: name, Name: "recorded", Doc: "A recorded PuppetDB.", Type: (*puppetdb)(nil),
			New: func(indirector.Env) (indirector.Terminus, error) { return db, nil },
		})
	}
	return withStore(t, root, all, settings.Override{Name: "storeconfigs_backend", Value: "recorded", Source: "puppet.conf:9"})
}

// withStore returns an engine of a server with storeconfigs.
func withStore(t *testing.T, root string, all []indirector.Descriptor, set ...settings.Override) *engine.Engine {
	t.Helper()
	e, err := engine.New(engine.Options{
		Specs: termini.Specs(), Termini: all, ConfDir: filepath.Join(root, "conf"), VarDir: filepath.Join(root, "var"),
		Application: "server", Write: true, Log: slog.New(slog.DiscardHandler),
		Set: append([]settings.Override{
			{Name: "certname", Value: "puppet.example.com"},
			{Name: "codedir", Value: root},
			{Name: "environmentpath", Value: filepath.Join(root, "environments")},
			{Name: "storeconfigs", Value: "true"},
		}, set...),
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
