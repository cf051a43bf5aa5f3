package steps

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/ui/term"
)

// numbers are how the steps are counted. Expiry belongs to the cache read and
// has no number of its own, so that a step has the same one on every screen.
var numbers = [traces.StepCount]string{"1", "2", "3", "4", "", "5", "6", "7", "8", "="}

// Number returns the number of a step as the screens show it.
func Number(s traces.Step) string { return numbers[s] }

// Label returns the name of a step of a request: with the terminus, and in the
// words of its verb.
func Label(t *traces.Trace, s traces.Step) string {
	primary, cache := t.Primary.Winner().Terminus, t.Cache.Winner().Terminus
	switch {
	case s == traces.Terminus && t.Verb == traces.Save:
		return strings.TrimSpace("terminus " + primary + " save")
	case s == traces.Terminus && t.Verb == traces.Destroy:
		return strings.TrimSpace("terminus " + primary + " destroy")
	case s == traces.Terminus:
		return strings.TrimSpace("terminus " + primary)
	case s == traces.CacheWrite && t.Verb == traces.Save:
		return strings.TrimSpace("cache " + cache + " save")
	case s == traces.CacheWrite && t.Verb == traces.Destroy:
		return strings.TrimSpace("cache " + cache + " destroy")
	}
	return s.String()
}

// Answer returns what was answered to a step, in a few words.
func Answer(t *traces.Trace, s traces.Step) string {
	q := t.Steps[s]
	switch {
	case s == traces.Route && q.Answer == traces.Chosen:
		primary, cache := t.Primary.Winner().Terminus, t.Cache.Winner().Terminus
		if cache == "" || cache == "off" {
			return "terminus " + primary
		}
		return "terminus " + primary + ", cache " + cache
	case pending(t, s):
		return "not yet"
	}
	return q.Answer.Words()
}

// Because returns why, in words.
func Because(t *traces.Trace, s traces.Step) string {
	if pending(t, s) {
		return ""
	}
	why := t.Why(s)
	if f := failed(t, s); why == "" && f != nil {
		return t.Wrong(f) // the failure was ignored: the answer is that of a success
	}
	return why
}

// pending reports whether a step of a request in progress is still to come.
func pending(t *traces.Trace, s traces.Step) bool {
	return t.Outcome == traces.Run && t.Steps[s].Answer == traces.NotReached
}

// code is the reason as filters know it, for those who look for it; "" if there
// is none.
func code(b traces.Because) string {
	if b.Reason == traces.NoReason {
		return ""
	}
	return "because=" + query.Quote(b.Reason.String())
}

// failed returns the worst thing that failed in a step; nil if nothing did.
func failed(t *traces.Trace, s traces.Step) *traces.Fault {
	var worst *traces.Fault
	for i := range t.Faults {
		if f := &t.Faults[i]; f.Step == s && (worst == nil || f.Shown) {
			worst = f
		}
	}
	return worst
}

// Mark is the sign in front of a step: it failed, it was not reached, it was not
// asked, or it happened.
func Mark(t *traces.Trace, s traces.Step, g *term.Glyphs) string {
	switch t.Steps[s].Answer {
	case traces.Raised, traces.Swallowed, traces.Denied, traces.Invalid:
		return g.Wrong
	case traces.NotReached:
		return g.Planned
	case traces.NotAsked, traces.NotChecked, traces.Unfiltered:
		return g.Not
	}
	if failed(t, s) != nil {
		return g.Wrong
	}
	return g.Happened
}

// StyleOf is how a step looks.
func StyleOf(t *traces.Trace, s traces.Step) term.Style {
	q := t.Steps[s]
	switch q.Answer {
	case traces.Raised, traces.Denied, traces.Invalid:
		return term.Failed
	case traces.Swallowed, traces.Expired:
		return term.Attention
	}
	if failed(t, s) != nil {
		return term.Attention
	}
	switch q.Answer {
	case traces.NotReached, traces.NotAsked, traces.NotChecked, traces.Unfiltered:
		return term.Quiet
	case traces.Found:
		return term.Cached
	}
	if q.Because.Reason == traces.NilFrom404 || q.Because.Reason == traces.NilFromEmptyOutput {
		return term.Attention
	}
	return term.Plain
}

// Took is the time of a step in milliseconds; "-" if no terminus was asked.
func Took(q traces.Question) string {
	switch q.Answer {
	case traces.NotReached, traces.NotAsked:
		return "-"
	}
	return term.Millis(q.Took)
}

