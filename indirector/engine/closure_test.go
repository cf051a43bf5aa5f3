package engine_test

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/traces"
	"indirtui/ui/demo/scenarios"
)

// Gap L6: everything that is kept: where, how large, how old and until when.
func TestClosureL6Entries(t *testing.T) {
	t.Parallel()
	s := newStage(t, scene{
		application: "agent", conf: "[main]\nfacts_terminus = memory\n",
		routes: "agent:\n  facts:\n    cache: yaml\n",
		files:  map[string]string{"var/client_yaml/": ""},
	})
	saveTo := func(terminus string, req indirector.Request) {
		req.Terminus, req.Cache = terminus, indirector.Off
		s.must(req)
	}
	until := func(name string, d time.Duration) indirector.Instance {
		return scenarios.Facts(name).WithExpiration(s.now().Add(d))
	}
	saveTo("yaml", save("facts", until("fresh", 10*time.Minute)))
	saveTo("json", save("facts", until("stale", -time.Hour)))
	saveTo("memory", save("facts", until("inside", time.Hour)))
	saveTo("yaml", save("node", &model.Node{Name: "n1"}))
	saveTo("msgpack", save("node", &model.Node{Name: "n1"}))
	saveTo("json", save("catalog", scenarios.Catalog("n1")))
	saveTo("yaml", save("report", &model.Report{Host: "n1"}))
	s.write("var/client_data/facts/corrupt.json", `{"name":"corrupt","expiration":`)

	entries, err := s.Entries(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Where, Key, Path string
		Keeps, Unread    bool
		Expires          time.Duration
	}
	var got []row
	for _, e := range entries {
		r := row{Where: e.Indirection + "/" + e.Terminus, Key: e.Key, Keeps: e.KeepsExpiry, Unread: e.Err != nil}
		if !e.Expiration.IsZero() {
			r.Expires = e.Expiration.Sub(s.now())
		}
		r.Path, _ = strings.CutPrefix(e.Path, s.path("var")+"/")
		got = append(got, r)
		if e.Path == "" {
			continue
		}
		info, err := os.Stat(e.Path)
		if err != nil || info.Size() != e.Size || !info.ModTime().Equal(e.Written) {
			t.Errorf("%+v: the file is %v, %v", e, info, err)
		}
	}
	want := []row{
		{"catalog/json", "n1", "client_data/catalog/n1.json", false, false, 0},
		{"facts/json", "corrupt", "client_data/facts/corrupt.json", true, true, 0},
		{"facts/json", "stale", "client_data/facts/stale.json", true, false, -time.Hour},
		{"facts/memory", "inside", "", true, false, time.Hour},
		{"facts/yaml", "fresh", "client_yaml/facts/fresh.yaml", true, false, 10 * time.Minute},
		{"node/msgpack", "n1", "client_data/node/n1.msgpack", false, false, 0},
		{"node/yaml", "n1", "client_yaml/node/n1.yaml", false, false, 0},
		{"report/yaml", "last_run_report", "state/last_run_report.yaml", false, false, 0},
	}
	slices.SortFunc(got, func(a, b row) int { return cmp.Or(cmp.Compare(a.Where, b.Where), cmp.Compare(a.Key, b.Key)) })
	if !slices.Equal(got, want) {
		t.Errorf("entries:\ngot  %+v\nwant %+v", got, want)
	}
	if _, err := s.Entries(t.Context(), "factz"); err == nil {
		t.Error("an unknown indirection is no error")
	}
}

// A directory that cannot be read does not hide the others.
func TestClosureL6Unreadable(t *testing.T) {
	t.Parallel()
	s := newStage(t, scene{application: "agent", files: map[string]string{
		"var/client_data/catalog":       "a file where the directory should be",
		"var/client_data/facts/n1.json": `{"name":"n1","values":{}}`,
	}})
	entries, err := s.Entries(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var found, bad int
	for _, e := range entries {
		switch {
		case e.Indirection == "facts" && e.Key == "n1":
			found++
		case e.Indirection == "catalog" && e.Key == "" && e.Err != nil:
			bad++
		}
	}
	if found != 1 || bad != 2 { // json and msgpack share the directory
		t.Errorf("got %+v", entries)
	}
}

// Gap L6: an expire that the format forgets is traced as such, and so is the
// hit that follows. A cache that keeps the expiration is the counter-example.
func TestClosureL6Expire(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		cache, conf, expire, find string
		classes                   string
		outcome                   traces.Outcome
	}{
		{"yaml", "", "nothing expires: yaml does not store an expiry for nodes", "served from a new cache entry that never expires (yaml does not store an expiry for nodes); exec was not asked", "old", traces.Hit},
		{"yaml", "expiry_sidecar = true\n", "the cache (yaml) expired it", "the cached node expired 60 s ago, so exec was asked; it was made to expire, as saving the facts of a node does", "new", traces.Good},
		{"memory", "", "the cache (memory) expired it", "the cached node expired 60 s ago, so exec was asked", "new", traces.Good},
	} {
		t.Run(tt.cache+" "+tt.conf, func(t *testing.T) {
			t.Parallel()
			runsENC(t)
			s := newStage(t, scene{
				application: "server", conf: encConf + "facts_terminus = memory\n" + tt.conf,
				routes: "server:\n  node:\n    cache: " + tt.cache + "\n",
				files:  map[string]string{"bin/enc": strings.Replace(encPrints, "%", "old", 1), "var/yaml/": ""},
			})
			s.must(find("node", "n1"))
			s.write("bin/enc", strings.Replace(encPrints, "%", "new", 1))
			s.must(save("facts", scenarios.Facts("n1")))
			children := s.Store.Links(s.Last).Children
			if len(children) != 1 {
				t.Fatalf("saving facts asked %d requests, want one that expires the node", len(children))
			}
			s.Last = children[0]
			if tr := s.trace(); tr.Verb != traces.Expire || traces.Story(tr) != tt.expire {
				t.Errorf("%v: %s; want %s", tr.Verb, traces.Story(tr), tt.expire)
			}
			if got := scenarios.Classes(s.must(find("node", "n1"))); got != tt.classes {
				t.Errorf("classes: got %s, want %s", got, tt.classes)
			}
			if tr := s.trace(); !strings.HasPrefix(traces.Story(tr), tt.find) || tr.Outcome != tt.outcome {
				t.Errorf("got %v: %s; want %v: %s", tr.Outcome, traces.Story(tr), tt.outcome, tt.find)
			}
		})
	}
}

