package api

import (
	"fmt"
	"net/url"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
)

// The options of searches besides facts.NAME.OP.
const (
	optionHost   = "host"   // whose resources are not wanted
	optionFilter = "filter" // of a collector: ["tag", "==", "web"]
)

// inventory is the key of a search of facts, which means nothing to Puppet.
const inventory = "nodes"

// maxQuery is the longest query that is read, in bytes.
const maxQuery = 1 << 20

// Asked returns the request that a query is, or nil if it is none: one of Puppet's
// termini, in their form, with no other parameters. Path is as it was sent.
// Rules PDB-QRY-01, PDB-QRY-03, PDB-QRY-05, PDB-QRY-08.
func Asked(path, rawQuery string) *indirector.Request {
	rest, ok := strings.CutPrefix(path, Queries+"/")
	if !ok || len(rawQuery) > maxQuery {
		return nil
	}
	query, only := "", rawQuery == ""
	for name, value := range pairs(rawQuery) {
		query, only = value, name == "query" && query == ""
		if !only {
			return nil
		}
	}
	parts := strings.Split(rest, "/")
	switch {
	case len(parts) == 1 && query != "":
		return searched(parts[0], query)
	case parts[0] != "nodes" || query != "" || len(parts) < 2:
		return nil
	}
	name, err := url.PathUnescape(parts[1])
	switch {
	case err != nil, name == "":
		return nil
	case len(parts) == 2:
		return &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: name}
	case len(parts) == 3 && parts[2] == "facts":
		return &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: name}
	}
	return nil
}

// searched returns the request of a query about resources or nodes, or nil.
func searched(entity, text string) *indirector.Request {
	query, err := format.DecodeJSON([]byte(text), format.Limits{})
	l := query.List()
	if err != nil || len(l) == 0 || l[0].Str() != "and" {
		return nil
	}
	switch entity {
	case "resources":
		return resources(l[1:])
	case "nodes":
		return factsOf(l[1:])
	}
	return nil
}

// resources reads what a collector asks.
func resources(l []data.Value) *indirector.Request {
	if len(l) != 3 && len(l) != 4 {
		return nil
	}
	typ, ok := compared(l[0], "type").AsStr()
	host, apart := compared(negated(l[2]), "certname").AsStr()
	if !ok || !apart || typ == "" || !compared(l[1], "exported").Bool() {
		return nil
	}
	req := &indirector.Request{Indirection: "resource", Verb: indirector.Search, Key: typ, Options: []indirector.Option{{Name: optionHost, Value: host}}}
	if len(l) == 4 {
		filter, ok := filterOf(l[3])
		if !ok {
			return nil
		}
		req.Options = append(req.Options, indirector.Option{Name: optionFilter, Value: filter})
	}
	return req
}

// compared returns the value of ["=", name, value], or nil.
func compared(v data.Value, name string) data.Value {
	if l := v.List(); len(l) == 3 && l[0].Str() == "=" && l[1].Str() == name {
		return l[2]
	}
	return data.Value{}
}

// negated returns x of ["not", x], or nil.
func negated(v data.Value) data.Value {
	if l := v.List(); len(l) == 2 && l[0].Str() == "not" {
		return l[1]
	}
	return data.Value{}
}

// filterOf returns the condition of a collector as Puppet has it.
func filterOf(v data.Value) (data.Value, bool) {
	l := v.List()
	if len(l) == 0 {
		return data.Value{}, false
	}
	switch op := l[0].Str(); {
	case op == "not" && len(l) == 2:
		of, ok := filterOf(l[1])
		if f := of.List(); ok && len(f) == 3 && f[1].Str() == "==" {
			return data.OfList([]data.Value{f[0], data.OfString("!="), f[2]}), true
		}
	case (op == "and" || op == "or") && len(l) == 3:
		left, ok := filterOf(l[1])
		right, also := filterOf(l[2])
		return data.OfList([]data.Value{left, data.OfString(op), right}), ok && also
	case op == "=" && len(l) == 3:
		name := l[1]
		if of := name.List(); len(of) == 2 && of[0].Str() == "parameter" {
			name = of[1]
		} else if name.Str() != "title" && name.Str() != "tag" {
			return data.Value{}, false
		}
		return data.OfList([]data.Value{name, data.OfString("=="), l[2]}), true
	}
	return data.Value{}, false
}

