package erb

import (
	"math"
	"math/big"

	"indirtui/indirector/language/fn"
)

// maxBits is how large integers may become.
const maxBits = 1 << 20

// integerMethods are those of integers.
func integerMethods() map[string]method {
	out := numberMethods()
	for _, name := range []string{"&", "|", "^"} {
		out[name] = func(c *send) (value, error) {
			a, _ := toBig(c.self)
			b, ok := toBig(c.arg(0))
			if !ok {
				return nil, notCoerced(c.arg(0), "Integer")
			}
			n := new(big.Int)
			switch name {
			case "&":
				n.And(a, b)
			case "|":
				n.Or(a, b)
			default:
				n.Xor(a, b)
			}
			return whole(n), nil
		}
	}
	even := func(want uint) method {
		return func(c *send) (value, error) {
			n, _ := toBig(c.self)
			return n.Bit(0) == want, nil
		}
	}
	for name, m := range map[string]method{
		"even?": even(0), "odd?": even(1),
		"to_i": func(c *send) (value, error) { return c.self, nil },
		"to_s": func(c *send) (value, error) {
			base, err := c.integer(0, 10)
			if err == nil && (base < 2 || base > 36) {
				err = fail("ArgumentError", "invalid radix %d", base)
			}
			if err != nil {
				return nil, err
			}
			n, _ := toBig(c.self)
			return c.made(str(n.Text(base)))
		},
		"chr": func(c *send) (value, error) {
			n, ok := c.self.(int64)
			if !ok || n < 0 || n > 255 {
				return nil, fail("RangeError", "%s out of char range", inspect(c.self))
			}
			return str(string([]byte{byte(n)})), nil
		},
		"times":  func(c *send) (value, error) { return counted(c, int64(0), c.self, 1, true) },
		"upto":   func(c *send) (value, error) { return counted(c, c.self, c.arg(0), 1, false) },
		"downto": func(c *send) (value, error) { return counted(c, c.self, c.arg(0), -1, false) },
		"succ":   func(c *send) (value, error) { return c.r.call(c.self, "+", []value{int64(1)}, nil) },
		"next":   func(c *send) (value, error) { return c.r.call(c.self, "+", []value{int64(1)}, nil) },
		"pred":   func(c *send) (value, error) { return c.r.call(c.self, "-", []value{int64(1)}, nil) },
		"round":  rounded(math.Round), "floor": rounded(math.Floor), "ceil": rounded(math.Ceil), "truncate": rounded(math.Trunc),
		"gcd": func(c *send) (value, error) {
			a, _ := toBig(c.self)
			b, ok := toBig(c.arg(0))
			if !ok {
				return nil, fail("TypeError", "not an integer")
			}
			return whole(new(big.Int).GCD(nil, nil, new(big.Int).Abs(a), new(big.Int).Abs(b))), nil
		},
		"<<":       func(c *send) (value, error) { return shifted(c, 1) },
		">>":       func(c *send) (value, error) { return shifted(c, -1) },
		"digits":   digitsOf,
		"integer?": func(*send) (value, error) { return true, nil },
		"[]":       bitOf,
	} {
		out[name] = m
	}
	return out
}

func digitsOf(c *send) (value, error) {
	n, ok := c.self.(int64)
	if !ok || n < 0 {
		return nil, c.r.unsupported("digits of such a number")
	}
	out := &list{l: []value{n % 10}}
	for n /= 10; n > 0; n /= 10 {
		out.l = append(out.l, n%10)
	}
	return out, nil
}

// bitOf returns one bit of an integer.
func bitOf(c *send) (value, error) {
	at, ok := c.arg(0).(int64)
	if !ok || len(c.args) != 1 {
		return nil, c.r.unsupported("a part of an integer")
	}
	n, _ := toBig(c.self)
	if at < 0 || at > maxBits {
		return int64(0), nil
	}
	return int64(new(big.Int).And(new(big.Int).Rsh(n, uint(at)), big.NewInt(1)).Int64()), nil
}

