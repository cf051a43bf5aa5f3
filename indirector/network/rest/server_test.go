package rest_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/network/rest"
	"indirtui/indirector/terminustest"
	"indirtui/termini"
	"indirtui/traces"
	"indirtui/traces/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A scripted terminus answers by its functions.
type scripted struct {
	find    func(context.Context, *indirector.Request) (indirector.Instance, error)
	search  func(context.Context, *indirector.Request, func(indirector.Instance) error) error
	save    func(context.Context, *indirector.Request) (any, error)
	destroy func(context.Context, *indirector.Request) (any, error)
	head    func(context.Context, *indirector.Request) (bool, error)
	local   bool
}

func (s *scripted) Find(ctx context.Context, r *indirector.Request) (indirector.Instance, error) {
	return s.find(ctx, r)
}

func (s *scripted) Yield(ctx context.Context, r *indirector.Request, yield func(indirector.Instance) error) error {
	return s.search(ctx, r, yield)
}

func (s *scripted) Save(ctx context.Context, r *indirector.Request) (any, error) {
	return s.save(ctx, r)
}

func (s *scripted) Destroy(ctx context.Context, r *indirector.Request) (any, error) {
	return s.destroy(ctx, r)
}

func (s *scripted) Head(ctx context.Context, r *indirector.Request) (bool, error) {
	return s.head(ctx, r)
}

func (s *scripted) Validate(context.Context, *indirector.Request) error { return nil }
func (s *scripted) LocalOnly() bool                                     { return s.local }

// A stage is an Indirector in which one scripted terminus answers everything.
type stage struct {
	terminustest.Recorder
	script  *scripted
	server  *httptest.Server
	x       *indirector.Indirector
	options rest.Options
}

func newStage(t testing.TB, script *scripted, change func(*indirector.Config, *rest.Options)) *stage {
	t.Helper()
	st := &stage{script: script}
	routes := make(indirector.Routes)
	var all []indirector.Descriptor
	for _, spec := range termini.Specs() {
		all = append(all, indirector.Descriptor{
			Indirection: spec.Name, Name: "script", Type: script, REST: true,
			New: func(indirector.Env) (indirector.Terminus, error) { return script, nil },
		})
		routes[spec.Name] = indirector.Route{Primary: traces.Slot{{Terminus: "script", Kind: traces.FromDeclaration}}}
	}
	registry, err := indirector.NewRegistry(termini.Specs(), all)
	if err != nil {
		t.Fatal(err)
	}
	cfg := indirector.Config{Registry: registry, Routes: routes, Recorder: &st.Recorder}
	st.options = rest.Options{Recorder: &st.Recorder}
	if change != nil {
		change(&cfg, &st.options)
	}
	x, err := indirector.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	st.x = x
	st.server = httptest.NewUnstartedServer(rest.NewHandler(x, st.options))
	st.server.Config.ReadTimeout = st.options.Stall // for the whole request, by net/http
	st.server.Start()
	t.Cleanup(st.server.Close)
	return st
}

