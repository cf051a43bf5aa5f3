package types

import (
	"encoding/base64"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/onig"
	"indirtui/indirector/rich"
)

func unitConstructor() *constructor {
	return &constructor{name: "new_unit", ways: []way{{params: "Any from", make: func(args []data.Value) (data.Value, error) { return args[0], nil }}}}
}

func sensitiveConstructor() *constructor {
	return &constructor{name: "new_Sensitive", ways: []way{
		{params: "Sensitive value", make: func(args []data.Value) (data.Value, error) { return args[0], nil }},
		{params: "Any value", make: func(args []data.Value) (data.Value, error) { return data.OfRich(secret{args[0]}), nil }},
	}}
}

func typeConstructor() *constructor {
	return &constructor{name: "new_type", ways: []way{{params: "String[1] type_string", make: func(args []data.Value) (data.Value, error) {
		t, err := Parse(args[0].Str(), Unresolved)
		if err != nil {
			return data.Value{}, err
		}
		return OfType(t), nil
	}}}}
}

// Unresolved returns what Puppet makes of a name that means nothing, where it does not
// refuse it. It is a [Lookup].
func Unresolved(name string) Type { return referenceType{FullName(name)} }

func regexpConstructor() *constructor {
	return &constructor{name: "new_float", ways: []way{{params: "String pattern; Boolean escape?", make: func(args []data.Value) (data.Value, error) {
		source := args[0].Str()
		if argument(args, 1).Bool() {
			source = onig.Escape(source)
		}
		r, err := newRegex(source)
		if err != nil {
			return data.Value{}, err
		}
		return data.OfRich(r), nil
	}}}}
}

const badBase64 = "invalid base64"

func binaryConstructor() *constructor {
	return &constructor{
		name: "new_Binary",
		aliases: "ByteInteger = Integer[0,255]\n" +
			"Base64Format = Enum['%b', '%u', '%B', '%s', '%r']\n" +
			"StringHash = Struct[{value => String, 'format' => Optional[Base64Format]}]\n" +
			"ArrayHash = Struct[{value => Array[ByteInteger]}]\n" +
			"BinaryArgsHash = Variant[StringHash, ArrayHash]",
		ways: []way{
			{params: "String str; Base64Format format?", make: func(args []data.Value) (data.Value, error) {
				return toBinary(args[0], argument(args, 1))
			}},
			{params: "Array[ByteInteger] byte_array", make: func(args []data.Value) (data.Value, error) { return toBinary(args[0], data.Value{}) }},
			{params: "BinaryArgsHash hash_args", make: func(args []data.Value) (data.Value, error) {
				return toBinary(args[0].Get("value"), args[0].Get("format"))
			}},
		},
	}
}

// toBinary reads a text in one of the formats, or bytes.
func toBinary(v, format data.Value) (data.Value, error) {
	var b []byte
	var err error
	s := v.Str()
	switch {
	case v.Kind() == data.List:
		for _, x := range v.List() {
			b = append(b, byte(x.Int()))
		}
	case format.Str() == "%s" || format.Str() == "%r":
		b = []byte(s)
	case format.Str() == "%b":
		b = lenientBase64(s)
	case format.Str() == "%u":
		b, err = base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "="))
	default:
		b, err = base64.StdEncoding.Strict().DecodeString(s)
		if strings.ContainsAny(s, "\r\n") {
			err = base64.CorruptInputError(0)
		}
	}
	if err != nil {
		return data.Value{}, errorf(badBase64)
	}
	return data.OfRich(binary(b)), nil
}

// lenientBase64 decodes as Ruby does when it reads lines: what is no digit is skipped, bits
// that make no whole byte are dropped, and = ends a group that has two digits.
func lenientBase64(s string) []byte {
	var digits []byte
	for i := range len(s) {
		if s[i] == '=' && len(digits)%4 >= 2 {
			break
		}
		if s[i] == '+' || s[i] >= '/' && s[i] <= '9' || s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z' {
			digits = append(digits, s[i])
		}
	}
	if len(digits)%4 == 1 {
		digits = digits[:len(digits)-1]
	}
	b, err := base64.RawStdEncoding.DecodeString(string(digits))
	if err != nil {
		panic("types: " + err.Error())
	}
	return b
}

