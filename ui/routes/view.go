package routes

import (
	"fmt"
	"slices"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/ui/screen"
	"indirtui/ui/session"
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
	if r.process != "" {
		add("process ", r.title())
		left.Put(term.Quiet, " · as it has announced them; what a thread had is in its requests")
		return left, right
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

// setByColumn is the place of SET BY in both.
const setByColumn = 3

// gutter is the cursor, the mark, and a blank.
const gutter = 3

func (r *Routes) View() term.Lines {
	rows := r.rows()
	if len(rows) == 0 {
		return term.Lines{{}, term.Of(term.Quiet, "   "+isNothing)}.Fill(r.width, r.height)
	}
	r.list.Columns = r.columns(rows)
	lines := r.list.Lines(r.env.Theme, r.width, func(i int, out *widget.Row) { r.line(rows[i], out) })
	if room := r.height - len(lines); room > 1 && r.list.Cursor < len(rows) {
		lines = append(lines, r.detail(rows[r.list.Cursor], room)...)
	}
	return lines
}

// columns have room for both owners of a route, where the table is wide. Rule
// STORE-SC-10.
func (r *Routes) columns(rows []row) []widget.Column {
	if r.width < screen.Wide {
		return narrow
	}
	columns := slices.Clone(wide)
	for _, f := range rows {
		for i, slot := range [...]string{indirector.SlotTerminus, indirector.SlotCache} {
			if r.passed(f, slot).Terminus != "" {
				c := &columns[i+1] // behind the name
				c.Want = max(c.Want, term.Clean(r.owners(f, slot)).Width())
			}
		}
	}
	return columns
}

func (r *Routes) line(f row, out *widget.Row) {
	noTerminus, noCache := r.missing(f)
	out.To(1)
	style := term.Plain
	if noTerminus != "" {
		style = term.Quiet
	}
	switch {
	case f.override:
		style = term.Touched
		out.Put(style, "*")
	case noTerminus != "" || noCache != "":
		out.Put(term.Quiet, r.env.Theme.Glyphs.Not)
	}
	cache := style
	if noCache != "" && !f.override {
		cache = term.Quiet
	}
	t := f.traffic
	errs := style
	if t.Errors > 0 {
		errs = term.Failed
	}
	p50 := "-"
	if t.Requests > 0 {
		p50 = term.Millis(t.P50)
	}
	out.Next(style, f.name)
	out.Next(style, r.owners(f, indirector.SlotTerminus))
	out.Next(cache, r.owners(f, indirector.SlotCache))
	out.Next(style, r.setBy(f, out.Widths[setByColumn]))
	if r.width >= screen.Wide {
		out.Next(style, r.replaced(f))
	}
	out.Next(style, term.Grouped(int64(t.Requests)))
	out.Next(errs, term.Grouped(int64(t.Errors)))
	if r.width >= screen.Wide {
		out.Next(style, p50)
	}
}

// setBy returns who decided, as far as it fits into so many cells; in a narrow table
// also what the user replaced.
func (r *Routes) setBy(f row, cells int) string {
	forms := []func(*session.Env, traces.Choice) string{long, short}
	if r.width < screen.Wide {
		forms = forms[1:]
	}
	ttl := ""
	if c := f.route.TTL.Winner(); c.Terminus != "" {
		ttl = "; ttl " + brief(r.env, c)
	}
	for _, form := range forms {
		who, cache := r.decided(f, form)
		if text := who + cache + ttl; len(text) <= cells {
			return text
		}
	}
	who, _ := r.decided(f, short)
	return who
}

// decided returns who decided who answers, and who the cache, if that was another.
func (r *Routes) decided(f row, form func(*session.Env, traces.Choice) string) (who, cache string) {
	c, cached := decider(f.route)
	who = form(r.env, c)
	if cached {
		who = "cache: " + who
	}
	if c.Kind == traces.FromYou && r.width < screen.Wide {
		return who + " (was " + orNone(f.route.Slot(slotName(cached)).RunnerUp().Terminus) + ")", ""
	}
	if other := f.route.Cache.Winner(); !cached && other.Kind == traces.FromRoutesFile && brief(r.env, other) != brief(r.env, c) {
		cache = "; cache " + brief(r.env, other)
	}
	return who, cache
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

// detail is what is known of the indirection in focus, below the rule that ends
// the list: who decided, what else it could be, and what is wrong.
func (r *Routes) detail(f row, room int) term.Lines {
	if r.width >= screen.Wide {
		return r.wideDetail(f, room)
	}
	title := historyTitle(f)
	title.Right = r.legend()
	lines := term.Lines{r.env.Theme.Titled(r.width, title)}
	room--
	warnings := r.warningLines(r.warnings(f), min(1, room/3))
	room -= len(warnings)
	const indent = 1 // the wall is there
	chain, matrix := r.chain(f, indent, r.width-1), r.matrix(f)
	able := append(term.Lines{r.env.Theme.Titled(r.width, ableTitle(""))}, matrix.lines(r.env.Theme, indent, r.width-1)...)
	first := min(len(chain), max(room-len(able), (room+1)/2))
	if room < 7 {
		first = room // half of each would be nothing of both
	}
	lines = append(lines, r.upTo(chain, first)...)
	lines = append(lines, r.upTo(able, room-first)...)
	return append(lines.Fill(r.width, room+1), warnings...)
}

// wideDetail has the termini at the left and the history at the right; below is
// what is wrong, and what the indirection is.
func (r *Routes) wideDetail(f row, room int) term.Lines {
	lines, warned := r.listEnd()
	all := r.warnings(f)
	if warned {
		all = r.lacks(f)
	}
	room -= len(lines) + 1
	warnings := r.warningLines(all, min(3, room/3))
	matrix := r.matrix(f)
	left := r.wall(matrix.width()+2, r.chainWidth(f))
	able, chain := matrix.lines(r.env.Theme, 1, left-1), r.chain(f, 0, r.width-left-3)
	rows := max(min(room-len(warnings)-1, max(len(able), len(chain))), 0)
	panes := term.Beside(r.upTo(able, rows).Fill(left-1, rows), r.upTo(chain, rows).Fill(r.width-left-3, rows), left, r.env.Theme, historyTitle(f))
	lines = append(lines, r.env.Theme.Above(panes, r.width, ableTitle(f.name)))
	lines = append(append(lines, panes...), r.env.Theme.HRule(r.width))
	lines = append(lines, warnings...)
	return append(lines, r.purpose(f)...)
}

// wall is where the wall between two parts stands that want so many cells. When
// there is no room for both, the first one gives way, to less than half.
func (r *Routes) wall(left, right int) int {
	const walls = 3 // the wall, and blanks beside it
	if left+right+walls > r.width {
		return max(r.width-right-walls, r.width*9/20)
	}
	return max(left, r.width*9/20)
}

// ableTitle stands above what termini can do.
func ableTitle(name string) term.Title {
	var t term.Title
	if name != "" {
		t.Left.Put(term.Bold, name+"  ")
	}
	t.Left.Put(term.Quiet, "who could answer")
	return t
}

// listEnd is the lower border of the list: what the mark in it means, and what is
// wrong if that is one thing that has room. There is none if it were empty.
func (r *Routes) listEnd() (lines term.Lines, warned bool) {
	t := term.Title{Left: r.legend()}
	if all := r.problems(""); len(all) == 1 {
		const corners = 8
		l := term.Of(term.Attention, r.env.Theme.Glyphs.Warning+" "+all[0])
		if l.Width()+t.Left.Width()+corners <= r.width {
			t.Right, warned = l, true
		}
	}
	if t.Left.Width()+t.Right.Width() > 0 {
		lines = term.Lines{r.env.Theme.Titled(r.width, t)}
	}
	return lines, warned
}

// legend is what the mark of a terminus means that this build lacks, if there is
// one.
func (r *Routes) legend() term.Line {
	for _, f := range r.rows() {
		if terminus, cache := r.missing(f); terminus != "" || cache != "" {
			return term.Of(term.Quiet, r.env.Theme.Glyphs.Not+" not in this build")
		}
	}
	return term.Line{}
}

// purpose is what an indirection is for.
func (r *Routes) purpose(f row) term.Lines {
	if r.engine == nil {
		return nil
	}
	spec := r.engine.Registry().Spec(f.name)
	if spec == nil {
		return nil
	}
	return widget.Fact{Text: f.name + ": " + spec.Doc, Style: term.Quiet}.Lines(0, 1, r.width, 3)
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

func (r *Routes) warningLines(all []string, most int) term.Lines {
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
