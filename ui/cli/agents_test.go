//go:build unix

package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Real, unmodified agents of Puppet against the built program.

// needAgent skips a test where there is no Puppet, or none of the modules that
// an agent is to fetch.
func needAgent(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("an agent's run takes seconds: -short")
	}
	if _, err := exec.LookPath("puppet"); err != nil {
		t.Skip("there is no puppet on this machine: no agent is run")
	}
	if _, err := os.Stat("/usr/share/puppet/modules/stdlib"); err != nil {
		t.Skip("Debian's package puppet-module-puppetlabs-stdlib is missing: an agent would have nothing to fetch")
	}
}

// A site is a directory with the code of the stack of peers, and room for a
// server and for agents.
type site struct {
	t       *testing.T
	dir     string
	program string
	watched []string // what stands before puppet, and has it run
	env     []string // more variables of puppet
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), program: build(t, "indirtui")}
	env := s.path("code/environments/production")
	if err := os.CopyFS(env, os.DirFS("../../.ci/peers/controlrepo")); err != nil {
		t.Fatal(err)
	}
	qa := s.path("code/environments/qa")
	if err := os.CopyFS(qa, os.DirFS("../../.ci/peers/controlrepo")); err != nil {
		t.Fatal(err)
	}
	for _, e := range []string{env, qa} {
		s.write(e+"/site-modules/demo/files/tree/name with spaces.txt", "the name has spaces\n")
		s.write(e+"/site-modules/demo/files/tree/sub/accent-é.txt", "the name is not ASCII\n")
		s.write(e+"/site-modules/bench/files/1m.bin", strings.Repeat("one mebibyte of text for measurements\n", 1<<20/38))
	}
	s.write("srv/puppet.conf", fmt.Sprintf(`[main]
vardir = %[1]s/srv/var
ssldir = %[1]s/srv/ssl
cadir = %[1]s/srv/ca
codedir = %[1]s/code
basemodulepath = /usr/share/puppet/modules
certname = localhost
dns_alt_names = localhost
keylength = 2048
autosign = true
[server]
catalog_terminus = json
`, s.dir))
	return s
}

func (s *site) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.dir, name)
}

func (s *site) write(name, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(s.path(name)), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(s.path(name), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// A listener is the program, answering.
type listener struct {
	t       *testing.T
	address string // host and port
	port    string
	cmd     *exec.Cmd
	mu      sync.Mutex
	out     bytes.Buffer
	end     func() // and wait
}

var servingOn = regexp.MustCompile(` on (127\.0\.0\.1:(\d+)) `)

// run starts the program with a command that listens, and waits until it does.
func (s *site) run(args ...string) *listener {
	s.t.Helper()
	return s.runWith(nil, args...)
}

// runWith is run with a standard input; nil is one that is at its end.
func (s *site) runWith(in *os.File, args ...string) *listener {
	s.t.Helper()
	l := &listener{t: s.t}
	l.cmd = exec.Command(s.program, append([]string{args[0], "--listen", "127.0.0.1:0"}, args[1:]...)...)
	l.cmd.Env = append(os.Environ(), "HOME="+s.dir, "XDG_STATE_HOME="+s.path("state"))
	if in != nil {
		l.cmd.Stdin = in
	}
	l.cmd.Stdout = writerFunc(func(b []byte) (int, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.out.Write(b)
	})
	stderr, err := l.cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := l.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	found := make(chan []string, 1)
	var reader sync.WaitGroup
	reader.Go(func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if m := servingOn.FindStringSubmatch(lines.Text()); m != nil {
				found <- m
			}
			l.mu.Lock()
			fmt.Fprintln(&l.out, "stderr:", lines.Text())
			l.mu.Unlock()
		}
		close(found)
	})
	l.end = sync.OnceFunc(func() {
		_ = l.cmd.Process.Signal(syscall.SIGTERM)
		reader.Wait()
		if err := l.cmd.Wait(); err != nil {
			s.t.Errorf("%v\n%s", err, l.output())
		}
	})
	s.t.Cleanup(l.end)
	m, ok := <-found
	if !ok {
		s.t.Fatalf("%v does not listen:\n%s", args, l.output())
	}
	l.address, l.port = m[1], m[2]
	return l
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func (l *listener) output() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.String()
}

