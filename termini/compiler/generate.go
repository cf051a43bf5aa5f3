package compiler

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
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

// generate runs a command for the function of that name.
func generate(ctx context.Context, command []string) (string, error) {
	return run(ctx, strings.Join(command, " "), command)
}

// execute runs a line as Ruby does: by the shell if it has anything that is for one.
func execute(ctx context.Context, line string) (string, error) {
	if strings.ContainsAny(line, "*?{}[]<>()~&|\\$;'`\"\n#=%") {
		return run(ctx, line, []string{"/bin/sh", "-c", line})
	}
	return run(ctx, line, strings.Fields(line))
}

// placeholder stands for the file in a command that validates it.
var placeholder = regexp.MustCompile(`\s%(\s|$)`)

// validate runs a command on a file with the content, for the function validate_cmd. The
// path is behind the command if that has no place for it.
func validate(ctx context.Context, content, command string) error {
	f, err := os.CreateTemp("", "validate_cmd")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err = f.WriteString(content); err == nil {
		err = f.Close()
	}
	if err != nil {
		return err
	}
	line := command + " " + f.Name()
	if placeholder.MatchString(command) {
		line = strings.ReplaceAll(command, "%", f.Name())
	}
	_, err = execute(ctx, line)
	return err
}

// notValidated stands for validate where manifests may not run commands: what they make is
// the same without.
func notValidated(ctx context.Context, _, command string) error {
	traces.AddNote(ctx, "validate_cmd is not run where a catalog is looked at: "+command)
	return nil
}

// run runs a command as Puppet does, and returns what it writes; errors come last.
func run(ctx context.Context, line string, command []string) (text string, err error) {
	if len(command) == 0 {
		return "", &indirector.Failure{Class: "Puppet::ExecutionFailure", Message: "Execution of '' returned 1: "}
	}
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
		traces.ExplainFailure(ctx, err.Error()) // Puppet's words are those of any command that fails
		return "", &indirector.Failure{Class: "Puppet::ExecutionFailure", Message: fmt.Sprintf("Execution of '%s' returned 1: ", line), Err: err}
	}
	return text, nil
}
