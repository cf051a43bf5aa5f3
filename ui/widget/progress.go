package widget

import (
	"strconv"
	"unicode/utf8"

	"github.com/charmbracelet/bubbles/progress"

	"indirtui/ui/term"
)

// barCells is how wide a bar of progress is.
const barCells = 16

// PutPart is Put for what has a known end: a bar and how much of it is done, in
// place of the sign. A total of zero is not known yet.
func (w *Wait) PutPart(l *term.Line, style term.Style, words string, done, total int64) {
	if !w.Long() || total <= 0 {
		w.Put(l, style, words)
		return
	}
	part := float64(min(max(done, 0), total)) / float64(total)
	if th := w.env.Theme; !w.env.Still {
		l.Append(th.Drawn(th.Lip(term.Accent).Render(bar(&th.Glyphs).ViewAs(part)))[0])
		l.Space(1)
	}
	l.Put(style, strconv.Itoa(int(part*100))+"%  "+words+"  "+elapsed(w.took))
}

// bar is a component without colours of its own, which would be those of the one
// renderer of the whole process.
func bar(g *term.Glyphs) progress.Model {
	full, _ := utf8.DecodeRuneInString(g.Own)
	empty, _ := utf8.DecodeRuneInString(g.Border.Top)
	return progress.Model{Width: barCells, Full: full, Empty: empty}
}
