package console

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/indirector/debugger"
	"indirtui/ui/command"
	"indirtui/ui/screen"
	"indirtui/ui/term"
)

var errAlone = errors.New("no other process is attached")

// whoms are for whom a route may change in another process.
var whoms = []string{"request", "thread", "process"}

var forWhom = []option{
	{word: "for=request", kind: "for", note: "the request that is held"},
	{word: "for=thread", kind: "for", note: "the thread of the request that is held"},
	{word: "for=process", kind: "for", note: "all requests of the processes that are attached"},
}

// cutWhom takes for=WHOM out of the words of a line; "" is this process.
func cutWhom(words []string) (rest []string, whom string) {
	for _, w := range words {
		if name, value, given := strings.Cut(w, "="); given && name == "for" {
			whom = value
			continue
		}
		rest = append(rest, w)
	}
	return rest, whom
}

// routeElsewhere changes who answers in other processes: for the held request, for the
// thread that it is on, or for all requests of all processes that are attached.
func (c *Console) routeElsewhere(words []string, whom string) (tea.Cmd, error) {
	switch {
	case c.env.Processes == nil:
		return nil, errAlone
	case !slices.Contains(whoms, whom):
		return nil, &command.UsageError{What: fmt.Sprintf("for=%s?", whom), Advice: "there are: " + strings.Join(whoms, ", ")}
	}
	var held debugger.Held
	if whom != "process" {
		var err error
		if held, words, err = c.heldOne(words); err != nil {
			return nil, err
		}
	}
	if len(words) < 2 {
		return nil, &command.UsageError{What: "swap what?", Advice: "route node terminus=yaml for=process"}
	}
	ind := words[0]
	swaps, dry, err := readSwaps(words[1:])
	switch {
	case err != nil:
		return nil, err
	case dry || slices.ContainsFunc(swaps, func(s [2]string) bool { return s[0] == indirector.SlotTTL }):
		return nil, &command.UsageError{What: "terminus and cache can be changed in other processes", Advice: "write terminus=T or cache=C"}
	case whom != "process" && held.State.Request.Indirection != ind:
		return nil, fmt.Errorf("#%d asks for %s, not for %s", held.ID, held.State.Request.Indirection, ind)
	}
	var cmds []tea.Cmd
	for _, s := range swaps {
		var cmd tea.Cmd
		if whom == "request" {
			cmd, err = edit(c, call{name: "edit", words: []string{fmt.Sprintf("#%d", held.ID), s[0] + "=" + s[1]}})
		} else {
			cmd, err = c.swapElsewhere(ind, s[0], s[1], whom, held.ID)
		}
		if cmds = append(cmds, cmd); err != nil {
			break
		}
	}
	return tea.Batch(cmds...), err
}

// swapElsewhere changes a slot of an indirection for the thread of a held request, or
// for processes.
func (c *Console) swapElsewhere(ind, slot, to, whom string, held uint64) (tea.Cmd, error) {
	p := c.env.Processes
	swap := func() (int, error) {
		if whom == "thread" {
			return p.SwapThread(held, slot, to)
		}
		return p.Swap(ind, slot, to)
	}
	id, err := swap()
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf(":route %s %s=%s for=%s", ind, slot, to, whom)
	c.add(entry{style: term.Touched, text: "did " + text + "; it ends with this program"})
	undo := func() tea.Cmd {
		if !p.Undo(id) {
			return screen.Warn("it was taken back already", "")
		}
		return nil
	}
	redo := func() tea.Cmd {
		var err error
		id, err = swap()
		return c.refuseIf(err)
	}
	return tea.Batch(c.awaitSwap(id), c.done(text, undo, redo)), nil
}

// answersWithin is how long processes are given to answer.
const answersWithin = 2 * time.Second

// awaitSwap prints what the processes have answered.
func (c *Console) awaitSwap(id int) tea.Cmd {
	p := c.env.Processes
	return screen.Later(func() tea.Msg {
		ctx, cancel := context.WithTimeout(c.ctx, answersWithin)
		defer cancel()
		texts, refused := p.Await(ctx, id)
		text := strings.Join(texts, "\n")
		switch {
		case refused:
			return screen.For{Screen: c, Msg: warned(text)}
		case text == "":
			return screen.For{Screen: c, Msg: warned("no process has answered yet")}
		}
		return screen.For{Screen: c, Msg: printed(text)}
	})
}

// listSwaps prints the routes that were changed in other processes.
func (c *Console) listSwaps() tea.Cmd {
	var lines []string
	for _, s := range c.env.Processes.Swaps() {
		lines = append(lines, fmt.Sprintf("%s %s=%s for=%s", s.Ind, s.Slot, s.To, s.For))
	}
	if len(lines) == 0 {
		return c.reply("no route of another process is changed")
	}
	return c.reply(strings.Join(lines, "\n"))
}

// noteBreak prints what a new breakpoint cannot do in other processes.
func (c *Console) noteBreak(b *debugger.Breakpoint) {
	if c.env.Processes == nil {
		return
	}
	if note := c.env.Processes.Note(b); note != "" {
		c.add(entry{style: term.Attention, text: note})
	}
}
