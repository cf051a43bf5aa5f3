package psych

import (
	"cmp"
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"indirtui/indirector/data"
)

// EncodeOptions are the options of Append. The zero value writes like Psych's
// dump and Puppet's yaml termini.
type EncodeOptions struct {
	// Tag is the object tag of the root without "!ruby/object:", such as
	// "Puppet::Node::Facts"; "" is none. A root that is no hash has none.
	Tag string

	// Each puts Tag on every element of the root, a list, instead of on the
	// root: several instances in one document. Rule FMT-09.
	Each bool

	// Members are the object tags of values of the root, or of every element
	// with Each, by their keys: {"contents":
	// "Puppet::FileBucket::File::StringContents"}. Only hashes have tags.
	Members map[string]string

	// QuoteColons writes every scalar that contains a colon in double quotes,
	// symbols too, as Puppet does for facts on the wire and on the screen
	// but not in files. Rule FMT-FACT-04.
	QuoteColons bool

	// Indent is the number of columns of a level, from 2 to 9; 0 is 2.
	Indent int
}

// Encode returns v as one YAML document with the bytes that Ruby's YAML.dump
// gives for it: "--- !ruby/object:Tag" and the pairs, or "---" and the value
// if tag is "". Strings that are not valid UTF-8 become !binary; what occurs
// twice is written twice, without anchors. A rich value is written as its text, plain:
// it is for times, which Ruby reads as such only without quotes. Rule FMT-05.
func Encode(v data.Value, tag string) []byte {
	return Append(nil, v, EncodeOptions{Tag: tag})
}

// Append appends v to dst as Encode writes it.
func Append(dst []byte, v data.Value, o EncodeOptions) []byte {
	if cap(dst) == 0 {
		dst = make([]byte, 0, 1024)
	}
	e := emitter{b: append(dst, "---"...), quoteColons: o.QuoteColons, indent: -1, step: cmp.Or(o.Indent, bestIndent), column: 3}
	root := object{o.Tag, o.Members}
	switch {
	case o.Each && v.Kind() == data.List && v.Len() > 0:
		e.sequence(v.List(), false, root)
	case o.Each:
		e.node(v, context{})
	default:
		e.tagged(v, root, context{})
	}
	if !e.indention || e.column > 0 {
		e.lineBreak()
	}
	if e.openEnded {
		e.b = append(e.b, "...\n"...)
	}
	return e.b
}

// An emitter writes as libyaml's emitter does when Psych drives it: two
// columns of indentation unless asked otherwise, lines folded at 80 columns, block style throughout.
type emitter struct {
	b           []byte
	quoteColons bool
	indent      int
	step        int  // columns of one level
	column      int  // characters since the last line break
	whitespace  bool // the last thing written was a blank or an indicator
	indention   bool // nothing but indentation and indicators on this line
	openEnded   bool // the last literal keeps its trailing line breaks
}

// context is the position of a node.
type context struct {
	mapping   bool // in a mapping, so that a sequence is not indented
	simpleKey bool // before a colon on the same line
}

const (
	bestWidth    = 80
	bestIndent   = 2
	maxSimpleKey = 128 // bytes of a key that needs no question mark
)

// An object is the class of a hash, and the classes of its members.
type object struct {
	class   string
	members map[string]string
}

// tagged is node for a value that is an object, if it is a hash.
func (e *emitter) tagged(v data.Value, o object, c context) {
	if v.Kind() != data.Hash {
		e.node(v, c)
		return
	}
	if o.class != "" {
		e.space()
		e.b = append(e.b, "!ruby/object:"...)
		e.b = appendTag(e.b, o.class)
		e.column += len("!ruby/object:") + len(o.class)
		e.whitespace, e.indention = false, false
	}
	if v.Len() == 0 {
		e.node(v, c)
		return
	}
	e.mapping(v.Hash(), o.members)
}

