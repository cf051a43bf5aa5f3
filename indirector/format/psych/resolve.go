package psych

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"indirtui/indirector/data"
)

// Resolve returns the value of the scalar node n as Psych types it, for
// readers that need the line numbers of yaml.v3 nodes. Of a node that Ruby's
// safe loader would refuse (an unquoted date, a regexp, an object) it returns
// the text as a String and what would be refused; symbols are never refused.
// Mappings, sequences and aliases are nil.
func Resolve(n *yaml.Node) (data.Value, *Foreign) {
	if n == nil || n.Kind != yaml.ScalarNode {
		return data.Value{}, nil
	}
	tag, quoted := "", n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	if n.Style&yaml.TaggedStyle != 0 {
		tag, quoted = n.LongTag(), false
	}
	v, class, err := scalar(n.Value, tag, quoted)
	if err != nil {
		return data.OfString(n.Value), nil
	}
	if class == "" || class == classSymbol {
		return v, nil
	}
	return v, &Foreign{Class: class, Line: n.Line, Column: n.Column}
}

// The classes that a scalar may need Ruby to load.
const (
	classSymbol = "Symbol"
	classTime   = "Time"
	classDate   = "Date"
)

// scalar returns the value of a scalar: tag is "" for none, quoted reports a
// style other than plain. class is the Ruby class that must be loaded for it,
// if any.
func scalar(s, tag string, quoted bool) (v data.Value, class string, err error) {
	if tag == "" {
		if quoted {
			return data.OfString(s), "", nil
		}
		return plain(s)
	}
	switch tag {
	case "!binary", "tag:yaml.org,2002:binary":
		return data.OfString(Unbase64(s)), "", nil
	case "tag:yaml.org,2002:str", "!str", "!ruby/string", "!ruby/encoding":
		return data.OfString(s), "", nil
	case "tag:yaml.org,2002:float", "!float":
		return float(s)
	case "!ruby/regexp":
		return data.OfString(s), "Regexp", nil
	case "!ruby/range":
		return data.OfString(s), "Range", nil
	case "!ruby/class", "!ruby/module":
		return data.OfString(s), s, nil
	case "!ruby/object:BigDecimal", "!ruby/object:DateTime", "!ruby/object:Complex", "!ruby/object:Rational":
		return data.OfString(s), tag[len("!ruby/object:"):], nil
	}
	for _, prefix := range [...]string{"!str:", "!ruby/string:"} {
		if strings.HasPrefix(tag, prefix) {
			return data.OfString(s), tag[len(prefix):], nil
		}
	}
	if strings.HasPrefix(tag, "!ruby/sym") {
		return data.OfSymbol(s), classSymbol, nil
	}
	return plain(s)
}

// plain types a plain scalar. The order of the questions is Psych's; so are
// the oddities: 1e3 is a String, 017 is 15, 0o17 a String, 10:20:30 is 37230,
// 1,000 an integer, and y and n are Strings while yes and no are booleans.
func plain(s string) (v data.Value, class string, err error) {
	if s == "" {
		return data.Value{}, "", nil
	}
	if wordy(s) {
		return word(s), "", nil
	}
	c := s[0]
	if isTime(s) {
		return data.OfString(s), classTime, nil
	}
	if isDate(s) {
		return data.OfString(s), classDate, nil
	}
	if f, ok := special(s); ok {
		return data.OfFloat(f), "", nil
	}
	if c == ':' && len(s) > 1 {
		return data.OfSymbol(symbolName(s)), classSymbol, nil
	}
	if c != '+' && c != '-' && c != '.' && !isDigit(c) {
		return data.OfString(s), "", nil
	}
	if len(s) > maxDigits {
		return tooLong(s)
	}
	if v, ok := sexagesimal(s); ok {
		return v, "", nil
	}
	if looksFloat(s) {
		if s == "." || s == "+." || s == "-." {
			return data.OfString(s), "", nil
		}
		f, err := parseFloat(s)
		return data.OfFloat(f), "", err
	}
	if base, digits := looksInteger(s); base != 0 {
		v, err := parseInteger(s, base, digits)
		return v, "", err
	}
	return data.OfString(s), "", nil
}

// maxDigits bounds the text of a number, because reading digits takes time
// that grows with the square of their count.
const maxDigits = 1 << 14