// ask sends a request: "GET /path", then pairs of headers; body follows "\n".
func (st *stage) ask(t testing.TB, line, body string, header ...string) answer {
	t.Helper()
	a, err := st.try(t, line, body, header...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// try is ask where it may be that there is no answer.
func (st *stage) try(t testing.TB, line, body string, header ...string) (answer, error) {
	t.Helper()
	method, target, _ := strings.Cut(line, " ")
	r, err := http.NewRequestWithContext(t.Context(), method, st.server.URL+target, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, b}, err
}

func found(i indirector.Instance, err error) *scripted {
	return &scripted{find: func(context.Context, *indirector.Request) (indirector.Instance, error) { return i, err }}
}

// TestRefusals has every request that is refused before it runs: status,
// message and trace.
func TestRefusals(t *testing.T) {
	t.Parallel()
	script := found(&model.Node{Name: "web01"}, nil)
	script.save = func(context.Context, *indirector.Request) (any, error) { return 0, nil }
	st := newStage(t, script, func(_ *indirector.Config, o *rest.Options) {
		o.Wide = true
		o.Authorize = func(r *http.Request, _ indirector.Remote) error {
			if strings.HasPrefix(r.URL.Path, "/puppet/v3/report/") {
				return &rest.Forbidden{Why: "rule 'x' (auth.conf:7) refuses"}
			}
			return nil
		}
	})
	for _, tt := range []struct {
		line, body string
		header     []string
		status     int
		message    string // of document or text
		step       traces.Step
		about      string
	}{
		{line: "GET /puppet/v3/node/x", status: 400, message: "Bad Request: An environment parameter must be specified", step: traces.Route, about: "node x"},
		{line: "PATCH /puppet/v3/node/x?environment=production", status: 405, message: "Method Not Allowed: No support for http method PATCH", about: "node x"},
		{line: "PUT /puppet/v3/nodes/x?environment=production", status: 400, message: "Bad Request: No support for plurality singular for PUT operations", about: "node x"},
		{line: "GET /puppet/v3/node/x?environment=production", status: 400, message: "Bad Request: Missing required Accept header", step: traces.Caller, about: "node x"},
		{line: "GET /puppet/v3/node/x?environment=production", header: []string{"Accept", "text/html"}, status: 406, message: "Not Acceptable: No supported formats are acceptable (Accept: text/html)", step: traces.Caller, about: "node x"},
		{line: "PUT /puppet/v3/facts/x?environment=production", body: "{}", header: []string{"Accept", "*/*"}, status: 400, message: "Bad Request: No Content-Type header was received, it isn't possible to unserialize the request", about: "facts x"},
		{line: "PUT /puppet/v3/facts/x?environment=production", body: "{", header: []string{"Content-Type", "application/json"}, status: 400, message: "Bad Request: The request body is invalid: Could not intern from json: unexpected end at line 1 column 2", about: "facts x"},
		{line: "PUT /puppet/v3/report/x?environment=production", status: 403, message: "Forbidden request: /puppet/v3/report/x (method :put). Please see the server logs for details.", step: traces.Authorize, about: "report x"},
		{line: "PUT /puppet//v3//report/x?environment=production", status: 403, message: "Forbidden request: /puppet/v3/report/x (method :put). Please see the server logs for details.", step: traces.Authorize, about: "report x"},
		{line: "GET /puppet/v3/file_content/a/%2e%2e/b?environment=production", status: 400, message: "Invalid relative path (.. or .) in: /puppet/v3/file_content/a/../b", about: "file_content a/../b"},
		{line: "GET /puppet/v3/file_content/a%00b?environment=production", status: 400, message: `Bad Request: the path "/puppet/v3/file_content/a\x00b" holds a NUL`, about: "file_content a\x00b"},
		{line: "GET /nosuch", status: 404, header: []string{"Accept", "application/json"}, message: "{\n\"message\":\"Not Found\",\n\"url\":\"/nosuch\",\n\"status\":\"404\"\n}", about: " /nosuch"},
	} {
		before := len(st.All())
		got := st.ask(t, tt.line, tt.body, tt.header...)
		message := string(got.body)
		if e := rest.ParseError(got.status, got.header.Get("Content-Type"), got.body); e.Kind != "" {
			message = e.Message
		}
		if got.status != tt.status || message != tt.message {
			t.Errorf("%s:\n got %d %s\nwant %d %s", tt.line, got.status, message, tt.status, tt.message)
		}
		all := st.All()
		if len(all) == before {
			t.Errorf("%s: there is no trace of it", tt.line)
			continue
		}
		trace := all[len(all)-1]
		if trace.Indirection+" "+trace.Key != tt.about || trace.Error == "" || trace.Outcome != traces.Err || len(trace.Notes) == 0 {
			t.Errorf("%s: trace of %s %q: error %q, outcome %v, notes %q", tt.line, trace.Indirection, trace.Key, trace.Error, trace.Outcome, trace.Notes)
		}
		if a := trace.Steps[tt.step].Answer; a != traces.Raised && a != traces.Denied {
			t.Errorf("%s: step %v answers %v", tt.line, tt.step, a)
		}
		if (tt.step == traces.Caller) != (trace.Parent != 0) {
			t.Errorf("%s: parent %d", tt.line, trace.Parent)
		}
	}
}

// TestResults is how results of verbs are rendered.
func TestResults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line, kind, body string
		result           any
		accept           string
		want, as         string
	}{
		{"PUT /puppet/v3/facts/x?environment=production", "application/json", `{"name":"x","values":{}}`, 0, "", "0", "application/json;charset=utf-8"},
		{"PUT /puppet/v3/facts/x?environment=production", "application/json", `{"name":"x","values":{}}`, nil, "text/pson", "null", "text/pson"},
		{"PUT /puppet/v3/facts/x?environment=production", "text/pson", `{"name":"x","values":{}}`, []string{"store", "http"}, "application/json, text/pson", `["store","http"]`, "application/json;charset=utf-8"},
		{"PUT /puppet/v3/facts/x?environment=production", "application/json", `{"name":"x","values":{}}`, []string{"store"}, "application/x-msgpack", "\x91\xa5store", "application/x-msgpack"},
		{"DELETE /puppet/v3/facts/x?environment=production", "", "", 1, "", "1", "application/json;charset=utf-8"},
		{"DELETE /puppet/v3/facts/x?environment=production", "", "", nil, "*/*", "null", "application/json;charset=utf-8"},
		{"PUT /puppet/v3/file_bucket_file/sha256/a?environment=production", "application/octet-stream", "kept", &model.FileBucketFile{Contents: model.Bytes(nil)}, "application/octet-stream", "", "application/octet-stream"},
		{"PUT /production/facts/x", "text/pson", `{"name":"x","values":{}}`, 0, "pson", "--- 0\n", "text/yaml"},
		{"PUT /production/facts/x", "text/pson", `{"name":"x","values":{}}`, []string{"store"}, "pson", "---\n- \"store\"\n", "text/yaml"},
	} {
		result := func(context.Context, *indirector.Request) (any, error) { return tt.result, nil }
		st := newStage(t, &scripted{save: result, destroy: result, find: found(nil, nil).find}, func(_ *indirector.Config, o *rest.Options) { o.Wide, o.Legacy = true, true })
		header := []string{}
		if tt.kind != "" {
			header = append(header, "Content-Type", tt.kind)
		}
		if tt.accept != "" {
			header = append(header, "Accept", tt.accept)
		}
		got := st.ask(t, tt.line, tt.body, header...)
		if got.status != 200 || string(got.body) != tt.want || got.header.Get("Content-Type") != tt.as {
			t.Errorf("%s %v: got %d %q as %s, want %q as %s", tt.line, tt.result, got.status, got.body, got.header.Get("Content-Type"), tt.want, tt.as)
		}
	}
}

