package hiera

import (
	"regexp"
	"slices"
	"strings"

	"indirtui/indirector/data"
)

// maxDepth bounds interpolation within interpolation, and the nesting of data.
// Rule HIERA-PERF-03.
const maxDepth = 200

// A variable is one that a hierarchy was resolved with.
type variable struct {
	name, root string
	segments   []data.Value
	from       data.Value // what the root was
	value      data.Value
}

// emptyExpressions are replaced by nothing. Rule HIERA-INT-01.
var emptyExpressions = []string{"", "::", `""`, "''", `"::"`, "'::'"}

var (
	methodCall = regexp.MustCompile(`(?m)^(\w+)\((?:"([^"]+)"|'([^']+)')\)$`)
	expression = regexp.MustCompile(`%\{([^}]*)\}`)
)

// interpolate replaces the expressions in all texts of v, in keys of hashes too.
// What holds none is returned as it is. Rules HIERA-INT-01 to HIERA-INT-04.
func (in *invocation) interpolate(v data.Value, methods bool) (data.Value, error) {
	switch v.Kind() {
	case data.String:
		if !strings.Contains(v.Str(), "%{") {
			return v, nil
		}
		return in.interpolateText(v.Str(), methods)
	case data.List:
		if !needs(v) {
			return v, nil
		}
		list := make([]data.Value, v.Len())
		for i, e := range v.List() {
			var err error
			if list[i], err = in.interpolate(e, methods); err != nil {
				return v, err
			}
		}
		return data.OfList(list), nil
	case data.Hash:
		if !needs(v) {
			return v, nil
		}
		return in.interpolateHash(v, methods)
	default:
		return v, nil
	}
}

func (in *invocation) interpolateHash(v data.Value, methods bool) (data.Value, error) {
	out := make([]data.Pair, 0, v.Len())
	for _, p := range v.Hash() {
		k, err := in.interpolate(p.Key, methods)
		if err != nil {
			return v, err
		}
		value, err := in.interpolate(p.Value, methods)
		if err != nil {
			return v, err
		}
		// Two keys may be the same now: the later wins, in the place of the earlier.
		if i := slices.IndexFunc(out, func(o data.Pair) bool { return data.Equal(o.Key, k) }); i >= 0 {
			out[i].Value = value
			continue
		}
		out = append(out, data.Pair{Key: k, Value: value})
	}
	return data.OfHash(out), nil
}

// needs reports whether a text in v holds an expression.
func needs(v data.Value) bool {
	switch v.Kind() {
	case data.String:
		return strings.Contains(v.Str(), "%{")
	case data.List:
		return slices.ContainsFunc(v.List(), needs)
	case data.Hash:
		return slices.ContainsFunc(v.Hash(), func(p data.Pair) bool { return needs(p.Key) || needs(p.Value) })
	default:
		return false
	}
}

func (in *invocation) interpolateText(subject string, methods bool) (data.Value, error) {
	in.c.unlike = true
	defer in.into(node{kind: interpolateNode, name: subject}).pop()
	if in.depth++; in.depth > maxDepth {
		in.depth--
		return data.Value{}, lookupError("interpolation is nested more than %d deep in string: %s", maxDepth, subject)
	}
	defer func() { in.depth-- }()
	var out strings.Builder
	at := 0
	for _, m := range expression.FindAllStringSubmatchIndex(subject, -1) {
		out.WriteString(subject[at:m[0]])
		at = m[1]
		expr := strings.Trim(subject[m[2]:m[3]], " \t\n\v\f\r\x00")
		if slices.Contains(emptyExpressions, expr) {
			continue
		}
		v, alias, err := in.evaluate(expr, subject, m[1]-m[0] == len(subject), methods)
		if alias || err != nil {
			return v, err
		}
		out.WriteString(v.Text())
	}
	out.WriteString(subject[at:])
	return data.OfString(out.String()), nil
}

