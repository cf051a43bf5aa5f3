package export_test

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"indirtui/indirector/host/files"
	"indirtui/traces"
	"indirtui/traces/export"
	"indirtui/traces/leaktest"
	"indirtui/traces/store"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const run = "0123abcd-89ab-4cde-8f01-23456789abcd"

var start = time.Date(2025, 11, 20, 14, 3, 11, 123456789, time.UTC)

// hides stands for a redactor: it hides the word hunter2, and what is called
// password.
func hides(s string) (string, int) {
	const token = "(masked password, 7 B, tag 0a1b)"
	n := strings.Count(s, "hunter2")
	return strings.ReplaceAll(s, "hunter2", token), n
}

// hostile is text that a terminal would obey, or show as nothing.
const hostile = "a\x1b[31mb\u202ec\u200dd\u009be\xff\U000e0001"

// site is a store with a run of three requests: a catalog that fails, a node
// that its terminus asked for, and facts without a run.
func site(t testing.TB, o store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	n := 0
	add := func(tr *traces.Trace, instance any) {
		n++
		tr.Start, tr.Took = start.Add(time.Duration(n)*time.Second), 40*time.Millisecond
		tr.ID = s.Begin(tr)
		s.End(tr, instance)
	}
	slot := func(terminus string, by traces.SourceKind, place string) traces.Slot {
		return traces.Slot{{Terminus: terminus, Kind: by, Source: place}}
	}
	catalog := &traces.Trace{
		Verb: traces.Find, Indirection: "catalog", Key: "web01", Run: run, Caller: "agent", Environment: "production",
		Primary: slot("rest", traces.FromApplication, "application agent"), Cache: slot("json", traces.FromSetting, "puppet.conf:3"),
		Outcome: traces.Err, Error: "Error 500 on SERVER: no role",
		Options: []traces.Option{{Name: "checksum_type", Value: "md5"}},
		Faults:  []traces.Fault{{Origin: "network", Step: traces.Terminus, Message: "Error 500 on SERVER: no role", Hidden: "secret=hunter2", Shown: true}},
		Spans: []traces.Span{
			{
				ID: 1, Step: traces.Terminus, Kind: traces.Network, Name: "POST https://puppet:8140/puppet/v3/catalog/web01?environment=production&x=a%20b", Answer: "500 Internal Server Error",
				At: 5 * time.Millisecond, Took: 20 * time.Millisecond, Attrs: []traces.Attr{{Key: "> Accept", Value: "application/json"}, {Key: "< Content-Type", Value: "text/plain"}, {Key: "< Content-Length", Value: "7"}, {Key: "peer", Value: "192.0.2.1:8140"}, {Key: "connection", Value: "new: connect 2ms, TLS 3ms"}, {Key: "wait", Value: "10ms"}, {Key: "read", Value: "1ms"}, {Key: "> X-Authentication", Value: "(masked, 5 bytes)"}},
			},
			{ID: 2, Parent: 1, Step: traces.Terminus, Kind: traces.Codec, Name: "decode " + hostile, Answer: "0 bytes", At: 24 * time.Millisecond, Took: time.Millisecond, Err: "not JSON"},
		},
	}
	catalog.Steps[traces.Route] = traces.Question{Answer: traces.Chosen, Because: traces.Because{Reason: traces.ByApplication, About: "application agent"}}
	catalog.Steps[traces.CacheRead] = traces.Question{Answer: traces.NotAsked, Because: traces.Because{Reason: traces.IgnoredByCaller}}
	catalog.Steps[traces.Terminus] = traces.Question{Answer: traces.Raised, Because: traces.Because{Reason: traces.TerminusRaised, About: "no role"}, At: 4 * time.Millisecond, Took: 30 * time.Millisecond}
	add(catalog, nil)
	add(&traces.Trace{
		Verb: traces.Find, Indirection: "node", Key: "web01", Run: run, Parent: 1, ParentStep: traces.Terminus,
		Primary: slot("exec", traces.FromSetting, "puppet.conf:4"), Outcome: traces.NilHidden, Notes: []traces.Remark{{Step: traces.Terminus, Explains: traces.AnAnswer, Text: "the classifier (ENC) printed nothing, so Puppet has no node"}},
	}, nil)
	facts := &traces.Trace{
		Verb: traces.Save, Indirection: "facts", Key: "=cmd|' /C calc'!A0", Primary: slot("yaml", traces.FromRoutesFile, "routes.yaml:3"), Outcome: traces.Good,
		Notes: []traces.Remark{{Step: traces.Terminus, Explains: traces.AnAnswer, Text: hostile}},
	}
	facts.Values = &traces.Values{Sent: traces.Value{Model: "facts", Format: "json", Body: []byte(`{"name":"web01","values":{"db":[{"pw":"hunter2"}]}}`)}}
	add(facts, nil)
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	return s
}

