package console

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector/engine"
	"indirtui/ui/command"
	"indirtui/ui/plan"
	"indirtui/ui/screen"
)

// apply applies a catalog to this machine. On the screen it is planned first, and the key
// of the plan applies it; where there is none, the name of the host must be there, and that
// of another one whose catalog it is, too. Rule RES-SAFE-02.
func apply(c *Console, l call) (tea.Cmd, error) {
	words, confirm, typed := takeWord(l.words, "confirm=")
	words, of, _ := takeWord(words, "host=")
	rest := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "noop" })
	yes := plan.Confirmed{Host: confirm, Of: of, Noop: len(rest) < len(words)}
	rest, want, err := readWant(rest)
	switch {
	case err != nil:
		return nil, err
	case len(rest) == 0:
		return nil, &command.UsageError{What: "apply which catalog?", Advice: "apply catalog.json confirm=HOST"}
	case !c.o.Engine.Writes():
		return nil, engine.ErrReadOnly
	case !typed && (c.o.Output != nil || c.o.Plan == nil):
		return nil, &command.UsageError{What: "applying changes this machine", Advice: "add confirm= and the name of this host; indirtui plan shows what would be done"}
	}
	from, err := c.catalogSource(rest)
	if err != nil {
		return nil, err
	}
	if !typed {
		return tea.Batch(c.showPlan(from, nil, want), screen.Notify("this is what would be done; A applies it")), nil
	}
	ctx, _, n := c.start()
	do := c.o.Apply
	return screen.Later(func() tea.Msg {
		kept, err := from.read(ctx, "")
		switch {
		case err != nil:
			return screen.For{Screen: c, Msg: applied{n, nil, err}}
		case kept.Catalog == nil || len(kept.unknown) > 0:
			return screen.For{Screen: c, Msg: applied{n, nil, fmt.Errorf("%s has no catalog whose values are all there", from.name)}}
		}
		yes.Stop = func() bool { return ctx.Err() != nil }
		lines, err := do(context.WithoutCancel(ctx), &plan.Result{Catalog: kept.Catalog, Want: want}, yes)
		return screen.For{Screen: c, Msg: applied{n, lines, err}}
	}), nil
}

// applied is what became of a run.
type applied struct {
	n     int
	lines []string
	err   error
}

func (c *Console) applied(a applied) tea.Cmd {
	c.end(a.n)
	for _, line := range a.lines {
		c.Print(line)
	}
	if a.err != nil {
		return c.refuse(fmt.Errorf("apply: %w", a.err), nil)
	}
	return nil
}

// nextApply goes on as a plan does.
func nextApply(c *Console, l call) []option {
	typed, n := l.last()
	if n > 0 && !strings.HasPrefix(typed, "#") {
		return plain("option", typed, "confirm=", "host=", "noop", "tags=", "skip_tags=")
	}
	return nextPlan(c, l)
}
