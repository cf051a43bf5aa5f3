package transaction_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/format"
	"indirtui/indirector/golden"
	"indirtui/indirector/resource/systemtest"
	"indirtui/indirector/resource/transaction"
)

// TestRandomTransactions applies random catalogs several times, with changes of the files
// and of the catalog in between: by real Puppet, by this program, and by both in turn over
// the same files of state. Each run must have the same report, and leave the same files.
// INDIRTUI_TRANSACTIONS is how many, INDIRTUI_TRANSACTIONS_SEED the seed of the first.
func TestRandomTransactions(t *testing.T) {
	golden.NeedsPuppet(t)
	t.Parallel()
	count, seed := 1, uint64(time.Now().UnixNano())
	if n, err := strconv.Atoi(os.Getenv("INDIRTUI_TRANSACTIONS")); err == nil {
		count = n
	}
	if n, err := strconv.ParseUint(os.Getenv("INDIRTUI_TRANSACTIONS_SEED"), 10, 64); err == nil {
		seed = n
	}
	real := startPuppet(t)
	for i := range count {
		s := seed + uint64(i)
		t.Run(fmt.Sprint("seed ", s), func(t *testing.T) {
			random := randomRuns(rand.New(rand.NewPCG(s, 0)))
			want := random.in(t, real, func(int) bool { return true })
			for name, byPuppet := range map[string]func(int) bool{
				"ours":                func(int) bool { return false },
				"ours after Puppet's": func(i int) bool { return i%2 == 0 },
				"Puppet's after ours": func(i int) bool { return i%2 == 1 },
			} {
				got := random.in(t, real, byPuppet)
				for i := range want {
					if d := cmp.Diff(want[i], got[i]); d != "" {
						t.Errorf("%s, run %d of %s: want -, got +\n%s", name, i, random, d)
						break
					}
				}
			}
		})
	}
}

// A realAgent is real Puppet, which applies what it is given.
type realAgent struct {
	in  io.Writer
	out *bufio.Reader
}

func startPuppet(t *testing.T) *realAgent {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "ruby", "testdata/puppet/agent.rb")
	cmd.Stderr = io.Discard
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // its context has ended
	})
	return &realAgent{in, bufio.NewReaderSize(out, 1<<20)}
}

func (a *realAgent) apply(t *testing.T, dir string, catalog json.RawMessage, noop bool) (int, map[string]any) {
	t.Helper()
	if err := json.NewEncoder(a.in).Encode(map[string]any{"dir": dir, "catalog": catalog, "noop": noop}); err != nil {
		t.Fatal(err)
	}
	line, err := a.out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Exit   int
		Report map[string]any
		Crash  string
	}
	if err := json.Unmarshal(line, &answer); err != nil || answer.Crash != "" {
		t.Fatalf("%v %s", err, answer.Crash)
	}
	return answer.Exit, answer.Report
}

// A randomRun is one run, after a change of the files.
type randomRun struct {
	shell   string
	noop    bool
	catalog string // with @ROOT@
}

type randomCase []randomRun

func (c randomCase) String() string {
	var b strings.Builder
	for _, r := range c {
		fmt.Fprintf(&b, "\n  noop %v, after %q: %s", r.noop, r.shell, r.catalog)
	}
	return b.String()
}

// outcome is what a run has left.
type outcome struct {
	Exit                 int
	Report, State, Store any
	Tree                 map[string]string
}

