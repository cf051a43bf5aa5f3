package stdlib

import (
	"encoding/base64"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/onig"
)

// texts are functions of strings; some take lists of them, too.
func texts() map[string]older {
	return map[string]older{
		"base64":   {least: 2, wrong: "base64(): Wrong number of arguments (%d; must be >= 2)", do: base64Of},
		"basename": {do: basename},
		"dirname":  {do: dirname},
		"dos2unix": {least: 1, most: 1, wrong: "dos2unix(): Wrong number of arguments given (%d for 1)", do: lineEnds("dos2unix", func(s string) string {
			return strings.ReplaceAll(s, "\r\n", "\n")
		})},
		"unix2dos": {least: 1, most: 1, wrong: "unix2dos(): Wrong number of arguments given (%d for 1)", do: lineEnds("unix2dos", unix2dos)},
		"regexpescape": {
			least: 1, wrong: "regexpescape(): Wrong number of arguments given (%d for 1)", do: eachText("regexpescape", onig.Escape),
		},
		"squeeze":  {least: 1, most: 2, wrong: "squeeze(): Wrong number of arguments given %d for 2 or 1", do: squeeze},
		"str2bool": {least: 1, wrong: "str2bool(): Wrong number of arguments given (%d for 1)", do: str2bool},
		"swapcase": {least: 1, wrong: "swapcase(): Wrong number of arguments given (%d for 1)", do: eachText("swapcase", swapcase)},
		"uriescape": {
			least: 1, wrong: "uriescape(): Wrong number of arguments given (%d for 1)", do: eachText("uriescape", uriEscape),
		},
	}
}

// newTexts are those of Puppet's newer kind.
func newTexts() map[string][]way {
	escaping := func(escape func(s string) string) []way {
		return []way{{"Any string", func(c *call) (data.Value, error) {
			s, err := c.Text(rubyText(c.Args[0]))
			return str(escape(s)), err
		}}}
	}
	anyOf := func(has func(s, affix string) bool) do {
		return func(c *call) (data.Value, error) {
			for _, affix := range asList(c.Args[1]) {
				if has(c.Args[0].Str(), affix.Str()) {
					return boolean(true), nil
				}
			}
			return boolean(false), nil
		}
	}
	return map[string][]way{
		"batch_escape":       escaping(batchEscape),
		"powershell_escape":  escaping(powershellEscape),
		"shell_escape":       escaping(shellEscape),
		"stdlib::start_with": {{"String test_string; Variant[String[1], Array[String[1], 1]] prefixes", anyOf(strings.HasPrefix)}},
		"stdlib::end_with":   {{"String test_string; Variant[String[1], Array[String[1], 1]] suffixes", anyOf(strings.HasSuffix)}},
		"stdlib::extname": {{"String filename", func(c *call) (data.Value, error) {
			return str(extname(c.Args[0].Str())), nil
		}}},
		"stdlib::xml_encode": {{"String str; Enum['text', 'attr'] type?", func(c *call) (data.Value, error) {
			return str(xmlEncode(c.Args[0].Str(), c.Arg(1).Str() == "attr")), nil
		}}},
	}
}

// rubyText returns the string that to_s makes of a value.
func rubyText(v data.Value) data.Value { return str(eval.RubyText(v)) }

// eachText returns a function that changes a string, or each of several.
func eachText(name string, change func(string) string) do {
	return func(c *call) (data.Value, error) {
		switch v := c.Args[0]; {
		case isString(v):
			return str(change(v.Str())), nil
		case isList(v):
			out := make([]data.Value, v.Len())
			for i, x := range v.List() {
				if out[i] = x; isString(x) {
					out[i] = str(change(x.Str()))
				}
			}
			return data.OfList(out), nil
		}
		return undef, refusef("%s(): Requires either array or string to work with", name)
	}
}

func lineEnds(name string, change func(string) string) do {
	return func(c *call) (data.Value, error) {
		if !isString(c.Args[0]) {
			return undef, refusef("%s(): Requires string as argument", name)
		}
		return str(change(c.Args[0].Str())), nil
	}
}