// TestAnswers are results that are no instances.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, line string
		script     *scripted
		status     int
		message    string
		kind       string
	}{
		{"REST 5 find nil", "GET /puppet/v3/node/a?environment=production", found(nil, indirector.NotFound(traces.NotFound, "")), 404, "Not Found: Could not find node a", rest.ResourceNotFound},
		{"REST 5 find false", "GET /puppet/v3/node/a?environment=production", found(indirector.False, nil), 404, "Not Found: Could not find node a", rest.ResourceNotFound},
		{"REST 5 failure", "GET /puppet/v3/node/a?environment=production", found(nil, &indirector.Failure{Message: "Failed to find a via exec"}), 500, "Server Error: Failed to find a via exec", rest.RuntimeError},
		{"REST 5 local", "GET /puppet/v3/node/a?environment=production", &scripted{local: true}, 404, "Not Found: No handler for node", rest.NoRemoteRequests},
		{"REST-URL-04", "GET /puppet/v3/node/a?environment=nosuch", found(nil, nil), 404, "Not Found: Could not find environment 'nosuch'", rest.RuntimeError},
		{"REST 5 search nil", "GET /puppet/v3/file_metadatas/a?environment=production", &scripted{search: func(context.Context, *indirector.Request, func(indirector.Instance) error) error {
			return indirector.NotFound(traces.NotFound, "")
		}}, 404, "Not Found: Could not find instances in file_metadata with 'a'", rest.ResourceNotFound},
		{"a panic", "GET /puppet/v3/node/a?environment=production", &scripted{}, 500, "", rest.RuntimeError},
	} {
		st := newStage(t, tt.script, func(c *indirector.Config, _ *rest.Options) {
			for _, r := range c.Routes {
				r.Primary[0].Source = "test"
			}
			c.Environments = func(name string) error { return &indirector.EnvironmentNotFound{Name: name} }
			if strings.Contains(tt.line, "nosuch") { // a terminus without others
				var all []indirector.Descriptor
				for _, spec := range termini.Specs() {
					all = append(all, indirector.Descriptor{Indirection: spec.Name, Name: "script", Type: tt.script, New: func(indirector.Env) (indirector.Terminus, error) { return tt.script, nil }})
				}
				var err error
				if c.Registry, err = indirector.NewRegistry(termini.Specs(), all); err != nil {
					t.Fatal(err)
				}
			}
		})
		got := st.ask(t, tt.line, "", "Accept", "application/json")
		e := rest.ParseError(got.status, got.header.Get("Content-Type"), got.body)
		if got.status != tt.status || e.Kind != tt.kind || tt.message != "" && e.Message != tt.message {
			t.Errorf("%s: got %d %+v, want %d %s %s", tt.name, got.status, e, tt.status, tt.kind, tt.message)
		}
		if len(st.All()) == 0 {
			t.Errorf("%s: no trace", tt.name)
		}
	}
}

// TestRequest is the request that runs.
func TestRequest(t *testing.T) {
	t.Parallel()
	var got indirector.Request
	st := newStage(t, &scripted{find: func(_ context.Context, r *indirector.Request) (indirector.Instance, error) {
		got = *r
		return &model.Node{Name: r.Key}, nil
	}}, func(_ *indirector.Config, o *rest.Options) {
		o.Run = func(_ *http.Request, req *indirector.Request) (string, bool) {
			return cmp.Or(req.Run, "connection 7"), req.Run == ""
		}
		o.Client = func(*http.Request) indirector.Remote {
			return indirector.Remote{Node: "web01", IP: "192.0.2.1", Authenticated: true}
		}
	})
	st.ask(t, "GET /puppet/v3/node/web01?environment=production&node=evil&transaction_uuid=u1", "", "Accept", "*/*")
	if got.Run != "u1" || got.RunGuessed || got.Caller != "agent web01" || got.Remote.Node != "web01" || !got.Remote.Authenticated || got.Option("node") != nil || got.Wire() != nil {
		t.Errorf("got %+v of %+v", got, got.Remote)
	}
	st.ask(t, "GET /puppet/v3/node/web01?environment=production", "", "Accept", "*/*")
	if last := st.All()[len(st.All())-1]; got.Run != "connection 7" || !got.RunGuessed || last.Run != got.Run || !last.RunGuessed {
		t.Errorf("run %q, a guess: %v; its trace: %q, %v", got.Run, got.RunGuessed, last.Run, last.RunGuessed)
	}
}

// TestTransaction: a request that names its transaction_uuid has it in its trace
// beside the run; a report names it in its body.
func TestTransaction(t *testing.T) {
	t.Parallel()
	st := newStage(t, &scripted{}, func(_ *indirector.Config, o *rest.Options) {
		o.Run = func(_ *http.Request, req *indirector.Request) (string, bool) { return "4f2a91c3", req.Run == "" }
	})
	for _, tt := range []struct {
		line, body, transaction string
		guessed                 bool
	}{
		{"GET /puppet/v3/node/web01?environment=production&transaction_uuid=u1", "", "u1", false},
		{"GET /puppet/v3/node/web01?environment=production", "", "", true},
		{"PUT /puppet/v3/report/web01?environment=production", `{"host":"web01","transaction_uuid":"u1","logs":[],"metrics":{},"resource_statuses":{}}`, "u1", false},
		{"PUT /puppet/v3/report/web01?environment=production", `{"host":"web01","logs":[],"metrics":{},"resource_statuses":{}}`, "", true},
	} {
		st.ask(t, tt.line, tt.body, "Accept", "*/*", "Content-Type", "application/json")
		if last := st.All()[len(st.All())-1]; last.Run != "4f2a91c3" || last.Transaction != tt.transaction || last.RunGuessed != tt.guessed {
			t.Errorf("%s %s: run %q, transaction %q, a guess: %v", tt.line, tt.body, last.Run, last.Transaction, last.RunGuessed)
		}
	}
}

