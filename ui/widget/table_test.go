package widget_test

import (
	"fmt"
	"testing"

	"indirtui/ui/screen"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

var ascii = &term.Theme{Glyphs: term.ASCII, Palette: term.NoStyle}

// numbers is a table of n rows, of which three are on the screen.
func numbers(n int) *widget.Table {
	t := &widget.Table{Gutter: 2, Top: 4, Columns: []widget.Column{
		{Title: "N", Min: 3, Priority: 2, Right: true}, {Title: "WORD", Min: 6, Priority: 1}, {Title: "NOTE", Min: 4, Priority: 3},
	}}
	t.SetHeight(3)
	t.SetLen(n)
	return t
}

func TestTable(t *testing.T) {
	t.Parallel()
	row := func(i int, r *widget.Row) {
		if i == 1 {
			r.Put(term.Plain, "!")
			r.Span(2, term.Plain, "a text of two columns")
			r.Next(term.Plain, "n")
			return
		}
		r.Next(term.Plain, fmt.Sprint(i))
		r.Next(term.Plain, "wordword")
		r.Next(term.Plain, "n")
	}
	for _, tt := range []struct {
		name  string
		width int
		to    int
		want  string
	}{
		{"all columns", 30, 0, "    N WORD   NOTE\n>   0 wordw… n\n! a text of… n\n    2 wordw… n"},
		{"no room for one", 14, 0, "    N NOTE\n>   0 n\n! a … n\n    2 n"},
		{"the cursor is on the screen", 30, 4, "    N WORD   NOTE\n    2 wordw… n\n    3 wordw… n\n>   4 wordw… n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			table := numbers(5)
			table.To(tt.to)
			if got := table.Lines(ascii, tt.width, row).Text(); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// A row may have a second line; a click on either goes to the row.
func TestTableUnder(t *testing.T) {
	t.Parallel()
	table := numbers(5)
	table.SetHeight(2)
	table.Under = func(i int, r *widget.Row) {
		r.To(table.Gutter + r.Widths[0] + 1)
		r.Put(term.Quiet, fmt.Sprintf("under %d", i))
	}
	got := table.Lines(ascii, 14, func(i int, r *widget.Row) { r.Next(term.Plain, fmt.Sprint(i)) }).Text()
	if want := "    N NOTE\n>   0\n      under 0\n    1\n      under 1"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for y, row := range map[int]int{5: 0, 6: 0, 7: 1, 8: 1} {
		if !table.Click(0, y) || table.Cursor != row {
			t.Errorf("a click on line %d: row %d, want %d", y, table.Cursor, row)
		}
	}
	if table.Click(0, 9) || table.Click(0, 4) {
		t.Error("a click beside the rows did something")
	}
}

func TestTableMoves(t *testing.T) {
	t.Parallel()
	table := numbers(5)
	table.Lines(ascii, 30, func(int, *widget.Row) {})
	for _, tt := range []struct {
		name string
		do   func() bool
		want bool
		at   int // the cursor then
	}{
		{"a key", func() bool { return table.Handle(screen.Command{Action: screen.Down}) }, true, 1},
		{"another key", func() bool { return table.Handle(screen.Command{Action: screen.Enter}) }, false, 1},
		{"a row", func() bool { return table.Click(0, 7) }, true, 2},
		{"the titles", func() bool { return table.Click(0, 4) }, false, 2},
		{"below", func() bool { return table.Click(0, 8) }, false, 2},
		{"the wheel", func() bool { table.Wheel(2); return true }, true, 2},
		{"a row further down", func() bool { return table.Click(0, 7) }, true, 4},
		{"a column", func() bool { return table.TitleAt(7, 4) == 1 }, true, 4},
		{"between two", func() bool { return table.TitleAt(5, 4) == -1 }, true, 4},
	} {
		if got := tt.do(); got != tt.want || table.Cursor != tt.at {
			t.Errorf("%s: got %v and row %d, want %v and row %d", tt.name, got, table.Cursor, tt.want, tt.at)
		}
	}
}

func TestAround(t *testing.T) {
	t.Parallel()
	even := func(i int) bool { return i%2 == 0 }
	for _, tt := range []struct{ n, at, step, want int }{
		{6, 2, 0, 2}, {6, 2, 1, 4}, {6, 5, 1, 0}, {6, 0, -1, 4}, {6, 3, -1, 2}, {0, 0, 0, -1}, {1, 0, 1, 0},
	} {
		if got := widget.Around(tt.n, tt.at, tt.step, even); got != tt.want {
			t.Errorf("%d rows from %d by %d: got %d, want %d", tt.n, tt.at, tt.step, got, tt.want)
		}
	}
	if got := widget.Around(3, 1, 1, func(int) bool { return false }); got != -1 {
		t.Errorf("got %d for what is nowhere", got)
	}
}
