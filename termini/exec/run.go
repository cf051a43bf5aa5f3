package exec

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"indirtui/indirector/host/child"
	"indirtui/traces"
)

const (
	maxStdout = 64 << 20 // bytes; more than that is no answer
	maxStderr = 16 << 10 // bytes that are kept for the trace
	// drain is the time to wait for output of processes that outlive the command
	drain = 250 * time.Millisecond
)

// An output is what came of a command.
type output struct {
	stdout, stderr []byte
	code           int   // -1 if it did not exit
	err            error // why it did not, or that the code is not zero
	notStarted     bool
	killed         string        // why it was killed; "" if it was not, or not by us
	stopped        time.Duration // how long it had run when the request was cancelled; zero if it was not
	elsewhere      bool          // something that it started still held stdout
}

var errTooMuch = errors.New("it printed more than 64 MiB")

// run runs a command with no input, in its own session, in the C locale and
// without HOME, as Puppet does. A limit of zero is none.
func run(ctx context.Context, argv []string, limit time.Duration) output {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than %s (%s)", limit, settingTimeout))
		defer stop()
	}
	out := start(ctx, cancel, argv)
	if errors.Is(out.err, syscall.ENOEXEC) {
		// Ruby gives a file that the kernel cannot run to the shell: a script
		// without #!.
		out = start(ctx, cancel, append([]string{"/bin/sh"}, argv...))
	}
	return out
}

func start(ctx context.Context, cancel context.CancelCauseFunc, argv []string) output {
	stdout := child.Buffer{Max: maxStdout, Full: func() { cancel(errTooMuch) }}
	stderr := child.Buffer{Max: maxStderr}
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Env = child.Environment()
	c.Stdout, c.Stderr = &stdout, &stderr
	child.Session(c)
	from := time.Now()
	out := output{code: -1, err: child.Run(c, drain)}
	if c.Process == nil {
		out.notStarted = ctx.Err() == nil
		if !out.notStarted {
			out.killed = context.Cause(ctx).Error()
		}
		return out
	}
	out.stdout, out.stderr = stdout.Kept, stderr.Kept
	out.code = c.ProcessState.ExitCode()
	if errors.Is(out.err, exec.ErrWaitDelay) {
		out.err, out.elsewhere = nil, true
	}
	if ctx.Err() != nil && out.code != 0 {
		out.killed = context.Cause(ctx).Error()
		if errors.Is(context.Cause(ctx), context.Canceled) {
			out.stopped = max(time.Since(from), 1)
		}
		out.err = errors.Join(ctx.Err(), out.err)
	}
	return out
}

func (o *output) ok() bool { return o.err == nil && o.code == 0 }

// status is the exit code as Puppet prints it: 1 if there was nothing to run,
// nothing if a signal ended it.
func (o *output) status() string {
	switch {
	case o.notStarted:
		return "1"
	case o.code < 0:
		return ""
	}
	return strconv.Itoa(o.code)
}

func (o *output) answer() string {
	switch {
	case o.notStarted:
		return "not started"
	case o.code < 0:
		return "killed"
	}
	return "exit " + strconv.Itoa(o.code)
}

// problem returns what Puppet leaves out, or "".
func (o *output) problem() string {
	stderr := strings.Trim(string(o.stderr), blanks)
	switch {
	case o.notStarted:
		return traces.ClassifierNotStarted(reason(o.err))
	case o.stopped > 0:
		return fmt.Sprintf("the classifier was stopped after %.1f s, as the request was cancelled%s", o.stopped.Seconds(), traces.HiddenStderr(stderr))
	case o.killed != "":
		return "the classifier was killed: " + o.killed + traces.HiddenStderr(stderr)
	case o.code < 0:
		return fmt.Sprintf("the classifier was ended by a signal: %v%s", o.err, traces.HiddenStderr(stderr))
	case o.code != 0:
		return traces.ClassifierFailed(strconv.Itoa(o.code), stderr)
	case stderr != "":
		return "the classifier wrote to stderr" + traces.HiddenStderr(stderr)
	case o.elsewhere:
		return "the classifier ended, but something that it started held its output"
	}
	return ""
}

// reason returns in a few words why a command could not be started.
func reason(err error) string {
	path := ""
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		path = ": " + e.Path
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "permission denied" + path
	case errors.Is(err, fs.ErrNotExist):
		if _, statErr := os.Stat(strings.TrimPrefix(path, ": ")); statErr == nil {
			return "no such file: the interpreter of the first line of" + strings.TrimPrefix(path, ":")
		}
		return "no such file" + path
	}
	return err.Error()
}
