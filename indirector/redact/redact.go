// Package redact takes secrets out of values and texts before they are shown,
// copied, exported or recorded.
//
// Secrets are values whose name contains a word such as password, rich data that
// is Sensitive, the sensitive_parameters of catalog resources, redacted events
// of reports, what is known by its form (private keys, tokens, hashes of
// passwords), and in free text also the passwords of URLs and those that
// commands are given. The tables of rules.go have the words and the forms. In
// doubt it redacts too much: a redacted value can be revealed, a shown one
// cannot be taken back.
//
// Each becomes "(masked KIND, LENGTH B, tag XXXX)". Equal secrets have equal
// tags as long as the salt is the same. Without the salt a tag reveals nothing:
// never write the salt next to it.
//
// Rules: UI design, section 12, FMT-REP-05.
package redact

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"sync"

	"indirtui/indirector/data"
)

// Rules add to the built-in rules.
type Rules struct {
	Names []string // further words that make a name secret
	Salt  []byte   // key of the tags; nil makes a new one
}

// A Redactor replaces secrets. It is safe for concurrent use.
type Redactor struct {
	salt  []byte
	words [rows][columns][]word // by the row of their first letter and the column of the next byte
	forms [256][]form           // by their first byte

	// In most texts three neighbouring bytes show that nothing begins there:
	// third has, by the row of the first and the column of the second, the columns
	// that may follow. Row 0 is empty.
	row, column [256]uint8
	third       [rows][columns]uint64
	lastRow     uint8
}

// Bytes share a row when there are more of them, and a column always.
const rows, columns = 64, 64

// A word is a part of a name, folded.
type word struct {
	folded string
	rule   string
	where  place
}

// The rules that are neither names nor forms.
const (
	RuleKey       = "private key"
	RuleSensitive = "Sensitive"
	RuleParameter = "sensitive parameter"
	RuleEvent     = "redacted event"
	RuleURL       = "password in URL"
	RuleDepth     = "too deep"
)

// Redacted is a secret that was replaced.
type Redacted struct {
	Path string // "resources[3].parameters.content"; "" is the value itself
	Rule string // one of the rules above, or the word that was found in the name
}

// New returns the Redactor for r.
func New(r Rules) *Redactor {
	m := &Redactor{salt: r.Salt}
	for c := range m.column {
		m.column[c] = columnOf(byte(c))
	}
	if m.salt == nil {
		m.salt = make([]byte, 32)
		_, _ = rand.Read(m.salt) // never fails
	}
	for header := range strings.FieldsSeq(headers) {
		m.add(header, RuleHeader, atEnd)
	}
	for _, n := range names {
		for word := range strings.FieldsSeq(n.words) {
			m.add(word, word, n.where)
		}
	}
	for _, n := range r.Names {
		m.add(n, n, anywhere)
	}
	m.addForms()
	m.mayBegin("---", false) // BEGIN
	m.mayBegin(":/", false)
	return m
}

// mayBegin notes that something begins with s, perhaps with separators between
// its letters. It returns the row of its first byte and the columns that may
// follow.
func (m *Redactor) mayBegin(s string, spaced bool) (row uint8, second uint64) {
	separator := uint64(1) << m.column['_']
	second, third := uint64(anything), uint64(anything)
	if len(s) > 1 {
		second = 1 << m.column[s[1]]
	}
	if len(s) > 2 {
		third = 1 << m.column[s[2]]
	}
	if spaced {
		third |= separator
	}
	first := lower(s[0])
	if m.row[first] == 0 {
		m.lastRow = min(m.lastRow+1, rows-1)
		m.row[first] = m.lastRow
		if 'a' <= first && first <= 'z' {
			m.row[first-'a'+'A'] = m.lastRow
		}
	}
	thirds := &m.third[m.row[first]]
	for c := range thirds {
		if second&(1<<c) != 0 {
			thirds[c] |= third
		}
	}
	if spaced {
		thirds[m.column['_']] |= second | separator
		second |= separator
	}
	return m.row[first], second
}

// columnOf is the column of a byte. Letters have one each, in both cases; all
// that may separate the letters of a word share one.
func columnOf(c byte) uint8 {
	c = lower(c)
	switch {
	case 'a' <= c && c <= 'z':
		return c - 'a'
	case isSeparator(c):
		return 26
	}
	return 27 + c%37
}

