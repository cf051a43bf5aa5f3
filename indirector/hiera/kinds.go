package hiera

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"indirtui/indirector/data"
)

// A kind is one of the simple types of the Puppet language: enough to check the
// structure of hiera.yaml and of merges, and the plainest types of a lookup. The
// language has all of them.
type kind struct {
	is       kindOf
	min, max int64   // of numbers, and sizes of texts, arrays and hashes
	from, to float64 // of floats
	key      *kind
	elem     *kind
	types    []*kind // of a variant
	fields   []field // of a struct
	words    []string
	match    *regexp.Regexp
	source   string // of match
}

type field struct {
	name     string
	of       *kind
	optional bool
}

type kindOf uint8

const (
	anyKind kindOf = iota
	undefKind
	booleanKind
	integerKind
	floatKind
	numericKind
	stringKind
	scalarKind
	scalarDataKind
	dataKind
	arrayKind
	hashKind
	structKind
	optionalKind
	variantKind
	enumKind
	patternKind
)

var kindNames = [...]string{
	anyKind: "Any", undefKind: "Undef", booleanKind: "Boolean", integerKind: "Integer", floatKind: "Float",
	numericKind: "Numeric", stringKind: "String", scalarKind: "Scalar", scalarDataKind: "ScalarData", dataKind: "Data",
	arrayKind: "Array", hashKind: "Hash", structKind: "Struct", optionalKind: "Optional",
	variantKind: "Variant", enumKind: "Enum", patternKind: "Pattern",
}

const (
	lowest  = math.MinInt64
	highest = math.MaxInt64
)

var (
	anyType       = &kind{is: anyKind}
	undefType     = &kind{is: undefKind}
	booleanType   = &kind{is: booleanKind}
	stringType    = &kind{is: stringKind, max: highest}
	nonEmpty      = &kind{is: stringKind, min: 1, max: highest}
	dataType      = &kind{is: dataKind}
	hashType      = &kind{is: hashKind, max: highest}
	hashOfData    = hashOf(stringType, dataType)
	scalarOrArray = &kind{is: variantKind, types: []*kind{{is: scalarKind}, arrayOf(dataType, 0, highest)}}
)

func optional(t *kind) *kind { return &kind{is: optionalKind, elem: t} }

func integerType(from, to int64) *kind { return &kind{is: integerKind, min: from, max: to} }

func arrayOf(t *kind, from, to int64) *kind {
	return &kind{is: arrayKind, elem: t, min: from, max: to}
}

func hashOf(k, v *kind) *kind { return &kind{is: hashKind, key: k, elem: v, max: highest} }

func patternOf(source string) *kind {
	return &kind{is: patternKind, source: source, match: regexp.MustCompile(source)}
}

// accepts reports whether v is an instance of t.
func (t *kind) accepts(v data.Value) bool {
	k := v.Kind()
	switch t.is {
	case anyKind:
		return true
	case undefKind:
		return k == data.Nil
	case booleanKind:
		return k == data.Bool
	case integerKind, floatKind, numericKind:
		return t.acceptsNumber(v)
	case stringKind:
		return k == data.String && sized(t, int64(utf8.RuneCountInString(v.Str())))
	case scalarKind, scalarDataKind:
		return isScalar(k)
	case dataKind:
		return isData(v, 0)
	case arrayKind, hashKind, structKind:
		return t.acceptsCollection(v)
	case optionalKind:
		return k == data.Nil || t.elem == nil || t.elem.accepts(v)
	case variantKind:
		return slices.ContainsFunc(t.types, func(o *kind) bool { return o.accepts(v) })
	case enumKind:
		return k == data.String && (len(t.words) == 0 || slices.Contains(t.words, v.Str()))
	case patternKind:
		return k == data.String && t.match.MatchString(v.Str())
	}
	panic(t.is)
}

func (t *kind) acceptsNumber(v data.Value) bool {
	switch v.Kind() {
	case data.Int:
		return t.is == numericKind || t.is == integerKind && v.Int() >= t.min && v.Int() <= t.max
	case data.Big:
		return t.is == numericKind || t.is == integerKind && t.min == lowest && t.max == highest
	case data.Float:
		return t.is == numericKind || t.is == floatKind && v.Float() >= t.from && v.Float() <= t.to
	default:
		return false
	}
}

func (t *kind) acceptsCollection(v data.Value) bool {
	switch {
	case t.is == structKind:
		return v.Kind() == data.Hash && len(t.describe(v, nil)) == 0
	case t.is == arrayKind:
		return v.Kind() == data.List && sized(t, int64(v.Len())) &&
			(t.elem == nil || !slices.ContainsFunc(v.List(), func(e data.Value) bool { return !t.elem.accepts(e) }))
	}
	return v.Kind() == data.Hash && sized(t, int64(v.Len())) && !slices.ContainsFunc(v.Hash(), func(p data.Pair) bool {
		return t.key != nil && !t.key.accepts(p.Key) || t.elem != nil && !t.elem.accepts(p.Value)
	})
}

