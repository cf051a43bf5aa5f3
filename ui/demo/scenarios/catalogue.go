package scenarios

import (
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/traces"
)

const (
	encPrints = "#!/bin/sh\necho 'classes: [%]'\n"
	encFails  = "#!/bin/sh\necho 'cannot connect to db' >&2\nexit 1\n"
)

// encConf is a server whose nodes come from an ENC.
const encConf = "[server]\nnode_terminus = exec\nexternal_nodes = $dir/bin/enc\n"

// factsCache is an agent whose facts are cached. The yaml family does not make
// its base directory.
var factsCache = Scene{
	Application: "agent",
	Routes:      "agent:\n  facts:\n    terminus: facter\n    cache: yaml\n",
	Files:       map[string]string{"var/client_yaml/": ""},
}

// cacheScenarios are about what a cache answers, and when it is not asked.
func cacheScenarios() []Scenario {
	agentCatalog := func(inst indirector.Instance) Scene {
		return Scene{Application: "agent", Termini: []indirector.Descriptor{answers("catalog", "rest", inst)}}
	}
	yamlCatalog := agentCatalog(Catalog("n1"))
	yamlCatalog.Conf = "[agent]\ncatalog_cache_terminus = yaml\n"
	yamlCatalog.Files = map[string]string{"var/client_yaml/": ""}
	corrupt := agentCatalog(Catalog("n1"))
	corrupt.Files = map[string]string{"var/client_data/catalog/n1.json": `{"name":"n1","resour`}
	blocked := agentCatalog(Catalog("n1"))
	blocked.Files = map[string]string{"var/client_data/catalog": "a file where the directory should be"}

	return []Scenario{
		{
			Name: "S-05 facts cache on the agent", scene: factsCache,
			play: func(s *Stage) {
				s.must(find("facts", "n1"))
				s.exists("var/client_yaml/facts/n1.yaml", true)
				s.Wait(13 * time.Minute)
				s.must(find("facts", "n1"))
			},
			First:   "cached facts, good for 17 more minutes; facter was not run",
			Decided: []string{"facter: routes file, routes.yaml:3", "cache yaml: routes file, routes.yaml:4"},
			Outcome: traces.Hit,
		},
		{
			Name: "S-06 node never refreshed",
			scene: Scene{
				Application: "server", Conf: encConf + "node_cache_terminus = yaml\n",
				Files: map[string]string{"bin/enc": strings.Replace(encPrints, "%", "old", 1), "var/yaml/": ""},
			},
			play: func(s *Stage) {
				s.must(find("node", "n1"))
				s.write("bin/enc", strings.Replace(encPrints, "%", "new", 1))
				s.Wait(30 * 24 * time.Hour)
				if got := Classes(s.must(find("node", "n1"))); got != "old" {
					s.fault("classes: got %s, want old", got)
				}
			},
			First:   "served from a 30-day-old cache entry that never expires (yaml does not store an expiry for nodes); exec was not asked",
			Decided: []string{"exec: setting node_terminus, puppet.conf:2 [server]", "cache yaml: application server, setting node_cache_terminus, puppet.conf:4 [server]"},
			Outcome: traces.Hit,
		},
		{
			Name: "S-14 expired, and the primary is refused by flag", scene: factsCache,
			play: func(s *Stage) {
				s.must(find("facts", "n1"))
				s.Wait(35 * time.Minute)
				if v, err := s.ask(with(find("facts", "n1"), traces.IgnoreTerminus)); !errors.Is(err, indirector.ErrNotFound) {
					s.fault("got %v, %v; want nothing", v, err)
				}
			},
			First:   "the cached copy expired 5 min ago, and the caller forbade asking anyone else",
			Decided: []string{"routes.yaml:3", "routes.yaml:4"},
			Outcome: traces.Nil,
		},
		{
			Name: "S-15 the caller ignores a fresh cache",
			scene: Scene{
				Application: "agent", Conf: "[agent]\nnode_terminus = exec\nexternal_nodes = $dir/bin/enc\nfacts_terminus = memory\n",
				Routes: "agent:\n  node:\n    cache: json\n",
				Files:  map[string]string{"bin/enc": strings.Replace(encPrints, "%", "old", 1)},
			},
			play: func(s *Stage) {
				s.must(find("node", "n1"))
				s.write("bin/enc", strings.Replace(encPrints, "%", "new", 1))
				req := with(find("node", "n1"), traces.IgnoreCache|traces.FailOn404)
				req.Caller = "configurer (node lookup)"
				if got := Classes(s.must(req)); got != "new" {
					s.fault("classes: got %s, want new", got)
				}
			},
			First:   "the agent asked not to use the cache (ignore_cache, node lookup)",
			Decided: []string{"exec: setting node_terminus, puppet.conf:2 [agent]", "cache json: routes file, routes.yaml:3"},
			Outcome: traces.Good,
		},
		{
			Name: "S-25 catalog cache in YAML", scene: yamlCatalog,
			play: func(s *Stage) {
				s.must(find("catalog", "n1"))
				s.exists("var/client_yaml/catalog/n1.yaml", true)
				s.must(with(find("catalog", "n1"), traces.IgnoreTerminus))
			},
			First:   "Puppet 7 and 8 cannot read a catalog back from YAML",
			Decided: []string{"rest: application agent, setting catalog_terminus", "cache yaml: application agent, setting catalog_cache_terminus, puppet.conf:2 [agent]"},
			Outcome: traces.Hit,
		},
		{
			Name: "S-26 catalog answered under another name", scene: agentCatalog(Catalog("other")),
			play: func(s *Stage) {
				got := s.must(with(find("catalog", "n1"), traces.IgnoreCache|traces.IgnoreCacheSave)).(*model.Catalog)
				last := s.Last
				// The agent then writes the cache itself, under the catalog's own name.
				s.must(with(save("catalog", got), traces.IgnoreTerminus))
				s.exists("var/client_data/catalog/other.json", true)
				s.exists("var/client_data/catalog/n1.json", false)
				if _, err := s.ask(with(find("catalog", "n1"), traces.IgnoreTerminus)); !errors.Is(err, indirector.ErrNotFound) {
					s.fault("fallback: got %v, want nothing", err)
				}
				s.Last = last
			},
			First:   "the catalog is named other, not n1: the agent keeps it as other, so that a fallback for n1 will find nothing",
			Decided: []string{"rest: application agent", "cache json: application agent"},
			Outcome: traces.Good,
		},
		{
			Name: "S-27 corrupt cache file", scene: corrupt,
			play:    func(s *Stage) { s.must(find("catalog", "n1")) },
			First:   "the cache (json) could not be read, and Puppet goes on without it; the server answered: the cached catalog is no JSON: cut off at byte 20",
			Decided: []string{"rest: application agent", "cache json: application agent"},
			Outcome: traces.ErrHidden,
		},
		{
			Name: "S-28 cache directory cannot be written", scene: blocked,
			play: func(s *Stage) {
				if v, err := s.ask(find("catalog", "n1")); err == nil || v != nil {
					s.fault("got %v, %v; want the answer to be lost", v, err)
				}
			},
			First:   "the server answered, but the cache could not be written (a file is in the way of the directory catalog), so Puppet throws the answer away",
			Decided: []string{"cache json: application agent"},
			Outcome: traces.Err,
		},
		{
			Name: "S-31 a cache hit bypasses the filter",
			scene: Scene{
				Application: "apply", Conf: "[main]\ncodedir = $dir/code\nstoreconfigs = true\ncatalog_cache_terminus = json\n",
				Files: map[string]string{"code/environments/production/manifests/site.pp": "@@notify { 'for others': }\n"},
				// the facts go there, too
				Termini: []indirector.Descriptor{describe("facts", "puppetdb", neverFinds{})},
			},
			play: func(s *Stage) {
				first := s.must(find("catalog", "n1")).(*model.Catalog)
				second := s.must(find("catalog", "n1")).(*model.Catalog)
				exported := func(r model.Resource) bool { return r.Exported }
				if slices.ContainsFunc(first.Resources, exported) || !slices.ContainsFunc(second.Resources, exported) {
					s.fault("got %d and %d resources, want the exported one only in the second catalog", len(first.Resources), len(second.Resources))
				}
			},
			First:   "exported and virtual resources are still in it: a cached catalog is not filtered",
			Decided: []string{"compiler: setting catalog_terminus, default", "cache json: application apply, setting catalog_cache_terminus, puppet.conf:4 [main]"},
			Outcome: traces.Hit,
		},
		{
			Name: "S-33 a device has no last report",
			scene: Scene{
				Application: "device", Termini: []indirector.Descriptor{describe("report", "rest", upstream{})},
			},
			play: func(s *Stage) {
				s.must(save("report", &model.Report{Host: "n1"}))
				s.exists("var/state/last_run_report.yaml", false)
			},
			First:   "puppet device keeps no last report: it has no cache for reports",
			Decided: []string{"rest: application device"},
			Outcome: traces.Good, Problem: "puppet device keeps no last report",
		},
		{
			Name: "S-50 the clock is ahead", scene: factsCache,
			play: func(s *Stage) {
				s.must(find("facts", "n1"))
				if err := os.Chtimes(s.Path("var/client_yaml/facts/n1.yaml"), s.Now().Add(time.Hour), s.Now().Add(time.Hour)); err != nil {
					s.stop(err)
				}
				s.Wait(time.Hour)
				s.must(find("facts", "n1"))
			},
			First:   "the cached facts expired 30 min ago, so facter was asked; the file was written 30 min after it had expired: it was copied, or two clocks disagree",
			Decided: []string{"routes.yaml:3", "routes.yaml:4"},
			Outcome: traces.Good,
		},
	}
}

