package rich

import (
	"slices"
	"strings"

	"indirtui/indirector/data"
)

// Text returns an encoded value, a hash with the key __ptype, as Puppet writes it where
// there may be text only: what a string of the language has of it.
func Text(v data.Value) string {
	name := v.Get(typeKey).Str()
	switch value, given := v.Lookup(valueKey); {
	case name == "Default":
		return "default"
	case name == "Sensitive":
		return "Sensitive [value redacted]"
	case name == "Regexp":
		return Slashed(value.Text())
	case given:
		return value.Text()
	case name == "Pcore::ObjectType":
		return v.Get("name").Text()
	case name == "Pcore::TypeAliasType":
		return v.Get("name").Text() + " = " + program(v.Get("resolved_type"))
	}
	return program(v)
}

// program returns a value as it stands in a program.
func program(v data.Value) string {
	switch v.Kind() {
	case data.Nil:
		return "undef"
	case data.String:
		return Quote(v.Str())
	case data.List:
		return "[" + strings.Join(programs(v), ", ") + "]"
	case data.Hash:
		name := v.Get(typeKey)
		if name.Kind() != data.String {
			return programHash(v)
		}
		if simple, ok := strings.CutPrefix(name.Str(), "Pcore::"); ok {
			return typeText(strings.TrimSuffix(simple, "Type"), v)
		}
		value, given := v.Lookup(valueKey)
		switch name := name.Str(); {
		case name == "Sensitive", name == "Binary":
			return "Instance of " + name
		case name == "Hash":
			return programHash(pairwise(value))
		case name == "Default", name == "Regexp", name == "Symbol" && given:
			return Text(v)
		case name == "URI" && given:
			return "URI(" + Quote(value.Text()) + ")"
		case slices.Contains(texts, name) && given:
			return Quote(value.Text())
		}
		return name.Str() + "(" + programHash(v.Without(typeKey)) + ")"
	}
	return v.Inspect()
}

// texts are the types whose values are quoted in a program.
var texts = []string{"Timestamp", "Timespan", "SemVer", "SemVerRange"}

func programs(v data.Value) []string {
	l := make([]string, v.Len())
	for i, x := range v.List() {
		l[i] = program(x)
	}
	return l
}

func programHash(v data.Value) string {
	l := make([]string, v.Len())
	for i, p := range v.Hash() {
		l[i] = program(p.Key) + " => " + program(p.Value)
	}
	return "{" + strings.Join(l, ", ") + "}"
}

// pairwise returns the hash of a list of keys and values.
func pairwise(v data.Value) data.Value {
	l := v.List()
	h := make([]data.Pair, 0, len(l)/2)
	for i := 0; i+1 < len(l); i += 2 {
		h = append(h, data.Pair{Key: l[i], Value: l[i+1]})
	}
	return data.OfHash(h)
}

// typeText returns a type as it stands in a program.
func typeText(name string, v data.Value) string {
	var in []string
	switch name {
	case "Resource":
		name, in = resourceType(v)
	case "TypeAlias", "Object":
		return v.Get("name").Text()
	case "Callable":
		in = callableText(v)
	case "Struct":
		in = structText(v)
	case "Array":
		in = collectionText(v, "element_type")
	case "Hash":
		in = collectionText(v, "key_type", "value_type")
	case "Enum":
		if in = programs(v.Get("values")); v.Get("case_insensitive").Truthy() {
			in = append(in, "true")
		}
	case "Timestamp", "Timespan", "Integer", "Float":
		if in = ends(v); len(in) == 2 && in[0] == in[1] && name[0] == 'T' {
			in = in[:1]
		}
	case "Class":
		if class := v.Get("class_name"); !class.IsNil() {
			in = []string{class.Text()}
		}
	case "Runtime":
		if runtime := v.Get("runtime"); !runtime.IsNil() {
			in = []string{runtime.Text(), program(v.Get("name_or_pattern"))}
		}
	case "TypeReference":
		in = []string{program(v.Get("type_string"))}
	default:
		in = othersText(name, v)
	}
	return bracketed(name, in)
}

