package data_test

import (
	"math/big"
	"strconv"
	"testing"

	"indirtui/indirector/data"
)

func TestRoundTripOfEveryKind(t *testing.T) {
	t.Parallel()
	huge, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	hash := data.OfHash([]data.Pair{data.P("a", data.OfInt(1)), {Key: data.OfInt(2), Value: data.OfString("x")}})
	for want, v := range map[string]data.Value{
		"nil":                             {},
		"true":                            data.OfBool(true),
		"-7":                              data.OfInt(-7),
		"1.0e+20":                         data.OfFloat(1e20),
		"1.0e-05":                         data.OfFloat(1e-5),
		"0.25":                            data.OfFloat(0.25),
		"1.0e+15":                         data.OfFloat(1e15),
		"999999999999999.0":               data.OfFloat(999999999999999),
		"2298568332100028.5":              data.OfFloat(2298568332100028.5),
		"123456789012345678901234567890":  data.OfBig(huge),
		`"\e[0m \#{x} \xFF \u0001\u007F"`: data.OfString("\x1b[0m #{x} \xff \x01\x7f"),
		":sym":                            data.OfSymbol("sym"),
		`:"ssh-rsa"`:                      data.OfSymbol("ssh-rsa"),
		`:"5"`:                            data.OfSymbol("5"),
		`:""`:                             data.OfSymbol(""),
		`:"a?b"`:                          data.OfSymbol("a?b"),
		`:"@a?"`:                          data.OfSymbol("@a?"),
		":a?":                             data.OfSymbol("a?"),
		":é=":                             data.OfSymbol("é="),
		":@@b":                            data.OfSymbol("@@b"),
		":[]=":                            data.OfSymbol("[]="),
		`[nil, []]`:                       data.OfList([]data.Value{{}, data.OfList(nil)}),
		`{"a"=>1, 2=>"x"}`:                hash,
	} {
		if got := v.Inspect(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if !data.Equal(v, v) {
			t.Errorf("%s does not equal itself", want)
		}
	}
	if got := hash.Get("a").Int(); got != 1 {
		t.Errorf("Get: got %d, want 1", got)
	}
	if got := hash.With("a", data.OfInt(9)).With("b", data.Value{}).Inspect(); got != `{"a"=>9, 2=>"x", "b"=>nil}` {
		t.Errorf("With: got %s", got)
	}
	if got := hash.Without("a").Len(); got != 1 {
		t.Errorf("Without: got %d pairs, want 1", got)
	}
}

func TestEqualIgnoresTheOrderOfPairsOnly(t *testing.T) {
	t.Parallel()
	ab := data.OfHash([]data.Pair{data.P("a", data.OfInt(1)), data.P("b", data.OfInt(2))})
	ba := data.OfHash([]data.Pair{data.P("b", data.OfInt(2)), data.P("a", data.OfInt(1))})
	if !data.Equal(ab, ba) {
		t.Error("hashes in another order differ")
	}
	for _, other := range []data.Value{data.OfHash(nil), ab.With("b", data.OfFloat(2)), data.OfList(nil), {}} {
		if data.Equal(ab, other) {
			t.Errorf("%s equals %s", ab, other)
		}
	}
}

func TestBinaryDistinguishesValues(t *testing.T) {
	t.Parallel()
	list := func(v ...data.Value) data.Value { return data.OfList(v) }
	huge, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	a, b := data.OfString("a"), data.OfString("b")
	seen := map[string]data.Value{}
	for _, v := range []data.Value{
		{},
		data.OfBool(false), data.OfBool(true), data.OfInt(0), data.OfInt(1), data.OfInt(254), data.OfInt(255), data.OfInt(-1), data.OfFloat(0), data.OfFloat(1),
		data.OfBig(huge), data.OfString(huge.String()), data.OfString(""), a, data.OfSymbol("a"), data.OfString("ab"),
		list(), list(a), list(a, b), list(list(a), b), list(list(a, b)), list(data.OfString("ab")), list(list(), a, b),
		data.OfHash(nil), data.OfHash([]data.Pair{{Key: a, Value: b}}), data.OfHash([]data.Pair{{Key: b, Value: a}}),
		list(data.OfHash([]data.Pair{{Key: a}}), b), list(data.OfHash([]data.Pair{{Key: a, Value: b}})),
	} {
		key := string(data.AppendBinary(nil, v))
		if other, ok := seen[key]; ok {
			t.Errorf("%v is written as %v", v, other)
		}
		seen[key] = v
	}
}

func BenchmarkAppendBinary(b *testing.B) {
	b.ReportAllocs()
	var pairs []data.Pair
	for i := range 500 {
		pairs = append(pairs, data.P("fact"+strconv.Itoa(i), data.OfString("value of "+strconv.Itoa(i))))
	}
	v := data.OfHash(pairs)
	var room []byte
	for b.Loop() {
		room = data.AppendBinary(room[:0], v)
	}
}

func BenchmarkOfString(b *testing.B) {
	b.ReportAllocs()
	s := "some text"
	var v data.Value
	for b.Loop() {
		v = data.OfString(s)
	}
	_ = v
}
