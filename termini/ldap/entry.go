package ldap

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	ldap "github.com/go-ldap/ldap/v3"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// An entry is what one entry has for a node, and what its parents add.
type entry struct {
	name          string // its cn; "" if it has none
	dn            string
	parent        string // name; "" if it has none
	classes       []class
	params        []param
	index         map[string]int // into params
	environments  []string       // usually none or one
	environmentOf string         // the DN that they are of
	lost          []lost
	binary        []string // attributes that are not UTF-8
}

type class struct{ name, from string }

type param struct {
	name  string
	value data.Value
	from  string // "own", "stacked puppetvar", "parent 1 (basenode)"
}

// A lost value has a name that is taken.
type lost struct{ name, from, to string }

var (
	cnPattern = regexp.MustCompile(`(?i)cn[\s\v]*=[\s\v]*([^,\s\v]+)`)
	dcPattern = regexp.MustCompile(`(?i)dc[\s\v]*=[\s\v]*([^,\s\v]+)`)
)

// nameOf returns the name of a node as Puppet reads it from a DN, up to a comma or
// blank. Rule LDAP-13.
func nameOf(dn string, fqdn bool) string {
	var name string
	if m := cnPattern.FindStringSubmatch(dn); m != nil {
		name = m[1]
	}
	if fqdn {
		for _, m := range dcPattern.FindAllStringSubmatch(dn, -1) {
			name += "." + m[1]
		}
	}
	return name
}

// read takes in what the server sent. Rules LDAP-04, LDAP-05, LDAP-06.
func (c *config) read(from *ldap.Entry, fqdn bool) (*entry, error) {
	e := &entry{name: nameOf(from.DN, fqdn), dn: from.DN, index: make(map[string]int, len(from.Attributes)+1)}
	if c.parent != "" {
		switch parents := from.GetEqualFoldAttributeValues(c.parent); len(parents) {
		case 0:
		case 1:
			e.parent = parents[0]
		default:
			return nil, &problem{text: fmt.Sprintf("Node entry %s specifies more than one parent: %q", from.DN, first(parents, 10))}
		}
	}
	for _, a := range c.classes {
		for _, name := range from.GetEqualFoldAttributeValues(a) {
			e.classes = append(e.classes, class{name, "own " + a})
		}
	}
	for _, a := range from.Attributes {
		name := strings.ToLower(a.Name)
		if !all(a.Values, utf8.ValidString) {
			e.binary = append(e.binary, name)
		}
		if name == environment {
			e.environments, e.environmentOf = append(e.environments, a.Values...), from.DN
			continue
		}
		e.add(param{name, values(a.Values), "own"})
	}
	e.add(param{"dn", data.OfString(from.DN), "own"})
	if !utf8.ValidString(from.DN) {
		e.binary = append(e.binary, "dn")
	}
	e.stack(c.stackedOf(from))
	return e, nil
}

const environment = "environment"

func all(values []string, is func(string) bool) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return !is(v) })
}

// stackedOf returns the values of the stacked attributes, of each name the last, as
// Puppet's hash keeps it.
func (c *config) stackedOf(from *ldap.Entry) []param {
	var params []param
	at := make(map[string]int)
	for _, a := range c.stacked {
		for _, v := range from.GetEqualFoldAttributeValues(a) {
			name, text, cut := strings.Cut(v, "=")
			p := param{name: name, from: "stacked " + a}
			if cut {
				p.value = convert(text)
			}
			if i, ok := at[name]; ok {
				params[i] = p
				continue
			}
			at[name] = len(params)
			params = append(params, p)
		}
	}
	return params
}

// stack adds stacked values. The environment is never one of them: Puppet overwrites
// it.
func (e *entry) stack(params []param) {
	for _, p := range params {
		if p.name == environment {
			e.lost = append(e.lost, lost{p.name, p.from, "the attribute environment, or else the request"})
			continue
		}
		e.add(p)
	}
}

// add adds a parameter unless there is one of that name. Rule LDAP-07.
func (e *entry) add(p param) {
	if i, taken := e.index[p.name]; taken {
		e.lost = append(e.lost, lost{p.name, p.from, e.params[i].from})
		return
	}
	e.index[p.name] = len(e.params)
	e.params = append(e.params, p)
}

// values returns one value as itself, several as a list.
func values(texts []string) data.Value {
	if len(texts) == 1 {
		return convert(texts[0])
	}
	list := make([]data.Value, len(texts))
	for i, t := range texts {
		list[i] = convert(t)
	}
	return data.OfList(list)
}

func convert(text string) data.Value {
	switch text {
	case "true", "false":
		return data.OfBool(text == "true")
	}
	return data.OfString(text)
}

// inherit fills gaps from a parent. Rule LDAP-08.
func (e *entry) inherit(from *entry, place string) {
	for _, c := range from.classes {
		e.classes = append(e.classes, class{c.name, place + " " + strings.TrimPrefix(c.from, "own ")})
	}
	for _, p := range from.params {
		e.add(param{p.name, p.value, strings.TrimSuffix(place+" "+p.from, " own")})
	}
	if len(e.environments) == 0 {
		e.environments, e.environmentOf = from.environments, from.environmentOf
	}
	e.binary = append(e.binary, from.binary...)
}

// classNames returns each class once, in order.
func (e *entry) classNames() []string {
	var names []string
	seen := make(map[string]bool, len(e.classes))
	for _, c := range e.classes {
		if !seen[c.name] {
			seen[c.name] = true
			names = append(names, c.name)
		}
	}
	return names
}

func (e *entry) parameters() data.Value {
	pairs := make([]data.Pair, len(e.params))
	for i, p := range e.params {
		pairs[i] = data.P(p.name, p.value)
	}
	return data.OfHash(pairs)
}

// maxShown bounds the attributes of a span.
const maxShown = 200

// record shows in the trace where each class and parameter of a node came from,
// and what it displaced. Values are left out: they may be secret.
func (e *entry) record(ctx context.Context, environment string, node *model.Node) {
	_, span := traces.Start(ctx, traces.Note, "node from "+e.dn)
	if span == nil {
		return
	}
	shown := 0
	attr := func(key, value string) {
		if shown++; shown <= maxShown {
			span.Attr(key, value)
		}
	}
	from := "the request"
	if len(e.environments) == 1 {
		from = e.environmentOf
	}
	attr("environment", environment+": "+from)
	seen := make(map[string]string, len(e.classes))
	for _, c := range e.classes {
		if was, ok := seen[c.name]; ok {
			attr("class "+c.name, c.from+", again after "+was)
			continue
		}
		seen[c.name] = c.from
		attr("class "+c.name, c.from)
	}
	for _, p := range e.params {
		attr("parameter "+p.name, p.from)
	}
	for _, l := range e.lost {
		attr("lost "+l.name, l.from+", displaced by "+l.to)
	}
	added := node.Parameters.Len() - len(e.params)
	if node.Facts != nil {
		for _, f := range node.Facts.Values.Hash() {
			if i, taken := e.index[f.Key.Text()]; taken {
				attr("lost "+f.Key.Text(), "fact, displaced by "+e.params[i].from)
			}
		}
	}
	if shown > maxShown {
		span.Attr("…", fmt.Sprintf("%d more", shown-maxShown))
	}
	span.End(fmt.Sprintf("%d classes, %d parameters, %d facts", len(seen), len(e.params), added), traces.Because{}, nil)
}
