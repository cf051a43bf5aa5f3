package sqlstore_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/puppetdb/command"
	"indirtui/indirector/sqlstore"
	"indirtui/indirector/sqlstore/storetest"
)

// A simple store does what a Store does in the plainest way.
type simple map[string]*simpleNode

type simpleNode struct {
	deactivated    time.Time
	facts, catalog *command.Command
	reports        []*command.Command
}

func (s simple) apply(c *command.Command) {
	n := s[c.Certname]
	if n == nil {
		n = new(simpleNode)
		s[c.Certname] = n
	}
	if c.Name != command.DeactivateNode && c.Produced.After(n.deactivated) {
		n.deactivated = time.Time{}
	}
	newer := func(old *command.Command) bool { return old != nil && old.Produced.After(c.Produced) }
	switch c.Name {
	case command.ReplaceFacts:
		if !newer(n.facts) {
			n.facts = c
		}
	case command.ReplaceCatalog:
		if !newer(n.catalog) {
			n.catalog = c
		}
	case command.StoreReport:
		if !slices.ContainsFunc(n.reports, func(r *command.Command) bool { return r.Produced.Equal(c.Produced) }) {
			n.reports = append(n.reports, c)
		}
	case command.DeactivateNode:
		if newer(n.facts) || newer(n.catalog) || slices.ContainsFunc(n.reports, newer) || n.deactivated.After(c.Produced) {
			return
		}
		n.deactivated = c.Produced
	}
}

// seen is all that can be asked, as text.
func (s simple) seen() map[string]string {
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		n := s[name]
		seen["node "+name] = fmt.Sprint(!n.deactivated.IsZero(), " ", len(n.reports))
		if n.facts != nil {
			seen["facts "+name] = "{}"
			if n.deactivated.IsZero() {
				seen["facts "+name] = sortedFacts(n.facts.Payload.Get("values"))
			}
		}
		if n.catalog != nil {
			seen["catalog "+name] = sortedResources(n.catalog.Payload.Get("resources"))
		}
		if n.catalog == nil || !n.deactivated.IsZero() {
			continue
		}
		for _, r := range n.catalog.Payload.Get("resources").List() {
			if r.Get("exported").Bool() {
				seen["exported"] += name + " " + r.Get("title").Text() + "\n"
			}
			if r.Get("exported").Bool() && strings.Contains(r.Get("tags").Inspect(), "special") {
				seen["special"] += name + " " + r.Get("title").Text() + "\n"
			}
		}
	}
	for _, which := range []string{"exported", "special"} {
		lines := strings.SplitAfter(seen[which], "\n")
		slices.Sort(lines)
		seen[which] = strings.Join(lines, "")
	}
	return seen
}

func sortedFacts(v data.Value) string {
	var all []string
	for _, p := range v.Hash() {
		all = append(all, p.Key.Text()+"="+p.Value.Inspect())
	}
	slices.Sort(all)
	return "{" + strings.Join(all, " ") + "}"
}

