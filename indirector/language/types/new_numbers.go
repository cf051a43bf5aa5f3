package types

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"indirtui/indirector/data"
)

// Texts that are numbers, as Puppet writes these expressions in messages.
const (
	signText       = `[+-]?\s*`
	hexText        = `(?:0[xX][0-9A-Fa-f]+)`
	binText        = `(?:0[bB][01]+)`
	octText        = `(?:0[0-7]+)`
	decText        = `(?:0|[1-9]\d*)`
	integerPattern = `\A` + signText + `(?:(?:\d+)|` + hexText + `|` + binText + `)\z`
	floatPattern   = `\A` + signText + `(?:(?:` + decText + `(?:\.\d+)?(?:[eE]-?\d+)?)|` + hexText + `|` + octText + `|` + binText + `)\z`
)

func integerConstructor() *constructor {
	cannot := cannotConvert("Integer")
	return &constructor{
		name: "new",
		aliases: "Radix = Variant[Default, Integer[2,2], Integer[8,8], Integer[10,10], Integer[16,16]]\n" +
			"Convertible = Variant[Numeric, Boolean, Pattern[/" + integerPattern + "/], Timespan, Timestamp]\n" +
			"NamedArgs = Struct[{from => Convertible, Optional[radix] => Radix, Optional[abs] => Boolean}]",
		ways: []way{
			{params: "Convertible from; Radix radix?; Boolean abs?", make: func(args []data.Value) (data.Value, error) {
				return toInteger(args[0], argument(args, 1), argument(args, 2))
			}},
			{params: "NamedArgs hash_args", make: func(args []data.Value) (data.Value, error) {
				h := args[0]
				return toInteger(h.Get("from"), h.Get("radix"), h.Get("abs"))
			}},
		},
		refusals: []refusal{
			{params: "Hash hash_args", why: func(args []data.Value) (string, error) { return refuseIntegerHash(args[0]) }},
			{params: "Any from; Integer radix?; Boolean abs?", why: func(args []data.Value) (string, error) {
				if err := checkRadix(argument(args, 1)); err != nil {
					return "", err
				}
				return cannot(args)
			}},
		},
	}
}

// argument returns an argument, or nil if it was left out.
func argument(args []data.Value, i int) data.Value {
	if i < len(args) {
		return args[i]
	}
	return data.Value{}
}

func checkRadix(v data.Value) error {
	if v.Kind() != data.Int {
		return nil
	}
	switch v.Int() {
	case 2, 8, 10, 16:
		return nil
	}
	return errorf("Illegal radix: %d, expected 2, 8, 10, 16, or default", v.Int())
}

// refuseIntegerHash describes what is wrong with arguments that have names.
func refuseIntegerHash(h data.Value) (string, error) {
	c := constructors()["Integer"]
	named := resolve(c.ways[1].types[0]).(structType)
	if from, ok := h.Lookup("from"); ok && !isInstance(named.members[0].value, from) {
		return cannotConvert("Integer")([]data.Value{from})
	}
	if radix := h.Get("radix"); !radix.IsNil() && !isDefault(radix) {
		if radix.Kind() != data.Int {
			return "", errorf("Illegal radix: %s, expected 2, 8, 10, 16, or default", radix.Text())
		}
		if err := checkRadix(radix); err != nil {
			return "", err
		}
	}
	return "", errorf("%s", Mismatch("Integer.new has wrong type,", c.ways[1].types[0], h))
}

// absolute returns a number without its sign if abs is true.
func absolute(v, abs data.Value) data.Value {
	switch {
	case !abs.Bool():
		return v
	case v.Kind() == data.Float:
		return data.OfFloat(math.Abs(v.Float()))
	case v.Kind() == data.Big:
		return data.OfBig(new(big.Int).Abs(v.Big()))
	}
	return data.OfBig(new(big.Int).Abs(big.NewInt(v.Int())))
}

// plainNumber returns the number that a boolean or a time is.
func plainNumber(v data.Value) (data.Value, bool) {
	switch v.Kind() {
	case data.Int, data.Float, data.Big:
		return v, true
	case data.Bool:
		if v.Bool() {
			return data.OfInt(1), true
		}
		return data.OfInt(0), true
	}
	switch r := v.Rich().(type) {
	case timestamp:
		return data.OfFloat(r.float()), true
	case timespan:
		return data.OfFloat(r.float()), true
	}
	return data.Value{}, false
}

func toInteger(v, radix, abs data.Value) (data.Value, error) {
	n, ok := plainNumber(v)
	if !ok {
		var err error
		if n, err = parseInteger(v.Str(), int(radix.Int())); err != nil {
			return n, err
		}
	}
	if n.Kind() == data.Float {
		f := n.Float()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return n, errorf("%s", data.FormatFloat(f))
		}
		i, _ := big.NewFloat(f).Int(nil)
		n = data.OfBig(i)
	}
	return absolute(n, abs), nil
}

// signed splits a text into its sign and the digits, without the blanks between.
func signed(s string) (sign, digits string) {
	digits = strings.TrimLeft(s, " \t\r\n\v\f")
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		sign = digits[:1]
		digits = strings.TrimLeft(digits[1:], " \t\r\n\v\f")
	}
	return sign, digits
}

var prefixes = map[int]string{2: "0b", 8: "0o", 16: "0x"}

