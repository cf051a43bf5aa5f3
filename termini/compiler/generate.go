package compiler

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/host/child"
	"indirtui/traces"
)

// Limits of ours for a command that a manifest runs.
const (
	maxOutput = 16 << 20
	drain     = time.Second // for output of what it leaves behind
)

var errTooMuch = errors.New("it writes too much")

// generate runs a command for the function of that name, as Puppet does, and returns what
// it writes; errors come last.
func generate(ctx context.Context, command []string) (text string, err error) {
	line := strings.Join(command, " ")
	_, span := traces.Start(ctx, traces.Exec, "run "+line)
	defer func() { span.End(fmt.Sprint(len(text), " bytes"), traces.Because{}, err) }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	tooMuch := func() { cancel(errTooMuch) }
	stdout, stderr := child.Buffer{Max: maxOutput, Full: tooMuch}, child.Buffer{Max: maxOutput, Full: tooMuch}
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Env, c.Stdout, c.Stderr = child.Environment(), &stdout, &stderr
	child.Session(c)
	err = child.Run(c, drain)
	text = string(stdout.Kept) + string(stderr.Kept)
	failed := (*exec.ExitError)(nil)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.As(err, &failed):
		return "", &indirector.Failure{
			Class: "Puppet::ExecutionFailure", Err: err,
			Message: fmt.Sprintf("Execution of '%s' returned %d: %s", line, failed.ExitCode(), strings.TrimSpace(text)),
		}
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return "", &indirector.Failure{Class: "Puppet::ExecutionFailure", Message: "Could not execute posix command: " + err.Error(), Err: err}
	}
	return text, nil
}
