package termini_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/host/child"
	"indirtui/indirector/terminustest"
	"indirtui/termini"
	"indirtui/traces"
)

type values map[string]string

func (s values) Get(name string) (value, source string) { return s[name], "test" }

// A fixture is an Indirector with all termini, a directory of its own and a
// recorder of traces and logs.
type fixture struct {
	*indirector.Indirector
	dir      string
	settings values
	recorder terminustest.Recorder
	logs     bytes.Buffer
}

func newFixture(t testing.TB, more values) *fixture {
	t.Helper()
	registry, err := indirector.NewRegistry(termini.Specs(), termini.All())
	if err != nil {
		t.Fatal(err)
	}
	h := &fixture{dir: t.TempDir()}
	h.settings = values{
		"yamldir": h.dir + "/yaml", "clientyamldir": h.dir + "/client_yaml",
		"server_datadir": h.dir + "/server_data", "client_datadir": h.dir + "/client_data",
		"lastrunreport": h.dir + "/state/last_run_report.yaml", "reportdir": h.dir + "/reports",
		"reports": "store", "external_nodes": "none", "rich_data": "true",
	}
	for name, value := range more {
		h.settings[name] = strings.ReplaceAll(value, "$dir", h.dir)
	}
	routes := indirector.Routes{}
	for ind, terminus := range map[string]string{"facts": "memory", "node": "plain", "report": "processor", "catalog": "json", "status": "local", "data_binding": "none"} {
		routes[ind] = indirector.Route{Primary: traces.Slot{{Terminus: terminus, Kind: traces.FromSetting}}}
	}
	h.Indirector, err = indirector.New(indirector.Config{
		Registry: registry, Routes: routes, Settings: h.settings, Recorder: &h.recorder,
		Log: slog.New(slog.NewTextHandler(&h.logs, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// write writes a file below the directory of the fixture.
func (h *fixture) write(t testing.TB, name, content string, mode os.FileMode) {
	t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := child.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func (h *fixture) mkdir(t testing.TB, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(h.dir, name), 0o777); err != nil {
		t.Fatal(err)
	}
}

// TestScenarios plays confusing situations: Puppet's errors stay Puppet's, and
// the trace explains them.
func TestScenarios(t *testing.T) {
	t.Parallel()
	find := func(ind, key, terminus string) indirector.Request {
		return indirector.Request{Indirection: ind, Verb: indirector.Find, Key: key, Terminus: terminus}
	}
	enc := values{"external_nodes": "$dir/enc"}
	tests := []struct {
		name     string
		settings values
		files    map[string]string // "enc" is executable
		request  indirector.Request
		words    string // Puppet's words; "" is no error; "nil" is not found
		hidden   string // part of what they leave out
		note     string // whole sentence
		outcome  traces.Outcome
	}{
		{
			name: "S-07 ENC exits 1", settings: enc, files: map[string]string{"enc": "#!/bin/sh\necho 'cannot connect to db' >&2\nexit 1\n"},
			request: find("node", "n1", "exec"),
			words:   "Failed to find n1 via exec: Execution of '$dir/enc n1' returned 1: ",
			hidden:  "cannot connect to db", note: `the classifier failed (exit 1): "cannot connect to db", which Puppet does not show`, outcome: traces.Err,
		},
		{
			name: "S-08 ENC prints nothing", settings: enc, files: map[string]string{"enc": "#!/bin/sh\necho\n"},
			request: find("node", "n1", "exec"), words: "nil",
			note: "the classifier (ENC) printed nothing, so Puppet has no node", outcome: traces.NilHidden,
		},
		{
			name: "S-09 ENC is not there", settings: enc, request: find("node", "n1", "exec"),
			words:  "Failed to find n1 via exec: Execution of '$dir/enc n1' returned 1: ",
			hidden: "no such file", note: "the classifier could not be started: no such file: $dir/enc", outcome: traces.Err,
		},
		{
			name: "S-09 ENC is not executable", settings: values{"external_nodes": "$dir/plainfile"}, files: map[string]string{"plainfile": "#!/bin/sh\n"},
			request: find("node", "n1", "exec"),
			words:   "Failed to find n1 via exec: Execution of '$dir/plainfile n1' returned 1: ",
			hidden:  "permission denied", note: "the classifier could not be started: permission denied: $dir/plainfile", outcome: traces.Err,
		},
		{
			name: "S-25 catalog in YAML", files: map[string]string{"client_yaml/catalog/n1.yaml": "--- !ruby/object:Puppet::Resource::Catalog\nname: n1\nenvironment: production\nresources: []\nedges: []\nclasses: []\n"},
			request: find("catalog", "n1", "yaml"), note: "Puppet 7 and 8 cannot read a catalog back from YAML", outcome: traces.Good,
		},
		{
			name:    "S-29 no yaml directory",
			request: indirector.Request{Indirection: "node", Verb: indirector.Save, Instance: web01Node, Terminus: "yaml"},
			words:   "No such file or directory @ dir_s_mkdir - $dir/client_yaml/node", hidden: "$dir/client_yaml does not exist; json would have created it, yaml does not", outcome: traces.Err,
		},
		{
			name: "S-30 empty file", files: map[string]string{"client_yaml/node/n1.yaml": ""},
			request: find("node", "n1", "yaml"), note: "the file is empty; YAML reads that as false", outcome: traces.Good,
		},
		{
			name: "S-37 search by name in yaml", files: map[string]string{"client_yaml/node/n1.yaml": "--- !ruby/object:Puppet::Node\nname: n1\n"},
			request: indirector.Request{Indirection: "node", Verb: indirector.Search, Key: "n1", Terminus: "yaml"},
			note:    "yaml compares with file names: search for n1.yaml, or *", outcome: traces.Good,
		},
		{
			name:    "S-38 nested fact in a search",
			request: indirector.Request{Indirection: "facts", Verb: indirector.Search, Key: "x", Terminus: "json", Options: []indirector.Option{{Name: "facts.os.family.eq", Value: "Debian"}}},
			note:    "only top-level facts can be searched; `os.family` is read as operator \"family\" of fact \"os\"", outcome: traces.Good,
		},
		{
			name: "S-49 old YAML", files: map[string]string{"client_yaml/facts/n1.yaml": "--- !ruby/object:Puppet::Node::Facts\nname: n1\nvalues: {a: b}\ntimestamp: 2012-01-01 00:00:00.5 +00:00\n"},
			request: find("facts", "n1", "yaml"),
			words:   "Could not parse YAML data for facts n1: ($dir/client_yaml/facts/n1.yaml): Tried to load unspecified class: Time",
			hidden:  "the file was written by an older Puppet: its timestamps have no quotes, and Puppet 7 and 8 refuse them", note: "the file was written by an older Puppet: its timestamps have no quotes, and Puppet 7 and 8 refuse them", outcome: traces.Err,
		},
		{
			name: "S-49 old YAML, wanted", settings: values{"yaml_read_older": "true"},
			files:   map[string]string{"client_yaml/facts/n1.yaml": "--- !ruby/object:Puppet::Node::Facts\nname: n1\nvalues: {a: b}\ntimestamp: 2012-01-01 00:00:00.5 +00:00\n"},
			request: find("facts", "n1", "yaml"), outcome: traces.Good,
		},
		{
			name: "TERM-FILE-04 empty JSON", files: map[string]string{"client_data/facts/n1.json": ""},
			request: find("facts", "n1", "json"), words: "Could not parse JSON data for facts n1: Could not intern from json: …", hidden: "the file is empty", outcome: traces.Err,
		},
		{
			name: "TERM-FILE-02 directory in place of the file", files: map[string]string{"client_data/node/n1.json/x": ""},
			request: find("node", "n1", "json"),
			words:   "Could not read JSON data for node n1: Is a directory @ io_fread - $dir/client_data/node/n1.json", hidden: "is a directory", outcome: traces.Err,
		},
		{
			name: "server mode", settings: values{"run_mode": "server"}, files: map[string]string{"server_data/node/n1.json": `{"name":"n1"}`},
			request: find("node", "n1", "json"), outcome: traces.Good,
		},
		{
			name: "unknown report processor", settings: values{"reports": "store, tagmail"},
			request: indirector.Request{Indirection: "report", Verb: indirector.Save, Instance: seeds()["report"]["web01.example.test"]},
			note:    `no report processor "tagmail"; there are store, log, http, puppetdb, sqlite and postgresql`, outcome: traces.Good,
		},
		{
			name: "a report processor fails", settings: values{"reportdir": "/dev/null"},
			request: indirector.Request{Indirection: "report", Verb: indirector.Save, Instance: seeds()["report"]["web01.example.test"]},
			outcome: traces.ErrHidden,
		},
		{
			name:    "no such key",
			request: find("data_binding", "ntp::servers", "none"), words: "nil", outcome: traces.Nil,
		},
		{
			name:    "RES-DEV-04 no device",
			request: find("facts", "n1", "network_device"), words: "undefined method `facts' for nil:NilClass", outcome: traces.Err,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, tt.settings)
			for name, content := range tt.files {
				mode := os.FileMode(0o644)
				if name == "enc" {
					mode = 0o755
				}
				h.write(t, name, content, mode)
			}
			_, err := h.Do(t.Context(), &tt.request)
			got := h.recorder.Last()
			h.checkError(t, err, tt.words, strings.ReplaceAll(tt.hidden, "$dir", h.dir))
			if want := strings.ReplaceAll(tt.note, "$dir", h.dir); want != "" && !contains(got.Notes, want) {
				t.Errorf("notes: got %q, want %q", got.Notes, want)
			}
			if got.Outcome != tt.outcome {
				t.Errorf("outcome: got %v, want %v", got.Outcome, tt.outcome)
			}
		})
	}
}

func contains(notes []traces.Remark, want string) bool {
	for _, n := range notes {
		if n.Text == want {
			return true
		}
	}
	return false
}

// checkError compares with Puppet's error, up to "…".
func (h *fixture) checkError(t *testing.T, err error, words, hidden string) {
	t.Helper()
	words, open := strings.CutSuffix(strings.ReplaceAll(words, "$dir", h.dir), "…")
	message := indirector.Message(err)
	switch {
	case words == "nil":
		if !errors.Is(err, indirector.ErrNotFound) {
			t.Errorf("error: got %v, want not found", err)
		}
		return
	case open && !strings.HasPrefix(message, words), !open && message != words:
		t.Errorf("error:\ngot  %s\nwant %s", message, words)
	}
	if hidden == "" {
		return
	}
	faults := h.recorder.Last().Faults
	if len(faults) != 1 || !strings.Contains(faults[0].Hidden, hidden) {
		t.Errorf("faults: got %+v, want one that says %q", faults, hidden)
	}
}

// TestClockSkew finds facts that have expired by a clock that is ahead. S-50.
func TestClockSkew(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	past := time.Now().Add(-90 * time.Second)
	facts := web01Facts.WithExpiration(past)
	if _, err := h.Do(t.Context(), &indirector.Request{Indirection: "facts", Verb: indirector.Save, Instance: facts, Terminus: "json"}); err != nil {
		t.Fatal(err)
	}
	resp, err := h.Do(t.Context(), &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: facts.Key(), Cache: "json"})
	if !errors.Is(err, indirector.ErrNotFound) {
		t.Errorf("got %v, %v; want the expired cache to be no answer", resp, err)
	}
	notes := h.recorder.Last().Notes
	if len(notes) != 1 || !strings.HasPrefix(notes[0].Text, "the file was written 90 s after it had expired") {
		t.Errorf("notes: %q", notes)
	}
}

// TestSpans looks at the work below the steps of a save and a find.
func TestSpans(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	h.mkdir(t, "client_yaml")
	for _, terminus := range []string{"yaml", "json"} {
		path := map[string]string{"yaml": h.dir + "/client_yaml/facts/web01.example.test.yaml", "json": h.dir + "/client_data/facts/web01.example.test.json"}[terminus]
		for _, verb := range []indirector.Verb{indirector.Save, indirector.Find} {
			req := &indirector.Request{Indirection: "facts", Verb: verb, Key: web01Facts.Name, Terminus: terminus}
			work := []traces.Kind{traces.File, traces.Codec}
			if verb == indirector.Save {
				req.Instance = web01Facts
				work = []traces.Kind{traces.Codec, traces.File}
			}
			if _, err := h.Do(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			spans := h.recorder.Last().Spans
			if len(spans) != 2 || spans[0].Kind != work[0] || spans[1].Kind != work[1] {
				t.Fatalf("%v %s: spans %+v", verb, terminus, spans)
			}
			for _, s := range spans {
				if s.Step != traces.Terminus || s.Answer == "" || s.Took == 0 {
					t.Errorf("%v %s: %+v", verb, terminus, s)
				}
				if s.Kind == traces.File && (len(s.Attrs) < 2 || s.Attrs[0] != traces.Attr{Key: "path", Value: path}) {
					t.Errorf("%v %s: attributes %+v", verb, terminus, s.Attrs)
				}
			}
		}
	}
}

// TestMergedFacts finds nodes with facts: nested requests, one warning for each
// fact that was already set, and an environment that does not change.
func TestMergedFacts(t *testing.T) {
	t.Parallel()
	h := newFixture(t, values{"external_nodes": "$dir/enc"})
	h.write(t, "enc", "#!/bin/sh\necho \"{environment: staging, classes: {ntp: {}}, parameters: {kernel: Plan9, environment: x}}\"\n", 0o755)
	facts := *web01Facts
	facts.Values = facts.Values.With("environment", web01Facts.Get("kernel"))
	if _, err := h.Do(t.Context(), &indirector.Request{Indirection: "facts", Verb: indirector.Save, Instance: &facts}); err != nil {
		t.Fatal(err)
	}
	find := func(terminus string) string {
		resp, err := h.Do(context.Background(), &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: facts.Name, Terminus: terminus})
		if err != nil {
			t.Fatal(err)
		}
		return dataOf(resp.Value)
	}
	want := `{"name"=>"web01.example.test", "environment"=>"production", "parameters"=>{"kernel"=>"Linux", "os"=>{"family"=>"Debian"}, "cpus"=>4}}`
	if got := find("plain"); got != want {
		t.Errorf("plain:\ngot  %s\nwant %s", got, want)
	}
	nested := h.recorder.All()[len(h.recorder.All())-2]
	top := h.recorder.Last()
	if nested.Parent != top.ID || len(top.Spans) != 1 || top.Spans[0].Kind != traces.Nested || top.Spans[0].Request != nested.ID {
		t.Errorf("nested request: %+v in %+v", nested, top.Spans)
	}
	want = `{"name"=>"web01.example.test", "environment"=>"staging", "classes"=>{"ntp"=>{}}, "parameters"=>{"kernel"=>"Plan9", "os"=>{"family"=>"Debian"}, "cpus"=>4}}`
	for range 2 {
		if got := find("exec"); got != want {
			t.Errorf("exec:\ngot  %s\nwant %s", got, want)
		}
	}
	for _, warning := range []string{
		"The node parameter 'kernel' for node 'web01.example.test' was already set to 'Plan9'. It could not be set to 'Linux'",
		"The node parameter 'environment' for node 'web01.example.test' was already set to 'staging'. It could not be set to 'Linux'",
	} {
		if n := strings.Count(h.logs.String(), warning); n != 1 {
			t.Errorf("%q: got it %d times, want once\n%s", warning, n, h.logs.String())
		}
	}
}

func dataOf(v any) string {
	inst, ok := v.(interface{ Data() data.Value })
	if !ok {
		return "no data"
	}
	return inst.Data().Inspect()
}

// TestFactsFail finds a node whose facts cannot be read.
func TestFactsFail(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	h.write(t, "client_data/facts/n1.json", "{", 0o644)
	h.SwapRoutes(indirector.Routes{
		"facts": {Primary: traces.Slot{{Terminus: "json"}}}, "node": {Primary: traces.Slot{{Terminus: "plain"}}},
	}, "swap")
	_, err := h.Do(t.Context(), &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: "n1"})
	h.checkError(t, err, "Could not retrieve facts for n1: Could not parse JSON data for facts n1: Could not intern from json: …", "the file has 1 bytes")
}

// A plan names the terminus to which the request would be passed on, and looks into that
// one. Rule STORE-SC-10.
func TestPlansLookBehind(t *testing.T) {
	t.Parallel()
	h := newFixture(t, values{"default_file_terminus": "file_server", "storeconfigs_backend": "memory"})
	if _, err := h.Do(t.Context(), &indirector.Request{Indirection: "facts", Verb: indirector.Save, Instance: web01Facts}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ indirection, key, terminus, want string }{
		{"file_metadata", "puppet:///modules/a/b", "selector", "terminus selector → file_server would be asked"},
		{"file_content", "/etc/motd", "selector", "terminus selector → file would be asked"},
		{"file_bucket_file", "md5/x", "selector", "terminus selector → file has nothing by that name"},
		{"facts", web01Facts.Name, "store_configs", "terminus store_configs → memory would answer"},
		{"facts", "unknown", "store_configs", "terminus store_configs → memory has nothing by that name"},
	} {
		req := &indirector.Request{Indirection: tt.indirection, Verb: indirector.Find, Key: tt.key, Terminus: tt.terminus}
		if got := h.Plan(t.Context(), req, nil); got.Why != tt.want {
			t.Errorf("%s %s: got %q, want %q", tt.indirection, tt.key, got.Why, tt.want)
		}
	}
}
