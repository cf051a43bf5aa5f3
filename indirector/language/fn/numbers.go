package fn

import (
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
)

func numbers() map[string][]eval.Way {
	return map[string][]eval.Way{
		"abs": {
			way("Numeric val", func(c *eval.Invocation) (data.Value, error) { return absolute(c.Args[0]), nil }),
			way("String val", absoluteOfText),
		},
		"ceiling": rounding("ceiling", math.Ceil),
		"floor":   rounding("floor", math.Floor),
		"round":   rounding("round", func(f float64) float64 { return math.Trunc(f + math.Copysign(0.5, f)) })[:1],
		"max":     extreme("max", 1),
		"min":     extreme("min", -1),
	}
}

func absolute(v data.Value) data.Value {
	switch v.Kind() {
	case data.Float:
		return data.OfFloat(math.Abs(v.Float()))
	case data.Int:
		return data.OfBig(new(big.Int).Abs(big.NewInt(v.Int())))
	}
	return v
}

// deprecated warns once that a function took a string for a number.
func deprecated(c *eval.Invocation, name, from, to, instead string) {
	c.WarnOnce(eval.Deprecations, "The "+name+"() function's auto conversion of "+from+" to "+to+" is deprecated - change to convert input before calling"+instead, false)
}

var decimal = regexp.MustCompile(`^-?\d+(\.\d+)?$`)

func absoluteOfText(c *eval.Invocation) (data.Value, error) {
	deprecated(c, "abs", "String", "Numeric", "")
	s := c.Args[0].Str()
	if !decimal.MatchString(s) {
		return undef, eval.Errorf("abs(): Requires float or integer to work with - was given non decimal string")
	}
	if strings.Contains(s, ".") {
		f, _ := strconv.ParseFloat(s, 64)
		return data.OfFloat(math.Abs(f)), nil
	}
	n, _ := new(big.Int).SetString(s, 10)
	return data.OfBig(n.Abs(n)), nil
}

// rounding returns the ways of a function that makes an integer of a number.
func rounding(name string, round func(float64) float64) []eval.Way {
	whole := func(f float64) (data.Value, error) {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return undef, eval.Errorf("%s", data.FormatFloat(f))
		}
		n, _ := big.NewFloat(round(f)).Int(nil)
		return data.OfBig(n), nil
	}
	return []eval.Way{
		way("Numeric val", func(c *eval.Invocation) (data.Value, error) {
			if v := c.Args[0]; v.Kind() != data.Float {
				if name != "round" {
					return v, nil
				}
				return whole(float64(v.Int())) // which is not exact if it is large, as in Puppet
			}
			return whole(c.Args[0].Float())
		}),
		way("String val", func(c *eval.Invocation) (data.Value, error) {
			deprecated(c, name, "String", "Float", "")
			f, err := ParseFloat(c.Args[0].Str())
			if err != nil {
				return undef, eval.Errorf("%s(): cannot convert given value to a floating point value.", name)
			}
			return whole(f)
		}),
	}
}

// extreme returns the ways of max and min.
func extreme(name string, sign int) []eval.Way {
	best := func(c *eval.Invocation, l []data.Value, compare func(a, b data.Value) (int, error)) (data.Value, error) {
		if len(l) == 0 {
			return undef, eval.Errorf("%s(): Wrong number of arguments need at least one", name)
		}
		out := l[0]
		for _, v := range l[1:] {
			order, err := compare(v, out)
			if err != nil {
				return undef, err
			}
			if order*sign > 0 {
				out = v
			}
		}
		return out, nil
	}
	all := func(c *eval.Invocation) (data.Value, error) {
		l := c.Args
		if len(l) == 1 && l[0].Kind() == data.List {
			l = l[0].List()
		}
		if c.Block != nil {
			return best(c, l, byLambda(c))
		}
		if !slices.ContainsFunc(l, func(v data.Value) bool { return !isNumber(v) }) {
			return best(c, l, numberOrder)
		}
		return best(c, l, func(a, b data.Value) (int, error) { return oldOrder(c, name, a, b) })
	}
	return []eval.Way{
		way("Numeric values*", all),
		way("String values*", all),
		way("Array[Numeric] values; Callable[2, 2] &block?", all),
		way("Array[String] values; Callable[2, 2] &block?", all),
		way("Array values; Callable[2, 2] &block?", all),
		way("Any values*; Callable[2, 2] &block", all),
		way("Any values*", all),
	}
}