// classifierScenarios are about the external node classifier.
func classifierScenarios() []Scenario {
	server := func(files map[string]string) Scene {
		return Scene{Application: "server", Conf: encConf, Files: files}
	}
	fails := func(s *Stage) {
		if v, err := s.ask(find("node", "n1")); err == nil {
			s.fault("got %v, want an error", v)
		} else if want := s.Expand("Failed to find n1 via exec: Execution of '$dir/bin/enc n1' returned 1: "); indirector.Message(err) != want {
			s.fault("Puppet says:\ngot  %s\nwant %s", indirector.Message(err), want)
		}
	}
	decided := []string{"exec: setting node_terminus, puppet.conf:2 [server]"}
	return []Scenario{
		{
			Name: "S-07 ENC exits 1", scene: server(map[string]string{"bin/enc": encFails}), play: fails,
			First: `the classifier failed (exit 1): "cannot connect to db", which Puppet does not show`, Decided: decided, Outcome: traces.Err,
		},
		{
			Name: "S-08 ENC prints nothing", scene: server(map[string]string{"bin/enc": "#!/bin/sh\necho\n"}),
			play: func(s *Stage) {
				if _, err := s.ask(find("node", "n1")); !errors.Is(err, indirector.ErrNotFound) {
					s.fault("got %v, want nothing", err)
				}
			},
			First: "the classifier (ENC) printed nothing, so Puppet has no node", Decided: decided, Outcome: traces.NilHidden,
		},
		{
			Name: "S-09 ENC is not there", scene: server(nil), play: fails,
			First: "the classifier could not be started: no such file: $dir/bin/enc", Decided: decided, Outcome: traces.Err,
		},
		{
			Name: "S-09 ENC is not executable", scene: server(map[string]string{"bin/": ""}),
			play: func(s *Stage) {
				if err := os.WriteFile(s.Path("bin/enc"), []byte("#!/bin/sh\n"), 0o644); err != nil {
					s.stop(err)
				}
				fails(s)
			},
			First: "the classifier could not be started: permission denied: $dir/bin/enc", Decided: decided, Outcome: traces.Err,
		},
	}
}

