package types

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/rich"
)

// exactly returns a text that is that of equal definitions only. It is short, since types
// that are made of each other would else have texts that double with each.
func (t *definedType) exactly() string {
	t.once.Do(func() {
		p := printer{exact: true}
		t.define(&p)
		sum := sha256.Sum256(p.b)
		t.identity = "Object " + t.name + " " + hex.EncodeToString(sum[:])
	})
	return t.identity
}

// print is the name, unless all of it is wanted.
func (t *definedType) print(p *printer) {
	switch {
	case p.exact:
		p.b = append(p.b, t.exactly()...)
	case p.objects:
		t.define(p)
	default:
		p.b = append(p.b, t.label()...)
	}
}

// define prints the definition.
func (t *definedType) define(p *printer) {
	inner := *p
	inner.objects = false
	inner.b = append(inner.b, "Object[{"...)
	from := len(inner.b)
	entry := func(key string, write func()) {
		inner.next(from)
		inner.b = append(inner.b, key+" => "...)
		write()
	}
	value := func(key string, v data.Value) {
		if !v.IsNil() {
			entry(key, func() { inner.b = appendProgram(inner.b, v) })
		}
	}
	value("annotations", t.definition.Get("annotations"))
	if t.name != "" {
		value("name", data.OfString(t.name))
	}
	if t.parent != nil {
		entry("parent", func() { t.parent.print(&inner) })
	}
	others, constants := []*feature{}, []data.Pair{}
	for _, f := range t.attributes {
		if f.isConstant() && equal(f.t, Generalized(f.value)) {
			constants = append(constants, data.P(f.name, f.value))
		} else {
			others = append(others, f)
		}
	}
	for _, x := range []struct {
		key      string
		features []*feature
	}{{"type_parameters", t.parameters}, {"attributes", others}} {
		if len(x.features) > 0 {
			entry(x.key, func() { inner.features(x.features) })
		}
	}
	if len(constants) > 0 {
		value("constants", data.OfHash(constants))
	}
	if len(t.functions) > 0 {
		entry("functions", func() { inner.features(t.functions) })
	}
	if t.hasEquality {
		value("equality", data.OfStrings(t.equality))
	}
	value("checks", t.definition.Get("checks"))
	p.b = append(inner.b, "}]"...)
}

// features appends the features of one kind: their types, and what else is known of them.
func (p *printer) features(all []*feature) {
	p.b = append(p.b, '{')
	for i, f := range all {
		if i > 0 {
			p.b = append(p.b, ", "...)
		}
		p.b = append(p.b, rich.Quote(f.name)+" => "...)
		t := f.t
		if f.kind == parameterKind {
			t = orAny(t.(containedType).inner)
		}
		options := f.options()
		if options != "" {
			p.b = append(p.b, "{type => "...)
		}
		t.print(p)
		if options != "" {
			p.b = append(p.b, options+"}"...)
		}
	}
	p.b = append(p.b, '}')
}

func (f *feature) options() string {
	var b strings.Builder
	if f.final && !f.isConstant() {
		b.WriteString(", final => true")
	}
	if f.override {
		b.WriteString(", override => true")
	}
	if f.role != "" {
		b.WriteString(", kind => " + f.role)
	}
	if f.hasValue {
		b.WriteString(", value => " + string(appendProgram(nil, f.value)))
	}
	return b.String()
}
