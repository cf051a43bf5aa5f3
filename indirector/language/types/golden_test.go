package types_test

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"indirtui/indirector/golden"
	"indirtui/indirector/language/types"
)

// A row is one of eval.jsonl: an expression, and what real Puppet made of it.
type row struct {
	ID        string
	Code      string
	Error     *string
	RubyError bool `json:"ruby_error"`
	Type      string
	String    string
}

// around is what the evaluation of the language puts in front of a message.
var around = regexp.MustCompile(`\A(?:Evaluation Error: )?(?:Error while evaluating an? [^,]+,(?: |$))?`)

// Every expression of constants has the value, the type or the error that real Puppet
// gave it.
func TestGoldenTypes(t *testing.T) {
	t.Parallel()
	taken, left, unsupported := 0, 0, 0
	for r := range golden.Rows[row](t, golden.PathBeside(t, "../syntax", "lang", "eval.jsonl")) {
		v, err := evaluate(r.Code)
		switch {
		case errors.Is(err, errBeyond), unrecorded(r):
			left++
			continue
		case errors.Is(err, errors.ErrUnsupported):
			unsupported++
			continue
		case r.RubyError:
			if err == nil {
				t.Errorf("%s %q: got %s, want an error", r.ID, r.Code, v)
			}
		case r.Error != nil:
			want := around.ReplaceAllString(*r.Error, "")
			if err == nil {
				t.Errorf("%s %q:\n got %s of %s\nwant the error %s", r.ID, r.Code, interpolated(v), types.Infer(v), want)
			} else if err.Error() != want {
				t.Errorf("%s %q:\n got the error %s\nwant %s", r.ID, r.Code, err, want)
			}
		case err != nil:
			t.Errorf("%s %q:\n got the error %v\nwant %s of %s", r.ID, r.Code, err, r.String, r.Type)
		default:
			if got := types.Infer(v).String(); got != r.Type {
				t.Errorf("%s %q:\n got a value of type %s\nwant %s", r.ID, r.Code, got, r.Type)
			}
			if got := interpolated(v); got != withoutAddresses(r.String) {
				t.Errorf("%s %q:\n got %q\nwant %q", r.ID, r.Code, got, r.String)
			}
		}
		taken++
	}
	t.Logf("%d rows were evaluated, %d need more than constants, %d what is not supported", taken, left, unsupported)
	if taken < 1000 && os.Getenv("INDIRTUI_GOLDEN") == "" {
		t.Errorf("only %d rows were evaluated", taken)
	}
}

var address = regexp.MustCompile(`:0x(?:XXXX|[0-9a-f]{16})`)

// withoutAddresses drops the addresses that Ruby shows objects with.
func withoutAddresses(s string) string { return address.ReplaceAllString(s, "") }

// unrecorded reports whether the recorder could not write the value of a row.
func unrecorded(r row) bool {
	return r.Error != nil &&
		(strings.Contains(*r.Error, "attempting to serialize value") || strings.HasPrefix(*r.Error, "Initializer for class"))
}
