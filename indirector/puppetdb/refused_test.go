package puppetdb_test

import (
	"testing"

	"indirtui/indirector/format"
	"indirtui/indirector/puppetdb"
	"indirtui/indirector/puppetdb/command"
)

// TestRefused has commands that PuppetDB queues and does not store. Rule
// PDB-SEM-04.
func TestRefused(t *testing.T) {
	t.Parallel()
	const a = `{"type":"Notify","title":"a","tags":["notify"]}`
	for text, want := range map[string]string{
		`{"resources":[` + a + `],"edges":[]}`:                                    "",
		`{"catalog_uuid":null,"transaction_uuid":null}`:                           "",
		`{"catalog_uuid":"11111111-2222-4333-8444-555555555555"}`:                 "",
		`{"transaction_uuid":"run 1"}`:                                            `PuppetDB refuses what is no UUID: transaction_uuid is "run 1"`,
		`{"resources":[` + a + `,` + a + `]}`:                                     "PuppetDB refuses a resource that is there twice: Notify[a]",
		`{"resources":[{"type":"Notify","title":"x","tags":["notify","Upper"]}]}`: "PuppetDB refuses tags with capital letters: Notify[x] has 'Upper'",
		`{"resources":[` + a + `],"edges":[{"source":{"type":"Class","title":"B"},` + `"target":{"type":"Notify","title":"a"},"relationship":"contains"}]}`: "PuppetDB refuses an edge to nowhere: Class[B] contains Notify[a]",
	} {
		v, err := format.DecodeJSON([]byte(text), format.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got := puppetdb.Refused(&command.Command{Payload: v}); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	const want = "PuppetDB refuses a report without puppet_version"
	if got := puppetdb.Refused(&command.Command{Name: command.StoreReport}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
