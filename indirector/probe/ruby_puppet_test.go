package probe_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/network/client/clienttest"
)

// A world is a directory in which Puppet runs, and the server that its agent asks.
type world struct {
	dir    string
	server *httptest.Server
	ssl    clienttest.Settings

	mu       sync.Mutex
	broken   bool     // catalogs fail
	requests []string // with their headers and bodies
	marked   int      // of these, that had a traceparent
}

const catalog = `{"tags":["settings"],"name":"web01","version":1,"code_id":null,"catalog_uuid":"8ebfc1d0-4c5c-4ef6-a5b1-2f4a9dbea9a8","catalog_format":2,"environment":"production",` +
	`"resources":[{"type":"Stage","title":"main","tags":["stage"],"exported":false,"kind":"compilable_type"},{"type":"Class","title":"Main","tags":["class"],"exported":false,"kind":"unknown","parameters":{"name":"main"}},` +
	`{"type":"Exec","title":"env","tags":["exec"],"exported":false,"kind":"compilable_type","parameters":{"command":"/usr/bin/env | /usr/bin/sort > DIR/agent.env"}}],"edges":[{"source":"Stage[main]","target":"Class[Main]"},{"source":"Class[Main]","target":"Exec[env]"}],"classes":["settings"]}`

const facts = "--- !ruby/object:Puppet::Node::Facts\nname: web01\nvalues:\n  kernel: Linux\n"

// plugins is a directory with nothing in it.
const plugins = `[{"path":"/plugins","relative_path":".","links":"manage","owner":0,"group":0,"mode":493,"checksum":{"type":"ctime","value":"{ctime}2026-01-02 03:04:05 +0000"},"type":"directory","destination":null}]`

// newWorld lays out the directory; where there is no puppet the test is skipped.
func newWorld(t *testing.T) *world {
	t.Helper()
	if _, err := exec.LookPath("puppet"); err != nil || testing.Short() {
		t.Skip("there is no puppet here, or no time for it")
	}
	w := &world{dir: t.TempDir()}
	authority := clienttest.New(t, "Test CA")
	w.ssl = authority.Write(t, filepath.Join(w.dir, "ssl"), authority.Issue(t, "web01"))
	w.server = clienttest.Serve(t, authority.Issue(t, "localhost", clienttest.Local), http.HandlerFunc(w.answer))
	for name, text := range map[string]string{
		"conf/puppet.conf":                      "[main]\nenvironmentpath = DIR/code\nnode_terminus = exec\nexternal_nodes = DIR/enc\n[agent]\nnode_terminus = rest\n",
		"conf/routes.yaml":                      "---\nagent:\n  facts:\n    terminus: yaml\n    cache: memory\n",
		"conf/hiera.yaml":                       "version: 5\nhierarchy: [{name: all, path: all.yaml}]\ndefaults: {datadir: DIR, data_hash: yaml_data}\n",
		"all.yaml":                              "greeting: hello\n",
		"code/production/manifests/site.pp":     "notify { 'site': }\n",
		"code/production/modules/m/files/f.txt": "content\n",
		"enc":                                   "#!/bin/sh\n/usr/bin/env | sort > DIR/enc.env\necho 'classes: {}'\n",
		"apply.pp": "file { 'DIR/made': content => 'hi' }\nfile { 'DIR/copied': source => 'puppet:///modules/m/f.txt' }\n" +
			"exec { '/usr/bin/env | /usr/bin/sort > DIR/exec.env': }\nexec { '/bin/false': }\nnotify { lookup('greeting'): }\n",
		"var/yaml/facts/web01.yaml":        facts,
		"var/client_yaml/facts/web01.yaml": facts,
	} {
		clienttest.WriteFile(t, filepath.Join(w.dir, name), []byte(strings.ReplaceAll(text, "DIR", w.dir)))
	}
	if err := os.Chmod(filepath.Join(w.dir, "enc"), 0o755); err != nil {
		t.Fatal(err)
	}
	return w
}

