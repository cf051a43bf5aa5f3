package transaction_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/golden"
	"indirtui/indirector/resource/systemtest"
	"indirtui/indirector/resource/transaction"
)

// TestGoldenRalProviders applies catalogs over scripted commands and accounts: reports and
// files must be the same, and commands that change something must be run in the same
// order. Rules RES-USER-01 to RES-LIST-04.
func TestGoldenRalProviders(t *testing.T) {
	t.Parallel()
	for _, row := range rows(t, "providers.jsonl") {
		var id string
		decode(t, row["id"], &id)
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			for _, problem := range scripted(t, row) {
				t.Error(problem)
			}
		})
	}
}

// TestRecordedLibuser is TestGoldenRalProviders for accounts where libuser is installed:
// members of groups, and forcelocal. The cases have the files of the machine that was
// recorded in their trees. Rule RES-USER-05.
func TestRecordedLibuser(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/libuser/providers.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range golden.Decode[map[string]json.RawMessage](t, bytes.NewReader(text)) {
		var id string
		decode(t, row["id"], &id)
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			for _, problem := range scripted(t, row) {
				t.Error(problem)
			}
		})
	}
}

// A callRow is a command that was run.
type callRow struct {
	Argv  []string          `json:"argv"`
	Shell string            `json:"sh"`
	Pipe  string            `json:"pipe"`
	Stdin string            `json:"stdin"`
	UID   string            `json:"uid"`
	GID   string            `json:"gid"`
	Env   map[string]string `json:"env"`
	Exit  int               `json:"exit"`
}

func (c *callRow) line() string { return c.Shell + c.Pipe + strings.Join(c.Argv, " ") }

// looking are command lines that change nothing, as the recordings' README lists them.
var looking = regexp.MustCompile(`dpkg-query|dpkg-deb --show|--compare-versions|rpm -q|rpm --version|rpm -ql|apt-mark show|apt-cache |check-update|module list|systemctl (is-|show|list-|cat)|journalctl|crontab (-u \S+ )?-l|/mount$|--query|status$|ps -ef|chkconfig \S+$`)

// ofProcess are variables that Puppet sets for its own process, so that no recorded command has them.
var ofProcess = []string{"DEBIAN_FRONTEND", "APT_LISTBUGS_FRONTEND", "APT_LISTCHANGES_FRONTEND"}

// changing are calls that change something. That a password goes by stdin at creation is
// the one deliberate difference.
func changing(calls []callRow) []string {
	var all []string
	for _, c := range calls {
		line := c.line()
		if looking.MatchString(line) {
			continue
		}
		env := maps.Clone(c.Env)
		maps.DeleteFunc(env, func(name, _ string) bool { return slices.Contains(ofProcess, name) })
		if m := setPassword.FindStringSubmatch(line); m != nil {
			line, c.Stdin = path.Dir(m[1])+"/chpasswd -e", m[3]+":"+m[2]+"\n"
			delete(env, "LIBUSER_CONF")
		}
		text := line
		for _, part := range []string{c.Stdin, c.UID, c.GID} {
			text += "\n  " + part
		}
		for _, name := range slices.Sorted(maps.Keys(env)) {
			value := env[name]
			if strings.HasSuffix(value, "/puppet/util/libuser.conf") {
				value = "<PUPPET_LIB>/puppet/util/libuser.conf"
			}
			text += "\n  " + name + "=" + value
		}
		all = append(all, text+fmt.Sprint("\n  exit ", c.Exit))
	}
	return all
}

var setPassword = regexp.MustCompile(`^(\S+/l?usermod) -p (\S+) (\S+)$`)

func scripted(t *testing.T, row map[string]json.RawMessage) (problems []string) {
	var c struct {
		Settings map[string]any
		Full     bool
		Tree     systemtest.Tree
		Steps    []struct {
			Step   map[string]any
			Exit   int
			Report *reportRow
			Calls  []callRow
			Tree   map[string]string
		}
		Catalogs []json.RawMessage
	}
	p := newPlace(t)
	var kase systemtest.Case
	text, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	decode(t, p.expand(text), &kase)
	// The pipe of a command is one of the recorder.
	row["steps"] = bytes.ReplaceAll(row["steps"], []byte("#<StringIO:0xXXXX>"), []byte("#<IO:(closed)>"))
	for name, to := range map[string]any{"settings": &c.Settings, "full": &c.Full, "tree": &c.Tree, "steps": &c.Steps, "catalogs": &c.Catalogs} {
		decode(t, row[name], to)
	}
	c.Tree.Plant(t, p.dir+"/root")
	before := p.tree(t)
	var flags []string
	for i, s := range c.Steps {
		compare := func(what string, want, got any) {
			if d := cmp.Diff(want, got); d != "" {
				problems = append(problems, fmt.Sprintf("step %d, %s: want -, got +\n%s", i, what, d))
			}
		}
		if shell, ok := s.Step["shell"].(string); ok {
			flags = p.shell(t, shell, flags)
			before = p.tree(t)
			continue
		}
		manifest, _ := s.Step["manifest"].(float64)
		settings := map[string]any{}
		for _, name := range []string{"noop", "tags", "skip_tags"} {
			if v, ok := s.Step[name]; ok {
				settings[name] = v
			}
		}
		more, _ := s.Step["settings"].(map[string]any)
		m := p.system(kase, p.settings(c.Settings, more, settings))
		m.Raise(flags)
		result := transaction.Run(t.Context(), catalogOf(t, p.expand(c.Catalogs[int(manifest)])), transaction.Options{
			Settings: agent(m), System: m, Host: m.Selection(), Types: allTypes(), FromCache: true, IntoCache: true,
		})
		flags = m.Flags()
		compare("exit", s.Exit, result.Exit)
		compare("report", s.Report, reportRowOf(t, p, result, c.Full))
		compare("calls", changing(s.Calls), changing(callsOf(t, p, m)))
		if s.Tree != nil {
			before = s.Tree
		}
		now := p.tree(t)
		compare("tree", before, now)
		before = now
	}
	return problems
}

// shell changes something between two runs, such as the flags, which it finds in a file.
func (p place) shell(t *testing.T, script string, flags []string) []string {
	t.Helper()
	file := p.dir + "/flags"
	if err := os.WriteFile(file, []byte(strings.Join(flags, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "sh", "-ec", script)
	c.Dir = p.dir + "/root"
	c.Env = append(os.Environ(), "ROOT="+c.Dir)
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil // it was removed
	}
	return strings.Fields(string(text))
}

// callsOf are the commands of a system, with placeholders.
func callsOf(t *testing.T, p place, m *systemtest.System) []callRow {
	t.Helper()
	b, err := json.Marshal(m.Calls())
	if err != nil {
		t.Fatal(err)
	}
	var all []callRow
	decode(t, []byte(p.norm(string(b))), &all)
	return all
}