// waitFor waits until the program has printed a text. It gives up when nothing at
// all has been printed for long: a busy machine is slow, but goes on.
func (l *listener) waitFor(text string) {
	l.t.Helper()
	printed, late := 0, time.Time{}
	for {
		output := l.output()
		switch {
		case strings.Contains(output, text):
			return
		case len(output) > printed || late.IsZero():
			printed, late = len(output), time.Now().Add(patience)
		case time.Now().After(late):
			l.t.Fatalf("%q was not said:\n%s", text, output)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// context returns one that ends before the tests do, so that what hangs is shown
// with what it has printed. How long that is -timeout decides.
func (s *site) context() (context.Context, context.CancelFunc) {
	if end, ok := s.t.Deadline(); ok {
		const toReport = 20 * time.Second
		return context.WithDeadline(s.t.Context(), end.Add(-toReport))
	}
	return context.WithCancel(s.t.Context())
}

// command is a face or application of Puppet, run as an agent of the site.
func (s *site) command(ctx context.Context, name, port string, args ...string) *exec.Cmd {
	s.t.Helper()
	dir := s.path("agents/" + name)
	for _, d := range []string{"conf", "var", "target"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			s.t.Fatal(err)
		}
	}
	s.write(dir+"/conf/puppet.conf", fmt.Sprintf("[main]\nvardir = %[1]s/var\nssldir = %[1]s/ssl\ncodedir = %[1]s/code\nrundir = %[1]s/run\nlogdir = %[1]s/log\npublicdir = %[1]s/public\nkeylength = 2048\ncertname = %[2]s\nserver = localhost\nserverport = %[3]s\nhttp_keepalive_timeout = 4\n", dir, name, port))
	words := slices.Concat(s.watched, []string{"puppet"}, args, []string{"--confdir", dir + "/conf", "--vardir", dir + "/var", "--color=false"})
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8", "TERM=dumb",
		"FACTER_peers_target=" + dir + "/target", "FACTER_peers_bucket_server=localhost", "FACTER_peers_bucket_port=" + port,
	}
	cmd.Env = append(cmd.Env, s.env...)
	cmd.Dir = dir
	return cmd
}

// puppet runs such a command, and returns its output and its exit code.
func (s *site) puppet(name, port string, args ...string) (string, int) {
	s.t.Helper()
	ctx, cancel := s.context()
	defer cancel()
	cmd := s.command(ctx, name, port, args...)
	out, err := cmd.CombinedOutput()
	exit := (*exec.ExitError)(nil)
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatalf("puppet %v: %v\n%s", args, err, out)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// agent runs `puppet agent -t`.
func (s *site) agent(name, port string, args ...string) (string, int) {
	s.t.Helper()
	return s.puppet(name, port, append([]string{"agent", "--test", "--no-splay", "--waitforcert", "0"}, args...)...)
}

// A resource of a catalog.
func resource(kind, title string, parameters map[string]any) map[string]any {
	return map[string]any{"type": kind, "title": title, "tags": []string{}, "exported": false, "parameters": parameters}
}

// catalog is one that the agent of that name takes. All that its files hold
// comes from the server.
func (s *site) catalog(name, port, environment string) string {
	target := s.path("agents/" + name + "/target")
	resources := []map[string]any{
		resource("Stage", "main", map[string]any{}),
		resource("Filebucket", "main", map[string]any{"path": false, "server": "localhost", "port": port}),
		resource("File", target+"/hello.txt", map[string]any{"ensure": "file", "source": "puppet:///modules/demo/hello.txt", "backup": "main"}),
		resource("File", target+"/fallback.txt", map[string]any{"ensure": "file", "source": []string{"puppet:///modules/demo/only-here.txt", "puppet:///modules/demo/hello.txt"}, "backup": "main"}),
		resource("File", target+"/tree", map[string]any{"ensure": "directory", "source": "puppet:///modules/demo/tree", "recurse": true, "purge": true, "ignore": "*.skip", "backup": "main"}),
		resource("File", target+"/1m.bin", map[string]any{"ensure": "file", "source": "puppet:///modules/bench/1m.bin", "mode": "0640", "backup": "main"}),
		resource("File", target+"/replaced.txt", map[string]any{"ensure": "file", "content": "new content\n", "backup": "main"}),
	}
	b, err := json.Marshal(map[string]any{
		"name": name, "version": 1, "code_id": nil, "catalog_uuid": "827a74c8-cf98-44da-9ff7-18c5e4bee41e", "catalog_format": 1,
		"environment": environment, "tags": []string{}, "classes": []string{}, "resources": resources, "edges": []any{},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// tree is what is below a directory: mode and content of every file.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&b, "%s %s", info.Mode(), name)
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			b.WriteString(" -> " + to)
		case d.Type().IsRegular():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %s", sum(content))
		}
		b.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestServePlain is serve without a screen: a line for each request, commands
// from standard input, and an end that is not that of the input.
func TestServePlain(t *testing.T) {
	t.Parallel()
	s := &site{t: t, dir: t.TempDir(), program: build(t, "indirtui")}
	s.write("puppet.conf", fmt.Sprintf("[main]\nvardir = %[1]s/var\nssldir = %[1]s/ssl\ncadir = %[1]s/ca\ncodedir = %[1]s/code\ncertname = localhost\nkeylength = 2048\n", s.dir))
	l := s.run("serve", "--plain", "--confdir", s.dir)                                                                               // its standard input is at its end
	ask := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}} //nolint:gosec // only whether it answers
	resp, err := ask.Get("https://" + l.address + "/puppet-ca/v1/certificate/ca")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	l.waitFor("find certificate ca  ok")
	if err := l.cmd.Process.Signal(syscall.SIGHUP); err != nil { // reads certificates again, and goes on
		t.Fatal(err)
	}
	l.waitFor("certificates and revocation lists were read again")
	if resp, err = ask.Get("https://" + l.address + "/puppet-ca/v1/certificate/nobody"); err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	l.waitFor("find certificate nobody")
	l.end()
}

// TestSecondInterrupt: the first interrupt waits for requests that run, the
// second one does not.
func TestSecondInterrupt(t *testing.T) {
	t.Parallel()
	s := &site{t: t, dir: t.TempDir(), program: build(t, "indirtui")}
	s.write("puppet.conf", fmt.Sprintf("[main]\nvardir = %[1]s/var\nssldir = %[1]s/ssl\ncadir = %[1]s/ca\ncodedir = %[1]s/code\ncertname = localhost\nkeylength = 2048\n", s.dir))
	cmd := exec.Command(s.program, "serve", "--confdir", s.dir, "--listen", "127.0.0.1:0")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address := ""
	for lines := bufio.NewScanner(stderr); address == "" && lines.Scan(); {
		if m := servingOn.FindStringSubmatch(lines.Text()); m != nil {
			address = m[1]
		}
	}
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // only that it is busy
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "PUT /puppet-ca/v1/certificate_request/web01 HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n")
	if _, err := conn.Read(make([]byte, 12)); err != nil { // it goes on, and waits for the body
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		t.Fatalf("the first interrupt did not wait: %v", err)
	case <-time.After(time.Second):
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "interrupt") {
			t.Errorf("got %v, want the interrupt", err)
		}
	case <-time.After(10 * time.Second):
		_ = cmd.Process.Kill()
		t.Error("the second interrupt waits, too")
	}
}