// evaluate returns the value of one expression; that of an alias is the value of
// the whole text.
func (in *invocation) evaluate(expr, subject string, whole, methods bool) (v data.Value, alias bool, err error) {
	method, arg := "scope", expr
	if m := methodCall.FindStringSubmatch(expr); m != nil {
		if !methods {
			return v, false, issuef("Interpolation using method syntax is not allowed in this context")
		}
		method, arg = m[1], m[2]+m[3]
	}
	if alias = method == "alias"; alias && !whole {
		return v, false, issuef("'alias' interpolation is only permitted if the expression is equal to the entire string")
	}
	name := arg
	switch method {
	case "lookup", "hiera", "alias":
		v, err = in.within(arg)
	case "scope":
		name = "scope:" + arg
		v, err = in.variable(arg, subject)
	case "literal":
		v = data.OfString(arg)
	default:
		return v, false, issuef("Unknown interpolation method '%s'", method)
	}
	if alias || err != nil {
		return v, alias, err
	}
	if err := in.enter(name); err != nil {
		return v, false, err
	}
	defer in.leave()
	v, err = in.interpolate(v, methods)
	return v, false, asLookup(err)
}

// within looks up another key for an expression; what is not found is "".
func (in *invocation) within(arg string) (data.Value, error) {
	sub := in.child()
	if s, ok := sub.scope.(hiera3Scope); ok && !sub.only {
		sub.scope = s.Scope
	}
	sub.names = slices.Clip(in.names)
	return sub.first(Query{
		Keys: []string{arg}, Default: data.OfString(""), HasDefault: true, Overrides: in.overrides, Defaults: in.defaults,
	})
}

// variable returns a variable of the scope, or what is dug out of it; a missing
// one is nil. Rule HIERA-INT-02.
func (in *invocation) variable(name, subject string) (data.Value, error) {
	segments, ok := splitKey(name)
	if !ok {
		return data.Value{}, lookupError("Syntax error in string: %s", subject)
	}
	root := segments[0].Text()
	segments = segments[1:]
	v, err := in.global(root)
	if err != nil {
		return v, err
	}
	from := v
	if !v.IsNil() && len(segments) > 0 {
		if v, _, err = in.dig(name, segments, v); err != nil {
			return v, err
		}
	}
	if in.used != nil && (v.IsNil() || !strings.HasPrefix(name, "::")) {
		*in.used = append(*in.used, variable{name, root, segments, from, v})
	}
	return v, nil
}

// global returns a top-level variable. Values that override those of the lookup
// win, and its default values serve what does not exist.
func (in *invocation) global(root string) (data.Value, error) {
	defer in.into(node{kind: scopeNode, name: "Global Scope"}).pop()
	if v, ok := in.overrides.Lookup(root); ok {
		in.event(overrideEvent, root, v)
		return v, nil
	}
	v, exists := in.scope.Variable(root)
	if v.IsNil() && !exists {
		exists = root == "module_name" || root == "caller_module_name"
	}
	if exists {
		in.found(root, v)
		return v, nil
	}
	if err := in.undefined(root); err != nil {
		return v, err
	}
	if v, ok := in.defaults.Lookup(root); ok {
		in.event(defaultEvent, root, v)
		return v, nil
	}
	return data.Value{}, nil
}

var numericVariable = regexp.MustCompile(`\A(?:0|[1-9][0-9]*)\z`)

// undefined warns of a variable that does not exist, or refuses it, as the setting
// strict demands.
func (in *invocation) undefined(name string) error {
	if numericVariable.MatchString(name) {
		return nil
	}
	reason := ""
	if class, _, ok := cutLast(strings.TrimPrefix(name, "::"), "::"); ok {
		reason = "class " + class + " could not be found"
	}
	message := "Undefined variable '" + name + "'; " + reason
	switch in.c.strict() {
	case "off":
		return nil
	case "error":
		return &undefinedError{Error{Class: WrongArg, Message: message}, name}
	}
	in.c.warnings.once("variable "+name, "", message)
	return nil
}

// An undefinedError is that of a variable, which a hierarchy reports with its own
// place.
type undefinedError struct {
	cause Error
	name  string
}

func (e *undefinedError) Error() string { return e.cause.Error() }

func (e *undefinedError) Unwrap() error { return &e.cause }

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// hiera3Scope is a scope as hiera 3 sees it: it has names for what calls, and an
// empty text is as good as none. Rule HIERA-INT-05.
type hiera3Scope struct{ Scope }

// Variable implements Scope.
func (s hiera3Scope) Variable(name string) (data.Value, bool) {
	calling := name == "calling_class" || name == "calling_class_path" || name == "calling_module"
	ask := name
	if name == "calling_module" {
		ask = "module_name"
	}
	v, exists := s.Scope.Variable(ask)
	if text, ok := v.AsStr(); ok && text == "" {
		v = data.Value{}
	}
	return v, exists || calling
}
