package widget

import (
	"slices"

	"indirtui/ui/term"
)

// A Column is one column of a table.
type Column struct {
	Title    string
	Min      int  // cells it needs to be of use
	Want     int  // cells it takes if there is room
	Grow     int  // its share of what is left over
	Priority int  // the column with the lowest goes first when there is no room
	Right    bool // numbers
	Bold     bool // its title stands out
	Middle   bool // what is too long is cut in its middle
}

// cell adds what a line has in the column, w cells wide, and a blank; nothing if
// there is no room for the column.
func (c *Column) cell(l *term.Line, w int, style term.Style, text string) {
	switch {
	case w == 0:
	case c.Right:
		l.Right(style, term.Clean(text), w)
		l.Space(1)
	case c.Middle:
		l.Cell(style, term.Clean(text).CutMiddle(w), w+1) // with the blank
	default:
		l.Cell(style, term.CleanTo(text, w).Cut(w), w+1)
	}
}

// Widths returns the cells of each column in a line of the given width, with
// one cell between them. A column without room is 0.
func Widths(columns []Column, width int) []int {
	w := make([]int, len(columns))
	for i, c := range columns {
		w[i] = c.Min
	}
	for total(w) > width {
		lowest := -1
		for i, c := range columns {
			if w[i] > 0 && (lowest < 0 || c.Priority < columns[lowest].Priority) {
				lowest = i
			}
		}
		if lowest < 0 {
			return w
		}
		w[lowest] = 0
	}
	spare := width - total(w)
	byPriority := make([]int, len(columns))
	for i := range byPriority {
		byPriority[i] = i
	}
	slices.SortStableFunc(byPriority, func(a, b int) int { return columns[b].Priority - columns[a].Priority })
	for _, i := range byPriority {
		if w[i] > 0 {
			more := min(columns[i].Want-w[i], spare)
			w[i], spare = w[i]+max(more, 0), spare-max(more, 0)
		}
	}
	shares := 0
	for i, c := range columns {
		if w[i] > 0 {
			shares += c.Grow
		}
	}
	left := spare
	for i, c := range columns {
		if w[i] > 0 && c.Grow > 0 && shares > 0 {
			more := spare * c.Grow / shares
			w[i], left = w[i]+more, left-more
		}
	}
	for i, c := range columns {
		if w[i] > 0 && c.Grow > 0 {
			w[i] += left
			break
		}
	}
	return w
}

func total(w []int) int {
	sum, n := 0, 0
	for _, c := range w {
		if c > 0 {
			sum += c
			n++
		}
	}
	return sum + max(n-1, 0)
}
