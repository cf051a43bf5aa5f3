package steps

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"indirtui/traces"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// factsOf returns all that is known about a row.
func factsOf(t *traces.Trace, l *line, tr *tree) widget.Facts {
	switch {
	case l.choice != nil:
		return factsOfChoice(l)
	case l.span != nil:
		return factsOfSpan(l.span, tr)
	}
	return factsOfStep(t, l.step)
}

// factsOfStep begins with what failed: there may be room for little more.
func factsOfStep(t *traces.Trace, s traces.Step) widget.Facts {
	q := t.Steps[s]
	var f widget.Facts
	for i := range t.Faults {
		if t.Faults[i].Step == s {
			f = append(f, factsOfFault(&t.Faults[i])...)
		}
	}
	f = append(f, widget.Fact{Label: "answer", Text: Answer(t, s), Style: StyleOf(t, s)})
	if why := Because(t, s); !slices.ContainsFunc(f, func(known widget.Fact) bool { return strings.HasPrefix(known.Text, why) }) {
		f.Put(term.Plain, "because", why)
	}
	if !pending(t, s) {
		f.Put(term.Quiet, "filter", code(q.Because))
	}
	if q.Took > 0 {
		f.Put(term.Plain, "time", fmt.Sprintf("%s, %s after the request began", session.Took(q.Took), session.Took(q.At)))
	}
	switch s {
	case traces.Route:
		f = append(f, factsOfRoute(t)...)
	case traces.Terminus:
		f = append(f, factsOfRequest(t)...)
	case traces.Caller:
		f.Put(term.Plain, "trace", Joined(t))
		f.Put(term.Failed, "was told", t.Error)
	}
	return f
}

// Joined returns the trace of another program that a request is part of: "ID, below
// the span ID". It is "" if it is of none.
func Joined(t *traces.Trace) string {
	p := t.Traceparent
	if p == nil {
		return ""
	}
	below := ", below the span "
	if t.Parent != 0 {
		below = ", below what was asked by the span "
	}
	return hex.EncodeToString(p.Trace[:]) + below + hex.EncodeToString(p.Span[:])
}

func factsOfFault(f *traces.Fault) widget.Facts {
	seen := "shown to the caller"
	style := term.Failed
	if !f.Shown {
		seen, style = "swallowed: the caller never saw it", term.Attention
	}
	out := widget.Facts{{Label: "message", Text: f.Message, Style: style}, {Label: "failed", Text: f.Origin + "; " + seen, Style: style}}
	out.Put(term.Attention, "not shown", f.Hidden)
	out.Put(term.Plain, "at", f.Path)
	return out
}

// factsOfRoute is the decision; the choices behind it unfold below the step.
func factsOfRoute(t *traces.Trace) widget.Facts {
	f := widget.Facts{{Label: "decided", Text: traces.HeadlineOf(t).Decided}}
	f.Put(term.Plain, "flags", strings.Join(t.Flags.Names(), ", "))
	f.Put(term.Attention, "no effect", strings.Join(t.Idle.Names(), ", "))
	return f
}

func factsOfRequest(t *traces.Trace) widget.Facts {
	var f widget.Facts
	if t.Named != "" {
		f.Put(term.Attention, "named", t.Named+", although "+t.Key+" was asked for")
	}
	if t.Value().Model != "" || t.Value().Size > 0 {
		f.Put(term.Plain, "value", fmt.Sprintf("%s, %s, %s", t.Value().Model, t.Value().Format, term.Bytes(int64(t.Value().Size))))
	}
	f.Put(term.Plain, "from", t.Value().Source)
	return append(f, factsOfOptions(t)...)
}

// factsOfOptions are the options of a request. Puppet writes a list of types of
// checksums with dots.
func factsOfOptions(t *traces.Trace) widget.Facts {
	var f widget.Facts
	for _, o := range t.Options {
		value := o.Value
		if o.Name == "checksum_type" {
			value = strings.ReplaceAll(value, ".", ", ")
		}
		f.Put(term.Plain, "option", o.Name+"="+value)
	}
	return f
}

func factsOfChoice(l *line) widget.Facts {
	c := l.choice
	style := term.Quiet
	if l.status == "wins" {
		style = term.Plain
	}
	f := widget.Facts{{Label: l.status, Text: sentence(l.slot, c), Style: style}}
	f.Put(term.Attention, "because", c.Why)
	f.Put(term.Attention, "note", c.Note)
	return f
}

func factsOfSpan(s *traces.Span, tr *tree) widget.Facts {
	var f widget.Facts
	f.Put(term.Failed, "failed", s.Err)
	for _, a := range s.Attrs {
		f = append(f, widget.Fact{Label: a.Key, Text: a.Value})
	}
	f = append(f, widget.Fact{Label: s.Kind.String(), Text: s.Name})
	f.Put(term.Plain, "answer", s.Answer)
	f.Put(term.Plain, "because", s.Because.Words())
	f.Put(term.Quiet, "filter", code(s.Because))
	when := fmt.Sprintf("%s, %s after the request began", session.Took(s.Took), session.Took(s.At))
	if self := tr.self(s); self != s.Took {
		when += fmt.Sprintf("; %s of it its own", session.Took(self))
	}
	f.Put(term.Plain, "time", when)
	if s.Request != 0 {
		f.Put(term.Plain, "request", fmt.Sprintf("#%d; enter opens it", s.Request))
	}
	return f
}