func (e *emitter) node(v data.Value, c context) {
	switch v.Kind() {
	case data.List:
		if v.Len() == 0 {
			e.indicator("[]", true, false, false)
			return
		}
		e.sequence(v.List(), c.mapping, object{})
	case data.Hash:
		if v.Len() == 0 {
			e.indicator("{}", true, false, false)
			return
		}
		e.mapping(v.Hash(), nil)
	default:
		e.scalar(v, c.simpleKey)
	}
}

func (e *emitter) sequence(l []data.Value, inMapping bool, elements object) {
	outer := e.indent
	switch {
	case e.indent < 0:
		e.indent = 0
	case !inMapping || e.indention:
		e.indent += e.step
	}
	for _, x := range l {
		e.writeIndent()
		e.indicator("-", true, false, true)
		e.tagged(x, elements, context{})
	}
	e.indent = outer
}

func (e *emitter) mapping(h []data.Pair, members map[string]string) {
	outer := e.indent
	if e.indent < 0 {
		e.indent = 0
	} else {
		e.indent += e.step
	}
	for _, p := range h {
		e.writeIndent()
		if e.simpleKey(p.Key) {
			e.indicator(":", false, false, false)
		} else {
			e.indicator("?", true, false, true)
			e.node(p.Key, context{mapping: true})
			e.writeIndent()
			e.indicator(":", true, false, true)
		}
		if members != nil {
			e.tagged(p.Value, object{class: members[p.Key.Str()]}, context{mapping: true})
			continue
		}
		e.node(p.Value, context{mapping: true})
	}
	e.indent = outer
}

// simpleKey writes k as a key that fits one line, or reports that it cannot.
func (e *emitter) simpleKey(k data.Value) bool {
	switch k.Kind() {
	case data.List, data.Hash:
		if k.Len() > 0 {
			return false
		}
		e.node(k, context{mapping: true, simpleKey: true})
		return true
	case data.String, data.Symbol:
		if k.Len() <= 16 && plainWord(k.Str()) && k.Kind() == data.String {
			e.writePlain(k.Str(), false)
			return true
		}
		s, tag, style := e.classify(k)
		a := analyze(s)
		if a.multiline || len(s)+tagLength[tag] > maxSimpleKey {
			return false
		}
		e.write(s, tag, style, a, k.Kind() == data.String, true)
		return true
	case data.Big:
		if len(k.Text()) > maxSimpleKey {
			return false
		}
	}
	e.scalar(k, true)
	return true
}

func (e *emitter) scalar(v data.Value, simpleKey bool) {
	switch v.Kind() {
	case data.Nil:
		if simpleKey {
			e.indicator("! ''", true, false, false)
		} else {
			e.whitespace, e.indention = false, false
		}
	case data.Bool:
		e.word(strconv.AppendBool(e.scratch(), v.Bool()))
	case data.Int:
		e.word(strconv.AppendInt(e.scratch(), v.Int(), 10))
	case data.Big:
		e.word(v.Big().Append(e.scratch(), 10))
	case data.Float:
		e.word(append(e.scratch(), floatText(v.Float())...))
	case data.String, data.Symbol:
		if v.Kind() == data.String && plainWord(v.Str()) {
			e.writePlain(v.Str(), !simpleKey)
			return
		}
		s, tag, style := e.classify(v)
		e.write(s, tag, style, analyze(s), v.Kind() == data.String, simpleKey)
	case data.Rich:
		e.word(append(e.scratch(), v.Rich().String()...))
	default:
		panic("psych: scalar of kind " + v.Kind().String())
	}
}

func floatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return ".nan"
	case math.IsInf(f, 1):
		return ".inf"
	case math.IsInf(f, -1):
		return "-.inf"
	}
	if a := math.Abs(f); a >= 1e15 && a < 1e16 && a == math.Trunc(a) {
		// Ruby writes whole numbers of sixteen digits with an exponent.
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		return mantissa + "e" + exponent
	}
	return data.FormatFloat(f)
}