func isSeparator(c byte) bool { return c == '_' || c == '-' || c == '.' || c == ' ' }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// at returns the word that s[i:] begins with, and where it ends.
func (m *Redactor) at(s string, i int) (*word, int) {
	second := m.column['_']
	if i+1 < len(s) {
		second = m.column[s[i+1]]
	}
	words := m.words[m.row[s[i]]][second]
next:
	for w := range words {
		word := &words[w]
		spaced := word.where.spaced()
		if lower(s[i]) != word.folded[0] { // rows may be shared
			continue
		}
		j := i + 1
		for k := 1; k < len(word.folded); j++ {
			switch {
			case j == len(s):
				continue next
			case lower(s[j]) == word.folded[k]:
				k++
			case !spaced || !isSeparator(s[j]):
				continue next
			}
		}
		if word.where.stands(s, i, j) {
			return word, j
		}
	}
	return nil, 0
}

// stands reports whether a word from i to end stands where it must.
func (p place) stands(s string, i, end int) bool {
	switch p {
	case anywhere, keyword:
		return true
	case query:
		return i > 0 && (s[i-1] == '?' || s[i-1] == '&') && end < len(s) && s[end] == '='
	case part, lastPart:
		if i > 0 && isLetter(s[i-1]) && (isUpper(s[i-1]) || !isUpper(s[i])) ||
			end < len(s) && isLetter(s[end]) && (isUpper(s[end-1]) || !isUpper(s[end])) {
			return false
		}
	}
	return p == part || end == len(s) || !isKeyByte(s[end]) || s[end] == ':'
}

func isLetter(c byte) bool { return 'a' <= lower(c) && lower(c) <= 'z' || c >= 0x80 }

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

// next returns the first position from i on at which a word, or a secret without
// a name, may begin; the length of s if there is none.
func (m *Redactor) next(s string, i int) int {
	for ; i+2 < len(s); i++ {
		if m.third[m.row[s[i]]%rows][m.column[s[i+1]]%columns]>>(m.column[s[i+2]]%64)&1 != 0 && m.begins(s, i) {
			return i
		}
	}
	for ; i < len(s); i++ {
		if m.row[s[i]] != 0 && m.begins(s, i) {
			return i
		}
	}
	return len(s)
}

// anything may follow a letter that is a word.
const anything = 1<<64 - 1

func (m *Redactor) begins(s string, i int) bool {
	switch s[i] {
	case '-':
		return strings.HasPrefix(s[i+1:], "-") || i > 0 && !isWordByte(s[i-1])
	case ':':
		return true
	}
	if w, _ := m.at(s, i); w != nil {
		return true
	}
	_, _, rule := m.form(s, i)
	return rule != ""
}

// named returns the rule by which the value of the name is a secret, or "".
func (m *Redactor) named(name string, value data.Value) string {
	for i := m.next(name, 0); i < len(name); i = m.next(name, i+1) {
		w, _ := m.at(name, i)
		if w == nil || w.where == query || value.Kind() <= data.Float && w.isHarmless(name, value.Text()) ||
			value.Kind() == data.String && w.isHarmless(name, value.Str()) {
			continue
		}
		if strings.ContainsAny(name, "[/") {
			return "" // a resource, a path: not a name
		}
		return w.rule
	}
	return ""
}

// redacted is how all begins that stands for a secret.
const redacted = "(masked "

// token returns the replacement of a secret.
func (m *Redactor) token(kind, secret string) string {
	h := hmac.New(sha256.New, m.salt)
	h.Write([]byte(secret))
	tag := hex.EncodeToString(h.Sum(nil)[:2])
	return redacted + kind + ", " + strconv.Itoa(len(secret)) + " B, tag " + tag + ")"
}

// tokenAt returns the length of what token returned if s begins with it, else 0.
func tokenAt(s string) int {
	rest, ok := strings.CutPrefix(s, redacted)
	if !ok {
		return 0
	}
	kind := until(rest[:min(len(rest), 60)], "(),\n")
	rest, ok = strings.CutPrefix(rest[kind:], ", ")
	if !ok || kind == 0 {
		return 0
	}
	digits := skip(rest, 0, "0123456789")
	rest, ok = strings.CutPrefix(rest[digits:], " B, tag ")
	if !ok || digits == 0 || digits > 12 || len(rest) < 5 || skip(rest[:4], 0, "0123456789abcdef") < 4 || rest[4] != ')' {
		return 0
	}
	return len(s) - len(rest) + 5
}

// maxDepth is the depth below which all of a value is redacted.
const maxDepth = 1000

// A stop is one step of the path to the walk's position. The path is written
// only for secrets.
type stop struct {
	key   string
	index int // of a list; -1 for a key
}

type walk struct {
	*Redactor
	at    []stop
	found []Redacted
}