// TestAgent: a new agent gets its certificate, plugins, catalog, files, and
// leaves what it replaces in the bucket; the other commands of Puppet work.
func TestAgent(t *testing.T) {
	t.Parallel()
	needAgent(t)
	s := newSite(t)
	l := s.run("serve", "--confdir", s.path("srv"))
	const name = "web01.example.com"
	s.write("srv/var/server_data/catalog/"+name+".json", s.catalog(name, l.port, "production"))
	s.write("agents/"+name+"/target/replaced.txt", "old content\n")

	out, code := s.agent(name, l.port)
	if code != 2 {
		t.Fatalf("the first run: exit %d\n%s\n%s", code, out, l.output())
	}
	l.waitFor("report saved")
	output := l.output()
	for _, want := range []string{"catalog from terminus json (7 resources)", "1 file_metadata 404", "find certificate"} {
		if !strings.Contains(output, want) {
			t.Errorf("the program does not say %q:\n%s", want, output)
		}
	}
	target := s.path("agents/" + name + "/target")
	demo := s.path("code/environments/production/site-modules/demo/files")
	for file, from := range map[string]string{"hello.txt": demo + "/hello.txt", "fallback.txt": demo + "/hello.txt", "tree/a.txt": demo + "/tree/a.txt", "tree/sub/accent-é.txt": demo + "/tree/sub/accent-é.txt", "tree/name with spaces.txt": demo + "/tree/name with spaces.txt", "tree/empty": demo + "/tree/empty", "1m.bin": demo + "/../../bench/files/1m.bin"} {
		got, err := os.ReadFile(filepath.Join(target, file))
		want, err2 := os.ReadFile(from)
		if err != nil || err2 != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, want %d; %v, %v", file, len(got), len(want), err, err2)
		}
	}
	if _, err := os.Stat(target + "/tree/left-out.skip"); err == nil {
		t.Error("a file that is to be ignored was fetched")
	}
	if info, err := os.Stat(target + "/1m.bin"); err != nil || info.Mode() != 0o640 {
		t.Errorf("1m.bin: got %v, %v", info, err)
	}
	s.pluginsAreThere(name)
	// What was replaced is in the bucket.
	old := filepath.Join(t.TempDir(), "restored")
	if out, code = s.puppet(name, l.port, "filebucket", "restore", old, sum([]byte("old content\n")), "--server", "localhost", "--serverport", l.port); code != 0 {
		t.Errorf("filebucket restore: exit %d\n%s", code, out)
	}
	if b, err := os.ReadFile(old); err != nil || string(b) != "old content\n" {
		t.Errorf("restored: %q, %v", b, err)
	}
	// Nothing is left to do.
	if out, code = s.agent(name, l.port); code != 0 {
		t.Errorf("the second run: exit %d\n%s", code, out)
	}
	// The catalog has another environment: the agent asks again, for that one.
	s.write("srv/var/server_data/catalog/"+name+".json", s.catalog(name, l.port, "qa"))
	if out, code = s.agent(name, l.port); code != 0 {
		t.Errorf("the third run: exit %d\n%s", code, out)
	}
	l.waitFor("environment changed production -> qa in round 2")

	s.puppetCommands(name, l.port, target)
	// A node gets its own catalog only.
	if out, _ := s.puppet(name, l.port, "catalog", "find", "db01.example.com", "--terminus", "rest", "--server", "localhost", "--serverport", l.port); !strings.Contains(out, "Forbidden request: /puppet/v3/catalog/db01.example.com") {
		t.Errorf("another's catalog: %s", out)
	}
	l.waitFor("refuses " + name)
	l.end()
}

