package rich

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// CheckRegexp returns Ruby's error for a regular expression that Ruby does not
// compile, and nil for one that it does.
func CheckRegexp(s string) error {
	c := regexpChecker{s: s, names: map[string]bool{}}
	problem := c.unescape()
	if problem == "" {
		problem = c.alternatives(0, false)
	}
	if problem == "" && c.i < len(s) {
		problem = "unmatched close parenthesis"
	}
	if problem == "" {
		problem = c.references()
	}
	if problem == "" {
		return nil
	}
	return errorf("%s: %s", problem, Slashed(s))
}

// Slashed puts slashes around an expression, and escapes those within that are not
// escaped.
func Slashed(source string) string {
	var b strings.Builder
	b.WriteByte('/')
	for i := 0; i < len(source); i++ {
		switch {
		case source[i] == '\\' && i+1 < len(source):
			b.WriteByte(source[i])
			i++
		case source[i] == '/':
			b.WriteByte('\\')
		}
		b.WriteByte(source[i])
	}
	b.WriteByte('/')
	return b.String()
}

// A regexpChecker walks over an expression; its methods return what is wrong,
// or "".
type regexpChecker struct {
	s        string
	i        int
	extended bool
	groups   int             // with numbers
	names    map[string]bool // of groups
	refs     []string        // names and numbers that are referred to
	maxRef   int
	deep     int
}

func (c *regexpChecker) more() bool { return c.i < len(c.s) }

func (c *regexpChecker) rest() string { return c.s[c.i:] }

func (c *regexpChecker) skip(prefix string) bool {
	if !strings.HasPrefix(c.rest(), prefix) {
		return false
	}
	c.i += len(prefix)
	return true
}

// unescape checks the escapes that Ruby replaces before it compiles.
func (c *regexpChecker) unescape() string {
	s := c.s
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			continue
		}
		if i++; i == len(s) {
			return "too short escape sequence"
		}
		switch s[i] {
		case 'x':
			if i+1 == len(s) || !isHex(s[i+1]) {
				return "invalid hex escape"
			}
		case 'u':
			if problem := checkUnicode(s[i+1:]); problem != "" {
				return problem
			}
		case 'c', 'C', 'M':
			if i+1 == len(s) {
				return "too short escape sequence"
			}
		}
	}
	return ""
}

func checkUnicode(s string) string {
	if s == "" {
		return "too short escape sequence"
	}
	if !strings.HasPrefix(s, "{") {
		if len(s) < 4 || strings.ContainsFunc(s[:4], func(r rune) bool { return r > 127 || !isHex(byte(r)) }) {
			return "invalid Unicode escape"
		}
		if n, _ := strconv.ParseUint(s[:4], 16, 32); n >= 0xd800 && n < 0xe000 {
			return "invalid Unicode range"
		}
		return ""
	}
	list, _, ok := strings.Cut(s[1:], "}")
	points := strings.Fields(list)
	if len(points) == 0 {
		return "invalid Unicode list"
	}
	for _, p := range points {
		n, err := strconv.ParseUint(p, 16, 32)
		switch {
		case err != nil:
			return "invalid Unicode list"
		case n > 0x10ffff || n >= 0xd800 && n < 0xe000:
			return "invalid Unicode range"
		}
	}
	if !ok {
		return "unterminated Unicode list"
	}
	return ""
}

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// alternatives reads up to the end or to a closing parenthesis.
func (c *regexpChecker) alternatives(depth int, behind bool) string {
	if depth > 4096 {
		return "too deep nest level"
	}
	extended := c.extended
	defer func() { c.extended = extended }()
	repeatable := false
	for c.more() {
		switch ch := c.s[c.i]; {
		case ch == ')':
			return ""
		case ch == '|':
			c.i++
			repeatable = false
		case ch == '*' || ch == '+' || ch == '?':
			if !repeatable {
				return "target of repeat operator is not specified"
			}
			c.i++
			if c.more() && (c.s[c.i] == '?' || c.s[c.i] == '+') {
				c.i++
			}
			if behind {
				return "invalid pattern in look-behind"
			}
		case ch == '{':
			problem, isInterval := c.interval(repeatable, behind)
			if problem != "" {
				return problem
			}
			repeatable = repeatable || !isInterval
		case c.skip("(?#"):
			comment, _, ok := strings.Cut(c.rest(), ")")
			if !ok {
				return "end pattern in group"
			}
			c.i += len(comment) + 1
		case c.extended && ch == '#':
			_, line, _ := strings.Cut(c.rest(), "\n")
			c.i = len(c.s) - len(line)
		case c.extended && strings.IndexByte(" \t\r\n\f\v", ch) >= 0:
			c.i++
		default:
			problem, one := c.atom(depth, behind)
			if problem != "" {
				return problem
			}
			repeatable = one
		}
	}
	return ""
}

