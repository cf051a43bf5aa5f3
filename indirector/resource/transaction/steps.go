package transaction

import (
	"context"
	"errors"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/traces"
)

// steps makes spans of the steps of one resource. Its request can be held before each.
type steps struct {
	t     *transaction
	r     *Resource
	stops *indirector.CodeStops // nil: nothing holds
	is    map[string]data.Value // what was read
	span  *traces.Active        // of the step that is being taken, one after the other
	at    Step                  // that is being taken; "" is none

	because traces.Because // of what became of the resource, where its events do not show it
	left    bool           // something was left out because the user wants that
	as      string         // how that leaves the resource: "it is not refreshed"; may be ""
}

// newSteps returns the steps of a resource, and the context for what is done in them.
func newSteps(ctx context.Context, t *transaction, r *Resource) (context.Context, *steps) {
	s := &steps{t: t, r: r, stops: indirector.CodeStopsOf(ctx)}
	ctx, s.span = traces.Series(ctx)
	return ctx, s
}

// begin opens the span of a step.
func (s *steps) begin(step Step, property string) {
	s.close()
	s.at = step
	s.span.Begin(traces.Note, stepName(step, property))
}

// end closes the span of a step with its answer.
func (s *steps) end(a Answer) {
	because := a.because()
	if s.at == a.Step {
		s.span.End(a.Text, because, a.Err)
	} else {
		s.close()
		s.span.Note(traces.Note, stepName(a.Step, a.Property), a.Text, because, a.Err)
	}
	s.at = ""
	switch {
	case a.Text == skippedText:
		s.because = because
	case a.Because == InSync, a.Because == NotDeclared, a.Because == CheckRefused:
		if a.Step == Compare {
			s.because = because
		}
	case a.Step == Refresh && a.Because != "", a.Because == Unsuitable:
		s.because = because
	}
}

// close ends a step that nothing came of.
func (s *steps) close() {
	if s.at != "" {
		s.span.End("", traces.Because{}, nil)
		s.at = ""
	}
}

// hold lets the request be held before a step, or behind one that has failed.
func (s *steps) hold(step Step, property string, failed error) error {
	if s.stops == nil || !s.stops.Armed() {
		return nil
	}
	s.span.Show()
	at := indirector.Code{Kind: string(step), Name: property, Of: s.r.Ref(), File: s.r.File, Line: int(s.r.Line)}
	if failed != nil {
		at.Kind, at.Name = indirector.StepFailed, stepName(step, property)
	}
	return s.stops.Hold(s.t.ctx, at, &stoppedAt{s, step, failed})
}

// mostTries is how often a step that fails is taken, which a breakpoint may want to be
// without end.
const mostTries = 100

// retried takes a step, and does so once more where it failed and that is wanted.
func (t *transaction) retried(step Step, property string, take func() error) error {
	err := take()
	for tries := 1; err != nil && t.visiting != nil && t.ctx.Err() == nil && tries < mostTries; tries++ {
		held := t.visiting.hold(step, property, err)
		if held == nil {
			return err
		}
		if !errors.Is(held, indirector.ErrAgain) {
			return held
		}
		err = take()
	}
	return err
}

// isLeftOut reports whether a step was left out by the user, or a breakpoint.
func isLeftOut(err error) bool {
	var out *indirector.LeftOut
	return errors.As(err, &out)
}

func stepName(step Step, property string) string {
	if property == "" {
		return string(step)
	}
	return string(step) + " " + property
}

// because is the reason as traces have it.
func (a *Answer) because() traces.Because {
	if a.Because == "" && a.Detail == "" && a.Chain == nil {
		return traces.Because{}
	}
	b := traces.Because{Reason: traces.ParseReason(string(a.Because)), About: a.Detail}
	if b.About == "" {
		b.About = strings.Join(texts(a.Chain), ", ")
	}
	return b
}

// stoppedAt is where the request of a resource is held.
type stoppedAt struct {
	*steps
	step   Step
	failed error
}

var _ indirector.CodePlace = (*stoppedAt)(nil)

// Freeze adds what the resource is in, its properties, and who waits for it.
func (p *stoppedAt) Freeze(c *indirector.Code) {
	seen := map[*Resource]bool{} // containers may contain each other
	for parent := p.r.Parent(); parent != nil && !seen[parent]; parent = parent.Parent() {
		seen[parent] = true
		c.Calls = append([]indirector.CodeCall{{Name: parent.Ref(), File: parent.File, Line: int(parent.Line)}}, c.Calls...)
	}
	if p.r.RAL != nil {
		c.Try = p.r.RAL.Try
	}
	if rest := p.t.rest(p.r); rest != nil {
		c.Rest = rest
	}
	fixed := func(name string, v data.Value) {
		c.Variables, c.Fixed = append(c.Variables, data.P(name, v)), append(c.Fixed, name)
	}
	if p.failed != nil {
		fixed("error", data.OfString(p.failed.Error()))
	}
	if p.step == EventsOut || p.step == Refresh { // they are what matters then
		p.relations(fixed)
		p.properties(c, fixed)
		return
	}
	p.properties(c, fixed)
	p.relations(fixed)
}

// relations adds who has sent events, and who waits for the resource.
func (p *stoppedAt) relations(fixed func(string, data.Value)) {
	for _, x := range []struct {
		name string
		all  []*Resource
	}{
		{"refreshed by", p.t.senders[p.r]},
		{"refreshes", p.r.beyond(carries)},
		{"waited for by", p.r.beyond(func(*Edge) bool { return true })},
	} {
		if len(x.all) > 0 {
			fixed(x.name, data.OfStrings(texts(x.all)))
		}
	}
}

// properties adds those that are managed: what each should be, which can be changed while
// a change is still to come, and what it is.
func (p *stoppedAt) properties(c *indirector.Code, fixed func(string, data.Value)) {
	if p.r.RAL == nil {
		return
	}
	for _, name := range p.r.RAL.Properties() {
		if !p.r.RAL.Managed(name) {
			continue
		}
		is, known := p.is[name]
		should := words(p.r.RAL.Wanted(name, is))
		switch secret := p.r.RAL.Sensitive(name); {
		case secret:
			fixed(name, data.OfString(redacted))
			known = false
		case p.step == Flush || p.step == EventsOut || p.step == Refresh:
			fixed(name, should)
		default:
			c.Variables = append(c.Variables, data.P(name, should))
		}
		if known {
			fixed(name+" is", words(is))
		}
	}
}

// carries reports whether events go along an edge.
func carries(e *Edge) bool { return e.Refresh && e.To.refreshable() }

// beyond are the resources that edges of r lead to, also by the ends of containers.
func (r *Resource) beyond(follow func(*Edge) bool) []*Resource {
	var all []*Resource
	seen := map[*Resource]bool{r: true}
	for queue := []*Resource{r}; len(queue) > 0; queue = queue[1:] {
		for _, edge := range edgesOf(queue[0].out) {
			to := edge.To
			if seen[to] || !follow(edge) {
				continue
			}
			if seen[to] = true; to.Kind == Whit {
				queue = append(queue, to)
			} else {
				all = append(all, to)
			}
		}
	}
	return all
}

// Set gives a property that is still to be changed another value.
func (p *stoppedAt) Set(name string, v data.Value) error {
	if err := p.r.RAL.Try([]data.Pair{data.P(name, v)}); err != nil {
		return err
	}
	return p.r.RAL.Set(name, v)
}
