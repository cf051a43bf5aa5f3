package cli

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"indirtui/indirector/debugger"
	"indirtui/indirector/puppetdb/api"
	"indirtui/traces"
)

// newPuppetDB begins a proxy before a PuppetDB that answers as the test wants.
func newPuppetDB(t *testing.T) *wire {
	t.Helper()
	return newWire(t, func(x *proxyCommand, server, _ string) { x.puppetdb, x.ui = server, true })
}

// breaks adds a breakpoint, which the returned function removes.
func (w *wire) breaks(text string) func() {
	w.t.Helper()
	d := w.proxy.session.engine.Debugger
	b, err := debugger.Parse(text)
	if err != nil {
		w.t.Fatal(err)
	}
	info, err := d.Add(b)
	if err != nil {
		w.t.Fatal(err)
	}
	return func() {
		if err := d.Remove(info.ID); err != nil {
			w.t.Error(err)
		}
	}
}

// held returns the request that is held, once one is.
func (w *wire) held() debugger.Held {
	w.t.Helper()
	d := w.proxy.session.engine.Debugger
	for {
		if held := d.Held(); len(held) > 0 {
			return held[0]
		}
		select {
		case <-d.Changed():
		case <-time.After(5 * time.Second):
			w.t.Fatal("no request is held")
		}
	}
}

// TestPuppetDBCommandIsEdited: of a command that is changed while it is held, the
// rest arrives as it was sent, with a checksum that is right.
func TestPuppetDBCommandIsEdited(t *testing.T) {
	w := newPuppetDB(t)
	defer w.breaks("ind=catalog verb=save before terminus do hold")()
	c := wireCase{request: commandOf("replace_catalog", "9", "Content-Encoding: gzip\r\nX-Uncompressed-Length: 9\r\n", squeeze(pdbCatalog)), answer: answered(pdb200, pdbQueued)}
	done := make(chan []message, 1)
	go func() {
		asked, got := w.ask(w.proxy.address, c)
		done <- append(asked, got)
	}()
	h := w.held()
	if h.Why != "server_url_timeout" || h.Caller.IsZero() {
		t.Errorf("its caller waits until %v (%s), want server_url_timeout", h.Caller, h.Why)
	}
	value := `{"name":"web01.example.com","version":"1","catalog_uuid":"11111111-2222-3333-4444-555555555555","environment":"production",` +
		`"resources":[{"type":"Notify","title":"x","tags":["notify"],"exported":true,"parameters":{"message":"edited"}}],"edges":[]}`
	if _, err := w.proxy.session.engine.Debugger.Edit(h.ID, debugger.Edit{Name: "value", Value: value}); err != nil {
		t.Fatal(err)
	}
	if err := w.proxy.session.engine.Debugger.Resume(h.ID, debugger.Continue); err != nil {
		t.Fatal(err)
	}
	got := <-done
	if len(got) != 2 || got[1].Body != pdbQueued {
		t.Fatalf("got %+v, want one request and its answer", got)
	}
	if want := strings.Replace(pdbCatalog, "é", "edited", 1); got[0].Body != want {
		t.Errorf("PuppetDB got\n%s\nwant\n%s", got[0].Body, want)
	}
	if got[0].Headers["Content-Encoding"] != nil || got[0].Headers["Accept"] == nil {
		t.Errorf("PuppetDB got the headers %v", got[0].Headers)
	}
	_, target, _ := strings.Cut(strings.Fields(got[0].Line)[1], "?")
	called, err := api.Called(target, []byte(got[0].Body))
	if err != nil {
		t.Fatal(err)
	}
	if doubt := called.Doubt(); doubt != "" || called.Certname != "web01.example.com" || called.Version != 9 {
		t.Errorf("PuppetDB got %s, with a wrong checksum: %q", got[0].Line, doubt)
	}
}

