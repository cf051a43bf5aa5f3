package types

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"indirtui/indirector/data"
)

var (
	decimalInt   = regexp.MustCompile(`^[-+]?\d+(_\d+)*$`)
	decimalFloat = regexp.MustCompile(`^[-+]?(\d+(_\d+)*(\.\d+(_\d+)*)?|\.\d+(_\d+)*)([eE][-+]?\d+(_\d+)*)?$`)
	otherInt     = regexp.MustCompile(`^([-+]?)0([xX][0-9a-fA-F]+(_[0-9a-fA-F]+)*|[bB][01]+(_[01]+)*|[oO]?_?[0-7]+(_[0-7]+)*|[dD]\d+(_\d+)*)$`)
)

// integer is Ruby's Integer of a text: a leading 0 is octal. The error is our own.
func integer(s string) (data.Value, error) {
	t := strings.TrimSpace(s)
	clean := strings.ReplaceAll(t, "_", "")
	sign := ""
	if clean != "" && (clean[0] == '-' || clean[0] == '+') {
		sign, clean = strings.Trim(clean[:1], "+"), clean[1:]
	}
	base := 0
	if len(clean) > 2 && (clean[1] == 'd' || clean[1] == 'D') {
		base, clean = 10, clean[2:]
	}
	if decimalInt.MatchString(t) || otherInt.MatchString(t) {
		if n, ok := new(big.Int).SetString(sign+clean, base); ok {
			return data.OfBig(n), nil
		}
	}
	return data.Value{}, badArgument("%s is not an integer", data.InspectString(s))
}

// isInteger reports whether v is a number without a fraction, of any size.
func isInteger(v data.Value) bool { return v.Kind() == data.Int || v.Kind() == data.Big }

// float is Ruby's Float of a text or number.
func float(v data.Value) (float64, bool) {
	switch v.Kind() {
	case data.Int:
		return float64(v.Int()), true
	case data.Big:
		f, _ := new(big.Float).SetInt(v.Big()).Float64()
		return f, true
	case data.Float:
		return v.Float(), true
	case data.String:
		t := strings.TrimSpace(v.Str())
		if n, err := integer(t); err == nil && strings.ContainsAny(t, "xX") {
			return float64(n.Int()), true
		}
		if decimalFloat.MatchString(t) {
			f, err := strconv.ParseFloat(strings.ReplaceAll(t, "_", ""), 64)
			return f, err == nil || math.IsInf(f, 0)
		}
	}
	return 0, false
}
