package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/indirector/origins"
	"indirtui/traces/diff"
	"indirtui/ui/command"
)

// A compileCommand compiles the catalogs of nodes.
type compileCommand struct {
	compiling
	all             bool
	jobs            int
	against, format string
}

// A compileResult is what compile prints as JSON: schema compile.
type compileResult struct {
	Compiled bool           `json:"compiled"` // every catalog is
	Nodes    []compiledNode `json:"nodes"`
}

type compiledNode struct {
	Node        string       `json:"node"`
	Environment string       `json:"environment"` // "" if it is not known
	Compiled    bool         `json:"compiled"`
	Resources   int          `json:"resources"`
	Seconds     float64      `json:"seconds"`
	Against     *diff.Answer `json:"against,omitempty"`
	failure
}

func (c *compileCommand) build(cmd *cobra.Command) {
	cmd.Long = `Compile the catalogs of nodes, as a server would, and list what came of each:
its environment, resources and time, or the error with the file and line where
it happened. Many are compiled at once, and one that fails does not end the
others. Nothing is saved.

Without names it is this host (the setting certname); --all means the nodes
whose facts the terminus of facts has stored. --against compares each catalog
with the one that another terminus has, as json or rest, and counts the
differences but for version, code_id and catalog_uuid. "indirtui schema compile"
prints the schema of --format json.

Exit code: 0 all compile, 1 one does not, 2 usage.`
	cmd.Example = `  indirtui compile web01.example.com
  indirtui compile --all --against json
  indirtui compile web01.example.com --facts web01.json --environment test
  indirtui compile -e 'include profile::base'`
	c.flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&c.all, "all", false, "all nodes whose facts are stored")
	f.IntVarP(&c.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "how many are compiled at once")
	f.StringVar(&c.against, "against", "", "count the differences to the catalogs of this `TERMINUS`")
	f.StringVar(&c.format, "format", "text", "text or json")
}

func (c *compileCommand) run(ctx context.Context, args []string) error {
	if err := checkFormat(c.format); err != nil {
		return err
	}
	switch {
	case c.all && len(args) > 0:
		return &command.UsageError{What: "--all and names of nodes", Advice: "choose one"}
	case c.jobs < 1:
		return &command.UsageError{What: fmt.Sprintf("--jobs %d: want 1 or more", c.jobs)}
	}
	given, err := givenFacts(c.facts)
	if err != nil {
		return err
	}
	return c.withEngine(func(e *engine.Engine) error {
		nodes, err := c.nodes(ctx, e, args)
		if err != nil {
			return err
		}
		result := compileResult{Compiled: true, Nodes: make([]compiledNode, len(nodes))}
		inParallel(len(nodes), c.jobs, func(i int) { result.Nodes[i] = c.compile(ctx, e, nodes[i], given) })
		for _, n := range result.Nodes {
			result.Compiled = result.Compiled && n.Compiled
		}
		if err := c.print(result); err != nil {
			return err
		}
		if !result.Compiled {
			return exit(exitFailed)
		}
		return nil
	})
}