// tooLong is plain for a text beyond maxDigits that begins like a number.
func tooLong(s string) (data.Value, string, error) {
	if only(s[1:], "0123456789abcdefABCDEFxb_,.:+-") {
		return data.Value{}, "", fmt.Errorf("a number of %d characters is longer than %d: %w", len(s), maxDigits, ErrLimit)
	}
	return data.OfString(s), "", nil
}

// wordy reports whether Psych takes s for a word rather than a number: one
// character other than a digit, '.', ':' and '-', if there is any, is followed
// by a letter, a blank or one of a few signs; or it has several lines.
func wordy(s string) bool {
	if wordTable[s[0]] {
		return true
	}
	if s[0] < utf8.RuneSelf {
		if c := s[0]; isDigit(c) || c == '.' || c == ':' || c == '-' {
			return strings.IndexByte(s, '\n') >= 0
		}
		if len(s) > 1 && wordTable[s[1]] {
			return true
		}
	}
	r, n := utf8.DecodeRuneInString(s)
	if wordRune(r) {
		return true
	}
	if r, _ := utf8.DecodeRuneInString(s[n:]); len(s) > n && wordRune(r) {
		return true
	}
	return strings.IndexByte(s, '\n') >= 0
}

// wordTable holds the ASCII part of [[:alpha:]_\s!@#$%\^&*(){}<>|/\\~;=].
var wordTable = func() (t [256]bool) {
	for c := range t {
		t[c] = c < utf8.RuneSelf && (isLetter(byte(c)) || strings.IndexByte("_ \t\n\v\f\r!@#$%^&*(){}<>|/\\~;=", byte(c)) >= 0)
	}
	return t
}()

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return wordTable[r]
	}
	return alphabetic(r)
}

// alphabetic is Ruby's [[:alpha:]].
func alphabetic(r rune) bool {
	return unicode.In(r, unicode.L, unicode.Nl, unicode.Other_Alphabetic)
}

// word distinguishes nil and the booleans from strings.
func word(s string) data.Value {
	if len(s) > 5 && (s[0] < utf8.RuneSelf && !wordInitial[s[0]] || utf8.RuneCountInString(s) > 5) {
		return data.OfString(s)
	}
	if s == "~" {
		return data.Value{}
	}
	if strings.IndexByte(s, '\n') >= 0 {
		return lines(s)
	}
	if s[0] < utf8.RuneSelf && !wordInitial[s[0]] {
		return data.OfString(s)
	}
	if v, ok := keyword(s); ok {
		return v
	}
	return data.OfString(s)
}

// wordInitial holds the bytes with which nil and the booleans begin.
var wordInitial = func() (t [256]bool) {
	for _, c := range "ytonfYTONF~" {
		t[c] = true
	}
	return t
}()

// lines is word for a short text of several lines. Psych's patterns look at
// single lines, so "no\nno" is false.
func lines(s string) data.Value {
	found, v := false, data.OfString(s)
	rank := 0
	rest := s
	for rest != "" {
		line, after, more := strings.Cut(rest, "\n")
		c := byte('\n') // an empty line begins with its line break
		if line != "" {
			c = line[0]
		}
		if !wordInitial[c] {
			return data.OfString(s)
		}
		// nil is asked for before true, and true before false.
		if x, ok := keyword(line); ok {
			r := 1
			if x.Bool() {
				r = 2
			} else if x.IsNil() {
				r = 3
			}
			if r > rank {
				found, v, rank = true, x, r
			}
		}
		if !more {
			break
		}
		rest = after
	}
	if found {
		return v
	}
	return data.OfString(s)
}

func keyword(s string) (data.Value, bool) {
	switch len(s) {
	case 2, 3, 4, 5, 6:
	default:
		return data.Value{}, false
	}
	for _, w := range [...]string{"yes", "true", "on"} {
		if strings.EqualFold(s, w) {
			return data.OfBool(true), true
		}
	}
	for _, w := range [...]string{"no", "false", "off"} {
		if strings.EqualFold(s, w) {
			return data.OfBool(false), true
		}
	}
	// Ruby folds the ligature ff, too.
	if len(s) == 4 && (s[0] == 'o' || s[0] == 'O') && s[1:] == "\ufb00" {
		return data.OfBool(false), true
	}
	return data.Value{}, strings.EqualFold(s, "null")
}

