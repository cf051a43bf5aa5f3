package types

import (
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/rich"
)

// timeBound reads an end of a type of times.
func timeBound(t Type, v data.Value) (m moment, err error) {
	_, spans := t.(timespanType)
	switch r := v.Rich().(type) {
	case timestamp:
		if !spans {
			return *r.moment, nil
		}
	case timespan:
		if spans {
			return *r.moment, nil
		}
	}
	switch v.Kind() {
	case data.Int, data.Float:
		return seconds(v)
	case data.Hash:
		if spans {
			return nanosecondsIn(v)
		}
	case data.String:
		if spans {
			s, err := rich.ParseTimespan(v.Str())
			if err != nil {
				return m, err
			}
			return momentOf(s.Nanoseconds())
		}
		return parseTimestamp(v.Str())
	}
	return m, errorf("Unable to create a Puppet::Pops::Time::%s from a %s", simpleName(t), rubyClass(v))
}

func ofTimes(t Type, args []data.Value) (Type, error) {
	if len(args) > 2 {
		return nil, badArity(upperArticle(label(t)), 0, 2, len(args))
	}
	out := always
	for i, a := range args {
		if isDefault(a) || a.IsNil() {
			continue
		}
		m, err := timeBound(t, a)
		switch {
		case err != nil:
			return nil, err
		case i == 0:
			out.from, out.noFrom = m, false
		default:
			out.to, out.noTo = m, false
		}
	}
	if _, ok := t.(timespanType); ok {
		if !out.noFrom && !out.noTo && out.from.after(out.to) {
			return nil, errorf("'from' must be less or equal to 'to'. Got (%s, %s", out.from.timespan(), out.to.timespan())
		}
		return timespanType{out}, nil
	}
	if !out.noFrom && !out.noTo && out.from.after(out.to) {
		return nil, errorf("'from' must be less or equal to 'to'. Got (%s, %s", out.from.timestamp(), out.to.timestamp())
	}
	return timestampType{out}, nil
}

// uriParts are the parts that a URI may have.
var uriParts = map[string]bool{"scheme": true, "userinfo": true, "host": true, "port": true, "path": true, "query": true, "fragment": true, "opaque": true}

func ofURI(args []data.Value) (Type, error) {
	if len(args) != 1 {
		return nil, badArity("URI-Type", 1, 1, len(args))
	}
	switch v := args[0]; v.Kind() {
	case data.Hash:
		if v.Len() == 0 {
			return uriType{}, nil
		}
		for _, p := range v.Hash() {
			if !uriParts[p.Key.Str()] || !isTypeValue(p.Value) && !isPatternText(p.Value) && p.Value.Kind() != data.Int {
				return nil, notType("URI", v)
			}
		}
		return uriType{v}, nil
	case data.String:
		if v.Str() == "" {
			return nil, notType("URI", v)
		}
		s, err := rich.ParseURI(v.Str())
		if scheme, _, ok := strings.Cut(s, ":"); err != nil || !ok || scheme == "" || strings.ContainsAny(scheme, "/?#") {
			// Puppet shows its expression for URIs, which fills a screen.
			return nil, errorf("URI-Type parameter has wrong type, expects a match for an absolute URI, got '%s'", v.Str())
		}
		return uriType{partsOf(uri(s))}, nil
	default:
		return nil, notType("URI", v)
	}
}

// ofObject reads a definition; an empty one is that of all objects.
func ofObject(args []data.Value) (Type, error) {
	switch {
	case len(args) != 1:
		return nil, badArity("Object-Type", 1, 1, len(args))
	case args[0].Kind() != data.Hash:
		return nil, errorf("undefined method `empty?' for %s:%s", args[0].Inspect(), rubyClass(args[0]))
	case args[0].Len() == 0:
		return objectType, nil
	}
	t, err := defineObject("", args[0])
	if err != nil {
		return nil, &definitionError{args[0], err}
	}
	return t, nil
}

// A definitionError reports a definition of an Object type. If an alias gives that a name, the
// words are others.
type definitionError struct {
	definition data.Value
	cause      error
}

func (e *definitionError) Error() string { return e.cause.Error() }

// ofVersions reads ranges of versions.
func ofVersions(args []data.Value) (Type, error) {
	var out versionType
	for _, a := range args {
		if r, ok := a.Rich().(versions); ok {
			out.ranges = append(out.ranges, r)
			continue
		}
		if a.Str() == "" {
			out.ranges = append(out.ranges, versions{"*", []span{{}}})
			continue
		}
		r, err := parseVersions(a.Str())
		if err != nil {
			return nil, err
		}
		out.ranges = append(out.ranges, r)
	}
	return out, nil
}
