package eval

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/language/types"
)

// operands of an operator.
type operands struct {
	op          string
	left, right data.Value
}

// arithmetic compiles + - * / % << >>. Rules LANG-OP-01 to LANG-OP-04.
func (c *compiler) arithmetic(n *syntax.Binary) code {
	s, left, right, op := c.site(n), c.node(n.Left), c.node(n.Right), n.Op
	return func(f *frame) (data.Value, error) {
		a, err := left(f)
		if err != nil {
			return a, err
		}
		b, err := right(f)
		if err != nil {
			return b, err
		}
		if a.Kind() == data.Int && b.Kind() == data.Int {
			if sum, ok := small(op, a.Int(), b.Int()); ok {
				return data.OfInt(sum), nil
			}
		}
		v, err := s.calculate(f, n, operands{op, a, b})
		if err == nil {
			err = f.thread.charge(v)
		}
		if err != nil {
			return data.Value{}, s.fail(f, err)
		}
		return v, nil
	}
}

// small computes what neither overflows nor divides.
func small(op string, a, b int64) (int64, bool) {
	const half = 1 << 31
	switch op {
	case "+":
		sum := a + b
		return sum, (sum > a) == (b > 0)
	case "-":
		difference := a - b
		return difference, (difference < a) == (b > 0)
	case "*":
		return a * b, a > -half && a < half && b > -half && b < half
	}
	return 0, false
}

func (s site) calculate(f *frame, n *syntax.Binary, x operands) (data.Value, error) {
	kind := x.left.Kind()
	switch {
	case x.op == "+" && kindOf(x.left) == isURI:
		return mergeURI(x.left, x.right)
	case x.op == "+" && kindOf(x.left) == isBinary:
		return appendBinary(x.left, x.right)
	case kind == data.List || kind == data.Hash:
		switch x.op {
		case "+":
			return concatenated(x.left, x.right)
		case "-":
			return without(x.left, x.right), nil
		case "<<":
			if kind == data.Hash {
				return data.Value{}, issueAt(n.Left, "Operator '<<' is not applicable to a Hash.")
			}
			return data.OfList(append(x.left.List()[:x.left.Len():x.left.Len()], x.right)), nil
		}
	}
	var err error
	if x.left, err = s.numeric(f, x.left, n.Left); err != nil {
		return x.left, err
	}
	if x.right, err = s.numeric(f, x.right, n.Right); err != nil {
		return x.right, err
	}
	return s.compute(n, x)
}

// numeric returns a value as a number; times are numbers, too. Rule LANG-OP-01.
func (s site) numeric(f *frame, v data.Value, at syntax.Node) (data.Value, error) {
	switch v.Kind() {
	case data.Int, data.Float, data.Big:
		return v, nil
	case data.Rich:
		if k := kindOf(v); isTime(k) || k == isVersion { // which is a number for Ruby
			return v, nil
		}
	case data.String:
		if number, ok := ToNumber(v.Str()); ok {
			return number, s.warn(f, f.thread.opts.Strict, at, fmt.Sprintf("The string '%s' was automatically coerced to the numerical value %s", v.Str(), Text(number)))
		}
	}
	return v, issueAt(at, "The value '%s' cannot be converted to Numeric.", RubyText(v))
}

// ToNumber reads a number as the language coerces strings: with blanks around, a sign
// that blanks may follow, hexadecimal, octal, a fraction, an exponent.
func ToNumber(s string) (data.Value, bool) {
	s = strings.Trim(strings.TrimPrefix(s, "::"), " \t\u00a0")
	negative := strings.HasPrefix(s, "-")
	if negative || strings.HasPrefix(s, "+") {
		s = strings.TrimLeft(s[1:], " \t\u00a0")
	}
	digits := strings.TrimLeft(s, "0123456789")
	base := 10
	switch {
	case len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x':
		s, base = s[2:], 16
	case s == "" || len(digits) == len(s):
		return data.Value{}, false
	case digits != "":
		return toFloat(s, digits, negative)
	case len(s) > 1 && s[0] == '0':
		base = 8
	}
	n, ok := new(big.Int).SetString(s, base)
	if !ok || s[0] == '-' || s[0] == '+' || strings.Contains(s, "_") {
		return data.Value{}, false
	}
	if negative {
		n.Neg(n)
	}
	return data.OfBig(n), true
}

// toFloat reads a number whose fraction and exponent are what follows its first digits.
func toFloat(s, rest string, negative bool) (data.Value, bool) {
	if fraction, ok := strings.CutPrefix(rest, "."); ok {
		rest = strings.TrimLeft(fraction, "0123456789")
		if len(rest) == len(fraction) {
			return data.Value{}, false
		}
	}
	if rest != "" {
		exponent := strings.TrimPrefix(rest[1:], "-")
		if rest[0]|0x20 != 'e' || exponent == "" || strings.TrimLeft(exponent, "0123456789") != "" {
			return data.Value{}, false
		}
	}
	f, _ := strconv.ParseFloat(s, 64) // beyond the range is infinite, as in Ruby
	if negative {
		f = -f
	}
	return data.OfFloat(f), true
}

func bigOf(v data.Value) *big.Int {
	if v.Kind() == data.Big {
		return v.Big()
	}
	return big.NewInt(v.Int())
}

func floatOf(v data.Value) float64 {
	switch v.Kind() {
	case data.Float:
		return v.Float()
	case data.Big:
		x, _ := new(big.Float).SetInt(v.Big()).Float64()
		return x
	}
	return float64(v.Int())
}

