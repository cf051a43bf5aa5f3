package routes

import (
	"strings"

	"indirtui/indirector"
	"indirtui/ui/session"
	"indirtui/ui/term"
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
	var head term.Line
	head.Space(1)
	head.Cell(term.Bold, term.Clean("available"), nameCells)
	for _, v := range verbs {
		head.Cell(term.Quiet, term.Clean(session.VerbCode(v)), 5)
	}
	head.Cell(term.Quiet, term.Clean("remote"), 7)
	head.Put(term.Quiet, "note")
	lines := term.Lines{head}
	primary, cache := f.route.Primary.Winner().Terminus, f.route.Cache.Winner().Terminus
	for _, name := range names {
		lines = append(lines, capability(reg.Descriptor(f.name, name), use(name, primary, cache)))
	}
	return lines
}

// nameCells is the width of the names of termini.
const nameCells = 21

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

func capability(d *indirector.Descriptor, use string) term.Line {
	var l term.Line
	l.Space(2)
	style := term.Plain
	if use != "" {
		style |= term.Bold
	}
	name := term.Clean(d.Name)
	l.Add(style, name.Cut(nameCells-2))
	if use != "" {
		l.Put(term.Quiet, " "+use)
	}
	l = l.Cut(nameCells)
	l.To(nameCells + 1)
	verbsOf := indirector.VerbsOf(d.Type)
	for _, v := range verbs {
		if verbsOf[v] != nil {
			l.Put(term.Plain, "x    ")
		} else {
			l.Put(term.Quiet, ".    ")
		}
	}
	remote := "yes"
	if _, ok := d.Type.(indirector.Local); ok {
		remote = "no"
	}
	l.Cell(term.Plain, term.Clean(remote), 7)
	l.Put(term.Plain, strings.Join(notes(d), ", "))
	return l
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
