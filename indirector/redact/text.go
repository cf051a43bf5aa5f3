package redact

import (
	"cmp"
	"slices"
	"strings"
)

// Text returns s with every secret in it replaced, and their number. It reads
// lines of YAML, JSON, INI, Ruby and XML, command lines, headers, URLs and PEM
// blocks, also when quoted within each other. Where the end of a secret is
// unclear it redacts the rest of the line; what begins and does not end is
// redacted up to the end of s.
func (m *Redactor) Text(s string) (string, int) {
	s, hits := m.text(s)
	return s, len(hits)
}

// text is Text that returns the rule of each.
func (m *Redactor) text(s string) (string, []string) {
	hits := m.hits(s)
	const deepest = 3 // facts in the URL of a request are escaped twice
	plain, at := s, []int(nil)
	for range deepest {
		if !hasEscapes(plain) {
			break
		}
		plain, at = unescaped(plain, at)
		for _, h := range m.hits(plain) {
			hits = append(hits, hit{at[h.from], at[h.to], h.rule, h.secret})
		}
	}
	if hits == nil {
		return s, nil
	}
	if at != nil {
		slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.from, b.from) })
	}
	var out strings.Builder
	var rules []string
	done := 0
	for _, h := range hits {
		if h.from >= done {
			out.WriteString(s[done:h.from])
			out.WriteString(m.token(h.rule, h.secret))
			rules = append(rules, h.rule)
		}
		done = max(done, h.to)
	}
	out.WriteString(s[done:])
	return out.String(), rules
}

// A hit is where a secret is, and by which rule.
type hit struct {
	from, to     int
	rule, secret string
}

// hits returns the secrets of s, in order.
func (m *Redactor) hits(s string) []hit {
	var hits []hit
	for i := m.next(s, 0); i < len(s); {
		start, end, next, rule := m.find(s, i)
		i = m.next(s, next)
		if rule != "" {
			hits = append(hits, hit{start, end, rule, s[start:end]})
		}
	}
	return hits
}

// hasEscapes reports whether s has percent escapes that may hide a name or what
// stands around it, or pluses for all of its blanks.
func hasEscapes(s string) bool {
	if isForm(s) {
		return true
	}
	for {
		i := strings.IndexByte(s, '%')
		if i < 0 || i+2 >= len(s) {
			return false
		}
		if s = s[i+1:]; '2' <= s[0] && s[0] <= '7' && isHex(s[1]) {
			return true
		}
	}
}

// isForm reports whether pluses are blanks: there are none, and a plus follows a
// letter, which those of times and versions do not.
func isForm(s string) bool {
	for rest := s; ; {
		i := strings.IndexByte(rest, '+')
		if i < 0 {
			return false
		}
		if i > 0 && isLetter(rest[i-1]) {
			return strings.IndexByte(s, ' ') < 0
		}
		rest = rest[i+1:]
	}
}

// unescaped decodes the percent escapes of s, and pluses if there are no blanks. Byte i of plain begins at at[i]
// of the text of which byte i of s begins at outer[i].
func unescaped(s string, outer []int) (plain string, at []int) {
	b := make([]byte, 0, len(s))
	form := isForm(s)
	for i := 0; i < len(s); i++ {
		c, from := s[i], i
		if c == '+' && form {
			c = ' '
		}
		if outer != nil {
			from = outer[i]
		}
		if c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			c = unhex(s[i+1])<<4 | unhex(s[i+2])
			i += 2
		}
		b, at = append(b, c), append(at, from)
	}
	end := len(s)
	if outer != nil {
		end = outer[len(s)]
	}
	return string(b), append(at, end)
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= lower(c) && lower(c) <= 'f' }

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return lower(c) - 'a' + 10
}

// find looks for a secret that s[i:] announces. It returns where the secret is,
// by which rule, and where to go on. The rule is "" if there is none.
func (m *Redactor) find(s string, i int) (start, end, next int, rule string) {
	switch s[i] {
	case '-':
		if end := privateKey(s[i:]); end > 0 {
			return i, i + end, i + end, RuleKey
		}
		if from, to := flag(s, i); from < to {
			return from, to, to, RuleCommand
		}
		return 0, 0, i + 1, ""
	case ':':
		if from, to := password(s[i:]); from > 0 {
			return i + from, i + to, i + to, RuleURL
		}
		return 0, 0, i + 1, ""
	}
	if from, to, rule := m.form(s, i); rule != "" {
		return from, to, to, rule
	}
	w, end := m.at(s, i)
	if w == nil {
		return 0, 0, i + 1, ""
	}
	if w.where == query {
		to := end + 1 + until(s[end+1:], "&#\"'<> \t\r\n")
		if to == end+1 || tokenAt(s[end+1:]) > 0 {
			return 0, 0, end + 1, ""
		}
		return end + 1, to, to, w.rule
	}
	k := keyAt(s, i, end)
	from, to := k.value(s)
	if from == to {
		if start, end := w.spoken(s, &k); start < end {
			k.end, from, to = start, start, end
		}
	}
	switch n := tokenAt(s[from:]); {
	case from == to:
		return 0, 0, max(k.end, from), ""
	case n > 0:
		return 0, 0, from + n, ""
	case w.isHarmless(s[k.start:k.end], s[from:to]):
		return 0, 0, from, ""
	}
	return from, to, to, w.rule
}

