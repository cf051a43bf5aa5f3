package erb

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/onig"
)

// A value is one of Ruby: nil, bool, int64, *big.Int, float64, *text, symbol, *list,
// *table, *proc, *span, *pattern, *found, *failure, class, self, scopeObject, or the
// rich value of the language that data.Value holds, and address.
type value any

type (
	// A text is a string, which can be changed unless it came from a manifest.
	text struct {
		s      string
		frozen bool
	}
	symbol string
	list   struct {
		l       []value
		isLazy  bool   // an enumerator, all of whose elements are known
		method  string // that with_index goes on with
		subject value
		pairs   bool // each element is what a block is given as two
	}
	// A span is a range.
	span struct {
		from, to  value
		exclusive bool
	}
	pattern struct {
		source  string
		options int
		re      *onig.Regexp
	}
	// A found is what a regular expression matched.
	found struct {
		s  string
		at []int
		re *onig.Regexp
	}
	// A failure is an exception.
	failure struct{ class, message string }
	class   string
	// self is what a template is evaluated in.
	self        struct{}
	scopeObject struct{}
	rich        struct{ v data.Value }
)

// A table is a hash, in the order of its keys.
type table struct {
	keys, values []value
	index        map[string]int
	usual        value // of keys that are not there
	maker        *proc // of values that are not there; or nil
}

func newTable() *table { return &table{index: map[string]int{}} }

func (t *table) get(key value) (value, bool) {
	i, ok := t.index[keyOf(key)]
	if !ok {
		return nil, false
	}
	return t.values[i], true
}

func (t *table) put(key, v value) {
	k := keyOf(key)
	if i, ok := t.index[k]; ok {
		t.values[i] = v
		return
	}
	if s, ok := key.(*text); ok && !s.frozen {
		key = &text{s.s, true}
	}
	t.index[k] = len(t.keys)
	t.keys, t.values = append(t.keys, key), append(t.values, v)
}

func (t *table) remove(key value) (value, bool) {
	i, ok := t.index[keyOf(key)]
	if !ok {
		return nil, false
	}
	v := t.values[i]
	keys, values := t.keys, t.values
	t.keys, t.values, t.index = nil, nil, map[string]int{}
	for j := range keys {
		if j != i {
			t.put(keys[j], values[j])
		}
	}
	return v, true
}

func (t *table) pairs() []value {
	out := make([]value, len(t.keys))
	for i := range t.keys {
		out[i] = &list{l: []value{t.keys[i], t.values[i]}}
	}
	return out
}

// keyOf returns bytes that two values share if a hash takes them for one key.
func keyOf(v value) string { return keyAt(v, 0) }

func keyAt(v value, depth int) string {
	switch v := v.(type) {
	case *text:
		return "s" + v.s
	case symbol:
		return ":" + string(v)
	case float64:
		return "f" + strconv.FormatFloat(v, 'g', -1, 64)
	case *list:
		if depth > maxDepth { // of a key that was changed after it was put
			return "..."
		}
		var b strings.Builder
		b.WriteString("[")
		for _, x := range v.l {
			k := keyAt(x, depth+1)
			fmt.Fprintf(&b, "%d:%s", len(k), k)
		}
		return b.String()
	case *table:
		return fmt.Sprintf("%p", v)
	case *big.Int:
		return "i" + v.String()
	case int64:
		return "i" + strconv.FormatInt(v, 10)
	case rich:
		return "r" + string(data.AppendBinary(nil, v.v))
	}
	return fmt.Sprintf("%T%v", v, v)
}

func truthy(v value) bool { return v != nil && v != false }

func str(s string) *text { return &text{s: s} }

// whole returns an integer, big only if it must be.
func whole(n *big.Int) value {
	if n.IsInt64() {
		return n.Int64()
	}
	return n
}

