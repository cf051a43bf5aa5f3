// Package system is the machine that providers touch: its commands, files and accounts.
// What is asked of it is a span of the request that asks. [ReadOnly] gives those
// something to look with that must change nothing.
package system

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"indirtui/indirector/host/child"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/types"
	"indirtui/traces"
)

const (
	usualLimit = 10 * time.Minute
	drain      = time.Second
	maxOutput  = 64 << 20
	maxFile    = 64 << 20

	lastSystemUID = 999 // where the Host does not know
)

// A System is this machine.
type System struct {
	types.Host
	// Root stands before the paths of well-known files, such as /etc/passwd. It is
	// empty but for tests, and for looking at a file system that is mounted elsewhere.
	Root string
	// Bucket is the directory of the local bucket. If empty, it is $clientbucketdir of the
	// Host; without both there is none.
	Bucket string
}

var _ providers.System = (*System)(nil)

// New returns this machine. Everything else that types ask is answered by host.
func New(host types.Host) *System { return &System{Host: host} }

func (s *System) Now() time.Time { return time.Now() }

func (s *System) UID() int { return os.Geteuid() }

// What types may ask besides is answered by the Host, if it can.
func (s *System) Target(typ string) string {
	if h, ok := s.Host.(types.Targets); ok {
		return h.Target(typ)
	}
	return ""
}

func (s *System) Home(user string) string {
	if h, ok := s.Host.(types.Homes); ok {
		return h.Home(user)
	}
	return ""
}

func (s *System) LastSystemUID() int64 {
	if h, ok := s.Host.(types.SystemUsers); ok {
		return h.LastSystemUID()
	}
	return lastSystemUID
}

func (s *System) WorkingDirectory() string {
	if h, ok := s.Host.(types.Directories); ok {
		return h.WorkingDirectory()
	}
	return "/"
}

func (s *System) Path(name string) string { return filepath.Join(s.Root, name) }

var errTooMuch = errors.New("it printed more than 64 MiB")

// Run runs a command. Its name is looked up as the host does. Rule RES-PROV-04.
func (s *System) Run(ctx context.Context, c providers.Command) (providers.Result, error) {
	ctx, span := traces.Start(ctx, traces.Exec, "exec "+c.String())
	result, err := s.run(ctx, c)
	answer := fmt.Sprintf("exit %d, %d bytes", result.Exit, len(result.Output))
	if result.Signal != "" {
		answer = result.Signal
	}
	if err != nil {
		answer = ""
	}
	span.End(answer, traces.Because{}, err)
	return result, err
}

func (s *System) run(ctx context.Context, c providers.Command) (providers.Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := c.Limit
	if limit == 0 {
		limit = usualLimit
	}
	if limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than %s: %w", limit, providers.ErrTimeout))
		defer stop()
	}
	out := child.Buffer{Max: maxOutput, Full: func() { cancel(errTooMuch) }}
	run := s.command(ctx, &c)
	if err := collect(run, &out, c.Apart); err != nil {
		return providers.Result{Exit: -1}, err
	}
	if run.Process == nil && ctx.Err() == nil {
		// Ruby forks first: the child that cannot become the command ends with 1.
		return providers.Result{Exit: 1}, nil
	}
	if run.Process == nil {
		return providers.Result{Exit: -1}, fmt.Errorf("run %q: %w", c.String(), context.Cause(ctx))
	}
	result := providers.Result{Output: out.Kept, Exit: run.ProcessState.ExitCode()}
	if result.Exit < 0 {
		result.Signal = strings.TrimPrefix(run.ProcessState.String(), "signal: ")
	}
	if cause := context.Cause(ctx); cause != nil && result.Exit != 0 {
		return result, fmt.Errorf("run %q: %w", c.String(), cause)
	}
	return result, nil
}

// collect runs a command. Both of its outputs go into one pipe, in the order in which they
// are written, unless they are apart. What it is worth the state of its process has.
func collect(run *exec.Cmd, out *child.Buffer, apart bool) error {
	if apart {
		run.Stdout = out
		_ = child.Run(run, drain)
		return nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	run.Stdout, run.Stderr = w, w
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(out, r) // up to the end, or the deadline
	}()
	_ = child.Run(run, drain)
	err = errors.Join(w.Close(), r.SetReadDeadline(time.Now().Add(drain))) // something that it started may hold the pipe
	<-copied
	return errors.Join(err, r.Close())
}

// command makes the process of a command.
func (s *System) command(ctx context.Context, c *providers.Command) *exec.Cmd {
	argv := c.Argv
	if c.Shell != "" {
		argv = []string{"/bin/sh", "-c", c.Shell}
	}
	if !filepath.IsAbs(argv[0]) {
		if path := s.Which(argv[0]); path != "" {
			argv = append([]string{path}, argv[1:]...)
		}
	}
	if c.Umask != nil {
		argv = append([]string{"/bin/sh", "-c", fmt.Sprintf(`umask %03o; exec "$@"`, *c.Umask), "sh"}, argv...)
	}
	run := exec.CommandContext(ctx, argv[0], argv[1:]...)
	if c.Called != "" && c.Umask == nil {
		run.Args[0] = c.Called
	}
	run.Dir = c.Dir
	run.Env = child.Environment()
	if c.Locale {
		run.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool {
			name, _, _ := strings.Cut(kv, "=")
			return name == "HOME" || name == "USER" || name == "LOGNAME"
		})
	}
	run.Env = append(run.Env, c.Env...)
	if c.Stdin != nil {
		run.Stdin = strings.NewReader(string(c.Stdin))
	}
	child.Session(run)
	if c.User != nil {
		as(run, c.User)
	}
	return run
}

// A fileSpan is the span of a file that is looked at, or changed.
type fileSpan struct {
	span traces.Leaf
	path string
}

func looked(ctx context.Context, what, path string) fileSpan {
	return fileSpan{traces.StartLeaf(ctx, traces.File, what+" "+path), path}
}

func (f *fileSpan) end(answer string, err error) {
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		f.span.End("not there", traces.Because{Reason: traces.NotFound, About: f.path}, nil)
		return
	}
	f.span.End(answer, traces.Because{}, err)
}
