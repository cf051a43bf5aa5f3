package engine_test

import (
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/traces"
	"indirtui/ui/demo/scenarios"
)

// TestStories asks common questions; the first line is all the user needs.
func TestStories(t *testing.T) {
	t.Parallel()
	request := func(verb indirector.Verb, ind, key, terminus, cache string) indirector.Request {
		return indirector.Request{Verb: verb, Indirection: ind, Key: key, Terminus: terminus, Cache: cache}
	}
	saving := func(terminus, cache string, flags traces.Flags) indirector.Request {
		r := save("facts", scenarios.Facts("n2"))
		r.Terminus, r.Cache, r.Flags = terminus, cache, flags
		return r
	}
	from := func(r indirector.Request, caller string, flags traces.Flags) indirector.Request {
		r.Caller, r.Flags = caller, flags
		return r
	}
	const off = indirector.Off
	for _, tt := range []struct {
		request indirector.Request
		story   string
		idle    string // flags that changed nothing
	}{
		{request(indirector.Find, "facts", "n1", "json", off), "terminus json answered", ""},
		{request(indirector.Find, "facts", "n1", "json", "memory"), "terminus json answered, and the cache (memory) keeps it", ""},
		{request(indirector.Find, "facts", "old", "memory", "json"), "the cached facts expired 60 min ago, so terminus memory was asked and has nothing; the file was written 60 min after it had expired: it was copied, or two clocks disagree", ""},
		{request(indirector.Find, "facts", "n9", "memory", off), "terminus memory has nothing by that name", ""},
		{request(indirector.Find, "facts", "n9", "json", off), "terminus json has nothing: there is no $dir/var/server_data/facts/n9.json", ""},
		{from(request(indirector.Find, "facts", "n9", "json", "memory"), "you", traces.IgnoreTerminus), "the cache has nothing, and you forbade asking anyone else (ignore_terminus)", ""},
		{from(request(indirector.Find, "facts", "n1", "json", "memory"), "", traces.IgnoreCache), "the caller asked not to use the cache (ignore_cache)", ""},
		{from(request(indirector.Find, "facts", "n1", "json", off), "you", traces.IgnoreCache), "terminus json answered", "ignore_cache"},
		{request(indirector.Search, "facts", "x", "json", off), "terminus json listed", ""},
		{request(indirector.Head, "facts", "n1", "memory", "json"), "the cache (json) answered; terminus memory was not asked", ""},
		{request(indirector.Head, "facts", "n9", "memory", off), "terminus memory has nothing by that name", ""},
		{request(indirector.Head, "facts", "n9", "json", off), "terminus json cannot do head", ""},
		{saving("json", off, 0), "terminus json stored it", ""},
		{saving("json", "memory", 0), "terminus json stored it, and the cache (memory) keeps it", ""},
		{saving("json", "memory", traces.IgnoreTerminus), "the cache (memory) stored it; the caller forbade asking terminus json (ignore_terminus)", ""},
		{saving("json", "memory", traces.IgnoreCache), "terminus json stored it, and the cache (memory) keeps it", "ignore_cache"},
		{saving("facter", off, 0), "facter failed: You cannot save facts to the code store; it is only used for getting facts from Facter", ""},
		{request(indirector.Destroy, "facts", "n1", "json", off), "terminus json removed it", ""},
		{request(indirector.Destroy, "node", "n9", "yaml", off), "terminus yaml has nothing by that name", ""},
		{request(indirector.Expire, "facts", "n9", "json", "memory"), "nothing to expire", ""},
		{request(indirector.Expire, "facts", "n1", "memory", "json"), "the cache (json) expired it", ""},
		{request(indirector.Find, "factz", "n1", "", ""), "there is no indirection factz; did you mean facts?", ""},
		{request(indirector.Find, "facts", "n1", "jsno", ""), "there is no terminus jsno; did you mean json?", ""},
		{request(indirector.Find, "resource", "file/x", "", ""), "terminus ral failed: Parameter path failed on File[x]: File paths must be fully qualified, not 'x'", ""},
		{request(indirector.Find, "facts", "../x", "json", off), `terminus json failed: invalid key (the key holds "/")`, ""},
		{request(indirector.Find, "facts", "n1", "json", "jsno"), "terminus json answered, but the cache could not be written (there is no terminus jsno; did you mean json?), so Puppet throws the answer away", ""},
	} {
		name := strings.Join([]string{tt.request.Verb.String(), tt.request.Indirection, tt.request.Key, tt.request.Terminus, tt.request.Cache, strings.Join(tt.request.Flags.Names(), " ")}, " ")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, scene{application: "server", files: map[string]string{
				"var/server_data/facts/n1.json": `{"name":"n1","values":{}}`,
			}})
			old := save("facts", scenarios.Facts("old").WithExpiration(s.now().Add(-time.Hour)))
			old.Terminus = "json"
			s.must(old)
			_, _ = s.ask(tt.request)
			tr := s.trace()
			if got, want := traces.Story(tr), s.Expand(tt.story); got != want && !(strings.HasSuffix(want, " ") && strings.HasPrefix(got, want)) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if got := strings.Join(tr.Idle.Names(), " "); got != tt.idle {
				t.Errorf("without effect: got %q, want %q", got, tt.idle)
			}
		})
	}
}

