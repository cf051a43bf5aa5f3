package types_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"indirtui/indirector/golden"
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
// one. The difference is "" if there is none.
func compare(want answer) (difference string, compared bool) {
	v, err := evaluate(want.Code)
	switch {
	case errors.Is(err, errBeyond), errors.Is(err, errors.ErrUnsupported):
		return "", false
	case strings.Contains(want.Error, "Initializer for class"), want.Ruby != "", endsOfLines.MatchString(want.Code), fractions.MatchString(want.Code):
		return "", false
	case want.Type == "Undef" && strings.Contains(want.Code, " <= "):
		return "", false // an Init that accepts nothing else is compared to undef
	case want.Error != "":
		text := around.ReplaceAllString(want.Error, "")
		if err == nil && strings.HasPrefix(text, "undefined method") {
			return "", false // Puppet failed inside
		}
		if err == nil {
			return fmt.Sprintf("%s\n got %s\nwant the error %s", want.Code, interpolated(v), text), true
		}
		if got := located.ReplaceAllString(err.Error(), ""); got != text && !isRuby(text) {
			return fmt.Sprintf("%s\n got the error %s\nwant %s", want.Code, got, text), true
		}
	case err != nil:
		return fmt.Sprintf("%s\n got the error %s\nwant %s", want.Code, err, want.String), true
	default:
		if got := interpolated(v); got != withoutAddresses(want.String) {
			return fmt.Sprintf("%s\n got %q\nwant %q", want.Code, got, want.String), true
		}
		if got := types.Infer(v).String(); got != want.Type {
			return fmt.Sprintf("%s\n got type %s\nwant %s", want.Code, got, want.Type), true
		}
	}
	return "", true
}

// endsOfLines matches what Go's regular expressions cannot express: a line does not begin
// behind a line feed that ends the text, and \Z takes no line feed.
var endsOfLines = regexp.MustCompile(`\\n" =~ Pattern\[/.*(?:\^|\\Z)`)

// fractions matches types of timespans whose ends are floats, which Puppet keeps as such and
// prints otherwise.
var fractions = regexp.MustCompile(`Timespan\[[^\]]*\d\.\d`)

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
	byCode := map[string]answer{}
	for _, r := range rows {
		byCode[r.Code] = r
	}
	for _, a := range persistent(t, rows, func(a answer) bool { return a != byCode[a.Code] }) {
		t.Errorf("recorded %+v, now %+v", byCode[a.Code], a)
	}
}

// persistent returns the answers of real Puppet that are wrong whenever it is asked.
// Puppet itself is not always of one mind: whether it takes two equal ranges of times in
// a Variant for one depends on the addresses of objects, once in some 140 runs.
func persistent(t *testing.T, questions []answer, wrong func(answer) bool) []answer {
	t.Helper()
	for range 3 {
		var left []answer
		for _, a := range askPuppet(t, questions) {
			if wrong(a) {
				left = append(left, a)
			}
		}
		if questions = left; len(left) == 0 {
			break
		}
	}
	return questions
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
	for _, a := range persistent(t, questions, func(a answer) bool {
		difference, ok := compare(a)
		if ok {
			compared++
		}
		return difference != ""
	}) {
		difference, _ := compare(a)
		t.Error(difference)
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
	return golden.Decode[answer](t, f)
}

// askPuppet returns what real Puppet makes of expressions.
func askPuppet(t *testing.T, questions []answer) []answer {
	t.Helper()
	golden.NeedsPuppet(t)
	return golden.Ask[answer](t, questions, "testdata/puppet.rb")
}
