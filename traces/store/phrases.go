package store

import "indirtui/traces"

// phrases are parts of a line that the line before most often has in the same place: what
// the resources of a run differ in is little. They are of one goroutine. The zero value has
// none.
type phrases struct {
	steps          [traces.StepCount]phrase[traces.Question]
	primary, cache slotPhrase
	spans          [16]phrase[spanHead]
}

// A phrase is what was written for a value.
type phrase[K comparable] struct {
	of   K
	text object
}

// append appends the text of a value, which write writes if it is another one.
func (p *phrase[K]) append(o object, of K, write func(*K, object) object) object {
	if p.text == nil || p.of != of {
		p.of = of
		p.text = write(&p.of, p.text[:0])
	}
	return append(o, p.text...)
}

// A slotPhrase is a phrase of a slot, which many requests share and none changes.
type slotPhrase struct {
	first *traces.Choice
	n     int
	text  object
}

// append appends a slot under a name, unless it is empty.
func (p *slotPhrase) append(o object, name string, s traces.Slot) object {
	if len(s) == 0 {
		return o
	}
	if p.first != &s[0] || p.n != len(s) {
		p.first, p.n, p.text = &s[0], len(s), list(p.text[:0], s, appendChoice)
	}
	return append(o.name(name), p.text...)
}

// A spanHead is what a line has of a span before its times.
type spanHead struct {
	id, parent int
	step       traces.Step
	kind       traces.Kind
	name, is   string
	because    traces.Because
}

func headOfSpan(s *traces.Span) spanHead {
	return spanHead{s.ID, s.Parent, s.Step, s.Kind, s.Name, s.Answer, s.Because}
}

func (h *spanHead) write(o object) object {
	return append(o, '{').num("id", int64(h.id)).num("parent", int64(h.parent)).word("step", h.step.String()).word("kind", h.kind.String()).
		str("name", h.name).str("is", h.is).because(h.because)
}

// knows reports whether the i-th span of a line has no texts but those that the line before
// has there, which were redacted.
func (p *phrases) knows(i int, s *traces.Span) bool {
	return i < len(p.spans) && s.Err == "" && s.Attrs == nil && p.spans[i].of == headOfSpan(s)
}

// span appends the i-th span of a line.
func (p *phrases) span(o object, i int, s *traces.Span) object {
	head := headOfSpan(s)
	if i < len(p.spans) {
		o = p.spans[i].append(o, head, (*spanHead).write)
	} else {
		o = head.write(o)
	}
	o = field(o.num("at", int64(s.At)).num("took", int64(s.Took)), "attrs", s.Attrs, func(o object, a *traces.Attr) object { return o.pair(a.Key, a.Value) })
	return o.str("err", s.Err).id("request", s.Request).append("}")
}
