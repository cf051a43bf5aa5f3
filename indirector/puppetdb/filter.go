package puppetdb

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
)

func list(v ...data.Value) data.Value { return data.OfList(v) }

func word(s string) data.Value { return data.OfString(s) }

// queryPath returns a path with a query in PuppetDB's AST.
func queryPath(path string, ast data.Value) (string, error) {
	b, err := format.AppendJSON(nil, ast)
	if err != nil {
		return "", fmt.Errorf("write the query to PuppetDB: %w", err)
	}
	return path + "?query=" + url.QueryEscape(string(b)), nil
}

// resourcesQuery is the question for the resources of a type that other nodes
// than host export. A filter is nil, or a list [left, op, right], where op is ==,
// != or, of two filters, and, or. Rule PDB-QRY-01.
func resourcesQuery(typ, host string, filter data.Value) (data.Value, error) {
	all := []data.Value{
		word("and"), list(word("="), word("type"), word(typ)), list(word("="), word("exported"), data.OfBool(true)),
		list(word("not"), list(word("="), word("certname"), hostOf(host))),
	}
	if filter.IsNil() {
		return data.OfList(all), nil
	}
	x, err := expression(filter, 1)
	return data.OfList(append(all, x)), err
}

// maxFilter is how deep a filter may be nested.
const maxFilter = 95

// hostOf is null for no host.
func hostOf(host string) data.Value {
	if host == "" {
		return data.Value{}
	}
	return word(host)
}

func expression(filter data.Value, depth int) (data.Value, error) {
	if depth > maxFilter {
		return data.Value{}, fmt.Errorf("write the filter for PuppetDB: it is nested more than %d deep", maxFilter)
	}
	parts := append(slices.Clone(filter.List()), make([]data.Value, 3)...)[:3]
	left, op, right := parts[0], parts[1].Str(), parts[2]
	switch op {
	case "==", "!=":
		x, err := predicate(left.Text(), right)
		if op == "!=" {
			x = list(word("not"), x)
		}
		return x, err
	case "and", "or":
		x, err := expression(left, depth+1)
		if err != nil {
			return x, err
		}
		y, err := expression(right, depth+1)
		return list(word(op), x, y), err
	}
	return data.Value{}, &indirector.Failure{Message: fmt.Sprintf("Operator %s in %s not supported", op, filter.Inspect())}
}

func predicate(field string, value data.Value) (data.Value, error) {
	switch field {
	case "title":
		return list(word("="), word(field), value), nil
	case "tag":
		if value.Kind() != data.String {
			return data.Value{}, &indirector.Failure{
				Class: "NoMethodError", Message: fmt.Sprintf("undefined method `downcase' for %s", value.Inspect()), Hidden: "a tag is compared with a text only",
			}
		}
		return list(word("="), word(field), word(strings.ToLower(value.Str()))), nil
	}
	return list(word("="), list(word("parameter"), word(field)), value), nil
}

// operators are those of PuppetDB by Puppet's names. Others are sent as null,
// which PuppetDB fails of.
var operators = map[string]string{"eq": "=", "gt": ">", "lt": "<", "ge": ">=", "le": "<="}

// factsQuery is the question for the nodes whose facts meet the options, sorted by
// name: "facts.NAME.OPERATOR". What is behind that does not count. Rule
// PDB-QRY-05.
func factsQuery(options []indirector.Option) (data.Value, error) {
	sorted := slices.Clone(options)
	slices.SortStableFunc(sorted, func(a, b indirector.Option) int { return strings.Compare(a.Name, b.Name) })
	all := []data.Value{word("and")}
	for _, o := range sorted {
		parts := strings.Split(strings.TrimRight(o.Name, "."), ".")
		if parts[0] != "facts" {
			return data.Value{}, &indirector.Failure{Message: fmt.Sprintf("Fact search against keys of type '%s' is unsupported", parts[0])}
		}
		var name, operator data.Value
		if len(parts) > 1 {
			name = word(parts[1])
		}
		op := "eq"
		if len(parts) > 2 {
			op = parts[2]
		}
		if known, ok := operators[op]; ok {
			operator = word(known)
		}
		fact := list(word("fact"), name)
		if op == "ne" {
			all = append(all, list(word("not"), list(word("="), fact, data.OfAny(o.Value))))
			continue
		}
		all = append(all, list(operator, fact, data.OfAny(o.Value)))
	}
	return data.OfList(all), nil
}
