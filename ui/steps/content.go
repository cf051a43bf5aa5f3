package steps

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/traces"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/value"
	"indirtui/ui/widget"
)

// Content returns what a request holds, for a pane beside its steps: how it was
// asked, what was exchanged with another program, and the value. Preview is nil
// while it is not known.
func Content(th *term.Theme, t *traces.Trace, preview *value.Preview, width int) (term.Lines, term.Title) {
	return content(th, t, lastExchange(t, traces.StepCount), preview, width)
}

// content is Content with the exchange that it is about; nil is none.
func content(th *term.Theme, t *traces.Trace, exchanged *traces.Span, preview *value.Preview, width int) (lines term.Lines, title term.Title) {
	const at = 10
	part := func(left, right string) {
		lines = append(lines, th.Titled(width, term.Title{Left: term.Of(term.Quiet, left), Right: term.Of(term.Quiet, right)}))
	}
	title.Left.Put(term.Bold, "request")
	f := widget.Facts{{Label: "asked", Text: CommandOf(t)}}
	f = append(f, factsOfOptions(t)...)
	lines = append(lines, f.Lines(0, at, width, 3)...)
	if exchanged != nil {
		part("exchange", session.Took(exchanged.Took))
		lines = append(lines, factsOfExchange(exchanged).Lines(0, at, width, 3)...)
	}
	if preview == nil {
		return lines, title
	}
	part(preview.What, preview.About())
	if t.Error != "" {
		lines = append(lines, widget.Fact{Text: t.Error, Style: term.Failed}.Lines(0, 0, width, 4)...)
	}
	return append(lines, preview.Lines(width)...), title
}

// lastExchange is the last thing that was exchanged with another program, in a
// step or, with [traces.StepCount], in any of them.
func lastExchange(t *traces.Trace, s traces.Step) *traces.Span {
	for i := len(t.Spans) - 1; i >= 0; i-- {
		span := &t.Spans[i]
		if (span.Kind == traces.Network || span.Kind == traces.Exec) && (s == traces.StepCount || span.Step == s) {
			return span
		}
	}
	return nil
}

// factsOfExchange is what was sent to another program, and what came back.
func factsOfExchange(s *traces.Span) widget.Facts {
	var f widget.Facts
	x, ok := s.HTTP()
	if !ok {
		f.Put(term.Plain, "ran", s.Name)
		for _, a := range s.Attrs {
			f.Put(term.Plain, a.Key, a.Value)
		}
		f.Put(term.Failed, "failed", s.Err)
		f.Put(term.Plain, "answer", s.Answer)
		return f
	}
	headers := func(list []traces.Attr) {
		for _, h := range list {
			f = append(f, widget.Fact{Text: h.Key + ": " + h.Value, Style: term.Quiet})
		}
	}
	f.Put(term.Plain, "sent", strings.TrimSpace(x.Method+" "+x.URL))
	headers(x.Request)
	f.Put(term.Failed, "failed", s.Err)
	received := ""
	if x.Status != 0 {
		received = strings.TrimSpace(fmt.Sprint(x.Status, " ", x.Reason))
	}
	if x.Received >= 0 {
		received += ", " + term.Bytes(x.Received)
	}
	f.Put(term.Plain, "received", strings.TrimPrefix(received, ", "))
	headers(x.Response)
	return f
}

// previewed is the beginning of the value of a request.
type previewed struct {
	id      uint64
	preview *value.Preview
}

// holder is the request whose value the row in focus is about: this one, or
// the one that was asked there.
func (s *Steps) holder() uint64 {
	if l := s.focus(); l != nil && l.span != nil && l.span.Request != 0 {
		return l.span.Request
	}
	return s.id
}

// look reads the value that the row in focus is about, if there is room for it.
func (s *Steps) look() tea.Cmd {
	id := s.holder()
	if s.trace == nil || s.hold.stay != nil || s.width < screen.Wide || s.trace.Outcome == traces.Run || s.previews[id] != nil {
		return nil
	}
	t, log := s.trace, s.env.Log
	return func() tea.Msg {
		if id != t.ID {
			other, err := log.Trace(id)
			if err != nil {
				return nil
			}
			t = other
		}
		return screen.For{Screen: s, Msg: previewed{id, value.PreviewOf(log, t)}}
	}
}

// maxPreviews is how many beginnings of values are kept.
const maxPreviews = 64

func (s *Steps) previewed(m previewed) {
	if len(s.previews) >= maxPreviews {
		clear(s.previews)
	}
	s.previews[m.id] = m.preview
}

// contentPane is the pane beside the steps.
func (s *Steps) contentPane(width int) (term.Lines, term.Title) {
	return content(s.env.Theme, s.trace, s.exchanged(), s.previews[s.holder()], width)
}

// below is the value under the detail, where no pane beside it shows it.
func (s *Steps) below(height int) term.Lines {
	p := s.previews[s.holder()]
	if s.panes.Several() || p == nil || height < 4 || p.Empty() {
		return nil
	}
	lines := term.Lines{{}, s.env.Theme.Titled(s.width, term.Title{Left: term.Of(term.Quiet, p.What), Right: term.Of(term.Quiet, p.About())})}
	for _, l := range p.Lines(s.width - 3) {
		var indented term.Line
		indented.Space(2)
		indented.Append(l)
		lines = append(lines, indented)
	}
	return lines
}

// exchanged is the exchange that the row in focus is about; nil if it is about
// none.
func (s *Steps) exchanged() *traces.Span {
	l := s.focus()
	switch {
	case l == nil, l.choice != nil:
		return nil
	case l.span == nil:
		return lastExchange(s.trace, l.step)
	case l.span.Kind == traces.Network || l.span.Kind == traces.Exec:
		return l.span
	}
	return nil
}
