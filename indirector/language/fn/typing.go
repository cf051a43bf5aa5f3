package fn

import (
	"errors"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/types"
)

// typing are functions of types and secrets.
func typing() map[string][]eval.Way {
	infer := func(how func(data.Value) types.Type) do {
		return func(c *eval.Invocation) (data.Value, error) { return types.OfType(how(c.Args[0])), nil }
	}
	return map[string][]eval.Way{
		"type": {
			way("Any value; Enum['detailed'] inference_method?", infer(eval.TypeOf)),
			way("Any value; Enum['reduced'] inference_method", infer(types.Reduced)),
			way("Any value; Enum['generalized'] inference_method", infer(types.Generalized)),
		},
		"assert_type": {
			way("Type type; Any value; Callable[Type, Type] &block?", func(c *eval.Invocation) (data.Value, error) {
				t, _ := types.AsType(c.Args[0])
				return assertType(c, t)
			}),
			way("String type_string; Any value; Callable[Type, Type] &block?", func(c *eval.Invocation) (data.Value, error) {
				t, err := c.TypeNamed(c.Args[0].Str())
				if err != nil {
					return undef, err
				}
				return assertType(c, t)
			}),
		},
		"new": {way("Type type; Any args*; Callable &block?", func(c *eval.Invocation) (data.Value, error) {
			t, _ := types.AsType(c.Args[0])
			return create(c, t, c.Args[1:])
		})},
		"convert_to": {way("Any value; Type type; Any args*; Callable[1, 1] &block?", func(c *eval.Invocation) (data.Value, error) {
			t, _ := types.AsType(c.Args[1])
			return create(c, t, append([]data.Value{c.Args[0]}, c.Args[2:]...))
		})},
		"unwrap": {
			way("Sensitive arg; Callable &block?", func(c *eval.Invocation) (data.Value, error) {
				v, _ := types.Unwrap(c.Args[0])
				return given(c, v)
			}),
			way("Any arg; Callable &block?", func(c *eval.Invocation) (data.Value, error) { return given(c, c.Args[0]) }),
		},
	}
}

// given returns what the lambda makes of a value, or the value if there is no lambda.
func given(c *eval.Invocation, v data.Value) (data.Value, error) {
	if c.Block == nil {
		return v, nil
	}
	return c.Block.Call(v)
}

// create makes an instance. Iterators are lists there.
func create(c *eval.Invocation, t types.Type, args []data.Value) (data.Value, error) {
	plain, named := make([]data.Value, len(args)), strings.NewReplacer()
	for i, v := range args {
		if it, ok := v.Rich().(*eval.Iterator); ok {
			all, err := it.All()
			if err != nil {
				return undef, err
			}
			v = data.OfList(all)
			// Messages name the iterator, not the list that stands for it here.
			named = strings.NewReplacer("Value of type "+types.Generalized(v).String(), "Value of type "+strings.TrimSuffix(it.String(), "-Value"))
		}
		plain[i] = v
	}
	if len(args) > 1 && t.String() == "String" && plain[0].Kind() == data.List && args[0].Kind() == data.Rich {
		plain = plain[:1] // the formats are for what it is, not for the list
	}
	if len(plain) == 1 && !strings.HasPrefix(t.String(), "Init") && types.Instance(t, plain[0]) {
		return plain[0], nil // also if there is a lambda
	}
	v, err := types.New(t, plain)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		err = eval.Errorf("%s", named.Replace(err.Error()))
	}
	if err != nil {
		return undef, err
	}
	if err := c.Made(v); err != nil {
		return undef, err
	}
	return given(c, v)
}

// assertType returns a value that a type has. Of every other the lambda makes one, or it
// is an error.
func assertType(c *eval.Invocation, t types.Type) (data.Value, error) {
	v := c.Args[1]
	switch ok, err := c.Check(t, v); {
	case ok || err != nil:
		return v, err
	case c.Block != nil:
		return c.Block.Call(types.OfType(t), types.OfType(types.Generalized(v)))
	}
	return undef, eval.Errorf("%s", eval.Mismatch("assert_type():", t, v))
}
