package scenarios

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/traces"
	"indirtui/traces/query"
)

// How much of a pain is named.
const (
	named = iota // the first line, or the place that the test looks at, names the cause
	later        // it needs a part that this program does not have yet
)

// A pain is something that hurts users of Puppet and that no log explains, with
// what shows it here. There are 42.
type pain struct {
	what  string
	shown int
	lacks string // what is missing, unless it is named

	situation string        // of the catalogue: S-07, whose variants all have their first lines
	first     string        // part of the first line of its plainest variant, or of own
	own       *Scenario     // what is played for it alone
	step      traces.Step   // of own: the step that shows it, unless
	answer    traces.Answer // its answer is the zero answer
	tests     []string      // "ui/cli TestX": directory and function
}

// pains are all, P1 first.
func pains() []pain {
	overwritten, _ := down()
	trusted, _ := down()
	facts := func(d indirector.Descriptor) Scene {
		return Scene{
			Application: "server", Routes: "server:\n  facts:\n    terminus: puppetdb\n    cache: yaml\n",
			Files: map[string]string{"var/yaml/": ""}, Termini: []indirector.Descriptor{d},
		}
	}
	wire := []string{"termini/rest TestPains"}
	return []pain{
		{what: "a green run that applied an old catalog", situation: "S-01", first: "the server had failed (#2), so the cached catalog (3 days old) was used", tests: []string{"traces TestRunStory"}},
		{what: "a cached catalog that never gets too old", situation: "S-06", first: "that never expires (yaml does not store an expiry for nodes)", tests: []string{"ui/cache TestLives"}},
		{
			what: "facts that were copied there are overwritten", first: "the cached facts expired 14 min ago", step: traces.CacheWrite, answer: traces.Written,
			own: &Scenario{Name: "P3", scene: facts(overwritten), Outcome: traces.Good, play: func(s *Stage) {
				s.must(find("facts", "n1"))
				s.Wait(44 * time.Minute)
				s.must(find("facts", "n1"))
			}},
		},
		{
			what: "trusted facts are missing although PuppetDB has them", first: "cached facts, good for 30 more minutes; PuppetDB was not asked", step: traces.Terminus, answer: traces.NotAsked,
			own: &Scenario{Name: "P4", scene: facts(trusted), Outcome: traces.Hit, play: func(s *Stage) {
				s.must(find("facts", "n1"))
				s.must(find("facts", "n1"))
			}},
			tests: []string{"ui/cli TestJourney9TheSameKeyThroughTwoTermini"},
		},
		{
			what: "an agent uses facts from hours ago", first: "facter was not asked; storeconfigs is on: it replaced the facts cache by store_configs", step: traces.CacheRead, answer: traces.Found,
			own: &Scenario{
				Name: "P5", scene: Scene{Application: "agent", Conf: "[main]\nstoreconfigs = true\n", Termini: []indirector.Descriptor{answers("facts", "store_configs", Facts("n1"))}},
				Outcome: traces.Hit, Decided: []string{"cache store_configs: ", "storeconfigs"},
				play: func(s *Stage) { s.must(find("facts", "n1")) },
			},
		},
		{what: "another format of the fact cache, and old data come back", tests: []string{"ui/cache TestLives"}},
		{what: "a cache that never answers", first: "as the cache (puppetdb_apply) never does: it is only written", own: writeOnly()},
		{what: "a corrupt cache file", situation: "S-27", first: "the cache (json) could not be read, and Puppet goes on without it"},
		// Puppet 7 and 8 do not keep the catalog of a run with --noop.
		{what: "who wrote this entry?", tests: []string{"ui/cli TestJourney10BiographyOfACacheEntry"}},
		{what: "plugins cannot be fetched, and an old catalog is applied", tests: []string{"traces TestRunStory"}},
		{what: "a node is not classified anew when its facts change", tests: []string{"indirector/engine TestClosureL6Expire"}},
		{what: "exported resources from the cache", situation: "S-31", first: "a cached catalog is not filtered", tests: []string{"termini/sqlstore TestStories"}},
		{
			what: "could not find terminus", first: "there is no terminus exce; did you mean exec?", step: traces.Route, answer: traces.Raised,
			own: &Scenario{
				Name: "P13", scene: Scene{Application: "server", Conf: "[main]\nnode_terminus = exce\n"}, Outcome: traces.Err,
				Decided: []string{"exce: setting node_terminus, puppet.conf:2 [main]"},
				play:    func(s *Stage) { s.fails(find("node", "n1"), "Could not find terminus exce for indirection node") },
			},
		},
		{
			what: "catalogs and reports in PuppetDB, and no facts", first: "facts are empty because none of n1 were ever stored; something else was", step: traces.Terminus, answer: traces.OK,
			own: &Scenario{
				Name: "P14", scene: Scene{Application: "server", Routes: "server:\n  catalog:\n    cache: sqlite\n"}, Outcome: traces.Good,
				play: func(s *Stage) {
					s.must(in("sqlite", save("catalog", Catalog("n1"))))
					s.must(in("sqlite", find("facts", "n1")))
				},
			},
			tests: []string{"termini/puppetdb TestStories"},
		},
		{what: "my routes.yaml is ignored", situation: "S-10", first: "routes.yaml has no section for application 'agent'", tests: []string{"ui/cli TestJourney5MyRoutesAreIgnored"}},
		{what: "routes.yaml was rewritten", tests: []string{"ui/cli TestConfigurationChangesOnDisk"}},
		{what: "a route that is changed only sometimes", situation: "S-41", first: `only thread "worker 1" has another terminus`},
		{
			what: "an almost empty catalog of catalog find", first: "there are no facts of n1, so its catalog was compiled without any", step: traces.Terminus, answer: traces.OK,
			own: &Scenario{
				Name: "P18", scene: compiling("", nil), Outcome: traces.Good, Decided: []string{"compiler: setting catalog_terminus, default"},
				play: func(s *Stage) { s.must(find("catalog", "n1")) },
			},
		},
		{what: "puppet device differs from puppet agent", situation: "S-33", first: "puppet device keeps no last report", tests: []string{"ui/routes TestHistoryShowsTheJournal"}},
		{what: "which terminus was it, of files", situation: "S-23", first: "puppet:/// means this machine under puppet apply"},
		{
			what: "data moved, and nothing is seen", first: "the cache (json) stored it; the caller forbade asking", step: traces.CacheWrite, answer: traces.Written,
			own: &Scenario{
				Name: "P21", scene: Scene{Application: "agent", Termini: []indirector.Descriptor{answers("catalog", "rest", Catalog("n1"))}}, Outcome: traces.Good,
				play: func(s *Stage) { s.must(with(save("catalog", Catalog("n1")), traces.IgnoreTerminus)) },
			},
			tests: []string{"indirector TestClosureL5", "indirector/network/rest TestProxyHandsOn"},
		},
		{what: "could not find node", situation: "S-08", first: "the classifier (ENC) printed nothing", tests: []string{"termini/rest TestPainsOfClassifiers"}},
		{what: "an ENC that works by hand", situation: "S-07", first: `the classifier failed (exit 1): "cannot connect to db"`, tests: []string{"termini/rest TestPainsOfClassifiers"}},
		{what: "an ENC that names a missing environment", tests: append(wire, "ui/demo/scenarios TestMixtures")},
		{what: "--environment has no effect", tests: append(wire, "traces TestRunStory")},
		{what: "an empty catalog, and nothing failed", situation: "S-16", first: "the environment of n1 is qa, not production: the catalog is empty", tests: wire},
		{what: "facts under the wrong environment", tests: append(wire, "traces/store TestFactsElsewhere")},
		{what: "nil means four things", situation: "S-18", first: "404", tests: append(wire, "termini/rest TestClosureL8Kinds")},
		{what: "pluginsync deletes nothing", tests: wire},
		{what: "error 500 on the server", tests: wire},
		{what: "403 everywhere", tests: append(wire, "ui/requests TestFailuresInWords")},
		{what: "facts upload is refused", tests: wire},
		{what: "one TLS failure, seven errors", situation: "S-35", first: "Puppet stops at a TLS error", tests: []string{"termini/rest TestOneMismatch"}},
		{what: "which server answered", tests: append(wire, "termini/rest TestPainsOfConnections")},
		{
			what: "PuppetDB is down", first: "stored nowhere: 1 of 1 URLs failed, hidden by soft_write_failure, puppetdb.conf:3",
			own: &Scenario{
				Name: "P35", Outcome: traces.Part, Decided: []string{"puppetdb: routes file, routes.yaml:3"},
				scene: Scene{
					Application: "server", Routes: "server:\n  facts:\n    terminus: puppetdb\n",
					Files: map[string]string{"conf/puppetdb.conf": "[main]\nserver_urls = https://localhost:1\nsoft_write_failure = true\n"},
				},
				play: func(s *Stage) { s.must(save("facts", Facts("n1"))) },
			},
			tests: []string{"termini/puppetdb TestStories", "ui/demo/scenarios TestMixtures"},
		},
		{what: "a 404 of PuppetDB", tests: []string{"termini/puppetdb TestStories"}},
		{
			what: "lookup differs from the catalog", first: "no catalog was compiled for that, so variables of manifests do not count", step: traces.Terminus, answer: traces.OK,
			own: &Scenario{
				Name: "P37", Outcome: traces.Good, Decided: []string{"hiera: "},
				scene: compiling("", map[string]string{
					"code/environments/production/hiera.yaml":       "{version: 5, hierarchy: [{name: role, path: '%{role}.yaml'}, {name: common, path: common.yaml}]}\n",
					"code/environments/production/data/web.yaml":    "port: 80\n",
					"code/environments/production/data/common.yaml": "port: 8080\n",
				}),
				play: func(s *Stage) {
					req := find("data_binding", "port")
					req.Options = append(req.Options, indirector.Option{Name: "certname", Value: "n1"})
					s.must(req)
				},
			},
		},
		{
			what: "Deferred and Sensitive become text", tests: wire,
			first: "1 typed value was written as text, because the setting rich_data is off: File[/etc/motd]['content'] contains a", step: traces.CacheWrite, answer: traces.Written,
			own: &Scenario{
				Name: "P38", Outcome: traces.Good,
				scene: Scene{Application: "agent", Conf: "[main]\nrich_data = false\n", Termini: []indirector.Descriptor{answers("catalog", "rest", typed("n1"))}},
				play:  func(s *Stage) { s.must(find("catalog", "n1")) },
			},
		},
		{what: "config retrieval is slow", tests: []string{"termini TestSpans", "ui TestTimesByTerminus"}},
		{what: "there is no last report", situation: "S-32", first: "only the local copy was written: the server failed"},
		{what: "a report processor fails", shown: later, lacks: "attach"},
		{what: "a server with threads mixes up nodes", shown: later, lacks: "attach", situation: "S-41", first: `only thread "worker 1"`},
	}
}

