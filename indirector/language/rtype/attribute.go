package rtype

import (
	"indirtui/indirector/language/ruby"
)

// naming are the methods that make a parameter a namevar.
var naming = wordSet(`isnamevar`)

// attribute reads newparam and newproperty.
func (r *reader) attribute(t *Type, s *scope, c *ruby.Call) {
	kind := Parameter
	if c.Name == "newproperty" {
		kind = Property
	}
	if c.Block != nil && declares(c.Block) {
		t.open(c.At(), "an attribute is declared in another")
	}
	name, ok := r.named(t, s, c, kind)
	if !ok || kind == Property { // Puppet looks for keys among the parameters only
		return
	}
	if name == "name" || c.Block != nil && calls(c.Block, naming, 0) || r.isNamevar(t, s, c) {
		t.Keys = append(t.Keys, name)
	}
}

// named adds the attribute whose name is the first argument.
func (r *reader) named(t *Type, s *scope, c *ruby.Call, kind Kind) (name string, ok bool) {
	if len(c.Args) == 0 {
		t.open(c.At(), c.Name+" has no name")
		return "", false
	}
	v, _ := r.value(s, c.Args[0])
	if name, ok = v.(string); !ok || name == "" {
		t.open(c.At(), "the name of an attribute is not literal")
		return "", false
	}
	return name, r.add(t, name, kind, c.At())
}

// isNamevar looks for the option namevar.
func (r *reader) isNamevar(t *Type, s *scope, c *ruby.Call) bool {
	if len(c.Args) < 2 {
		return false
	}
	v, _ := r.value(s, c.Args[len(c.Args)-1])
	options, ok := v.(pairs)
	if !ok {
		t.note(c.At(), "the options of an attribute are not literal, and namevar may be one of them")
		return false
	}
	namevar, given := options.get("namevar")
	return given && namevar != false && namevar != none{}
}

// titles reads the method title_patterns, whose value is a list of regular
// expressions with the attributes of their groups.
func (r *reader) titles(t *Type, d *ruby.Def) {
	s := &scope{values: map[string]any{}}
	var last ruby.Node
	for _, n := range d.Body {
		last = n
		switch n := n.(type) {
		case *ruby.Assign:
			r.assign(s, n)
		case *ruby.Def: // def identity(x)
			s.values[n.Name] = &ruby.Block{Params: n.Params, Body: n.Body}
		case *ruby.Return:
			last = n.Value
		}
	}
	if last != nil {
		v, _ := r.value(s, last)
		if list, ok := v.([]any); ok && r.patterns(t, list) {
			return
		}
	}
	t.Titles = nil
	t.note(d.At(), "the title patterns are not literal, and the title is the name")
}

func (r *reader) patterns(t *Type, list []any) bool {
	t.Titles = []TitlePattern{}
	for _, v := range list {
		row, _ := v.([]any)
		if len(row) != 2 {
			return false
		}
		re, isRegexp := row[0].(*ruby.Regexp)
		groups, isList := row[1].([]any)
		if !isRegexp || !isList {
			return false
		}
		source, _ := re.Literal()
		p := TitlePattern{Pattern: source, Options: re.Options, Attributes: []string{}}
		for _, g := range groups {
			parts, isList := g.([]any)
			if !isList {
				parts = []any{g}
			}
			name, ok := "", false
			if len(parts) > 0 {
				name, ok = parts[0].(string)
			}
			if !ok {
				return false
			}
			p.Attributes = append(p.Attributes, name)
			p.Converted = p.Converted || len(parts) > 1 && !isIdentity(parts[1])
		}
		if p.Converted {
			t.note(t.Line, "code converts what a title pattern matched")
		}
		t.Titles = append(t.Titles, p)
	}
	return true
}

// isIdentity reports whether a block returns what it gets. Rule LANG-RT-04.
func isIdentity(v any) bool {
	b, ok := v.(*ruby.Block)
	if !ok || len(b.Params) != 1 || len(b.Body) != 1 {
		return v == none{}
	}
	c, ok := b.Body[0].(*ruby.Call)
	return ok && c.Receiver == nil && c.Name == b.Params[0] && len(c.Args) == 0 && c.Block == nil
}
