package dns_test

import (
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"

	"indirtui/indirector"
	"indirtui/indirector/network/client/clienttest"
	"indirtui/indirector/terminustest"
	"indirtui/termini"
	"indirtui/traces"
)

// TestStory has the first lines, and nodes that a cache keeps as long as their records
// live. Rule DNS-09.
func TestStory(t *testing.T) {
	t.Parallel()
	var questions atomic.Int32
	z := zoneOf(t, `a.example.com. 300 IN TXT "class=a"`, `zero.example.com. 0 IN TXT "class=a"`)
	server := serve(t, dns.HandlerFunc(func(w dns.ResponseWriter, m *dns.Msg) {
		questions.Add(1)
		if strings.HasPrefix(m.Question[0].Name, "down") {
			_ = w.WriteMsg(new(dns.Msg).SetRcode(m, dns.RcodeServerFailure))
			return
		}
		z.ServeDNS(w, m)
	}))
	registry, err := indirector.NewRegistry(termini.Specs(), termini.All())
	if err != nil {
		t.Fatal(err)
	}
	var recorder terminustest.Recorder
	x, err := indirector.New(indirector.Config{
		Registry: registry, Settings: clienttest.Settings{"dns_servers": server}, Recorder: &recorder, Log: slog.New(slog.DiscardHandler),
		Routes: indirector.Routes{
			"node":  {Primary: traces.Slot{{Terminus: "dns", Kind: traces.FromSetting}}, Cache: traces.Slot{{Terminus: "memory", Kind: traces.FromSetting}}},
			"facts": {Primary: traces.Slot{{Terminus: "memory", Kind: traces.FromSetting}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for _, tt := range []struct {
		key, story string
		questions  int32 // of two finds
	}{
		{"a.example.com", "", 1},
		{"zero.example.com", "", 2},
		{"nosuch.example.com", "NXDOMAIN from …, asked again after 60 s (zone example.com.)", 2},
		{"down.example.com", "SERVFAIL: an outage, not an unknown node", 2},
	} {
		questions.Store(0)
		for range 2 {
			_, _ = x.Do(t.Context(), &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: tt.key})
		}
		if n := questions.Load(); n != tt.questions {
			t.Errorf("%s: %d questions, want %d", tt.key, n, tt.questions)
		}
		if got := strings.ReplaceAll(traces.Story(recorder.Last()), server, "…"); tt.story != "" && got != tt.story {
			t.Errorf("%s: got %s, want %s", tt.key, got, tt.story)
		}
	}
}
