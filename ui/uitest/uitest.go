// Package uitest plays keys to the real program and reads its frames, without a
// terminal, without sleeping: after each key it runs every command that the key
// began, and those that these began, until nothing is left to do.
//
//	p := uitest.New(t, ui.Config{Log: log}, 80, 24)
//	p.Keys("/", "out=stale", "enter")
//	p.Want("1 shown")
package uitest

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"

	"indirtui/ui"
	"indirtui/ui/term"
)

// Update is the flag of a test binary that has golden files written anew.
var Update = flag.Bool("update", false, "write golden files anew")

// A Player has the program in its hands.
type Player struct {
	t      testing.TB
	model  *ui.Model
	mu     sync.Mutex // guards timers and Copied, which commands write
	timers []timer
	// Copied is what was put on the clipboard, oldest first.
	Copied []string
	// Pressed is how many keys were pressed; each letter of a text is one.
	Pressed int
	// Quit is set when the program has ended.
	Quit bool
	// Held returns how many requests are held. When it is not nil a
	// command whose request is held is left behind, and looked for again after
	// each key.
	Held func() int
	// Patience is how long what a key has begun may take: what takes longer goes on
	// beside what follows, and its messages are taken after later keys, or by Rest.
	// Zero is as long as it likes.
	Patience time.Duration
	// Busy is the longest time that a message kept the program busy: what a
	// user waits for, besides the frame. Commands run beside it.
	Busy          time.Duration
	width, height int
	pressed       []string // the last keys

	late chan late
	held int       // commands that were left behind since a request of them is held
	slow int       // and those that take long
	rest []tea.Cmd // that have not begun yet
}

// late is the message of a command that was left behind.
type late struct {
	msg  tea.Msg
	slow bool
}

type timer struct {
	after time.Duration
	msg   tea.Msg
}

// steps bounds what a key may begin: more is a loop.
const steps = 100_000

// New starts the program in a terminal of the given size, and waits until it is
// idle. Signs are ASCII unless the theme has others; times are UTC.
func New(t testing.TB, cfg ui.Config, width, height int) *Player {
	t.Helper()
	p := &Player{t: t, late: make(chan late, 100)}
	if cfg.Theme == nil {
		cfg.Theme = &term.Theme{Glyphs: term.ASCII, Palette: term.NoStyle}
	}
	if cfg.Zone == nil {
		cfg.Zone = time.UTC
	}
	cfg.Hooks = ui.Hooks{
		Pull: func() tea.Msg { return nil },
		After: func(d time.Duration, msg tea.Msg) tea.Cmd {
			return func() tea.Msg {
				p.mu.Lock()
				defer p.mu.Unlock()
				p.timers = append(p.timers, timer{d, msg})
				return nil
			}
		},
		Clipboard: func(text string) (string, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.Copied = append(p.Copied, text)
			return "by the test", nil
		},
	}
	p.model = ui.Build(cfg)
	p.Size(width, height)
	p.run(p.model.Init())
	p.Sync()
	return p
}

// Model returns the program itself.
func (p *Player) Model() *ui.Model { return p.model }

// Sync lets the program see what is new in the log.
func (p *Player) Sync() *Player {
	p.t.Helper()
	p.Send(p.model.Pull())
	return p
}

// Size changes the size of the terminal.
func (p *Player) Size(width, height int) *Player {
	p.t.Helper()
	p.width, p.height = width, height
	p.Send(tea.WindowSizeMsg{Width: width, Height: height})
	return p
}

// Send gives the program a message and waits until it is idle.
func (p *Player) Send(msg tea.Msg) {
	p.t.Helper()
	p.run(p.update(msg))
}

func (p *Player) update(msg tea.Msg) tea.Cmd {
	began := time.Now()
	_, cmd := p.model.Update(msg)
	p.Busy = max(p.Busy, time.Since(began))
	return cmd
}