// unix2dos ends each line by one carriage return and a line feed, however many there
// were.
func unix2dos(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines[:len(lines)-1] {
		lines[i] = strings.TrimRight(lines[i], "\r")
	}
	return strings.Join(lines, "\r\n")
}

func base64Of(c *call) (data.Value, error) {
	action, text, method := c.Args[0].Str(), c.Args[1], "default"
	if action != "encode" && action != "decode" {
		return undef, refusef("base64(): the first argument must be one of 'encode' or 'decode'")
	}
	if !isString(text) {
		return undef, refusef("base64(): the second argument must be a string to base64")
	}
	if len(c.Args) > 2 {
		method = c.Args[2].Str()
	}
	encodings := map[string]*base64.Encoding{"default": base64.StdEncoding, "strict": base64.StdEncoding, "urlsafe": base64.URLEncoding}
	encoding := encodings[method]
	if encoding == nil {
		return undef, refusef("base64(): the third argument must be one of 'default', 'strict', or 'urlsafe'")
	}
	s := text.Str()
	if action == "encode" {
		out := encoding.EncodeToString([]byte(s))
		if method == "default" {
			out = wrapped(out)
		}
		return str(out), nil
	}
	if method == "default" {
		return str(lenient64(s)), nil
	}
	if method == "urlsafe" {
		s += strings.Repeat("=", -len(s)&3)
	}
	out, err := encoding.DecodeString(s)
	if err != nil || strings.ContainsAny(s, "\r\n") {
		return undef, eval.Errorf("invalid base64")
	}
	return str(string(out)), nil
}

// wrapped breaks lines after 60 characters, as Ruby does.
func wrapped(s string) string {
	var b strings.Builder
	for s != "" {
		n := min(60, len(s))
		b.WriteString(s[:n] + "\n")
		s = s[n:]
	}
	return b.String()
}

// lenient64 decodes what is there, and skips what is no digit.
func lenient64(s string) string {
	digits := strings.Map(func(r rune) rune {
		if strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", r) {
			return r
		}
		return -1
	}, s[:indexOrEnd(s, "=")])
	if len(digits)%4 == 1 {
		digits = digits[:len(digits)-1]
	}
	out, _ := base64.RawStdEncoding.DecodeString(digits)
	return string(out)
}

func indexOrEnd(s, what string) int {
	if i := strings.Index(s, what); i >= 0 {
		return i
	}
	return len(s)
}

func basename(c *call) (data.Value, error) {
	switch n := len(c.Args); {
	case n == 0:
		return undef, refusef("basename(): No arguments given")
	case n > 2:
		return undef, refusef("basename(): Too many arguments given (%d)", n)
	case !isString(c.Args[0]):
		return undef, refusef("basename(): Requires string as first argument")
	case n == 2 && !isString(c.Args[1]):
		return undef, refusef("basename(): Requires string as second argument")
	}
	base, suffix := baseOf(c.Args[0].Str()), c.Arg(1).Str()
	if suffix == ".*" {
		suffix = extname(base)
	}
	if rest := strings.TrimSuffix(base, suffix); rest != "" {
		base = rest
	}
	return str(base), nil
}

// baseOf returns the last part of a path, which is not the dot of Go's for none.
func baseOf(s string) string {
	if s == "" {
		return ""
	}
	return path.Base(s)
}

func dirname(c *call) (data.Value, error) {
	switch n := len(c.Args); {
	case n == 0:
		return undef, refusef("dirname(): No arguments given")
	case n > 1:
		return undef, refusef("dirname(): Too many arguments given (%d)", n)
	case !isString(c.Args[0]):
		return undef, refusef("dirname(): Requires string as argument")
	case c.Args[0].Str() == "":
		return undef, refusef("dirname(): Requires a non-empty string as argument")
	}
	return str(directory(c.Args[0].Str())), nil
}

