package cli

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/termini"
	"indirtui/traces"
	"indirtui/ui/uitest"
)

// monkeyKeys are what it presses: all that does something somewhere, and words
// for prompts. None of them writes to what is real: the program is read-only.
var monkeyKeys = strings.Fields(`j k G g h l H L enter enter enter esc esc esc tab shift+tab 1 2 3 4 5 d D space y f . t < > ] [ } {
	/ n N F m ' z Z q q ~ ? ctrl+p ctrl+u ctrl+d pgup pgdown home end backspace up down left right
	b B r R c C s o O e i u a x X I = w v V W M ctrl+x ctrl+t ctrl+r ctrl+o ctrl+c 3j web01 out=stale ind=facts json story incident terminus=yaml
	:replay␣run=8f3c␣dry :diff␣find␣node␣web01.example.com␣terminus=exec,plain :find␣facts␣web01.example.com :find␣node␣db07.example.com
	:route␣node␣terminus=yaml :route␣reset :recordings :ignore :watch␣failed :filter␣hidden :log :breaks␣off :breaks␣on :group␣run`)

// howManyKeys is how many it presses: INDIRTUI_MONKEY says, ten minutes are about
// a hundred thousand.
func howManyKeys(t *testing.T) int {
	if text := os.Getenv("INDIRTUI_MONKEY"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("INDIRTUI_MONKEY: %v", err)
		}
		return n
	}
	return 1500
}

// TestMonkey presses keys at random, always the same ones, while requests come
// in. Nothing panics, nothing hangs, and every frame is exact.
func TestMonkey(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	p := &program{Streams: Streams{Out: io.Discard, Err: io.Discard}, specs: termini.Specs(), termini: termini.All()}
	p.ui = interactive{demo: true, ascii: true}
	s, err := p.session()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	var traffic sync.WaitGroup
	defer traffic.Wait()
	defer cancel()
	for i := range 3 {
		traffic.Go(func() { ask(ctx, s.engine, i) })
	}
	width, height := 80, 24
	start := func() *uitest.Player {
		cfg := p.config(ctx, s, func(func() (*session, error)) tea.Cmd { return tea.Quit })
		cfg.Save = func(name, _ string) (string, int, error) { return name, 0, nil }
		player := uitest.New(t, cfg, width, height)
		player.Held = func() int { return heldByYou(s.engine) }
		return player
	}
	player := start()
	r := rand.New(rand.NewPCG(11, 2025))
	var pressed []string
	for range howManyKeys(t) {
		key := strings.ReplaceAll(monkeyKeys[r.IntN(len(monkeyKeys))], "␣", " ")
		if pressed = append(pressed, key); len(pressed) > 20 {
			pressed = pressed[1:]
		}
		player.Keys(key)
		if strings.HasPrefix(key, ":") {
			player.Keys("enter")
		}
		if r.IntN(40) == 0 {
			width, height = 60+r.IntN(100), 16+r.IntN(40)
			player.Size(width, height)
		}
		if r.IntN(30) == 0 {
			player.Wait(time.Minute)
		}
		exact(t, player, width, height, pressed)
		if player.Quit {
			s.engine.Debugger.ContinueAll()
			player = start()
		}
	}
	// What is held is let go before the house is taken down.
	s.engine.Debugger.SetOff(true)
	player.Sync()
	if err := s.log.Flush(); err != nil {
		t.Fatal(err)
	}
}

// heldByYou is how many requests wait that the player has sent: those of the
// traffic wait for themselves.
func heldByYou(e *engine.Engine) int {
	n := 0
	for _, h := range e.Debugger.Held() {
		if h.Request.Caller == "you" || h.State.Trace.Parent != 0 {
			n++
		}
	}
	return n
}

// ask asks until the context ends.
func ask(ctx context.Context, e *engine.Engine, seed int) {
	r := rand.New(rand.NewPCG(uint64(seed), 5))
	keys := []string{"web01.example.com", "db07.example.com", "app03.example.com"}
	for n := 0; ctx.Err() == nil; n++ {
		req := &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: keys[r.IntN(len(keys))], Caller: "agent", Run: fmt.Sprintf("%04x", n/5)}
		if r.IntN(4) == 0 {
			req.Verb = indirector.Head
		}
		if r.IntN(3) == 0 {
			req.Flags = traces.IgnoreTerminus
		}
		_, _ = e.Once(ctx, req) // whether it fails does not matter
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

var colours = regexp.MustCompile("\x1b\\[0(;[0-9]+)*m")

// exact checks that a frame has its lines, that none is too long, and that
// nothing in it is a command to the terminal.
func exact(t *testing.T, p *uitest.Player, width, height int, pressed []string) {
	t.Helper()
	lines := strings.Split(colours.ReplaceAllString(p.Raw(), ""), "\n")
	if len(lines) != height {
		t.Fatalf("%dx%d after %q: got %d lines", width, height, pressed, len(lines))
	}
	for _, line := range lines {
		if w := ansi.StringWidth(line); w > width || !utf8.ValidString(line) || strings.ContainsFunc(line, unicode.IsControl) {
			t.Fatalf("%dx%d after %q: a line of %d cells:\n%q", width, height, pressed, w, line)
		}
	}
}
