package fn

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/types"
)

// A printer writes what a format of Ruby's sprintf means.
type printer struct {
	b     strings.Builder
	args  []data.Value
	next  int    // of the arguments that are taken in order
	mode  string // how arguments are chosen: "", "unnumbered", "numbered", "named"
	flags string
	width int
	// precision is -1 if there is none.
	precision int
	chosen    data.Value // by a number or a name
	isChosen  bool
}

// Sprintf formats arguments; numbers are written by the formats of the type String, which
// are those of Ruby.
func Sprintf(format string, args []data.Value) (string, error) {
	p := &printer{args: args}
	for {
		before, rest, ok := strings.Cut(format, "%")
		p.b.WriteString(before)
		if !ok {
			return p.b.String(), nil
		}
		var err error
		if format, err = p.directive(rest); err != nil {
			return "", err
		}
	}
}

const incomplete = "incomplete format specifier; use %% (double %) instead"

// directive writes one, and returns the rest of the format.
func (p *printer) directive(s string) (string, error) {
	p.flags, p.width, p.precision, p.isChosen = "", 0, -1, false
	for s != "" {
		var err error
		switch ch := s[0]; {
		case strings.IndexByte(" #+-0", ch) >= 0:
			p.flags += s[:1]
			s = s[1:]
		case ch >= '1' && ch <= '9':
			s, err = p.number(s)
		case ch == '*':
			s, err = p.star(s[1:])
		case ch == '.':
			s, err = p.dot(s[1:])
		case ch == '<' || ch == '{':
			var done bool
			if s, done, err = p.named(s); done {
				return s, err
			}
		case ch == '%' && p.flags == "" && p.width == 0 && p.precision < 0:
			p.b.WriteByte('%')
			return s[1:], nil
		default:
			return s[1:], p.write(ch)
		}
		if err != nil {
			return s, err
		}
	}
	return s, eval.Errorf("%s", incomplete)
}

// number reads a width, or the number of an argument.
func (p *printer) number(s string) (string, error) {
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(s[:end])
	if err != nil || n > 1<<20 {
		return s, eval.Errorf("width too big")
	}
	if end == len(s) || s[end] != '$' {
		p.width = n
		return s[end:], nil
	}
	if p.mode == "unnumbered" || p.mode == "named" {
		return s, eval.Errorf("numbered(%d) after %s(%d)", n, p.mode, p.next)
	}
	p.mode = "numbered"
	if n > len(p.args) {
		return s, eval.Errorf("too few arguments")
	}
	p.chosen, p.isChosen = p.args[n-1], true
	return s[end+1:], nil
}

func (p *printer) star(s string) (string, error) {
	n, s, err := p.starred(s)
	if p.width = n; n < 0 {
		p.flags, p.width = p.flags+"-", -n
	}
	if p.width > 1<<20 {
		return s, eval.Errorf("width too big")
	}
	return s, err
}

// starred reads the number that an argument is: the next one, or the one of a number.
func (p *printer) starred(s string) (int, string, error) {
	number, rest, isNumbered := strings.Cut(s, "$")
	if _, err := strconv.ParseUint(number, 10, 32); isNumbered && err == nil {
		chosen, isChosen := p.chosen, p.isChosen
		defer func() { p.chosen, p.isChosen = chosen, isChosen }()
		if _, err := p.number(s); err != nil {
			return 0, s, err
		}
		s = rest
	}
	v, err := p.arg()
	if err != nil {
		return 0, s, err
	}
	n, err := integerOf(v)
	if err != nil {
		return 0, s, err
	}
	return int(n.Int64()), s, nil
}

func (p *printer) dot(s string) (string, error) {
	if rest, ok := strings.CutPrefix(s, "*"); ok {
		n, rest, err := p.starred(rest)
		if p.precision = max(n, -1); n > 1<<20 {
			return rest, eval.Errorf("precision too big")
		}
		return rest, err
	}
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	p.precision, _ = strconv.Atoi(s[:end])
	if p.precision > 1<<20 {
		return s, eval.Errorf("precision too big")
	}
	return s[end:], nil
}

// named chooses the value of a key; in braces it is written at once.
func (p *printer) named(s string) (rest string, done bool, err error) {
	last := map[byte]string{'<': ">", '{': "}"}[s[0]]
	name, rest, ok := strings.Cut(s[1:], last)
	if !ok {
		return s, true, eval.Errorf("malformed name - unmatched parenthesis")
	}
	if p.mode == "unnumbered" || p.mode == "numbered" {
		return s, true, eval.Errorf("named%s after %s(%d)", s[:len(name)+2], p.mode, p.next)
	}
	p.mode = "named"
	if len(p.args) != 1 || p.args[0].Kind() != data.Hash {
		return s, true, eval.Errorf("one hash required")
	}
	v, ok := p.args[0].Lookup(name)
	if !ok {
		return s, true, eval.Errorf("key%s not found", s[:len(name)+2])
	}
	if s[0] == '{' {
		p.b.WriteString(p.padded(cut(v.Text(), p.precision)))
		return rest, true, nil
	}
	p.chosen, p.isChosen = v, true
	return rest, false, nil
}

