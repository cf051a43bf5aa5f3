package console

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/traces/diff"
	"indirtui/traces/query"
	"indirtui/ui/command"
	"indirtui/ui/compare"
	"indirtui/ui/recordings"
	"indirtui/ui/replay"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/steps"
)

// both is two requests to be compared, when they have been answered.
type both struct{ a, b uint64 }

// compareWhat compares two requests, two termini for one key, or two runs.
func compareWhat(c *Console, l call) (tea.Cmd, error) {
	usage := &command.UsageError{What: "compare what?", Advice: "diff #1050 #1051   diff find node web01 terminus=exec,plain   diff run 8f3c 8f20   diff base.ind"}
	switch {
	case len(l.words) == 2 && strings.HasPrefix(l.words[0], "#"):
		a, okA := number(l.words[0])
		b, okB := number(l.words[1])
		if !okA || !okB {
			return nil, usage
		}
		return c.compareTwo(a, b), nil
	case len(l.words) == 3 && l.words[0] == "run":
		return c.compareRuns(l.words[1], l.words[2])
	case len(l.words) > 0 && len(l.words) <= 2 && hasLog(c) && !strings.HasPrefix(l.words[0], "#") && l.words[0] != "run" && !slices.Contains(command.Verbs(), l.words[0]):
		return c.compareFiles(l.words), nil
	case len(l.words) > 2 && slices.Contains(command.Verbs(), l.words[0]):
		return c.compareTermini(l.words[0], l.words[1:])
	}
	return nil, usage
}

// compareTwo shows how two requests differ.
func (c *Console) compareTwo(a, b uint64) tea.Cmd {
	log, o := c.env.Log, diff.Options{Ignore: slices.Clone(c.env.Ignored)}
	if c.o.Plain {
		return c.report(func() (*diff.Report, error) { return compare.Requests(log, a, log, b, o) })
	}
	return compare.Two(c.env, a, b)
}

// compareSets shows how two sets of requests differ; apart means that they are
// of two recordings.
func (c *Console) compareSets(a, b diff.Set, apart bool, besides ...string) tea.Cmd {
	ctx, o := c.ctx, diff.Options{Ignore: slices.Concat(besides, c.env.Ignored), Apart: apart}
	if c.o.Plain {
		return c.report(func() (*diff.Report, error) { return diff.Runs(ctx, a, b, o) })
	}
	return compare.Sets(c.ctx, c.env, a, b, apart)
}

// report prints how things differ.
func (c *Console) report(read func() (*diff.Report, error)) tea.Cmd {
	return screen.Later(func() tea.Msg {
		r, err := read()
		if err != nil {
			return screen.For{Screen: c, Msg: warned(err.Error())}
		}
		return screen.For{Screen: c, Msg: printed(r.Text())}
	})
}

func (c *Console) compareRuns(a, b string) (tea.Cmd, error) {
	log := c.env.Log
	return screen.Later(func() tea.Msg {
		var m twoRuns
		for i, run := range []string{a, b} {
			ids, err := idsOf(log, "run="+query.Quote(run))
			if err == nil && len(ids) == 0 {
				err = fmt.Errorf("no request belongs to run %q", run)
			}
			if err != nil {
				return screen.For{Screen: c, Msg: warned(err.Error())}
			}
			m[i] = diff.Set{Log: log, Name: "run " + run, IDs: ids}
		}
		return screen.For{Screen: c, Msg: m}
	}), nil
}

// twoRuns are to be compared.
type twoRuns [2]diff.Set

// twoFiles are recordings that are to be compared; one of them may be what is
// shown.
type twoFiles [2]diff.Set

// compareFiles compares a recording with what is shown now, or with another.
func (c *Console) compareFiles(paths []string) tea.Cmd {
	ctx, o := c.ctx, c.o.Recordings
	a, b := paths[0], ""
	if len(paths) > 1 {
		b = paths[1]
	}
	return recordings.Both(ctx, o, a, b, func(sets [2]diff.Set, err error) tea.Msg {
		if err != nil {
			return screen.For{Screen: c, Msg: warned(err.Error())}
		}
		return screen.For{Screen: c, Msg: twoFiles(sets)}
	})
}

