//go:build unix

package fleet_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"indirtui/traces"
	"indirtui/traces/fleet"
	"indirtui/traces/fleet/fleettest"
	"indirtui/traces/store"
)

var (
	server *fleettest.Server // nil where there is none
	absent error             // why
)

func TestMain(m *testing.M) {
	if url := os.Getenv(shipURL); url != "" { // this is the process that a test kills
		os.Exit(shipAndWait(url, os.Getenv(shipPath)))
	}
	server, absent = fleettest.Start()
	code := m.Run()
	server.Stop()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// database makes an empty database, or skips the test.
func database(t testing.TB) string {
	t.Helper()
	if absent != nil {
		t.Skip(absent)
	}
	return server.Database(t)
}

// epoch is when the first request of a test began: today, so that its partition
// is made.
var epoch = time.Now().Truncate(24 * time.Hour).Add(time.Hour)

// secret is in what is recorded, and must not be in the database.
const secret = "hunter2-secret"

// redact takes the secret out, as the program does.
func redact(s string) (string, int) {
	n := strings.Count(s, secret)
	return strings.ReplaceAll(s, secret, "(masked)"), n
}

// An instance is a program of a fleet that records.
type instance struct {
	*store.Store
	name string
}

// record begins a recording that is shipped to a database.
func record(t testing.TB, url, name string, o store.Options) instance {
	t.Helper()
	if o.Path == "" {
		o.Path = filepath.Join(t.TempDir(), name+".jsonl")
	}
	o.Session = store.Session{ID: fmt.Sprintf("%s-%d", name, time.Now().UnixNano()), Instance: name, To: fleet.Place(url)}
	o.Source, o.RedactText = "serve "+name, redact
	o.Render = func(model string, instance any) traces.Value {
		text, n := redact(instance.(string))
		return traces.Value{Model: model, Format: "json", Size: len(text), Body: []byte(text), Redacted: n}
	}
	s, err := store.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return instance{s, name}
}

// ask records a request that has ended.
func (i instance) ask(tr traces.Trace, answer string) uint64 {
	if tr.Start.IsZero() {
		tr.Start = epoch
	}
	if tr.Took == 0 {
		tr.Took = time.Millisecond
	}
	if tr.Verb == traces.NoVerb {
		tr.Verb = traces.Find
	}
	if tr.Outcome == traces.Run {
		tr.Outcome = traces.Good
	}
	id := i.Begin(&tr)
	tr.ID = id
	i.End(&tr, any(answer))
	return id
}

// askMany records n requests of ten nodes, one of seven of which fails, with nested
// ones, runs, and the secret.
func (i instance) askMany(t testing.TB, n int) {
	t.Helper()
	for k := range n {
		tr := traces.Trace{
			Indirection: "catalog", Key: fmt.Sprintf("node%d.example.com", k%10), Environment: "production", Caller: "agent " + fmt.Sprintf("node%d.example.com", k%10),
			Run: fmt.Sprintf("%08x", k/20), Start: epoch.Add(time.Duration(k) * time.Millisecond), Served: traces.ByTerminus,
			Primary: traces.Slot{{Terminus: "compiler", Kind: traces.FromSetting, Source: "puppet.conf:9"}},
			Notes:   []traces.Remark{{Step: traces.Terminus, Text: "with " + secret}},
			Spans:   []traces.Span{{ID: 1, Kind: traces.File, Name: "read \"site.pp\"", Step: traces.Terminus}},
		}
		switch {
		case k%7 == 3:
			tr.Outcome, tr.Error = traces.Err, "it failed: "+secret
			tr.Faults = []traces.Fault{{Origin: "terminus compiler", Step: traces.Terminus, Message: tr.Error, Shown: true}}
		case k%5 == 4:
			tr.Indirection, tr.Parent, tr.Caller = "facts", uint64(k-1), "terminus"
		}
		i.ask(tr, fmt.Sprintf(`{"name":"node%d","password":%q}`, k%10, secret))
		if k%200 == 199 {
			if err := i.Flush(); err != nil {
				t.Error(err)
			}
		}
	}
	if err := i.Flush(); err != nil {
		t.Error(err)
	}
}
