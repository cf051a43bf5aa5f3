package rest_test

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client/clienttest"
	"indirtui/traces"
	"indirtui/traces/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// against returns an engine with that server.
func against(t testing.TB, handler http.HandlerFunc, set ...string) *testEngine {
	t.Helper()
	ca := clienttest.New(t, "Puppet CA")
	server := clienttest.Serve(t, ca.Issue(t, "puppet", clienttest.Local), handler)
	return newEngine(t, ca.Write(t, t.TempDir(), ca.Issue(t, "web01")).At(t, server.URL).With(set...))
}

var hosts = regexp.MustCompile(`[\w.]+:\d+`)

// TestClosureL8Kinds distinguishes them. Gap L8, pains P28 and P29.
func TestClosureL8Kinds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, kind, body, want, first string }{
		{"instance", jsonUTF8, document("Not Found: Could not find node web01", "RESOURCE_NOT_FOUND"), "no such instance (RESOURCE_NOT_FOUND): Not Found: Could not find node web01", "the server (HOST) has no KEY: 404"},
		{"environment", jsonUTF8, document("Not Found: Could not find environment 'qa'", "RUNTIME_ERROR"), "no such environment (RUNTIME_ERROR): Not Found: Could not find environment 'qa'", "the server (HOST) has no environment 'production' (404)"},
		{"handler", jsonUTF8, document("Not Found: No handler for facts", "NO_INDIRECTION_REMOTE_REQUESTS"), "not for requests over the network", "the server (HOST) does not answer requests for IND over the network (404)"},
		{"indirection", jsonUTF8, document("Not Found: Could not find indirection 'x'", "HANDLER_NOT_FOUND"), "no such indirection or route", "the server (HOST) does not know the indirection IND (404)"},
		{"route", jsonUTF8, document("Not Found: No route for GET /x", "HANDLER_NOT_FOUND"), "no such indirection or route", "the server (HOST) does not know the indirection IND (404)"},
		{"proxy", "text/html", html, "not answered by Puppet itself: 502 Bad Gateway", "HOST answered 404, but not as Puppet does: a proxy or another web server is in the way (it wrote \"502 Bad Gateway\")"},
		{"empty", "", "", "not answered by Puppet itself: the answer has no body", "HOST answered 404, but not as Puppet does: a proxy or another web server is in the way"},
	} {
		t.Run("L8 "+tt.name, func(t *testing.T) {
			t.Parallel()
			h := against(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = []string{tt.kind}
				w.WriteHeader(http.StatusNotFound)
				_, _ = io.WriteString(w, tt.body)
			})
			first := func(ind, key string) string {
				return strings.NewReplacer("IND", ind, "KEY", key).Replace(tt.first)
			}
			find := op{indirection: "node", verb: "find", key: "web01"}
			_, err := h.Do(t.Context(), find.request())
			trace := h.recorder.last(t)
			because := trace.Steps[traces.Terminus].Because
			if !isNotFound(err) || because.Reason != traces.NilFrom404 || !strings.Contains(because.About, tt.want) || trace.Outcome != traces.NilHidden {
				t.Errorf("find: got %v, %v, %v", err, because, trace.Outcome)
			}
			if story, want := hosts.ReplaceAllString(traces.Story(trace), "HOST"), first("node", "node web01"); !strings.Contains(story, want) {
				t.Errorf("the first line is %q, want %q", story, want)
			}
			search := op{indirection: "file_metadata", verb: "search", key: "plugins"}
			resp, err := h.Do(t.Context(), search.request())
			trace = h.recorder.last(t)
			if list, ok := resp.Value.([]indirector.Instance); err != nil || !ok || list == nil || len(list) > 0 {
				t.Errorf("search: got %v, %v", resp.Value, err)
			}
			if hidden := trace.Outcome == traces.ErrHidden; hidden != (tt.name != "instance") {
				t.Errorf("search: the outcome is %v", trace.Outcome)
			}
			if len(trace.Notes) == 0 || !strings.Contains(hosts.ReplaceAllString(trace.Notes[0].Text, "HOST"), first("file_metadata", "file_metadata plugins")) {
				t.Errorf("search: notes are %q", trace.Notes)
			}
		})
	}
}