// parseInteger reads an integer as Ruby does: with a radix of 0 the prefix decides.
func parseInteger(s string, radix int) (data.Value, error) {
	sign, digits := signed(s)
	low := strings.ToLower(digits)
	if p := prefixes[radix]; p != "" && strings.HasPrefix(low, p) {
		low = low[2:]
	}
	if radix == 0 && len(low) > 1 && low[0] == '0' && low[1] >= '0' && low[1] <= '9' {
		low = "0o" + low[1:]
	}
	i, ok := new(big.Int).SetString(low, radix)
	if !ok || strings.Contains(low, "_") {
		return data.Value{}, errorf("invalid value for Integer(): %s", data.InspectString(s))
	}
	if sign == "-" {
		i.Neg(i)
	}
	return data.OfBig(i), nil
}

func floatConstructor() *constructor {
	return &constructor{
		name: "new_float",
		aliases: "Convertible = Variant[Numeric, Boolean, Pattern[/" + floatPattern + "/], Timespan, Timestamp]\n" +
			"NamedArgs = Struct[{from => Convertible, Optional[abs] => Boolean}]",
		ways: []way{
			{params: "Convertible from; Boolean abs?", make: func(args []data.Value) (data.Value, error) {
				return toFloat(args[0], argument(args, 1))
			}},
			{params: "NamedArgs hash_args", make: func(args []data.Value) (data.Value, error) {
				return toFloat(args[0].Get("from"), args[0].Get("abs"))
			}},
		},
		refusals: []refusal{{params: "Any from; Boolean abs?", why: cannotConvert("Float")}},
	}
}

func toFloat(v, abs data.Value) (data.Value, error) {
	n, ok := plainNumber(v)
	switch {
	case !ok:
		f, err := parseFloat(v.Str())
		return absolute(data.OfFloat(f), abs), err
	case n.Kind() == data.Int:
		n = data.OfFloat(float64(n.Int()))
	case n.Kind() == data.Big:
		f, _ := new(big.Float).SetInt(n.Big()).Float64()
		n = data.OfFloat(f)
	}
	return absolute(n, abs), nil
}

// parseFloat reads a float; zeros in front mean nothing, but for 0x and 0b.
func parseFloat(s string) (float64, error) {
	sign, digits := signed(s)
	low := strings.ToLower(digits)
	var f float64
	if strings.HasPrefix(low, "0x") || strings.HasPrefix(low, "0b") && sign == "" {
		i, _ := new(big.Int).SetString(low, 0)
		f, _ = new(big.Float).SetInt(i).Float64()
	} else {
		var err error
		if f, err = strconv.ParseFloat(digits, 64); err != nil && !math.IsInf(f, 0) {
			return 0, errorf("invalid value for Float(): %s", data.InspectString(s))
		}
	}
	if sign == "-" {
		f = -f
	}
	return f, nil
}

func numericConstructor() *constructor {
	return &constructor{
		name: "new_numeric",
		aliases: "Convertible = Variant[Integer, Float, Boolean, Pattern[/" + floatPattern + "/], Timespan, Timestamp]\n" +
			"NamedArgs = Struct[{from => Convertible, Optional[abs] => Boolean}]",
		ways: []way{
			{params: "Convertible from; Boolean abs?", make: func(args []data.Value) (data.Value, error) {
				return toNumber(args[0], argument(args, 1))
			}},
			{params: "NamedArgs hash_args", make: func(args []data.Value) (data.Value, error) {
				return toNumber(args[0].Get("from"), args[0].Get("abs"))
			}},
		},
		refusals: []refusal{{params: "Any from; Boolean abs?", why: cannotConvert("Numeric")}},
	}
}

var (
	wholeNumber = regexp.MustCompile(`\A[[:blank:]]*[-+]?[[:blank:]]*(0[xX][0-9A-Fa-f]+|0[bB][01]+|[0-9]+)[[:blank:]]*\z`)
	fraction    = regexp.MustCompile(`\A[[:blank:]]*[-+]?[[:blank:]]*0?[0-9]+(\.[0-9]+)?([eE]-?[0-9]+)?[[:blank:]]*\z`)
)

// toNumber returns an integer where a text is one.
func toNumber(v, abs data.Value) (data.Value, error) {
	if n, ok := plainNumber(v); ok {
		return absolute(n, abs), nil
	}
	s := strings.TrimSpace(v.Str())
	switch {
	case wholeNumber.MatchString(s):
		n, err := parseInteger(s, 0)
		return absolute(n, abs), err
	case fraction.MatchString(s):
		f, err := parseFloat(s)
		return absolute(data.OfFloat(f), abs), err
	}
	return data.Value{}, nil
}

func booleanConstructor() *constructor {
	return &constructor{
		name: "new_boolean",
		ways: []way{{params: "Variant[Integer, Float, Boolean, Enum['false','true','yes','no','y','n',true]] from", make: func(args []data.Value) (data.Value, error) {
			switch v := args[0]; v.Kind() {
			case data.String:
				switch strings.ToLower(v.Str()) {
				case "false", "no", "n":
					return data.OfBool(false), nil
				}
				return data.OfBool(true), nil
			case data.Float:
				return data.OfBool(v.Float() != 0), nil
			default:
				return data.OfBool(fmt.Sprint(v) != "0"), nil
			}
		}}},
		refusals: []refusal{{params: "Any from", why: cannotConvert("Boolean")}},
	}
}
