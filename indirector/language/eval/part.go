package eval

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"indirtui/traces"
)

// A Part is a piece of an evaluation that is a span of the request: a class, a define, a
// collector or a template. Rule LANG-TRACE-01.
type Part struct {
	thread *Thread
	outer  context.Context
	span   *traces.Active // nil if the request is not traced, or has too many parts
	name   string
}

// A failedPart is what a part failed with. Programs may go on after that, as templates
// that rescue do: what fails later is not its failure.
type failedPart struct{ name, message string }

// maxParts is how many are spans. Of the others, only the number is kept. Rule
// LANG-TRACE-02.
const maxParts = 10_000

// Part begins a part of a kind. What is done until its End is below it in the trace. The
// place is where it is defined; a line of 0 and no file are not known.
func (t *Thread) Part(kind, name, file string, line int) Part {
	if !t.IsTraced() {
		return Part{}
	}
	t.parts++
	if t.parts > maxParts {
		if t.omitted == nil {
			t.omitted = map[string]int{}
		}
		t.omitted[kind]++
		return Part{}
	}
	p := Part{thread: t, outer: t.ctx, name: kind + " " + name}
	t.ctx, p.span = traces.Start(t.ctx, traces.Code, p.name)
	if file != "" {
		p.span.Attr("path", file)
	}
	if line > 0 {
		p.span.Attr("line", strconv.Itoa(line))
	}
	return p
}

// IsTraced reports whether parts are spans of a request.
func (t *Thread) IsTraced() bool { return t.ctx != nil && traces.FromContext(t.ctx) != nil }

// IsTraced reports whether the answer at the end is kept.
func (p Part) IsTraced() bool { return p.span != nil }

// End ends a part. Of an error, the innermost part has the message; those around it name
// the part that failed.
func (p Part) End(answer string, err error) {
	if p.span == nil {
		return
	}
	p.thread.ctx = p.outer
	if err != nil {
		answer = "failed"
		inner, message := p.thread.failed, err.Error()
		p.thread.failed = failedPart{p.name, message}
		if inner.name != "" && strings.Contains(message, inner.message) {
			err = errors.New(inner.name + " failed")
			p.thread.failed.message = inner.message
		}
	}
	p.span.End(answer, traces.Because{}, err)
}

// EndParts adds the numbers of the parts that are no spans.
func (t *Thread) EndParts() {
	for _, kind := range slices.Sorted(maps.Keys(t.omitted)) {
		_, span := traces.Start(t.ctx, traces.Code, "more of the kind "+kind)
		span.End(strconv.Itoa(t.omitted[kind]), traces.Because{}, nil)
	}
}

// Context returns the context of what is evaluated now: its span is that of the
// innermost part.
func (t *Thread) Context() context.Context { return t.ctx }
