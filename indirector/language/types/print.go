package types

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/rich"
)

// A printer appends types to its text.
type printer struct {
	b        []byte
	expanded bool // aliases with their definitions
	objects  bool // Object types with their definitions
	exact    bool // with all that distinguishes types, for Equal
	within   []*aliasType
}

// plainly returns t as Puppet prints it within other text: aliases by name.
func plainly(t Type) string {
	var p printer
	t.print(&p)
	return string(p.b)
}

// expanded returns t with the definitions of aliases behind their names.
func expanded(t Type) string {
	p := printer{expanded: true, objects: true}
	t.print(&p)
	return string(p.b)
}

// exact returns a text that is that of no other type.
func exact(t Type) string {
	p := printer{exact: true}
	t.print(&p)
	return string(p.b)
}

func equal(a, b Type) bool {
	return a == nil && b == nil || a != nil && b != nil && exact(a) == exact(b)
}

// with appends name[…], or the name alone if body appends nothing.
func (p *printer) with(name string, body func()) {
	p.b = append(p.b, name...)
	at := len(p.b)
	p.b = append(p.b, '[')
	if body(); len(p.b) == at+1 {
		p.b = p.b[:at]
		return
	}
	p.b = append(p.b, ']')
}

// next appends a comma if something stands in the brackets that began at from.
func (p *printer) next(from int) {
	if len(p.b) > from {
		p.b = append(p.b, ", "...)
	}
}

func (p *printer) list(from int, types ...Type) {
	for _, t := range types {
		p.next(from)
		t.print(p)
	}
}

func (p *printer) size(from int, r *interval) {
	if r == nil || r.isUnlimited() {
		return
	}
	p.next(from)
	p.b = r.appendEnds(p.b)
}

// typeSetParameters are what Puppet shows of the set that has no types.
const typeSetParameters = "[{pcore_uri => 'http://puppet.com/2016.1/pcore', pcore_version => '1.0.0', " +
	"name_authority => 'http://puppet.com/2016.1/runtime', name => 'DefaultTypeSet', version => '0.0.0'}]"

func (t plain) print(p *printer) {
	p.b = append(p.b, t...)
	switch {
	case t == objectType && p.expanded:
		p.b = append(p.b, "[{}]"...)
	case t == typeSetType && !p.exact:
		p.b = append(p.b, typeSetParameters...)
	}
}

func (t integerType) print(p *printer) {
	p.with("Integer", func() {
		if t.big != "" {
			p.b = append(p.b, t.big+", "+t.big...)
			return
		}
		p.b = t.appendEnds(p.b)
	})
}

func (t floatType) print(p *printer) {
	p.with("Float", func() {
		if math.IsInf(t.from, -1) && math.IsInf(t.to, 1) {
			return
		}
		if math.IsInf(t.from, -1) {
			p.b = append(p.b, "default"...)
		} else {
			p.b = append(p.b, data.FormatFloat(t.from)...)
		}
		if !math.IsInf(t.to, 1) {
			p.b = append(append(p.b, ", "...), data.FormatFloat(t.to)...)
		}
	})
}

func (t stringType) print(p *printer) {
	p.with("String", func() {
		p.size(len(p.b), t.size)
		if p.exact && t.literal {
			p.b = strconv.AppendQuote(p.b, t.value)
		}
	})
}

func (t enumType) print(p *printer) {
	p.with("Enum", func() {
		from := len(p.b)
		for _, v := range t.values {
			p.next(from)
			p.b = append(p.b, rich.Quote(v)...)
		}
		if t.fold {
			p.b = append(p.b, ", true"...)
		}
	})
}

func (t patternType) print(p *printer) {
	p.with("Pattern", func() {
		texts := make([]string, len(t.patterns))
		for i, r := range t.patterns {
			texts[i] = r.literal()
		}
		if p.exact {
			slices.Sort(texts)
		}
		p.b = append(p.b, strings.Join(texts, ", ")...)
	})
}

func (t regexpType) print(p *printer) {
	p.with("Regexp", func() {
		if t.pattern != nil {
			p.b = append(p.b, t.pattern.literal()...)
		}
	})
}

func (t booleanType) print(p *printer) {
	p.with("Boolean", func() {
		if t.only != nil {
			p.b = strconv.AppendBool(p.b, *t.only)
		}
	})
}

func (t timestampType) print(p *printer) {
	p.times("Timestamp", t.period, moment.timestamp)
}

func (t timespanType) print(p *printer) { p.times("Timespan", t.period, moment.timespan) }

func (p *printer) times(name string, r period, format func(moment) string) {
	p.with(name, func() {
		if r.isUnlimited() {
			return
		}
		if r.noFrom {
			p.b = append(p.b, "default"...)
		} else {
			p.b = append(p.b, "'"+format(r.from)+"'"...)
		}
		if !r.noTo && (r.noFrom || r.to != r.from || p.exact) {
			p.b = append(p.b, ", '"+format(r.to)+"'"...)
		}
	})
}