// Gap L7: an error of a real terminus names where it began, in which file or
// command, what Puppet hides, and what has been done.
func TestClosureL7(t *testing.T) {
	t.Parallel()
	enc := func(script string) scene {
		return scene{application: "server", conf: encConf, files: map[string]string{"bin/enc": "#!/bin/sh\n" + script}}
	}
	stores := func(files map[string]string) scene {
		files["var/yaml/node/"] = ""
		return scene{application: "server", conf: "[main]\nnode_terminus = yaml\n", routes: "server:\n  node:\n    cache: json\n", files: files}
	}
	saveNode := save("node", &model.Node{Name: "n1"})
	destroy := indirector.Request{Indirection: "node", Verb: indirector.Destroy, Key: "n1"}
	for _, tt := range []struct {
		name    string
		scene   scene
		request indirector.Request
		origin  string
		path    string // below the directory
		hidden  string // part
		shown   bool
		outcome traces.Outcome
		done    string
	}{
		{
			name:    "truncated JSON of the primary",
			scene:   scene{application: "server", files: map[string]string{"var/server_data/facts/n1.json": `{"name":"n1`}},
			request: find("facts", "n1"), origin: "terminus json › decode", path: "var/server_data/facts/n1.json",
			hidden: `the file has 11 bytes and begins with "{\"name\":\"n1"`, shown: true, outcome: traces.Err,
		},
		{
			name:    "a directory where the file should be",
			scene:   scene{application: "server", files: map[string]string{"var/server_data/facts/n1.json/": ""}},
			request: find("facts", "n1"), origin: "terminus json › file", path: "var/server_data/facts/n1.json",
			hidden: "is a directory", shown: true, outcome: traces.Err,
		},
		{
			name:    "truncated JSON of the cache",
			scene:   stores(map[string]string{"var/server_data/node/n1.json": "{", "var/yaml/node/n1.yaml": "--- !ruby/object:Puppet::Node\nname: n1\n"}),
			request: find("node", "n1"), origin: "cache-read json › decode", path: "var/server_data/node/n1.json",
			hidden: "the file has 1 bytes", outcome: traces.ErrHidden,
		},
		{
			name: "ENC fails", scene: enc("echo 'no such host' >&2; exit 3\n"),
			request: find("node", "n1"), origin: "terminus exec › exec", path: "bin/enc",
			hidden: "no such host", shown: true, outcome: traces.Err,
		},
		{
			name: "ENC prints a number", scene: enc("echo 42\n"),
			request: find("node", "n1"), origin: "terminus exec › decode", path: "bin/enc",
			hidden: "stdout: 42", shown: true, outcome: traces.Err,
		},
		{
			name:  "save: the cache fails when the primary has stored it",
			scene: stores(map[string]string{"var/server_data": "a file where the directory should be"}), request: saveNode,
			origin: "cache-write json › file", path: "var/server_data/node", hidden: "not a directory", shown: true,
			outcome: traces.Part, done: "terminus yaml stored it",
		},
		{
			name: "destroy: an unreadable entry blocks its own removal",
			scene: stores(map[string]string{
				"var/server_data/node/n1.json": "{", "var/yaml/node/n1.yaml": "--- !ruby/object:Puppet::Node\nname: n1\n",
			}), request: destroy,
			origin: "cache-write json › decode", path: "var/server_data/node/n1.json", hidden: "the file has 1 bytes", shown: true,
			outcome: traces.Part, done: "terminus yaml removed it",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.scene.files["bin/enc"] != "" {
				runsENC(t)
			}
			s := newStage(t, tt.scene)
			_, err := s.ask(tt.request)
			tr := s.trace()
			if len(tr.Faults) != 1 {
				t.Fatalf("faults: %+v, want one", tr.Faults)
			}
			f := tr.Faults[0]
			if f.Origin != tt.origin || f.Path != s.path(tt.path) || !strings.Contains(f.Hidden, tt.hidden) || f.Shown != tt.shown {
				t.Errorf("got %+v, want %+v", f, tt)
			}
			if tr.Outcome != tt.outcome {
				t.Errorf("outcome: got %v, want %v", tr.Outcome, tt.outcome)
			}
			if !tt.shown {
				if hidden := s.Store.Stats().Hidden; err != nil || hidden != 1 {
					t.Errorf("got %v, %d hidden; want no error and one", err, hidden)
				}
				return
			}
			e := (*indirector.Error)(nil)
			if !errors.As(err, &e) || e.Origin != tt.origin || e.Path != f.Path || e.Key != "n1" || e.Point.Indirection != tr.Indirection {
				t.Fatalf("got %#v, want an error that says the same", err)
			}
			if got := strings.Join(e.Done, ", "); got != tt.done {
				t.Errorf("done: got %q, want %q", got, tt.done)
			}
		})
	}
}