// labelCells is the width of the names of facts, unless a name is longer and there is room.
const labelCells = 10

// render writes facts in at most height lines. If there is more the last line
// counts it.
func render(facts widget.Facts, width, height int) term.Lines {
	var lines term.Lines
	labels := labelCells
	for _, f := range facts {
		labels = max(labels, min(term.Clean(f.Label).Width(), width/4))
	}
	for _, f := range facts {
		for i, text := range paragraphs(f.Text, width-labels-3, height) {
			var l term.Line
			label := ""
			if i == 0 {
				label = f.Label
			}
			l.Space(2)
			l.Cell(term.Quiet, term.Clean(label), labels)
			l.Space(1)
			l.Add(f.Style, text)
			lines = append(lines, l)
		}
	}
	if len(lines) > height && height > 0 {
		more := len(lines) - height + 1
		lines = append(lines[:height-1], term.Of(term.Quiet, fmt.Sprintf("  %s more; enter shows all", term.Plural(more, "line"))))
	}
	return lines
}

// paragraphs breaks text at its own line ends and then between words.
func paragraphs(text string, width, limit int) []term.Text {
	var out []term.Text
	for part := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if len(out) > limit {
			break
		}
		wrapped := term.CleanTo(part, max(width, 1)*(limit+1)).Wrap(max(width, 1), limit+1)
		if len(wrapped) == 0 {
			wrapped = []term.Text{{}}
		}
		out = append(out, wrapped...)
	}
	return out
}

// whatIf returns what other flags and other routes would have done, as far as the
// trace alone shows. Nothing is executed.
func whatIf(t *traces.Trace) []string {
	primary, cache := t.Primary.Winner().Terminus, t.Cache.Winner().Terminus
	var out []string
	if t.Steps[traces.CacheRead].Because.Reason == traces.IgnoredByCaller && cache != "" {
		out = append(out, "ignore_cache=false -> cache "+cache+" is asked before "+primary)
	}
	switch t.Steps[traces.Terminus].Because.Reason {
	case traces.SkippedCacheHit:
		out = append(out, "ignore_cache=true -> terminus "+primary+" is asked")
	case traces.SkippedIgnoreTerminus:
		out = append(out, "ignore_terminus=false -> terminus "+primary+" is asked when the cache has nothing fresh")
	}
	if t.Steps[traces.CacheWrite].Because.Reason == traces.SkippedIgnoreCacheSave {
		out = append(out, "ignore_cache_save=false -> cache "+cache+" is written")
	}
	if next := t.Primary.RunnerUp(); next.Terminus != "" {
		out = append(out, "without "+where(t.Primary.Winner())+" -> "+sentence("terminus", &next))
	}
	if next := t.Cache.RunnerUp(); next.Terminus != "" {
		out = append(out, "without "+where(t.Cache.Winner())+" -> "+sentence("cache", &next))
	}
	return out
}

func where(c traces.Choice) string {
	if c.Source != "" {
		return c.Source
	}
	return c.Kind.String()
}

// Report is the story of a request as plain text, for a file or a ticket.
func Report(t *traces.Trace, zone *time.Location) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#%d %s %s %s\n", t.ID, t.Verb, t.Indirection, t.Key)
	fmt.Fprintf(&b, "%s  %s  %s", t.Start.In(zone).Format("2006-01-02 15:04:05.000"), t.Outcome, session.Took(t.Took))
	for _, part := range []struct{ label, text string }{{"environment", t.Environment}, {"run", traces.RunName(t.Run, t.Transaction, t.RunGuessed)}, {"caller", t.Caller}} {
		if part.text != "" {
			fmt.Fprintf(&b, "  %s %s", part.label, part.text)
		}
	}
	if joined := Joined(t); joined != "" {
		fmt.Fprintf(&b, "\ntrace %s", joined)
	}
	h := traces.HeadlineOf(t)
	fmt.Fprintf(&b, "\n\nSTORY     %s\nANSWERED  %s\nASKED     %s\n", traces.Story(t), h.Answered, h.Asked)
	if h.NotAsked != "" {
		fmt.Fprintf(&b, "NOT ASKED %s\n", h.NotAsked)
	}
	fmt.Fprintf(&b, "DECIDED   %s\n\n", h.Decided)
	open := make(map[key]bool)
	for i := range t.Steps {
		open[key{step: traces.Step(i)}] = true
	}
	tr := newTree(t)
	for _, l := range tr.lines(t, open) {
		step, answer, because, took := cells(t, &l)
		fmt.Fprintf(&b, "%-4s %s%-22s %-24s %-40s %7s\n", l.number, strings.Repeat("  ", l.depth), step, answer, because, took)
		for _, f := range factsOf(t, &l, tr) {
			if f.Label == "failed" || f.Label == "message" || f.Label == "not shown" || l.span != nil && f.Label != "time" && f.Label != l.span.Kind.String() {
				fmt.Fprintf(&b, "       %-10s %s\n", f.Label, strings.ReplaceAll(strings.TrimRight(f.Text, "\n"), "\n", "\n                  "))
			}
		}
	}
	return b.String()
}
