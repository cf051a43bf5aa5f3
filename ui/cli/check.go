package cli

import (
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/spf13/cobra"

	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/traces/store"
	"indirtui/ui/command"
)

// A checkResult is what check prints as JSON: schema check.
type checkResult struct {
	Recording    string        `json:"recording"`
	Requests     int           `json:"requests"` // in the recording
	Met          bool          `json:"met"`      // every expectation is
	Expectations []checkExpect `json:"expectations"`
}

type checkExpect struct {
	Expect  string         `json:"expect"`
	Met     bool           `json:"met"`
	Found   string         `json:"found"`   // "8 requests", "4.2s"
	Against []checkRequest `json:"against"` // the first thousand that speak against it
}

type checkRequest struct {
	Request     uint64 `json:"request"`
	Verb        string `json:"verb"`
	Indirection string `json:"indirection"`
	Key         string `json:"key"`
	Outcome     string `json:"outcome"`
	Because     string `json:"because"` // the first sentence of its story
}

// A checkCommand holds a recording against what is expected of it.
type checkCommand struct {
	reading
	expect           []string
	baseline, format string
}

func (c *checkCommand) build(cmd *cobra.Command) {
	cmd.Long = `Hold a recording against what is expected of it, for scripts and CI.

  count(EXPR) = 0          how many requests EXPR means; also != < <= > >=
  none(EXPR)               the same as count(EXPR) = 0
  max(FIELD, EXPR) < 2s    the largest of a duration, size or number
  same(FILE, EXPR)         asked, answered and served as in another recording;
                           same(baseline, EXPR) is the one of --baseline

EXPR is an expression as behind / in the interactive program; none means all.
Each request that speaks against an expectation is a line of its own: number,
outcome, what was asked, why. "indirtui schema check" prints the schema of
--format json.

Exit code: 0 all are met, 1 one is not, 2 usage, 3 a recording cannot be read.`
	cmd.Example = `  indirtui check --recording base.jsonl --expect "count(hidden) = 0"
  indirtui check --recording new.jsonl --baseline base.jsonl --expect "same(baseline, ind=catalog)"`
	c.flags(cmd)
	cmd.Flags().StringArrayVarP(&c.expect, "expect", "e", nil, "an `EXPECTATION`; may be repeated")
	cmd.Flags().StringVar(&c.baseline, "baseline", "", "the recording (`FILE`) that same(baseline, …) means")
	cmd.Flags().StringVar(&c.format, "format", "text", "text or json")
}

func (c *checkCommand) run(context.Context, []string) error {
	expectations, err := parseExpectations(c.expect)
	if err != nil {
		return err
	}
	if err := checkFormat(c.format); err != nil {
		return err
	}
	return c.with(func(s *store.Store) error { return c.check(s, expectations) })
}

func (c *checkCommand) check(s *store.Store, expectations []*query.Expectation) (err error) {
	result := checkResult{Recording: c.path, Met: true}
	for range subjects(s) {
		result.Requests++
	}
	for _, x := range expectations {
		one, err := checkOne(c.p.Streams, s, x, c.baseline)
		if err != nil {
			return err
		}
		result.Met = result.Met && one.Met
		result.Expectations = append(result.Expectations, one)
	}
	if c.format == "json" {
		err = writeJSON(c.p.out, result)
	} else {
		result.print(c.p.out)
	}
	if err == nil && !result.Met {
		err = exit(exitFailed)
	}
	return err
}

func parseExpectations(texts []string) ([]*query.Expectation, error) {
	if len(texts) == 0 {
		return nil, &command.UsageError{What: "what is expected?", Advice: `say it: --expect "count(hidden) = 0"`}
	}
	var all []*query.Expectation
	for _, text := range texts {
		x, err := query.ParseExpectation(text)
		if err != nil {
			return nil, &command.UsageError{What: fmt.Sprintf("--expect %q: %v", text, err)}
		}
		all = append(all, x)
	}
	return all, nil
}

// checkOne holds one expectation against a recording.
func checkOne(std Streams, s *store.Store, x *query.Expectation, baseline string) (checkExpect, error) {
	var before iter.Seq[query.Subject]
	if x.Kind == "same" {
		path := x.Baseline
		if path == "baseline" {
			if path = baseline; path == "" {
				return checkExpect{}, &command.UsageError{What: x.String() + ": which baseline?", Advice: "name it: --baseline FILE"}
			}
		}
		b, err := openRecording(std, path)
		if err != nil {
			return checkExpect{}, err
		}
		defer b.Close()
		before = subjects(b)
	}
	v := x.Check(subjects(s), before)
	one := checkExpect{Expect: x.String(), Met: v.Met, Found: v.Found, Against: []checkRequest{}}
	for _, id := range v.Requests {
		one.Against = append(one.Against, checkedRequest(s, id))
	}
	return one, nil
}

func checkedRequest(s *store.Store, id uint64) checkRequest {
	row, _ := s.Row(id)
	r := checkRequest{Request: id, Verb: row.Verb.String(), Indirection: row.Indirection, Key: row.Key, Outcome: row.Outcome.String(), Because: row.Fault}
	if t, err := s.Trace(id); err == nil {
		r.Because = traces.Story(t)
	}
	return r
}

// subjects are the requests of a recording.
func subjects(s *store.Store) iter.Seq[query.Subject] {
	return func(yield func(query.Subject) bool) {
		rows := make([]store.Row, 256)
		for from := uint64(0); ; {
			n := s.Rows(from, rows)
			for i := range n {
				if u, ok := s.Subject(rows[i].ID); ok && !yield(u) {
					return
				}
			}
			if n == 0 {
				return
			}
			from = rows[n-1].ID + 1
		}
	}
}

func (r *checkResult) print(out io.Writer) {
	for _, x := range r.Expectations {
		word := "met"
		if !x.Met {
			word = "NOT MET"
		}
		fmt.Fprintf(out, "%s: %s (%s)\n", word, clean(x.Expect), clean(x.Found))
		for _, a := range x.Against {
			fmt.Fprintln(out, clean(fmt.Sprintf("  #%d  %s  %s %s %s  %s", a.Request, a.Outcome, a.Verb, a.Indirection, a.Key, a.Because)))
		}
		if len(x.Against) == query.MaxRequests {
			fmt.Fprintf(out, "  and perhaps more: only the first %d are named\n", query.MaxRequests)
		}
	}
}
