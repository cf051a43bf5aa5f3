package routes

import (
	"strings"

	"indirtui/indirector"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// verbs are those that a terminus may have, in the order of the table.
var verbs = [...]indirector.Verb{indirector.Find, indirector.Search, indirector.Head, indirector.Save, indirector.Destroy}

// matrix shows what the termini of an indirection can do.
func (r *Routes) matrix(f row) term.Lines {
	if r.engine == nil {
		return term.Lines{term.Of(term.Quiet, " a recording does not say which termini there were")}
	}
	reg := r.engine.Registry()
	names := reg.Termini(f.name)
	if len(names) == 0 {
		return term.Lines{term.Of(term.Quiet, " this program has no terminus of "+f.name)}
	}
	columns := []widget.Column{{Title: "available", Min: nameCells - 1, Bold: true}}
	for _, v := range verbs {
		columns = append(columns, widget.Column{Title: session.VerbCode(v), Min: 4})
	}
	columns = append(columns, widget.Column{Title: "remote", Min: 6}, widget.Column{Title: "note", Min: 4})
	primary, cache := f.route.Primary.Winner().Terminus, f.route.Cache.Winner().Terminus
	return widget.Block(columns, 1, len(names)).Lines(r.env.Theme, uncut, func(i int, out *widget.Row) {
		capability(reg.Descriptor(f.name, names[i]), use(names[i], primary, cache), out)
	})
}

const (
	nameCells = 21   // the width of the names of termini
	uncut     = 1000 // cells: notes are cut where they are shown
)

// use returns what a terminus is used for now.
func use(name, primary, cache string) string {
	switch {
	case name == primary && name == cache:
		return "(now, cache)"
	case name == primary:
		return "(now)"
	case name == cache:
		return "(cache)"
	}
	return ""
}

func capability(d *indirector.Descriptor, use string, out *widget.Row) {
	style := term.Plain
	if use != "" {
		style |= term.Bold
	}
	out.To(2)
	out.Add(style, term.Clean(d.Name).Cut(nameCells-2))
	if use != "" {
		out.Put(term.Quiet, " "+use)
	}
	out.Line = out.Cut(nameCells)
	out.To(nameCells + 1)
	out.Skip()
	verbsOf := indirector.VerbsOf(d.Type)
	for _, v := range verbs {
		if verbsOf[v] != nil {
			out.Next(term.Plain, "x")
		} else {
			out.Next(term.Quiet, ".")
		}
	}
	remote := "yes"
	if _, ok := d.Type.(indirector.Local); ok {
		remote = "no"
	}
	out.Next(term.Plain, remote)
	out.Put(term.Plain, strings.Join(notes(d), ", "))
}

// notes are what matters when choosing a terminus.
func notes(d *indirector.Descriptor) []string {
	var out []string
	add := func(is bool, what string) {
		if is {
			out = append(out, what)
		}
	}
	_, authorizes := d.Type.(indirector.Authorizer)
	_, filters := d.Type.(indirector.Filterer)
	add(d.AlwaysNil, "never finds anything")
	add(d.ProcessLocal, "lost on exit")
	add(d.KeepsExpiry, "keeps expiry")
	add(authorizes, "has a rule of its own")
	add(filters, "filters what it answers")
	if len(out) == 0 {
		out = append(out, summary(d.Doc))
	}
	return out
}

// summary is the first sentence.
func summary(doc string) string {
	if i := strings.Index(doc, ". "); i >= 0 {
		return doc[:i]
	}
	return strings.TrimSuffix(doc, ".")
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
