package plan

import (
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector/resource/transaction"
	"indirtui/ui/screen"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// A resource shows one resource of a plan, with what it waits for and what waits for it.
type resource struct {
	of            *Screen
	ref           string
	planned       *transaction.Planned // nil for a container
	around        *transaction.Neighbourhood
	rows          []row
	width, height int
	list          widget.Table
	back          []string // the resources that were shown before
}

var _ screen.Screen = (*resource)(nil)

// A row is a line of the screen of a resource. To is the resource that it leads to.
type row struct {
	style       term.Style
	label, text string
	to          string
}

func newResource(of *Screen, ref string) *resource {
	r := &resource{of: of, list: widget.Table{}}
	r.show(ref)
	return r
}

// show changes to another resource.
func (r *resource) show(ref string) {
	r.ref, r.planned, r.around = ref, r.of.byRef[ref], nil
	if v := r.of.result.View; v != nil {
		if i := slices.Index(v.References(), ref); i >= 0 {
			v.Look(i)
			r.around = v.Around
		}
	}
	r.rows = r.lay()
	r.list.SetLen(len(r.rows))
	r.list.To(0)
}

// lay makes the rows: what would become of it, its relations, the diff.
func (r *resource) lay() (rows []row) {
	if r.planned != nil {
		rows = rowsOf(r.of.env, r.planned)
	}
	if a := r.around; a != nil {
		if a.Turn > 0 {
			rows = append(rows, row{style: term.Quiet, label: "evaluated", text: "as " + strconv.Itoa(a.Turn) + " of " + strconv.Itoa(len(r.of.result.View.Order)) + ", containers counted"})
		}
		if at := place(a.File, a.Line); at != "" {
			rows = append(rows, row{style: term.Quiet, label: "declared", text: at})
		}
		rows = r.links(rows, "waits for", a.WaitsFor)
		rows = r.links(rows, "waited for by", a.Waiting)
		rows = r.links(rows, "contains", a.Contains)
	}
	if r.planned != nil && r.planned.Diff != "" {
		rows = append(rows, row{}, row{style: term.Bold, label: "diff"})
		for line := range strings.Lines(r.of.env.Redacted(r.planned.Diff)) {
			rows = append(rows, row{style: diffStyle(line), text: strings.TrimSuffix(line, "\n")})
		}
	}
	return rows
}

func (r *resource) links(rows []row, title string, links []transaction.Link) []row {
	if len(links) == 0 {
		return rows
	}
	rows = append(rows, row{}, row{style: term.Bold, label: title})
	for _, l := range links {
		text := l.Resource
		if outcome := r.outcome(l.Resource); outcome != "" {
			text += "  (" + outcome + ")"
		}
		how := l.How()
		for _, own := range []string{r.ref, l.Resource} { // both are on the screen already
			how = strings.Replace(how, " of "+own, "", 1)
		}
		text += "  " + how
		if at := place(l.File, l.Line); at != "" {
			text += "  " + at
		}
		rows = append(rows, row{text: text, to: l.Resource})
	}
	return rows
}

// outcome is what would become of another resource, if that is not nothing.
func (r *resource) outcome(ref string) string {
	n := r.of.byRef[ref]
	if n == nil || n.Outcome == transaction.Same {
		return ""
	}
	return words[n.Outcome].text
}

// lines are a row as it is shown below the list, where it may take several lines.
func (w row) lines(width int) (lines term.Lines) {
	texts := term.Clean(w.text).Wrap(max(width-labels-2, 8), 3)
	if len(texts) == 0 {
		texts = []term.Text{{}}
	}
	for i, t := range texts {
		var l term.Line
		l.Space(1)
		if i == 0 {
			l.Cell(term.Quiet, term.Clean(w.label), labels)
		}
		l.To(labels + 1)
		l.Add(w.style, t)
		lines = append(lines, l)
	}
	return lines
}

// labels is the cells of what stands in front of a row.
const labels = 15

func (r *resource) Scope() screen.Scope { return screen.InPlan }

func (r *resource) Resize(width, height int) {
	r.width, r.height = width, height
	r.list.SetHeight(height)
}

func (r *resource) Update(tea.Msg) tea.Cmd { return nil }

// List returns the rows.
func (r *resource) List() screen.List { return &r.list }

func (r *resource) Context() (left, right term.Line) {
	left.Put(term.Bold, "plan > "+r.ref)
	switch {
	case r.of.applying:
		r.of.wait.Put(&right, term.Touched, "applying")
		right.Put(term.Quiet, "  ")
	case r.planned != nil:
		w := words[r.planned.Outcome]
		right.Put(w.style, w.text+" ")
	}
	return left, right
}

func (r *resource) Hints() []screen.Action {
	return []screen.Action{screen.Enter, screen.NextInRun, screen.PrevInRun, screen.Pager, screen.ApplyPlan, screen.CopyMenu, screen.Back}
}

func (r *resource) focus() row {
	if r.list.Cursor >= len(r.rows) {
		return row{}
	}
	return r.rows[r.list.Cursor]
}

func (r *resource) Disabled(do screen.Action) string {
	switch do {
	case screen.Enter:
		return screen.ReasonIf(r.focus().to == "", "this line leads nowhere; those below \"waits for\" do")
	case screen.Pager:
		return screen.ReasonIf(r.planned == nil || r.planned.Diff == "", "no content of a file would change here")
	case screen.NextInRun, screen.PrevInRun:
		return screen.ReasonIf(r.of.next(-1, 1) < 0, "everything is in sync")
	case screen.Back:
		return screen.ReasonIf(len(r.back) == 0 && !r.of.applying, screen.Unknown)
	case screen.ApplyPlan:
		return r.of.cannotApplyOne(r.planned)
	case screen.CopyMenu:
		return ""
	case screen.MarkPlan, screen.DiffTwo, screen.IsShould, screen.Write: // of the plan as a whole
		return r.of.Disabled(do)
	}
	return screen.ReasonIf(!widget.Moves(do), screen.Unknown)
}

func (r *resource) Handle(a screen.Command) tea.Cmd {
	switch a.Action {
	case screen.Enter:
		r.back = append(r.back, r.ref)
		r.show(r.focus().to)
	case screen.ApplyPlan:
		return r.of.askApply(r.ref, r.alone())
	case screen.Back:
		if r.of.applying {
			return r.of.Handle(a)
		}
		last := len(r.back) - 1
		r.show(r.back[last])
		r.back = r.back[:last]
	case screen.NextInRun, screen.PrevInRun:
		cmd := r.of.Handle(a)
		if n := r.of.focus(); cmd == nil && n != nil {
			r.back = nil
			r.show(n.Resource)
		}
		return cmd
	case screen.MarkPlan, screen.DiffTwo, screen.IsShould, screen.Write:
		return r.of.Handle(a)
	case screen.Pager:
		return showDiff(r.of.env, r.planned)
	case screen.CopyMenu:
		return screen.Show(widget.NewMenu(&r.of.env.Shared, "copy", r.copies()))
	}
	return nil
}

// alone is what applying the resource by itself does, and what it does not.
func (r *resource) alone() string {
	var lost []string
	if a := r.around; a != nil {
		for _, l := range a.Waiting {
			if n := r.of.byRef[l.Resource]; n != nil && slices.Contains(n.RefreshedBy, r.ref) {
				lost = append(lost, l.Resource)
			}
		}
	}
	if len(lost) == 0 {
		return "this resource only"
	}
	return "this only, without refreshing " + strings.Join(lost, ", ")
}

func (r *resource) copies() []widget.Item {
	var b strings.Builder
	for _, w := range r.rows {
		b.WriteString(strings.TrimSpace(w.label+"  "+w.text) + "\n")
	}
	return []widget.Item{widget.CopyItem('r', "resource", r.ref), widget.CopyItem('a', "all", r.ref+"\n"+b.String())}
}

func (r *resource) View() term.Lines {
	return r.list.Lines(r.of.env.Theme, r.width, func(i int, l *widget.Row) {
		w := r.rows[i]
		l.To(2)
		style := term.Quiet
		if w.style == term.Bold {
			style = term.Bold
		}
		if w.label != "" {
			l.Cell(style, term.Clean(w.label), labels)
		} else {
			l.Space(2)
		}
		l.Add(w.style, term.Clean(w.text))
	})
}
