// Package data holds the values of Puppet's serialised forms: nil, booleans,
// numbers, strings, symbols, lists and ordered hashes; and, for the language
// alone, rich values.
//
// A [Value] is 24 bytes and holds scalars, strings, lists and hashes without a
// further allocation, in the manner of slog.Value. Values are immutable by
// convention: share them, and make a new one to change one. Strings are bytes,
// as in Ruby; they need not be valid UTF-8.
package data

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"unsafe"
)

// A Kind is the kind of a Value. The zero Kind is Nil.
type Kind uint8

// The kinds.
const (
	Nil Kind = iota
	Bool
	Int    // 64 bits
	Float  // 64 bits
	Big    // an integer beyond 64 bits
	String // bytes, usually UTF-8
	Symbol // a Ruby symbol; formats without symbols write it as a string
	List
	Hash // ordered pairs; keys are values, nearly always strings
	Rich // what only the language knows; no format reads or writes it
)

var kindNames = [...]string{"nil", "boolean", "integer", "float", "integer", "string", "symbol", "list", "hash", "rich value"}

// String returns the name of k in messages.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

type (
	stringPtr *byte
	symbolPtr *byte
	listPtr   *Value
	hashPtr   *Pair
)

// A Value is one piece of data. The zero Value is nil.
type Value struct {
	_   [0]func() // not comparable with ==; use Equal
	num uint64    // bits of a scalar, or a length
	any any       // a Kind, a *big.Int, one of the pointer types above, or a RichValue
}

// A RichValue is a value of the Puppet language that data has no notation for: a
// type, a regular expression, a time. It does not change.
type RichValue interface {
	String() string // as a string of the language interpolates it
	EqualRich(o RichValue) bool
}

// A Pair is one entry of a hash.
type Pair struct{ Key, Value Value }

// OfBool returns the Value for b.
func OfBool(b bool) Value {
	if b {
		return Value{num: 1, any: Bool}
	}
	return Value{any: Bool}
}

// OfInt returns the Value for i.
func OfInt(i int64) Value { return Value{num: uint64(i), any: Int} }

// OfFloat returns the Value for f.
func OfFloat(f float64) Value { return Value{num: math.Float64bits(f), any: Float} }

// OfBig returns the Value for i: an Int when it fits 64 bits, else a Big. The
// caller must not change i afterwards.
func OfBig(i *big.Int) Value {
	if i.IsInt64() {
		return OfInt(i.Int64())
	}
	return Value{any: i}
}

// OfString returns the Value for s.
func OfString(s string) Value {
	return Value{num: uint64(len(s)), any: stringPtr(unsafe.StringData(s))}
}

// OfSymbol returns the Value for the Ruby symbol named s.
func OfSymbol(s string) Value {
	return Value{num: uint64(len(s)), any: symbolPtr(unsafe.StringData(s))}
}

// OfList returns the Value for the list l, which the caller must not change
// afterwards.
func OfList(l []Value) Value {
	return Value{num: uint64(len(l)), any: listPtr(unsafe.SliceData(l))}
}

// OfHash returns the Value for the hash h, which the caller must not change
// afterwards. A later pair with an equal key is kept, but never found by Get.
func OfHash(h []Pair) Value {
	return Value{num: uint64(len(h)), any: hashPtr(unsafe.SliceData(h))}
}

// OfStrings returns the list of the strings ss.
func OfStrings(ss []string) Value {
	l := make([]Value, len(ss))
	for i, s := range ss {
		l[i] = OfString(s)
	}
	return OfList(l)
}

// OfRich returns the Value for r, which is not nil.
func OfRich(r RichValue) Value { return Value{any: r} }

// OfAny returns the Value for an option of a request: numbers, truths and lists of
// any are what they are, and all else is its text.
func OfAny(v any) Value {
	switch v := v.(type) {
	case nil:
		return Value{}
	case Value:
		return v
	case bool:
		return OfBool(v)
	case int:
		return OfInt(int64(v))
	case int64:
		return OfInt(v)
	case float64:
		return OfFloat(v)
	case []string:
		return OfStrings(v)
	case []any:
		l := make([]Value, len(v))
		for i, x := range v {
			l[i] = OfAny(x)
		}
		return OfList(l)
	}
	return OfString(fmt.Sprint(v))
}

// P returns the Pair of a string key and a value.
func P(key string, v Value) Pair { return Pair{OfString(key), v} }

// Kind returns what v holds.
func (v Value) Kind() Kind {
	switch x := v.any.(type) {
	case nil:
		return Nil
	case Kind:
		return x
	case *big.Int:
		return Big
	case stringPtr:
		return String
	case symbolPtr:
		return Symbol
	case listPtr:
		return List
	case hashPtr:
		return Hash
	case RichValue:
		return Rich
	}
	panic(fmt.Sprintf("data: value holds %T", v.any))
}

