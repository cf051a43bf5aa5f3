package widget

import "indirtui/ui/term"

// A Fact is something that is known, and what it is called.
type Fact struct {
	Label, Text string
	Style       term.Style
}

// Lines returns the fact in at most the given rows: its label behind indent
// cells, its text from the cell at on.
func (f Fact) Lines(indent, at, width, rows int) term.Lines {
	var lines term.Lines
	for i, text := range term.CleanTo(f.Text, width*(rows+1)).Wrap(max(width-at-1, 8), rows) {
		var l term.Line
		if i == 0 {
			l.Space(indent)
			l.Add(term.Quiet, term.Clean(f.Label).Cut(at-indent-1))
		}
		l.To(at)
		l.Add(f.Style, text)
		lines = append(lines, l)
	}
	return lines
}

// Facts are what is known of something, in order.
type Facts []Fact

// Put adds a fact, unless its text is empty: then nothing is known.
func (f *Facts) Put(style term.Style, label, text string) {
	if text != "" {
		*f = append(*f, Fact{label, text, style})
	}
}

// Lines returns the lines of each fact, one below the other.
func (f Facts) Lines(indent, at, width, rows int) term.Lines {
	var lines term.Lines
	for _, fact := range f {
		lines = append(lines, fact.Lines(indent, at, width, rows)...)
	}
	return lines
}
