package helper

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/types"
)

// Values cross the border as JSON. What JSON does not have is an object with one key, which
// names what it is; so is every hash, whose keys may be anything:
//
//	{"hash": [[key, value], ...]}   {"regexp": "a+"}   {"type": "File['/x']", "of": "File", "title": "/x"}
//
// Values that only this side understands stay here, and are handles there.

// append writes a value.
func (h *Helper) append(b []byte, v data.Value) ([]byte, error) {
	switch v.Kind() {
	case data.Nil:
		return append(b, "null"...), nil
	case data.Bool:
		return strconv.AppendBool(b, v.Bool()), nil
	case data.Int:
		return strconv.AppendInt(b, v.Int(), 10), nil
	case data.Big:
		return append(b, v.Big().String()...), nil
	case data.Float:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return appendTagged(b, "number", data.FormatFloat(f)), nil
		}
		return append(b, data.FormatFloat(v.Float())...), nil
	case data.String:
		return appendText(b, v.Str()), nil
	case data.Symbol:
		return appendTagged(b, "symbol", v.Str()), nil
	case data.List:
		return h.appendList(b, v.List())
	case data.Hash:
		b = append(b, `{"hash":[`...)
		for i, p := range v.Hash() {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = h.appendList(b, []data.Value{p.Key, p.Value}); err != nil {
				return b, err
			}
		}
		return append(b, "]}"...), nil
	}
	return h.appendRich(b, v)
}

