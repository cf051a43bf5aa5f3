package transaction_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/systemtest"
	"indirtui/indirector/resource/transaction"
)

// probes is a catalog of probes in this order; each has what it requires behind a colon.
func probes(lines ...string) *model.Catalog {
	c := &model.Catalog{Name: "node1.example.test", Format: 2, Environment: "production"}
	for _, line := range lines {
		title, requires, _ := strings.Cut(line, ":")
		r := model.Resource{Type: "Probe", Title: title, Kind: "compilable_type", File: "/site.pp", Line: int64(len(c.Resources) + 1)}
		if requires != "" {
			refs := strings.Split(requires, ",")
			for i := range refs {
				refs[i] = "Probe[" + refs[i] + "]"
			}
			r.Parameters = data.OfHash([]data.Pair{data.P("require", data.OfStrings(refs))})
		}
		c.Resources = append(c.Resources, r)
	}
	return c
}

func container(c *model.Catalog, title string, children ...string) {
	c.Resources = append(c.Resources, model.Resource{Type: "Class", Title: title, Kind: "class"})
	for _, child := range children {
		c.Edges = append(c.Edges, model.Edge{Source: "Class[" + title + "]", Target: child})
	}
}

func view(t *testing.T, c *model.Catalog) (*transaction.View, error) {
	t.Helper()
	p := place{t.TempDir()}
	return transaction.NewView(c, p.system(systemtest.Case{}, p.settings()), allTypes())
}

func TestHostileCatalogs(t *testing.T) {
	t.Parallel()
	nested := probes("p")
	container(nested, "A", "Class[B]")
	container(nested, "B", "Class[A]")
	alone := probes("p")
	container(alone, "A", "Class[A]")
	twice := probes("a", "b:a,a,a")
	aliased := probes("a", "b")
	for i := range aliased.Resources {
		aliased.Resources[i].Parameters = data.OfHash([]data.Pair{data.P("name", data.OfString("same"))})
	}
	repeated := probes("a", "a")
	notReference := probes("a")
	notReference.Resources[0].Parameters = data.OfHash([]data.Pair{data.P("require", data.OfString("nothing"))})
	for _, tt := range []struct {
		name    string
		catalog *model.Catalog
		want    string // the error, or the text
	}{
		{"nothing", probes(), "6 of 7"},
		{"an edge to nothing", probes("a:b"), "Could not find dependency Probe[b] for Probe[a] (file: /site.pp, line: 1)"},
		{"an edge to itself", probes("a:a"), "Probe[a]  => Probe[a]  require of Probe[a]"},
		{"the same edge again", twice, "2 of 9  Probe[b]"},
		{"a resource again", repeated, "Duplicate declaration: Probe[a] is already declared at (file: /site.pp, line: 1); cannot redeclare (file: /site.pp, line: 2)"},
		{"two of one name", aliased, `Cannot alias Probe[b] to ["same"] at (file: /site.pp, line: 2); resource ["Probe", "same"] already declared (file: /site.pp, line: 1)`},
		{"containers in each other", nested, "no relationship is in it: containers contain each other"},
		{"a container in itself", alone, "no relationship is in it: containers contain each other"},
		{"brackets", probes("a[b]", "c]:a[b]"), "2 of 9  Probe[c]]"},
		{"lines", probes("a\nb", "c:a\nb"), `1 of 9  Probe[a\nb]`},
		{"escapes", probes("\x1b[2Ja"), `Probe[\x1b[2Ja]`},
		{"no reference", notReference, "Parameter require failed on Probe[a]: No title provided"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, err := view(t, tt.catalog)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = squeezed(v.Text() + strings.Join(v.Problems, "\n"))
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q in it", got, tt.want)
			}
		})
	}
}

// squeezed has no more than two blanks beside each other.
func squeezed(s string) string {
	for strings.Contains(s, "   ") {
		s = strings.ReplaceAll(s, "   ", "  ")
	}
	return s
}

