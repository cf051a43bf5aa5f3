package onig

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxRepeat is the largest number of repetitions that Ruby takes.
const maxRepeat = 100_000

// A parser reads an expression that Ruby compiles. What it does not know is an error that
// names it.
type parser struct {
	s     string
	i     int
	named bool     // groups without names do not capture
	names []string // of groups, by their numbers; the first is none
	plain bool     // there are groups without names
	open  []int    // groups that are being read
	err   error

	fold, dot, extended bool // the options i, m and x
}

// parse returns the tree of an expression and the names of its groups.
func parse(source string) (node, []string, error) {
	p := &parser{s: source}
	tree := p.whole()
	if p.named && p.plain && p.err == nil { // now that names are known, others do not capture
		p = &parser{s: source, named: true}
		tree = p.whole()
	}
	if p.err != nil {
		return nil, nil, p.err
	}
	return tree, p.names, nil
}

func (p *parser) whole() node {
	p.names = []string{""}
	n := p.alternatives()
	if p.more() {
		p.wrong("unmatched close parenthesis")
	}
	return n
}

func (p *parser) more() bool { return p.i < len(p.s) && p.err == nil }

func (p *parser) rest() string { return p.s[p.i:] }

func (p *parser) skip(prefix string) bool {
	if !strings.HasPrefix(p.rest(), prefix) {
		return false
	}
	p.i += len(prefix)
	return true
}

func (p *parser) next() rune {
	r, n := utf8.DecodeRuneInString(p.rest())
	p.i += n
	return r
}

// until returns the text before an end, which it skips.
func (p *parser) until(end string) string {
	text, _, ok := strings.Cut(p.rest(), end)
	if !ok {
		p.wrong("premature end of pattern")
		return ""
	}
	p.i += len(text) + len(end)
	return text
}

func (p *parser) wrong(text string) {
	if p.err == nil {
		p.err = errors.New(text)
	}
}

// unsupported refuses what is Ruby's and not done here.
func (p *parser) unsupported(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format+": %w", append(args, errors.ErrUnsupported)...)
	}
}

// alternatives reads up to the end or to a closing parenthesis. Options hold that long.
func (p *parser) alternatives() node {
	fold, dot, extended := p.fold, p.dot, p.extended
	defer func() { p.fold, p.dot, p.extended = fold, dot, extended }()
	var ways choice
	var at sequence
	for p.more() && p.s[p.i] != ')' {
		if p.skip("|") {
			ways, at = append(ways, at), nil
			continue
		}
		if p.blank() {
			continue
		}
		if n := p.atom(); n != nil {
			at = append(at, p.repeated(n))
		}
	}
	if len(ways) == 0 {
		return at
	}
	return append(ways, at)
}

// blank skips a comment, and with the option x what is one.
func (p *parser) blank() bool {
	switch {
	case p.skip("(?#"):
		p.until(")")
	case p.extended && p.skip("#"):
		_, line, _ := strings.Cut(p.rest(), "\n")
		p.i = len(p.s) - len(line)
	case p.extended && strings.IndexByte(" \t\r\n\f\v", p.s[p.i]) >= 0:
		p.i++
	default:
		return false
	}
	return true
}

// repeated reads how often a node stands, and the whole may stand repeated again.
func (p *parser) repeated(n node) node {
	for p.more() {
		if p.blank() {
			continue
		}
		var r repeat
		switch {
		case p.skip("*"):
			r = repeat{body: n, most: -1}
		case p.skip("+"):
			r = repeat{body: n, least: 1, most: -1}
		case p.skip("?"):
			r = repeat{body: n, most: 1}
		default:
			least, most, ok := p.interval()
			if !ok {
				return n
			}
			r = repeat{body: n, least: least, most: most}
			r.lazy = least != most && p.skip("?") // that of one number is optional instead
			n = r
			continue
		}
		if r.lazy = p.skip("?"); !r.lazy {
			r.possessive = p.skip("+")
		}
		n = r
	}
	return n
}

