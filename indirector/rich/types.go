package rich

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"indirtui/indirector/data"
)

// A class is what Puppet makes an object of: a type of the language, Deferred,
// or Error.
type class struct {
	attributes []attribute // those that are written
	min, max   int         // of arguments
	isType     bool        // without arguments it is the most general one
	noCreate   string      // the Ruby class that nothing is made of without attributes; "" is any other
	adjust     func([]data.Value) ([]data.Value, error)
}

type attribute struct {
	name     string
	required bool
	standard data.Value // is not written at the end
}

func (c class) arity() string {
	if c.min == c.max {
		return fmt.Sprint(c.min)
	}
	return fmt.Sprintf("%d..%d", c.min, c.max)
}

// init returns what is written for the arguments.
func (c class) init(args []data.Value) ([]data.Value, error) {
	if c.adjust != nil && len(args) > 0 {
		var err error
		if args, err = c.adjust(args); err != nil {
			return nil, err
		}
	}
	full := make([]data.Value, len(c.attributes))
	for i, a := range c.attributes {
		full[i] = a.standard
	}
	copy(full, args)
	for len(full) > 0 {
		last := len(full) - 1
		if a := c.attributes[last]; a.required || !data.Equal(full[last], a.standard) {
			break
		}
		full = full[:last]
	}
	return full, nil
}

var (
	anyType  = typeOf("AnyType")
	unitType = typeOf("UnitType")
	none     data.Value
	noValues = data.OfList(nil)
)

func typeOf(name string) data.Value {
	return data.OfHash([]data.Pair{data.P(typeKey, data.OfString("Pcore::"+name))})
}

func optional(name string, standard data.Value) attribute { return attribute{name, false, standard} }
func required(name string, standard data.Value) attribute { return attribute{name, true, standard} }

func aType(minimum, maximum int, adjust func([]data.Value) ([]data.Value, error), attributes ...attribute) class {
	return class{attributes, minimum, maximum, true, "", adjust}
}

var unresolved = data.OfString("UnresolvedReference")