// TestLargeCycles finds the way around in large parts in little time: one ring of 10 000
// resources, and layers through which there are more ways than can be gone.
func TestLargeCycles(t *testing.T) {
	t.Parallel()
	var ring, layers []string
	const n, wide = 10_000, 50
	for i := range n {
		ring = append(ring, fmt.Sprintf("p%05d:p%05d", i, (i+n-1)%n))
	}
	for i := range wide * wide {
		above := (i/wide + wide - 1) % wide * wide
		layers = append(layers, fmt.Sprintf("p%05d:p%05d,p%05d", i, above+i%wide, above+(i+1)%wide))
	}
	for _, tt := range []struct {
		name  string
		lines []string
		path  int
	}{{"a ring", ring, n}, {"layers", layers, wide}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			v, err := view(t, probes(tt.lines...))
			if err != nil {
				t.Fatal(err)
			}
			if len(v.Cycles) != 1 || v.Cycles[0].Resources != len(tt.lines) || len(v.Cycles[0].Path) != tt.path {
				t.Errorf("%d cycles, of %d resources, with a way of %d", len(v.Cycles), v.Cycles[0].Resources, len(v.Cycles[0].Path))
			}
			if took := time.Since(begin); took > time.Minute {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// TestCyclePath compares with going all ways, in random graphs.
func TestCyclePath(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	p := place{t.TempDir()}
	host, known := p.system(systemtest.Case{}, p.settings()), allTypes()
	found := 0
	for range 300 {
		n := 3 + random.IntN(8)
		lines := make([]string, n)
		for i := range lines {
			var to []string
			for range random.IntN(3) {
				to = append(to, fmt.Sprint("p", random.IntN(n)))
			}
			lines[i] = fmt.Sprint("p", i, ":", strings.Join(to, ","))
		}
		c, err := transaction.Convert(probes(lines...), transaction.Conversion{Types: known, Host: host})
		if err != nil {
			t.Fatal(err)
		}
		g, err := c.Relate(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range g.Cycles() {
			found++
			got, want := names(transaction.CyclePath(part)), names(transaction.FirstWay(part))
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("%q: want -, got +\n%s", lines, d)
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d cycles were compared", found)
	}
}

func names(all []*transaction.Resource) []string {
	var out []string
	for _, r := range all {
		out = append(out, r.String())
	}
	return out
}

// TestOrderKeepsEdges checks in random catalogs that nothing is evaluated before what it
// waits for, and everything once.
func TestOrderKeepsEdges(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 9))
	for range 200 {
		n := 2 + random.IntN(12)
		c := probes()
		for i := range n {
			var to []string
			for range random.IntN(3) {
				if i > 0 {
					to = append(to, fmt.Sprint("p", random.IntN(i)))
				}
			}
			c.Resources = append(c.Resources, probes(fmt.Sprint("p", i, ":", strings.Join(to, ","))).Resources...)
		}
		random.Shuffle(n, func(i, j int) { c.Resources[i], c.Resources[j] = c.Resources[j], c.Resources[i] })
		v, err := view(t, c)
		if err != nil {
			t.Fatal(err)
		}
		checkOrder(t, v)
	}
}

// checkOrder checks that an order has each resource once, after those that it waits for.
func checkOrder(t *testing.T, v *transaction.View) {
	t.Helper()
	at := map[string]int{}
	for i, turn := range v.Order {
		if _, again := at[turn.Resource]; again {
			t.Fatalf("%s is evaluated twice", turn.Resource)
		}
		at[turn.Resource] = i
	}
	for i, ref := range v.References() {
		v.Look(i)
		turn, evaluated := at[ref]
		if !evaluated {
			continue
		}
		for _, l := range v.Around.WaitsFor {
			if before, ok := at[l.Resource]; ok && before > turn {
				t.Fatalf("%s is evaluated before %s, for which it waits", ref, l.Resource)
			}
		}
	}
	v.Around = nil
	if slices.ContainsFunc(v.Order, func(turn transaction.Turn) bool { return strings.HasPrefix(turn.Resource, "Whit[") }) {
		t.Fatal("whits are in the order")
	}
}
