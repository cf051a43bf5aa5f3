// Package tour leads through the program with its own keys: what to press, what
// it shows, and whether it has happened. It is made for the demo, whose data it
// knows.
package tour

import (
	"fmt"
	"strings"

	"indirtui/ui/term"
)

// A Step is one thing to do.
type Step struct {
	Keys string   // as they are pressed: "/ out=stale enter"
	Text string   // why, and what it shows
	Want []string // what is on the screen when it was done
	Not  []string // what is not
}

// A Journey is a question, and how it is answered.
type Journey struct {
	Name  string
	Steps []Step
}

// A Tour is where the user is on a journey. The zero Tour is nowhere.
type Tour struct {
	journey *Journey
	at      int
	done    int  // steps that happened, not skipped
	fresh   bool // no key has been pressed since the step before happened
}

// Begin begins a journey.
func (t *Tour) Begin(j *Journey) { *t = Tour{journey: j, fresh: true} }

// End ends it.
func (t *Tour) End() { *t = Tour{} }

// On reports whether a journey is on.
func (t *Tour) On() bool { return t.journey != nil }

// Finished reports whether the last step is behind.
func (t *Tour) Finished() bool { return t.On() && t.at >= len(t.journey.Steps) }

// Skip goes on without a step; at the end it ends the journey.
func (t *Tour) Skip() {
	if t.Finished() {
		t.End()
		return
	}
	t.at++
	t.fresh = true
}

// Press is called when the user does something.
func (t *Tour) Press() { t.fresh = false }

// Saw looks at the screen, and goes on if the step has happened. What is on the
// screen before a key was pressed is what the step before has left there.
func (t *Tour) Saw(frame string) {
	if !t.On() || t.Finished() || t.fresh {
		return
	}
	if t.journey.Steps[t.at].happened(frame) {
		t.at++
		t.done++
		t.fresh = true
	}
}

func (s *Step) happened(frame string) bool {
	for _, w := range s.Want {
		if !strings.Contains(frame, w) {
			return false
		}
	}
	for _, n := range s.Not {
		if strings.Contains(frame, n) {
			return false
		}
	}
	return true
}

// Rows is how many lines the tour takes.
func (t *Tour) Rows() int {
	if t.On() {
		return 4
	}
	return 0
}

// View returns the lines of the tour: where it is, what to press, and why.
func (t *Tour) View(th *term.Theme, width int) term.Lines {
	if !t.On() {
		return nil
	}
	legend := " ctrl+x skips   ctrl+t ends "
	if t.Finished() {
		legend = " ctrl+x closes "
	}
	top := th.HRule(max(width-len(legend)-2, 0))
	top.Put(term.Quiet, legend)
	top.Append(th.HRule(2))
	lines := term.Lines{top}
	var l term.Line
	n := len(t.journey.Steps)
	l.Put(term.Bold, fmt.Sprintf(" TOUR %d/%d  ", min(t.at+1, n), n))
	if t.Finished() {
		l.Put(term.Bold, "done: "+t.journey.Name)
	} else {
		l.Put(term.Plain, "press ")
		l.Put(term.Touched|term.Bold, t.journey.Steps[t.at].Keys)
	}
	lines = append(lines, l.Cut(width))
	text := fmt.Sprintf("That was all of it, %d of %d by your own hand. ? t lists the other journeys.", t.done, n)
	if !t.Finished() {
		text = t.journey.Steps[t.at].Text
	}
	for _, text := range term.Clean(text).Wrap(width-2, 2) {
		var l term.Line
		l.Space(1)
		l.Add(term.Plain, text)
		lines = append(lines, l)
	}
	return lines.Fill(width, t.Rows())
}
