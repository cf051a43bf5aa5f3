package types

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"indirtui/indirector/data"
)

// A Pattern is a regular expression that values may match, as Ruby reads it: ^ and $
// stand for the ends of lines.
type Pattern struct {
	source string
	re     *regexp.Regexp
}

// NewPattern compiles an expression of the program's own; a wrong one panics.
func NewPattern(source string) Pattern {
	return Pattern{source, regexp.MustCompile("(?m)" + source)}
}

// String is what error texts show: "/^[0-9]+$/".
func (p Pattern) String() string { return "/" + p.source + "/" }

// A failure is an error in Puppet's words.
type failure string

func (e failure) Error() string { return string(e) }

func refuse(format string, args ...any) error { return failure(fmt.Sprintf(format, args...)) }

// argumentError is a value that Munge cannot take, and of which the message names the
// value and the attribute.
type argumentError string

func (e argumentError) Error() string { return string(e) }

func badArgument(format string, args ...any) error {
	return argumentError(fmt.Sprintf(format, args...))
}

// word is a value as it is compared with choices.
func word(v data.Value) string { return v.Text() }

// Match returns the choice that a value means.
func (a *Attribute) Match(v data.Value) (Choice, bool) {
	w := word(v)
	for _, c := range a.Choices {
		if c.Name == w || slices.Contains(c.Aliases, w) {
			return c, true
		}
	}
	return Choice{}, false
}

func (a *Attribute) matchesPattern(v data.Value) bool {
	w := word(v)
	return slices.ContainsFunc(a.Patterns, func(p Pattern) bool { return p.re.MatchString(w) })
}

// Choose makes a symbol of a value that is a choice. Rule RES-TYPE-03.
func (a *Attribute) Choose(v data.Value) data.Value {
	if c, ok := a.Match(v); ok {
		return data.OfSymbol(c.Name)
	}
	return v
}

// Check is the usual validation: a value must be a choice, or match a pattern, if there
// are any, and the provider must have what a choice takes. Rules RES-TYPE-03, RES-TYPE-06.
func (r *Resource) Check(a *Attribute, v data.Value) error {
	if len(a.Choices) == 0 && len(a.Patterns) == 0 {
		return nil
	}
	c, ok := a.Match(v)
	if !ok && !a.matchesPattern(v) {
		return a.invalid(v)
	}
	needs := c.Features
	if !ok {
		needs = a.Other
	}
	if a.Kind == Property && r.Provider != nil && !r.supports(needs) {
		return refuse("Provider %s must have features '%s' to set '%s' to '%s'", r.Provider.Name, joined(needs), a.Name, v.Text())
	}
	return nil
}

func (a *Attribute) invalid(v data.Value) error {
	text := "Invalid value " + v.Inspect() + "."
	if len(a.Choices) > 0 {
		names := make([]string, len(a.Choices))
		for i, c := range a.Choices {
			names[i] = c.Name
		}
		text += " Valid values are " + joined(names) + "."
	}
	if len(a.Patterns) > 0 {
		texts := make([]string, len(a.Patterns))
		for i, p := range a.Patterns {
			texts[i] = p.String()
		}
		text += " Valid values match " + joined(texts) + "."
	}
	return failure(text)
}

// IsDeferred reports whether v is a call of a function that is made on the agent, or has
// one in it.
func IsDeferred(v data.Value) bool {
	switch v.Kind() {
	case data.List:
		return slices.ContainsFunc(v.List(), IsDeferred)
	case data.Hash:
		return v.Get("__ptype").Str() == "Deferred" ||
			slices.ContainsFunc(v.Hash(), func(p data.Pair) bool { return IsDeferred(p.Value) })
	}
	return false
}

// Unwrap returns what a Sensitive of rich data holds.
func Unwrap(v data.Value) (data.Value, bool) {
	if v.Kind() == data.Hash && v.Get("__ptype").Str() == "Sensitive" {
		return v.Get("__pvalue"), true
	}
	return v, false
}

// absent is the symbol absent, what is not there.
func absent() data.Value { return data.OfSymbol("absent") }

// isAbsent reports whether v is the symbol absent.
func isAbsent(v data.Value) bool { return v.Kind() == data.Symbol && v.Str() == "absent" }

// list returns the elements of a list, or the value as the only one.
func list(v data.Value) []data.Value {
	if v.Kind() == data.List {
		return v.List()
	}
	return []data.Value{v}
}

// flat is list with the elements of lists in it, at any depth.
func flat(v data.Value) []data.Value {
	if v.Kind() != data.List {
		return []data.Value{v}
	}
	var all []data.Value
	for _, x := range v.List() {
		all = append(all, flat(x)...)
	}
	return all
}

// textOf is a value that must be text.
func textOf(v data.Value) (string, error) {
	if v.Kind() != data.String && v.Kind() != data.Symbol {
		return "", refuse("%s is no text", v.Inspect())
	}
	return v.Str(), nil
}

func joined(words []string) string { return strings.Join(words, ", ") }

func sortedKeys(m map[string]data.Value) []string { return slices.Sorted(maps.Keys(m)) }
