package syntax_test

import (
	"testing"

	"indirtui/indirector/golden"
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
	golden.NeedsPuppet(t)
	return golden.Ask[answer](t, questions, "testdata/puppet.rb")
}
