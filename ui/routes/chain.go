package routes

import (
	"strings"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/ui/session"
	"indirtui/ui/term"
)

// A candidate is one choice on a slot, as the history shows it. Who and state
// have all that is known, and then the same in short.
type candidate struct {
	mark           string
	slot, terminus string
	who, state     [2]string
	style          term.Style
	below          term.Lines // what its wrappers have done
}

const (
	inFull = iota
	inShort
)

const (
	slotCells = 8 // "terminus"
	markCells = 2 // a mark and a blank
)

// historyTitle stands above the choices.
func historyTitle(f row) term.Title {
	var t term.Title
	t.Left.Put(term.Bold, f.name)
	t.Left.Put(term.Quiet, "  history, strongest first")
	return t
}

// chain is every choice on the slots, strongest first, and below it what was
// changed since the start, newest first. Each takes one line where it has
// room, and else two.
func (r *Routes) chain(f row, indent, width int) term.Lines {
	all := r.choices(f)
	lines := oneLine(all, width-indent)
	if lines == nil {
		for i := range all {
			lines = append(append(lines, all[i].twoLines(width-indent)...), all[i].below...)
		}
	}
	if changes := r.changes(f.name); len(changes) > 0 {
		lines = append(lines, term.Of(term.Quiet, "changed here, newest first"))
		for _, c := range changes {
			var l term.Line
			l.Cell(term.Quiet, term.Clean(r.clock(c.at)), 9)
			l.Put(term.Touched, c.text)
			lines = append(lines, l)
		}
	}
	return indented(lines, indent)
}

// indented returns lines with blanks in front of them.
func indented(lines term.Lines, cells int) term.Lines {
	out := make(term.Lines, len(lines))
	for i := range lines {
		out[i].Space(cells)
		out[i].Append(lines[i])
	}
	return out
}

// chainWidth is how many cells the choices take in one line each, in short.
func (r *Routes) chainWidth(f row) int {
	w := widthsOf(r.choices(f), inShort)
	return w.sum()
}

// cellsOf are the widths of the columns of candidates.
type cellsOf struct{ terminus, who, state int }

func widthsOf(all []candidate, form int) (w cellsOf) {
	for i := range all {
		c := &all[i]
		w.terminus = max(w.terminus, term.Clean(c.terminus).Width())
		w.who = max(w.who, term.Clean(c.who[form]).Width())
		w.state = max(w.state, term.Clean(c.state[form]).Width())
	}
	return w
}

func (w *cellsOf) sum() int { return w.beforeWho() + w.who + 2 + w.state }

// beforeWho is how many cells stand in front of who chose it.
func (w *cellsOf) beforeWho() int { return markCells + slotCells + 1 + w.terminus + 1 }

// oneLine returns a line for each candidate, with all that is known where there
// is room for that. It is nil if not even the short form has room.
func oneLine(all []candidate, width int) term.Lines {
	form := inFull
	w := widthsOf(all, form)
	if w.sum() > width {
		form = inShort
		w = widthsOf(all, form)
	}
	if w.sum() > width {
		return nil
	}
	room := width - w.beforeWho() - 2 - w.state
	who, cells := make([]term.Text, len(all)), 0
	for i := range all {
		if who[i] = term.Clean(all[i].who[inFull]); who[i].Width() > room {
			who[i] = term.Clean(all[i].who[inShort])
		}
		cells = max(cells, who[i].Width())
	}
	const apart = 6 // more would part the state from what it is about
	cells = min(cells+apart, room)
	lines := make(term.Lines, 0, len(all))
	for i := range all {
		c := &all[i]
		l := c.begin(w.terminus)
		l.Cell(c.style, who[i], cells)
		l.Space(2)
		l.Right(c.style, term.Clean(c.state[form]), w.state)
		lines = append(append(lines, l), c.below...)
	}
	return lines
}

// twoLines has who chose it below what was chosen.
func (c *candidate) twoLines(width int) term.Lines {
	state := term.Clean(c.state[inShort])
	room := width - markCells - slotCells - 3 - state.Width()
	first := c.begin(min(term.Clean(c.terminus).Width(), max(room, 1)))
	first.To(width - state.Width())
	first.Add(c.style, state)
	var second term.Line
	second.Space(markCells)
	second.Add(c.style, term.Clean(c.who[inFull]).CutMiddle(width-markCells))
	return term.Lines{first, second}
}