func special(s string) (float64, bool) {
	switch len(s) {
	case 4:
		if strings.EqualFold(s, ".inf") {
			return math.Inf(1), true
		}
		return math.NaN(), strings.EqualFold(s, ".nan")
	case 5:
		if strings.EqualFold(s[1:], ".inf") {
			switch s[0] {
			case '+':
				return math.Inf(1), true
			case '-':
				return math.Inf(-1), true
			}
		}
	}
	return 0, false
}

// symbolName strips the colon and the quotes of :a, :"a b" and :'a b'.
func symbolName(s string) string {
	if q := s[1]; q == '"' || q == '\'' {
		if end := strings.LastIndexByte(s[2:], q); end >= 0 {
			return strings.TrimPrefix(s[2:2+end], ":")
		}
	}
	return s[1:]
}

// isTime matches /^-?\d{4}-\d{1,2}-\d{1,2}(?:[Tt]|\s+)\d{1,2}:\d\d:\d\d(?:\.\d*)?(?:\s*(?:Z|[-+]\d{1,2}:?(?:\d\d)?))?$/.
func isTime(s string) bool {
	if len(s) < len("2001-1-1T1:00:00") {
		return false
	}
	s = strings.TrimPrefix(s, "-")
	ok := true
	digits := func(low, high int) {
		n := 0
		for n < len(s) && n < high && isDigit(s[n]) {
			n++
		}
		ok = ok && n >= low
		s = s[n:]
	}
	sign := func(c byte) {
		if ok = ok && s != "" && s[0] == c; ok {
			s = s[1:]
		}
	}
	digits(4, 4)
	sign('-')
	digits(1, 2)
	sign('-')
	digits(1, 2)
	if !ok || s == "" {
		return false
	}
	if s[0] == 'T' || s[0] == 't' {
		s = s[1:]
	} else if t := trimSpace(s); len(t) < len(s) {
		s = t
	} else {
		return false
	}
	digits(1, 2)
	sign(':')
	digits(2, 2)
	sign(':')
	digits(2, 2)
	if !ok {
		return false
	}
	if s != "" && s[0] == '.' {
		s = s[1:]
		for s != "" && isDigit(s[0]) {
			s = s[1:]
		}
	}
	if s == "" {
		return true
	}
	s = trimSpace(s)
	if s == "Z" {
		return true
	}
	if s == "" || s[0] != '-' && s[0] != '+' {
		return false
	}
	// [-+]\d{1,2}:?(?:\d\d)? holds one to four digits and at most one colon,
	// which comes after one or two of them.
	s = s[1:]
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	if n < len(s) {
		return s[n] == ':' && (n == 1 || n == 2) && (len(s) == n+1 || len(s) == n+3 && isDigit(s[n+1]) && isDigit(s[n+2]))
	}
	return n >= 1 && n <= 4
}

// isDate matches /^\d{4}-(?:1[012]|0\d|\d)-(?:[12]\d|3[01]|0\d|\d)$/.
func isDate(s string) bool {
	if len(s) < 8 || len(s) > 10 || !isDigit(s[0]) || !isDigit(s[1]) || !isDigit(s[2]) || !isDigit(s[3]) || s[4] != '-' {
		return false
	}
	month, day, ok := strings.Cut(s[5:], "-")
	return ok && upTo(month, 12) && upTo(day, 31)
}

// upTo reports whether s is one or two digits not above limit.
func upTo(s string, limit int) bool {
	switch len(s) {
	case 1:
		return isDigit(s[0])
	case 2:
		return isDigit(s[0]) && isDigit(s[1]) && int(s[0]-'0')*10+int(s[1]-'0') <= limit
	}
	return false
}

