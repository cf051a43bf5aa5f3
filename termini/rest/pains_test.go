package rest_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/host/child"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client/clienttest"
	"indirtui/indirector/network/rest"
	"indirtui/termini"
	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/traces/store"
)

// A pain is a situation of the wire in which Puppet hides the cause.
type pain struct {
	name   string // "P26 an empty catalog": the pain, and what is the matter
	answer http.HandlerFunc
	set    []string // settings; $GOOD is the address of the server
	ask    []op     // the last is the subject
	first  []string // parts of its first line
	// outcome and answered are those of the headline.
	outcome  traces.Outcome
	answered string
	filter   string // that finds it; may be ""
}

const failed, byServer = "nobody (error)", "terminus rest"

// speak answers with that status, type and body, whatever is asked.
func respond(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{kind}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// byIndirection answers each indirection in its own way; others get a 404.
func byIndirection(answers map[string]http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/puppet/v3/"), "/")
		if answer := answers[parts[0]]; answer != nil {
			answer(w, r)
			return
		}
		respond(http.StatusNotFound, jsonUTF8, document("Not Found: no "+parts[0], "RESOURCE_NOT_FOUND"))(w, r)
	}
}

func nodeIn(environment string) http.HandlerFunc {
	return respond(http.StatusOK, jsonUTF8, fmt.Sprintf(`{"name":"web01","environment":%q}`, environment))
}

func catalogIn(environment, resources string) http.HandlerFunc {
	return respond(http.StatusOK, jsonUTF8, fmt.Sprintf(
		`{"name":"web01","version":1,"environment":%q,"resources":[%s],"edges":[],"classes":[]}`, environment, resources))
}

