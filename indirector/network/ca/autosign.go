package ca

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"indirtui/indirector/host/child"
	"indirtui/traces"
)

// Puppet Server's messages, word for word.
const (
	msgPattern  = "Invalid pattern '%s' found in %s"
	msgStderr   = "Autosign command '%s %s' generated output to stderr: %s"
	msgRejected = "Autosign command '%s' rejected certificate '%s' because the exit code was %d, not zero"
)

// autosign reports whether a request is signed automatically: by true or false,
// a file of names, or a command. A missing file is false.
func (a *Authority) autosign(ctx context.Context, name string, csr []byte) (bool, error) {
	switch a.cfg.Autosign {
	case "true":
		traces.Explain(ctx, "autosign is true")
		return true, nil
	case "false", "":
		traces.Explain(ctx, "autosign is false")
		return false, nil
	}
	info, err := os.Stat(a.cfg.Autosign)
	if errors.Is(err, fs.ErrNotExist) {
		traces.Explain(ctx, "autosign: there is no "+a.cfg.Autosign)
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("autosign: %w", err)
	}
	if runnable(info) {
		return a.policy(ctx, name, csr)
	}
	text, err := look(ctx, a.cfg.Autosign)
	if err != nil {
		return false, fmt.Errorf("autosign: %w", err)
	}
	line, bad := matchingLine(text, name)
	for _, pattern := range bad {
		a.cfg.Log.Error(fmt.Sprintf(msgPattern, pattern, a.cfg.Autosign))
		traces.AddNote(ctx, fmt.Sprintf(msgPattern, pattern, a.cfg.Autosign))
	}
	if line == 0 {
		traces.Explain(ctx, "autosign: no line of "+a.cfg.Autosign+" matches")
		return false, nil
	}
	traces.Explain(ctx, fmt.Sprintf("autosign: %s:%d matches", a.cfg.Autosign, line))
	return true, nil
}

// matchingLine returns the first line of a list of names that matches, 0 if
// none, and the invalid lines before it.
func matchingLine(text []byte, name string) (line int, bad []string) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<16)
	for n := 1; lines.Scan(); n++ {
		s := lines.Text()
		switch {
		case strings.HasPrefix(s, "#"), strings.TrimSpace(s) == "":
		case strings.ContainsAny(s, "# "):
			bad = append(bad, s)
		case s == "*", s == name, strings.HasPrefix(s, "*") && globMatches(s, name):
			return n, bad
		}
	}
	return 0, bad
}

// globMatches compares the parts of a name from the end: "*.example.com" is
// every name that ends in these two.
func globMatches(glob, name string) bool {
	want := strings.Split(strings.ToLower(glob), ".")
	got := strings.Split(strings.ToLower(name), ".")
	slices.Reverse(want)
	slices.Reverse(got)
	want = want[:len(want)-1]
	return len(got) >= len(want) && slices.Equal(got[:len(want)], want)
}

// maxOutput is how much of a command's output is kept, in bytes.
const maxOutput = 16 << 10

// policy runs the command, with the name as argument and the request as input.
// Exit code zero signs.
func (a *Authority) policy(ctx context.Context, name string, csr []byte) (bool, error) {
	command := a.cfg.Autosign
	ctx, cancel := context.WithTimeout(ctx, a.cfg.AutosignLimit)
	defer cancel()
	_, span := traces.Start(ctx, traces.Exec, command)
	span.Attr("argv", command+" "+name)
	cmd := exec.CommandContext(ctx, command, name)
	stdout, stderr := child.Buffer{Max: maxOutput}, child.Buffer{Max: maxOutput}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(csr), &stdout, &stderr
	cmd.WaitDelay = time.Second
	child.Session(cmd)
	err := cmd.Run()
	if len(stderr.Kept) > 0 {
		a.cfg.Log.Warn(fmt.Sprintf(msgStderr, command, name, string(stderr.Kept)))
		span.Attr("stderr", string(stderr.Kept))
	}
	// It need not read its input.
	exit := (*exec.ExitError)(nil)
	switch {
	case ctx.Err() != nil:
		span.End("killed", traces.Because{}, ctx.Err())
		return false, fmt.Errorf("autosign: %s was stopped: it took longer than %s", command, a.cfg.AutosignLimit)
	case errors.As(err, &exit):
		code := exit.ExitCode()
		span.End("exit "+strconv.Itoa(code), traces.Because{}, nil)
		a.cfg.Log.Warn(fmt.Sprintf(msgRejected, command, name, code))
		traces.Explain(ctx, fmt.Sprintf(msgRejected, command, name, code))
		return false, nil
	case err != nil && !errors.Is(err, io.ErrClosedPipe) && !brokenPipe(err) && !errors.Is(err, exec.ErrWaitDelay):
		span.End("not started", traces.Because{}, err)
		return false, fmt.Errorf("autosign: run %s: %w", command, err)
	}
	span.End("exit 0", traces.Because{}, nil)
	return true, nil
}