// inParallel calls do with 0 to n-1, some at once.
func inParallel(n, jobs int, do func(i int)) {
	var workers sync.WaitGroup
	next := make(chan int)
	for range min(n, jobs) {
		workers.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	workers.Wait()
}

// nodes are those that are named, or all that the terminus of facts has, or this host.
func (c *compileCommand) nodes(ctx context.Context, e *engine.Engine, named []string) ([]string, error) {
	if !c.all {
		if len(named) > 0 {
			return named, nil
		}
		name, _ := e.Settings.Get("certname")
		return []string{name}, nil
	}
	route, _ := e.Explain("facts")
	terminus := route.Primary.Winner().Terminus
	var nodes []string
	err := e.Walk(ctx, func(en indirector.Entry) bool {
		if en.Terminus == terminus && en.Key != "" {
			nodes = append(nodes, en.Key)
		}
		return true
	}, "facts")
	if err == nil && len(nodes) == 0 {
		err = fmt.Errorf("terminus %s of facts lists no node; name another: --route facts=yaml", terminus)
	}
	slices.Sort(nodes)
	return slices.Compact(nodes), err
}

// compile compiles the catalog of one node.
func (c *compileCommand) compile(ctx context.Context, e *engine.Engine, node string, given data.Value) compiledNode {
	out := compiledNode{Node: node}
	req, got, err := c.request(ctx, e, node, given)
	if err != nil {
		out.failure = newFailure(e, err)
		return out
	}
	started := time.Now()
	resp, err := e.Once(ctx, req)
	out.Seconds, out.Environment = time.Since(started).Seconds(), got.Environment
	if err != nil {
		out.failure = newFailure(e, err)
		return out
	}
	catalog, ok := resp.Instance().(*model.Catalog)
	if !ok {
		out.failure = newFailure(e, fmt.Errorf("the answer is no catalog"))
		return out
	}
	out.Compiled, out.Environment, out.Resources = true, catalog.Environment, len(catalog.Resources)
	if c.against != "" {
		answer := c.compare(ctx, e, catalog)
		out.Against = &answer
	}
	return out
}

// compare compares a catalog with that of the other terminus, both as they are sent.
func (c *compileCommand) compare(ctx context.Context, e *engine.Engine, ours *model.Catalog) diff.Answer {
	resp, err := e.Once(ctx, &indirector.Request{
		Indirection: "catalog", Verb: indirector.Find, Key: ours.Name, Terminus: c.against, Cache: indirector.Off,
		Environment: c.p.environment, Caller: "cli",
	})
	if errors.Is(err, indirector.ErrNotFound) {
		return diff.Answer{Verdict: diff.OneSided, Why: fmt.Sprintf("terminus %s has no catalog of %s", c.against, ours.Name)}
	}
	if err != nil {
		return diff.Answer{Verdict: diff.OneSided, Why: redacted(e, indirector.Message(err))}
	}
	theirs, errTheirs := sent(e, resp.Instance())
	mine, errMine := sent(e, ours)
	if err := cmp.Or(errTheirs, errMine); err != nil {
		return diff.Answer{Verdict: diff.Uncompared, Why: redacted(e, err.Error())}
	}
	return diff.Texts(theirs, mine, diff.Options{Ignore: append(diff.Fresh(), ".version", ".code_id")})
}

// sent is a catalog as JSON, as nodes read it, with redacted secrets.
func sent(e *engine.Engine, catalog indirector.Instance) ([]byte, error) {
	f, _ := format.ByName("rich_data_json")
	b, err := format.Render(f, catalog)
	if err != nil {
		return nil, err
	}
	read, _, err := format.Intern(f, "catalog", b, format.Options{})
	if err != nil {
		return nil, err
	}
	v, _ := engine.Data(read)
	v, _ = e.Redactor.Value(v)
	return format.AppendJSON(nil, v)
}

func (c *compileCommand) print(result compileResult) error {
	if c.format == "json" {
		return writeJSON(c.p.out, result)
	}
	return c.table(c.p.out, result.Nodes)
}

func (c *compileCommand) table(out io.Writer, nodes []compiledNode) error {
	titles := "NODE\tENVIRONMENT\tRESOURCES\tTIME\t"
	if c.against != "" {
		titles += "DIFFERENCES\t"
	}
	return printTable(out, titles+"ERROR", nodes, func(n compiledNode, put func(...string)) {
		cells := []string{n.Node, dash(n.Environment), "-", time.Duration(n.Seconds * float64(time.Second)).Round(time.Millisecond).String()}
		if n.Compiled {
			cells[2] = fmt.Sprint(n.Resources)
		}
		blank := make([]string, len(cells), len(cells)+2)
		if c.against != "" {
			cells, blank = append(cells, n.differences()), append(blank, "")
		}
		put(append(cells, n.reason())...)
		if len(n.Within) > 0 {
			put(append(blank, "  within "+strings.Join(n.Within, ", "))...)
		}
		for _, file := range n.Tried {
			put(append(blank, "  tried "+file)...)
		}
	})
}

// differences are how many there are to the catalog of the other terminus, or why that is
// not known.
func (n *compiledNode) differences() string {
	switch {
	case n.Against == nil:
		return "-"
	case n.Against.Verdict == diff.OneSided, n.Against.Verdict == diff.Uncompared:
		return "not compared: " + oneLine(n.Against.Why)
	}
	return fmt.Sprint(n.Against.Differences)
}

// reason is the error as a sentence, with its place.
func (f *failure) reason() string {
	text := oneLine(f.sentence)
	if at := origins.Place(f.File, f.Line); at != "" {
		text += " at " + at
	}
	return text
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