// idsOf returns the requests that an expression means. It may look at every row.
func idsOf(log session.Log, expr string) ([]uint64, error) {
	e, err := query.Parse(expr)
	if err != nil {
		return nil, err
	}
	v := log.View(e)
	for !v.Extend(0) {
	}
	ids := make([]uint64, v.Len())
	for i := range ids {
		ids[i] = v.At(i)
	}
	return ids, nil
}

// compareTermini asks two termini for one key, and compares their answers.
func (c *Console) compareTermini(verb string, words []string) (tea.Cmd, error) {
	names, rest, ok := command.Pair(words)
	if !ok {
		return nil, &command.UsageError{What: "which two termini?", Advice: "write terminus=exec,plain"}
	}
	reqs := make([]*indirector.Request, 2)
	for i, name := range names {
		req, err := c.request(verb, rest)
		if err != nil {
			return nil, err
		}
		if c.o.Engine.Registry().Descriptor(req.Indirection, name) == nil {
			return nil, &command.UsageError{
				What:   fmt.Sprintf("%s has no terminus %q", req.Indirection, name),
				Advice: advice(c.o.Engine.Registry().NearestTerminus(req.Indirection, name), c.o.Engine.Registry().Termini(req.Indirection)),
			}
		}
		if err := command.Side(req, name); err != nil {
			return nil, err
		}
		req.Caller = "you"
		reqs[i] = req
	}
	ask, ctx := c.o.Engine.Ask, c.ctx
	return screen.Later(func() tea.Msg {
		var ids [2]uint64
		for i, req := range reqs {
			resp, err := ask(ctx, req)
			if ids[i] = command.TraceOf(resp, err); ids[i] == 0 {
				return screen.For{Screen: c, Msg: warned("terminus " + req.Terminus + ": " + indirector.Message(err))}
			}
		}
		return screen.For{Screen: c, Msg: both{ids[0], ids[1]}}
	}), nil
}

// ignore lists, adds or takes away rules of what does not count in comparisons.
func ignore(c *Console, l call) (tea.Cmd, error) {
	none := func() tea.Cmd { return nil }
	switch {
	case len(l.words) == 0 && len(c.env.Ignored) == 0:
		return c.reply("every path counts in comparisons; I on a difference ignores it"), nil
	case len(l.words) == 0:
		return c.reply("ignored in comparisons: " + strings.Join(c.env.Ignored, "  ")), nil
	case l.words[0] == "off" && len(l.words) == 1:
		return compare.Heed(c.env, "", none), nil
	case l.words[0] == "off":
		return compare.Heed(c.env, l.words[1], none), nil
	case len(l.words) > 1:
		return nil, &command.UsageError{What: "one path, please", Advice: "ignore .parameters.*timestamp"}
	}
	return compare.Ignore(c.env, l.words[0], none), nil
}

// watch adds an expression that is counted while a request is held, or a server
// that is asked whether it takes connections.
func watch(c *Console, l call) (tea.Cmd, error) {
	expr := l.rest
	switch expr {
	case "":
		if len(c.env.Watches) == 0 {
			return c.reply("nothing is watched"), nil
		}
		return c.reply("watched: " + strings.Join(c.env.Watches, "   ")), nil
	case "off":
		return tea.Batch(c.env.Set(func(s *session.State) { s.Watches = nil }, nil), screen.Send(screen.Done{Command: ":watch off"})), nil
	}
	_, server, err := steps.Server(expr)
	if err == nil && !server {
		_, err = query.Parse(expr)
	}
	if err != nil {
		return nil, err
	}
	add := func(s *session.State) { s.Watches = append(slices.Clone(s.Watches), expr) }
	return tea.Batch(c.env.Set(add, nil), screen.Send(screen.Done{Command: ":watch " + expr})), nil
}

// maxReplay bounds how many requests are asked again at once.
const maxReplay = 1000