func all(t testing.TB, s *store.Store) []uint64 {
	t.Helper()
	ids, err := export.Select(s, "")
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func write(t testing.TB, s *store.Store, f export.Format) (string, export.Report) {
	t.Helper()
	var b bytes.Buffer
	r, err := export.Write(&b, s, all(t, s), export.Options{Format: f, Source: "test", Redact: hides})
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), r
}

// Whatever the format, no text controls a terminal, no secret leaves, and
// redactions are reported.
func TestEveryFormatIsSafe(t *testing.T) {
	t.Parallel()
	s := site(t, store.Options{})
	for _, f := range export.Formats() {
		if f == export.Recording {
			continue // store.Save
		}
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			text, r := write(t, s, f)
			if strings.Contains(text, "hunter2") {
				t.Error("a secret is in it")
			}
			for _, r := range text {
				if r != '\n' && r != '\r' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\ufffd') {
					t.Fatalf("%q is in it", r)
				}
			}
			if r.Requests != 3 || r.Redacted == 0 || len(r.List) != r.Redacted {
				t.Errorf("report: %+v", r)
			}
			if f != export.CSV && !strings.Contains(text, "tag 0a1b") && !strings.Contains(text, `"tag":"0a1b"`) {
				t.Errorf("it does not say what is masked:\n%s", text)
			}
		})
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	text, _ := write(t, site(t, store.Options{}), export.JSONL)
	var got []map[string]any
	for line := range strings.Lines(text) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		got = append(got, v)
	}
	if len(got) != 4 {
		t.Fatalf("got %d lines, want 3 requests and an end", len(got))
	}
	if story := got[1]["story"]; story != "the classifier (ENC) printed nothing, so Puppet has no node" {
		t.Errorf("story: %v", story)
	}
	body, _ := json.Marshal(got[2]["sent_body"])
	if want := `{"name":"web01","values":{"db":[{"pw":"(masked password, 7 B, tag 0a1b)"}]}}`; string(body) != want {
		t.Errorf("value:\ngot  %s\nwant %s", body, want)
	}
	list := got[3]["end"].(map[string]any)["list"].([]any)
	var where []string
	for _, m := range list {
		where = append(where, m.(map[string]any)["where"].(string))
	}
	if want := "spans attrs > X-Authentication, faults hidden, sent values.db[0].pw"; strings.Join(where, ", ") != want {
		t.Errorf("list: got %q, want %q", where, want)
	}
}

