package cli

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"golang.org/x/sys/unix"

	"indirtui/ui"
	"indirtui/ui/uitest"
)

// TestMonkeyAtOnce does the same as TestMonkey with the whole program in a
// terminal: here keys come while commands run, and the race detector sees all of
// it. What is typed arrives, nothing but what draws reaches the terminal, and in
// the end the terminal is as it was.
func TestMonkeyAtOnce(t *testing.T) {
	errand := errandOf(t, 600)
	j := grow(t)
	pty := openPTY(t)
	before := pty.modes()
	r := rand.New(rand.NewPCG(12, errand.seed))
	log := newMonkeyLog(t, j)
	dog := watch(t)
	run := pty.show(j)
	for n := 0; !errand.done(n); n++ {
		g := gestureOf(r, pty.width, pty.height)
		run.did(g.String())
		pty.do(g)
		switch r.IntN(20) {
		case 0:
			time.Sleep(time.Duration(r.IntN(60)) * time.Millisecond) // as a user who looks at it
		case 1, 2, 3: // typed ahead
		default:
			pty.wait(run) // until the keys have been read
		}
		if r.IntN(300) == 0 {
			pty.probe(run, n)
		}
		if run.ended() {
			run.check(before)
			j.session.engine.Debugger.ContinueAll()
			run = pty.show(j)
		}
		log.after(n)
		dog.alive()
	}
	if !run.ended() {
		pty.probe(run, -1)
	}
	j.session.engine.Debugger.SetOff(true)
	for !run.ended() { // leaves, whatever is open
		pty.press(run, "\x03")
		time.Sleep(10 * time.Millisecond)
	}
	run.check(before)
	log.sum()
}

// A pty is a terminal without a user. What is written to it is kept.
type pty struct {
	t             *testing.T
	master, slave *os.File
	width, height int

	mu  sync.Mutex // guards what follows
	out []byte
	cut int // bytes that were checked and forgotten
}

func openPTY(t *testing.T) *pty {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminal can be made on this machine: %v", err)
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &pty{t: t, master: master, slave: slave}
	quiet := p.modes()
	quiet.Lflag &^= unix.ECHO // what is typed while no program runs is not of interest
	if err := unix.IoctlSetTermios(int(slave.Fd()), unix.TCSETS, &quiet); err != nil {
		t.Fatal(err)
	}
	p.size(80, 24)
	var reads sync.WaitGroup
	reads.Go(p.read)
	t.Cleanup(func() {
		_ = slave.Close()
		_ = master.Close()
		reads.Wait()
	})
	return p
}

// read keeps what is written to the terminal, until it is closed.
func (p *pty) read() {
	b := make([]byte, 1<<16)
	for {
		n, err := p.master.Read(b)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.out = append(p.out, b[:n]...)
		p.mu.Unlock()
	}
}

func (p *pty) size(width, height int) {
	p.t.Helper()
	p.width, p.height = width, height
	if err := unix.IoctlSetWinsize(int(p.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(width), Row: uint16(height)}); err != nil {
		p.t.Fatal(err)
	}
	// The terminal is not that of this process, so it gets no signal from it.
	if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pty) modes() unix.Termios {
	p.t.Helper()
	m, err := unix.IoctlGetTermios(int(p.slave.Fd()), unix.TCGETS)
	if err != nil {
		p.t.Fatal(err)
	}
	return *m
}

// ptyKeys are what a terminal sends for keys.
var ptyKeys = map[string]string{
	"enter": "\r", "esc": "\x1b", "tab": "\t", "shift+tab": "\x1b[Z", "space": " ", "backspace": "\x7f", "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C",
	"left": "\x1b[D", "home": "\x1b[H", "end": "\x1b[F", "pgup": "\x1b[5~", "pgdown": "\x1b[6~", "f5": "\x1b[15~", "f10": "\x1b[21~", "f11": "\x1b[23~",
}

func (p *pty) do(g gesture) {
	p.t.Helper()
	switch {
	case g.mouse != nil:
		b, end := map[tea.MouseButton]int{tea.MouseButtonLeft: 0, tea.MouseButtonMiddle: 1, tea.MouseButtonRight: 2, tea.MouseButtonWheelUp: 64, tea.MouseButtonWheelDown: 65}[g.mouse.Button], "M"
		if g.mouse.Action == tea.MouseActionRelease {
			end = "m"
		}
		p.write(fmt.Sprintf("\x1b[<%d;%d;%d%s", b, g.mouse.X+1, g.mouse.Y+1, end))
	case g.paste != "":
		p.write("\x1b[200~" + strings.ReplaceAll(g.paste, "\x1b", "^[") + "\x1b[201~") // as terminals do
	case g.size != [2]int{}:
		p.size(g.size[0], g.size[1])
	default:
		for _, key := range g.keys {
			if letter, ok := strings.CutPrefix(key, "ctrl+"); ok {
				if letter == "z" {
					continue // it would stop the test
				}
				key = string(letter[0] & 0x1f)
			}
			if bytes, ok := ptyKeys[key]; ok {
				key = bytes
			}
			p.write(key)
		}
	}
}

// write types, a part at a time: there is no reader when the program has ended.
func (p *pty) write(text string) {
	p.t.Helper()
	if _, err := p.master.WriteString(text); err != nil {
		p.t.Fatal(err)
	}
}