// in is a request to a terminus.
func in(terminus string, req indirector.Request) indirector.Request {
	req.Terminus = terminus
	return req
}

// typed is a catalog with a value that text cannot hold.
func typed(name string) *model.Catalog {
	c := Catalog(name)
	c.Resources[0].Parameters = data.OfHash([]data.Pair{data.P("content", data.OfHash([]data.Pair{
		data.P("__ptype", data.OfString("Deferred")), data.P("name", data.OfString("secret")),
	}))})
	return c
}

// writeOnly has a cache whose find never answers, as facts/puppetdb_apply.
func writeOnly() *Scenario {
	d := describe("facts", "puppetdb_apply", upstream{func(string) (indirector.Instance, error) { return nil, indirector.NotFound(traces.AlwaysNil, "") }})
	d.AlwaysNil = true
	return &Scenario{
		Name:    "P7",
		scene:   Scene{Application: "server", Routes: "server:\n  facts:\n    terminus: memory\n    cache: puppetdb_apply\n", Termini: []indirector.Descriptor{d}},
		Outcome: traces.Good,
		play: func(s *Stage) {
			s.must(save("facts", Facts("n1")))
			s.must(find("facts", "n1"))
		},
	}
}

// parts are those of Puppet that this program does not have yet.
var parts = []string{"attach"}

