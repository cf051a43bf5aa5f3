package ui_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"indirtui/indirector"
	"indirtui/indirector/debugger"
	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/traces/store"
	"indirtui/ui"
	"indirtui/ui/breaks"
	cacheplace "indirtui/ui/cache"
	"indirtui/ui/screen"
	"indirtui/ui/uitest"
)

// evil is what comes from outside when somebody means harm, or when nothing is
// what it should be.
var evil = []string{
	"", "\x1b[2J\x1b[H", "\x1b]52;c;aGVsbG8=\a", "\x1b]0;title\x07", "a\r\nb\tc", "\x00\x01\x7f", "\u009b31m", "\xff\xfe\xc3",
	"\u202egnp.exe", "\u200b\u200d\ufeff", "e\u0301\u0301\u0301", "日本語のとても長いテキスト", "👩‍👩‍👧‍👦🇩🇪👍🏽", "각",
	strings.Repeat("very-long-", 2000), strings.Repeat("\x1b", 500), "%s%d%!", `"quoted\"`, "/////", "  leading", "\ufffd\U000e0041",
}

func hostileText(r *rand.Rand) string {
	s := evil[r.IntN(len(evil))]
	if r.IntN(3) == 0 {
		s += evil[r.IntN(len(evil))]
	}
	return s
}

