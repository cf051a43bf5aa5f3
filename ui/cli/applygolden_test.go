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

	"indirtui/indirector/golden"
	"indirtui/indirector/resource/systemtest"
	"indirtui/termini"
	"indirtui/ui/cli"
)

var inSeconds = regexp.MustCompile(`in [0-9.]+ seconds`)

// TestGoldenRalCommands applies the catalogs of files that puppet apply --catalog was
// given. Its exit code is 0 whatever happens in a run, which is not taken over; why a file
// is no catalog is in words of this program.
func TestGoldenRalCommands(t *testing.T) {
	t.Parallel()
	n := 0
	for line := range golden.Lines(t, golden.PathBeside(t, "../../indirector/resource", "ral", "apply.jsonl")) {
		if !bytes.Contains(line, []byte(`"--catalog"`)) {
			continue
		}
		n++
		root := t.TempDir()
		var kase struct {
			ID    string          `json:"id"`
			Tree  systemtest.Tree `json:"tree"`
			Steps []applyStep     `json:"steps"`
		}
		if err := json.Unmarshal([]byte(systemtest.Expand(string(line), root, os.Getuid(), os.Getgid())), &kase); err != nil {
			t.Fatal(err)
		}
		t.Run(kase.ID, func(t *testing.T) {
			t.Parallel()
			kase.Tree.Plant(t, root)
			for _, s := range kase.Steps {
				if slices.Contains(s.Step.Command, "--catalog") {
					s.check(t)
				}
			}
		})
	}
	if n == 0 {
		t.Fatal("there is no case")
	}
}

type applyStep struct {
	Step   struct{ Command []string }
	Exit   int
	Stdout []string
	Stderr []string
}

func (s *applyStep) check(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	args := []string{
		"apply", "--write", "--application", "apply", "--host", "n1", "--confdir", filepath.Join(dir, "conf"), "--vardir", filepath.Join(dir, "var"),
		"--set", "certname=n1", "--set", "report=false", "--set", "publicdir=" + filepath.Join(dir, "public"),
	}
	really := "--really"
	for _, word := range s.Step.Command[1:] {
		switch word {
		case "--noop":
			really = "--noop"
		case "--catalog", "--summarize": // what is printed after the run is left out
		default:
			args = append(args, word)
		}
	}
	var out, stderr bytes.Buffer
	code := cli.Main(append(args, really), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &stderr}, termini.Specs(), termini.All())
	if s.Exit != 0 && code == 0 {
		t.Errorf("%q: exit %d, want an error", s.Step.Command, code)
	}
	want := s.Stdout
	if end := slices.Index(want, "Notice: Applied catalog in <N> seconds"); end >= 0 {
		want = want[:end+1]
	}
	if got := strings.TrimSuffix(inSeconds.ReplaceAllString(out.String(), "in <N> seconds"), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("%q: got\n%s\nwant\n%s\n%s", s.Step.Command, got, strings.Join(want, "\n"), &stderr)
	}
	for _, line := range s.Stderr {
		if !strings.HasPrefix(line, "Error: Could not run: ") && !strings.Contains(stderr.String(), line+"\n") {
			t.Errorf("%q: got the errors\n%s\nwant %s", s.Step.Command, &stderr, line)
		}
	}
}
