package rest

import (
	"errors"
	"io"
	"math/big"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/quick"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// sent returns the message as a server sees it.
func sent(t testing.TB, m *Message) *http.Request {
	t.Helper()
	body := io.NopCloser(strings.NewReader(""))
	if m.Body != nil {
		var err error
		if body, err = m.Body.Open(); err != nil {
			t.Fatalf("request %s %s: %v", m.Method, m.Target(), err)
		}
	}
	return httptest.NewRequestWithContext(t.Context(), m.Method, m.Target(), body)
}

// decoded sends req and reads it at the other end.
func decoded(t testing.TB, e Encoding, s Space, req *indirector.Request) (*indirector.Request, error) {
	t.Helper()
	m, err := e.Encode(req)
	if err != nil {
		t.Fatalf("encode %+v: %v", req, err)
	}
	r := sent(t, m)
	r.Header = m.Header
	return s.Decode(r)
}

// TestTable compares the spellings with the rules for reading them.
func TestTable(t *testing.T) {
	t.Parallel()
	for _, ind := range table {
		if name, many := singular(ind.name); name != ind.name || many {
			t.Errorf("singular(%q) = %q, %v", ind.name, name, many)
		}
		if name, many := singular(ind.plural); name != ind.name || !many {
			t.Errorf("singular(%q) = %q, %v; want %q", ind.plural, name, many, ind.name)
		}
	}
	for plural, want := range map[string]string{ // REST-PLU-02, REST-PLU-04
		"nodes": "node", "file_metadatas": "file_metadata", "facts_search": "facts", "statuses": "status",
		"certificate_statuses": "certificate_status", "node_search": "node", "status_search": "status",
	} {
		if name, many := singular(plural); name != want || !many {
			t.Errorf("REST-PLU-02: singular(%q) = %q, %v; want %q", plural, name, many, want)
		}
	}
}

// TestEncode compares what is sent with Puppet's agent.
func TestEncode(t *testing.T) {
	t.Parallel()
	facts := &model.Facts{Name: "web01", Values: data.OfHash([]data.Pair{data.P("kernel", data.OfString("Linux"))})}
	for _, tt := range []struct {
		name string
		e    Encoding
		req  indirector.Request
		line string
		head map[string]string
		body string
	}{
		{
			name: "REST 8.1 node", req: indirector.Request{
				Indirection: "node", Verb: indirector.Find, Key: "web01", Environment: "production",
				Options: []indirector.Option{{Name: "transaction_uuid", Value: "ac5"}},
			},
			line: "GET /puppet/v3/node/web01?environment=production&configured_environment=production&transaction_uuid=ac5",
			head: map[string]string{"Accept": "application/json, application/x-msgpack, text/pson"},
		},
		{
			name: "REST 8.3 pluginfacts", req: indirector.Request{
				Indirection: "file_metadata", Verb: indirector.Search, Key: "pluginfacts", Environment: "production",
				Options: []indirector.Option{
					{Name: "ignore", Value: []string{".svn", "CVS", ".git", ".hg"}},
					{Name: "recurse", Value: true},
					{Name: "max_files", Value: -1},
					{Name: "links", Value: "follow"},
					{Name: "checksum_type", Value: "sha256"},
					{Name: "source_permissions", Value: "use"},
				},
			},
			line: "GET /puppet/v3/file_metadatas/pluginfacts?recurse=true&max_files=-1&ignore=.svn&ignore=CVS&ignore=.git&ignore=.hg&links=follow&checksum_type=sha256&source_permissions=use&environment=production",
		},
		{
			name: "REST-URL-06 path", req: indirector.Request{Indirection: "file_content", Verb: indirector.Find, Key: "modules/demo/a b%#?é/~x+y", Environment: "production"},
			line: "GET /puppet/v3/file_content/modules/demo/a%20b%25%23%3F%C3%A9%2F~x%2By?environment=production",
			head: map[string]string{"Accept": "application/octet-stream"},
		},
		{
			name: "REST 3.1 catalog", req: indirector.Request{
				Indirection: "catalog", Verb: indirector.Find, Key: "web01", Environment: "production",
				Options: []indirector.Option{{Name: "facts_for_catalog", Value: facts}, {Name: "transaction_uuid", Value: "ac5"}},
			},
			line: "POST /puppet/v3/catalog/web01?environment=production",
			head: map[string]string{
				"Accept":       "application/vnd.puppet.rich+json, application/json, application/vnd.puppet.rich+msgpack, application/x-msgpack, text/pson",
				"Content-Type": "application/x-www-form-urlencoded",
			},
			body: "facts_format=application%2Fjson&facts=%257B%2522name%2522%253A%2522web01%2522%252C%2522values%2522%253A%257B%2522kernel%2522%253A%2522Linux%2522%257D%257D" +
				"&environment=production&configured_environment=production&check_environment=false&transaction_uuid=ac5&job_uuid=&static_catalog=" +
				"&checksum_type=sha256.sha384.sha512.sha224.md5",
		},
		{
			name: "REST 3.1 catalog without facts", req: indirector.Request{Indirection: "catalog", Verb: indirector.Find, Key: "web01"},
			line: "POST /puppet/v3/catalog/web01?environment=production",
			body: "facts_format=application%2Fjson&facts=null&environment=production&configured_environment=production&check_environment=false" +
				"&transaction_uuid=&job_uuid=&static_catalog=&checksum_type=sha256.sha384.sha512.sha224.md5",
		},
		{
			name: "a catalog that was asked for without facts goes on as it came",
			req:  indirector.Request{Indirection: "catalog", Verb: indirector.Find, Key: "web01", Remote: &indirector.Remote{Node: "web01"}},
			line: "GET /puppet/v3/catalog/web01?environment=production",
		},
		{
			name: "REST-FMT-02 preferred pson", e: Encoding{Preferred: "pson"},
			req:  indirector.Request{Indirection: "facts", Verb: indirector.Save, Key: "web01", Instance: facts, Environment: "production"},
			line: "PUT /puppet/v3/facts/web01?environment=production",
			head: map[string]string{"Accept": "text/pson, application/x-msgpack, application/json", "Content-Type": "text/pson"},
			body: `{"name":"web01","values":{"kernel":"Linux"}}`,
		},
		{
			name: "REST-FMT-02 preferred msgpack", e: Encoding{Preferred: "msgpack"},
			req:  indirector.Request{Indirection: "catalog", Verb: indirector.Destroy, Key: "web01"},
			line: "DELETE /puppet/v3/catalog/web01?environment=production",
			head: map[string]string{"Accept": "application/vnd.puppet.rich+msgpack, application/x-msgpack, application/vnd.puppet.rich+json, application/json, text/pson"},
		},
		{
			name: "bucket", req: indirector.Request{
				Indirection: "file_bucket_file", Verb: indirector.Save, Key: "sha256/ab12//tmp/a",
				Instance: &model.FileBucketFile{Contents: model.Bytes("kept")},
			},
			line: "PUT /puppet/v3/file_bucket_file/sha256/ab12//tmp/a?environment=production",
			head: map[string]string{"Accept": "application/octet-stream", "Content-Type": "application/octet-stream"},
			body: "kept",
		},
		{
			name: "facts search, spelled as servers understand it (REST-PLU-03)",
			req:  indirector.Request{Indirection: "facts", Verb: indirector.Search, Key: "x"},
			line: "GET /puppet/v3/facts_search/x?environment=production",
		},
		{
			name: "authority", req: indirector.Request{Indirection: "certificate", Verb: indirector.Find, Key: "ca"},
			line: "GET /puppet-ca/v1/certificate/ca",
		},
		{
			name: "REST-URL-05 legacy", e: Encoding{Legacy: true}, req: indirector.Request{Indirection: "file_metadata", Verb: indirector.Search, Key: "plugins", Environment: "test"},
			line: "GET /test/file_metadatas/plugins",
			head: map[string]string{"Accept": "pson, msgpack, json"},
		},
		{
			name: "REST-CLI-10 legacy catalog", e: Encoding{Legacy: true},
			req: indirector.Request{
				Indirection: "catalog", Verb: indirector.Find, Key: "web01",
				Options: []indirector.Option{{Name: "facts_for_catalog", Value: facts}},
			},
			line: "GET /production/catalog/web01?facts_format=pson&facts=%257B%2522name%2522%253A%2522web01%2522%252C%2522values%2522%253A%257B%2522kernel%2522%253A%2522Linux%2522%257D%257D&transaction_uuid=&job_uuid=&static_catalog=&checksum_type=sha256.sha384.sha512.sha224.md5",
		},
		{
			name: "what the caller accepts", req: indirector.Request{
				Indirection: "node", Verb: indirector.Find, Key: "web01", Wants: &indirector.Wants{Wire: &indirector.Wire{Accept: []string{"text/pson", "*/*"}}},
			},
			line: "GET /puppet/v3/node/web01?environment=production&configured_environment=production",
			head: map[string]string{"Accept": "text/pson, */*"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, err := tt.e.Encode(&tt.req)
			if err != nil {
				t.Fatal(err)
			}
			if got := m.Method + " " + m.Target(); got != tt.line {
				t.Errorf("line\n got %s\nwant %s", got, tt.line)
			}
			for name, want := range tt.head {
				if got := m.Header.Get(name); got != want {
					t.Errorf("%s: got %q, want %q", name, got, want)
				}
			}
			if got := read(t, m.Body); got != tt.body {
				t.Errorf("body\n got %s\nwant %s", got, tt.body)
			}
		})
	}
}

func read(t testing.TB, c model.Contents) string {
	t.Helper()
	if c == nil {
		return ""
	}
	r, err := c.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Catalogs are sent as Puppet 7.23 renders them for each value of rich_data.
func TestEncodePlain(t *testing.T) {
	t.Parallel()
	catalog := &model.Catalog{Name: "web01", Resources: []model.Resource{{
		Type: "Rich", Title: "r",
		Parameters: data.OfHash([]data.Pair{data.P("x", data.OfHash([]data.Pair{data.P("__ptype", data.OfString("Regexp")), data.P("__pvalue", data.OfString("a/b"))}))}),
	}}}
	for _, tt := range []struct {
		plain                       bool
		contentType, body, warnings string
	}{
		{false, "application/vnd.puppet.rich+json", `"parameters":{"x":{"__ptype":"Regexp","__pvalue":"a/b"}}`, ""},
		{true, "application/json", `"parameters":{"x":"/a\\/b/"}`, `Rich[r]['x'] contains a Regexp value. It will be converted to the String '/a\/b/'`},
	} {
		m, err := Encoding{Plain: tt.plain}.Encode(&indirector.Request{Indirection: "catalog", Verb: indirector.Save, Key: "web01", Environment: "production", Instance: catalog})
		if err != nil {
			t.Fatal(err)
		}
		body := string(m.Body.(model.Bytes))
		if got := m.Header.Get("Content-Type"); got != tt.contentType || !strings.Contains(body, tt.body) || strings.Join(m.Warnings, "\n") != tt.warnings {
			t.Errorf("plain %v: got %s %s, warnings %q", tt.plain, got, body, m.Warnings)
		}
	}
}

// TestEncodeRefuses is what cannot be written. Rule REST-PAR-06.
func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	for _, req := range []*indirector.Request{
		{Indirection: "node", Verb: indirector.Expire, Key: "x"},
		{Indirection: "facts", Verb: indirector.Save, Key: "x"},
		{Indirection: "facts", Verb: indirector.Save, Key: "x", Instance: &model.FileContent{}},
		{Indirection: "file_metadata", Verb: indirector.Find, Key: "x", Options: []indirector.Option{{Name: "links", Value: struct{}{}}}},
		{Indirection: "file_metadata", Verb: indirector.Search, Key: "x", Options: []indirector.Option{{Name: "ignore", Value: []any{nil}}}},
	} {
		if m, err := (Encoding{}).Encode(req); err == nil && req.Instance == nil {
			t.Errorf("%v %s: got %+v, want an error", req.Verb, req.Indirection, m)
		}
	}
}

// generate makes a request that can go over the network and has nothing that
// the network changes.
func generate(rnd *rand.Rand) *indirector.Request {
	text := func(alphabet string, most int) string {
		runes := []rune(alphabet)
		var b strings.Builder
		for range 1 + rnd.IntN(most) {
			b.WriteRune(runes[rnd.IntN(len(runes))])
		}
		return b.String()
	}
	const strange = "ab/é世 %?#&=+;:@!$'()*,[]{}\"\\<>^`|~-_.\n\t\x7f"
	req := &indirector.Request{
		Indirection: table[rnd.IntN(len(table))].name, Verb: indirector.Verb(1 + rnd.IntN(5)),
		Environment: text("abcXYZ_019", 8), Remote: new(indirector.Remote),
	}
	for req.Key = "."; relative(req.Key); {
		req.Key = text(strange, 30)
	}
	value := func() any {
		switch rnd.IntN(5) {
		case 0:
			return rnd.IntN(2) == 0
		case 1:
			return rnd.Int64N(1 << 40)
		case 2:
			return float64(rnd.IntN(1<<20)) / 8
		case 3:
			n, _ := new(big.Int).SetString("9"+text("0123456789", 30)+"0000000000000000000", 10)
			return n
		}
		return "-" + text(strange, 12)
	}
	for i := range rnd.IntN(20) {
		name := text("abcxyz_[]&= é", 6) + string(rune('a'+i))
		if rnd.IntN(4) > 0 {
			req.Options = append(req.Options, indirector.Option{Name: name, Value: value()})
			continue
		}
		l := []any{value(), value()}
		for range rnd.IntN(3) {
			l = append(l, value())
		}
		req.Options = append(req.Options, indirector.Option{Name: name, Value: l})
	}
	if rnd.IntN(3) == 0 {
		req.Flags = traces.Flags(rnd.IntN(16))
	}
	if req.Indirection == "catalog" && rnd.IntN(2) == 0 {
		req.Options = append(req.Options, indirector.Option{Name: "facts_format", Value: "application/json"}, indirector.Option{Name: "facts", Value: "%7B%22" + text(strange, 30)})
	}
	if req.Verb != indirector.Save {
		return req
	}
	switch req.Indirection {
	case "facts":
		req.Instance = &model.Facts{Name: "web01", Values: data.OfHash([]data.Pair{data.P("k", data.OfString(text(strange, 20)))})}
	case "file_bucket_file":
		req.Instance = &model.FileBucketFile{Contents: model.Bytes(text(strange, 100))}
	default:
		req.Verb = indirector.Find
	}
	return req
}

var equalRequests = cmp.Options{
	cmp.Comparer(func(a, b *big.Int) bool { return a.Cmp(b) == 0 }),
	cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Instance" || p.Last().String() == ".Remote" }, cmp.Ignore()),
	cmp.AllowUnexported(indirector.Request{}),
}

// TestRoundTrip is the property: decoding what was encoded gives the request
// back, in both spellings of URLs.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	property := func(seed uint64, legacy bool) bool {
		req := generate(rand.New(rand.NewPCG(seed, 1)))
		if legacy && lookup(req.Indirection).ca {
			return true // the environment of its path counts for nothing
		}
		got, err := decoded(t, Encoding{Legacy: legacy}, Space{Legacy: true}, req)
		if err != nil {
			t.Errorf("seed %d: %+v: %v", seed, req, err)
			return false
		}
		if lookup(req.Indirection).ca {
			req.Environment = ""
		}
		if diff := cmp.Diff(req, got, equalRequests); diff != "" {
			t.Errorf("seed %d, sent and read:\n%s", seed, diff)
			return false
		}
		return sameInstance(t, req.Instance, got.Instance)
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 3000}); err != nil {
		t.Error(err)
	}
}

