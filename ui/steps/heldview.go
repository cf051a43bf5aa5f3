package steps

import (
	"fmt"
	"strings"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// heldLine shows that the request waits, and for how long.
func (s *Steps) heldLine() term.Line {
	st := s.hold.stay
	var l term.Line
	l.Put(term.Touched|term.Bold, " HELD ")
	l.Put(term.Touched, HeldAt(&st.Held)+" by "+st.By+", "+Clocks(&st.Held, s.hold.now))
	if st.Why != "" && !st.Caller.IsZero() {
		l.Put(term.Quiet, " ("+st.Why+")")
	}
	if st.program != nil {
		return l
	}
	legend := term.Of(term.Quiet, "dotted rows are the plan ")
	if l.Width()+legend.Width()+2 <= s.width {
		l.To(s.width - legend.Width())
		l.Append(legend)
	}
	return l
}

// heldPane is the width of the pane EDIT when it stands beside the steps.
const heldPane = 40

// viewHeld shows the steps that are done, those that are planned, and what can
// be changed about them.
func (s *Steps) viewHeld() term.Lines {
	st := s.hold.stay
	if st.program != nil {
		return s.viewProgram()
	}
	wide := s.width >= screen.Wide
	cells := s.width
	if wide {
		cells -= heldPane + 2
	}
	lines := append(term.Lines{s.heldLine()}, s.elsewhere()...)
	if wide {
		lines = append(lines, s.env.Theme.HRule(s.width))
	}
	head := len(lines)
	room := s.height - head - 1
	if !wide {
		room -= (len(st.items())+1)/2 + 2 // the pane and the plan
	}
	s.list.SetHeight(min(len(s.lines), max(room, 4)))
	left := s.table(cells, 0)
	plan := term.Lines{}
	texts := []term.Text{term.Clean(st.after()).Cut(max(cells-18, 1))}
	if wide {
		texts = term.Clean(st.after()).Wrap(cells-18, 3)
	}
	for i, text := range texts {
		var l term.Line
		l.Space(1)
		if i == 0 {
			l.Put(term.Bold, "PLAN AFTER EDIT")
		}
		l.To(17)
		l.Add(term.Touched, text)
		plan = append(plan, l)
	}
	if wide {
		left = append(left, term.Line{})
		left = append(left, plan...)
		left = append(left, s.watch(cells)...)
		right := append(s.editPane(heldPane, 1), s.injectLines()...)
		n := max(s.height-head, 0)
		return append(lines, term.Beside(left.Fill(cells, n), right.Fill(heldPane, n), cells, s.env.Theme)...)
	}
	lines = append(lines, left...)
	lines = append(lines, s.editPane(s.width, 2)...)
	return append(lines, plan...).Fill(s.width, s.height)
}

// editPane is what can be edited, in columns.
func (s *Steps) editPane(width, columns int) term.Lines {
	items := s.hold.stay.items()
	title := "EDIT   e"
	if s.hold.editing {
		title = "EDIT   enter changes, e leaves, u undoes"
	}
	lines := term.Lines{s.env.Theme.Titled(width, term.Title{Left: term.Of(term.Bold, title)})}
	const name = 18
	return append(lines, widget.Grid(len(items), columns, width, func(i int, l *term.Line, each int) {
		it := items[i]
		style := term.Plain
		if it.why != "" {
			style = term.Quiet
		}
		if s.hold.editing && i == s.hold.at {
			l.Put(term.Bold, s.env.Theme.Glyphs.Cursor)
			style |= term.Bold
		} else {
			l.Space(1)
		}
		l.Cell(style, term.Clean(it.name), name)
		l.Space(1)
		value := s.env.RedactedAs(it.name, it.value)
		if it.was != "" {
			value = s.env.RedactedAs(it.name, it.was) + " -> " + value
			style = term.Touched | style&term.Bold
		}
		l.Add(style, term.CleanTo(value, each-name-3))
	})...)
}

func (s *Steps) injectLines() term.Lines {
	lines := term.Lines{s.env.Theme.Titled(heldPane, term.Title{Left: term.Of(term.Bold, "INJECT   i")})}
	for _, in := range injections {
		if !in.where.fits(s.hold.stay.program) {
			continue
		}
		var l term.Line
		style, why := term.Bold, s.hold.stay.refused(in.action)
		if why != "" {
			style, why = term.Quiet, "  not there: "+why
		}
		l.Put(style, "  "+string(in.key))
		l.Put(term.Quiet, "  "+in.name)
		l.Add(term.Quiet, term.CleanTo(why, max(heldPane-l.Width(), 1)))
		lines = append(lines, l)
	}
	return lines
}

// watch is what is watched while a request waits: who is
// routed now, and how the same request ended before.
func (s *Steps) watch(width int) term.Lines {
	t := &s.hold.stay.State.Trace
	lines := term.Lines{s.env.Theme.Titled(width, term.Title{Left: term.Of(term.Quiet, "watch")})}
	put := func(name, value string) {
		var l term.Line
		l.Space(3)
		l.Cell(term.Quiet, term.CleanTo(name, 40), 40)
		l.Space(1)
		l.Add(term.Plain, term.CleanTo(value, max(width-l.Width()-1, 1)))
		lines = append(lines, l)
	}
	if r, ok := s.route(); ok {
		value := r.Primary.Winner().Terminus
		if cache := r.Cache.Winner().Terminus; cache != "" {
			value += " / " + cache
		}
		put("route("+t.Indirection+")", value)
	}
	links := s.links
	if row, ok := s.env.Log.Row(links.Previous); ok {
		put("previous("+t.Indirection+", "+t.Key+")", fmt.Sprintf("#%d %s, %s before", row.ID, row.Outcome, traces.Age(t.Start.Sub(row.Start))))
	}
	if row, ok := s.env.Log.Row(links.LastGood); ok {
		put("last good("+t.Indirection+", "+t.Key+")", fmt.Sprintf("#%d, %s before", row.ID, traces.Age(t.Start.Sub(row.Start))))
	}
	for _, w := range s.env.Watches {
		put(w, s.watched(w))
	}
	return lines
}

// route returns the route of the indirection now; of another process, the one that this
// request found.
func (s *Steps) route() (r indirector.Route, ok bool) {
	st := s.hold.stay.State
	if st.Home.String() != "" {
		return indirector.Route{Primary: st.Trace.Primary, Cache: st.Trace.Cache}, true
	}
	if s.env.Routes == nil {
		return r, false
	}
	return s.env.Routes.Explain(st.Trace.Indirection)
}

// watched is the value of an expression that the user watches: how many requests
// it means now.
func (s *Steps) watched(expr string) string {
	if address, is, _ := Server(expr); is {
		if known := s.servers[address]; known != nil && known.text != "" {
			return known.text
		}
		return "..."
	}
	if n, ok := s.counts[expr]; ok {
		return n
	}
	return "..."
}

// like is an expression that means requests like one.
func like(t *traces.Trace) string {
	return strings.Join([]string{"ind=" + query.Quote(t.Indirection), "verb=" + t.Verb.String(), "key=" + query.Quote(t.Key)}, " ")
}

// countAll counts the requests that expressions mean.
func countAll(log session.Log, exprs []string) map[string]string {
	out := make(map[string]string)
	for _, expr := range exprs {
		if _, is, _ := Server(expr); is {
			continue
		}
		v, err := session.Find(log, expr)
		if err != nil {
			out[expr] = err.Error()
			continue
		}
		out[expr] = term.Plural(v.Len(), "request")
		if n := v.Len(); n > 0 {
			out[expr] += fmt.Sprintf(", last #%d", v.At(n-1))
		}
	}
	return out
}
