package compile

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/onig"
	"indirtui/indirector/language/rtype"
)

// builtinTypes are those built into Puppet, which all compilations share.
var builtinTypes = sync.OnceValue(rtype.BuiltIn)

// metaparameters are the attributes that every resource has, with how Puppet treats them.
var metaparameters = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, name := range rtype.Metaparameters() {
		all[name] = true
	}
	return all
})

// inherited are the metaparameters that containers pass on, in Puppet's order. Rule
// LANG-CON-03.
var inherited = sync.OnceValue(func() []string {
	return slices.DeleteFunc(slices.Clone(rtype.Metaparameters()), isRelationship)
})

func isRelationship(name string) bool {
	switch name {
	case "require", "before", "notify", "subscribe":
		return true
	}
	return false
}

// shared are the resourceTypes of what is built in, without members.
var shared = sync.OnceValue(func() map[string]*resourceType {
	all := map[string]*resourceType{}
	for name, t := range builtinTypes() {
		all[name] = newBuiltinType(t)
	}
	return all
})

// typeNamed returns the type of resources of a name in small letters: one of Puppet's or
// of a module, or a define. It is nil if there is none. Rule LANG-RES-01.
func (c *compilation) typeNamed(name string) (*resourceType, error) {
	name = strings.TrimPrefix(name, "::")
	if t, ok := c.types[name]; ok {
		return t, nil
	}
	t, err := c.findType(strings.ToLower(name))
	if err == nil {
		c.types[name] = t
	}
	return t, err
}

func (c *compilation) findType(name string) (*resourceType, error) {
	if t, ok := c.types[name]; ok {
		return t, nil
	}
	if !strings.Contains(name, ":") {
		if c.o.Type == nil {
			if t := shared()[name]; t != nil {
				own := *t
				c.types[name] = &own
				return &own, nil
			}
		} else if t := c.o.Type(name); t != nil {
			own := newBuiltinType(t)
			c.types[name] = own
			return own, nil
		}
	}
	def, err := c.findDefine(name)
	if def == nil || err != nil {
		return nil, err
	}
	t := &resourceType{plain: name, name: capitalized(name), def: def, namevar: "name"}
	c.types[name] = t
	return t, nil
}

// filePattern reads the titles of files: it drops slashes at the end.
const filePattern = `^(/|.+:/|.*[^/])/*\Z`

func newBuiltinType(t *rtype.Type) *resourceType {
	out := &resourceType{plain: t.Name, name: capitalized(t.Name), builtin: t, namevar: "name", keys: slices.Sorted(slices.Values(t.Keys))}
	if len(t.Keys) == 1 {
		out.namevar = t.Keys[0]
	}
	for _, p := range t.Titles {
		pattern := titlePattern{attrs: p.Attributes}
		if p.Pattern != "(.*)" || p.Options != 4 {
			source := p.Pattern
			if p.Options > 0 {
				options := ""
				for i, letter := range []string{"i", "x", "m"} {
					if p.Options&(1<<i) != 0 {
						options += letter
					}
				}
				source = "(?" + options + ":" + source + ")"
			}
			re, err := onig.Shared(source)
			if err != nil {
				continue // what is not understood does not match
			}
			pattern.pattern, pattern.slashes = re, p.Pattern == filePattern
		}
		out.titles = append(out.titles, pattern)
	}
	if !t.Open {
		out.attrs = make(map[string]bool, len(t.Attributes))
		for _, a := range t.Attributes {
			out.attrs[a.Name] = true
		}
	}
	return out
}

// has reports whether resources of a type may have an attribute.
func (t *resourceType) has(name string) bool {
	switch {
	case name == "name", metaparameters()[name]:
		return true
	case t.builtin != nil:
		return t.attrs == nil || t.attrs[name]
	case t.def != nil && t.def.Container != nil:
		return slices.ContainsFunc(t.def.Params, func(p eval.ContainerParam) bool { return p.Name == name })
	}
	return false
}

