package child

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"indirtui/indirector/host/filelock"
)

// A Script is what an interpreter runs that is asked and answers in lines: it reads them
// from file 3 and writes to file 4, so that nothing else that prints gets between them.
type Script struct {
	Argv    []string                  // the interpreter and its arguments, which read Text from standard input
	Env     func(dir string) []string // given the directory that it works in, which is empty; nil is that of this process
	Text    string
	MaxLine int // bytes of an answer
	MaxRest int // bytes that are kept of what it prints
}

// A Dialogue is a Script that runs. It is for one goroutine.
type Dialogue struct {
	cmd    *exec.Cmd
	dir    *filelock.TempDir
	to     *os.File
	from   *os.File
	lines  *bufio.Reader
	rest   Buffer
	max    int
	unhook func() bool
}

// Start starts the script in a session of its own, which ends with ctx, or by Stop.
func (s Script) Start(ctx context.Context) (*Dialogue, error) {
	dir, err := filelock.MakeTemp("indirtui-ruby-")
	if err != nil {
		return nil, err
	}
	work := filepath.Join(dir.Path, "work") // without the lock
	err = os.Mkdir(work, 0o700)
	var files []*os.File
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
			files = append(files, r, w)
		}
		return r, w
	}
	theirs, to := pipe()
	from, mine := pipe()
	d := &Dialogue{dir: dir, to: to, from: from, rest: Buffer{Max: s.MaxRest}, max: s.MaxLine}
	if err == nil {
		// Where nothing can be read up to a time, a child that hangs could not be ended.
		err = errors.Join(from.SetReadDeadline(time.Time{}), to.SetWriteDeadline(time.Time{}))
	}
	if err == nil {
		d.lines = bufio.NewReaderSize(from, 64<<10)
		d.cmd = exec.CommandContext(ctx, s.Argv[0], s.Argv[1:]...)
		d.cmd.Dir = work
		if s.Env != nil {
			d.cmd.Env = s.Env(work)
		}
		d.cmd.Stdin, d.cmd.Stdout, d.cmd.Stderr = strings.NewReader(s.Text), &d.rest, &d.rest
		d.cmd.ExtraFiles, d.cmd.WaitDelay = []*os.File{theirs, mine}, time.Second // for what it leaves behind
		Session(d.cmd)
		err = d.cmd.Start()
	}
	if err != nil {
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
		return nil, errors.Join(err, dir.Remove())
	}
	// What leaves the group of processes may hold the pipe, which then has no end.
	d.unhook = context.AfterFunc(ctx, d.Interrupt)
	if err := errors.Join(theirs.Close(), mine.Close()); err != nil {
		return nil, errors.Join(err, d.Stop())
	}
	return d, nil
}

// Interrupt ends a Write or Read that waits. It may be called from any goroutine.
func (d *Dialogue) Interrupt() {
	_ = errors.Join(d.from.SetReadDeadline(time.Unix(1, 0)), d.to.SetWriteDeadline(time.Unix(1, 0))) // closed is as good
}

// Stop kills the child and all of its group, and removes its directory. The error is how the
// child ended, which is no failure by itself.
func (d *Dialogue) Stop() error {
	d.unhook()
	_ = d.cmd.Cancel() // it may have ended already
	ended := d.cmd.Wait()
	_ = errors.Join(d.to.Close(), d.from.Close(), d.dir.Remove()) // nothing is buffered
	return ended
}

// Printed is the start of what the child printed. It is complete after Stop.
func (d *Dialogue) Printed() string {
	return strings.TrimSpace(strings.ToValidUTF8(string(d.rest.Kept), "?"))
}

// Write sends a line, up to a time or the end of ctx.
func (d *Dialogue) Write(ctx context.Context, line []byte, until time.Time) error {
	if err := d.to.SetWriteDeadline(until); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil { // the deadline above may have replaced the one that ends it
		return err
	}
	_, err := d.to.Write(append(line, '\n'))
	return err
}

// Read returns the next line.
func (d *Dialogue) Read(ctx context.Context, until time.Time) ([]byte, error) {
	if err := d.from.SetReadDeadline(until); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var line []byte
	for {
		part, err := d.lines.ReadSlice('\n')
		if line = append(line, part...); len(line) > d.max {
			return nil, fmt.Errorf("it answers with more than %d bytes", d.max)
		}
		if err == nil {
			return line, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

// HasEnded reports whether an error of Write or Read is that the child closed its end.
func HasEnded(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) || errors.Is(err, syscall.EPIPE)
}
