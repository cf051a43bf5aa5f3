package debugger

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
)

// variableName is how the variables of a program are called that has edits.
var variableName = regexp.MustCompile(`^\$[a-z0-9_]\w*$`)

// readVariable reads a value: JSON, undef, or a text, which may stand in single quotes.
func readVariable(text string) (data.Value, error) {
	text = strings.TrimSpace(text)
	v, err := format.DecodeJSON([]byte(text), format.Limits{Bytes: maxValue})
	switch {
	case err == nil:
		return v, nil
	case text == "":
		return v, errors.New("a variable has a value")
	case text == "undef":
		return data.Value{}, nil
	case strings.ContainsAny(text[:1], `[{"`):
		return v, err
	case len(text) > 1 && text[0] == '\'' && strings.HasSuffix(text, "'"):
		text = text[1 : len(text)-1]
	}
	return data.OfString(text), nil
}

// noVariable is why a variable cannot be changed at a place of a program; "" if it can.
func noVariable(at *indirector.Code, name string) string {
	switch {
	case at == nil:
		return "variables are in programs: hold the compile at a place of one"
	case slices.Contains(at.Fixed, name) && at.Of != "":
		return "nothing that is still to come would look at it"
	case slices.Contains(at.Fixed, name):
		return "the language itself sets it"
	case !slices.ContainsFunc(at.Variables, func(p data.Pair) bool { return p.Key.Str() == name }):
		return "it has no value here"
	}
	return ""
}

// longestChange is how much of a value is in a change, in bytes.
const longestChange = 200

// assign gives a variable another value when the request goes on.
func (d *draft) assign(at *indirector.Code, e Edit) error {
	name := strings.TrimPrefix(e.Name, "$")
	v, err := readVariable(e.Value)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(at.Variables, func(p data.Pair) bool { return p.Key.Str() == name })
	was, is := inspected(at.Variables[i].Value), inspected(v)
	if strings.HasPrefix(was, "Sensitive") {
		is = "yours, not shown"
	}
	vars := append(slices.DeleteFunc(slices.Clone(d.vars), func(p data.Pair) bool { return p.Key.Str() == name }), data.P(name, v))
	if at.Try != nil {
		if err := at.Try(vars); err != nil {
			return err
		}
	}
	d.vars = vars
	d.change(Change{e.Name, was, is})
	return nil
}

// inspected is the beginning of a value as programs write it.
func inspected(v data.Value) string {
	text := v.Inspect()
	if len(text) > longestChange {
		text = strings.ToValidUTF8(text[:longestChange], "") + "…"
	}
	return text
}

// assigns reports whether the action does nothing but set variables.
func (a *Action) assigns() bool {
	return a.Do == Set && !slices.ContainsFunc(a.Edits, func(e Edit) bool { return !strings.HasPrefix(e.Name, "$") })
}
