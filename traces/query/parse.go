package query

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"indirtui/traces"
	"indirtui/traces/spell"
)

// Limits on what is parsed, so that hostile text is refused and not obeyed.
const (
	maxText  = 1 << 16 // bytes
	maxDepth = 100     // of parentheses and negations
)

var (
	relations = [...]string{"parent", "child", "run", "prev", "next"}
	calls     = append([]string{"step"}, relations[:]...)
	keywords  = []string{"and", "or", "not", "in"}
	selectors = []string{"all", "focus", "marked", "run", "selected", "shown", "unmarked"}
	operators = []string{"!=", "!~", "<=", ">=", "=", "~", "<", ">"} // longest first
)

// A parser reads one text. What it reads next depends on where it is, so there
// are no tokens: "err~" is an outcome after "out=", and a field and an operator
// elsewhere.
type parser struct {
	text   string
	now    time.Time
	pos    int
	depth  int
	inStep bool
	groups int               // how many parentheses are open
	stop   func(string) bool // which word ends the expression; nil is none
	last   want              // what could stand at the last place where there was a choice
}

// A want is a place where there is a choice: the beginning of a term, or of a
// value of a field.
type want struct {
	at     int
	field  *field // nil for a term
	inStep bool
}

// whole reads all of the text. A syntax error unwinds the parser, and only it.
func (p *parser) whole() (e *Expr, err error) {
	defer p.rescue(&err)
	if len(p.text) > maxText {
		p.fail(maxText, "more", "at most "+itoa(maxText)+" bytes", "")
	}
	p.blanks()
	if p.pos == len(p.text) || p.stops() {
		p.last = want{at: p.pos}
		return &Expr{}, nil
	}
	n := p.expr()
	if p.pos < len(p.text) && !p.stops() {
		p.unexpected()
	}
	return newExpr(n), nil
}

// stops reports whether a word follows that ends the expression.
func (p *parser) stops() bool {
	if p.stop == nil || p.groups > 0 {
		return false
	}
	word := p.text[p.pos:]
	if end := strings.IndexAny(word, " \t"); end >= 0 {
		word = word[:end]
	}
	return p.stop(word)
}

func (p *parser) rescue(err *error) {
	switch v := recover().(type) {
	case nil:
	case *SyntaxError:
		*err = v
	default:
		panic(v)
	}
}

// fail unwinds the parser. Fix is the whole corrected text.
func (p *parser) fail(at int, got, want, fix string) {
	panic(&SyntaxError{Offset: at, Got: got, Want: want, Fix: fix})
}

// replaced is the text with the part from start to end replaced by s.
func (p *parser) replaced(start, end int, s string) string {
	return p.text[:start] + s + p.text[end:]
}

// got describes what stands at the place at.
func (p *parser) got(at int) string {
	if at >= len(p.text) {
		return "the end"
	}
	end := at
	for end < len(p.text) && !endsBare(p.text[end]) {
		end++
	}
	if end == at {
		_, n := utf8.DecodeRuneInString(p.text[at:])
		end = at + n
	}
	if end > at+40 {
		return strconv.Quote(p.text[at:at+40]) + "…"
	}
	return strconv.Quote(p.text[at:end])
}

func (p *parser) unexpected() {
	switch c := p.text[p.pos]; c {
	case ')':
		p.fail(p.pos, `")"`, "the end: no parenthesis is open", p.replaced(p.pos, p.pos+1, ""))
	case '&', '|':
		p.fail(p.pos, p.got(p.pos), "one "+strconv.Quote(string(c)), p.replaced(p.pos, p.pos+1, ""))
	default:
		p.fail(p.pos, p.got(p.pos), `"and", "or" or a term`, "")
	}
}

func (p *parser) blanks() {
	for p.pos < len(p.text) {
		r, n := utf8.DecodeRuneInString(p.text[p.pos:])
		if !unicode.IsSpace(r) {
			return
		}
		p.pos += n
	}
}

