package types

import "indirtui/indirector/data"

// What the tests of this package use beyond what it exports.
var (
	Common   = common
	Expanded = expanded
	Standard = standard
	Unfolded = unfolded
	FoldsTo  = foldsTo
)

// Rejection returns why a function with such parameters takes no such arguments.
func Rejection(name string, names []string, types []Type, required int, args []data.Value) string {
	s := signature{names, types, required}
	if s.takes(args) {
		return ""
	}
	return rejection(name, []signature{s}, args)
}

// MatchesText reports whether a regular expression or a range of versions matches.
func MatchesText(r data.RichValue, v data.Value) (matches, ok bool) {
	switch r := r.(type) {
	case *regex:
		return r.match(v.Str()), v.Kind() == data.String
	case versions:
		if v, ok := v.Rich().(version); ok {
			return r.include(v), true
		}
		x, err := parseVersion(v.Str())
		return err == nil && r.include(x), true
	}
	return false, false
}

// AsRegexp reports whether v is a regular expression, and as it is written.
func AsRegexp(v data.Value) (string, bool) {
	r, ok := v.Rich().(*regex)
	if !ok {
		return "", false
	}
	return r.literal(), true
}

// Order compares numbers of time and versions.
func Order(a, b data.Value) (int, bool) {
	switch x := a.Rich().(type) {
	case version:
		y, ok := b.Rich().(version)
		return x.compare(y), ok
	case timespan:
		y, ok := b.Rich().(timespan)
		return x.total().Cmp(y.total()), ok
	case timestamp:
		y, ok := b.Rich().(timestamp)
		return x.total().Cmp(y.total()), ok
	}
	return 0, false
}
