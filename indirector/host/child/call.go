package child

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// A Call is a command that is run for its output.
type Call struct {
	Argv      []string // the program and its arguments; no shell sees them
	Env       []string // as os.Environ; nil is that of this process
	Stdin     string
	Timeout   time.Duration // then it is killed; 0 is no limit
	MaxStdout int           // bytes; one that writes more is killed
	MaxStderr int           // bytes that are kept; it may write more
}

// A Result is what came of a call.
type Result struct {
	Stdout string
	Stderr string // without surrounding blanks; bytes that are no UTF-8 are replaced
	Ended  bool   // by itself, whatever its exit code
	Err    error  // an exit code other than 0, or why it did not run or end
}

// Do runs the command in a session of its own. When the time is up, ctx ends or it
// writes too much, it is killed together with all that it has started.
func (c Call) Do(ctx context.Context) Result {
	if c.Timeout > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, c.Timeout, fmt.Errorf("killed: not finished after %s", c.Timeout))
		defer cancel()
		ctx = limited
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)

	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Env = c.Env
	if c.Stdin != "" {
		cmd.Stdin = strings.NewReader(c.Stdin)
	}
	Session(cmd)
	stdout := &Buffer{Max: c.MaxStdout, Full: func() { stop(fmt.Errorf("more than %d MiB of output", c.MaxStdout>>20)) }}
	stderr := &Buffer{Max: c.MaxStderr}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := Run(cmd, time.Second) // an escaped child may hold the pipes open
	ended := cmd.ProcessState != nil && cmd.ProcessState.Exited()
	switch {
	case ctx.Err() != nil && err != nil:
		ended, err = false, context.Cause(ctx)
	case errors.Is(err, exec.ErrWaitDelay):
		err = errors.New("ended, but a process that it left behind holds its output open")
	}
	return Result{string(stdout.Kept), strings.TrimSpace(strings.ToValidUTF8(string(stderr.Kept), "�")), ended, err}
}