// TestTraceparent: a request, those that it causes, and a refusal belong to the
// trace of a valid header. A guessed run is a guess for all of them.
func TestTraceparent(t *testing.T) {
	t.Parallel()
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	var x *indirector.Indirector
	st := newStage(t, &scripted{find: func(ctx context.Context, r *indirector.Request) (indirector.Instance, error) {
		if r.Indirection == "node" {
			resp, err := x.Do(ctx, &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: r.Key})
			return resp.Instance(), err
		}
		return &model.Facts{Name: r.Key}, nil
	}}, func(_ *indirector.Config, o *rest.Options) {
		o.Run = func(*http.Request, *indirector.Request) (string, bool) { return "connection 7", true }
	})
	x = st.x
	for _, tt := range []struct {
		name   string
		header []string
		want   string
	}{
		{"one", []string{parent}, parent},
		{"none", nil, ""},
		{"malformed", []string{"00-1234-5678-01"}, ""},
		{"two", []string{parent, parent}, ""},
	} {
		for _, path := range []string{"/puppet/v3/node/web01?environment=production", "/puppet/v3/nosuch/x"} {
			before := len(st.All())
			r := httptest.NewRequest("GET", path, nil)
			r.Header["Traceparent"] = tt.header
			st.server.Config.Handler.ServeHTTP(httptest.NewRecorder(), r)
			all := st.All()[before:]
			if len(all) == 0 || strings.Contains(path, "node") && len(all) < 2 {
				t.Errorf("%s: %s left %d traces", tt.name, path, len(all))
			}
			for _, trace := range all {
				if trace.Run != "connection 7" || !trace.RunGuessed {
					t.Errorf("%s: %s %s: run %q, a guess: %v", tt.name, trace.Indirection, trace.Key, trace.Run, trace.RunGuessed)
				}
				if got := trace.Traceparent.String(); got != tt.want {
					t.Errorf("%s: %s %s: got %q, want %q", tt.name, trace.Indirection, trace.Key, got, tt.want)
				}
			}
		}
	}
}