// classes are those of Puppet. Types that are written by a description of
// themselves (Object, TypeSet, URI with parameters) are not among them.
var classes = map[string]class{
	"Deferred": {[]attribute{required("name", none), optional("arguments", none)}, 1, 2, false, "", nil},
	"Error": {
		[]attribute{required("msg", none), optional("kind", none), optional("details", none), optional("issue_code", none)},
		1, 4, false, "Puppet::DataTypes::Error", nil,
	},
	"Pcore::StructElement": {
		[]attribute{required("key_type", none), required("value_type", none)}, 2, 2, false, "Puppet::Pops::Types::PStructElement", nil,
	},

	"Pcore::AnyType": aType(0, 0, nil), "Pcore::BinaryType": aType(0, 0, nil), "Pcore::CatalogEntryType": aType(0, 0, nil),
	"Pcore::DefaultType": aType(0, 0, nil), "Pcore::ScalarType": aType(0, 0, nil), "Pcore::ScalarDataType": aType(0, 0, nil),
	"Pcore::SemVerRangeType": aType(0, 0, nil), "Pcore::UndefType": aType(0, 0, nil), "Pcore::UnitType": aType(0, 0, nil),

	"Pcore::ArrayType":      aType(1, 2, sized(1), optional("element_type", anyType), optional("size_type", none)),
	"Pcore::BooleanType":    aType(0, 1, unwritten),
	"Pcore::CallableType":   aType(1, 3, callable, optional("param_types", none), optional("block_type", none), required("return_type", none)),
	"Pcore::ClassType":      aType(1, 1, nil, optional("class_name", none)),
	"Pcore::CollectionType": aType(1, 1, sized(0), optional("size_type", none)),
	"Pcore::EnumType":       aType(1, 2, enum, required("values", noValues), optional("case_insensitive", data.OfBool(false))),
	"Pcore::FloatType":      aType(1, 2, between, optional("from", none), optional("to", none)),
	"Pcore::HashType":       aType(2, 3, sized(2), optional("key_type", anyType), optional("value_type", anyType), optional("size_type", none)),
	"Pcore::InitType":       aType(2, 2, nil, optional("type", none), optional("init_args", noValues)),
	"Pcore::IntegerType":    aType(1, 2, between, optional("from", none), optional("to", none)),
	"Pcore::IterableType":   aType(1, 1, nil, optional("type", none)),
	"Pcore::IteratorType":   aType(1, 1, nil, optional("type", none)),
	"Pcore::NotUndefType":   aType(0, 1, notAny, optional("type", none)),
	"Pcore::NumericType":    aType(1, 2, between, optional("from", none), optional("to", none)),
	"Pcore::OptionalType":   aType(1, 1, nil, optional("type", none)),
	"Pcore::PatternType":    aType(1, 1, nil, required("patterns", noValues)),
	"Pcore::RegexpType":     aType(1, 1, pattern, optional("pattern", none)),
	"Pcore::ResourceType":   aType(1, 2, nil, optional("type_name", none), optional("title", none)),
	"Pcore::RuntimeType":    aType(2, 2, runtime, optional("runtime", none), optional("name_or_pattern", none)),
	"Pcore::SemVerType":     aType(1, 1, ranges, optional("ranges", noValues)),
	"Pcore::SensitiveType":  aType(0, 1, contained),
	"Pcore::StringType":     aType(1, 2, text, optional("size_type_or_value", none)),
	"Pcore::StructType":     aType(1, 1, nil, required("elements", noValues)),
	"Pcore::TimespanType":   aType(1, 2, spans, optional("from", none), optional("to", none)),
	"Pcore::TimestampType":  aType(1, 2, stamps, optional("from", none), optional("to", none)),
	"Pcore::TupleType":      aType(1, 2, sized(1), required("types", noValues), optional("size_type", none)),
	"Pcore::TypeAliasType": aType(2, 3, alias, required("name", data.OfString("UnresolvedAlias")), optional("type_expr", none),
		optional("resolved_type", data.OfHash([]data.Pair{data.P(typeKey, data.OfString("Pcore::TypeReferenceType")), data.P("type_string", unresolved)}))),
	"Pcore::TypeReferenceType": aType(1, 1, nil, required("type_string", unresolved)),
	"Pcore::TypeType":          aType(1, 1, nil, optional("type", none)),
	"Pcore::VariantType":       aType(1, 1, nil, required("types", noValues)),
}

// unwritten drops an argument that Puppet reads and does not write.
func unwritten(args []data.Value) ([]data.Value, error) { return nil, nil }

// contained is unwritten for an argument that must be a type, and made of types.
func contained(args []data.Value) ([]data.Value, error) {
	return nil, generalized(args[0])
}

// generalParts are the parts of types that are made general with them.
var generalParts = map[string][]string{
	"Pcore::ArrayType": {"element_type"}, "Pcore::HashType": {"key_type", "value_type"}, "Pcore::CallableType": {"param_types", "block_type", "return_type"},
	"Pcore::StructType": {"elements"}, "Pcore::StructElement": {"value_type"}, "Pcore::TupleType": {"types"}, "Pcore::VariantType": {"types"},
	"Pcore::IterableType": {"type"}, "Pcore::IteratorType": {"type"}, "Pcore::NotUndefType": {"type"}, "Pcore::OptionalType": {"type"}, "Pcore::TypeType": {"type"},
}

// generalized fails as Puppet does when it makes a type general whose parts, at
// any depth, are not all types.
func generalized(v data.Value) error {
	switch {
	case v.IsNil():
		return nil
	case !isType(v):
		return undefined("generalize", v)
	}
	for _, name := range generalParts[v.Get(typeKey).Str()] {
		part := v.Get(name)
		parts := []data.Value{part}
		if part.Kind() == data.List {
			parts = part.List()
		}
		for _, p := range parts {
			if err := generalized(p); err != nil {
				return err
			}
		}
	}
	return nil
}

