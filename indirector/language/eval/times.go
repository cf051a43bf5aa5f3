package eval

import (
	"math"
	"math/big"
	"net/url"
	"slices"

	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/language/types"
)

// nanosInSecond is what a number means beside a time.
const nanosInSecond = 1_000_000_000

// nanosOf returns a time, or a number of seconds, in nanoseconds.
func nanosOf(v data.Value) *big.Int {
	switch v.Kind() {
	case data.Int, data.Big:
		n := bigOf(v)
		return new(big.Int).Mul(n, big.NewInt(nanosInSecond))
	case data.Float:
		return wholeOf(v.Float() * nanosInSecond)
	}
	ns, _ := types.NanosecondsOf(v)
	return ns
}

// wholeOf cuts off the fraction of a number, which must be finite.
func wholeOf(f float64) *big.Int {
	n, _ := big.NewFloat(f).Int(nil)
	return n
}

func floatOfBig(n *big.Int) float64 {
	f, _ := new(big.Float).SetInt(n).Float64()
	return f
}

// computeTimes works on two operands of which one at least is a time. A number on the
// left changes its place, if the order does not matter. Rule LANG-OP-04.
func computeTimes(n *syntax.Binary, x operands) (data.Value, error) {
	for _, v := range []data.Value{x.left, x.right} {
		if f := v.Float(); v.Kind() == data.Float && (math.IsNaN(f) || math.IsInf(f, 0)) {
			return data.Value{}, Errorf("%s", v.Text())
		}
	}
	left, right := kindOf(x.left), kindOf(x.right)
	if left == notRich {
		switch {
		case x.op == "+", x.op == "*" && right == isTimespan:
			x.left, x.right = x.right, x.left
		case x.op == "-" && right == isTimespan:
			v, err := types.OfTimespan(nanosOf(x.left))
			if err != nil {
				return v, err
			}
			x.left = v
		default:
			return data.Value{}, inapplicableWhen(n, x)
		}
		left, right = kindOf(x.left), kindOf(x.right)
	}
	switch {
	case x.op == "+" || x.op == "-":
		return shifted(x, left, right)
	case left == isTimestamp, x.op == "<<", x.op == ">>":
		return data.Value{}, inapplicable(n, x)
	}
	return scaled(n, x, right)
}

// shifted adds to a time, or subtracts from it.
func shifted(x operands, left, right richKind) (data.Value, error) {
	a, b, sum := nanosOf(x.left), nanosOf(x.right), new(big.Int)
	if x.op == "+" {
		sum.Add(a, b)
		switch {
		case left == isTimestamp && right == isTimestamp:
			return data.Value{}, Errorf("A Timestamp cannot be added to a Timestamp")
		case left == isTimespan && right != isTimestamp:
			return types.OfTimespan(sum)
		}
		return types.OfTimestamp(sum)
	}
	sum.Sub(a, b)
	switch {
	case left == isTimespan && right == isTimestamp:
		return data.Value{}, Errorf("A Timestamp cannot be subtracted from a Timespan")
	case left == isTimespan || right == isTimestamp:
		return types.OfTimespan(sum)
	}
	return types.OfTimestamp(sum)
}

// scaled multiplies or divides a length of time.
func scaled(n *syntax.Binary, x operands, right richKind) (data.Value, error) {
	ns := nanosOf(x.left)
	other := withArticle(Label(x.right))
	isZero := x.right.Kind() == data.Int && x.right.Int() == 0
	switch {
	case x.op == "*" && right != notRich:
		return data.Value{}, Errorf("A Timestamp cannot be multiplied by %s", other)
	case x.op == "*" && x.right.Kind() == data.Float:
		return ofFloat(floatOfBig(ns) * x.right.Float())
	case x.op == "*":
		return types.OfTimespan(ns.Mul(ns, bigOf(x.right)))
	case x.op == "%" && right != notRich:
		return data.Value{}, Errorf("Can not do modulus on a Timespan using a %s", other)
	case x.op == "/" && right == isTimestamp:
		return data.Value{}, Errorf("A Timespan cannot be divided by %s", other)
	case isZero || x.right.Kind() == data.Float && x.right.Float() == 0:
		return data.Value{}, issueAt(n.Right, "Division by 0")
	case x.op == "%":
		return computeIntegers(n, operands{"%", data.OfBig(floorDiv(ns, big.NewInt(nanosInSecond))), x.right})
	case right == isTimespan:
		return computeFloats(n, operands{"/", data.OfFloat(floatOfBig(ns)), data.OfFloat(floatOfBig(nanosOf(x.right)))})
	case x.right.Kind() == data.Float:
		return ofFloat(math.Floor(floatOfBig(ns) / x.right.Float()))
	}
	return types.OfTimespan(floorDiv(ns, bigOf(x.right)))
}

// ofFloat returns a length of time in nanoseconds.
func ofFloat(ns float64) (data.Value, error) {
	if math.IsInf(ns, 0) {
		return data.Value{}, Errorf("%s", data.FormatFloat(ns))
	}
	return types.OfTimespan(wholeOf(ns))
}

