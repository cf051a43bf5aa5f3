package console

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/indirector/debugger"
	"indirtui/traces"
	"indirtui/ui/command"
	"indirtui/ui/screen"
	"indirtui/ui/term"
)

// debugCommands are those of the debugger, in the order of help.
func debugCommands() []cmd {
	return []cmd{
		{name: "break", args: "[EXPR] [before|after STEP | at PLACE] [do ACTION] [once|first N] [every N] [N%]   or ID on|off   or remove ID", help: "stop requests between two questions, or do something there", offered: hasDebugger, next: nextBreak, run: breakAt},
		{name: "breaks", args: "[on|off]", help: "list the breakpoints; off disarms them all and lets everything go", offered: hasDebugger, next: nextOnOff, run: breaks},
		{name: "hold", args: "[#N]", help: "list what is held, or hold a running request at its next question", offered: hasDebugger, run: hold},
		{name: "step", args: "[#N]", help: "let a held request go to the next question", offered: hasDebugger, next: nextHeld, run: goOn(debugger.Step)},
		{name: "over", args: "[#N]", help: "let a held request go to the next phase", offered: hasDebugger, next: nextHeld, run: goOn(debugger.Over)},
		{name: "finish", args: "[#N]", help: "let a held request go to its end", offered: hasDebugger, next: nextHeld, run: goOn(debugger.Finish)},
		{name: "continue", args: "[#N|all]", help: "let a held request go on", offered: hasDebugger, next: nextHeld, run: goOn(debugger.Continue)},
		{name: "abort", args: "[#N]", help: "end a held request", offered: hasDebugger, next: nextHeld, run: abort},
		{name: "edit", args: "[#N] NAME=VALUE ...", help: "change a held request", offered: hasDebugger, next: nextEdit, run: edit},
		{name: "restore", args: "[#N]", help: "take back what was changed of a held request", offered: hasDebugger, next: nextHeld, run: restore},
		{name: "swap", args: "[#N] IND TERMINUS [for=request|thread|process]", help: "the same as route IND terminus=TERMINUS; it may be wrapped: retry(rest,3)", effect: routeEffect, offered: hasEngine, next: nextSwap, run: swapTerminus},
		{name: "fault", args: "IND STATUS|TEXT|nil [N%] [once] [first=N] [every=N] [verb=VERB]   or IND off", help: "let the terminus of an indirection fail, or take that back", offered: hasEngine, next: nextSwap, run: fault},
		{name: "inject", args: "[#N] ACTION", help: "fail or answer a held request, and let it go on", offered: hasDebugger, next: nextAction, run: inject},
	}
}

func swapTerminus(c *Console, l call) (tea.Cmd, error) {
	if len(l.words) == 0 && c.env.Processes != nil {
		return c.listSwaps(), nil
	}
	words, whom := cutWhom(l.words)
	n := len(words)
	if n != 2 && (n != 3 || whom == "" || !strings.HasPrefix(words[0], "#")) {
		return nil, &command.UsageError{What: "swap what?", Advice: "swap node yaml   swap facts 'retry(rest, 3)'   swap node plain for=process"}
	}
	words[n-1] = indirector.SlotTerminus + "=" + words[n-1]
	if whom != "" {
		words = append(words, "for="+whom)
	}
	return route(c, call{name: l.name, words: words})
}

// fault wraps the terminus that an indirection has, or unwraps it.
func fault(c *Console, l call) (tea.Cmd, error) {
	if len(l.words) < 2 {
		return nil, &command.UsageError{What: "which fault?", Advice: "fault facts 503   fault node 'connection refused' once   fault node off"}
	}
	r, known := c.o.Engine.Explain(l.words[0])
	now := r.Primary.Winner().Terminus
	if !known || now == "" {
		return route(c, call{name: l.name, words: []string{l.words[0], "terminus=none"}}) // its error lists the termini
	}
	if inner, is := strings.CutPrefix(now, "fault("); is {
		now = inner[:innerEnd(inner)] // one fault at a time
		if l.words[1] == "off" {
			return c.swap(l.words[0], [][2]string{{indirector.SlotTerminus, now}})
		}
	}
	if l.words[1] == "off" {
		return nil, fmt.Errorf("terminus %s of %s is not wrapped in a fault", now, l.words[0])
	}
	args := l.words[1]
	if _, err := strconv.Atoi(args); err != nil && args != "nil" {
		mark := "'"
		if strings.Contains(args, mark) {
			mark = `"`
		}
		args = mark + args + mark
	}
	name := "fault(" + strings.Join(append([]string{now, args}, l.words[2:]...), ", ") + ")"
	return route(c, call{name: l.name, words: []string{l.words[0], indirector.SlotTerminus + "=" + name}})
}

