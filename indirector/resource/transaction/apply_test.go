package transaction_test

import (
	"bytes"
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
	applyAll(t, "apply.jsonl")
}

// TestGoldenRalApplyMore is the same for what was recorded later, of less usual values.
func TestGoldenRalApplyMore(t *testing.T) {
	t.Parallel()
	applyAll(t, "apply-more.jsonl")
}

func applyAll(t *testing.T, file string) {
	t.Helper()
	for _, row := range rows(t, file) {
		var id string
		var root bool
		decode(t, row["root"], &root)
		decode(t, row["id"], &id)
		var steps []stepRow
		decode(t, row["steps"], &steps)
		if slices.ContainsFunc(steps, func(s stepRow) bool { return s.Step["command"] != nil }) {
			continue
		}
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			if root && os.Geteuid() != 0 {
				t.Skip("1 case is skipped: it needs root")
			}
			for _, problem := range applyCase(t, row, probed(t)) {
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
	Calls  json.RawMessage
	Tree   map[string]string
	Files  map[string]any
}

// A run is one that a step asks for: the catalog, and settings besides those of the case.
func (s *stepRow) run() (manifest int, settings []map[string]any) {
	number, _ := s.Step["manifest"].(float64)
	own := map[string]any{}
	for _, name := range []string{"noop", "tags", "skip_tags"} {
		if v, ok := s.Step[name]; ok {
			own[name] = v
		}
	}
	more, _ := s.Step["settings"].(map[string]any)
	return int(number), []map[string]any{more, own}
}

// A caseRow is a case whose tree is planted.
type caseRow struct {
	Settings map[string]any
	Full     bool
	Tree     systemtest.Tree
	Steps    []stepRow
	Catalogs []json.RawMessage

	place place
	kase  systemtest.Case
	flags []string // of scripted commands, that last longer than a run
	calls []any    // of the probe, in the last run
	now   *systemtest.System
}

func planted(t *testing.T, row map[string]json.RawMessage) *caseRow {
	t.Helper()
	c := &caseRow{place: newPlace(t)}
	text, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	decode(t, c.place.expand(text), &c.kase)
	// The pipe of a command is one of the recorder.
	row["steps"] = bytes.ReplaceAll(row["steps"], []byte("#<StringIO:0xXXXX>"), []byte("#<IO:(closed)>"))
	for name, to := range map[string]any{"settings": &c.Settings, "full": &c.Full, "tree": &c.Tree, "steps": &c.Steps, "catalogs": &c.Catalogs} {
		decode(t, row[name], to)
	}
	c.Tree.Plant(t, c.place.dir+"/root")
	return c
}

// run takes a step that is a run. Without commands the default providers are those of this
// machine.
func (c *caseRow) run(t *testing.T, s *stepRow) *transaction.Result {
	t.Helper()
	manifest, settings := s.run()
	c.now = c.place.system(c.kase, c.place.settings(append([]map[string]any{c.Settings}, settings...)...))
	c.now.Raise(c.flags)
	w := &probetest.World{Root: c.place.dir + "/root"}
	o := transaction.Options{
		Settings: agent(c.now), System: c.now, Types: allTypes(), FromCache: true, IntoCache: true, Sources: noModules{}, Resolve: unresolved,
		Provider: func(r *types.Resource) providers.Provider { return w.Provider(r) },
	}
	if c.kase.Commands != nil {
		o.Host = c.now.Selection()
	}
	result := transaction.Run(t.Context(), recordedCatalog(t, c.place.expand(c.Catalogs[manifest]), s.Report), o)
	c.flags, c.calls = c.now.Flags(), anys(w.Calls)
	return result
}

// shell changes something between two runs, such as the flags, which it finds in a file.
func (c *caseRow) shell(t *testing.T, script string) {
	t.Helper()
	file := c.place.dir + "/flags"
	if err := os.WriteFile(file, []byte(strings.Join(c.flags, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", script)
	cmd.Dir = c.place.dir + "/root"
	cmd.Env = append(os.Environ(), "ROOT="+cmd.Dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(file)
	if err == nil { // else it was removed
		c.flags = strings.Fields(string(text))
	} else {
		c.flags = nil
	}
}

// applyCase takes the steps of a case, and returns what was not as it was recorded. calls
// compares what was called.
func applyCase(t *testing.T, row map[string]json.RawMessage, calls func(c *caseRow, s *stepRow) string) (problems []string) {
	t.Helper()
	c := planted(t, row)
	before := c.place.tree(t)
	for i := range c.Steps {
		s := &c.Steps[i]
		if shell, ok := s.Step["shell"].(string); ok {
			c.shell(t, shell)
			before = c.place.tree(t)
			continue
		}
		problem := func(what, d string) {
			if d != "" {
				problems = append(problems, fmt.Sprintf("step %d, %s: want -, got +\n%s", i, what, d))
			}
		}
		result := c.run(t, s)
		for i, l := range s.Report.Logs {
			s.Report.Logs[i].Message = conversion.ReplaceAllString(l.Message, "value <RUBY> in class $1: <RUBY>")
		}
		problem("exit", cmp.Diff(s.Exit, result.Exit))
		problem("calls", calls(c, s))
		problem("report", cmp.Diff(s.Report, reportRowOf(t, c.place, result, c.Full)))
		if s.Tree != nil {
			before = s.Tree
		}
		now := c.place.tree(t)
		problem("tree", cmp.Diff(before, now))
		before = now
		if s.Files != nil {
			problem("files", cmp.Diff(s.Files, c.place.stateFiles(t)))
		}
	}
	return problems
}

// probed compares the calls of the probe with those that were recorded.
func probed(t *testing.T) func(*caseRow, *stepRow) string {
	return func(c *caseRow, s *stepRow) string {
		var want []any
		decode(t, s.Calls, &want)
		return cmp.Diff(want, c.calls)
	}
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
