package compile_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/language/compile"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/syntax"
)

// A site is a row of recorded.jsonl: a manifest, and what testdata/puppet.rb recorded.
type site struct {
	Code    string
	Strict  string
	Catalog json.RawMessage
	Error   string
	Logs    [][3]any // level, message, line
}

// compileCode compiles a manifest as the recorder did.
func compileCode(t *testing.T, code, strict string) (*compile.Result, [][3]any, error) {
	t.Helper()
	var logs [][3]any
	log := func(e eval.LogEntry) {
		var line any
		if e.Line > 0 && e.Source == "" {
			line = float64(e.Line)
		}
		logs = append(logs, [3]any{e.Level, e.Message, line})
	}
	level := map[string]syntax.Strictness{"error": syntax.StrictError, "off": syntax.StrictOff}[strict]
	prog, report := syntax.Parse(&syntax.Source{File: "<ENV>/site.pp", Text: code}, syntax.Options{DuplicateKeys: level})
	node := compile.Node{
		Name: certname, Environment: "production",
		Trusted: data.OfHash([]data.Pair{data.P("certname", data.OfString(certname))}),
	}
	if report.Failure != nil {
		err := compile.Failed(node, report.Failure, log)
		return nil, logs, err
	}
	result, err := compile.Compile(context.Background(), compile.Options{
		Node: node, Main: []*eval.Program{eval.Compile(prog, compile.Library())}, RichData: true,
		Version: data.OfString("<VERSION>"), UUID: "<UUID>",
		Eval: eval.Options{Strict: level, Log: log},
	})
	return result, logs, err
}

// rubyWords are those of errors that Ruby makes: their words are free.
var rubyWords = regexp.MustCompile(`undefined method|no implicit conversion|can't convert`)

var objectID = regexp.MustCompile(`:0xXXXX`)

// Small manifests about which compilers may differ are compiled as by real Puppet.
func TestRecorded(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "recorded.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	rows := bufio.NewScanner(bytes.NewReader(text))
	rows.Buffer(nil, 1<<20)
	for rows.Scan() {
		var s site
		if err := json.Unmarshal(objectID.ReplaceAll(rows.Bytes(), nil), &s); err != nil {
			t.Fatal(err)
		}
		t.Run("", func(t *testing.T) {
			t.Parallel()
			s.check(t)
		})
	}
}

func (s site) check(t *testing.T) {
	t.Helper()
	result, logs, err := compileCode(t, s.Code, s.Strict)
	failed := err != nil
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		t.Skip(err)
	case failed && rubyWords.MatchString(s.Error):
		return
	case failed && err.Error() != s.Error:
		t.Errorf("%s\n got %v\nwant %s", s.Code, err, s.Error)
	case !failed && s.Error != "":
		t.Errorf("%s\ncompiles, want %s", s.Code, s.Error)
	case !failed:
		got, err := format.AppendJSON(nil, result.ForAgent().Data())
		if err != nil {
			t.Fatal(err)
		}
		a, b := lines(t, got), lines(t, s.Catalog)
		if !slices.Equal(a, b) {
			t.Error(s.Code)
			differ(t, string(got), string(s.Catalog))
		}
	}
	if got, want := logText(t, logs), logText(t, s.Logs); got != want {
		t.Errorf("%s\nlogs:\n got %s\nwant %s", s.Code, got, want)
	}
}

// logText returns logs a line for each.
func logText(t *testing.T, logs [][3]any) string {
	t.Helper()
	var b strings.Builder
	for _, l := range logs {
		line, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.String()
}