func sized(t *kind, n int64) bool { return n >= t.min && n <= t.max }

func isScalar(k data.Kind) bool {
	return k == data.String || k == data.Bool || k == data.Int || k == data.Big || k == data.Float
}

// isData reports whether a value is Data: with keys of strings only.
func isData(v data.Value, depth int) bool {
	return holds(v, depth, func(k data.Kind) bool { return k == data.String })
}

// isRich is isData with numbers as keys, too: all that YAML and JSON give but
// symbols and other keys. Rule HIERA-DATA-04.
func isRich(v data.Value, depth int) bool { return holds(v, depth, isRichKey) }

// holds reports whether a value is made of scalars, lists and hashes whose keys are
// of some kinds, and not too deep.
func holds(v data.Value, depth int, isKey func(data.Kind) bool) bool {
	switch k := v.Kind(); {
	case k == data.Nil, isScalar(k):
		return true
	case depth > 4*maxDepth:
		return false
	case k == data.List:
		return !slices.ContainsFunc(v.List(), func(e data.Value) bool { return !holds(e, depth+1, isKey) })
	case k == data.Hash:
		return !slices.ContainsFunc(v.Hash(), func(p data.Pair) bool {
			return !isKey(p.Key.Kind()) || !holds(p.Value, depth+1, isKey)
		})
	}
	return false
}

func isRichKey(k data.Kind) bool { return isScalar(k) && k != data.Bool }

// String returns the type as Puppet writes it.
func (t *kind) String() string {
	name := kindNames[t.is]
	var args []string
	switch t.is {
	case integerKind:
		args = rangeOf(t.min, t.max)
	case floatKind:
		args = floatRange(t.from, t.to)
	case stringKind:
		args = sizeOf(t.min, t.max)
	case arrayKind:
		if t.elem != nil {
			args = append(args, t.elem.String())
		}
		args = append(args, sizeOf(t.min, t.max)...)
	case hashKind:
		if t.key != nil {
			args = append(args, t.key.String(), t.elem.String())
		}
		args = append(args, sizeOf(t.min, t.max)...)
	case optionalKind:
		if t.elem != nil {
			args = []string{t.elem.String()}
		}
	case variantKind:
		for _, o := range t.types {
			args = append(args, o.String())
		}
	case enumKind:
		for _, w := range t.words {
			args = append(args, "'"+w+"'")
		}
	case patternKind:
		args = []string{"/" + t.source + "/"}
	}
	if len(args) == 0 {
		return name
	}
	return name + "[" + strings.Join(args, ", ") + "]"
}

func rangeOf(from, to int64) []string {
	if from == lowest && to == highest {
		return nil
	}
	out := []string{"default", "default"}
	if from != lowest {
		out[0] = strconv.FormatInt(from, 10)
	}
	if to != highest {
		out[1] = strconv.FormatInt(to, 10)
		return out
	}
	return out[:1]
}

func sizeOf(from, to int64) []string {
	if from <= 0 && to == highest {
		return nil
	}
	if to == highest {
		return []string{strconv.FormatInt(from, 10)}
	}
	return []string{strconv.FormatInt(from, 10), strconv.FormatInt(to, 10)}
}

func floatRange(from, to float64) []string {
	switch {
	case math.IsInf(from, -1) && math.IsInf(to, 1):
		return nil
	case math.IsInf(to, 1):
		return []string{data.FormatFloat(from)}
	case math.IsInf(from, -1):
		return []string{"default", data.FormatFloat(to)}
	}
	return []string{data.FormatFloat(from), data.FormatFloat(to)}
}

// inferred is the type of a value as messages name it: short, or with its range.
func inferred(v data.Value, detailed bool) string {
	switch v.Kind() {
	case data.Nil:
		return "Undef"
	case data.Bool:
		if detailed {
			return fmt.Sprintf("Boolean[%t]", v.Bool())
		}
		return "Boolean"
	case data.Int, data.Big:
		if detailed {
			return fmt.Sprintf("Integer[%[1]s, %[1]s]", v.Text())
		}
		return "Integer"
	case data.Float:
		if detailed {
			return fmt.Sprintf("Float[%[1]s, %[1]s]", v.Text())
		}
		return "Float"
	case data.Symbol:
		return "Runtime[ruby, 'Symbol']"
	case data.List:
		if v.Len() == 0 {
			return "Array"
		}
		return "Tuple"
	case data.Hash:
		if v.Len() == 0 || slices.ContainsFunc(v.Hash(), func(p data.Pair) bool { return p.Key.Kind() != data.String || p.Key.Len() == 0 }) {
			return "Hash"
		}
		return "Struct"
	default:
		return "String"
	}
}