// TestContentOfVersion: the content of a file of a static catalog is that of its version of
// the code. Rule TERM-COMP-09.
func TestContentOfVersion(t *testing.T) {
	t.Parallel()
	var asked string
	h := against(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.URL.String() + " " + r.Header.Get("Accept")
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = io.WriteString(w, "old\n")
	})
	o := op{indirection: "file_content", verb: "find", key: "puppet:///modules/m/a b"}
	req := o.request()
	req.Options = append(req.Options, indirector.Option{Name: "code_id", Value: "v7"}, indirector.Option{Name: "content_uri", Value: "puppet:///modules/m/files/a b"})
	_, err := h.Do(t.Context(), req)
	if want := "GET /puppet/v3/static_file_content/modules/m/files/a%20b?environment=production&code_id=v7 application/octet-stream"; err != nil || asked != want {
		t.Errorf("asked %q, %v, want %q", asked, err, want)
	}
	if notes := h.recorder.last(t).Notes; len(notes) == 0 || !strings.Contains(notes[0].Text, "static_file_content") {
		t.Errorf("got the notes %v", notes)
	}
}

// TestForward names the client to the server.
func TestForward(t *testing.T) {
	t.Parallel()
	leaf := clienttest.New(t, "CA").Issue(t, "agent7")
	for _, tt := range []struct {
		forward string
		remote  *indirector.Remote
		want    string // verify, DN, subject of the certificate
	}{
		{"false", &indirector.Remote{Node: "agent7", Authenticated: true}, "  "},
		{"headers", nil, "  "},
		{"headers", &indirector.Remote{Node: "10.0.0.1", IP: "10.0.0.1"}, "NONE  "},
		{"headers", &indirector.Remote{Node: "agent7", Authenticated: true}, "SUCCESS CN=agent7 "},
		{"headers", &indirector.Remote{Node: "agent7", Authenticated: true, Certificate: string(leaf.PEM())}, "SUCCESS CN=agent7 CERTIFICATE"},
	} {
		var got string
		h := against(t, func(w http.ResponseWriter, r *http.Request) {
			kind := ""
			if text, err := url.PathUnescape(r.Header.Get("X-Client-Cert")); err == nil {
				if block, _ := pem.Decode([]byte(text)); block != nil && string(block.Bytes) == string(leaf.Cert.Raw) {
					kind = block.Type
				}
			}
			got = r.Header.Get("X-Client-Verify") + " " + r.Header.Get("X-Client-DN") + " " + kind
			serveNode(w, r)
		}, "rest_forward", tt.forward)
		o := op{indirection: "node", verb: "find", key: "web01"}
		req := o.request()
		req.Remote = tt.remote
		if _, err := h.Do(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if got != tt.want {
			t.Errorf("%s, %+v: got %q, want %q", tt.forward, tt.remote, got, tt.want)
		}
	}
	bad := op{indirection: "node", verb: "find", key: "web01"}
	if _, err := against(t, serveNode, "rest_forward", "perhaps").Do(t.Context(), bad.request()); err == nil {
		t.Error("a setting that is wrong was taken")
	}
}

// TestWire hands out what went over the network, and takes what the caller
// accepts upstream as it is. Gap L9.
func TestWire(t *testing.T) {
	t.Parallel()
	h := against(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Accept", r.Header.Get("Accept"))
		w.Header().Set("X-Puppet-Compiler-Name", "compiler2")
		serveNode(w, r)
	})
	o := op{indirection: "node", verb: "find", key: "web01"}
	req := o.request()
	wire := &indirector.Wire{Accept: []string{"text/pson", "application/json"}, KeepBody: true}
	req.Wants = &indirector.Wants{Wire: wire}
	if _, err := h.Do(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	header := http.Header(wire.Header)
	if wire.Status != 200 || string(wire.Body) != nodeJSON || header.Get("X-Accept") != "text/pson, application/json" || header.Get("X-Puppet-Compiler-Name") != "compiler2" {
		t.Errorf("got %+v", wire)
	}
}

// TestClosureL9OldServers are sent PSON once their version is known, if a setting
// allows. Gap L9.
func TestClosureL9OldServers(t *testing.T) {
	t.Parallel()
	for _, follow := range []string{"true", "false"} {
		var kinds []string
		h := against(t, func(w http.ResponseWriter, r *http.Request) {
			kinds = append(kinds, r.Header.Get("Content-Type"))
			w.Header().Set("X-Puppet-Version", "4.10.0")
			w.Header().Set("Content-Type", "text/pson")
			_, _ = io.WriteString(w, "[]")
		}, "rest_pson_for_old_servers", follow)
		facts := &model.Facts{Name: "web01", Values: data.OfHash(nil)}
		o := op{indirection: "facts", verb: "save", key: "web01", instance: facts}
		for range 2 {
			if _, err := h.Do(t.Context(), o.request()); err != nil {
				t.Fatal(err)
			}
		}
		want := "[application/json text/pson]"
		if follow == "false" {
			want = "[application/json application/json]"
		}
		if got := fmt.Sprint(kinds); got != want {
			t.Errorf("follow %s: got %s, want %s", follow, got, want)
		}
	}
}

// TestLegacy asks as Puppet 2.6 does. Rule REST-URL-05.
func TestLegacy(t *testing.T) {
	t.Parallel()
	var got string
	h := against(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Method + " " + r.RequestURI + " " + r.Header.Get("Accept")
		w.Header().Set("Content-Type", "text/pson")
		_, _ = io.WriteString(w, nodeJSON)
	}, "rest_legacy_urls", "true")
	o := op{indirection: "node", verb: "find", key: "web01"}
	if _, err := h.Do(t.Context(), o.request()); err != nil {
		t.Fatal(err)
	}
	if want := "GET /production/node/web01"; !strings.HasPrefix(got, want) || !strings.Contains(got, "pson") {
		t.Errorf("got %q", got)
	}
}

