package fn

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/types"
)

// texts are functions of strings; most take lists of them, too.
func texts() map[string][]eval.Way {
	out := map[string][]eval.Way{
		"length": {
			way("Collection arg", size), way("String arg", size), way("Binary arg", size),
		},
		"size": {way("Variant[Collection, String, Binary] arg", size)},
		"empty": {
			way("Collection coll", empty), way("Sensitive[String] str", empty), way("String str", empty),
			way("Numeric num", func(c *eval.Invocation) (data.Value, error) {
				c.WarnOnce(eval.Deprecations, "Calling function empty() with Numeric value is deprecated.", true)
				return data.OfBool(false), nil
			}),
			way("Binary bin", empty), way("Undef x", func(*eval.Invocation) (data.Value, error) { return data.OfBool(true), nil }),
		},
		"join": {way("Array arg; String delimiter?", join)},
	}
	for name, change := range map[string]func(string) string{
		"capitalize": Capitalize, "camelcase": camelcase, "chomp": Chomp, "chop": Chop,
		"strip":  func(s string) string { return strings.Trim(s, blanks) },
		"lstrip": func(s string) string { return strings.TrimLeft(s, blanks) },
		"rstrip": func(s string) string { return strings.TrimRight(s, blanks) },
	} {
		out[name] = eachText(change)
	}
	for name, change := range map[string]func(string) string{"upcase": Upcase, "downcase": strings.ToLower} {
		deep := func(c *eval.Invocation) (data.Value, error) { return deepText(c.Args[0], change), nil }
		out[name] = []eval.Way{way("Numeric arg", deep), way("String arg", deep), way("Array[StringData] arg", deep), way("Hash[StringData, StringData] arg", deep)}
	}
	return out
}

// blanks are what Ruby strips.
const blanks = "\x00\t\n\v\f\r "

// eachText returns the ways of a function that changes a string, or each of several.
func eachText(change func(string) string) []eval.Way {
	one := func(v data.Value) data.Value {
		if v.Kind() == data.String {
			return data.OfString(change(v.Str()))
		}
		return v
	}
	single := func(c *eval.Invocation) (data.Value, error) { return one(c.Args[0]), nil }
	return []eval.Way{
		way("Numeric arg", single),
		way("String arg", single),
		way("Iterable[Variant[String, Numeric]] arg", func(c *eval.Invocation) (data.Value, error) {
			if t, ok := types.AsType(c.Args[0]); ok {
				return undef, eval.Errorf("undefined method `map' for %s", t)
			}
			it, _ := eval.Elements(c.Args[0])
			var out []data.Value
			for v := range it.Elements {
				if err := c.Step(); err != nil {
					return undef, err
				}
				out = append(out, one(v))
			}
			return data.OfList(out), nil
		}),
	}
}

// deepText changes the strings within a value, also the keys of hashes.
func deepText(v data.Value, change func(string) string) data.Value {
	switch v.Kind() {
	case data.String:
		return data.OfString(change(v.Str()))
	case data.List:
		l := make([]data.Value, v.Len())
		for i, x := range v.List() {
			l[i] = deepText(x, change)
		}
		return data.OfList(l)
	case data.Hash:
		h := eval.NewHash(v.Len())
		for _, p := range v.Hash() {
			h.Put(deepText(p.Key, change), deepText(p.Value, change))
		}
		return h.Value()
	}
	return v
}

// Capitalize is Ruby's String#capitalize.
func Capitalize(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	if r == 'ß' {
		return "Ss" + strings.ToLower(s[size:])
	}
	return string(unicode.ToTitle(r)) + strings.ToLower(s[size:])
}

// Upcase is Ruby's String#upcase, which makes two letters of ß.
func Upcase(s string) string { return strings.ToUpper(strings.ReplaceAll(s, "ß", "SS")) }

func camelcase(s string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(s, "_") {
		b.WriteString(Capitalize(word))
	}
	return b.String()
}

// Chomp drops one line ending, as Ruby's String#chomp.
func Chomp(s string) string {
	for _, end := range []string{"\r\n", "\n", "\r"} {
		if rest, ok := strings.CutSuffix(s, end); ok {
			return rest
		}
	}
	return s
}

// Chop drops one character, or a line ending of two, as Ruby's String#chop.
func Chop(s string) string {
	if rest, ok := strings.CutSuffix(s, "\r\n"); ok {
		return rest
	}
	_, size := utf8.DecodeLastRuneInString(s)
	return s[:len(s)-size]
}

func sizeOf(v data.Value) int {
	switch v.Kind() {
	case data.String:
		return utf8.RuneCountInString(v.Str())
	case data.Rich:
		return len(eval.Bytes(v))
	}
	return v.Len()
}

func size(c *eval.Invocation) (data.Value, error) { return data.OfInt(int64(sizeOf(c.Args[0]))), nil }

func empty(c *eval.Invocation) (data.Value, error) {
	v, _ := types.Unwrap(c.Args[0])
	return data.OfBool(sizeOf(v) == 0), nil
}

func join(c *eval.Invocation) (data.Value, error) {
	var b strings.Builder
	err := joinList(c, &b, c.Args[0].List())
	return data.OfString(b.String()), err
}

// joinList writes the texts of values, and joins those of lists within them.
func joinList(c *eval.Invocation, b *strings.Builder, l []data.Value) error {
	for i, v := range l {
		if i > 0 {
			b.WriteString(c.Arg(1).Str())
		}
		if v.Kind() == data.List {
			if err := joinList(c, b, v.List()); err != nil {
				return err
			}
			continue
		}
		from := b.Len()
		b.WriteString(eval.RubyText(v))
		if err := c.Spend(b.Len() - from + c.Arg(1).Len()); err != nil {
			return err
		}
	}
	return nil
}