func uriConstructor() *constructor {
	return &constructor{
		name: "new_error",
		ways: []way{
			{params: "String[1] uri", make: func(args []data.Value) (data.Value, error) {
				s, err := rich.ParseURI(args[0].Str())
				if err != nil {
					return data.Value{}, err
				}
				return data.OfRich(uri(s)), nil
			}},
			{params: "Struct[{Optional[scheme] => String[1], Optional[userinfo] => String[1], Optional[host] => String[1], Optional[port] => Integer[0], " +
				"Optional[path] => String[1], Optional[query] => String[1], Optional[fragment] => String[1], Optional[opaque] => String[1]}] hash", make: func(args []data.Value) (data.Value, error) {
				if opaque, ok := args[0].Lookup("opaque"); ok && strings.EqualFold(args[0].Get("scheme").Str(), "mailto") {
					return data.Value{}, errorf("bad component(expected opaque component): %s", opaque.Str()) // as Ruby's class for it
				}
				return data.OfRich(uri(joinURI(args[0]))), nil
			}},
		},
	}
}

// joinURI puts the parts of a URI together.
func joinURI(parts data.Value) string {
	var b strings.Builder
	part := func(before, key, after string) {
		if v := parts.Get(key); !v.IsNil() {
			b.WriteString(before + v.Text() + after)
		}
	}
	part("", "scheme", ":")
	part("", "opaque", "")
	if _, ok := parts.Lookup("host"); ok {
		b.WriteString("//")
	}
	part("", "userinfo", "@")
	part("", "host", "")
	part(":", "port", "")
	part("", "path", "")
	part("?", "query", "")
	part("#", "fragment", "")
	return b.String()
}

func versionConstructor() *constructor {
	one := func(args []data.Value) (data.Value, error) {
		v, err := parseVersion(args[0].Str())
		return data.OfRich(v), err
	}
	joined := func(parts ...data.Value) (data.Value, error) {
		text := parts[0].Text() + "." + parts[1].Text() + "." + parts[2].Text()
		for i, mark := range []string{"-", "+"} {
			if p := argument(parts, 3+i); !p.IsNil() {
				text += mark + p.Str()
			}
		}
		return one([]data.Value{data.OfString(text)})
	}
	return &constructor{
		name: "new_Version",
		aliases: "PositiveInteger = Integer[0,default]\n" +
			`SemVerQualifier = Pattern[/\A(?<part>[0-9A-Za-z-]+)(?:\.\g<part>)*\Z/]` + "\n" +
			`SemVerPattern = Pattern[/\A(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?\Z/]` + "\n" +
			"SemVerHash = Struct[{major=>PositiveInteger,minor=>PositiveInteger,patch=>PositiveInteger,Optional[prerelease]=>SemVerQualifier,Optional[build]=>SemVerQualifier}]",
		ways: []way{
			{params: "SemVerPattern str", make: one},
			{params: "PositiveInteger major; PositiveInteger minor; PositiveInteger patch; SemVerQualifier prerelease?; SemVerQualifier build?", make: func(args []data.Value) (data.Value, error) { return joined(args...) }},
			{params: "SemVerHash hash_args", make: func(args []data.Value) (data.Value, error) {
				h := args[0]
				return joined(h.Get("major"), h.Get("minor"), h.Get("patch"), h.Get("prerelease"), h.Get("build"))
			}},
		},
		refusals: []refusal{{params: "String str", why: func(args []data.Value) (string, error) {
			return "The string '" + args[0].Str() + "' cannot be converted to a SemVer", nil
		}}},
	}
}

func rangeConstructor() *constructor {
	return &constructor{
		name: "new_VersionRange",
		aliases: "SemVerRangeString = String[1]\n" +
			"SemVerRangeHash = Struct[{min=>Variant[Default,SemVer],Optional[max]=>Variant[Default,SemVer],Optional[exclude_max]=>Boolean}]",
		ways: []way{
			{params: "SemVerRangeString str", make: func(args []data.Value) (data.Value, error) {
				r, err := parseVersions(args[0].Str())
				return data.OfRich(r), err
			}},
			{params: "Variant[Default,SemVer] min; Variant[Default,SemVer] max; Boolean exclude_max?", make: func(args []data.Value) (data.Value, error) {
				return data.OfRich(rangeOf(args[0], args[1], argument(args, 2).Bool())), nil
			}},
			{params: "SemVerRangeHash hash_args", make: func(args []data.Value) (data.Value, error) {
				h := args[0]
				return data.OfRich(rangeOf(h.Get("min"), h.Get("max"), h.Get("exclude_max").Bool())), nil
			}},
		},
	}
}

// rangeOf returns the range between two versions. Puppet prints the ends the wrong
// way round.
func rangeOf(from, to data.Value, exclude bool) versions {
	var s span
	s.excludesTo = exclude
	texts := [2]string{"0.0.0-", "Infinity.0.0"}
	if v, ok := from.Rich().(version); ok {
		s.from, texts[0] = &v, v.text
	}
	if v, ok := to.Rich().(version); ok {
		s.to, texts[1] = &v, v.text
	}
	if exclude {
		return versions{">=" + texts[1] + " <" + texts[0], []span{s}}
	}
	return versions{texts[1] + " - " + texts[0], []span{s}}
}
