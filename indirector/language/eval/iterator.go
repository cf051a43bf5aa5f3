package eval

import (
	"fmt"
	"iter"
	"math"
	"math/big"
	"math/bits"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/types"
)

// An Iterator is a value whose elements are made when they are asked for, as often as
// they are asked for. Rule LANG-EV-09.
type Iterator struct {
	Elements iter.Seq[data.Value]
	Element  func() types.Type // of the elements; found out when it is asked for
	Pairs    bool              // whether it iterates over a hash
	Counts   *Counts           // what it counts, if its elements are numbers in order
	// Tree is the class of Puppet's iterators over what lies within values, which are of no
	// type of the language; or "".
	Tree string
}

// Counts are the numbers of a range, from its end if the step is negative.
type Counts struct{ From, To, Step int64 }

// String returns Puppet's form of an iterator.
func (it *Iterator) String() string {
	if it.Tree != "" {
		return "#<" + it.Tree + ">"
	}
	return typeOf("Iterator", types.Generalize(it.Element())).String() + "-Value"
}

// EqualRich reports whether both are the same iterator.
func (it *Iterator) EqualRich(o data.RichValue) bool { return it == o }

// Type returns the type of the iterator.
func (it *Iterator) Type() types.Type { return typeOf("Iterator", it.Element()) }

func typeOf(name string, inner types.Type) types.Type {
	v, err := types.Parametrize(richTypes()[name], []data.Value{types.OfType(inner)})
	t, ok := types.AsType(v)
	if err != nil || !ok {
		return richTypes()[name]
	}
	return t
}

// maxElements is how many elements may become a list.
const maxElements = 1 << 22

// All returns all elements.
func (it *Iterator) All() ([]data.Value, error) {
	var out []data.Value
	for v := range it.Elements {
		if len(out) == maxElements {
			return nil, Issuef("an iterator has more than %d elements", maxElements)
		}
		out = append(out, v)
	}
	return out, nil
}

// Elements returns what a value iterates over: the elements of a list, the pairs of a
// hash, the characters of a string, the numbers below a number, the instances of a type
// that has few; and false for every other value.
func Elements(v data.Value) (*Iterator, bool) {
	switch v.Kind() {
	case data.List:
		l := v.List()
		return &Iterator{Elements: slice(l), Element: func() types.Type { return elementType(l) }}, true
	case data.Hash:
		l := PairsOf(v)
		return &Iterator{Elements: slice(l), Element: func() types.Type { return pairType(v) }, Pairs: true}, true
	case data.String:
		return &Iterator{Elements: characters(v.Str()), Element: func() types.Type { return MustType("String[1, 1]") }}, true
	case data.Int:
		if v.Int() < 0 {
			return nil, false
		}
		return Counts{0, v.Int() - 1, 1}.Iterator(), true
	}
	if it, ok := v.Rich().(*Iterator); ok {
		return it, true
	}
	t, ok := types.AsType(v)
	if !ok || !types.Instance(richTypes()["Iterable"], v) {
		return nil, false
	}
	var from, to int64
	text := t.String()
	if _, definition, ok := strings.Cut(text, " = "); ok {
		text = definition
	}
	if n, _ := fmt.Sscanf(text, "Integer[%d, %d]", &from, &to); n == 2 {
		return Counts{from, to, 1}.Iterator(), true
	}
	all, err := types.New(MustType("Array"), []data.Value{v})
	if err != nil {
		return nil, false
	}
	return &Iterator{Elements: slice(all.List()), Element: always(t)}, true
}

func always(t types.Type) func() types.Type { return func() types.Type { return t } }

func slice(l []data.Value) iter.Seq[data.Value] {
	return func(yield func(data.Value) bool) {
		for _, v := range l {
			if !yield(v) {
				return
			}
		}
	}
}

func characters(s string) iter.Seq[data.Value] {
	return func(yield func(data.Value) bool) {
		for _, r := range s {
			if !yield(data.OfString(string(r))) {
				return
			}
		}
	}
}

// Iterator returns an iterator over the numbers.
func (c Counts) Iterator() *Iterator {
	element := func() types.Type {
		if c.From > c.To {
			return MustType("Unit")
		}
		return MustType(fmt.Sprintf("Integer[%d, %d]", c.From, c.To))
	}
	return &Iterator{Counts: &c, Element: element, Elements: func(yield func(data.Value) bool) {
		if c.From > c.To {
			return
		}
		at, left := c.From, uint64(c.To-c.From)
		if c.Step < 0 {
			at = c.To
		}
		for by := uint64(max(c.Step, -c.Step)); yield(data.OfInt(at)) && left >= by; left -= by {
			at += c.Step
		}
	}}
}

