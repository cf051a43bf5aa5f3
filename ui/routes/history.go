package routes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/indirector/routes"
	"indirtui/traces"
	"indirtui/ui/screen"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// A change is one thing that happened to a route since the start.
type change struct {
	at   time.Time
	text string
}

// changes are what happened to the route of an indirection, newest first. What
// replaced the whole table counts if it changed this route. Gap L1.
func (r *Routes) changes(indirection string) []change {
	if r.engine == nil {
		return nil
	}
	var out []change
	for _, c := range slices.Backward(r.engine.Journal()) {
		if c.Indirection != indirection && c.Indirection != "" {
			continue
		}
		before, after := c.Before()[indirection], c.After()[indirection]
		var parts []string
		for _, slot := range []string{indirector.SlotTerminus, indirector.SlotCache, indirector.SlotTTL} {
			was, is := before.Slot(slot).Winner(), after.Slot(slot).Winner()
			if was.Terminus != is.Terminus {
				parts = append(parts, fmt.Sprintf("%s %s -> %s", slot, shown(slot, was.Terminus), shown(slot, is.Terminus)))
			}
		}
		if len(parts) == 0 && c.Indirection == "" {
			continue // about another route
		}
		who := c.Why
		if c.New.Kind != traces.NoSource && c.Why == "assign" {
			who = c.New.Kind.String()
		}
		if len(parts) == 0 {
			parts = []string{"the same as before"}
		}
		out = append(out, change{c.At, who + ": " + strings.Join(parts, ", ")})
	}
	return out
}

// page is all that is known of a route, to be read.
func (r *Routes) page(f row) widget.Page {
	p := widget.Page{Title: "Routes > " + f.name + " > history"}
	if r.about().Application != "" {
		p.Add("application", r.about().Application, term.Plain)
	}
	for _, slot := range f.route.Slots() {
		s := f.route.Slot(slot)
		p.Add("", "", term.Plain)
		p.Add(slot, fmt.Sprintf("%s   every source, strongest first", shown(slot, s.Winner().Terminus)), term.Bold)
		r.pageOf(&p, slot, s)
		if c := r.passed(f, slot); c.Terminus != "" {
			p.Add("passes on", "to "+c.Terminus+": "+c.Source, term.Plain)
		}
	}
	p.Add("", "", term.Plain)
	changes := r.changes(f.name)
	if len(changes) == 0 {
		p.Add("changed here", "nothing since the start", term.Quiet)
	}
	for i, c := range changes {
		label := ""
		if i == 0 {
			label = "changed here"
		}
		p.Add(label, r.clock(c.at)+"  "+c.text, term.Plain)
	}
	for _, w := range r.warnings(f) {
		p.Add("warning", w, term.Attention)
	}
	r.pageOfTermini(&p, f)
	return p
}

func (r *Routes) pageOf(p *widget.Page, slot string, s traces.Slot) {
	if len(s) == 0 {
		p.Add("", "nobody has named one", term.Quiet)
	}
	for i, c := range s {
		wins := i == s.Wins()
		style := term.Quiet
		if wins {
			style = term.Plain
		}
		if c.Why != "" {
			style = term.Attention
		}
		text := fmt.Sprintf("%d. %s", i+1, shown(slot, c.Terminus))
		if !c.At.IsZero() && c.Kind != traces.FromYou {
			text += "  at " + r.clock(c.At)
		}
		p.Add("", text, style)
		p.Add("", "   "+joined(long(r.env, c), state(c, wins)), style)
		if c.Note != "" {
			p.Add("", "   "+c.Note, term.Attention)
		}
	}
}

func (r *Routes) pageOfTermini(p *widget.Page, f row) {
	if r.engine == nil {
		return
	}
	reg := r.engine.Registry()
	if spec := reg.Spec(f.name); spec != nil {
		p.Add("", "", term.Plain)
		p.Add(f.name, spec.Doc, term.Plain)
	}
	for _, name := range reg.Termini(f.name) {
		d := reg.Descriptor(f.name, name)
		var verbsOf []string
		for _, v := range verbs {
			if indirector.VerbsOf(d.Type)[v] != nil {
				verbsOf = append(verbsOf, v.String())
			}
		}
		p.Add("", "", term.Plain)
		p.Add(name, d.Doc, term.Plain)
		p.Add("", "can "+strings.Join(verbsOf, ", "), term.Quiet)
		for _, s := range d.Settings {
			p.Add("", "reads "+s.Name+": "+s.Doc, term.Quiet)
		}
	}
}

// Section is the table in force as the section of an application in routes.yaml.
func Section(engine Engine, application string) string {
	return strings.TrimPrefix(routes.Export(engine.Routes(), application), "---\n")
}

// copies are what can be copied here.
func (r *Routes) copies(f row) []widget.Item {
	copied := func(what, text string) tea.Cmd { return screen.Send(screen.Copy{What: what, Text: text}) }
	var items []widget.Item
	if r.engine != nil {
		items = append(items, widget.Item{
			Key: 'r', Name: "as routes.yaml", Note: "the section " + r.about().Application + ", with what is in force now",
			Do: copied("as routes.yaml section "+r.about().Application, Section(r.engine, r.about().Application)),
		})
	}
	const cells = 200 // enough for a line each
	title := historyTitle(f)
	text := title.Left.String() + "\n" + r.chain(f, 1, cells).Text() + "\n"
	return append(items,
		widget.Item{Key: 'h', Name: "history", Note: "every source of the route of " + f.name, Do: copied("history of "+f.name, text)},
		widget.Item{Key: 'f', Name: "filter", Note: served(f), Do: copied("filter", served(f))},
	)
}