// run runs a command and all that it begins, in order.
func (p *Player) run(cmd tea.Cmd) {
	p.t.Helper()
	queue := append([]tea.Cmd{cmd}, p.rest...)
	p.rest = nil
	began := time.Now()
	for n := 0; len(queue) > 0; n++ {
		if n > steps {
			p.t.Fatal("the program does not come to rest")
		}
		if p.Patience > 0 && time.Since(began) > p.Patience {
			p.rest = queue
			return
		}
		cmd, queue = queue[0], queue[1:]
		if cmd == nil {
			continue
		}
		msg, ended := p.do(cmd)
		if !ended {
			continue
		}
		switch msg := msg.(type) {
		case nil:
		case tea.BatchMsg:
			queue = append(append([]tea.Cmd(nil), msg...), queue...)
		case tea.QuitMsg:
			p.Quit = true
		default:
			queue = append([]tea.Cmd{p.update(msg)}, queue...)
		}
	}
}

// do runs a command, and reports whether it has ended: if not, a request of it
// is held, or it takes long.
func (p *Player) do(cmd tea.Cmd) (tea.Msg, bool) {
	if p.Held == nil && p.Patience == 0 {
		return cmd(), true
	}
	done := make(chan tea.Msg, 1)
	go func() { done <- cmd() }()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	began := time.Now()
	for {
		select {
		case msg := <-done:
			return msg, true
		case <-look.C:
		}
		switch {
		case p.Held != nil && p.Held() > p.held:
			p.held++
			go func() { p.late <- late{<-done, false} }()
			return nil, false
		case p.Patience > 0 && time.Since(began) > p.Patience:
			p.slow++
			go func() { p.late <- late{<-done, true} }()
			return nil, false
		}
	}
}

// take takes the message of a command that was left behind.
func (p *Player) take(l late) {
	p.t.Helper()
	if l.slow {
		p.slow--
	} else {
		p.held--
	}
	p.run(func() tea.Msg { return l.msg })
}

// settle takes the messages of commands that were left behind and are not held
// any more, and of those that took long and have ended.
func (p *Player) settle() {
	p.t.Helper()
	for range p.slow {
		select {
		case l := <-p.late:
			p.take(l)
		default:
		}
	}
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	limit := time.After(30 * time.Second)
	for p.held > 0 {
		select {
		case l := <-p.late:
			p.take(l)
		case <-look.C:
			if p.Held() >= p.held {
				return
			}
		case <-limit:
			p.t.Fatalf("%d requests neither end nor are held:\n%s", p.held, p.Frame())
		}
	}
}

// Rest lets what takes long come to an end. It reports false if a command has
// not ended within the limit; what goes on without an end is left after a while.
func (p *Player) Rest(limit time.Duration) bool {
	p.t.Helper()
	for n := 0; n < 1000 && (p.slow > 0 || len(p.rest) > 0); n++ {
		if len(p.rest) > 0 {
			p.run(nil)
			continue
		}
		select {
		case l := <-p.late:
			p.take(l)
		case <-time.After(limit):
			return false
		}
	}
	return true
}

// special are the keys that are not letters, by the names of Bubble Tea.
var special = func() map[string]tea.KeyType {
	m := map[string]tea.KeyType{}
	for k := tea.KeyType(-100); k < 130; k++ {
		if name := (tea.Key{Type: k}).String(); name != "" && k != tea.KeyRunes {
			if _, taken := m[name]; !taken {
				m[name] = k
			}
		}
	}
	m["space"] = tea.KeySpace
	return m
}()

// Keys presses keys, one after the other: "enter", "ctrl+d", "space", or text
// that is typed.
func (p *Player) Keys(keys ...string) *Player {
	p.t.Helper()
	for _, key := range keys {
		if p.pressed = append(p.pressed, key); len(p.pressed) > 30 {
			p.pressed = p.pressed[1:]
		}
		if kind, ok := special[key]; ok && len(key) > 1 {
			p.press(tea.KeyMsg{Type: kind})
			continue
		}
		for _, r := range key {
			p.press(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
		}
	}
	return p
}

// Command runs a line behind the colon. A line before it that was refused, and is
// still there, is left.
func (p *Player) Command(line string) *Player {
	p.t.Helper()
	if strings.Contains(p.Frame(), "\n| : ") {
		p.Keys("esc")
	}
	return p.Keys(":", line, "enter")
}

func (p *Player) press(msg tea.KeyMsg) {
	p.Pressed++
	p.t.Helper()
	if msg.Type == tea.KeySpace {
		msg.Runes = []rune{' '}
	}
	p.Send(msg)
	p.settle()
	p.Sync()
}

// Paste delivers text as a slow line does: all keys at once.
func (p *Player) Paste(text string) *Player {
	p.t.Helper()
	p.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text)})
	p.Sync()
	return p
}