// sexagesimal reads [-+]?[0-9][0-9_]*(:[0-5]?[0-9]){1,2} and the same with a
// fraction. Two parts are hours and minutes, so 1:30 is 5400; the sign belongs
// to the first part only.
func sexagesimal(s string) (data.Value, bool) {
	if strings.IndexByte(s, ':') < 0 {
		return data.Value{}, false
	}
	first, rest, _ := strings.Cut(s, ":")
	head := first
	if head != "" && (head[0] == '+' || head[0] == '-') {
		head = head[1:]
	}
	if head == "" || !isDigit(head[0]) || !only(head, "0123456789_") {
		return data.Value{}, false
	}
	second, third, three := strings.Cut(rest, ":")
	last := &second
	if three {
		last = &third
	}
	whole, fraction, isFloat := strings.Cut(*last, ".")
	if isFloat && !only(fraction, "0123456789_") {
		return data.Value{}, false
	}
	part := *last
	*last = whole
	if !sixty(second) || three && !sixty(third) {
		return data.Value{}, false
	}
	if isFloat {
		f := rubyToF(first) * 3600
		if three {
			return data.OfFloat(0 + f + rubyToF(second)*60 + rubyToF(part)), true
		}
		return data.OfFloat(0 + f + rubyToF(part)*60), true
	}
	i := rubyToI(first)
	i.Mul(i, big.NewInt(3600))
	add := func(s string, unit int64) {
		n, _ := strconv.ParseInt(s, 10, 64)
		i.Add(i, big.NewInt(n*unit))
	}
	add(second, 60)
	if three {
		add(third, 1)
	}
	return data.OfBig(i), true
}

func sixty(s string) bool { return upTo(s, 59) }

// rubyToI is String#to_i: a single underscore between digits is ignored, two
// end the number.
func rubyToI(s string) *big.Int {
	i, _ := new(big.Int).SetString(tidy(s), 10)
	if i == nil {
		return new(big.Int)
	}
	return i
}

// rubyToF is String#to_f for digits, underscores and a point.
func rubyToF(s string) float64 {
	whole, fraction, ok := strings.Cut(s, ".")
	t := tidy(whole)
	if ok && t != "" && !strings.HasSuffix(whole, "_") && !strings.Contains(whole, "__") {
		t += "." + tidy(fraction)
	}
	f, _ := strconv.ParseFloat(t, 64)
	return f
}

// tidy drops single underscores between digits and everything from the first
// other one on.
func tidy(s string) string {
	if strings.IndexByte(s, '_') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		if s[i] != '_' {
			b = append(b, s[i])
			continue
		}
		if i == 0 || i+1 == len(s) || s[i-1] == '_' || s[i+1] == '_' {
			break
		}
	}
	return string(b)
}

// looksFloat matches /^(?:[-+]?([0-9][0-9_,]*)?\.[0-9]*([eE][-+][0-9]+)?)$/.
func looksFloat(s string) bool {
	if s[0] == '+' || s[0] == '-' {
		s = s[1:]
	}
	if s != "" && isDigit(s[0]) {
		for s != "" && (isDigit(s[0]) || s[0] == '_' || s[0] == ',') {
			s = s[1:]
		}
	}
	if s == "" || s[0] != '.' {
		return false
	}
	s = s[1:]
	for s != "" && isDigit(s[0]) {
		s = s[1:]
	}
	if s == "" {
		return true
	}
	return (s[0] == 'e' || s[0] == 'E') && len(s) > 2 && (s[1] == '-' || s[1] == '+') && only(s[2:], "0123456789")
}

func parseFloat(s string) (float64, error) {
	t := strings.NewReplacer(",", "", "_", "", ".e", "e", ".E", "E").Replace(s)
	t = strings.TrimSuffix(t, ".")
	if mantissa := strings.TrimLeft(t, "+-"); mantissa[0] == 'e' || mantissa[0] == 'E' {
		return 0, &conversionError{what: "invalid value for Float(): " + inspectBytes(t)}
	}
	f, err := strconv.ParseFloat(t, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, &conversionError{what: "invalid value for Float(): " + inspectBytes(t)}
	}
	return f, nil
}

// inspectBytes is Ruby's inspect for a string of bytes.
func inspectBytes(s string) string {
	b := []byte{'"'}
	for i := 0; i < len(s); {
		if s[i] >= utf8.RuneSelf {
			b = fmt.Appendf(b, `\x%02X`, s[i])
			i++
			continue
		}
		n := 1
		for i+n < len(s) && s[i+n] < utf8.RuneSelf {
			n++
		}
		q := data.InspectString(s[i : i+n])
		b = append(b, q[1:len(q)-1]...)
		i += n
	}
	return string(append(b, '"'))
}