func (p *parser) next() byte {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

// take skips c and the blanks behind it, if it is next.
func (p *parser) take(c byte) bool {
	if p.next() != c {
		return false
	}
	p.pos++
	p.blanks()
	return true
}

// keyword skips the keyword and the blanks behind it, if it is next.
func (p *parser) keyword(word string) bool {
	end := p.pos + len(word)
	if end > len(p.text) || !strings.EqualFold(p.text[p.pos:end], word) {
		return false
	}
	if end < len(p.text) && !endsBare(p.text[end]) && !startsOperator(p.text[end:]) {
		return false
	}
	if word != "in" && startsOperator(p.text[end:]) {
		return false
	}
	p.pos = end
	p.blanks()
	return true
}

func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.pos, "more", "at most "+itoa(maxDepth)+" levels", "")
	}
}

func (p *parser) leave() { p.depth-- }

func (p *parser) expr() node {
	all := addOr(nil, p.and())
	for p.keyword("or") || p.take('|') {
		all = addOr(all, p.and())
	}
	if len(all) == 1 {
		return all[0]
	}
	return all
}

func (p *parser) and() node {
	all := addAnd(nil, p.not())
	for p.keyword("and") || p.take('&') || p.startsTerm() {
		all = addAnd(all, p.not())
	}
	if len(all) == 1 {
		return all[0]
	}
	return all
}

// startsTerm reports whether a term follows that no operator joins.
func (p *parser) startsTerm() bool {
	switch p.next() {
	case 0:
		return p.pos < len(p.text)
	case ')', '|', '&', ',':
		return false
	}
	if p.stops() {
		return false
	}
	at := p.pos
	or := p.keyword("or")
	p.pos = at
	return !or
}

func (p *parser) not() node {
	if p.keyword("not") || !startsOperator(p.text[p.pos:]) && p.take('!') {
		p.enter()
		defer p.leave()
		return notNode{p.not()}
	}
	return p.prim()
}

func (p *parser) prim() node {
	p.last = want{at: p.pos, inStep: p.inStep}
	if p.stops() {
		p.fail(p.pos, p.got(p.pos), "a term (in quotes it is a word)", "")
	}
	switch p.next() {
	case '(':
		return p.group(p.inStep)
	case '"', '\'':
		return p.word(p.quoted(), false)
	case '@':
		return p.selector()
	case '#':
		return p.numbers()
	}
	start := p.pos
	name := p.bareWord()
	end := p.pos
	if name == "" {
		p.fail(start, p.got(start), "a field, a flag, a selector or a word", "")
	}
	p.blanks()
	if i := slices.Index(calls, strings.ToLower(name)); i >= 0 && p.next() == '(' {
		if i == 0 {
			return stepNode{p.group(true)}
		}
		return callNode{Relation(i - 1), p.group(false)}
	}
	field := findField(name)
	p.outcomeWithTilde(start, end)
	at := p.pos
	if op := p.operator(); op != "" {
		if field == nil {
			p.unknownField(start, end, name)
		}
		return p.test(field, op, at)
	}
	switch {
	case p.inStep && isStepName(name):
		return p.word(name, true)
	case field != nil:
		return hasNode{field}
	}
	if flag := findFlag(name); flag != nil {
		return flagNode{flag}
	}
	p.refuse(start, end, name)
	return p.word(name, false)
}

// group reads a parenthesised expression. In step(...) words are about steps.
func (p *parser) group(inStep bool) node {
	p.enter()
	defer p.leave()
	defer func(was bool) { p.inStep = was }(p.inStep)
	p.inStep = inStep
	open := p.pos
	p.groups++
	defer func() { p.groups-- }()
	p.take('(')
	n := p.expr()
	if p.next() != ')' {
		p.fail(p.pos, p.got(p.pos), `")" for the "(" at `+itoa(open+1), p.replaced(p.pos, p.pos, ")"))
	}
	p.take(')')
	return n
}

