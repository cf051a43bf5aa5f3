package replay_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/traces/diff"
	"indirtui/traces/store"
	"indirtui/ui/replay"
)

func open(t *testing.T) *store.Store {
	t.Helper()
	log, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return log
}

// A replay asks as who asked, and leaves out what was not recorded in full.
func TestRequest(t *testing.T) {
	t.Parallel()
	log := open(t)
	for _, tt := range []struct {
		caller  string
		options []traces.Option
		want    string // node, options, notes
		without string
	}{
		{"you", []traces.Option{{Name: "a", Value: "1"}}, " [{a 1}] 0", ""},
		{"agent web01", []traces.Option{{Name: "job", Value: "(masked secret, 3 B, tag 0a1b)"}}, "web01 [{job (masked secret, 3 B, tag 0a1b)}] 0", ""},
		{"agent", nil, " [] 0", ""},
		{"agent web01", []traces.Option{{Name: "facts", Value: strings.Repeat("x", 200) + "…"}, {Name: "b", Value: "…"}, {Name: "c", Value: "(facts of web01, not kept)"}}, "web01 [{b …}] 2", ", without facts and c, not recorded in full"},
		{"terminus", []traces.Option{{Name: "host", Value: "b"}, {Name: "filter", Value: "tag == 'x'"}}, " [{host b}] 1", ", without filter, not recorded in full"},
		{"agent web01", []traces.Option{{Name: "facts", Value: "(2 facts, 86 B of json: kernel, os)"}, {Name: "b", Value: "(2)"}}, "web01 [{b (2)}] 1", ", without facts, not recorded in full"},
	} {
		tr := &traces.Trace{Verb: traces.Find, Indirection: "catalog", Key: "web01", Caller: tt.caller, Options: tt.options}
		req := replay.Request(log, tr)
		node, notes := "", 0
		if req.Remote != nil {
			node = req.Remote.Node
		}
		if req.Wants != nil {
			notes = len(req.Wants.Notes)
		}
		if got := fmt.Sprintf("%s %v %d", node, req.Options, notes); got != tt.want {
			t.Errorf("%s %v: got %s, want %s", tt.caller, tt.options, got, tt.want)
		}
		if got := replay.Without(tr); got != tt.without {
			t.Errorf("%s: got %q, want %q", tt.caller, got, tt.without)
		}
		if tt.caller == "agent web01" && replay.Written(log, tr).Remote != nil {
			t.Error("Written asks as an agent")
		}
	}
}

// An engine answers each key with its outcome, and records that in a log.
type engine struct {
	log   *store.Store
	is    map[string]traces.Outcome
	asked []*indirector.Request
}

func (e *engine) Ask(_ context.Context, req *indirector.Request) (indirector.Response, error) {
	e.asked = append(e.asked, req)
	return indirector.Response{Trace: record(e.log, traces.Trace{Verb: req.Verb, Indirection: req.Indirection, Key: req.Key, Outcome: e.is[req.Key]})}, nil
}

func (e *engine) Plan(_ context.Context, req *indirector.Request, _ indirector.Routes) indirector.Forecast {
	e.asked = append(e.asked, req)
	return indirector.Forecast{Outcome: e.is[req.Key], Why: "planned"}
}

func record(log *store.Store, tr traces.Trace) uint64 {
	id := log.Begin(&tr)
	tr.ID = id
	log.End(&tr, nil)
	return id
}

// Requests are counted by what they come to; those of agents are asked as these,
// also where the recording is one of another process, whose numbers mean nothing
// here.
func TestReplay(t *testing.T) {
	t.Parallel()
	log, other := open(t), open(t)
	e := &engine{is: map[string]traces.Outcome{"same": traces.Good, "fails": traces.Err, "open": traces.Run}}
	var ids []uint64
	for _, tr := range []traces.Trace{
		{Verb: traces.Find, Key: "same", Caller: "agent web01"},
		{Verb: traces.Find, Key: "fails"},
		{Verb: traces.Head, Key: "open"},
		{Verb: traces.Save, Key: "same"},
		{Verb: traces.Find, Key: "same", Parent: 1},
	} {
		tr.Indirection, tr.Outcome = "facts", traces.Good
		ids = append(ids, record(log, tr))
	}
	for _, tt := range []struct {
		name   string
		now    *store.Store
		dry    bool
		want   replay.Counts
		differ string
		replay uint64 // of the first request
	}{
		{"planned", log, true, replay.Counts{Asked: 3, Same: 1, Outcomes: 1, Depends: 1, Left: 2}, "fails err planned;", ids[0]},
		{"of this log", log, false, replay.Counts{Asked: 3, Same: 1, Outcomes: 2, Left: 2}, "fails err;open run;", ids[0]},
		{"of another log", other, false, replay.Counts{Asked: 3, Same: 1, Outcomes: 2, Left: 2}, "fails err;open run;", 0},
	} {
		e.log, e.asked = tt.now, nil
		r := replay.Replay{Log: log, Now: tt.now, Engine: e, Caller: "cli", Dry: tt.dry, Ignore: diff.Fresh()}
		differ := ""
		for _, id := range ids {
			if o := r.Again(t.Context(), id); o != nil {
				differ += o.Was.Key + " " + o.Outcome.String()
				if tt.dry {
					differ += " " + o.Because
				}
				differ += ";"
			}
		}
		if r.Counts != tt.want || differ != tt.differ {
			t.Errorf("%s: got %+v and %q, want %+v and %q", tt.name, r.Counts, differ, tt.want, tt.differ)
		}
		first := e.asked[0]
		if first.Caller != "cli" || first.Replay != tt.replay || !reflect.DeepEqual(first.Remote, &indirector.Remote{Node: "web01", Authenticated: true}) {
			t.Errorf("%s: asked %+v", tt.name, first)
		}
	}
}