// scratch returns free bytes behind a separating blank, where word's text may
// be built without copying it.
func (e *emitter) scratch() []byte {
	e.space()
	return e.b
}

// word takes over b, which is scratch and a plain text of ASCII.
func (e *emitter) word(b []byte) {
	e.column += len(b) - len(e.b)
	e.b = b
	e.whitespace, e.indention = false, false
}

type style uint8

const (
	stylePlain style = iota
	styleSingle
	styleDouble
	styleLiteral
)

type tagKind uint8

const (
	noTag tagKind = iota
	tagNonSpecific
	tagStr
	tagBinary
	tagSymbol
)

var (
	tagText   = [...]string{"", "!", "!!str", "!binary", "!ruby/symbol"}
	tagLength = [...]int{0, 0, 5, 7, 12}
)

// classify returns what Psych decides about a string or symbol before libyaml
// writes it: the text, an explicit tag, and the wanted style.
func (e *emitter) classify(v data.Value) (text string, tag tagKind, st style) {
	s := v.Str()
	if v.Kind() == data.Symbol {
		if s == "" {
			return "", tagSymbol, stylePlain
		}
		if !utf8.ValidString(s) {
			return base64.StdEncoding.EncodeToString([]byte(s)), tagBinary, styleLiteral
		}
		s = ":" + s
		if e.quoteColons {
			return s, noTag, styleDouble
		}
		return s, noTag, stylePlain
	}
	if !utf8.ValidString(s) {
		return base64.StdEncoding.EncodeToString([]byte(s)), tagBinary, styleLiteral
	}
	if e.quoteColons && strings.IndexByte(s, ':') >= 0 {
		return s, noTag, styleDouble
	}
	switch {
	case innerBreak(s):
		return s, noTag, styleLiteral
	case s == "<<":
		return s, tagStr, styleSingle
	case s == "y" || s == "n":
		return s, noTag, styleDouble
	case oddStart(s):
		return s, noTag, styleDouble
	case !staysString(s):
		return s, noTag, styleSingle
	}
	return s, noTag, stylePlain
}

// innerBreak matches /\n(?!\Z)/: a line break that does not end the text, where
// one more line break at the very end does not count.
func innerBreak(s string) bool {
	i := strings.IndexByte(s, '\n')
	if i < 0 || i+1 == len(s) {
		return false
	}
	// The next breaks would have to be followed by the end or by the last one.
	return s[i+1:] != "\n"
}

// oddStart matches /^[^[:word:]][^"]*$/: some line begins with a character
// that is no letter, digit or underscore, and from there no double quote
// comes before the end of a line.
func oddStart(s string) bool {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !wordChar(r) {
			rest := s[i+n:]
			quote := strings.IndexByte(rest, '"')
			if quote < 0 || strings.IndexByte(rest[:quote], '\n') >= 0 {
				return true
			}
		}
		next := strings.IndexByte(s[i:], '\n')
		if next < 0 {
			return false
		}
		i += next + 1
	}
	return false
}

// wordChar is Ruby's [[:word:]].
func wordChar(r rune) bool {
	if r < utf8.RuneSelf {
		return isLetter(byte(r)) || isDigit(byte(r)) || r == '_'
	}
	return alphabetic(r) || unicode.In(r, unicode.M, unicode.Nd, unicode.Pc)
}

// staysString reports whether Psych would read a plain s as a string again,
// and s is not one of the texts that other readers take for octal numbers.
func staysString(s string) bool {
	if s == "" {
		return false
	}
	if s[0] == '0' {
		i := 1
		for i < len(s) && '0' <= s[i] && s[i] <= '7' {
			i++
		}
		if i < len(s) && (s[i] == '8' || s[i] == '9') {
			return false
		}
	}
	v, class, err := plain(s)
	switch class {
	case classTime:
		return !validTime(s)
	case classDate:
		return !validDate(s)
	}
	return err == nil && v.Kind() == data.String
}

