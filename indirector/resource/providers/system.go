package providers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"indirtui/indirector/resource/types"
)

// A System is all of a machine that providers touch. Methods may be called from
// several goroutines. Everything that is asked of it becomes a sub-step in the trace
// of ctx. Errors of files are those of package os.
type System interface {
	types.Host
	Files
	Changes
	Accounts
	// Run runs a command and returns what it answered, whatever its exit code. It is an
	// error if it could not be started, or was ended because of its limits.
	Run(ctx context.Context, c Command) (Result, error)
	Now() time.Time
	// UID is the user that this process is.
	UID() int
}

// A Command is a program to run: not by a shell, unless Shell is set. It gets Puppet's
// usual environment, nothing on its standard input, and a session of its own. Rule
// RES-PROV-04.
type Command struct {
	Argv   []string
	Called string // what the program finds as its own name, without a umask; "" is Argv[0]
	Shell  string // given to /bin/sh -c in place of Argv
	Stdin  []byte
	Env    []string // added to the environment
	Locale bool     // that of this process instead of C
	Dir    string   // "" for the directory of the process
	User   *Owner   // as whom; nil for the user of the process
	Umask  *int     // nil for the umask of the process
	// Limit is how long it may run. Zero is ten minutes, below zero is without a limit.
	Limit time.Duration
	// Sensitive is not shown in traces and errors.
	Sensitive bool
	// Apart leaves out standard error; otherwise both are one output.
	Apart bool
}

// An Owner is a user and group by their numbers; -1 is to be left alone.
type Owner struct{ UID, GID int }

// String returns the command as Puppet shows it in errors and traces.
func (c *Command) String() string {
	if c.Sensitive {
		return "[redacted]"
	}
	if c.Shell != "" {
		return c.Shell
	}
	return strings.Join(c.Argv, " ")
}

// ErrTimeout reports a command that took longer than its limit, and was ended.
var ErrTimeout = errors.New("time limit")

// A Result is what a command answered: its output, stdout and stderr together.
type Result struct {
	Output []byte
	Exit   int    // -1 if a signal ended it
	Signal string // that ended it: "killed"
}

// Files looks at the file system. Names are absolute.
type Files interface {
	// Path is where a file that systems have at a certain place is on this one:
	// mostly there. A system of a test has its /etc/hosts elsewhere.
	Path(name string) string
	Lstat(ctx context.Context, name string) (Info, error)
	Stat(ctx context.Context, name string) (Info, error)
	// ReadFile reads a file of at most 64 MiB.
	ReadFile(ctx context.Context, name string) ([]byte, error)
	Open(ctx context.Context, name string) (io.ReadCloser, error)
	// ReadDir returns the names in a directory, in order.
	ReadDir(ctx context.Context, name string) ([]string, error)
	Readlink(ctx context.Context, name string) (string, error)
	// Context is what SELinux has of a file, a link itself: "system_u:object_r:etc_t:s0".
	Context(ctx context.Context, name string) (string, error)
}

// Changes changes the file system.
type Changes interface {
	// Replace writes a file anew, as a whole or not at all: mode and owner of what was
	// there stay, a new one gets mode.
	Replace(ctx context.Context, name string, content []byte, mode fs.FileMode) error
	// ReplaceAs is Replace for a file of a user, done as that user, who could have put a
	// link in the way. The file gets 0600, and its directory 0700 if it has to be made.
	ReplaceAs(ctx context.Context, name string, content []byte, as Owner) error
	// Write writes a file as a whole or not at all.
	Write(ctx context.Context, name string, w Writing) error
	// Truncate makes a file empty, where it is. A new one gets mode.
	Truncate(ctx context.Context, name string, mode fs.FileMode) error
	Remove(ctx context.Context, name string) error // what is no directory, or an empty one
	RemoveAll(ctx context.Context, name string) error
	// Copy copies a file or a tree, with modes and times.
	Copy(ctx context.Context, from, to string) error
	Mkdir(ctx context.Context, name string, mode fs.FileMode) error
	Symlink(ctx context.Context, target, name string) error
	Chmod(ctx context.Context, name string, mode fs.FileMode) error
	Lchown(ctx context.Context, name string, o Owner) error // of a link itself
	Chown(ctx context.Context, name string, o Owner) error  // of what a link leads to
	SetContext(ctx context.Context, name, context string) error
	// Backup keeps the content of a file in a bucket, which is a directory, or in the local
	// one if that is "". It returns the sum, and whether it was there already. Rule
	// RES-PROV-06.
	Backup(ctx context.Context, name, bucket string) (sum string, known bool, err error)
}

// A Writing is how a file is written: to a temporary one beside it, which takes its place.
type Writing struct {
	// Mode is what the file gets; nil for what it had, or 0644.
	Mode *fs.FileMode
	// Staging is the directory of the temporary file; "" is that of the file.
	Staging string
	Fill    func(w io.Writer) error
	// Check is called with the temporary file before it takes its place; it may be nil.
	Check func(temporary string) error
}

// Info is what there is to know of a file.
type Info struct {
	Kind         string // file, directory, link, fifo, socket, characterSpecial, blockSpecial
	Mode         fs.FileMode
	UID, GID     int
	Size         int64
	MTime, CTime time.Time
	ATime        time.Time
}

// Accounts are users and groups.
type Accounts interface {
	User(ctx context.Context, name string) (User, bool, error)
	Group(ctx context.Context, name string) (Group, bool, error)
	Users(ctx context.Context) ([]User, error)
	Groups(ctx context.Context) ([]Group, error)
	// Shadow is false where this process may not look.
	Shadow(ctx context.Context, name string) (Shadow, bool, error)
}

// A User is a line of passwd.
type User struct {
	Name, Comment, Home, Shell string
	UID, GID                   int
}

// A Group is a line of group.
type Group struct {
	Name    string
	GID     int
	Members []string
}

// A Shadow is a line of shadow. Numbers that are not there are -1.
type Shadow struct {
	Password               string
	Min, Max, Warn, Expire int // days; Expire since 1970
}

// An ExecutionFailure is a command that did not end well. Rule RES-PROV-04.
type ExecutionFailure struct {
	Command string // [redacted] if it is sensitive
	Result  Result
}

func (e *ExecutionFailure) Error() string {
	status := ""
	if e.Result.Exit >= 0 {
		status = fmt.Sprint(e.Result.Exit)
	}
	return fmt.Sprintf("Execution of '%s' returned %s: %s", e.Command, status, strings.TrimSpace(string(e.Result.Output)))
}

// execute runs a command that must end well.
func execute(ctx context.Context, s System, argv ...string) (string, error) {
	return executeAs(ctx, s, Command{Argv: argv})
}

// executeAs is execute of a command with more than its words.
func executeAs(ctx context.Context, s System, c Command) (string, error) {
	result, err := s.Run(ctx, c)
	if err != nil {
		return "", err
	}
	if result.Exit != 0 {
		return string(result.Output), &ExecutionFailure{c.String(), result}
	}
	return string(result.Output), nil
}

// ask runs a command of which the exit code is an answer, too.
func ask(ctx context.Context, s System, argv ...string) (string, int, error) {
	result, err := s.Run(ctx, Command{Argv: argv})
	return string(result.Output), result.Exit, err
}

// command returns the path of a program that the provider is suitable with.
func command(s System, name string) string {
	if path := s.Which(name); path != "" {
		return path
	}
	return name
}
