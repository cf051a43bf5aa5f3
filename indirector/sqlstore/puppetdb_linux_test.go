package sqlstore_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/puppetdb/command"
	"indirtui/indirector/sqlstore"
)

// A real PuppetDB, and the processes that work for it.
type puppetDB struct {
	url string
	run string // the directory with the pid files of its stack
}

// BenchmarkBesidePuppetDB does the cases of BenchmarkStore once more with so many nodes, and
// with a PuppetDB that runs: what the processor spends on each, in PuppetDB and its
// PostgreSQL together, and here. INDIRTUI_PEERS is the directory of the stack that
// .ci/peers/stack.sh up full has started, INDIRTUI_PUPPETDB the address of PuppetDB for
// plain HTTP. Its nodes are deactivated at the end. The first run after PuppetDB was started
// finds it slow.
//
//	INDIRTUI_PEERS=/tmp/indirtui-peers go test ./indirector/sqlstore -run '^$' -bench BesidePuppetDB -benchtime 1x
func BenchmarkBesidePuppetDB(b *testing.B) {
	dir := os.Getenv("INDIRTUI_PEERS")
	if dir == "" {
		b.Skip("INDIRTUI_PEERS is not set: there is no real PuppetDB to measure; start one with .ci/peers/stack.sh up full")
	}
	p := &puppetDB{url: cmp.Or(os.Getenv("INDIRTUI_PUPPETDB"), "http://127.0.0.1:18080"), run: filepath.Join(dir, "run")}
	s := open(b, sqlstore.Options{Path: filepath.Join(b.TempDir(), "stores.db")})
	var rows [][5]string
	for b.Loop() {
		rows = p.compare(b, s)
	}
	for _, r := range rows {
		fmt.Printf("%-30s %9s %9s %7s %6s\n", r[0], r[1], r[2], r[3], r[4])
	}
}

// A case of a comparison: so many commands, or a question that is asked so often.
type peerCase struct {
	name     string
	commands []*command.Command
	query    string // path and query
	ask      func() (rows int, err error)
	rows     int // what both answer
	factor   int // that is asked for
}

// again is how often something is changed, or asked.
const again = 20

// peerCases are those of nodes that were not there before, and the commands that end them.
func peerCases(ctx context.Context, s *sqlstore.Store) (cases []peerCase, gone peerCase) {
	nodes, start := benchNodes(), float64(time.Since(epoch)/time.Second)
	first := int(start) * 1000
	all := func(make func(node, changed int, seconds float64) *command.Command, count, changed int, later float64) (commands []*command.Command) {
		for n := range min(count, nodes) {
			commands = append(commands, make(first+n, changed, start+later))
		}
		return commands
	}
	for n := range nodes {
		gone.commands = append(gone.commands, command.Deactivate(fmt.Sprintf("node%d.example.com", first+n), command.Options{Produced: at(start + 3)}))
	}
	asked := func(filter data.Value) func() (int, error) {
		return func() (int, error) {
			found, err := s.Exported(ctx, sqlstore.Collection{Type: "File", Host: "other", Filter: filter})
			return len(found), err
		}
	}
	exported := func(more string) string {
		return "/pdb/query/v4/resources?query=" + url.QueryEscape(`["and",["=","type","File"],["=","exported",true],["not",["=","certname","other"]]`+more+`]`)
	}
	name := fmt.Sprintf("node%d.example.com", first)
	facts := func() (int, error) {
		f, err := s.Facts(ctx, name)
		return f.Values.Len(), err
	}
	search := func() (int, error) {
		names, err := s.FactSearch(ctx, []sqlstore.Condition{{Fact: "fact030", Op: "eq", Value: str("group7")}})
		return len(names), err
	}
	return []peerCase{
		{name: "facts, first", commands: all(benchFactset, nodes, 0, 0), factor: 8},
		{name: "facts, 21 of 135 changed", commands: all(benchFactset, again, 21, 1), factor: 12},
		{name: "catalog, first", commands: all(benchCatalog, nodes, 0, 0), factor: 15},
		{name: "catalog, unchanged", commands: all(benchCatalog, again, 0, 1), factor: 10},
		{name: "catalog, 5 resources changed", commands: all(benchCatalog, again, 5, 2), factor: 10},
		{name: "exported, all", query: exported(""), ask: asked(data.Value{}), rows: nodes * benchExported, factor: 8},
		{name: "exported, by tag", query: exported(`,["=","tag","group7"]`), ask: asked(list(str("tag"), str("=="), str("group7"))), rows: nodes * benchExported / 20, factor: 8},
		{name: "exported, none", query: exported(`,["=","title","none"]`), ask: asked(list(str("title"), str("=="), str("none"))), factor: 100},
		{name: "facts find", query: "/pdb/query/v4/nodes/" + name + "/facts", ask: facts, rows: benchFacts, factor: 40},
		{name: "fact search", query: "/pdb/query/v4/nodes?query=" + url.QueryEscape(`["and",["=",["fact","fact030"],"group7"]]`), ask: search, rows: nodes / 20, factor: 40},
	}, gone
}