func (p *parser) word(text string, step bool) node {
	n := &wordNode{text: text, pattern: newPattern("*" + text + "*"), isStep: step}
	n.step, n.names = traces.ParseStep(strings.ToLower(text))
	p.blanks()
	return n
}

// isStepName reports whether name is a step or a word of one: in step(...) it
// means the step and not the field of that name.
func isStepName(name string) bool {
	name = strings.ToLower(name)
	if _, ok := traces.ParseStep(name); ok {
		return true
	}
	for s := range traces.Step(traces.StepCount) {
		if slices.Contains(strings.Fields(s.String()), name) {
			return true
		}
	}
	return false
}

// outcomeWithTilde catches "err~" alone, which looks like a field and an
// operator.
func (p *parser) outcomeWithTilde(start, end int) {
	rest := p.text[end:]
	if strings.EqualFold(p.text[start:end], "err") && strings.HasPrefix(rest, "~") && (len(rest) == 1 || endsBare(rest[1]) && !isQuote(rest[1]) && rest[1] != '(') {
		p.fail(start, `"err~"`, "a field: this is an outcome", p.replaced(start, end+1, "out=err~"))
	}
}

// refuse fails for words that are nearly always meant as the value of a field.
// In quotes they are searched for.
func (p *parser) refuse(start, end int, name string) {
	lower := strings.ToLower(name)
	switch {
	case slices.Contains(outNames, lower):
		p.fail(start, strconv.Quote(name), "a field: this is an outcome (in quotes it is a word)", p.replaced(start, end, "out="+lower))
	case slices.Contains(verbNames, lower):
		p.fail(start, strconv.Quote(name), "a field: this is a verb (in quotes it is a word)", p.replaced(start, end, "verb="+lower))
	case slices.Contains(keywords, lower):
		p.fail(start, strconv.Quote(name), "a field, a flag, a selector or a word", "")
	}
}

func (p *parser) unknownField(start, end int, name string) {
	lower := strings.ToLower(name)
	meant := aliases[lower]
	if meant == "" {
		meant = spell.Nearest(lower, fieldNames())
	}
	want := "a field: " + strings.Join(fieldNames(), " ")
	if meant == "" {
		p.fail(start, strconv.Quote(name), want, "")
	}
	p.fail(start, strconv.Quote(name), want, p.replaced(start, end, meant))
}

// aliases are names known from Puppet and other tools.
var aliases = map[string]string{
	"indirection": "ind", "environment": "env", "outcome": "out", "certname": "node", "host": "node",
	"status": "http.status", "method": "http.method", "path": "http.path", "error": "err", "message": "err",
	"time": "t", "duration": "took", "ms": "took", "format": "fmt", "comment": "note", "reason": "because",
	"transaction_uuid": "run", "served_by": "served", "provenance": "setby",
	"ignore_cache": "flag.ignore_cache", "ignore_terminus": "flag.ignore_terminus", "ignore_cache_save": "flag.ignore_cache_save",
}

func fieldNames() []string {
	var all []string
	for i := range fields {
		all = append(all, fields[i].Name)
	}
	return all
}

// selector reads @name.
func (p *parser) selector() node {
	start := p.pos
	p.pos++
	name := strings.ToLower(p.bareWord())
	if !slices.Contains(selectors, name) {
		fix := spell.Nearest(name, selectors)
		if fix != "" {
			fix = p.replaced(start, p.pos, "@"+fix)
		}
		p.fail(start, p.got(start), "@"+strings.Join(selectors, " @"), fix)
	}
	p.blanks()
	return nameNode(name)
}

// numbers reads #from or #from..to.
func (p *parser) numbers() node {
	start := p.pos
	p.pos++
	n := numberNode{from: p.number(start)}
	n.to = n.from
	if strings.HasPrefix(p.text[p.pos:], "..") {
		p.pos += 2
		p.take('#')
		n.to = p.number(start)
	}
	if n.from > n.to {
		p.fail(start, p.text[start:p.pos], "the smaller number first", p.replaced(start, p.pos, string(numberNode{n.to, n.from}.append(nil))))
	}
	if p.pos < len(p.text) && !endsBare(p.text[p.pos]) {
		p.fail(p.pos, p.got(p.pos), "a blank behind the number", "")
	}
	p.blanks()
	return n
}