func shifted(c *send, sign int) (value, error) {
	n, err := c.integer(0, 0)
	if err != nil {
		return nil, err
	}
	a, _ := toBig(c.self)
	n *= sign
	if n > maxBits || a.BitLen()+n > maxBits {
		return nil, c.r.unsupported("an integer of more than %d bits", maxBits)
	}
	if n < 0 {
		return whole(new(big.Int).Rsh(a, uint(min(-n, maxBits*2)))), nil
	}
	return whole(new(big.Int).Lsh(a, uint(n))), nil
}

// counted calls the block with numbers.
func counted(c *send, from, to value, step int64, exclusive bool) (value, error) {
	a, ok := from.(int64)
	b, ok2 := to.(int64)
	if f, isFloat := to.(float64); isFloat && !ok2 && math.Abs(f) < 1<<62 {
		b, ok2 = int64(math.Floor(f)), true
	}
	if !ok || !ok2 {
		return nil, notOrdered(from, to)
	}
	if exclusive {
		b -= step
	}
	var all []value
	for n := a; (b-n)*step >= 0; n += step {
		if c.block != nil {
			if _, err := c.yield(n); err != nil {
				return nil, err
			}
			continue
		}
		if err := c.r.spend(16); err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	if c.block == nil {
		return &list{l: all, isLazy: true, method: "each", subject: c.self}, nil
	}
	return c.self, nil
}

func floatMethods() map[string]method {
	out := numberMethods()
	for name, m := range map[string]method{
		"to_i":  func(c *send) (value, error) { return truncated(c.self.(float64)) },
		"round": rounded(math.Round), "floor": rounded(math.Floor), "ceil": rounded(math.Ceil), "truncate": rounded(math.Trunc),
		"nan?": func(c *send) (value, error) { return math.IsNaN(c.self.(float64)), nil },
		"finite?": func(c *send) (value, error) {
			f := c.self.(float64)
			return !math.IsNaN(f) && !math.IsInf(f, 0), nil
		},
		"integer?": func(*send) (value, error) { return false, nil },
	} {
		out[name] = m
	}
	return out
}

func truncated(f float64) (value, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fail("FloatDomainError", "%s", toS(f))
	}
	n, _ := big.NewFloat(f).Int(nil)
	return whole(n), nil
}

// rounded returns a method that rounds to an integer, or to so many digits.
func rounded(round func(float64) float64) method {
	return func(c *send) (value, error) {
		digits, err := c.integer(0, 0)
		if err != nil {
			return nil, err
		}
		if _, isBig := c.self.(*big.Int); isBig {
			return c.self, nil
		}
		if n, ok := c.self.(int64); ok {
			if digits >= 0 {
				return n, nil
			}
			p := math.Pow(10, float64(-digits))
			return truncated(round(float64(n)/p) * p)
		}
		f := c.self.(float64)
		if digits == 0 {
			return truncated(round(f))
		}
		p := math.Pow(10, float64(digits))
		if digits < 0 {
			return truncated(round(f*p) / p)
		}
		if digits > 15 {
			return f, nil
		}
		return round(f*p) / p, nil
	}
}

func notCoerced(v value, into string) error {
	what := classOf(v)
	switch v.(type) {
	case nil, bool:
		what = inspect(v)
	}
	return fail("TypeError", "%s can't be coerced into %s", what, into)
}

