package routes

import (
	"strings"
	"unicode"

	"indirtui/indirector"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// verbs are those that a terminus may have, in the order of the table.
var verbs = [...]indirector.Verb{indirector.Find, indirector.Search, indirector.Head, indirector.Save, indirector.Destroy}

// A matrix is what the termini of an indirection can do, or a sentence instead.
type matrix struct {
	termini []able
	instead string
}

// An able terminus is one row of a matrix.
type able struct {
	name, use string // use is "now", "cache", or "" if it has none
	verbs     indirector.Verbs
	note      string
}

// matrix returns what the termini of an indirection can do.
func (r *Routes) matrix(f row) matrix {
	switch {
	case r.process != "":
		return matrix{instead: "the process does not announce which termini it has"}
	case r.engine == nil:
		return matrix{instead: "a recording does not say which termini there were"}
	}
	reg := r.engine.Registry()
	names := reg.Termini(f.name)
	if len(names) == 0 {
		return matrix{instead: "this program has no terminus of " + f.name}
	}
	primary, cache := f.route.Primary.Winner().Terminus, f.route.Cache.Winner().Terminus
	var m matrix
	for _, name := range names {
		d := reg.Descriptor(f.name, name)
		m.termini = append(m.termini, able{d.Name, use(name, primary, cache), indirector.VerbsOf(d.Type), strings.Join(notes(d), ", ")})
	}
	return m
}

const (
	nameCells = 21 // the most that names of termini take, with their use
	verbCells = 4
	verbMark  = "  " // in front of the sign: below the middle of the title
)

// columns are the name, the verbs, and the note as long as it is.
func (m *matrix) columns() []widget.Column {
	name, note := 0, len("note")
	for _, a := range m.termini {
		name = max(name, term.Clean(a.name).Width()+len(a.use)+min(len(a.use), 1))
		note = max(note, term.Clean(a.note).Width())
	}
	columns := []widget.Column{{Min: min(name, nameCells), Priority: 2}}
	for _, v := range verbs {
		columns = append(columns, widget.Column{Title: session.VerbCode(v), Min: verbCells, Priority: 2})
	}
	columns[len(columns)-1].Min++ // the note stands apart
	return append(columns, widget.Column{Title: "note", Min: 4, Want: note, Priority: 1, Middle: true})
}

// width is how many cells the matrix takes when nothing is cut.
func (m *matrix) width() int {
	if m.termini == nil {
		return term.Clean(m.instead).Width()
	}
	w := 0
	for _, c := range m.columns() {
		w += max(c.Min, c.Want) + 1
	}
	return w
}

// lines returns the matrix behind the given cells. A note that is too long is cut
// in its middle.
func (m *matrix) lines(th *term.Theme, indent, width int) term.Lines {
	if m.termini == nil {
		var l term.Line
		l.Space(indent)
		l.Put(term.Quiet, m.instead)
		return term.Lines{l}
	}
	return widget.Block(m.columns(), indent, len(m.termini)).Lines(th, width, func(i int, out *widget.Row) { m.termini[i].row(&th.Glyphs, indent, out) })
}

func (a *able) row(g *term.Glyphs, indent int, out *widget.Row) {
	style := term.Plain
	if a.use != "" {
		style = term.Bold
	}
	var name term.Line
	name.Put(style, a.name)
	if a.use != "" {
		name.Put(term.Quiet, " "+a.use)
	}
	out.To(indent)
	out.Append(name.Cut(out.Widths[0]))
	out.To(indent + out.Widths[0] + 1)
	out.Skip()
	for _, v := range verbs {
		if a.verbs[v] != nil {
			out.Next(term.Accent, verbMark+g.Yes)
		} else {
			out.Next(term.Quiet, verbMark+g.No)
		}
	}
	out.Next(term.Plain, a.note)
}

// use returns what a terminus is used for now.
func use(name, primary, cache string) string {
	switch {
	case name == primary && name == cache:
		return "now, cache"
	case name == primary:
		return "now"
	case name == cache:
		return "cache"
	}
	return ""
}

// notes are what matters when choosing a terminus.
func notes(d *indirector.Descriptor) []string {
	if d.Note != "" {
		return []string{d.Note}
	}
	var out []string
	add := func(is bool, what string) {
		if is {
			out = append(out, what)
		}
	}
	add(d.AlwaysNil, "never finds anything")
	add(d.ProcessLocal, "lost at the end")
	add(d.KeepsExpiry, "keeps the expiry")
	if len(out) == 0 {
		out = append(out, summary(d.Doc))
	}
	return out
}

// summary is the first sentence, as a part of another one.
func summary(doc string) string {
	if i := strings.Index(doc, ". "); i >= 0 {
		doc = doc[:i]
	}
	doc = strings.TrimSuffix(doc, ".")
	if len(doc) > 1 && unicode.IsLower(rune(doc[1])) {
		doc = strings.ToLower(doc[:1]) + doc[1:]
	}
	return doc
}

// missingVerbs returns the verbs that a terminus lacks.
func missingVerbs(d *indirector.Descriptor) []indirector.Verb {
	var out []indirector.Verb
	verbsOf := indirector.VerbsOf(d.Type)
	for _, v := range verbs {
		if verbsOf[v] == nil {
			out = append(out, v)
		}
	}
	return out
}
