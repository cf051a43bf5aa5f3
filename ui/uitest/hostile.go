package uitest

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"indirtui/traces"
	"indirtui/traces/store"
)

// hostile is what comes from outside by malice, or when nothing is
// what it should be.
var hostile = [...]string{
	"", "\x1b[2J\x1b[H", "\x1b]52;c;aGVsbG8=\a", "\x1b]0;title\x07", "a\r\nb\tc", "\x00\x01\x7f", "\u009b31m", "\xff\xfe\xc3",
	"\u202egnp.exe", "\u200b\u200d\ufeff", "e\u0301\u0301\u0301", "日本語のとても長いテキスト", "👩‍👩‍👧‍👦🇩🇪👍🏽", "각",
	strings.Repeat("very-long-", 2000), strings.Repeat("\x1b", 500), "%s%d%!", `"quoted\"`, "/////", "  leading", "\ufffd\U000e0041",
}

// Hostile returns texts that come from outside by malice, or when
// nothing is what it should be: commands to a terminal, what is not seen, what is
// wide, what is long, what is no UTF-8.
func Hostile() []string { return slices.Clone(hostile[:]) }

// HostileText is one of them, or two.
func HostileText(r *rand.Rand) string {
	s := hostile[r.IntN(len(hostile))]
	if r.IntN(3) == 0 {
		s += hostile[r.IntN(len(hostile))]
	}
	return s
}

// HostileTrace is a trace in which every text is hostile, and every number is any. I is
// how many seconds after Began it began.
func HostileTrace(r *rand.Rand, i int) traces.Trace {
	text := func() string { return HostileText(r) }
	slot := func() traces.Slot {
		var s traces.Slot
		for range r.IntN(4) {
			s = append(s, traces.Choice{Terminus: text(), Kind: traces.SourceKind(r.IntN(10)), Source: text(), Why: hostile[r.IntN(2)], Note: text()})
		}
		return s
	}
	tr := traces.Trace{
		Verb: traces.Verb(1 + r.IntN(6)), Indirection: text(), Key: text(), Environment: text(), Run: text(), Caller: text(), Application: text(),
		Start: Began.Add(time.Duration(i) * time.Second), Took: time.Duration(r.Int64N(1e12)), Outcome: traces.Outcome(1 + r.IntN(int(traces.OutcomeCount)-1)),
		Served: traces.Served(r.IntN(4)), Flags: traces.Flags(r.IntN(16)), Idle: traces.Flags(r.IntN(16)), Primary: slot(), Cache: slot(),
		Options: []traces.Option{{Name: text(), Value: text()}}, Named: text(), Error: text(), Notes: []traces.Remark{{Step: traces.Step(r.IntN(traces.StepCount)), Explains: traces.Explains(r.IntN(3)), Text: text()}},
	}
	for s := range tr.Steps {
		tr.Steps[s] = traces.Question{
			Answer: traces.Answer(r.IntN(23)), Because: traces.Because{Reason: traces.Reason(r.IntN(int(traces.ReasonCount))), About: text()},
			At: time.Duration(r.Int64N(1e12)), Took: time.Duration(r.Int64N(1e12)),
		}
	}
	for id := range r.IntN(30) {
		tr.Spans = append(tr.Spans, traces.Span{
			ID: id + 1, Parent: r.IntN(id + 3), Step: traces.Step(r.IntN(traces.StepCount)), Kind: traces.Kind(r.IntN(10)), Name: text(), Answer: text(),
			Because: traces.Because{Reason: traces.Reason(r.IntN(int(traces.ReasonCount))), About: text()}, At: time.Duration(r.Int64N(1e12)), Took: time.Duration(r.Int64N(1e12)),
			Attrs: []traces.Attr{{Key: text(), Value: text()}, {Key: "stdout", Value: text()}}, Err: text(), Request: uint64(r.IntN(40)),
		})
	}
	for range r.IntN(3) {
		tr.Faults = append(tr.Faults, traces.Fault{Origin: text(), Step: traces.Step(r.IntN(traces.StepCount)), Message: text(), Hidden: text(), Shown: r.IntN(2) == 0, Path: text()})
	}
	return tr
}

// hostileBody is JSON with hostile text in it, or no JSON at all.
func hostileBody(r *rand.Rand) string {
	if r.IntN(8) == 0 {
		return HostileText(r)
	}
	var b strings.Builder
	b.WriteString(`{"resources":[`)
	for i := range 1 + r.IntN(4) {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"type":%s,"title":%s,"parameters":{%s:%s,"password":"(masked Sensitive, 3 B, tag 0000)"},"n":[1,[2,[]],{}]}`, quote(r), quote(r), quote(r), quote(r))
	}
	b.WriteString(`],` + quote(r) + `:null}`)
	return b.String()
}

// quote writes a string as JSON that keeps what JSON lets through.
func quote(r *rand.Rand) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(HostileText(r)) {
		switch {
		case c < ' ' || c == '"' || c == '\\':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// HostileLog is a log of n requests of which nothing is as it should be.
func HostileLog(t testing.TB, r *rand.Rand, n int) *store.Store {
	t.Helper()
	s, err := store.Open(store.Options{
		Now: func() time.Time { return Began },
		Render: func(model string, instance any) traces.Value {
			body := instance.(Instance)
			return traces.Value{Model: model, Format: "json", Size: len(body), Body: []byte(body), Source: hostile[len(body)%len(hostile)]}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for i := range n {
		tr := HostileTrace(r, i)
		tr.ID = s.Begin(&tr)
		body := hostileBody(r)
		s.End(&tr, Instance(body))
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	return s
}

var colours = regexp.MustCompile("\x1b\\[[0-9]+(;[0-9]+)*m")

// Wrong returns what is wrong with a frame: a line too many or too few, one that is
// too long, or something that a terminal obeys or does not show. "" is nothing.
func Wrong(frame string, width, height int) string {
	lines := strings.Split(colours.ReplaceAllString(frame, ""), "\n")
	if len(lines) != height {
		return fmt.Sprintf("got %d lines, want %d", len(lines), height)
	}
	for _, line := range lines {
		switch w := ansi.StringWidth(line); {
		case w > width:
			return fmt.Sprintf("a line of %d cells, there are %d: %q", w, width, line)
		case !utf8.ValidString(line):
			return fmt.Sprintf("no UTF-8: %q", line)
		case strings.ContainsFunc(line, Obeyed):
			return fmt.Sprintf("a terminal obeys it: %q", line)
		}
	}
	return ""
}

// Obeyed reports whether a terminal does something else with it than to show it.
func Obeyed(c rune) bool { return unicode.IsControl(c) || unicode.Is(unicode.Cf, c) }