// in takes the runs in a place of their own, each by Puppet or by this program.
func (c randomCase) in(t *testing.T, real *realAgent, byPuppet func(i int) bool) []outcome {
	t.Helper()
	p := newPlace(t)
	var all []outcome
	for i, r := range c {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", r.shell)
		cmd.Dir = p.dir + "/root"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		text := p.expand([]byte(r.catalog))
		var o outcome
		var report map[string]any
		if byPuppet(i) {
			o.Exit, report = real.apply(t, p.dir, text, r.noop)
		} else {
			m := p.system(systemtest.Case{}, p.settings(map[string]any{"noop": r.noop}))
			result := transaction.Run(t.Context(), catalogOf(t, text), transaction.Options{
				Settings: agent(m), System: m, Types: allTypes(), FromCache: true, IntoCache: true,
			})
			o.Exit = result.Exit
			b, err := format.AppendJSON(nil, result.Report.Data())
			if err != nil {
				t.Fatal(err)
			}
			decode(t, b, &report)
		}
		o.Report, o.State, o.Store = p.bare(t, report), p.ofRoot(p.yaml(t, p.dir+"/var/state/state.yaml")), p.yaml(t, p.dir+"/var/state/transactionstore.yaml")
		o.Tree = p.tree(t)
		all = append(all, o)
	}
	return all
}

// bare is a report without what differs from run to run.
func (p place) bare(t *testing.T, report map[string]any) any {
	t.Helper()
	for _, name := range []string{"time", "transaction_uuid", "catalog_uuid", "code_id", "job_id", "server_used", "host"} {
		delete(report, name)
	}
	metrics, _ := report["metrics"].(map[string]any)
	delete(metrics, "time")
	b, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	decode(t, []byte(times.ReplaceAllString(duration.ReplaceAllString(p.norm(string(b)), "in <N> seconds"), "<TIME>")), &v)
	dropTimes(v)
	return v
}