func hostileTrace(r *rand.Rand, i int) traces.Trace {
	text := func() string { return hostileText(r) }
	slot := func() traces.Slot {
		var s traces.Slot
		for range r.IntN(4) {
			s = append(s, traces.Choice{Terminus: text(), Source: traces.Source(r.IntN(10)), Place: text(), Why: evil[r.IntN(2)], Note: text()})
		}
		return s
	}
	tr := traces.Trace{
		Verb: traces.Verb(1 + r.IntN(6)), Indirection: text(), Key: text(), Environment: text(), Run: text(), Caller: text(), Application: text(),
		Start: uitest.Began.Add(time.Duration(i) * time.Second), Took: time.Duration(r.Int64N(1e12)), Outcome: traces.Outcome(1 + r.IntN(int(traces.OutcomeCount)-1)),
		Served: traces.Served(r.IntN(4)), Flags: traces.Flags(r.IntN(16)), Idle: traces.Flags(r.IntN(16)), Primary: slot(), Cache: slot(),
		Options: []traces.Option{{Name: text(), Value: text()}}, Named: text(), Error: text(), Notes: []string{text()},
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

// hostileBody is JSON with evil in it, or no JSON at all.
func hostileBody(r *rand.Rand) string {
	if r.IntN(8) == 0 {
		return hostileText(r)
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
	for _, c := range []byte(hostileText(r)) {
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

func hostileLog(t testing.TB, r *rand.Rand) *store.Store {
	t.Helper()
	s, err := store.Open(store.Options{
		Now: func() time.Time { return uitest.Began },
		Render: func(model string, instance any) traces.Value {
			body := instance.(uitest.Instance)
			return traces.Value{Model: model, Format: "json", Size: len(body), Body: []byte(body), Source: evil[len(body)%len(evil)]}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for i := range 30 {
		tr := hostileTrace(r, i)
		tr.ID = s.Begin(&tr)
		body := hostileBody(r)
		s.End(&tr, uitest.Instance(body))
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	return s
}

// A hostileHouse keeps entries whose every text is evil.
type hostileHouse struct{ r *rand.Rand }

func (h hostileHouse) Explain(string) (indirector.Route, bool) {
	slot := traces.Slot{{Terminus: hostileText(h.r), Source: traces.FromYou, Place: hostileText(h.r)}}
	return indirector.Route{Primary: slot, Cache: slot}, true
}

func (h hostileHouse) Walk(_ context.Context, yield func(indirector.Entry) bool, _ ...string) error {
	r := rand.New(rand.NewPCG(1, 2)) // it is called from another goroutine
	for i := range 20 {
		e := indirector.Entry{
			Indirection: hostileText(r), Terminus: hostileText(r), Key: hostileText(r), Path: hostileText(r), Size: r.Int64N(1e12) - 1,
			Written: uitest.Began.Add(-time.Duration(r.Int64N(1e16))), KeepsExpiry: i%2 == 0,
		}
		if i%3 == 0 {
			e.Expiration = uitest.Began.Add(time.Duration(r.Int64N(1e15)) - 5e14)
		}
		if i%7 == 0 {
			e.Err = errors.New(hostileText(r))
		}
		if !yield(e) {
			return nil
		}
	}
	return errors.New(hostileText(r))
}

func (h hostileHouse) Plan(context.Context, *indirector.Request, indirector.Routes) indirector.Forecast {
	return indirector.Forecast{Why: evil[3] + evil[4]}
}

func (h hostileHouse) Ask(context.Context, *indirector.Request) (*indirector.Response, error) {
	return nil, errors.New(evil[1] + evil[5])
}

func (h hostileHouse) Writes() bool { return true }

// hostileBreaks is a debugger that holds requests for evil keys, and has
// breakpoints that name them.
func hostileBreaks(t testing.TB, r *rand.Rand) *debugger.Debugger {
	t.Helper()
	d, err := debugger.New(debugger.Options{HoldLimit: -1})
	if err != nil {
		t.Fatal(err)
	}
	find := finder(func(_ context.Context, req *indirector.Request) (indirector.Instance, error) {
		return &inst{key: req.Key, json: "{}"}, nil
	})
	registry, err := indirector.NewRegistry([]indirector.Spec{{Name: "facts", Class: "Puppet::Node::Facts", Model: func(indirector.Instance) bool { return true }, Default: "script"}},
		[]indirector.Descriptor{{Indirection: "facts", Name: "script", Doc: "Answers.", Type: find, New: func(indirector.Env) (indirector.Terminus, error) { return find, nil }}})
	if err != nil {
		t.Fatal(err)
	}
	log, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	house, err := indirector.New(indirector.Config{
		Registry: registry, Recorder: log, Gate: d,
		Routes: indirector.Routes{"facts": {Primary: traces.Slot{{Terminus: "script", Source: traces.FromSetting, Place: evil[1]}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := debugger.Parse("before terminus do hold")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Add(b); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if b, err := debugger.Parse("key=" + query.Quote(hostileText(r)) + " before terminus do log"); err == nil {
			_, _ = d.Add(b) // evil that nobody keeps
		}
	}
	var asked sync.WaitGroup
	for range 3 {
		req := &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: hostileText(r) + "x", Options: []indirector.Option{{Name: hostileText(r), Value: hostileText(r)}}}
		before := len(d.Held())
		asked.Go(func() { _, _ = house.Do(t.Context(), req) })
		for len(d.Held()) == before {
			<-d.Changed()
		}
	}
	t.Cleanup(func() {
		d.Close()
		asked.Wait()
		_ = house.Close()
		_ = log.Close()
	})
	return d
}

// keysToPress are those that show something. Text is typed into prompts.
var keysToPress = []string{
	"j", "k", "G", "g", "enter", "enter", "esc", "tab", "l", "L", "h", "H", "v", "v", "1", "2", "D", "d", "space", "y", "f", "o", ".", "i", "t",
	"<", ">", "]", "[", "}", "{", "/", "x\x1b", "e", "ctrl+u", ":", "log", "w", "story", "n", "N", "F", "6j", "m", "a", "'", "a", "z", "Z", "q", "~", "?", "ctrl+p", "backspace",
	"3", "4", "4", "5", "5", "b", "B", "c", "s", "O", "u", "u", "X", "I", "=", "T", "M", "R", "r", "L", "ctrl+r", "down", "up",
}

var ours = regexp.MustCompile("\x1b\\[0(;[0-9]+)*m")

func checkFrame(t *testing.T, p *uitest.Player, width, height int, pressed []string) {
	t.Helper()
	lines := strings.Split(ours.ReplaceAllString(p.Raw(), ""), "\n")
	if len(lines) != height {
		t.Fatalf("%dx%d after %q: got %d lines", width, height, pressed, len(lines))
	}
	for _, line := range lines {
		if w := ansi.StringWidth(line); w > width {
			t.Fatalf("%dx%d after %q: a line of %d cells:\n%s", width, height, pressed, w, line)
		}
		if !utf8.ValidString(line) {
			t.Fatalf("%dx%d after %q: no UTF-8:\n%q", width, height, pressed, line)
		}
		for _, c := range line {
			if unicode.IsControl(c) || c == 0x202e || c == 0x200b || c == 0xfeff {
				t.Fatalf("%dx%d after %q: %U reaches the terminal:\n%q", width, height, pressed, c, line)
			}
		}
	}
}

// Whatever the data, the size and the keys: exactly height lines of at most
// width cells, and nothing in them that a terminal obeys.
func TestAnyFrameIsExact(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			playAtRandom(t, seed, 60)
		})
	}
}

func FuzzFrame(f *testing.F) {
	f.Add(uint64(1), uint16(10))
	f.Fuzz(func(t *testing.T, seed uint64, n uint16) { playAtRandom(t, seed, int(n%200)) })
}

func playAtRandom(t *testing.T, seed uint64, n int) {
	r := rand.New(rand.NewPCG(seed, 7))
	width, height := 1+r.IntN(200), 1+r.IntN(60)
	th := &screen.Theme{Glyphs: screen.Unicode}
	d := hostileBreaks(t, r)
	p := uitest.New(t, ui.Config{
		Log: hostileLog(t, r), Theme: th, Save: func(string, string) (string, int, error) { return "f", 0, nil }, Debugger: d,
		Places: func(env *screen.Env) []ui.Place {
			return []ui.Place{
				{Key: "4", Name: "Cache", Screen: cacheplace.New(t.Context(), env, hostileHouse{r})}, {Key: "5", Name: "Breaks", Screen: breaks.New(env)},
			}
		},
	}, width, height)
	var pressed []string
	for range n {
		if p.Quit {
			return
		}
		key := keysToPress[r.IntN(len(keysToPress))]
		pressed = append(pressed, key)
		p.Keys(key)
		if r.IntN(6) == 0 {
			width, height = 1+r.IntN(200), 1+r.IntN(60)
			p.Size(width, height)
		}
		checkFrame(t, p, width, height, pressed)
	}
}
