package traces_test

import (
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
		}, true, "web01 run 9c02f0aa: 5 requests in 0.5 s, catalog from terminus rest (2 resources), 2 file_metadata 404, report saved", false},
		{"another environment", []step{
			{one(traces.Find, "catalog", "web01", "production", traces.Good, ""), `{"environment":"qa","resources":[]}`},
			{one(traces.Find, "catalog", "web01", "qa", traces.Good, ""), `{"environment":"qa","resources":[{}]}`},
			{one(traces.Save, "report", "web01", "qa", traces.Err, "disk full"), ""},
		}, true, "web01 run 9c02f0aa: 3 requests in 0.3 s, catalog from terminus rest (1 resource), report not saved: disk full; environment changed production -> qa in round 2", false},
		{"some did not say of which run they are", []step{
			{one(traces.Search, "file_metadata", "plugins", "production", traces.Good, ""), ""},
			{one(traces.Find, "catalog", "web01", "production", traces.Good, ""), ""},
			{one(traces.Find, "file_content", "modules/a", "production", traces.Good, ""), ""},
		}, false, "web01 run ~9c02f0aa: 3 requests in 0.3 s, catalog from terminus rest, no report; 2 joined by connection and time", true},
		{"the catalog fails", []step{
			{one(traces.Find, "node", "web01", "production", traces.Err, "forbidden"), ""},
			{one(traces.Find, "catalog", "web01", "production", traces.Err, "500 on SERVER"), ""},
		}, false, "web01 run 9c02f0aa: 2 requests in 0.2 s, catalog failed: 500 on SERVER, 1 failed (find node web01: forbidden), no report", false},
		{"a catalog of another environment that the agent takes", []step{
			{one(traces.Find, "catalog", "web01", "production", traces.Good, ""), `{"environment":"qa"}`},
		}, false, "web01 run 9c02f0aa: 1 request in 0.1 s, catalog from terminus rest (0 resources), no report; round 1 asked for environment production and got qa", false},
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
