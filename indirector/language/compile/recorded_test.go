package compile_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/golden"
	"indirtui/indirector/language/compile"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/syntax"
)

// A small manifest is a row of recorded.jsonl: a manifest, and what testdata/puppet.rb recorded.
type small struct {
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
		err := compile.Failed(node, report, log)
		return nil, logs, err
	}
	result, err := compile.Compile(context.Background(), compile.Options{
		Node: node, Main: []*eval.Program{eval.Compile(prog, compile.Library())}, RichData: true,
		Version: versioned, UUID: "<UUID>",
		Eval: eval.Options{Strict: level, Log: log},
	})
	return result, logs, err
}

// rubyWords are those of errors that Ruby makes: their words are free.
var rubyWords = regexp.MustCompile(`undefined method|no implicit conversion|can't convert`)

var objectID = regexp.MustCompile(`:0xXXXX`)

// Manifests about which compilers may differ are compiled as by real Puppet.
// testdata/puppet.rb recorded them.
func TestRecorded(t *testing.T) {
	t.Parallel()
	for _, s := range recorded(t) {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			s.check(t)
		})
	}
}

// The recordings are what the Puppet that is installed answers.
func TestRecordedAgain(t *testing.T) {
	t.Parallel()
	rows := recorded(t)
	for i, a := range askPuppet(t, rows) {
		if a.Error != rows[i].Error || string(a.Catalog) != string(rows[i].Catalog) || logText(t, a.Logs) != logText(t, rows[i].Logs) {
			t.Errorf("%s\nis answered otherwise now: %s %s", a.Code, a.Error, a.Catalog)
		}
	}
}

// Random manifests become what they become with real Puppet. INDIRTUI_EVAL is how many
// there are, INDIRTUI_EVAL_SEED which.
func TestRandom(t *testing.T) {
	t.Parallel()
	count, seed := 100, uint64(1)
	if s := os.Getenv("INDIRTUI_EVAL"); s != "" {
		count, _ = strconv.Atoi(s)
	}
	if s := os.Getenv("INDIRTUI_EVAL_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	g := generator{Rand: rand.New(rand.NewPCG(seed, 1))}
	questions := make([]small, count)
	for i := range questions {
		questions[i].Code = g.manifest()
	}
	catalogs := 0
	for _, s := range askPuppet(t, questions) {
		if s.Error == "" {
			catalogs++
		}
		s.check(t)
	}
	t.Logf("%d of %d manifests are catalogs; INDIRTUI_EVAL_SEED=%d has them again", catalogs, count, seed)
	if catalogs*5 < count {
		t.Errorf("only %d of %d manifests compile", catalogs, count)
	}
}

func recorded(t *testing.T) []small {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "recorded.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, text)
}

func decode(t *testing.T, text []byte) []small {
	t.Helper()
	var out []small
	dec := json.NewDecoder(bytes.NewReader(objectID.ReplaceAll(text, nil)))
	for dec.More() {
		var s small
		if err := dec.Decode(&s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

// askPuppet returns what real Puppet makes of manifests.
func askPuppet(t *testing.T, questions []small) []small {
	t.Helper()
	golden.NeedsPuppet(t)
	asked := make([]map[string]string, len(questions))
	for i, q := range questions {
		asked[i] = map[string]string{"code": q.Code, "strict": cmp.Or(q.Strict, "warning")}
	}
	var answers []small
	for _, a := range golden.Ask[json.RawMessage](t, asked, "testdata/puppet.rb") {
		answers = append(answers, decode(t, a)...)
	}
	return answers
}

func (s small) check(t *testing.T) {
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
