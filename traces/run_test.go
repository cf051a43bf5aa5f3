package traces_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"indirtui/traces"
)

func TestRunStory(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := 0
	one := func(verb traces.Verb, ind, key, env string, out traces.Outcome, err string) *traces.Trace {
		at++
		tr := &traces.Trace{
			Run: "9c02f0aa-1111-4222-8333-444455556666", Verb: verb, Indirection: ind, Key: key, Environment: env, Outcome: out, Error: err,
			Start: start.Add(time.Duration(at) * 100 * time.Millisecond), Took: 100 * time.Millisecond, Caller: "agent web01",
		}
		tr.Primary = traces.Slot{{Terminus: "rest", Kind: traces.FromSetting}}
		return tr
	}
	leftOut := func(key, because string) *traces.Trace {
		tr := one(traces.Save, "resource", key, "production", traces.Skipped, "")
		tr.Steps[traces.Terminus].Because = traces.Because{Reason: traces.DependencyFailed, About: because}
		return tr
	}
	byReason := func(key string, r traces.Reason, about string) *traces.Trace {
		tr := leftOut(key, about)
		tr.Steps[traces.Terminus].Because.Reason = r
		return tr
	}
	faulty := func(tr *traces.Trace, f traces.Fault) *traces.Trace {
		tr.Faults = append(tr.Faults, f)
		return tr
	}
	fromCache := func(tr *traces.Trace) *traces.Trace {
		tr.Served, tr.Cache = traces.ByCache, traces.Slot{{Terminus: "json", Kind: traces.FromSetting}}
		return tr
	}
	byServer := func(tr *traces.Trace) *traces.Trace {
		tr.Caller = "server puppet"
		return tr
	}
	type step struct {
		trace *traces.Trace
		body  string
	}
	tests := []struct {
		name  string
		steps []step
		done  bool
		want  string

		guessed bool // all but the catalog
	}{
		{"nothing", nil, false, "somebody run : 0 requests in 0.0 s, no catalog, no report", false},
		{"all is well", []step{
			{one(traces.Search, "file_metadata", "plugins", "production", traces.Good, ""), ""},
			{one(traces.Find, "catalog", "web01", "production", traces.Good, ""), `{"environment":"production","resources":[{},{}]}`},
			{one(traces.Find, "file_metadata", "modules/a", "production", traces.NilHidden, ""), ""},
			{one(traces.Find, "file_metadata", "modules/b", "production", traces.Nil, ""), ""},
			{one(traces.Save, "report", "web01", "production", traces.Good, ""), ""},
		}, true, "web01 run 9c02f0aa-1111-4222-8333-444455556666: 5 requests in 0.5 s, catalog from terminus rest (2 resources), 2 file_metadata 404, report saved", false},
		{"what a server stores", []step{
			{byServer(one(traces.Save, "facts", "web01", "production", traces.Good, "")), ""},
			{byServer(one(traces.Save, "catalog", "web01", "production", traces.Good, "")), ""},
			{byServer(one(traces.Save, "report", "web01", "production", traces.Good, "")), ""},
		}, true, "web01 run 9c02f0aa-1111-4222-8333-444455556666: 3 requests in 0.3 s, catalog stored, report saved", false},
		{"what a server stores for its agent", []step{
			{one(traces.Find, "catalog", "web01", "production", traces.Good, ""), ""},
			{byServer(one(traces.Save, "catalog", "web01", "production", traces.Good, "")), ""},
			{byServer(one(traces.Save, "report", "web01", "production", traces.Good, "")), ""},
		}, false, "web01 run 9c02f0aa-1111-4222-8333-444455556666: 3 requests in 0.3 s, catalog from terminus rest, no report", false},
		{"another environment", []step{
			{one(traces.Find, "catalog", "web01", "production", traces.Good, ""), `{"environment":"qa","resources":[]}`},
			{one(traces.Find, "catalog", "web01", "qa", traces.Good, ""), `{"environment":"qa","resources":[{}]}`},
			{one(traces.Save, "report", "web01", "qa", traces.Err, "disk full"), ""},
		}, true, "web01 run 9c02f0aa-1111-4222-8333-444455556666: 3 requests in 0.3 s, catalog from terminus rest (1 resource), report not saved: disk full; environment changed production -> qa in round 2", false},
		{"some did not say of which run they are", []step{
			{one(traces.Search, "file_metadata", "plugins", "production", traces.Good, ""), ""},
			{one(traces.Find, "catalog", "web01", "production", traces.Good, ""), ""},
			{one(traces.Find, "file_content", "modules/a", "production", traces.Good, ""), ""},
		}, false, "web01 run ~9c02f0aa-1111-4222-8333-444455556666: 3 requests in 0.3 s, catalog from terminus rest, no report; 2 joined by connection and time", true},
		{"the catalog fails", []step{
			{one(traces.Find, "node", "web01", "production", traces.Err, "forbidden"), ""},
			{one(traces.Find, "catalog", "web01", "production", traces.Err, "500 on SERVER"), ""},
		}, false, "web01 run 9c02f0aa-1111-4222-8333-444455556666: 2 requests in 0.2 s, catalog failed: 500 on SERVER, 1 failed (find node web01: forbidden), no report", false},
		{"plugins fail, and the cached catalog is taken", []step{
			{one(traces.Search, "file_metadata", "plugins", "production", traces.Err, "500 on SERVER"), ""},
			{one(traces.Save, "report", "web01", "production", traces.Good, ""), `{"status":"unchanged","cached_catalog_status":"on_failure"}`},
		}, true, "web01 run 9c02f0aa-1111-4222-8333-444455556666: 2 requests in 0.2 s, no catalog, 1 failed (search file_metadata plugins: 500 on SERVER), report saved: status unchanged; as plugins could not be fetched, the agent took its cached catalog and asked for no other", false},
		{"pluginfacts fail, and the cache is seen", []step{
			{one(traces.Search, "file_metadata", "puppet:///pluginfacts", "production", traces.Err, "500 on SERVER"), ""},
			{fromCache(one(traces.Find, "catalog", "web01", "production", traces.Hit, "")), ""},
		}, false, "web01 run 9c02f0aa-1111-4222-8333-444455556666: 2 requests in 0.2 s, catalog from terminus json, 1 failed (search file_metadata puppet:///pluginfacts: 500 on SERVER), no report; as pluginfacts could not be fetched, the agent took its cached catalog and asked for no other", false},
		{"plugins fail, and the server has a catalog", []step{
			{one(traces.Search, "file_metadata", "plugins", "production", traces.Err, "500 on SERVER"), ""},
			{one(traces.Find, "catalog", "web01", "production", traces.Good, ""), ""},
		}, false, "web01 run 9c02f0aa-1111-4222-8333-444455556666: 2 requests in 0.2 s, catalog from terminus rest, 1 failed (search file_metadata plugins: 500 on SERVER), no report", false},
		{"no catalog", []step{
			{one(traces.Find, "catalog", "web01", "production", traces.Nil, ""), ""},
			{one(traces.Save, "report", "web01", "production", traces.Good, ""), ""},
		}, true, "web01 run 9c02f0aa-1111-4222-8333-444455556666: 2 requests in 0.2 s, no catalog found by terminus rest, report saved", false},
		{"a catalog that another server does not have", []step{
			{one(traces.Find, "catalog", "web01", "production", traces.NilHidden, ""), ""},
		}, false, "web01 run 9c02f0aa-1111-4222-8333-444455556666: 1 request in 0.1 s, no catalog found by terminus rest, no report", false},
		{"the node's environment", []step{
			{one(traces.Find, "node", "web01", "production", traces.Good, ""), `{"name":"web01","environment":"qa"}`},
			{one(traces.Find, "catalog", "web01", "qa", traces.Good, ""), `{"environment":"qa","resources":[{}]}`},
		}, false, "web01 run 9c02f0aa-1111-4222-8333-444455556666: 2 requests in 0.2 s, catalog from terminus rest (1 resource), no report; environment changed production -> qa by the node", false},
		{"the node's environment is the one asked for", []step{
			{one(traces.Find, "node", "web01", "qa", traces.Good, ""), `{"name":"web01","environment":"qa"}`},
			{one(traces.Find, "catalog", "web01", "qa", traces.Good, ""), ""},
		}, false, "web01 run 9c02f0aa-1111-4222-8333-444455556666: 2 requests in 0.2 s, catalog from terminus rest, no report", false},
		{"a resource fails", []step{
			{one(traces.Save, "resource", "File/conf", "production", traces.Err, "no space left"), ""},
			{leftOut("Exec/reload", "File[conf]"), ""},
			{leftOut("Service/web", "File[conf], Exec[reload]"), ""},
			{leftOut("Notify/done", "File[conf]"), ""},
			{leftOut("Notify/other", "Package[x]"), ""},
			{one(traces.Save, "report", "web01", "production", traces.Good, ""), `{"status":"failed"}`},
		}, true, "web01 run 9c02f0aa-1111-4222-8333-444455556666: 6 requests in 0.6 s, 5 resources, report saved: status failed; Service[web] was not restarted: File[conf] failed (no space left); 2 more were skipped for the same reason", false},
		{"a refresh fails", []step{
			{faulty(one(traces.Save, "resource", "Service/web", "production", traces.ErrHidden, ""), traces.Fault{Origin: "refresh", Message: "exit 1"}), ""},
			{leftOut("Notify/done", "Service[web]"), ""},
			{one(traces.Save, "report", "web01", "production", traces.Good, ""), ""},
		}, true, "web01 run 9c02f0aa-1111-4222-8333-444455556666: 3 requests in 0.3 s, 2 resources, report saved; Notify[done] was skipped: Service[web] was not refreshed (exit 1), and no later run tries it again", false},
		{"a prefetch fails", []step{
			{byReason("Cron/a", traces.PrefetchFailed, "no crontab"), ""},
			{leftOut("Service/web", "Cron[a]"), ""},
			{one(traces.Save, "report", "web01", "production", traces.Good, ""), ""},
		}, true, "web01 run 9c02f0aa-1111-4222-8333-444455556666: 3 requests in 0.3 s, 2 resources, report saved; Service[web] was not restarted: Cron[a] failed (reading all of its kind failed: no crontab)", false},
		{"a refresh is left out", []step{
			{byReason("Service/web", traces.ByYou, "you left it out"), ""},
			{byReason("Exec/warm", traces.ByYou, traces.WithoutThatOf+"Service[web]"), ""},
			{one(traces.Save, "report", "web01", "production", traces.Good, ""), ""},
		}, true, "web01 run 9c02f0aa-1111-4222-8333-444455556666: 3 requests in 0.3 s, 2 resources, report saved; you left Service[web] out, and 1 more was not refreshed with it", false},
		{"a catalog of another environment that the agent takes", []step{
			{one(traces.Find, "catalog", "web01", "production", traces.Good, ""), `{"environment":"qa"}`},
		}, false, "web01 run 9c02f0aa-1111-4222-8333-444455556666: 1 request in 0.1 s, catalog from terminus rest (0 resources), no report; round 1 asked for environment production and got qa", false},
	}
	const report = "9c02f0aa-1111-4222-8333-444455556666: 1 request in 0.1 s, no catalog, report saved"
	for _, tt := range []struct{ name, body, want string }{
		{"changed", `{"status":"changed","noop":false,"cached_catalog_status":"not_used","resource_statuses":{"A[a]":{"failed":false,"skipped":false}}}`, ": status changed"},
		{"failed and skipped", `{"status":"failed","resource_statuses":{"A[a]":{"failed":true},"A[b]":{"skipped":true},"A[c]":{"skipped":true},"A[d]":null}}`, ": status failed, 1 failed, 2 skipped"},
		{"not restarted", `{"status":"failed","resource_statuses":{"A[a]":{"failed_to_restart":true}}}`, ": status failed, 1 failed to restart"},
		{"noop, of a cached catalog", `{"status":"unchanged","noop":true,"cached_catalog_status":"on_failure"}`, ": status unchanged, noop, with the agent's cached catalog, because it got none from the server"},
		{"corrective, of a catalog that was asked for", `{"status":"changed","corrective_change":true,"cached_catalog_status":"explicitly_requested"}`, ": status changed, corrective change, with the agent's cached catalog, as use_cached_catalog is on"},
		{"no report", `[1]`, ""},
	} {
		var r traces.RunStory
		r.Add(one(traces.Save, "report", "web01", "production", traces.Good, ""), []byte(tt.body))
		if got, want := r.String(), "web01 run "+report+tt.want; got != want {
			t.Errorf("%s: got %q\nwant %q", tt.name, got, want)
		}
	}
	for _, tt := range tests {
		var r traces.RunStory
		for _, s := range tt.steps {
			s.trace.RunGuessed = tt.guessed && s.trace.Indirection != "catalog"
			r.Add(s.trace, []byte(s.body))
			nested := *s.trace
			nested.Parent = 7
			r.Add(&nested, nil)
		}
		if got := r.String(); got != tt.want || r.Done() != tt.done {
			t.Errorf("%s: got %q, %v\nwant %q, %v", tt.name, got, r.Done(), tt.want, tt.done)
		}
	}
}