// privateKey returns the length of the PEM block of a private key that s begins
// with, or 0. A block without an end is all of s.
func privateKey(s string) int {
	const begin, end, dashes = "-----BEGIN ", "-----END ", "-----"
	if !strings.HasPrefix(s, begin) {
		return 0
	}
	label, _, ok := strings.Cut(s[len(begin):], dashes)
	if !ok || len(label) > 80 || !strings.Contains(label, "PRIVATE KEY") {
		return 0
	}
	at := strings.Index(s, end+label+dashes)
	if at < 0 {
		return len(s)
	}
	return at + len(end) + len(label) + len(dashes)
}

// maxURL bounds the search for the password of a URL, in bytes.
const maxURL = 4096

// password returns where the password of a URL is in s, which begins with the
// colon of "://"; zero if there is none. In the path of a request the two slashes
// have become one.
func password(s string) (from, to int) {
	slashes := skip(s, 1, "/")
	if slashes != 2 && slashes != 3 {
		return 0, 0
	}
	s = s[:min(len(s), maxURL)]
	const all = "\"'<> \t\r\n"
	end := slashes + until(s[slashes:], "/?#"+all)
	to = strings.LastIndexByte(s[:end], '@')
	if at := strings.IndexByte(s[slashes:end], ':'); to < 0 && at >= 0 && slashes == 3 && skip(s[:end], 3+at+1, "0123456789") < end {
		// What follows the colon is no port: a password with a slash in it.
		to = strings.LastIndexByte(s[:3+until(s[3:], all)], '@')
	}
	if to < 0 {
		return 0, 0
	}
	from = strings.IndexByte(s[slashes:to], ':') + slashes + 1
	if from == slashes || from == to || tokenAt(s[from:]) > 0 {
		return 0, 0
	}
	return from, to
}

// isHarmless reports whether the value of a name with the word is no secret.
func (w *word) isHarmless(name, value string) bool {
	value = strings.Trim(value, `"'\`)
	switch value {
	case "", "true", "false", "null", "nil", "undef", "~", "{}", "[]":
		return true
	}
	if w.where != part {
		return false
	}
	switch {
	case len(value) <= 2 && isLiteral(value): // a pass of fsck, a number of tests
		return true
	case w.folded == "pass": // proxy_pass
		return strings.HasPrefix(value, "http://") || strings.HasPrefix(value, "https://") || strings.HasPrefix(value, "unix:")
	case w.folded == "pwd": // of a shell
		return strings.HasSuffix(name, "PWD") && strings.HasPrefix(value, "/")
	}
	return false
}

// A key is a name in a text that a value may follow.
type key struct {
	start, end int
	first      bool // nothing but indentation stands before it on its line
	flag       bool // --name, -name
	indent     int  // of its line
	quote      byte // in front of it; 0 if there is none
}

// keyAt returns the key that the word from start to end is a part of.
func keyAt(s string, start, end int) key {
	k := key{start: start, end: end}
	for k.start > 0 && isKeyByte(s[k.start-1]) {
		k.start--
	}
	for k.end < len(s) && isKeyByte(s[k.end]) {
		if s[k.end] == ':' {
			// A name may go on behind two colons; one is what assigns.
			if !strings.HasPrefix(s[k.end:], "::") || k.end+2 == len(s) || !isKeyByte(s[k.end+2]) {
				break
			}
			k.end++
		}
		k.end++
	}
	long := strings.HasPrefix(s[k.start:], "--")
	k.flag = long || s[k.start] == '-' && k.end-k.start > 3
	if k.start > 0 && (s[k.start-1] == '"' || s[k.start-1] == '\'') {
		k.quote = s[k.start-1]
	}
	// Look back no further than to the line's first word: lines may be long.
	const before = " \t-?\"'"
	line := back(s, k.start, before)
	if strings.HasSuffix(s[:line], "export") {
		line = back(s, line-len("export"), before)
	}
	k.first = !long && (line == 0 || s[line-1] == '\n')
	k.indent = skip(s, line, " \t") - line
	return k
}

func isKeyByte(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c == ':' || '0' <= c && c <= '9' || 'a' <= lower(c) && lower(c) <= 'z' || c >= 0x80
}

// value returns where the value of k is; from == to if nothing is assigned to
// it, and then the search goes on there.
func (k key) value(s string) (from, to int) {
	i := k.end
	for i < len(s) && strings.IndexByte(`"'\])`, s[i]) >= 0 {
		i++
	}
	closed := i > k.end // the quotes around the key are closed
	i = skip(s, i, " \t")
	switch rest := s[min(i, len(s)):]; {
	case strings.HasPrefix(rest, "::"):
		return i + 2, i + 2
	case operatorAt(rest) > 0:
		i += operatorAt(rest)
	case strings.HasPrefix(rest, ":"), strings.HasPrefix(rest, "="):
		i++
	case strings.HasPrefix(rest, ">") && i == k.end && k.start > 0 && s[k.start-1] == '<':
		return i + 1, i + 1 + until(rest[1:], "<")
	case k.flag && !closed && i > k.end && rest != "" && strings.IndexByte("-\r\n|&;", rest[0]) < 0:
		return i, k.bare(s, i, false)
	default:
		return k.end, k.end
	}
	from = skip(s, i, " \t")
	if closed {
		from = skip(s, from, " \t\r\n")
	}
	if from == len(s) {
		return from, from
	}
	if to := enclosed(s, from); to > from {
		return from, k.tail(s, to)
	}
	if closed {
		if to := from + until(s[from:], ",]} \t\r\n"); isLiteral(s[from:to]) {
			return from, to
		}
	}
	return from, k.bare(s, from, from > i || k.first)
}

