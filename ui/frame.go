package ui

import (
	"fmt"
	"path/filepath"
	"strings"

	"indirtui/traces"
	"indirtui/ui/screen"
)

// View implements tea.Model.
func (r *Model) View() string { return r.env.Theme.Render(r.Lines()) }

// Lines is the whole frame: exactly height lines of at most width cells.
func (r *Model) Lines() screen.Lines {
	if r.width < MinWidth || r.height < MinHeight {
		text := fmt.Sprintf("indirtui needs %dx%d, this is %dx%d", MinWidth, MinHeight, r.width, r.height)
		return screen.Lines{screen.Of(screen.Plain, text)}.Fill(r.width, r.height)
	}
	above, below := r.around()
	lines := append(above, r.tour.View(r.env.Theme, r.width)...)
	return append(lines, below...).Fill(r.width, r.height)
}

// around is the frame without the tour: what is above and below it.
func (r *Model) around() (above, below screen.Lines) {
	w, h := r.body()
	above = make(screen.Lines, 0, r.height)
	above = append(above, r.tabs(), r.context())
	above = append(above, r.bodyLines().Fill(w, h)...)
	return above, screen.Lines{r.toastLine(), r.status(), r.hints(w)}
}

// bodyLines is the screen on top; a popup lies over the lower lines of the one
// below it.
func (r *Model) bodyLines() screen.Lines {
	w, h := r.body()
	screens := r.current().screens
	base := len(screens) - 1
	for base > 0 {
		if _, popup := screens[base].(screen.Popup); !popup {
			break
		}
		base--
	}
	under := screens[base]
	if base == 0 {
		under = r.under()
	}
	lines := under.View().Fill(w, h)
	for _, s := range screens[base+1:] {
		p := s.(screen.Popup)
		rows := min(p.Rows(), h)
		copy(lines[h-rows:], s.View().Fill(w, rows))
	}
	return lines
}

// under is the screen of the place itself, or the card of the first run.
func (r *Model) under() screen.Screen {
	if r.empty != nil && r.at == 0 && r.snapshot.Stats.Total == 0 {
		return r.empty
	}
	return r.current().place.Screen
}

// tabs are the name of the program, the places, and what state it is in.
func (r *Model) tabs() screen.Line {
	var l screen.Line
	l.Put(screen.Bold, " indirtui ")
	for i, s := range r.stacks {
		badge, style := "", screen.Plain
		if s.place.Badge != nil {
			badge, style = s.place.Badge()
		}
		name := s.place.Key + " " + s.place.Name
		open, end := " ", " "
		own := screen.Plain
		if i == r.at {
			open, end, own = "[", "]", screen.Bold
		}
		l.Put(own, open+name)
		if badge != "" {
			l.Put(own, " ")
			l.Put(style|own, badge)
		}
		l.Put(own, end)
	}
	state, style := r.state()
	right := screen.Of(style|screen.Bold, state)
	if source := r.cfg.Source; source != "" && l.Width()+right.Width()+len(source)+14 < r.width {
		right.Put(screen.Quiet, "  source: "+source)
	}
	right.Space(1)
	l = l.Cut(r.width - right.Width() - 1)
	l.To(r.width - right.Width())
	l.Append(right)
	return l
}

// tabColumns are the cells where the tabs begin.
func (r *Model) tabColumns() []int {
	at := len(" indirtui ")
	var out []int
	for _, s := range r.stacks {
		out = append(out, at)
		at += len(s.place.Key) + len(s.place.Name) + 3
		if s.place.Badge != nil {
			if badge, _ := s.place.Badge(); badge != "" {
				at += len(badge) + 1
			}
		}
	}
	return out
}

// state is the one word for what the program is doing.
func (r *Model) state() (string, screen.Style) {
	s := &r.snapshot.Stats
	switch {
	case s.Held > 0:
		return fmt.Sprintf("HELD %d", s.Held), screen.Touched
	case r.cfg.Replay != "":
		return "REPLAY", screen.Plain
	case s.Total == 0:
		return "WAITING", screen.Quiet
	}
	return "LIVE", screen.Plain
}