// routeScenarios are about which terminus is asked.
func routeScenarios() []Scenario {
	elsewhere := func(application, routes string) Scene {
		return Scene{Application: application, Conf: "[main]\nfacts_terminus = memory\n", Routes: routes}
	}
	nothing := func(ind string) func(*Stage) {
		return func(s *Stage) {
			if v, err := s.ask(find(ind, "n1")); !errors.Is(err, indirector.ErrNotFound) {
				s.fault("got %v, %v; want nothing", v, err)
			}
		}
	}
	memory := []string{"memory: setting facts_terminus, puppet.conf:2 [main]"}
	server := func(routes string) Scene {
		return Scene{Application: "server", Conf: "[main]\nnode_terminus = memory\n", Routes: routes}
	}
	return []Scenario{
		{
			Name:  "S-10 server section on an agent",
			scene: elsewhere("agent", "server:\n  facts:\n    terminus: json\n"), play: nothing("facts"),
			First:   "routes.yaml has no section for application 'agent'; sections present: server",
			Decided: memory, Outcome: traces.Nil, Problem: "routes.yaml has no section for application 'agent'; sections present: server",
		},
		{
			Name:  "S-10 master section on an agent",
			scene: elsewhere("agent", "master:\n  facts:\n    cache: json\n"), play: nothing("facts"),
			First:   "routes.yaml has no section for application 'agent'; sections present: master",
			Decided: memory, Outcome: traces.Nil,
		},
		{
			Name:  "S-10 agent section for apply",
			scene: elsewhere("apply", "agent:\n  facts:\n    terminus: json\n"), play: nothing("facts"),
			First:   "routes.yaml has no section for application 'apply'; sections present: agent",
			Decided: memory, Outcome: traces.Nil,
		},
		{
			Name:  "S-10 misspelled section",
			scene: elsewhere("agent", "agnet:\n  facts:\n    terminus: json\n"), play: nothing("facts"),
			First:   "routes.yaml has no section for application 'agent'; sections present: agnet",
			Decided: memory, Outcome: traces.Nil, Problem: "routes.yaml:1: no application is called 'agnet'; did you mean 'agent'?",
		},
		{
			Name: "S-11 the string rest",
			scene: Scene{
				Application: "agent", Routes: "agent: {catalog: {terminus: rest}}\n",
				Termini: []indirector.Descriptor{answers("catalog", "rest", Catalog("n1"))},
			},
			play:    func(s *Stage) { s.must(find("catalog", "n1")) },
			First:   `no facts are sent: the terminus of catalog is the string "rest", and the agent looks for the symbol :rest`,
			Decided: []string{"rest: routes file, routes.yaml:1"}, Outcome: traces.Good,
			Problem: `no facts are sent: the terminus of catalog is the string "rest"`,
		},
		{
			Name: "S-12 cache: none", scene: server("server:\n  node:\n    cache: none\n"), play: nothing("node"),
			First:   "Puppet would not start: Could not find terminus none for indirection node; none is not a terminus of node; a route cannot disable a cache (routes.yaml:3)",
			Decided: []string{"memory: setting node_terminus, puppet.conf:2 [main]"}, Outcome: traces.Nil,
			Problem: "routes.yaml:3: none is not a terminus of node; a route cannot disable a cache",
		},
		{
			Name: "S-12 cache: false", scene: Scene{
				Application: "server", Conf: "[main]\nnode_terminus = memory\nnode_cache_terminus = json\n",
				Routes: "server:\n  node:\n    terminus: memory\n    cache: false\n",
			}, play: nothing("node"),
			First:   "cache: false of node changes nothing; a route cannot disable a cache",
			Decided: []string{"memory: routes file, routes.yaml:3"}, Outcome: traces.Nil,
			Problem: "routes.yaml:4: cache: false of node changes nothing; a route cannot disable a cache",
		},
		{
			Name: "S-12 cache: false and nothing else", scene: server("server:\n  node:\n    cache: false\n"), play: nothing("node"),
			First:   "Puppet would not start: entry 'node' has neither a terminus nor a cache; a route cannot disable a cache (routes.yaml:2)",
			Decided: []string{"memory: setting node_terminus, puppet.conf:2 [main]"}, Outcome: traces.Nil,
			Problem: "a route cannot disable a cache",
		},
		{
			Name: "S-13 empty routes.yaml", scene: server("---\n"), play: nothing("node"),
			First:   "Puppet would not start: routes.yaml is empty",
			Decided: []string{"memory: setting node_terminus, puppet.conf:2 [main]"}, Outcome: traces.Nil,
			Problem: "routes.yaml is empty",
		},
		{
			Name: "S-39 memory of the symbol and of the string",
			scene: Scene{
				Application: "apply", Routes: "apply:\n  facts:\n    terminus: memory\n", Quirks: map[string]bool{"IND-TERM-09": true},
			},
			play: func(s *Stage) {
				symbol := traces.Choice{Terminus: "memory", Kind: traces.FromFace, Source: "facts save", Symbol: true}
				if err := s.Assign("facts", indirector.SlotTerminus, symbol); err != nil {
					s.stop(err)
				}
				s.must(save("facts", Facts("n1")))
				s.Withdraw("facts", traces.FromFace)
				nothing("facts")(s)
			},
			First: `"memory" from routes.yaml:3 and :memory from code are two different stores`, Decided: []string{"memory: routes file, routes.yaml:3"}, Outcome: traces.Nil,
		},
		{
			Name: "S-40 what catalog download leaves behind",
			scene: Scene{
				Application: "catalog", Termini: []indirector.Descriptor{answers("catalog", "rest", Catalog("n1"))},
				Files: map[string]string{"var/client_yaml/": ""},
			},
			play: func(s *Stage) {
				face := func(terminus string) {
					c := traces.Choice{Terminus: terminus, Kind: traces.FromFace, Source: "catalog download", Symbol: true}
					if err := s.Assign("catalog", indirector.SlotTerminus, c); err != nil {
						s.stop(err)
					}
				}
				face("rest")
				got := s.must(find("catalog", "n1")).(*model.Catalog)
				s.Wait(time.Date(2031, 3, 14, 15, 9, 26, 0, time.UTC).Sub(s.Now()))
				face("yaml")
				s.must(save("catalog", got))
				s.must(find("catalog", "n1"))
			},
			First:   "`puppet catalog download` has switched catalog to yaml (15:09:26) and did not switch back",
			Decided: []string{"yaml: face, catalog download"}, Outcome: traces.Good,
		},
		{
			Name: "S-41 a thread sees another terminus", scene: Scene{Application: "server", Files: map[string]string{"var/server_data/facts/n1.json": `{"name":"n1","values":{}}`}},
			play: func(s *Stage) {
				s.must(find("facts", "n1"))
				th := s.Thread("worker 1")
				if err := th.Assign("facts", indirector.SlotTerminus, "memory"); err != nil {
					s.stop(err)
				}
				req := find("facts", "n1")
				if v, err := s.Note(th.Do(s.ctx, &req)); !errors.Is(err, indirector.ErrNotFound) {
					s.fault("in the thread: got %v, %v; want nothing", v, err)
				}
				last := s.Last
				s.must(find("facts", "n1"))
				s.Last = last
			},
			First: `only thread "worker 1" has another terminus (memory)`, Decided: []string{"memory: thread worker 1"}, Outcome: traces.Nil,
		},
	}
}

