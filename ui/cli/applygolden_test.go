package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/golden"
	"indirtui/indirector/resource/systemtest"
	"indirtui/termini"
	"indirtui/ui/cli"
)

// varying is what differs from run to run, and what recordings have in its place.
var varying = []struct {
	re   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`in [0-9.]+ seconds`), "in <N> seconds"},
	{regexp.MustCompile(`configuration version '\d+'`), "configuration version '<N>'"},
	{regexp.MustCompile(`(?m)^((?:---|\+\+\+) .*\t).*$`), "${1}<TIME>"},
	{regexp.MustCompile(`(?m)^(\+\+\+) \S+\t`), "$1 @TMPFILE@\t"},
	{regexp.MustCompile(`(?m)^(\s+[A-Z][\w ]+: )\d+\.\d+$`), "$1<N>"},
	{regexp.MustCompile(`((?:Last run|Config): )\d{9,}`), "$1<N>"},
}

// TestGoldenRalCommands applies the manifests, and the catalogs of files, that puppet apply
// was given. That its exit code is 0 whatever happens in a run of --catalog is not taken
// over; why a file is no catalog is in words of this program.
func TestGoldenRalCommands(t *testing.T) {
	t.Parallel()
	n := 0
	for line := range golden.Lines(t, golden.PathBeside(t, "../../indirector/resource", "ral", "apply.jsonl")) {
		if !bytes.Contains(line, []byte(`"command"`)) { // most cases have none
			continue
		}
		root := t.TempDir()
		var kase struct {
			ID        string          `json:"id"`
			Manifest  string          `json:"manifest"`
			Manifests []string        `json:"manifests"`
			Tree      systemtest.Tree `json:"tree"`
			Steps     []applyStep     `json:"steps"`
		}
		if err := json.Unmarshal([]byte(systemtest.Expand(string(line), root, os.Getuid(), os.Getgid())), &kase); err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(kase.Steps, func(s applyStep) bool { return s.Step.Command != nil }) {
			continue
		}
		n++
		t.Run(kase.ID, func(t *testing.T) {
			t.Parallel()
			kase.Tree.Plant(t, root)
			home := t.TempDir()
			manifests := append([]string{kase.Manifest}, kase.Manifests...)
			before := listed(t, root)
			for _, s := range kase.Steps {
				s.check(t, home, manifests[s.Step.Manifest])
				if s.Tree != nil {
					before = s.Tree
				}
				if d := cmp.Diff(before, listed(t, root)); d != "" {
					t.Errorf("%q: the files, want -, got +\n%s", s.Step.Command, d)
				}
			}
		})
	}
	if n == 0 {
		t.Fatal("there is no case")
	}
}

// listed are the files below a directory, which stands in the recording as it is.
func listed(t *testing.T, root string) map[string]string {
	t.Helper()
	return systemtest.List(t, root, func(s string) string { return s })
}

type applyStep struct {
	Step struct {
		Command  []string
		Manifest int
	}
	Exit   int
	Stdout []string
	Stderr []string
	Tree   map[string]string
}

func (s *applyStep) check(t *testing.T, dir, manifest string) {
	t.Helper()
	site := filepath.Join(dir, "site.pp")
	if err := os.WriteFile(site, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	certname := "node1.example.test"
	really, ofFile := "--really", slices.Contains(s.Step.Command, "--catalog")
	if ofFile {
		certname = "n1"
	}
	args := []string{
		"apply", "--write", "--application", "apply", "--host", certname, "--confdir", filepath.Join(dir, "conf"), "--vardir", filepath.Join(dir, "var"),
		"--set", "certname=" + certname, "--set", "report=false", "--set", "publicdir=" + filepath.Join(dir, "public"),
		"--set", "codedir=" + filepath.Join(dir, "code"),
	}
	for _, word := range s.Step.Command[1:] {
		switch word {
		case "--noop":
			really = "--noop"
		case "--catalog":
			// its argument is one here
		default:
			args = append(args, strings.ReplaceAll(word, "@SITE@", site))
		}
	}
	var out, stderr bytes.Buffer
	code := cli.Main(append(args, really), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &stderr}, termini.Specs(), termini.All())
	if s.Exit != code && (!ofFile || s.Exit != 0 && code == 0) {
		t.Errorf("%q: exit %d, want %d", s.Step.Command, code, s.Exit)
	}
	if got, want := calm(out.String()), strings.Join(s.Stdout, "\n"); got != want {
		t.Errorf("%q: got\n%s\nwant\n%s\n%s", s.Step.Command, got, want, &stderr)
	}
	for _, line := range s.Stderr {
		if !strings.HasPrefix(line, "Error: Could not run: ") && !strings.Contains(strings.ReplaceAll(stderr.String(), site, "@SITE@"), line+"\n") {
			t.Errorf("%q: got the errors\n%s\nwant %s", s.Step.Command, &stderr, line)
		}
	}
}

// calm is what a command printed, as recordings have it: times are in the order of their
// lines.
func calm(text string) string {
	text = strings.TrimSuffix(text, "\n")
	for _, v := range varying {
		text = v.re.ReplaceAllString(text, v.with)
	}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		begin := i
		for i < len(lines) && strings.HasSuffix(lines[i], ": <N>") {
			i++
		}
		slices.Sort(lines[begin:i])
	}
	return strings.Join(lines, "\n")
}