// TestSearchIsStreamed: a long list is sent before its end is known, and a
// failure in the middle does not look complete.
func TestSearchIsStreamed(t *testing.T) {
	t.Parallel()
	first := make(chan struct{}, 1)
	const many = 3000
	st := newStage(t, &scripted{search: func(ctx context.Context, r *indirector.Request, yield func(indirector.Instance) error) error {
		for i := range many {
			if i == many-1 && r.Key == "long" {
				select {
				case <-first: // the client has the beginning
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			if i == many-1 && r.Key == "fails" {
				return errors.New("the disk is gone")
			}
			if i == 2 && r.Key == "early" {
				return &indirector.Failure{Message: "the disk is gone"}
			}
			if err := yield(&model.FileMetadata{Path: "/tree", RelativePath: fmt.Sprintf("file%0200d", i), Type: "file"}); err != nil {
				return err
			}
		}
		return nil
	}}, nil)
	resp, err := http.Get(st.server.URL + "/puppet/v3/file_metadatas/long?environment=production") //nolint:noctx // the test ends it
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 400 { // Go's client sends no Accept
		t.Errorf("got %d", resp.StatusCode)
	}
	resp.Body.Close()
	for _, encoding := range []string{"identity", "gzip"} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", st.server.URL+"/puppet/v3/file_metadatas/long?environment=production", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "application/json")
		r.Header.Set("Accept-Encoding", encoding)
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(resp.Body, make([]byte, 10)); err != nil && encoding == "identity" {
			t.Fatal(err)
		}
		first <- struct{}{}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Error(err)
		}
		resp.Body.Close()
	}
	early := st.ask(t, "GET /puppet/v3/file_metadatas/early?environment=production", "", "Accept", "application/json")
	if e := rest.ParseError(early.status, "application/json", early.body); early.status != 500 || e.Message != "Server Error: the disk is gone" {
		t.Errorf("an error in the first piece: got %d %s", early.status, early.body)
	}
	fails := st.server.URL + "/puppet/v3/file_metadatas/fails?environment=production"
	for _, encoding := range []string{"identity", "gzip"} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", fails, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "application/json")
		r.Header.Set("Accept-Encoding", encoding)
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if len(resp.TransferEncoding) != 1 || resp.TransferEncoding[0] != "chunked" {
			t.Errorf("%s: the encoding of the transfer is %q", encoding, resp.TransferEncoding)
		}
		b, err := io.ReadAll(resp.Body)
		if !errors.Is(err, io.ErrUnexpectedEOF) || len(b) == 0 {
			t.Errorf("%s: half a list looks like a whole one: %d bytes, %v", encoding, len(b), err)
		}
		resp.Body.Close()
	}
	for name, tt := range map[string]struct {
		fields []string
		want   string
	}{
		"curl":            {[]string{"curl", "-sS", "-o", os.DevNull, "-H", "Accept: application/json", fails}, "(18)"}, // CURLE_PARTIAL_FILE
		"curl compressed": {[]string{"curl", "-sS", "--compressed", "-o", os.DevNull, "-H", "Accept: application/json", fails}, "(18)"},
		"puppet": {[]string{"ruby", "-e", `require 'puppet'; Puppet.initialize_settings(['--vardir', ENV['HOME'], '--confdir', ENV['HOME']])
			begin; p Puppet.runtime[:http].get(URI(ARGV[0]), headers: {'Accept' => 'application/json'}).body.size; rescue => e; abort e.message; end`, fails}, "interrupted after"},
	} {
		if _, err := exec.LookPath(tt.fields[0]); err != nil {
			t.Logf("%s is not asked: %v", name, err)
			continue
		}
		if name == "puppet" && exec.Command("ruby", "-e", "require 'puppet'").Run() != nil {
			t.Logf("%s is not asked: it is not installed for ruby", name)
			continue
		}
		cmd := exec.CommandContext(t.Context(), tt.fields[0], tt.fields[1:]...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "HOME=" + t.TempDir()}
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), tt.want) {
			t.Errorf("%s takes half a list for a whole one, or fails for another reason: %v, %q", name, err, out)
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// A proxy adds nothing and loses nothing.
func TestPassThrough(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		status int
		header map[string][]string
		body   string
		inst   indirector.Instance
		err    error
		want   answer
	}{
		{
			name: "the very bytes", status: 200, header: map[string][]string{"Content-Type": {"text/pson"}, "X-Puppet-Version": {"6.1.0"}, "X-Puppet-Compiler-Name": {"c1"}, "Content-Length": {"18"}, "Connection": {"close"}},
			body: `{"name" : "web01"}`, inst: &model.Node{Name: "web01"},
			want: answer{200, http.Header{"Content-Type": {"text/pson"}, "X-Puppet-Version": {"6.1.0"}, "X-Puppet-Compiler-Name": {"c1"}}, []byte(`{"name" : "web01"}`)},
		},
		{
			name: "what was not found", status: 404, header: map[string][]string{"Content-Type": {"application/json;charset=utf-8"}}, body: `{"message":"gone","issue_kind":"X"}`,
			err:  indirector.NotFound(traces.NilFrom404, ""),
			want: answer{404, http.Header{"Content-Type": {"application/json;charset=utf-8"}}, []byte(`{"message":"gone","issue_kind":"X"}`)},
		},
		{
			name: "a refusal that says when to come again", status: 503, header: map[string][]string{"Retry-After": {"7"}}, body: "busy", err: &indirector.Failure{Message: "Error 503 on SERVER: busy"},
			want: answer{503, http.Header{"Retry-After": {"7"}}, []byte("busy")},
		},
		{
			name: "words of another proxy, which are no node", status: 200, header: map[string][]string{"Content-Type": {"text/html"}}, body: "<html>", err: &indirector.Failure{Message: "undefined method"},
			want: answer{200, http.Header{"Content-Type": {"text/html"}}, []byte("<html>")},
		},
		{
			name: "nobody there", err: &indirector.Failure{Origin: "network", Message: "No more routes to puppet"},
			want: answer{502, http.Header{"Content-Type": {"application/json;charset=utf-8"}}, []byte(`{"message":"Bad Gateway: No more routes to puppet","issue_kind":"RUNTIME_ERROR"}`)},
		},
		{
			name: "nobody answers", err: &indirector.Failure{Origin: "network", Message: "timed out", Err: context.DeadlineExceeded},
			want: answer{504, http.Header{"Content-Type": {"application/json;charset=utf-8"}}, []byte(`{"message":"Gateway Timeout: timed out","issue_kind":"RUNTIME_ERROR"}`)},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			const parent = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"
			var accept []string
			st := newStage(t, &scripted{find: func(_ context.Context, r *indirector.Request) (indirector.Instance, error) {
				if accept = r.Wire().Accept; r.Wire().Parent != parent {
					t.Errorf("traceparent: %q", r.Wire().Parent)
				}
				if tt.status != 0 {
					r.Wire().Status, r.Wire().Header, r.Wire().Body, r.Wire().Kept = tt.status, tt.header, []byte(tt.body), true
				}
				return tt.inst, tt.err
			}}, func(_ *indirector.Config, o *rest.Options) { o.PassThrough = true })
			got := st.ask(t, "GET /puppet/v3/node/web01?environment=nosuch", "", "Accept", "text/pson, a/b;q=1", "Traceparent", parent)
			if diff := gocmp.Diff([]string{"text/pson", "a/b;q=1"}, accept); diff != "" {
				t.Error(diff)
			}
			if got.status != tt.want.status || !bytes.Equal(got.body, tt.want.body) {
				t.Errorf("got %d %s, want %d %s", got.status, got.body, tt.want.status, tt.want.body)
			}
			for _, name := range []string{"Content-Type", "X-Puppet-Compiler-Name", "Retry-After"} {
				if g, w := got.header.Get(name), tt.want.header.Get(name); g != w {
					t.Errorf("%s: %q, want %q", name, g, w)
				}
			}
		})
	}
}

