package widget

import (
	"indirtui/ui/screen"
	"indirtui/ui/term"
)

// A Table shows rows: as many as the screen has room for, below the titles of as
// many columns. It knows neither the rows nor where they come from. Only those on
// the screen are asked for.
type Table struct {
	List
	Columns []Column // without columns there are no titles, and a row is one text
	Gutter  int      // cells in front of the columns
	Top     int      // lines of the screen above the table
	Paged   bool     // there is no cursor: what is seen moves
	Drags   bool     // the wheel moves the cursor
	// Under writes a second line of the row with the given number, which knows
	// the cells of the columns. Without it, rows have one line.
	Under func(i int, r *Row)

	widths []int
	row    Row
}

var _ screen.List = (*Table)(nil)

// Block returns a table that shows all of its rows, and has no cursor.
func Block(columns []Column, gutter, rows int) *Table {
	return &Table{Columns: columns, Gutter: gutter, Paged: true, List: List{Len: rows, Height: rows}}
}

// A Row is a row of a table while it is drawn. What is put on it before the
// first column stands in the gutter, behind the cursor.
type Row struct {
	term.Line
	Focus  bool  // it has the cursor; if left set, all of it is bold
	Widths []int // cells of the columns; zero has no room, and needs no text
	t      *Table
	next   int
}

// Next fills the next column.
func (r *Row) Next(style term.Style, text string) { r.Span(1, style, text) }

// Span fills the next n columns with one text.
func (r *Row) Span(n int, style term.Style, text string) {
	r.To(r.t.Gutter)
	c, w := &r.t.Columns[r.next], r.Widths[r.next]
	for _, more := range r.Widths[r.next+1 : r.next+n] {
		if more > 0 {
			w += more + min(w, 1)
		}
	}
	r.next += n
	c.cell(&r.Line, w, style, text)
}

// Sign puts a bar of colour at the edge of the table, before all else. Where
// there are no colours it reports false: a letter is wanted then.
func (r *Row) Sign(th *term.Theme, style term.Style) bool {
	if th.Glyphs.Gutter == "" || !th.HasBar() {
		return false
	}
	if style != term.Plain {
		r.Put(style, th.Glyphs.Gutter)
	}
	return true
}

// Skip leaves the next column to the caller, which has put it on the line.
func (r *Row) Skip() { r.next++ }

// Lines returns the table, with as many columns as the width has room for. Row
// fills in the row with the given number.
func (t *Table) Lines(th *term.Theme, width int, row func(i int, r *Row)) term.Lines {
	lines := make(term.Lines, 0, t.titles()+t.Height)
	if t.Columns != nil {
		t.Fit(width)
		lines = append(lines, t.title())
	}
	from, to := t.Visible()
	for i := from; i < to; i++ {
		lines = append(lines, t.line(th, width, i, row))
		if t.Under != nil {
			lines = append(lines, t.under(th, width, i))
		}
	}
	for len(lines) < t.titles()+t.Height*t.tall() {
		lines = append(lines, term.Line{})
	}
	return lines
}

// Fit gives the columns their cells.
func (t *Table) Fit(width int) { t.widths = Widths(t.Columns, width-t.Gutter-1) }

// Has reports whether there is room for a column.
func (t *Table) Has(column int) bool { return t.widths[column] > 0 }

func (t *Table) titles() int { return min(len(t.Columns), 1) }

// tall is how many lines a row has.
func (t *Table) tall() int {
	if t.Under != nil {
		return 2
	}
	return 1
}

// under is the second line of a row. The bar of the selected row covers it, too.
func (t *Table) under(th *term.Theme, width, i int) term.Line {
	r := &t.row
	*r = Row{t: t, Widths: t.widths, Focus: i == t.Cursor && !t.Paged}
	t.Under(i, r)
	if r.Focus && th.HasBar() {
		r.To(width)
		return r.With(term.Selected)
	}
	return r.Line
}

func (t *Table) title() term.Line {
	var l term.Line
	l.Grow(2*len(t.Columns) + 1)
	l.Space(t.Gutter)
	for i, c := range t.Columns {
		style := term.Quiet
		if c.Bold {
			style = term.Bold
		}
		c.cell(&l, t.widths[i], style, c.Title)
	}
	return l
}

func (t *Table) line(th *term.Theme, width, i int, row func(i int, r *Row)) term.Line {
	r := &t.row
	*r = Row{t: t, Widths: t.widths, Focus: i == t.Cursor && !t.Paged}
	r.Grow(2*len(t.Columns) + 9) // with a wall on each side, and blanks before it
	r.Reserve()
	if r.Focus && !th.HasBar() {
		r.Put(term.Bold, th.Glyphs.Cursor)
	}
	row(i, r)
	if r.Focus {
		r.To(width)
		return r.With(term.Bold | term.Selected)
	}
	return r.Line
}

// Handle moves the cursor, or what is seen, if the command is to move.
func (t *Table) Handle(a screen.Command) bool {
	n, moves := steps(a, t.Len, t.Height)
	switch {
	case !moves:
	case t.Paged:
		t.Scroll(n)
	default:
		t.Move(n)
	}
	return moves
}

// Click puts the cursor on the row at a cell of the screen, and reports whether
// there is one.
func (t *Table) Click(_, y int) bool {
	y -= t.Top + t.titles()
	if y < 0 {
		return false
	}
	y /= t.tall()
	if t.Paged || y >= t.Height || t.Offset+y >= t.Len {
		return false
	}
	t.To(t.Offset + y)
	return true
}

// TitleAt returns the column whose title is at a cell of the screen, or -1.
func (t *Table) TitleAt(x, y int) int {
	if y != t.Top {
		return -1
	}
	x -= t.Gutter
	for i, w := range t.widths {
		switch {
		case w == 0:
			continue
		case 0 <= x && x < w:
			return i
		}
		x -= w + 1
	}
	return -1
}

// Wheel moves what is seen, or the cursor if the table Drags.
func (t *Table) Wheel(lines int) {
	if t.Drags {
		t.Move(lines)
	} else {
		t.Scroll(lines)
	}
}
