package rest_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/model"
	wire "indirtui/indirector/network/rest"
)

// captures is where the answers of a real server are.
const captures = "../../indirector/network/rest/testdata/captures"

// A capture is a question to a real server, and its answer.
type capture struct {
	name   string
	line   string // of the request, without the version
	asked  http.Header
	sent   string
	status int
	header http.Header
	body   string
}

func readCaptures(t *testing.T) []capture {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(captures, "[0-9]*.http"))
	if err != nil || len(files) < 170 {
		t.Fatalf("%d captures, %v", len(files), err)
	}
	var all []capture
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(string(b), "\n") // the client
		r := textproto.NewReader(bufio.NewReader(strings.NewReader(strings.ReplaceAll(text, "\r", "") + "\n\n")))
		c := capture{name: strings.TrimSuffix(filepath.Base(path), ".http")}
		line, err := r.ReadLine()
		if err != nil {
			t.Fatal(err)
		}
		c.line = strings.TrimSuffix(line, " HTTP/1.1")
		asked, err := r.ReadMIMEHeader()
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		c.asked = http.Header(asked)
		status, err := r.ReadLine()
		if err != nil {
			t.Fatal(err)
		}
		c.status, _ = strconv.Atoi(strings.Fields(status)[1])
		header, err := r.ReadMIMEHeader()
		if err != nil && err != io.EOF {
			t.Fatal(err)
		}
		c.header = http.Header(header)
		for suffix, to := range map[string]*string{".body": &c.body, ".sent": &c.sent} {
			if b, err := os.ReadFile(strings.TrimSuffix(path, ".http") + suffix); err == nil {
				*to = string(b)
			}
		}
		all = append(all, c)
	}
	return all
}

// ruby7 are the verbs that Puppet's rest termini have.
var ruby7 = map[string]string{
	"node": "find", "catalog": "find", "facts": "find save", "report": "save", "file_metadata": "find search", "file_content": "find", "file_bucket_file": "find head save",
}

// question returns the question that would make Puppet's client ask so, and why
// there is none.
func (c *capture) question() (op, string) {
	method, target, _ := strings.Cut(c.line, " ")
	r := httptest.NewRequest(method, target, strings.NewReader(c.sent))
	r.Header = c.asked.Clone()
	r.Header.Set("Accept", "application/json") // any will do to understand the rest
	req, err := wire.Space{}.Parse(r)
	if err != nil {
		return op{}, "no rest terminus asks so: " + err.Error()
	}
	verb := strings.ToLower(req.Verb.String())
	if !strings.Contains(ruby7[req.Indirection], verb) {
		return op{}, "no rest terminus asks so: " + verb + " " + req.Indirection
	}
	o := op{
		name: c.name, indirection: req.Indirection, verb: verb, key: req.Key, environment: req.Environment,
		status: c.status, kind: c.header.Get("Content-Type"), body: c.body, options: map[string]any{},
	}
	for _, option := range req.Options {
		o.options[option.Name] = option.Value
		if option.Name == "fail_on_404" {
			return op{}, "fail_on_404 is not sent"
		}
	}
	if strings.HasPrefix(req.Indirection, "file_") && req.Indirection != "file_bucket_file" {
		o.key = "puppet:///" + req.Key
	}
	if req.Indirection == "catalog" {
		if why := o.takeForm(c); why != "" {
			return op{}, why
		}
	}
	if verb == "save" {
		if why := o.takeInstance(c); why != "" {
			return op{}, why
		}
	}
	return o, ""
}

// takeForm reads the options and facts of a catalog's form.
func (o *op) takeForm(c *capture) (why string) {
	values, err := url.ParseQuery(c.sent)
	if err != nil {
		return err.Error()
	}
	text, err := url.PathUnescape(values.Get("facts"))
	if err != nil || values.Get("facts_format") != "application/json" {
		return "Puppet sends its facts as JSON"
	}
	var facts struct{ Name string }
	if err := json.Unmarshal([]byte(text), &facts); err != nil || facts.Name == "" {
		return "Puppet sends facts"
	}
	o.options = map[string]any{}
	for _, name := range []string{"configured_environment", "transaction_uuid", "checksum_type"} {
		if v := values.Get(name); v != "" {
			o.options[name] = v
		}
	}
	for _, name := range []string{"check_environment", "static_catalog"} {
		if v := values.Get(name); v != "" {
			o.options[name] = v == "true"
		}
	}
	if v := values.Get("environment"); v != "" && !strings.HasSuffix(c.line, "environment="+v) {
		return "Puppet names the same environment twice"
	}
	o.facts = parse("facts", text).(*model.Facts)
	return ""
}

// takeInstance reads what is saved.
func (o *op) takeInstance(c *capture) (why string) {
	o.options = nil
	switch {
	case o.indirection == "file_bucket_file":
		file, err := model.NewFileBucketFile("sha256", []byte(c.sent))
		if err != nil {
			return err.Error()
		}
		o.instance = file
		return ""
	case c.asked.Get("Content-Type") != "application/json":
		return "Puppet sends JSON"
	case !json.Valid([]byte(c.sent)), strings.TrimSpace(c.sent) == "{}":
		return "Puppet sends a whole instance"
	}
	o.instance = parse(o.indirection, c.sent)
	return ""
}