// TestPuppetDBFaults injects what PuppetDB's termini must bear, and looks at what
// they get. They ask the next server after 404 and from 500 on. Rule PDB-HTTP-05.
func TestPuppetDBFaults(t *testing.T) {
	w := newPuppetDB(t)
	facts := commandOf("replace_facts", "5", "", pdbFacts)
	collect := queryOf("GET", "/pdb/query/v4/resources?query="+url.QueryEscape(pdbCollect), "")
	find := queryOf("GET", "/pdb/query/v4/nodes/web01.example.com/facts", "")
	found := answered(pdb200, `[{"certname":"web01.example.com","name":"a","value":1}]`)
	for _, tt := range []struct {
		name, breakpoint, request, answer string
		line, body                        string // the answer; body is how it begins
		asked                             string // a part of the request that arrives; "" is that none does
	}{
		{"a command fails", "ind=facts before terminus do fail 503", facts, found, "HTTP/1.1 503 Service Unavailable", `{"error":`, ""},
		{"a command fails without a status", "ind=facts before terminus do fail 'disk full'", facts, found, "HTTP/1.1 500 Internal Server Error", `{"error":"disk full"}`, ""},
		{"a command is dropped", "ind=facts before terminus do nil", facts, found, "HTTP/1.1 200 OK", `{"uuid":"00000000-0000-0000-0000-000000000000"}`, ""},
		{"a query finds nothing", "ind=facts before terminus do fail 404", find, found, "HTTP/1.1 404 Not Found", `{"error":`, ""},
		{"an answer is replaced", `ind=facts after terminus do value {"name":"web01.example.com","values":{"b":2}}`, find, found, "HTTP/1.1 200 OK", `[{"certname":"web01.example.com","name":"b","value":2}]`, "/nodes/web01.example.com/facts"},
		{"a list is emptied", "ind=resource after terminus do nil", collect, answered(pdb200, pdbExported), "HTTP/1.1 200 OK", `[]`, "resources"},
		{"a query is edited", "ind=resource before terminus do set key=File", collect, answered(pdb200, "[]"), "HTTP/1.1 200 OK", "[]", url.QueryEscape(`["=","type","File"],["=","exported",true],["not",["=","certname","web01.example.com"]],["=","tag","shared"]]`)},
		{"a filter is edited", `ind=resource before terminus do set opt.filter=["title","==","t"]`, collect, answered(pdb200, "[]"), "HTTP/1.1 200 OK", "[]", url.QueryEscape(`["=","title","t"]]`)},
		{"an edit that cannot be written", "ind=resource before terminus do set opt.filter=nothing", collect, answered(pdb200, "[]"), "HTTP/1.1 500 Internal Server Error", `{"error":"write a query: the filter`, ""},
	} {
		remove := w.breaks(tt.breakpoint)
		asked, got := w.ask(w.proxy.address, wireCase{request: tt.request, answer: tt.answer})
		remove()
		if got.Line != tt.line || !strings.HasPrefix(got.Body, tt.body) {
			t.Errorf("%s: got %s %s, want %s %s", tt.name, got.Line, got.Body, tt.line, tt.body)
		}
		if (len(asked) > 0) != (tt.asked != "") || tt.asked != "" && !strings.Contains(asked[0].Line, tt.asked) {
			t.Errorf("%s: PuppetDB was asked %v, want %q", tt.name, asked, tt.asked)
		}
	}
	err := w.proxy.session.engine.Assign("facts", "terminus", traces.Choice{Terminus: "fault(forward, 503)", Kind: traces.FromYou, Source: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if asked, got := w.ask(w.proxy.address, wireCase{request: facts, answer: found}); len(asked) > 0 || !strings.Contains(got.Line, "503") {
		t.Errorf("routed to fault(forward, 503): got %s, PuppetDB was asked %v", got.Line, asked)
	}
}

// TestPuppetDBIsAway: what PuppetDB's termini get makes them ask the next server.
func TestPuppetDBIsAway(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	away := "https://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	w := newWire(t, func(x *proxyCommand, _, _ string) { x.puppetdb, x.ui = away, true })
	for _, request := range []string{commandOf("replace_facts", "5", "", pdbFacts), queryOf("GET", "/pdb/query/v4/nodes/a/facts", ""), queryOf("GET", "/pdb/meta/v1/version", "")} {
		before := w.proxy.session.engine.Store.Stats().Total
		_, got := w.ask(w.proxy.address, wireCase{request: request})
		if got.Line != "HTTP/1.1 502 Bad Gateway" {
			t.Errorf("got %s %s, want 502", got.Line, got.Body)
		}
		if trace := w.ended(before); trace.Outcome != traces.Err || !strings.Contains(trace.Error, "refused") {
			t.Errorf("the trace has %s %q, want an error: connection refused", trace.Outcome, trace.Error)
		}
	}
}

// TestPuppetDBIsSlow: a PuppetDB that does not answer costs its client the time limit
// of the proxy, and then it asks the next server.
func TestPuppetDBIsSlow(t *testing.T) {
	w := newPuppetDB(t)
	before := w.proxy.session.engine.Store.Stats().Total
	_, got := w.ask(w.proxy.address, wireCase{request: commandOf("replace_facts", "5", "", pdbFacts)})
	if got.Line != "HTTP/1.1 504 Gateway Timeout" {
		t.Errorf("got %s %s, want 504", got.Line, got.Body)
	}
	if trace := w.ended(before); trace.Outcome != traces.Err {
		t.Errorf("the trace has %s, want an error", trace.Outcome)
	}
}

// TestPuppetDBKeepsToAuthConf: a rule that names /pdb counts, other rules do not.
func TestPuppetDBKeepsToAuthConf(t *testing.T) {
	rules := filepath.Join(t.TempDir(), "auth.conf")
	const text = `authorization: { version: 1, rules: [
		{ match-request: { path: "/pdb/query", type: path }, allow: "nobody.example.com", sort-order: 1, name: "queries" },
		{ match-request: { path: "/", type: path }, deny: "*", sort-order: 999, name: "all" } ] }`
	if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWire(t, func(x *proxyCommand, server, _ string) { x.puppetdb, x.ui, x.authConf = server, true, rules })
	for request, status := range map[string]string{
		queryOf("GET", "/pdb/query/v4/nodes/a", ""): "403", queryOf("GET", "/pdb//query/v4/nodes/a", ""): "403", queryOf("GET", "/pdb/query/v4", ""): "403",
		commandOf("replace_facts", "5", "", pdbFacts): "200", queryOf("GET", "/pdb/meta/v1/version", ""): "200",
	} {
		before := w.proxy.session.engine.Store.Stats().Total
		asked, got := w.ask(w.proxy.address, wireCase{request: request, answer: answered(pdb200, pdbQueued)})
		if !strings.HasPrefix(got.Line, "HTTP/1.1 "+status) || (len(asked) > 0) != (status == "200") {
			t.Errorf("%.50q: got %s, want %s", request, got.Line, status)
		}
		if trace := w.ended(before); status == "403" && !strings.Contains(string(traces.AppendStory(nil, trace)), "rule 'queries'") {
			t.Errorf("the trace does not name the rule:\n%s", traces.AppendStory(nil, trace))
		}
	}
}

// TestPuppetDBWantsACertificate: who shows none gets no answer of PuppetDB, and agents
// none at all, where the proxy has no server for them.
func TestPuppetDBWantsACertificate(t *testing.T) {
	w := newPuppetDB(t)
	agent := w.client.Clone()
	anonymous := agent.Clone()
	anonymous.Certificates = nil
	for _, tt := range []struct {
		request string
		named   bool
		status  string
	}{
		{queryOf("GET", "/pdb/meta/v1/version", ""), true, "200"},
		{queryOf("GET", "/pdb/meta/v1/version", ""), false, "403"},
		{commandOf("replace_facts", "5", "", pdbFacts), false, "403"},
		{queryOf("GET", "/puppet/v3/node/web01.example.com?environment=production", ""), true, "404"},
		{queryOf("GET", "/puppet-ca/v1/certificate/ca", ""), true, "404"},
		{queryOf("GET", "/pdb/query/v4/nodes/../../../puppet/v3/node/a", ""), true, "404"},
	} {
		if w.client = anonymous; tt.named {
			w.client = agent
		}
		asked, got := w.ask(w.proxy.address, wireCase{request: tt.request, answer: answered(pdb200, "{}")})
		if status := strings.Fields(got.Line + " - -")[1]; status != tt.status || (len(asked) > 0) != (status == "200") {
			t.Errorf("%.60q, with a certificate %v: got %s, asked %v, want %s", tt.request, tt.named, got.Line, asked, tt.status)
		}
	}
}

// TestPuppetDBBesideAgents: one listener answers both, and a command of the server
// belongs to the run of the agent that it is about.
func TestPuppetDBBesideAgents(t *testing.T) {
	w := newWire(t, func(x *proxyCommand, server, _ string) { x.upstream, x.puppetdb, x.ui = server, server, true })
	s := w.proxy.session.engine.Store
	var runs, termini []string
	for _, c := range []wireCase{
		{"agent", sends("GET", "/puppet/v3/node/web01.example.com?environment=production", "", ""), answered(json200, nodeAnswer)},
		{"server", commandOf("replace_facts", "5", "", pdbFacts), answered(pdb200, pdbQueued)},
		{"status", sends("GET", "/status/v1/simple", "", ""), answered(json200, "running")},
	} {
		before := s.Stats().Total
		if _, got := w.ask(w.proxy.address, c); !strings.HasPrefix(got.Line, "HTTP/1.1 200") {
			t.Errorf("%s: got %s %s", c.name, got.Line, got.Body)
		}
		trace := w.ended(before)
		runs, termini = append(runs, trace.Run), append(termini, trace.Primary.Winner().Terminus)
	}
	if runs[0] == "" || runs[0] != runs[1] {
		t.Errorf("the runs are %q, want one", runs)
	}
	if want := []string{"rest", "forward", "forwarded"}; !slices.Equal(termini, want) {
		t.Errorf("asked were %q, want %q", termini, want)
	}
}

// TestPuppetDBExporter goes from a collected resource to the command that brought it.
func TestPuppetDBExporter(t *testing.T) {
	collect := wireCase{"", queryOf("GET", "/pdb/query/v4/resources?query="+url.QueryEscape(pdbCollect), ""), answered(pdb200, pdbExported)}
	stored := wireCase{"", strings.ReplaceAll(commandOf("replace_catalog", "9", "", strings.ReplaceAll(pdbCatalog, "web01", "db01 ")), "web01", "db01"), answered(pdb200, pdbQueued)}
	begin := func(t *testing.T, asked ...wireCase) *trip {
		w := newPuppetDB(t)
		for _, c := range asked {
			before := w.proxy.session.engine.Store.Stats().Total
			w.ask(w.proxy.address, c)
			w.ended(before)
		}
		w.shown = true
		tr := &trip{t: t, size: "140x40", program: w.own}
		tr.show(w.proxy.session, 140, 40)
		if len(asked) > 1 {
			tr.key("G", "search").key("enter", "1 resource of 1 node: db01.example.com 1 (a newer catalog may be on its way: one was queued").key("esc", "search")
		}
		return tr.key("G", "search", "resource", "Notify").key("v", "Notify").key("j", "path [0]")
	}
	t.Run("nothing recorded", func(t *testing.T) {
		tr := begin(t, collect)
		tr.key("x", "not now: no catalog was recorded as it was stored")
	})
	t.Run("recorded", func(t *testing.T) {
		tr := begin(t, stored, collect)
		tr.key("x", "#1 save catalog db01.example.com", "queued at")
		tr.command("exporter Notify[none]", "no search of Notify[none] is recorded that found it")
		tr.command("exporter Notify[hi]", "#1 save catalog db01.example.com")
	})
}
