package puppetdb_test

import (
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/traces"
)

var someFacts = &model.Facts{Name: "n1", Values: data.OfHash([]data.Pair{data.P("kernel", data.OfString("Linux"))})}

// TestStories has the first lines of traces, and their outcomes. Rules PDB-HTTP-07,
// PDB-HTTP-08, PDB-HTTP-14, PDB-QRY-03.
func TestStories(t *testing.T) {
	t.Parallel()
	save := indirector.Request{Indirection: "facts", Verb: indirector.Save, Instance: someFacts}
	find := indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: "n1"}
	ok := []scriptedAnswer{{Body: `{"uuid":"u1"}`}}
	for _, tt := range []struct {
		name, conf string
		answers    map[string][]scriptedAnswer
		request    indirector.Request
		first      string
		outcome    traces.Outcome
		spans      []string // of URLs
	}{
		{
			name: "queued", conf: "server_urls = {1}\n", answers: map[string][]scriptedAnswer{"1": ok}, request: save,
			first: "queued at localhost:<PORT1>, uuid u1; it is stored later, if it is", outcome: traces.Good,
			spans: []string{"replace_facts at https://localhost:<PORT1>: 200 OK"},
		},
		{
			name: "after a failover", conf: "server_urls = {9},{1}\n", answers: map[string][]scriptedAnswer{"1": ok}, request: save,
			first:   "queued at localhost:<PORT1>, uuid u1; it is stored later, if it is; not at localhost:<PORT9>: connection refused",
			outcome: traces.Good,
			spans:   []string{"replace_facts at https://localhost:<PORT9>: left: connection refused", "replace_facts at https://localhost:<PORT1>: 200 OK"},
		},
		{
			name: "submit-only", conf: "server_urls = {9}\nsubmit_only_server_urls = {2}\n", answers: map[string][]scriptedAnswer{"2": ok}, request: save,
			first: "stored at localhost:<PORT2> only; queries go to localhost:<PORT9> and will not see it", outcome: traces.Good,
		},
		{
			name: "soft", conf: "server_urls = {9},{1}\nsoft_write_failure = true\n", answers: map[string][]scriptedAnswer{"1": {{Status: 503}}}, request: save,
			first: "stored nowhere: 2 of 2 URLs failed, hidden by soft_write_failure, puppetdb.conf:3", outcome: traces.Part,
		},
		{
			name: "softly refused", conf: "server_urls = {1}\nsoft_write_failure = true\n", answers: map[string][]scriptedAnswer{"1": {{Status: 400}}}, request: save,
			first: "stored nowhere: localhost:<PORT1> refused it (400 Bad Request), hidden by soft_write_failure, puppetdb.conf:3", outcome: traces.Part,
		},
		{
			name: "hard", conf: "server_urls = {9},{1}\n", answers: map[string][]scriptedAnswer{"1": {{Status: 503}}}, request: save,
			first: "no PuppetDB took the command: localhost:<PORT9>: connection refused; localhost:<PORT1>: 503 Service Unavailable", outcome: traces.Err,
		},
		{
			name: "refused", conf: "server_urls = {1}\n", answers: map[string][]scriptedAnswer{"1": {{Status: 403, Body: "not in allowlist"}}}, request: save,
			first: "PuppetDB failed: [403 Forbidden] not in allowlist", outcome: traces.Err,
		},
		{
			name: "404 here, outage there", conf: "server_urls = {1},{9}\n", answers: map[string][]scriptedAnswer{"1": {{Status: 404, Body: "{}"}}}, request: find,
			first: "not found at localhost:<PORT1>; localhost:<PORT9> was not reached (connection refused), so this nil is not certain", outcome: traces.NilHidden,
		},
		{
			name: "deactivated", conf: "server_urls = {1}\n",
			answers: map[string][]scriptedAnswer{"1": {{Body: "[]"}, {Body: `{"certname":"n1","deactivated":"2026-11-22T10:00:00.000Z"}`}}}, request: find,
			first: "facts are empty because n1 is deactivated since 2026-11-22T10:00:00.000Z, not because it has none", outcome: traces.Good,
		},
		{
			name: "only a catalog", conf: "server_urls = {1}\n",
			answers: map[string][]scriptedAnswer{"1": {{Body: "[]"}, {Body: `{"certname":"n1","deactivated":null,"expired":null}`}}}, request: find,
			first: "facts are empty because PuppetDB has none of n1, which is active: only a catalog or a report of it", outcome: traces.Good,
		},
		{
			name: "a catalog", conf: "server_urls = {9}\n", request: indirector.Request{Indirection: "catalog", Verb: indirector.Find, Key: "n1"},
			first: "PuppetDB has nothing: it never has anything", outcome: traces.Nil,
		},
		{
			name: "a configuration", conf: "server_urls = http://u:secret@a\n", request: find,
			first: "PuppetDB failed: Failed to find facts from PuppetDB at  PuppetDB 'server_urls' must be https, found 'http://u:xxxxx@a' (server_urls, puppetdb.conf:2)", outcome: traces.Err,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t, peerOptions{conf: tt.conf, answers: tt.answers, producer: "compiler.example.com"})
			x, rec := p.indirector(t)
			req := tt.request
			_, _ = x.Do(t.Context(), &req)
			tr := rec.Last()
			if got := p.anonymous(traces.Story(tr)); got != tt.first {
				t.Errorf("the first line:\ngot  %s\nwant %s", got, tt.first)
			}
			if tr.Outcome != tt.outcome {
				t.Errorf("got the outcome %s, want %s", tr.Outcome, tt.outcome)
			}
			var spans []string
			for _, s := range tr.Spans {
				if strings.Contains(s.Name, " at https://") {
					spans = append(spans, p.anonymous(s.Name+": "+s.Answer))
				}
			}
			if tt.spans != nil && strings.Join(spans, "\n") != strings.Join(tt.spans, "\n") {
				t.Errorf("the spans:\ngot  %q\nwant %q", spans, tt.spans)
			}
			if text := string(traces.AppendStory(nil, tr)) + p.log.String(); strings.Contains(text, "secret") {
				t.Errorf("it shows a password:\n%s", text)
			}
		})
	}
}