func isType(v data.Value) bool { return strings.HasPrefix(v.Get(typeKey).Str(), "Pcore::") }

// sized returns arguments of which the one at i is a type of sizes: not below
// zero. What is always empty has elements of no type.
func sized(i int) func([]data.Value) ([]data.Value, error) {
	return func(args []data.Value) ([]data.Value, error) {
		args = slices.Clone(args)
		isTuple := false
		for n, a := range args[:min(i, len(args))] {
			if isTuple = a.Kind() == data.List; a.IsNil() {
				args[n] = anyType
			}
		}
		if len(args) <= i || args[i].IsNil() {
			return args, nil
		}
		if args[i].Get(typeKey).Str() != "Pcore::IntegerType" {
			return nil, undefined("to_size", args[i])
		}
		from, to := args[i].Get("from"), args[i].Get("to")
		if from.Kind() == data.Int && from.Int() == 0 && to.Kind() == data.Int && to.Int() == 0 && !isTuple {
			for n := range i {
				args[n] = unitType
			}
		}
		args[i] = toSize(args[i])
		return args, nil
	}
}

func toSize(v data.Value) data.Value {
	if from := v.Get("from"); from.Kind() == data.Int && from.Int() >= 0 {
		return v
	}
	sizes := []data.Pair{v.Hash()[0], data.P("from", data.OfInt(0))}
	if to := v.Get("to"); !to.IsNil() {
		sizes = append(sizes, data.P("to", data.OfInt(max(to.Int(), 0))))
	}
	return data.OfHash(sizes)
}

func callable(args []data.Value) ([]data.Value, error) {
	if len(args) == 3 && data.Equal(args[2], anyType) {
		return args[:2], nil
	}
	return args, nil
}

func enum(args []data.Value) ([]data.Value, error) {
	if args[0].Kind() != data.List {
		return nil, undefined("uniq", args[0])
	}
	values := slices.Clone(args[0].List())
	for _, v := range values[min(1, len(values)):] {
		if first := values[0]; (v.Kind() == data.String) != (first.Kind() == data.String) {
			return nil, errorf(notComparable, rubyClass(first), comparand(v))
		}
	}
	slices.SortStableFunc(values, func(a, b data.Value) int {
		if a.Kind() == data.String {
			return strings.Compare(a.Str(), b.Str())
		}
		return int(a.Int() - b.Int())
	})
	args = slices.Clone(args)
	args[0] = data.OfList(slices.CompactFunc(values, data.Equal))
	return args, nil
}

// comparand returns a value as Ruby's errors of comparisons show it.
func comparand(v data.Value) string {
	switch v.Kind() {
	case data.Nil, data.Bool, data.Int, data.Float:
		return v.Inspect()
	}
	return rubyClass(v)
}

func isDefault(v data.Value) bool { return v.IsNil() || v.Get(typeKey).Str() == "Default" }

// between reads the bounds of numbers.
func between(args []data.Value) ([]data.Value, error) {
	var bounds [2]data.Value
	for i, a := range args {
		switch a.Kind() {
		case data.Nil, data.Int, data.Big, data.Float:
			bounds[i] = a
			continue
		}
		switch {
		case isDefault(a):
		case a.Kind() == data.String && i == 0:
			return nil, errorf(notComparable, "String", comparand(args[len(args)-1]))
		case i == 0:
			return nil, undefined(">", a)
		default:
			return nil, errorf(notComparable, rubyClass(args[0]), comparand(a))
		}
	}
	if from, to := bounds[0], bounds[1]; !from.IsNil() && !to.IsNil() && number(from) > number(to) {
		return nil, errorf(badRange, from.Text(), to.Text())
	}
	return bounds[:], nil
}

func number(v data.Value) float64 {
	if v.Kind() == data.Int {
		return float64(v.Int())
	}
	if b := v.Big(); b != nil {
		return float64(b.Sign()) * 1e300
	}
	return v.Float()
}

func notAny(args []data.Value) ([]data.Value, error) {
	if data.Equal(args[0], anyType) {
		return nil, nil
	}
	return args, nil
}

