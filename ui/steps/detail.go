package steps

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"indirtui/traces"
	"indirtui/ui/session"
	"indirtui/ui/term"
)

// A fact is one line of the detail of a row: what it is called, and what is
// so. A fact may be long, and may have several lines.
type fact struct {
	label, text string
	style       term.Style
}

// factsOf returns all that is known about a row.
func factsOf(t *traces.Trace, l *line, tr *tree) []fact {
	switch {
	case l.choice != nil:
		return factsOfChoice(l)
	case l.span != nil:
		return factsOfSpan(l.span, tr)
	}
	return factsOfStep(t, l.step)
}

// factsOfStep begins with what failed: there may be room for little more.
func factsOfStep(t *traces.Trace, s traces.Step) []fact {
	q := t.Steps[s]
	var f []fact
	for i := range t.Faults {
		if t.Faults[i].Step == s {
			f = append(f, factsOfFault(&t.Faults[i])...)
		}
	}
	f = append(f, fact{"answer", Answer(t, s), StyleOf(t, s)})
	if why := Because(t, s); why != "" {
		f = append(f, fact{"because", why, term.Plain})
	}
	if q.Took > 0 {
		f = append(f, fact{"time", fmt.Sprintf("%s, %s after the request began", session.Took(q.Took), session.Took(q.At)), term.Plain})
	}
	switch s {
	case traces.Route:
		f = append(f, factsOfRoute(t)...)
	case traces.Terminus:
		f = append(f, factsOfRequest(t)...)
	case traces.Caller:
		if joined := Joined(t); joined != "" {
			f = append(f, fact{"trace", joined, term.Plain})
		}
		if t.Error != "" {
			f = append(f, fact{"was told", t.Error, term.Failed})
		}
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

func factsOfFault(f *traces.Fault) []fact {
	seen := "shown to the caller"
	style := term.Failed
	if !f.Shown {
		seen, style = "swallowed: the caller never saw it", term.Attention
	}
	out := []fact{{"message", f.Message, style}, {"failed", f.Origin + "; " + seen, style}}
	if f.Hidden != "" {
		out = append(out, fact{"not said", f.Hidden, term.Attention})
	}
	if f.Path != "" {
		out = append(out, fact{"at", f.Path, term.Plain})
	}
	return out
}

// factsOfRoute is the decision; the choices behind it unfold below the step.
func factsOfRoute(t *traces.Trace) []fact {
	f := []fact{{"decided", traces.HeadlineOf(t).Decided, term.Plain}}
	if names := t.Flags.Names(); len(names) > 0 {
		f = append(f, fact{"flags", strings.Join(names, ", "), term.Plain})
	}
	if names := t.Idle.Names(); len(names) > 0 {
		f = append(f, fact{"no effect", strings.Join(names, ", "), term.Attention})
	}
	return f
}

func factsOfRequest(t *traces.Trace) []fact {
	var f []fact
	if t.Named != "" {
		f = append(f, fact{"named", t.Named + ", although " + t.Key + " was asked for", term.Attention})
	}
	if t.Value.Model != "" || t.Value.Size > 0 {
		f = append(f, fact{"value", fmt.Sprintf("%s, %s, %s", t.Value.Model, t.Value.Format, term.Bytes(int64(t.Value.Size))), term.Plain})
	}
	if t.Value.Source != "" {
		f = append(f, fact{"from", t.Value.Source, term.Plain})
	}
	for _, o := range t.Options {
		f = append(f, fact{"option", o.Name + "=" + o.Value, term.Plain})
	}
	return f
}

func factsOfChoice(l *line) []fact {
	c := l.choice
	style := term.Quiet
	if l.status == "wins" {
		style = term.Plain
	}
	f := []fact{{l.status, sentence(l.slot, c), style}}
	if c.Why != "" {
		f = append(f, fact{"because", c.Why, term.Attention})
	}
	if c.Note != "" {
		f = append(f, fact{"note", c.Note, term.Attention})
	}
	return f
}

func factsOfSpan(s *traces.Span, tr *tree) []fact {
	var f []fact
	if s.Err != "" {
		f = append(f, fact{"failed", s.Err, term.Failed})
	}
	for _, a := range s.Attrs {
		f = append(f, fact{a.Key, a.Value, term.Plain})
	}
	f = append(f, fact{s.Kind.String(), s.Name, term.Plain})
	if s.Answer != "" {
		f = append(f, fact{"answer", s.Answer, term.Plain})
	}
	if s.Because.Reason != traces.NoReason {
		f = append(f, fact{"because", s.Because.String(), term.Plain})
	}
	when := fmt.Sprintf("%s, %s after the request began", session.Took(s.Took), session.Took(s.At))
	if self := tr.self(s); self != s.Took {
		when += fmt.Sprintf("; %s of it its own", session.Took(self))
	}
	f = append(f, fact{"time", when, term.Plain})
	if s.Request != 0 {
		f = append(f, fact{"request", fmt.Sprintf("#%d; enter opens it", s.Request), term.Plain})
	}
	return f
}

// labelCells is the width of the names of facts.
const labelCells = 10

// render writes facts in at most height lines. If there is more the last line
// counts it.
func render(facts []fact, width, height int) term.Lines {
	var lines term.Lines
	for _, f := range facts {
		for i, text := range paragraphs(f.text, width-labelCells-3, height) {
			var l term.Line
			label := ""
			if i == 0 {
				label = f.label
			}
			l.Space(2)
			l.Cell(term.Quiet, term.Clean(label), labelCells)
			l.Space(1)
			l.Add(f.style, text)
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
	if next := second(t.Primary); next != nil {
		out = append(out, "without "+where(t.Primary.Winner())+" -> "+sentence("terminus", next))
	}
	if next := second(t.Cache); next != nil {
		out = append(out, "without "+where(t.Cache.Winner())+" -> "+sentence("cache", next))
	}
	return out
}

// second returns the choice that would win if the winner were not there.
func second(s traces.Slot) *traces.Choice {
	won := false
	for i := range s {
		if s[i].Terminus == "" || s[i].Why != "" {
			continue
		}
		if won {
			return &s[i]
		}
		won = true
	}
	return nil
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
	for _, part := range []struct{ label, text string }{{"environment", t.Environment}, {"run", traces.RunName(t.Run, t.RunGuessed)}, {"caller", t.Caller}} {
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
			if f.label == "failed" || f.label == "message" || f.label == "not said" || l.span != nil && f.label != "time" && f.label != l.span.Kind.String() {
				fmt.Fprintf(&b, "       %-10s %s\n", f.label, strings.ReplaceAll(strings.TrimRight(f.text, "\n"), "\n", "\n                  "))
			}
		}
	}
	return b.String()
}