// numberMethods are those that integers and floats have.
func numberMethods() map[string]method {
	out := map[string]method{
		"-@": func(c *send) (value, error) { return c.r.call(int64(0), "-", []value{c.self}, nil) },
		"+@": func(c *send) (value, error) { return c.self, nil },
		"abs": func(c *send) (value, error) {
			if n, ok := compareNumbers(c.self, int64(0)); ok && n < 0 {
				return c.r.call(int64(0), "-", []value{c.self}, nil)
			}
			return c.self, nil
		},
		"zero?":     compared(func(n int) bool { return n == 0 }, int64(0)),
		"positive?": compared(func(n int) bool { return n > 0 }, int64(0)),
		"negative?": compared(func(n int) bool { return n < 0 }, int64(0)),
		"<":         compared(func(n int) bool { return n < 0 }, nil),
		"<=":        compared(func(n int) bool { return n <= 0 }, nil),
		">":         compared(func(n int) bool { return n > 0 }, nil),
		">=":        compared(func(n int) bool { return n >= 0 }, nil),
		"to_f":      func(c *send) (value, error) { f, _ := floatOf(c.self); return f, nil },
		"fdiv": func(c *send) (value, error) {
			a, _ := floatOf(c.self)
			b, ok := floatOf(c.arg(0))
			if !ok {
				return nil, notCoerced(c.arg(0), classOf(c.self))
			}
			return a / b, nil
		},
		"divmod": func(c *send) (value, error) {
			q, err := c.r.call(c.self, "div", c.args, nil)
			if err != nil {
				return nil, err
			}
			m, err := c.r.call(c.self, "%", c.args, nil)
			return &list{l: []value{q, m}}, err
		},
		"div": func(c *send) (value, error) {
			v, err := arithmetic(c, "/")
			if f, ok := v.(float64); ok && err == nil {
				return truncated(math.Floor(f))
			}
			return v, err
		},
		"between?": func(c *send) (value, error) {
			a, ok := order(c.self, c.arg(0))
			b, ok2 := order(c.self, c.arg(1))
			if !ok || !ok2 {
				return nil, notOrdered(c.self, c.arg(0))
			}
			return a >= 0 && b <= 0, nil
		},
		"clamp": func(c *send) (value, error) {
			l, err := sort([]value{c.self, c.arg(0), c.arg(1)}, naturally)
			if err != nil {
				return nil, err
			}
			return l[1], nil
		},
		"step": func(c *send) (value, error) {
			by, ok := argOr(c.args, 1, int64(1)).(int64)
			if _, isInteger := c.self.(int64); !ok || by == 0 || !isInteger {
				return nil, c.r.unsupported("such a step")
			}
			return counted(c, c.self, c.arg(0), by, false)
		},
	}
	for _, op := range []string{"+", "-", "*", "/", "%", "**"} {
		out[op] = func(c *send) (value, error) { return arithmetic(c, op) }
	}
	out["modulo"], out["pow"], out["magnitude"] = out["%"], out["**"], out["abs"]
	return out
}

func compared(decide func(int) bool, with value) method {
	return func(c *send) (value, error) {
		other := with
		if other == nil {
			other = c.arg(0)
		}
		n, ok := compareNumbers(c.self, other)
		if !ok {
			return nil, notOrdered(c.self, other)
		}
		return decide(n), nil
	}
}

func arithmetic(c *send, op string) (value, error) {
	a, ok := toBig(c.self)
	b, ok2 := toBig(c.arg(0))
	if ok && ok2 {
		return c.r.integers(op, a, b)
	}
	x, _ := floatOf(c.self)
	y, ok := floatOf(c.arg(0))
	if !ok {
		return nil, notCoerced(c.arg(0), classOf(c.self))
	}
	switch op {
	case "+":
		return x + y, nil
	case "-":
		return x - y, nil
	case "*":
		return x * y, nil
	case "/":
		return x / y, nil
	case "**":
		return math.Pow(x, y), nil
	}
	m := math.Mod(x, y)
	if m != 0 && (m < 0) != (y < 0) {
		m += y
	}
	return m, nil
}

