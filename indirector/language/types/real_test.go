package types_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"indirtui/indirector/language/types"
)

// An answer is what real Puppet makes of an expression.
type answer struct {
	Code   string `json:"code"`
	String string `json:"string,omitempty"`
	Type   string `json:"type,omitempty"`
	Error  string `json:"error,omitempty"`
	Ruby   string `json:"ruby,omitempty"` // Puppet failed inside
}

// compare holds our answer against that of real Puppet, and reports whether we have
// one.
func compare(t *testing.T, want answer) bool {
	t.Helper()
	v, err := evaluate(want.Code)
	switch {
	case errors.Is(err, errBeyond), errors.Is(err, errors.ErrUnsupported):
		return false
	case want.Ruby != "":
		return false
	case want.Type == "Undef" && strings.Contains(want.Code, " <= "):
		return false // an Init that accepts nothing else is compared to undef
	case want.Error != "":
		text := around.ReplaceAllString(want.Error, "")
		if err != nil {
			err = errors.New(located.ReplaceAllString(err.Error(), ""))
		}
		if err == nil {
			t.Errorf("%s\n got %s\nwant the error %s", want.Code, interpolated(v), text)
		} else if err.Error() != text && !isRuby(text) {
			t.Errorf("%s\n got the error %s\nwant %s", want.Code, err, text)
		}
	case err != nil:
		t.Errorf("%s\n got the error %s\nwant %s", want.Code, err, want.String)
	default:
		if got := interpolated(v); got != withoutAddresses(want.String) {
			t.Errorf("%s\n got %q\nwant %q", want.Code, got, want.String)
		}
		if got := types.Infer(v).String(); got != want.Type {
			t.Errorf("%s\n got type %s\nwant %s", want.Code, got, want.Type)
		}
	}
	return true
}

// located is the place of an error in a type that is a text.
var located = regexp.MustCompile(` \(line: \d+(?:, column: \d+)?\)\z`)

// isRuby reports whether the words of an error are Ruby's, which are free.
func isRuby(text string) bool {
	for _, words := range []string{"undefined method", "no implicit conversion", "malformed format", "invalid value for", "can't convert", "undefined local", "wrong number", "comparison of", "stack level", "bad component", "invalid character", "URI-Type parameter", "bad URI", "flag after"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// Expressions about which we once differed from real Puppet, and its answers.
// testdata/puppet.rb recorded them.
func TestRecorded(t *testing.T) {
	t.Parallel()
	for _, row := range recorded(t) {
		if !compare(t, row) {
			t.Errorf("%s is not evaluated", row.Code)
		}
	}
}

// The recordings are what the Puppet that is installed answers.
func TestRecordedAgain(t *testing.T) {
	t.Parallel()
	rows := recorded(t)
	for i, a := range askPuppet(t, rows) {
		if a != rows[i] {
			t.Errorf("recorded %+v, now %+v", rows[i], a)
		}
	}
}

// Random expressions mean what they mean to real Puppet. INDIRTUI_TYPES is how many
// there are, INDIRTUI_TYPES_SEED which.
func TestRandom(t *testing.T) {
	t.Parallel()
	count, seed := 500, uint64(1)
	if s := os.Getenv("INDIRTUI_TYPES"); s != "" {
		count, _ = strconv.Atoi(s)
	}
	if s := os.Getenv("INDIRTUI_TYPES_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	g := generator{rand.New(rand.NewPCG(seed, 1))}
	questions := make([]answer, count)
	for i := range questions {
		questions[i].Code = g.question()
	}
	compared := 0
	for _, a := range askPuppet(t, questions) {
		if compare(t, a) {
			compared++
		}
	}
	t.Logf("%d of %d expressions were compared; INDIRTUI_TYPES_SEED=%d has them again", compared, count, seed)
}

func recorded(t *testing.T) []answer {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "recorded.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return decode(t, f)
}

func decode(t *testing.T, r io.Reader) []answer {
	t.Helper()
	var out []answer
	dec := json.NewDecoder(bufio.NewReaderSize(r, 1<<20))
	for {
		var a answer
		if err := dec.Decode(&a); err == io.EOF {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out = append(out, a)
	}
}

// askPuppet returns what real Puppet makes of expressions.
func askPuppet(t *testing.T, questions []answer) []answer {
	t.Helper()
	for _, program := range []string{"ruby", "puppet"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed, so nothing is compared with real Puppet", program)
		}
	}
	cmd := exec.CommandContext(t.Context(), "ruby", "testdata/puppet.rb")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
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
	answers := decode(t, out)
	if err := cmd.Wait(); err != nil || len(answers) != len(questions) {
		t.Fatalf("ruby testdata/puppet.rb: %v, %d answers to %d questions\n%s", err, len(answers), len(questions), stderr.String())
	}
	return answers
}
