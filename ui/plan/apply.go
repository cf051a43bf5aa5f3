package plan

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector/model"
	"indirtui/indirector/resource/transaction"
	"indirtui/ui/screen"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// helped is the answer that Puppet may look.
type helped struct{}

// askHelper asks whether Puppet may look at what is written in Ruby: what that does to look
// is not known here.
func (s *Screen) askHelper() tea.Cmd {
	yes := widget.Item{Key: 'y', Name: "yes", Note: "in a process beside this one, in noop", Do: screen.Send(screen.For{Screen: s, Msg: helped{}})}
	no := widget.Item{Key: 'n', Name: "no", Note: "what would become of them cannot be known"}
	title := fmt.Sprintf("let Puppet look at %s written in Ruby?", term.Plural(s.result.Foreign, "resource"))
	return screen.Show(widget.NewMenu(&s.env.Shared, title, []widget.Item{yes, no}))
}

// wasKept is why nothing more is done with a plan that is from a file.
const wasKept = "this plan was kept: plan its catalog"

// cannotApply is why what is planned cannot be applied; "" if it can. Rule RES-SAFE-02.
func (s *Screen) cannotApply() string {
	switch {
	case s.applying:
		return "it is being applied"
	case s.noPlan() != "":
		return s.noPlan()
	case s.result.Catalog == nil:
		return wasKept + " to apply it"
	case s.o.Apply == nil:
		return "nothing is applied to this machine from here"
	case !s.env.Writable:
		return "read-only: start with --write, or :write on"
	case s.result.Redacted:
		return "its secrets were redacted when it was recorded: plan the catalog of its terminus"
	case s.result.Plan.Totals.Exit() == 0:
		return "there is nothing to do"
	}
	return ""
}

// cannotApplyOne is why a resource cannot be applied by itself; "" if it can. It is nil for
// a container.
func (s *Screen) cannotApplyOne(n *transaction.Planned) string {
	why := s.cannotApply()
	switch {
	case why != "":
		return why
	case n == nil:
		return "a container is not applied: what is in it is"
	case n.Outcome == transaction.Same:
		return "it is in sync"
	case n.Outcome == transaction.WouldRefresh:
		return "it is in sync, and is refreshed only with what refreshes it: A in the plan applies both"
	case n.Outcome == transaction.WouldSkip, n.Outcome == transaction.WouldFail:
		return "it " + sentence(n)
	case s.result.Declared(n.Resource) == nil:
		return "the catalog does not have it: another resource makes it when that is applied"
	}
	return ""
}

// Declared returns a resource of the catalog by its reference, or nil.
func (r *Result) Declared(ref string) *model.Resource {
	for i := range r.Catalog.Resources {
		if c := &r.Catalog.Resources[i]; c.Ref() == ref {
			return c
		}
	}
	return nil
}

// askApply asks for the name of this host, and for that of the host that the catalog is of
// if it is another. Only is a resource to be applied by itself, or "". Rule RES-SAFE-02.
func (s *Screen) askApply(only, what string) tea.Cmd {
	user, host := s.o.Here()
	of := s.result.Catalog.Name
	hint := fmt.Sprintf("as %s on %s: %s", user, host, what)
	return s.askName("type "+host+" to apply it: ", hint, host, func() tea.Cmd {
		if of == host {
			return screen.Send(screen.For{Screen: s, Msg: Confirmed{Host: host, Only: only}})
		}
		hint := fmt.Sprintf("the catalog is of %s, and this is %s", of, host)
		return s.askName("type "+of+" to apply it all the same: ", hint, of, func() tea.Cmd {
			return screen.Send(screen.For{Screen: s, Msg: Confirmed{Host: host, Of: of, Only: only}})
		})
	})
}

// askName asks for a name to be typed before something is done.
func (s *Screen) askName(label, hint, name string, then func() tea.Cmd) tea.Cmd {
	return screen.Show(widget.NewPrompt(&s.env.Shared, widget.Prompt{
		Label: label, Hint: hint,
		Enter: func(text string) (*widget.Problem, tea.Cmd) {
			if strings.TrimSpace(text) != name {
				return &widget.Problem{Offset: -1, Text: "refused: that is another name; nothing was applied"}, nil
			}
			return nil, then()
		},
	}))
}

// applied is what became of a run.
type applied struct {
	lines []string
	err   error
}

func (s *Screen) apply(yes Confirmed) tea.Cmd {
	s.applying, s.stop = true, new(atomic.Bool)
	r := s.result
	yes.Stop = s.stop.Load
	return s.await(func(ctx context.Context) tea.Msg {
		lines, err := s.o.Apply(ctx, &r, yes)
		return applied{lines, err}
	})
}

// applied shows the log of the run, and plans anew: what is left is what it has not done.
func (s *Screen) applied(m applied) tea.Cmd {
	s.applying = false
	s.wait.End()
	if m.err != nil && len(m.lines) == 0 {
		return screen.Warn("apply: "+s.env.Redacted(m.err.Error()), "")
	}
	p := widget.Page{Title: "plan > log of the run"}
	for _, text := range m.lines {
		for line := range strings.Lines(text) {
			p.Add("", strings.TrimRight(line, "\n"), logStyle(line))
		}
	}
	if s.stop.Load() {
		p.Add("", "stopped by you: what is left is skipped", term.Attention)
	}
	if m.err != nil {
		p.Add("", s.env.Redacted(m.err.Error()), term.Failed)
	}
	s.result.Plan = nil
	return tea.Batch(s.Load(), screen.Show(widget.NewPager(&s.env.Shared, p)))
}

// logStyle is how a line of the log of a run looks.
func logStyle(line string) term.Style {
	switch level, _, _ := strings.Cut(line, ":"); level {
	case "Error":
		return term.Failed
	case "Warning":
		return term.Attention
	case "Info", "Debug":
		return term.Quiet
	}
	return term.Plain
}