// validDate reports whether the text matched by isDate is a day of Ruby's
// calendar, which is the Julian one until October 1582.
func validDate(s string) bool {
	year, _ := strconv.Atoi(s[:4])
	m, d, _ := strings.Cut(s[5:], "-")
	month, _ := strconv.Atoi(m)
	day, _ := strconv.Atoi(d)
	if month < 1 || day < 1 {
		return false
	}
	leap := year%4 == 0 && (year%100 != 0 || year%400 == 0)
	if year < 1582 || year == 1582 && month < 10 {
		leap = year%4 == 0
	}
	if year == 1582 && month == 10 && day > 4 && day < 15 {
		return false
	}
	last := time.Date(2001, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	if month == 2 && leap {
		last = 29
	}
	return day <= last
}

// validTime reports whether Ruby's Time accepts the text matched by isTime.
func validTime(s string) bool {
	var n [6]int
	i := 0
	rest := strings.TrimPrefix(s, "-")
	for k := range n {
		for rest != "" && !isDigit(rest[0]) {
			rest = rest[1:]
		}
		for i = 0; i < len(rest) && isDigit(rest[i]); i++ {
			n[k] = n[k]*10 + int(rest[i]-'0')
		}
		rest = rest[i:]
	}
	month, day, hour, minute, second := n[1], n[2], n[3], n[4], n[5]
	if month < 1 || month > 12 || day < 1 || day > 31 || hour > 24 || minute > 59 || second > 60 {
		return false
	}
	if hour == 24 && (minute > 0 || second > 0) {
		return false
	}
	if at := strings.LastIndexAny(rest, "+-"); at >= 0 {
		// Ruby keeps the digits of +h, +hh, +hhmm and +hh:mm; an offset of a
		// day or more is an error.
		zone := rest[at+1:]
		h, _ := strconv.Atoi(zone[:min(2, len(strings.TrimRight(zone, ":")))])
		if colon := strings.IndexByte(zone, ':'); colon >= 0 {
			h, _ = strconv.Atoi(zone[:colon])
		}
		m := 0
		if tail := strings.TrimLeft(zone[min(2, len(zone)):], ":"); tail != "" {
			m, _ = strconv.Atoi(tail)
		}
		return h*60+m < 24*60
	}
	return true
}

// plainWord reports whether s is surely written plain and read back as a
// string: more than five bytes of simple ASCII that begin with a letter.
func plainWord(s string) bool {
	if len(s) < 6 || !isLetter(s[0]) || s[len(s)-1] == ' ' {
		return false
	}
	for i := range len(s) {
		if !plainSafe[s[i]] {
			return false
		}
	}
	return true
}

// plainSafe holds the bytes that mean nothing inside of a plain scalar.
var plainSafe = func() (t [256]bool) {
	for c := range 128 {
		t[c] = isLetter(byte(c)) || isDigit(byte(c)) || strings.IndexByte(" _-./()+=@%&*!$;<>^|~", byte(c)) >= 0
	}
	return t
}()

// An analysis is what libyaml finds out about a text before it chooses a style.
type analysis struct {
	multiline                bool
	plainOK, singleOK, block bool
}

func analyze(s string) analysis {
	if s == "" {
		return analysis{plainOK: true, singleOK: true}
	}
	var (
		indicators = strings.HasPrefix(s, "---") || strings.HasPrefix(s, "...")
		special, lineBreaks,
		leadingSpace, leadingBreak, trailingSpace, trailingBreak,
		breakSpace, spaceBreak,
		previousSpace, previousBreak bool
		blankBefore = true
	)
	for i := 0; i < len(s); {
		c := s[i]
		width := 1
		var isBreak bool
		if c >= utf8.RuneSelf {
			var r rune
			r, width = utf8.DecodeRuneInString(s[i:])
			isBreak = r == 0x85 || r == 0x2028 || r == 0x2029
			special = special || !printable(r)
		} else {
			isBreak = c == '\n' || c == '\r'
			special = special || c != '\n' && (c < 0x20 || c > 0x7e)
		}
		if i == 0 {
			switch c {
			case '#', ',', '[', ']', '{', '}', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`':
				indicators = true
			case '?', ':', '-':
				indicators = indicators || blankAt(s, 1)
			}
		} else {
			switch c {
			case ':':
				indicators = indicators || blankAt(s, i+1)
			case '#':
				indicators = indicators || blankBefore
			}
		}
		last := i+width == len(s)
		switch {
		case c == ' ':
			leadingSpace = leadingSpace || i == 0
			trailingSpace = trailingSpace || last
			breakSpace = breakSpace || previousBreak
			previousSpace, previousBreak = true, false
		case isBreak:
			lineBreaks = true
			leadingBreak = leadingBreak || i == 0
			trailingBreak = trailingBreak || last
			spaceBreak = spaceBreak || previousSpace
			previousSpace, previousBreak = false, true
		default:
			previousSpace, previousBreak = false, false
		}
		blankBefore = c == ' ' || c == '\t' || c == 0 || isBreak
		i += width
	}
	edges := leadingSpace || leadingBreak || trailingSpace || trailingBreak
	odd := breakSpace || spaceBreak || special
	return analysis{
		multiline: lineBreaks,
		plainOK:   !edges && !odd && !lineBreaks && !indicators,
		singleOK:  !odd,
		block:     !trailingSpace && !spaceBreak && !special,
	}
}

// blankAt reports whether s ends at i or has a blank or line break there.
func blankAt(s string, i int) bool {
	if i >= len(s) {
		return true
	}
	switch s[i] {
	case ' ', '\t', '\n', '\r', 0:
		return true
	case 0xc2:
		return strings.HasPrefix(s[i:], "\u0085")
	case 0xe2:
		return strings.HasPrefix(s[i:], "\u2028") || strings.HasPrefix(s[i:], "\u2029")
	}
	return false
}

// printable reports whether libyaml writes a character beyond ASCII as it is.
// It escapes those beyond the basic multilingual plane.
func printable(r rune) bool {
	return r >= 0xa0 && r < 0xd800 || r >= 0xe000 && r <= 0xfffd && r != 0xfeff
}

// write writes a string or symbol in the style that the analysis allows. If
// quotable, quotes need no tag, as for strings.
func (e *emitter) write(s string, tag tagKind, st style, a analysis, quotable, simpleKey bool) {
	if simpleKey && a.multiline {
		st = styleDouble
	}
	if st == stylePlain && (!a.plainOK || s == "" && simpleKey) {
		st = styleSingle
	}
	if st == styleSingle && !a.singleOK {
		st = styleDouble
	}
	if st == styleLiteral && (!a.block || simpleKey) {
		st = styleDouble
	}
	if tag == noTag && !quotable && st != stylePlain && !(e.quoteColons && st == styleDouble) {
		tag = tagNonSpecific
	}
	if tag != noTag {
		e.indicator(tagText[tag], true, false, false)
		e.indention = false
	}
	outer := e.indent
	if e.indent < 0 {
		e.indent = e.step
	} else {
		e.indent += e.step
	}
	switch st {
	case stylePlain:
		e.plainText(s, !simpleKey)
	case styleSingle:
		e.singleQuoted(s, !simpleKey)
	case styleDouble:
		e.doubleQuoted(s, !simpleKey)
	case styleLiteral:
		e.literal(s)
	}
	e.indent = outer
}

// writePlain is write for a text for which plainWord holds.
func (e *emitter) writePlain(s string, breaks bool) {
	if !breaks || e.column+1+len(s) <= bestWidth {
		e.space()
		e.b = append(e.b, s...)
		e.column += len(s)
		e.whitespace, e.indention = false, false
		return
	}
	outer := e.indent
	if e.indent < 0 {
		e.indent = e.step
	} else {
		e.indent += e.step
	}
	e.plainText(s, true)
	e.indent = outer
}

// plainText writes s without quotes. It holds no line break.
func (e *emitter) plainText(s string, breaks bool) {
	if s != "" {
		e.space()
	}
	spaces := false
	for i := 0; i < len(s); {
		if s[i] == ' ' {
			if breaks && !spaces && e.column > bestWidth && (i+1 == len(s) || s[i+1] != ' ') {
				e.writeIndent()
			} else {
				e.put(' ')
			}
			spaces = true
			i++
			continue
		}
		e.indention, spaces = false, false
		i += e.run(s[i:])
	}
	e.whitespace, e.indention = false, false
}

// run copies s up to its first blank, quote, backslash or special character,
// at least one character, and returns the number of bytes.
func (e *emitter) run(s string) int {
	n := 0
	for n < len(s) && s[n] < utf8.RuneSelf && s[n] > ' ' {
		n++
	}
	if n > 0 {
		e.b = append(e.b, s[:n]...)
		e.column += n
		return n
	}
	_, n = utf8.DecodeRuneInString(s)
	e.b = append(e.b, s[:n]...)
	e.column++
	return n
}

func (e *emitter) singleQuoted(s string, breaks bool) {
	e.indicator("'", true, false, false)
	spaces, broken := false, false
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		switch {
		case r == ' ':
			if breaks && !spaces && e.column > bestWidth && i > 0 && i != len(s)-1 && s[i+1] != ' ' {
				e.writeIndent()
			} else {
				e.put(' ')
			}
			spaces = true
		case isBreak(r):
			if !broken && r == '\n' {
				e.lineBreak()
			}
			e.copyBreak(s[i : i+n])
			e.indention, broken = true, true
		default:
			if broken {
				e.writeIndent()
			}
			if r == '\'' {
				e.put('\'')
			}
			e.b = append(e.b, s[i:i+n]...)
			e.column++
			e.indention, spaces, broken = false, false, false
		}
		i += n
	}
	if broken {
		e.writeIndent()
	}
	e.indicator("'", false, false, false)
	e.whitespace, e.indention = false, false
}

// verbatim holds the ASCII that stands for itself in double quotes, blanks
// aside.
var verbatim = func() (t [256]bool) {
	for c := '!'; c < 0x7f; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

func (e *emitter) doubleQuoted(s string, breaks bool) {
	e.indicator(`"`, true, false, false)
	spaces := false
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		switch {
		case r == ' ':
			if breaks && !spaces && e.column > bestWidth && i > 0 && i != len(s)-1 {
				e.writeIndent()
				if s[i+1] == ' ' {
					e.put('\\')
				}
			} else {
				e.put(' ')
			}
			spaces = true
		case r < ' ' || r == '"' || r == '\\' || r == 0x7f || r >= 0x80 && !printable(r) || isBreak(r):
			before := len(e.b)
			e.b = appendEscape(e.b, r)
			e.column += len(e.b) - before
			spaces = false
		default:
			for i+n < len(s) && verbatim[s[i+n]] && r < utf8.RuneSelf {
				n++
			}
			e.b = append(e.b, s[i:i+n]...)
			e.column++
			if r < utf8.RuneSelf {
				e.column += n - 1
			}
			spaces = false
		}
		i += n
	}
	e.indicator(`"`, false, false, false)
	e.whitespace, e.indention = false, false
}

func appendEscape(b []byte, r rune) []byte {
	const digits = "0123456789ABCDEF"
	if r <= '\\' {
		if at := strings.IndexByte(escaped, byte(r)); at >= 0 {
			return append(b, '\\', escapes[at])
		}
	}
	width := 8
	switch {
	case r == 0x85:
		return append(b, `\N`...)
	case r == 0x2028:
		return append(b, `\L`...)
	case r == 0x2029:
		return append(b, `\P`...)
	case r <= 0xff:
		b = append(b, `\x`...)
		width = 2
	case r <= 0xffff:
		b = append(b, `\u`...)
		width = 4
	default:
		b = append(b, `\U`...)
	}
	for shift := 4 * (width - 1); shift >= 0; shift -= 4 {
		b = append(b, digits[r>>shift&15])
	}
	return b
}

// escapes are the letters for the characters of escaped.
const (
	escaped = "\x00\a\b\t\n\v\f\r\x1b\"\\"
	escapes = `0abtnvfre"\`
)

func (e *emitter) literal(s string) {
	e.indicator("|", true, false, false)
	e.hints(s)
	e.lineBreak()
	e.indention, e.whitespace = true, true
	broken := true
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		if isBreak(r) {
			e.copyBreak(s[i : i+n])
			e.indention, broken = true, true
		} else {
			if broken {
				e.writeIndent()
			}
			e.b = append(e.b, s[i:i+n]...)
			e.column++
			e.indention, broken = false, false
		}
		i += n
	}
}

// hints writes the header of a literal: its indentation, if it begins with a
// blank or a break, and its end.
func (e *emitter) hints(s string) {
	first, _ := utf8.DecodeRuneInString(s)
	if first == ' ' || isBreak(first) {
		e.b = append(e.b, '0'+byte(e.step))
		e.column++
	}
	e.openEnded = false
	last, n := utf8.DecodeLastRuneInString(s)
	switch {
	case !isBreak(last):
		e.b = append(e.b, '-')
	case n == len(s):
		e.b = append(e.b, '+')
		e.openEnded = true
	default:
		before, _ := utf8.DecodeLastRuneInString(s[:len(s)-n])
		if !isBreak(before) {
			return
		}
		e.b = append(e.b, '+')
		e.openEnded = true
	}
	e.column++
}

func isBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}

// copyBreak writes one line break of a text as it is.
func (e *emitter) copyBreak(s string) {
	e.b = append(e.b, s...)
	e.column = 0
}

func (e *emitter) lineBreak() {
	e.b = append(e.b, '\n')
	e.column = 0
}

func (e *emitter) put(c byte) {
	e.b = append(e.b, c)
	e.column++
}

// space separates what follows from what stands before it.
func (e *emitter) space() {
	if !e.whitespace {
		e.put(' ')
	}
}

// indicator writes s, of ASCII, and notes whether blanks may follow at once
// and whether the line still holds nothing but indentation.
func (e *emitter) indicator(s string, needSpace, isSpace, isIndent bool) {
	if needSpace {
		e.space()
	}
	e.b = append(e.b, s...)
	e.column += len(s)
	e.whitespace = isSpace
	e.indention = e.indention && isIndent
}

// blanks is the source of writeIndent.
const blanks = "                                                                "

// writeIndent goes to the column of the current indentation, on a new line if
// this one is in use.
func (e *emitter) writeIndent() {
	indent := max(e.indent, 0)
	if !e.indention || e.column > indent || e.column == indent && !e.whitespace {
		e.lineBreak()
	}
	for e.column < indent {
		n := min(indent-e.column, len(blanks))
		e.b = append(e.b, blanks[:n]...)
		e.column += n
	}
	e.whitespace, e.indention = true, true
}

// appendTag appends the name of a class, with what no tag may hold escaped.
func appendTag(b []byte, tag string) []byte {
	const digits = "0123456789ABCDEF"
	for i := range len(tag) {
		c := tag[i]
		if isLetter(c) || isDigit(c) || strings.IndexByte("-_;/?:@&=+$,.!~*'()[]", c) >= 0 {
			b = append(b, c)
			continue
		}
		b = append(b, '%', digits[c>>4], digits[c&15])
	}
	return b
}