// TestAgentFails: the sentence of a run reports whether there was a catalog, how the
// run ended, and whose catalog it was; the run is found by both its names.
func TestAgentFails(t *testing.T) {
	t.Parallel()
	needAgent(t)
	s := newSite(t)
	recording := s.path("runs.jsonl")
	l := s.run("serve", "--confdir", s.path("srv"), "--record", recording)
	const name = "web02.example.com"
	if out, code := s.agent(name, l.port); code != 1 {
		t.Fatalf("without a catalog: exit %d\n%s\n%s", code, out, l.output())
	}
	l.waitFor("no catalog found by terminus json, report saved: status failed")
	l.waitFor("find catalog " + name)

	b, err := json.Marshal(map[string]any{
		"name": name, "version": 1, "environment": "production", "tags": []string{}, "classes": []string{}, "edges": []any{},
		"resources": []map[string]any{
			resource("Stage", "main", map[string]any{}),
			resource("Notify", "works", map[string]any{}),
			resource("Exec", "/bin/false", map[string]any{"before": []string{"Notify[comes after]"}}),
			resource("Notify", "comes after", map[string]any{}),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.write("srv/var/server_data/catalog/"+name+".json", string(b))
	if out, code := s.agent(name, l.port); code != 6 {
		t.Fatalf("with a catalog that fails: exit %d\n%s\n%s", code, out, l.output())
	}
	l.waitFor("report saved: status failed, 1 failed, 1 skipped")
	if out, code := s.agent(name, l.port, "--noop", "--use_cached_catalog"); code != 0 {
		t.Fatalf("with its own catalog: exit %d\n%s\n%s", code, out, l.output())
	}
	const ofItsOwn = "with the agent's cached catalog, as use_cached_catalog is on"
	l.waitFor("noop, " + ofItsOwn)
	l.end()

	report, err := os.ReadFile(s.path("agents/" + name + "/var/state/last_run_report.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^transaction_uuid: (.*)$`).FindSubmatch(report)
	if m == nil {
		t.Fatalf("no transaction_uuid in\n%s", report)
	}
	for _, ask := range []string{string(m[1]), regexp.MustCompile(`run ~?(\S+)[^\n]*cached catalog`).FindStringSubmatch(l.output())[1]} {
		out, err := exec.CommandContext(t.Context(), s.program, "story", "--recording", recording, "run="+strings.TrimSuffix(ask, ":")).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "the run went "+ofItsOwn) || !strings.Contains(string(out), "save report "+name) {
			t.Errorf("run=%s: %v\n%s", ask, err, out)
		}
	}
}

// pluginsAreThere checks that an agent has all plugins of three modules, byte for
// byte.
func (s *site) pluginsAreThere(name string) {
	s.t.Helper()
	for _, module := range []string{"stdlib", "apache", "concat"} {
		lib := filepath.Join("/usr/share/puppet/modules", module, "lib")
		lib, err := filepath.EvalSymlinks(lib)
		if err != nil {
			continue // that module is not installed
		}
		err = filepath.WalkDir(lib, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, _ := filepath.Rel(lib, path)
			want, err := os.ReadFile(path)
			got, err2 := os.ReadFile(s.path("agents/" + name + "/var/lib/" + rel))
			if err != nil || err2 != nil || !bytes.Equal(got, want) {
				s.t.Errorf("%s: %v, %v", rel, err, err2)
			}
			return nil
		})
		if err != nil {
			s.t.Error(err)
		}
	}
}

// puppetCommands asks the server by the commands of Puppet.
func (s *site) puppetCommands(name, port, target string) {
	s.t.Helper()
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"ssl", "verify"}, "Verified client certificate"},
		{[]string{"facts", "upload", "--server", "localhost", "--serverport", port}, "Uploading facts for"},
		{[]string{"filebucket", "backup", target + "/hello.txt", "--server", "localhost", "--serverport", port}, "hello.txt: "},
		{[]string{"filebucket", "get", sum([]byte("old content\n")), "--server", "localhost", "--serverport", port}, "old content"},
		{[]string{"catalog", "find", name, "--terminus", "rest", "--server", "localhost", "--serverport", port}, "fallback.txt"},
	} {
		if out, code := s.puppet(name, port, tt.args...); code != 0 || !strings.Contains(out, tt.want) {
			s.t.Errorf("puppet %v: exit %d, want %q in\n%s", tt.args, code, tt.want, out)
		}
	}
}

func sum(b []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(b))
}

// A stack is the real Puppet Server of .ci/peers, running.
type stack struct {
	t   *testing.T
	dir string
	env map[string]string
}

// needStack skips a test where the stack of peers is not running.
func needStack(t *testing.T) *stack {
	t.Helper()
	needAgent(t)
	dir := os.Getenv("INDIRTUI_PEERS")
	if dir == "" {
		t.Skip("INDIRTUI_PEERS is not set: there is no real Puppet Server to talk to; start one with .ci/peers/stack.sh up")
	}
	s := &stack{t: t, dir: dir, env: make(map[string]string)}
	for line := range strings.Lines(s.script("env")) {
		name, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		s.env[name] = strings.Trim(value, `"'`)
	}
	return s
}