// pains are those that a handler can cause.
func pains(t *testing.T) []pain {
	t.Helper()
	const motd = `{"type":"File","title":"/etc/motd","tags":["file"],"exported":false}`
	node, catalog := op{indirection: "node", verb: "find", key: "web01"}, op{indirection: "catalog", verb: "find", key: "web01"}
	report := op{indirection: "report", verb: "save", key: "web01", instance: &model.Report{Host: "web01"}}
	facts := op{indirection: "facts", verb: "save", key: "web01", instance: &model.Facts{Name: "web01"}}
	search := op{indirection: "file_metadata", verb: "search", key: "plugins"}
	in := func(o op, environment string) op {
		o.environment = environment
		return o
	}
	forbidden := func(w http.ResponseWriter, r *http.Request) {
		respond(http.StatusForbidden, "text/plain", fmt.Sprintf("Forbidden request: %s (method :%s). Please see the server logs for details.", r.URL.Path, strings.ToLower(r.Method)))(w, r)
	}
	noRule := "answered 403 Forbidden to CN=web01: a rule of its auth.conf says so"
	later := 0
	return []pain{
		{
			name: "P24 the ENC names an environment that is not there",
			answer: byIndirection(map[string]http.HandlerFunc{
				"node": nodeIn("qa2"), "catalog": respond(http.StatusNotFound, jsonUTF8, document("Not Found: Could not find environment 'qa2'", "RUNTIME_ERROR")),
			}),
			ask:   []op{in(node, "qa2"), in(catalog, "qa2")},
			first: []string{"has no environment 'qa2' (404)"}, outcome: traces.NilHidden, answered: "nobody",
		},
		{
			name: "P24 the node lands in production", answer: nodeIn("production"), ask: []op{in(node, "qa2")},
			first: []string{"asked for environment qa2", "but the server puts the node into production, and that counts"}, outcome: traces.Good, answered: byServer,
		},
		{
			name: "P25 --environment has no effect", answer: nodeIn("tests"), ask: []op{node},
			first: []string{"asked for environment production", "but the server puts the node into tests, and that counts"}, outcome: traces.Good, answered: byServer,
		},
		{
			name: "P25 the catalog is of another environment", answer: catalogIn("tests", motd), ask: []op{catalog},
			first: []string{"asked for environment production, but the catalog is of tests"}, outcome: traces.Good, answered: byServer, filter: "env_mismatch",
		},
		{
			name: "P26 an empty catalog, and nothing failed", answer: catalogIn("tests", ""), ask: []op{catalog},
			first: []string{"the catalog is of tests and empty", "the agent asks again in that environment"}, outcome: traces.Good, answered: byServer,
		},
		{
			name: "P27 facts under the wrong environment",
			answer: byIndirection(map[string]http.HandlerFunc{
				"catalog": catalogIn("tests", motd), "facts": respond(http.StatusOK, jsonUTF8, ""),
			}),
			ask:   []op{in(catalog, "tests"), facts},
			first: []string{"stored under environment production, but the last catalog of web01 was asked for in environment tests (#1)"}, outcome: traces.Good, answered: byServer,
		},
		{
			name: "P28 the proxy answers 404", answer: respond(http.StatusNotFound, "text/html", html), ask: []op{node},
			first: []string{"answered 404, but not as Puppet does: a proxy or another web server is in the way"}, outcome: traces.NilHidden, answered: "nobody",
		},
		{
			name: "P29 a directory without files", answer: respond(http.StatusOK, jsonUTF8, "[]"), ask: []op{search},
			first: []string{"answered 200 with an empty list: it was found, and nothing is in it"}, outcome: traces.Good, answered: byServer,
		},
		{
			name: "P29 no such mount", answer: respond(http.StatusNotFound, jsonUTF8, document("Not Found: Could not find file_metadata plugins", "RESOURCE_NOT_FOUND")), ask: []op{search},
			first: []string{"Puppet takes this for an empty list", "has no file_metadata plugins: 404"}, outcome: traces.Good, answered: byServer,
		},
		{
			name: "P38 typed values become text", answer: catalogIn("production", motd), ask: []op{catalog},
			first: []string{"the server sent the catalog as application/json, which holds no types"}, outcome: traces.Good, answered: byServer, filter: "lossy fmt=json not env_mismatch",
		},
		{
			name: "P30 error 500 on the server", ask: []op{catalog},
			answer: respond(http.StatusInternalServerError, jsonUTF8, document("Server Error: Evaluation Error: Unknown variable: 'role' (file: /code/site.pp, line: 12) on node web01", "RUNTIME_ERROR")),
			first:  []string{"Unknown variable 'role', site.pp line 12", "setting server"}, outcome: traces.Err, answered: failed,
		},
		{
			name: "P30 error 502 of a proxy", answer: respond(http.StatusBadGateway, "text/html", "<html>Bad Gateway</html>"), ask: []op{catalog},
			first: []string{"answered 502 Bad Gateway in HTML", "a proxy or another web server is in the way"}, outcome: traces.Err, answered: failed,
		},
		{
			name: "P30 a login page", answer: respond(http.StatusOK, "text/html", "<html>Please log in</html>"), ask: []op{catalog},
			first: []string{"text/html is not a format of Puppet", "a proxy or another web server is in the way", "Please log in"}, outcome: traces.Err, answered: failed,
		},
		{name: "P31 403 on the node", answer: forbidden, ask: []op{node}, first: []string{noRule}, outcome: traces.Err, answered: failed},
		{name: "P31 403 on the catalog", answer: forbidden, ask: []op{catalog}, first: []string{noRule}, outcome: traces.Err, answered: failed},
		{name: "P31 403 on the report", answer: forbidden, ask: []op{report}, first: []string{noRule}, outcome: traces.Err, answered: failed},
		{
			name: "P32 facts upload is refused", answer: forbidden, ask: []op{facts},
			first: []string{noRule, "needs a rule for PUT of /puppet/v3/facts/web01"}, outcome: traces.Err, answered: failed,
		},
		{
			name: "P34 the second of a list", answer: serveNode, set: []string{"server_list", "127.0.0.1:1,$GOOD"}, ask: []op{node},
			first: []string{"setting server_list (test), 2 of 2 answered after 127.0.0.1:1", "nobody listens at 127.0.0.1:1"}, outcome: traces.Good, answered: byServer,
		},
		{
			name: "P34 none of a list", answer: respond(http.StatusServiceUnavailable, "text/plain", "starting"), set: []string{"server_list", "127.0.0.1:1,$GOOD"}, ask: []op{node},
			first: []string{"1 of 2: nobody listens at 127.0.0.1:1", "2 of 2: ", "answered 503 Service Unavailable"}, outcome: traces.Err, answered: failed,
		},
		{
			name: "P34 somebody else answers after a redirect", ask: []op{node},
			answer: func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.Host, "127.0.0.1") {
					http.Redirect(w, r, "https://localhost:"+r.Host[strings.LastIndexByte(r.Host, ':')+1:]+r.URL.Path, http.StatusFound)
					return
				}
				respond(http.StatusInternalServerError, jsonUTF8, document("Error 500: out of memory", "RUNTIME_ERROR"))(w, r)
			},
			first: []string{"Error 500: out of memory", "localhost:", ", redirected by 127.0.0.1:", " answered 500"}, outcome: traces.Err, answered: failed,
		},
		{
			name: "P34 the server asks for patience", ask: []op{node},
			answer: func(w http.ResponseWriter, r *http.Request) {
				if later++; later == 1 {
					w.Header().Set("Retry-After", "0")
					respond(http.StatusServiceUnavailable, "text/plain", "busy")(w, r)
					return
				}
				serveNode(w, r)
			},
			first: []string{"answered 503 Service Unavailable with Retry-After: 0, so it is asked again after 0 s"}, outcome: traces.Good, answered: byServer,
		},
		{
			name: "P34 a proxy that nobody remembers", answer: serveNode, ask: []op{node},
			set:   []string{"http_proxy_host", "127.0.0.1", "http_proxy_port", "1", "no_proxy", "none"},
			first: []string{"by the proxy 127.0.0.1:1", "nobody listens at 127.0.0.1:1"}, outcome: traces.Err, answered: failed,
		},
	}
}