// innerEnd is where the first argument of a wrapper ends.
func innerEnd(args string) int {
	depth := 0
	for i := range len(args) {
		switch args[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth < 0 || depth == 0 && args[i] == ',' {
			return i
		}
	}
	return len(args)
}

func nextSwap(c *Console, l call) []option {
	typed, n := l.last()
	switch n {
	case 0:
		return c.indirections(typed)
	case 1:
		if l.name == "swap" {
			return plain("terminus", typed, c.o.Engine.Registry().Termini(l.words[0])...)
		}
		return plain("fault", typed, "503", "500", "404", "403", "nil", "off")
	}
	if l.name == "swap" && c.env.Processes != nil {
		return startWith(slices.Clone(forWhom), typed)
	}
	return nil
}

// heldOne is the held request that a line is about: #N, or the oldest.
func (c *Console) heldOne(words []string) (h debugger.Held, rest []string, err error) {
	if len(words) > 0 && strings.HasPrefix(words[0], "#") {
		id, err := requestNumber(words[0])
		if err == nil {
			h, err = c.env.Debugger.Get(id)
		}
		return h, words[1:], err
	}
	all := c.env.Debugger.Held()
	if len(all) == 0 {
		return h, nil, fmt.Errorf("no request is held")
	}
	return all[0], words, nil
}

// HeldText is a held request in one line.
func (c *Console) HeldText(h *debugger.Held) string {
	text := fmt.Sprintf("#%d %s %s %s   %s   held by %s", h.ID, h.Request.Verb, h.Request.Indirection, h.Request.Key, h.Where(), h.By)
	if process := h.State.Home.String(); process != "" {
		text += " in " + process
	}
	for _, change := range h.Changes {
		text += "   " + change.String()
	}
	return text
}

// breakAt arms a breakpoint, or changes one.
func breakAt(c *Console, l call) (tea.Cmd, error) {
	d := c.env.Debugger
	if len(l.words) == 0 {
		return breaks(c, l)
	}
	if l.words[0] == "remove" && len(l.words) == 2 {
		return c.removeBreak(l.words[1])
	}
	if at := slices.IndexFunc(d.Breaks(), func(b debugger.Info) bool { return b.ID == l.words[0] }); at >= 0 && len(l.words) > 1 {
		old := d.Breaks()[at]
		if word := l.words[1]; len(l.words) == 2 && (word == "on" || word == "off") {
			return c.armBreak(old.ID, word == "on")
		}
		b, err := debugger.Parse(strings.TrimSpace(strings.TrimPrefix(l.rest, old.ID)))
		if err != nil {
			return nil, err
		}
		set := func(b debugger.Breakpoint) tea.Cmd {
			_, err := d.Replace(old.ID, b)
			return c.refuseIf(err)
		}
		if _, err := d.Replace(old.ID, b); err != nil {
			return nil, err
		}
		return c.done(":break "+old.ID+" "+b.String(), func() tea.Cmd { return set(old.Breakpoint) }, func() tea.Cmd { return set(b) }), nil
	}
	b, err := debugger.Parse(l.rest)
	if err != nil {
		return nil, err
	}
	info, err := d.Add(b)
	if info.ID == "" {
		return nil, err
	}
	id := info.ID
	c.add(entry{style: term.Touched, text: id + " " + b.String()})
	c.noteBreak(&b)
	do := c.done(":break "+b.String(), func() tea.Cmd { return c.refuseIf(d.Remove(id)) }, func() tea.Cmd {
		again, err := d.Add(b)
		id = again.ID
		return c.refuseIf(err)
	})
	return tea.Batch(do, c.refuseIf(err)), nil
}

// done reports a change that can be undone.
func (c *Console) done(text string, undo, redo func() tea.Cmd) tea.Cmd {
	return screen.Send(screen.Done{Command: text, Change: &screen.Change{Command: text, Undo: undo, Redo: redo}})
}

func (c *Console) refuseIf(err error) tea.Cmd {
	if err == nil {
		return nil
	}
	return c.refuse(err, nil)
}

func (c *Console) removeBreak(id string) (tea.Cmd, error) {
	d := c.env.Debugger
	at := slices.IndexFunc(d.Breaks(), func(b debugger.Info) bool { return b.ID == id })
	if at < 0 {
		return nil, &command.UsageError{What: fmt.Sprintf("there is no breakpoint %q", id), Advice: ":breaks lists them"}
	}
	old := d.Breaks()[at].Breakpoint
	if err := d.Remove(id); err != nil {
		return nil, err
	}
	return c.done(":break remove "+id, func() tea.Cmd {
		again, err := d.Add(old)
		id = again.ID
		return c.refuseIf(err)
	}, func() tea.Cmd { return c.refuseIf(d.Remove(id)) }), nil
}

func (c *Console) armBreak(id string, on bool) (tea.Cmd, error) {
	d := c.env.Debugger
	if err := d.Arm(id, on); err != nil {
		return nil, err
	}
	word := map[bool]string{true: "on", false: "off"}[on]
	return c.done(":break "+id+" "+word, func() tea.Cmd { return c.refuseIf(d.Arm(id, !on)) }, func() tea.Cmd { return c.refuseIf(d.Arm(id, on)) }), nil
}

// breaks lists the breakpoints, or switches all of them.
func breaks(c *Console, l call) (tea.Cmd, error) {
	d := c.env.Debugger
	if l.switches() {
		d.SetOff(l.words[0] == "off")
		if l.words[0] == "off" {
			c.add(entry{style: term.Touched, text: "every breakpoint is disarmed, and what was held goes on"})
		}
		return screen.Send(screen.Done{Command: ":breaks " + l.words[0]}), nil
	}
	if len(l.words) > 0 {
		return nil, &command.UsageError{What: "breaks on or breaks off?"}
	}
	all := d.Breaks()
	if len(all) == 0 {
		return c.reply("there are no breakpoints; break EXPR before STEP do ACTION makes one"), nil
	}
	for _, b := range all {
		state := "off"
		switch {
		case d.Off():
			state = "all off"
		case b.On:
			state = "on"
		case b.Restored:
			state = "off, restored"
		}
		c.add(entry{style: term.Plain, text: fmt.Sprintf("%s %s   %s   hits %s", b.ID, state, b.String(), b.Count())})
	}
	return nil, nil
}

// hold lists what is held, or holds a running request.
func hold(c *Console, l call) (tea.Cmd, error) {
	d := c.env.Debugger
	if len(l.words) == 0 {
		all := d.Held()
		for i := range all {
			c.add(entry{style: term.Touched, text: c.HeldText(&all[i]), id: all[i].ID})
		}
		if len(all) == 0 {
			return c.reply("no request is held"), nil
		}
		return nil, nil
	}
	id, err := requestNumber(l.words[0])
	if err != nil {
		return nil, err
	}
	row, err := c.row(id)
	switch {
	case err != nil:
		return nil, err
	case row.Outcome != traces.Run:
		return nil, fmt.Errorf("#%d does not run: %s", id, row.Outcome)
	}
	d.HoldNext(id)
	return screen.Send(screen.Done{Command: fmt.Sprintf(":hold #%d", id)}), nil
}

// goOn lets a held request go.
func goOn(how debugger.Go) func(*Console, call) (tea.Cmd, error) {
	return func(c *Console, l call) (tea.Cmd, error) {
		if how == debugger.Continue && len(l.words) == 1 && l.words[0] == "all" {
			return c.reply(fmt.Sprintf("%d requests go on", c.env.Debugger.ContinueAll())), nil
		}
		h, rest, err := c.heldOne(l.words)
		switch {
		case err != nil:
			return nil, err
		case len(rest) > 0:
			return nil, &command.UsageError{What: fmt.Sprintf("%q is not understood", rest[0]), Advice: "write #1042"}
		}
		if err := c.env.Debugger.Resume(h.ID, how); err != nil {
			return nil, err
		}
		c.add(entry{style: term.Plain, text: fmt.Sprintf("#%d: %s", h.ID, how), id: h.ID})
		return screen.Send(screen.Done{Command: fmt.Sprintf(":%s #%d", how, h.ID)}), nil
	}
}

func abort(c *Console, l call) (tea.Cmd, error) {
	h, _, err := c.heldOne(l.words)
	if err == nil {
		err = c.env.Debugger.Abort(h.ID)
	}
	if err != nil {
		return nil, err
	}
	return screen.Send(screen.Done{Command: fmt.Sprintf(":abort #%d", h.ID)}), nil
}

// edit changes a held request, all of it or nothing.
func edit(c *Console, l call) (tea.Cmd, error) {
	h, words, err := c.heldOne(l.words)
	if err != nil {
		return nil, err
	}
	words = joined(words)
	if len(words) == 0 {
		return nil, &command.UsageError{What: l.name + " what?", Advice: "write " + strings.Join(debugger.EditNames(), "=, ") + "=, opt.NAME= or, in a program, $NAME="}
	}
	var edits []debugger.Edit
	for _, w := range words {
		e, err := debugger.ParseEdit(w)
		if err != nil {
			return nil, err
		}
		if why := h.Disabled(e.Name); why != "" {
			return nil, fmt.Errorf("edit %s: %s", e.Name, why)
		}
		edits = append(edits, e)
	}
	for _, e := range edits {
		if h, err = c.env.Debugger.Edit(h.ID, e); err != nil {
			return nil, err
		}
	}
	c.add(entry{style: term.Touched, text: c.HeldText(&h), id: h.ID})
	d, id := c.env.Debugger, h.ID
	return tea.Batch(c.plan(id), c.done(fmt.Sprintf(":set #%d %s", id, strings.Join(words, " ")), func() tea.Cmd {
		_, err := d.AsItWas(id)
		return c.refuseIf(err)
	}, func() tea.Cmd {
		for _, e := range edits {
			if _, err := d.Edit(id, e); err != nil {
				return c.refuseIf(err)
			}
		}
		return nil
	})), nil
}

// joined are the words of a line that may set a variable as programs write it: $x = VALUE.
func joined(words []string) []string {
	if len(words) < 3 || !strings.HasPrefix(words[0], "$") || words[1] != "=" {
		return words
	}
	return []string{words[0] + "=" + strings.Join(words[2:], " ")}
}

// plan prints what will become of a held request; of one in a program that is not known.
func (c *Console) plan(id uint64) tea.Cmd {
	if h, err := c.env.Debugger.Get(id); err != nil || h.State.Code != nil {
		return nil
	}
	return screen.Later(func() tea.Msg {
		f, err := c.env.Debugger.Plan(c.ctx, id)
		if err != nil {
			return nil // it went on meanwhile
		}
		return screen.For{Screen: c, Msg: printed(fmt.Sprintf("plan of #%d: %s", id, f.Why))}
	})
}

func restore(c *Console, l call) (tea.Cmd, error) {
	h, _, err := c.heldOne(l.words)
	if err == nil {
		_, err = c.env.Debugger.AsItWas(h.ID)
	}
	if err != nil {
		return nil, err
	}
	return tea.Batch(c.plan(h.ID), screen.Send(screen.Done{Command: fmt.Sprintf(":restore #%d", h.ID)})), nil
}

// inject does something to a held request once, and lets it go on.
func inject(c *Console, l call) (tea.Cmd, error) {
	h, words, err := c.heldOne(l.words)
	if err != nil {
		return nil, err
	}
	text := l.rest
	if len(words) < len(l.words) {
		_, text, _ = strings.Cut(text, " ")
	}
	a, err := debugger.ParseAction(strings.TrimSpace(text))
	if err == nil {
		err = c.env.Debugger.Inject(h.ID, a, debugger.Continue)
	}
	if err != nil {
		return nil, err
	}
	return screen.Send(screen.Done{Command: fmt.Sprintf(":inject #%d %s", h.ID, a)}), nil
}

// ---- how lines go on ----

func nextHeld(c *Console, l call) []option {
	typed, n := l.last()
	if n > 0 {
		return nil
	}
	var out []option
	for _, h := range c.env.Debugger.Held() {
		if word := fmt.Sprintf("#%d", h.ID); strings.HasPrefix(word, typed) {
			out = append(out, option{word: word, kind: "held", note: c.HeldText(&h)})
		}
	}
	if l.name == "continue" && strings.HasPrefix("all", typed) {
		out = append(out, option{word: "all", kind: "held", note: "everything"})
	}
	return out
}

func nextEdit(c *Console, l call) []option {
	typed, n := l.last()
	var out []option
	if n == 0 {
		out = nextHeld(c, l)
	}
	names := debugger.EditNames()
	if h, _, err := c.heldOne(l.words); err == nil && h.State.Code != nil {
		names = nil
		for _, v := range h.State.Code.Variables {
			if name := "$" + v.Key.Str(); h.Disabled(name) == "" {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		if strings.HasPrefix(name, typed) {
			out = append(out, option{word: name + "=", kind: "input", open: true})
		}
	}
	return out
}

func nextAction(_ *Console, l call) []option {
	typed, _ := l.last()
	return plain("action", typed, debugger.Dos()...)
}

// nextBreak goes on with the words behind the expression, or with the
// expression.
func nextBreak(c *Console, l call) []option {
	typed, n := l.last()
	before := ""
	if n > 0 {
		before = l.words[n-1]
	}
	switch before {
	case "before", "after", "at":
		var steps []string
		for s := range traces.Step(traces.StepCount) {
			steps = append(steps, strings.ReplaceAll(s.String(), " ", "-"))
		}
		if before == "at" {
			return append(plain("step", typed, steps...), slices.Concat(plain("in a manifest", typed, debugger.PlaceKinds()...), plain("in a run", typed, debugger.ResourcePlaces()...))...)
		}
		return plain("step", typed, steps...)
	case "do":
		return plain("action", typed, debugger.Dos()...)
	case "remove":
		var ids []string
		for _, b := range c.env.Debugger.Breaks() {
			ids = append(ids, b.ID)
		}
		return plain("breakpoint", typed, ids...)
	}
	out := plain("breakpoint", typed, "before", "after", "do", "once", "first", "every")
	if slices.ContainsFunc(l.words[:n], func(w string) bool { return w == "before" || w == "after" || w == "do" }) {
		return out
	}
	return append(nextFilter(c, l), out...)
}