func sameInstance(t *testing.T, want, got indirector.Instance) bool {
	t.Helper()
	switch w := want.(type) {
	case *model.FileBucketFile:
		if text := read(t, got.(*model.FileBucketFile).Contents); text != read(t, w.Contents) {
			t.Errorf("contents: got %q", text)
			return false
		}
	case *model.Facts:
		if g := got.(*model.Facts); !data.Equal(g.Values, w.Values) {
			t.Errorf("facts: got %v, want %v", g.Values, w.Values)
			return false
		}
	}
	return true
}

// TestDecodeRefuses has the checks in their order. Rules REST-URL-02,
// REST-URL-03, REST-PAR-01.
func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line, message string
		status        int
	}{
		{"GET /puppet/v3/no-de/x?environment=production", "Bad Request: The indirection name must be purely alphanumeric, not 'no-de'", 400},
		{"OPTIONS /puppet/v3/node/x", "Method Not Allowed: No support for http method OPTIONS", 405},
		{"PUT /puppet/v3/nodes/x", "Bad Request: No support for plurality singular for PUT operations", 400},
		{"GET /puppet/v3/certificate/x", "Bad Request: Indirection 'certificate' does not match url prefix '/puppet/v3'", 400},
		{"GET /puppet-ca/v1/node/x", "Bad Request: Indirection 'node' does not match url prefix '/puppet-ca/v1'", 400},
		{"GET /puppet/v3/nosuch/x", "Not Found: Could not find indirection 'nosuch'", 404},
		{"GET /puppet/v3/node/", "Bad Request: An environment parameter must be specified", 400},
		{"GET /puppet/v3/node/?environment=no-such.env", "Bad Request: The environment must be purely alphanumeric, not 'no-such.env'", 400},
		{"GET /puppet/v3/node/x?environment=production&environment=staging", `Bad Request: The environment must be purely alphanumeric, not '["production", "staging"]'`, 400},
		{"GET /puppet/v3/node/?environment=production", "Bad Request: No request key specified in /puppet/v3/node/", 400},
		{"GET /puppet/v3/node?environment=production", "Bad Request: No request key specified in /puppet/v3/node", 400},
		{"GET /production/node/x", "Not Found: No route for GET /production/node/x", 404},
		{"GET /puppet/v3/file_content/m/../x", "Invalid relative path (.. or .) in: /puppet/v3/file_content/m/../x", 400},
		{"GET /puppet/v3/file_content/m/%2e%2e/x", "Invalid relative path (.. or .) in: /puppet/v3/file_content/m/../x", 400},
		{"GET /puppet/v3/file_content/m/..%2fx", "Invalid relative path (.. or .) in: /puppet/v3/file_content/m/../x", 400},
		{"GET /puppet/v3/file_content/m/.%2Fx", "Invalid relative path (.. or .) in: /puppet/v3/file_content/m/./x", 400},
		{"GET /puppet/v3/file_content/m/%00x", `Bad Request: the path "/puppet/v3/file_content/m/\x00x" holds a NUL`, 400},
		{"GET /puppet/v3/file_content/m/%ff", `Bad Request: the path "/puppet/v3/file_content/m/\xff" is not UTF-8`, 400},
		{"GET /puppet/v3/file_content/m/%c0%ae%c0%ae/x", `Bad Request: the path "/puppet/v3/file_content/m/\xc0\xae\xc0\xae/x" is not UTF-8`, 400},
	} {
		method, target, _ := strings.Cut(tt.line, " ")
		space := Space{Has: func(name string) bool { return name != "nosuch" }}
		req, err := space.Decode(httptest.NewRequest(method, target, nil))
		e := (*Error)(nil)
		if !errors.As(err, &e) || e.Status != tt.status || e.Message != tt.message {
			t.Errorf("%s\n got %+v, %v\nwant %d %s", tt.line, req, err, tt.status, tt.message)
		}
	}
}