// capitalized gives every segment of a name its capital. A name that begins with one is
// taken to have the others.
func capitalized(name string) string {
	if name == "" || name[0] >= 'A' && name[0] <= 'Z' {
		return name
	}
	var b strings.Builder
	b.Grow(len(name))
	for i, s := range strings.Split(name, "::") {
		if i > 0 {
			b.WriteString("::")
		}
		if s != "" {
			r, n := utf8.DecodeRuneInString(s)
			b.WriteRune(unicode.ToUpper(r))
			b.WriteString(strings.ToLower(s[n:]))
		}
	}
	return b.String()
}

// byTitle returns the attributes that a title names, in the order of the pattern.
func (t *resourceType) byTitle(title string) ([]data.Pair, error) {
	if len(t.titles) == 0 {
		return []data.Pair{data.P("name", data.OfString(title))}, nil
	}
	for _, p := range t.titles {
		if p.pattern == nil || p.slashes && title != "" && title[len(title)-1] != '/' {
			return []data.Pair{data.P(p.attrs[0], data.OfString(title))}, nil
		}
		at, err := p.pattern.Find(title)
		if err != nil {
			return nil, err
		}
		if at == nil {
			continue
		}
		groups := eval.Groups(title, at)[1:]
		out := make([]data.Pair, 0, len(p.attrs))
		for i, name := range p.attrs {
			if i < len(groups) {
				out = append(out, data.P(name, groups[i]))
			}
		}
		return out, nil
	}
	return nil, eval.Errorf("No set of title patterns matched the title \"%s\".", title)
}

// isPlain reports whether the title alone is the one key.
func (t *resourceType) isPlain() bool {
	return t.builtin == nil || len(t.keys) == 1 && len(t.titles) > 0 && t.titles[0].pattern == nil && t.titles[0].attrs[0] == t.keys[0]
}

// identity returns the name of a resource by its key attributes, and whether that is
// another than its title. Rule LANG-RES-05.
func (t *resourceType) identity(title string, get func(name string) data.Value) (values []data.Value, other bool, err error) {
	if t.builtin == nil || t.isPlain() {
		v := data.Value{}
		if t.builtin != nil {
			v = get(t.namevar)
		}
		if v.IsNil() {
			v = get("name")
		}
		if v.IsNil() {
			return nil, false, nil
		}
		return []data.Value{v}, v.Kind() != data.String || v.Str() != title, nil
	}
	if len(t.keys) == 1 {
		if v := get(t.namevar); !v.IsNil() {
			return []data.Value{v}, v.Kind() != data.String || v.Str() != title, nil
		}
	}
	pairs, err := t.byTitle(title)
	if err != nil {
		return nil, false, err
	}
	if len(t.keys) == 1 && len(pairs) == 1 && pairs[0].Key.Str() == t.namevar {
		v := pairs[0].Value
		return []data.Value{v}, v.Str() != title, nil
	}
	h := maps.Collect(func(yield func(string, data.Value) bool) {
		for _, p := range pairs {
			if !yield(p.Key.Str(), p.Value) {
				return
			}
		}
	})
	value := func(name string) data.Value {
		if v := get(name); !v.IsNil() {
			return v
		}
		return h[name]
	}
	name := value(t.namevar)
	if name.IsNil() {
		name = value("name")
	}
	if name.IsNil() {
		name = data.OfString(title)
	}
	some := false
	for _, k := range t.keys {
		v := value(k)
		if v.IsNil() && (k == t.namevar || k == "name") {
			v = name
		}
		some = some || !v.IsNil()
		values = append(values, v)
	}
	if !some {
		return nil, false, nil
	}
	other = len(values) != 1 || values[0].Kind() != data.String || values[0].Str() != title
	return values, other, nil
}

// keyOf returns the name of an identity in the table.
func keyOf(values []data.Value) string {
	if len(values) == 1 {
		if s, ok := values[0].AsStr(); ok {
			return s
		}
	}
	var b strings.Builder
	for _, v := range values {
		b.WriteByte(0)
		if s, ok := v.AsStr(); ok {
			b.WriteString(s)
		} else {
			b.WriteByte(1)
			b.WriteString(v.Inspect())
		}
	}
	return b.String()
}