// By returns every n-th of the numbers. The range ends with the last of them. Of one that goes
// backwards Puppet may lose the last.
func (c Counts) By(n int64) (Counts, error) {
	if c.From > c.To {
		return c, nil
	}
	width, back := uint64(c.To-c.From), c.Step < 0
	hi, step := bits.Mul64(uint64(max(c.Step, -c.Step)), uint64(n))
	if hi != 0 || step > math.MaxInt64 {
		step = math.MaxInt64
	}
	rest := width % step
	if back && rest > 0 {
		rest = step - rest
	}
	switch {
	case back && rest > width:
		from := new(big.Int).Add(big.NewInt(c.From), new(big.Int).SetUint64(rest))
		return c, Errorf("'from' must be less or equal to 'to'. Got (%d, %d", from, c.To)
	case back:
		return Counts{c.From + int64(rest), c.To, -int64(step)}, nil
	}
	return Counts{c.From, c.To - int64(rest), int64(step)}, nil
}

// elementType returns the type of the elements of a list: one of their types.
func elementType(l []data.Value) types.Type {
	args := make([]data.Value, len(l))
	for i, v := range l {
		args[i] = types.OfType(types.Infer(v))
	}
	if len(args) == 0 {
		return MustType("Unit")
	}
	t, _ := types.AsType(oneOf(args))
	return t
}

// pairType returns the type of the pairs of a hash.
func pairType(h data.Value) types.Type {
	keys, values := make([]data.Value, h.Len()), make([]data.Value, h.Len())
	for i, p := range h.Hash() {
		keys[i], values[i] = p.Key, p.Value
	}
	two := data.OfInt(2)
	v, err := types.Parametrize(MustType("Tuple"), []data.Value{types.OfType(elementType(keys)), types.OfType(elementType(values)), two, two})
	if err != nil {
		return MustType("Tuple")
	}
	t, _ := types.AsType(v)
	return t
}

// TypeOf returns the type of a value in full detail.
func TypeOf(v data.Value) types.Type {
	if it, ok := v.Rich().(*Iterator); ok {
		if it.Tree != "" {
			return MustType("Runtime[ruby, '" + it.Tree + "']")
		}
		return it.Type()
	}
	if hasIterator(v) {
		return typeOfParts(v)
	}
	return types.Infer(v)
}

func hasIterator(v data.Value) bool {
	for _, x := range v.List() {
		if hasIterator(x) {
			return true
		}
	}
	for _, p := range v.Hash() {
		if hasIterator(p.Key) || hasIterator(p.Value) {
			return true
		}
	}
	_, ok := v.Rich().(*Iterator)
	return ok
}

// typeOfParts returns the type of a list or hash from those of its elements.
func typeOfParts(v data.Value) types.Type {
	typed := func(v data.Value) data.Value { return types.OfType(TypeOf(v)) }
	name, args, members := "Tuple", make([]data.Value, v.Len()), make([]data.Pair, v.Len())
	for i, x := range v.List() {
		args[i] = typed(x)
	}
	isStruct := v.Kind() == data.Hash
	var keys, values []data.Value
	for i, p := range v.Hash() {
		keys, values = append(keys, typed(p.Key)), append(values, typed(p.Value))
		members[i] = data.Pair{Key: p.Key, Value: values[i]}
		isStruct = isStruct && p.Key.Kind() == data.String && p.Key.Len() > 0
	}
	switch size := data.OfInt(int64(v.Len())); {
	case isStruct:
		name, args = "Struct", []data.Value{data.OfHash(members)}
	case v.Kind() == data.Hash:
		name, args = "Hash", []data.Value{oneOf(keys), oneOf(values), size, size}
	}
	out, err := types.Parametrize(MustType(name), args)
	if err != nil {
		return MustType("Any")
	}
	t, _ := types.AsType(out)
	return t
}

// oneOf returns the type that is one of several.
func oneOf(all []data.Value) data.Value {
	v, err := types.Parametrize(richTypes()["Variant"], all)
	if err != nil {
		return types.OfType(MustType("Any"))
	}
	return v
}

// Accepts reports whether a type has a value, also an iterator. It has not, if a regular
// expression of the type runs away, which [Mismatch] describes.
func Accepts(t types.Type, v data.Value) bool {
	ok, _ := Check(t, v)
	return ok
}

// Check is Accepts that returns the error of a regular expression that runs away.
func Check(t types.Type, v data.Value) (bool, error) {
	if it, ok := v.Rich().(*Iterator); ok {
		return types.Assignable(t, it.Type()), nil
	}
	return types.Check(t, v)
}

// check is Check whose regular expressions take their time from that of the evaluation.
func (t *Thread) check(of types.Type, v data.Value) (bool, error) {
	if it, ok := v.Rich().(*Iterator); ok {
		return types.Assignable(of, it.Type()), nil
	}
	return types.CheckWithin(t.matching, of, v)
}

// Check is what [Check] returns, within the time that the evaluation has for matches.
func (c *Invocation) Check(t types.Type, v data.Value) (bool, error) {
	return c.frame.thread.check(t, v)
}
