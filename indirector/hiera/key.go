package hiera

import (
	"regexp"
	"strconv"
	"strings"

	"indirtui/indirector/data"
)

// A key is a root and what is dug out of its value. Rule HIERA-KEY-01.
type key struct {
	text     string
	root     string
	module   string       // what precedes the first :: of the root; "" if none
	segments []data.Value // strings and integers
	one      bool         // it has a module, perhaps ""
}

const lookupOptions = "lookup_options"

var optionsKey = key{text: lookupOptions, root: lookupOptions}

func parseKey(text string) (key, error) {
	segments, ok := splitKey(text)
	if !ok {
		return key{}, lookupError("Syntax error in key: '%s'", text)
	}
	k := key{text: text, root: segments[0].Text()}
	if i := strings.Index(k.root, "::"); i >= 0 {
		k.module, k.one = k.root[:i], true
		if i == 0 {
			// Ruby's range 0..-1 is all of the root.
			k.module = k.root
		}
	}
	if len(segments) > 1 {
		k.segments = segments[1:]
	}
	return k, nil
}

var (
	keyPart = regexp.MustCompile(`\s*"[^"]+"\s*|\s*'[^']+'\s*|[^'".]+`)
	integer = regexp.MustCompile(`(?m)^:?[+-]?[0-9]+$`)
)

// splitKey returns root and segments. The root is always a string, but for one of
// digits, whose text counts.
func splitKey(text string) ([]data.Value, bool) {
	if !strings.ContainsAny(text, `'".`) {
		return []data.Value{data.OfString(text)}, true
	}
	// Between two parts is exactly one dot; nothing precedes the first and
	// follows the last.
	at := 0
	var out []data.Value
	for i, m := range keyPart.FindAllStringIndex(text, -1) {
		between := text[at:m[0]]
		if i == 0 && between != "" || i > 0 && between != "." {
			return nil, false
		}
		out = append(out, segment(strings.TrimSpace(text[m[0]:m[1]])))
		at = m[1]
	}
	return out, at == len(text) && len(out) > 0
}

func segment(s string) data.Value {
	switch {
	case len(s) > 1 && (s[0] == '"' || s[0] == '\''):
		return data.OfString(s[1 : len(s)-1])
	case strings.ContainsAny(s, "0123456789") && integer.MatchString(s):
		// Ruby's to_i of ":1" is 0.
		n, _ := strconv.ParseInt(strings.TrimPrefix(s, "+"), 10, 64)
		return data.OfInt(n)
	}
	return data.OfString(s)
}

// dig follows segments into v. Rule HIERA-KEY-02.
func (in *invocation) dig(text string, segments []data.Value, v data.Value) (data.Value, bool, error) {
	if len(segments) == 0 {
		return v, true, nil
	}
	if in.record != nil {
		defer in.into(node{kind: subKeyNode, name: joinSegments(segments)}).pop()
	}
	for _, s := range segments {
		next, found, err := in.digOne(text, s, v)
		if !found || err != nil {
			return data.Value{}, false, err
		}
		v = next
	}
	return v, true, nil
}

func (in *invocation) digOne(text string, s, v data.Value) (data.Value, bool, error) {
	if in.record != nil {
		defer in.into(node{kind: segmentNode}).pop()
	}
	var next data.Value
	found := false
	switch kind := v.Kind(); {
	case kind == data.Nil:
	case kind == data.List && s.Kind() == data.Int:
		if n := s.Int(); n >= 0 && n < int64(v.Len()) {
			next, found = v.List()[n], true
		}
	case kind == data.Hash:
		next, found = lookupValue(v, s)
	case kind == data.Int, kind == data.Big:
		// Ruby's integers have [], but no include?.
		return next, false, &Error{Class: "NoMethodError", Message: "undefined method `include?' for " + v.Text() + ":Integer"}
	default:
		return next, false, lookupError("Data Provider type mismatch: Got %s when a hash-like object was expected to access value using '%s' from key '%s'",
			data.RubyClass(v), s.Text(), text)
	}
	if found {
		in.found(s.Text(), next)
	} else {
		in.notFound(s.Text())
	}
	return next, found, nil
}

// lookupValue finds the pair whose key is exactly k.
func lookupValue(v, k data.Value) (data.Value, bool) {
	for _, p := range v.Hash() {
		if p.Key.Str() == k.Str() && data.Equal(p.Key, k) { // most are other texts
			return p.Value, true
		}
	}
	return data.Value{}, false
}

func joinSegments(segments []data.Value) string {
	parts := make([]string, len(segments))
	for i, s := range segments {
		parts[i] = s.Text()
	}
	return strings.Join(parts, ".")
}
