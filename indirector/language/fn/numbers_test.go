package fn

import "testing"

func TestLeadingFloat(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]float64{
		".5": .5, "5.": 5, "1_000.5": 1000.5, "1__0": 1, "-.5": -.5, "+1e3": 1000, "1e": 1, "1e+": 1, "  7x": 7, "0x1A": 0, "1.5.3": 1.5,
		"\t-2": -2, "1_": 1, "_1": 0, "1._5": 1, "1.5_5": 1.55, "1e1_0": 1e10, "Infinity": 0, "NaN": 0, "": 0, "\x001": 0, "\v3": 3,
	} {
		if got := LeadingFloat(s); got != want {
			t.Errorf("%q: got %v, want %v", s, got, want)
		}
	}
}
