package rest

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"indirtui/indirector"
	"indirtui/indirector/model"
)

// TestParseError has what stands in bodies of errors, from Puppet 2.6 to 8 and
// from what may be in between, and which kind of 404 it is. Gap L8.
func TestParseError(t *testing.T) {
	t.Parallel()
	const json = "application/json; charset=utf-8"
	for _, tt := range []struct {
		name, kind, body string
		status           int
		message, issue   string
		missing          Missing
		puppet           bool
	}{
		{"instance", json, `{"message":"Not Found: Could not find node x","issue_kind":"RESOURCE_NOT_FOUND"}`, 404, "Not Found: Could not find node x", "RESOURCE_NOT_FOUND", MissingInstance, true},
		{"environment of Puppet 4 and later", json, `{"message":"Not Found: Could not find environment 'x'","issue_kind":"RUNTIME_ERROR"}`, 404, "Not Found: Could not find environment 'x'", "RUNTIME_ERROR", MissingEnvironment, true},
		{"environment of Puppet 3", json, `{"message":"Not Found: x","issue_kind":"ENVIRONMENT_NOT_FOUND"}`, 404, "Not Found: x", "ENVIRONMENT_NOT_FOUND", MissingEnvironment, true},
		{"indirection", json, `{"message":"Not Found: Could not find indirection 'x'","issue_kind":"HANDLER_NOT_FOUND"}`, 404, "Not Found: Could not find indirection 'x'", "HANDLER_NOT_FOUND", MissingIndirection, true},
		{"not over the network", json, `{"message":"Not Found: No handler for facts","issue_kind":"NO_INDIRECTION_REMOTE_REQUESTS"}`, 404, "Not Found: No handler for facts", "NO_INDIRECTION_REMOTE_REQUESTS", MissingRemote, true},
		{"stack trace of Puppet 4", json, `{"message":"Server Error: x","issue_kind":"RUNTIME_ERROR","stacktrace":["a:1","b:2"]}`, 500, "Server Error: x", "RUNTIME_ERROR", NotMissing, true},
		{"no kind", "text/pson", `{"message":"x"}`, 404, "x", "", MissingInstance, true},
		{"web server below Puppet Server", "application/json", "{\n\"message\":\"Not Found\",\n\"url\":\"/x\",\n\"status\":\"404\"\n}", 404, "Not Found", "", MissingElsewhere, false},
		{"authority", "text/plain", "Could not find certificate x", 404, "Could not find certificate x", "", MissingInstance, true},
		{"Puppet 2.6", "text/plain", "Could not find facts x", 400, "Could not find facts x", "", NotMissing, true},
		{"another web server", "text/plain; charset=utf-8", "404 page not found\n", 404, "404 page not found", "", MissingElsewhere, false},
		{"a proxy", "text/html", "<html><head><style>a{b}</style><title>502 Bad Gateway</title></head><body>\n<h1>sorry</h1></body></html>", 502, "502 Bad Gateway sorry", "", NotMissing, false},
		{"empty", "", "", 404, "", "", MissingElsewhere, false},
		{"cut off", json, `{"message":"Not Fo`, 404, `{"message":"Not Fo`, "", MissingElsewhere, false},
		{"no text", json, `{"message":17}`, 500, `{"message":17}`, "", NotMissing, false},
		{"not UTF-8", "text/plain", "Could not find \xff", 404, "Could not find \uFFFD", "", MissingInstance, true},
	} {
		e := ParseError(tt.status, tt.kind, []byte(tt.body))
		if e.Message != tt.message || e.Kind != tt.issue || e.Missing() != tt.missing || e.Puppet != tt.puppet || e.Status != tt.status {
			t.Errorf("%s: got %+v, missing %v", tt.name, e, e.Missing())
		}
	}
}

