package syntax_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"testing"

	"indirtui/indirector/language/syntax"
)

// A question is what testdata/puppet.rb is asked.
type question struct {
	Code   string `json:"code"`
	EPP    bool   `json:"epp,omitempty"`
	File   string `json:"file,omitempty"`
	Strict string `json:"strict,omitempty"`
}

// An answer is what it answers, and what we do.
type answer struct {
	PN     string   `json:"pn,omitempty"`
	Error  string   `json:"error,omitempty"`
	Line   int      `json:"line,omitempty"`
	Column int      `json:"column,omitempty"`
	Ruby   string   `json:"ruby,omitempty"` // Puppet failed inside
	Logs   []logged `json:"logs,omitempty"`
}

type logged struct {
	Level   string `json:"level"`
	Message string `json:"message"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
}

// ours is our answer.
func ours(q question) answer {
	strict := map[string]syntax.Strictness{"error": syntax.StrictError, "off": syntax.StrictOff}[q.Strict]
	prog, report := syntax.Parse(&syntax.Source{File: q.File, Text: q.Code}, syntax.Options{EPP: q.EPP, DuplicateKeys: strict})
	var a answer
	for _, p := range report.Logged {
		a.Logs = append(a.Logs, logged{p.Severity.String(), p.Message, p.Line, p.Column})
	}
	if f := report.Failure; f != nil {
		a.Error, a.Line, a.Column = f.Message, f.Line, f.Column
		return a
	}
	a.PN = syntax.PN(prog, false)
	return a
}

// askPuppet returns what real Puppet makes of sources.
func askPuppet(t *testing.T, questions []question) []answer {
	t.Helper()
	for _, program := range []string{"ruby", "puppet"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed, so nothing is compared with real Puppet", program)
		}
	}
	cmd := exec.CommandContext(t.Context(), "ruby", "testdata/puppet.rb")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer in.Close()
		enc := json.NewEncoder(in)
		for _, q := range questions {
			if enc.Encode(q) != nil {
				return // the process reports why
			}
		}
	}()
	answers := make([]answer, 0, len(questions))
	dec := json.NewDecoder(bufio.NewReaderSize(out, 1<<20))
	for {
		var a answer
		if err := dec.Decode(&a); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	if err := cmd.Wait(); err != nil || len(answers) != len(questions) {
		t.Fatalf("ruby testdata/puppet.rb: %v, %d answers to %d questions\n%s", err, len(answers), len(questions), stderr.String())
	}
	return answers
}