// traceOf returns the trace of a request of a store.
func traceOf(t *testing.T, s *store.Store, id uint64) *traces.Trace {
	t.Helper()
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	trace, err := s.Trace(id)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// recording is an Indirector with a store, as in the program.
func recording(t *testing.T, settings clienttest.Settings) (*indirector.Indirector, *store.Store) {
	t.Helper()
	s, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return indirectorOf(t, settings, s, io.Discard), s
}

// TestPains has causes that Puppet hides, which the first line must name. Pains
// P24 to P34, and P38.
func TestPains(t *testing.T) {
	t.Parallel()
	for _, p := range pains(t) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			ca := clienttest.New(t, "Puppet CA")
			server := clienttest.Serve(t, ca.Issue(t, "puppet", clienttest.Local), p.answer)
			settings := ca.Write(t, t.TempDir(), ca.Issue(t, "web01")).At(t, server.URL)
			for i := 0; i+1 < len(p.set); i += 2 {
				settings = settings.With(p.set[i], strings.ReplaceAll(p.set[i+1], "$GOOD", strings.TrimPrefix(server.URL, "https://")))
			}
			x, s := recording(t, settings)
			for _, o := range p.ask {
				_, _ = x.Do(t.Context(), o.request()) // what the caller gets is tested elsewhere
			}
			trace := traceOf(t, s, uint64(len(p.ask)))
			story := traces.Story(trace)
			for _, want := range p.first {
				if !strings.Contains(story, want) {
					t.Errorf("the first line is %q, and does not say %q", story, want)
				}
			}
			if strings.Contains(story, "\n") {
				t.Errorf("the first line has more than one: %q", story)
			}
			if x, err := query.Parse(p.filter); err != nil || !x.Match(query.Of(trace)) {
				t.Errorf("%q does not find it: %v", p.filter, err)
			}
			if head := traces.HeadlineOf(trace); trace.Outcome != p.outcome || head.Answered != p.answered || !strings.HasPrefix(head.Asked, "terminus rest: ") {
				t.Errorf("got %v, %+v", trace.Outcome, head)
			}
		})
	}
}

// TestPainsOfConnections are those below HTTP: the first line has the cause of
// every fault. Pains P33 and P34.
func TestPainsOfConnections(t *testing.T) {
	t.Parallel()
	list, settings := faults(t)
	for _, f := range list {
		if f.want == "" {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			with := settings.With()
			if f.address != "" {
				with = with.At(t, f.address)
			}
			for k, v := range f.set {
				with[k] = v
			}
			h := newEngine(t, with)
			o := op{indirection: "node", verb: "find", key: "web01"}
			_, _ = h.Do(t.Context(), o.request())
			if story := traces.Story(h.recorder.last(t)); !strings.Contains(story, f.want) {
				t.Errorf("the first line is %q, and does not say %q", story, f.want)
			}
		})
	}
}