func TestRunName(t *testing.T) {
	t.Parallel()
	r := traces.RunStory{}
	r.Add(&traces.Trace{Run: "4f2a91c3", Indirection: "file_metadata", Verb: traces.Search, RunGuessed: true}, nil)
	r.Add(&traces.Trace{Run: "4f2a91c3", Transaction: "9c02f0aa-1111-4222-8333-444455556666", Indirection: "node", Key: "web01"}, nil)
	if got, want := r.String(), "web01 run ~4f2a91c3 (transaction 9c02f0aa-1111-4222-8333-444455556666): 2 requests"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestHiddenFrom(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		outcome traces.Outcome
		caller  string
		want    bool
	}{
		{traces.NilHidden, "agent web01", false},
		{traces.NilHidden, "agent", true},
		{traces.NilHidden, "terminus", true},
		{traces.ErrHidden, "agent web01", true},
		{traces.Nil, "terminus", false},
	} {
		if got := tt.outcome.HiddenFrom(tt.caller); got != tt.want {
			t.Errorf("%s from %q: got %v, want %v", tt.outcome, tt.caller, got, tt.want)
		}
	}
}

// TestEndlessRun holds that a run whose report never comes keeps no more than
// others.
func TestEndlessRun(t *testing.T) {
	t.Parallel()
	var r traces.RunStory
	for i := range 1000 {
		r.Add(&traces.Trace{Indirection: "catalog", Verb: traces.Find, Key: "n1", Environment: []string{"a", "b"}[i%2]}, nil)
		r.Add(&traces.Trace{Indirection: "node", Verb: traces.Find, Key: "n1", Error: "no " + strconv.Itoa(i)}, nil)
	}
	if s := r.String(); strings.Count(s, "environment changed") > 16 || !strings.Contains(s, "1000 failed (find node n1: no 0)") {
		t.Errorf("got %s", s)
	}
}
