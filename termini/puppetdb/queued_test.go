package puppetdb_test

import (
	"regexp"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// TestQueuedCatalogs: what is collected while a catalog that this process sent is not
// stored yet. Rule STORE-COL-12.
func TestQueuedCatalogs(t *testing.T) {
	t.Parallel()
	const (
		none  = "[]"
		row   = `[{"certname":"a01","type":"Notify","title":"x","parameters":{}}]`
		older = `[{"certname":"a01","producer_timestamp":"2001-01-02T03:04:05.000Z"}]`
		newer = `[{"certname":"a01","producer_timestamp":"2099-01-02T03:04:05.000Z"}]`
	)
	for _, tt := range []struct {
		name    string
		answers []string // to the searches, and the questions in between
		first   []string // lines of the searches
		queued  bool     // the last resource knows of it
	}{
		{"an older one is there", []string{row, older}, []string{`a newer catalog of a01 was queued \d+ s ago, and is not stored yet`}, true},
		{"none is there", []string{none, none}, []string{`the catalog of a01 was queued \d+ s ago, and is not stored yet`}, false},
		{"it is stored, and not asked for again", []string{row, newer, row}, []string{"PuppetDB listed", "PuppetDB listed"}, false},
		{"it is stored meanwhile", []string{row, older, row, newer}, []string{`a newer catalog of a01 was queued `, "PuppetDB listed"}, false},
		{"it cannot be asked", []string{row, "{"}, []string{"PuppetDB listed"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			answers := []scriptedAnswer{{Body: `{"uuid":"u1"}`}}
			for _, body := range tt.answers {
				answers = append(answers, scriptedAnswer{Body: body})
			}
			p := newPeer(t, peerOptions{conf: "server_urls = {1}\n", producer: "c", answers: map[string][]scriptedAnswer{"1": answers}})
			x, rec := p.indirector(t)
			save := indirector.Request{Indirection: "catalog", Verb: indirector.Save, Environment: "production", Instance: &model.Catalog{Name: "a01"}}
			if _, err := x.Do(t.Context(), &save); err != nil {
				t.Fatal(err)
			}
			var last *model.Resource
			for i, want := range tt.first {
				resp, err := x.Do(t.Context(), &indirector.Request{Indirection: "resource", Verb: indirector.Search, Key: "Notify", Options: []indirector.Option{{Name: "host", Value: "b01"}}})
				if err != nil {
					t.Fatal(err)
				}
				for _, inst := range resp.Value.([]indirector.Instance) {
					last = inst.(*model.Resource)
				}
				if got := traces.Story(rec.Last()); !regexp.MustCompile(want).MatchString(got) {
					t.Errorf("search %d, the first line: got %q, want %q", i+1, got, want)
				}
			}
			if got := last != nil && !last.Queued.IsZero(); got != tt.queued {
				t.Errorf("the resource knows of a newer catalog: %v, want %v", got, tt.queued)
			}
			if got, want := len(p.seen), 1+len(tt.answers); got != want {
				t.Errorf("PuppetDB was asked %d times, want %d: %s", got, want, strings.Join(targets(p.seen), ", "))
			}
		})
	}
}

func targets(all []seenRequest) (out []string) {
	for _, r := range all {
		out = append(out, r.Target)
	}
	return out
}
