// Package widget holds the parts that screens are made of: a list of any
// length, columns that give way, a line to write on, menus, pages of text. They
// know nothing of Puppet.
package widget

import "indirtui/ui/screen"

// A List is a cursor in a list of any length, of which a part is on the screen.
// The zero List is empty.
type List struct {
	Len    int // rows
	Cursor int // the row in focus; 0 if there are none
	Offset int // the first row on the screen
	Height int // rows on the screen
}

// SetLen sets how many rows there are.
func (l *List) SetLen(n int) {
	l.Len = n
	l.To(l.Cursor)
}

// SetHeight sets how many rows the screen has.
func (l *List) SetHeight(n int) {
	l.Height = max(n, 0)
	l.To(l.Cursor)
}

// Move moves the cursor by n rows.
func (l *List) Move(n int) { l.To(l.Cursor + n) }

// To puts the cursor on a row, or on the nearest there is, and scrolls no more
// than it must.
func (l *List) To(row int) {
	l.Cursor = max(min(row, l.Len-1), 0)
	switch {
	case l.Cursor < l.Offset:
		l.Offset = l.Cursor
	case l.Cursor >= l.Offset+l.Height:
		l.Offset = l.Cursor - l.Height + 1
	}
	l.Offset = max(min(l.Offset, l.Len-l.Height), 0)
}

// Scroll moves what is seen by n rows, and takes the cursor along when it
// would be lost.
func (l *List) Scroll(n int) {
	l.Offset = max(min(l.Offset+n, l.Len-l.Height), 0)
	l.Cursor = max(min(l.Cursor, l.Offset+l.Height-1, l.Len-1), l.Offset, 0)
}

// Visible returns the rows on the screen: from, and up to but not to.
func (l *List) Visible() (from, to int) { return l.Offset, min(l.Offset+l.Height, l.Len) }

// AtEnd reports whether the cursor is on the last row.
func (l *List) AtEnd() bool { return l.Cursor >= l.Len-1 }

// Moves reports whether an action moves in a list.
func Moves(do screen.Action) bool {
	switch do {
	case screen.Down, screen.Up, screen.Top, screen.Bottom, screen.HalfDown, screen.HalfUp, screen.PageDown, screen.PageUp:
		return true
	}
	return false
}

// steps returns by how many rows a command moves in a list, and whether it is to
// move.
func steps(a screen.Command, rows, height int) (n int, moves bool) {
	n, half, page := a.Times(), max(height/2, 1), max(height-1, 1)
	switch a.Action {
	case screen.Down:
		return n, true
	case screen.Up:
		return -n, true
	case screen.Top:
		return -rows, true
	case screen.Bottom:
		return rows, true
	case screen.HalfDown:
		return n * half, true
	case screen.HalfUp:
		return -n * half, true
	case screen.PageDown:
		return n * page, true
	case screen.PageUp:
		return -n * page, true
	}
	return 0, false
}

// Seek puts the cursor on the first row for which is is true, if there is one.
func (l *List) Seek(is func(row int) bool) {
	if at := Around(l.Len, 0, 0, is); at >= 0 {
		l.To(at)
	}
}
