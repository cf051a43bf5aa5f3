package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"indirtui/indirector/engine"
	"indirtui/traces/diff"
	"indirtui/traces/query"
	"indirtui/traces/store"
	"indirtui/ui/command"
	"indirtui/ui/replay"
)

// A replayResult is what replay prints as JSON: schema replay.
type replayResult struct {
	Recording string `json:"recording"`
	Dry       bool   `json:"dry"`
	replay.Counts
	Rules  []string        `json:"rules"`  // what does not count in values
	Values diff.Tally      `json:"values"` // all zero of a dry one
	Differ []replayRequest `json:"differ"`
}

type replayRequest struct {
	Request     uint64       `json:"request"`
	Verb        string       `json:"verb"`
	Indirection string       `json:"indirection"`
	Key         string       `json:"key"`
	Was         string       `json:"was"`
	Is          string       `json:"is"`
	Because     string       `json:"because"`
	Value       *diff.Answer `json:"value,omitempty"` // nil of a dry one
}

// A replayCommand asks recorded requests again.
type replayCommand struct {
	reading
	expr, format string
	ignore       []string
	dry, strict  bool
}

func (c *replayCommand) build(cmd *cobra.Command) {
	cmd.Long = `Ask recorded requests again, by the routes there are now, and tell which come to
another outcome or get another value. --route and --set say what is different:
what would become of yesterday's run if this terminus answered? With --dry
nobody is asked: caches and termini that can be looked into are, and what
depends on the others is counted. There are no values to compare then.

Values are compared as "indirtui diff" compares them: resources by Type[title],
and --ignore takes the path of what does not count, such as .values.uptime*. What
every answer has anew (` + strings.Join(diff.Fresh(), " ") + `) counts with
--strict alone. What was masked in the recording cannot be compared with what is
masked now, and counts as masked, not as changed. A value that was not recorded
is not compared; how many that are is said, and they are no differences.

Only find, search and head are asked; nested requests are asked by those that
asked them. Options that were masked in the recording stay masked; those that
were not recorded in full, as the facts that come with a catalog, are left out,
and the story of the replay says so.

"indirtui schema replay" prints the schema of --format json.

Exit code: 0 no outcome and no value differs, as far as values were compared,
1 some do, 2 usage, 3 the recording cannot be read.`
	cmd.Example = `  indirtui replay --recording run.jsonl --dry --route facts=yaml
  indirtui replay --recording run.jsonl --expr ind=facts --ignore '.values.uptime*'
  indirtui replay --recording run.jsonl --expr "run=8f3c" --route 'catalog=fault(rest, 503)'`
	c.flags(cmd)
	cmd.Flags().StringVar(&c.expr, "expr", "", "only those that this `EXPR` means")
	cmd.Flags().BoolVar(&c.dry, "dry", false, "ask nobody, and tell what would become of them")
	cmd.Flags().StringArrayVar(&c.ignore, "ignore", nil, "a `PATH` of values that does not count, as in .values.uptime*; may be repeated")
	cmd.Flags().BoolVar(&c.strict, "strict", false, "what every answer has anew counts, too")
	cmd.Flags().StringVar(&c.format, "format", "text", "text or json")
}

func (c *replayCommand) run(ctx context.Context, _ []string) error {
	if err := checkFormat(c.format); err != nil {
		return err
	}
	which, err := query.Parse(c.expr)
	if err != nil {
		return &command.UsageError{What: fmt.Sprintf("--expr %q: %v", c.expr, err)}
	}
	return c.with(func(s *store.Store) error {
		return c.p.withEngine(func(e *engine.Engine) error { return c.replay(ctx, s, e, which) })
	})
}

func (c *replayCommand) replay(ctx context.Context, s *store.Store, e *engine.Engine, which *query.Expr) error {
	result := replayResult{Recording: c.path, Dry: c.dry, Rules: []string{}, Differ: []replayRequest{}}
	if !c.strict {
		result.Rules = append(result.Rules, diff.Fresh()...)
	}
	for _, path := range c.ignore {
		result.Rules = append(result.Rules, diff.Rule(path))
	}
	again := replay.Replay{Log: s, Now: e.Store, Engine: e, Caller: "cli", Dry: c.dry, Ignore: result.Rules}
	for subject := range subjects(s) {
		if which.Match(subject) {
			if other := again.Again(ctx, subject.Row().ID); other != nil {
				result.Differ = append(result.Differ, requestOf(other))
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	result.Counts, result.Values = again.Counts, again.Values
	result.Values.Close()
	return c.print(&result)
}

func requestOf(r *replay.Result) replayRequest {
	return replayRequest{
		Request: r.Was.ID, Verb: r.Was.Verb.String(), Indirection: r.Was.Indirection, Key: r.Was.Key,
		Was: r.Was.Outcome.String(), Is: r.Outcome.String(), Because: r.Because, Value: r.Value,
	}
}

func (c *replayCommand) print(r *replayResult) error {
	if c.format == "json" {
		if err := writeJSON(c.p.out, r); err != nil {
			return err
		}
	} else {
		r.text(func(line string) { fmt.Fprintln(c.p.out, clean(line)) })
	}
	if len(r.Differ) > 0 {
		return exit(exitFailed)
	}
	return nil
}

// text prints the result: a line for each request that came out otherwise, and
// the counts.
func (r *replayResult) text(put func(string)) {
	for i := range r.Differ {
		d := &r.Differ[i]
		line := fmt.Sprintf("#%d %s %s %s  %s -> %s  %s", d.Request, d.Verb, d.Indirection, d.Key, d.Was, d.Is, d.Because)
		if d.Value != nil && (d.Value.Verdict == diff.Different || d.Value.Verdict == diff.OneSided && d.Is == d.Was) {
			line += "; " + d.Value.String()
		}
		put(line)
		if d.Value == nil {
			continue
		}
		for _, c := range d.Value.Changes[:min(len(d.Value.Changes), 5)] {
			put("    " + c.String())
		}
		if more := d.Value.Differences - 5; more > 0 {
			put(fmt.Sprintf("    and %d more", more))
		}
	}
	what := "asked again"
	if r.Dry {
		what = "planned, nobody was asked"
	}
	put(fmt.Sprintf("%d %s: %d as before, %d otherwise, %d depend on an answer; %d left out, nested or writing",
		r.Asked, what, r.Same, len(r.Differ), r.Depends, r.Left))
	switch {
	case r.Asked == 0:
		return
	case r.Dry:
		put("values were not compared: nobody was asked")
		return
	}
	text := r.Values.String()
	if r.Values.Uncompared > 0 {
		text += ": they were not recorded, or are too large"
	}
	if len(r.Rules) > 0 {
		text += "; ignored: " + strings.Join(r.Rules, " ")
	}
	put(text)
	for i, path := range r.Values.Common() {
		if n := r.Values.Count(path); n > 1 && i < 5 {
			put(fmt.Sprintf("differs most often: %s, %d times; --ignore %s leaves it out", path, n, "'"+strings.ReplaceAll(path, "'", `'\''`)+"'"))
		}
	}
}