// What is exported is OTLP to the letter: protobuf's own reader takes it, but
// for ids, which it wants in base64.
func TestOTLP(t *testing.T) {
	t.Parallel()
	text, _ := write(t, site(t, store.Options{}), export.OTLP)
	data := readOTLP(t, text)
	rs := data.GetResourceSpans()
	if len(rs) != 1 || len(rs[0].GetScopeSpans()) != 1 {
		t.Fatalf("got %v", data)
	}
	spans := rs[0].GetScopeSpans()[0].GetSpans()
	by := map[string]*tracev1.Span{}
	for _, s := range spans {
		by[s.GetName()] = s
	}
	catalog, post, node, facts := by["find catalog"], by["network: POST https://puppet:8140/puppet/v3/catalog/web01?environment=production&x=a%20b"], by["find node"], by["save facts"]
	step := by["terminus rest"]
	if catalog == nil || post == nil || node == nil || facts == nil || step == nil || len(spans) != 6 {
		t.Fatalf("got %d spans: %v", len(spans), spans)
	}
	for _, tt := range []struct {
		what      string
		got, want any
	}{
		{"trace id of a run", hex.EncodeToString(catalog.GetTraceId()), strings.ReplaceAll(run, "-", "")},
		{"trace id in a run", hex.EncodeToString(node.GetTraceId()), strings.ReplaceAll(run, "-", "")},
		{"no trace id without a run", len(facts.GetTraceId()), 16},
		{"root", len(catalog.GetParentSpanId()), 0},
		{"parent of a nested request", string(node.GetParentSpanId()), string(catalog.GetSpanId())},
		{"parent of a step", string(step.GetParentSpanId()), string(catalog.GetSpanId())},
		{"parent of work", string(post.GetParentSpanId()), string(step.GetSpanId())},
		{"kind of work over the network", post.GetKind(), tracev1.Span_SPAN_KIND_CLIENT},
		{"kind of a request", catalog.GetKind(), tracev1.Span_SPAN_KIND_INTERNAL},
		{"status", catalog.GetStatus().GetCode(), tracev1.Status_STATUS_CODE_ERROR},
		{"message", catalog.GetStatus().GetMessage(), "Error 500 on SERVER: no role"},
		{"no error", node.GetStatus().GetCode(), tracev1.Status_STATUS_CODE_UNSET},
		{"start", catalog.GetStartTimeUnixNano(), uint64(start.Add(time.Second).UnixNano())},
		{"duration", catalog.GetEndTimeUnixNano() - catalog.GetStartTimeUnixNano(), uint64(40 * time.Millisecond)},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.what, tt.got, tt.want)
		}
	}
	attrs := map[string]string{}
	for _, s := range []*tracev1.Span{catalog, post} {
		for _, a := range s.GetAttributes() {
			attrs[a.GetKey()] = a.GetValue().String()
		}
	}
	for key, want := range map[string]string{
		"puppet.key": "web01", "indirtui.outcome": "err", "indirtui.request": "int_value:1", "puppet.option.checksum_type": "md5",
		"http.request.method": "POST", "http.response.status_code": "int_value:500", "server.address": "puppet", "network.peer.address": "192.0.2.1:8140", "server.port": "int_value:8140",
		"http.request.header.accept": "application/json",
	} {
		if !strings.Contains(attrs[key], want) {
			t.Errorf("attribute %s: got %s, want %s", key, attrs[key], want)
		}
	}
	var events []string
	for _, e := range catalog.GetEvents() {
		events = append(events, e.GetName())
	}
	if got := strings.Join(events, " "); got != "route cache read exception" {
		t.Errorf("events: got %s", got)
	}
}