// TestPainsOfClassifiers has a server with a failing classifier: the first line
// of the server's own trace has the cause, which its answer does not, and that
// of the client has the server's message. Pains P22 and P23.
func TestPainsOfClassifiers(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("classifiers are shell scripts here: ", err)
	}
	for _, tt := range []struct {
		name, script   string
		mode           os.FileMode
		status         int
		server, client []string // parts of the first lines
	}{
		{
			name: "P22 a classifier that prints nothing", script: "echo", mode: 0o755, status: http.StatusNotFound,
			server: []string{"printed nothing"}, client: []string{"has no node web01: 404"},
		},
		{
			name: "P23 a classifier that fails", script: "echo why it fails >&2; exit 3", mode: 0o755, status: http.StatusInternalServerError,
			server: []string{"exit 3", "why it fails"}, client: []string{"Error 500: the classifier failed (exit 3)"},
		},
		{
			name: "P23 a classifier that may not be run", script: "echo", mode: 0o644, status: http.StatusInternalServerError,
			server: []string{"permission denied"}, client: []string{"Error 500: the classifier failed (exit 1)"},
		},
		{
			name: "P23 a classifier that prints no YAML", script: "echo 'classes: ['", mode: 0o755, status: http.StatusInternalServerError,
			server: []string{"in line 2, column 1", "stdout: classes: ["}, client: []string{"Error 500: the classifier printed no YAML"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			enc := filepath.Join(dir, "enc")
			if err := errors.Join(child.WriteFile(enc, []byte("#!/bin/sh\n"+tt.script+"\n"), tt.mode), os.MkdirAll(filepath.Join(dir, "environments/production"), 0o755)); err != nil {
				t.Fatal(err)
			}
			write := os.WriteFile(filepath.Join(dir, "puppet.conf"), []byte("[server]\nnode_terminus = exec\nexternal_nodes = "+enc+"\nenvironmentpath = "+dir+"/environments\n"), 0o644)
			if write != nil {
				t.Fatal(write)
			}
			e, err := engine.New(engine.Options{
				Specs: termini.Specs(), Termini: termini.All(), Application: "server", ConfDir: dir, VarDir: filepath.Join(dir, "var"), Certname: func() string { return "puppet" },
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			})
			status := 0
			handler := rest.NewHandler(e.Indirector, rest.Options{Recorder: e.Store, Settings: e.Settings})
			h := against(t, func(w http.ResponseWriter, r *http.Request) {
				handler.ServeHTTP(statusOf{w, &status}, r)
			})
			o := op{indirection: "node", verb: "find", key: "web01"}
			_, _ = h.Do(t.Context(), o.request())
			if status != tt.status {
				t.Errorf("the server answered %d, want %d", status, tt.status)
			}
			last, _ := e.Store.Range()
			for _, side := range []struct {
				of   string
				line string
				want []string
			}{{"the server", traces.Story(traceOf(t, e.Store, last)), tt.server}, {"who asked", traces.Story(h.recorder.last(t)), tt.client}} {
				for _, want := range side.want {
					if !strings.Contains(side.line, want) {
						t.Errorf("the first line of %s is %q, and does not say %q", side.of, side.line, want)
					}
				}
			}
		})
	}
}

// statusOf remembers the status of an answer.
type statusOf struct {
	http.ResponseWriter
	status *int
}

func (s statusOf) WriteHeader(status int) {
	*s.status = status
	s.ResponseWriter.WriteHeader(status)
}

func (s statusOf) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// TestOneMismatch has one cause and all requests of a run: each has the same
// line. Pain P33.
func TestOneMismatch(t *testing.T) {
	t.Parallel()
	ca := clienttest.New(t, "Puppet CA")
	server := clienttest.Serve(t, ca.Issue(t, "puppet.example.com"), http.HandlerFunc(serveNode))
	h := newEngine(t, ca.Write(t, t.TempDir(), ca.Issue(t, "web01")).At(t, server.URL))
	causes := map[string]int{}
	run := []op{
		{indirection: "node", verb: "find", key: "web01"},
		{indirection: "file_metadata", verb: "search", key: "pluginfacts"},
		{indirection: "file_metadata", verb: "search", key: "plugins"},
		{indirection: "file_metadata", verb: "search", key: "locales"},
		{indirection: "catalog", verb: "find", key: "web01"},
		{indirection: "facts", verb: "save", key: "web01", instance: &model.Facts{Name: "web01"}},
		{indirection: "report", verb: "save", key: "web01", instance: &model.Report{Host: "web01"}},
	}
	for _, o := range run {
		if _, err := h.Do(t.Context(), o.request()); err == nil {
			t.Fatalf("%s %s was answered", o.verb, o.indirection)
		}
		trace := h.recorder.last(t)
		last := trace.Faults[len(trace.Faults)-1]
		_, why, _ := strings.Cut(last.Hidden, ": ")
		causes[why]++
		for _, want := range []string{"the server's certificate is not for 127.0.0.1, but for ", "puppet.example.com", "the server was asked as 127.0.0.1"} {
			if story := traces.Story(trace); !strings.Contains(story, want) {
				t.Errorf("%s %s: the first line is %q, and does not say %q", o.verb, o.indirection, story, want)
			}
		}
	}
	if len(causes) != 1 {
		t.Errorf("one cause is told in %d ways: %v", len(causes), causes)
	}
}

// TestEveryPain knows of each pain where it is tested.
func TestEveryPain(t *testing.T) {
	t.Parallel()
	elsewhere := map[string]func(*testing.T){"P22": TestPainsOfClassifiers, "P23": TestPainsOfClassifiers, "P28": TestClosureL8Kinds, "P33": TestPainsOfConnections}
	offWire := map[string]string{
		"P35": "it is about PuppetDB: ui/demo/scenarios and termini/puppetdb have it",
		"P36": "likewise",
	}
	list := pains(t)
	for n := 22; n <= 36; n++ {
		id := fmt.Sprint("P", n)
		rows := 0
		for _, p := range list {
			if strings.HasPrefix(p.name, id+" ") {
				rows++
			}
		}
		on := rows > 0 || elsewhere[id] != nil
		if off := offWire[id] != ""; on == off {
			t.Errorf("%s: %d rows, tested elsewhere: %v, not on the wire: %q", id, rows, elsewhere[id] != nil, offWire[id])
		}
	}
}
