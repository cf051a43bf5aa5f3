package eval_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/golden"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/site"
)

// An answer is what real Puppet makes of a program.
type answer struct {
	Code   string `json:"code"`
	String string `json:"string,omitempty"`
	Type   string `json:"type,omitempty"`
	Error  string `json:"error,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Ruby   string `json:"ruby,omitempty"` // Puppet failed inside
}

// outcome returns what is compared.
func (a answer) outcome() string {
	if a.Error != "" {
		return fmt.Sprintf("the error %s at %d:%d", a.Error, a.Line, a.Column)
	}
	return a.String + " of " + a.Type
}

// compare holds our outcome against the answer of real Puppet, and reports whether they
// can be compared. The difference is "" if there is none.
func compare(want answer) (difference string, compared bool) {
	out := evaluate("", site.NewPrograms(), want.Code, nil, data.OfHash(nil))
	if errors.Is(out.err, errors.ErrUnsupported) || want.Ruby != "" || strings.Contains(want.Error, "bignum too big") || strings.Contains(want.Error, ":0x0000") {
		return "", false
	}
	if strings.Contains(want.Error, "Iterator[") && strings.Contains(want.Error, ", got Hash[") {
		return "", false // the type system does not know iterators within others
	}
	if want.Error != "" && isRuby(want.Error) {
		if out.err == nil && !strings.Contains(want.Error, "undefined method") {
			return want.Code + "\n got " + eval.Text(out.value) + "\nwant the error " + want.Error, true
		}
		return "", false
	}
	got := answer{Code: want.Code}
	var failed *eval.Error
	if errors.As(out.err, &failed) {
		got.Error, got.Line, got.Column = strings.TrimSpace(failed.Message), failed.Line, failed.Column
	} else {
		got.String, got.Type = eval.Text(out.value), eval.TypeOf(out.value).String()
	}
	want.String, want.Error = address.ReplaceAllString(want.String, ""), strings.TrimSpace(want.Error)
	if got != want {
		return fmt.Sprintf("%s\n got %s\nwant %s", want.Code, got.outcome(), want.outcome()), true
	}
	return "", true
}

// isRuby reports whether the words of an error are Ruby's, which are free.
func isRuby(text string) bool {
	for _, words := range []string{"undefined method", "no implicit conversion", "malformed format", "invalid value for", "can't convert", "wrong number of arguments", "comparison of", "bad URI", "bad component", "invalid character", "numbered(", "unnumbered(", "invalid radix", "out of char range", "flag after", "width given twice", "precision given twice", "FloatDomainError", "too big"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// Programs about which we once differed from real Puppet, and its answers.
// testdata/puppet.rb recorded them.
func TestRecorded(t *testing.T) {
	t.Parallel()
	for _, row := range recorded(t) {
		switch difference, compared := compare(row); {
		case difference != "":
			t.Error(difference)
		case !compared:
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

// Random programs mean what they mean to real Puppet. INDIRTUI_EVAL is how many there
// are, INDIRTUI_EVAL_SEED which.
func TestRandom(t *testing.T) {
	t.Parallel()
	count, seed := 300, uint64(1)
	if s := os.Getenv("INDIRTUI_EVAL"); s != "" {
		count, _ = strconv.Atoi(s)
	}
	if s := os.Getenv("INDIRTUI_EVAL_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	g := generator{Rand: rand.New(rand.NewPCG(seed, 1))}
	questions := make([]answer, count)
	for i := range questions {
		questions[i].Code = g.program()
	}
	compared := 0
	for _, a := range askPuppet(t, questions) {
		difference, ok := compare(a)
		if ok {
			compared++
		}
		if difference != "" {
			t.Error(difference)
		}
	}
	t.Logf("%d of %d programs were compared; INDIRTUI_EVAL_SEED=%d has them again", compared, count, seed)
}

func recorded(t *testing.T) []answer {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "recorded.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return golden.Decode[answer](t, f)
}

// askPuppet returns what real Puppet makes of programs.
func askPuppet(t *testing.T, questions []answer) []answer {
	t.Helper()
	golden.NeedsPuppet(t)
	return golden.Ask[answer](t, questions, "testdata/puppet.rb")
}