// TestNotIndirection is what a proxy passes on unchanged: what is no indirection, and
// what would be refused here.
func TestNotIndirection(t *testing.T) {
	t.Parallel()
	st := newStage(t, found(&model.Node{Name: "x"}, nil), func(_ *indirector.Config, o *rest.Options) {
		o.PassThrough, o.Wide = true, true
		o.Other = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "handed on: ", r.URL) })
	})
	for line, want := range map[string]string{
		"GET /puppet/v3/environments":          "handed on: /puppet/v3/environments",
		"GET /status/v1/simple":                "handed on: /status/v1/simple",
		"GET /puppet/v3/node/x":                "handed on: /puppet/v3/node/x",
		"PUT /puppet/v3/nodes/x?environment=a": "handed on: /puppet/v3/nodes/x?environment=a",
		"GET /puppet/v3/file_content/a":        "handed on: /puppet/v3/file_content/a",
		"GET /puppet/v3/static_file_content/a/b/files/c?code_id=1&environment=production": "handed on: /puppet/v3/static_file_content/a/b/files/c?code_id=1&environment=production",
		"GET /puppet/v3/node/x?environment=a":                                             `{"name":"x"`,
		"GET /puppet/v3/node/%00?environment=a":                                           "handed on: /puppet/v3/node/%00?environment=a",
		"GET /puppet/v3/environment_classes?environment=production":                       "handed on: /puppet/v3/environment_classes?environment=production",
		"GET /puppet/v3/environment_modules":                                              "handed on: /puppet/v3/environment_modules",
		"GET /puppet/v3/environment_transports?environment=production":                    "handed on: /puppet/v3/environment_transports?environment=production",
		"GET /puppet/v3/tasks?environment=production":                                     "handed on: /puppet/v3/tasks?environment=production",
		"GET /puppet/v3/plans/a/b":                                                        "handed on: /puppet/v3/plans/a/b",
		"POST /puppet/v3/compile":                                                         "handed on: /puppet/v3/compile",
		"POST /puppet/v4/catalog":                                                         "handed on: /puppet/v4/catalog",
		"GET /status/v1/services":                                                         "handed on: /status/v1/services",
		"GET /metrics/v2/list":                                                            "handed on: /metrics/v2/list",
		"DELETE /puppet-admin-api/v1/environment-cache":                                   "handed on: /puppet-admin-api/v1/environment-cache",
		"GET /pdb/query/v4/nodes?limit=1":                                                 "handed on: /pdb/query/v4/nodes?limit=1",
		"PATCH /odd/thing":                                                                "handed on: /odd/thing",
		"GET /":                                                                           "handed on: /",
	} {
		if got := st.ask(t, line, "", "Accept", "*/*"); !strings.Contains(string(got.body), want) {
			t.Errorf("%s: got %d %s, want %s", line, got.status, got.body, want)
		}
	}
}

// injector is a debugger that answers in place of the terminus.
type injector struct {
	stops   indirector.Stops
	verdict indirector.Verdict
}

func (g *injector) Stops() *indirector.Stops { return &g.stops }
func (g *injector) Left(uint64)              {}
func (g *injector) Hold(context.Context, *indirector.Stop) (indirector.Verdict, error) {
	return g.verdict, nil
}

// TestInjectionIsNoAnswerOfTheNetwork: an injected answer reaches the client of
// a proxy.
func TestInjectionIsNoAnswerOfTheNetwork(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		verdict indirector.Verdict
		status  int
	}{
		{indirector.Verdict{Set: true, Value: &model.Node{Name: "edited"}}, 200},
		{indirector.Verdict{Err: &indirector.Failure{Message: "edited"}}, 500},
		{indirector.Verdict{Err: indirector.HTTPFailure(503, "edited")}, 503},
		{indirector.Verdict{Err: indirector.HTTPFailure(403, "edited")}, 403},
	} {
		g := &injector{verdict: tt.verdict}
		g.stops.Set(indirector.StopAt(traces.Terminus, true))
		st := newStage(t, &scripted{find: func(_ context.Context, r *indirector.Request) (indirector.Instance, error) {
			r.Wire().Status, r.Wire().Body = 200, []byte(`{"name":"true"}`)
			return &model.Node{Name: "true"}, nil
		}}, func(c *indirector.Config, o *rest.Options) { o.PassThrough, c.Debugger = true, g })
		if got := st.ask(t, "GET /puppet/v3/node/web01?environment=production", "", "Accept", "*/*"); got.status != tt.status || !bytes.Contains(got.body, []byte("edited")) || bytes.Contains(got.body, []byte("on SERVER")) {
			t.Errorf("got %d %s, want %d", got.status, got.body, tt.status)
		}
	}
}

// TestStream is contents of files: with their length, compressed if wanted, and
// not at all once they are gone.
func TestStream(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "big")
	text := strings.Repeat("0123456789abcdef", 1<<18)
	write(t, path, text)
	st := newStage(t, found(&model.FileContent{Path: path, Contents: onDisk(path)}, nil), nil)
	const line = "GET /puppet/v3/file_content/big?environment=production"
	got := st.ask(t, line, "", "Accept", "application/octet-stream")
	if got.status != 200 || string(got.body) != text || got.header.Get("Content-Length") != fmt.Sprint(len(text)) {
		t.Errorf("got %d, %d bytes, length %s", got.status, len(got.body), got.header.Get("Content-Length"))
	}
	got = st.ask(t, line, "", "Accept", "application/octet-stream", "Accept-Encoding", "gzip;q=1.0,deflate;q=0.6")
	z, err := gzip.NewReader(bytes.NewReader(got.body))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(z); err != nil || string(b) != text || got.header.Get("Content-Encoding") != "gzip" {
		t.Errorf("compressed: %d bytes, %v", len(b), err)
	}
	if got = st.ask(t, line, "", "Accept", "application/octet-stream", "Accept-Encoding", "gzip;q=0"); string(got.body) != text {
		t.Error("gzip;q=0 was compressed")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got = st.ask(t, line, "", "Accept", "application/octet-stream"); got.status != 500 {
		t.Errorf("gone: got %d %s", got.status, got.body)
	}
}

