package compiler

import (
	stdcmp "cmp"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/format"
	"indirtui/indirector/golden"
	"indirtui/indirector/model"
	"indirtui/indirector/puppetdb/command"
	"indirtui/indirector/settings"
)

// A keeper is a cache that keeps the catalog, as stores get it: before it is filtered.
type keeper struct{ kept *model.Catalog }

func (k *keeper) Find(context.Context, *indirector.Request) (indirector.Instance, error) {
	return nil, nil
}

func (k *keeper) Save(_ context.Context, req *indirector.Request) (any, error) {
	k.kept, _ = req.Instance.(*model.Catalog)
	return nil, nil
}

var _ indirector.Saver = (*keeper)(nil)

// What is compiled here makes the same command for PuppetDB as what real Puppet compiled.
func TestGoldenCommandsOfCompiles(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(golden.PathBeside(t, "../../indirector/puppetdb", "stores", "puppetdb", "commands-catalog.json"))
	if err != nil {
		t.Fatal(err)
	}
	cases, err := format.DecodeJSON(text, format.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases.List() {
		if manifest, ok := c.Lookup("manifest"); ok {
			t.Run(c.Get("id").Str(), func(t *testing.T) {
				t.Parallel()
				if strings.Contains(manifest.Str(), "('/etc/") {
					t.Skip("it reads a file of the machine")
				}
				compareCommand(t, c)
			})
		}
	}
}

func compareCommand(t *testing.T, c data.Value) {
	made, err := command.Catalog(compiled(t, c), command.Options{})
	if want := c.Get("error"); !want.IsNil() {
		if err == nil || err.Error() != want.Str() {
			t.Errorf("got error %v, want %s", err, want.Str())
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	want, err := format.DecodeJSON([]byte(c.Get("requests").List()[0].Get("body").Str()), format.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"resources", "edges"} {
		got := secret.ReplaceAllString(made.Payload.Get(key).Inspect(), "$1<N>>")
		if want := want.Get(key).Inspect(); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", key, got, want)
		}
	}
}

// secret has the number that Puppet gives to what is sensitive.
var secret = regexp.MustCompile(`(\[value redacted\]:)\d+>`)

// compiled returns the catalog of a case as this compiler makes it.
func compiled(t *testing.T, c data.Value) *model.Catalog {
	t.Helper()
	dir := t.TempDir()
	cat := stored(t, dir, map[string]string{"manifests/site.pp": c.Get("manifest").Str()}, c.Get("certname").Str())
	environment := stdcmp.Or(c.Get("environment").Str(), "production")
	for i := range cat.Resources {
		if r := &cat.Resources[i]; r.File == filepath.Join(dir, production, "manifests/site.pp") {
			r.File = "/srv/golden/code/environments/" + environment + "/manifests/site.pp"
		}
	}
	return cat
}

// production is the directory of the environment.
const production = "code/environments/production"

// stored returns the catalog of a node as stores get it, compiled in an environment of
// these files.
func stored(t *testing.T, dir string, contents map[string]string, node string) *model.Catalog {
	t.Helper()
	for name, text := range contents {
		path := filepath.Join(dir, production, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var k keeper
	cache := indirector.Descriptor{
		Indirection: "catalog", Name: "keeper", Doc: "For tests.", Type: &k,
		New: func(indirector.Env) (indirector.Terminus, error) { return &k, nil },
	}
	e, err := engine.New(engine.Options{
		Specs: []indirector.Spec{
			{Name: "catalog", Setting: "catalog_terminus"},
			{Name: "node", Setting: "node_terminus"},
			{Name: "data_binding", Setting: "data_binding_terminus"},
		},
		Termini: []indirector.Descriptor{Catalog, knownNode, fewData, cache}, ConfDir: filepath.Join(dir, "conf"), VarDir: filepath.Join(dir, "var"),
		Application: "server", Write: true,
		Set: []settings.Override{
			{Name: "codedir", Value: filepath.Join(dir, "code")},
			{Name: "node_terminus", Value: "known"},
			{Name: "data_binding_terminus", Value: "few"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Once(t.Context(), &indirector.Request{Indirection: "catalog", Verb: indirector.Find, Key: node, Cache: "keeper"}); err != nil {
		t.Fatal(err)
	}
	if k.kept == nil {
		t.Fatal("no catalog was saved")
	}
	cat := *k.kept
	cat.Resources = slices.Clone(cat.Resources)
	return &cat
}

// Stores know resources by the attributes that name them in types of modules, too, and
// relations find them so. Rules PDB-CAT-04, PDB-CAT-06.
func TestTypesOfModules(t *testing.T) {
	t.Parallel()
	cat := stored(t, t.TempDir(), map[string]string{
		"modules/m/lib/puppet/type/vcsrepo.rb": "Puppet::Type.newtype(:vcsrepo) do\n  newparam(:path, namevar: true)\nend\n",
		"modules/m/lib/puppet/type/anyone.rb":  "Puppet::Type.newtype(:anyone) do\n  @isomorphic = false\n  def self.isomorphic?\n    false\n  end\n  newparam(:name, namevar: true)\nend\n",
		"modules/m/lib/puppet/type/pair.rb":    "Puppet::Type.newtype(:pair) do\n  def self.title_patterns\n    [[/^(.*)$/m, [[:name]]]]\n  end\n  newparam(:name, namevar: true)\n  newparam(:part, namevar: true)\nend\n",
		"manifests/site.pp": `vcsrepo { 'web': path => '/srv/web' }
anyone { 'a': name => 'other' }
pair { 'p': name => 'q', part => 'r' }
notify { 'n': require => Vcsrepo['/srv/web'] }
`,
	}, "web01")
	c, err := command.Catalog(cat, command.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"Vcsrepo": `{"path"=>"/srv/web", "alias"=>["/srv/web"]}`,
		"Anyone":  `{"name"=>"other"}`,
		"Pair":    `{"name"=>"q", "part"=>"r"}`,
	}
	for _, r := range c.Payload.Get("resources").List() {
		typ := r.Get("type").Str()
		if got := r.Get("parameters").Inspect(); want[typ] != "" && got != want[typ] {
			t.Errorf("%s: got %s, want %s", typ, got, want[typ])
		}
		delete(want, typ)
	}
	if len(want) > 0 {
		t.Errorf("there is no resource of %v", want)
	}
	edges := c.Payload.Get("edges").List()
	if last := edges[len(edges)-1].Get("source").Inspect(); !strings.Contains(last, `"web"`) {
		t.Errorf("the relation leads to %s", last)
	}
}
