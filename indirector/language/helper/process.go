package helper

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"indirtui/indirector/host/child"
)

// Limits of ours for what the child writes.
const (
	maxMessage = 16 << 20
	maxErrors  = 4 << 10
	drain      = time.Second // for errors of what it leaves behind
)

//go:embed shim.rb
var shim string

// A process is the child. It is for one goroutine.
type process struct {
	cmd    *exec.Cmd
	dir    string // where it works: it is empty at first
	to     *os.File
	from   *os.File
	lines  *bufio.Reader
	errors child.Buffer
	unhook func() bool
	loaded map[string]bool // functions that it has
}

// start starts Ruby with nothing of this process but PATH.
func start(ctx context.Context, ruby string, libs []string) (p *process, err error) {
	dir, err := os.MkdirTemp("", "indirtui-ruby-")
	if err != nil {
		return nil, err
	}
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
	p = &process{dir: dir, to: to, from: from, errors: child.Buffer{Max: maxErrors}, loaded: map[string]bool{}}
	if err == nil {
		// Where nothing can be read up to a time, a child that hangs could not be ended.
		err = errors.Join(from.SetReadDeadline(time.Time{}), to.SetWriteDeadline(time.Time{}))
	}
	if err == nil {
		p.lines = bufio.NewReaderSize(from, 64<<10)
		p.cmd = exec.CommandContext(ctx, ruby, "--disable=gems", "-W0", "-")
		p.cmd.Dir, p.cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "HOME=" + dir, "TMPDIR=" + dir}
		p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = strings.NewReader(shim), &p.errors, &p.errors
		p.cmd.ExtraFiles, p.cmd.WaitDelay = []*os.File{theirs, mine}, drain
		child.Session(p.cmd)
		err = p.cmd.Start()
	}
	if err != nil {
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	// What leaves the group of processes may hold the pipe, which then has no end.
	p.unhook = context.AfterFunc(ctx, func() { _ = errors.Join(from.SetReadDeadline(time.Unix(1, 0)), to.SetWriteDeadline(time.Unix(1, 0))) })
	if err := errors.Join(theirs.Close(), mine.Close()); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

// stop kills the child and all of its group, and removes its directory. The error is how the
// child ended, which is no failure by itself.
func (p *process) stop() error {
	p.unhook()
	_ = p.cmd.Cancel() // it may have ended already
	ended := p.cmd.Wait()
	_ = errors.Join(p.to.Close(), p.from.Close(), os.RemoveAll(p.dir)) // nothing is buffered
	return ended
}

// write sends a message, which is one line.
func (p *process) write(ctx context.Context, line []byte, until time.Time) error {
	if err := p.to.SetWriteDeadline(until); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil { // the deadline above may have replaced the one that ends it
		return err
	}
	_, err := p.to.Write(append(line, '\n'))
	return err
}

var errTooLong = fmt.Errorf("it answers with more than %d bytes", maxMessage)

// read returns the next message.
func (p *process) read(ctx context.Context, until time.Time) (map[string]any, int, error) {
	if err := p.from.SetReadDeadline(until); err != nil {
		return nil, 0, err
	}
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	var line []byte
	for {
		part, err := p.lines.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxMessage {
			return nil, 0, errTooLong
		}
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, 0, err
		}
	}
	d := json.NewDecoder(strings.NewReader(string(line)))
	d.UseNumber()
	var m map[string]any
	if err := d.Decode(&m); err != nil || m == nil {
		return nil, 0, errors.New("it answers with what is no message")
	}
	return m, len(line), nil
}
