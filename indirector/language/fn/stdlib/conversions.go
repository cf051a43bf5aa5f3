package stdlib

import (
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/format/psych"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/types"
)

// conversions are functions that read data.
func conversions() map[string]older {
	const wrong = "Wrong number of arguments. 1 or 2 arguments should be provided."
	return map[string]older{
		"parsejson": {least: 1, wrong: wrong, do: parsed(parseJSON)},
		"parseyaml": {least: 1, wrong: wrong, do: parsed(parseYAML)},
	}
}

// newConversions are functions of Puppet's newer kind that read and write data.
func newConversions() map[string][]way {
	return map[string][]way{
		"parsehocon": {{"String hocon_string; Any default?", parseHOCON}},
		"parsepson": {{"String[1] pson_string; Any default?", func(c *call) (data.Value, error) {
			v, err := format.DecodePSON([]byte(c.Args[0].Str()), format.Limits{Grow: c.grow})
			return c.orDefault(v, err, "PSON")
		}}},
		"sprintf_hash": {{"String format; Hash arguments", func(c *call) (data.Value, error) {
			if err := c.deprecate("sprintf_hash", "This method is deprecated. From Puppet 4.10.10/5.3.4 please use the built-in sprintf instead"); err != nil {
				return undef, err
			}
			for _, p := range c.Args[1].Hash() {
				if !isString(p.Key) {
					return undef, noMethod("to_sym", p.Key)
				}
			}
			return c.function("sprintf", c.Args...)
		}}},
		"seeded_rand_string":  {{"Integer[1] length; String seed; String[2] charset?", seededRandString}},
		"stdlib::ip_in_range": {{"String ipaddress; Variant[String, Array] range", inRange}},
		"to_json": {{"Any data", func(c *call) (data.Value, error) {
			b, err := format.AppendJSON(nil, plain(c.Args[0]))
			return str(string(b)), err
		}}},
		"to_json_pretty": {{"Variant[Hash, Array] data; Optional[Boolean] skip_undef?; Struct[{indent => Optional[String], space => Optional[String], " +
			"space_before => Optional[String], object_nl => Optional[String], array_nl => Optional[String], allow_nan => Optional[Boolean], " +
			"max_nesting => Optional[Integer[-1, default]]}] opts?", prettyJSON}},
		"to_python": {{"Any object", func(c *call) (data.Value, error) {
			return str(python(serialized(c.Args[0]))), nil
		}}},
		"to_ruby": {{"Any object", func(c *call) (data.Value, error) {
			return str(rubySource(serialized(c.Args[0]))), nil
		}}},
		"to_toml": {{"Hash data", func(c *call) (data.Value, error) {
			var t toml
			err := t.table(c.Args[0], nil)
			return str(t.String()), err
		}}},
		"to_yaml": {{"Any data; Hash options?", func(c *call) (data.Value, error) {
			o := psych.EncodeOptions{}
			if n := c.Arg(1).Get("indentation").Int(); n >= 2 && n <= 9 {
				o.Indent = int(n)
			}
			return str(string(psych.Append(nil, plain(c.Args[0]), o))), nil
		}}},
		"type_of": {{"Any value", func(c *call) (data.Value, error) {
			return types.OfType(eval.TypeOf(c.Args[0])), nil
		}}},
	}
}

// grow counts the memory that a reader asks for.
func (c *call) grow(bytes int64) error { return c.Spend(int(bytes)) }

// parsed returns a function that reads a text; the second argument stands for what
// cannot be read, and for nothing.
func parsed(parse func(c *call, text string) (data.Value, error)) do {
	return func(c *call) (data.Value, error) {
		if !isString(c.Args[0]) {
			if c.Arg(1).Truthy() {
				return c.Arg(1), nil
			}
			return undef, eval.Errorf("%s", eval.NoString(c.Args[0]))
		}
		v, err := parse(c, c.Args[0].Str())
		if err != nil && !c.Arg(1).Truthy() {
			return undef, err
		}
		if err != nil || !v.Truthy() {
			return c.Arg(1), nil
		}
		return v, nil
	}
}

func parseJSON(c *call, text string) (data.Value, error) {
	return format.DecodeJSON([]byte(text), format.Limits{Grow: c.grow})
}

// parseYAML reads what Ruby's YAML.load does: without aliases, and of other classes
// symbols alone.
func parseYAML(c *call, text string) (data.Value, error) {
	doc, err := psych.Decode([]byte(text), psych.Limits{Aliases: 1, Grow: c.grow, KeepBOM: true})
	if err != nil {
		return undef, eval.Errorf("%s", psych.Message(err, "<unknown>"))
	}
	if f, refused := doc.Refused("Symbol"); refused {
		return undef, eval.Errorf("%s", f.Message("<unknown>"))
	}
	if doc.Empty {
		return boolean(false), nil
	}
	return doc.Value, nil
}

// orDefault returns what was read, or the second argument if it failed.
func (c *call) orDefault(v data.Value, err error, kind string) (data.Value, error) {
	if err == nil {
		return v, nil
	}
	c.LogPlain("debug", "Parsing "+kind+" failed with error: "+err.Error())
	if len(c.Args) > 1 {
		return c.Args[1], nil
	}
	return undef, err
}

