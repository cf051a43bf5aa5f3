package syntax_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/golden"
)

// A row is one of eval.jsonl: an expression, and what real Puppet made of it.
type row struct {
	ID        string
	Code      string
	Settings  map[string]string
	Error     *string
	Exception string
	RubyError bool `json:"ruby_error"`
	Line      int
	Column    int
	Logs      []logged
}

// parses reports whether the front end had nothing against a row. Puppet raises the
// error of a syntax error for two things that it finds later.
func (r row) parses() bool {
	return r.Error == nil || r.Exception != "Puppet::ParseErrorWithIssue" || strings.HasSuffix(*r.Error, "from context where this is illegal")
}

// Every expression parses, or fails at the same place in the same words.
func TestGoldenEval(t *testing.T) {
	t.Parallel()
	for r := range golden.Rows[row](t, golden.Path(t, "lang", "eval.jsonl")) {
		a := ours(question{Code: r.Code, Strict: r.Settings["strict"]})
		switch {
		case a.Error == "" && !r.parses():
			t.Errorf("%s %q: got %s, want the error %q", r.ID, r.Code, a.PN, *r.Error)
		case a.Error == "":
		case r.RubyError: // our words, also when there are several
			continue
		case r.Error == nil || a.Error != *r.Error || a.Line != r.Line || a.Column != r.Column && r.Column > 0:
			t.Errorf("%s %q: got %q at %d:%d, want %v at %d:%d", r.ID, r.Code, a.Error, a.Line, a.Column, show(r.Error), r.Line, r.Column)
		}
		for i, l := range a.Logs {
			if l.Column = 0; i >= len(r.Logs) || r.Logs[i] != l {
				t.Errorf("%s %q: got %v logged, want %v", r.ID, r.Code, a.Logs, r.Logs)
				break
			}
		}
	}
}

func show(text *string) string {
	if text == nil {
		return "no error"
	}
	return *text
}

// Every manifest and template of the recorded catalogs parses, unless the compile
// failed in the same words.
func TestGoldenSources(t *testing.T) {
	t.Parallel()
	for _, set := range []string{"catalogs", "modules"} {
		dir := golden.Path(t, "lang", set)
		seen := 0
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			kind := filepath.Ext(path)
			if err != nil || kind != ".pp" && kind != ".epp" {
				return err
			}
			seen++
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			a := ours(question{Code: string(text), EPP: kind == ".epp"})
			name, _ := filepath.Rel(dir, path)
			problem, _ := os.ReadFile(filepath.Join(dir, strings.Split(filepath.ToSlash(name), "/")[0], "error.txt"))
			if a.Error != "" && !strings.Contains(string(problem), a.Error) {
				t.Errorf("%s: got %s, want no error or that of %q", path, a.Error, problem)
			}
			return nil
		})
		if err != nil || seen == 0 {
			t.Errorf("%s: %d sources, %v", dir, seen, err)
		}
	}
}

// Trees are those of real Puppet. testdata/puppet.rb recorded them.
func TestTrees(t *testing.T) {
	t.Parallel()
	for r := range golden.Rows[recorded](t, filepath.Join("testdata", "trees.jsonl")) {
		compare(t, r.question, r.answer)
	}
}

// recorded is a row of trees.jsonl.
type recorded struct {
	question
	answer
}

// The recorded trees are what the Puppet that is installed answers.
func TestTreesAgain(t *testing.T) {
	t.Parallel()
	var questions []question
	var recordings []answer
	for r := range golden.Rows[recorded](t, filepath.Join("testdata", "trees.jsonl")) {
		questions, recordings = append(questions, r.question), append(recordings, r.answer)
	}
	for i, a := range askPuppet(t, questions) {
		if diff := cmp.Diff(recordings[i], a); diff != "" {
			t.Errorf("%q (-recorded +now):\n%s", questions[i].Code, diff)
		}
	}
}

// compare holds our answer against that of real Puppet.
func compare(t *testing.T, q question, want answer) {
	t.Helper()
	got := ours(q)
	switch {
	case want.Ruby != "":
		if got.Error == "" && !tolerated(want.Ruby) {
			t.Errorf("%q: got %s, and Puppet fails inside: %s", q.Code, got.PN, want.Ruby)
		}
		return
	case strings.HasPrefix(want.Error, "Expression is not valid as a resource") && strings.Contains(q.Code, "@("):
		want.Line, want.Column = got.Line, got.Column // in a heredoc Puppet counts from its beginning
	case strings.Contains(want.Error, "Cannot parse invalid JSON"): // the rest are Ruby's words
		got.Error, want.Error = got.Error[:40], want.Error[:40]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%q (-want +got):\n%s", q.Code, diff)
	}
}

// tolerated reports whether Puppet fails where we do not: it cannot print what takes
// the rest of the arguments, and regular expressions are not checked here.
func tolerated(ruby string) bool {
	return strings.Contains(ruby, "undefined method `Literal' for Puppet::Pops::PN") || strings.HasPrefix(ruby, "RegexpError")
}