// operators assign a value, or compare with one, as programs write it.
var operators = []string{"===", "||=", "=>", ":=", "==", "!=", "+=", "+>"}

// operatorAt returns the length of the operator that a text begins with; 0 if there is none.
func operatorAt(s string) int {
	for _, op := range operators {
		if strings.HasPrefix(s, op) {
			return len(op)
		}
	}
	return 0
}

// bare returns the end of a value without quotes that begins at from: the next
// blank, or the end of the line and of what belongs to it.
func (k key) bare(s string, from int, line bool) int {
	if k.quote != 0 && k.end < len(s) && s[k.end] != k.quote {
		// The quote in front of the key closes behind the value.
		if n := strings.IndexByte(s[from:], k.quote); n >= 0 && k.tail(s, from+n+1) == from+n+1 {
			return from + n
		}
	}
	if !line {
		return from + until(s[from:], " \t\r\n")
	}
	to := from + until(s[from:], "\r\n")
	if k.first {
		return k.block(s, to)
	}
	return to
}

// tail returns the end of a value that was quoted up to to: there, if a
// delimiter follows, else the end of the line.
func (k key) tail(s string, to int) int {
	if to == len(s) || strings.IndexByte(",;)}]>&|\"'\\ \t\r\n", s[to]) >= 0 {
		return to
	}
	return to + until(s[to:], "\r\n")
}

// block returns the end of the lines below to that belong to k: those that are
// indented deeper, and blank ones between them; of a list also those that
// begin with a dash.
func (k key) block(s string, to int) int {
	for at := to; at < len(s); {
		at = skip(s, at, "\r")
		if at == len(s) || s[at] != '\n' {
			return to
		}
		line := at + 1
		text := skip(s, line, " \t")
		end := text + until(s[text:], "\r\n")
		switch {
		case text == end: // blank: it belongs to k if what follows does
		case text-line > k.indent, text-line == k.indent && strings.HasPrefix(s[text:], "- "):
			to = end
		default:
			return to
		}
		at = end
	}
	return to
}

// enclosed returns the end of the quotes or brackets that open at from, or from
// if none do. What does not close ends with s.
func enclosed(s string, from int) int {
	slashes := skip(s, from, `\`) - from
	at := from + slashes
	if at == len(s) {
		return from
	}
	switch c := s[at]; {
	case c == '"' || c == '\'':
		return quoted(s, at+1, c, slashes)
	case (c == '{' || c == '[') && slashes == 0:
		return bracketed(s, at)
	}
	return from
}

// quoted returns the end of the quotes that close with as many backslashes in
// front as they were opened with.
func quoted(s string, at int, quote byte, slashes int) int {
	for at < len(s) {
		n := 0
		for at+n < len(s) && s[at+n] == '\\' {
			n++
		}
		at += n
		if at == len(s) {
			break
		}
		if s[at] == quote && (n == slashes || slashes == 0 && quote == '"' && n%2 == 0 || slashes == 0 && quote == '\'') {
			if quote == '\'' && at+1 < len(s) && s[at+1] == quote {
				at += 2 // YAML writes a quote within quotes twice
				continue
			}
			return at + 1
		}
		at++
	}
	return len(s)
}

// bracketed returns the end of the bracket that opens at from.
func bracketed(s string, from int) int {
	open := 0
	for at := from; at < len(s); {
		switch c := s[at]; c {
		case '{', '[':
			open++
		case '}', ']':
			if open--; open == 0 {
				return at + 1
			}
		case '"', '\'':
			at = quoted(s, at+1, c, 0)
			continue
		}
		at++
	}
	return len(s)
}

// isLiteral reports whether s is a number, true, false or null.
func isLiteral(s string) bool {
	return s == "true" || s == "false" || s == "null" || s != "" && strings.Trim(s, "0123456789+-.eE") == ""
}

func skip(s string, i int, set string) int {
	for i < len(s) && strings.IndexByte(set, s[i]) >= 0 {
		i++
	}
	return i
}

// back returns where the bytes of set that end at i begin.
func back(s string, i int, set string) int {
	for i > 0 && strings.IndexByte(set, s[i-1]) >= 0 {
		i--
	}
	return i
}

// until returns the length of s up to the first byte of set.
func until(s, set string) int {
	if i := strings.IndexAny(s, set); i >= 0 {
		return i
	}
	return len(s)
}