// TestDocuments reads every captured error and writes it again.
func TestDocuments(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/captures/*.body")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b), `"issue_kind"`) {
			continue
		}
		n++
		e := ParseError(500, "application/json;charset=utf-8", b)
		if got := string(e.appendDocument(nil)); got != string(b) {
			t.Errorf("%s:\n got %s\nwant %s", file, got, b)
		}
	}
	if n < 50 {
		t.Errorf("only %d of the captures are error documents", n)
	}
	for m := range MissingElsewhere + 2 {
		if m > 0 && m.String() == "" {
			t.Errorf("Missing(%d) has no name", m)
		}
	}
}

// FuzzParseError holds that any body is an error that can be shown, and that a
// document that was written is read as it was.
func FuzzParseError(f *testing.F) {
	f.Add("application/json", []byte(`{"message":"x","issue_kind":"Y"}`))
	f.Add("text/html", []byte("<html><script>x"))
	f.Add("", []byte("\xff<"))
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		e := ParseError(404, kind, body)
		if !utf8.ValidString(e.Message) && !strings.HasPrefix(kind, "application/json") && !strings.HasPrefix(kind, "text/pson") {
			t.Fatalf("%q is not UTF-8", e.Message)
		}
		_ = e.Missing().String()
		again := ParseError(404, "application/json", e.appendDocument(nil))
		if again.Kind != e.Kind && utf8.ValidString(e.Kind) || again.Message != strings.ToValidUTF8(e.Message, "\uFFFD") {
			t.Fatalf("%+v was read as %+v", e, again)
		}
	})
}

// FuzzForm holds that any form is read, and that what was read is what it is
// after it has been written.
func FuzzForm(f *testing.F) {
	f.Add("a=1&b=x+y&a=2&c=%zz&=&&d")
	f.Fuzz(func(t *testing.T, text string) {
		p := parseParameters(nil, text)
		again := parseParameters(nil, p.encode())
		if len(p) != len(again) {
			t.Fatalf("%q: %v, %v", text, p, again)
		}
		for i := range p {
			if p[i] != again[i] {
				t.Fatalf("%q: %v, %v", text, p[i], again[i])
			}
		}
		var q parameters
		if err := q.addAll(p.options()); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	})
}

// FuzzAccept holds that negotiation gives supported formats or a refusal.
func FuzzAccept(f *testing.F) {
	f.Add("application/json, text/pson;q=0.1, */*", "gzip;q=1.0, x")
	f.Fuzz(func(t *testing.T, accept, encoding string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header["Accept"] = []string{accept}
		for _, name := range []string{"node", "catalog", "file_content", "nosuch"} {
			c := &call{r: r, req: &indirector.Request{Indirection: name}}
			formats, err := c.formats("")
			if err != nil && asError(err).Status != 406 || err == nil && len(formats) == 0 {
				t.Fatalf("%q: %v, %v", accept, formats, err)
			}
			class, ok := model.Lookup(name)
			for _, g := range formats {
				if ok && !class.Supports(g.Name) {
					t.Fatalf("%q: %s of %s", accept, g.Name, name)
				}
			}
		}
		_ = acceptsGzip([]string{encoding})
	})
}

// TestNegotiation is REST-FMT-03 and REST-FMT-04.
func TestNegotiation(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]string{
		"text/pson, application/json":                            "pson",
		"application/json;q=0.1, text/pson;q=1":                  "json",
		"application/json; charset=utf-8, application/x-msgpack": "msgpack",
		"APPLICATION/JSON":                                       "json", "*/*": "json", "pson": "pson", "nonsense,,text/yaml": "yaml", "text/html": "", "": "",
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header["Accept"] = []string{accept}
		formats, err := (&call{r: r, req: &indirector.Request{Indirection: "node"}}).formats("")
		got := ""
		if err == nil {
			got = formats[0].Name
		}
		if got != want {
			t.Errorf("Accept %q: got %q, %v; want %q", accept, got, err, want)
		}
	}
	for _, name := range []string{"catalog", "certificate", "file_content"} {
		class, _ := model.Lookup(name)
		for _, f := range class.Formats {
			if _, ok := contentType[f]; !ok {
				t.Errorf("there is no Content-Type for %s", f)
			}
		}
	}
	for encoding, want := range map[string]bool{
		"gzip;q=1.0,deflate;q=0.6,identity;q=0.3": true, "gzip": true, "deflate, GZIP ; q=0.5": true, "gzip;q=0": false, "gzip;q=0.0": false, "": false, "identity": false,
	} {
		if got := acceptsGzip([]string{encoding}); got != want {
			t.Errorf("Accept-Encoding %q: %v", encoding, got)
		}
	}
}
