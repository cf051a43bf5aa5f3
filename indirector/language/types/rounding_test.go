package types_test

import (
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/language/types"
)

// Ruby takes what is nearly a half for one. Each of these is what it writes.
func TestRounding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		x            float64
		format, want string
	}{
		{99.55, "%.1f", "99.6"},
		{99.45, "%.1f", "99.4"},
		{0.15, "%.1f", "0.2"},
		{0.05, "%.1f", "0.1"},
		{0.005, "%.2f", "0.01"},
		{-0.35, "%.1f", "-0.4"},
		{1.005, "%.2f", "1.00"},
		{19527.025, "%.2f", "19527.02"},
		{522.7515, "%.3f", "522.752"},
		{0.7935, "%.2e", "7.94e-01"},
		{0.25, "%.1f", "0.2"},
		{2.5, "%.0f", "2"},
		{9.95, "%.1f", "10.0"},
	} {
		got, err := types.New(parse(t, "String"), []data.Value{data.OfFloat(c.x), data.OfString(c.format)})
		if err != nil || got.Str() != c.want {
			t.Errorf("%s of %v: got %q, %v, want %q", c.format, c.x, got.Str(), err, c.want)
		}
	}
}
