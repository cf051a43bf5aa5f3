package routes

import (
	"fmt"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/ui/screen"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

func (r *Routes) Context() (left, right term.Line) {
	left.Put(term.Bold, "Routes")
	left.Space(2)
	first := true
	add := func(label, text string) {
		if text == "" {
			return
		}
		if !first {
			left.Put(term.Quiet, " · ")
		}
		first = false
		left.Put(term.Quiet, label)
		left.Put(term.Plain, text)
	}
	if r.width >= screen.Wide {
		add("source ", r.about().Source)
		add("environment ", r.about().Environment)
	}
	add("application ", r.about().Application)
	switch {
	case r.engine == nil:
		left.Put(term.Quiet, "as the newest requests found it; "+isRecording)
	case r.about().Found:
		add("routes.yaml ", r.sections())
	default:
		add("routes.yaml ", "not there")
	}
	if n := r.Overridden(); n > 0 {
		right.Put(term.Touched, term.Plural(n, "override"))
		if b := r.env.Keys.Of(screen.Undo, r.Scope()); b != nil {
			right.Put(term.Quiet, " · "+b.Key()+" undoes")
		}
	}
	return left, right
}

// sections returns how much of routes.yaml counts: "2 sections, 1 applies".
func (r *Routes) sections() string {
	app := r.about().Application
	applies := slices.ContainsFunc(r.about().Sections, func(s string) bool {
		return s == app || app == "server" && s == "master" || app == "master" && s == "server"
	})
	switch n := len(r.about().Sections); {
	case n == 0:
		return "no sections"
	case applies && n == 1:
		return "1 section, it applies"
	case applies:
		return term.Plural(n, "section") + ", 1 applies"
	default:
		return term.Plural(n, "section") + ", none applies"
	}
}

var (
	narrow = []widget.Column{
		{Title: "INDIRECTION", Min: 11, Want: 17, Priority: 6},
		{Title: "TERMINUS", Min: 8, Want: 11, Priority: 5},
		{Title: "CACHE", Min: 6, Want: 7, Priority: 4},
		{Title: "SET BY", Min: 14, Want: 20, Priority: 3, Grow: 1},
		{Title: "REQS", Min: 5, Want: 5, Priority: 2, Right: true},
		{Title: "ERR", Min: 4, Want: 4, Priority: 1, Right: true},
	}
	wide = []widget.Column{
		{Title: "INDIRECTION", Min: 12, Want: 17, Priority: 8},
		{Title: "TERMINUS", Min: 8, Want: 13, Priority: 7},
		{Title: "CACHE", Min: 6, Want: 9, Priority: 6},
		{Title: "SET BY", Min: 20, Want: 30, Priority: 5, Grow: 2},
		{Title: "REPLACED", Min: 14, Want: 24, Priority: 1, Grow: 1},
		{Title: "REQS", Min: 6, Want: 7, Priority: 4, Right: true},
		{Title: "ERR", Min: 5, Want: 6, Priority: 3, Right: true},
		{Title: "p50 ms", Min: 7, Want: 7, Priority: 2, Right: true},
	}
)

// gutter is the cursor, the mark, and a blank.
const gutter = 3

func (r *Routes) View() term.Lines {
	rows := r.rows()
	if len(rows) == 0 {
		return term.Lines{{}, term.Of(term.Quiet, "   "+isNothing)}.Fill(r.width, r.height)
	}
	lines := r.list.Lines(r.env.Theme, r.width, func(i int, out *widget.Row) { r.line(rows[i], out) })
	if room := r.height - len(lines) - 1; room > 0 && r.list.Cursor < len(rows) {
		lines = append(lines, r.env.Theme.HRule(r.width))
		lines = append(lines, r.detail(rows[r.list.Cursor], room)...)
	}
	return lines
}

func (r *Routes) line(f row, out *widget.Row) {
	noTerminus, noCache := r.missing(f)
	out.To(1)
	style := term.Plain
	switch {
	case f.override:
		style = term.Touched
		out.Put(style, "*")
	case noTerminus != "" || noCache != "":
		out.Put(term.Attention, "!")
	}
	of := func(missing string) term.Style {
		if missing != "" {
			return term.Attention
		}
		return style
	}
	t := f.traffic
	errs := term.Plain
	if t.Errors > 0 {
		errs = term.Failed
	}
	p50 := "-"
	if t.Requests > 0 {
		p50 = term.Millis(t.P50)
	}
	out.Next(style, f.name)
	out.Next(of(noTerminus), orNone(f.route.Primary.Winner().Terminus))
	out.Next(of(noCache), orNone(f.route.Cache.Winner().Terminus))
	out.Next(style, r.setBy(f))
	if r.width >= screen.Wide {
		out.Next(style, r.replaced(f))
	}
	out.Next(style, term.Grouped(int64(t.Requests)))
	out.Next(errs, term.Grouped(int64(t.Errors)))
	if r.width >= screen.Wide {
		out.Next(style, p50)
	}
}

// setBy returns who decided; in a narrow table also what the user replaced.
func (r *Routes) setBy(f row) string {
	text := r.decided(f)
	if ttl := f.route.TTL.Winner(); ttl.Terminus != "" {
		text += "; ttl " + brief(r.env, ttl)
	}
	return text
}

// decided returns who decided who answers.
func (r *Routes) decided(f row) string {
	add := brief
	if r.width >= screen.Wide {
		add = long
	}
	c, cached := decider(f.route)
	text := add(r.env, c)
	if cached {
		text = "cache: " + text
	}
	if c.Kind == traces.FromYou && r.width < screen.Wide {
		return text + " (was " + orNone(f.route.Slot(slotName(cached)).RunnerUp().Terminus) + ")"
	}
	if other := f.route.Cache.Winner(); !cached && other.Kind == traces.FromRoutesFile && brief(r.env, other) != brief(r.env, c) {
		text += "; cache " + brief(r.env, other)
	}
	return text
}

func slotName(cached bool) string {
	if cached {
		return indirector.SlotCache
	}
	return indirector.SlotTerminus
}

// replaced is the choice that the one under SET BY beat.
func (r *Routes) replaced(f row) string {
	c, cached := decider(f.route)
	was := f.route.Slot(slotName(cached)).RunnerUp()
	if was.Terminus == "" || was.Terminus == c.Terminus && was.Kind < traces.FromApplication {
		return "-"
	}
	return was.Terminus + " (" + brief(r.env, was) + ")"
}

// detail is what is known of the indirection in focus: who decided, what else
// it could be, and what is wrong.
func (r *Routes) detail(f row, room int) term.Lines {
	if r.width >= screen.Wide {
		return r.wideDetail(f, room)
	}
	warnings := r.warningLines(f, min(1, room/3))
	room -= len(warnings)
	chain, matrix := r.chain(f, false), r.matrix(f)
	first := min(len(chain), max(room-len(matrix), (room+1)/2))
	if room < 7 {
		first = room // half of each would be nothing of both
	}
	lines := append(r.upTo(chain, first), r.upTo(matrix, room-first)...)
	for i := range lines {
		lines[i] = lines[i].Cut(r.width - 1)
	}
	return append(lines.Fill(r.width, room), warnings...)
}

// wideDetail has the termini at the left and the history at the right; below is
// what is wrong, and what the indirection is.
func (r *Routes) wideDetail(f row, room int) term.Lines {
	warnings := r.warningLines(f, min(3, room/3))
	chain, matrix := r.chain(f, true), r.matrix(f)
	left := r.width * 3 / 5
	if used := widest(matrix); used+2 < left {
		left = max(used+2, r.width*9/20)
	}
	rows := max(min(room-len(warnings)-1, max(len(matrix), len(chain))), 0)
	lines := term.Beside(r.upTo(matrix, rows).Fill(left-1, rows), r.upTo(chain, rows).Fill(r.width-left-3, rows), left, r.env.Theme)
	lines = append(lines, r.env.Theme.HRule(r.width))
	lines = append(lines, warnings...)
	if r.engine != nil {
		if spec := r.engine.Registry().Spec(f.name); spec != nil {
			for _, t := range term.Clean(f.name+": "+spec.Doc).Wrap(r.width-3, 3) {
				var l term.Line
				l.Space(1)
				l.Add(term.Quiet, t)
				lines = append(lines, l)
			}
		}
	}
	return lines
}

func widest(lines term.Lines) int {
	w := 0
	for i := range lines {
		w = max(w, lines[i].Width())
	}
	return w
}

// upTo returns at most n lines. If there are more, the last one counts them.
func (r *Routes) upTo(lines term.Lines, n int) term.Lines {
	if len(lines) <= n || n <= 0 {
		return lines[:max(min(len(lines), n), 0)]
	}
	out := slices.Clone(lines[:n])
	more := fmt.Sprintf("  %d more", len(lines)-n+1)
	if b := r.env.Keys.Of(screen.History, r.Scope()); b != nil {
		more += ": " + b.Key()
	}
	out[n-1] = term.Of(term.Quiet, more)
	return out
}

func (r *Routes) warningLines(f row, most int) term.Lines {
	all := r.warnings(f)
	var lines term.Lines
	for i, text := range all {
		if len(lines) >= most {
			break
		}
		label := "warning: "
		if rest := len(all) - i - 1; len(lines) == most-1 && rest > 0 {
			label = fmt.Sprintf("warning (1 of %d): ", rest+1)
		}
		var l term.Line
		l.Space(1)
		l.Put(term.Attention, label)
		l.Put(term.Plain, text)
		lines = append(lines, l.Cut(r.width-1))
	}
	return lines
}

// chain is every choice on the two slots, strongest first, and below it what
// was changed since the start, newest first. Two lines for each choice have
// room for all that is known of it.
func (r *Routes) chain(f row, two bool) term.Lines {
	var head term.Line
	if !two {
		head.Space(1) // the wall is there
	}
	head.Put(term.Bold, f.name)
	head.Put(term.Quiet, "  history, strongest first")
	lines := term.Lines{head}
	for _, slot := range f.route.Slots() {
		lines = append(lines, r.choices(f, slot, two)...)
	}
	if changes := r.changes(f.name); len(changes) > 0 {
		lines = append(lines, term.Of(term.Quiet, "  changed here, newest first"))
		for _, c := range changes {
			var l term.Line
			l.Space(2)
			l.Cell(term.Quiet, term.Clean(r.clock(c.at)), 9)
			l.Put(term.Touched, c.text)
			lines = append(lines, l)
		}
	}
	return lines
}

// counts are what the wrappers of a slot have done since they were chosen.
func (r *Routes) counts(indirection, slot string) term.Lines {
	if r.engine == nil {
		return nil
	}
	var lines term.Lines
	for _, c := range r.engine.WrapperCounts(indirection, slot) {
		var l term.Line
		l.Space(4)
		kind, _, _ := strings.Cut(c.Wrapper, "(")
		l.Put(term.Touched, kind+": "+c.String())
		lines = append(lines, l)
	}
	return lines
}

func (r *Routes) choices(f row, slot string, two bool) term.Lines {
	s := f.route.Slot(slot)
	var lines term.Lines
	add := func(terminus, place, state string, style term.Style) {
		var l term.Line
		l.Space(2)
		l.Cell(term.Quiet, term.Clean(slot), 8)
		l.Space(1)
		l.Cell(style, term.Clean(terminus), 13)
		l.Space(1)
		if two {
			if !strings.Contains(state, "NOT APPLIED") {
				l.Put(style, state)
				state = ""
			}
			lines = append(lines, l)
			l = term.Line{}
			l.Space(4)
		}
		l.Put(style, joined(place, state))
		lines = append(lines, l)
	}
	if slot == indirector.SlotCache && len(s) == 0 {
		add("-", "nobody named one", "", term.Quiet)
	}
	for i, c := range s {
		wins := i == s.Wins()
		style := term.Quiet
		switch {
		case wins && c.Kind >= traces.FromFace:
			style = term.Touched
		case wins:
			style = term.Plain
		case c.Why != "":
			style = term.Attention
		}
		add(shown(slot, c.Terminus), long(r.env, c), state(c, wins), style)
		if wins {
			lines = append(lines, r.counts(f.name, slot)...)
		}
	}
	if s.Wins() < 0 && slot == indirector.SlotTerminus {
		add("-", "nobody names one: every request fails", "", term.Attention)
	}
	return lines
}