// fromData returns a value of the language. Strings are frozen.
func fromData(v data.Value) value {
	switch v.Kind() {
	case data.Nil:
		return nil
	case data.Bool:
		return v.Bool()
	case data.Int:
		return v.Int()
	case data.Big:
		return v.Big()
	case data.Float:
		return v.Float()
	case data.String:
		return &text{v.Str(), true}
	case data.Symbol:
		return symbol(v.Str())
	case data.List:
		out := &list{l: make([]value, v.Len())}
		for i, x := range v.List() {
			out.l[i] = fromData(x)
		}
		return out
	case data.Hash:
		out := newTable()
		for _, p := range v.Hash() {
			out.put(fromData(p.Key), fromData(p.Value))
		}
		return out
	}
	if k, ok := v.Rich().(stored); ok {
		return k.value
	}
	return rich{v}
}

// A stored value is a list or hash that a template put into a variable: later templates
// change it in place.
type stored struct{ value }

func (k stored) String() string { return toS(k.value) }

// EqualRich implements data.RichValue.
func (k stored) EqualRich(o data.RichValue) bool {
	other, ok := o.(stored)
	return ok && (k.value == other.value || k.isBounded() && equal(k.value, other.value))
}

// isBounded reports whether a value can be compared in a time that can be waited for: what
// is stored may have grown since it was weighed.
func (k stored) isBounded() bool {
	left := 1 << 20
	return walk(k.value, 0, func(_ value, parts int) error {
		if left -= parts; left < 0 {
			return errTooDeep
		}
		return nil
	}) == nil
}

// toVariable returns a value for a variable of the scope.
func toVariable(v value) (data.Value, error) {
	switch v.(type) {
	case *list, *table:
		return data.OfRich(stored{v}), nil
	}
	return toData(v)
}

// toData returns a value for the language.
func toData(v value) (data.Value, error) {
	switch v := v.(type) {
	case nil:
		return data.Value{}, nil
	case bool:
		return data.OfBool(v), nil
	case int64:
		return data.OfInt(v), nil
	case *big.Int:
		return data.OfBig(v), nil
	case float64:
		return data.OfFloat(v), nil
	case *text:
		return data.OfString(v.s), nil
	case symbol:
		if v == "undef" {
			return data.Value{}, nil
		}
		return data.OfSymbol(string(v)), nil
	case *list:
		out := make([]data.Value, len(v.l))
		for i, x := range v.l {
			d, err := toData(x)
			if err != nil {
				return d, err
			}
			out[i] = d
		}
		return data.OfList(out), nil
	case *table:
		out := make([]data.Pair, len(v.keys))
		for i := range v.keys {
			key, err := toData(v.keys[i])
			if err != nil {
				return key, err
			}
			x, err := toData(v.values[i])
			if err != nil {
				return x, err
			}
			out[i] = data.Pair{Key: key, Value: x}
		}
		return data.OfHash(out), nil
	case rich:
		return v.v, nil
	}
	return data.Value{}, &failure{"TypeError", "a value of the class " + classOf(v) + " is none of the language"}
}

// Error returns the message.
func (f *failure) Error() string { return f.message }

func fail(class, format string, args ...any) error {
	return &failure{class, fmt.Sprintf(format, args...)}
}

// classOf returns the name of the class of a value.
func classOf(v value) string {
	switch v := v.(type) {
	case nil:
		return "NilClass"
	case bool:
		if v {
			return "TrueClass"
		}
		return "FalseClass"
	case int64, *big.Int:
		return "Integer"
	case float64:
		return "Float"
	case *text:
		return "String"
	case symbol:
		return "Symbol"
	case *list:
		if v.isLazy {
			return "Enumerator"
		}
		return "Array"
	case *table:
		return "Hash"
	case *proc:
		return "Proc"
	case *span:
		return "Range"
	case *pattern:
		return "Regexp"
	case *found:
		return "MatchData"
	case *failure:
		return v.class
	case class:
		return "Class"
	case scopeObject:
		return "Puppet::Parser::Scope"
	case address:
		return "IPAddr"
	case rich:
		return "Object"
	}
	return "Puppet::Parser::TemplateWrapper"
}

