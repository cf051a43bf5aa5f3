package stdlib

import (
	"math"
	"math/big"
	"slices"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/fn"
)

// numbers are functions of numbers and of texts that are some.
func numbers() map[string]older {
	return map[string]older{
		"any2bool":     {least: 1, wrong: "any2bool(): Wrong number of arguments given (%d for 1)", do: any2bool},
		"bool2num":     {least: 1, wrong: "bool2num(): Wrong number of arguments given (%d for 1)", do: bool2num},
		"bool2str":     {do: bool2str},
		"clamp":        {least: 1, wrong: "clamp(): Wrong number of arguments given (%d for minimum 1)", do: clamp},
		"convert_base": {least: 2, most: 2, wrong: "convert_base(): Wrong number of arguments given (%d for 2)", do: convertBase},
		"num2bool":     {least: 1, most: 1, wrong: "num2bool(): Wrong number of arguments given (%d for 1)", do: num2bool},
		"to_bytes":     {least: 1, most: 1, wrong: "to_bytes(): Wrong number of arguments given (%d for 1)", do: toBytes},
	}
}

func any2bool(c *call) (data.Value, error) {
	v := c.Args[0]
	switch {
	case isBool(v):
		return v, nil
	case v.IsNil():
		return boolean(false), nil
	case isNumber(v):
		return c.older("num2bool", v)
	case isString(v):
		if _, err := fn.ParseFloat(v.Str()); err == nil {
			return c.older("num2bool", v)
		}
		return c.older("str2bool", v)
	}
	return boolean(true), nil
}

func bool2num(c *call) (data.Value, error) {
	v, err := c.older("str2bool", c.Args[0])
	if err != nil {
		return undef, err
	}
	if v.Bool() {
		return data.OfInt(1), nil
	}
	return data.OfInt(0), nil
}

func bool2str(c *call) (data.Value, error) {
	if n := len(c.Args); n != 1 && n != 3 {
		return undef, refusef("bool2str(): Wrong number of arguments given (%d for 3)", n)
	}
	yes, no := str("true"), str("false")
	if c.Arg(1).Truthy() {
		yes = c.Arg(1)
	}
	if c.Arg(2).Truthy() {
		no = c.Arg(2)
	}
	switch {
	case !isBool(c.Args[0]):
		return undef, refusef("bool2str(): Requires a boolean to work with")
	case !isString(yes) || !isString(no):
		return undef, refusef("bool2str(): Requires strings to convert to")
	case c.Args[0].Bool():
		return yes, nil
	}
	return no, nil
}

func clamp(c *call) (data.Value, error) {
	l := eval.Flatten(c.Args)
	if len(l) != 3 {
		return undef, refusef("clamp(): Wrong number of arguments, need three to clamp")
	}
	out := make([]int64, len(l))
	for _, v := range l {
		switch {
		case isString(v) && !matches(`^\d+$`, v.Str()):
			return undef, refusef("clamp(): Required explicit numeric (%s:String)", v.Str())
		case isHash(v):
			return undef, refusef("clamp(): The Hash type is not allowed (%s)", v.Text())
		}
	}
	for i, v := range l {
		if !isString(v) && !isNumber(v) && !v.IsNil() {
			return undef, noMethod("to_i", v)
		}
		out[i] = fn.LeadingInteger(v)
	}
	slices.Sort(out)
	return data.OfInt(out[1]), nil
}

func convertBase(c *call) (data.Value, error) {
	for i, which := range []string{"First", "Second"} {
		if v := c.Args[i]; !isInteger(v) && !isString(v) {
			return undef, refusef("convert_base(): %s argument must be either a string or an integer", which)
		}
	}
	for _, v := range c.Args {
		if isString(v) && !matches(`^[0-9]+$`, v.Str()) {
			return undef, refusef("convert_base(): First argument must be an integer or a string corresponding to an integer in base 10")
		}
	}
	base := fn.LeadingInteger(c.Args[1])
	if base < 2 || base > 36 {
		return undef, refusef("convert_base(): base must be at least 2 and must not be greater than 36")
	}
	n, ok := new(big.Int).SetString(c.Args[0].Text(), 10)
	if !ok { // several lines
		n = big.NewInt(fn.LeadingInteger(c.Args[0]))
	}
	if err := c.Spend(n.BitLen()); err != nil {
		return undef, err
	}
	return str(n.Text(int(base))), nil
}

func num2bool(c *call) (data.Value, error) {
	v := c.Args[0]
	f := 0.0
	switch {
	case isString(v):
		var err error
		if f, err = fn.ParseFloat(v.Str()); err != nil {
			return undef, refusef("num2bool(): '%s' does not look like a number: %s", v.Str(), err)
		}
	case v.Kind() == data.Float:
		f = v.Float()
	case v.Kind() == data.Big:
		f = float64(v.Big().Sign())
	case v.Kind() == data.Int:
		f = float64(v.Int())
	default:
		f = float64(fn.LeadingInteger(str(v.Text())))
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return undef, eval.Errorf("%s", data.FormatFloat(f))
	}
	return boolean(math.Trunc(f) > 0), nil
}

func toBytes(c *call) (data.Value, error) {
	v := c.Args[0]
	if isNumber(v) {
		return v, nil
	}
	if !isString(v) && v.Kind() != data.Symbol { // both match regular expressions
		return undef, eval.Errorf("%s", eval.NoString(v))
	}
	re, err := c.Regexp(`([0-9.e+-]*)\s*([^bB]?)`)
	if err != nil {
		return undef, err
	}
	m, err := re.Texts(v.Str())
	if err != nil {
		return undef, err
	}
	powers := map[string]int{"": 0, "k": 10, "M": 20, "G": 30, "T": 40, "P": 50, "E": 60}
	power, ok := powers[m[2]]
	if !ok {
		return undef, refusef("to_bytes(): Unknown prefix %s", m[2])
	}
	f := math.Ldexp(fn.LeadingFloat(m[1]), power)
	if math.IsInf(f, 0) {
		return undef, eval.Errorf("%s", data.FormatFloat(f))
	}
	n, _ := big.NewFloat(f).Int(nil)
	return data.OfBig(n), nil
}
