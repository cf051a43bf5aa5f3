package transaction_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/resource/systemtest"
	"indirtui/indirector/resource/transaction"
)

// compared is a catalog, and where it is to be applied.
func compared(t *testing.T) (place, *systemtest.System, string) {
	t.Helper()
	p := newPlace(t)
	m := p.system(systemtest.Case{}, p.settings())
	systemtest.Tree{"old": {Content: "a\n"}, "same": {Content: "x"}}.Plant(t, p.dir+"/root")
	return p, m, strings.ReplaceAll(`{"name": "n", "catalog_format": 2, "resources": [
		{"type": "File", "title": "@/old", "kind": "compilable_type", "parameters": {"content": "b\n", "mode": "0600"}},
		{"type": "File", "title": "@/same", "kind": "compilable_type", "parameters": {"content": "x"}},
		{"type": "File", "title": "@/none/below", "kind": "compilable_type", "parameters": {"ensure": "directory", "tag": "no"}},
		{"type": "Exec", "title": "/bin/true", "kind": "compilable_type", "parameters": {"refreshonly": true, "subscribe": "File[@/old]"}},
		{"type": "Notify", "title": "n\u001b", "kind": "compilable_type", "parameters": {"message": {"__ptype": "Sensitive", "__pvalue": "hunter2"}}}]}`,
		"@", p.dir+"/root")
}

// The plan of a catalog is what Puppet's noop reports of it.
func TestPlanIsReportOfNoop(t *testing.T) {
	t.Parallel()
	p, m, text := compared(t)
	o := transaction.Options{Settings: agent(m), System: m, Types: allTypes()}
	plan, err := transaction.MakePlan(t.Context(), catalogOf(t, []byte(text)), o, true)
	if err != nil {
		t.Fatal(err)
	}
	o.Noop = true
	result := transaction.Run(t.Context(), catalogOf(t, []byte(text)), o)
	if result.Err != nil {
		t.Fatal(result.Err, p.dir)
	}
	happened := transaction.Happened(result.Report)
	if got, want := plan.Document(false).Inspect(), happened.Document(false).Inspect(); got != want {
		t.Error(cmp.Diff(want, got))
	}
	if plan.Totals != happened.Totals || plan.Totals.Change != 3 || plan.Totals.Restart != 1 {
		t.Errorf("got %v and %v", plan.Totals, happened.Totals)
	}
	is, should := plan.Sides()
	if is.Len() != 3 || should.Len() != 3 || !strings.Contains(should.Inspect(), "0600") || strings.Contains(is.Inspect(), "0600") {
		t.Errorf("got %s and %s", is.Inspect(), should.Inspect())
	}
	if all := plan.Document(true).Inspect() + is.Inspect(); strings.Contains(all, "hunter2") {
		t.Error("a secret is in", all)
	}
}

func TestReadPlan(t *testing.T) {
	t.Parallel()
	_, m, text := compared(t)
	plan, err := transaction.MakePlan(t.Context(), catalogOf(t, []byte(text)), transaction.Options{Settings: agent(m), System: m, Types: allTypes()}, false)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	again, err := transaction.ReadPlan(b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(plan, again); d != "" {
		t.Error("want -, got +\n", d)
	}
	for text, want := range map[string]string{
		"":                        "it is no plan",
		"[]":                      "it is no plan",
		`{"resources": []}`:       "it is no plan",
		`{"totals": {"fail": 1}}`: "",
		`{"totals": {}, "resources": [{"resource": "x", "outcome": "same"}]}`:    `resource 0 has the reference "x", which is none`,
		`{"totals": {}, "resources": [{"resource": "X[y]", "outcome": "good"}]}`: `X[y] has the outcome "good", which is none`,
		`{"totals": {}, "resources": 7}`:                                         "cannot unmarshal",
	} {
		p, err := transaction.ReadPlan([]byte(text))
		switch {
		case want == "" && (err != nil || p.Totals.Fail != 0):
			t.Errorf("%s: got %v, %v", text, p, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// What is redacted is no part of any text of a plan.
func TestPlanRedacted(t *testing.T) {
	t.Parallel()
	p := &transaction.Plan{Logs: []string{"pin"}, Resources: []transaction.Planned{{
		Resource: "User[pin]", Outcome: transaction.WouldChange, Detail: "pin", Diff: "pin", Chain: []string{"pin"}, RefreshedBy: []string{"pin"},
		Changes: []transaction.PlannedChange{{Property: "password", Is: "pin", Should: "pin", Text: "pin"}},
	}}}
	hidden, err := json.Marshal(p.Redacted(func(_, text string) string { return strings.ReplaceAll(text, "pin", "") }))
	kept, kerr := json.Marshal(p)
	if err != nil || kerr != nil || strings.Contains(string(hidden), "pin") || strings.Count(string(kept), "pin") != 9 {
		t.Errorf("got %s of %s, %v", hidden, kept, errors.Join(err, kerr))
	}
}

// FuzzPlan reads any text: what is a plan is one when it is written again.
func FuzzPlan(f *testing.F) {
	f.Add([]byte(`{"catalog": "n", "totals": {}, "resources": [{"resource": "File[/a]", "outcome": "change", "changes": [{"property": "mode", "is": "'0644'", "should": "'0600'"}], "refreshed_by": ["Notify[b]"]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := transaction.ReadPlan(text)
		if err != nil {
			return
		}
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := transaction.ReadPlan(b)
		if err != nil || again.Totals != p.Totals {
			t.Fatalf("got %v, %v of %s", again, err, b)
		}
		_, _ = p.Sides()
		if p.Document(true).Len() != len(p.Resources) || p.Text() == "" {
			t.Error("something is lost")
		}
	})
}