// A line is one row of the screen: a step, a choice on the route below the
// step route, or a span below any step.
type line struct {
	step   traces.Step
	span   *traces.Span
	choice *traces.Choice
	slot   string // of choice: "terminus" or "cache"
	status string // of choice: "wins", "overruled", "not applied"
	nth    int    // of choice: its number
	depth  int
	number string
	kids   bool // something can be unfolded below it
	open   bool
}

// A key names a row across redraws: a step, or a span of one.
type key struct {
	step traces.Step
	span int // 0 is the step itself
	nth  int // of a choice; zero for all others
}

func (l *line) key() key {
	k := key{step: l.step}
	if l.span != nil {
		k.span = l.span.ID
	}
	k.nth = l.nth
	return k
}

// tree is the spans of a trace by what they are below.
type tree struct {
	below map[int][]*traces.Span           // by span
	under [traces.StepCount][]*traces.Span // directly below a step
}

func newTree(t *traces.Trace) *tree {
	tr := &tree{below: make(map[int][]*traces.Span)}
	known := make(map[int]bool, len(t.Spans))
	for i := range t.Spans {
		known[t.Spans[i].ID] = true
	}
	for i := range t.Spans {
		s := &t.Spans[i]
		switch {
		case s.Parent != 0 && s.Parent < s.ID && known[s.Parent]:
			tr.below[s.Parent] = append(tr.below[s.Parent], s)
		case int(s.Step) < len(tr.under):
			tr.under[s.Step] = append(tr.under[s.Step], s)
		}
	}
	return tr
}

// lines returns the rows that are not folded away.
func (tr *tree) lines(t *traces.Trace, open map[key]bool) []line {
	var out []line
	for i := range t.Steps {
		s := traces.Step(i)
		l := line{step: s, number: numbers[s]}
		choices := s == traces.Route && len(t.Primary)+len(t.Cache) > 0
		l.kids = choices || len(tr.under[s]) > 0
		l.open = l.kids && open[key{step: s}]
		out = append(out, l)
		if !l.open {
			continue
		}
		if choices {
			out = chain(out, "terminus", t.Primary)
			out = chain(out, "cache", t.Cache)
		}
		out = tr.spans(out, tr.under[s], s, numbers[s], 1, open)
	}
	return out
}

// maxShownDepth bounds the indentation; spans nest no deeper in practice.
const maxShownDepth = 16

func (tr *tree) spans(out []line, spans []*traces.Span, s traces.Step, prefix string, depth int, open map[key]bool) []line {
	for i, sp := range spans {
		number := fmt.Sprintf("%s.%d", prefix, i+1)
		kids := tr.below[sp.ID]
		l := line{step: s, span: sp, depth: depth, number: number, kids: len(kids) > 0}
		// Spans below a span are open unless the user folds them.
		l.open = l.kids && !open[key{step: s, span: -sp.ID}]
		out = append(out, l)
		if l.open && depth < maxShownDepth {
			out = tr.spans(out, kids, s, number, depth+1, open)
		}
	}
	return out
}

// chain adds every choice on a slot, strongest first.
func chain(out []line, slot string, choices traces.Slot) []line {
	for i := range choices {
		c := &choices[i]
		l := line{step: traces.Route, choice: c, slot: slot, depth: 1, nth: len(out)}
		switch {
		case c.Why != "":
			l.status = "not applied"
		case c.Terminus == "":
			l.status = "not set"
		case i == choices.Wins():
			l.status = "wins"
		default:
			l.status = "overruled"
		}
		out = append(out, l)
	}
	return out
}

// sentence is a choice in one sentence: "cache json set by storeconfigs,
// puppet.conf:4".
func sentence(slot string, c *traces.Choice) string {
	name := cmp.Or(c.Terminus, "(none)")
	s := slot + " " + name + " set by "
	switch {
	case c.Source == "" || c.Source == c.Kind.String():
		s += c.Kind.String()
	case strings.Contains(c.Source, c.Kind.String()):
		s += c.Source
	default:
		s += c.Kind.String() + ", " + c.Source
	}
	if c.Why != "" {
		s += "; " + c.Why
	}
	return s
}

// self is the time of a span without that of the spans below it.
func (tr *tree) self(s *traces.Span) time.Duration {
	d := s.Took
	for _, kid := range tr.below[s.ID] {
		d -= kid.Took
	}
	return max(d, 0)
}