// fileScenarios are about what files hold.
func fileScenarios() []Scenario {
	yamlNode := func(content string) Scene {
		return Scene{
			Application: "server", Conf: "[main]\nnode_terminus = yaml\n",
			Files: map[string]string{"var/yaml/node/n1.yaml": content},
		}
	}
	const node = "--- !ruby/object:Puppet::Node\nname: n1\nenvironment: production\n"
	decided := []string{"yaml: setting node_terminus, puppet.conf:2 [main]"}
	return []Scenario{
		{
			Name: "S-29 no yaml directory", scene: Scene{Application: "server", Conf: "[main]\nnode_terminus = yaml\n"},
			play: func(s *Stage) {
				_, err := s.ask(save("node", &model.Node{Name: "n1"}))
				if want := s.Expand("No such file or directory @ dir_s_mkdir - $dir/var/yaml/node"); indirector.Message(err) != want {
					s.fault("Puppet says: got %v, want %s", err, want)
				}
				s.exists("var/yaml", false)
				req := save("node", &model.Node{Name: "n1"})
				req.Terminus = "json"
				last := s.Last
				s.must(req)
				s.exists("var/server_data/node/n1.json", true)
				s.Last = last
			},
			First: "$dir/var/yaml does not exist; json would have created it, yaml does not", Decided: decided, Outcome: traces.Err,
		},
		{
			Name: "S-30 empty YAML file", scene: yamlNode(""),
			play: func(s *Stage) {
				if got := s.must(find("node", "n1")); got != any(indirector.False) {
					s.fault("got %v, want false", got)
				}
			},
			First: "the file is empty; YAML reads that as false", Decided: decided, Outcome: traces.Good,
		},
		{
			Name: "S-36 head on yaml", scene: yamlNode(node),
			play: func(s *Stage) {
				req := indirector.Request{Indirection: "node", Verb: indirector.Head, Key: "n1"}
				if _, err := s.ask(req); !errors.Is(err, indirector.ErrVerbMissing) {
					s.fault("got %v, want a missing verb", err)
				}
			},
			First: "terminus yaml cannot do head", Decided: decided, Outcome: traces.Err,
		},
		{
			Name: "S-37 search by name in yaml", scene: yamlNode(node),
			play: func(s *Stage) {
				search := func(key string) int {
					return len(s.must(indirector.Request{Indirection: "node", Verb: indirector.Search, Key: key}).([]indirector.Instance))
				}
				if all, one := search("*"), search("n1.yaml"); all != 1 || one != 1 {
					s.fault("got %d with * and %d with n1.yaml, want 1", all, one)
				}
				if got := search("n1"); got != 0 {
					s.fault("got %d, want none", got)
				}
			},
			First: "yaml compares with file names: search for n1.yaml, or *", Decided: decided, Outcome: traces.Good,
		},
		{
			Name: "S-38 nested fact in a search",
			scene: Scene{Application: "server", Files: map[string]string{
				"var/server_data/facts/n1.json": `{"name":"n1","values":{"os":{"family":"Debian"}}}`,
			}},
			play: func(s *Stage) {
				got := s.must(indirector.Request{
					Indirection: "facts", Verb: indirector.Search, Key: "x",
					Options: []indirector.Option{{Name: "facts.os.family.eq", Value: "Debian"}},
				})
				if n := len(got.([]indirector.Instance)); n != 0 {
					s.fault("got %d, want none", n)
				}
			},
			First: "only top-level facts can be searched; `os.family` is read as operator \"family\" of fact \"os\"", Decided: []string{"json: application server, setting facts_terminus"}, Outcome: traces.Good,
		},
		{
			Name: "S-49 YAML of an older Puppet",
			scene: Scene{
				Application: "server", Conf: "[main]\nfacts_terminus = yaml\n",
				Files: map[string]string{"var/yaml/facts/n1.yaml": "--- !ruby/object:Puppet::Node::Facts\nname: n1\nvalues: {a: b}\ntimestamp: 2012-01-01 00:00:00.5 +00:00\n"},
			},
			play: func(s *Stage) {
				_, err := s.ask(find("facts", "n1"))
				if want := s.Expand("Could not parse YAML data for facts n1: ($dir/var/yaml/facts/n1.yaml): Tried to load unspecified class: Time"); indirector.Message(err) != want {
					s.fault("Puppet says:\ngot  %v\nwant %s", err, want)
				}
			},
			First: "the file was written by an older Puppet: its timestamps have no quotes, and Puppet 7 and 8 refuse them", Decided: []string{"yaml: setting facts_terminus, puppet.conf:2 [main]"}, Outcome: traces.Err,
		},
	}
}