// arg returns the argument that is to be written.
func (p *printer) arg() (data.Value, error) {
	if p.isChosen {
		return p.chosen, nil
	}
	if p.mode == "numbered" || p.mode == "named" {
		return undef, eval.Errorf("unnumbered(%d) mixed with %s", p.next+1, p.mode)
	}
	p.mode = "unnumbered"
	if p.next >= len(p.args) {
		return undef, eval.Errorf("too few arguments")
	}
	p.next++
	return p.args[p.next-1], nil
}

// write writes an argument by the letter of a directive.
func (p *printer) write(letter byte) error {
	switch {
	case letter == '%':
		return eval.Errorf("invalid format character - %%")
	case strings.IndexByte("diuxXobBeEfgGaAcsp", letter) < 0:
		return eval.Errorf("malformed format string - %%%c", letter)
	}
	v, err := p.arg()
	if err != nil {
		return err
	}
	text := ""
	switch letter {
	case 's':
		text = p.padded(cut(v.Text(), p.precision))
	case 'p':
		text = p.padded(cut(v.Inspect(), p.precision))
	case 'c':
		if text, err = character(v); err == nil {
			text = p.padded(text)
		}
	default:
		text, err = p.formatted(letter, v)
	}
	p.b.WriteString(text)
	return err
}

func cut(s string, precision int) string {
	if precision < 0 || utf8.RuneCountInString(s) <= precision {
		return s
	}
	return string([]rune(s)[:precision])
}

func (p *printer) padded(s string) string {
	missing := p.width - utf8.RuneCountInString(s)
	switch {
	case missing <= 0:
		return s
	case strings.Contains(p.flags, "-"):
		return s + strings.Repeat(" ", missing)
	}
	return strings.Repeat(" ", missing) + s
}

func character(v data.Value) (string, error) {
	if v.Kind() == data.String {
		r, size := utf8.DecodeRuneInString(v.Str())
		if size == 0 || size != v.Len() {
			return "", eval.Errorf("%%c requires a character")
		}
		return string(r), nil
	}
	n, err := integerOf(v)
	if err != nil {
		return "", err
	}
	switch i := n.Int64(); {
	case !n.IsInt64() || i > math.MaxInt32:
		return "", eval.Errorf("integer %s too big to convert to `int'", n)
	case i < math.MinInt32:
		return "", eval.Errorf("integer %s too small to convert to `int'", n)
	case i == -1:
		return "\xff", nil // as Ruby has it
	case i < 0 || i > utf8.MaxRune:
		return "", eval.Errorf("invalid character")
	case i >= 0xd800 && i < 0xe000: // half of a character in UTF-16
		return string([]byte{0xed, byte(0x80 | i>>6&0x3f), byte(0x80 | i&0x3f)}), nil
	default:
		return string(rune(i)), nil
	}
}

// formatted writes a number.
func (p *printer) formatted(letter byte, v data.Value) (string, error) {
	number := v
	if strings.IndexByte("eEfgGaA", letter) >= 0 {
		f, err := floatOf(v)
		if err != nil {
			return "", err
		}
		number = data.OfFloat(f)
	} else {
		n, err := integerOf(v)
		if err != nil {
			return "", err
		}
		number = data.OfBig(n)
		if letter == 'i' || letter == 'u' {
			letter = 'd'
		}
	}
	format := "%" + p.flags
	if p.width > 0 {
		format += strconv.Itoa(p.width)
	}
	if p.precision >= 0 {
		format += "." + strconv.Itoa(p.precision)
	}
	of, err := types.Parse("String", nil)
	if err != nil {
		return "", err
	}
	text, err := types.New(of, []data.Value{number, data.OfString(format + string(letter))})
	return text.Str(), err
}

func integerOf(v data.Value) (*big.Int, error) {
	switch v.Kind() {
	case data.Int:
		return big.NewInt(v.Int()), nil
	case data.Float:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, eval.Errorf("%s", v.Text())
		}
		n, _ := big.NewFloat(v.Float()).Int(nil)
		return n, nil
	case data.String:
		return ParseInteger(v.Str())
	}
	return nil, eval.Errorf("can't convert %s into Integer", eval.RubyClass(v))
}

func floatOf(v data.Value) (float64, error) {
	switch v.Kind() {
	case data.Int:
		return float64(v.Int()), nil
	case data.Float:
		return v.Float(), nil
	case data.String:
		return ParseFloat(v.Str())
	}
	return 0, eval.Errorf("can't convert %s into Float", eval.RubyClass(v))
}
