package facter

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"indirtui/indirector/host/child"
)

// A result is what came of a process.
type result struct {
	stdout string // at most maxText bytes
	stderr string // at most maxError bytes, without surrounding blanks
	ended  bool   // by itself, whatever its exit code
	err    error  // an exit code other than 0, or why it did not run or end
}

var errTooMuch = fmt.Errorf("more than %d MiB of output", maxText>>20)

// run is runWith without input.
func run(ctx context.Context, timeout time.Duration, environ []string, name string, args ...string) result {
	return runWith(ctx, timeout, environ, "", name, args...)
}

// runWith runs a program without a shell and in the C locale. When
// the time is up, ctx ends or it writes too much, it is killed together with
// all that it has started.
func runWith(ctx context.Context, timeout time.Duration, environ []string, stdin, name string, args ...string) result {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("killed: not finished after %s", timeout))
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)

	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(environ[:len(environ):len(environ)], "LC_ALL=C", "LANG=C")
	if stdin != "" {
		cmd.Stdin = strings.NewReader(stdin)
	}
	child.Session(cmd)
	stdout := &child.Buffer{Max: maxText, Full: func() { stop(errTooMuch) }}
	stderr := &child.Buffer{Max: maxError}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := child.Run(cmd, time.Second) // an escaped child may hold the pipes open
	ended := cmd.ProcessState != nil && cmd.ProcessState.Exited()
	switch {
	case ctx.Err() != nil && err != nil:
		ended, err = false, context.Cause(ctx)
	case errors.Is(err, exec.ErrWaitDelay):
		err = errors.New("ended, but a process that it left behind holds its output open")
	}
	return result{string(stdout.Kept), strings.TrimSpace(strings.ToValidUTF8(string(stderr.Kept), "�")), ended, err}
}