// IsNil reports whether v is nil.
func (v Value) IsNil() bool { return v.any == nil }

// Truthy reports whether v is neither nil nor false, as in Ruby.
func (v Value) Truthy() bool {
	k := v.Kind()
	return k != Nil && (k != Bool || v.num != 0)
}

// Bool returns v as a boolean; false if v is none.
func (v Value) Bool() bool { return v.Kind() == Bool && v.num != 0 }

// Int returns v as an integer; zero if v is none.
func (v Value) Int() int64 {
	if v.Kind() != Int {
		return 0
	}
	return int64(v.num)
}

// Float returns v as a float; zero if v is none.
func (v Value) Float() float64 {
	if v.Kind() != Float {
		return 0
	}
	return math.Float64frombits(v.num)
}

// Big returns the integer beyond 64 bits that v holds, or nil.
func (v Value) Big() *big.Int {
	i, _ := v.any.(*big.Int)
	return i
}

// Rich returns the value of the language that v holds, or nil.
func (v Value) Rich() RichValue {
	r, _ := v.any.(RichValue)
	return r
}

// Str returns the text of a String or Symbol, and "" for every other kind.
func (v Value) Str() string {
	s, _ := v.AsStr()
	return s
}

// AsStr is Str that also reports whether v is a String or Symbol. It is small
// enough to be inlined, which Kind is not.
func (v Value) AsStr() (string, bool) {
	if p, ok := v.any.(stringPtr); ok {
		return unsafe.String(p, v.num), true
	}
	if p, ok := v.any.(symbolPtr); ok {
		return unsafe.String(p, v.num), true
	}
	return "", false
}

// List returns the elements of a list, or nil. The slice is v's: read only.
func (v Value) List() []Value {
	if p, ok := v.any.(listPtr); ok {
		return unsafe.Slice(p, v.num)
	}
	return nil
}

// Hash returns the pairs of a hash in order, or nil. The slice is v's: read
// only.
func (v Value) Hash() []Pair {
	if p, ok := v.any.(hashPtr); ok {
		return unsafe.Slice(p, v.num)
	}
	return nil
}

// Len returns the number of bytes, elements or pairs; zero for scalars.
func (v Value) Len() int {
	switch v.any.(type) {
	case stringPtr, symbolPtr, listPtr, hashPtr:
		return int(v.num)
	}
	return 0
}

// Get returns the value of the first pair whose key is the string or symbol
// named key, and nil if v is no hash or has no such pair.
func (v Value) Get(key string) Value {
	x, _ := v.Lookup(key)
	return x
}

// Lookup is like Get and also reports whether the pair exists.
func (v Value) Lookup(key string) (Value, bool) {
	for _, p := range v.Hash() {
		if p.Key.Str() == key && p.Key.isText() {
			return p.Value, true
		}
	}
	return Value{}, false
}

func (v Value) isText() bool {
	switch v.any.(type) {
	case stringPtr, symbolPtr:
		return true
	}
	return false
}

// Dig follows keys through nested hashes and returns the last value, or nil.
func (v Value) Dig(keys ...string) Value {
	for _, k := range keys {
		v = v.Get(k)
	}
	return v
}

// With returns a copy of the hash v in which key is x: in its old place if it
// was there, else last. A v that is no hash is taken for an empty one.
func (v Value) With(key string, x Value) Value {
	old := v.Hash()
	h := make([]Pair, len(old), len(old)+1)
	copy(h, old)
	for i := range h {
		if h[i].Key.isText() && h[i].Key.Str() == key {
			h[i].Value = x
			return OfHash(h)
		}
	}
	return OfHash(append(h, P(key, x)))
}

// Map returns a list of what f makes of the elements, or a hash of what it makes of keys
// and values. Another value stays as it is.
func (v Value) Map(f func(Value) Value) Value {
	switch v.Kind() {
	case List:
		all := make([]Value, v.Len())
		for i, x := range v.List() {
			all[i] = f(x)
		}
		return OfList(all)
	case Hash:
		all := make([]Pair, v.Len())
		for i, p := range v.Hash() {
			all[i] = Pair{f(p.Key), f(p.Value)}
		}
		return OfHash(all)
	}
	return v
}

// Without returns the hash v less the pairs of the given keys.
func (v Value) Without(keys ...string) Value {
	var h []Pair
next:
	for _, p := range v.Hash() {
		for _, k := range keys {
			if p.Key.isText() && p.Key.Str() == k {
				continue next
			}
		}
		h = append(h, p)
	}
	return OfHash(h)
}