// begin returns the beginning of the line of a candidate.
func (c *candidate) begin(terminus int) term.Line {
	var l term.Line
	l.Put(c.style, c.mark)
	l.To(markCells)
	l.Cell(c.style, term.Clean(c.slot), slotCells)
	l.Space(1)
	l.Cell(c.style, term.Clean(c.terminus), terminus)
	l.Space(1)
	return l
}

// choices returns every choice on the slots of an indirection.
func (r *Routes) choices(f row) []candidate {
	g := &r.env.Theme.Glyphs
	var all []candidate
	for _, slot := range f.route.Slots() {
		s := f.route.Slot(slot)
		if slot == indirector.SlotCache && len(s) == 0 {
			all = append(all, candidate{mark: g.Not, slot: slot, terminus: "-", who: [2]string{"nobody named one", "nobody named one"}, style: term.Quiet})
		}
		for i, c := range s {
			all = append(all, r.candidate(f, slot, c, i == s.Wins()))
		}
		if s.Wins() < 0 && slot == indirector.SlotTerminus {
			const none = "nobody names one: every request fails"
			all = append(all, candidate{mark: g.Wrong, slot: slot, terminus: "-", who: [2]string{none, none}, style: term.Attention})
		}
	}
	return all
}

func (r *Routes) candidate(f row, slot string, c traces.Choice, wins bool) candidate {
	g := &r.env.Theme.Glyphs
	out := candidate{mark: g.Not, slot: slot, terminus: shown(slot, c.Terminus), style: term.Quiet}
	out.who[inFull], out.who[inShort] = long(r.env, c), short(r.env, c)
	out.state = [2]string{"overruled", "overruled"}
	switch {
	case wins:
		out.mark, out.style, out.below = g.Happened, term.Plain, append(r.passedOn(f, slot), r.counts(f.name, slot)...)
		if c.Kind >= traces.FromFace {
			out.style = term.Touched
		}
		out.state = [2]string{"in force", "in force"}
	case c.Why == isOff: // as it is nearly everywhere: nothing to look at
		out.who, out.state = [2]string{c.Why, c.Why}, [2]string{"not applied", "no"}
	case c.Why != "":
		out.mark, out.style = g.Wrong, term.Attention
		brief := notApplied(c.Why)
		out.state = [2]string{"not applied: " + brief, brief}
		var section, app string
		if sscan(c.Why, &section, &app) {
			out.who = [2]string{long(r.env, c) + ", section " + section, short(r.env, c) + ", " + section}
		}
	}
	return out
}

// isOff is why the setting that is off by default chooses nothing.
const isOff = "storeconfigs is false"

// notApplied returns in a few words why a choice was not applied.
func notApplied(why string) string {
	var section, app string
	switch {
	case sscan(why, &section, &app):
		return "not " + app
	case strings.HasPrefix(why, "Could not find terminus"):
		return "no such terminus"
	case strings.HasPrefix(why, "Invalid terminus name"):
		return "no valid name"
	case strings.HasPrefix(why, "a route cannot"):
		return "not possible"
	case strings.Contains(why, " does not read ") || strings.HasPrefix(why, "nobody reads "):
		return "not read"
	case strings.HasSuffix(why, ", and that counts"):
		return "emptied"
	}
	return "not applied"
}

// short returns who made a choice, where there is little room.
func short(env *session.Env, c traces.Choice) string {
	switch c.Kind {
	case traces.FromSetting:
		if at := strings.LastIndex(c.Source, ", "); at >= 0 && c.Source[at+2:] != "default" {
			return c.Source[at+2:]
		}
	case traces.FromApplication:
		if _, setting, ok := strings.Cut(c.Source, ", setting "); ok {
			return brief(env, c) + ", " + setting
		}
	}
	return brief(env, c)
}

// passedOn is the terminus to which that of a slot passes requests on, and what named
// it.
func (r *Routes) passedOn(f row, slot string) term.Lines {
	c := r.passed(f, slot)
	if c.Terminus == "" {
		return nil
	}
	var l term.Line
	l.Space(markCells)
	l.Put(term.Plain, "→ "+c.Terminus+": "+c.Source)
	return term.Lines{l}
}

// counts are what the wrappers of a slot have done since they were chosen.
func (r *Routes) counts(indirection, slot string) term.Lines {
	if r.engine == nil {
		return nil
	}
	var lines term.Lines
	for _, c := range r.engine.WrapperCounts(indirection, slot) {
		var l term.Line
		l.Space(markCells)
		kind, _, _ := strings.Cut(c.Wrapper, "(")
		l.Put(term.Touched, kind+": "+c.String())
		lines = append(lines, l)
	}
	return lines
}
