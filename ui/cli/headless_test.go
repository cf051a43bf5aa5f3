package cli_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"indirtui/termini"
	"indirtui/traces"
	"indirtui/ui/cli"
)

// indirtui runs a command line in this process.
func indirtui(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = cli.Main(args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &err}, termini.Specs(), termini.All())
	return code, out.String(), err.String()
}

// What the commands print as JSON is as their schemas have it.
func TestSchemas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rec := filepath.Join(dir, "rec.jsonl")
	if err := os.WriteFile(rec, []byte(recorded), 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other.jsonl")
	if err := os.WriteFile(other, []byte(strings.Replace(recorded, `"out":"stale"`, `"out":"hit"`, 1)+`{"trace":4,"t":"2025-11-20T14:00:04Z","verb":"find","ind":"node","key":"n1","out":"nil","served":"none","steps":[]}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("break do hold once\nfind facts web01.example.com\nhold\ncontinue\nexpect out=nothing\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	facts := filepath.Join(dir, "client_data", "facts", "n1.json")
	if err := os.MkdirAll(filepath.Dir(facts), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(facts, []byte(`{"name":"n1","values":{"kernel":"Linux"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	live := filepath.Join(dir, "live.jsonl")
	ask := filepath.Join(dir, "ask")
	if err := os.WriteFile(ask, []byte("find facts n1 terminus=json\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, problem := indirtui("run", ask, "--record", live, "--confdir", dir, "--vardir", dir); code != 0 {
		t.Fatal(problem)
	}
	nodes := t.TempDir()
	writePuppetDB(t, nodes, nodes)
	if code, _, problem := indirtui("save", "facts", "n1", "terminus=sqlite", "--file", facts, "--confdir", dir, "--vardir", dir); code != 0 {
		t.Fatal(problem)
	}
	tested := make(map[string]bool)
	for _, tt := range []struct {
		name   string
		schema string
		args   []string
		lines  bool // each line is a document of its own
	}{
		{"check", "check", []string{"check", "-r", rec, "-e", "count(hidden) = 0", "-e", "none(ind=nothing)", "--format", "json"}, false},
		{"recordings", "diff", []string{"diff", rec, other, "--format", "json"}, false},
		{"requests", "diff", []string{"diff", rec + "#1", other + "#2", "--format", "json", "--ignore", ".x"}, false},
		{"run", "run", []string{"run", script, "--demo", "--format", "json"}, true},
		{"replay", "replay", []string{"replay", "-r", rec, "--dry", "--format", "json", "--confdir", dir, "--vardir", dir}, false},
		{"replay of values", "replay", []string{"replay", "-r", live, "--format", "json", "--confdir", dir, "--vardir", dir, "--strict"}, false},
		{"jsonl", "jsonl", []string{"export", "-r", rec, "--format", "jsonl"}, true},
		{"har", "har", []string{"export", "-r", rec, "--format", "har"}, false},
		{"har of nothing", "har", []string{"export", "-r", rec, "--format", "har", "ind=nothing"}, false},
		{"routes", "routes", []string{"routes", "--json", "--confdir", dir, "--vardir", dir}, false},
		{"termini", "termini", []string{"termini", "--json"}, false},
		{"no termini", "termini", []string{"termini", "--json", "key"}, false},
		{"settings", "settings", []string{"settings", "--json", "--all", "--confdir", dir, "--vardir", dir}, false},
		{"config", "config", []string{"config", "--json", "--theme", "dark"}, false},
		{"settings that nobody set", "settings", []string{"settings", "--json", "--confdir", dir, "--vardir", dir}, false},
		{"parse", "parse", []string{"parse", "testdata/parse", "--format", "json", "--tree"}, false},
		{"check-types", "check-types", []string{"check-types", "--json", "--modulepath", "testdata/types"}, false},
		{"describe", "describe", []string{"describe", "file", "package", "cron", "--format", "json", "--confdir", dir, "--vardir", dir}, false},
		{"compile", "compile", []string{"compile", "n1", "-e", "notify { 'a': message => 'b' }", "--against", "json", "--format", "json", "--confdir", dir, "--vardir", dir, "--set", "codedir=testdata/compile"}, false},
		{"compile fails", "compile", []string{"compile", "n1", "-e", "class a { include b } include a", "--format", "json", "--confdir", dir, "--vardir", dir, "--set", "codedir=testdata/compile"}, false},
		{"why", "why", []string{"why", "n1", "Class[Ntp]", "--format", "json", "--confdir", dir, "--vardir", dir, "--set", "codedir=testdata/compile"}, false},
		{"plan", "plan", []string{"plan", "testdata/graph/plan.json", "--format", "json", "--confdir", dir, "--vardir", dir}, false},
		{"plans", "diff", []string{"plan", "testdata/graph/plan.json", "--against", "testdata/graph/catalog.json", "--format", "json", "--confdir", dir, "--vardir", dir}, false},
		{"graph", "graph", []string{"graph", "testdata/graph/catalog.json", "--format", "json"}, false},
		{"graph of a resource", "graph", []string{"graph", "testdata/graph/catalog.json", "Notify[second]", "--format", "json"}, false},
		{"graph with cycles", "graph", []string{"graph", "testdata/graph/cycle.json", "--format", "json"}, false},
		{"cache", "cache", []string{"cache", "--json", "--confdir", dir, "--vardir", dir}, false},
		{"node status", "node", []string{"node", "status", "n1", "--json", "--confdir", nodes, "--vardir", dir}, false},
		{"node deactivate", "node", []string{"node", "deactivate", "n2", "--json", "--confdir", nodes, "--vardir", dir}, false},
		{"stores", "stores", []string{"stores", "--json", "--confdir", dir, "--vardir", dir}, false},
		{"stores check", "stores-check", []string{"stores", "check", "--json", "--confdir", dir, "--vardir", dir}, false},
		{"device", "device", []string{"device", "--json", "--confdir", dir, "--vardir", dir, "--set", "deviceconfig=testdata/device.conf"}, false},
		{"demo", "demo", []string{"demo", "--list", "--json"}, false},
		{"trace", "trace", []string{"find", "facts", "n1", "terminus=json", "--trace", "json", "--confdir", dir, "--vardir", dir}, false},
		{"trace of a compile", "trace", []string{"find", "catalog", "n1", "terminus=compiler", "--application", "server", "--trace", "json", "--confdir", dir, "--vardir", dir, "--set", "codedir=testdata/compile"}, false},
		{"trace of nothing", "trace", []string{"find", "facts", "n2", "terminus=json", "--trace", "json", "--confdir", dir, "--vardir", dir}, false},
	} {
		tested[tt.schema] = true
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, text, _ := indirtui("schema", tt.schema)
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			c := jsonschema.NewCompiler()
			c.AssertFormat()
			if err := c.AddResource("schema.json", doc); err != nil {
				t.Fatal(err)
			}
			schema, err := c.Compile("schema.json")
			if err != nil {
				t.Fatal(err)
			}
			_, out, problem := indirtui(tt.args...)
			documents := []string{out}
			if tt.schema == "trace" { // what is found comes from standard output
				documents[0] = problem
			}
			if tt.lines {
				documents = strings.Split(strings.TrimSpace(out), "\n")
			}
			if len(documents) == 0 || documents[0] == "" {
				t.Fatalf("nothing was printed: %s", problem)
			}
			for _, d := range documents {
				v, err := jsonschema.UnmarshalJSON(strings.NewReader(d))
				if err != nil {
					t.Fatalf("%v: %s", err, d)
				}
				if err := schema.Validate(v); err != nil {
					t.Errorf("%v\n%s", err, d)
				}
			}
		})
	}
	tested["attach"] = true // by TestAttachSchema
	files, err := filepath.Glob("schema/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("schemas: %q, %v", files, err)
	}
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".json"); !tested[name] {
			t.Errorf("nothing is held against the schema %s", name)
		}
	}
}

// Scripts go by the exit codes.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rec, broken, ask := filepath.Join(dir, "rec.jsonl"), filepath.Join(dir, "broken.jsonl"), filepath.Join(dir, "ask")
	for path, text := range map[string]string{rec: recorded, broken: "no recording\n", ask: "find facts nobody\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	nil1 := filepath.Join(dir, "nil.jsonl")
	site := []string{"--confdir", dir, "--vardir", dir, "--set", "facts_terminus=json"}
	if code, _, output := indirtui(append([]string{"run", ask, "--record", nil1}, site...)...); code != 0 {
		t.Fatal(output)
	}
	for _, tt := range []struct {
		want int
		args []string
	}{
		{0, []string{"check", "-r", rec, "-e", "none(ind=nothing)"}},
		{1, []string{"check", "-r", rec, "-e", "count(hidden) = 0"}},
		{2, []string{"check", "-r", rec, "-e", "count("}},
		{2, []string{"check", "-r", rec, "-e", "none(ind=nothing)", "--format", "xml"}},
		{3, []string{"check", "-r", filepath.Join(dir, "gone"), "-e", "none(ind=nothing)"}},
		{3, []string{"check", "-r", broken, "-e", "none(ind=nothing)"}},
		{0, []string{"diff", rec, rec}},
		{1, []string{"diff", rec, nil1}},
		{1, []string{"diff", rec, nil1, "--format", "json"}},
		{2, []string{"diff", rec}},
		{3, []string{"diff", rec, filepath.Join(dir, "gone")}},
		{3, []string{"diff", broken, rec}},
		{0, append([]string{"replay", "-r", nil1}, site...)},
		{0, append([]string{"replay", "-r", nil1, "--format", "json"}, site...)},
		{1, append([]string{"replay", "-r", nil1, "--route", "facts=fault(json, broken)", "--format", "json"}, site...)},
		{2, []string{"replay", "-r", nil1, "--format", "xml"}},
		{2, []string{"replay", "-r", nil1, "--expr", "("}},
		{3, append([]string{"replay", "-r", filepath.Join(dir, "gone")}, site...)},
		{3, []string{"replay", "-r", broken}},
		{0, []string{"export", "-r", rec, "--format", "csv"}},
		{2, []string{"export", "-r", rec, "--format", "xml"}},
		{3, []string{"story", "-r", broken}},
		{0, []string{"schema", "replay"}},
		{2, []string{"schema", "nothing"}},
	} {
		if code, _, output := indirtui(tt.args...); code != tt.want {
			t.Errorf("%s: exit code %d, want %d; %s", strings.Join(tt.args, " "), code, tt.want, output)
		}
	}
}

// recorded is a recording that has everything.
const recorded = `{"indirtui":1,"started":"2025-11-20T14:00:00Z","source":"in process"}
{"body":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","format":"json","text":"{}"}
{"trace":1,"t":"2025-11-20T14:00:01Z","took":40000000,"verb":"find","ind":"catalog","key":"web01","env":"production","run":"8f3c","caller":"agent","out":"err","served":"none","flags":["ignore_cache"],"terminus":"rest","cache":"json","setby":"application","csetby":"setting","origin":"network","fault":"no role","size":7,"steps":[{"step":"terminus","is":"raised","why":"raised","about":"no role","at":4000000,"took":30000000}],"app":"agent","idle":["fail_on_404"],"options":[{"name":"a","value":"b"}],"primary":[{"terminus":"rest","by":"application","place":"application agent","note":"n","setting":"s","symbol":true,"t":"2025-11-20T14:00:00Z"}],"caches":[{"terminus":"json","by":"setting","not":"why"}],"spans":[{"id":1,"step":"terminus","kind":"network","name":"POST https://puppet:8140/x","is":"500","at":5,"took":2,"attrs":[{"name":"a","value":"b"}],"err":"e"}],"faults":[{"origin":"network","step":"terminus","message":"no role","hidden":"h","shown":true,"soft":true,"path":"p"}],"notes":["password: hunter2"],"value":{"model":"catalog","format":"json","size":2,"digest":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","masked":1,"source":"s"},"origins":{"model":"origins","format":"json","size":2,"digest":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},"named":"other","error":"no role"}
{"trace":2,"t":"2025-11-20T14:00:02Z","took":1000000,"verb":"find","ind":"catalog","key":"web01","run":"8f3c","parent":1,"prev":1,"replay":true,"good":1,"out":"stale","served":"cache","cwritten":true,"steps":[],"pstep":"terminus","failed":1}
{"trace":3,"t":"2025-11-20T14:00:03Z","verb":"save","ind":"facts","key":"web01","out":"ok","served":"none","lost":true,"steps":[]}
{"mark":2,"as":"a"}
{"comment":2,"text":"look here","t":"2025-11-20T15:00:00Z"}
`

// Every command that asks sends what it asks to a collector, if one is named.
func TestSendsToACollector(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var got []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		var in collector.ExportTraceServiceRequest
		if err := proto.Unmarshal(b, &in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		for _, rs := range in.GetResourceSpans() {
			for _, ss := range rs.GetScopeSpans() {
				for _, s := range ss.GetSpans() {
					got = append(got, s.GetName())
				}
			}
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	defer srv.Close()
	dir := t.TempDir()
	find := func(url string) (int, string) {
		code, _, stderr := indirtui("find", "facts", "n1", "terminus=memory", "--confdir", dir, "--vardir", dir, "--trace", "none", "--otlp", url)
		return code, stderr
	}
	if code, stderr := find(srv.URL); code != 3 || stderr != "" {
		t.Errorf("got %d, %q", code, stderr)
	}
	mu.Lock()
	if len(got) == 0 || got[0] != "find facts" {
		t.Errorf("received %q", got)
	}
	mu.Unlock()
	// A collector that refuses costs nothing but a line.
	bad := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) }))
	defer bad.Close()
	if code, stderr := find(bad.URL); code != 3 || !strings.Contains(stderr, "OTLP: sent 0, dropped 1: ") {
		t.Errorf("got %d, %q", code, stderr)
	}
}