// context is the way here at the left, and filter, group and count at the
// right.
func (r *Model) context() screen.Line {
	var left, right screen.Line
	screens := r.current().screens
	for i := len(screens) - 1; i >= 0; i-- {
		if _, popup := screens[i].(screen.Popup); !popup {
			s := screens[i]
			if i == 0 {
				s = r.under()
			}
			left, right = s.Context()
			break
		}
	}
	if r.count > 0 {
		var n screen.Line
		n.Put(screen.Touched, fmt.Sprintf("%d  ", r.count))
		n.Append(right)
		right = n
	}
	room := r.width - right.Width() - 1
	left = left.Cut(max(room, 0))
	left.To(r.width - right.Width())
	left.Append(right)
	return left
}

func (r *Model) toastLine() screen.Line {
	var l screen.Line
	if r.toast.Text == "" {
		return l
	}
	style := screen.Plain
	if r.toast.Bad {
		style = screen.Attention
	}
	l.Put(style, " "+r.toast.Text)
	if r.toast.Advice != "" {
		l.Put(screen.Quiet, "; "+r.toast.Advice)
	}
	return l
}

// A field of the status bar, and how long it stays when there is no room: the
// lowest goes first.
type field struct {
	line screen.Line
	keep int
}

const always = 100

// status is the numbers that are true everywhere.
func (r *Model) status() screen.Line {
	s := &r.snapshot.Stats
	var fields []field
	put := func(keep int, style screen.Style, text string) {
		fields = append(fields, field{screen.Of(style, text), keep})
	}
	number := func(keep int, style screen.Style, name string, n uint64) {
		if n == 0 {
			style = screen.Quiet
		}
		put(keep, style, name+" "+screen.Grouped(int64(n)))
	}
	state, style := r.state()
	if state == "LIVE" {
		state = fmt.Sprintf("LIVE %.0f/s", s.Rate)
	}
	if state == "REPLAY" {
		state += " " + filepath.Base(r.cfg.Replay)
	}
	put(always, style|screen.Bold, state)
	number(always, screen.Touched, "held", s.Held)
	number(90, screen.Attention, "stale", s.By[traces.Stale])
	number(always, screen.Attention|screen.Bold, "hidden", s.Hidden)
	number(80, screen.Attention, "dropped", s.DroppedRows+s.DroppedDetails+s.DroppedBodies)
	put(40, screen.Quiet, fmt.Sprintf("mem %d/%dM", s.Memory>>20, s.Limit>>20))
	if s.FileSize > 0 {
		put(30, screen.Quiet, "rec on "+strings.ReplaceAll(screen.Bytes(s.FileSize), " ", ""))
	}
	if n := r.overrides(); n > 0 {
		put(95, screen.Touched, screen.Plural(n, "override"))
	}
	if n := r.setHere(); n > 0 {
		put(95, screen.Touched, fmt.Sprintf("set %d", n))
	}
	if r.env.Writable {
		put(96, screen.Touched|screen.Bold, "WRITE")
	} else {
		put(20, screen.Quiet, "READ-ONLY")
	}
	right := screen.Of(screen.Quiet, "redact on ")
	if !r.env.Redact {
		right = screen.Of(screen.Touched, "redact off ")
	}
	return fitFields(fields, right, r.width)
}

// fitFields drops the least important fields until the rest has room, and
// redact before a field that must stay.
func fitFields(fields []field, right screen.Line, width int) screen.Line {
	for {
		var l screen.Line
		l.Space(1)
		for i, f := range fields {
			if i > 0 {
				l.Space(2)
			}
			l.Append(f.line)
		}
		if l.Width()+right.Width()+1 <= width {
			l.To(width - right.Width())
			l.Append(right)
			return l
		}
		least := -1
		for i, f := range fields {
			if f.keep < always && (least < 0 || f.keep < fields[least].keep) {
				least = i
			}
		}
		if least < 0 {
			if right.Width() == 0 {
				return l.Cut(width)
			}
			right = screen.Line{}
			continue
		}
		fields = append(fields[:least], fields[least+1:]...)
	}
}