// maxShown is where a text ends that would be longer.
const maxShown = 64 << 20

// plainSymbol matches what needs no quotes in a symbol.
var plainSymbol = regexp.MustCompile(`^(?:[\pL_][\pL\pN_]*[?!=]?|[+\-*/%<>~!^&|]|\*\*|[<>=]=|<=>|===?|=~|!~|!=|<<|>>|\[\]=?|[+\-]@)$`)

// inspect is Ruby's method of that name.
func inspect(v value) string {
	var b strings.Builder
	write(&b, v, 0)
	return b.String()
}

func write(b *strings.Builder, v value, depth int) {
	if depth > maxNesting || b.Len() > maxShown {
		b.WriteString("...")
		return
	}
	switch v := v.(type) {
	case nil:
		b.WriteString("nil")
	case *text:
		b.WriteString(data.InspectString(v.s))
	case symbol:
		if plainSymbol.MatchString(string(v)) {
			b.WriteString(":" + string(v))
		} else {
			b.WriteString(":" + data.InspectString(string(v)))
		}
	case *list:
		b.WriteString("[")
		for i, x := range v.l {
			if i > 0 {
				b.WriteString(", ")
			}
			write(b, x, depth+1)
		}
		b.WriteString("]")
	case *table:
		b.WriteString("{")
		for i := range v.keys {
			if i > 0 {
				b.WriteString(", ")
			}
			write(b, v.keys[i], depth+1)
			b.WriteString("=>")
			write(b, v.values[i], depth+1)
		}
		b.WriteString("}")
	case *span:
		write(b, v.from, depth+1)
		b.WriteString(v.dots())
		if v.to != nil {
			write(b, v.to, depth+1)
		}
	case *pattern:
		b.WriteString("/" + v.source + "/" + v.letters())
	case *failure:
		b.WriteString("#<" + v.class + ": " + v.message + ">")
	case *found:
		b.WriteString("#<MatchData " + data.InspectString(v.group(0).(*text).s) + ">")
	case rich:
		b.WriteString(v.v.Inspect())
	default:
		b.WriteString(toS(v))
	}
}

// toS is Ruby's to_s.
func toS(v value) string {
	switch v := v.(type) {
	case nil:
		return ""
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case *big.Int:
		return v.String()
	case float64:
		return data.FormatFloat(v)
	case *text:
		return v.s
	case symbol:
		return string(v)
	case class:
		return string(v)
	case *failure:
		return v.message
	case *span:
		return toS(v.from) + v.dots() + toS(v.to)
	case *pattern:
		return v.embedded()
	case *found:
		return toS(v.group(0))
	case rich:
		return v.v.Text()
	case address:
		return v.String()
	case self:
		return "#<Puppet::Parser::TemplateWrapper>"
	case scopeObject:
		return "Scope()"
	case *proc:
		return "#<Proc>"
	}
	return inspect(v)
}

func (r *span) dots() string {
	if r.exclusive {
		return "..."
	}
	return ".."
}

// letters are the options of a regular expression, as they stand behind it.
func (p *pattern) letters() string {
	on := ""
	for i, bit := range []int{4, 1, 2} {
		if p.options&bit != 0 {
			on += "mix"[i : i+1]
		}
	}
	return on
}

// embedded is the form of a regular expression within another.
func (p *pattern) embedded() string {
	on, off := p.letters(), ""
	for _, l := range "mix" {
		if !strings.ContainsRune(on, l) {
			off += string(l)
		}
	}
	if off != "" {
		off = "-" + off
	}
	return "(?" + on + off + ":" + p.source + ")"
}

// group returns what a group matched.
func (m *found) group(i int) value {
	if i < 0 {
		i += len(m.at) / 2
	}
	if i < 0 || 2*i+1 >= len(m.at) || m.at[2*i] < 0 {
		return nil
	}
	return str(m.s[m.at[2*i]:m.at[2*i+1]])
}
