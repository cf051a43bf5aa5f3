package rich

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A spanUnit is what a letter of a format of timespans stands for.
type spanUnit struct {
	letter   byte
	seconds  int64 // 0 is a fraction of a second
	digits   int   // as many as are usual
	fraction bool
}

// spanUnits are the letters, the largest unit first.
var spanUnits = []spanUnit{
	{'D', 86400, 1, false}, {'H', 3600, 2, false}, {'M', 60, 2, false}, {'S', 1, 2, false}, {'L', 0, 3, true}, {'N', 0, 9, true},
}

// A spanField is a letter of a format with its flags, or a text between two.
type spanField struct {
	unit    int // an index of spanUnits, or -1 for a text
	text    string
	padding byte // '0', ' ', or 0 for none
	width   int  // -1 if it is not given
	total   bool // it holds all that is larger, too, so that it may have any number of digits
}

// spanDirective matches a directive, or what begins like one.
var spanDirective = regexp.MustCompile(`\A%([-_0]?)([0-9]*)([%DHMSLN])`)

// splitSpanFormat returns the fields of a format. The first of the largest unit holds
// the total.
func splitSpanFormat(format string) ([]spanField, error) {
	var out []spanField
	literal := func(s string) {
		if n := len(out); n > 0 && out[n-1].unit < 0 {
			out[n-1].text += s
			return
		}
		out = append(out, spanField{unit: -1, text: s})
	}
	largest := len(spanUnits)
	for rest := format; rest != ""; {
		if rest[0] != '%' {
			literal(rest[:1])
			rest = rest[1:]
			continue
		}
		g := spanDirective.FindStringSubmatch(rest)
		if g == nil {
			return nil, badDirective(format, len(format)-len(rest))
		}
		rest = rest[len(g[0]):]
		if g[3] == "%" {
			literal("%")
			continue
		}
		f := spanField{padding: map[string]byte{"-": 0, "_": ' ', "0": '0', "": '0'}[g[1]], width: -1}
		for i, u := range spanUnits {
			if u.letter == g[3][0] {
				f.unit = i
			}
		}
		if g[2] != "" {
			f.width, _ = strconv.Atoi(g[2])
		}
		largest = min(largest, f.unit)
		out = append(out, f)
	}
	for i := range out {
		if out[i].unit == largest {
			out[i].total = true
			break
		}
	}
	return out, nil
}

// badDirective names the directive that begins at a byte, up to what is wrong with it.
func badDirective(format string, from int) error {
	end := from + 1
	if end < len(format) && strings.IndexByte("-_0", format[end]) >= 0 {
		end++
	}
	for end < len(format) && format[end] >= '0' && format[end] <= '9' {
		end++
	}
	position := utf8.RuneCountInString(format[:end])
	if end == len(format) { // there is nothing wrong but the end
		position--
		end--
	}
	return errorf("Bad format specifier '%s' in '%s', at position %d", format[from:end], format, position)
}

// maxSpanWidth is how wide a field of a format may be.
const maxSpanWidth = 1 << 12

// FormatTimespan writes a timespan in a format. Errors are in Puppet's words. Rule LANG-NEW-03.
func FormatTimespan(t Timespan, format string) (string, error) {
	fields, err := splitSpanFormat(format)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if t.ns.Sign() < 0 {
		b.WriteByte('-')
	}
	ns := new(big.Int).Abs(&t.ns)
	for _, f := range fields {
		if f.width > maxSpanWidth {
			return "", errorf("A width of %d in '%s' is more than %d", f.width, format, maxSpanWidth)
		}
		b.WriteString(f.text)
		if f.unit >= 0 {
			b.WriteString(f.digits(ns))
		}
	}
	return b.String(), nil
}

