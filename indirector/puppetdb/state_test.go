package puppetdb_test

import (
	"slices"
	"testing"
	"time"

	"indirtui/indirector/puppetdb"
)

// What the screen has of a PuppetDB, and whether it draws attention.
func TestStateLine(t *testing.T) {
	t.Parallel()
	at := func(second int) time.Time { return time.Date(2026, 1, 2, 10, 42, second, 0, time.UTC) }
	queued := puppetdb.State{Queued: at(7), QueuedAt: "pdb1:8081"}
	waiting := queued
	waiting.Waiting, waiting.Asked = 3, at(8)
	confirmed := queued
	confirmed.Confirmed, confirmed.ConfirmedAt = at(8), "pdb1:8081"
	again := confirmed
	again.Queued = at(9)
	over := waiting
	over.Confirmed = at(9)
	dropped := queued
	dropped.Dropped = []string{"https://pdb2:8081"}
	failed := queued
	failed.Failed, failed.Failure = at(8), "connection refused"
	mended := failed
	mended.Queued = at(9)
	for _, tt := range []struct {
		name  string
		state puppetdb.State
		line  string
		well  bool
		lines []string
	}{
		{"nothing was sent", puppetdb.State{}, "", true, nil},
		{"queued", queued, "puppetdb: queued 10:42:07", true, []string{"puppetdb: queued 10:42:07 at pdb1:8081"}},
		{"some wait", waiting, "puppetdb: queued 10:42:07, 3 waiting", true, []string{"puppetdb: queued 10:42:07 at pdb1:8081", "puppetdb: 3 waiting 10:42:08"}},
		{"confirmed", confirmed, "puppetdb: confirmed 10:42:08", true, []string{"puppetdb: queued 10:42:07 at pdb1:8081", "puppetdb: confirmed 10:42:08 at pdb1:8081"}},
		{"queued after that", again, "puppetdb: queued 10:42:09", true, []string{"puppetdb: queued 10:42:09 at pdb1:8081", "puppetdb: confirmed 10:42:08 at pdb1:8081"}},
		{"none wait any more", over, "puppetdb: confirmed 10:42:09", true, nil},
		{"PDB-HTTP-10 dropped", dropped, "puppetdb: 1 submit-only dropped, :stores retry", false, []string{
			"puppetdb: queued 10:42:07 at pdb1:8081", "puppetdb: https://pdb2:8081 did not answer twice in a row, and gets no commands; :stores retry brings it back",
		}},
		{"failed", failed, "puppetdb: failed 10:42:08", false, []string{"puppetdb: queued 10:42:07 at pdb1:8081", "puppetdb: failed 10:42:08: connection refused"}},
		{"failed before", mended, "puppetdb: queued 10:42:09", true, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			line, well := tt.state.Line(time.UTC)
			if line != tt.line || well != tt.well {
				t.Errorf("got %q, %v, want %q, %v", line, well, tt.line, tt.well)
			}
			if got := tt.state.Lines(time.UTC); tt.lines != nil && !slices.Equal(got, tt.lines) || tt.line == "" && got != nil {
				t.Errorf("got %q, want %q", got, tt.lines)
			}
		})
	}
	hour := time.FixedZone("", 3600)
	if line, _ := queued.Line(hour); line != "puppetdb: queued 11:42:07" {
		t.Errorf("in another zone: %q", line)
	}
}
