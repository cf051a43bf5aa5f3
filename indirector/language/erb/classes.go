package erb

import (
	"errors"
	"html"
	"math"
	"net/url"
	"slices"
	"strings"

	"indirtui/indirector/format"
	"indirtui/indirector/format/psych"
	"indirtui/indirector/language/onig"
)

// known are the constants of the subset that are classes and modules.
const known = `String Array Hash Integer Float Numeric Fixnum Symbol Regexp Range NilClass TrueClass FalseClass Object Proc Enumerable Comparable
 Exception StandardError RuntimeError ArgumentError TypeError NameError NoMethodError ZeroDivisionError IndexError KeyError RangeError
 RegexpError FrozenError FloatDomainError StopIteration Puppet Puppet::Error Puppet::ParseError Math JSON YAML Psych CGI URI ERB ERB::Util
 IPAddr IPAddr::Error IPAddr::InvalidAddressError IPAddr::AddressFamilyError IPAddr::InvalidPrefixError JSON::ParserError Kernel Enumerator MatchData BasicObject Puppet::Parser::Functions Puppet::Util Shellwords`

func (r *run) constant(name string) (value, error) {
	switch name {
	case "Float::INFINITY":
		return math.Inf(1), nil
	case "Float::NAN":
		return math.NaN(), nil
	case "Math::PI":
		return math.Pi, nil
	case "Math::E":
		return math.E, nil
	}
	methodsOf()
	if library.others["constant"][name] {
		return class(name), nil
	}
	return nil, r.unsupported("the constant %s", name)
}

// classMethods are those of classes and modules; which of them has a method is decided
// by the name of both.
func classMethods() map[string]method {
	out := map[string]method{
		"===":  func(c *send) (value, error) { return isA(c.arg(0), c.self.(class)), nil },
		"name": func(c *send) (value, error) { return str(string(c.self.(class))), nil },
	}
	for _, name := range []string{
		"new", "escape", "quote", "union", "last_match", "generate", "pretty_generate", "dump", "parse", "load", "safe_load", "escapeHTML", "unescapeHTML", "h", "html_escape",
		"unescape", "url_encode", "u", "encode_www_form_component", "sqrt", "log", "log2", "log10", "sin", "cos", "pow", "[]", "exception",
		"shellescape", "join", "warning", "debug", "version", "settings", "max", "hypot", "cbrt", "floor",
	} {
		out[name] = func(c *send) (value, error) { return ofClass(c, name) }
	}
	return out
}

func ofClass(c *send, name string) (value, error) {
	k := string(c.self.(class))
	switch k + "." + name {
	case "Hash.new":
		t := newTable()
		t.usual, t.maker = c.arg(0), c.block
		return t, nil
	case "Hash.[]":
		if len(c.args) != 1 {
			return pairsOf(c.args)
		}
		return toH(&send{c.r, c.arg(0), nil, nil})
	case "IPAddr.new":
		return newAddress(c)
	case "Array.new":
		return newList(c)
	case "String.new":
		return str(toS(c.arg(0))), nil
	case "Regexp.new":
		s, err := c.text(0)
		if err != nil {
			return nil, err
		}
		options := 0
		if truthy(c.arg(1)) {
			options = 1
		}
		return c.r.pattern(s, options)
	case "Regexp.escape", "Regexp.quote":
		s, err := c.text(0)
		return str(onig.Escape(s)), err
	case "Regexp.last_match":
		if len(c.args) == 0 {
			return c.r.variable("$~")
		}
		n, err := c.integer(0, 0)
		if c.r.last == nil || err != nil {
			return nil, err
		}
		return c.r.last.group(n), nil
	case "Regexp.union":
		return union(c)
	case "JSON.generate", "JSON.dump":
		return toJSON(&send{c.r, c.arg(0), nil, nil})
	case "YAML.dump", "Psych.dump":
		return toYAML(&send{c.r, c.arg(0), nil, nil})
	case "JSON.parse", "JSON.load", "YAML.load", "YAML.safe_load":
		return c.read(k)
	case "CGI.escapeHTML", "ERB::Util.html_escape", "ERB::Util.h":
		return c.made(str(strings.ReplaceAll(html.EscapeString(toS(c.arg(0))), "&#34;", "&quot;")))
	case "CGI.unescapeHTML":
		return c.made(str(html.UnescapeString(toS(c.arg(0)))))
	case "CGI.escape", "URI.encode_www_form_component":
		return c.made(str(url.QueryEscape(toS(c.arg(0)))))
	case "ERB::Util.url_encode", "ERB::Util.u":
		return c.made(str(strings.ReplaceAll(url.QueryEscape(toS(c.arg(0))), "+", "%20")))
	case "CGI.unescape":
		s, err := url.QueryUnescape(toS(c.arg(0)))
		if err != nil {
			return nil, &failure{"ArgumentError", err.Error()}
		}
		return str(s), nil
	}
	if k == "Math" {
		return mathOf(c, name)
	}
	if name == "new" && (strings.HasSuffix(k, "Error") || k == "Exception") {
		return &failure{k, toS(argOr(c.args, 0, str(k)))}, nil
	}
	return nil, c.r.unsupported("%s.%s", k, name)
}

