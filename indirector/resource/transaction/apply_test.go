package transaction_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/format/psych"
	"indirtui/indirector/resource/probetest"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/systemtest"
	"indirtui/indirector/resource/transaction"
	"indirtui/indirector/resource/types"
)

// TestGoldenRalApply applies catalogs again and again, as they were recorded. Cases that
// run commands of Puppet's are those of TestGoldenRalCommands, in ui/cli.
func TestGoldenRalApply(t *testing.T) {
	t.Parallel()
	for _, row := range rows(t, "apply.jsonl") {
		var id string
		decode(t, row["id"], &id)
		var steps []stepRow
		decode(t, row["steps"], &steps)
		if slices.ContainsFunc(steps, func(s stepRow) bool { return s.Step["command"] != nil }) {
			continue
		}
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			for _, problem := range applyCase(t, row) {
				t.Error(problem)
			}
		})
	}
}

// A stepRow is one step of a case.
type stepRow struct {
	Step   map[string]any
	Exit   int
	Report *reportRow
	Calls  []any
	Tree   map[string]string
	Files  map[string]any
}

// applyCase takes the steps of a case, and returns what was not as it was recorded.
func applyCase(t *testing.T, row map[string]json.RawMessage) (problems []string) {
	var c struct {
		Settings map[string]any
		Full     bool
		Tree     systemtest.Tree
		Steps    []stepRow
		Catalogs []json.RawMessage
	}
	p := newPlace(t)
	var kase systemtest.Case
	text, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	decode(t, p.expand(text), &kase)
	for name, to := range map[string]any{"settings": &c.Settings, "full": &c.Full, "tree": &c.Tree, "steps": &c.Steps, "catalogs": &c.Catalogs} {
		decode(t, row[name], to)
	}
	c.Tree.Plant(t, p.dir+"/root")
	before := p.tree(t)
	for i, s := range c.Steps {
		compare := func(what string, want, got any) {
			if d := cmp.Diff(want, got); d != "" {
				problems = append(problems, fmt.Sprintf("step %d, %s: want -, got +\n%s", i, what, d))
			}
		}
		if shell, ok := s.Step["shell"].(string); ok {
			cmd := exec.CommandContext(t.Context(), "sh", "-ec", shell)
			cmd.Dir = p.dir + "/root"
			cmd.Env = append(os.Environ(), "ROOT="+cmd.Dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				problems = append(problems, fmt.Sprintf("step %d: %v\n%s", i, err, out))
			}
			before = p.tree(t)
			continue
		}
		manifest, _ := s.Step["manifest"].(float64)
		settings := map[string]any{}
		for _, name := range []string{"noop", "tags", "skip_tags"} {
			if v, ok := s.Step[name]; ok {
				settings[name] = v
			}
		}
		more, _ := s.Step["settings"].(map[string]any)
		w := &probetest.World{Root: p.dir + "/root"}
		m := p.system(kase, p.settings(c.Settings, more, settings))
		result := transaction.Run(t.Context(), recordedCatalog(t, p.expand(c.Catalogs[int(manifest)]), s.Report), transaction.Options{
			Settings: agent(m), System: m, Types: allTypes(), FromCache: true, IntoCache: true, Sources: noModules{}, Resolve: unresolved,
			Provider: func(r *types.Resource) providers.Provider { return w.Provider(r) },
		})
		for i, l := range s.Report.Logs {
			s.Report.Logs[i].Message = conversion.ReplaceAllString(l.Message, "value <RUBY> in class $1: <RUBY>")
		}
		compare("exit", s.Exit, result.Exit)
		compare("calls", s.Calls, anys(w.Calls))
		compare("report", s.Report, reportRowOf(t, p, result, c.Full))
		if s.Tree != nil {
			before = s.Tree
		}
		now := p.tree(t)
		compare("tree", before, now)
		before = now
		if s.Files != nil {
			compare("files", s.Files, p.stateFiles(t))
		}
	}
	return problems
}

func anys(texts []string) []any {
	var all []any
	for _, x := range texts {
		all = append(all, x)
	}
	return all
}

var times = regexp.MustCompile(`20\d\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?( ?(UTC|[+-]\d\d:?\d\d|Z))?`)

// stateFiles are the files of state as they are recorded.
func (p place) stateFiles(t *testing.T) map[string]any {
	t.Helper()
	state, public := p.dir+"/var/state/", p.dir+"/var/public/"
	summary := p.yaml(t, public+"last_run_summary.yaml")
	if s, ok := summary.(map[string]any); ok {
		var names []any
		for name := range s["time"].(map[string]any) {
			names = append(names, name)
		}
		sort.Slice(names, func(i, j int) bool { return names[i].(string) < names[j].(string) })
		s["time"] = names
	}
	return map[string]any{
		"state.yaml": p.yaml(t, state+"state.yaml"), "transactionstore.yaml": p.yaml(t, state+"transactionstore.yaml"),
		"last_run_summary.yaml": summary, "classes.txt": p.text(state + "classes.txt"), "resources.txt": p.text(state + "resources.txt"),
		"bucket": p.bucket(t),
	}
}

// bucket are the files in the local bucket.
func (p place) bucket(t *testing.T) []any {
	t.Helper()
	all, root := []any{}, p.dir+"/var/clientbucket"
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(root, name)
			all = append(all, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (p place) text(file string) any {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	return p.norm(strings.ReplaceAll(string(b), strings.ToLower(p.dir), p.dir))
}

// yaml is a file as JSON has it; symbols have a colon.
func (p place) yaml(t *testing.T, file string) any {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	doc, err := psych.Decode([]byte(times.ReplaceAllString(p.norm(string(text)), "<TIME>")), psych.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := format.AppendJSON(nil, colons(doc.Value))
	if err != nil {
		t.Fatal(err)
	}
	var v any
	decode(t, b, &v)
	return v
}

func colons(v data.Value) data.Value {
	switch v.Kind() {
	case data.Symbol:
		return data.OfString(":" + v.Str())
	case data.List:
		var all []data.Value
		for _, x := range v.List() {
			all = append(all, colons(x))
		}
		return data.OfList(all)
	case data.Hash:
		var all []data.Pair
		for _, q := range v.Hash() {
			all = append(all, data.Pair{Key: colons(q.Key), Value: colons(q.Value)})
		}
		return data.OfHash(all)
	}
	return v
}
