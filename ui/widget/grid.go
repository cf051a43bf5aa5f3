package widget

import "indirtui/ui/term"

// Grid shows n short items in columns of one width, from top to bottom and then
// from left to right. Put writes an item on its line, at most cells wide.
func Grid(n, columns, width int, put func(i int, l *term.Line, cells int)) term.Lines {
	rows, each := (n+columns-1)/columns, width/columns
	lines := make(term.Lines, rows)
	for i := range n {
		l := &lines[i%rows]
		l.To(i / rows * each)
		put(i, l, each)
	}
	return lines
}
