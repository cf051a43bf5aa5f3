//go:build unix

package cli_test

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"indirtui/indirector/probe"
	"indirtui/traces"
	"indirtui/traces/export"
	"indirtui/traces/store"
)

// needPuppet skips where there is no Puppet.
func needPuppet(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("puppet"); err != nil {
		t.Skipf("there is no puppet: %v", err)
	}
}

// A real run of puppet apply is watched, its output and exit code are passed on, and
// the requests are held against what is expected.
func TestAttachHeadless(t *testing.T) {
	t.Parallel()
	needPuppet(t)
	dir := t.TempDir()
	record := filepath.Join(dir, "run.jsonl")
	code, out, problem := indirtui("attach", "--headless", "--values", "--record", record, "-e", "count(ind=catalog verb=find) = 1", "-e", "none(out=err)", "--confdir", dir, "--vardir", dir, "--",
		"puppet", "apply", "--confdir", filepath.Join(dir, "conf"), "--vardir", filepath.Join(dir, "var"), "--detailed-exitcodes", "-e", `notify { 'seen by the test': }`)
	if code != 2 {
		t.Errorf("exit code %d, want 2:\n%s%s", code, out, problem)
	}
	for _, want := range []string{"seen by the test", "met: count(ind=catalog verb=find) = 1", "puppet apply (pid "} {
		if !strings.Contains(out+problem, want) {
			t.Errorf("%q is missing in\n%s%s", want, out, problem)
		}
	}
	if strings.ContainsRune(out, 0x1b) {
		t.Errorf("the output has escapes: %q", out)
	}
	s, err := store.OpenFile(record)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := export.Loaded(s); err != nil {
		t.Fatal(err)
	}
	found, valued := false, false
	rows := make([]store.Row, 100)
	for _, r := range rows[:s.Rows(0, rows)] {
		valued = valued || r.Indirection == "catalog" && r.Size > 100
		found = found || r.Indirection == "catalog" && r.Outcome == traces.Good && r.Terminus == "compiler"
	}
	if !found || !valued {
		t.Errorf("the recording has a catalog of the compiler: %v, with its value: %v", found, valued)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "indirtui-*", "probe.rb")); len(left) > 0 {
		t.Logf("others run, or something is left: %q", left)
	}
}

func TestAttachUsage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, tt := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"nothing", nil, 2, "attach to what?"},
		{"no dashes", []string{"puppet"}, 2, "a command stands behind --"},
		{"expect", []string{"-e", "none(hidden)", "--", "true"}, 2, "--expect is for --headless"},
		{"break", []string{"--break", "ind=facts@dance", "--", "true"}, 2, "--break"},
		{"break of a name", []string{"--break", "key=a@b before terminus", "--headless", "--confdir", dir, "--vardir", dir, "--", "true"}, 0, "no process has attached"},
		{"not there", []string{"--headless", "--confdir", dir, "--vardir", dir, "--", "/no/such/program"}, 1, "no such file"},
		{"no process", []string{"--headless", "--confdir", dir, "--vardir", dir, "--", "sh", "-c", "exit 7"}, 7, "no process has attached"},
		{"nothing to expect", []string{"--headless", "--confdir", dir, "--vardir", dir, "-e", "none(hidden)", "--", "true"}, 1, "no process has attached"},
		{"probe", []string{"--print-probe", filepath.Join(dir, "probe")}, 0, "RUBYOPT=-r" + filepath.Join(dir, "probe", "probe.rb")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code, out, problem := indirtui(append([]string{"attach"}, tt.args...)...)
			if code != tt.code || !strings.Contains(out+problem, tt.want) {
				t.Errorf("exit code %d, want %d:\n%s%s", code, tt.code, out, problem)
			}
		})
	}
}

// attachSchema is the schema of the protocol.
func attachSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	_, text, _ := indirtui("schema", "attach")
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// The lines of the protocol are as its schema has them, and those of a real process.
func TestAttachSchema(t *testing.T) {
	t.Parallel()
	schema := attachSchema(t)
	valid := func(line string) error {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err != nil {
			return err
		}
		return schema.Validate(v)
	}
	t.Run("examples", func(t *testing.T) {
		t.Parallel()
		b, err := os.ReadFile("testdata/attach/lines.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if err := valid(line); err != nil {
				t.Errorf("%v\n%s", err, line)
			}
		}
		for _, line := range []string{`{"shell":1}`, `{"trace":0,"t":"2026-11-28T00:00:00Z","verb":"find","ind":"x","steps":[]}`, `{"attach":2,"conn":"x","pid":1}`, `[]`} {
			if valid(line) == nil {
				t.Errorf("%s is valid", line)
			}
		}
	})
	t.Run("puppet apply", func(t *testing.T) {
		t.Parallel()
		needPuppet(t)
		lines := rawLines(t, "puppet", "apply", "--confdir", t.TempDir(), "--vardir", t.TempDir(), "-e", `notify { 'x': }`)
		if len(lines) < 8 {
			t.Errorf("got %d lines", len(lines))
		}
		for _, line := range lines {
			if err := valid(line); err != nil {
				t.Errorf("%v\n%s", err, line)
			}
		}
	})
}

// rawLines are the lines that the probe writes while a command runs.
func rawLines(t *testing.T, argv ...string) (lines []string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "attach")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := probe.WriteFiles(dir); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var reading, accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			reading.Go(func() {
				defer c.Close()
				for s := bufio.NewScanner(c); s.Scan(); {
					mu.Lock()
					lines = append(lines, s.Text())
					mu.Unlock()
				}
			})
		}
	})
	cmd, _, err := probe.Launch{Argv: argv, Env: os.Environ(), Dir: dir, Socket: l.Addr().String()}.Command()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	_ = l.Close()
	accepting.Wait()
	reading.Wait()
	return lines
}
