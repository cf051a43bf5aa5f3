package ui

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"indirtui/traces"
	"indirtui/ui/screen"
	"indirtui/ui/term"
)

func (r *Model) View() string { return r.env.Theme.Render(r.Lines()) }

// Lines is the whole frame: exactly height lines of at most width cells.
func (r *Model) Lines() term.Lines {
	if r.width < MinWidth || r.height < MinHeight {
		text := fmt.Sprintf("indirtui needs %dx%d, this is %dx%d", MinWidth, MinHeight, r.width, r.height)
		return term.Lines{term.Of(term.Plain, text)}.Fill(r.width, r.height)
	}
	above, below := r.around()
	lines := append(above, r.tour.View(r.env.Theme, r.width)...)
	return append(lines, below...).Fill(r.width, r.height)
}

// around is the frame without the tour: what is above and below it.
func (r *Model) around() (above, below term.Lines) {
	w, h := r.body()
	above = make(term.Lines, 0, r.height)
	above = append(above, r.tabs(), r.context())
	above = append(above, r.bodyLines().Fill(w, h)...)
	return above, term.Lines{r.toastLine(), r.status(), r.hints(w)}
}

// bodyLines is the screen on top; a popup lies over the lower lines of the one
// below it.
func (r *Model) bodyLines() term.Lines {
	w, h := r.body()
	screens := r.current().screens
	base := len(screens) - 1
	for base > 0 {
		if screens[base].Rows == nil {
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
		rows := min(s.Rows(), h)
		copy(lines[h-rows:], s.View().Fill(w, rows))
	}
	return lines
}

// under is the screen of the place itself, or the card of the first run.
func (r *Model) under() *screen.Abilities {
	if r.empty != nil && r.at == 0 && r.snapshot.Stats.Total == 0 {
		return r.empty
	}
	return r.current().screens[0]
}

// tabs are the name of the program, the places, and what state it is in.
func (r *Model) tabs() term.Line {
	var l term.Line
	l.Put(term.Bold, " indirtui ")
	for i, s := range r.stacks {
		badge, style := "", term.Plain
		if s.place.Badge != nil {
			badge, style = s.place.Badge()
		}
		name := s.place.Key + " " + s.place.Name
		open, end := " ", " "
		own := term.Plain
		if i == r.at {
			open, end, own = "[", "]", term.Bold
		}
		l.Put(own, open+name)
		if badge != "" {
			l.Put(own, " ")
			l.Put(style|own, badge)
		}
		l.Put(own, end)
	}
	state, style := r.state()
	right := term.Of(style|term.Bold, state)
	if source := r.cfg.Source; source != "" && l.Width()+right.Width()+len(source)+14 < r.width {
		right.Put(term.Quiet, "  source: "+source)
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
func (r *Model) state() (string, term.Style) {
	s := &r.snapshot.Stats
	switch {
	case s.Held > 0:
		return fmt.Sprintf("HELD %d", s.Held), term.Touched
	case r.cfg.Replay != "":
		return "REPLAY", term.Plain
	case s.Total == 0:
		return "WAITING", term.Quiet
	}
	return "LIVE", term.Plain
}

// context is the way here at the left, and filter, group and count at the
// right.
func (r *Model) context() term.Line {
	var left, right term.Line
	screens := r.current().screens
	for i := len(screens) - 1; i >= 0; i-- {
		if s := screens[i]; s.Rows == nil {
			if i == 0 {
				s = r.under()
			}
			left, right = s.Context()
			break
		}
	}
	if r.count > 0 {
		var n term.Line
		n.Put(term.Touched, fmt.Sprintf("%d  ", r.count))
		n.Append(right)
		right = n
	}
	room := r.width - right.Width() - 1
	left = left.Cut(max(room, 0))
	left.To(r.width - right.Width())
	left.Append(right)
	return left
}

func (r *Model) toastLine() term.Line {
	var l term.Line
	if r.toast.Text == "" {
		return l
	}
	style := term.Plain
	if r.toast.Bad {
		style = term.Attention
	}
	l.Put(style, " "+r.toast.Text)
	if r.toast.Advice != "" {
		l.Put(term.Quiet, "; "+r.toast.Advice)
	}
	return l
}

// A field of the status bar, and how long it stays when there is no room: the
// lowest goes first.
type field struct {
	line term.Line
	keep int
}

const always = 100

// status is the numbers that are true everywhere.
func (r *Model) status() term.Line {
	s := &r.snapshot.Stats
	var fields []field
	put := func(keep int, style term.Style, text string) {
		fields = append(fields, field{term.Of(style, text), keep})
	}
	number := func(keep int, style term.Style, name string, n uint64) {
		if n == 0 {
			style = term.Quiet
		}
		put(keep, style, name+" "+term.Grouped(int64(n)))
	}
	state, style := r.state()
	if state == "LIVE" {
		state = fmt.Sprintf("LIVE %.0f/s", s.Rate)
	}
	if state == "REPLAY" {
		state += " " + filepath.Base(r.cfg.Replay)
	}
	put(always, style|term.Bold, state)
	number(always, term.Touched, "held", s.Held)
	number(90, term.Attention, "stale", s.By[traces.Stale])
	number(always, term.Attention|term.Bold, "hidden", s.Hidden)
	number(80, term.Attention, "dropped", s.DroppedRows+s.DroppedDetails+s.DroppedBodies)
	put(40, term.Quiet, fmt.Sprintf("mem %d/%dM", s.Memory>>20, s.Limit>>20))
	switch {
	case !s.Stopped.IsZero():
		put(always, term.Attention|term.Bold, "rec stopped "+s.Stopped.Format(time.TimeOnly))
	case s.FileSize > 0:
		put(30, term.Quiet, "rec on "+strings.ReplaceAll(term.Bytes(s.FileSize), " ", ""))
	}
	if n := r.overrides(); n > 0 {
		put(95, term.Touched, term.Plural(n, "override"))
	}
	if n := r.setHere(); n > 0 {
		put(95, term.Touched, fmt.Sprintf("set %d", n))
	}
	if r.env.Writable {
		put(96, term.Touched|term.Bold, "WRITE")
	} else {
		put(20, term.Quiet, "READ-ONLY")
	}
	return fitFields(fields, term.Of(term.Quiet, "redact on "), r.width)
}

// fitFields drops the least important fields until the rest has room, and
// redact before a field that must stay.
func fitFields(fields []field, right term.Line, width int) term.Line {
	for {
		var l term.Line
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
			right = term.Line{}
			continue
		}
		fields = append(fields[:least], fields[least+1:]...)
	}
}
