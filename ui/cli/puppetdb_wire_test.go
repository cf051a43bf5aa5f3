package cli

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"indirtui/traces"
)

const (
	pdbHeaders  = "Host: {host}\r\nAccept: application/json\r\nX-Puppet-Version: 7.23.0\r\nUser-Agent: Puppet/7.23.0 Ruby/2.6.8-p0 (java)\r\nAccept-Encoding: gzip\r\n"
	pdb200      = "200 OK\r\nDate: Fri, 20 Nov 2026 16:03:26 GMT\r\nContent-Type: application/json;charset=utf-8"
	pdbQueued   = `{"uuid":"8c2dfd2e-7f3c-4f38-a7b5-7a6ac4c21b6e"}`
	pdbFacts    = `{"certname":"web01.example.com","values":{"kernel":"Linux","load":1.0e-07},"environment":"production","producer_timestamp":"2026-11-20T16:03:23.884Z","producer":"compiler.example.com"}`
	pdbCatalog  = `{"version":"1","code_id":null,"catalog_uuid":"11111111-2222-3333-4444-555555555555","resources":[{"type":"Notify","title":"x","tags":["notify"],"exported":true,"parameters":{"message":"é"}}],"edges":[],"job_id":null,"certname":"web01.example.com","transaction_uuid":"9c02f0aa-1111-4222-8333-444455556666","environment":"production","producer_timestamp":"2026-11-20T16:03:26.734Z","producer":"compiler.example.com"}`
	pdbInputs   = `{"certname":"web01.example.com","catalog_uuid":"11111111-2222-3333-4444-555555555555","producer_timestamp":"2026-11-20T16:03:26.734Z","inputs":[["hiera","a"]]}`
	pdbCollect  = `["and",["=","type","Notify"],["=","exported",true],["not",["=","certname","web01.example.com"]],["=","tag","shared"]]`
	pdbExported = `[{"tags":["shared"],"file":"/site.pp","type":"Notify","title":"hi","line":3,"resource":"00","environment":"production","certname":"db01.example.com","parameters":{"message":"hello"},"exported":true}]`
)

// commands is a command as Puppet sends it; as are its parameters without the
// timestamp.
func commandOf(name, version, more, body string) string {
	return "POST /pdb/cmd/v1?checksum=0000&version=" + version + "&certname=web01.example.com&command=" + name + "&producer-timestamp=2026-11-20T16:03:26.734Z HTTP/1.1\r\n" +
		pdbHeaders + "Content-Type: application/json; charset=utf-8\r\n" + more + "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
}

func queryOf(method, target, body string) string {
	head := method + " " + target + " HTTP/1.1\r\n" + pdbHeaders
	if body != "" {
		head += "Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n"
	}
	return head + "\r\n" + body
}

// A pdbCase is a request, and the row of its trace.
type pdbCase struct {
	wireCase
	row string // "save facts web01.example.com ok"
}