// interval reads {1,2}; other braces stand for themselves.
func (c *regexpChecker) interval(repeatable, behind bool) (problem string, isInterval bool) {
	inside, _, ok := strings.Cut(c.rest()[1:], "}")
	low, high, comma := strings.Cut(inside, ",")
	digits := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
	if !ok || !digits(low) || !digits(high) || low == "" && high == "" {
		c.i++
		return "", false
	}
	if !repeatable {
		return "target of repeat operator is not specified", true
	}
	if behind && comma && low != high {
		return "invalid pattern in look-behind", true
	}
	for _, s := range []string{low, high} {
		if n, err := strconv.Atoi(s); s != "" && (err != nil || n > 100000) {
			return "too big number for repeat range", true
		}
	}
	if least, _ := strconv.Atoi(low); high != "" && comma {
		if most, _ := strconv.Atoi(high); least > most {
			return "upper is smaller than lower in repeat range", true
		}
	}
	c.i += len(inside) + 2
	if comma && c.more() && c.s[c.i] == '?' {
		c.i++
	}
	return "", true
}

// atom reads a letter, an escape, a class or a group, and returns whether it
// may be repeated.
func (c *regexpChecker) atom(depth int, behind bool) (problem string, repeatable bool) {
	switch c.s[c.i] {
	case '[':
		c.i++
		return c.class(), true
	case '(':
		c.i++
		return c.group(depth, behind)
	case '\\':
		return c.escape(), true
	}
	_, n := utf8.DecodeRuneInString(c.rest())
	c.i += n
	return "", true
}

// escape reads what follows a backslash, outside of a class.
func (c *regexpChecker) escape() string {
	c.i++
	switch ch := c.s[c.i]; {
	case ch == 'k' || ch == 'g':
		c.i++
		if !c.skip("<") && !c.skip("'") {
			return ""
		}
		closing := map[byte]string{'<': ">", '\'': "'"}[c.s[c.i-1]]
		name, _, ok := strings.Cut(c.rest(), closing)
		switch {
		case !ok:
			return "invalid group name <" + c.rest() + ">"
		case name == "":
			return "group name is empty"
		}
		c.i += len(name) + 1
		if ch == 'g' && name == "0" {
			return ""
		}
		if _, err := strconv.Atoi(name); ch == 'k' && err != nil && !c.names[name] {
			plain := strings.TrimRight(strings.TrimRight(name, "0123456789"), "+-") // without a level
			if !c.names[plain] {
				return "undefined name <" + name + "> reference"
			}
			name = plain
		}
		c.refs = append(c.refs, name)
		return ""
	case ch == 'p' || ch == 'P':
		c.i++
		return c.property()
	case ch >= '1' && ch <= '9':
		n := 0
		for c.more() && isDigit(c.s[c.i]) && n < 1000 {
			n = 10*n + int(c.s[c.i]-'0')
			c.i++
		}
		if n < 10 {
			c.maxRef = max(c.maxRef, n)
		}
		return ""
	}
	_, n := utf8.DecodeRuneInString(c.rest())
	c.i += n
	return ""
}