// compare returns the rows of a table.
func (p *puppetDB) compare(b *testing.B, s *sqlstore.Store) (rows [][5]string) {
	b.Helper()
	cases, gone := peerCases(b.Context(), s)
	rows = append(rows, [5]string{"CPU ms for each", "PuppetDB", "sqlite", "factor", "asked"})
	for _, c := range cases {
		n := len(c.commands)
		if c.query != "" {
			n = again
		}
		before := p.used(b)
		p.do(b, &c)
		theirs := (p.used(b) - before) / time.Duration(n)
		before = cpu(b)
		for _, command := range c.commands {
			apply(b, s, command)
		}
		for range n - len(c.commands) {
			if found, err := c.ask(); err != nil || found != c.rows {
				b.Fatalf("%s: got %d, %v; want %d", c.name, found, err, c.rows)
			}
		}
		ours := (cpu(b) - before) / time.Duration(n)
		ms := func(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()*1000) }
		rows = append(rows, [5]string{c.name, ms(theirs), ms(ours), fmt.Sprintf("%.0fx", float64(theirs)/float64(ours)), fmt.Sprintf("%dx", c.factor)})
	}
	p.do(b, &gone)
	return rows
}

// do has PuppetDB do a case, and returns when it is done.
func (p *puppetDB) do(b *testing.B, c *peerCase) {
	b.Helper()
	for _, command := range c.commands {
		command.Payload = forPuppetDB(command)
		body, _ := command.Body()
		p.ask(b, http.MethodPost, "/pdb/cmd/v1?"+command.Query(body), body)
	}
	for depth := 1; depth > 0 && c.query == ""; time.Sleep(100 * time.Millisecond) {
		var status struct {
			Status struct {
				Depth int `json:"queue_depth"`
			} `json:"status"`
		}
		if err := json.Unmarshal(p.ask(b, http.MethodGet, "/status/v1/services/puppetdb-status", nil), &status); err != nil {
			b.Fatal(err)
		}
		depth = status.Status.Depth
	}
	for range again {
		if c.query == "" {
			break
		}
		var found []json.RawMessage
		if err := json.Unmarshal(p.ask(b, http.MethodGet, c.query, nil), &found); err != nil || len(found) != c.rows {
			b.Fatalf("%s: PuppetDB has %d rows, %v; want %d", c.name, len(found), err, c.rows)
		}
	}
}

// forPuppetDB is a payload with the keys that PuppetDB wants, and null in them.
func forPuppetDB(c *command.Command) data.Value {
	if c.Name == command.DeactivateNode {
		return c.Payload
	}
	v := c.Payload.With("producer_timestamp", str(c.Produced.UTC().Format(time.RFC3339Nano)))
	keys := []string{"producer"}
	if c.Name == command.ReplaceCatalog {
		keys = []string{"producer", "catalog_uuid", "transaction_uuid", "code_id", "job_id"}
	}
	for _, key := range keys {
		if _, there := v.Lookup(key); !there {
			v = v.With(key, data.Value{})
		}
	}
	return v
}

func (p *puppetDB) ask(b *testing.B, method, path string, body []byte) []byte {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, p.url+path, bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	answer, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != http.StatusOK {
		b.Fatalf("%s %s: %s, %v: %.300s", method, path, resp.Status, err, answer)
	}
	return answer
}

// used is what the processor has spent on PuppetDB and its PostgreSQL, also in processes that
// have ended.
func (p *puppetDB) used(b *testing.B) (used time.Duration) {
	b.Helper()
	const ticks = 100 // a second
	for _, name := range []string{"puppetdb", "postgres"} {
		var pid string
		text, err := os.ReadFile(filepath.Join(p.run, name+".pid"))
		if _, e := fmt.Sscan(string(text), &pid); err != nil || e != nil {
			b.Fatal(errors.Join(err, e))
		}
		children, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is good
		for _, path := range children {
			stat, err := os.ReadFile(path)
			if err != nil {
				continue // it has ended
			}
			// Behind the name, which may be anything: state, parent, …; times are 12th to 15th.
			fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
			of := []string{fields[11], fields[12], fields[13], fields[14]}
			if path != "/proc/"+pid+"/stat" {
				if of = of[:2]; fields[1] != pid {
					continue
				}
			}
			for _, t := range of {
				var n int64
				if _, err := fmt.Sscan(t, &n); err != nil {
					b.Fatal(err)
				}
				used += time.Duration(n) * time.Second / ticks
			}
		}
	}
	return used
}
