package filebucket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/host/child"
	"indirtui/indirector/model"
	"indirtui/termini/internal/disk"
	"indirtui/traces"
)

const (
	maxDiff   = 32 << 20 // bytes that the command may print
	maxStderr = 16 << 10 // bytes that are kept for the trace
	// drain is the time to wait for output of processes that outlive the command
	drain = 250 * time.Millisecond
)

// compare runs the command on two contents and answers with its output. Exit
// code and stderr are ignored, as in Puppet; the trace has them. Puppet uses
// any diff_with as a file name; here it must be a checksum. Rule TERM-FB-06.
func (t *Terminus) compare(ctx context.Context, e entry, bucket, with string) (indirector.Instance, error) {
	other := entry{bucket, with}
	missing := &indirector.Failure{Class: "RuntimeError", Message: fmt.Sprintf(msgNoOther, with)}
	if missing.Hidden = t.malformed(with); missing.Hidden != "" {
		return nil, missing
	}
	switch _, err := other.size(); {
	case errors.Is(err, fs.ErrNotExist):
		missing.Path, missing.Hidden = other.contents(), "there is no such file"
		return nil, missing
	case err != nil:
		return nil, disk.Fail(err, other.contents(), "")
	}
	if t.diff == "" {
		return nil, &indirector.Failure{Class: "RuntimeError", Message: msgNoDiff, Hidden: "the setting diff is empty"}
	}
	argv := append(append([]string{t.diff}, t.diffArgs...), e.contents(), other.contents())
	out, err := run(ctx, argv)
	if err != nil {
		return nil, err
	}
	return model.NewFileBucketFile(t.algorithm, out)
}

// run returns the output of a command. A failure is a note.
func run(ctx context.Context, argv []string) ([]byte, error) {
	_, span := traces.Start(ctx, traces.Exec, "exec "+strings.Join(argv, " "))
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	tooMuch := &indirector.Failure{Message: fmt.Sprintf("%s printed more than %d MiB", argv[0], maxDiff>>20), Origin: "exec", Path: argv[0]}
	stdout := child.Buffer{Max: maxDiff, Full: func() { stop(tooMuch) }}
	stderr := child.Buffer{Max: maxStderr}
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Env = child.Environment()
	c.Stdout, c.Stderr = &stdout, &stderr
	child.Session(c)
	err := child.Run(c, drain)
	why := ""
	switch {
	case ctx.Err() != nil:
		span.End("killed", traces.Because{}, context.Cause(ctx))
		return nil, context.Cause(ctx)
	case c.ProcessState == nil:
		why = fmt.Sprintf("%s was not started: %v; Puppet answers with nothing", argv[0], err)
		span.End("not started", traces.Because{}, err)
	default:
		code := c.ProcessState.ExitCode()
		if code > 1 || code < 0 {
			why = fmt.Sprintf("%s ended with %v; Puppet does not tell", argv[0], err)
		}
		span.Attr("stdout", strconv.Itoa(len(stdout.Kept))+" bytes")
		span.End("exit "+strconv.Itoa(code), traces.Because{}, nil)
	}
	if text := strings.TrimSpace(string(stderr.Kept)); text != "" {
		why = strings.TrimPrefix(why+"; stderr (hidden by Puppet): "+text, "; ")
	}
	if why != "" {
		traces.AddNote(ctx, why)
	}
	return stdout.Kept, nil
}