func (c *regexpChecker) property() string {
	if !c.skip("{") {
		return "invalid character property name {" + c.s[c.i-1:c.i] + "}"
	}
	name, _, ok := strings.Cut(c.rest(), "}")
	if !ok {
		return "invalid character property name {" + c.s[c.i:] + "}"
	}
	c.i += len(name) + 1
	plain := strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "").Replace(strings.TrimPrefix(name, "^")))
	if !strings.Contains(properties, " "+plain+" ") {
		return "invalid character property name {" + name + "}"
	}
	return ""
}

const properties = " alnum alpha blank cntrl digit graph lower print punct space upper xdigit word ascii any assigned" +
	" c cc cf cn co cs l lc ll lm lo lt lu m mc me mn n nd nl no p pc pd pe pf pi po ps s sc sk sm so z zl zp zs" +
	" letter lowercaseletter uppercaseletter mark number punctuation symbol separator control other" +
	" arabic armenian bengali cyrillic devanagari georgian greek han hangul hebrew hiragana katakana latin thai common emoji "

// class reads a class of characters up to its closing bracket.
func (c *regexpChecker) class() string {
	if c.deep++; c.deep > 4096 {
		return "too deep nest level"
	}
	defer func() { c.deep-- }()
	c.skip("^")
	first, empty := true, true
	last, ranging, afterSet := rune(-1), false, false
	for c.more() {
		if c.s[c.i] == ']' && (!first || !strings.Contains(c.rest()[1:], "]")) {
			c.i++
			if empty {
				return "empty char-class"
			}
			return ""
		}
		first = false
		switch {
		case c.s[c.i] == '[' && c.posix():
			empty, last, ranging, afterSet = false, -1, false, true
			continue
		case c.s[c.i] == '[' && c.misspelt():
			return "invalid POSIX bracket type"
		case c.s[c.i] == '[':
			c.i++
			if problem := c.class(); problem != "" {
				return problem
			}
			empty, last, ranging, afterSet = false, -1, false, false
			continue
		case c.skip("&&"):
			last, ranging, afterSet = -1, false, false
			continue
		case c.s[c.i] == '-' && afterSet && c.i+1 < len(c.s) && c.s[c.i+1] != ']':
			return "unmatched range specifier in char-class"
		case c.s[c.i] == '-' && last >= 0 && !ranging && c.i+1 < len(c.s) && c.s[c.i+1] != ']':
			c.i++
			ranging = true
			continue
		}
		r, problem := c.member()
		if problem != "" {
			return problem
		}
		switch {
		case ranging && r == isSet:
			return "char-class value at end of range"
		case ranging && r >= 0 && r < last:
			return "empty range in char class"
		}
		empty, afterSet = false, r == isSet
		if last = r; ranging {
			last, ranging = -1, false
		}
	}
	return "premature end of char-class"
}

// posix reads [:alpha:].
func (c *regexpChecker) posix() bool {
	if !strings.HasPrefix(c.rest(), "[:") {
		return false
	}
	name, _, ok := strings.Cut(c.rest()[2:], ":]")
	if !ok || !strings.Contains(" alnum alpha blank cntrl digit graph lower print punct space upper xdigit word ascii ", " "+strings.TrimPrefix(name, "^")+" ") {
		return false
	}
	c.i += len(name) + 4
	return true
}

// misspelt reports whether what looks like [:alpha:] has no such name.
func (c *regexpChecker) misspelt() bool {
	const longest = 20
	name := c.rest()[1:]
	if !strings.HasPrefix(name, ":") {
		return false
	}
	end := strings.IndexAny(name[1:], ":]")
	return end >= 0 && utf8.RuneCountInString(name[1:1+end]) <= longest && strings.HasPrefix(name[1+end:], ":]")
}

// isSet is what member returns for a set, as \d is one.
const isSet = -2

