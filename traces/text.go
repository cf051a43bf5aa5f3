package traces

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// AppendStory appends the story of a request and its three headlines as lines
// of text. Nothing in it is escaped: keys and errors are as they came.
func AppendStory(b []byte, t *Trace) []byte {
	h := HeadlineOf(t)
	story := Story(t)
	b = fmt.Appendf(b, "%s  %s\n", title(t), story)
	b = fmt.Appendf(b, "  answered  %s\n", h.Answered)
	b = fmt.Appendf(b, "  asked     %s\n", h.Asked)
	if h.NotAsked != "" {
		b = fmt.Appendf(b, "  not asked %s\n", h.NotAsked)
	}
	b = fmt.Appendf(b, "  decided   %s\n", h.Decided)
	if t.From != nil {
		b = fmt.Appendf(b, "  instance  %s\n", t.From)
	}
	if t.Held > 0 {
		b = fmt.Appendf(b, "  held      %s, which is no part of its duration\n", t.Held.Round(time.Millisecond))
	}
	for _, n := range t.Notes {
		if !strings.Contains(story, n.Text) {
			b = fmt.Appendf(b, "  note      %s\n", n.Text)
		}
	}
	for _, f := range t.Faults {
		if t.explained(f.Step, AnyFailure) == "" && !strings.Contains(story, f.Message) {
			b = fmt.Appendf(b, "  message   %s: %s\n", f.Origin, strings.TrimSpace(f.Message))
		}
		if f.Hidden != "" {
			b = fmt.Appendf(b, "  hidden    %s: %s\n", f.Origin, strings.TrimSpace(f.Hidden))
		}
	}
	if names := t.Idle.Names(); len(names) > 0 {
		b = fmt.Appendf(b, "  no effect %s\n", strings.Join(names, ", "))
	}
	return b
}

// AppendSteps appends every step of a request, with what was done below it.
func AppendSteps(b []byte, t *Trace) []byte {
	indent := map[int]string{0: "     "} // of what is below a span
	for i, q := range t.Steps {
		b = fmt.Appendf(b, "  %2d %-11s %-12s %-36s %s\n", i+1, Step(i), q.Answer.Words(), t.Why(Step(i)), ms(q.Took))
		for _, s := range t.Spans {
			if s.Step != Step(i) {
				continue
			}
			in := cmp.Or(indent[s.Parent], indent[0])
			indent[s.ID] = in + "  "
			answer := ""
			if s.Answer != "" {
				answer = ": " + s.Answer
			}
			if why := s.Because.Words(); why != "" && s.Because.Reason >= InSync { // of a resource
				answer += ", " + why
			}
			b = fmt.Appendf(b, "%s· %s %s%s %s\n", in, s.Kind, s.Name, answer, ms(s.Took))
			if s.Err != "" {
				b = fmt.Appendf(b, "%s  error %s\n", in, s.Err)
			}
			for _, a := range s.Attrs {
				b = fmt.Appendf(b, "%s  %s %s\n", in, a.Key, strings.TrimSpace(a.Value))
			}
		}
	}
	return b
}

func title(t *Trace) string {
	s := fmt.Sprintf("%s %s %s", t.Verb, t.Indirection, t.Key)
	if t.ID != 0 {
		s = fmt.Sprintf("#%d %s", t.ID, s)
	}
	return fmt.Sprintf("%s  %s  %s", s, t.Outcome, ms(t.Took))
}

func ms(d time.Duration) string {
	switch {
	case d == 0:
		return ""
	case d < time.Millisecond:
		return "<1 ms"
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}