func pdbCases() []pdbCase {
	var all []pdbCase
	queued := answered(pdb200, pdbQueued)
	add := func(name, row, request, answer string) {
		all = append(all, pdbCase{wireCase{name, request, answer}, row})
	}
	const gzip = "Content-Encoding: gzip\r\nX-Uncompressed-Length: 1\r\n"
	add("facts", "save facts web01.example.com ok", commandOf("replace_facts", "5", "", pdbFacts), queued)
	add("facts, compressed", "save facts web01.example.com ok", commandOf("replace_facts", "5", gzip, squeeze(pdbFacts)), queued)
	add("catalog, compressed", "save catalog web01.example.com ok", commandOf("replace_catalog", "9", gzip, squeeze(pdbCatalog)), queued)
	add("deactivation", "destroy node web01.example.com ok", commandOf("deactivate_node", "3", "", `{"certname":"web01.example.com","producer_timestamp":"2026-11-20T16:03:26.734Z"}`), queued)
	add("inputs", "save command replace catalog inputs web01.example.com ok", commandOf("replace_catalog_inputs", "1", "", pdbInputs), queued)
	add("expiration", "save command configure expiration web01.example.com ok", commandOf("configure_expiration", "1", "", `{}`), queued)
	add("unknown version", "save command replace facts web01.example.com ok", commandOf("replace_facts", "99", "", pdbFacts), queued)
	add("no JSON", "save command replace facts web01.example.com ok", commandOf("replace_facts", "5", "", "{nothing"), queued)
	add("a list", "save command replace facts web01.example.com ok", commandOf("replace_facts", "5", "", "[]"), queued)
	add("not compressed", "save command replace facts web01.example.com ok", commandOf("replace_facts", "5", gzip, pdbFacts), queued)
	add("cut off", "save command replace facts web01.example.com ok", commandOf("replace_facts", "5", gzip, squeeze(pdbFacts)[:50]), queued)
	add("another encoding", "save command replace facts web01.example.com ok", commandOf("replace_facts", "5", "Content-Encoding: br\r\n", "abc"), queued)
	add("bomb", "save command replace facts web01.example.com ok", commandOf("replace_facts", "5", gzip, squeeze(strings.Repeat(" ", 64<<20))), queued)
	add("depth", "save command replace facts web01.example.com ok", commandOf("replace_facts", "5", gzip, squeeze(`{"values":`+strings.Repeat("[", 300)+strings.Repeat("]", 300)+"}")), queued)
	add("of old", "save facts web01.example.com ok", queryOf("POST", "/pdb/cmd/v1", `{"command":"replace facts","version":5,"payload":`+pdbFacts+`}`), queued)
	add("of old, as text", "save facts web01.example.com ok", queryOf("POST", "/pdb/cmd/v1", `{"command":"replace facts","version":5,"payload":`+strconv.Quote(pdbFacts)+`}`), queued)
	add("nameless", "save command ok", queryOf("POST", "/pdb/cmd/v1", `{}`), queued)
	add("empty", "save command ok", "POST /pdb/cmd/v1 HTTP/1.1\r\n"+pdbHeaders+"Content-Length: 0\r\n\r\n", queued)
	add("by GET", "find puppetdb /pdb/cmd/v1 ok", queryOf("GET", "/pdb/cmd/v1?certname=a&command=replace_facts&version=5", ""), queued)
	add("refused", "save facts web01.example.com err", commandOf("replace_facts", "5", "", pdbFacts), answered("400 Bad Request\r\nContent-Type: application/json", `{"error":"no"}`))
	add("unavailable", "save facts web01.example.com err", commandOf("replace_facts", "5", "", pdbFacts), answered("503 Service Unavailable\r\nRetry-After: 1\r\nContent-Type: text/plain", "later"))
	add("answered without JSON", "save facts web01.example.com err", commandOf("replace_facts", "5", "", pdbFacts), answered("200 OK\r\nContent-Type: text/html", "<html>"))
	head, _, _ := strings.Cut(commandOf("replace_facts", "5", "", ""), "Content-Length")
	add("in chunks", "save facts web01.example.com ok", head+"Transfer-Encoding: chunked\r\n\r\n"+chunks(pdbFacts[:20], pdbFacts[20:])+"\r\n", queued)

	resources := "/pdb/query/v4/resources?query=" + url.QueryEscape(pdbCollect)
	add("collect", "search resource Notify ok", queryOf("GET", resources, ""), answered(pdb200, pdbExported))
	add("collect, compressed", "search resource Notify ok", queryOf("GET", resources, ""), answered(pdb200+"\r\nContent-Encoding: gzip", squeeze(pdbExported)))
	add("collect, in chunks", "search resource Notify ok", queryOf("GET", resources, ""), "HTTP/1.1 "+pdb200+"\r\nTransfer-Encoding: chunked\r\n\r\n"+chunks(pdbExported[:30], pdbExported[30:])+"\r\n")
	add("collect nothing", "search resource Notify ok", queryOf("GET", resources, ""), answered(pdb200, "[]"))
	add("collect much", "search resource Notify ok", queryOf("GET", resources, ""), answered(pdb200, "["+strings.Repeat(" ", 17<<20)+"]"))
	add("collect no list", "search resource Notify err", queryOf("GET", resources, ""), answered(pdb200, `{}`))
	add("collect bad rows", "search resource Notify err", queryOf("GET", resources, ""), answered(pdb200, `[1]`))
	add("collect fails", "search resource Notify err", queryOf("GET", resources, ""), answered("500 Server Error\r\nContent-Type: text/plain", "oops\nno"))
	add("facts of a node", "find facts web01.example.com ok", queryOf("GET", "/pdb/query/v4/nodes/web01.example.com/facts", ""), answered(pdb200, `[{"certname":"web01.example.com","name":"a","value":1}]`))
	add("facts of none", "find facts web02 nil!", queryOf("GET", "/pdb/query/v4/nodes/web02/facts", ""), answered("404 Not Found\r\nContent-Type: application/json", `{"error":"No information is known about factset web02"}`))
	add("a node", "find node web01.example.com ok", queryOf("GET", "/pdb/query/v4/nodes/web01.example.com", ""), answered(pdb200, `{"certname":"web01.example.com","deactivated":null,"catalog_environment":"production"}`))
	add("nodes by facts", "search facts nodes ok", queryOf("GET", "/pdb/query/v4/nodes?query="+url.QueryEscape(`["and",["=",["fact","kernel"],"Linux"]]`), ""), answered(pdb200, `[{"certname":"a"},{"certname":"b"}]`))
	add("nodes otherwise", "find query nodes ok", queryOf("GET", "/pdb/query/v4/nodes?query="+url.QueryEscape(`["=","certname","a"]`)+"&limit=1", ""), answered(pdb200, `[]`))
	add("PQL", "find query ok", queryOf("POST", "/pdb/query/v4", `{"query":"nodes{}"}`), answered(pdb200, `[]`))
	add("version", "find puppetdb /pdb/meta/v1/version ok", queryOf("GET", "/pdb/meta/v1/version", ""), answered(pdb200, `{"version":"7.12.1"}`))
	add("redirect", "find query nosuch ok", queryOf("GET", "/pdb/query/v4/nosuch", ""), "HTTP/1.1 302 Found\r\nLocation: /pdb/dashboard/index.html\r\nContent-Length: 0\r\n\r\n")
	add("status", "find puppetdb /status/v1/services/puppetdb-status ok", queryOf("GET", "/status/v1/services/puppetdb-status", ""), answered(pdb200, `{}`))
	add("metrics", "find puppetdb /metrics/v2/list ok", queryOf("GET", "/metrics/v2/list", ""), answered(pdb200, `{}`))
	return all
}