func (p *parser) number(start int) uint64 {
	at := p.pos
	for c := p.next(); '0' <= c && c <= '9'; c = p.next() {
		p.pos++
	}
	n, err := strconv.ParseUint(p.text[at:p.pos], 10, 64)
	if err != nil {
		p.fail(start, p.got(start), "the number of a request, such as #1042 or #1042..1050", "")
	}
	return n
}

// operator reads an operator and the blanks behind it; "" if there is none.
func (p *parser) operator() string {
	for _, op := range operators {
		if strings.HasPrefix(p.text[p.pos:], op) {
			at := p.pos
			p.pos += len(op)
			if op == "=" && (p.next() == '=' || p.next() == '~') {
				p.fail(p.pos, p.got(p.pos), "a value", p.replaced(p.pos-1, p.pos+1, map[byte]string{'=': "=", '~': "~"}[p.next()]))
			}
			if p.next() == '>' && op == "<" {
				p.fail(at, `"<>"`, `"!="`, p.replaced(at, p.pos+1, "!="))
			}
			p.blanks()
			return op
		}
	}
	if p.keyword("in") {
		return "in"
	}
	return ""
}

func startsOperator(s string) bool {
	for _, op := range operators {
		if strings.HasPrefix(s, op) {
			return true
		}
	}
	return false
}

// test reads what is compared with. The operator stands at the place at.
func (p *parser) test(f *field, op string, at int) node {
	start := p.pos
	if !f.Kind.takes(op) {
		p.fail(at, strconv.Quote(op), "an operator for "+f.Name+", which is "+f.Kind.String(), "")
	}
	if op == "in" {
		op = "="
	}
	n := &testNode{field: f, op: op}
	if op == "~" || op == "!~" {
		// A parenthesis belongs to the expression: its lists are written (a|b).
		n.values = []string{p.value(f, bareText)}
		p.compile(n, []int{start})
		return n
	}
	if p.next() != '(' {
		n.values = []string{p.value(f, bareValue)}
		p.compile(n, []int{start})
		p.noComma(start)
		return n
	}
	if op[0] == '<' || op[0] == '>' {
		p.fail(p.pos, `"("`, "one value: a list cannot be smaller or larger", "")
	}
	p.take('(')
	var places []int
	for {
		places = append(places, p.pos)
		n.values = append(n.values, p.value(f, bareValue))
		p.blanks()
		if !p.take(',') {
			break
		}
	}
	if p.next() != ')' {
		p.fail(p.pos, p.got(p.pos), `"," or ")"`, p.replaced(p.pos, p.pos, ")"))
	}
	p.take(')')
	p.compile(n, places)
	return n
}

// noComma catches "http.status=404,403".
func (p *parser) noComma(start int) {
	if p.next() != ',' || p.nested() {
		return
	}
	end := p.pos
	for end < len(p.text) && (p.text[end] == ',' || !endsBare(p.text[end])) {
		end++
	}
	p.fail(p.pos, `","`, "one value, or several in parentheses", p.replaced(start, end, "("+p.text[start:end]+")"))
}

// nested reports whether a comma may belong to the caller of the parser, as in
// max(took, EXPR).
func (p *parser) nested() bool { return p.depth > 0 }

// value reads one value and the blanks behind it, with bare to find the end of
// one without quotes.
func (p *parser) value(f *field, bare func(string) int) string {
	p.last = want{at: p.pos, field: f, inStep: p.inStep}
	if isQuote(p.next()) {
		s := p.quoted()
		p.blanks()
		return s
	}
	start := p.pos
	p.pos += bare(p.text[p.pos:])
	if p.pos == start {
		p.fail(start, p.got(start), describe(f), "")
	}
	s := p.text[start:p.pos]
	p.blanks()
	return s
}

