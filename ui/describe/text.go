package describe

import (
	"fmt"
	"slices"
	"strings"

	"indirtui/indirector/resource/types"
	"indirtui/ui/term"
)

// width is how wide texts are, in cells: that of the smallest terminal.
const width = 80

// maxLines is more lines than any documentation has.
const maxLines = 100

// A Row is a text with a label beside it; each may be empty.
type Row struct{ Label, Text string }

// List is a row for each type, with the first sentence about it.
func List() []Row {
	var rows []Row
	for _, name := range Names() {
		sentence, _, _ := strings.Cut(types.All()[name].Doc, ". ")
		rows = append(rows, Row{name, strings.TrimSuffix(sentence, ".")})
	}
	return rows
}

// Text writes rows as text of the width of the smallest terminal.
func Text(rows []Row) string {
	var b strings.Builder
	for _, r := range rows {
		r.write(&b)
	}
	return b.String()
}

// Short are the names of the attributes and providers.
func (d Type) Short() []Row {
	rows := []Row{{"", d.Name + ": " + d.Doc}, {}}
	for _, r := range []struct {
		title string
		names []string
	}{
		{"Properties", names(d.Properties)},
		{"Parameters", names(d.Parameters)},
		{"Metaparameters", d.Metaparameters},
		{"Providers", providerNames(d.Providers)},
	} {
		if len(r.names) > 0 {
			rows = append(rows, Row{r.title, strings.Join(r.names, ", ")})
		}
	}
	return d.withWhy(rows)
}

func names(all []Attribute) []string {
	var out []string
	for _, a := range all {
		out = append(out, a.Name)
	}
	return out
}

func providerNames(all []Provider) []string {
	var out []string
	for _, p := range all {
		out = append(out, p.Name)
	}
	slices.Sort(out)
	return out
}

// Rows are all that is known of a type.
func (d Type) Rows() []Row {
	rows := append([]Row{{"", d.Name + ": " + d.Doc}, {}}, d.facts()...)
	rows = d.section(rows, "Properties", d.Properties)
	rows = d.section(rows, "Parameters", d.Parameters)
	if len(d.Providers) > 0 {
		rows = append(rows, Row{}, Row{Label: "Providers"})
	}
	for _, p := range d.Providers {
		rows = append(rows, Row{"  " + p.Name, p.text(d.Provider)})
	}
	return d.withWhy(rows)
}

func (d Type) withWhy(rows []Row) []Row {
	if d.Why == "" {
		return rows
	}
	return append(rows, Row{}, Row{"", d.Why + "."})
}

// facts are the lines about the type as a whole.
func (d Type) facts() []Row {
	rows := []Row{{"Named by", strings.Join(d.Namevars, ", ")}}
	if !d.Unique {
		rows[0].Text += "; several resources may have the same"
	}
	switch d.Refresh {
	case "taken":
		rows = append(rows, Row{"Refresh", "taken from others"})
	case "of itself":
		rows = append(rows, Row{"Refresh", "taken from others, and from itself"})
	}
	for _, kind := range []string{"require", "before", "notify", "subscribe"} {
		var of []string
		for _, a := range d.Automatic {
			if a.Kind == kind {
				of = append(of, a.Type)
			}
		}
		if len(of) > 0 {
			rows = append(rows, Row{"Auto" + kind, strings.Join(of, ", ")})
		}
	}
	if d.Module != "" {
		rows = append(rows, Row{"Module", d.Module})
	}
	return append(rows, Row{"Metaparameters", strings.Join(d.Metaparameters, ", ")})
}

func (d Type) section(rows []Row, title string, all []Attribute) []Row {
	if len(all) == 0 {
		return rows
	}
	rows = append(rows, Row{}, Row{Label: title})
	for _, a := range all {
		rows = append(rows, Row{"  " + a.Name, a.text(slices.Contains(d.Namevars, a.Name))})
	}
	return rows
}

// text is the documentation of an attribute, and what it takes, in a line each.
func (a Attribute) text(namevar bool) string {
	lines := []string{a.Doc}
	if namevar {
		lines[0] = "(namevar) " + a.Doc
	}
	var takes []string
	for _, v := range a.Values {
		takes = append(takes, v.text())
	}
	values := strings.Join(takes, ", ")
	if len(a.Patterns) > 0 {
		matching := "what matches " + strings.Join(a.Patterns, " or ")
		if values != "" {
			matching = ", or " + matching
		}
		values += matching
	}
	for _, row := range [][2]string{
		{"Values", values}, {"Default", a.Default}, {"Needs", strings.Join(a.Features, ", ")},
	} {
		if row[1] != "" {
			lines = append(lines, row[0]+": "+row[1])
		}
	}
	if a.List {
		lines = append(lines, "All values of a list count, in their order.")
	}
	return strings.Join(lines, "\n")
}

func (v Value) text() string {
	var more []string
	if len(v.Aliases) > 0 {
		more = append(more, "or "+strings.Join(v.Aliases, ", "))
	}
	if len(v.Features) > 0 {
		more = append(more, "needs "+strings.Join(v.Features, ", "))
	}
	if len(more) == 0 {
		return v.Name
	}
	return v.Name + " (" + strings.Join(more, "; ") + ")"
}

// text is what a provider is, and what counts for and against it.
func (p Provider) text(used string) string {
	state := "suitable"
	switch {
	case p.Name == used:
		state = "used here"
	case !p.Suitable:
		state = "not suitable here"
	}
	if len(p.Why) > 0 {
		state += ": " + strings.Join(p.Why, "; ")
	}
	text := p.Doc + "\n" + state
	if p.ByPuppet && p.Suitable {
		text += "\nWritten in Ruby: Puppet does its resources, in a process of its own."
	}
	if len(p.Features) > 0 {
		text += "\nFeatures: " + strings.Join(p.Features, ", ")
	}
	return text
}

// column is where texts begin that have a label.
const column = 20

func (r Row) write(b *strings.Builder) {
	lead, cells := "", width-1
	if r.Label != "" {
		lead, cells = fmt.Sprintf("%-*s", column, r.Label), width-column-1
		if len(r.Label) >= column {
			b.WriteString(r.Label + "\n")
			lead = strings.Repeat(" ", column)
		}
	}
	for line := range strings.SplitSeq(r.Text, "\n") {
		for _, part := range wrap(line, cells) {
			b.WriteString(strings.TrimRight(lead+part, " ") + "\n")
			lead = strings.Repeat(" ", len(lead))
		}
	}
}

func wrap(s string, cells int) []string {
	if s == "" {
		return []string{""}
	}
	var lines []string
	for _, t := range term.Clean(s).Wrap(cells, maxLines) {
		lines = append(lines, t.String())
	}
	return lines
}