// numberOrder orders numbers. What is no number, as 0.0 / 0.0, is neither more nor less.
func numberOrder(a, b data.Value) (int, error) {
	if a.Kind() == data.Float && math.IsNaN(a.Float()) || b.Kind() == data.Float && math.IsNaN(b.Float()) {
		return 0, nil
	}
	return eval.Compare(a, b)
}

// byLambda orders values as the lambda of a call does.
func byLambda(c *eval.Invocation) func(a, b data.Value) (int, error) {
	return func(a, b data.Value) (int, error) {
		v, err := c.Block.Call(a, b)
		if err != nil {
			return 0, err
		}
		switch v.Kind() {
		case data.Int:
			return int(min(max(v.Int(), -1), 1)), nil
		case data.Float:
			return int(min(max(v.Float(), -1), 1)), nil
		}
		return 0, eval.Errorf("comparison of %s with %s failed", eval.RubyClass(a), eval.RubyClass(b))
	}
}

var numericText = regexp.MustCompile(`^-?\d+([._eE]\d+)?$`)

// oldOrder orders values of which not all are numbers as texts; texts that look like
// numbers are numbers, still.
func oldOrder(c *eval.Invocation, name string, a, b data.Value) (int, error) {
	x, y := eval.RubyText(a), eval.RubyText(b)
	texts := a.Kind() == data.String && b.Kind() == data.String
	switch {
	case numericText.MatchString(x) && numericText.MatchString(y):
		deprecated(c, name, "String", "Numeric", ", or use lambda")
		return eval.Compare(data.OfFloat(LeadingFloat(x)), data.OfFloat(LeadingFloat(y)))
	case !texts:
		deprecated(c, name, "Any", "String", ", or use lambda")
	}
	return strings.Compare(x, y), nil
}

func isNumber(v data.Value) bool { return v.Kind() == data.Int || v.Kind() == data.Float }

// number is what a float may begin with, after blanks: digits with single underscores
// between them.
var number = regexp.MustCompile(`^[+-]?(\d+(_\d+)*(\.\d+(_\d+)*)?|\.\d+(_\d+)*)([eE][+-]?\d+(_\d+)*)?`)

// LeadingFloat reads the number that a text begins with, as Ruby's to_f does; 0 if there is
// none.
func LeadingFloat(s string) float64 {
	text := number.FindString(strings.TrimLeft(s, "\t\n\v\f\r "))
	f, _ := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	return f
}

var hexadecimal = regexp.MustCompile(`(?i)\A[-+]?0x[0-9a-f]+(?:(?:\.[0-9a-f]+)?(p[-+]?\d+))?\z`)

// ParseFloat reads a number as Ruby's Float() does: blanks around it, and single
// underscores between digits.
func ParseFloat(s string) (float64, error) {
	trimmed := strings.TrimSpace(s)
	if m := hexadecimal.FindStringSubmatch(trimmed); m != nil {
		if m[1] == "" {
			trimmed += "p0"
		}
		return strconv.ParseFloat(trimmed, 64)
	}
	plain := strings.ReplaceAll(trimmed, "_", "")
	bad := strings.Contains(trimmed, "__") || strings.HasPrefix(trimmed, "_") || strings.HasSuffix(trimmed, "_") ||
		strings.HasPrefix(strings.TrimLeft(plain, "+-"), ".") || strings.HasSuffix(plain, ".") || strings.ContainsAny(plain, "nNpP")
	f, err := strconv.ParseFloat(plain, 64)
	if bad || err != nil && !math.IsInf(f, 0) {
		return 0, eval.Errorf("invalid value for Float(): %s", data.InspectString(s))
	}
	return f, nil
}

// ParseInteger reads a number as Ruby's Integer() does: with a sign, a prefix of its
// base, and single underscores between digits.
func ParseInteger(s string) (*big.Int, error) {
	trimmed := strings.TrimSpace(s)
	sign := ""
	if strings.HasPrefix(trimmed, "-") || strings.HasPrefix(trimmed, "+") {
		sign, trimmed = trimmed[:1], trimmed[1:]
	}
	n, ok := new(big.Int).SetString(trimmed, 0)
	if !ok || trimmed == "" || trimmed[0] == '-' || trimmed[0] == '+' {
		return nil, eval.Errorf("invalid value for Integer(): %s", data.InspectString(s))
	}
	if sign == "-" {
		n.Neg(n)
	}
	return n, nil
}