func floorDiv(a, b *big.Int) *big.Int {
	q, rest := new(big.Int).QuoRem(a, b, new(big.Int))
	if rest.Sign() != 0 && rest.Sign() != b.Sign() {
		q.Sub(q, big.NewInt(1))
	}
	return q
}

// concatenated is list + x and hash + x. Rule LANG-OP-03.
func concatenated(a, b data.Value) (data.Value, error) {
	if a.Kind() == data.List {
		l := a.List()[:a.Len():a.Len()]
		switch b.Kind() {
		case data.List:
			return data.OfList(append(l, b.List()...)), nil
		case data.Hash:
			return data.OfList(append(l, PairsOf(b)...)), nil
		}
		return data.OfList(append(l, b)), nil
	}
	out := HashOf(a)
	switch b.Kind() {
	case data.Hash:
		for _, p := range b.Hash() {
			out.Put(p.Key, p.Value)
		}
	case data.List:
		return out.withList(b)
	default:
		return data.Value{}, Errorf("Can only append Array or Hash to a Hash")
	}
	return out.Value(), nil
}

// withList adds pairs, or keys and values in turn.
func (b *HashBuilder) withList(v data.Value) (data.Value, error) {
	l := v.List()
	if ofLists(l) {
		for _, x := range l {
			pair := x.List()
			switch len(pair) {
			case 1:
				b.Put(pair[0], data.Value{})
			case 2:
				b.Put(pair[0], pair[1])
			default:
				return data.Value{}, Errorf("invalid number of elements (%d for 1..2)", len(pair))
			}
		}
		return b.Value(), nil
	}
	if len(l) == 1 && l[0].Kind() == data.Hash {
		return concatenated(b.Value(), l[0])
	}
	if len(l)%2 != 0 {
		return data.Value{}, Errorf("odd number of arguments for Hash")
	}
	for i := 0; i < len(l); i += 2 {
		b.Put(l[i], l[i+1])
	}
	return b.Value(), nil
}

func ofLists(l []data.Value) bool {
	for _, x := range l {
		if x.Kind() != data.List {
			return false
		}
	}
	return len(l) > 0
}

// without is list - x and hash - x.
func without(a, b data.Value) data.Value {
	gone := NewHash(b.Len())
	switch {
	case b.Kind() == data.List:
		for _, x := range b.List() {
			gone.Put(x, data.Value{})
		}
	case b.Kind() == data.Hash && a.Kind() == data.Hash:
		for _, p := range b.Hash() {
			gone.Put(p.Key, data.Value{})
		}
	case b.Kind() == data.Hash:
		for _, x := range PairsOf(b) {
			gone.Put(x, data.Value{})
		}
	default:
		gone.Put(b, data.Value{})
	}
	if a.Kind() == data.Hash {
		out := NewHash(a.Len())
		for _, p := range a.Hash() {
			if _, ok := gone.Get(p.Key); !ok {
				out.Put(p.Key, p.Value)
			}
		}
		return out.Value()
	}
	var left []data.Value
	for _, x := range a.List() {
		if gone.findSame(x) < 0 {
			left = append(left, x)
		}
	}
	return data.OfList(left)
}

// findSame finds a key as Ruby's == does, to which 1 is 1.0.
func (b *HashBuilder) findSame(v data.Value) int {
	if i := b.find(v); i >= 0 {
		return i
	}
	if hasTime(v) { // which - compares by what they are
		return slices.IndexFunc(b.pairs, func(p data.Pair) bool { return data.Equal(p.Key, v) })
	}
	switch v.Kind() {
	case data.Int:
		return b.find(data.OfFloat(float64(v.Int())))
	case data.Float:
		if f := v.Float(); f == math.Trunc(f) && math.Abs(f) < 1<<62 {
			return b.find(data.OfInt(int64(f)))
		}
	}
	return -1
}

func mergeURI(a, b data.Value) (data.Value, error) {
	if b.Kind() != data.String && kindOf(b) != isURI {
		return data.Value{}, Errorf("An URI can only be merged with an URI or String")
	}
	base, err := url.Parse(a.Text())
	if err != nil {
		return data.Value{}, err
	}
	merged, err := base.Parse(b.Text())
	if err != nil {
		return data.Value{}, err
	}
	return newRich("URI", data.OfString(merged.String()))
}

func appendBinary(a, b data.Value) (data.Value, error) {
	if kindOf(b) != isBinary {
		return data.Value{}, Errorf("Can only append Binary to a Binary")
	}
	return BinaryOf(string(append(Bytes(a), Bytes(b)...)))
}

// BinaryOf returns the binary value of bytes.
func BinaryOf(bytes string) (data.Value, error) {
	return newRich("Binary", data.OfString(bytes), data.OfString("%r"))
}

// Bytes returns the bytes of a binary value.
func Bytes(v data.Value) []byte {
	raw, err := types.New(MustType("Array"), []data.Value{v})
	if err != nil {
		return nil
	}
	out := make([]byte, raw.Len())
	for i, x := range raw.List() {
		out[i] = byte(x.Int())
	}
	return out
}
