package diff_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/traces"
	"indirtui/traces/diff"
	"indirtui/traces/store"
)

// one is a request that ended.
type one struct {
	key, terminus, body string
	outcome             traces.Outcome
}

func record(t *testing.T, path string, all ...one) *store.Store {
	t.Helper()
	s, err := store.Open(store.Options{Path: path, Render: func(model string, instance any) traces.Value {
		text := instance.(string)
		return traces.Value{Model: model, Format: "json", Size: len(text), Digest: text, Body: []byte(text)}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for _, o := range all {
		tr := traces.NewTrace()
		*tr = traces.Trace{
			Verb: traces.Find, Indirection: "node", Key: o.key, Environment: "production", Start: time.Unix(1e9, 0).UTC(), Took: time.Millisecond, Outcome: o.outcome, Served: traces.ByTerminus,
			Primary: traces.Slot{{Terminus: o.terminus, Kind: traces.FromSetting, Source: "puppet.conf:7"}},
		}
		tr.Steps[traces.Route] = traces.Question{Answer: traces.Chosen, Because: traces.Because{Reason: traces.BySetting}}
		var instance any
		if o.body != "" {
			tr.Steps[traces.Terminus] = traces.Question{Answer: traces.OK, Because: traces.Because{Reason: traces.Returned}, Took: time.Millisecond}
			instance = o.body
		}
		tr.ID = s.Begin(tr)
		s.End(tr, instance)
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRequests(t *testing.T) {
	t.Parallel()
	s := record(t, "",
		one{"web01", "exec", `{"classes":["a"],"env":"qa"}`, traces.Good},
		one{"web01", "plain", `{"classes":["a","b"],"env":"qa","role":"web"}`, traces.Good},
		one{"web01", "yaml", ``, traces.Nil},
	)
	r, err := diff.Requests(s, 1, s, 2, diff.Options{Ignore: []string{".role"}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Equal || r.Differences != 1 || r.Ignored != 1 || len(r.Changes) != 1 || r.Changes[0].Path != ".classes[1]" || r.Changes[0].Sign != "+" {
		t.Errorf("got %+v", r)
	}
	if want := "exec: setting, puppet.conf:7"; !strings.HasPrefix(r.A.Decided, "exec") || r.B.Terminus != "plain" {
		t.Errorf("decided: got %q, want something like %q", r.A.Decided, want)
	}
	if r.Steps[traces.Route].Same || !r.Steps[traces.Terminus].Same {
		t.Errorf("steps: got %+v", r.Steps)
	}
	var b strings.Builder
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal([]byte(b.String()), &doc); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"diff", "kind", "equal", "differences", "ignored", "rules", "a", "b", "changes", "steps"} {
		if doc[name] == nil {
			t.Errorf("the document has no %q:\n%s", name, b.String())
		}
	}
	if text := r.Text(); !strings.Contains(text, `+ .classes[1]: - | "b"`) || !strings.HasSuffix(text, "1 difference, 1 ignored\n") {
		t.Errorf("text: got %s", text)
	}

	if r, err = diff.Requests(s, 1, s, 3, diff.Options{}); err != nil || r.Note == "" || r.Equal || r.Values != nil {
		t.Errorf("without a value: got %+v, %v", r, err)
	}
	if _, err = diff.Requests(s, 1, s, 99, diff.Options{}); err == nil {
		t.Error("a request that is not there: no error")
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := record(t, filepath.Join(dir, "a"),
		one{"web01", "exec", `{"v":1}`, traces.Good}, one{"web01", "exec", `{"v":2}`, traces.Good},
		one{"db07", "exec", `{"v":1}`, traces.Good}, one{"gone", "exec", `{"v":1}`, traces.Good}, one{"same", "exec", `{"v":1}`, traces.Good},
	)
	b := record(t, filepath.Join(dir, "b"),
		one{"same", "exec", `{"v":1}`, traces.Good}, one{"web01", "exec", `{"v":1}`, traces.Good}, one{"web01", "exec", `{"v":3}`, traces.Good},
		one{"db07", "yaml", ``, traces.Nil}, one{"new", "exec", `{"v":1}`, traces.Good},
	)
	r, err := diff.Runs(t.Context(), diff.Set{Log: a, Name: "before"}, diff.Set{Log: b}, diff.Options{Apart: true})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range r.Requests {
		got = append(got, r.Requests[i].String())
	}
	want := []string{
		"~ #2 find node web01 ok : #3 ok  value (1)", "~ #3 find node db07 ok : #4 nil  outcome, terminus",
		"- #4 find node gone ok", "+ #5 find node new ok",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if r.Differences != 4 || r.Equal || r.Compared != 4 || r.A.Name != "before" || r.B.Recording != b.Path() {
		t.Errorf("got %+v", r)
	}

	only, err := diff.Runs(t.Context(), diff.Set{Log: a, IDs: []uint64{1, 5}}, diff.Set{Log: b, IDs: []uint64{1, 2}}, diff.Options{})
	if err != nil || !only.Equal || only.Compared != 2 {
		t.Errorf("those that are equal: got %+v, %v", only, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = diff.Runs(ctx, diff.Set{Log: a}, diff.Set{Log: b}, diff.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}
