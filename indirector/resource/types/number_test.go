package types_test

import (
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// TestNumbers: a text of digits is read as Ruby's Integer reads it.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"5": "5", "-5": "-5", "010": "8", "99999999999999999999": "99999999999999999999",
		"08": "", "--5": "", "5-5": "",
	} {
		r, err := types.New(types.All()["user"], debian{}, types.Given{Title: "u", Values: []data.Pair{data.P("uid", data.OfString(text))}}, nil)
		switch {
		case want == "" && err == nil:
			t.Errorf("%q is %s", text, r.Value("uid"))
		case want != "" && (err != nil || r.Value("uid").Inspect() != want):
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
