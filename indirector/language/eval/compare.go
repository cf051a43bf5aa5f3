package eval

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/language/types"
)

// Equal is the operator == on values that are no types: letters of ASCII have no case,
// and numbers no kind. Rule LANG-OP-06.
func Equal(a, b data.Value) bool {
	switch a.Kind() {
	case data.String:
		return b.Kind() == data.String && a.Len() == b.Len() && CompareFold(a.Str(), b.Str()) == 0
	case data.Int, data.Float, data.Big:
		if isTime(kindOf(b)) {
			return equalTimes(b, a)
		}
		return isNumber(b) && !isNaN(a) && !isNaN(b) && compareNumbers(a, b) == 0
	case data.List:
		return b.Kind() == data.List && slices.EqualFunc(a.List(), b.List(), Equal)
	case data.Hash:
		return equalHashes(a, b)
	case data.Rich:
		if isTime(kindOf(a)) {
			return equalTimes(a, b)
		}
	}
	return data.Equal(a, b)
}

func equalHashes(a, b data.Value) bool {
	if b.Kind() != data.Hash || a.Len() != b.Len() {
		return false
	}
	other := HashOf(b)
	for _, p := range a.Hash() {
		v, _ := other.Get(p.Key)
		if !Equal(v, p.Value) {
			return false
		}
	}
	return true
}

// equalTimes compares a time with a time of its kind, or with a number of seconds.
func equalTimes(a, b data.Value) bool {
	c, ok := compareTimes(a, b)
	return ok && c == 0
}

// compareTimes orders a time and a time of its kind, or a number of seconds: beside an
// integer, the fraction of the time counts for nothing.
func compareTimes(a, b data.Value) (int, bool) {
	ns, _ := types.NanosecondsOf(a)
	switch b.Kind() {
	case data.Int:
		return floorDiv(ns, big.NewInt(nanosInSecond)).Cmp(big.NewInt(b.Int())), true
	case data.Float:
		return cmp.Compare(floatOfBig(ns)/nanosInSecond, b.Float()), true
	}
	other, ok := types.NanosecondsOf(b)
	return ns.Cmp(other), ok && kindOf(a) == kindOf(b)
}

func isNumber(v data.Value) bool {
	k := v.Kind()
	return k == data.Int || k == data.Float || k == data.Big
}

// isNaN reports whether v is what 0.0 / 0.0 makes, which nothing compares with.
func isNaN(v data.Value) bool { return v.Kind() == data.Float && math.IsNaN(v.Float()) }

func compareNumbers(a, b data.Value) int {
	if a.Kind() == data.Int && b.Kind() == data.Int {
		return cmp.Compare(a.Int(), b.Int())
	}
	if a.Kind() != data.Float && b.Kind() != data.Float {
		return bigOf(a).Cmp(bigOf(b))
	}
	if a.Kind() == data.Float && b.Kind() == data.Float {
		return cmp.Compare(a.Float(), b.Float())
	}
	x, y := new(big.Float), new(big.Float)
	set := func(out *big.Float, v data.Value) {
		if v.Kind() == data.Float {
			out.SetFloat64(v.Float())
		} else {
			out.SetInt(bigOf(v))
		}
	}
	set(x, a)
	set(y, b)
	return x.Cmp(y)
}

// Compare orders values as < does. The error is in Puppet's words. Rule LANG-OP-07.
func Compare(a, b data.Value) (int, error) {
	kind := kindOf(a)
	switch {
	case isNaN(a) || isNaN(b):
		return 0, Errorf("NaN is not comparable")
	case a.Kind() == data.String:
		if b.Kind() != data.String {
			return 0, Errorf("A String is not comparable to a non String")
		}
		return CompareFold(a.Str(), b.Str()), nil
	case isNumber(a):
		if isTime(kindOf(b)) {
			ns, _ := types.NanosecondsOf(b)
			return cmp.Compare(floatOf(a), floatOfBig(ns)/nanosInSecond), nil
		}
		if !isNumber(b) {
			return 0, Errorf("A Numeric is not comparable to non Numeric")
		}
		return compareNumbers(a, b), nil
	case a.Kind() == data.Symbol:
		if b.Kind() != data.Symbol {
			return 0, Errorf("Symbol not comparable to non Symbol")
		}
		return strings.Compare(a.Str(), b.Str()), nil
	case isTime(kind):
		c, ok := compareTimes(a, b)
		if !ok {
			return 0, Errorf("%ss are only comparable to %ss, Integers, and Floats", richNames[kind], richNames[kind])
		}
		return c, nil
	case kind == isVersion:
		if kindOf(b) != isVersion {
			return 0, Errorf("Versions not comparable to non Versions")
		}
		return types.CompareVersions(a.Text(), b.Text()), nil
	}
	return 0, Errorf("Only Strings, Numbers, Timespans, Timestamps, and Versions are comparable")
}

// CompareFold orders texts without regard to the case of letters of ASCII.
func CompareFold(a, b string) int {
	for i := range min(len(a), len(b)) {
		if c := cmp.Compare(lower(a[i]), lower(b[i])); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// comparison compiles == != < <= > >=.
func (c *compiler) comparison(n *syntax.Binary) code {
	s, left, right, op := c.site(n), c.node(n.Left), c.node(n.Right), n.Op
	return func(f *frame) (data.Value, error) {
		a, err := left(f)
		if err != nil {
			return a, err
		}
		b, err := right(f)
		if err != nil {
			return b, err
		}
		if t, ok := types.AsType(a); ok {
			return data.OfBool(compareTypes(op, t, b)), nil
		}
		if op == "==" || op == "!=" {
			return data.OfBool(Equal(a, b) == (op == "==")), nil
		}
		order, err := Compare(a, b)
		if err != nil {
			return a, s.fail(f, Issuef("Comparison of: %s %s %s, is not possible. Caused by '%s'.", Label(a), op, Label(b), err))
		}
		return data.OfBool(ordered(op, order)), nil
	}
}

func ordered(op string, order int) bool {
	switch op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

// compareTypes compares a type: it is less than another that accepts it. What is no type
// is accepted by none.
func compareTypes(op string, a types.Type, v data.Value) bool {
	b, ok := types.AsType(v)
	if !ok {
		return op == "!="
	}
	below, above := types.Assignable(b, a), types.Assignable(a, b)
	same := a.Equal(b) || below && above
	switch op {
	case "==":
		return same
	case "!=":
		return !same
	case "<":
		return below && !same
	case "<=":
		return below
	case ">":
		return above && !same
	}
	return above
}