// wait waits until the program has read what was typed, or has ended.
func (p *pty) wait(r *ptyRun) {
	p.t.Helper()
	for end := time.Now().Add(tooLong); !r.ended(); time.Sleep(200 * time.Microsecond) {
		n, err := unix.IoctlGetInt(int(p.slave.Fd()), unix.TIOCINQ)
		if err != nil {
			p.t.Fatal(err)
		}
		if n == 0 {
			return
		}
		if time.Now().After(end) {
			p.t.Fatalf("after %q: nobody reads keys", r.done)
		}
	}
}

// press types one key, which is not read together with the next one: escape and
// a letter would be another key.
func (p *pty) press(r *ptyRun, key string) {
	p.t.Helper()
	p.wait(r)
	p.write(key)
	p.wait(r)
}

// probe closes all that is open and types a word, which must be seen.
func (p *pty) probe(r *ptyRun, n int) {
	p.t.Helper()
	p.size(100, 30)
	p.press(r, "\x1b[201~") // ends what was pasted
	for range 40 {
		p.press(r, "\x1b")
		if r.ended() {
			return
		}
	}
	word := fmt.Sprintf("probe%d", n)
	p.mu.Lock()
	from := len(p.out) + p.cut
	p.mu.Unlock()
	p.press(r, ":")
	p.press(r, word)
	for end, i := time.Now().Add(time.Minute), 1; ; i++ {
		time.Sleep(time.Millisecond)
		if i%1000 == 0 { // it may have been drawn in parts: another size draws whole lines
			p.size(100+i/1000%2, 30)
		}
		p.mu.Lock()
		seen := bytes.Contains(p.out[from-p.cut:], []byte(word))
		p.mu.Unlock()
		if seen {
			break
		}
		if r.ended() {
			return
		}
		if time.Now().After(end) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.t.Fatalf("after %q: %q was typed and is not there; the last lines that were drawn:\n%q", r.done, word, p.out[from-p.cut:min(len(p.out), from-p.cut+6000)])
		}
	}
	p.press(r, "\x1b")
	p.onlyDraws()
}

// draws are what may be sent to the terminal: colours, moves of the cursor,
// erasing, modes, and what is copied.
var draws = regexp.MustCompile("\x1b\\[[0-9;]*[ABCDHJKXmGd]|\x1b\\[\\?(25|1000|1002|1003|1004|1006|1049|2004)[hl]|\x1b\\[>[0-9;]*[a-z]|\x1b\\]52;c;[A-Za-z0-9+/=]*(\a|\x1b\\\\)|\x1b\\]2;[ -~]*\a")

// onlyDraws checks what was sent since it was called last.
func (p *pty) onlyDraws() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	// A sequence may not be whole yet: it is left to the next time.
	whole := bytes.LastIndexByte(p.out, '\n') + 1
	for _, line := range strings.Split(draws.ReplaceAllString(string(p.out[:whole]), ""), "\n") {
		if i := strings.IndexFunc(strings.ReplaceAll(line, "\r", ""), uitest.Obeyed); i >= 0 {
			p.t.Fatalf("this was sent to the terminal: %q", line)
		}
	}
	p.out = append(p.out[:0], p.out[whole:]...)
	p.cut += whole
}

// A ptyRun is the program while it is shown on a pty.
type ptyRun struct {
	p    *pty
	j    *jungle
	end  chan struct{}
	exit ui.Exit
	done []string // the last gestures
}

// show shows the session until the program is left.
func (p *pty) show(j *jungle) *ptyRun {
	r := &ptyRun{p: p, j: j, end: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	cfg := viewer{j.program}.config(ctx, j.session, func(func() (*workspace, error)) tea.Cmd { return tea.Quit })
	cfg.In, cfg.Out = p.slave, p.slave
	go func() {
		defer close(r.end)
		defer cancel()
		r.exit = ui.Run(ctx, cfg)
	}()
	p.t.Cleanup(func() {
		cancel()
		<-r.end
	})
	return r
}

func (r *ptyRun) did(what string) {
	if r.done = append(r.done, what); len(r.done) > 30 {
		r.done = r.done[1:]
	}
}

func (r *ptyRun) ended() bool {
	select {
	case <-r.end:
		return true
	default:
		return false
	}
}

// check checks that the program has left the terminal as it was.
func (r *ptyRun) check(before unix.Termios) {
	p := r.p
	p.t.Helper()
	if r.exit.Code() != 0 {
		p.t.Fatalf("after %q it ended with %d: %v %v\n%s", r.done, r.exit.Code(), r.exit.Err, r.exit.Panic, r.exit.Stack)
	}
	if got := p.modes(); got != before {
		p.t.Errorf("after %q the modes of the terminal are %+v, they were %+v", r.done, got, before)
	}
	// What it wrote last may not have been read yet.
	left := p.left()
	for late := time.Now().Add(10 * time.Second); len(left) > 0 && time.Now().Before(late); left = p.left() {
		time.Sleep(time.Millisecond)
	}
	if len(left) > 0 {
		p.t.Errorf("after %q: %q were not taken back", r.done, left)
	}
}

// left returns the modes of the terminal that were switched on and not off.
func (p *pty) left() (on []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, mode := range []struct{ on, off string }{
		{"\x1b[?1049h", "\x1b[?1049l"}, {"\x1b[?25l", "\x1b[?25h"}, {"\x1b[?1002h", "\x1b[?1002l"}, {"\x1b[?1003h", "\x1b[?1003l"}, {"\x1b[?1006h", "\x1b[?1006l"}, {"\x1b[?2004h", "\x1b[?2004l"},
	} {
		if bytes.LastIndex(p.out, []byte(mode.on)) > bytes.LastIndex(p.out, []byte(mode.off)) {
			on = append(on, mode.on)
		}
	}
	return on
}