// Wait lets everything happen that waits for at most the given time.
func (p *Player) Wait(d time.Duration) *Player {
	p.t.Helper()
	var due []timer
	p.mu.Lock()
	p.timers = slices.DeleteFunc(p.timers, func(t timer) bool {
		if t.after <= d {
			due = append(due, t)
		}
		return t.after <= d
	})
	p.mu.Unlock()
	for _, timer := range due {
		p.Send(timer.msg)
	}
	return p
}

// Frame returns what is on the screen as plain text.
func (p *Player) Frame() string { return p.model.Lines().Text() }

// Lines returns what is on the screen with its styles.
func (p *Player) Lines() term.Lines { return p.model.Lines() }

// Raw returns what a terminal would get.
func (p *Player) Raw() string { return p.model.View() }

// Exact fails the test unless the frame has the lines and the cells that it
// should have, and nothing in it that a terminal obeys. See Wrong.
func (p *Player) Exact() *Player {
	p.t.Helper()
	if what := Wrong(p.Raw(), p.width, p.height); what != "" {
		p.t.Fatalf("%dx%d after %q: %s", p.width, p.height, p.pressed, what)
	}
	return p
}

// sizes are those of terminals in which screens are tried: too small, the
// least, the usual, wide.
var sizes = [][2]int{{20, 5}, {60, 16}, {80, 24}, {140, 40}}

// Try presses keys in terminals of several sizes, and changes the size meanwhile;
// each frame must be exact. In the end it is 80x24.
func (p *Player) Try(keys ...string) *Player {
	p.t.Helper()
	for _, size := range sizes {
		p.Size(size[0], size[1]).Exact()
		for i, key := range keys {
			p.Keys(key).Exact()
			if p.Quit {
				return p
			}
			if i%5 == 4 {
				p.Size(20, 5).Exact().Size(size[0], size[1]).Exact()
			}
		}
	}
	return p.Size(80, 24).Exact()
}

// Want fails the test unless every text is on the screen.
func (p *Player) Want(texts ...string) *Player {
	p.t.Helper()
	frame := p.Frame()
	for _, text := range texts {
		if !strings.Contains(frame, text) {
			p.t.Fatalf("%q is not on the screen:\n%s", text, frame)
		}
	}
	return p
}

// Not fails the test if one of the texts is on the screen.
func (p *Player) Not(texts ...string) *Player {
	p.t.Helper()
	frame := p.Frame()
	for _, text := range texts {
		if strings.Contains(frame, text) {
			p.t.Fatalf("%q is on the screen:\n%s", text, frame)
		}
	}
	return p
}

// Line returns the first line on the screen with a text, or fails the test.
func (p *Player) Line(text string) string {
	p.t.Helper()
	for line := range strings.SplitSeq(p.Frame(), "\n") {
		if strings.Contains(line, text) {
			return line
		}
	}
	p.t.Fatalf("no line with %q:\n%s", text, p.Frame())
	return ""
}

// Cursor returns the line that the cursor is on, or fails the test.
func (p *Player) Cursor() string {
	p.t.Helper()
	if all := Cursors(p.Frame()); len(all) > 0 {
		return all[0]
	}
	p.t.Fatalf("no cursor:\n%s", p.Frame())
	return ""
}

// Cursors returns the lines of a frame with a cursor, without the walls around
// them: a menu has one, and the list below it.
func Cursors(frame string) (lines []string) {
	for line := range strings.SplitSeq(frame, "\n") {
		if row, inside := strings.CutPrefix(line, "|>"); inside {
			lines = append(lines, ">"+strings.TrimSuffix(row, "|"))
		}
	}
	return lines
}

// Golden compares the frame with testdata/NAME.golden; with -update it writes
// that file. What differs from run to run is taken out by clean.
func (p *Player) Golden(name string, clean ...func(frame string) string) *Player {
	p.t.Helper()
	got := p.Frame() + "\n"
	for _, f := range clean {
		got = f(got)
	}
	Golden(p.t, name, got)
	return p
}

// Golden compares a text with testdata/NAME.golden; with -update it writes that
// file.
func Golden(t testing.TB, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *Update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); -update writes it anew:\n%s", path, diff)
	}
}