// answer is a server that knows a node, a catalog and no plugins.
func (w *world) answer(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	marked := r.Header.Get("Traceparent") != ""
	r.Header.Del("Traceparent")
	var headers strings.Builder
	_ = r.Header.Write(&headers)
	w.mu.Lock()
	defer w.mu.Unlock()
	if marked {
		w.marked++
	}
	w.requests = append(w.requests, fmt.Sprintf("%s %s\n%s%s", r.Method, r.URL, headers.String(), body))
	rw.Header().Set("Content-Type", "application/json")
	rw.Header().Set("X-Puppet-Version", "7.23.0")
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, "/puppet/v3/node/"):
		_, _ = io.WriteString(rw, `{"name":"web01","parameters":{},"environment":"production"}`)
	case strings.HasPrefix(path, "/puppet/v3/catalog/") && !w.broken:
		_, _ = io.WriteString(rw, strings.ReplaceAll(catalog, "DIR", w.dir))
	case strings.HasPrefix(path, "/puppet/v3/catalog/"):
		http.Error(rw, `{"message":"Server Error: no catalog today","issue_kind":"RUNTIME_ERROR"}`, http.StatusInternalServerError)
	case path == "/puppet/v3/file_metadatas/plugins":
		_, _ = io.WriteString(rw, plugins)
	case path == "/puppet/v3/file_metadata/pluginfacts":
		_, _ = io.WriteString(rw, strings.Trim(plugins, "[]"))
	case strings.HasPrefix(path, "/puppet/v3/report/"), path == "/status/v1/simple":
		_, _ = io.WriteString(rw, `[]`)
	default:
		http.Error(rw, `{"message":"Not Found: nothing here","issue_kind":"RESOURCE_NOT_FOUND"}`, http.StatusNotFound)
	}
}

// command is a command of Puppet, with the probe if there is a listener.
func (w *world) command(t *testing.T, l *listener, args ...string) *exec.Cmd {
	t.Helper()
	w.mu.Lock()
	host := w.ssl.At(t, w.server.URL)
	w.mu.Unlock()
	args = append(args, "--confdir", filepath.Join(w.dir, "conf"), "--vardir", filepath.Join(w.dir, "var"), "--publicdir", filepath.Join(w.dir, "public"), "--ssldir", w.ssl["ssldir"], "--certname", "web01",
		"--server", "localhost", "--serverport", host["serverport"], "--color=false", "--facts_terminus", "yaml", "--hiera_config", filepath.Join(w.dir, "conf/hiera.yaml"))
	cmd := exec.Command("puppet", args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "LANG=C.UTF-8", "KEPT=yes"}
	if l != nil {
		cmd.Env = append(cmd.Env, "INDIRTUI_ATTACH="+l.path, "INDIRTUI_WAIT=1", "RUBYOPT=-r"+filepath.Join(probeDir(t), "probe.rb"))
	}
	return cmd
}

// puppet runs a command of Puppet. It returns the exit code and what it printed.
func (w *world) puppet(t *testing.T, l *listener, args ...string) (int, string) {
	t.Helper()
	cmd := w.command(t, l, args...)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// all runs every command once and returns what each left behind.
func (w *world) all(t *testing.T, l *listener) string {
	t.Helper()
	var b strings.Builder
	run := func(args ...string) {
		exit, out := w.puppet(t, l, args...)
		fmt.Fprintf(&b, "puppet %s: exit %d\n%s\n", args[0], exit, out)
	}
	w.requests, w.broken = nil, false
	run("apply", filepath.Join(w.dir, "apply.pp"), "--detailed-exitcodes")
	run("lookup", "greeting", "--node", "web01")
	run("facts", "find", "web01", "--terminus", "yaml")
	agent := []string{"agent", "--onetime", "--no-daemonize", "--verbose", "--detailed-exitcodes", "--no-usecacheonfailure"}
	agent[5] = "--usecacheonfailure"
	run(agent...)
	w.broken = true
	run(agent...)
	b.WriteString("requests:\n" + strings.Join(w.requests, "\n\n") + "\nfiles:\n")
	_ = filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s:\n%s\n", path, text)
		return nil
	})
	return steady(b.String())
}

var changing = []*regexp.Regexp{
	regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d[:-]?\d\d[:-]?\d\d(\.\d+)?( ?[+-]\d\d:?\d\d| UTC|Z)?`),
	regexp.MustCompile(`expiration%2522%253A[^&]*?%257D`), // of facts in the body of a request
	regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`),
	regexp.MustCompile(`\d+\.\d+(e-\d+)?`),
	regexp.MustCompile(`\b\d{10,}\b`),
	regexp.MustCompile(`\d{12}\.yaml`),
	regexp.MustCompile(`(?m)^.*(config_retrieval|catalog_application|Total|startup_time|Content-Length).*$`),
}

// steady takes out what is another at each run: times, numbers of runs.
func steady(s string) string {
	for _, r := range changing {
		s = r.ReplaceAllString(s, "*")
	}
	s = strings.ReplaceAll(s, "'*'", "*") // YAML quotes those that look like numbers
	return s
}