// integers computes with integers, whose division rounds down.
func (r *run) integers(op string, a, b *big.Int) (value, error) {
	n := new(big.Int)
	switch op {
	case "+":
		n.Add(a, b)
	case "-":
		n.Sub(a, b)
	case "*":
		if a.BitLen()+b.BitLen() > maxBits {
			return nil, r.unsupported("an integer of more than %d bits", maxBits)
		}
		n.Mul(a, b)
	case "/", "%":
		if b.Sign() == 0 {
			return nil, fail("ZeroDivisionError", "divided by 0")
		}
		m := new(big.Int)
		n.QuoRem(a, b, m)
		if m.Sign() != 0 && m.Sign() != b.Sign() {
			n.Sub(n, big.NewInt(1))
			m.Add(m, b)
		}
		if op == "%" {
			n = m
		}
	case "**":
		if b.Sign() < 0 {
			return nil, r.unsupported("a rational number")
		}
		if !b.IsInt64() || int64(a.BitLen())*b.Int64() > maxBits || b.Int64() > maxBits && a.BitLen() > 1 {
			return nil, r.unsupported("an integer of more than %d bits", maxBits)
		}
		n.Exp(a, b, nil)
	}
	return whole(n), r.spend(n.BitLen() / 8)
}

// spanMethods are those of ranges beyond those of their elements.
func spanMethods() map[string]method {
	includes := func(c *send) (value, error) {
		s := c.self.(*span)
		a, ok := order(s.from, c.arg(0))
		b, ok2 := order(c.arg(0), s.to)
		if s.to == nil {
			b, ok2 = -1, true
		}
		return ok && ok2 && a <= 0 && (b < 0 || b == 0 && !s.exclusive), nil
	}
	end := func(last bool) method {
		return func(c *send) (value, error) {
			if len(c.args) > 0 || c.block != nil {
				l, err := c.r.elements(c.self)
				if err != nil {
					return nil, err
				}
				name := "first"
				if last {
					name = "last"
				}
				return c.r.call(&list{l: l}, name, c.args, nil)
			}
			if last {
				return c.self.(*span).to, nil
			}
			return c.self.(*span).from, nil
		}
	}
	return map[string]method{
		"size": func(c *send) (value, error) {
			l, err := c.r.elements(c.self)
			return int64(len(l)), err
		},
		"include?": includes, "member?": includes, "===": includes, "cover?": includes,
		"first": end(false), "begin": end(false), "last": end(true), "end": end(true),
		"exclude_end?": func(c *send) (value, error) { return c.self.(*span).exclusive, nil },
		"each": func(c *send) (value, error) {
			if c.block == nil {
				l, err := c.r.elements(c.self)
				return &list{l: l, isLazy: true, method: "each", subject: c.self}, err
			}
			return c.self, c.self.(*span).each(c.r, func(v value) error { _, err := c.yield(v); return err })
		},
		"step": func(c *send) (value, error) {
			n, err := c.integer(0, 1)
			if err == nil && n <= 0 {
				err = fail("ArgumentError", "step can't be 0")
			}
			if err != nil {
				return nil, err
			}
			var out []value
			at := 0
			err = c.self.(*span).each(c.r, func(v value) error {
				if at%n == 0 {
					out = append(out, v)
				}
				at++
				return c.r.spend(16)
			})
			if err != nil {
				return nil, err
			}
			return c.each(out, "each")
		},
	}
}

// each calls see with each element.
func (s *span) each(r *run, see func(value) error) error {
	switch from := s.from.(type) {
	case int64:
		to, ok := s.to.(int64)
		if f, isFloat := s.to.(float64); isFloat && math.Abs(f) < 1<<62 {
			to, ok = int64(math.Floor(f)), true
		}
		if s.to == nil {
			to, ok = math.MaxInt64, true
		}
		if !ok {
			return fail("TypeError", "can't iterate from Integer")
		}
		for n := from; n < to || n == to && !s.exclusive; n++ {
			if err := r.step(); err != nil {
				return err
			}
			if err := see(n); err != nil {
				return err
			}
			if n == math.MaxInt64 {
				break
			}
		}
		return nil
	case *text:
		to, ok := s.to.(*text)
		if !ok {
			return fail("TypeError", "can't iterate from String")
		}
		var failed error
		fn.Upto(from.s, to.s, s.exclusive, func(t string) bool {
			if failed = r.step(); failed == nil {
				failed = see(str(t))
			}
			return failed == nil
		})
		return failed
	}
	return fail("TypeError", "can't iterate from %s", classOf(s.from))
}
