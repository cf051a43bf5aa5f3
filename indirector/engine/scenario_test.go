package engine_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/traces"
	"indirtui/traces/store"
)

const (
	encSays  = "#!/bin/sh\necho 'classes: [%]'\n"
	encFails = "#!/bin/sh\necho 'cannot connect to db' >&2\nexit 1\n"
)

// encConf is a server whose nodes come from an ENC.
const encConf = "[server]\nnode_terminus = exec\nexternal_nodes = $dir/bin/enc\n"

// factsCache is an agent whose facts are cached. The yaml family does not make
// its base directory.
var factsCache = scene{
	application: "agent",
	routes:      "agent:\n  facts:\n    terminus: facter\n    cache: yaml\n",
	files:       map[string]string{"var/client_yaml/": ""},
}

// A scenario is one of the situations that confuse people: what is set up, what
// is asked, and what the first line of the story must say. Its last request is
// the one that is told of. Gap D1: who decided has a place in a file, a setting
// or an application.
type scenario struct {
	name    string
	scene   scene
	play    func(*stage)
	first   string   // part of the first line
	decided []string // parts of the line that says who decided
	outcome traces.Outcome
	problem string // part of a line of what is wrong with the configuration
}

func TestScenarios(t *testing.T) {
	t.Parallel()
	for _, tt := range scenarios() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.scene.recording = "scenario.jsonl"
			s := newStage(t, tt.scene)
			tt.play(s)
			s.tells(tt)
			s.tellsAgain()
		})
	}
}

func (s *stage) tells(tt scenario) {
	s.t.Helper()
	tr := s.trace()
	if got, want := traces.Story(tr), s.expand(tt.first); !strings.Contains(got, want) {
		s.t.Errorf("first line:\ngot  %s\nwant %s", got, want)
	}
	if tr.Outcome != tt.outcome {
		s.t.Errorf("outcome: got %v, want %v", tr.Outcome, tt.outcome)
	}
	decided := traces.HeadlineOf(tr).Decided
	for _, want := range tt.decided {
		if !strings.Contains(decided, want) {
			s.t.Errorf("who decided:\ngot  %s\nwant %s", decided, want)
		}
	}
	if tt.problem == "" {
		return
	}
	var problems []string
	for _, p := range s.Problems {
		problems = append(problems, p.String())
	}
	if all := strings.Join(problems, "\n"); !strings.Contains(all, tt.problem) {
		s.t.Errorf("problems:\ngot  %s\nwant %s", all, tt.problem)
	}
}

