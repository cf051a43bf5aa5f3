package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/traces/diff"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// A Runs shows which requests of two runs or recordings differ.
type Runs struct {
	env           *session.Env
	ctx           context.Context
	a, b          diff.Set
	apart         bool
	besides       []string // rules besides those of the user
	report        *diff.Report
	wait          widget.Wait
	done, total   *atomic.Int64      // requests of the comparison that goes on
	stop          context.CancelFunc // ends it; nil if none goes on
	err           error
	width, height int
	list          widget.Table
}

var _ screen.Screen = (*Runs)(nil)

type runsCompared struct {
	done   *atomic.Int64 // of which comparison
	report *diff.Report
	err    error
}

// Sets shows how two sets of requests differ; apart is set if they are of two
// recordings. Reading them may take long, and ends with ctx.
func Sets(ctx context.Context, env *session.Env, a, b diff.Set, apart bool) tea.Cmd {
	r := &Runs{env: env, ctx: ctx, a: a, b: b, apart: apart}
	return tea.Batch(screen.Show(r), r.again())
}

// Replayed shows how requests and their replays differ, without what every
// answer has anew.
func Replayed(ctx context.Context, env *session.Env, then, now []uint64) tea.Cmd {
	set := func(name string, ids []uint64) diff.Set { return diff.Set{Log: env.Log, Name: name, IDs: ids} }
	r := &Runs{env: env, ctx: ctx, a: set("recorded", then), b: set("asked again", now), besides: diff.Fresh()}
	return tea.Batch(screen.Show(r), r.again())
}

func (r *Runs) again() tea.Cmd {
	if r.stop != nil {
		r.stop() // what it compares is not wanted any more
	}
	ctx, stop := context.WithCancel(r.ctx)
	done, total := new(atomic.Int64), new(atomic.Int64)
	r.stop, r.done, r.total, r.err = stop, done, total, nil
	o := diff.Options{Ignore: slices.Concat(r.besides, r.env.Ignored), Apart: r.apart, Progress: func(n, of int) {
		done.Store(int64(n))
		total.Store(int64(of))
	}}
	a, b := r.a, r.b
	return tea.Batch(r.wait.Begin(&r.env.Shared, r), screen.Later(func() tea.Msg {
		defer stop()
		report, err := diff.Runs(ctx, a, b, o)
		return screen.For{Screen: r, Msg: runsCompared{done, report, err}}
	}))
}

func (r *Runs) Scope() screen.Scope { return screen.InCompare }

func (r *Runs) Resize(width, height int) {
	r.width, r.height = width, height
	r.list.Top = 4
	r.list.SetHeight(height - r.list.Top)
}

// List returns the pairs.
func (r *Runs) List() screen.List { return &r.list }

func (r *Runs) Update(msg tea.Msg) tea.Cmd {
	if cmd, is := r.wait.Tick(msg); is {
		return cmd
	}
	if m, ok := msg.(runsCompared); ok && m.done == r.done {
		r.wait.End()
		r.stop, r.report, r.err = nil, m.report, m.err
		if errors.Is(m.err, context.Canceled) {
			r.err = errors.New("stopped by you")
		}
		if r.report != nil {
			r.list.SetLen(len(r.report.Requests))
		}
	}
	return nil
}

func (r *Runs) Disabled(do screen.Action) string {
	some := r.report != nil && len(r.report.Requests) > 0
	switch {
	case widget.Moves(do):
		return ""
	case do == screen.Stop:
		return screen.ReasonIf(r.stop == nil, screen.Unknown)
	case do == screen.Enter:
		return screen.ReasonIf(!some, "nothing differs")
	case do == screen.NextDiff, do == screen.PrevDiff:
		return screen.ReasonIf(!some, "nothing differs")
	case do == screen.Swap, do == screen.CopyMenu:
		return screen.ReasonIf(r.report == nil, "not compared yet")
	case do == screen.Write:
		return screen.ReasonIf(r.report == nil || r.env.Save == nil, "there is nothing to write")
	}
	return screen.Unknown
}

func (r *Runs) Hints() []screen.Action {
	return []screen.Action{screen.Enter, screen.NextDiff, screen.Swap, screen.Write, screen.CopyMenu, screen.Back}
}

func (r *Runs) Handle(a screen.Command) tea.Cmd {
	switch a.Action {
	case screen.Stop:
		r.stop()
	case screen.NextDiff:
		r.list.Move(a.Times())
	case screen.PrevDiff:
		r.list.Move(-a.Times())
	case screen.Swap:
		r.a, r.b = r.b, r.a
		return r.again()
	case screen.Write:
		return write(r.env, r.report, "diff-runs")
	case screen.CopyMenu:
		return screen.Send(screen.Copy{What: "comparison", Text: r.report.Text()})
	case screen.Enter:
		return r.open(&r.report.Requests[r.list.Cursor])
	}
	return nil
}

// open compares a pair, or shows the one that has no other.
func (r *Runs) open(p *diff.Pair) tea.Cmd {
	la, okA := r.a.Log.(session.Log)
	lb, okB := r.b.Log.(session.Log)
	if p.A != nil && p.B != nil && okA && okB {
		return show(r.env, refs{{la, p.A.Request}, {lb, p.B.Request}})
	}
	only := p.A
	if only == nil {
		only = p.B
	}
	page := widget.Page{Title: "compare > " + only.Name}
	page.Add("", "only one side asked this", term.Attention)
	page.Add("request", strings.Join([]string{only.Name, only.Verb, only.Indirection, only.Key}, " "), term.Plain)
	page.Add("outcome", only.Outcome, term.Plain)
	page.Add("decided", only.Decided, term.Plain)
	page.Add("error", only.Error, term.Plain)
	return screen.Show(widget.NewPager(&r.env.Shared, page))
}

func (r *Runs) Context() (left, right term.Line) {
	left.Put(term.Bold, "Compare")
	if r.report == nil {
		return left, right
	}
	left.Put(term.Bold, fmt.Sprintf("  %s : %s", r.report.A.Name, r.report.B.Name))
	return left, counts(r.report, r.env)
}

func (r *Runs) View() term.Lines {
	switch {
	case r.err != nil:
		return term.Lines{{}, term.Of(term.Failed, "   "+r.err.Error())}
	case r.report == nil:
		l := term.Of(term.Plain, "   ")
		r.wait.PutPart(&l, term.Quiet, "reading both sides", r.done.Load(), r.total.Load())
		if b := r.env.Keys.Of(screen.Stop, r.Scope()); b != nil && r.wait.Long() {
			l.Put(term.Quiet, "  "+b.Key()+" stops it")
		}
		return term.Lines{{}, l}
	}
	rep := r.report
	both := term.Of(term.Quiet, fmt.Sprintf(" %d requests are in both, paired by what they ask; + only B   - only A   ~ differs", rep.Compared))
	if rep.Uncompared > 0 {
		both = term.Of(term.Attention, fmt.Sprintf(" %d requests are in both; values of %d were not compared: not recorded", rep.Compared, rep.Uncompared))
	}
	lines := term.Lines{
		term.Of(term.Plain, " A "+rep.A.String()),
		term.Of(term.Plain, " B "+rep.B.String()),
		both,
		r.env.Theme.HRule(r.width),
	}
	if len(rep.Requests) == 0 {
		return append(lines, term.Line{}, term.Of(term.Plain, "   Equal: every request of one side has its like on the other."))
	}
	return append(lines, r.list.Lines(r.env.Theme, r.width, func(i int, l *widget.Row) {
		l.To(2)
		l.Add(term.Attention, term.CleanTo(rep.Requests[i].String(), r.width))
	})...)
}