var walks = sync.Pool{New: func() any { return new(walk) }}

// Value returns v with every secret in it replaced, and the secrets. Parts
// without secrets are shared with v; without any, v itself is returned. Nil,
// booleans and empty values are never secret.
func (m *Redactor) Value(v data.Value) (data.Value, []Redacted) {
	w := walks.Get().(*walk)
	w.Redactor = m
	v, _ = w.value(v)
	found := w.found
	w.Redactor, w.found = nil, nil
	clear(w.at[:cap(w.at)]) // the names of keys
	walks.Put(w)
	return v, found
}

// Governs reports whether the name of p decides what is redacted in the other
// pairs of its hash. Any other hash may be redacted pair by pair.
func Governs(p data.Pair) bool {
	switch p.Key.Str() {
	case "__ptype", "__pcore_type__", "sensitive_parameters", "redacted", "property":
		return true
	}
	return false
}

func (w *walk) value(v data.Value) (data.Value, bool) {
	switch v.Kind() {
	case data.String, data.Symbol:
		return w.str(v)
	case data.List:
		if len(w.at) >= maxDepth {
			return w.secret(v, RuleDepth)
		}
		return w.list(v)
	case data.Hash:
		if len(w.at) >= maxDepth {
			return w.secret(v, RuleDepth)
		}
		return w.hash(v)
	}
	return v, false
}

// below and above move the walk into a part and back.
func (w *walk) below(key string, index int) { w.at = append(w.at, stop{key, index}) }
func (w *walk) above()                      { w.at = w.at[:len(w.at)-1] }

func (w *walk) str(v data.Value) (data.Value, bool) {
	s, hits := w.text(v.Str())
	if len(hits) == 0 {
		return v, false
	}
	for _, rule := range hits {
		w.note(rule)
	}
	if v.Kind() == data.Symbol {
		return data.OfSymbol(s), true
	}
	return data.OfString(s), true
}

// secret replaces all of v.
func (w *walk) secret(v data.Value, rule string) (data.Value, bool) {
	switch k := v.Kind(); {
	case k == data.Nil || k == data.Bool || (k >= data.String && v.Len() == 0):
		return v, false
	case (k == data.String || k == data.Symbol) && tokenAt(v.Str()) == v.Len():
		return v, false
	case k == data.Hash && isSensitive(v):
		return w.sensitive(v)
	}
	w.note(rule)
	return data.OfString(w.token(rule, v.Text())), true
}

// ruled is secret if there is a rule and v can be a secret, else value.
func (w *walk) ruled(v data.Value, rule string) (data.Value, bool) {
	if rule == "" {
		return w.value(v)
	}
	return w.secret(v, rule)
}

func (w *walk) note(rule string) {
	w.found = append(w.found, Redacted{w.path(), rule})
}

func (w *walk) list(v data.Value) (data.Value, bool) {
	old := w.arguments(v.List())
	var l []data.Value
	if len(old) > 0 && &old[0] != &v.List()[0] {
		l = old
	}
	for i := range old {
		w.below("", i)
		x, changed := w.value(old[i])
		w.above()
		if !changed {
			continue
		}
		if l == nil {
			l = append(make([]data.Value, 0, len(old)), old...)
		}
		l[i] = x
	}
	if l == nil {
		return v, false
	}
	return data.OfList(l), true
}

// arguments returns the arguments of a command, those redacted that the ones in
// front of them make a secret; all else as it is.
func (w *walk) arguments(old []data.Value) []data.Value {
	flags := false
	for i := range old {
		s := old[i].Str()
		if old[i].Kind() != data.String || len(s) > maxURL {
			return old
		}
		flags = flags || strings.HasPrefix(s, "-")
	}
	if !flags {
		return old
	}
	var line strings.Builder
	for i := range old {
		line.WriteString(old[i].Str() + " ")
	}
	hits := w.hits(line.String())
	if hits == nil {
		return old
	}
	l := append(make([]data.Value, 0, len(old)), old...)
	for i, at := 0, 0; i < len(old); i++ {
		s := old[i].Str()
		for _, h := range hits {
			from, to := max(h.from-at, 0), min(h.to-at, len(s))
			if from >= to {
				continue
			}
			w.below("", i)
			w.note(h.rule)
			w.above()
			l[i] = data.OfString(s[:from] + w.token(h.rule, s[from:to]) + s[to:])
			break // one argument has one secret
		}
		at += len(s) + 1
	}
	return l
}

// A special is what the keys of a hash decide for all of it.
type special struct {
	parameters []data.Value // names of the secret ones among "parameters"
	redacted   bool         // an event, or one of a secret property
	pairs      bool         // rich data: a hash written as a list
}

