package types

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"indirtui/indirector/data"
)

// pad fills a text with blanks up to the width.
func pad(f format, s string) string {
	missing := f.width - utf8.RuneCountInString(s)
	if missing <= 0 {
		return s
	}
	if f.has("-") {
		return s + strings.Repeat(" ", missing)
	}
	return strings.Repeat(" ", missing) + s
}

func cut(s string, precision int) string {
	if precision < 0 {
		return s
	}
	for i := range s {
		if precision == 0 {
			return s[:i]
		}
		precision--
	}
	return s
}

// padded applies width and precision alone.
func padded(f format, s string) string { return pad(f, cut(s, f.precision)) }

// checkFlags reports the first delimiter, which Ruby's formats do not know.
func (f format) checkFlags() error {
	if i := strings.IndexAny(f.flags, "[{(<|"); i >= 0 {
		return errorf("malformed format string - %%%c", f.flags[i])
	}
	return nil
}

// print formats a text as Ruby's %s does.
func (f format) print(s string) (string, error) { return padded(f, s), f.checkFlags() }

// verb returns a format for Go with the flags of f.
func (f format) verb(letter string) string {
	var b strings.Builder
	b.WriteByte('%')
	for _, flag := range "#+- 0" {
		if strings.ContainsRune(f.flags, flag) {
			b.WriteRune(flag)
		}
	}
	if f.width >= 0 {
		fmt.Fprint(&b, f.width)
	}
	if f.precision >= 0 {
		fmt.Fprintf(&b, ".%d", f.precision)
	}
	return b.String() + letter
}

func integerText(v data.Value, f format) (string, error) {
	n := v.Big()
	if n == nil {
		n = big.NewInt(v.Int())
	}
	switch f.letter {
	case 'd', 'x', 'X', 'o', 'b', 'B':
		return digitsText(n, f), f.checkFlags()
	case 'p':
		return f.print(n.String())
	case 'e', 'E', 'f', 'g', 'G', 'a', 'A':
		x, _ := new(big.Float).SetInt(n).Float64()
		return floatingText(x, f)
	case 'c':
		if n.Sign() < 0 || n.Cmp(big.NewInt(utf8.MaxRune)) > 0 {
			return "", errorf("pack(U): value out of range")
		}
		s := string(rune(n.Int64()))
		return f.print(chosen(f.alt(), `"`+s+`"`, s))
	case 's':
		if f.alt() {
			return f.print(`"` + n.String() + `"`)
		}
		return f.print(n.String())
	}
	panic("types: a format of integers: " + f.text)
}

// digitsText writes an integer in one of the bases. Zero has no prefix, and with a
// precision of 0 no digit.
func digitsText(n *big.Int, f format) string {
	switch {
	case f.letter != 'd' && n.Sign() < 0 && !f.has("+") && !f.has(" "):
		return complement(n, f)
	case n.Sign() == 0 && f.precision == 0 && !(f.letter == 'o' && f.alt()):
		return pad(f, chosen(f.has("+"), "+", chosen(f.has(" "), " ", "")))
	case n.Sign() == 0:
		f.flags = strings.ReplaceAll(f.flags, "#", "")
		if f.precision == 0 {
			f.precision = 1
		}
	case f.letter == 'o' && f.precision > len(n.Text(8)): // it begins with zero anyhow
		f.flags = strings.ReplaceAll(f.flags, "#", "")
	}
	if f.letter == 'B' {
		return strings.Replace(fmt.Sprintf(f.verb("b"), n), "b", "B", 1)
	}
	return fmt.Sprintf(f.verb(string(f.letter)), n)
}