func sortedResources(v data.Value) string {
	var all []string
	for _, r := range v.List() {
		all = append(all, r.Get("title").Text()+sortedFacts(r.Get("parameters"))+r.Get("tags").Inspect()+r.Get("exported").Inspect())
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// seenIn is what a Store answers, as text.
func seenIn(t *testing.T, s *sqlstore.Store) map[string]string {
	t.Helper()
	seen := map[string]string{"exported": "", "special": ""}
	err := s.Nodes(t.Context(), true, func(n *sqlstore.Node) bool {
		seen["node "+n.Certname] = fmt.Sprint(!n.Inactive().IsZero())
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	for key := range maps.Clone(seen) {
		name, is := strings.CutPrefix(key, "node ")
		if !is {
			continue
		}
		reports := 0
		err := s.Reports(t.Context(), sqlstore.ReportQuery{Certname: name}, func(*model.Report) error { reports++; return nil })
		if err != nil {
			t.Fatal(err)
		}
		seen[key] += " " + strconv.Itoa(reports)
		f, err := s.Facts(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if f.Made != nil {
			seen["facts "+name] = sortedFacts(f.Values)
		}
		c, err := s.Catalog(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if c != nil {
			var rows []data.Value
			for _, r := range c.Catalog.Resources {
				rows = append(rows, hash(data.P("title", str(r.Title)), data.P("parameters", r.Parameters), data.P("tags", data.OfStrings(r.Tags)), data.P("exported", data.OfBool(r.Exported))))
			}
			seen["catalog "+name] = sortedResources(list(rows...))
		}
	}
	for which, filter := range map[string]data.Value{"exported": {}, "special": list(str("tag"), str("=="), str("SPECIAL"))} {
		found, err := s.Exported(t.Context(), sqlstore.Collection{Type: "Notify", Filter: filter})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range found {
			seen[which] += r.Exporter + " " + r.Title + "\n"
		}
	}
	return seen
}

// randomCommand is one of few nodes and few moments, so that many meet.
func randomCommand(tb testing.TB, r *rand.Rand) *command.Command {
	name, seconds := "n"+strconv.Itoa(r.IntN(3)), float64(r.IntN(12))
	switch r.IntN(8) {
	case 0:
		return deactivate(name, seconds)
	case 1:
		return report(name, seconds, "changed", "a")
	case 2, 3, 4:
		var values []string
		for i := range r.IntN(6) {
			values = append(values, fmt.Sprintf(`"f%d":%s`, i, []string{`1`, `1.0`, `"1"`, `null`, `true`, `[]`, `{"a":[1,{"b":null}]}`, `"ünï\u0001"`}[r.IntN(8)]))
		}
		return facts(tb, name, seconds, "{"+strings.Join(values, ",")+"}")
	}
	var resources, edges []string
	n := r.IntN(8)
	for i := range n {
		tags := []string{`["notify"]`, `["notify","special"]`, `[]`}[r.IntN(3)]
		resources = append(resources, fmt.Sprintf(`{"title":"r%d","exported":%t,"tags":%s,"parameters":{"z":%d,"a":{"k":[%d]}}}`, i, r.IntN(2) == 0, tags, r.IntN(2), r.IntN(2)))
	}
	for i := range n {
		edges = append(edges, fmt.Sprintf(`["r0","r%d","%s"]`, r.IntN(i+1), []string{"contains", "before"}[r.IntN(2)]))
	}
	return catalog(tb, name, seconds, "["+strings.Join(resources, ",")+"]", "["+strings.Join(edges, ",")+"]")
}

// TestRandomCommands applies random commands to both dialects and to a simple store,
// and compares what can be asked. INDIRTUI_STORES makes that many sequences.
func TestRandomCommands(t *testing.T) {
	t.Parallel()
	sequences := 4
	if n, err := strconv.Atoi(os.Getenv("INDIRTUI_STORES")); err == nil {
		sequences = n
	}
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("INDIRTUI_STORES_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("INDIRTUI_STORES_SEED=%d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	dialects := map[string]func() sqlstore.Options{
		"sqlite":     func() sqlstore.Options { return sqlstore.Options{Path: filepath.Join(t.TempDir(), "stores.db")} },
		"postgresql": func() sqlstore.Options { return sqlstore.Options{URL: storetest.Postgres(t)} },
	}
	for range sequences {
		var all []*command.Command
		for range 40 {
			all = append(all, randomCommand(t, r))
		}
		want := simple{}
		for _, c := range all {
			want.apply(c)
		}
		for dialect, options := range dialects {
			s := open(t, options())
			for _, c := range all {
				apply(t, s, c)
			}
			if diff := cmp.Diff(want.seen(), seenIn(t, s)); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", dialect, diff)
			}
			checked(t, s)
			if err := s.Close(); err != nil { // PostgreSQL has a hundred connections
				t.Fatal(err)
			}
		}
	}
}

// checked fails if a check finds something.
func checked(t *testing.T, s *sqlstore.Store) sqlstore.Checked {
	t.Helper()
	ch, err := s.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ch.Problems {
		t.Errorf("check: %s", p)
	}
	return ch
}