// replayAll asks recorded requests again, by the routes that there are now; dry
// only plans them. What only a machine that saves or removes would do is left
// out.
func replayAll(c *Console, l call) (tea.Cmd, error) {
	expr, dry := strings.CutSuffix(" "+l.rest, " dry")
	expr = strings.TrimSpace(expr)
	if expr == "" {
		return nil, &command.UsageError{What: "replay what?", Advice: "replay #1042   replay run=8f3c   replay run=8f3c dry"}
	}
	if c.o.Engine == nil {
		return nil, errRecording
	}
	if _, err := query.Parse(expr); err != nil {
		return nil, err
	}
	ctx, _, n := c.start()
	log, line, ignored := c.env.Log, c.text, append(diff.Fresh(), c.env.Ignored...)
	t := tally{Replay: replay.Replay{Log: log, Now: log, Engine: c.o.Engine, Caller: "you", Dry: dry, Ignore: ignored}}
	return screen.Later(func() tea.Msg {
		ids, err := idsOf(log, expr)
		switch {
		case err == nil && len(ids) == 0:
			err = errors.New("no request is meant by that")
		case len(ids) > maxReplay:
			err = fmt.Errorf("%d requests are meant, more than %d; choose fewer", len(ids), maxReplay)
		}
		for _, id := range ids {
			if err != nil || ctx.Err() != nil {
				break
			}
			if other := t.Again(ctx, id); other != nil {
				t.add(other)
			}
		}
		return screen.For{Screen: c, Msg: replayed{n, line, t, err}}
	}), nil
}

type replayed struct {
	n    int
	line string // that asked for it
	t    tally
	err  error
}

// A tally is what became of requests that were asked again.
type tally struct {
	replay.Replay
	other     int
	differ    []string // "#12 ok -> err"
	then, now []uint64 // those that came out otherwise
}

func (t *tally) add(r *replay.Result) {
	t.other++
	if r.Now != 0 {
		t.then, t.now = append(t.then, r.Was.ID), append(t.now, r.Now)
	}
	const shown = 8
	if len(t.differ) == shown {
		return
	}
	printed := fmt.Sprintf("#%d %s -> %s%s", r.Was.ID, r.Was.Outcome, r.Outcome, replay.Without(r.Was))
	if r.Outcome == r.Was.Outcome {
		printed = fmt.Sprintf("#%d %s%s, %s", r.Was.ID, r.Outcome, replay.Without(r.Was), r.Value.String())
	}
	t.differ = append(t.differ, printed)
}

// String is the tally in one line: "41: 38 as before, 3 otherwise: #12 ok ->
// err, …".
func (t *tally) String() string {
	text := fmt.Sprintf("%d: %d as before, %d otherwise", t.Counts.Asked, t.Counts.Same, t.other)
	if t.Values.Compared+t.Values.Uncompared > 0 {
		text += "; " + t.Values.String()
	}
	if len(t.differ) > 0 {
		text += ": " + strings.Join(t.differ, ", ")
	}
	if t.Counts.Depends > 0 {
		text += fmt.Sprintf("; %d depend on what is answered then", t.Counts.Depends)
	}
	if t.Counts.Left > 0 {
		text += fmt.Sprintf("; %d left out, nested or writing", t.Counts.Left)
	}
	return text
}

// replayed prints the result of a replay.
func (c *Console) replayed(m replayed) tea.Cmd {
	c.end(m.n)
	switch {
	case m.err != nil:
		return c.refuse(m.err, c.again(m.line)(m.err.Error()))
	case m.t.Dry:
		return c.reply("what-if " + m.t.String() + "; nothing was executed, so values were not compared")
	}
	answer := c.reply("asked again " + m.t.String())
	if len(m.t.now) < 2 {
		return answer // one of them is compared by d
	}
	if c.o.Plain {
		of := func(name string, ids []uint64) diff.Set { return diff.Set{Log: c.env.Log, Name: name, IDs: ids} }
		return tea.Batch(answer, c.compareSets(of("recorded", m.t.then), of("asked again", m.t.now), false, diff.Fresh()...))
	}
	return tea.Batch(answer, compare.Replayed(c.ctx, c.env, m.t.then, m.t.now))
}