// interval reads {1,2}; other braces stand for themselves.
func (p *parser) interval() (least, most int, ok bool) {
	inside, _, ok := strings.Cut(p.rest(), "}")
	if !ok || !strings.HasPrefix(inside, "{") {
		return 0, 0, false
	}
	low, high, comma := strings.Cut(inside[1:], ",")
	if strings.Trim(low+high, "0123456789") != "" || low+high == "" {
		return 0, 0, false
	}
	p.i += len(inside) + 1
	least, _ = strconv.Atoi(low)
	most, _ = strconv.Atoi(high)
	switch {
	case !comma:
		most = least
	case high == "":
		most = -1
	case least > most:
		p.wrong("upper is smaller than lower in repeat range")
	}
	if max(least, most) > maxRepeat {
		p.wrong("too big number for repeat range")
	}
	return least, most, true
}

// letter returns the place of a character.
func (p *parser) letter(r rune) node {
	return chars{p.cased(one(r))}
}

// atom reads what may be repeated. It is nil for options, which hold from then on.
func (p *parser) atom() node {
	switch {
	case p.skip("["):
		return chars{p.class()}
	case p.skip("("):
		return p.group()
	case p.skip(`\`):
		return p.escape()
	case p.skip("."):
		if p.dot {
			return chars{all}
		}
		return chars{one('\n').not()}
	case p.skip("^"):
		return anchor('^')
	case p.skip("$"):
		return anchor('$')
	}
	return p.letter(p.next())
}

// anchors are those behind a backslash.
const anchors = "AzZbBG"

// asciiClasses are the classes behind a backslash; great letters mean what they lack.
var asciiClasses = map[byte]set{'d': digits, 's': blanks, 'w': words, 'h': hexes}

// escapedClass reads a class behind a backslash.
func (p *parser) escapedClass() (set, bool) {
	ch := p.s[p.i]
	if s, ok := asciiClasses[ch|0x20]; ok && ch|0x20 >= 'a' {
		p.i++
		if ch < 'a' {
			return s.not(), true
		}
		return s, true
	}
	if ch|0x20 != 'p' || !strings.HasPrefix(p.s[p.i+1:], "{") {
		return nil, false
	}
	p.i += 2
	name := p.until("}")
	plain, negative := strings.CutPrefix(name, "^")
	s, ok := property(plain)
	if !ok {
		p.unsupported(`the property \p{%s}`, name)
		return nil, true
	}
	if negative != (ch == 'P') {
		if p.fold && len(s.folded()) != len(s) {
			p.unsupported(`the property \%c{%s} without regard to case`, ch, name)
		}
		return s.not(), true
	}
	return s, true
}

// escape reads what follows a backslash, outside of a class.
func (p *parser) escape() node {
	if !p.more() {
		p.wrong("too short escape sequence")
		return nil
	}
	if s, ok := p.escapedClass(); ok {
		return chars{p.cased(s)}
	}
	ch := p.s[p.i]
	switch {
	case strings.IndexByte(anchors, ch) >= 0:
		p.i++
		return anchor(ch)
	case p.skip("K"):
		return keep{}
	case p.skip("R"):
		return lineBreak
	case p.skip("X"):
		p.unsupported(`\X, a character with its marks`)
		return nil
	case ch == 'k' || ch == 'g':
		p.i++
		return p.namedReference(ch)
	case ch >= '1' && ch <= '9':
		if n := p.numbered(); n != nil {
			return n
		}
	}
	var out sequence
	for _, r := range p.characters() {
		out = append(out, p.letter(r))
	}
	if len(out) == 1 {
		return out[0]
	}
	if len(out) > 1 { // what is repeated is the last one
		out[len(out)-1] = p.repeated(out[len(out)-1])
	}
	return out
}

// lineBreak is \R.
var lineBreak = atomic{choice{sequence{chars{one('\r')}, chars{one('\n')}}, chars{of("\n\r\u0085\u0085\u2028\u2029")}}}

// cased is a set, or with the option i one without regard to case.
func (p *parser) cased(s set) set {
	if p.fold {
		return s.folded()
	}
	return s
}

// numbered reads \1; it is nil for the number of a character.
func (p *parser) numbered() node {
	end := p.i
	for end < len(p.s) && p.s[end] >= '0' && p.s[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(p.s[p.i:end])
	if err != nil || n > 9 && n >= len(p.names) {
		return nil
	}
	p.i = end
	return p.reference(n)
}

func (p *parser) reference(groups ...int) node {
	p.within(groups...)
	return &reference{groups: groups, fold: p.fold}
}

// within refuses groups that are still being read.
func (p *parser) within(groups ...int) {
	for _, g := range groups {
		if slices.Contains(p.open, g) {
			p.unsupported("a reference to group %d from within", g)
		}
	}
}

// characters reads one escaped character, or several of \u{}.
func (p *parser) characters() []rune {
	ch := p.next()
	switch ch {
	case 'x':
		return p.bytes()
	case 'u':
		return p.points()
	case 'c':
		return []rune{p.control()}
	case 'C':
		p.skip("-")
		return []rune{p.control()}
	case 'M':
		p.unsupported(`\M, a byte that is no character`)
		return nil
	}
	if ch >= '0' && ch <= '7' {
		n := int(ch - '0')
		for i := 0; i < 2 && p.more() && p.s[p.i] >= '0' && p.s[p.i] <= '7'; i++ {
			n = n*8 + int(p.s[p.i]-'0')
			p.i++
		}
		if n > 127 {
			p.unsupported(`\%o, a byte that is no character`, n)
		}
		return []rune{rune(n)}
	}
	if i := strings.IndexRune("abefnrtv", ch); i >= 0 && ch != 'b' {
		return []rune{rune("\a\b\x1b\f\n\r\t\v"[i])}
	}
	return []rune{ch}
}

func (p *parser) control() rune {
	if !p.more() {
		p.wrong("too short control sequence")
		return 0
	}
	if p.skip("?") {
		return 0x7f
	}
	if p.skip(`\`) {
		p.unsupported("an escape within a control character")
		return 0
	}
	return p.next() & 0x1f
}

// bytes reads \x41; those beyond ASCII are several that make up a character.
func (p *parser) bytes() []rune {
	var b []byte
	for {
		end := p.i
		for end < len(p.s) && end < p.i+2 && strings.IndexByte("0123456789abcdefABCDEF", p.s[end]) >= 0 {
			end++
		}
		n, err := strconv.ParseUint(p.s[p.i:end], 16, 8)
		if err != nil {
			p.wrong("invalid hex escape")
			return nil
		}
		p.i = end
		b = append(b, byte(n))
		if n < 0x80 || utf8.FullRune(b) || !p.skip(`\x`) {
			break
		}
	}
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n < 3 {
		p.unsupported(`\x%x, a byte that is no character`, b[0])
	}
	return []rune{r}
}

// points reads 00e9 or {e9 ea} behind \u.
func (p *parser) points() []rune {
	text := p.rest()
	if p.skip("{") {
		text = p.until("}")
	} else {
		text = text[:min(4, len(text))]
		p.i += len(text)
	}
	var out []rune
	for _, hex := range strings.Fields(text) {
		n, err := strconv.ParseUint(hex, 16, 32)
		if err != nil || !utf8.ValidRune(rune(n)) {
			p.wrong("invalid Unicode escape")
			return nil
		}
		out = append(out, rune(n))
	}
	return out
}

// namedReference reads what follows \k or \g, which is a letter otherwise.
func (p *parser) namedReference(ch byte) node {
	end := ""
	switch {
	case p.skip("<"):
		end = ">"
	case p.skip("'"):
		end = "'"
	default:
		return p.letter(rune(ch))
	}
	name := p.until(end)
	number, err := strconv.Atoi(name)
	if err == nil && (name[0] == '-' || name[0] == '+') {
		number += len(p.names)
		if name[0] == '+' {
			number--
		}
	}
	switch {
	case ch == 'g' && err == nil:
		return &call{number: number}
	case ch == 'g':
		return &call{name: name}
	case err == nil:
		return p.reference(number)
	case strings.ContainsAny(name, "+-") && !slices.Contains(p.names, name):
		p.unsupported(`\k<%s>, a back reference with a level`, name)
		return nil
	}
	return p.reference(p.groupsOf(name)...)
}

// groupsOf returns the numbers of the groups of a name so far, the last of them first.
func (p *parser) groupsOf(name string) []int {
	var out []int
	for i, n := range slices.Backward(p.names) {
		if i > 0 && n == name {
			out = append(out, i)
		}
	}
	return out
}