// What Puppet prints, sends, writes and exits with is the same with the probe.
func TestRubyChangesNothing(t *testing.T) {
	t.Parallel()
	var results []string
	l := listenHere(t, &listener{})
	w := newWorld(t)
	initial := copyTree(t, w.dir)
	for _, with := range []*listener{nil, l} {
		if err := os.RemoveAll(w.dir); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(w.dir, os.DirFS(initial)); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(w.dir, "enc"), 0o755); err != nil {
			t.Fatal(err)
		}
		results = append(results, w.all(t, with))
	}
	l.check(t, 5)
	if d := cmp.Diff(strings.Split(results[0], "\n"), strings.Split(results[1], "\n")); d != "" {
		t.Errorf("without and with the probe: -without +with\n%s", d)
	}
	for _, want := range []string{"exec.env", "enc.env", "agent.env", "KEPT=yes", "exit 6", "exit 0", "GET /puppet/v3/node/web01"} {
		if !strings.Contains(results[0], want) {
			t.Errorf("nothing was tried: there is no %q in\n%s", want, results[0])
		}
	}
	if strings.Contains(results[1], "INDIRTUI") || strings.Contains(results[1], "RUBYOPT") {
		t.Error("what started the probe was inherited")
	}

	t.Run("the agent's failure and its old catalog", func(t *testing.T) {
		var found []string
		for _, m := range l.all("trace") {
			if m.text("ind") == "catalog" && m.text("app") == "agent" {
				found = append(found, fmt.Sprintf("%s %v %s", m.text("out"), m.of["flags"], m.text("fault")))
			}
		}
		failed := slices.IndexFunc(found, func(s string) bool { return strings.HasPrefix(s, "err ") && strings.Contains(s, "no catalog today") })
		if failed < 0 || failed+1 >= len(found) || !strings.HasPrefix(found[failed+1], "hit [ignore_terminus]") {
			t.Errorf("got %q, want an error and then a hit", found)
		}
	})

	t.Run("its 404", func(t *testing.T) {
		i := slices.IndexFunc(l.all("trace"), func(m message) bool { return strings.Contains(m.text("key"), "pluginfacts") })
		if i < 0 {
			t.Fatal("pluginfacts were not searched")
		}
		m := l.all("trace")[i]
		if m.text("out") != "nil!" || !strings.HasPrefix(m.step("terminus"), "nil nil-from-404(the server answered 404 Not Found") || !strings.Contains(m.raw, `"is":"404 Not Found"`) {
			t.Error(m.raw)
		}
	})

	t.Run("who set the termini", func(t *testing.T) {
		routes := map[string]bool{}
		for _, m := range l.all("route") {
			for _, slot := range []string{"primary", "caches"} {
				for _, c := range m.of[slot].([]any) {
					c := c.(map[string]any)
					routes[fmt.Sprintf("%s %s %s: %s, %s", m.text("ind"), slot, c["terminus"], c["by"], regexp.MustCompile(`rb:\d+`).ReplaceAllString(c["place"].(string), "rb:N"))] = true
				}
			}
		}
		for _, want := range []string{
			"node primary exec: setting, setting node_terminus, puppet.conf:3 [main]",
			"facts primary yaml: routes file, routes.yaml:4",
			"facts caches memory: routes file, routes.yaml:5",
			"facts primary yaml: setting, setting facts_terminus, command line",
			"facts primary yaml: face, facts find, puppet/indirector/face.rb:N",
			"catalog primary rest: application, puppet/application/agent.rb:N",
			"catalog caches json: application, puppet/application/agent.rb:N",
			"report primary processor: default in code, puppet/transaction/report.rb:N",
			"report caches yaml: application, puppet/application/apply.rb:N",
			"file_metadata primary selector: default in code, puppet/file_serving/metadata.rb:N",
		} {
			if !routes[want] {
				t.Errorf("there is no %q", want)
			}
		}
		if t.Failed() {
			for r := range routes {
				t.Log(r)
			}
		}
	})
}

// The header by which servers are joined is sent with each request, and with none if that
// is not wanted.
func TestRubyTraceparent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		env  string
		all  bool
	}{
		{"with", "INDIRTUI_TRACEPARENT=", true},
		{"without", "INDIRTUI_TRACEPARENT=no", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			l := listenHere(t, &listener{})
			cmd := w.command(t, l, "agent", "--onetime", "--no-daemonize")
			cmd.Env = append(cmd.Env, tt.env)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			l.check(t, 1)
			want := 0
			if tt.all {
				want = len(w.requests)
			}
			if w.marked != want || len(w.requests) < 5 {
				t.Errorf("%d of %d requests had the header, want %d", w.marked, len(w.requests), want)
			}
		})
	}
}

func copyTree(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}
