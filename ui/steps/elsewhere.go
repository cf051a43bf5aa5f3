package steps

import (
	"strings"

	"indirtui/ui/term"
)

// elsewhere is the process of a request that is held in another one, and what waits
// for it there, in one or two lines; none if it runs here.
func (s *Steps) elsewhere() (lines term.Lines) {
	st := s.hold.stay
	process := st.State.Home.String()
	if process == "" {
		return nil
	}
	var l term.Line
	l.Put(term.Quiet, "   IN  ")
	l.Add(term.Plain, term.Clean(process))
	waits, counts := Waiting(&st.Held, s.hold.now)
	if waits != "" {
		l.Put(term.Quiet, "  stops ")
		l.Add(term.Attention, term.Clean(waits))
	}
	lines = append(lines, l.Cut(s.width))
	if len(counts) > 0 {
		var l term.Line
		l.Put(term.Quiet, "   gives up: ")
		l.Add(term.Touched, term.Clean(strings.Join(counts, ", ")))
		lines = append(lines, l.Cut(s.width))
	}
	return lines
}
