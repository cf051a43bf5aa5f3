package rich

import (
	"regexp"
	"strconv"
	"strings"

	"indirtui/indirector/data"
)

var (
	segment = regexp.MustCompile(`\A\s*(?:\[\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\$]|\\.)*)"|(0|[1-9][0-9]*)|([a-zA-Z_][a-zA-Z0-9_]*))\s*\]|\.\s*([a-z][a-zA-Z0-9_]*)(?:\(\))?)\s*`)
	literal = regexp.MustCompile(`\A\s*(?:'([^'\\]*)'|([0-9]|[1-9][0-9]*)|([a-z][a-zA-Z0-9_]*))\s*\z`)
)

// follow returns what a path leads to from the parameters: "$['x'][0]".
func (c *converter) follow(path string) (*node, error) {
	if g := literal.FindStringSubmatch(path); g != nil {
		key := data.OfString(g[1] + g[3])
		if g[2] != "" {
			n, _ := strconv.ParseInt(g[2], 10, 64)
			key = data.OfInt(n)
		}
		return (&node{}).end(key), nil
	}
	rest, ok := strings.CutPrefix(strings.TrimLeft(path, " \t\n"), "$")
	if !ok {
		return nil, errorf(badPath, path)
	}
	at := c.root
	if at == nil {
		at = (&node{}).end(data.Value{})
	}
	for rest != "" {
		g := segment.FindStringSubmatch(rest)
		if g == nil {
			if strings.Count(rest, "[") > strings.Count(rest, "]") {
				return nil, errorf(badPathEnd)
			}
			return nil, errorf(badPath, path)
		}
		rest = rest[len(g[0]):]
		key := data.OfString(unquote(g[1]) + unquote(g[2]) + word(g[4]) + g[5])
		if g[3] != "" {
			n, _ := strconv.ParseInt(g[3], 10, 64)
			key = data.OfInt(n)
		}
		next, err := at.step(key)
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// word returns what a bare word in brackets stands for.
func word(s string) string {
	if s == "null" {
		return ""
	}
	return s
}

var unescape = strings.NewReplacer(`\\`, `\`, `\'`, `'`, `\"`, `"`, `\n`, "\n", `\t`, "\t", `\$`, "$")

func unquote(s string) string { return unescape.Replace(s) }

// step returns the item of n with that key; what is not there, or not yet, is
// nil.
func (n *node) step(key data.Value) (*node, error) {
	if n.items != nil || !n.done || n.isMap {
		return n.item(key)
	}
	v := n.value
	if v.Get(typeKey).Str() == "Default" {
		v = data.OfString("default") // the name of a symbol
	}
	missing := (&node{}).end(data.Value{})
	switch v.Kind() {
	case data.List, data.Hash:
		if v.Len() == 0 {
			return missing, nil
		}
	case data.String:
		if key.Kind() == data.String {
			if strings.Contains(v.Str(), key.Str()) {
				return (&node{}).end(key), nil
			}
			return missing, nil
		}
		if r := []rune(v.Str()); key.Int() < int64(len(r)) {
			return (&node{}).end(data.OfString(string(r[key.Int()]))), nil
		}
		return missing, nil
	case data.Big:
		if key.Kind() == data.Int {
			return (&node{}).end(data.OfInt(int64(v.Big().Bit(int(min(key.Int(), 1<<20)))))), nil
		}
		return nil, errorf(badIndex)
	case data.Int:
		if key.Kind() == data.Int {
			return (&node{}).end(data.OfInt(v.Int() >> min(key.Int(), 63) & 1)), nil
		}
		return nil, errorf(badIndex)
	}
	return nil, undefined("[]", v)
}

func (n *node) item(key data.Value) (*node, error) {
	if !n.isMap {
		if key.Kind() != data.Int {
			return nil, errorf(badIndex)
		}
		if i := key.Int(); i < int64(len(n.items)) {
			return n.items[i], nil
		}
		return (&node{}).end(data.Value{}), nil
	}
	for i, k := range n.keys {
		if data.Equal(k, key) && i < len(n.items) {
			return n.items[i], nil
		}
	}
	return (&node{}).end(data.Value{}), nil
}
