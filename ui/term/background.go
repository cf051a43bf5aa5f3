package term

import (
	"bytes"
	"image/color"
	"os"
	"time"

	"github.com/charmbracelet/x/ansi"
	xterm "github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// answerWithin is how long a terminal has to answer: the program starts so much
// later on one that never does.
const answerWithin = 200 * time.Millisecond

// Ask asks the terminal for the colour of its background; nil if it does not
// answer in time. What was typed meanwhile, and an answer that comes later, are
// for the Input, which is nil if in and out are no terminal.
func Ask(in, out *os.File) (color.Color, *Input) {
	if !xterm.IsTerminal(in.Fd()) || !xterm.IsTerminal(out.Fd()) {
		return nil, nil
	}
	input := &Input{File: in}
	before, err := xterm.MakeRaw(in.Fd()) // else the answer is seen on the screen
	if err != nil {
		return nil, input
	}
	defer func() { _ = xterm.Restore(in.Fd(), before) }()
	// All terminals answer the second question, and in order.
	if _, err := out.WriteString(ansi.RequestBackgroundColor + ansi.RequestPrimaryDeviceAttributes); err != nil {
		return nil, input
	}
	end := time.Now().Add(answerWithin)
	buf := make([]byte, 256)
	for {
		wait := max(time.Until(end), 0)
		fds := []unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(wait.Milliseconds()))
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			input.late = true
			return nil, input
		}
		n, err = in.Read(buf)
		if err != nil {
			return nil, input
		}
		input.ahead = append(input.ahead, buf[:n]...)
		if rest, c, done := answered(input.ahead); done {
			input.ahead = rest
			return c, input
		}
	}
}

// answered finds the answers to both questions. Rest is what was typed.
func answered(b []byte) (rest []byte, background color.Color, done bool) {
	begin := bytes.Index(b, []byte("\x1b[?"))
	if begin < 0 {
		return b, nil, false
	}
	end := bytes.IndexByte(b[begin:], 'c')
	if end < 0 {
		return b, nil, false
	}
	rest = append(bytes.Clone(b[:begin]), b[begin+end+1:]...)
	rest, text := cutBackground(rest)
	if c := ansi.XParseColor(text); c != nil {
		background = c
	}
	return rest, background, true
}

// cutBackground removes the answer about the background and returns its text:
// "rgb:ffff/ffff/ffff".
func cutBackground(b []byte) (rest []byte, text string) {
	const begin = "\x1b]11;"
	before, after, found := bytes.Cut(b, []byte(begin))
	if !found {
		return b, ""
	}
	for i, c := range after {
		switch c {
		case '\a':
			return append(bytes.Clone(before), after[i+1:]...), string(after[:i])
		case '\x1b':
			return append(bytes.Clone(before), bytes.TrimPrefix(after[i+1:], []byte(`\`))...), string(after[:i])
		}
	}
	return before, string(after)
}

// An Input is the keyboard behind what was typed while the terminal was asked.
// An answer that comes too late is not typed.
type Input struct {
	*os.File
	ahead []byte
	late  bool // the answer may still come
}

// Read reads what was typed.
func (in *Input) Read(b []byte) (int, error) {
	if len(in.ahead) > 0 {
		n := copy(b, in.ahead)
		in.ahead = in.ahead[n:]
		return n, nil
	}
	for {
		n, err := in.File.Read(b)
		if n == 0 || !in.late {
			return n, err
		}
		rest, text := cutBackground(b[:n])
		if text == "" {
			return n, err
		}
		in.late = false
		if n = copy(b, rest); n > 0 || err != nil {
			return n, err
		}
	}
}