// float is Float(tokenize(s)), for scalars tagged !!float.
func float(s string) (data.Value, string, error) {
	v, class, err := plain(s)
	if class == classSymbol {
		return v, class, &conversionError{what: "can't convert Symbol into Float"}
	}
	if err != nil || class != "" {
		return v, class, err
	}
	switch v.Kind() {
	case data.Float:
		return v, "", nil
	case data.Int:
		return data.OfFloat(float64(v.Int())), "", nil
	case data.Big:
		f, _ := new(big.Float).SetInt(v.Big()).Float64()
		return data.OfFloat(f), "", nil
	case data.Nil, data.Bool:
		return data.Value{}, "", &conversionError{what: "can't convert " + v.Inspect() + " into Float"}
	case data.String:
		t := strings.Trim(v.Str(), " \t\n\v\f\r")
		if f, err := strconv.ParseFloat(t, 64); (err == nil || errors.Is(err, strconv.ErrRange)) && only(t, "0123456789+-.eE_") {
			return data.OfFloat(f), "", nil
		}
	}
	return data.Value{}, "", &conversionError{what: "invalid value for Float(): " + inspectBytes(s)}
}

// looksInteger returns the base of an integer as Psych accepts it and its
// digits after sign and prefix, or zero.
func looksInteger(s string) (base int, digits string) {
	if s[0] == '+' || s[0] == '-' {
		s = s[1:]
	}
	if s == "" || !isDigit(s[0]) {
		return 0, ""
	}
	if s == "0" {
		return 10, s
	}
	if s[0] == '0' {
		switch {
		case only(s[1:], "01234567_,"):
			return 8, s[1:]
		case s[1] == 'b' && len(s) > 2 && only(s[2:], "01_,"):
			return 2, s[2:]
		case s[1] == 'x' && len(s) > 2 && only(s[2:], "0123456789abcdefABCDEF_,"):
			return 16, s[2:]
		}
		return 0, ""
	}
	for i := 1; i < len(s); i++ {
		if isDigit(s[i]) {
			continue
		}
		if s[i] != '_' && s[i] != ',' || i+1 == len(s) || !isDigit(s[i+1]) {
			return 0, ""
		}
	}
	return 10, s
}

func parseInteger(s string, base int, digits string) (data.Value, error) {
	if strings.IndexByte(digits, '_') >= 0 || strings.IndexByte(digits, ',') >= 0 {
		digits = strings.NewReplacer(",", "", "_", "").Replace(digits)
		if digits == "" && base != 8 {
			return data.Value{}, &conversionError{what: "invalid value for Integer(): " + data.InspectString(strings.NewReplacer(",", "", "_", "").Replace(s))}
		}
		if digits == "" {
			return data.OfInt(0), nil
		}
	}
	if n, err := strconv.ParseUint(digits, base, 63); err == nil {
		if s[0] == '-' {
			return data.OfInt(-int64(n)), nil
		}
		return data.OfInt(int64(n)), nil
	}
	i, ok := new(big.Int).SetString(digits, base)
	if !ok {
		return data.Value{}, &conversionError{what: "invalid value for Integer(): " + data.InspectString(strings.NewReplacer(",", "", "_", "").Replace(s))}
	}
	if s[0] == '-' {
		i.Neg(i)
	}
	return data.OfBig(i), nil
}

// Unbase64 decodes as Ruby's unpack("m") does: other characters are ignored,
// and an equals sign in the second half of a group ends the data.
func Unbase64(s string) string {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		c := s[i]
		if c == '=' && len(b)%4 >= 2 {
			break
		}
		if isLetter(c) || isDigit(c) || c == '+' || c == '/' {
			b = append(b, c)
		}
	}
	if len(b)%4 == 1 {
		b = b[:len(b)-1]
	}
	out := make([]byte, base64.RawStdEncoding.DecodedLen(len(b)))
	n, err := base64.RawStdEncoding.Decode(out, b)
	if err != nil {
		panic("psych: " + err.Error()) // b holds nothing but digits
	}
	return string(out[:n])
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// only reports whether every byte of s is in set.
func only(s, set string) bool {
	for i := range len(s) {
		if strings.IndexByte(set, s[i]) < 0 {
			return false
		}
	}
	return true
}

// trimSpace strips Ruby's \s from the left.
func trimSpace(s string) string { return strings.TrimLeft(s, " \t\n\v\f\r") }
