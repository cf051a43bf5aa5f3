package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/termini"
	"indirtui/ui/term"
	"indirtui/ui/uitest"
)

// The journeys of the UI design, section 15, key by key: the real program over
// the real engine and the live demo. What varies is fixed: the clock stands
// still, and the files of the demo are at a path of fixed length.

// noon is when the clock of the journeys stands.
var noon = time.Date(2025, 11, 20, 14, 2, 17, 0, time.UTC)

// sizes are the terminals that every journey is made in.
var sizes = map[string][2]int{"80x24": {80, 24}, "140x40": {140, 40}}

// A trip is a user in front of the program.
type trip struct {
	*uitest.Player
	t       *testing.T
	program *program
	session *workspace
	size    string
	theme   *term.Theme                // nil: the theme of the tests
	next    func() (*workspace, error) // what was asked to be shown instead
	keys    int                        // that were pressed in sessions before this one
	save    func(name, text string) (string, int, error)
}

// pathCells is how long the path of the demo is, so that lines are wrapped at
// the same place everywhere.
const pathCells = 64

// places is a directory for the demo that does not exist yet, and one for the
// recording.
func places(t *testing.T) (site, recording string) {
	t.Helper()
	made, err := os.MkdirTemp("", "j")
	if err != nil {
		t.Fatal(err)
	}
	// The path is in the recording, and how long that is on the screen.
	name := strings.TrimPrefix(filepath.Base(made), "j")
	dir := filepath.Join(filepath.Dir(made), "j"+strings.Repeat("0", max(10-len(name), 0))+name)
	if dir != made {
		if err := os.Rename(made, dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		// A journey leaves nothing behind but its recording, if it had one.
		left, _ := filepath.Glob(filepath.Join(dir, "*"))
		if want := filepath.Join(dir, "recording.jsonl"); len(left) > 1 || len(left) == 1 && left[0] != want {
			t.Errorf("the journey left %q behind, want only %s", left, want)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	pad := pathCells - len(dir) - 1
	if pad < 1 {
		t.Fatalf("the directory for temporary files is too deep: %s", dir)
	}
	return filepath.Join(dir, strings.Repeat("p", pad)), filepath.Join(dir, "recording.jsonl")
}

// travel plays a journey in every size. See visit.
func travel(t *testing.T, change func(*program), journey func(*trip)) {
	t.Helper()
	for size, cells := range sizes {
		t.Run(size, func(t *testing.T) {
			t.Parallel()
			visit(t, cells, nil, change, func(tr *trip) {
				tr.size = size
				journey(tr)
				tr.countKeys()
			})
		})
	}
}

// visit starts the program in a terminal of a size, with the flags --demo and
// --ascii; change may take them away.
func visit(t *testing.T, cells [2]int, theme *term.Theme, change func(*program), journey func(*trip)) {
	t.Helper()
	tr := &trip{t: t, theme: theme}
	p := &program{Streams: Streams{Out: io.Discard, Err: io.Discard}, specs: termini.Specs(), termini: termini.All()}
	p.site.Now = func() time.Time { return noon }
	p.ui = interactive{demo: true, ascii: true}
	p.site.Dir, p.ui.record = places(t)
	if change != nil {
		change(p)
	}
	configure(t, p, "")
	tr.program = p
	s, err := viewer{p}.session()
	if err != nil {
		t.Fatal(err)
	}
	tr.show(s, cells[0], cells[1])
	journey(tr)
}

// show starts the program over a session, as showOne does.
func (tr *trip) show(s *workspace, width, height int) {
	tr.t.Helper()
	tr.session = s
	tr.t.Cleanup(tr.close)
	if s.site != nil {
		if err := s.play(tr.t.Context()); err != nil {
			tr.t.Fatal(err)
		}
	}
	if err := s.log.Flush(); err != nil {
		tr.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(tr.t.Context())
	tr.t.Cleanup(cancel)
	cfg := viewer{tr.program}.config(ctx, s, func(open func() (*workspace, error)) tea.Cmd {
		tr.next = open
		return tea.Quit
	})
	cfg.Zone = time.UTC
	cfg.Save = func(name, text string) (string, int, error) {
		if tr.save == nil {
			return "", 0, errors.New("this journey writes no files")
		}
		return tr.save(name, text)
	}
	cfg.Theme = tr.theme
	if tr.Player != nil {
		tr.keys += tr.Pressed
	}
	tr.Player = uitest.New(tr.t, cfg, width, height)
	if e := s.engine; e != nil {
		tr.Held = func() int { return len(e.Debugger.Held()) }
	}
}

// mostKeys is how many keys each journey takes, each letter of a text counted. What
// is built later makes no journey longer: a number here may only become smaller.
var mostKeys = map[string]int{
	"TestJourney1FirstContact":                6,
	"TestJourney2WhoAnsweredFacts":            30,
	"TestJourney3WhyACachedCatalog":           22,
	"TestJourney4TheENCPrintedNothing":        57,
	"TestJourney5MyRoutesAreIgnored":          6,
	"TestJourney6SwapWithWhatIfAndUndo":       43,
	"TestJourney7HoldStepEditContinue":        99,
	"TestJourney8WhatHappensWhenItIsDown":     323,
	"TestJourney9TheSameKeyThroughTwoTermini": 67,
	"TestJourney10BiographyOfACacheEntry":     29,
	"TestJourney10BiographyOfACacheEntry#01":  97, // with --write
	"TestJourney13WhyIsMyExportMissing":       53,
	"TestJourney14WhyAreTheseFactsOld":        32,
	"TestJourney15WhichEntryOfLDAPWon":        27,
	"TestJourney16WhatWouldThisCatalogDo":     40,
	"TestJourney17StopBeforeNginxIsRestarted": 190,
}

// countKeys compares the keys of a journey with how many it took before.
func (tr *trip) countKeys() {
	tr.t.Helper()
	name := strings.Replace(tr.t.Name(), "/"+tr.size, "", 1)
	most, is := mostKeys[name]
	switch got := tr.keys + tr.Pressed; {
	case !is && strings.HasPrefix(name, "TestJourney"):
		tr.t.Errorf("%s took %d keys, which is written down nowhere", name, got)
	case is && got > most:
		tr.t.Errorf("%s took %d keys, more than %d before", name, got, most)
	}
}

// close ends the session, once.
func (tr *trip) close() {
	tr.t.Helper()
	if tr.session == nil {
		return
	}
	if err := tr.session.close(); err != nil {
		tr.t.Error(err)
	}
	tr.session = nil
}

// key presses one key, and checks that afterwards every text is on the screen.
// Keys that are typed into a prompt count as one.
func (tr *trip) key(key string, want ...string) *trip {
	tr.t.Helper()
	tr.Keys(key)
	if err := tr.session.log.Flush(); err != nil {
		tr.t.Fatal(err)
	}
	tr.Sync()
	if len(want) == 0 {
		tr.t.Fatalf("key %s: nothing is expected of it", key)
	}
	tr.Want(want...)
	return tr
}

// sees checks that every text is on the screen.
func (tr *trip) sees(want ...string) *trip {
	tr.t.Helper()
	tr.Want(want...)
	return tr
}

// cursor checks the line with the cursor.
func (tr *trip) cursor(want ...string) *trip {
	tr.t.Helper()
	line := tr.Cursor()
	for _, w := range want {
		if !strings.Contains(line, w) {
			tr.t.Fatalf("cursor: got %q, want %q\n%s", line, w, tr.Frame())
		}
	}
	return tr
}

// line checks what else is in the first line with a text.
func (tr *trip) line(text string, want ...string) *trip {
	tr.t.Helper()
	line := tr.Line(text)
	for _, w := range want {
		if !strings.Contains(line, w) {
			tr.t.Fatalf("got %q, want %q\n%s", line, w, tr.Frame())
		}
	}
	return tr
}

// to moves down to the first line that begins with a text.
func (tr *trip) to(text string) *trip {
	tr.t.Helper()
	begins := func(line string) bool {
		return strings.HasPrefix(strings.TrimLeft(line[1:], " !v>x+-*"), text)
	}
	for !begins(tr.Cursor()) {
		before := tr.Cursor()
		if tr.Keys("j"); tr.Cursor() == before {
			tr.t.Fatalf("no line begins with %q:\n%s", text, tr.Frame())
		}
	}
	return tr
}

// written is how large the recording is.
var written = regexp.MustCompile(`recording [0-9 ]+ [kM]?B`)

// port matches the address of the web server of the demo.
var port = regexp.MustCompile(`(127\.0\.0\.1|ht[~…]):\d+`)

// digest is what depends on the salt of redaction, which is new each time, or the port
// of the directory of the demo.
var digest = regexp.MustCompile(`(sha256 +|tag |ldapport +)[0-9a-f]+`)

// random is a part of such a digest, or the name of a file while it is written,
// to the end of its cell, or the size of the recording of the demo, which varies
// with names and ports in it.
var random = regexp.MustCompile(`[0-9a-f]{16,}|\.save-[^│|\x1b\n]*|\d+ \d{3} kB`)

// golden compares the frame with the one in testdata, where the path of the
// demo is a row of p, and what else varies has the same width.
func (tr *trip) golden(name string) *trip {
	tr.t.Helper()
	tr.Golden(name+"-"+tr.size, tr.clean)
	return tr
}

// clean takes out of a frame what differs from run to run.
func (tr *trip) clean(frame string) string { return tr.cleanOf(frame, tr.program.site.Dir) }

// cleanOf is clean for a frame that shows any of the paths.
func (tr *trip) cleanOf(frame string, paths ...string) string {
	frame = written.ReplaceAllStringFunc(frame, func(s string) string { return "recording " + strings.Repeat("N", len(s)-10) })
	frame = port.ReplaceAllStringFunc(frame, func(s string) string {
		host, number, _ := strings.Cut(s, ":")
		return host + ":" + strings.Repeat("N", len(number))
	})
	frame = digest.ReplaceAllStringFunc(frame, func(s string) string {
		name := strings.TrimRight(s, "0123456789abcdef")
		return name + strings.Repeat("N", len(s)-len(name))
	})
	frame = ownRun.ReplaceAllString(frame, "run NNNNNNNN$1")
	return ownRecording.ReplaceAllStringFunc(hidePath(frame, paths...), func(s string) string {
		const name = "(recording)"
		return name + strings.Repeat(" ", max(len(s)-len(name), 0))
	})
}

// ownRun is the run of what is applied in a journey, which has another name each time.
var ownRun = regexp.MustCompile(`run [0-9a-f]{8}([ ,]|$)`)

// ownRecording is the path of what is recorded, hidden, whose length varies.
var ownRecording = regexp.MustCompile(`p{5,}recording\.jsonl *`)

// hidePath writes p for every piece of the paths, however it was cut. Digits alone are
// no piece: those in a name are random, and the screen has numbers. All paths are looked
// for at once: the random end of one may be a piece of another.
func hidePath(frame string, paths ...string) string {
	lines := strings.Split(frame, "\n")
	for l, line := range lines {
		for i := 0; i < len(line); i++ {
			n := 0
			for _, path := range paths {
				n = max(n, pieceOf(line[i:], path))
			}
			if n > 0 {
				line = line[:i] + strings.Repeat("p", n) + line[i+n:]
				i += n - 1
			}
		}
		lines[l] = line
	}
	return strings.Join(lines, "\n")
}

// pieceOf returns how long the piece of the path is that the text begins with.
func pieceOf(text, path string) (n int) {
	const least = 5 // shorter pieces are words
	for n < len(text) && strings.Contains(path, text[:n+1]) {
		n++
	}
	cut := n > 1 && strings.HasPrefix(text[n:], "…") && strings.HasPrefix(path, text[:n])
	if cut || n >= least && strings.Trim(text[:n], "0123456789") != "" {
		return n
	}
	return 0
}

func TestJourney1FirstContact(t *testing.T) {
	t.Parallel()
	empty := func(p *program) {
		p.ui.demo, p.confDir = false, p.site.Dir
		if err := os.Mkdir(p.site.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	travel(t, empty, func(tr *trip) {
		tr.sees("Nothing has asked the indirector anything yet.", "no requests yet").line("play the built-in demo", "d ")
		tr.golden("journey1-card")
		tr.Keys("d")
		if !tr.Quit || tr.next == nil {
			tr.t.Fatal("d did not ask for the demo")
		}
		tr.close()
		if _, err := os.Stat(tr.program.ui.record); !errors.Is(err, fs.ErrNotExist) {
			tr.t.Fatalf("a recording in which nothing was asked is kept: %v", err)
		}
		if err := os.Remove(tr.program.confDir); err != nil {
			tr.t.Fatal(err)
		}
		s, err := tr.next()
		if err != nil {
			tr.t.Fatal(err)
		}
		tr.show(s, sizes[tr.size][0], sizes[tr.size][1])
		tr.sees("- Requests ", "follow on", "all 1 047", "the demo site").cursor(" 1047 ")
		tr.golden("journey1-demo")
		tr.key("?", "press a key to do it")
		tr.key("esc", "follow on").Not("press a key to do it")
		tr.key("k", "follow off").cursor(" 1046 ")
		tr.key("G", "follow on").cursor(" 1047 ")
		tr.leave()
	})
}

// leave is q, and y if something would be lost.
func (tr *trip) leave() {
	tr.t.Helper()
	if tr.Keys("q"); !tr.Quit {
		tr.sees("quit?").Keys("y")
	}
	if !tr.Quit {
		tr.t.Fatalf("q y did not quit:\n%s", tr.Frame())
	}
}

// filter types a filter, key by key, and applies it.
func (tr *trip) filter(text, shown string) *trip {
	tr.t.Helper()
	tr.key("/", " /")
	for i := range text {
		tr.key(text[i:i+1], "/ "+strings.TrimRight(text[:i+1], " "))
	}
	return tr.key("enter", "  "+text, shown)
}

// command types a command, key by key, and runs it. One before it that was refused
// is left.
func (tr *trip) command(text string, want ...string) *trip {
	tr.t.Helper()
	if strings.Contains(tr.Frame(), "\n| : ") {
		tr.Keys("esc")
	}
	tr.key(":", "| : ")
	for i := range text {
		tr.key(text[i:i+1], "| : "+strings.TrimRight(text[:i+1], " "))
	}
	return tr.key("enter", want...)
}

func TestJourney2WhoAnsweredFacts(t *testing.T) {
	t.Parallel()
	travel(t, nil, func(tr *trip) {
		tr.filter("ind=facts served=cache", " of 1 047").cursor(" 1047 ", "C json", "hit")
		tr.golden("journey2-filtered")
		tr.key("enter", "#1047 find facts app03.example.com").
			line("4    cache read", "found").line("5    terminus facter", "not asked", "the cache answered")
		tr.sees("ANSWERED cache json", "terminus facter (the cache answered)")
		tr.golden("journey2-steps")
		tr.cursor("4    cache read")
		tr.key("g", "#1047 find facts").cursor("1    route")
		tr.key("l", "#1047 find facts").
			line("terminus facter set by setting", "wins", "setting facts_terminus, pup").
			line("cache json set by", "wins", "routes file, routes.yaml:11").
			line("terminus puppetdb set by", "not applied")
		tr.golden("journey2-chain")
		tr.key("esc", "- Requests ", "  ind=facts served=cache ").cursor(" 1047 ")
		tr.key("esc", "  all ", "all 1 047").cursor(" 1047 ").Not(" new")
		tr.leave()
	})
}

func TestJourney3WhyACachedCatalog(t *testing.T) {
	t.Parallel()
	travel(t, nil, func(tr *trip) {
		tr.sees("8 stale")
		tr.filter("out=stale", "8 of 1 047").cursor(" 1044 ", "C json", "stale")
		tr.golden("journey3-stale")
		tr.key("enter", "#1044 find catalog web01.example.com", "STORY", "#1041", "91 min old").
			line("5    terminus upstre", "not asked", "ignore_terminus, by agent").line("expiry  ", "never expires: json")
		tr.golden("journey3-cached")
		tr.key("{", "#1041 find catalog web01.example.com", " err ").line("GET /catalog", "x  5.2", "500")
		tr.golden("journey3-refused")
		tr.to("= ").cursor("caller", "ignored", "caught by configurer retr")
		tr.sees("caught by configurer retrieve_new_catalog")
		tr.key("esc", "- Requests ", "  out=stale ")
		tr.key("esc", "  all ")
		tr.leave()
	})
}

func TestJourney4TheENCPrintedNothing(t *testing.T) {
	t.Parallel()
	travel(t, nil, func(tr *trip) {
		tr.key("2", "- Failures ", " exec ").line("printed nothing", "hidden", " exec ")
		tr.key("h", "- Failures ")
		for !strings.Contains(tr.Cursor(), "printed nothing") {
			tr.key("j", "- Failures ")
		}
		tr.cursor("hidden", "node ", "exec ").sees("find node db07", "terminus exec")
		tr.golden("journey4-failures")
		tr.key("enter", "- Requests ", "1 of 1 047").cursor("find node", "db07.example.com", "T exec", "nil!")
		tr.key("enter", "find node db07.example.com", "nil!", "STORY", "ENC").
			line("5    terminus exec", "nothing", "printed nothing: ").line("5.1", "exec ", "exit 0", "stdout 0 B")
		tr.golden("journey4-steps")
		tr.key("}", "find catalog db07.example.com", " err ", "cannot compile").line("5.1", "find node db07")
		tr.golden("journey4-parent")
		tr.key("esc", "- Requests ")
		tr.key("esc", "  all ", "all 1 047")
		tr.command("find node db07.example.com terminus=plain", "all 1 049", "sent by you")
		tr.key("G", "sent by you").cursor(" 1049 ", "find facts", "db07.example.com") // plain merges facts
		tr.key("k", "sent by you").cursor(" 1048 ", "find node", "db07.example.com", "T plain", "ok")
		tr.golden("journey4-sent")
		tr.leave()
	})
}

func TestJourney5MyRoutesAreIgnored(t *testing.T) {
	t.Parallel()
	travel(t, nil, func(tr *trip) {
		tr.key("3", "- Routes ", "application agent", "routes.yaml")
		for !strings.Contains(tr.Cursor(), " facts ") {
			tr.key("j", "- Routes ")
		}
		tr.sees("facts  history", "x terminus puppetdb", "routes.yaml:4, ", "not agent")
		tr.golden("journey5-routes")
		tr.key("H", "Routes > facts > history", "application    agent", "1. puppetdb", "routes.yaml:4 section master NOT APPLIED (agent)",
			"2. facter", "setting facts_terminus, puppet.conf:19 [agent]", "application agent, setting facts_terminus", "1. json", "routes.yaml:11")
		tr.golden("journey5-history")
		tr.key("esc", "- Routes ", "facts  history")
		tr.key("y", "copy", "as routes.yaml")
		tr.key("r", "copied as routes.yaml section agent")
		const section = "agent:\n  catalog:\n    terminus: upstream\n    cache: json\n  facts:\n    cache: json\n"
		if len(tr.Copied) != 1 || tr.Copied[0] != section {
			tr.t.Errorf("copied: got %q, want %q", tr.Copied, section)
		}
		tr.leave()
	})
}

func TestJourney6SwapWithWhatIfAndUndo(t *testing.T) {
	t.Parallel()
	travel(t, nil, func(tr *trip) {
		tr.key("3", "- Routes ")
		for !strings.Contains(tr.Cursor(), " node ") {
			tr.key("j", "- Routes ")
		}
		tr.key("W", "what if node went to", "nothing is executed")
		tr.key("y", "what if node went to")
		tr.key("a", "what if node went to") // the menu is narrowed
		if at := tr.menu(); !strings.Contains(at, " yaml ") {
			tr.t.Fatalf("the menu is at %q", at)
		}
		tr.key("enter", "WHAT IF  node terminus=yaml", "nothing is executed").line("would be answered", "0").line("   nil ", " #10")
		tr.golden("journey6-what-if")
		tr.key("enter", "did :route node terminus=yaml   z undo", "1 override", "3 Routes *1").cursor("*", "node", "yaml")
		tr.golden("journey6-swapped")
		tr.command("find node web01.example.com", "1 override")
		tr.key("1", "- Requests ", "all 1 048")
		tr.key("G", "sent by you").cursor(" 1048 ", "find node", "web01.example.com", "T yaml", "nil")
		tr.key("z", "undone :route node terminus=yaml").Not("override")
		tr.key("3", "- Routes ").cursor("node", "exec").Not("Routes *")
		tr.key("Z", "redone :route node terminus=yaml", "1 override").cursor("*", "node", "yaml")
		tr.key("u", "did :route reset node").cursor("node", "exec").Not("override")
		tr.golden("journey6-reset")
		tr.leave()
	})
}

// menu is the line of a menu with the cursor, which lies on top of the one of
// the place.
func (tr *trip) menu() string {
	tr.t.Helper()
	all := uitest.Cursors(tr.Frame())
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

func TestJourney10BiographyOfACacheEntry(t *testing.T) {
	t.Parallel()
	looks := func(tr *trip, frame string) {
		tr.key("4", "- Cache ", "10 entries", "4 orphan")
		tr.filter("web01 ind=catalog", "2 of ").cursor("catalog", "web01.example.com", "json", "1h 31m", "never: not kept", "#2")
		tr.line("o catalog", "web01.example.com", "yaml", "41d", "unknown")
		tr.golden(frame)
	}
	travel(t, nil, func(tr *trip) {
		looks(tr, "journey10-cache")
		tr.key("enter", "[Tree]", "web01.example.com")
		for !strings.Contains(tr.Frame(), "[Meta]") {
			tr.key("tab", "Meta")
		}
		tr.sees("written by", "#2 find catalog, run 5a1b", "no expiry: terminus json does not keep it")
		tr.golden("journey10-meta")
		tr.key("esc", "- Cache ", "2 of ")
		tr.key("u", "- Requests ", "ind=catalog key=web01.example.com ", "50 of 1 048").cursor(" 1044 ", "C json", "stale")
		tr.golden("journey10-used-by")
		tr.key("4", "- Cache ", "2 of ")
		tr.key("x", "not now: read-only")
		tr.golden("journey10-read-only")
		tr.leave()
	})
	travel(t, func(p *program) { p.write = true }, func(tr *trip) {
		looks(tr, "journey10-writable")
		tr.key("x", "expire catalog web01.example.com in json?", "does not keep the expiry")
		tr.golden("journey10-expire")
		tr.key("y", "expired catalog web01.example.com in json by #1048")
		tr.command("destroy catalog web01.example.com terminus=json", "type the key again to destroy 1 entry (terminus json, cache json of catalog)")
		for _, k := range strings.Split("web02", "") {
			tr.key(k, "type the key again")
		}
		tr.key("enter", "refused: the key is another one; nothing was destroyed")
		tr.key("ctrl+u", "type the key again")
		for _, k := range strings.Split("web01.example.com", "") {
			tr.key(k, "type the key again")
		}
		tr.key("enter", "1 of ").cursor("catalog", "yaml")
		tr.golden("journey10-destroyed")
		tr.leave()
	})
}

func TestJourney7HoldStepEditContinue(t *testing.T) {
	t.Parallel()
	travel(t, nil, func(tr *trip) {
		tr.key("B", "new breakpoint", "WHEN", "WHERE", "DO")
		tr.Keys("ind=catalog key=web01*", "tab", "ctrl+u", "cache read")
		tr.sees("break ind=catalog key=web01* before cache-read do hold")
		tr.golden("journey7-form")
		tr.key("enter", "5 Breaks 1", "did :break ind=catalog key=web01* before cache-read do hold")
		tr.command("find catalog web01.example.com ignore_cache", "HELD 1").cursor(" 1048 ", "held")
		tr.golden("journey7-held")
		// The screen is quick while a request is held. The machine may be slow now and
		// then, but not all the time.
		var took time.Duration
		for range 100 {
			began := time.Now()
			tr.key("1", "- Requests ")
			tr.key("k", "follow off")
			tr.key("k", "follow off")
			if took = time.Since(began); took <= 3*50*time.Millisecond {
				break
			}
			tr.key("G", "follow on")
		}
		if took > 3*50*time.Millisecond {
			tr.t.Errorf("three keys took %v while a request is held, want 50 ms each at most", took)
		}
		tr.key("5", "5 Breaks 1", "1 held", "others keep running").cursor("b1", "on", "ind=catalog key=we", "before cache-read", "hold")
		tr.golden("journey7-breaks")
		tr.key("enter", "HELD before 4 cache read by b1", "WILL NOT ASK").cursor("4    cache read")
		tr.line(".  5    terminus", "will ask upstream").line(".  7    cache write", "will not write")
		tr.golden("journey7-plan")
		tr.key("e", "enter changes")
		for !strings.Contains(tr.Frame(), ">ignore_cache  ") {
			tr.key("j", "enter changes")
		}
		tr.key("enter", "[x] -> [ ]", "would be served").line("4    cache read", "WOULD BE SERVED")
		tr.golden("journey7-edited")
		tr.key("e", "cache read")
		tr.key("s", "HELD").line("4    cache read", "found")
		tr.golden("journey7-stepped")
		tr.key("c", "#1048 find catalog web01.example.com", "  hit  ").Not("HELD")
		tr.key("1", "- Requests ")
		tr.key("G", "follow on").cursor("|", " 1048 ", "C json", "hit")
		tr.sees("you changed ignore_cache: true -> false")
		tr.leave()
	})
}

// TestPaletteGoesEverywhere finds every place by its name.
func TestPaletteGoesEverywhere(t *testing.T) {
	t.Parallel()
	travel(t, nil, func(tr *trip) {
		for i, place := range []string{"Requests", "Failures", "Routes", "Cache", "Breaks"} {
			tr.key("ctrl+p", "everything by name")
			tr.Keys("go" + strings.ToLower(place))
			tr.line(fmt.Sprintf("go      %d %s", i+1, place))
			tr.key("enter", fmt.Sprintf("- %s ", place))
		}
		tr.key("1", "- Requests ")
		tr.leave()
	})
}

// TestPlannedStepsOpen opens the steps that a held request has not come to.
func TestPlannedStepsOpen(t *testing.T) {
	t.Parallel()
	travel(t, nil, func(tr *trip) {
		tr.command("break ind=catalog key=web01* before cache-read do hold", "did :break ind=catalog")
		tr.command("find catalog web01.example.com ignore_cache", "HELD 1")
		tr.key("5", "5 Breaks 1").key("enter", "HELD before 4 cache read by b1", "WILL NOT ASK").cursor("4    cache read")
		tr.key("enter", "#1048 > 4 cache read", "WILL NOT ASK", "before 4 cache read by b1").Not("not reached", "earlier-step-raised")
		tr.key("esc", "HELD before 4 cache read by b1")
		tr.key("j", "HELD before").key("j", "HELD before").cursor("5    terminus")
		tr.key("enter", "#1048 > 5 terminus", "will ask upstream", "upstream: ", "in the end").Not("not reached", "earlier-step-raised")
		tr.key("esc", "HELD before 4 cache read by b1")
		tr.key("c", "#1048 find catalog web01.example.com").Not("HELD")
		tr.key("1", "- Requests ")
		tr.leave()
	})
}

func TestJourney9TheSameKeyThroughTwoTermini(t *testing.T) {
	t.Parallel()
	travel(t, nil, func(tr *trip) {
		saved := make(map[string]string)
		tr.save = func(name, text string) (string, int, error) {
			saved[name] = text
			return name, 0, nil
		}
		tr.command("diff find node web01.example.com terminus=exec,plain", "Compare  #1048 : #1050", "4 differences", "provenance A: exec", "provenance B: plain").cursor("classes", "-")
		tr.golden("journey9-compare")
		tr.key("]", "Compare  #1048 : #1050").cursor("datacentre", `"ams1"`, "-")
		tr.key("I", "ignored 1 rule", "3 differences", "did :ignore .parameters.datacentre")
		tr.golden("journey9-ignored")
		for !strings.Contains(tr.Cursor(), "secret_token") {
			tr.key("]", "Compare  #1048 : #1050")
		}
		tr.cursor("(masked secret, 18 B")
		tr.key("enter", ".parameters.secret_token", "tag ").Not("s3cr3t")
		tr.key("esc", "Compare  #1048 : #1050")
		tr.key("w", "json [FILE]")
		tr.Keys("json")
		tr.key("enter", "wrote diff-1048-1050.json")
		var doc struct {
			Kind    string
			Ignored int
			Rules   []string
			A, B    struct{ Decided, Terminus string }
		}
		if err := json.Unmarshal([]byte(saved["diff-1048-1050.json"]), &doc); err != nil {
			tr.t.Fatal(err)
		}
		if doc.Kind != "requests" || doc.Ignored != 1 || len(doc.Rules) != 1 || !strings.HasPrefix(doc.A.Decided, "exec: ") || doc.B.Terminus != "plain" {
			tr.t.Errorf("the document says %+v", doc)
		}
		if strings.Contains(saved["diff-1048-1050.json"], "s3cr3t") {
			tr.t.Error("the secret is in the file")
		}
		tr.key("esc", "- Requests ", "all 1 051")
		tr.leave()
	})
}

func TestJourney8WhatHappensWhenItIsDown(t *testing.T) {
	t.Parallel()
	travel(t, nil, func(tr *trip) {
		down := `break ind=facts verb=save at terminus do fail "connection refused" once`
		tr.command(down, "did :break", "5 Breaks 1")
		tr.filter("ind=catalog key=app03* out=ok", "1 of 1 047").cursor("find catalog", "app03.example.com", "ok")
		tr.key("r", "#1048 err, replay of #976 ok", "1 of 1 050").sees("12 hidden")
		tr.key("esc", "  all ", "all 1 050")
		tr.key("G", "follow on").cursor(" 1050 ", "expr node", "app03.example.com")
		tr.key("k", "follow off").cursor(" 1049 ", "save facts", "app03.example.com", "T puppetdb", "err")
		tr.key("k", "follow off").cursor(" 1048 ", "find catalog", "app03.example.com", "err")
		tr.key("enter", "#1048 find catalog app03.example.com", " err ", "Could not save facts for app03.example.com: connection refused", "replay of #976 ok")
		tr.golden("journey8-down")
		tr.key("esc", "- Requests ")
		tr.command("set soft_write_failure=true", "did :set soft_write_failure=true   z undo", "1 set here")
		tr.command(down, "did :break", "5 Breaks 1")
		tr.filter("ind=catalog key=app03* out=ok", "1 of ")
		tr.key("r", "#1051 ok, replay of #976 ok", "13 hidden")
		tr.key("esc", "  all ", "all 1 055")
		tr.filter("ind=facts verb=save out=err~", "1 of ").cursor(" 1052 ", "save facts", "app03.example.com", "T puppetdb", "err~")
		tr.key("enter", "#1052 save facts app03.example.com", " err~ ")
		tr.sees("soft_write_failure makes").cursor("terminus puppet", "ignored", "soft_write_failure makes")
		tr.golden("journey8-hidden")
		tr.key("esc", "- Requests ")
		tr.command("settings soft_write_failure", "settings > soft_write_failure", "true", "set here by :set", "overruled", "false   default").key("esc", "- Requests ")
		tr.command("breaks off", "did :breaks off")
		tr.key("5", "- Breaks ", "everything is off").line("b1 ", "off", " 1/1 ").line("b2 ", "off", " 1/1 ")
		tr.leave()
	})
}

func TestJourney13WhyIsMyExportMissing(t *testing.T) {
	t.Parallel()
	travel(t, nil, func(tr *trip) {
		tr.filter("b02 ind=catalog", "1 of 1 047").cursor(" 967 ", "find", "catalog", "T compiler").sees("collected 2 resources of a01.example.com", "31 min ago")
		tr.golden("journey13-compiled")
		tr.key("enter", "#967 find catalog b02.example.com").cursor("terminus compil", "ok")
		tr.key("l", "#967 find catalog").to("o  .1     search resour").cursor("2 found").golden("journey13-steps")
		tr.key("enter", "#970 search resource Host", "STORY", "c03.example.com exports 2 that would fit", "since 2025-11-20 14:02:17").golden("journey13-search")
		tr.key("esc", "#967 find catalog").to("o  5.9  exported for").cursor("asked 2 times, same answer")
		tr.sees("5.9 exported for Host <<| tag == 'cluster' |>>", "terminus store_configs").line("  a01.example.com", "2 resources, produced 2025-11-20T13:31:17Z").golden("journey13-collected")
		tr.key("esc", "- Requests ")
		tr.key("4", "- Cache ", "10 entries")
		tr.filter("terminus=sqlite", "3 of ").cursor("catalog", "a01.example.com", "sqlite").line("  written by", "#963 save catalog")
		tr.key("j", "3 of ").cursor("catalog", "c03.example.com", "sqlite")
		tr.line("  written by", "#964 save catalog").line("  produced", "2025-11-20 13:31:17", "31m ago", "made by web01.example.com").sees("node is deactivated since 2025-11-20")
		tr.golden("journey13-cache")
		tr.leave()
	})
}

func TestJourney14WhyAreTheseFactsOld(t *testing.T) {
	t.Parallel()
	travel(t, nil, func(tr *trip) {
		tr.filter("a01 verb=find", "1 of 1 047").cursor(" 962 ", "find", "facts", "a01.example.com", "T sqlite")
		tr.sees("these facts are 35 min old: what came later", "stored is")
		tr.golden("journey14-found")
		tr.key("4", "- Cache ", "10 entries")
		tr.filter("a01 ind=facts", "1 of ").cursor("facts", "a01.example.com", "sqlite", "35m")
		tr.line("  written by", "#958 save facts").line("  produced", "2025-11-20 13:27:17", "made by").line("  last save", "#960: ignored as older: stored is")
		tr.golden("journey14-cache")
		tr.leave()
	})
}

// What would this catalog do here, and why is the service last?
func TestJourney16WhatWouldThisCatalogDo(t *testing.T) {
	t.Parallel()
	travel(t, nil, func(tr *trip) {
		tr.filter("out=stale", "8 of 1 047").cursor(" 1044 ", "catalog", "C json", "stale")
		tr.key("p", "- plan of #1044 ", "2 to change, 1 restart, 1 in sync").cursor("change", "File[/etc/nginx/nginx.conf]", "content differs")
		tr.line("outcome ", "would be changed").golden("journey16-plan")
		tr.key("}", "- plan ").cursor("change", "File[/etc/app.conf]", "content, mode differ")
		tr.key("}", "- plan ").cursor("refresh", "Service[nginx]", "web.pp:21").line("outcome ", "would be refreshed")
		tr.key("enter", "- plan > Service[nginx] ", "waits for").line("evaluated ", "as 4 of 11").golden("journey16-service")
		tr.to("File[/etc/nginx/nginx.conf]").cursor("(change)", "subscribe, refreshes", "web.pp:21")
		tr.key("enter", "- plan > File[/etc/nginx/nginx.conf] ", "Package[nginx]  require  web.pp:9").golden("journey16-file")
		tr.key("v", "diff of File[/etc/nginx/nginx.conf]", "-worker_processes 2;", "+worker_processes auto;").golden("journey16-diff")
		tr.key("esc", "- plan > File[").key("esc", "- plan > Service[").key("esc", "- plan of #1044").key("esc", "- Requests ")
		tr.leave()
	})
}

// Stop before nginx is restarted, look, skip it, see who is skipped with it.
func TestJourney17StopBeforeNginxIsRestarted(t *testing.T) {
	t.Parallel()
	travel(t, func(p *program) { p.write = true }, func(tr *trip) {
		file := filepath.Join(tr.program.site.Dir, "nginx.json")
		if err := os.WriteFile(file, []byte(restarting), 0o600); err != nil {
			tr.t.Fatal(err)
		}
		tr.command("break ind=resource key=service/* at refresh", "5 Breaks 1")
		tr.Keys(":", "apply "+file+" confirm=web01.example.com")
		tr.key("enter", "HELD 1").cursor(" 1049 ", "save", "resource", "Service/nginx", "held")
		tr.key("enter", "HELD at refresh by b1", "refreshed by", "File[/etc/nginx/nginx.conf]").line("> refresh", "HELD")
		tr.line("refreshes ", "Exec[warm caches]").sees("STILL TO COME", "1 to change, 1 restart, 0 in sync")
		tr.golden("journey17-held")
		tr.key("enter", "- still to come ").cursor("change", "Notify[nginx is there]").line("refresh  Exec[warm caches]", "Service[nginx]").golden("journey17-still-to-come")
		tr.key("esc", "HELD at refresh").key("i", "leave this step of the resource out")
		tr.key("s", "Notify[nginx is there]", "HELD at dependencies by step").golden("journey17-next")
		tr.key("c", "#1050 save resource Notify/ngin", "chg")
		tr.key("1", "- Requests ")
		tr.filter("out=skip", "2 of 1 053").cursor(" 1049 ", "Service/nginx", "skip").sees("you left the step out at refresh; it is not")
		tr.key("j", " 1051 ").cursor(" 1051 ", "Exec/warm caches", "skip").sees("not refreshed without Service[nginx]").golden("journey17-skipped")
		tr.key(".", "group by").key("y", "by type", "Exec", "Service")
		tr.key(".", "group by").key("l", "by class", "Profile::Web").key("enter", "(out=skip) opt.class=Profile::Web", "2 of 1 053")
		tr.leave()
	})
}

// restarting is a catalog by which a service is restarted, and another resource with it.
const restarting = `{"name": "web01.example.com", "version": 1, "environment": "production", "classes": ["profile::web"], "resources": [
  {"type": "Stage", "title": "main", "tags": ["stage"], "exported": false, "kind": "compilable_type", "parameters": {"name": "main"}},
  {"type": "Class", "title": "Profile::Web", "tags": ["class"], "file": "web.pp", "line": 1, "exported": false, "kind": "class"},
  {"type": "File", "title": "/etc/nginx/nginx.conf", "tags": ["file"], "file": "web.pp", "line": 4, "exported": false, "kind": "compilable_type",
   "parameters": {"ensure": "file", "source": "puppet:///modules/web/nginx.conf", "notify": "Service[nginx]"}},
  {"type": "Service", "title": "nginx", "tags": ["service"], "file": "web.pp", "line": 9, "exported": false, "kind": "compilable_type",
   "parameters": {"ensure": "running", "enable": true}},
  {"type": "Notify", "title": "nginx is there", "tags": ["notify"], "file": "web.pp", "line": 14, "exported": false, "kind": "compilable_type",
   "parameters": {"require": "Service[nginx]"}},
  {"type": "Exec", "title": "warm caches", "tags": ["exec"], "file": "web.pp", "line": 17, "exported": false, "kind": "compilable_type",
   "parameters": {"command": "/usr/bin/warm", "refreshonly": true, "subscribe": "Service[nginx]"}}
], "edges": [
  {"source": "Stage[main]", "target": "Class[Profile::Web]"},
  {"source": "Class[Profile::Web]", "target": "File[/etc/nginx/nginx.conf]"},
  {"source": "Class[Profile::Web]", "target": "Service[nginx]"},
  {"source": "Class[Profile::Web]", "target": "Notify[nginx is there]"},
  {"source": "Class[Profile::Web]", "target": "Exec[warm caches]"}
]}`

func TestJourney15WhichEntryOfLDAPWon(t *testing.T) {
	t.Parallel()
	travel(t, nil, func(tr *trip) {
		tr.filter("terminus=ldap", "1 of 1 047").cursor(" 972 ", "find", "node", "b02.example.com", "T ldap")
		tr.sees("2 entries named b02: the last one won", "cn=b02,ou=fra2", "cn=b02,ou=ams1")
		tr.key("enter", "#972 find node b02.example.com", "2 entries named b02: the last one won").cursor("terminus ldap", "ok")
		tr.golden("journey15-won")
		tr.key("l", "#972 find node").line("5.3", "search b02 bel", "2 entries").to("o  5.6  node from").cursor("2 classes, 9 parameters, ")
		tr.golden("journey15-steps")
		tr.key("enter", "class profile::base ", "parent 1 (base)").line("lost datacentre", "parent 1 (base)", "displaced by").golden("journey15-where")
		tr.key("esc", "#972 find node").key("esc", "- Requests ")
		tr.leave()
	})
}

// A number on the screen is no piece of a path with the same digits in it.
func TestHidePath(t *testing.T) {
	t.Parallel()
	const path, state = "/tmp/j0017636400/pppp", "/tmp/TestFrames1236400/001/s"
	for frame, want := range map[string]string{
		"version 1763640000":              "version 1763640000",
		"in /tmp/j0017636400/ppp":         "in pppppppppppppppppppp",
		"400/pppp is":                     "pppppppp is",
		"in /tmp/TestFrames1236400/00… ─": "in ppppppppppppppppppppppppp… ─",
	} {
		if got := hidePath(frame, path, state); got != want {
			t.Errorf("%s: got %s, want %s", frame, got, want)
		}
	}
}

// A plan is found again by the request that it is of, and one of its resources is applied
// by itself, to the machine of the demo. Rule RES-SAFE-02.
func TestPlanIsKeptAndAppliedInParts(t *testing.T) {
	t.Parallel()
	travel(t, func(p *program) { p.write = true }, func(tr *trip) {
		tr.filter("out=stale", "8 of 1 047").key("p", "- plan of #1044 ").key("esc", "- Requests ")
		tr.key("p", "- plan of #1044 ", "this plan was made", "p plans anew")
		tr.key("enter", "- plan > File[/etc/nginx/nginx.conf] ", "would be changed")
		tr.key("A", "type web01.example.com to apply it", "without refreshing Service[nginx]").Keys("web02")
		tr.key("enter", "refused: that is another name; nothing was applied").key("esc", "would be changed").key("A", "type web01.example.com").Keys("web01.example.com")
		tr.key("enter", "- plan > log of the run ", "content changed")
		tr.key("esc", "- plan > File[/etc/nginx/nginx.conf] ", "is in sync").key("A", "it is in sync")
		tr.key("esc", "- plan of #1044 ", "1 to change").key("esc", "- Requests ").key("esc", "1 048").key("G", "save", "File//et")
		tr.Keys(":plan nowhere.pp")
		tr.key("enter", `there is no file "nowhere.pp", and no catalog of a node of`).key("esc", "- Requests ")
		tr.leave()
	})
}