// describe returns what the values of f look like.
func describe(f *field) string {
	switch f.Kind {
	case closedKind, yesNoKind:
		return "one of " + strings.Join(f.Values, " ")
	case numberKind:
		return "a number, such as 404"
	case durationKind:
		return "a duration with its unit, such as 250ms or 5s (us ms s m h d)"
	case sizeKind:
		return "a size, such as 512, 12kB or 3MB"
	case timeKind:
		return "a time, such as -5m, 14:02, 14:02..14:05 or 2025-11-20"
	}
	return "a value for " + f.Name
}

// bareValue returns how many bytes at the beginning of s are a value without
// quotes. Parentheses that open behind its first byte belong to it:
// because=skipped(cache-hit).
func bareValue(s string) int {
	if s == "" || s[0] == '(' {
		return 0
	}
	return bareText(s)
}

// bareText is bareValue for regular expressions, which may begin with a
// parenthesis.
func bareText(s string) int {
	open := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '(':
			open++
		case c == ')' && open > 0:
			open--
		case open > 0 && (c == ',' || c == '|' || c == '&'):
		case endsBare(c) || blankAt(s[i:]):
			return i
		}
	}
	return len(s)
}

// bareWord reads a word without quotes, which ends where an operator begins.
func (p *parser) bareWord() string {
	start := p.pos
	for p.pos < len(p.text) && !endsBare(p.text[p.pos]) && !startsOperator(p.text[p.pos:]) && !blankAt(p.text[p.pos:]) {
		p.pos++
	}
	return p.text[start:p.pos]
}