// dropTimes takes times out of lines and resources, and puts tags in order.
func dropTimes(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "time")
		if v["evaluation_time"] != nil {
			v["evaluation_time"] = "<N>"
		}
		if values, ok := v["values"].([]any); ok { // of a metric; a hash in Puppet
			slices.SortFunc(values, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		if tags, ok := v["tags"].([]any); ok {
			slices.SortFunc(tags, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		for _, x := range v {
			dropTimes(x)
		}
	case []any:
		for _, x := range v {
			dropTimes(x)
		}
	}
}

// ofRoot is a file of state without Puppet's own directories.
func (p place) ofRoot(state any) any {
	all, _ := state.(map[string]any)
	for ref := range all {
		if strings.HasPrefix(ref, "File[") && !strings.Contains(ref, "@ROOT@") {
			delete(all, ref)
		}
	}
	return all
}

// A maker makes random catalogs.
type maker struct{ *rand.Rand }

func (m maker) of(words ...string) string { return words[m.IntN(len(words))] }

func (m maker) often(n int) bool { return m.IntN(n) > 0 }

// randomRuns are runs of a catalog that is changed now and then. A resource may depend on
// one before it.
func randomRuns(r *rand.Rand) randomCase {
	m := maker{r}
	n := 3 + m.IntN(6)
	kinds, relations, resources := make([]string, n), make([]map[string]any, n), make([]map[string]any, n)
	for i := range n {
		kinds[i] = m.of("Notify", "Exec", "File", "File")
		resources[i] = m.resource(kinds[i], i)
		relations[i] = map[string]any{}
		if i > 0 && m.often(2) {
			on := resources[m.IntN(i)]
			relations[i][m.of("require", "subscribe")] = fmt.Sprintf("%s[%s]", on["type"], on["title"])
		}
	}
	var runs randomCase
	for i := range 4 {
		run := randomRun{shell: ":", noop: !m.often(4)}
		if i > 0 && m.often(2) {
			run.shell = m.drift()
		}
		if i > 0 && m.often(3) {
			at := m.IntN(n)
			resources[at] = m.resource(kinds[at], at)
		}
		for i, r := range resources {
			maps.Copy(r["parameters"].(map[string]any), relations[i])
		}
		run.catalog = m.catalog(resources)
		runs = append(runs, run)
	}
	return runs
}

func (m maker) catalog(resources []map[string]any) string {
	all := []map[string]any{
		{"type": "Stage", "title": "main", "tags": []string{"stage"}, "kind": "compilable_type", "parameters": map[string]any{"name": "main"}},
		{"type": "Class", "title": "main", "tags": []string{"class"}, "kind": "unknown", "parameters": map[string]any{"name": "main"}},
	}
	edges := []map[string]any{{"source": "Stage[main]", "target": "Class[main]"}}
	for _, r := range resources {
		all = append(all, r)
		edges = append(edges, map[string]any{"source": "Class[main]", "target": fmt.Sprintf("%s[%s]", r["type"], r["title"])})
	}
	text, err := json.Marshal(map[string]any{
		"name": "node1.example.test", "version": 7, "environment": "production", "catalog_format": 2, "tags": []string{}, "classes": []string{},
		"resources": all, "edges": edges,
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (m maker) resource(kind string, i int) map[string]any {
	switch kind {
	case "Notify":
		return m.declared(kind, fmt.Sprint("n", i), map[string]any{"message": m.of("hello", "a 'b'", "x\ny", "ä")})
	case "Exec":
		return m.declared(kind, fmt.Sprint("e", i), m.exec())
	}
	return m.declared("File", fmt.Sprint("@ROOT@/f", i), m.file())
}

func (m maker) exec() map[string]any {
	p := map[string]any{"command": m.of("/bin/true", "/bin/false", "/bin/echo hi"), "logoutput": m.of("true", "false", "on_failure")}
	switch m.IntN(5) {
	case 0:
		p["refreshonly"] = true
	case 1:
		p["creates"] = "@ROOT@/f" + m.of("0", "1", "2")
	case 2:
		p["unless"] = m.of("/bin/true", "/bin/false")
	case 3:
		p["onlyif"] = m.of("/bin/true", "/bin/false")
	}
	return p
}

func (m maker) file() map[string]any {
	p := map[string]any{}
	switch m.IntN(6) {
	case 0:
		p["ensure"] = "directory"
	case 1:
		p["ensure"] = "absent"
	case 2:
		p["ensure"], p["target"] = "link", "@ROOT@/f"+m.of("0", "1", "nowhere")
	case 3:
		p["ensure"] = m.of("file", "present")
	default:
		p["content"] = m.of("one\n", "two", "", "ü\n")
	}
	if m.often(2) {
		p["mode"] = m.of("0644", "0600", "u+x", "0755")
	}
	if !m.often(3) {
		p["audit"] = []string{m.of("mode", "content"), m.of("ensure", "owner", "seltype")} // not of times, which may differ
	}
	if !m.often(3) {
		p["force"] = true
	}
	if !m.often(4) {
		p["backup"] = m.of("puppet", ".bak")
	}
	if !m.often(4) {
		p["replace"] = false
	}
	return p
}

func (m maker) declared(typ, title string, parameters map[string]any) map[string]any {
	if !m.often(6) {
		parameters["noop"] = m.often(2)
	}
	if !m.often(6) {
		parameters["loglevel"] = m.of("warning", "info", "debug")
	}
	if !m.often(8) {
		parameters["schedule"] = m.of("never", "daily", "puppet")
	}
	r := map[string]any{"type": typ, "title": title, "tags": []string{strings.ToLower(typ), "class"}, "kind": "compilable_type", "exported": false, "parameters": parameters}
	if typ == "File" && !m.often(8) && parameters["content"] != nil {
		r["sensitive_parameters"] = []string{"content"}
	}
	return r
}

// drift is a change of the files.
func (m maker) drift() string {
	file := "f" + m.of("0", "1", "2", "3", "4", "5")
	return m.of(
		"test -d "+file+" || echo drift > "+file, "rm -rf "+file, "chmod 0711 "+file+" 2>/dev/null || :", "rm -rf "+file+"; mkdir "+file,
		"rm -rf "+file+"; ln -s f1 "+file, "rm -rf "+file+"; mkdir "+file+"; echo x > "+file+"/x",
	)
}
