package rtype

import (
	"regexp"

	"indirtui/indirector/language/ruby"
)

// registered reads a type of the Resource API: register_type with a literal hash.
// Rule LANG-RT-03.
func (r *reader) registered(s *scope, c *ruby.Call) {
	if len(c.Args) == 0 {
		return
	}
	v, _ := r.value(s, c.Args[0])
	definition, ok := v.(pairs)
	if !ok {
		return
	}
	if name, _ := definition.get("name"); name != r.wanted {
		return
	}
	t := &Type{Name: r.wanted, File: r.file, Line: c.At()}
	r.found = t
	v, _ = definition.get("attributes")
	attributes, ok := v.(pairs)
	if !ok {
		t.open(c.At(), "the attributes are not literal")
	}
	for _, a := range attributes {
		r.registeredAttribute(t, a, c.At())
	}
	if len(t.Keys) > 0 { // of several keys, too, the title is the first
		t.Titles = WholeTitle(t.Keys[0])
	}
	if v, given := definition.get("title_patterns"); given {
		t.Titles = registeredTitles(v)
		if t.Titles == nil {
			t.note(c.At(), "the title patterns are not literal, and the title is the name")
		}
	}
}

// registeredAttribute reads an entry of the attributes.
func (r *reader) registeredAttribute(t *Type, a pair, line int) {
	name, ok := a.key.(string)
	if !ok {
		t.open(line, "the name of an attribute is not literal")
		return
	}
	options, ok := a.value.(pairs)
	if !ok {
		t.note(line, "the options of "+name+" are not literal, and it may be a namevar")
	}
	kind := Property
	behaviour, _ := options.get("behaviour")
	switch behaviour {
	case "namevar", "parameter", "read_only":
		kind = Parameter
	}
	if !r.add(t, name, kind, line) {
		return
	}
	if behaviour == "namevar" || name == "name" && kind == Parameter {
		t.Keys = append(t.Keys, name)
	}
}

// group is the name of a group of a regular expression.
var group = regexp.MustCompile(`\(\?<([A-Za-z_]\w*)>`)

// registeredTitles returns title patterns, whose groups have the names of
// attributes, or nil if they are not literal.
func registeredTitles(v any) []TitlePattern {
	list, ok := v.([]any)
	if !ok {
		return nil
	}
	all := []TitlePattern{}
	for _, entry := range list {
		options, _ := entry.(pairs)
		pattern, _ := options.get("pattern")
		re, ok := pattern.(*ruby.Regexp)
		if !ok {
			return nil
		}
		source, _ := re.Literal()
		p := TitlePattern{Pattern: source, Options: re.Options, Attributes: []string{}}
		for _, m := range group.FindAllStringSubmatch(source, -1) {
			p.Attributes = append(p.Attributes, m[1])
		}
		all = append(all, p)
	}
	return all
}