// TestEveryPain plays what shows each of the 42, and finds the tests that do.
func TestEveryPain(t *testing.T) {
	t.Parallel()
	all := pains()
	if len(all) != 42 {
		t.Errorf("got %d pains, want 42", len(all))
	}
	count := map[int]int{}
	for i, p := range all {
		name := fmt.Sprintf("P%d", i+1)
		count[p.shown]++
		switch {
		case p.shown == later:
			t.Logf("%s %s: later, with %s", name, p.what, p.lacks)
			if !slices.Contains(parts, p.lacks) {
				t.Errorf("%s: %q is no part of Puppet that is to come", name, p.lacks)
			}
		case p.lacks != "" || p.situation == "" && p.own == nil && p.tests == nil:
			t.Errorf("%s %s: nothing shows it, or %q is missing", name, p.what, p.lacks)
		}
		for _, test := range p.tests {
			if !isTest(t, test) {
				t.Errorf("%s: there is no test %s", name, test)
			}
		}
		if p.situation == "" && p.own == nil {
			continue
		}
		t.Run(name+" "+p.what, func(t *testing.T) {
			t.Parallel()
			p.check(t)
		})
	}
	t.Logf("%d are named, %d later", count[named], count[later])
}

// check plays the scenario of a pain.
func (p *pain) check(t *testing.T) {
	c := p.own
	if c == nil {
		e, ok := Find(p.situation)
		if !ok || len(e.Variants) == 0 {
			t.Fatalf("there is no scenario %s", p.situation)
		}
		c = &e.Variants[0]
	}
	tr, s := played(t, *c)
	if got := traces.Story(tr); tr.Outcome != c.Outcome || !strings.Contains(got, s.Expand(p.first)) {
		t.Errorf("got  %v: %s\nwant %v: %s", tr.Outcome, got, c.Outcome, p.first)
	}
	if p.answer != traces.NotReached && tr.Steps[p.step].Answer != p.answer {
		t.Errorf("%v: got %v, want %v", p.step, tr.Steps[p.step].Answer, p.answer)
	}
	for _, want := range c.Decided {
		if got := traces.HeadlineOf(tr).Decided; !strings.Contains(got, want) {
			t.Errorf("who decided:\ngot  %s\nwant %s", got, want)
		}
	}
}

// isTest reports whether there is a test, named by its directory and function.
func isTest(t *testing.T, name string) bool {
	t.Helper()
	dir, function, _ := strings.Cut(name, " ")
	files, err := filepath.Glob(filepath.Join("../../..", dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	begins := regexp.MustCompile(`(?m)^func ` + function + `\(t \*testing\.T\)`)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if begins.Match(text) {
			return true
		}
	}
	return false
}

// TestFilters finds situations by what their work below the steps shows.
func TestFilters(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ situation, filter string }{
		{"S-01", "age>2d"},
		{"S-01", "fmt=rich_data_json"},
		{"S-01", "not lossy"},
	} {
		t.Run(tt.situation+" "+tt.filter, func(t *testing.T) {
			t.Parallel()
			e, _ := Find(tt.situation)
			tr, _ := played(t, e.Variants[0])
			x, err := query.Parse(tt.filter)
			if err != nil || !x.Match(query.Of(tr)) {
				t.Errorf("not found: %v, among %+v", err, tr.Spans)
			}
		})
	}
}
