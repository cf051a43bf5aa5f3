package console

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector/engine"
	"indirtui/ui/command"
	"indirtui/ui/screen"
)

// Applied is what is applied where.
type Applied struct {
	Catalog string // a file, or the name of a node
	Noop    bool
	Confirm string // this host, as it was typed
	Host    string // whose the catalog is, if it was typed
}

// apply applies a catalog to this machine. The name of the host must be typed, and that of
// another one whose catalog it is, too. Rule RES-SAFE-02.
func apply(c *Console, l call) (tea.Cmd, error) {
	words, confirm, typed := takeConfirm(l.words)
	a := Applied{Confirm: confirm}
	words = slices.DeleteFunc(words, func(w string) bool {
		host, isHost := strings.CutPrefix(w, "host=")
		if isHost {
			a.Host = host
		}
		a.Noop = a.Noop || w == "noop"
		return isHost || w == "noop"
	})
	switch {
	case len(words) != 1:
		return nil, &command.UsageError{What: "apply which catalog?", Advice: "apply catalog.json confirm=HOST"}
	case !c.o.Engine.Writes():
		return nil, engine.ErrReadOnly
	case !typed:
		return nil, &command.UsageError{What: "applying changes this machine", Advice: "add confirm= and the name of this host; indirtui plan shows what would be done"}
	}
	a.Catalog = words[0]
	ctx, _, n := c.start()
	do := c.o.Apply
	return screen.Later(func() tea.Msg {
		lines, err := do(ctx, a)
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