// What another program's span has asked hangs below that span, in its trace, and
// so does what was asked on the way; also if the run has a number of its own.
func TestOTLPJoined(t *testing.T) {
	t.Parallel()
	p, _ := traces.ParseTraceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	s, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, tr := range []*traces.Trace{
		{Verb: traces.Find, Indirection: "catalog", Key: "web01", Run: run, Start: start, Took: time.Millisecond, Traceparent: &p, Outcome: traces.Good},
		{Verb: traces.Find, Indirection: "node", Key: "web01", Run: run, Start: start, Took: time.Millisecond, Traceparent: &p, Parent: 1, RunGuessed: true, Outcome: traces.Good},
	} {
		tr.ID = s.Begin(tr)
		s.End(tr, nil)
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	text, _ := write(t, s, export.OTLP)
	by := map[string]*tracev1.Span{}
	for _, span := range readOTLP(t, text).GetResourceSpans()[0].GetScopeSpans()[0].GetSpans() {
		by[span.GetName()] = span
		if got := hex.EncodeToString(span.GetTraceId()); got != "4bf92f3577b34da6a3ce929d0e0e4736" {
			t.Errorf("%s: trace %s", span.GetName(), got)
		}
	}
	catalog, node := by["find catalog"], by["find node"]
	if got := hex.EncodeToString(catalog.GetParentSpanId()); got != "00f067aa0ba902b7" || catalog.GetKind() != tracev1.Span_SPAN_KIND_SERVER {
		t.Errorf("the request: below %s, %v", got, catalog.GetKind())
	}
	if !bytes.Equal(node.GetParentSpanId(), catalog.GetSpanId()) || node.GetKind() != tracev1.Span_SPAN_KIND_INTERNAL {
		t.Errorf("what it asked: below %x, %v", node.GetParentSpanId(), node.GetKind())
	}
	if text, _ := write(t, s, export.Story); strings.Count(text, p.String()) != 2 {
		t.Errorf("the story does not say it:\n%s", text)
	}
	// Of the second it is a guess that it is of the run.
	guessed := func(s *tracev1.Span) bool {
		return slices.ContainsFunc(s.GetAttributes(), func(a *commonv1.KeyValue) bool {
			return a.GetKey() == "indirtui.run.guessed" && a.GetValue().GetBoolValue()
		})
	}
	if guessed(catalog) || !guessed(node) {
		t.Errorf("guessed: %v, %v", guessed(catalog), guessed(node))
	}
	for _, tt := range []struct {
		format    export.Format
		sure, not string
	}{
		{export.Story, "  run       " + run + "\n", "  run       ~" + run + "\n"},
		{export.CSV, ",\r\n", ",yes\r\n"},
		{export.JSONL, `"run":"` + run + `","out"`, `"run":"` + run + `","guessed":true,`},
	} {
		text, _ := write(t, s, tt.format)
		if strings.Count(text, tt.sure) != 1 || strings.Count(text, tt.not) != 1 {
			t.Errorf("%s: got\n%s", tt.format, text)
		}
	}
}

// readOTLP reads OTLP/JSON strictly.
func readOTLP(t testing.TB, text string) *tracev1.TracesData {
	t.Helper()
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	var walk func(any)
	walk = func(v any) {
		switch x := v.(type) {
		case []any:
			for _, e := range x {
				walk(e)
			}
		case map[string]any:
			for k, e := range x {
				if id, ok := e.(string); ok && (k == "traceId" || k == "spanId" || k == "parentSpanId") {
					b, err := hex.DecodeString(id)
					if err != nil {
						t.Fatalf("%s %q: %v", k, id, err)
					}
					x[k] = base64.StdEncoding.EncodeToString(b)
				}
				walk(e)
			}
		}
	}
	walk(doc)
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	var data tracev1.TracesData
	if err := protojson.Unmarshal(b, &data); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return &data
}

func TestHAR(t *testing.T) {
	t.Parallel()
	text, r := write(t, site(t, store.Options{}), export.HAR)
	type pair struct{ Name, Value string }
	var doc struct {
		Log struct {
			Version string
			Creator struct{ Name, Version string }
			Entries []struct {
				StartedDateTime time.Time
				Time            float64
				Request         struct {
					Method, URL, HTTPVersion string
					Headers, Cookies         []pair
					QueryString              []pair
					HeadersSize, BodySize    *int
				}
				Response struct {
					Status     int
					StatusText string
					Headers    []pair
					Content    struct {
						Size     int
						MimeType string
					}
				}
				Cache, Timings map[string]float64
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if r.Entries != 1 || len(doc.Log.Entries) != 1 || doc.Log.Version != "1.2" || doc.Log.Creator.Name != "indirtui" {
		t.Fatalf("got %+v of %+v", doc, r)
	}
	e := doc.Log.Entries[0]
	if e.Request.Method != "POST" || e.Request.URL != "https://puppet:8140/puppet/v3/catalog/web01?environment=production&x=a%20b" || e.Request.Headers[0] != (pair{"Accept", "application/json"}) {
		t.Errorf("request: %+v", e.Request)
	}
	if got := e.Request.QueryString; len(got) != 2 || got[1] != (pair{"x", "a b"}) {
		t.Errorf("query: %v", got)
	}
	if e.Response.Status != 500 || e.Response.StatusText != "Internal Server Error" || e.Response.Content.MimeType != "text/plain" || e.Response.Content.Size != 7 {
		t.Errorf("response: %+v", e.Response)
	}
	if sum := e.Timings["send"] + e.Timings["connect"] + e.Timings["wait"] + e.Timings["receive"]; e.Time != 20 || sum != e.Time || e.Timings["dns"] != -1 || e.Timings["ssl"] != 3 {
		t.Errorf("time: got %v in %v", e.Time, e.Timings)
	}
	if e.Request.HeadersSize == nil || e.Request.BodySize == nil || e.Request.Cookies == nil || !e.StartedDateTime.Equal(start.Add(time.Second+5*time.Millisecond)) {
		t.Errorf("what HAR demands is not all there: %s", text)
	}
}

// The value goes along with its exchange, redacted, unless it is too large or
// of a file.
func TestHARBodies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		trace    traces.Trace
		bodies   export.Bodies
		request  string // text of the body of the request
		response string
		want     []string
	}{
		{name: "found", trace: traces.Trace{Verb: traces.Find, Values: &traces.Values{Answer: traces.Value{Model: "node", Body: []byte(`{"pw":"hunter2"}`)}}}, response: `{"pw":"(masked password, 7 B, tag 0a1b)"}`, want: []string{`"_text":"value"`, "masked, as json; the bytes of bodies are not recorded", `"compression":40`, `"size":60`, `"text":"no role for (masked password, 7 B, tag 0a1b)","_text":"message"`}},
		{name: "saved", trace: traces.Trace{Verb: traces.Save, Values: &traces.Values{Sent: traces.Value{Model: "facts", Body: []byte(`{"a":1}`)}}}, request: `{"a":1}`},
		{name: "none wanted", trace: traces.Trace{Verb: traces.Find, Values: &traces.Values{Answer: traces.Value{Model: "node", Body: []byte(`{}`)}}}, bodies: export.NoBody, want: []string{"1 value left out"}},
		{name: "failed wanted", trace: traces.Trace{Verb: traces.Find, Values: &traces.Values{Answer: traces.Value{Model: "node", Body: []byte(`{}`)}}}, bodies: export.FailedBodies, want: []string{"1 value left out"}},
		{name: "large", trace: traces.Trace{Verb: traces.Find, Values: &traces.Values{Answer: traces.Value{Model: "node", Body: []byte(`"` + strings.Repeat("x", export.MaxSmall) + `"`)}}}, want: []string{"more than 1048576"}},
		{name: "large not wanted", trace: traces.Trace{Verb: traces.Find, Values: &traces.Values{Answer: traces.Value{Model: "node", Body: []byte(`"` + strings.Repeat("x", export.MaxSmall) + `"`)}}}, bodies: export.SmallBodies, want: []string{"1 value left out"}},
		{name: "a file", trace: traces.Trace{Verb: traces.Find, Values: &traces.Values{Answer: traces.Value{Model: "file_content", Body: []byte(`{"size":3}`)}}}, want: []string{"contents of files are not recorded"}},
		{name: "from the cache", trace: traces.Trace{Verb: traces.Find, Served: traces.ByCache, Values: &traces.Values{Answer: traces.Value{Model: "node", Body: []byte(`{}`)}}}, want: []string{`"comment":"the bytes of bodies are not recorded"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := store.Open(store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			tr := tt.trace
			tr.Start, tr.Indirection, tr.Key, tr.Outcome = start, "node", "web01", traces.Good
			values := *tr.Values
			for _, v := range []*traces.Value{&values.Answer, &values.Sent} {
				v.Format, v.Size = "json", len(v.Body)
			}
			tr.Values = &values
			method := "GET"
			if tr.Verb == traces.Save {
				method = "PUT"
			}
			for _, status := range []string{"503 Service Unavailable", "200 OK"} {
				tr.Spans = append(tr.Spans, traces.Span{ID: len(tr.Spans) + 1, Step: traces.Terminus, Kind: traces.Network, Name: method + " https://puppet:8140/x", Answer: status, Attrs: []traces.Attr{{Key: "size", Value: "60"}, {Key: "compressed", Value: "20"}}})
				if status[0] == '5' {
					last := &tr.Spans[len(tr.Spans)-1]
					last.Attrs = append(last.Attrs, traces.Attr{Key: "message", Value: "no role for hunter2"})
				}
			}
			tr.ID = s.Begin(&tr)
			s.End(&tr, nil)
			if err := s.Flush(); err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if _, err := export.Write(&b, s, all(t, s), export.Options{Format: export.HAR, Bodies: tt.bodies, Redact: hides}); err != nil {
				t.Fatal(err)
			}
			var doc struct {
				Log struct {
					Entries []struct {
						Request struct {
							PostData *struct{ MimeType, Text string }
						}
						Response struct{ Content struct{ Text string } }
					}
				}
			}
			if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
				t.Fatal(err)
			}
			if len(doc.Log.Entries) != 2 {
				t.Fatalf("%d entries", len(doc.Log.Entries))
			}
			last := doc.Log.Entries[1]
			if got := last.Response.Content.Text; got != tt.response {
				t.Errorf("response: got %q, want %q", got, tt.response)
			}
			if got := doc.Log.Entries[0].Response.Content.Text; got != "no role for (masked password, 7 B, tag 0a1b)" {
				t.Errorf("an exchange that failed has %q", got)
			}
			if got := last.Request.PostData; (got != nil) != (tt.request != "") || got != nil && got.Text != tt.request {
				t.Errorf("request: got %+v, want %q", got, tt.request)
			}
			for _, want := range tt.want {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%q is not said", want)
				}
			}
		})
	}
}

// TestBodies is which values a recording takes along. What is known of them goes
// along always.
func TestBodies(t *testing.T) {
	t.Parallel()
	s, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, o := range []traces.Outcome{traces.Good, traces.NilHidden, traces.Err, traces.Good} {
		body := []byte(strconv.Itoa(i))
		if i == 3 {
			body = bytes.Repeat([]byte("x"), export.MaxSmall+1)
		}
		tr := &traces.Trace{Verb: traces.Find, Indirection: "node", Key: "k", Start: start, Outcome: o, Values: &traces.Values{Answer: traces.Value{Model: "node", Format: "text", Size: len(body), Body: body}}}
		tr.ID = s.Begin(tr)
		s.End(tr, nil)
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		bodies export.Bodies
		want   []uint64
	}{
		{"", []uint64{1, 2, 3, 4}},
		{export.AnyBody, []uint64{1, 2, 3, 4}},
		{export.SmallBodies, []uint64{1, 2, 3}},
		{export.FailedBodies, []uint64{2, 3}},
		{export.NoBody, nil},
	} {
		path := filepath.Join(t.TempDir(), "x.ind")
		f, err := files.Create(path, files.Options{New: true})
		if err != nil {
			t.Fatal(err)
		}
		report, err := export.Save(f, s, all(t, s), export.Options{Bodies: tt.bodies, Redact: hides})
		if err != nil || report.Without != 4-len(tt.want) {
			t.Fatalf("%s: %+v, %v", tt.bodies, report, err)
		}
		r, err := store.OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var got []uint64
		for _, id := range all(t, r) {
			tr, err := r.Trace(id)
			if err != nil || tr.Value().Digest == "" || tr.Value().Size == 0 {
				t.Errorf("%s: #%d is %+v, %v", tt.bodies, id, tr.Value(), err)
				continue
			}
			if _, err := r.Body(tr.Value()); err == nil {
				got = append(got, id)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got the values of %v, want %v", tt.bodies, got, tt.want)
		}
		if events := r.Events(); len(tt.want) < 4 && (len(events) == 0 || !strings.Contains(events[len(events)-1].Text, "saved without")) {
			t.Errorf("%s: the recording does not say it: %v", tt.bodies, events)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestCSV(t *testing.T) {
	t.Parallel()
	text, _ := write(t, site(t, store.Options{}), export.CSV)
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 4 || strings.Join(rows[0], ",") != strings.Join(export.Columns(), ",") {
		t.Fatalf("got %q", rows)
	}
	for i, want := range []string{"1", "2025-11-20T14:03:12.123456789Z", "40000", "err", "find", "catalog", "web01"} {
		if rows[1][i] != want {
			t.Errorf("%s: got %q, want %q", rows[0][i], rows[1][i], want)
		}
	}
	if got := rows[3][6]; got != "'=cmd|' /C calc'!A0" {
		t.Errorf("a formula: got %q", got)
	}
}

func TestStory(t *testing.T) {
	t.Parallel()
	text, _ := write(t, site(t, store.Options{}), export.Story)
	for _, want := range []string{
		"2025-11-20 14:03:12.123Z  #1 find catalog web01  err  40 ms  the server failed: Error 500: no role",
		"  asked     terminus rest: failed",
		"the classifier (ENC) printed nothing, so Puppet has no node",
		`a\x1b[31mb\u202ec\u200dd\x9be\xff\U000e0001`,
		"3 requests; masked 2\n  #1 spans attrs > X-Authentication: header, 5 B\n  #1 faults hidden: password, 7 B, tag 0a1b\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	s := site(t, store.Options{})
	if err := s.SetMark(3, 'a'); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		selector, want string
	}{
		{"", "1 2 3"},
		{"@all", "1 2 3"},
		{"ind=node", "2"},
		{"@run", "1 2"},
		{"@marked", "3"},
		{"#2..3", "2 3"},
		{"@shown", "@shown needs the screen"},
		{"verb==", "at 6"},
	} {
		ids, err := export.Select(s, tt.selector)
		var got strings.Builder
		for _, id := range ids {
			got.WriteString(" " + string(rune('0'+id)))
		}
		if err != nil {
			got.WriteString(err.Error())
		}
		if !strings.Contains(got.String(), tt.want) {
			t.Errorf("%q: got %s, want %s", tt.selector, got.String(), tt.want)
		}
	}
}

// What is exported of a recording is what is exported of the store that wrote
// it, ids and all.
func TestOfARecording(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	live := site(t, store.Options{Path: path})
	want, _ := write(t, live, export.OTLP)
	s, err := store.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, _ := write(t, s, export.OTLP); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	if f, err := export.Parse("OTLP"); err != nil || f != export.OTLP {
		t.Errorf("got %v, %v", f, err)
	}
	if _, err := export.Parse("xml"); err == nil || !strings.Contains(err.Error(), "recording, jsonl, otlp, har, csv, story") {
		t.Errorf("got %v", err)
	}
	if _, ok := traces.TraceID("run 8f3c"); ok {
		t.Error("a name is no UUID")
	}
}

// FuzzSafe makes sure that nothing gets out raw, and that JSON means the same.
func FuzzSafe(f *testing.F) {
	for _, s := range []string{"", "a", hostile, "é\u0301", "\u2028", "👩‍👩‍👧", "\xed\xa0\x80", "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range string(traces.AppendSafe(nil, s)) {
			if !traces.Shows(r) {
				t.Fatalf("%q of %q", r, s)
			}
		}
		plain, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		safe := traces.SafeJSON(plain)
		for _, r := range string(safe) {
			if !traces.Shows(r) {
				t.Fatalf("%q in %s", r, safe)
			}
		}
		var a, b string
		if json.Unmarshal(plain, &a) != nil || json.Unmarshal(safe, &b) != nil || a != b {
			t.Fatalf("%s means %q, %s means %q", plain, a, safe, b)
		}
	})
}
