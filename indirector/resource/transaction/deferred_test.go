package transaction_test

import (
	"context"
	"errors"
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
