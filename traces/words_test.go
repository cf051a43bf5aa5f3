package traces_test

import (
	"regexp"
	"strings"
	"testing"

	"indirtui/traces"
)

// Users read sentences; codes are for filters and programs.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		reason      traces.Reason
		about, want string
	}{
		{traces.DefaultInCode, "indirection facts", "the default of indirection facts"},
		{traces.DefaultInCode, "wins over module b", "wins over module b"},
		{traces.BySetting, "setting node_terminus, puppet.conf:7", "setting node_terminus, puppet.conf:7"},
		{traces.BySetting, "server_list[0]", "setting server_list[0]"},
		{traces.ByRoutesFile, "routes.yaml:8", "routes.yaml:8"},
		{traces.ByFace, "catalog download", "set by puppet catalog download"},
		{traces.ByYou, "", "you"},
		{traces.ByYou, "b2", "by b2"},
		{traces.ByYou, "you let it fail", "you let it fail"},
		{traces.NoCacheRouted, "", "no cache configured"},
		{traces.NoCacheRouted, "routes.yaml:9", "no cache: routes.yaml:9"},
		{traces.IgnoredByCaller, "agent", "ignore_cache, by agent"},
		{traces.CacheFound, "", ""}, // found, because found
		{traces.NotFound, "/var/n1.json", "there is no /var/n1.json"},
		{traces.NotFound, "/var/n1.json: permission denied", "/var/n1.json: permission denied"},
		{traces.NotFound, "there is no mount x", "there is no mount x"},
		{traces.ExpiredAt, "2026-01-02T03:04:05Z, 6m59s ago", "expired 7 min ago"},
		{traces.ExpiredAt, "5m0s ago", "expired 5 min ago"},
		{traces.NotExpired, "for 17m0s", "good for 17 min more"},
		{traces.NoExpiryKept, "yaml", "never expires: yaml stores no expiry"},
		{traces.AlwaysNil, "no such key", "it never has anything"},
		{traces.SkippedIgnoreTerminus, "configurer (node lookup)", "ignore_terminus, by configurer (node lookup)"},
		{traces.SkippedCacheHit, "", "the cache answered"},
		{traces.SkippedIgnoreCacheSave, "read-only mode", "nothing is written: read-only mode"},
		{traces.SkippedIgnoreCacheSave, "agent", "ignore_cache_save, by agent"},
		{traces.Returned, "", ""},
		{traces.Returned, "1", "1 instance"},
		{traces.Returned, "3", "3 instances"},
		{traces.Returned, "false", ""},
		{traces.Returned, "cache", "the cache answered"},
		{traces.NilFrom404, "404 from puppet:8140, no such file", "404 from puppet:8140, no such file"},
		{traces.NilFromEmptyOutput, "/bin/enc", "printed nothing: /bin/enc"},
		{traces.TerminusRaised, "Error 500", "Error 500"},
		{traces.RuleDenied, "web01", "for web01"},
		{traces.TTL, "now + 30m0s", "good for 30 min"},
		{traces.TTL, "now - 60 s", "60 s ago"},
		{traces.TTL, "60 s, you command line", "good for 60 s, you command line"},
		{traces.CallerReturned, "agent", "to agent"},
		{traces.CallerRaised, "agent", "it reached agent"},
		{traces.Rescued, "configurer", "caught by configurer"},
	} {
		if got := (traces.Because{Reason: tt.reason, About: tt.about}).Words(); got != tt.want {
			t.Errorf("%v %q: got %q, want %q", tt.reason, tt.about, got, tt.want)
		}
	}
}

// No reason is forgotten, and none is a code.
func TestWordsOfAll(t *testing.T) {
	t.Parallel()
	silent := map[traces.Reason]bool{traces.NoReason: true, traces.CacheFound: true, traces.Returned: true, traces.StoreWritten: true, traces.FilterApplied: true, traces.CallerReturned: true}
	code := regexp.MustCompile(`[a-z]-[a-z]+-|\(|->|→`)
	for r := range traces.ReasonCount {
		alone := traces.Because{Reason: r}.Words()
		if (alone == "") != silent[r] || code.MatchString(alone) {
			t.Errorf("%v: got %q", r, alone)
		}
		if about := (traces.Because{Reason: r, About: "so and so"}).Words(); strings.Contains(about, "%!") || code.MatchString(about) {
			t.Errorf("%v: got %q", r, about)
		}
	}
}

// The story of a classifier without output needs no note.
func TestStoryOfEmptyOutput(t *testing.T) {
	t.Parallel()
	tr := &traces.Trace{Verb: traces.Find, Indirection: "node", Outcome: traces.NilHidden}
	tr.Steps[traces.Terminus] = traces.Question{Answer: traces.Nothing, Because: traces.Because{Reason: traces.NilFromEmptyOutput, About: "/bin/enc n1"}}
	if got := traces.Story(tr); got != "the classifier (ENC) printed nothing, so Puppet has no node" {
		t.Errorf("got %q", got)
	}
}

// A step that was not reached names the one that failed.
func TestWhy(t *testing.T) {
	t.Parallel()
	tr := &traces.Trace{Verb: traces.Find}
	tr.Steps[traces.Terminus] = traces.Question{Answer: traces.Raised, Because: traces.Because{Reason: traces.TerminusRaised}}
	tr.Steps[traces.Filter] = traces.Question{Because: traces.Because{Reason: traces.EarlierStepRaised}}
	if got := tr.Why(traces.Filter); got != "terminus failed" {
		t.Errorf("got %q", got)
	}
	tr.Steps[traces.Terminus].Answer = traces.OK
	if got := tr.Why(traces.Filter); got != "an earlier step failed" {
		t.Errorf("got %q", got)
	}
	tr.Verb = traces.Search
	tr.Steps[traces.CacheRead].Because = traces.Because{Reason: traces.VerbHasNoCache, About: "search"}
	if got := tr.Why(traces.CacheRead); got != "searches are never cached" {
		t.Errorf("got %q", got)
	}
}
