package ui

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

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
	_, h := r.body()
	above = make(term.Lines, 0, r.height)
	above = append(above, r.tabs())
	on := r.panel()
	frame := term.Frame{Top: r.title(on), Bottom: r.status(on.Foot()), Focus: !r.shown().Floats}
	above = append(above, r.env.Theme.Panel(r.width, h+2, frame, r.bodyLines())...)
	return above, term.Lines{r.toastLine(), r.hints(r.width)}
}

// bodyLines is the screen on top; a popup lies over the lower lines of the one
// below it, what floats over its middle.
func (r *Model) bodyLines() term.Lines {
	w, h := r.body()
	screens := r.current().screens
	base := len(screens) - 1
	for base > 0 {
		if screens[base].Covers() {
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
		if s.Floats {
			lines = term.Over(lines, s.View(), w)
			continue
		}
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
	l.Put(term.Accent|term.Bold|term.Reverse, badge)
	right := r.state()
	right.Space(1)
	short := r.shortTabs()
	for i, s := range r.stacks {
		l.Space(2)
		r.tab(&l, s, i == r.at, short)
	}
	if r.sourceAbove(l.Width() + right.Width()) {
		var with term.Line
		with.Put(term.Quiet, r.source+"  ")
		with.Append(right)
		right = with
	}
	if with := term.Of(term.Quiet, r.wellStores(r.width-4-l.Width()-right.Width())); with.Width() > 0 {
		with.Append(right)
		right = with
	}
	l = l.Cut(r.width - right.Width() - 1)
	l.To(r.width - right.Width())
	l.Append(right)
	return l
}

// wellStores are the stores with which all is well, as many as there is room for.
func (r *Model) wellStores(room int) (text string) {
	for i := range r.stores {
		line, well := r.stores[i].Line(r.env.Zone)
		n := utf8.RuneCountInString(line) + 2
		if well && line != "" && n <= room {
			text += line + "  "
			room -= n
		}
	}
	return text
}

// sourceAbove reports whether the source stands beside tabs and state of the given
// width. If not, it is in the lower border.
func (r *Model) sourceAbove(width int) bool {
	return r.source != "" && width+utf8.RuneCountInString(r.source)+4 < r.width
}

// badge is the name of the program.
const badge = " indirtui "

func (r *Model) tab(l *term.Line, s *stack, here, short bool) {
	name, number := s.place.Name, term.Quiet
	if short {
		name = name[:min(len(name), 3)]
	}
	style := term.Plain
	if here {
		style = term.Accent | term.Bold | term.Under
		number = style
	}
	l.Put(number, s.place.Key+" ")
	l.Put(style, name)
	if s.place.Badge != nil {
		if text, style := s.place.Badge(); text != "" {
			l.Put(style, " "+text)
		}
	}
}

// shortTabs reports whether the names of the places must be cut so that all of
// them are seen.
func (r *Model) shortTabs() bool {
	state := r.state()
	w := len(badge) + state.Width() + 2
	for _, s := range r.stacks {
		var l term.Line
		r.tab(&l, s, false, false)
		w += 2 + l.Width()
	}
	return w > r.width
}

// tabColumns are the cells where the tabs begin, and where the last one ends.
func (r *Model) tabColumns() []int {
	at, short := len(badge), r.shortTabs()
	var out []int
	for _, s := range r.stacks {
		at += 2
		out = append(out, at)
		var l term.Line
		r.tab(&l, s, false, short)
		at += l.Width()
	}
	return append(out, at)
}

// state is what the program is doing, in one word behind a sign.
func (r *Model) state() term.Line {
	s := &r.snapshot.Stats
	word, style := "LIVE", term.Accent
	switch {
	case s.Held > 0:
		word, style = fmt.Sprintf("HELD %d", s.Held), term.Touched
	case r.cfg.Fleet != "":
		word, style = "FLEET", term.Accent
	case r.cfg.Replay != "":
		word, style = "REPLAY", term.Plain
	case s.Total == 0:
		word, style = "WAITING", term.Quiet
	}
	var l term.Line
	l.Put(style, r.env.Theme.Glyphs.Live+" ")
	l.Put(style|term.Bold, word)
	return l
}

// panel is the screen that the panel is made for: the one on top that is no popup.
func (r *Model) panel() *screen.Abilities {
	screens := r.current().screens
	for i := len(screens) - 1; i > 0; i-- {
		if screens[i].Covers() {
			return screens[i]
		}
	}
	return r.under()
}

// title is what stands above a screen, behind the number that was typed.
func (r *Model) title(on *screen.Abilities) term.Title {
	var t term.Title
	t.Left, t.Right = on.Context()
	if r.count > 0 {
		var n term.Line
		n.Put(term.Touched, fmt.Sprintf("%d  ", r.count))
		n.Append(t.Right)
		t.Right = n
	}
	t.Left, t.Right = t.Left.Trim(), t.Right.Trim()
	return t
}

func (r *Model) toastLine() term.Line {
	if r.toast.Text == "" {
		return r.workLine()
	}
	var l term.Line
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

// A field of the lower border, and how long it stays when there is no room: the
// lowest goes first.
type field struct {
	line  term.Line
	keep  int
	right bool
}

const (
	always     = 100
	besideFoot = 94 // what is kept longer stands beside what the screen itself has there
)

// between stands between two fields, and between two hints.
const between = " · "

// apart is how much of the border is seen between left and right at least.
const apart = 4

// status is what is true everywhere, in the lower border: what went wrong and
// what the user has changed at the left, and what is written at the right. What
// has nothing to report is not there.
func (r *Model) status(foot term.Line) term.Title {
	s := &r.snapshot.Stats
	var fields []field
	number := func(keep int, style term.Style, n uint64, what string) {
		if n > 0 {
			fields = append(fields, field{line: term.Of(style, term.Grouped(int64(n))+" "+what), keep: keep})
		}
	}
	number(90, term.Attention, s.By[traces.Stale], "stale")
	number(always, term.Attention, s.Hidden, "hidden")
	number(always, term.Touched, s.Held, "held")
	number(80, term.Attention, s.DroppedRows+s.DroppedDetails+s.DroppedBodies, "dropped")
	if n := r.overrides(); n > 0 {
		fields = append(fields, field{line: term.Of(term.Touched, term.Plural(n, "override")), keep: 95})
	}
	number(95, term.Touched, uint64(r.setHere()), "set here")
	if r.problems > 0 {
		fields = append(fields, field{line: term.Of(term.Attention, term.Plural(r.problems, "problem")), keep: 92})
	}
	put := func(keep int, style term.Style, text string) {
		fields = append(fields, field{line: term.Of(style, text), keep: keep, right: true})
	}
	for i := range r.stores {
		if text, well := r.stores[i].Line(r.env.Zone); !well {
			put(95, term.Attention, text)
		}
	}
	if s.Limit > 0 && s.Memory > s.Limit/5*4 {
		put(70, term.Attention, fmt.Sprintf("memory %d of %d MB", s.Memory>>20, s.Limit>>20))
	}
	switch {
	case r.cfg.Fleet != "":
		put(30, term.Quiet, term.Clean(r.cfg.Fleet).String())
	case r.cfg.Replay != "":
		put(30, term.Quiet, filepath.Base(r.cfg.Replay))
	case r.source != "":
		columns, state := r.tabColumns(), r.state()
		if !r.sourceAbove(columns[len(columns)-1] + state.Width() + 1) {
			const most = 30
			put(85, term.Quiet, term.Clean(r.source).CutMiddle(most).String())
		}
	}
	if r.env.Writable {
		put(always, term.Touched|term.Bold, "WRITE")
	} else {
		put(96, term.Quiet, "read-only")
	}
	switch {
	case !s.Stopped.IsZero():
		put(always, term.Attention|term.Bold, "recording stopped "+s.Stopped.Format(time.TimeOnly))
	case s.FileSize > 0:
		put(30, term.Quiet, "recording "+term.Bytes(s.FileSize))
	}
	if r.cfg.Shipped != nil {
		if text, well := r.cfg.Shipped(); well {
			put(40, term.Quiet, term.Clean(text).String())
		} else {
			put(97, term.Attention, term.Clean(text).CutMiddle(60).String())
		}
	}
	const corners = 8
	if foot.Width() > 0 {
		room := r.width - corners - apart
		for _, f := range fields {
			if f.keep > besideFoot {
				room -= f.line.Width() + utf8.RuneCountInString(between)
			}
		}
		fields = slices.Insert(fields, 0, field{line: foot.Cut(room), keep: besideFoot})
	}
	return fitFields(fields, r.width-corners)
}

// fitFields drops the least important fields until the rest has room.
func fitFields(fields []field, width int) term.Title {
	for {
		var t term.Title
		for _, f := range fields {
			side := &t.Left
			if f.right {
				side = &t.Right
			}
			if side.Width() > 0 {
				side.Put(term.Quiet, between)
			}
			side.Append(f.line)
		}
		if t.Left.Width()+t.Right.Width()+apart <= width {
			return t
		}
		least := -1
		for i, f := range fields {
			if f.keep < always && (least < 0 || f.keep < fields[least].keep) {
				least = i
			}
		}
		if least < 0 {
			return t
		}
		fields = append(fields[:least], fields[least+1:]...)
	}
}