// Equal reports whether a and b hold the same: kinds must agree, hashes must
// hold equal pairs in any order, a NaN equals nothing.
func Equal(a, b Value) bool {
	k := a.Kind()
	if k != b.Kind() {
		return false
	}
	switch k {
	case Nil:
		return true
	case Bool, Int:
		return a.num == b.num
	case Float:
		return a.Float() == b.Float()
	case Big:
		return a.Big().Cmp(b.Big()) == 0
	case String, Symbol:
		return a.Str() == b.Str()
	case List:
		x, y := a.List(), b.List()
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if !Equal(x[i], y[i]) {
				return false
			}
		}
		return true
	case Rich:
		return a.Rich().EqualRich(b.Rich())
	}
	return equalHashes(a.Hash(), b.Hash())
}

// equalHashes takes linear time when the orders agree, as they nearly always
// do, and quadratic time otherwise.
func equalHashes(x, y []Pair) bool {
	if len(x) != len(y) {
		return false
	}
	for i, p := range x {
		if Equal(p.Key, y[i].Key) {
			if !Equal(p.Value, y[i].Value) {
				return false
			}
			continue
		}
		found := false
		for _, q := range y {
			if Equal(p.Key, q.Key) {
				found = Equal(p.Value, q.Value)
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// AppendBinary appends bytes that are those of v and of no other value: kind,
// length or bits, and content. They are for digests, and of this version only.
func AppendBinary(b []byte, v Value) []byte {
	if p, ok := v.any.(stringPtr); ok { // as most: it saves two calls
		return append(appendHead(b, String, v.num), unsafe.String(p, v.num)...)
	}
	k := v.Kind()
	switch b = appendHead(b, k, v.num); k {
	case Big:
		n := v.Big().String()
		b = append(appendHead(b, k, uint64(len(n))), n...)
	case Symbol:
		b = append(b, v.Str()...)
	case Rich:
		s := v.Rich().String()
		b = append(appendHead(b, k, uint64(len(s))), s...)
	case List:
		for _, x := range v.List() {
			b = AppendBinary(b, x)
		}
	case Hash:
		h := v.Hash()
		for i := range h {
			b = AppendBinary(AppendBinary(b, h[i].Key), h[i].Value)
		}
	}
	return b
}

// appendHead writes small numbers in one byte: what is digested is a third
// shorter.
func appendHead(b []byte, k Kind, n uint64) []byte {
	if n < 0xff {
		return append(b, byte(k), byte(n))
	}
	return binary.LittleEndian.AppendUint64(append(b, byte(k), 0xff), n)
}

// Text returns v as Ruby's to_s would: "" for nil, digits for numbers, the
// bytes of a string. Lists and hashes are written as Ruby's inspect does.
func (v Value) Text() string {
	switch v.Kind() {
	case Nil:
		return ""
	case String, Symbol:
		return v.Str()
	case Rich:
		return v.Rich().String()
	}
	return v.Inspect()
}

// Inspect returns v as Ruby's inspect would.
func (v Value) Inspect() string { return string(appendInspect(nil, v)) }

// String returns Inspect.
func (v Value) String() string { return v.Inspect() }

func appendInspect(b []byte, v Value) []byte {
	switch v.Kind() {
	case Nil:
		return append(b, "nil"...)
	case Bool:
		return strconv.AppendBool(b, v.Bool())
	case Int:
		return strconv.AppendInt(b, v.Int(), 10)
	case Float:
		return append(b, FormatFloat(v.Float())...)
	case Big:
		return v.Big().Append(b, 10)
	case String:
		return append(b, InspectString(v.Str())...)
	case Symbol:
		return appendSymbol(b, v.Str())
	case List:
		b = append(b, '[')
		for i, x := range v.List() {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendInspect(b, x)
		}
		return append(b, ']')
	case Rich:
		if r, ok := v.Rich().(interface{ RubyInspect() string }); ok {
			return append(b, r.RubyInspect()...)
		}
		return append(b, v.Rich().String()...)
	}
	b = append(b, '{')
	for i, p := range v.Hash() {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendInspect(b, p.Key)
		b = append(b, "=>"...)
		b = appendInspect(b, p.Value)
	}
	return append(b, '}')
}

// FormatFloat writes f as Ruby's Float#to_s: the shortest digits that read
// back, always with a point, an exponent below 1e-4, and from 1e15 on if there
// is no fraction.
func FormatFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	a := math.Abs(f)
	if a != 0 && (a < 1e-4 || a >= 1e15 && a == math.Trunc(a)) {
		s := strconv.FormatFloat(f, 'e', -1, 64)
		mantissa, exponent := s, ""
		for i := range s {
			if s[i] == 'e' {
				mantissa, exponent = s[:i], s[i:]
			}
		}
		if !hasPoint(mantissa) {
			mantissa += ".0"
		}
		return mantissa + exponent
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !hasPoint(s) {
		s += ".0"
	}
	return s
}

func hasPoint(s string) bool {
	for i := range len(s) {
		if s[i] == '.' {
			return true
		}
	}
	return false
}
