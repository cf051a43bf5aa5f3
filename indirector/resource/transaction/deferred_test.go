package transaction_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/systemtest"
	"indirtui/indirector/resource/transaction"
)

const deferring = `{"name": "n", "version": 1, "catalog_format": 2, "environment": "production", "edges": [], "classes": [], "resources": [
	{"type": "File", "title": "@ROOT@/a", "kind": "compilable_type", "parameters": {"content": {"__ptype": "Deferred", "name": "good", "arguments": []}}},
	{"type": "Notify", "title": "n", "kind": "compilable_type", "parameters": {"message": {"__ptype": "Sensitive", "__pvalue": {"__ptype": "Deferred", "name": "good", "arguments": []}}}},
	{"type": "File", "title": "@ROOT@/b", "kind": "compilable_type", "parameters": {"content": {"__ptype": "Binary", "__pvalue": "AAE="}}},
	{"type": "Notify", "title": "bad", "kind": "compilable_type", "parameters": {"message": {"__ptype": "Deferred", "name": "bad", "arguments": []}}}]}`

// computed stands for the language: it knows one function.
func computed(ctx context.Context, v data.Value) (data.Value, error) {
	switch v.Get("__ptype").Str() {
	case "Deferred":
		if v.Get("name").Str() != "good" {
			return v, errors.New("Unknown function 'bad'")
		}
		return data.OfString("text\n"), nil
	case "Sensitive":
		inner, err := computed(ctx, v.Get("__pvalue"))
		return data.OfHash([]data.Pair{data.P("__ptype", data.OfString("Sensitive")), data.P("__pvalue", inner)}), err
	}
	return data.OfString("\x00\x01"), nil
}

// TestPlanDeferred: a plan computes what it can; what it cannot is unknown, and everything
// else is planned. Rules RES-CONV-03 and RES-SAFE-01.
func TestPlanDeferred(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	m := p.system(systemtest.Case{}, p.settings())
	plan, err := transaction.MakePlan(t.Context(), catalogOf(t, p.expand([]byte(deferring))), transaction.Options{
		Settings: agent(m), System: m, Types: allTypes(), Resolve: computed,
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]transaction.Outcome{
		"File[@ROOT@/a]": transaction.WouldChange, "Notify[n]": transaction.WouldChange, "File[@ROOT@/b]": transaction.WouldChange,
		"Notify[bad]": transaction.CannotBeKnown,
	}
	for _, r := range plan.Resources {
		if ref := p.norm(r.Resource); r.Outcome != want[ref] {
			t.Errorf("%s: got %s, want %s", ref, r.Outcome, want[ref])
		}
		if r.Resource == "Notify[bad]" && (r.Because != transaction.DeferredValue || r.Detail != "message: Unknown function 'bad'") {
			t.Errorf("got %s, %q", r.Because, r.Detail)
		}
		if r.Resource == "Notify[n]" && r.Changes[0].Should == "text" {
			t.Error("a secret is shown")
		}
	}
}

// TestRunDeferred: in a run, what cannot be computed ends it before anything is applied, or,
// without preprocess_deferred, when its turn comes. Rule RES-CONV-03.
func TestRunDeferred(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		preprocess string
		files      int
	}{{"true", 0}, {"false", 2}} {
		t.Run("preprocess "+c.preprocess, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			m := p.system(systemtest.Case{}, p.settings(map[string]any{"preprocess_deferred": c.preprocess}))
			result := transaction.Run(t.Context(), catalogOf(t, p.expand([]byte(deferring))), transaction.Options{
				Settings: agent(m), System: m, Types: allTypes(), Resolve: computed,
			})
			if got := p.tree(t); len(got) != c.files || result.Exit != 1 || result.Err == nil || result.Err.Error() != "Unknown function 'bad'" {
				t.Errorf("exit %d, %v, got the files %v", result.Exit, result.Err, got)
			}
		})
	}
}

// TestDeferredUnsupported: a resource whose value only Ruby could compute fails alone; what
// depends on it is skipped, and one that its tags leave out does not fail. Rule RES-CONV-03.
func TestDeferredUnsupported(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	m := p.system(systemtest.Case{}, p.settings())
	const ruby = `{"__ptype": "Deferred", "name": "ruby", "arguments": []}`
	for _, c := range []struct{ tags, parameters, want string }{
		{"", `"message": ` + ruby, "failed skipped changed"},
		{"other", `"message": ` + ruby, "skipped skipped changed"},
		{"", `"message": ["a", ` + ruby + `]`, "failed skipped changed"},
		{"", `"message": {"a": [` + ruby + `]}`, "failed skipped changed"},
		{"", `"withpath": [` + ruby + `]`, "failed skipped changed"},
	} {
		settings := agent(m)
		if c.tags != "" {
			settings.Tags = []string{c.tags}
		}
		got := transaction.Run(t.Context(), catalogOf(t, []byte(`{"name": "n", "version": 1, "catalog_format": 2, "environment": "production", "edges": [], "classes": [], "resources": [
			{"type": "Notify", "title": "a", "kind": "compilable_type", "parameters": {`+c.parameters+`}},
			{"type": "Notify", "title": "b", "kind": "compilable_type", "parameters": {"require": "Notify[a]"}},
			{"type": "Notify", "title": "c", "kind": "compilable_type", "tags": ["other"]}]}`)), transaction.Options{
			Settings: settings, System: m, Types: allTypes(), Resolve: func(context.Context, data.Value) (data.Value, error) {
				return data.Value{}, fmt.Errorf("Function 'ruby' is written in Ruby: %w", errors.ErrUnsupported)
			},
		})
		if got.Err != nil {
			t.Fatal(got.Err)
		}
		var all []string
		for _, s := range got.Report.Statuses[:3] {
			switch {
			case s.Failed:
				all = append(all, "failed")
			case s.Skipped:
				all = append(all, "skipped")
			case s.Changed:
				all = append(all, "changed")
			}
		}
		if got := strings.Join(all, " "); got != c.want {
			t.Errorf("tags %q, %s: got %s, want %s", c.tags, c.parameters, got, c.want)
		}
	}
}
