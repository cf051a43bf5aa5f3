//go:build unix

package cli_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/termini"
	"indirtui/traces"
	"indirtui/traces/fleet/fleettest"
	"indirtui/traces/store"
	"indirtui/ui/cli"
)

// TestFleet ships two recordings and looks at both as one.
func TestFleet(t *testing.T) {
	server, err := fleettest.Start()
	if err != nil {
		t.Skip(err)
	}
	defer server.Stop()
	url := server.Database(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	began := time.Now().Add(-time.Minute)
	for i, name := range []string{"proxy1", "proxy2"} {
		path := filepath.Join(t.TempDir(), name+".jsonl")
		s, err := store.Open(store.Options{Path: path, Session: store.Session{ID: name, Instance: name}})
		if err != nil {
			t.Fatal(err)
		}
		tr := traces.Trace{
			Verb: traces.Find, Indirection: "catalog", Key: "web01", Caller: "agent web01", Run: "d9c5f7a0-1111-4222-8333-123456789abc",
			Start: began.Add(time.Duration(i) * time.Second), Took: 5, Outcome: traces.Good, Served: traces.ByTerminus,
		}
		tr.ID = s.Begin(&tr)
		s.End(&tr, nil)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if code, out, errs := indirtui("traces", "ship", path, url); code != 0 || !strings.HasPrefix(out, "1 requests, shipped to") {
			t.Fatalf("ship: %d\n%s%s", code, out, errs)
		}
	}
	for _, tt := range []struct{ args, in, want string }{
		{"traces list " + url, "", "proxy2: 1 requests, ended, all shipped"},
		{"story --recording " + url, "", "web01 run d9c5f7a0-1111-4222-8333-123456789abc: 2 requests in 1.0 s, catalog from terminus , no report; 2 catalogs of environment ; through proxy1, proxy2"},
		{"story --recording " + url + " instance=proxy2", "", "  instance  proxy2 #1\n"},
		{"export --format jsonl --recording " + url, "", `"proxy2"`},
		{"open --plain " + url, "show requests instance=proxy1\nquit\n", "1 request"},
		{"traces prune --keep 30d " + url, "", "removed 0 days, 0 values, 0 runs"},
	} {
		var out, errs bytes.Buffer
		code := cli.Main(strings.Fields(tt.args), cli.Streams{In: strings.NewReader(tt.in), Out: &out, Err: &errs}, termini.Specs(), termini.All())
		if code != 0 || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%s: %d\n%s%s\nwant %q", tt.args, code, out.String(), errs.String(), tt.want)
		}
	}
}
