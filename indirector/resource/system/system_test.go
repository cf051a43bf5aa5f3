package system_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/machine"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/system"
	"indirtui/traces"
	"indirtui/traces/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func here(t *testing.T) *system.System {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the commands are shell scripts, and this system runs none")
	}
	return system.New(machine.New(data.OfHash(nil), nil))
}

// TestRun runs commands as Puppet does. Rule RES-PROV-04.
func TestRun(t *testing.T) {
	s := here(t)
	t.Setenv("HOME", "/home/me")
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	umask := 0o027
	for _, tt := range []struct {
		name    string
		command providers.Command
		output  string
		exit    int
		err     error
	}{
		{"both outputs", providers.Command{Shell: "echo out; echo err >&2; exit 3"}, "out\nerr\n", 3, nil},
		{"one output", providers.Command{Shell: "echo out; echo err >&2", Apart: true}, "out\n", 0, nil},
		{"nothing to read", providers.Command{Argv: []string{"cat"}}, "", 0, nil},
		{"something to read", providers.Command{Argv: []string{"cat"}, Stdin: []byte("in")}, "in", 0, nil},
		{"without a home", providers.Command{Shell: "echo $HOME$LC_ALL"}, "C\n", 0, nil},
		{"own locale", providers.Command{Shell: "echo $HOME$LC_ALL", Locale: true}, "de_DE.UTF-8\n", 0, nil},
		{"more environment", providers.Command{Shell: "echo $X", Env: []string{"X=y"}}, "y\n", 0, nil},
		{"umask", providers.Command{Argv: []string{"/bin/sh", "-c", "umask"}, Umask: &umask}, "0027\n", 0, nil},
		{"too long", providers.Command{Shell: "sleep 600", Limit: time.Millisecond}, "", -1, providers.ErrTimeout},
		{"not there", providers.Command{Argv: []string{"/no/such/command"}}, "", 1, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := s.Run(t.Context(), tt.command)
			if string(r.Output) != tt.output || r.Exit != tt.exit || !errors.Is(err, tt.err) {
				t.Errorf("got %q, exit %d, %v; want %q, exit %d, %v", r.Output, r.Exit, err, tt.output, tt.exit, tt.err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Run(ctx, providers.Command{Shell: "sleep 600"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
	if r, err := s.Run(t.Context(), providers.Command{Shell: "kill -9 $$"}); err != nil || r.Signal != "killed" {
		t.Errorf("killed: got %+v, %v", r, err)
	}
}

// TestLooks is the closed list. Rule RES-SAFE-01.
func TestLooks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line string
		want bool
	}{
		{"/usr/bin/dpkg-query -W --showformat x bash", true},
		{"/usr/bin/apt-mark showmanual", true},
		{"/usr/bin/apt-mark manual bash", false},
		{"/usr/bin/apt-get install bash", false},
		{"crontab -l", true},
		{"crontab -u me -l", true},
		{"crontab -u -r -l", false},
		{"crontab -", false},
		{"/usr/bin/mount", true},
		{"/usr/bin/mount /srv", false},
		{"systemctl is-active -- cron", true},
		{"systemctl start -- cron", false},
		{"/usr/sbin/service cron status", true},
		{"/usr/sbin/service cron stop", false},
		{"/etc/init.d/cron status", true},
		{"/etc/init.d/cron stop", false},
		{"/tmp/status status", false},
		{"rpm -qa", true},
		{"rpm -e bash", false},
		{"", false},
	} {
		if got := system.Looks(providers.Command{Argv: strings.Fields(tt.line)}); got != tt.want {
			t.Errorf("%q: got %t, want %t", tt.line, got, tt.want)
		}
	}
	for _, shell := range []string{"ps -ef; rm -rf x", "mount | sh", "mount `x`", "mount\nrm x"} {
		if system.Looks(providers.Command{Shell: shell}) {
			t.Errorf("%q: a shell was let through", shell)
		}
	}
	if system.Looks(providers.Command{Argv: []string{"crontab", "-l"}, Stdin: []byte("x")}) {
		t.Error("a command that is given something was let through")
	}
}

// TestReadOnly tries all that changes something.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, ctx := system.ReadOnly(here(t)), t.Context()
	_, run := s.Run(ctx, providers.Command{Argv: []string{"touch", file + "2"}})
	_, _, backup := s.Backup(ctx, file, "")
	for name, err := range map[string]error{
		"run": run, "backup": backup, "replace": s.Replace(ctx, file, nil, 0), "write": s.Write(ctx, file, providers.Writing{}),
		"truncate": s.Truncate(ctx, file, 0), "remove": s.Remove(ctx, file), "remove all": s.RemoveAll(ctx, dir),
		"copy": s.Copy(ctx, file, file+"2"), "mkdir": s.Mkdir(ctx, file+"2", 0o700), "symlink": s.Symlink(ctx, "x", file+"2"),
		"chmod": s.Chmod(ctx, file, 0o777), "chown": s.Lchown(ctx, file, providers.Owner{}),
	} {
		if !errors.Is(err, system.ErrReadOnly) {
			t.Errorf("%s: got %v, want it refused", name, err)
		}
	}
	if names, err := s.ReadDir(ctx, dir); err != nil || len(names) != 1 {
		t.Errorf("there are %v, %v", names, err)
	}
}

// TestWrite writes files as a whole. Rules RES-FILE-06 and RES-PROV-06.
func TestWrite(t *testing.T) {
	t.Parallel()
	s, dir, ctx := here(t), t.TempDir(), t.Context()
	name := filepath.Join(dir, "f")
	fill := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	mode := fs.FileMode(0o4750)
	steps := []struct {
		name string
		do   func() error
		text string
		mode fs.FileMode
		fail bool
	}{
		{"new", func() error { return s.Write(ctx, name, providers.Writing{Fill: fill("a")}) }, "a", 0o644, false},
		{"mode", func() error { return s.Write(ctx, name, providers.Writing{Fill: fill("b"), Mode: &mode}) }, "b", 0o4750, false},
		{"keeps the mode", func() error { return s.Write(ctx, name, providers.Writing{Fill: fill("c")}) }, "c", 0o4750, false},
		{"staged", func() error { return s.Write(ctx, name, providers.Writing{Fill: fill("d"), Staging: t.TempDir()}) }, "d", 0o4750, false},
		{"refused", func() error {
			return s.Write(ctx, name, providers.Writing{Fill: fill("e"), Check: func(string) error { return errors.New("no") }})
		}, "d", 0o4750, true},
		{"replaced", func() error { return s.Replace(ctx, name, []byte("f"), 0o600) }, "f", 0o750, false},
		{"emptied", func() error { return s.Truncate(ctx, name, 0o600) }, "", 0o750, false},
	}
	for _, tt := range steps {
		err := tt.do()
		if (err != nil) != tt.fail {
			t.Errorf("%s: %v", tt.name, err)
		}
		text, _ := s.ReadFile(ctx, name)
		info, err := s.Lstat(ctx, name)
		if string(text) != tt.text || err != nil || info.Mode != tt.mode || info.Kind != "file" {
			t.Errorf("%s: got %q, %o, %v; want %q, %o", tt.name, text, info.Mode, err, tt.text, tt.mode)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.Symlink(name, link), s.Replace(ctx, link, []byte("through"), 0o600)); err != nil {
		t.Error(err)
	}
	if info, err := s.Lstat(ctx, link); err != nil || info.Kind != "link" {
		t.Errorf("a link became a %s, %v", info.Kind, err)
	}
	if names, _ := s.ReadDir(ctx, dir); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

// TestAccounts reads broken lines, too.
func TestAccounts(t *testing.T) {
	t.Parallel()
	s := here(t)
	s.Root = t.TempDir()
	for name, text := range map[string]string{
		"passwd": "root:x:0:0:root:/root:/bin/sh\nbroken\n+\n:x:1:1:::\nme:x:1000:1000:Me,,,:/home/me:/bin/sh\n",
		"group":  "root:x:0:\nsudo:x:27:me,you\nx:y\n",
		"shadow": "me:$6$x:19000:1:90:14::20000:\nother:!:19000::::::\nshort:x\n",
	} {
		if err := os.MkdirAll(filepath.Join(s.Root, "etc"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.Root, "etc", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	if u, ok, err := s.User(ctx, "me"); err != nil || !ok || u.UID != 1000 || u.Comment != "Me,,," {
		t.Errorf("got %+v, %t, %v", u, ok, err)
	}
	if all, err := s.Users(ctx); err != nil || len(all) != 2 {
		t.Errorf("got %v, %v", all, err)
	}
	if g, ok, err := s.Group(ctx, "sudo"); err != nil || !ok || len(g.Members) != 2 {
		t.Errorf("got %+v, %t, %v", g, ok, err)
	}
	if _, ok, err := s.Group(ctx, "none"); err != nil || ok {
		t.Errorf("got %t, %v", ok, err)
	}
	if sh, ok, err := s.Shadow(ctx, "other"); err != nil || !ok || sh.Min != -1 || sh.Expire != -1 {
		t.Errorf("got %+v, %t, %v", sh, ok, err)
	}
}

// TestSpans looks at what the trace has of a command and a file.
func TestSpans(t *testing.T) {
	t.Parallel()
	s := here(t)
	live := &traces.Live{Context: t.Context(), Trace: new(traces.Trace), Step: traces.Terminus}
	ctx := context.Context(live)
	if _, err := s.Run(ctx, providers.Command{Shell: "exit 3"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(ctx, providers.Command{Shell: "exit 0 # secret", Sensitive: true}); err != nil {
		t.Fatal(err)
	}
	_, _ = s.ReadFile(ctx, "/no/such/file")
	var got []string
	for _, span := range live.Trace.Spans {
		got = append(got, span.Kind.String()+" "+span.Name+": "+span.Answer)
	}
	want := "exec exec exit 3: exit 3, 0 bytes\nexec exec [redacted]: exit 0, 0 bytes\nfile read /no/such/file: not there"
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}