// script runs stack.sh.
func (s *stack) script(args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "../../.ci/peers/stack.sh", args...)
	cmd.Env = append(os.Environ(), "PEERS_DIR="+s.dir)
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("stack.sh %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// port returns the port of Puppet Server.
func (s *stack) port() string {
	_, port, _ := strings.Cut(strings.TrimPrefix(s.env["PUPPETSERVER_URL"], "https://"), ":")
	return strings.TrimRight(port, "/")
}

// proxy starts a proxy in front of Puppet Server.
func (s *stack) proxy(at *site, args ...string) *listener {
	s.t.Helper()
	s.script("cert", "proxy.example.com", "localhost", "127.0.0.1", "IP:127.0.0.1")
	at.write("proxy/puppet.conf", fmt.Sprintf("[main]\nvardir = %[1]s/proxy/var\nssldir = %[1]s/proxy/ssl\ncadir = %[1]s/proxy/ca\ncodedir = %[1]s/proxy/code\ncertname = proxy.example.com\ndns_alt_names = localhost\nkeylength = 2048\nautosign = true\n", at.dir))
	certs := s.dir + "/certs/"
	return at.run(append([]string{
		"proxy", "--confdir", at.path("proxy"), "--upstream", "https://localhost:" + s.port(),
		"--cert", certs + "proxy.example.com.crt", "--key", certs + "proxy.example.com.key", "--ca", certs + "ca.pem", "--crl", certs + "crl.pem",
	}, args...)...)
}

// puppetDB is the PuppetDB of the stack, and the port where Puppet Server asks for it
// instead.
func (s *stack) puppetDB() (address, port string) {
	s.t.Helper()
	conf, err := os.ReadFile(s.dir + "/puppetserver/conf/puppetdb.conf")
	if err != nil {
		s.t.Skipf("the stack has no PuppetDB: %v; start it with PEERS_PUPPETDB_PROXY_PORT=18082 .ci/peers/stack.sh up full", err)
	}
	m := regexp.MustCompile(`(?m)^server_urls = https://localhost:(\d+)$`).FindSubmatch(conf)
	if address = s.env["PUPPETDB_URL"]; m == nil || strings.HasSuffix(address, ":"+string(m[1])) {
		s.t.Skip("Puppet Server of the stack asks PuppetDB alone: start it with PEERS_PUPPETDB_PROXY_PORT=18082 .ci/peers/stack.sh up full")
	}
	return address, string(m[1])
}

// proxyOfPuppetDB starts a proxy that stands between Puppet Server and PuppetDB.
func (s *stack) proxyOfPuppetDB(at *site, in *os.File, args ...string) (l *listener, port string) {
	s.t.Helper()
	address, port := s.puppetDB()
	s.script("cert", "proxy.example.com", "localhost", "127.0.0.1", "IP:127.0.0.1")
	at.write("proxy/puppet.conf", fmt.Sprintf("[main]\nvardir = %[1]s/proxy/var\nssldir = %[1]s/proxy/ssl\n", at.dir))
	certs := s.dir + "/certs/"
	return at.runWith(in, append([]string{
		"proxy", "--listen", "127.0.0.1:" + port, "--confdir", at.path("proxy"), "--puppetdb", address,
		"--cert", certs + "proxy.example.com.crt", "--key", certs + "proxy.example.com.key", "--ca", certs + "ca.pem", "--crl", certs + "crl.pem",
	}, args...)...), port
}

// TestPuppetServerStoresThroughProxy: what the real Puppet Server stores in the real
// PuppetDB goes through the proxy, it gets the same back, and what one node exports
// is collected by another.
func TestPuppetServerStoresThroughProxy(t *testing.T) {
	peers := needStack(t) // not parallel: the other tests of agents would store through this proxy, too
	s := newSite(t)
	l, port := peers.proxyOfPuppetDB(s, nil)
	defer l.end()
	exporter, collector := nodeName(t), nodeName(t)
	run := func(node string, wants ...string) string {
		out, code := s.agent(node, peers.port())
		if code != 2 {
			t.Fatalf("%s: exit %d\n%s\n%s", node, code, out, l.output())
		}
		l.waitFor("save report " + node)
		for _, want := range wants {
			if !regexp.MustCompile(`(?m)#\d+ ` + want + `( |$)`).MatchString(l.output()) {
				t.Errorf("%s: the proxy did not print %s\n%s", node, want, l.output())
			}
		}
		return out
	}
	run(exporter, "find facts "+exporter+"  T forward .* nil!", "save facts "+exporter+"  T forward .* ok", "save catalog "+exporter+"  T forward .* ok", "save report "+exporter+"  T forward .* ok")
	if out := run(collector, "search resource Notify  T forward .* ok"); !strings.Contains(out, "exported by "+exporter) {
		t.Errorf("%s did not collect what %s exports:\n%s", collector, exporter, out)
	}
	for question, want := range map[string]string{
		"nodes/" + exporter + "/facts": s.path("agents/" + exporter), "nodes/" + exporter: `"catalog_environment" : "production"`,
		"catalogs/" + exporter: "exported by " + exporter, `reports?query=` + url.QueryEscape(`["=","certname","`+exporter+`"]`): `"status":"changed"`,
	} {
		if got := peers.ask("https://localhost:" + port + "/pdb/query/v4/" + question); !strings.Contains(got, want) {
			t.Errorf("asked through the proxy for %s: got %.2000s, want %s", question, got, want)
		}
	}
	l.waitFor("find node " + exporter)
	l.waitFor("find query catalogs/" + exporter)
}

// ask returns what is at an address, by the certificate of the stack's agent.
func (s *stack) ask(address string) string {
	s.t.Helper()
	cert, err := tls.LoadX509KeyPair(s.env["PEERS_CERT"], s.env["PEERS_KEY"])
	if err != nil {
		s.t.Fatal(err)
	}
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
		Certificates: []tls.Certificate{cert}, InsecureSkipVerify: true, //nolint:gosec // on loopback, to a proxy of this test
	}}}
	resp, err := c.Get(address)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// nodeName is one that the stack's CA has never signed.
func nodeName(t *testing.T) string {
	return fmt.Sprintf("p%d.example.com", time.Now().UnixNano())
}

