package golden

import (
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// NeedsPuppet skips a test that compares with real Puppet where that is not installed.
func NeedsPuppet(tb testing.TB) {
	tb.Helper()
	for _, program := range []string{"ruby", "puppet"} {
		if _, err := exec.LookPath(program); err != nil {
			tb.Skipf("%s is not installed, so nothing is compared with real Puppet", program)
		}
	}
}

// Ask returns what a script in Ruby answers to questions. Both are JSON: the questions on
// its standard input, a line each, the answers on its standard output. Without Ruby the
// test is skipped.
func Ask[Answer, Question any](tb testing.TB, questions []Question, script ...string) []Answer {
	tb.Helper()
	if _, err := exec.LookPath("ruby"); err != nil {
		tb.Skip("ruby is not installed, so nothing is compared with it")
	}
	var in, stderr bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, q := range questions {
		if err := enc.Encode(q); err != nil {
			tb.Fatal(err)
		}
	}
	cmd := exec.CommandContext(tb.Context(), "ruby", script...)
	cmd.Stdin, cmd.Stderr = &in, &stderr
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("ruby %s: %v\n%s", strings.Join(script, " "), err, stderr.String())
	}
	answers := Decode[Answer](tb, bytes.NewReader(out))
	if len(answers) != len(questions) {
		tb.Fatalf("%d answers to %d questions\n%s", len(answers), len(questions), stderr.String())
	}
	return answers
}

// Decode returns values that are written in JSON, one behind the other.
func Decode[T any](tb testing.TB, r io.Reader) []T {
	tb.Helper()
	var out []T
	dec := json.NewDecoder(r)
	for {
		var v T
		switch err := dec.Decode(&v); err {
		case nil:
			out = append(out, v)
		case io.EOF:
			return out
		default:
			tb.Fatal(err)
		}
	}
}
