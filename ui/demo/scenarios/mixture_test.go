package scenarios

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/termini"
	"indirtui/traces"
)

// A database is PuppetDB, which a scenario may take down.
type database struct{ isDown *bool }

func (d database) Find(_ context.Context, req *indirector.Request) (indirector.Instance, error) {
	if *d.isDown {
		return nil, d.refused("find facts for")
	}
	return Facts(req.Key), nil
}

func (d database) Save(context.Context, *indirector.Request) (any, error) {
	if *d.isDown {
		return nil, d.refused("submit 'replace facts' command for")
	}
	return nil, nil
}

func (database) refused(what string) error {
	return &indirector.Failure{
		Class: "Puppet::Error", Message: "Failed to " + what + " n1 to PuppetDB: Connection refused", Origin: "network",
		Hidden: `connect(2) for "puppetdb" port 8081`,
	}
}

// down is a PuppetDB that cannot be reached, and whose facts were found before.
func down() (indirector.Descriptor, *bool) {
	isDown := new(bool)
	return describe("facts", "puppetdb", database{isDown}), isDown
}

// mixtures have two causes each. The first line names the one that decided.
func mixtures() []Scenario {
	classifier := func(script, more, routes string) Scene {
		return Scene{Application: "server", Conf: encConf + more, Routes: routes, Files: map[string]string{"bin/enc": script}}
	}
	fails := func(s *Stage, req indirector.Request) {
		if v, err := s.ask(req); err == nil {
			s.fault("got %v, want an error", v)
		}
	}
	noServer := func(status int, body string) func(*Stage) (map[string]string, error) {
		return puppetserver(func(w http.ResponseWriter, _ *http.Request) { respondError(w, status, body, "RUNTIME_ERROR") })
	}
	agnet := "agnet:\n  catalog:\n    terminus: json\n  node:\n    terminus: json\n"
	catalogs := Scene{Application: "agent", Termini: []indirector.Descriptor{answers("catalog", "rest", Catalog("n1"))}, Routes: agnet}
	blocked, corrupt := catalogs, catalogs
	blocked.Files = map[string]string{"var/client_data/catalog": "a file where the directory should be"}
	corrupt.Files = map[string]string{"var/client_data/catalog/n1.json": `{"name":"n1","resour`}
	puppetdb, isDown := down()
	copied, copiedDown := down()
	cached := func(d indirector.Descriptor) Scene {
		return Scene{
			Application: "server", Routes: "server:\n  facts:\n    terminus: puppetdb\n    cache: yaml\n",
			Files: map[string]string{"var/yaml/": ""}, Termini: []indirector.Descriptor{d},
		}
	}
	return []Scenario{
		{
			Name: "1 the cached facts have expired, and PuppetDB is down", scene: cached(puppetdb),
			play: func(s *Stage) {
				s.must(find("facts", "n1"))
				*isDown = true
				s.Wait(40 * time.Minute)
				fails(s, find("facts", "n1"))
			},
			First: `PuppetDB failed: connection refused by puppetdb:8081`, Outcome: traces.Err,
		},
		{
			Name: "2 a file whose time is that of a copy, and PuppetDB is down", scene: cached(copied),
			play: func(s *Stage) {
				s.must(find("facts", "n1"))
				*copiedDown = true
				late := s.Now().Add(time.Hour)
				if err := os.Chtimes(s.Path("var/yaml/facts/n1.yaml"), late, late); err != nil {
					s.stop(err)
				}
				s.Wait(2 * time.Hour)
				fails(s, find("facts", "n1"))
			},
			First: `PuppetDB failed: connection refused by puppetdb:8081`, Outcome: traces.Err,
		},
		{
			Name: "3 the cache cannot be written, and routes.yaml has a misspelled section", scene: blocked,
			play:  func(s *Stage) { fails(s, find("catalog", "n1")) },
			First: "the server answered, but the cache could not be written (a file is in the way of the directory catalog), so Puppet throws the answer away", Outcome: traces.Err,
		},
		{
			Name: "4 a corrupt cache file, and routes.yaml has a misspelled section", scene: corrupt,
			play:  func(s *Stage) { s.must(find("catalog", "n1")) },
			First: "the cache (json) could not be read, and Puppet goes on without it; the server answered: the cached catalog is no JSON: cut off at byte 20", Outcome: traces.ErrHidden,
		},
		{
			Name: "5 a classifier fails, and the cache has an old node", scene: classifier(strings.Replace(encPrints, "%", "old", 1), "", "server:\n  node:\n    cache: json\n"),
			play: func(s *Stage) {
				s.must(find("node", "n1"))
				s.write("bin/enc", encFails)
				fails(s, with(find("node", "n1"), traces.IgnoreCache))
			},
			First: `the classifier failed (exit 1): "cannot connect to db", which Puppet does not show`, Outcome: traces.Err,
		},
		{
			Name: "6 the old node is used, because the classifier fails", scene: classifier(strings.Replace(encPrints, "%", "old", 1), "", "server:\n  node:\n    cache: json\n"),
			play: func(s *Stage) {
				s.must(find("node", "n1"))
				s.write("bin/enc", encFails)
				fails(s, inRun(find("node", "n1"), traces.IgnoreCache, ""))
				s.Wait(5 * time.Hour)
				s.must(inRun(find("node", "n1"), traces.IgnoreTerminus, ""))
			},
			First: "the classifier had failed (#3), so the cached node (5 hours old) was used: the classifier failed (exit 1)", Outcome: traces.Stale,
		},
		{
			Name: "7 the server has no such node, and the cache was not to be used", scene: remoteAgent("node_terminus = rest\n"),
			serve: puppetserver(func(w http.ResponseWriter, _ *http.Request) {
				respondError(w, http.StatusNotFound, "Not Found: Could not find node n1", "RESOURCE_NOT_FOUND")
			}),
			play: func(s *Stage) {
				req := with(find("node", "n1"), traces.IgnoreCache)
				req.Cache = "json"
				s.nothing(req)
			},
			First: "the server (localhost:$PORT) has no node n1: 404", Outcome: traces.NilHidden,
		},
		{
			Name:  "8 the classifier names an environment that is not there, and the facts are cached",
			scene: classifier("#!/bin/sh\necho 'environment: qa2'\n", "", "server:\n  facts:\n    terminus: memory\n    cache: json\n"),
			play: func(s *Stage) {
				facts := save("facts", Facts("qa01"))
				facts.Terminus = "json"
				s.must(facts)
				fails(s, find("node", "qa01"))
			},
			First: "the classifier put qa01 into environment qa2, which is not in $dir/code/environments", Outcome: traces.Err,
		},
		{
			Name: "9 a bucket's URL names another host, and the server fails", scene: remoteAgent(""), serve: noServer(http.StatusInternalServerError, "Server Error: disk full"),
			play: func(s *Stage) {
				fails(s, find("file_bucket_file", "filebucket://other.example.com:8140/md5/e1c06d85ae7b8b032bef47e42e4c08f9"))
			},
			First: "the server failed: Error 500: disk full (localhost:$PORT, setting server (puppet.conf:2 [main]) answered 500 Internal Server Error)", Outcome: traces.Err,
		},
		{
			Name: "10 catalog download has left yaml behind, and the file is not readable as YAML",
			scene: Scene{
				Application: "catalog", Files: map[string]string{"var/client_yaml/catalog/n1.yaml": "a: [\n"},
				Termini: []indirector.Descriptor{answers("catalog", "rest", Catalog("n1"))},
			},
			play: func(s *Stage) {
				c := traces.Choice{Terminus: "yaml", Kind: traces.FromFace, Source: "catalog download", Symbol: true}
				if err := s.Assign("catalog", indirector.SlotTerminus, c); err != nil {
					s.stop(err)
				}
				fails(s, find("catalog", "n1"))
			},
			First: "terminus yaml failed: n1.yaml is no YAML: did not find expected node content while parsing a flow node in line 2, column 1 (the file has 5 bytes and begins with \"a: [\\n\")", Outcome: traces.Err,
		},
		{
			Name:  "11 the cached facts have expired, and routes.yaml names no such section",
			scene: Scene{Application: "agent", Conf: "[main]\nfacts_terminus = memory\n", Routes: "agnet:\n  facts:\n    terminus: json\n"},
			play: func(s *Stage) {
				req := find("facts", "n1")
				req.Cache = "json"
				old := save("facts", Facts("n1").WithExpiration(s.Now().Add(7*time.Minute)))
				old.Terminus = "json"
				s.must(old)
				s.must(save("facts", Facts("n1")))
				s.Wait(30 * time.Minute)
				s.must(req)
			},
			First: "the cached facts expired 23 min ago (kept 7 min), so terminus memory was asked; routes.yaml has no section for application 'agent'; sections present: agnet", Outcome: traces.Good,
		},
		{
			Name: "an expiry, and no other cause", scene: factsCache,
			play: func(s *Stage) {
				s.must(find("facts", "n1"))
				s.Wait(37 * time.Minute)
				s.must(find("facts", "n1"))
			},
			First: "the cached facts expired 7 min ago (kept 30 min), so facter was asked", Outcome: traces.Good,
		},
		{
			Name:  "12 a thread has another terminus, and that one fails",
			scene: Scene{Application: "server", Conf: "[main]\nnode_terminus = memory\n"},
			play: func(s *Stage) {
				th := s.Thread("worker 1")
				if err := th.Assign("node", indirector.SlotTerminus, "exec"); err != nil {
					s.stop(err)
				}
				req := find("node", "n1")
				if _, err := s.Note(th.Do(s.ctx, &req)); err == nil || errors.Is(err, indirector.ErrNotFound) {
					s.fault("got %v, want an error", err)
				}
			},
			First: "the classifier failed: You must set the 'external_nodes' parameter to use the external node terminus", Outcome: traces.Err,
		},
	}
}

func TestMixtures(t *testing.T) {
	t.Parallel()
	for _, c := range mixtures() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			checkFirst(t, c)
		})
	}
}

// checkFirst plays a scenario, whose story must be its first line.
func checkFirst(t *testing.T, c Scenario) {
	t.Helper()
	trace, s := played(t, c)
	if got, want := traces.Story(trace), s.Expand(c.First); got != want || trace.Outcome != c.Outcome {
		t.Errorf("got  %v: %s\nwant %v: %s", trace.Outcome, got, c.Outcome, want)
	}
}

// played plays a scenario until the test ends, and returns the trace that it
// shows.
func played(t *testing.T, c Scenario) (*traces.Trace, *Stage) {
	t.Helper()
	s, err := c.Play(t.Context(), Options{Dir: t.TempDir(), Specs: termini.Specs(), Termini: termini.All()})
	if s != nil {
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	trace, err := s.Trace()
	if err != nil {
		t.Fatal(err)
	}
	return trace, s
}