// blankAt reports whether s begins with a blank beyond ASCII.
func blankAt(s string) bool {
	if s[0] < utf8.RuneSelf {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsSpace(r)
}

// endsBare reports whether c ends whatever stands without quotes.
func endsBare(c byte) bool {
	switch c {
	case ' ', '\t', '\n', '\v', '\f', '\r', '(', ')', ',', '"', '|', '&':
		return true
	}
	return false
}

func isQuote(c byte) bool { return c == '"' || c == '\'' }

// quoted reads a text in quotes. Between single quotes nothing is special.
// Between double quotes a backslash is itself, so that regular expressions stay
// readable, except in front of a quote: \" is a quote, and \\ is a backslash
// there.
func (p *parser) quoted() string {
	start, quote := p.pos, p.next()
	var b []byte
	for i := start + 1; i < len(p.text); i++ {
		c := p.text[i]
		if c == '\\' && quote == '"' {
			n := 0
			for i+n < len(p.text) && p.text[i+n] == '\\' {
				n++
			}
			if i+n == len(p.text) || p.text[i+n] != '"' {
				b = append(b, p.text[i:i+n]...)
				i += n - 1
				continue
			}
			b = append(b, p.text[i:i+n/2]...)
			i += n
			if n%2 == 1 {
				b = append(b, '"')
				continue
			}
			c = '"'
		}
		if c == quote {
			p.pos = i + 1
			return string(b)
		}
		b = append(b, c)
	}
	p.fail(len(p.text), "the end", string(quote)+" for the one at "+itoa(start+1), p.text+string(quote))
	return ""
}

// Quote returns s as a value: as it is if possible, else in double quotes.
func Quote(s string) string { return string(appendValue(nil, s)) }

func appendValue(b []byte, s string) []byte {
	if s == "" || isQuote(s[0]) || startsOperator(s) || bareValue(s) < len(s) {
		return appendQuoted(b, s)
	}
	return append(b, s...)
}

// appendWord quotes a word that would be read as something else.
func appendWord(b []byte, s string) []byte {
	lower := strings.ToLower(s)
	p := parser{text: s}
	switch {
	case s == "" || strings.IndexByte(`"'@#!`, s[0]) >= 0 || p.bareWord() != s,
		slices.Contains(keywords, lower), slices.Contains(outNames, lower), slices.Contains(verbNames, lower),
		findField(s) != nil, findFlag(s) != nil, isStepName(s), slices.Contains(calls, lower):
		return appendQuoted(b, s)
	}
	return append(b, s...)
}

func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	slashes := 0
	for i := range len(s) {
		switch s[i] {
		case '\\':
			slashes++
		case '"':
			b = append(b, strings.Repeat(`\`, slashes+1)...)
			slashes = 0
		default:
			slashes = 0
		}
		b = append(b, s[i])
	}
	return append(append(b, strings.Repeat(`\`, slashes)...), '"')
}

// compile makes the tests of n out of its values.
func (p *parser) compile(n *testNode, places []int) {
	if n.field.texts != nil {
		n.texts = p.compileTexts(n, places)
		return
	}
	if n.field.Kind == closedKind || n.field.Kind == yesNoKind {
		n.ints = p.compileClosed(n, places)
		return
	}
	ranges := make([]span, len(n.values))
	for i, v := range n.values {
		s, ok := parseSpan(n.field.Kind, v, p.now)
		if !ok {
			p.fail(places[i], p.got(places[i]), describe(n.field), p.withUnit(n.field.Kind, v, places[i]))
		}
		ranges[i] = s
	}
	n.ints, n.ranges = compare(n.op, ranges), ranges
}

// withUnit offers milliseconds, which is what the list shows, for a duration
// without a unit.
func (p *parser) withUnit(k kind, v string, at int) string {
	if _, err := strconv.ParseFloat(v, 64); k != durationKind || err != nil || !strings.HasPrefix(p.text[at:], v) {
		return ""
	}
	return p.replaced(at, at+len(v), v+"ms")
}

func (p *parser) compileTexts(n *testNode, places []int) func(string) bool {
	var tests []func(string) bool
	for i, v := range n.values {
		if strings.HasSuffix(n.op, "~") {
			tests = append(tests, p.regexp(v, places[i]).MatchString)
			continue
		}
		tests = append(tests, newPattern(v).match)
	}
	if len(tests) == 1 {
		return tests[0]
	}
	return func(s string) bool {
		return slices.ContainsFunc(tests, func(test func(string) bool) bool { return test(s) })
	}
}

func (p *parser) regexp(v string, at int) *regexp.Regexp {
	re, err := regexp.Compile(v)
	if err != nil {
		why := err.Error()
		if e, ok := err.(*syntax.Error); ok {
			why = e.Code.String()
		}
		p.fail(at, p.got(at), "a regular expression: "+why, "")
	}
	return re
}

// compileClosed turns the values into a set: that is one bit test for each
// request, and a misspelt value is found while it is typed.
func (p *parser) compileClosed(n *testNode, places []int) func(int64) bool {
	var set uint64
	for i, v := range n.values {
		test := newPattern(v).match
		if strings.HasSuffix(n.op, "~") {
			test = p.regexp(v, places[i]).MatchString
		}
		var bits uint64
		if n.field.Kind == yesNoKind {
			bits = parseTruth(v)
		} else {
			for bit, name := range n.field.Values {
				if test(name) {
					bits |= 1 << bit
				}
			}
		}
		if bits == 0 {
			fix := spell.Nearest(strings.ToLower(v), n.field.Values)
			if end := places[i] + len(v); fix != "" && strings.HasPrefix(p.text[places[i]:], v) {
				fix = p.replaced(places[i], end, fix)
			} else {
				fix = ""
			}
			p.fail(places[i], p.got(places[i]), describe(n.field), fix)
		}
		set |= bits
	}
	return func(i int64) bool { return set>>uint(i)&1 != 0 }
}

func parseTruth(s string) uint64 {
	switch strings.ToLower(s) {
	case "yes", "true":
		return 1 << 1
	case "no", "false":
		return 1 << 0
	}
	return 0
}
