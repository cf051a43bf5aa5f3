package puppetdb_test

import (
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/indirector/puppetdb"
	"indirtui/indirector/stores"
	"indirtui/traces"
)

// TestConfirm has what is known of a command some time after it was queued. The
// save of each takes as long as that. Rule PDB-SEM-06.
func TestConfirm(t *testing.T) {
	t.Parallel()
	queued := scriptedAnswer{Body: `{"uuid":"u1"}`}
	facts := indirector.Request{Indirection: "facts", Verb: indirector.Save, Instance: someFacts}
	catalog := func(tags ...string) indirector.Request {
		return indirector.Request{Indirection: "catalog", Verb: indirector.Save, Environment: "production", Instance: &model.Catalog{
			Name: "n1", CatalogUUID: "11111111-2222-4333-8444-555555555555", Resources: []model.Resource{{Type: "Notify", Title: "x", Tags: tags}},
		}}
	}
	for _, tt := range []struct {
		name, conf string
		answers    []scriptedAnswer
		request    indirector.Request
		first      []string
	}{
		{
			name: "something newer is there", answers: []scriptedAnswer{queued, {Body: "[]"}, {Body: `[{"producer_timestamp":"2099-01-02T03:04:05.000Z"}]`}}, request: facts,
			first: []string{"ignored as older: stored is 2099-01-02 ", ", this one was produced 20"},
		},
		{
			name: "it waits", answers: []scriptedAnswer{queued, {Body: `[{"producer_timestamp":"2001-01-02T03:04:05.000Z"}]`}}, request: facts,
			first: []string{"queued at localhost:<PORT1>, not stored after 1s: it waits in the queue, or PuppetDB has refused it"},
		},
		{
			name: "it will never be stored", answers: []scriptedAnswer{queued, {Body: "[]"}}, request: catalog("notify", "Upper"),
			first: []string{"queued at localhost:<PORT1>, not stored after 1s: PuppetDB refuses tags with capital letters: Notify[x] has 'Upper'"},
		},
		{
			name: "queries are refused", answers: []scriptedAnswer{queued, {Status: 403, Body: "no"}}, request: facts,
			first: []string{"queued at localhost:<PORT1>, and whether it was stored could not be asked: [403 Forbidden] no"},
		},
		{
			name: "nothing can be asked", conf: "server_urls = {9}\nsubmit_only_server_urls = {1}\n", answers: []scriptedAnswer{queued}, request: facts,
			first: []string{"stored at localhost:<PORT1> only; queries go to localhost:<PORT9> and will not see it"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			conf := tt.conf
			if conf == "" {
				conf = "server_urls = {1}\n"
			}
			p := newPeer(t, peerOptions{
				conf: conf, producer: "c", answers: map[string][]scriptedAnswer{"1": tt.answers}, settings: map[string]string{"puppetdb_confirm": "1"},
			})
			x, rec := p.indirector(t)
			if _, err := x.Do(t.Context(), &tt.request); err != nil {
				t.Fatal(err)
			}
			got := p.anonymous(traces.Story(rec.Last()))
			for _, want := range tt.first {
				if !strings.Contains(got, want) {
					t.Errorf("the first line: got %q, want %q in it", got, want)
				}
			}
		})
	}
}

// What is known of PuppetDB is kept for the screen: what was queued and where, how many
// commands wait, and what failed.
func TestState(t *testing.T) {
	t.Parallel()
	p := newPeer(t, peerOptions{
		conf: "server_urls = {1}\n", producer: "c", settings: map[string]string{"puppetdb_confirm": "1"},
		answers: map[string][]scriptedAnswer{"1": {{Body: `{"uuid":"u1"}`}, {Body: `{"puppetdb-status":{"status":{"queue_depth":3}}}`}}},
	})
	x, _ := p.indirector(t)
	state := func() (s stores.State) {
		for _, shared := range x.Shared() {
			if db, is := shared.(*puppetdb.Client); is {
				s = db.State()
			}
		}
		return s
	}
	if s := state(); s.Name != "" {
		t.Fatalf("there is a client before one was needed: %+v", s)
	}
	save := indirector.Request{Indirection: "facts", Verb: indirector.Save, Instance: someFacts}
	if _, err := x.Do(t.Context(), &save); err != nil {
		t.Fatal(err)
	}
	s := state()
	queued, stored := s.Last[stores.Queued], s.Last[stores.Stored]
	if got := p.anonymous(queued.What); got != "replace facts of n1 at localhost:<PORT1>" || queued.At.IsZero() || s.Waiting != 3 || s.Asked.IsZero() || !stored.At.IsZero() {
		t.Errorf("got %+v", s)
	}
	p.answers["1"] = []scriptedAnswer{{Status: 403, Body: "no"}}
	if _, err := x.Do(t.Context(), &save); err == nil {
		t.Fatal("no error")
	}
	if s := state(); s.Last[stores.Refused].What != "replace facts of n1: [403 Forbidden] no" || s.Failing {
		t.Errorf("got %+v", s)
	}
	p.answers["1"] = []scriptedAnswer{{Status: 500}}
	find := indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: "n1"}
	if _, err := x.Do(t.Context(), &find); err == nil {
		t.Fatal("no error")
	}
	if s := state(); !s.Failing || !strings.HasSuffix(s.Last[stores.Failed].What, ": 500 Internal Server Error") {
		t.Errorf("got %+v", s)
	}
	p.answers["1"] = []scriptedAnswer{{Body: "[]"}}
	_, _ = x.Do(t.Context(), &find)
	if s := state(); s.Failing {
		t.Errorf("it answers again: %+v", s)
	}
}
