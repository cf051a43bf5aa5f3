package syntax

import (
	"math/big"
	"strconv"
	"strings"
)

// checkKeys looks for keys that a hash has twice. Rule LANG-CHK-13.
func (c *checker) checkKeys(h *Hash) {
	if len(h.Entries) < 2 || c.options.DuplicateKeys == StrictOff {
		return
	}
	severity := Warning
	if c.options.DuplicateKeys == StrictError {
		severity = Error
	}
	seen := make(map[string]bool, len(h.Entries))
	for _, e := range h.Entries {
		key, ok := literalKey(e.Key)
		if !ok {
			continue
		}
		if seen[key] {
			c.add(severity, e, "The key '%s' is declared more than once", shown(e.Key))
		}
		seen[key] = true
	}
}

// literalKey returns a text that is the same for equal keys only, if the key is
// known.
func literalKey(n Node) (key string, ok bool) {
	switch n := n.(type) {
	case *String, *Name:
		return "'" + shown(n), true
	case *Array, *Hash:
		return inspected(n)
	case *Undef, *Default, *Boolean, *Integer, *Float, *Regexp, *TypeName:
		key, ok = inspected(n)
		return key, ok
	}
	return "", false
}

// shown returns a key as Ruby puts it into a message.
func shown(n Node) string {
	switch n := n.(type) {
	case *String:
		return n.Value
	case *Name:
		return n.Value
	case *Undef:
		return ""
	case *Default:
		return "default"
	case *Regexp:
		return regexpText(n.Source)
	}
	text, _ := inspected(n)
	return text
}

// regexpText returns a regular expression as Ruby puts it into a message.
func regexpText(source string) string { return "(?-mix:" + strings.ReplaceAll(source, "/", `\/`) + ")" }

// inspected returns a literal as Ruby inspects it.
func inspected(n Node) (text string, ok bool) {
	switch n := n.(type) {
	case *String:
		return rubyString(n.Value), true
	case *Name:
		return rubyString(n.Value), true
	case *Undef:
		return "nil", true
	case *Default:
		return ":default", true
	case *Boolean:
		return strconv.FormatBool(n.Value), true
	case *Integer:
		if n.Big != nil {
			return n.Big.String(), true
		}
		return big.NewInt(n.Value).String(), true
	case *Float:
		return rubyFloat(n.Value), true
	case *Regexp:
		return "/" + strings.ReplaceAll(n.Source, "/", `\/`) + "/", true
	case *Array:
		texts, ok := inspectedAll(n.Values)
		return "[" + strings.Join(texts, ", ") + "]", ok
	case *Hash:
		var pairs []string
		for _, e := range n.Entries {
			pair, ok := inspectedAll([]Node{e.Key, e.Value})
			if !ok {
				return "", false
			}
			pairs = append(pairs, strings.Join(pair, "=>"))
		}
		return "{" + strings.Join(pairs, ", ") + "}", true
	}
	return "", false
}

func inspectedAll(all []Node) (texts []string, ok bool) {
	for _, n := range all {
		text, ok := inspected(n)
		if !ok {
			return nil, false
		}
		texts = append(texts, text)
	}
	return texts, true
}

// rubyString returns a string as Ruby inspects it.
func rubyString(s string) string {
	quoted := strings.ReplaceAll(strconv.Quote(s), "#{", `\#{`)
	return strings.ReplaceAll(quoted, "#$", `\#$`)
}