func (h *Helper) appendList(b []byte, all []data.Value) ([]byte, error) {
	b = append(b, '[')
	for i, v := range all {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = h.append(b, v); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

func (h *Helper) appendRich(b []byte, v data.Value) ([]byte, error) {
	text := v.Rich().String()
	switch types.KindOf(v) {
	case types.TypeRich:
		t, _ := types.AsType(v)
		b = appendJSON(append(b, `{"type":`...), t.String())
		if r, ok := types.AsReference(t); ok && r.Titled {
			b = appendJSON(append(b, `,"of":`...), r.Type)
			b = appendJSON(append(b, `,"title":`...), r.Title)
		}
		return append(b, '}'), nil
	case types.RegexpRich:
		source, _ := types.RegexpSource(v)
		return appendTagged(b, "regexp", source), nil
	case types.SensitiveRich:
		inner, _ := types.Unwrap(v)
		b, err := h.append(append(b, `{"sensitive":`...), inner)
		return append(b, '}'), err
	case types.TimestampRich, types.TimespanRich:
		ns, _ := types.NanosecondsOf(v)
		name := "timestamp"
		if types.KindOf(v) == types.TimespanRich {
			name = "timespan"
		}
		b = append(appendJSON(append(b, '{'), name), ':')
		b = append(ns.Append(b, 10), `,"text":`...)
		return append(appendJSON(b, text), '}'), nil
	case types.SemVerRich:
		return appendTagged(b, "version", text), nil
	case types.SemVerRangeRich:
		return appendTagged(b, "versions", text), nil
	case types.BinaryRich:
		return appendTagged(b, "binary", text), nil
	case types.URIRich:
		return appendTagged(b, "uri", text), nil
	}
	if it, ok := v.Rich().(*eval.Iterator); ok {
		all, err := it.All()
		if err != nil {
			return b, err
		}
		return h.appendList(b, all)
	}
	return append(strconv.AppendInt(append(b, `{"handle":`...), int64(h.handle(v)), 10), fmt.Sprintf(`,"text":%s}`, appendJSON(nil, text))...), nil
}

// handle returns the number of a value that stays here, which is always the same.
func (h *Helper) handle(v data.Value) int {
	if reflect.TypeOf(v.Rich()).Comparable() {
		for i, x := range h.handles {
			if x.Rich() == v.Rich() {
				return i
			}
		}
	}
	h.handles = append(h.handles, v)
	return len(h.handles) - 1
}

func appendTagged(b []byte, name, text string) []byte {
	b = append(appendJSON(append(b, '{'), name), ':')
	return append(appendJSON(b, text), '}')
}

func appendText(b []byte, s string) []byte {
	if utf8.ValidString(s) {
		return appendJSON(b, s)
	}
	return appendTagged(b, "bytes", base64.StdEncoding.EncodeToString([]byte(s)))
}

func appendJSON(b []byte, s string) []byte {
	text, _ := json.Marshal(s) // texts can be written
	return append(b, text...)
}

// value reads a value that the child wrote. An error has what is wrong with it.
func (h *Helper) value(x any) (data.Value, error) {
	switch x := x.(type) {
	case nil:
		return data.Value{}, nil
	case bool:
		return data.OfBool(x), nil
	case string:
		return data.OfString(x), nil
	case json.Number:
		return number(string(x))
	case []any:
		all := make([]data.Value, len(x))
		for i, y := range x {
			var err error
			if all[i], err = h.value(y); err != nil {
				return data.Value{}, err
			}
		}
		return data.OfList(all), nil
	case map[string]any:
		for _, name := range []string{"hash", "sensitive", "handle", "bytes", "symbol", "number"} {
			if y, ok := x[name]; ok {
				return h.tagged(name, y)
			}
		}
		for name, made := range madeOf {
			if text, ok := x[name].(string); ok {
				return h.made(made, text)
			}
		}
		if ns, ok := x["timestamp"].(json.Number); ok {
			return timeOf(ns, types.OfTimestamp)
		}
		if ns, ok := x["timespan"].(json.Number); ok {
			return timeOf(ns, types.OfTimespan)
		}
	}
	return data.Value{}, errNoValue
}

// timeOf makes a time of its nanoseconds.
func timeOf(text json.Number, of func(*big.Int) (data.Value, error)) (data.Value, error) {
	ns, ok := new(big.Int).SetString(text.String(), 10)
	if !ok {
		return data.Value{}, errNoValue
	}
	return of(ns)
}

var errNoValue = fmt.Errorf("it answers with what is no value")

func number(text string) (data.Value, error) {
	if strings.ContainsAny(text, ".eE") {
		f, err := strconv.ParseFloat(text, 64)
		return data.OfFloat(f), err
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return data.OfInt(n), nil
	}
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return data.Value{}, errNoValue
	}
	end := "max"
	if n.Sign() < 0 {
		end = "min"
	}
	return data.Value{}, eval.Errorf("Use of a Ruby Integer outside of Puppet Integer %s range, got '%#x'", end, n)
}

func (h *Helper) tagged(name string, x any) (data.Value, error) {
	switch text, isText := x.(string); {
	case name == "hash":
		pairs, _ := x.([]any)
		b := eval.NewHash(len(pairs))
		for _, p := range pairs {
			kv, err := h.value(p)
			if err != nil {
				return kv, err
			}
			if kv.Kind() != data.List || kv.Len() != 2 {
				return data.Value{}, errNoValue
			}
			b.Put(kv.List()[0], kv.List()[1])
		}
		return b.Value(), nil
	case name == "sensitive":
		v, err := h.value(x)
		return types.OfSensitive(v), err
	case name == "handle":
		n, _ := x.(json.Number)
		if i, err := strconv.Atoi(string(n)); err == nil && i >= 0 && i < len(h.handles) {
			return h.handles[i], nil
		}
	case name == "bytes" && isText:
		b, err := base64.StdEncoding.DecodeString(text)
		return data.OfString(string(b)), err
	case name == "symbol" && text == "default":
		return types.OfDefault(), nil
	case name == "symbol" && isText:
		return data.OfString(text), nil
	case name == "number" && isText:
		f, err := strconv.ParseFloat(strings.Replace(text, "Infinity", "Inf", 1), 64)
		return data.OfFloat(f), err
	}
	return data.Value{}, errNoValue
}

// madeOf are the types that make values of texts, by the names of these.
var madeOf = map[string]string{"regexp": "Regexp", "version": "SemVer", "versions": "SemVerRange", "binary": "Binary", "uri": "URI", "type": ""}

func (h *Helper) made(name, text string) (data.Value, error) {
	if name != "" {
		return types.New(eval.MustType(name), []data.Value{data.OfString(text)})
	}
	t, err := types.Parse(text, h.o.Type)
	if err != nil {
		return data.Value{}, fmt.Errorf("it answers with the type %s: %w", text, err)
	}
	return types.OfType(t), nil
}