func (w *walk) hash(v data.Value) (data.Value, bool) {
	var is special
	old := v.Hash()
	for i := range old {
		x := old[i].Value
		switch old[i].Key.Str() {
		case "__ptype", "__pcore_type__":
			if x.Str() == "Sensitive" {
				return w.sensitive(v)
			}
			is.pairs = x.Str() == "Hash"
		case "sensitive_parameters":
			is.parameters = x.List()
		case "redacted":
			is.redacted = is.redacted || x.Truthy()
		case "property":
			_, event := v.Lookup("desired_value")
			is.redacted = is.redacted || event && w.named(x.Str(), v.Get("desired_value")) != ""
		}
	}
	var h []data.Pair
	for i := range old {
		p, changed := w.pair(&old[i], &is)
		if !changed {
			continue
		}
		if h == nil {
			h = append(make([]data.Pair, 0, len(old)), old...)
		}
		h[i] = p
	}
	if h == nil {
		return v, false
	}
	return data.OfHash(h), true
}

func isSensitive(v data.Value) bool {
	return v.Get("__ptype").Str() == "Sensitive" || v.Get("__pcore_type__").Str() == "Sensitive"
}

// sensitive redacts a wrapped value by its text, so that its tag is that of the
// same secret elsewhere.
func (w *walk) sensitive(v data.Value) (data.Value, bool) {
	w.note(RuleSensitive)
	return data.OfString(w.token(RuleSensitive, v.Get("__pvalue").Text())), true
}

func (w *walk) pair(p *data.Pair, is *special) (data.Pair, bool) {
	key, keyChanged, rule := p.Key, false, ""
	name := key.Str()
	if name == "" || w.next(name, 0) < len(name) { // else nothing in it is of interest
		key, keyChanged = w.value(p.Key)
		rule = w.named(name, p.Value)
	}
	w.below(key.Text(), -1)
	defer w.above()
	if rule == "" && is.redacted && isEventValue(name) && !isRedacted(p.Value.Str()) {
		rule = RuleEvent
	}
	var x data.Value
	var changed bool
	switch {
	case is.parameters != nil && name == "parameters" && p.Value.Kind() == data.Hash:
		x, changed = w.parameters(p.Value, is.parameters)
	case is.pairs && name == "__pvalue" && p.Value.Kind() == data.List:
		x, changed = w.pairs(p.Value)
	default:
		x, changed = w.ruled(p.Value, rule)
	}
	return data.Pair{Key: key, Value: x}, changed || keyChanged
}

func isEventValue(name string) bool {
	switch name {
	case "previous_value", "desired_value", "historical_value", "message":
		return true
	}
	return false
}

// isRedacted knows what Puppet itself writes instead of a secret.
func isRedacted(s string) bool {
	return s == "[redacted]" || s == "changed [redacted] to [redacted]"
}

// parameters redacts the parameters that a resource names as sensitive, then
// walks all of them.
func (w *walk) parameters(v data.Value, sensitive []data.Value) (data.Value, bool) {
	old := v.Hash()
	h := append(make([]data.Pair, 0, len(old)), old...)
	any := false
	for i := range h {
		for _, name := range sensitive {
			if h[i].Key.Str() != name.Str() {
				continue
			}
			w.below(name.Str(), -1)
			x, changed := w.secret(h[i].Value, RuleParameter)
			w.above()
			if changed {
				h[i].Value, any = x, true
			}
			break
		}
	}
	if !any {
		return w.hash(v)
	}
	v, _ = w.hash(data.OfHash(h))
	return v, true
}

// pairs redacts a hash that is written as a list: key, value, key, value.
func (w *walk) pairs(v data.Value) (data.Value, bool) {
	old := v.List()
	l := append(make([]data.Value, 0, len(old)), old...)
	any := false
	for i := range l {
		rule := ""
		if i%2 == 1 {
			rule = w.named(old[i-1].Str(), old[i])
		}
		w.below("", i)
		x, changed := w.ruled(l[i], rule)
		w.above()
		if changed {
			l[i], any = x, true
		}
	}
	if !any {
		return v, false
	}
	return data.OfList(l), true
}

// path returns where the walk is: resources[3].parameters.content.
func (w *walk) path() string {
	var b strings.Builder
	for _, s := range w.at {
		switch {
		case s.index >= 0:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case strings.ContainsAny(s.key, ".[]\" \n"):
			b.WriteString("[" + strconv.Quote(s.key) + "]")
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.key)
		}
	}
	return b.String()
}
