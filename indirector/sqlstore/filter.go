package sqlstore

import (
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
)

// A filter is the query of a collector: [left, op, right], whose sides are filters
// themselves if op is "and" or "or", and else a name and a value. Rule STORE-COL-04.
type filter struct {
	op          string // and, or, ==, !=
	left, right *filter
	name        string
	value       data.Value
}

// Bounds of a filter.
const (
	maxFilterDepth = 200
	maxFilterNodes = 2000
)

// parseFilter reads a filter; nil is none.
func parseFilter(v data.Value) (*filter, error) {
	n := maxFilterNodes
	if v.IsNil() {
		return nil, nil
	}
	return readFilter(v, maxFilterDepth, &n)
}

func readFilter(v data.Value, depth int, left *int) (*filter, error) {
	if *left--; depth == 0 || *left < 0 {
		return nil, &indirector.Failure{Message: "The query of the collector is too large: it may have 2000 conditions, 200 deep"}
	}
	l := v.List()
	if len(l) != 3 {
		return nil, unsupported(v, v)
	}
	f := &filter{op: l[1].Text()}
	switch f.op {
	case "and", "or":
		var err error
		if f.left, err = readFilter(l[0], depth-1, left); err == nil {
			f.right, err = readFilter(l[2], depth-1, left)
		}
		return f, err
	case "==", "!=":
	default:
		return nil, unsupported(l[1], v)
	}
	f.name = l[0].Text()
	// The value as JSON has it, as those of the store are.
	text, err := appendJSON(nil, l[2])
	if err == nil {
		f.value, err = decode(string(text))
	}
	if err != nil {
		return nil, &indirector.Failure{Message: "The value of " + f.name + " cannot be compared: " + err.Error(), Err: err}
	}
	return f, nil
}

// unsupported is PuppetDB's terminus' error. Rule PDB-QRY-01.
func unsupported(op, in data.Value) error {
	return &indirector.Failure{Message: "Operator " + op.Text() + " in " + in.Text() + " not supported"}
}

// needs returns a value that the filter needs name to have, if it has one of that kind:
// by that rows can be found.
func (f *filter) needs(name string) (value string, ok bool) {
	switch {
	case f == nil:
	case f.op == "and":
		if value, ok = f.left.needs(name); !ok {
			return f.right.needs(name)
		}
		return value, ok
	case f.op == "==" && f.name == name && f.value.Kind() == data.String:
		return f.value.Str(), true
	}
	return "", false
}

// A filtered is what a filter looks at.
type filtered struct {
	title      string
	tags       []string
	parameters data.Value
}

// fits reports whether a resource is wanted: title exactly, tags without case, parameters
// as JSON; != is true where a parameter is missing. Rules STORE-COL-05, PDB-SEM-05.
func (f *filter) fits(r filtered) bool {
	switch {
	case f == nil:
		return true
	case f.op == "and":
		return f.left.fits(r) && f.right.fits(r)
	case f.op == "or":
		return f.left.fits(r) || f.right.fits(r)
	}
	return f.equals(r) == (f.op == "==")
}

// readsParameters reports whether fits looks at parameters.
func (f *filter) readsParameters() bool {
	switch {
	case f == nil:
		return false
	case f.op == "and", f.op == "or":
		return f.left.readsParameters() || f.right.readsParameters()
	}
	return f.name != "title" && f.name != "tag"
}

func (f *filter) equals(r filtered) bool {
	switch f.name {
	case "title":
		return f.value.Kind() == data.String && f.value.Str() == r.title
	case "tag":
		tag := strings.ToLower(f.value.Text())
		for _, t := range r.tags {
			if strings.ToLower(t) == tag {
				return true
			}
		}
		return false
	}
	v, there := r.parameters.Lookup(f.name)
	return there && data.Equal(v, f.value)
}