// pairsOf returns the hash of keys and values in turn.
func pairsOf(args []value) (value, error) {
	if len(args)%2 != 0 {
		return nil, fail("ArgumentError", "odd number of arguments for Hash")
	}
	t := newTable()
	for i := 0; i < len(args); i += 2 {
		t.put(args[i], args[i+1])
	}
	return t, nil
}

func newList(c *send) (value, error) {
	if l, ok := c.arg(0).(*list); ok {
		return &list{l: slices.Clone(l.l)}, nil
	}
	n, err := c.integer(0, 0)
	if err == nil && n < 0 {
		err = fail("ArgumentError", "negative array size")
	}
	if err == nil {
		err = c.r.spend(16 * n)
	}
	if err != nil {
		return nil, err
	}
	out := &list{l: make([]value, n)}
	for i := range out.l {
		if out.l[i] = c.arg(1); c.block != nil {
			if out.l[i], err = c.yield(int64(i)); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func union(c *send) (value, error) {
	args := c.args
	if l, ok := c.arg(0).(*list); ok && len(args) == 1 {
		args = l.l
	}
	var parts []string
	for _, a := range args {
		if p, ok := a.(*pattern); ok {
			parts = append(parts, p.embedded())
		} else {
			parts = append(parts, onig.Escape(toS(a)))
		}
	}
	return c.r.pattern(strings.Join(parts, "|"), 0)
}

func (c *send) read(kind string) (value, error) {
	s, err := c.text(0)
	if err != nil {
		return nil, err
	}
	grow := func(n int64) error { return c.r.spend(int(n)) }
	if kind == "JSON" {
		v, err := format.DecodeJSON([]byte(s), format.Limits{Grow: grow})
		if err != nil {
			return nil, &failure{"JSON::ParserError", err.Error()}
		}
		return fromData(v), nil
	}
	doc, err := psych.Decode([]byte(s), psych.Limits{Aliases: 1, Grow: grow})
	if err != nil {
		return nil, &failure{"StandardError", psych.Message(err, "<unknown>")}
	}
	if doc.Empty {
		return false, nil
	}
	return fromData(doc.Value), nil
}

func mathOf(c *send, name string) (value, error) {
	f := map[string]func(float64) float64{
		"sqrt": math.Sqrt, "log": math.Log, "log2": math.Log2, "log10": math.Log10, "sin": math.Sin, "cos": math.Cos, "cbrt": math.Cbrt,
	}[name]
	x, ok := floatOf(c.arg(0))
	if f == nil || len(c.args) != 1 {
		return nil, c.r.unsupported("Math.%s", name)
	}
	if !ok {
		return nil, fail("TypeError", "can't convert %s into Float", classOf(c.arg(0)))
	}
	return f(x), nil
}

func isFinal(err error) bool { return errors.Is(err, errors.ErrUnsupported) }