// TestStreamIsTraced: contents are sent while their request runs, and its trace
// has their size and digest, and where they broke off.
func TestStreamIsTraced(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("0123456789abcdef", 1<<16)
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, text)
	st := newStage(t, found(&model.FileContent{Path: path, Contents: onDisk(path)}, nil), nil)
	const target = "/puppet/v3/file_content/file?environment=production"
	st.ask(t, "GET "+target, "", "Accept", "application/octet-stream")
	st.server.Close() // waits for the handler
	traced := st.All()[0]
	if len(traced.Spans) != 1 || traced.Error != "" || traced.Steps[traces.Caller].Took == 0 {
		t.Fatalf("got spans %+v, error %q, caller %+v", traced.Spans, traced.Error, traced.Steps[traces.Caller])
	}
	span := traced.Spans[0]
	want := traces.Attr{Key: "sha256", Value: fmt.Sprintf("%x", sha256.Sum256([]byte(text)))}
	if span.Kind != traces.Stream || span.Step != traces.Caller || span.Answer != "1048576 bytes" || !slices.Contains(span.Attrs, want) {
		t.Errorf("got %+v", span)
	}
	write(t, path, text[:1000])
	broken := newStage(t, found(&model.FileContent{Path: path, Contents: promised{onDisk(path), 5000}}, nil), nil)
	conn, err := net.Dial("tcp", broken.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET "+target+" HTTP/1.1\r\nHost: x\r\nAccept: application/octet-stream\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil || !bytes.Contains(answer, []byte("Content-Length: 5000\r\n")) {
		t.Errorf("got %q, %v", answer, err)
	}
	broken.server.Close() // waits for the handler
	traced = broken.All()[0]
	if len(traced.Spans) != 1 || traced.Spans[0].Answer != "abandoned at 1000 of 5000 bytes" || traced.Outcome != traces.Err || !strings.Contains(traced.Error, "became shorter") {
		t.Errorf("got spans %+v, outcome %v, error %q", traced.Spans, traced.Outcome, traced.Error)
	}
}

// A promised file has another size than announced.
type promised struct {
	model.Contents
	size int64
}

func (p promised) Size() int64 { return p.size }

func (p promised) Open() (io.ReadCloser, error) {
	r, err := p.Contents.Open()
	return struct{ io.ReadCloser }{r}, err
}

// TestConstantMemory sends and takes files that are larger than what the whole
// test may allocate, client included. It does not run beside others.
func TestConstantMemory(t *testing.T) {
	const size, most = 256 << 20, 32 << 20
	path := filepath.Join(t.TempDir(), "sparse")
	write(t, path, "")
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
	script := found(&model.FileContent{Path: path, Contents: onDisk(path)}, nil)
	script.save = func(_ context.Context, r *indirector.Request) (any, error) {
		body, err := r.Instance.(*model.FileBucketFile).Contents.Open()
		if err != nil {
			return nil, err
		}
		n, err := io.Copy(io.Discard, body)
		if n != size {
			return nil, fmt.Errorf("got %d bytes, %w", n, err)
		}
		return &model.FileBucketFile{Contents: model.Bytes(nil)}, err
	}
	st := newStage(t, script, nil)
	allocated := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.TotalAlloc
	}
	for _, tt := range []struct{ name, method, target, encoding string }{
		{"L10 find", "GET", "/puppet/v3/file_content/sparse?environment=production", "identity"},
		{"L10 find compressed", "GET", "/puppet/v3/file_content/sparse?environment=production", "gzip"},
		{"L10 save", "PUT", "/puppet/v3/file_bucket_file/md5/a?environment=production", "identity"},
	} {
		before := allocated()
		r, err := http.NewRequestWithContext(t.Context(), tt.method, st.server.URL+tt.target, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tt.method == "PUT" {
			file, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			r.Body, r.ContentLength = file, size
			r.Header.Set("Content-Type", "application/octet-stream")
		}
		r.Header.Set("Accept", "application/octet-stream")
		r.Header.Set("Accept-Encoding", tt.encoding)
		transport := &http.Transport{DisableKeepAlives: true}
		resp, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != 200 || tt.method == "GET" && tt.encoding != "gzip" && n != size {
			t.Errorf("%s: got %d, %d bytes, %v", tt.name, resp.StatusCode, n, err)
		}
		if used := allocated() - before; used > most {
			t.Errorf("%s: allocated %d MiB for %d", tt.name, used>>20, size>>20)
		}
	}
}

type onDisk string

func (p onDisk) Open() (io.ReadCloser, error) { return os.Open(string(p)) }
func (p onDisk) Size() int64                  { return -1 }

// TestHeld is a request that is held longer than the time limits of the server:
// none of them ends it, nor the next one.
func TestHeld(t *testing.T) {
	t.Parallel()
	var failed []string
	// A busy machine may be slow itself: it gets more time, and another chance.
	for _, stall := range []time.Duration{50 * time.Millisecond, time.Second, 10 * time.Second} {
		if failed = held(t, stall); len(failed) == 0 {
			return
		}
	}
	t.Errorf("got %q", failed)
}