// The story of the save of a report is how the run ended. Nothing else shows that
// an agent, which reads its cache by itself, applied an old catalog.
func TestStoryOfReport(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		report  model.Report
		story   string
		outcome traces.Outcome
	}{
		{"no status", model.Report{}, "terminus yaml stored it", traces.Good},
		{"changed", model.Report{Status: "changed", CachedCatalogStatus: "not_used"}, "the run ended: status changed", traces.Good},
		{"corrective", model.Report{Status: "changed", CorrectiveChange: true}, "the run ended: status changed, corrective change", traces.Good},
		{
			"failed",
			model.Report{Status: "failed", Noop: true, Statuses: []model.ResourceStatus{{Failed: true}, {Skipped: true}}},
			"the run ended: status failed, 1 failed, 1 skipped, noop", traces.Good,
		},
		{
			"fell back",
			model.Report{Status: "unchanged", CachedCatalogStatus: "on_failure"},
			"the run went with the agent's cached catalog, because it got none from the server: status unchanged", traces.Stale,
		},
		{
			"asked for",
			model.Report{Status: "unchanged", CachedCatalogStatus: "explicitly_requested"},
			"the run went with the agent's cached catalog, as use_cached_catalog is on: status unchanged", traces.Good,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, scene{application: "server"})
			tt.report.Host = "n1"
			req := save("report", &tt.report)
			req.Terminus = "yaml"
			s.must(req)
			tr := s.trace()
			if got := traces.Story(tr); got != tt.story || tr.Outcome != tt.outcome {
				t.Errorf("got %s: %s\nwant %s: %s", tr.Outcome, got, tt.outcome, tt.story)
			}
		})
	}
}

// A save that fails has that as its story, not how the run ended.
func TestStoryOfReportThatIsNotSaved(t *testing.T) {
	t.Parallel()
	s := newStage(t, scene{application: "server"})
	req := save("report", &model.Report{Host: "n1", Status: "failed", CachedCatalogStatus: "on_failure"})
	req.Terminus = "absent"
	_, _ = s.ask(req)
	if tr := s.trace(); tr.Outcome != traces.Err || !strings.HasPrefix(traces.Story(tr), "there is no terminus absent of report; there are json, ") {
		t.Errorf("got %s: %s", tr.Outcome, traces.Story(tr))
	}
}

// The first line is not repeated as a note below it.
func TestStoryIsNotRepeated(t *testing.T) {
	t.Parallel()
	runsENC(t)
	s := newStage(t, scene{application: "server", conf: encConf, files: map[string]string{"bin/enc": encFails}})
	_, _ = s.ask(find("node", "n1"))
	text := string(traces.AppendStory(nil, s.trace()))
	first, rest, _ := strings.Cut(text, "\n")
	if !strings.HasSuffix(first, `the classifier failed (exit 1): "cannot connect to db", which Puppet does not show`) || strings.Contains(rest, "  note ") {
		t.Errorf("got %s", text)
	}
}

// TestData turns answers into data.
func TestStoredValues(t *testing.T) {
	t.Parallel()
	s := newStage(t, scene{application: "server"})
	body := func(req indirector.Request) string {
		_, _ = s.ask(req)
		tr := s.trace()
		v := tr.Value()
		if v.Size == 0 {
			v = tr.Sent()
		}
		b, err := s.Store.Body(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	bad := scenarios.Facts("n1")
	bad.Values = data.OfHash([]data.Pair{data.P("text", data.OfString("a\xffb"))})
	for _, tt := range []struct {
		request indirector.Request
		want    string
	}{
		{save("facts", scenarios.Facts("n1")), `"kernel":"Linux"`},
		{find("facts", "n1"), `"kernel":"Linux"`},
		{indirector.Request{Indirection: "facts", Verb: indirector.Search, Key: "x"}, `["n1"]`},
		{find("status", "x"), `"is_alive":true`},
		{save("node", &model.Node{Name: "n1"}), `"name":"n1"`},
		{save("facts", bad), "a\xffb"}, // JSON cannot hold it, PSON can
	} {
		tt.request.Terminus = map[string]string{"node": "json", "facts": "json"}[tt.request.Indirection]
		if got := body(tt.request); !strings.Contains(got, tt.want) {
			t.Errorf("%v %s: got %q, want %q", tt.request.Verb, tt.request.Indirection, got, tt.want)
		}
	}
}

// A story cites the failure of another request only if that had the same verb
// and terminus: a save that failed is no answer that a cache hides.
func TestStoryCitesTheSameQuestion(t *testing.T) {
	t.Parallel()
	s := newStage(t, scene{application: "server"})
	seed := save("facts", scenarios.Facts("n1").WithExpiration(s.now().Add(time.Hour)))
	seed.Terminus = "json"
	s.must(seed)
	failing := save("facts", scenarios.Facts("n1"))
	failing.Terminus = "facter"
	_, _ = s.ask(failing)
	hit := find("facts", "n1")
	hit.Terminus, hit.Cache = "facter", "json"
	s.must(hit)
	if tr := s.trace(); tr.Failed != 0 || tr.Served != traces.ByCache {
		t.Errorf("it cites #%d: %s", tr.Failed, traces.Story(tr))
	}
}