// compute works on numbers.
func (s site) compute(n *syntax.Binary, x operands) (data.Value, error) {
	isFloat := x.left.Kind() == data.Float || x.right.Kind() == data.Float
	// A version is a number for Ruby that no operator knows. Beside a time messages differ
	// by whether the two would change places.
	switch {
	case x.op == "%" && x.left.Kind() == data.Float:
		return data.Value{}, inapplicable(n, x)
	case x.op == "%" && x.right.Kind() == data.Float:
		return data.Value{}, inapplicableWhen(n, x)
	case kindOf(x.left) == isVersion && isTime(kindOf(x.right)) && x.op != "+" && (x.op != "-" && x.op != "*" || kindOf(x.right) == isTimestamp):
		return data.Value{}, inapplicableWhen(n, x)
	case kindOf(x.left) == isVersion:
		return data.Value{}, inapplicable(n, x)
	case kindOf(x.right) == isVersion:
		return data.Value{}, Errorf("SemanticPuppet::Version can't be coerced into %s", RubyClass(x.left))
	case x.left.Kind() == data.Rich || x.right.Kind() == data.Rich:
		return computeTimes(n, x)
	case x.op == "<<" || x.op == ">>":
		return shift(n, x)
	case isFloat:
		return computeFloats(n, x)
	}
	return computeIntegers(n, x)
}

func inapplicable(n *syntax.Binary, x operands) error {
	return issueAt(n.Left, "Operator '%s' is not applicable to %s.", x.op, withArticle(Label(x.left)))
}

func inapplicableWhen(n *syntax.Binary, x operands) error {
	return issueAt(n.Left, "Operator '%s' is not applicable to %s when right side is %s.", x.op, withArticle(Label(x.left)), withArticle(Label(x.right)))
}

func computeFloats(n *syntax.Binary, x operands) (data.Value, error) {
	a, b := floatOf(x.left), floatOf(x.right)
	switch x.op {
	case "+":
		a += b
	case "-":
		a -= b
	case "*":
		a *= b
	case "/":
		a /= b
	}
	if math.IsInf(a, 0) {
		return data.Value{}, issueAt(n.Left, "The result of the %s expression is Infinity", x.op)
	}
	return data.OfFloat(a), nil
}

func computeIntegers(n *syntax.Binary, x operands) (data.Value, error) {
	a, b, out := bigOf(x.left), bigOf(x.right), new(big.Int)
	switch x.op {
	case "+":
		out.Add(a, b)
	case "-":
		out.Sub(a, b)
	case "*":
		out.Mul(a, b)
	default:
		if b.Sign() == 0 {
			return data.Value{}, issueAt(n.Right, "Division by 0")
		}
		// Rounded down, so that the remainder has the sign of the divisor.
		remainder := new(big.Int)
		out.DivMod(a, b, remainder)
		if b.Sign() < 0 && remainder.Sign() != 0 {
			out.Sub(out, big.NewInt(1))
			remainder.Add(remainder, b)
		}
		if x.op == "%" {
			out = remainder
		}
	}
	return inRange(x.op, out)
}

// inRange refuses integers beyond 64 bits. Rule LANG-OP-02.
func inRange(op string, n *big.Int) (data.Value, error) {
	if n.IsInt64() {
		return data.OfInt(n.Int64()), nil
	}
	limit := "max"
	if n.Sign() < 0 {
		limit = "min"
	}
	return data.Value{}, Issuef("A '%s' expression resulted in a value outside of Puppet Integer %s range, got '%s'", op, limit, fmt.Sprintf("%+#x", n))
}

// maxShift is how far a number is shifted before it counts as too large to write.
const maxShift = 1 << 16

func shift(n *syntax.Binary, x operands) (data.Value, error) {
	if x.left.Kind() == data.Float {
		return data.Value{}, inapplicable(n, x)
	}
	by := x.right.Int()
	if x.right.Kind() == data.Float {
		if f := x.right.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return data.Value{}, Errorf("%s", x.right.Text())
		}
		by = int64(x.right.Float())
	}
	if x.op == ">>" {
		by = -by
	}
	switch a := bigOf(x.left); {
	case by > maxShift && a.Sign() != 0:
		return data.Value{}, Errorf("shift width too big")
	case by >= 0:
		return inRange(x.op, new(big.Int).Lsh(a, uint(min(by, maxShift))))
	default:
		return inRange(x.op, new(big.Int).Rsh(a, uint(min(-by, maxShift))))
	}
}

// negation compiles the unary minus. Rule LANG-OP-05.
func (c *compiler) negation(n *syntax.Unary) code {
	s, operand := c.site(n), c.node(n.Expr)
	return func(f *frame) (data.Value, error) {
		v, err := operand(f)
		if err != nil {
			return v, err
		}
		if v, err = s.numeric(f, v, n); err == nil {
			v, err = negated(v)
		}
		if err != nil {
			return data.Value{}, s.fail(f, err)
		}
		return v, nil
	}
}

func negated(v data.Value) (data.Value, error) {
	switch v.Kind() {
	case data.Int, data.Big:
		return data.OfBig(new(big.Int).Neg(bigOf(v))), nil
	case data.Float:
		return data.OfFloat(-v.Float()), nil
	}
	ns, _ := types.NanosecondsOf(v)
	if kindOf(v) == isTimestamp {
		return v, Errorf("undefined method `-@' for a Timestamp")
	}
	return types.OfTimespan(ns.Neg(ns))
}
