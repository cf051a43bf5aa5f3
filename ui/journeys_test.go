package ui_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/uitest"
)

// The journeys of the UI design, section 15, by their keys. The data is that of
// a small engine, so the numbers are other ones.

func TestJourney1FirstContact(t *testing.T) {
	t.Parallel()
	p := start(t, newTestEngine(t).play(), 80, 24)
	p.Want("- Requests ", "follow on")
	if got := p.Cursor(); !strings.Contains(got, "     8 ") {
		t.Fatalf("cursor: got %q, want the last request, 8", got)
	}
	p.Keys("k").Want("follow off")
	p.Keys("G").Want("follow on")
	p.Keys("q")
	if !p.Quit {
		t.Fatal("q on a place did not quit")
	}
}

func TestJourney2WhoAnsweredFacts(t *testing.T) {
	t.Parallel()
	p := start(t, newTestEngine(t).play(), 80, 24)
	p.Keys("/", "ind=facts served=cache", "enter").Want("1 of 8", "C json", "hit")
	p.Keys("enter").Want("the cache answered", "because=found")
	for line, want := range map[string]string{"cache read": "found", "terminus facter": "not asked"} {
		if got := p.Line("    " + line); !strings.Contains(got, want) && !strings.Contains(p.Frame(), want) {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
	p.Keys("g", "l").Want("terminus facter set by setting facts_terminus", "cache json set by storeconfigs")
	p.Keys("esc", "esc").Want("all 8", "  all ")
	if got := p.Cursor(); !strings.Contains(got, "     3 ") {
		t.Errorf("cursor: got %q, want request 3", got)
	}
	p.Keys("z").Want("undone :filter", "  ind=facts served=cache ")
}

func TestJourney3WhyACachedCatalog(t *testing.T) {
	t.Parallel()
	p := start(t, newTestEngine(t).play(), 80, 24)
	p.Want("1 stale")
	p.Keys("/", "out=stale", "enter").Want("1 of 8")
	p.Keys("enter").Want("not asked         ignore_terminus", "never expires: ", "#5 find catalog", "STORY", "#4 err", "1h 31m")
	p.Keys("{").Want("#4 find catalog", "err", "5.1 ", "POST catalog", "500")
	p.Keys("D").Want("Compare  #4 : #1")
	p.Keys("esc").Want("#4 find catalog")
	p.Keys("w", "story", "enter").Want("wrote dir/story-4.txt, masked 0")
}

func TestJourney4TheENCPrintedNothing(t *testing.T) {
	t.Parallel()
	p := start(t, newTestEngine(t).play(), 80, 24)
	p.Keys("2").Want("WHAT WENT WRONG", "node · exec", "db07").Not("GRP", "F1")
	for !strings.Contains(p.Cursor(), "node · exec") {
		before := p.Cursor()
		if p.Keys("j"); p.Cursor() == before {
			t.Fatal("there is no group with the origin terminus exec")
		}
	}
	p.Keys("enter").Want("- Requests ", "nil!")
	p.Keys("enter").Want("terminus exec", "exit 0, stdout 0 B", "printed nothing: ")
	p.Keys("}").Want("#6 find catalog db07.example.com", "err", "cannot compile")
	p.Keys("esc", "esc").Want("all 8")
	p.Keys(":", "find node db07.example.com terminus=plain", "enter").Want("all 9")
	p.Keys("G")
	if got := p.Cursor(); !strings.Contains(got, " 9 ") || !strings.Contains(got, "ok") {
		t.Fatalf("cursor: got %q, want request 9 with ok", got)
	}
	p.Want("sent by you")
	p.Keys("space", "k", "space", "d").Want("Compare  #8 : #9", "[0]", "[2]", "provenance A", "provenance B")
}

func TestRedactedValueIsRevealedForTenSeconds(t *testing.T) {
	t.Parallel()
	p := start(t, newTestEngine(t).play(), 80, 24)
	p.Keys("v").Want("[Tree]", "node")
	p.Keys("L", "/", "password", "enter").Want("(masked Sensitive, 7 B, tag 9f3a)").Not("hunter2")
	p.Keys(".").Want("hunter2", "revealed .parameters.password")
	p.Wait(revealed).Not("hunter2")
}

const revealed = 10_000_000_000

func TestFilterShowsWhereItIsWrong(t *testing.T) {
	t.Parallel()
	p := start(t, newTestEngine(t).play(), 80, 24)
	p.Keys("/", "out=stale").Want("1 of 8")
	p.Keys(" took>").Want("^ want", "1 of 8")
	p.Keys("enter").Want("^ want")
	p.Keys("esc").Want("  all ", "all 8")
	p.Keys("/", "nothing-like-this", "enter").Want("No request matches. 8 hidden.")
	p.Keys("esc").Want("all 8")
}

func TestFilterByCell(t *testing.T) {
	t.Parallel()
	p := start(t, newTestEngine(t).play(), 80, 24)
	p.Keys("f").Want("filter by what this row says", "ind=node")
	p.Keys("a").Want("only", "not")
	p.Keys("o").Want("  ind=node ", "2 of 8")
	p.Keys("f", "b", "a").Want("(ind=node) key=web01.example.com", "1 of 8")
}

func TestGroupsAndSort(t *testing.T) {
	t.Parallel()
	p := start(t, newTestEngine(t).play(), 80, 24)
	p.Keys(".", "i").Want("by indirection", "catalog", "err")
	p.Keys("enter").Want("  ind=catalog ", "4 of 8")
	p.Keys("esc", ".", "o").Want("OUTCOME", "stale")
	p.Keys("esc").Want("Requests  all 8")
	p.Keys(">", ">").Want("by ind asc")
	p.Keys("g")
	if got := p.Cursor(); !strings.Contains(got, "catalog") {
		t.Errorf("first by indirection: got %q", got)
	}
	p.Send(screen.Sort{Column: "took"})
	p.Want("there is no column took")
	p.Send(screen.Sort{Column: "ms", Reverse: true})
	p.Want("by ms desc")
	p.Send(screen.Group{By: "caller"})
	p.Want("by caller", "agent")
	p.Send(screen.Group{})
	p.Send(screen.Sort{Column: "ind"})
	p.Keys("<", "g")
	if got := p.Cursor(); !strings.Contains(got, "node") {
		t.Errorf("first in reverse: got %q", got)
	}
}

func TestMarksAndFailures(t *testing.T) {
	t.Parallel()
	p := start(t, newTestEngine(t).play(), 80, 24)
	p.Keys("k", "m", "a").Want("did :mark #7 a")
	p.Keys("g", "'", "a")
	if got := p.Cursor(); !strings.Contains(got, ">a~    7") {
		t.Errorf("cursor: got %q, want request 7 with its mark", got)
	}
	p.Keys("[", "[")
	if got := p.Cursor(); !strings.Contains(got, "    5 ") {
		t.Errorf("two failures back: got %q, want request 5", got)
	}
	p.Keys("]")
	if got := p.Cursor(); !strings.Contains(got, "    6 ") {
		t.Errorf("a failure on: got %q, want request 6", got)
	}
	p.Keys("g", "[").Want("no further failure")
}

// A 404 of another server that an agent has received is not hidden from it; from
// a terminus it is.
func TestMissingIsShownToAgents(t *testing.T) {
	t.Parallel()
	for caller, want := range map[string]string{"agent web01": "agent web01, as 404 Not Found", "terminus": "nobody: terminus got an answer"} {
		log, err := store.Open(store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		tr := traces.Trace{Verb: traces.Find, Indirection: "file_metadata", Key: "a", Caller: caller, Outcome: traces.NilHidden, Start: time.Now()}
		tr.ID = log.Begin(&tr)
		log.End(&tr, nil)
		p := uitest.New(t, ui.Config{Log: log}, 140, 40)
		p.Keys("2").Want("shown to", want)
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestFollowGoesOnBelow(t *testing.T) {
	t.Parallel()
	h := newTestEngine(t).play()
	p := start(t, h, 80, 24)
	p.Keys("k", "k")
	before := p.Cursor()
	for range 5 {
		h.ask(indirector.Request{Indirection: "facts", Key: web})
	}
	p.Sync().Want("5 new · follow off")
	if got := p.Cursor(); got != before {
		t.Errorf("cursor: got %q, want %q", got, before)
	}
	p.Keys("F").Want("follow on")
	if got := p.Cursor(); !strings.Contains(got, "   13 ") {
		t.Errorf("cursor: got %q, want the last request", got)
	}
}

func TestResizeKeepsTheCursor(t *testing.T) {
	t.Parallel()
	p := start(t, newTestEngine(t).play(), 80, 24)
	p.Keys("k", "k", "k")
	before := p.Cursor()
	p.Size(52, 14).Want("indirtui needs 60x16, this is 52x14")
	if n := strings.Count(strings.TrimSpace(p.Frame()), "\n"); n != 0 {
		t.Errorf("a small terminal shows %d more lines, want one sentence", n)
	}
	p.Size(140, 40).Want("answered  ")
	p.Size(80, 24)
	if got := p.Cursor(); got != before {
		t.Errorf("cursor: got %q, want %q", got, before)
	}
}

func TestLeaving(t *testing.T) {
	t.Parallel()
	h := newTestEngine(t).play()
	overrides := 1
	p := uitest.New(t, ui.Config{Log: h.log, Overrides: func() int { return overrides }}, 80, 24)
	p.Want("1 override")
	p.Keys("esc", "esc", "esc")
	if p.Quit {
		t.Fatal("esc quit")
	}
	p.Keys("enter", "q").Want("- Requests ", "follow off")
	p.Keys("q").Want("quit?", "1 changed route")
	p.Keys("n").Not("quit?")
	p.Keys("ctrl+c").Want("ctrl+c again quits")
	p.Keys("j", "q", "y")
	if !p.Quit {
		t.Fatal("q y did not quit")
	}
}

func TestCopyAndUndo(t *testing.T) {
	t.Parallel()
	p := start(t, newTestEngine(t).play(), 80, 24)
	p.Keys("enter", "y", "c").Want("copied command")
	if len(p.Copied) != 1 || p.Copied[0] != "find node web01.example.com env=production" {
		t.Errorf("copied: got %q", p.Copied)
	}
	p.Keys("esc", "Z").Want("nothing to redo")
	p.Keys(":", "log", "enter").Want("event log", "copied command")
}

func TestTypedAheadKeysReachThePrompt(t *testing.T) {
	t.Parallel()
	p := start(t, newTestEngine(t).play(), 80, 24)
	p.Paste("/ind=node").Want("/ ind=node")
	p.Keys("enter").Want("2 of 8")
}

// A slow line delivers escape and the key after it at once, which is the same as
// that key with alt.
func TestAltIsAnEscapeBefore(t *testing.T) {
	t.Parallel()
	p := start(t, newTestEngine(t).play(), 80, 24)
	alt := func(key tea.KeyMsg) {
		key.Alt = true
		p.Send(key)
	}
	p.Keys("enter").Want("STORY")
	alt(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(":")})
	p.Keys("log").Want(": log")
	alt(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("b")}) // a word back
	p.Keys("x").Want(": xlog")
	alt(tea.KeyMsg{Type: tea.KeyEscape})
	p.Not("xlog", "STORY").Want("- Requests ")
	p.Keys("g")
	alt(tea.KeyMsg{Type: tea.KeySpace, Runes: []rune(" ")})
	p.Want("selected 1")
	p.Keys("esc").Not("selected")
	p.Size(40, 10)
	alt(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("q")})
	if !p.Quit {
		t.Error("escape q did not quit")
	}
}

func TestOnlyPlacesThatExist(t *testing.T) {
	t.Parallel()
	h := newTestEngine(t).play()
	p := uitest.New(t, ui.Config{Log: h.log, Places: func(env *session.Env) []ui.Place {
		return []ui.Place{{Key: "3", Name: "Routes", Screen: place{}, Badge: func() (string, term.Style) { return "*1", term.Touched }}}
	}}, 80, 24)
	p.Want("1 Requests", "2 Failures", "3 Routes *1").Not("Cache", "Breaks")
	p.Keys("3").Want("3 Routes *1", "the routes")
	p.Keys("ctrl+o").Want("- Requests ")
}

func TestMouse(t *testing.T) {
	t.Parallel()
	p := start(t, newTestEngine(t).play(), 80, 24)
	click := func(x, y int) {
		p.Send(tea.MouseMsg{X: x, Y: y, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
	}
	click(10, 4) // tabs, context and titles are above: the second row
	if got := p.Cursor(); !strings.Contains(got, "     2 ") {
		t.Errorf("click: got %q, want request 2", got)
	}
	p.Send(tea.MouseMsg{Action: tea.MouseActionPress, Button: tea.MouseButtonWheelDown})
	p.Want("follow off")
	_ = p.Model().View() // a title is clicked where it is shown
	click(54, 2)
	p.Want("by served asc")
	click(54, 2)
	p.Want("by served desc")
	click(26, 0)
	p.Want("- Failures ")
	click(26, 10)
	p.Size(50, 10)
	click(1, 1)
}

// TestClicks: the second click on a row opens it, and a hint does what it names.
func TestClicks(t *testing.T) {
	t.Parallel()
	p := start(t, newTestEngine(t).play(), 80, 24)
	click := func(x, y int) {
		p.Send(tea.MouseMsg{X: x, Y: y, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
	}
	click(10, 4)
	click(10, 5)
	p.Want("Requests  all 8", "follow off").Not(" new")
	click(10, 5)
	p.Want("- #3 find").Keys("esc").Want("Requests  all 8")
	click(10, 5)
	p.Keys("j", "k")
	click(10, 5)
	p.Want("Requests  all 8")
	lines := strings.Split(p.Frame(), "\n")
	hint := func(text string) { click(utf8.RuneCountInString(lines[23][:strings.Index(lines[23], text)]), 23) }
	hint("filter")
	p.Want("| / _").Keys("esc")
	hint(": cmd")
	p.Want("| : _")
}

func TestCounts(t *testing.T) {
	t.Parallel()
	p := start(t, newTestEngine(t).play(), 80, 24)
	p.Keys("g", "g", "5", "j")
	if got := p.Cursor(); !strings.Contains(got, " 6 14:") { // in front of the time
		t.Errorf("5j from the first: got %q, want request 6", got)
	}
	p.Keys("9", "9", "k")
	if got := p.Cursor(); !strings.Contains(got, " 1 12:") {
		t.Errorf("99k: got %q, want request 1", got)
	}
}

func TestHintsNameOnlyWhatWorks(t *testing.T) {
	t.Parallel()
	p := start(t, newTestEngine(t).play(), 80, 24)
	p.Keys("g").Not("diff") // nothing is selected
	p.Keys("space", "space").Want("d diff", "selected 2")
	p.Keys("d").Want("Compare  #1 : #2")
	p.Keys("esc", "esc").Not("selected 2")
	p.Keys("d").Want("not now: select two requests with space")
}

func TestDroppedDetailIsReported(t *testing.T) {
	t.Parallel()
	log, err := store.Open(store.Options{Details: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	for range 50 {
		tr := &traces.Trace{Verb: traces.Find, Indirection: "facts", Key: web, Outcome: traces.Good}
		tr.ID = log.Begin(tr)
		log.End(tr, nil)
	}
	if err := log.Flush(); err != nil {
		t.Fatal(err)
	}
	p := uitest.New(t, ui.Config{Log: log}, 80, 24)
	p.Want("46 dropped") // in the status bar
	p.Keys("g", "enter").Want("#1 was dropped to keep memory under 256M; kept: verb, key, outcome, ms.")
}

func TestLargeValueIsLoadedWhenAsked(t *testing.T) {
	t.Parallel()
	h := newTestEngine(t)
	body := `{"name":"big","text":"` + strings.Repeat("x", 2<<20) + `"}`
	tr := &traces.Trace{Verb: traces.Find, Indirection: "facts", Key: "big", Outcome: traces.Good, Served: traces.ByTerminus}
	tr.ID = h.log.Begin(tr)
	h.log.End(tr, &inst{key: "big", json: body})
	_ = h.log.Flush()
	p := start(t, h, 80, 24)
	p.Keys("v").Want("2 097 kB.  enter loads it").Not("xxxx")
	p.Keys("enter").Want("text", "xxxx")
}
