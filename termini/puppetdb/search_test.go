package puppetdb_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// A searchCase is a search of facts as Puppet Server does it.
type searchCase struct {
	ID       string                      `json:"id"`
	Answers  map[string][]scriptedAnswer `json:"answers"`
	Options  map[string]json.RawMessage  `json:"options"`
	Value    json.RawMessage             `json:"value"`
	Error    string                      `json:"error"`
	Class    string                      `json:"exception"`
	Requests []seenRequest               `json:"requests"`
}

// TestGoldenSearchFacts has searches under the Ruby of Puppet Server, where they
// work. Rules PDB-QRY-05, PDB-QRY-06.
func TestGoldenSearchFacts(t *testing.T) {
	t.Parallel()
	for _, tt := range readCases[searchCase](t, "search-facts.json") {
		t.Run(tt.ID, func(t *testing.T) {
			t.Parallel()
			conf := "server_urls = {1}\n"
			if len(tt.Answers) == 0 {
				conf = "server_urls = {9}\n"
			}
			p := newPeer(t, peerOptions{conf: conf, answers: tt.Answers, producer: "puppet.example.com"})
			step := &clientStep{
				Do: "search facts", Options: tt.Options, Value: tt.Value, Error: tt.Error, Exception: tt.Class,
				RubyError: strings.Contains(tt.Error, "unexpected token at"),
			}
			value, err := p.do(t.Context(), step)
			if tt.Error != "" {
				step.checkAnswer(t, p, value, err)
			} else if got, want := plain(t, value), tt.names(t); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, %v; want %v", got, err, want)
			}
			p.checkRequests(t, tt.Requests)
		})
	}
}

// names are the names that were recorded. Where Puppet makes a null of a row, its
// certname is expected. Rule PDB-QRY-05.
func (tt *searchCase) names(t *testing.T) []any {
	t.Helper()
	names := parse(t, tt.Value).([]any)
	for _, all := range tt.Answers {
		rows, _ := parse(t, []byte(all[0].Body)).([]any)
		for i := range names {
			if names[i] == nil {
				names[i] = rows[i].(map[string]any)["certname"]
			}
		}
	}
	return names
}