func pattern(args []data.Value) ([]data.Value, error) {
	if args[0].Get(typeKey).Str() == "Regexp" {
		return []data.Value{args[0].Get(valueKey)}, nil
	}
	return args, nil
}

func runtime(args []data.Value) ([]data.Value, error) {
	if k := args[0].Kind(); k != data.Nil && k != data.String {
		return nil, errorf(badRuntime, rubyClass(args[0]))
	}
	if k := args[1].Kind(); k != data.Nil && k != data.String && k != data.List {
		return nil, errorf(badRuntimeName, rubyClass(args[1]))
	}
	return args, nil
}

func ranges(args []data.Value) ([]data.Value, error) {
	if args[0].Kind() != data.List {
		return nil, undefined("map", args[0])
	}
	l := slices.Clone(args[0].List())
	for i, v := range l {
		if v.Kind() == data.String {
			s, err := ParseVersionRange(v.Str())
			if err != nil {
				return nil, err
			}
			l[i] = encoded("SemVerRange", data.OfString(s))
		}
	}
	return []data.Value{data.OfList(l)}, nil
}

func text(args []data.Value) ([]data.Value, error) {
	v := args[0]
	if len(args) == 2 && args[1].Len() > 0 {
		v = args[1]
		if l := v.List(); len(l) > 0 {
			v = l[0]
		}
	}
	if v.Get(typeKey).Str() == "Pcore::IntegerType" {
		v = toSize(v)
	}
	return []data.Value{v}, nil
}

func spans(args []data.Value) ([]data.Value, error) {
	var spans [2]*Timespan
	out, err := bounds("Timespan", args, func(i int, s string) (string, error) {
		t, err := ParseTimespan(s)
		spans[i] = &t
		return t.String(), err
	})
	if err == nil && spans[0] != nil && spans[1] != nil && spans[0].ns.Cmp(&spans[1].ns) > 0 {
		return nil, errorf(badRange, spans[0], spans[1])
	}
	return out, err
}

func stamps(args []data.Value) ([]data.Value, error) {
	var stamps [2]*time.Time
	out, err := bounds("Timestamp", args, func(i int, s string) (string, error) {
		t, err := ParseTimestamp(s)
		stamps[i] = &t
		return FormatTimestamp(t), err
	})
	if err == nil && stamps[0] != nil && stamps[1] != nil && stamps[0].After(*stamps[1]) {
		return nil, errorf(badRange, FormatTimestamp(*stamps[0]), FormatTimestamp(*stamps[1]))
	}
	return out, err
}

// bounds reads the bounds of a type of times.
func bounds(name string, args []data.Value, normal func(int, string) (string, error)) ([]data.Value, error) {
	out := make([]data.Value, len(args))
	for i, a := range args {
		if isDefault(a) {
			continue
		}
		s := a.Str()
		switch k := a.Kind(); {
		case a.Get(typeKey).Str() == name:
			s = a.Get(valueKey).Str()
		case k == data.Int || k == data.Float:
			if s = timespanOf(number(a)).String(); name == "Timestamp" {
				s = FormatTimestamp(time.Unix(0, int64(number(a)*1e9)).UTC())
			}
		case k != data.String:
			return nil, errorf("Unable to create a Puppet::Pops::Time::%s from a %s", name, timeClass(a))
		}
		s, err := normal(i, s)
		if err != nil {
			return nil, err
		}
		out[i] = encoded(name, data.OfString(s))
	}
	return out, nil
}

// timeClass returns the Ruby class of what is no bound of a time.
func timeClass(v data.Value) string {
	if t := v.Get(typeKey).Str(); t == "Timespan" || t == "Timestamp" {
		return "Puppet::Pops::Time::" + t
	}
	return rubyClass(v)
}

// alias drops the expression of a type, which Puppet resolves once.
func alias(args []data.Value) ([]data.Value, error) {
	args = slices.Clone(args)
	args[1] = data.Value{}
	return args, nil
}
