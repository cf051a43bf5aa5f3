// Package terminal runs a command on a terminal of its own, and keeps what that
// shows as lines of text.
//
// It is no emulator: a line that is written again replaces what stood there, and
// sequences that move the cursor or colour something are left out. What else is
// no plain text is for those who show it to clean.
package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
)

const (
	maxLine  = 8 << 10          // bytes; longer lines are broken
	maxLines = 10_000           // that are kept, the newest
	maxBytes = 4 << 20          // of these
	drain    = time.Second      // how long what a command leaves behind may hold the terminal
	patience = 10 * time.Second // between asking a command to end and ending it
)

// Options are those of Start. The zero value is a terminal of 80 by 24.
type Options struct {
	Width, Height int
	// Line is called with each line that is complete, in order. It must not wait
	// for the Terminal. May be nil.
	Line func(string)
	// Changed is called when there is something new. It must not wait. May be nil.
	Changed func()
}

// A Terminal is a command on a terminal. It is safe for concurrent use.
type Terminal struct {
	o    Options
	cmd  *exec.Cmd
	file *os.File
	keep *keeper
	over chan struct{} // closed when the command has ended and all was read

	mu      sync.Mutex // guards the fields below
	lines   []string
	dropped int // lines before these
	bytes   int // of lines
	last    []byte
	ended   bool
	code    int
	err     error
}

// Start runs a command. It is in a session of its own; Stop ends it. If this program
// is killed, it goes on, and what it writes is thrown away.
func Start(cmd *exec.Cmd, o Options) (*Terminal, error) {
	if o.Width <= 0 || o.Height <= 0 {
		o.Width, o.Height = 80, 24
	}
	f, err := pty.StartWithSize(cmd, size(o.Width, o.Height))
	if err != nil {
		return nil, fmt.Errorf("run %q on a terminal: %w", cmd.Path, err)
	}
	t := &Terminal{o: o, cmd: cmd, file: f, over: make(chan struct{})}
	if t.keep, err = keep(f); err != nil {
		kill(cmd.Process)
		_ = cmd.Wait() // it was killed
		return nil, errors.Join(fmt.Errorf("run %q on a terminal: %w", cmd.Path, err), f.Close())
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		t.read()
	}()
	go t.wait(read)
	return t, nil
}

func size(width, height int) *pty.Winsize {
	return &pty.Winsize{Cols: uint16(min(width, 1000)), Rows: uint16(min(height, 1000))}
}

// read takes what the command writes, until nothing has the terminal open.
func (t *Terminal) read() {
	b := make([]byte, 32<<10)
	for {
		n, err := t.file.Read(b)
		if n > 0 {
			t.put(b[:n])
		}
		if err != nil {
			return // Linux has EIO for the end
		}
	}
}

// wait waits for the end of the command.
func (t *Terminal) wait(read <-chan struct{}) {
	err := t.cmd.Wait()
	t.keep.end()
	select {
	case <-read:
	case <-time.After(drain):
	}
	_ = t.file.Close() // nothing is buffered
	<-read
	t.mu.Lock()
	t.ended = true
	if len(t.last) > 0 {
		t.add(t.last)
		t.last = nil
	}
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		t.code = failed.ExitCode()
		if t.code < 0 { // by a signal, as a shell has it
			t.code = 128 + signalOf(failed.ProcessState)
		}
	} else if err != nil {
		t.code, t.err = 1, fmt.Errorf("run %q: %w", t.cmd.Path, err)
	}
	t.mu.Unlock()
	close(t.over)
	t.changed()
}

func (t *Terminal) changed() {
	if t.o.Changed != nil {
		t.o.Changed()
	}
}

// put takes in bytes.
func (t *Terminal) put(b []byte) {
	t.mu.Lock()
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		part, whole := b, i >= 0
		if whole {
			part = b[:i]
			b = b[i+1:]
		} else {
			b = nil
		}
		for room := maxLine - len(t.last); len(part) > room; room = maxLine {
			t.add(append(t.last, part[:room]...))
			part, t.last = part[room:], t.last[:0]
		}
		if t.last = append(t.last, part...); whole {
			t.add(t.last)
			t.last = t.last[:0]
		}
	}
	t.mu.Unlock()
	t.changed()
}

// add adds a line. T.mu is held.
func (t *Terminal) add(b []byte) {
	text := shown(b)
	t.lines = append(t.lines, text)
	for t.bytes += len(text); len(t.lines) > maxLines || t.bytes > maxBytes; t.dropped++ {
		t.bytes -= len(t.lines[0])
		t.lines = t.lines[1:]
	}
	if t.o.Line != nil {
		t.o.Line(text)
	}
}

// shown is what is seen of a line at its end: what was written after the last
// return to its beginning.
func shown(b []byte) string {
	text := strings.TrimRight(ansi.Strip(strings.ToValidUTF8(string(b), "�")), "\r")
	text = text[strings.LastIndexByte(text, '\r')+1:]
	return strings.ReplaceAll(text, "\t", "        ")
}

// Lines returns the lines there are from a number on, which counts from the first
// line that there was, and the one that is not complete, or "". The number of the first
// one that is returned is higher if those before it are not kept any longer.
func (t *Terminal) Lines(from int) (lines []string, first int, last string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first = min(max(from, t.dropped), t.dropped+len(t.lines))
	return slices.Clone(t.lines[first-t.dropped:]), first, shown(t.last)
}

// Ended reports whether the command has ended, and its exit code. One that was
// ended by a signal has 128 and the signal's number. The error is one of running it.
func (t *Terminal) Ended() (ended bool, code int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended, t.code, t.err
}

// Done returns a channel that is closed when the command has ended and all of its
// lines are there.
func (t *Terminal) Done() <-chan struct{} { return t.over }

// PID is the number of the process.
func (t *Terminal) PID() int { return t.cmd.Process.Pid }

// Write gives the command what is typed. It may wait for a command that does not
// read.
func (t *Terminal) Write(b []byte) (int, error) { return t.file.Write(b) }

var _ io.Writer = (*Terminal)(nil)

// Resize gives the terminal another size.
func (t *Terminal) Resize(width, height int) {
	_ = pty.Setsize(t.file, size(width, height)) // it may have ended
}

// Stop asks the command and all in its session to end, ends them if they do not, and
// waits for that.
func (t *Terminal) Stop() {
	select {
	case <-t.over:
		return
	default:
	}
	terminate(t.cmd.Process)
	select {
	case <-t.over:
	case <-time.After(patience):
		kill(t.cmd.Process)
		<-t.over
	}
}