// queryOf is filterOf backwards.
func queryOf(filter data.Value) (data.Value, error) {
	l := filter.List()
	if len(l) != 3 {
		return data.Value{}, fmt.Errorf("write a query: the filter %s is no list of three", filter.Inspect())
	}
	switch op := l[1].Str(); op {
	case "and", "or":
		left, err := queryOf(l[0])
		if err != nil {
			return left, err
		}
		right, err := queryOf(l[2])
		return list(op, left, right), err
	case "==", "!=":
		name := l[0]
		if s := name.Str(); s != "title" && s != "tag" {
			name = list("parameter", name)
		}
		is := list("=", name, l[2])
		if op == "!=" {
			is = list("not", is)
		}
		return is, nil
	default:
		return data.Value{}, &indirector.Failure{Message: fmt.Sprintf("Operator %s in %s not supported", l[1].Text(), filter.Inspect())}
	}
}

func list(op string, of ...data.Value) data.Value {
	return data.OfList(append([]data.Value{data.OfString(op)}, of...))
}

// operators are those of searches of facts, as options name them.
var operators = []struct{ option, query string }{{"eq", "="}, {"gt", ">"}, {"lt", "<"}, {"ge", ">="}, {"le", "<="}}

// factsOf reads a search of facts.
func factsOf(l []data.Value) *indirector.Request {
	req := &indirector.Request{Indirection: "facts", Verb: indirector.Search, Key: inventory}
	for _, v := range l {
		name, op, value, ok := factOf(v)
		if !ok {
			return nil
		}
		req.Options = append(req.Options, indirector.Option{Name: "facts." + name + "." + op, Value: value})
	}
	return req
}

func factOf(v data.Value) (name, op string, value data.Value, ok bool) {
	if of := negated(v); !of.IsNil() {
		name, op, value, ok = factOf(of)
		return name, "ne", value, ok && op == "eq"
	}
	l := v.List()
	if len(l) != 3 {
		return "", "", value, false
	}
	fact := l[1].List()
	if len(fact) != 2 || fact[0].Str() != "fact" {
		return "", "", value, false
	}
	name, ok = fact[1].AsStr()
	for _, o := range operators {
		if o.query == l[0].Str() {
			return name, o.option, l[2], ok
		}
	}
	return name, "", value, false
}

// factQuery is factOf backwards. An option without a known operator is about
// equality.
func factQuery(o indirector.Option) (data.Value, error) {
	name, ok := strings.CutPrefix(o.Name, "facts.")
	if !ok {
		return data.Value{}, fmt.Errorf("write a query: %q is no option of a search of facts; these begin with facts", o.Name)
	}
	equals := func(name string) data.Value { return list("=", list("fact", data.OfString(name)), valueOf(o.Value)) }
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return equals(name), nil
	}
	op := name[dot+1:]
	if op == "ne" {
		return list("not", equals(name[:dot])), nil
	}
	for _, known := range operators {
		if known.option == op {
			return list(known.query, list("fact", data.OfString(name[:dot])), valueOf(o.Value)), nil
		}
	}
	return equals(name), nil
}

// valueOf returns the value of an option. An edited one is a text.
func valueOf(v any) data.Value {
	switch v := v.(type) {
	case data.Value:
		return v
	case string:
		return data.OfString(v)
	case bool:
		return data.OfBool(v)
	}
	return data.OfString(fmt.Sprint(v))
}

// NodeOf returns the node that a request of PuppetDB's API is for, or "".
func NodeOf(req *indirector.Request) string {
	if req.Indirection == "resource" {
		return valueOf(req.Option(optionHost)).Str()
	}
	if req.Verb == indirector.Search {
		return ""
	}
	return req.Key
}
