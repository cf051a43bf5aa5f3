package transaction_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"indirtui/indirector/data"
	"indirtui/indirector/host/namespacetest"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/machine"
	"indirtui/indirector/resource/system"
	"indirtui/indirector/resource/transaction"
	"indirtui/indirector/resource/types"
)

// declared is a resource with parameters in pairs of name and value.
func declared(typ, title string, parameters ...any) model.Resource {
	var pairs []data.Pair
	for i := 0; i < len(parameters); i += 2 {
		pairs = append(pairs, data.P(parameters[i].(string), data.OfAny(parameters[i+1])))
	}
	return model.Resource{Type: typ, Title: title, Kind: "compilable_type", Parameters: data.OfHash(pairs)}
}

// applied applies resources to this machine, and returns what was logged of failures.
func applied(t *testing.T, o transaction.Observer, all ...model.Resource) string {
	t.Helper()
	p := newPlace(t)
	m := system.New(host{machine.New(data.OfHash(nil), nil), p.settings()})
	var lines []string
	transaction.Run(t.Context(), &model.Catalog{Name: "node1.example.test", Format: 2, Resources: all}, transaction.Options{
		Settings: agent(m), System: m, Types: types.All(), Observer: o,
		Log: func(l model.Log) {
			if l.Level == "err" {
				lines = append(lines, l.Source+": "+l.Message)
			}
		},
	})
	return strings.Join(lines, "\n")
}

// TestHostileCommands runs commands that hang, print without end, leave a child that keeps
// their output, or die: each fails its own resource, and the next one is applied.
func TestHostileCommands(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, command, want string }{
		{"hangs", "sleep 600", "Command exceeded timeout"},
		{"does not end when it is asked to", `trap "" TERM; sleep 600`, "Command exceeded timeout"},
		{"prints without end", "yes", "it printed more than 64 MiB"},
		{"dies by a signal", "kill -9 $$", "returned "},
		{"leaves a child that keeps its output", "sleep 600 & exit 3", "returned 3 instead of one of [0]"},
		{"prints what is no text", `printf '\377\033[2J\000x'; exit 4`, "invalid byte sequence in UTF-8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			after := filepath.Join(t.TempDir(), "after")
			timeout := 60
			if strings.Contains(tt.want, "timeout") {
				timeout = 1
			}
			got := applied(t, nil, declared("Exec", "hostile", "command", tt.command, "provider", "shell", "timeout", timeout, "logoutput", true),
				declared("File", after, "ensure", "file"))
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q in it", got, tt.want)
			}
			if _, err := os.Stat(after); err != nil {
				t.Errorf("the next resource was not applied: %v", err)
			}
		})
	}
}

// A swap does something once, before a step of a resource.
type swap struct {
	step transaction.Step
	do   func() error
	done bool
}

func (s *swap) Before(_ context.Context, r *transaction.Resource, step transaction.Step, _ string) error {
	if s.done || step != s.step || r.Type != "File" {
		return nil
	}
	s.done = true
	return s.do()
}

func (*swap) After(context.Context, *transaction.Resource, transaction.Answer) {}

// TestFilesThatChange lets a file become something else after it was compared. What a
// link leads to is not written.
func TestFilesThatChange(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		make func(path, victim string) error
		want string // the failure, "" if there is none
	}{
		{"a link", func(path, victim string) error { return os.Symlink(victim, path) }, ""},
		{"a directory", func(path, _ string) error { return os.Mkdir(path, 0o700) }, "Is a directory"},
		{"nothing", func(string, string) error { return nil }, ""},
		{"a pipe", func(path, _ string) error { return unix.Mkfifo(path, 0o600) }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path, victim := filepath.Join(dir, "f"), filepath.Join(dir, "victim")
			for _, name := range []string{path, victim} {
				if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s := &swap{step: transaction.Change, do: func() error { return errors.Join(os.Remove(path), tt.make(path, victim)) }}
			got := applied(t, s, declared("File", path, "content", "new", "backup", false))
			if !s.done || (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if text, err := os.ReadFile(victim); err != nil || string(text) != "old" {
				t.Errorf("what the link leads to has %q, %v", text, err)
			}
			if info, err := os.Lstat(path); tt.want == "" && (err != nil || info.Mode().Type() != 0) {
				t.Errorf("there is %v, %v", info, err)
			}
		})
	}
}

// TestHostileDisks writes to a disk that is full and to one that is read-only, in a
// namespace of its own: what was there stays.
func TestHostileDisks(t *testing.T) {
	t.Parallel()
	dir, inside := namespacetest.Enter(t, syscall.CLONE_NEWNS)
	if !inside {
		return
	}
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		t.Skipf("no mounts can be made here: %v", err)
	}
	for _, tt := range []struct {
		name string
		make func(dir string) error
		size int
		want string
	}{
		{"full", func(dir string) error { return unix.Mount("small", dir, "tmpfs", 0, "size=64k") }, 1 << 20, "No space left on device"},
		{"read-only", func(dir string) error {
			return errors.Join(unix.Mount("small", dir, "tmpfs", 0, ""), os.WriteFile(filepath.Join(dir, "f"), []byte("old"), 0o600),
				unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
		}, 10, "Read-only file system"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at := filepath.Join(dir, strings.ReplaceAll(tt.name, " ", "-"))
			path := filepath.Join(at, "f")
			if err := errors.Join(os.Mkdir(at, 0o700), tt.make(at)); err != nil {
				t.Skipf("no such disk can be made here: %v", err)
			}
			if _, err := os.Stat(path); err != nil {
				if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got := applied(t, nil, declared("File", path, "content", strings.Repeat("x", tt.size), "backup", false))
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q in it", got, tt.want)
			}
			entries, err := os.ReadDir(at)
			text, rerr := os.ReadFile(path)
			if err := errors.Join(err, rerr); err != nil || len(entries) != 1 || string(text) != "old" {
				t.Errorf("there are %v, with %q, %v", entries, text, err)
			}
		})
	}
}