// TestFactsForCatalog asks a terminus of facts for what is sent.
func TestFactsForCatalog(t *testing.T) {
	t.Parallel()
	var got string
	h := against(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"name":"web01","values":{"kernel":"Plan9"}}`)
			return
		}
		_ = r.ParseForm()
		got, _ = url.PathUnescape(r.PostForm.Get("facts"))
		_, _ = io.WriteString(w, `{"name":"web01","resources":[],"edges":[],"classes":[]}`)
	})
	o := op{indirection: "catalog", verb: "find", key: "web01", options: map[string]any{"facts_for_catalog": "rest"}}
	if _, err := h.Do(t.Context(), o.request()); err != nil || !strings.Contains(got, `"kernel":"Plan9"`) {
		t.Errorf("sent %q, %v", got, err)
	}
}

// endless serves so many bytes.
func endless(size int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Length", fmt.Sprint(size))
		block := make([]byte, 64<<10)
		for n := int64(0); n < size; n += int64(len(block)) {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}
}

// TestClosureL10Content reads a file larger than the memory that it may take, twice,
// and gives one up. Gap L10.
func TestClosureL10Content(t *testing.T) { // alone: it measures the memory of the process
	const size = 128 << 20
	h := against(t, endless(size))
	find := func(ctx context.Context) model.Contents {
		t.Helper()
		o := op{indirection: "file_content", verb: "find", key: "puppet:///modules/m/f"}
		resp, err := h.Do(ctx, o.request())
		if err != nil {
			t.Fatal(err)
		}
		return resp.Instance().(*model.FileContent).Contents
	}
	c := find(t.Context())
	if c.Size() != size {
		t.Errorf("the size is %d", c.Size())
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 2 { // the second asks again
		r, err := c.Open()
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, r); n != size || err != nil {
			t.Errorf("read %d bytes, %v", n, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapInuse) - int64(before.HeapInuse); grown > 32<<20 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
	ctx, cancel := context.WithCancel(t.Context())
	find(ctx)
	cancel() // unread; the end of the request closes it, or goleak reports it
}

// TestBucketHashes sends a file that is not in memory, and returns its
// checksum.
func TestBucketHashes(t *testing.T) {
	t.Parallel()
	h := against(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/octet-stream")
	})
	file, err := model.NewFileBucketFile("sha256", []byte("some text\n"))
	if err != nil {
		t.Fatal(err)
	}
	o := op{indirection: "file_bucket_file", verb: "save", key: file.Key(), instance: file}
	if _, err := h.Do(t.Context(), o.request()); err != nil {
		t.Fatal(err)
	}
	for _, s := range h.recorder.last(t).Spans {
		if s.Kind == traces.Stream && s.Answer == "10 bytes" && len(s.Attrs) == 1 && s.Attrs[0].Value == "{sha256}"+file.Checksum {
			return
		}
	}
	t.Errorf("no span says what was sent: %+v", h.recorder.last(t).Spans)
}

// BenchmarkFind is a find of a node over a kept connection.
func BenchmarkFind(b *testing.B) {
	h := against(b, serveNode)
	o := op{indirection: "node", verb: "find", key: "web01"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.Do(b.Context(), o.request()); err != nil {
			b.Fatal(err)
		}
		h.recorder.all = h.recorder.all[:0]
	}
}