// TestParameters is REST-PAR-01 to REST-PAR-03.
func TestParameters(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest("GET", "/puppet/v3/node/web01?environment=production&node=evil&ip=1.2.3.4&authenticated=true&bucket_path=/etc"+
		"&a=true&b=false&c=12&d=1.50&e=-1&f=010&g=08&h=1&h=x&i=&j=%zz&k=a+b&l=99999999999999999999&fail_on_404=true&ignore_cache=false&m=1.&n=.5", nil)
	req, err := Space{}.Decode(r)
	if err != nil {
		t.Fatal(err)
	}
	huge, _ := new(big.Int).SetString("99999999999999999999", 10)
	want := []indirector.Option{
		{Name: "a", Value: true},
		{Name: "b", Value: false},
		{Name: "c", Value: int64(12)},
		{Name: "d", Value: 1.5},
		{Name: "e", Value: "-1"},
		{Name: "f", Value: int64(8)},
		{Name: "g", Value: "08"},
		{Name: "h", Value: []any{int64(1), "x"}},
		{Name: "i", Value: ""},
		{Name: "k", Value: "a b"},
		{Name: "l", Value: huge},
		{Name: "m", Value: "1."},
		{Name: "n", Value: ".5"},
	}
	if diff := cmp.Diff(want, req.Options, equalRequests); diff != "" {
		t.Error(diff)
	}
	if req.Remote != nil || req.Flags != traces.FailOn404 {
		t.Errorf("got remote %+v, flags %v", req.Remote, req.Flags.Names())
	}
}

