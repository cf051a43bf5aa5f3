package transaction_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/golden"
)

// TestGoldenRalProviders applies catalogs over scripted commands and accounts: reports and
// files must be the same, and commands that change something must be run in the same
// order. Rules RES-USER-01 to RES-LIST-04.
func TestGoldenRalProviders(t *testing.T) {
	t.Parallel()
	applyScripted(t, rows(t, "providers.jsonl"))
}

// TestGoldenRalProvidersMore is the same for what was recorded later, of less usual catalogs.
func TestGoldenRalProvidersMore(t *testing.T) {
	t.Parallel()
	applyScripted(t, rows(t, "providers-more.jsonl"))
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
	applyScripted(t, golden.Decode[map[string]json.RawMessage](t, bytes.NewReader(text)))
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

// scripted compares the commands that were run with those that were recorded.
func scripted(t *testing.T) func(*caseRow, *stepRow) string {
	return func(c *caseRow, s *stepRow) string {
		var want, got []callRow
		decode(t, s.Calls, &want)
		b, err := json.Marshal(c.now.Calls())
		if err != nil {
			t.Fatal(err)
		}
		decode(t, []byte(c.place.norm(string(b))), &got)
		return cmp.Diff(changing(want), changing(got))
	}
}