// othersText returns the parameters of types that have their parts, in this order.
func othersText(name string, v data.Value) []string {
	in := programs(v.Get("patterns"))
	for i, x := range v.Get("patterns").List() {
		in[i] = Slashed(x.Get("pattern").Text())
	}
	in = append(in, programs(v.Get("ranges"))...)
	in = append(in, programs(v.Get("types"))...)
	if pattern := v.Get("pattern"); !pattern.IsNil() {
		in = append(in, Slashed(pattern.Text()))
	}
	if inner := v.Get("type"); !inner.IsNil() {
		text := program(inner)
		if value := inner.Get("size_type_or_value"); value.Kind() == data.String && (name == "Optional" || name == "NotUndef") {
			text = program(value)
		}
		in = append(append(in, text), programs(v.Get("init_args"))...)
	}
	if size := v.Get("size_type_or_value"); size.Kind() == data.Hash {
		in = append(in, ends(size)...)
	}
	return append(in, ends(v.Get("size_type"))...)
}

func bracketed(name string, in []string) string {
	if len(in) == 0 {
		return name
	}
	return name + "[" + strings.Join(in, ", ") + "]"
}

// ends returns the ends of a range; none if it has none.
func ends(v data.Value) []string {
	from, to := v.Get("from"), v.Get("to")
	switch {
	case from.IsNil() && to.IsNil():
		return nil
	case from.IsNil():
		return []string{"default", program(to)}
	case to.IsNil():
		return []string{program(from)}
	}
	return []string{program(from), program(to)}
}

func resourceType(v data.Value) (name string, in []string) {
	name = v.Get("type_name").Text()
	if name == "" {
		return "Resource", nil
	}
	if title := v.Get("title"); !title.IsNil() {
		in = []string{program(title)}
	}
	parts := strings.Split(name, "::")
	for i, p := range parts {
		if p != "" {
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, "::"), in
}

// collectionText returns the types of the elements, unless all are any, and the sizes.
func collectionText(v data.Value, parts ...string) []string {
	size := ends(v.Get("size_type"))
	if len(size) == 2 && size[0] == "0" && size[1] == "0" {
		return size
	}
	given := len(size) > 0
	in := make([]string, len(parts))
	for i, p := range parts {
		x := v.Get(p)
		if in[i] = "Any"; !x.IsNil() {
			in[i], given = program(x), true
		}
	}
	if !given {
		return nil
	}
	return append(in, size...)
}

// structText marks a key only where the type of its value does not make it clear.
func structText(v data.Value) []string {
	elements := v.Get("elements").List()
	if len(elements) == 0 {
		return nil
	}
	l := make([]string, len(elements))
	for i, e := range elements {
		key, value := e.Get("key_type"), e.Get("value_type")
		optional := key.Get(typeKey).Str() == "Pcore::OptionalType"
		if optional {
			key = key.Get("type")
		}
		text := program(key.Get("size_type_or_value"))
		switch undef := takesUndef(value); {
		case optional && !undef:
			text = "Optional[" + text + "]"
		case !optional && undef:
			text = "NotUndef[" + text + "]"
		}
		l[i] = text + " => " + program(value)
	}
	return []string{"{" + strings.Join(l, ", ") + "}"}
}

// takesUndef reports whether undef is an instance of the type.
func takesUndef(v data.Value) bool {
	switch v.Get(typeKey).Str() {
	case "Pcore::AnyType", "Pcore::UndefType", "Pcore::OptionalType", "Pcore::UnitType":
		return true
	case "Pcore::TypeAliasType":
		return takesUndef(v.Get("resolved_type"))
	case "Pcore::VariantType":
		for _, x := range v.Get("types").List() {
			if takesUndef(x) {
				return true
			}
		}
	}
	return false
}

func callableText(v data.Value) []string {
	params, result := v.Get("param_types"), v.Get("return_type")
	if params.IsNil() && result.IsNil() {
		return nil
	}
	var in []string
	if !params.IsNil() {
		in = callableParams(params)
		if block := v.Get("block_type"); !block.IsNil() {
			in = append(in, program(block))
		}
	}
	if result.IsNil() {
		return in
	}
	return []string{"[" + strings.Join(in, ", ") + "]", program(result)}
}

func callableParams(v data.Value) (in []string) {
	types := v.Get("types").List()
	for _, x := range types {
		if x.Get(typeKey).Str() != "Pcore::UnitType" {
			in = append(in, program(x))
		}
	}
	if len(types) == 0 {
		return append(in, "0", "0")
	}
	return append(in, ends(v.Get("size_type"))...)
}