// directory returns a path less its last part, as Ruby does: dots stay.
func directory(s string) string {
	trimmed := strings.TrimRight(s, "/")
	if trimmed == "" {
		return "/"
	}
	i := strings.LastIndexByte(trimmed, '/')
	if i < 0 {
		return "."
	}
	if dir := strings.TrimRight(trimmed[:i], "/"); dir != "" {
		if strings.HasPrefix(dir, "//") {
			return "/" + strings.TrimLeft(dir, "/")
		}
		return dir
	}
	return "/"
}

// extname returns the last dot of a name and what follows, if there is something in front
// and behind.
func extname(s string) string {
	base := baseOf(s)
	i := strings.LastIndexByte(base, '.')
	if i == len(base)-1 || strings.TrimLeft(base[:max(i, 0)], ".") == "" {
		return ""
	}
	return base[i:]
}

// charset returns which characters a specification of Ruby's count, squeeze and delete
// means: "a-z", "^abc".
func charset(spec string) func(rune) bool {
	negative := len(spec) > 1 && spec[0] == '^'
	if negative {
		spec = spec[1:]
	}
	type span struct{ from, to rune }
	var spans []span
	runes := []rune(spec)
	for i := 0; i < len(runes); i++ {
		if runes[i] == '\\' && i+1 < len(runes) {
			i++
		}
		s := span{runes[i], runes[i]}
		if i+2 < len(runes) && runes[i+1] == '-' {
			s.to = runes[i+2]
			i += 2
		}
		spans = append(spans, s)
	}
	return func(r rune) bool {
		for _, s := range spans {
			if r >= s.from && r <= s.to {
				return !negative
			}
		}
		return negative
	}
}

func squeeze(c *call) (data.Value, error) {
	in := func(rune) bool { return true }
	if chars := c.Arg(1); chars.Truthy() {
		if !isString(chars) {
			return undef, eval.Errorf("%s", eval.NoString(chars))
		}
		in = charset(chars.Str())
	}
	squeezed := func(s string) string {
		var b strings.Builder
		last := rune(-1)
		for _, r := range s {
			if r != last || !in(r) {
				b.WriteRune(r)
			}
			last = r
		}
		return b.String()
	}
	v := c.Args[0]
	if !isString(v) && !isList(v) {
		return undef, noMethod("squeeze", v)
	}
	l := asList(v)
	out := make([]data.Value, len(l))
	for i, x := range l {
		if !isString(x) {
			return undef, noMethod("squeeze", x)
		}
		out[i] = str(squeezed(x.Str()))
	}
	if isString(v) {
		return out[0], nil
	}
	return data.OfList(out), nil
}

func str2bool(c *call) (data.Value, error) {
	v := c.Args[0]
	if isBool(v) {
		return v, nil
	}
	if !isString(v) {
		return undef, refusef("str2bool(): Requires string to work with")
	}
	switch s := v.Str(); {
	case s == "" || s[0] == '\n' || strings.Contains(s, "\n\n"): // any line that is empty
		return boolean(false), nil
	case matches(`(?i)^(1|t|y|true|yes)$`, s):
		return boolean(true), nil
	case matches(`(?i)^(0|f|n|false|no)$`, s), matches(`^(undef|undefined)$`, s):
		return boolean(false), nil
	}
	return undef, refusef("str2bool(): Unknown type of boolean given")
}

func swapcase(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, s)
}

// uriEscape escapes what no URI has, as Ruby's URI::DEFAULT_PARSER does, percent signs of
// escapes included.
func uriEscape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c < utf8.RuneSelf && (c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || strings.IndexByte("-_.!~*'();/?:@&=+$,[]", c) >= 0) {
			b.WriteByte(c)
		} else {
			const digits = "0123456789ABCDEF"
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return b.String()
}

func xmlEncode(s string, attribute bool) string {
	pairs := []string{"&", "&amp;", "<", "&lt;", ">", "&gt;"}
	if !attribute {
		return strings.NewReplacer(pairs...).Replace(s)
	}
	return `"` + strings.NewReplacer(append(pairs, `"`, "&quot;", "'", "&apos;")...).Replace(s) + `"`
}

func replaceAll(s, old, new string) string {
	if old == "" {
		return s
	}
	return strings.ReplaceAll(s, old, new)
}