// member reads one member of a class; what is not known is -1.
func (c *regexpChecker) member() (rune, string) {
	if c.s[c.i] != '\\' {
		r, n := utf8.DecodeRuneInString(c.rest())
		c.i += n
		return r, ""
	}
	c.i++
	ch := c.s[c.i]
	if ch == 'p' || ch == 'P' {
		c.i++
		return isSet, c.property()
	}
	r, n := utf8.DecodeRuneInString(c.rest())
	c.i += n
	switch {
	case strings.IndexByte("wWdDsShH", ch) >= 0:
		return isSet, ""
	case strings.IndexByte("RXkgxucCM", ch) >= 0, isDigit(ch):
		return -1, ""
	case isLetter(ch):
		if i := strings.IndexByte("abefnrtv", ch); i >= 0 {
			return rune("\a\b\x1b\f\n\r\t\v"[i]), ""
		}
	}
	return r, ""
}

// group reads a group after its opening parenthesis.
func (c *regexpChecker) group(depth int, behind bool) (problem string, repeatable bool) {
	extended := c.extended
	repeatable = true
	switch {
	case c.skip("?<=") || c.skip("?<!"):
		behind = true
	case c.skip("?:") || c.skip("?=") || c.skip("?!") || c.skip("?>") || c.skip("?~"):
	case c.skip("?<") || c.skip("?'"):
		if problem := c.groupName(); problem != "" {
			return problem, false
		}
	case c.skip("?("):
		condition, _, ok := strings.Cut(c.rest(), ")")
		if !ok || condition == "" {
			return "invalid conditional pattern", false
		}
		c.refs = append(c.refs, strings.Trim(condition, "<>'"))
		c.i += len(condition) + 1
	case c.skip("?"):
		var alone bool
		if problem, alone = c.options(); problem != "" || alone {
			return problem, false
		}
	default:
		c.groups++
	}
	problem = c.alternatives(depth+1, behind)
	c.extended = extended
	switch {
	case problem != "":
		return problem, false
	case !c.skip(")"):
		return "end pattern with unmatched parenthesis", false
	}
	return "", repeatable
}

func (c *regexpChecker) groupName() string {
	closing := map[byte]string{'<': ">", '\'': "'"}[c.s[c.i-1]]
	name, _, ok := strings.Cut(c.rest(), closing)
	switch {
	case c.rest() == "":
		return "end pattern with unmatched parenthesis"
	case name == "":
		return "group name is empty"
	case !ok, isDigit(name[0]), name[0] == '-', strings.ContainsAny(name, ")"):
		return "invalid group name <" + strings.TrimSuffix(name, ")") + ">"
	}
	c.names[name] = true
	c.i += len(name) + 1
	return ""
}

// options reads (?mi-x) and (?mi-x:. Those that stand alone hold to the end of
// the group around them.
func (c *regexpChecker) options() (problem string, alone bool) {
	on := true
	if strings.HasPrefix(c.rest(), ")") {
		return "undefined group option", true
	}
	for c.more() {
		ch := c.s[c.i]
		c.i++
		switch ch {
		case '-':
			on = false
		case 'x':
			c.extended = on
		case 'i', 'm':
		case 'a', 'd', 'u':
			if !on {
				return "undefined group option", true
			}
		case ')':
			return "", true
		case ':':
			return "", false
		default:
			return "undefined group option", true
		}
	}
	return "end pattern in group", true
}

// references checks that what is referred to exists.
func (c *regexpChecker) references() string {
	if c.maxRef > c.groups && len(c.names) == 0 {
		return "invalid backref number/name"
	}
	if c.maxRef > 0 && len(c.names) > 0 {
		return "numbered backref/call is not allowed. (use name)"
	}
	for _, name := range c.refs {
		n, err := strconv.Atoi(name)
		switch {
		case err == nil && len(c.names) > 0:
			return "numbered backref/call is not allowed. (use name)"
		case err == nil && (n > c.groups || -n > c.groups || n == 0):
			return "invalid backref number/name"
		case err != nil && !c.names[name]:
			return "undefined name <" + name + "> reference"
		}
	}
	return ""
}
