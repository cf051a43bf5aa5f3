package ui

import (
	"unicode"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
	"indirtui/ui/term"
)

// maxCount bounds the number before a key.
const maxCount = 1_000_000

// key looks up what a key does here, and does it.
func (r *Model) key(msg tea.KeyMsg) tea.Cmd {
	if r.width < MinWidth || r.height < MinHeight {
		if s := msg.String(); s == "ctrl+c" || s == "q" {
			return r.end()
		}
		return nil
	}
	top := r.shown()
	if top.Captures() {
		return r.captured(top, msg)
	}
	key := screen.KeyOf(msg)
	if r.waiting != nil {
		return r.argument(key)
	}
	if len(key) == 1 && unicode.IsDigit(rune(key[0])) && r.digit(top, key) {
		return nil
	}
	if r.pending == "g" {
		r.pending = ""
		if key == "g" {
			return nil // gg: the first g went to the top already
		}
	}
	b := r.env.Keys.Find(key, top.Scope())
	if b == nil {
		r.count = 0
		return nil
	}
	if b.Arg {
		r.waiting = b
		return nil
	}
	command := screen.Command{Action: b.Do, Count: r.count}
	r.count = 0
	switch {
	case b.Do == screen.GoTo:
		command.Arg = rune(key[0])
	case b.Do == screen.Top && key == "g":
		r.pending = "g"
	}
	return r.command(command)
}

// captured gives a key to a screen that reads letters. A prompt may want more
// or fewer lines afterwards.
func (r *Model) captured(top *screen.Abilities, msg tea.KeyMsg) tea.Cmd {
	if msg.String() == "ctrl+z" {
		return tea.Suspend
	}
	cmd := top.Update(msg)
	r.fit(top)
	return cmd
}

// digit reads a number before a key. A digit that is a place goes there, unless
// a number has been begun.
func (r *Model) digit(top *screen.Abilities, key string) bool {
	if r.count == 0 {
		if key == "0" || r.env.Keys.Find(key, top.Scope()) != nil && !r.countsFirst(key) {
			return false
		}
	}
	r.count = min(r.count*10+int(key[0]-'0'), maxCount)
	return true
}

// countsFirst reports whether a digit leads nowhere, so that it can only be a
// number: there is no such place, or we are there.
func (r *Model) countsFirst(key string) bool {
	for i, s := range r.stacks {
		if s.place.Key == key {
			return i == r.at && len(s.screens) == 1
		}
	}
	return true
}

// argument is the letter after m and the like.
func (r *Model) argument(key string) tea.Cmd {
	b := r.waiting
	r.waiting = nil
	letters := []rune(key)
	if len(letters) != 1 {
		r.count = 0
		return nil
	}
	command := screen.Command{Action: b.Do, Count: r.count, Arg: letters[0]}
	r.count = 0
	return r.command(command)
}

// command runs a command: the root does what is the same everywhere, the
// screen the rest, if it is not disabled.
func (r *Model) command(a screen.Command) tea.Cmd {
	if a.Action != screen.Stop {
		r.stopped = false
	}
	top := r.shown()
	switch why := top.Disabled(a.Action); {
	case why == "":
		if l := top.List(); l != nil && l.Handle(a) {
			return top.Moved()
		}
		return top.Handle(a)
	case !a.Action.OfRoot() && why != screen.Unknown:
		return r.show(screen.Toast{Text: "not now: " + why})
	}
	switch a.Action {
	case screen.GoTo:
		return r.goTo(func(p *Place) bool { return p.Key == string(a.Arg) })
	case screen.Back:
		r.pop(nil)
		return r.refresh()
	case screen.Quit:
		if len(r.current().screens) > 1 {
			r.pop(nil)
			return r.refresh()
		}
		return r.leave()
	case screen.Stop:
		return r.stop()
	case screen.Suspend:
		return tea.Suspend
	case screen.Undo:
		return r.undo(r.env.Undo.Undo, "undone", "nothing to undo; what was sent cannot be undone")
	case screen.Redo:
		return r.undo(r.env.Undo.Redo, "redone", "nothing to redo")
	case screen.Last:
		return r.back()
	case screen.TourSkip:
		return r.travel(r.tour.Skip)
	case screen.TourEnd:
		return r.travel(r.tour.End)
	case screen.CommandLine:
		return r.ask("", "")
	case screen.Help, screen.PaletteOpen, screen.Console:
		return r.overlay(a.Action, top)
	}
	return nil
}