// TestForm is what counts where query and form differ: the form, as captured
// (050).
func TestForm(t *testing.T) {
	t.Parallel()
	form := "environment=production&facts_format=application%2Fjson&facts=%257B%257D&static_catalog=false"
	r := httptest.NewRequest("POST", "/puppet/v3/catalog/web01?environment=nosuch&a=1", strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	req, err := Space{}.Decode(r)
	if err != nil || req.Environment != "production" || req.Option("facts") != "%7B%7D" || req.Option("static_catalog") != false || req.Option("a") != int64(1) {
		t.Errorf("got %+v, %v", req, err)
	}
	r = httptest.NewRequest("POST", "/puppet/v3/catalog/web01?environment=production", strings.NewReader(form))
	r.Header.Set("Content-Type", formType)
	var e *Error
	if _, err := (Space{Form: 10}).Decode(r); !errors.As(err, &e) || e.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("too large: got %v", err)
	}
}

// TestReadInstance is REST-FMT-07.
func TestReadInstance(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ path, kind, body, message string }{
		{"facts/web01", "", "{}", "Bad Request: No Content-Type header was received, it isn't possible to unserialize the request"},
		{"facts/web01", "text/html; charset=utf-8", "{}", "Unsupported Media Type: Client sent a mime-type (text/html) that doesn't correspond to a format we support"},
		{"facts/web01", "text/yaml", "---", "Unsupported Media Type: Client sent a mime-type (text/yaml) that doesn't correspond to a format we support"},
		{"facts/web01", "application/octet-stream", "", "Unsupported Media Type: Client sent a mime-type (application/octet-stream) that doesn't correspond to a format we support"},
		{"file_bucket_file/sha256/a", "application/json", "{}", "Unsupported Media Type: Client sent a mime-type (application/json) that doesn't correspond to a format we support"},
		{"facts/web01", "application/json;charset=UTF-8", `{"name": `, "Bad Request: The request body is invalid: Could not intern from json: unexpected end at line 1 column 10"},
		{"report/web01", "application/json", `{}`, "Bad Request: The request body is invalid: Could not intern from json: undefined method `each' for nil:NilClass"},
	} {
		r := httptest.NewRequest("PUT", "/puppet/v3/"+tt.path+"?environment=production", strings.NewReader(tt.body))
		if tt.kind != "" {
			r.Header.Set("Content-Type", tt.kind)
		}
		if _, err := (Space{}).Decode(r); err == nil || err.Error() != tt.message {
			t.Errorf("%s %s %s\n got %v\nwant %s", tt.path, tt.kind, tt.body, err, tt.message)
		}
	}
}