// parseHOCON reads what of HOCON is JSON.
func parseHOCON(c *call) (data.Value, error) {
	v, err := format.DecodeJSON([]byte(c.Args[0].Str()), format.Limits{Grow: c.grow})
	if err != nil {
		return undef, eval.Unsupported("parsehocon(): texts of HOCON that are not JSON")
	}
	return v, nil
}

// plain returns a value as Ruby's writers see it: what they do not know is a text.
func plain(v data.Value) data.Value {
	switch v.Kind() {
	case data.List, data.Hash:
		return v.Map(plain)
	case data.Rich:
		return rubyText(v)
	}
	return v
}

// A pretty writes JSON with line breaks, as Ruby's gem does.
type pretty struct {
	b                                             strings.Builder
	indent, space, before, objectBreak, listBreak string
	deepest                                       int // 0 is no limit
}

func prettyJSON(c *call) (data.Value, error) {
	v := c.Args[0]
	if c.Arg(1).Bool() {
		if isHash(v) {
			v = selected(v, func(p data.Pair) bool { return !p.Value.IsNil() })
		} else {
			v = data.OfList(filter(v.List(), func(x data.Value) bool { return !x.IsNil() }))
		}
	}
	p := &pretty{indent: "  ", space: " ", objectBreak: "\n", listBreak: "\n", deepest: 100}
	for key, to := range map[string]*string{
		"indent": &p.indent, "space": &p.space, "space_before": &p.before, "object_nl": &p.objectBreak, "array_nl": &p.listBreak,
	} {
		if s, ok := c.Arg(2).Lookup(key); ok && isString(s) {
			*to = s.Str()
		}
	}
	if n, ok := c.Arg(2).Lookup("max_nesting"); ok && isInteger(n) {
		p.deepest = max(0, int(n.Int()))
	}
	err := p.write(c, plain(v), 1)
	return str(p.b.String() + "\n"), err
}

func (p *pretty) write(c *call, v data.Value, depth int) error {
	if !isHash(v) && !isList(v) {
		b, err := format.AppendJSON(nil, v)
		p.b.Write(b)
		return err
	}
	if p.deepest > 0 && depth > p.deepest {
		return eval.Errorf("nesting of %d is too deep", depth)
	}
	if err := c.Spend(depth * len(p.indent) * (v.Len() + 1)); err != nil {
		return err
	}
	open, closing, lineBreak := "[", "]", p.listBreak
	if isHash(v) {
		open, closing, lineBreak = "{", "}", p.objectBreak
	}
	p.b.WriteString(open + lineBreak)
	for i, x := range v.List() {
		if i > 0 {
			p.b.WriteString("," + lineBreak)
		}
		p.b.WriteString(strings.Repeat(p.indent, depth))
		if err := p.write(c, x, depth+1); err != nil {
			return err
		}
	}
	for i, x := range v.Hash() {
		if i > 0 {
			p.b.WriteString("," + lineBreak)
		}
		key, err := format.AppendJSON(nil, str(x.Key.Text()))
		if err != nil {
			return err
		}
		p.b.WriteString(strings.Repeat(p.indent, depth) + string(key) + p.before + ":" + p.space)
		if err := p.write(c, x.Value, depth+1); err != nil {
			return err
		}
	}
	switch {
	case lineBreak == "":
	case isHash(v) && v.Len() == 0:
		p.b.WriteString(strings.Repeat(p.indent, depth-1))
	default:
		p.b.WriteString(lineBreak + strings.Repeat(p.indent, depth-1))
	}
	p.b.WriteString(closing)
	return nil
}

// serialized returns a value as rich data, which has hashes with other keys than strings
// as lists.
func serialized(v data.Value) data.Value {
	switch v.Kind() {
	case data.List:
		out := make([]data.Value, v.Len())
		for i, x := range v.List() {
			out[i] = serialized(x)
		}
		return data.OfList(out)
	case data.Hash:
		var pairs []data.Pair
		var flat []data.Value
		all := true
		for _, p := range v.Hash() {
			key, x := serialized(p.Key), serialized(p.Value)
			all = all && isString(p.Key)
			pairs, flat = append(pairs, data.Pair{Key: key, Value: x}), append(flat, key, x)
		}
		if all {
			return data.OfHash(pairs)
		}
		return data.OfHash([]data.Pair{data.P("__ptype", str("Hash")), data.P("__pvalue", data.OfList(flat))})
	}
	out, _ := types.ToData(v)
	return out
}

func python(v data.Value) string {
	switch {
	case isBool(v) && v.Bool():
		return "True"
	case isBool(v):
		return "False"
	case v.IsNil():
		return "None"
	case isList(v):
		return "[" + joined(v.List(), python) + "]"
	case isHash(v):
		return "{" + joinedPairs(v, ": ", python) + "}"
	}
	return v.Inspect()
}

func rubySource(v data.Value) string {
	switch {
	case isList(v):
		return "[" + joined(v.List(), rubySource) + "]"
	case isHash(v):
		return "{" + joinedPairs(v, " => ", rubySource) + "}"
	}
	return v.Inspect()
}

func joined(l []data.Value, text func(data.Value) string) string {
	out := make([]string, len(l))
	for i, v := range l {
		out[i] = text(v)
	}
	return strings.Join(out, ", ")
}

func joinedPairs(h data.Value, between string, text func(data.Value) string) string {
	out := make([]string, h.Len())
	for i, p := range h.Hash() {
		out[i] = text(p.Key) + between + text(p.Value)
	}
	return strings.Join(out, ", ")
}