// result is what a run of an agent left on its machine: files, plugins, the
// status of its report, its catalog without what differs from one to the next.
func (s *site) result(name string) string {
	s.t.Helper()
	dir := s.path("agents/" + name)
	report, err := os.ReadFile(dir + "/var/state/last_run_report.yaml")
	if err != nil {
		s.t.Fatal(err)
	}
	status := regexp.MustCompile(`(?m)^status: .*$`).Find(report)
	b, err := os.ReadFile(dir + "/var/client_data/catalog/" + name + ".json")
	if err != nil {
		s.t.Fatal(err)
	}
	var catalog map[string]any
	if err := json.Unmarshal(b, &catalog); err != nil {
		s.t.Fatal(err)
	}
	for _, k := range []string{"version", "catalog_uuid"} {
		delete(catalog, k)
	}
	b, err = json.MarshalIndent(catalog, "", " ")
	if err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprintf("%s\n%s\n%s\n%s", status, tree(s.t, dir+"/target"), tree(s.t, dir+"/var/lib"), b)
}

// forget takes away all that an agent has but its certificate.
func (s *site) forget(name string) {
	s.t.Helper()
	for _, d := range []string{"var", "target"} {
		if err := os.RemoveAll(s.path("agents/" + name + "/" + d)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// TestAgentThroughProxy: a run through the proxy, from the first request for a
// certificate on, ends as one without it.
func TestAgentThroughProxy(t *testing.T) {
	t.Parallel()
	peers := needStack(t)
	for _, tt := range []struct {
		name string
		args func(s *site, node string) []string
	}{
		{"with the agent's own certificate", func(s *site, node string) []string {
			return []string{"--agents-ssl", s.path("agents/" + node + "/ssl")}
		}},
		{"with a certificate that the proxy obtains", func(s *site, node string) []string {
			return []string{"--own-ca", "--agents-ssl", s.path("proxy/agents"), "--obtain"}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t)
			node := nodeName(t)
			l := peers.proxy(s, tt.args(s, node)...)
			out, code := s.agent(node, l.port)
			if code != 2 {
				t.Fatalf("through the proxy: exit %d\n%s\n%s", code, out, l.output())
			}
			l.waitFor("report saved")
			through := s.result(node)
			output := l.output()
			for _, want := range []string{node + " run ", "catalog from terminus rest (", "report saved"} {
				if !strings.Contains(output, want) {
					t.Errorf("the proxy does not say %q:\n%s", want, output)
				}
			}
			l.end()
			if strings.Contains(tt.name, "obtains") {
				// Its own certificate is of the proxy's CA: the one that the proxy has
				// for it goes to Puppet Server.
				for from, to := range map[string]string{
					s.path("proxy/agents/certs/" + node + ".pem"): "certs/" + node + ".pem", s.path("proxy/agents/private_keys/" + node + ".pem"): "private_keys/" + node + ".pem",
					peers.dir + "/certs/ca.pem": "certs/ca.pem", peers.dir + "/certs/crl.pem": "crl.pem",
				} {
					b, err := os.ReadFile(from)
					if err != nil {
						t.Fatal(err)
					}
					s.write("agents/"+node+"/ssl/"+to, string(b))
				}
			}
			s.forget(node)
			out, code = s.agent(node, peers.port())
			if code != 2 {
				t.Fatalf("without the proxy: exit %d\n%s", code, out)
			}
			// The port of the bucket is a fact, and so part of the catalog. Within a
			// checksum its digits are none.
			portless := func(text, port string) string {
				return regexp.MustCompile(`\b`+port+`\b`).ReplaceAllString(text, "PORT")
			}
			if diff := cmp.Diff(portless(s.result(node), peers.port()), portless(through, l.port)); diff != "" {
				t.Errorf("through the proxy (+) it ends otherwise than without (-):\n%s", diff)
			}
		})
	}
}

// TestJourney11ThroughTheProxy is journey 11 of the design, by keys, against
// the real agent and the real Puppet Server.
func TestJourney11ThroughTheProxy(t *testing.T) {
	t.Parallel()
	peers := needStack(t)
	needTmux(t)
	s := newSite(t)
	const node = "agent11.example.com"
	peers.script("cert", "proxy.example.com", "localhost", "127.0.0.1", "IP:127.0.0.1")
	peers.script("cert", node)
	certs := peers.dir + "/certs/"
	ssl := s.path("agents/" + node + "/ssl")
	for from, to := range map[string]string{node + ".crt": "/certs/" + node + ".pem", node + ".key": "/private_keys/" + node + ".pem", "ca.pem": "/certs/ca.pem", "crl.pem": "/crl.pem"} {
		b, err := os.ReadFile(certs + from)
		if err != nil {
			t.Fatal(err)
		}
		s.write(ssl+to, string(b))
	}
	// A file that only environment staging has, under a name of this test.
	file := fmt.Sprintf("only-%d.txt", time.Now().UnixNano())
	there := filepath.Join(peers.dir, "code/environments/staging/site-modules/demo/files", file)
	if err := os.WriteFile(there, []byte("only in staging\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(there) }) // a deployment of the stack removes it, too
	s.write("proxy/puppet.conf", fmt.Sprintf("[main]\nvardir = %[1]s/proxy/var\nssldir = %[1]s/proxy/ssl\ncadir = %[1]s/proxy/ca\ncodedir = %[1]s/proxy/code\n", s.dir))

	term := open(t)
	term.write(strings.Join([]string{
		s.program, "proxy --ui --confdir", s.path("proxy"), "--listen 127.0.0.1:0 --upstream https://localhost:" + peers.port(), "--agents-ssl", ssl,
		"--cert", certs + "proxy.example.com.crt", "--key", certs + "proxy.example.com.key", "--ca", certs + "ca.pem", "--crl", certs + "crl.pem",
	}, " ")).keys("Enter").wait("1 Requests", "Waiting for agents")
	term.tmux("resize-window", "-x", "140", "-y", "40")
	term.wait("proxy 127.0.0.1:")
	m := regexp.MustCompile(`proxy 127\.0\.0\.1:(\d+) ->`).FindStringSubmatch(term.screen())
	if m == nil {
		t.Fatalf("no port:\n%s", term.screen())
	}

	// 1. A run of the agent; then it asks for the file.
	if out, code := s.agent(node, m[1]); code != 2 {
		t.Fatalf("the agent: exit %d\n%s", code, out)
	}
	term.wait("save report", node)
	const ask = `require "puppet"; Puppet.initialize_settings(["--confdir", ARGV[0] + "/conf", "--vardir", ARGV[0] + "/var"]); m = Puppet::FileServing::Metadata.indirection.find("puppet:///modules/demo/" + ARGV[1], environment: Puppet::Node::Environment.remote("production"), links: :manage, terminus: :rest); puts m.inspect`
	if _, err := os.Stat("/usr/bin/ruby"); err != nil {
		t.Skip("there is no ruby to ask for one file as Puppet does")
	}
	cmd := exec.CommandContext(t.Context(), "ruby", "-e", ask, s.path("agents/"+node), file)
	cmd.Env = append(os.Environ(), "HOME="+s.path("agents/"+node))
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "nil") {
		t.Fatalf("the file: %v\n%s", err, out)
	}
	// 2.
	term.keys("/").write("http.status=404 key=*" + file).keys("Enter")
	term.wait("1 of", "nil!", "file_metadata")
	// 3.
	term.keys("Enter").wait("404 Not Found")
	term.keys("Down", "Enter").wait("links=manage&environment", "404 Not Found", "Could not find file_metadata modules/demo/"+file).keys("Escape").wait("WHAT IF")
	// 4.
	term.write("y").wait("curl -sS").write("c").shows("copied curl")
	// 5.
	term.write("R").wait("env=production")
	was := regexp.MustCompile(`replay=(\d+)`).FindStringSubmatch(term.screen())
	if was == nil {
		t.Fatalf("the line does not say what it repeats:\n%s", term.screen())
	}
	term.keys("C-u").write("find file_metadata modules/demo/" + file + " env=staging opt.links=manage " + was[0]).keys("Enter")
	term.wait("sent by you", " ok ").keys("Escape").wait("http.status=404")
	term.keys("/", "C-u").write("env=staging").keys("Enter").wait("1 of ", "ok", "replay of #"+was[1])
	term.write("q").wait("recording:")
}

// A real agent applies a catalog that is compiled here, from data, templates of both kinds
// and files of modules; the second time nothing is left to do.
func TestAgentCompiled(t *testing.T) {
	t.Parallel()
	needAgent(t)
	s := newSite(t)
	const name, production = "web02.example.com", "code/environments/production/"
	target := s.path("agents/" + name + "/target")
	for file, text := range map[string]string{
		"manifests/site.pp": "node default { include ntp }\n",
		"hiera.yaml":        "{version: 5, hierarchy: [{name: node, path: 'nodes/%{trusted.certname}.yaml'}, {name: common, path: common.yaml}]}\n",
		"data/common.yaml":  "ntp::servers: [a, b]\nntp::target: " + target + "\n", "data/nodes/" + name + ".yaml": "ntp::servers: [c]\nlookup_options: {ntp::servers: {merge: unique}}\n",
		"site-modules/ntp/manifests/init.pp": `class ntp(Array[String] $servers, String $target) {
  file { $target: ensure => directory }
  -> file { "${target}/epp.txt": content => epp('ntp/e.epp', { 'servers' => $servers }) }
  file {
    default: ensure => file, mode => '0640';
    "${target}/erb.txt": content => template('ntp/r.erb');
    "${target}/source.txt": source => 'puppet:///modules/ntp/source.txt';
  }
}
`,
		"site-modules/ntp/templates/e.epp":  "<%- |Array $servers| -%>\n<% $servers.each |$s| { -%>\nserver <%= $s %>\n<% } -%>\n",
		"site-modules/ntp/templates/r.erb":  "<% @servers.sort.each do |s| -%>\n<%= s.upcase %> of <%= scope['trusted']['certname'] %>\n<% end -%>\n",
		"site-modules/ntp/files/source.txt": "of the module\n",
	} {
		s.write(production+file, text)
	}
	l := s.run("serve", "--confdir", s.path("srv"), "--set", "catalog_terminus=compiler")
	out, code := s.agent(name, l.port)
	if code != 2 {
		t.Fatalf("the first run: exit %d\n%s\n%s", code, out, l.output())
	}
	for file, want := range map[string]string{
		"epp.txt": "server c\nserver a\nserver b\n", "erb.txt": "A of " + name + "\nB of " + name + "\nC of " + name + "\n", "source.txt": "of the module\n",
	} {
		if got, err := os.ReadFile(filepath.Join(target, file)); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", file, got, err, want)
		}
	}
	l.waitFor("catalog from terminus compiler")
	if out, code = s.agent(name, l.port); code != 0 {
		t.Errorf("the second run: exit %d\n%s", code, out)
	}
	s.write(production+"manifests/site.pp", "include nothing_of_that_name\n")
	if out, code = s.agent(name, l.port); code != 1 && code != 2 && code != 4 || !strings.Contains(out, "Could not find class ::nothing_of_that_name for "+name) {
		t.Errorf("a catalog that does not compile: exit %d\n%s", code, out)
	}
}

// ssl writes an ssldir with a certificate of the stack's CA, and what else it is named.
func (s *stack) ssl(at *site, dir, name string, names ...string) {
	s.t.Helper()
	s.script(append([]string{"cert", name}, names...)...)
	for from, to := range map[string]string{
		name + ".crt": "certs/" + name + ".pem", name + ".key": "private_keys/" + name + ".pem", "ca.pem": "certs/ca.pem", "crl.pem": "crl.pem",
	} {
		text, err := os.ReadFile(s.dir + "/certs/" + from)
		if err != nil {
			s.t.Fatal(err)
		}
		at.write(dir+"/"+to, string(text))
	}
}

// posted asks a server for the catalog of a node, as its agent does, and returns the status
// and the body, of a catalog without what is another in every compile.
func (s *stack) posted(address, name, environment string, facts map[string]any) (int, string) {
	s.t.Helper()
	status, body := s.compiled(address, name, environment, facts)
	for _, k := range []string{"version", "catalog_uuid"} {
		delete(body, k)
	}
	out, err := json.MarshalIndent(body, "", " ")
	if err != nil {
		s.t.Fatal(err)
	}
	// In metadata of files owner and group are those of the process, as their sources want it.
	return status, regexp.MustCompile(`"(owner|group)": \d+`).ReplaceAllString(string(out), `"$1": 0`)
}

// compiled asks a server for the catalog of a node, and returns the status and the body.
func (s *stack) compiled(address, name, environment string, facts map[string]any) (status int, body map[string]any) {
	s.t.Helper()
	certs := s.dir + "/certs/"
	pair, err := tls.LoadX509KeyPair(certs+name+".crt", certs+name+".key")
	if err != nil {
		s.t.Fatal(err)
	}
	pem, err := os.ReadFile(certs + "ca.pem")
	if err != nil {
		s.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	text, err := json.Marshal(facts)
	if err != nil {
		s.t.Fatal(err)
	}
	form := url.Values{
		"environment": {environment}, "configured_environment": {environment}, "facts_format": {"application/json"},
		"facts": {strings.ReplaceAll(url.QueryEscape(string(text)), "+", "%20")}, "static_catalog": {"true"}, "checksum_type": {"sha256.md5"},
	}
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, "https://"+address+"/puppet/v3/catalog/"+name+"?environment="+environment, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/vnd.puppet.rich+json, application/json")
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}}, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil {
		s.t.Fatalf("%s: %s: %v", address, resp.Status, err)
	}
	return resp.StatusCode, body
}

// The catalogs of the nodes of a control repository are those of Puppet Server, static ones
// and errors among them.
func TestCompiledAsByPuppetServer(t *testing.T) {
	t.Parallel()
	k := needStack(t)
	s := newSite(t)
	s.write("srv/puppet.conf", fmt.Sprintf(`[main]
vardir = %[1]s/srv/var
ssldir = %[1]s/srv/ssl
codedir = %[2]s/code
basemodulepath = /usr/share/puppet/modules
certname = proxy.example.com
[server]
node_terminus = exec
external_nodes = %[2]s/puppetserver/bin/enc
`, s.dir, k.dir))
	k.ssl(s, "srv/ssl", "proxy.example.com", "localhost", "127.0.0.1", "IP:127.0.0.1")
	bin := k.dir + "/puppetserver/bin/"
	l := s.run("serve", "--confdir", s.path("srv"), "--ruby", "auto", "--code-id-command", bin+"code-id", "--code-content-command", bin+"code-content")
	text, err := os.ReadFile("../../.ci/peers/fixtures/facts.agent01.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, environment, fails string }{
		{"agent01.example.com", "production", ""},
		{"web07.example.com", "production", ""},
		{"plain01.example.com", "production", ""},
		{"bench01.example.com", "production", ""},
		{"bucket1.example.com", "production", ""},
		{"s1.staging.example.com", "staging", ""},
		{"s1.staging.example.com", "production", ""},
		{"plain01.example.com", "broken", ""},
		{"unclassified.example.com", "production", ""},
		{"plain01.example.com", "production", "evaluation"},
		{"plain01.example.com", "production", "unknown_class"},
		{"plain01.example.com", "production", "unknown_function"},
		{"plain01.example.com", "production", "type_mismatch"},
		{"plain01.example.com", "production", "duplicate"},
	} {
		t.Run(strings.TrimSpace(tt.name+" "+tt.environment+" "+tt.fails), func(t *testing.T) {
			k := &stack{t, k.dir, k.env}
			k.script("cert", tt.name)
			var facts map[string]any
			if err := json.Unmarshal(text, &facts); err != nil {
				t.Fatal(err)
			}
			facts["name"] = tt.name
			if tt.fails != "" {
				facts["values"].(map[string]any)["peers_fail"] = tt.fails
			}
			wantStatus, want := k.posted("localhost:"+k.port(), tt.name, tt.environment, facts)
			gotStatus, got := k.posted("localhost:"+l.port, tt.name, tt.environment, facts)
			if gotStatus != wantStatus {
				t.Errorf("status %d, want %d", gotStatus, wantStatus)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-puppetserver +indirtui):\n%s", d)
			}
		})
	}
}
