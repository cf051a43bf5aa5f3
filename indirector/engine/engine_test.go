package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/termini"
	"indirtui/traces"
	"indirtui/ui/demo/scenarios"
)

// lookedAt is an agent whose nodes need facts, both of which are cached.
var lookedAt = scene{
	application: "agent", readOnly: true,
	conf:   "[main]\nnode_terminus = exec\nexternal_nodes = $dir/bin/enc\nfacts_terminus = yaml\n",
	routes: "agent:\n  node:\n    cache: json\n  facts:\n    cache: json\n",
	files: map[string]string{
		"bin/enc":                       strings.Replace(encPrints, "%", "ntp", 1),
		"var/client_yaml/facts/n1.yaml": "--- !ruby/object:Puppet::Node::Facts\nname: n1\nvalues: {kernel: Linux}\n",
	},
}

// Look changes nothing: neither by the request, nor by those that termini send.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	runsENC(t)
	s := newStage(t, lookedAt)
	for _, req := range []indirector.Request{
		save("facts", scenarios.Facts("n2")),
		{Indirection: "facts", Verb: indirector.Destroy, Key: "n1"},
		{Indirection: "node", Verb: indirector.Expire, Key: "n1"},
	} {
		if _, err := s.Engine.Ask(t.Context(), &req); !errors.Is(err, engine.ErrReadOnly) {
			t.Errorf("%v: got %v, want a refusal", req.Verb, err)
		}
	}
	s.must(find("node", "n1"))
	s.exists("var/client_data/node/n1.json", false)
	s.exists("var/client_data/facts/n1.json", false)
	tr := s.trace()
	if q := tr.Steps[traces.CacheWrite]; q.Because.Reason != traces.SkippedIgnoreCacheSave || !strings.Contains(q.Because.About, "read-only mode") {
		t.Errorf("cache write: %+v, want it skipped because of the read-only mode", q)
	}
	children := s.Store.Links(tr.ID).Children
	if len(children) != 1 {
		t.Fatalf("children: %v, want the facts", children)
	}
	s.Last = children[0]
	if q := s.trace().Steps[traces.CacheWrite]; !strings.Contains(q.Because.About, "read-only mode") {
		t.Errorf("cache write of the facts: %+v", q)
	}

	// A cache that the request names is written.
	named := find("node", "n1")
	named.Cache = "msgpack"
	s.must(named)
	s.exists("var/client_data/node/n1.msgpack", true)
	s.exists("var/client_data/facts/n1.json", false)

	s.SetWrite(true)
	s.must(find("node", "n1"))
	s.exists("var/client_data/node/n1.json", true)
	s.exists("var/client_data/facts/n1.json", true)
}

func TestOverrides(t *testing.T) {
	t.Parallel()
	s := newStage(t, lookedAt)
	if got := s.Overrides(); got != nil {
		t.Errorf("at the start: %v", got)
	}
	if err := s.Assign("facts", indirector.SlotCache, traces.Choice{Terminus: indirector.Off, Kind: traces.FromYou}); err != nil {
		t.Fatal(err)
	}
	if got := s.Overrides(); !slices.Equal(got, []string{"facts"}) {
		t.Errorf("got %v, want facts", got)
	}
	if c := s.Configured()["facts"].Cache.Winner(); c.Terminus != "json" {
		t.Errorf("configured: %+v", c)
	}
	s.Withdraw("facts", traces.FromYou)
	if got := s.Overrides(); got != nil {
		t.Errorf("withdrawn: %v", got)
	}
}

// An environment must have a directory. Rule IND-REQ-10.
func TestEnvironments(t *testing.T) {
	t.Parallel()
	s := newStage(t, lookedAt)
	s.write("code/environments/staging/", "")
	for _, tt := range []struct {
		name  string
		there bool
	}{{"production", true}, {"staging", true}, {"zz", false}, {"../environments/staging", false}, {".", false}} {
		req := find("node", "n1")
		req.Environment = tt.name
		_, err := s.ask(req)
		var missing *indirector.EnvironmentNotFound
		if errors.As(err, &missing) == tt.there {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// What storeconfigs is for is no problem, and what is wrong with it is one problem for all
// indirections.
func TestProblemsOfStoreconfigs(t *testing.T) {
	t.Parallel()
	for conf, want := range map[string]int{"": 0, "storeconfigs_backend = store_configs\n": 1} {
		s := newStage(t, scene{application: "server", conf: "[main]\nstoreconfigs = true\nstoreconfigs_backend = sqlite\n" + conf})
		if got := s.Configuration().Problems; len(got) != want {
			t.Errorf("%q: got %v, want %d problems", conf, got, want)
		}
	}
}

// Faults of the configuration are reported, the worst first, and stop nothing.
func TestProblems(t *testing.T) {
	t.Parallel()
	s := newStage(t, scene{
		application: "agent", conf: "[main]\nfacts_terminsu = yaml\nruninterval = often\n", routes: "agent:\n  facts:\n    terminus: jsno\n",
	})
	var got []string
	for _, p := range s.Configuration().Problems {
		got = append(got, strings.ReplaceAll(p.String(), s.Dir, "$dir"))
	}
	if len(got) < 3 || !s.Configuration().Problems[0].Fatal || !strings.Contains(got[0], "routes.yaml:3") {
		t.Fatalf("got %q, want routes.yaml:3 first", got)
	}
	for _, want := range []string{"puppet.conf:2", "puppet.conf:3"} {
		if !slices.ContainsFunc(got, func(p string) bool { return strings.Contains(p, want) }) {
			t.Errorf("got %q, want something about %s", got, want)
		}
	}
}

func TestNewFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := engine.Options{Specs: termini.Specs(), Termini: termini.All(), ConfDir: dir, VarDir: dir}
	for _, tt := range []struct {
		name string
		edit func(*engine.Options)
		want string
	}{
		{"application", func(o *engine.Options) { o.Application = "agnet" }, `no application is called "agnet"; there are: agent, apply`},
		{"termini", func(o *engine.Options) { o.Termini = append(o.Termini, o.Termini[0]) }, "described twice"},
		{"recording", func(o *engine.Options) { o.Recording = filepath.Join(dir, "no", "such", "dir") }, "no such file"},
	} {
		bad := o
		tt.edit(&bad)
		e, err := engine.New(bad)
		if e != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
}

func TestStateDir(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	got, err := engine.StateDir()
	if err != nil || got != filepath.Join(dir, "state", "indirtui") {
		t.Errorf("got %s, %v", got, err)
	}
	if info, err := os.Stat(got); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("got %v, %v; want a directory of one's own", info, err)
	}
	t.Setenv("XDG_STATE_HOME", "relative") // is ignored, as the rules of XDG want
	t.Setenv("HOME", dir)
	if got, err := engine.StateDir(); err != nil || got != filepath.Join(dir, ".local", "state", "indirtui") {
		t.Errorf("got %s, %v", got, err)
	}
}