// TestCaptures replays what a real server answered. The result must be that of
// Puppet's own client; and what is sent must be what was captured, except where
// the captured request was not that of Puppet's client.
func TestCaptures(t *testing.T) {
	t.Parallel()
	s, puppet, settings, base := beside(t)
	tried, same, counts := 0, 0, map[string]int{}
	for _, c := range readCaptures(t) {
		o, why := c.question()
		if why != "" {
			continue
		}
		tried++
		t.Run(c.name, func(t *testing.T) {
			s.play(&o)
			want := puppet.ask(t, &o, base)
			wantRequests := s.requests()
			s.play(&o)
			got := newEngine(t, settings).ask(t, &o)
			gotRequests := s.requests()
			want.Message, _, _ = strings.Cut(timeless(want.Message), "\n\n")
			got.Message = timeless(got.Message)
			if o.verb == "head" || o.indirection == "file_bucket_file" && o.verb == "save" {
				want.Value, got.Value = want.Value != nil, got.Value != nil // Puppet returns the response itself
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the answer, -Puppet +ours:\n%s", diff)
			}
			if diff := cmp.Diff(wantRequests, gotRequests); diff != "" {
				t.Errorf("the request, -Puppet +ours:\n%s", diff)
			}
			if len(gotRequests) == 0 {
				t.Fatal("nothing was sent")
			}
			why, difference := c.differs(gotRequests[0])
			if difference != "" {
				t.Errorf("we do not ask as captured:\n%s", difference)
			}
			for _, w := range why {
				counts[w]++
			}
			if len(why) == 0 {
				same++
			}
		})
	}
	t.Logf("%d captures are questions of rest termini, and %d of them were asked byte by byte as captured", tried, same)
	for _, d := range deliberate {
		if counts[d.why] == 0 {
			t.Errorf("it does not happen any more: %s", d.why)
		}
		t.Logf("%d were asked otherwise: %s", counts[d.why], d.why)
	}
}

// deliberate are the differences between the captured requests, which were made
// by hand, and those of Puppet's client. Each removes its difference from both
// requests, and reports whether there was one.
var deliberate = []struct {
	why   string
	alike func(captured, ours *seen) bool
}{
	{"Puppet's client offers all formats of the model, not what the capture tried", func(c, o *seen) bool {
		return swap(&c.Accept, o.Accept)
	}},
	{"Puppet's client finds metadata with GET only", func(c, o *seen) bool {
		line, ok := strings.CutPrefix(c.Line, "POST ")
		if ok && strings.HasPrefix(o.Line, "GET ") {
			c.Line = "GET " + line
			return true
		}
		return false
	}},
	{"Puppet's client has parameters that were left out by hand, and another order", func(c, o *seen) bool {
		path, query, _ := strings.Cut(c.Line, "?")
		ourPath, ours, _ := strings.Cut(o.Line, "?")
		if path == ourPath && query != ours && sameParameters(query, ours) {
			c.Line = o.Line
			return true
		}
		return false
	}},
	{"Puppet's client writes the form of a catalog in its own order, with job_uuid for job_id", func(c, o *seen) bool {
		return c.Body != o.Body && strings.HasPrefix(c.ContentType, "application/x-www-form-urlencoded") && sameParameters(c.Body, o.Body) && swap(&c.Body, o.Body)
	}},
	{"what is sent is the same value, not the same text: the file was written by hand", func(c, o *seen) bool {
		var a, b any
		return c.Body != o.Body && json.Unmarshal([]byte(c.Body), &a) == nil && json.Unmarshal([]byte(o.Body), &b) == nil && contains(b, a) && swap(&c.Body, o.Body)
	}},
	{"Puppet's client sends files as application/octet-stream", func(c, o *seen) bool {
		return o.ContentType == "application/octet-stream" && swap(&c.ContentType, o.ContentType)
	}},
}

func swap(to *string, s string) bool {
	was := *to
	*to = s
	return was != s
}

// sameParameters compares without the order, and without those that Puppet's
// client always sends.
func sameParameters(captured, ours string) bool {
	a, err := url.ParseQuery(captured)
	if err != nil {
		return false
	}
	b, err := url.ParseQuery(ours)
	if err != nil {
		return false
	}
	for _, name := range []string{"job_id", "job_uuid", "check_environment", "static_catalog", "configured_environment", "checksum_type", "transaction_uuid", "fail_on_404"} {
		if a.Get(name) == "" || b.Get(name) == "" {
			delete(a, name)
			delete(b, name)
		}
	}
	return reflect.DeepEqual(a, b)
}

// contains reports whether all of b is in a: Puppet's classes write members that
// may be left out.
func contains(a, b any) bool {
	switch b := b.(type) {
	case map[string]any:
		m, ok := a.(map[string]any)
		for k, v := range b {
			ok = ok && contains(m[k], v)
		}
		return ok
	case []any:
		l, ok := a.([]any)
		ok = ok && len(l) == len(b)
		for i := range b {
			ok = ok && contains(l[i], b[i])
		}
		return ok
	}
	return reflect.DeepEqual(a, b)
}

// differs removes the deliberate differences from both requests, and returns
// their reasons and the others.
func (c *capture) differs(got seen) (why []string, diff string) {
	want := seen{Line: c.line, Accept: c.asked.Get("Accept"), ContentType: c.asked.Get("Content-Type"), Agent: c.asked.Get("User-Agent"), Version: c.asked.Get("X-Puppet-Version"), Body: c.sent}
	got.Encoding, got.Length = "", ""
	for _, d := range deliberate {
		if d.alike(&want, &got) {
			why = append(why, d.why)
		}
	}
	return why, cmp.Diff(want, got)
}