func (t versionType) print(p *printer) {
	p.with("SemVer", func() {
		if p.exact {
			texts := make([]string, len(t.ranges))
			for i, r := range t.ranges {
				texts[i] = r.meaning()
			}
			p.b = append(p.b, strings.Join(sortedSet(texts), "; ")...)
			return
		}
		for i, r := range t.ranges {
			if i > 0 {
				p.b = append(p.b, ", "...)
			}
			p.b = append(p.b, "'"+r.String()+"'"...)
		}
	})
}

func (t uriType) print(p *printer) {
	p.with("URI", func() {
		if !t.parts.IsNil() {
			p.b = appendProgram(p.b, t.parts)
		}
	})
}

func (t collectionType) print(p *printer) {
	p.with("Collection", func() { p.size(len(p.b), t.size) })
}

func (t arrayType) print(p *printer) {
	p.with("Array", func() {
		from := len(p.b)
		switch {
		case t.size != nil && t.size.isZero():
			p.size(from, t.size)
		case t.element != anyType || t.size != nil:
			p.list(from, t.element)
			p.size(from, t.size)
		}
	})
}

func (t hashType) print(p *printer) {
	p.with("Hash", func() {
		from := len(p.b)
		switch {
		case t.size != nil && t.size.isZero():
			p.size(from, t.size)
		case t.key != anyType || t.value != anyType || t.size != nil:
			p.list(from, t.key, t.value)
			p.size(from, t.size)
		}
	})
}

func (t tupleType) print(p *printer) {
	p.with("Tuple", func() {
		if len(t.types) > 0 {
			from := len(p.b)
			p.list(from, t.types...)
			p.size(from, t.size)
		}
	})
}

// print marks a key only where its value type does not make it clear.
func (t structType) print(p *printer) {
	p.with("Struct", func() {
		for i, m := range t.members {
			p.b = append(p.b, [...]string{"{", ", "}[min(i, 1)]...)
			switch undef := assignable(m.value, undefType); {
			case m.optional && !undef:
				p.b = append(p.b, "Optional["+rich.Quote(m.name)+"]"...)
			case !m.optional && undef:
				p.b = append(p.b, "NotUndef["+rich.Quote(m.name)+"]"...)
			default:
				p.b = append(p.b, rich.Quote(m.name)...)
			}
			p.b = append(p.b, " => "...)
			m.value.print(p)
		}
		if len(t.members) > 0 {
			p.b = append(p.b, '}')
		}
	})
}

func (t variantType) print(p *printer) {
	p.with("Variant", func() {
		if !p.exact {
			p.list(len(p.b), t.types...)
			return
		}
		texts := make([]string, len(t.types))
		for i, x := range t.types {
			texts[i] = exact(x)
		}
		p.b = append(p.b, strings.Join(sortedSet(texts), ", ")...)
	})
}

func (t containedType) print(p *printer) {
	p.with(string(t.container), func() {
		s, ok := t.inner.(stringType)
		switch {
		case t.inner == nil:
		case ok && s.literal && (t.container == optionalOf || t.container == notUndefOf):
			p.b = append(p.b, rich.Quote(s.value)...)
		default:
			t.inner.print(p)
		}
	})
}

func (t initType) print(p *printer) {
	p.with("Init", func() {
		if t.inner == nil {
			return
		}
		t.inner.print(p)
		for _, a := range t.args {
			p.b = appendProgram(append(p.b, ", "...), a)
		}
	})
}

func (t callableType) print(p *printer) {
	params := func() {
		from := len(p.b)
		for _, x := range t.params.types {
			if x != unitType {
				p.list(from, x)
			}
		}
		if len(t.params.types) == 0 {
			p.next(from)
			p.b = append(p.b, "0, 0"...)
		} else {
			p.size(from, t.params.size)
		}
		if t.block != nil {
			p.list(from, t.block)
		}
	}
	p.with("Callable", func() {
		switch {
		case t.result == nil && t.params != nil:
			params()
		case t.result != nil:
			p.b = append(p.b, '[')
			if t.params != nil {
				params()
			}
			p.b = append(p.b, "], "...)
			t.result.print(p)
		}
	})
}

func (t classType) print(p *printer) {
	p.with("Class", func() { p.b = append(p.b, t.name...) })
}

func (t resourceType) print(p *printer) {
	name := "Resource"
	if t.name != "" {
		name = FullName(t.name)
	}
	if p.exact {
		name = "Resource " + strings.ToLower(t.name)
	}
	p.with(name, func() {
		if t.title != nil {
			p.b = append(p.b, rich.Quote(*t.title)...)
		}
	})
}

func (t runtimeType) print(p *printer) {
	p.with("Runtime", func() {
		if t != (runtimeType{}) {
			p.b = append(p.b, t.runtime+", "+rich.Quote(t.name)...)
		}
	})
}

func (t referenceType) print(p *printer) {
	p.b = append(p.b, "TypeReference["+rich.Quote(t.text)+"]"...)
}

// print expands an alias once: within its own definition it is its name.
func (t *aliasType) print(p *printer) {
	p.b = append(p.b, t.name...)
	if !p.expanded || t.builtin || slices.Contains(p.within, t) {
		return
	}
	p.within = append(p.within, t)
	p.b = append(p.b, " = "...)
	t.resolved.print(p)
	p.within = p.within[:len(p.within)-1]
}