// complement writes a negative number as the digits of its two's complement behind
// two points, as Ruby does.
func complement(n *big.Int, f format) string {
	base, filler, prefix := 16, "f", "0x"
	switch f.letter {
	case 'X':
		filler, prefix = "f", "0X"
	case 'o':
		base, filler, prefix = 8, "7", ""
	case 'b', 'B':
		base, filler, prefix = 2, "1", "0"+string(f.letter)
	}
	power, count := big.NewInt(int64(base)), 1
	for new(big.Int).Neg(n).Cmp(power) > 0 {
		power.Mul(power, big.NewInt(int64(base)))
		count++
	}
	digits := power.Add(power, n).Text(base)
	digits = strings.Repeat("0", max(count-len(digits), 0)) + digits
	digits = filler + strings.TrimLeft(digits, filler)
	if f.letter == 'X' {
		digits = strings.ToUpper(digits)
	}
	if !f.alt() {
		prefix = ""
	}
	missing := f.precision - len("..") - len(digits)
	if f.has("0") && !f.has("-") && f.precision < 0 {
		missing = f.width - len(prefix) - len("..") - len(digits)
	}
	if missing > 0 {
		digits = strings.Repeat(digits[:1], missing) + digits
	}
	return pad(f, prefix+".."+digits)
}

// exponentZero is a zero in front of the exponent of a hexadecimal float, which only
// Go writes.
var exponentZero = regexp.MustCompile(`([pP][+-])0(\d)`)

// hexFloat writes a float in hexadecimal digits, with zeros behind the prefix.
func hexFloat(x float64, f format) string {
	letter := map[byte]string{'a': "x", 'A': "X"}[f.letter]
	plain := format{flags: strings.NewReplacer("#", "", "0", "", "-", "").Replace(f.flags), width: -1, precision: f.precision}
	s := exponentZero.ReplaceAllString(fmt.Sprintf(plain.verb(letter), x), "$1$2")
	if f.alt() && !strings.Contains(s, ".") {
		s = strings.NewReplacer("p", ".p", "P", ".P").Replace(s)
	}
	if missing := f.width - len(s); missing > 0 && f.has("0") && !f.has("-") {
		at := strings.IndexAny(s, "xX") + 1
		return s[:at] + strings.Repeat("0", missing) + s[at:]
	}
	return pad(f, s)
}

// rounding returns the number whose digits are those that Ruby writes for x: up to fourteen of
// them it works out in floating point, and takes what is nearly a half for one, which makes an
// even digit.
func rounding(x float64, f format) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	text := strconv.FormatFloat(math.Abs(x), 'e', -1, 64)
	exponent, _ := strconv.Atoi(text[strings.IndexByte(text, 'e')+1:])
	digits := f.precision
	if digits < 0 {
		digits = 6
	}
	switch f.letter {
	case 'f':
		digits += exponent + 1
	case 'e', 'E':
		digits++
	default:
		digits = max(digits, 1)
	}
	if digits <= 0 || digits > 14 || exponent < -15 || exponent > 15 {
		return x
	}
	d := math.Abs(x)
	if exponent > 0 {
		d /= math.Pow10(exponent)
	} else {
		d *= math.Pow10(-exponent)
	}
	near := (2*d + 7) * 0x1p-52 * math.Pow10(digits-1)
	last := 0.0
	for range digits {
		last = math.Floor(d)
		d = (d - last) * 10
	}
	if d /= 10; d > 0.5+near || d < 0.5-near {
		return x
	}
	away := math.Copysign(2*near*math.Pow10(exponent-digits+1), x)
	if int(last)%2 == 0 {
		return x - away
	}
	return x + away
}

func floatingText(x float64, f format) (string, error) {
	switch f.letter {
	case 'd', 'x', 'X', 'o', 'b', 'B':
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return "", errorf("%s", data.FormatFloat(x))
		}
		n, _ := big.NewFloat(x).Int(nil)
		return integerText(data.OfBig(n), f)
	case 'f', 'e', 'E', 'g', 'G':
		if f.precision < 0 && (f.letter == 'g' || f.letter == 'G') {
			f.precision = 6
		}
		return fmt.Sprintf(f.verb(string(f.letter)), rounding(x, f)), f.checkFlags()
	case 'a', 'A':
		return hexFloat(x, f), f.checkFlags()
	case 'p':
		return f.print(data.FormatFloat(x))
	case 's':
		s := data.FormatFloat(x)
		return f.print(chosen(f.alt(), `"`+s+`"`, s))
	}
	panic("types: a format of floats: " + f.text)
}
