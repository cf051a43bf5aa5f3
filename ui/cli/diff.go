package cli

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"indirtui/indirector/engine"
	"indirtui/traces"
	"indirtui/traces/diff"
	"indirtui/traces/store"
	"indirtui/ui/command"
	"indirtui/ui/compare"
)

// A diffCommand compares two recordings, runs, requests or termini.
type diffCommand struct {
	reading
	format, selector string
	ignore           []string
	opened           map[string]*store.Store // by path
}

func (c *diffCommand) build(cmd *cobra.Command) {
	cmd.Long = `How two recordings, runs, requests or termini differ:

  diff base.jsonl new.jsonl                    two recordings
  diff base.jsonl new.jsonl --filter ind=node  of them only these requests
  diff -r new.jsonl run=8f3c run=9a01          two runs of a recording
  diff -r new.jsonl '#1042' '#1050'            two requests, step by step
  diff base.jsonl#12 new.jsonl#31              two requests of two recordings
  diff find node web01 terminus=exec,plain     one key, asked of two termini now

Above the differences stands who answered on each side and who decided that:
two answers that are equally wrong look equal. Masked values of two recordings
cannot be compared, and are counted as unknown. --ignore takes the path of what
does not count, such as .parameters.*timestamp.

"indirtui schema diff" prints the schema of --format json.

Exit code: 0 no difference, 1 differences, 2 usage, 3 a recording cannot be read.`
	cmd.Example = "  indirtui diff base.jsonl new.jsonl --format json\n  indirtui diff find facts web01 terminus=yaml,json --ignore .timestamp"
	c.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&c.format, "format", "text", "text or json")
	f.StringVar(&c.selector, "filter", "", "of recordings compare only these requests (`EXPR`)")
	f.StringArrayVar(&c.ignore, "ignore", nil, "a `PATH` that does not count, as in .parameters.*timestamp; may be repeated")
}

func (c *diffCommand) run(ctx context.Context, args []string) error {
	if err := checkFormat(c.format); err != nil {
		return err
	}
	report, err := c.report(ctx, args)
	if err != nil {
		return err
	}
	return c.print(report)
}

func (c *diffCommand) print(r *diff.Report) error {
	var err error
	if c.format == "json" {
		var b strings.Builder
		if err = r.Write(&b); err == nil {
			_, err = c.p.out.Write(traces.SafeJSON([]byte(b.String())))
		}
	} else {
		_, err = c.p.out.WriteString(cleanLines([]byte(r.Text())))
	}
	if err == nil && !r.Equal {
		return exit(exitFailed)
	}
	return err
}

func (c *diffCommand) report(ctx context.Context, args []string) (report *diff.Report, err error) {
	options := diff.Options{}
	for _, path := range c.ignore {
		options.Ignore = append(options.Ignore, diff.Rule(path))
	}
	if len(args) > 2 {
		return c.asked(ctx, args, options)
	}
	if len(args) != 2 {
		return nil, &command.UsageError{What: "compare what?", Advice: "name two: indirtui diff A B; see indirtui diff --help"}
	}
	c.opened = map[string]*store.Store{}
	defer func() {
		for _, s := range c.opened {
			err = errors.Join(err, s.Close())
		}
	}()
	var sets [2]diff.Set
	var requests [2]uint64
	for i, word := range args {
		if sets[i], requests[i], err = c.side(word); err != nil {
			return nil, err
		}
	}
	options.Apart = sets[0].Log != sets[1].Log
	switch {
	case requests[0] != 0 && requests[1] != 0:
		return compare.Requests(sets[0].Log, requests[0], sets[1].Log, requests[1], options)
	case requests[0] != 0 || requests[1] != 0:
		return nil, &command.UsageError{What: "one side is a request and the other is not", Advice: "name two of the same kind"}
	}
	return diff.Runs(ctx, sets[0], sets[1], options)
}

// side reads FILE, FILE#N, #N, run=NAME or any expression; without a file it is
// of the recording that --recording names.
func (c *diffCommand) side(word string) (set diff.Set, request uint64, err error) {
	path, number := cutNumber(word)
	expression, name := c.selector, ""
	switch {
	case path == "" && number != 0, c.path != "" && !isFile(path):
		if path != "" {
			expression, name = word, word
		}
		path = c.path
		if path == "" {
			return set, 0, &command.UsageError{What: word + " of which recording?", Advice: "name it: --recording FILE, or FILE" + word}
		}
	}
	s := c.opened[path]
	if s == nil {
		if s, err = openRecording(c.p.Streams, path); err != nil {
			return set, 0, err
		}
		c.opened[path] = s
	}
	set = diff.Set{Log: s, Name: name}
	if number == 0 && expression != "" {
		if set.IDs, err = selected(s, []string{expression}); err != nil {
			return set, 0, err
		}
		if set.IDs == nil {
			set.IDs = []uint64{}
		}
	}
	return set, number, nil
}

func isFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// cutNumber reads FILE#N.
func cutNumber(word string) (path string, number uint64) {
	i := strings.LastIndexByte(word, '#')
	if i < 0 {
		return word, 0
	}
	n, err := strconv.ParseUint(word[i+1:], 10, 64)
	if err != nil || n == 0 {
		return word, 0
	}
	return word[:i], n
}

// asked compares the answers that two termini give for one key.
func (c *diffCommand) asked(ctx context.Context, args []string, options diff.Options) (report *diff.Report, err error) {
	termini, words, ok := command.Pair(args[1:])
	if !ok {
		return nil, &command.UsageError{What: "compare what?", Advice: "write: indirtui diff find IND KEY terminus=A,B"}
	}
	err = c.p.withEngine(func(e *engine.Engine) error {
		report, err = twoTermini(ctx, e, args[0], words, termini, options)
		return err
	})
	return report, err
}

// twoTermini asks two termini for one key, and compares the answers.
func twoTermini(ctx context.Context, e *engine.Engine, verb string, words, termini []string, options diff.Options) (*diff.Report, error) {
	var ids [2]uint64
	for i, terminus := range termini {
		req, err := command.Request(verb, words)
		if err != nil {
			return nil, err
		}
		if err := command.Side(req, terminus); err != nil {
			return nil, err
		}
		req.Caller = "cli"
		resp, err := e.Once(ctx, req)
		if ids[i] = command.TraceOf(resp, err); ids[i] == 0 {
			return nil, err // it was not even recorded
		}
	}
	if err := e.Store.Flush(); err != nil {
		return nil, err
	}
	return compare.Requests(e.Store, ids[0], e.Store, ids[1], options)
}
