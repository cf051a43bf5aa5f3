package widget

import "indirtui/ui/term"

// Tabs returns the names of the ways to show something, with the one in force in
// brackets, and at the right end of the width what else belongs there.
func Tabs(names []string, at, width int, right term.Line) term.Line {
	var l term.Line
	l.Space(1)
	for i, name := range names {
		if i == at {
			l.Put(term.Bold, "["+name+"]")
		} else {
			l.Put(term.Quiet, " "+name+" ")
		}
		l.Space(1)
	}
	l.To(width - right.Width())
	l.Append(right)
	return l
}