// held asks for what takes four times as long as a client may stall, and returns
// what came of it other than it should.
func held(t *testing.T, stall time.Duration) (failed []string) {
	t.Helper()
	script := &scripted{
		find: func(ctx context.Context, r *indirector.Request) (indirector.Instance, error) {
			select {
			case <-time.After(4 * stall):
				return &model.Node{Name: r.Key}, nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		},
		save: func(ctx context.Context, _ *indirector.Request) (any, error) {
			select {
			case <-time.After(4 * stall):
				return 0, nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		},
	}
	st := newStage(t, script, func(_ *indirector.Config, o *rest.Options) { o.Stall = stall })
	for range 2 {
		if got, err := st.try(t, "GET /puppet/v3/node/web01?environment=production", "", "Accept", "*/*"); err != nil || got.status != 200 {
			failed = append(failed, fmt.Sprintf("find: %d %s %v", got.status, got.body, err))
		}
		if got, err := st.try(t, "PUT /puppet/v3/facts/web01?environment=production", `{"name":"web01","values":{}}`, "Content-Type", "application/json"); err != nil || got.status != 200 {
			failed = append(failed, fmt.Sprintf("save: %d %s %v", got.status, got.body, err))
		}
	}
	return failed
}

// TestSlowBody is a client that stops in the middle of a body.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	var got string
	for _, stall := range []time.Duration{50 * time.Millisecond, time.Second, 10 * time.Second} {
		if got = stops(t, stall); got == "400" {
			return
		}
	}
	t.Errorf("got %s", got)
}

// stops sends half of a body to a server that waits so long for the next piece,
// and returns the status of the answer, or what else happened.
func stops(t *testing.T, stall time.Duration) string {
	t.Helper()
	st := newStage(t, &scripted{save: func(_ context.Context, r *indirector.Request) (any, error) {
		body, err := r.Instance.(*model.FileBucketFile).Contents.Open()
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(io.Discard, body)
		return r.Instance, err
	}}, func(_ *indirector.Config, o *rest.Options) { o.Stall = stall })
	stuck, end := io.Pipe()
	defer end.Close()
	r, err := http.NewRequestWithContext(t.Context(), "PUT", st.server.URL+"/puppet/v3/file_bucket_file/sha256/a?environment=production", io.MultiReader(strings.NewReader("half"), stuck))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/octet-stream")
	r.Header.Set("Accept", "application/octet-stream")
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	return strconv.Itoa(resp.StatusCode)
}

// TestHostile sends what no client sends; nothing panics and all is answered.
func TestHostile(t *testing.T) {
	t.Parallel()
	st := newStage(t, found(&model.Facts{Name: "x", Values: data.OfHash(nil)}, nil), func(_ *indirector.Config, o *rest.Options) { o.Wide, o.Legacy = true, true })
	for _, target := range []string{
		"/puppet/v3/node/%2e%2e%2f%2e%2e%2fetc%2fpasswd?environment=production", "/puppet/v3/node/..%5c..%5cx?environment=production",
		"/puppet/v3/node/%c0%ae%c0%ae/x?environment=production", "/puppet/v3/node/%00?environment=production", "/puppet/v3/node/a%0d%0ab?environment=production",
		"/puppet/v3/node//////?environment=production", "/%2fpuppet/v3/node/x?environment=production", "/puppet%2fv3/node/x?environment=production",
		"/puppet/v3/%6eode/x?environment=production", "/puppet/v3/no%00de/x?environment=production", "/puppet/v3/node/x?environment=%00", "/puppet/v3/node/x?environment=a&environment=b",
		"/puppet/v3/node/x?environment=../../etc", "/../puppet/v3/node/x", "/puppet/v3/../../x", "//", "/puppet/v3/", "/puppet/v3", "/puppet-ca/v1/", "/puppet-ca/v1/certificate/x",
		"/puppet/v3/node/x?environment=production&" + strings.Repeat("a=1&", 20000), "/puppet/v3/node/" + strings.Repeat("a/", 5000) + "?environment=production",
		"/puppet/v3/node/x?environment=production&a=" + strings.Repeat("9", 5000), "/x/y/z", "/production/node/x?a=%zz;b",
	} {
		got := st.ask(t, "GET "+target, "", "Accept", "application/json, "+strings.Repeat("x/y,", 100))
		if got.status >= 500 || got.status < 200 {
			t.Errorf("%.100s: got %d %.200s", target, got.status, got.body)
		}
	}
}

// TestAlerts: the status of the server has what is wrong with it, and for a
// balancer it runs all the same.
func TestAlerts(t *testing.T) {
	t.Parallel()
	var alerts []string
	st := newStage(t, found(nil, nil), func(_ *indirector.Config, o *rest.Options) {
		o.Alerts = func() []string { return alerts }
	})
	const fine, wrong = `"active_alerts":[]`, `"active_alerts":[{"severity":"warning","message":"no room"}]`
	for _, tt := range []struct {
		alerts     []string
		path, want string
	}{
		{nil, "/status/v1/services/server", fine},
		{[]string{"no room"}, "/status/v1/services/server", wrong},
		{[]string{"no room"}, "/status/v1/services/ca", fine},
		{[]string{"no room"}, "/status/v1/services", wrong},
		{[]string{"no room"}, "/status/v1/simple", "running"},
	} {
		alerts = tt.alerts
		if got := st.ask(t, "GET "+tt.path, ""); got.status != 200 || !strings.Contains(string(got.body), tt.want) {
			t.Errorf("%s with %q: got %d %s, want %s", tt.path, tt.alerts, got.status, got.body, tt.want)
		}
	}
}