// overlay opens help, the palette or the console; the same key closes it.
func (r *Model) overlay(do screen.Action, top *screen.Abilities) tea.Cmd {
	var s screen.Screen
	switch {
	case do == screen.Help && r.cfg.Help != nil:
		s = r.cfg.Help(r.env, top.Screen)
	case do == screen.PaletteOpen && r.cfg.Palette != nil:
		s = r.cfg.Palette(r.env, top.Screen, r.placeNames())
	case do == screen.Console && r.env.Commands != nil:
		s = r.env.Commands.Screen()
	}
	if s == nil {
		return r.show(screen.Toast{Text: "not here: " + string(do)})
	}
	for _, open := range r.current().screens {
		if open.Screen == s {
			r.pop(s)
			return r.refresh()
		}
	}
	return r.push(s)
}

// stop ends what is running; pressed twice it ends the program.
func (r *Model) stop() tea.Cmd {
	if r.stopped {
		return r.end()
	}
	r.stopped = true
	text := "ctrl+c again quits"
	some := r.stopWorks()
	if r.cfg.Stop != nil && r.cfg.Stop() || some {
		text = "stopped; " + text
	}
	return tea.Batch(r.show(screen.Toast{Text: text}), r.env.After(toastFor, forget{}))
}

// back goes to the place before this one.
func (r *Model) back() tea.Cmd {
	if len(r.visited) == 0 {
		return nil
	}
	r.at = r.visited[len(r.visited)-1]
	r.visited = r.visited[:len(r.visited)-1]
	return r.refresh()
}

// mouse gives clicks and the wheel to the screen, and clicks on tabs to the
// root.
func (r *Model) mouse(msg tea.MouseMsg) tea.Cmd {
	if r.width < MinWidth || r.height < MinHeight {
		return nil
	}
	ev := tea.MouseEvent(msg)
	top := r.shown()
	x, y := ev.X-1, ev.Y-2 // below tabs and border
	width, height := r.body()
	switch {
	case ev.IsWheel():
		lines := 3
		if ev.Button == tea.MouseButtonWheelUp {
			lines = -3
		}
		r.clicked = clicked{}
		return wheel(top, lines)
	case ev.Action != tea.MouseActionPress || ev.Button != tea.MouseButtonLeft:
		return nil
	case ev.Y == 0:
		return r.clickTab(ev.X)
	case ev.Y == r.height-1:
		return r.clickHint(ev.X)
	case y >= 0 && y < height && x >= 0 && x < width:
		if top.Floats {
			dx, dy := term.Middle(top.View(), width, height)
			x, y = x-dx, y-dy
		}
		return r.click(top, x, y)
	}
	return nil
}

// A clicked row is opened by the next click on it.
type clicked struct {
	on  screen.Screen
	row int // of the screen
}

// click gives a click to a screen. The second one on the same row opens it.
func (r *Model) click(s *screen.Abilities, x, y int) tea.Cmd {
	now, before := clicked{s.Screen, y}, r.clicked
	r.clicked = now
	if l := s.List(); now == before && l != nil && l.Click(x, y) && s.Disabled(screen.Enter) == "" {
		r.clicked = clicked{}
		return r.command(screen.Command{Action: screen.Enter})
	}
	return click(s, x, y)
}

func wheel(s *screen.Abilities, lines int) tea.Cmd {
	if s.Mouse != nil {
		return s.Mouse.Wheel(lines)
	}
	if l := s.List(); l != nil {
		l.Wheel(lines)
		return s.Moved()
	}
	return nil
}

func click(s *screen.Abilities, x, y int) tea.Cmd {
	if s.Mouse != nil {
		return s.Mouse.Click(x, y)
	}
	if l := s.List(); l != nil && l.Click(x, y) {
		return s.Moved()
	}
	return nil
}

func (r *Model) clickTab(x int) tea.Cmd {
	at := r.tabColumns()
	for i := range r.stacks {
		if x >= at[i] && x < at[i+1] && !r.shown().Captures() {
			key := r.stacks[i].place.Key
			return r.goTo(func(p *Place) bool { return p.Key == key })
		}
	}
	return nil
}