// TestPuppetDBIsPassedOn sends what Puppet and others ask of PuppetDB, directly and
// through the proxy, and compares what comes to PuppetDB, what comes back, and
// what the trace is about.
func TestPuppetDBIsPassedOn(t *testing.T) {
	w := newWire(t, func(x *proxyCommand, server, _ string) { x.puppetdb, x.ui = server, true })
	for _, c := range pdbCases() {
		wantAsked, want := w.ask(w.server, c.wireCase)
		before := w.proxy.session.engine.Store.Stats().Total
		gotAsked, got := w.ask(w.proxy.address, c.wireCase)
		if diff := cmp.Diff(wantAsked, gotAsked) + cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: directly (-) and through the proxy (+):\n%s", c.name, diff)
		}
		trace := w.ended(before)
		row := strings.Join(strings.Fields(fmt.Sprint(trace.Verb, " ", trace.Indirection, " ", trace.Key, " ", trace.Outcome)), " ")
		if row != c.row {
			t.Errorf("%s: the row is %q, want %q\n%s", c.name, row, c.row, traces.AppendStory(nil, trace))
		}
	}
}

// ended returns the trace of the first request after that number, once it has ended.
func (w *wire) ended(after uint64) *traces.Trace {
	w.t.Helper()
	s := w.proxy.session.engine.Store
	for {
		if trace, err := s.Trace(after + 1); err == nil && trace.Took > 0 {
			return trace
		}
		select {
		case <-s.Changed():
		case <-time.After(5 * time.Second):
			w.t.Fatalf("request %d does not end", after+1)
		}
	}
}

// What passes to PuppetDB is on the screen: the commands, read or unread, and what came
// back. A question that is answered is none of them.
func TestPuppetDBStateOfProxy(t *testing.T) {
	w := newWire(t, func(x *proxyCommand, server, _ string) { x.puppetdb, x.ui = server, true })
	var all []wireCase
	for _, c := range pdbCases() {
		all = append(all, c.wireCase)
	}
	for _, tt := range []struct {
		name, line string
		well       bool
	}{
		{"collect nothing", "", true},
		{"facts", "puppetdb: queued ", true},
		{"refused", "puppetdb: refused ", false},
		{"inputs", "puppetdb: queued ", true},
	} {
		i := slices.IndexFunc(all, func(c wireCase) bool { return c.name == tt.name })
		before := w.proxy.session.engine.Store.Stats().Total
		w.ask(w.proxy.address, all[i])
		w.ended(before)
		states := storesOf(w.proxy.session.engine)
		if len(states) != 1 {
			t.Fatalf("%s: got %v", tt.name, states)
		}
		if line, well := states[0].Line(time.UTC); !strings.HasPrefix(line, tt.line) || tt.line == "" && line != "" || well != tt.well {
			t.Errorf("%s: got %q, %v, want %q", tt.name, line, well, tt.line)
		}
	}
	s := storesOf(w.proxy.session.engine)[0]
	for _, want := range []string{
		"replace catalog inputs web01.example.com; 2 in all", "save facts web01.example.com: 400 Bad Request",
	} {
		if all := strings.Join(s.Lines(time.UTC), "\n"); !strings.Contains(all, ", "+want) {
			t.Errorf("got %s, want %s", all, want)
		}
	}
}