// tellsAgain reads the recording, as somebody else does later.
func (s *stage) tellsAgain() {
	s.t.Helper()
	live := s.trace()
	log, err := store.OpenFile(s.path("scenario.jsonl"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	recorded, err := log.Trace(s.last)
	if err != nil {
		s.t.Fatal(err)
	}
	if got, want := traces.Story(recorded), traces.Story(live); got != want {
		s.t.Errorf("first line of the recording:\ngot  %s\nwant %s", got, want)
	}
	if got, want := traces.HeadlineOf(recorded), traces.HeadlineOf(live); got != want {
		s.t.Errorf("headlines of the recording:\ngot  %+v\nwant %+v", got, want)
	}
}

func scenarios() []scenario {
	return append(append(cacheScenarios(), classifierScenarios()...), append(routeScenarios(), fileScenarios()...)...)
}

// cacheScenarios are about what a cache answers, and when it is not asked.
func cacheScenarios() []scenario {
	agentCatalog := func(inst indirector.Instance) scene {
		return scene{application: "agent", termini: []indirector.Descriptor{answers("catalog", "rest", inst)}}
	}
	yamlCatalog := agentCatalog(catalog("n1"))
	yamlCatalog.conf = "[agent]\ncatalog_cache_terminus = yaml\n"
	yamlCatalog.files = map[string]string{"var/client_yaml/": ""}
	corrupt := agentCatalog(catalog("n1"))
	corrupt.files = map[string]string{"var/client_data/catalog/n1.json": `{"name":"n1","resour`}
	blocked := agentCatalog(catalog("n1"))
	blocked.files = map[string]string{"var/client_data/catalog": "a file where the directory should be"}

	return []scenario{
		{
			name: "S-05 facts cache on the agent", scene: factsCache,
			play: func(s *stage) {
				s.must(find("facts", "n1"))
				s.exists("var/client_yaml/facts/n1.yaml", true)
				s.wait(13 * time.Minute)
				s.must(find("facts", "n1"))
			},
			first:   "cache hit, expires in 17 min; facter not run",
			decided: []string{"facter: routes file, routes.yaml:3", "cache yaml: routes file, routes.yaml:4"},
			outcome: traces.Hit,
		},
		{
			name: "S-06 node never refreshed",
			scene: scene{
				application: "server", conf: encConf + "node_cache_terminus = yaml\n",
				files: map[string]string{"bin/enc": strings.Replace(encSays, "%", "old", 1), "var/yaml/": ""},
			},
			play: func(s *stage) {
				s.must(find("node", "n1"))
				s.write("bin/enc", strings.Replace(encSays, "%", "new", 1))
				s.wait(30 * 24 * time.Hour)
				if got := classes(s.must(find("node", "n1"))); got != "old" {
					s.t.Errorf("classes: got %s, want old", got)
				}
			},
			first:   "immortal cache entry: node/yaml drops expiration",
			decided: []string{"exec: setting node_terminus, puppet.conf:2 [server]", "cache yaml: application server, setting node_cache_terminus, puppet.conf:4 [server]"},
			outcome: traces.Hit,
		},
		{
			name: "S-14 expired, and the primary is refused by flag", scene: factsCache,
			play: func(s *stage) {
				s.must(find("facts", "n1"))
				s.wait(35 * time.Minute)
				if v, err := s.ask(with(find("facts", "n1"), traces.IgnoreTerminus)); !errors.Is(err, indirector.ErrNotFound) {
					s.t.Errorf("got %v, %v; want nothing", v, err)
				}
			},
			first:   "cache had it, expired 5 min ago; primary skipped by flag",
			decided: []string{"routes.yaml:3", "routes.yaml:4"},
			outcome: traces.Nil,
		},
		{
			name: "S-15 the caller ignores a fresh cache",
			scene: scene{
				application: "agent", conf: "[agent]\nnode_terminus = exec\nexternal_nodes = $dir/bin/enc\nfacts_terminus = memory\n",
				routes: "agent:\n  node:\n    cache: json\n",
				files:  map[string]string{"bin/enc": strings.Replace(encSays, "%", "old", 1)},
			},
			play: func(s *stage) {
				s.must(find("node", "n1"))
				s.write("bin/enc", strings.Replace(encSays, "%", "new", 1))
				req := with(find("node", "n1"), traces.IgnoreCache|traces.FailOn404)
				req.Caller = "configurer (node lookup)"
				if got := classes(s.must(req)); got != "new" {
					s.t.Errorf("classes: got %s, want new", got)
				}
			},
			first:   "cache skipped: flag from configurer (node lookup)",
			decided: []string{"exec: setting node_terminus, puppet.conf:2 [agent]", "cache json: routes file, routes.yaml:3"},
			outcome: traces.Good,
		},
		{
			name: "S-25 catalog cache in YAML", scene: yamlCatalog,
			play: func(s *stage) {
				s.must(find("catalog", "n1"))
				s.exists("var/client_yaml/catalog/n1.yaml", true)
				s.must(with(find("catalog", "n1"), traces.IgnoreTerminus))
			},
			first:   "yaml catalogs cannot be read back by Puppet 7/8",
			decided: []string{"rest: application agent, setting catalog_terminus", "cache yaml: application agent, setting catalog_cache_terminus, puppet.conf:2 [agent]"},
			outcome: traces.Hit,
		},
		{
			name: "S-26 catalog answered under another name", scene: agentCatalog(catalog("other")),
			play: func(s *stage) {
				got := s.must(with(find("catalog", "n1"), traces.IgnoreCache|traces.IgnoreCacheSave)).(*model.Catalog)
				told := s.last
				// The agent then writes the cache itself, under the catalog's own name.
				s.must(with(save("catalog", got), traces.IgnoreTerminus))
				s.exists("var/client_data/catalog/other.json", true)
				s.exists("var/client_data/catalog/n1.json", false)
				if _, err := s.ask(with(find("catalog", "n1"), traces.IgnoreTerminus)); !errors.Is(err, indirector.ErrNotFound) {
					s.t.Errorf("fallback: got %v, want nothing", err)
				}
				s.last = told
			},
			first:   "cache key other ≠ requested n1",
			decided: []string{"rest: application agent", "cache json: application agent"},
			outcome: traces.Good,
		},
		{
			name: "S-27 corrupt cache file", scene: corrupt,
			play:    func(s *stage) { s.must(find("catalog", "n1")) },
			first:   "cache read error swallowed",
			decided: []string{"rest: application agent", "cache json: application agent"},
			outcome: traces.ErrHidden,
		},
		{
			name: "S-28 cache directory cannot be written", scene: blocked,
			play: func(s *stage) {
				if v, err := s.ask(find("catalog", "n1")); err == nil || v != nil {
					s.t.Errorf("got %v, %v; want the answer to be lost", v, err)
				}
			},
			first:   "primary ok, cache write failed (stage cache.write)",
			decided: []string{"cache json: application agent"},
			outcome: traces.Err,
		},
		{
			name: "S-31 a cache hit bypasses the filter",
			scene: scene{
				application: "apply", conf: "[main]\ncatalog_cache_terminus = json\n",
				termini: []indirector.Descriptor{describe("catalog", "compiler", compiler{upstream{func(key string) (indirector.Instance, error) { return catalog(key), nil }}})},
			},
			play: func(s *stage) {
				first := s.must(find("catalog", "n1")).(*model.Catalog)
				second := s.must(find("catalog", "n1")).(*model.Catalog)
				if len(first.Resources) != 1 || len(second.Resources) != 2 {
					s.t.Errorf("resources: got %d and %d, want 1 and 2", len(first.Resources), len(second.Resources))
				}
			},
			first:   "cached result is unfiltered",
			decided: []string{"compiler: setting catalog_terminus, default", "cache json: application apply, setting catalog_cache_terminus, puppet.conf:2 [main]"},
			outcome: traces.Hit,
		},
		{
			name: "S-33 a device has no last report",
			scene: scene{
				application: "device", termini: []indirector.Descriptor{describe("report", "rest", upstream{})},
			},
			play: func(s *stage) {
				s.must(save("report", &model.Report{Host: "n1"}))
				s.exists("var/state/last_run_report.yaml", false)
			},
			first:   "no cache set for report in application device",
			decided: []string{"rest: application device"},
			outcome: traces.Good, problem: "no cache set for report in application device",
		},
		{
			name: "S-50 the clock is ahead", scene: factsCache,
			play: func(s *stage) {
				s.must(find("facts", "n1"))
				if err := os.Chtimes(s.path("var/client_yaml/facts/n1.yaml"), s.now(), s.now()); err != nil {
					s.t.Fatal(err)
				}
				s.wait(time.Hour)
				s.must(find("facts", "n1"))
			},
			first:   "expired by 30m0s; clock differs from file mtime by 1h0m0s",
			decided: []string{"routes.yaml:3", "routes.yaml:4"},
			outcome: traces.Good,
		},
	}
}

// classifierScenarios are about the external node classifier.
func classifierScenarios() []scenario {
	server := func(files map[string]string) scene {
		return scene{application: "server", conf: encConf, files: files}
	}
	fails := func(s *stage) {
		if v, err := s.ask(find("node", "n1")); err == nil {
			s.t.Errorf("got %v, want an error", v)
		} else if want := s.expand("Failed to find n1 via exec: Execution of '$dir/bin/enc n1' returned 1: "); indirector.Message(err) != want {
			s.t.Errorf("Puppet says:\ngot  %s\nwant %s", indirector.Message(err), want)
		}
	}
	decided := []string{"exec: setting node_terminus, puppet.conf:2 [server]"}
	return []scenario{
		{
			name: "S-07 ENC exits 1", scene: server(map[string]string{"bin/enc": encFails}), play: fails,
			first: "ENC exit 1; stderr (hidden by Puppet): cannot connect to db", decided: decided, outcome: traces.Err,
		},
		{
			name: "S-08 ENC prints nothing", scene: server(map[string]string{"bin/enc": "#!/bin/sh\necho\n"}),
			play: func(s *stage) {
				if _, err := s.ask(find("node", "n1")); !errors.Is(err, indirector.ErrNotFound) {
					s.t.Errorf("got %v, want nothing", err)
				}
			},
			first: "ENC returned empty output → nil node", decided: decided, outcome: traces.NilHidden,
		},
		{
			name: "S-09 ENC is not there", scene: server(nil), play: fails,
			first: "ENC not started: no such file: $dir/bin/enc", decided: decided, outcome: traces.Err,
		},
		{
			name: "S-09 ENC is not executable", scene: server(map[string]string{"bin/": ""}),
			play: func(s *stage) {
				if err := os.WriteFile(s.path("bin/enc"), []byte("#!/bin/sh\n"), 0o644); err != nil {
					s.t.Fatal(err)
				}
				fails(s)
			},
			first: "ENC not started: permission denied: $dir/bin/enc", decided: decided, outcome: traces.Err,
		},
	}
}

// routeScenarios are about who is asked.
func routeScenarios() []scenario {
	elsewhere := func(application, routes string) scene {
		return scene{application: application, conf: "[main]\nfacts_terminus = memory\n", routes: routes}
	}
	nothing := func(ind string) func(*stage) {
		return func(s *stage) {
			if v, err := s.ask(find(ind, "n1")); !errors.Is(err, indirector.ErrNotFound) {
				s.t.Errorf("got %v, %v; want nothing", v, err)
			}
		}
	}
	memory := []string{"memory: setting facts_terminus, puppet.conf:2 [main]"}
	server := func(routes string) scene {
		return scene{application: "server", conf: "[main]\nnode_terminus = memory\n", routes: routes}
	}
	return []scenario{
		{
			name:  "S-10 server section on an agent",
			scene: elsewhere("agent", "server:\n  facts:\n    terminus: json\n"), play: nothing("facts"),
			first:   "routes.yaml has no section for application 'agent'; sections present: server",
			decided: memory, outcome: traces.Nil, problem: "routes.yaml has no section for application 'agent'; sections present: server",
		},
		{
			name:  "S-10 master section on an agent",
			scene: elsewhere("agent", "master:\n  facts:\n    cache: json\n"), play: nothing("facts"),
			first:   "routes.yaml has no section for application 'agent'; sections present: master",
			decided: memory, outcome: traces.Nil,
		},
		{
			name:  "S-10 agent section for apply",
			scene: elsewhere("apply", "agent:\n  facts:\n    terminus: json\n"), play: nothing("facts"),
			first:   "routes.yaml has no section for application 'apply'; sections present: agent",
			decided: memory, outcome: traces.Nil,
		},
		{
			name:  "S-10 misspelled section",
			scene: elsewhere("agent", "agnet:\n  facts:\n    terminus: json\n"), play: nothing("facts"),
			first:   "routes.yaml has no section for application 'agent'; sections present: agnet",
			decided: memory, outcome: traces.Nil, problem: "routes.yaml:1: no application is called 'agnet'; did you mean 'agent'?",
		},
		{
			name: "S-11 the string rest",
			scene: scene{
				application: "agent", routes: "agent: {catalog: {terminus: rest}}\n",
				termini: []indirector.Descriptor{answers("catalog", "rest", catalog("n1"))},
			},
			play:    func(s *stage) { s.must(find("catalog", "n1")) },
			first:   `facts not collected: catalog terminus is the string "rest", agent tests for the symbol`,
			decided: []string{"rest: routes file, routes.yaml:1"}, outcome: traces.Good,
			problem: `facts not collected: catalog terminus is the string "rest"`,
		},
		{
			name: "S-12 cache: none", scene: server("server:\n  node:\n    cache: none\n"), play: nothing("node"),
			first:   "none is not a terminus of node; a route cannot disable a cache",
			decided: []string{"memory: setting node_terminus, puppet.conf:2 [main]"}, outcome: traces.Nil,
			problem: "routes.yaml:3: none is not a terminus of node; a route cannot disable a cache",
		},
		{
			name: "S-12 cache: false", scene: server("server:\n  node:\n    terminus: memory\n    cache: false\n"), play: nothing("node"),
			first:   "cache: false of node changes nothing; a route cannot disable a cache",
			decided: []string{"memory: routes file, routes.yaml:3"}, outcome: traces.Nil,
			problem: "routes.yaml:4: cache: false of node changes nothing; a route cannot disable a cache",
		},
		{
			name: "S-12 cache: false and nothing else", scene: server("server:\n  node:\n    cache: false\n"), play: nothing("node"),
			first:   "entry 'node' has neither a terminus nor a cache (routes.yaml:2: a route cannot disable a cache)",
			decided: []string{"memory: setting node_terminus, puppet.conf:2 [main]"}, outcome: traces.Nil,
			problem: "a route cannot disable a cache",
		},
		{
			name: "S-13 empty routes.yaml", scene: server("---\n"), play: nothing("node"),
			first:   "routes.yaml is empty",
			decided: []string{"memory: setting node_terminus, puppet.conf:2 [main]"}, outcome: traces.Nil,
			problem: "routes.yaml is empty",
		},
		{
			name: "S-39 memory of the symbol and of the string",
			scene: scene{
				application: "apply", routes: "apply:\n  facts:\n    terminus: memory\n", quirks: map[string]bool{"IND-TERM-09": true},
			},
			play: func(s *stage) {
				symbol := traces.Choice{Terminus: "memory", Source: traces.FromFace, Place: "facts save", Symbol: true}
				if err := s.Assign("facts", indirector.SlotTerminus, symbol); err != nil {
					s.t.Fatal(err)
				}
				s.must(save("facts", facts("n1")))
				s.Withdraw("facts", traces.FromFace)
				nothing("facts")(s)
			},
			first: "two singletons: symbol and string", decided: []string{"memory: routes file, routes.yaml:3"}, outcome: traces.Nil,
		},
		{
			name: "S-40 what catalog download leaves behind",
			scene: scene{
				application: "catalog", termini: []indirector.Descriptor{answers("catalog", "rest", catalog("n1"))},
				files: map[string]string{"var/client_yaml/": ""},
			},
			play: func(s *stage) {
				face := func(terminus string) {
					c := traces.Choice{Terminus: terminus, Source: traces.FromFace, Place: "catalog download", Symbol: true}
					if err := s.Assign("catalog", indirector.SlotTerminus, c); err != nil {
						s.t.Fatal(err)
					}
				}
				face("rest")
				got := s.must(find("catalog", "n1")).(*model.Catalog)
				s.wait(time.Date(2031, 3, 14, 15, 9, 26, 0, time.UTC).Sub(s.now()))
				face("yaml")
				s.must(save("catalog", got))
				s.must(find("catalog", "n1"))
			},
			first:   "terminus set by face catalog download at 15:09:26",
			decided: []string{"yaml: face, catalog download"}, outcome: traces.Good,
		},
		{
			name: "S-41 a thread sees another terminus", scene: scene{application: "server", files: map[string]string{"var/server_data/facts/n1.json": `{"name":"n1","values":{}}`}},
			play: func(s *stage) {
				s.must(find("facts", "n1"))
				th := s.Thread("worker 1")
				if err := th.Assign("facts", indirector.SlotTerminus, "memory"); err != nil {
					s.t.Fatal(err)
				}
				req := find("facts", "n1")
				if v, err := s.heard(th.Do(s.t.Context(), &req)); !errors.Is(err, indirector.ErrNotFound) {
					s.t.Errorf("in the thread: got %v, %v; want nothing", v, err)
				}
				told := s.last
				s.must(find("facts", "n1"))
				s.last = told
			},
			first: "thread-local override", decided: []string{"memory: thread worker 1"}, outcome: traces.Nil,
		},
	}
}

// fileScenarios are about what files hold.
func fileScenarios() []scenario {
	yamlNode := func(content string) scene {
		return scene{
			application: "server", conf: "[main]\nnode_terminus = yaml\n",
			files: map[string]string{"var/yaml/node/n1.yaml": content},
		}
	}
	const node = "--- !ruby/object:Puppet::Node\nname: n1\nenvironment: production\n"
	decided := []string{"yaml: setting node_terminus, puppet.conf:2 [main]"}
	return []scenario{
		{
			name: "S-29 no yaml directory", scene: scene{application: "server", conf: "[main]\nnode_terminus = yaml\n"},
			play: func(s *stage) {
				_, err := s.ask(save("node", &model.Node{Name: "n1"}))
				if want := s.expand("No such file or directory @ dir_s_mkdir - $dir/var/yaml/node"); indirector.Message(err) != want {
					s.t.Errorf("Puppet says: got %v, want %s", err, want)
				}
				s.exists("var/yaml", false)
				req := save("node", &model.Node{Name: "n1"})
				req.Terminus = "json"
				told := s.last
				s.must(req)
				s.exists("var/server_data/node/n1.json", true)
				s.last = told
			},
			first: "yaml family does not create base dir; json does", decided: decided, outcome: traces.Err,
		},
		{
			name: "S-30 empty YAML file", scene: yamlNode(""),
			play: func(s *stage) {
				if got := s.must(find("node", "n1")); got != any(indirector.False) {
					s.t.Errorf("got %v, want false", got)
				}
			},
			first: "file empty → false", decided: decided, outcome: traces.Good,
		},
		{
			name: "S-36 head on yaml", scene: yamlNode(node),
			play: func(s *stage) {
				req := indirector.Request{Indirection: "node", Verb: indirector.Head, Key: "n1"}
				if _, err := s.ask(req); !errors.Is(err, indirector.ErrVerbMissing) {
					s.t.Errorf("got %v, want a missing verb", err)
				}
			},
			first: "terminus yaml has no head", decided: decided, outcome: traces.Err,
		},
		{
			name: "S-37 search by name in yaml", scene: yamlNode(node),
			play: func(s *stage) {
				search := func(key string) int {
					return len(s.must(indirector.Request{Indirection: "node", Verb: indirector.Search, Key: key}).([]indirector.Instance))
				}
				if all, one := search("*"), search("n1.yaml"); all != 1 || one != 1 {
					s.t.Errorf("got %d with * and %d with n1.yaml, want 1", all, one)
				}
				if got := search("n1"); got != 0 {
					s.t.Errorf("got %d, want none", got)
				}
			},
			first: "glob without extension; use n1.yaml or *", decided: decided, outcome: traces.Good,
		},
		{
			name: "S-38 nested fact in a search",
			scene: scene{application: "server", files: map[string]string{
				"var/server_data/facts/n1.json": `{"name":"n1","values":{"os":{"family":"Debian"}}}`,
			}},
			play: func(s *stage) {
				got := s.must(indirector.Request{
					Indirection: "facts", Verb: indirector.Search, Key: "x",
					Options: []indirector.Option{{Name: "facts.os.family.eq", Value: "Debian"}},
				})
				if n := len(got.([]indirector.Instance)); n != 0 {
					s.t.Errorf("got %d, want none", n)
				}
			},
			first: "operator 'family' unknown; only top-level facts", decided: []string{"json: application server, setting facts_terminus"}, outcome: traces.Good,
		},
		{
			name: "S-49 YAML of an older Puppet",
			scene: scene{
				application: "server", conf: "[main]\nfacts_terminus = yaml\n",
				files: map[string]string{"var/yaml/facts/n1.yaml": "--- !ruby/object:Puppet::Node::Facts\nname: n1\nvalues: {a: b}\ntimestamp: 2012-01-01 00:00:00.5 +00:00\n"},
			},
			play: func(s *stage) {
				_, err := s.ask(find("facts", "n1"))
				if want := s.expand("Could not parse YAML data for facts n1: ($dir/var/yaml/facts/n1.yaml): Tried to load unspecified class: Time"); indirector.Message(err) != want {
					s.t.Errorf("Puppet says:\ngot  %v\nwant %s", err, want)
				}
			},
			first: "file written by an older Puppet (unquoted timestamps)", decided: []string{"yaml: setting facts_terminus, puppet.conf:2 [main]"}, outcome: traces.Err,
		},
	}
}
