package fn

import (
	"regexp"
	"strings"
	"sync"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/types"
)

// comparing are functions that order two values.
func comparing() map[string][]eval.Way {
	order := func(c *eval.Invocation) (data.Value, error) {
		n, err := eval.Compare(c.Args[0], c.Args[1])
		return data.OfInt(int64(n)), err
	}
	return map[string][]eval.Way{
		"compare": {
			way("Numeric a; Numeric b", order),
			way("String a; String b; Boolean ignore_case?", func(c *eval.Invocation) (data.Value, error) {
				if fold := c.Arg(2); fold.IsNil() || fold.Bool() {
					return order(c)
				}
				return data.OfInt(int64(strings.Compare(c.Args[0].Str(), c.Args[1].Str()))), nil
			}),
			way("SemVer a; SemVer b", order),
			way("Numeric a; Variant[Timespan, Timestamp] b", order),
			way("Timestamp a; Variant[Timestamp, Numeric] b", order),
			way("Timespan a; Variant[Timespan, Numeric] b", order),
			{Params: "Any a; Any b; Any ignore_case*", Do: incomparable, Refusal: true},
		},
		"versioncmp": {way("String a; String b; Boolean ignore_trailing_zeroes?", func(c *eval.Invocation) (data.Value, error) {
			a, b := c.Args[0].Str(), c.Args[1].Str()
			if c.Arg(2).Bool() {
				a, b = withoutZeroes(a), withoutZeroes(b)
			}
			return data.OfInt(int64(compareVersions(a, b))), nil
		})},
	}
}

func incomparable(c *eval.Invocation) (data.Value, error) {
	a, b := c.Args[0], c.Args[1]
	if !types.Instance(comparable(), a) || !types.Instance(comparable(), b) {
		return undef, eval.Errorf("'compare' compare(): Non comparable type. Only values of the types Numeric, String, Semver, Timestamp and Timestamp can be compared. Got %s and %s", eval.Label(a), eval.Label(b))
	}
	if more := c.Args[2:]; len(more) > 0 {
		switch {
		case a.Kind() != data.String || b.Kind() != data.String:
			return undef, eval.Errorf("'compare' compare(): The third argument (ignore case) can only be used when comparing strings")
		case len(more) != 1:
			return undef, eval.Errorf("'compare' compare(): Accepts at most 3 arguments, got %d", len(c.Args))
		}
		return undef, eval.Errorf("'compare' compare(): The third argument (ignore case) must be a Boolean. Got %s", eval.Label(more[0]))
	}
	return undef, eval.Errorf("'compare' compare(): Can only compare values of the same type (or for Timestamp/Timespan also against Numeric). Got %s and %s", eval.Label(a), eval.Label(b))
}

// comparable is the type of what can be compared with something.
var comparable = sync.OnceValue(func() types.Type { return eval.MustType("Variant[String, SemVer, Numeric, Timespan, Timestamp]") })

var (
	versionPart = regexp.MustCompile(`[-.]|\d+|[^-.\d]+`)
	zeroes      = regexp.MustCompile(`[.0]+$`)
)

// withoutZeroes drops what counts for nothing at the end of the first part.
func withoutZeroes(version string) string {
	first, rest, more := strings.Cut(version, "-")
	first = zeroes.ReplaceAllString(first, "")
	if more {
		return first + "-" + rest
	}
	return first
}

// compareVersions compares the numbers, words and separators of two versions, one after
// the other. A dash is before a point, and both are before everything else.
func compareVersions(a, b string) int {
	x, y := versionPart.FindAllString(a, -1), versionPart.FindAllString(b, -1)
	for i := range min(len(x), len(y)) {
		if x[i] == y[i] {
			continue
		}
		for _, separator := range []string{"-", "."} {
			if x[i] == separator {
				return -1
			}
			if y[i] == separator {
				return 1
			}
		}
		if isDigits(x[i]) && isDigits(y[i]) && x[i][0] != '0' && y[i][0] != '0' {
			if len(x[i]) != len(y[i]) {
				return sign(len(x[i]) - len(y[i]))
			}
			return strings.Compare(x[i], y[i])
		}
		return strings.Compare(strings.ToUpper(x[i]), strings.ToUpper(y[i]))
	}
	return strings.Compare(a, b)
}

func isDigits(s string) bool { return s[0] >= '0' && s[0] <= '9' }

func sign(n int) int { return min(max(n, -1), 1) }