// early ends too early.
type early struct{ io.Reader }

func (e early) Read(b []byte) (int, error) {
	n, err := e.Reader.Read(b)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// TestEarlyEnd: a body that ends early is an error.
func TestEarlyEnd(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest("PUT", "/puppet/v3/file_bucket_file/sha256/a?environment=production", early{strings.NewReader("half")})
	r.Header.Set("Content-Type", "application/octet-stream")
	req, err := Space{}.Decode(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := req.Instance.(*model.FileBucketFile).Contents.Open()
	if err != nil {
		t.Fatal(err)
	}
	var e *Error
	if b, err := io.ReadAll(body); !errors.As(err, &e) || e.Status != 400 || errors.Is(err, io.ErrUnexpectedEOF) || string(b) != "half" {
		t.Errorf("got %q, %v", b, err)
	}
	r = httptest.NewRequest("PUT", "/puppet/v3/facts/a?environment=production", early{strings.NewReader(`{"name":"a"}`)})
	r.Header.Set("Content-Type", "application/json")
	if _, err := (Space{}).Decode(r); !errors.As(err, &e) || e.Status != 400 {
		t.Errorf("got %v", err)
	}
}

// FuzzDecode: any URL and form is a request or an *Error, and the request
// survives the network unchanged.
func FuzzDecode(f *testing.F) {
	f.Add("/puppet/v3/node/web01?environment=production", "", false)
	f.Add("/puppet/v3/catalog/web01?environment=production", "facts=%257B&facts_format=pson&a=1&a=2", true)
	f.Add("/puppet/v3/file_content//tmp/../a%2f%00%ff?environment=x&a=010&b=1.50&c=%zz", "", false)
	f.Add("/production/file_metadatas/plugins?ignore=a&ignore=b", "", false)
	f.Fuzz(func(t *testing.T, target, form string, post bool) {
		method, body := "GET", io.Reader(nil)
		if post {
			method, body = "POST", strings.NewReader(form)
		}
		r, err := http.NewRequestWithContext(t.Context(), method, "https://puppet:8140", body)
		if err != nil {
			t.Fatal(err)
		}
		if r.URL, err = r.URL.Parse(target); err != nil {
			return
		}
		r.Header.Set("Content-Type", formType)
		space := Space{Legacy: true}
		req, err := space.Decode(r)
		if e := (*Error)(nil); err != nil {
			if !errors.As(err, &e) || e.Status < 400 || e.Message == "" {
				t.Fatalf("%q: got %v", target, err)
			}
			return
		}
		if relative(req.Key) {
			t.Fatalf("%q: the key is %q", target, req.Key)
		}
		req.Remote = new(indirector.Remote)
		again, err := decoded(t, Encoding{}, space, req)
		if err != nil {
			t.Fatalf("%q: %+v: %v", target, req, err)
		}
		if lookup(req.Indirection).ca {
			again.Environment = req.Environment
		}
		if diff := cmp.Diff(req, again, equalRequests); diff != "" {
			t.Fatalf("%q:\n%s", target, diff)
		}
	})
}
