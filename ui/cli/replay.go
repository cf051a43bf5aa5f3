package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/traces/store"
	"indirtui/ui/command"
	"indirtui/ui/steps"
)

// A replayResult is what replay says as JSON: schema replay.
type replayResult struct {
	Recording string          `json:"recording"`
	Dry       bool            `json:"dry"`
	Asked     int             `json:"asked"`   // again, or planned
	Same      int             `json:"same"`    // came to the same outcome
	Depends   int             `json:"depends"` // cannot be said without asking; of a dry one only
	Left      int             `json:"left"`    // out: nested, or writing
	Differ    []replayRequest `json:"differ"`
}

type replayRequest struct {
	Request     uint64 `json:"request"`
	Verb        string `json:"verb"`
	Indirection string `json:"indirection"`
	Key         string `json:"key"`
	Was         string `json:"was"`
	Is          string `json:"is"`
	Because     string `json:"because"`
}

// replay asks recorded requests again.
func (p *program) replay() *cobra.Command {
	var r reading
	var expr, format string
	var dry bool
	cmd := &cobra.Command{
		Use: "replay --recording FILE", GroupID: "ask", Args: usageArgs(cobra.NoArgs),
		Short: "Ask recorded requests again, by the routes there are now",
		Long: `Ask recorded requests again, by the routes there are now, and tell which come to
another outcome. --route and --set say what is different: what would become of
yesterday's run if this terminus answered? With --dry nobody is asked: caches
and termini that can be looked into are, and what depends on the others is
counted.

Only find, search and head are asked; nested requests are asked by those that
asked them. Options that were masked in the recording stay masked.

Exit code: 0 all came to the same, 1 some did not, 2 usage, 3 the recording
cannot be read.`,
		Example: `  indirtui replay --recording run.jsonl --dry --route facts=yaml
  indirtui replay --recording run.jsonl --expr "run=8f3c" --route 'catalog=fault(rest, 503)'`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if format != "text" && format != "json" {
				return &command.UsageError{What: fmt.Sprintf("--format %s is not known", format), Advice: "there are: text, json"}
			}
			which, err := query.Parse(expr)
			if err != nil {
				return &command.UsageError{What: fmt.Sprintf("--expr %q: %v", expr, err)}
			}
			s, err := r.open(p)
			if err != nil {
				return err
			}
			defer s.Close()
			e, err := p.engine()
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, e.Close()) }()
			result := replayResult{Recording: r.path, Dry: dry, Differ: []replayRequest{}}
			for subject := range subjects(s) {
				if which.Match(subject) {
					result.again(cmd.Context(), s, e, subject.Row().ID)
				}
				if err := cmd.Context().Err(); err != nil {
					return err
				}
			}
			return p.printReplay(result, format)
		},
	}
	r.flags(cmd)
	cmd.Flags().StringVar(&expr, "expr", "", "only those that this `EXPR` means")
	cmd.Flags().BoolVar(&dry, "dry", false, "ask nobody, and tell what would become of them")
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	return cmd
}

// again asks one request again.
func (r *replayResult) again(ctx context.Context, s *store.Store, e *engine.Engine, id uint64) {
	t, err := s.Trace(id)
	if err != nil || t.Parent != 0 || t.Verb != traces.Find && t.Verb != traces.Search && t.Verb != traces.Head {
		r.Left++
		return
	}
	req := steps.RequestOf(s, t)
	req.Caller, req.Replay = "cli", 0 // its number is one of the recording
	r.Asked++
	now := replayRequest{Request: id, Verb: t.Verb.String(), Indirection: t.Indirection, Key: t.Key, Was: t.Outcome.String()}
	if r.Dry {
		f := e.Plan(ctx, req, nil)
		if f.Outcome == traces.Run {
			r.Depends++
			return
		}
		now.Is, now.Because = f.Outcome.String(), f.Why
	} else {
		now.Is, now.Because = asked(ctx, e, req)
	}
	if now.Is == now.Was {
		r.Same++
		return
	}
	r.Differ = append(r.Differ, now)
}

// asked is the outcome of a request, and its story.
func asked(ctx context.Context, e *engine.Engine, req *indirector.Request) (outcome, story string) {
	resp, err := e.Once(ctx, req)
	id := command.TraceOf(resp, err)
	if t, terr := e.Store.Trace(id); terr == nil {
		return t.Outcome.String(), traces.Story(t)
	}
	if err != nil {
		return traces.Err.String(), indirector.Message(err)
	}
	return traces.Good.String(), ""
}

func (p *program) printReplay(r replayResult, format string) error {
	if format == "json" {
		if err := p.jsonOut(r); err != nil {
			return err
		}
	} else {
		for _, d := range r.Differ {
			fmt.Fprintln(p.out, clean(fmt.Sprintf("#%d %s %s %s  %s -> %s  %s", d.Request, d.Verb, d.Indirection, d.Key, d.Was, d.Is, d.Because)))
		}
		what := "asked again"
		if r.Dry {
			what = "planned, nobody was asked"
		}
		fmt.Fprintf(p.out, "%d %s: %d as before, %d otherwise, %d depend on an answer; %d left out, nested or writing\n",
			r.Asked, what, r.Same, len(r.Differ), r.Depends, r.Left)
	}
	if len(r.Differ) > 0 {
		return exit(exitFailed)
	}
	return nil
}
