package fn

import (
	"regexp"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/types"
)

// digging are functions that follow a path into a value.
func digging() map[string][]eval.Way {
	return map[string][]eval.Way{
		"dig": {way("Optional[Collection] data; Any arg*", func(c *eval.Invocation) (data.Value, error) { return dig(c.Args[0], c.Args[1:]) })},
		"get": {way("Any value; String dotted_string; Any default_value?; Callable[1, 1] &block?", func(c *eval.Invocation) (data.Value, error) {
			return get(c, c.Args[0], c.Args[1].Str(), c.Arg(2))
		})},
		"getvar": {
			way(`Pattern[/\A(?:::)?(?:[a-z]\w*::)*[a-z_]\w*(?:\.|\Z)/] get_string; Any default_value?; Callable[1, 1] &block?`, getvar),
			{Params: "String get_string; Any default_value?; Callable &block?", Refusal: true, Do: func(*eval.Invocation) (data.Value, error) {
				return undef, eval.Errorf("'getvar' The given string does not start with a valid variable name")
			}},
		},
	}
}

// A pathError is a path that leads into what has no elements.
type pathError struct {
	text, code string
	walked     []data.Value
	label      string // of the type in the details
	of         types.Type
}

func (e *pathError) Error() string { return e.text }

// value returns the error as programs see it.
func (e *pathError) value() data.Value {
	return types.OfError(e.text, "SLICE_ERROR", e.code, data.OfHash([]data.Pair{
		data.P("walked_path", data.OfList(e.walked)), data.P(e.label, types.OfType(e.of)),
	}))
}

func dig(v data.Value, path []data.Value) (data.Value, error) {
	for i, key := range path {
		if v.IsNil() || key.IsNil() {
			return undef, nil
		}
		if v.Kind() != data.List && v.Kind() != data.Hash {
			t, walked := types.Reduced(v), path[:i]
			text := "The given data does not contain a Collection at " + data.OfList(walked).Inspect() + ", got '" + t.String() + "'"
			return undef, &pathError{text, "EXPECTED_COLLECTION", walked, "value_type", t}
		}
		if v.Kind() == data.Hash {
			v, _ = eval.Lookup(v, key)
			continue
		}
		if key.Kind() != data.Int {
			t, walked := types.Reduced(key), path[:i+1]
			text := "The given data requires an Integer index at " + data.OfList(walked).Inspect() + ", got '" + t.String() + "'"
			return undef, &pathError{text, "EXPECTED_INTEGER_INDEX", walked, "index_type", t}
		}
		at, l := key.Int(), v.List()
		if at < 0 {
			at += int64(len(l))
		}
		if v = undef; at >= 0 && at < int64(len(l)) {
			v = l[at]
		}
	}
	return v, nil
}

func get(c *eval.Invocation, v data.Value, navigation string, usual data.Value) (data.Value, error) {
	if v.IsNil() {
		return usual, nil
	}
	if navigation == "" {
		return v, nil
	}
	path, ok := segments(navigation)
	if !ok {
		return undef, eval.Errorf("Syntax error in dotted-navigation string")
	}
	if data := eval.MustType("Optional[Collection]"); !types.Instance(data, v) {
		return undef, eval.Errorf("%s", eval.Mismatch("'dig' parameter 'data'", data, v))
	}
	found, err := dig(v, path)
	if failed, ok := err.(*pathError); ok && c.Block != nil {
		return c.Block.Call(failed.value())
	}
	if found.IsNil() {
		found = usual
	}
	return found, err
}

// segment is a part of a path: in quotes, or up to the next point.
var segment = regexp.MustCompile(`^(?:"([^"]+)"|'([^']+)'|([^.'"]+))(\.|$)`)

// segments reads a path with points, where digits are numbers unless they are in quotes.
func segments(s string) ([]data.Value, bool) {
	var out []data.Value
	for more := true; more; {
		m := segment.FindStringSubmatch(s)
		if m == nil {
			return nil, false
		}
		word := m[1] + m[2]
		v := data.OfString(word)
		if word == "" {
			v = data.OfString(m[3])
			if number, ok := eval.ToNumber(m[3]); ok && number.Kind() == data.Int && strings.Trim(m[3], "0123456789-") == "" {
				v = number
			}
		}
		out = append(out, v)
		s, more = s[len(m[0]):], m[4] == "."
	}
	return out, true
}

var variablePath = regexp.MustCompile(`^((?:::)?(?:\w+::)*\w+)(?s:(.*))$`)

func getvar(c *eval.Invocation) (data.Value, error) {
	m := variablePath.FindStringSubmatch(c.Args[0].Str())
	if m == nil {
		return undef, eval.Errorf("'getvar' The given string does not start with a valid variable name")
	}
	navigation := strings.TrimPrefix(m[2], ".")
	if m[2] != "" && m[2][0] != '.' {
		return undef, eval.Errorf("First character after var name in get string must be a '.' - got %s", m[2][:1])
	}
	v, ok := c.Variable(m[1])
	if !ok {
		return c.Arg(1), c.Unready(m[1])
	}
	return get(c, v, navigation, c.Arg(1))
}