// digits returns what a field has of a number of nanoseconds. Numbers of a fraction stand on
// the left, without the zeros before them, which is Puppet's way.
func (f spanField) digits(ns *big.Int) string {
	u := spanUnits[f.unit]
	width, unit := f.width, big.NewInt(u.seconds*int64(time.Second))
	if width < 0 {
		width = u.digits
	}
	if u.fraction {
		places := u.digits
		if u.letter == 'N' {
			places = min(width, 9)
		}
		unit.Exp(big.NewInt(10), big.NewInt(int64(9-places)), nil)
	}
	n := new(big.Int).Quo(ns, unit)
	if !f.total && u.letter != 'D' {
		n.Rem(n, new(big.Int).Quo(f.larger(), unit))
	}
	text := n.String()
	if u.fraction && !f.total && f.padding != '0' && text != "0" {
		text = strings.TrimRight(text, "0")
	}
	missing := max(width-len(text), 0)
	switch {
	case f.padding == 0:
		return text
	case u.fraction:
		return text + strings.Repeat(" ", missing)
	}
	return strings.Repeat(string(f.padding), missing) + text
}

// larger returns how many nanoseconds the next larger unit has.
func (f spanField) larger() *big.Int {
	if spanUnits[f.unit].fraction {
		return big.NewInt(int64(time.Second))
	}
	return big.NewInt(spanUnits[f.unit-1].seconds * int64(time.Second))
}

// pattern returns the expression for the digits of a field.
func (f spanField) pattern() string {
	class, more := "[0-9]", ""
	if f.padding == ' ' {
		class = `[0-9\s]`
	}
	switch {
	case f.unit < 0:
		return "(" + regexp.QuoteMeta(f.text) + ")"
	case f.width >= 0 && f.padding == 0:
		more = "{1," + strconv.Itoa(f.width) + "}"
	case f.width >= 0:
		more = "{" + strconv.Itoa(f.width) + "}"
	case f.total && f.padding == ' ':
		return `\s*([0-9]+)`
	case f.total:
		more = "+"
	default:
		more = "{1," + strconv.Itoa(spanUnits[f.unit].digits) + "}"
	}
	return "(" + class + more + ")"
}

// nanoseconds returns what digits mean. Those of a fraction begin behind the point.
func (f spanField) nanoseconds(digits string) (*big.Int, error) {
	n, ok := new(big.Int).SetString(strings.TrimLeft(digits, " \t\n\v\f\r"), 10)
	u := spanUnits[f.unit]
	switch {
	case !ok:
		return nil, errNoMatch
	case !u.fraction:
		return n.Mul(n, big.NewInt(u.seconds*int64(time.Second))), nil
	case f.total:
		return nil, errorf("Format specifiers %%L and %%N denotes fractions and must be used together with a specifier of higher magnitude")
	}
	for range 9 - len(strings.TrimLeft(digits, " \t\n\v\f\r")) {
		n.Mul(n, big.NewInt(10))
	}
	return n, nil
}

// errNoMatch reports a text that is not of a format.
var errNoMatch = errorf("no match")

// ParseTimespanBy reads a timespan in the first of several formats that fits; one alone
// has errors of its own. Errors are in Puppet's words.
func ParseTimespanBy(s string, formats []string, several bool) (Timespan, error) {
	for _, format := range formats {
		fields, err := splitSpanFormat(format)
		if err != nil {
			return Timespan{}, err
		}
		t, err := parseSpan(s, fields)
		switch {
		case err == nil:
			return t, nil
		case several:
		case err == errNoMatch:
			return t, errorf("Unable to parse '%s' using format '%s'", s, format)
		default:
			return t, err
		}
	}
	return Timespan{}, errorf("Unable to parse '%s' using any of the formats %s", s, strings.Join(formats, ", "))
}

func parseSpan(s string, fields []spanField) (t Timespan, err error) {
	var pattern strings.Builder
	pattern.WriteString(`\A-?`)
	for _, f := range fields {
		pattern.WriteString(f.pattern())
	}
	compiled, err := regexp.Compile(pattern.String() + `\z`)
	if err != nil { // a width that is too large for an expression
		return t, errNoMatch
	}
	groups := compiled.FindStringSubmatch(s)
	if groups == nil {
		return t, errNoMatch
	}
	for i, f := range fields {
		if f.unit < 0 {
			continue
		}
		n, err := f.nanoseconds(groups[i+1])
		if err != nil {
			return t, err
		}
		t.ns.Add(&t.ns, n)
	}
	if strings.HasPrefix(s, "-") {
		t.ns.Neg(&t.ns)
	}
	return t, nil
}