// What comes by itself and what is asked for has nothing in it that a terminal
// obeys, whatever a recording holds.
func TestPlainIsSafe(t *testing.T) {
	t.Parallel()
	rec := filepath.Join(t.TempDir(), "rec.jsonl")
	const bad = `\u001b[31mb\u202ec\u200dd\u009be`
	text := `{"indirtui":1,"started":"2025-11-20T14:00:00Z"}
{"trace":1,"t":"2025-11-20T14:00:01Z","verb":"find","ind":"` + bad + `","key":"` + bad + `","run":"` + bad + `","out":"err","served":"none","terminus":"` + bad + `","steps":[{"step":"terminus","is":"raised","about":"` + bad + `"}],"primary":[{"terminus":"` + bad + `","place":"` + bad + `"}],"spans":[{"id":1,"step":"terminus","kind":"file","name":"` + bad + `","attrs":[{"name":"` + bad + `","value":"` + bad + `"}]}],"faults":[{"origin":"` + bad + `","step":"terminus","message":"` + bad + `","hidden":"` + bad + `"}],"notes":["` + bad + `"],"error":"` + bad + `"}
{"comment":1,"text":"` + bad + `","t":"2025-11-20T14:00:01Z"}
{"event":"` + bad + `","t":"2025-11-20T14:00:01Z"}
`
	if err := os.WriteFile(rec, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, err bytes.Buffer
	commands := "show requests\nshow failures\nshow steps 1\nshow value 1\nshow log\nstory\ncheck count() = 0\n\x1b[31m\nfilter \x1b\n"
	if code := cli.Main([]string{"open", rec, "--plain"}, cli.Streams{In: strings.NewReader(commands), Out: &out, Err: &err}, termini.Specs(), termini.All()); code != 0 {
		t.Errorf("it ended with %d: %s", code, err.String())
	}
	texts := []string{out.String(), err.String()}
	for _, args := range [][]string{
		{"story", "-r", rec},
		{"check", "-r", rec, "-e", "none()"},
		{"check", "-r", rec, "-e", "none()", "--format", "json"},
		{"diff", rec + "#1", rec + "#1"},
		{"diff", rec, rec, "--format", "json"},
		{"export", "-r", rec, "-f", "csv"},
		{"export", "-r", rec, "-f", "jsonl"},
		{"export", "-r", rec, "-f", "otlp"},
		{"export", "-r", rec, "-f", "har"},
	} {
		_, stdout, stderr := indirtui(args...)
		texts = append(texts, stdout, stderr)
	}
	seen := 0
	for _, text := range texts {
		seen += strings.Count(text, "202e")
		for _, r := range text {
			if r != '\n' && r != '\r' && !traces.Shows(r) {
				t.Fatalf("%q is in %q", r, text)
			}
		}
	}
	if seen < 50 {
		t.Errorf("the escapes were seen %d times only", seen)
	}
}
