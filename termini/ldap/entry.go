package ldap

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	ldap "github.com/go-ldap/ldap/v3"

	"indirtui/indirector/data"
	"indirtui/termini/internal/layers"
)

// An entry is what one entry of the directory has for a node.
type entry struct {
	layers.Node
	name   string   // its cn; "" if it has none
	parent string   // name; "" if it has none
	binary []string // attributes that are not UTF-8
}

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

// read takes in what the server sent. Every attribute becomes a parameter, also those
// of classes and the parent. Rules LDAP-04, LDAP-05, LDAP-06.
func (c *config) read(from *ldap.Entry, fqdn bool) (*entry, error) {
	e := &entry{Node: layers.Node{Source: from.DN}, name: nameOf(from.DN, fqdn)}
	if c.parent != "" {
		switch parents := from.GetEqualFoldAttributeValues(c.parent); len(parents) {
		case 0:
		case 1:
			e.parent = parents[0]
		default:
			return nil, &problem{text: fmt.Sprintf("Node entry %s specifies more than one parent: %s", from.DN, data.OfStrings(first(parents, 10)).Inspect())}
		}
	}
	for _, a := range c.classes {
		for _, name := range from.GetEqualFoldAttributeValues(a) {
			e.Class(name, "")
		}
	}
	for _, a := range from.Attributes {
		name := strings.ToLower(a.Name)
		if slices.ContainsFunc(a.Values, notUTF8) {
			e.binary = append(e.binary, name)
		}
		if name == "environment" {
			e.Environment(a.Values...)
			continue
		}
		e.Param(name, values(a.Values), "")
	}
	e.Param("dn", data.OfString(from.DN), "")
	if notUTF8(from.DN) {
		e.binary = append(e.binary, "dn")
	}
	c.stack(e, from)
	return e, nil
}

func notUTF8(s string) bool { return !utf8.ValidString(s) }

// stack adds the values of the stacked attributes, of each name the last, as Puppet's
// hash keeps it.
func (c *config) stack(e *entry, from *ldap.Entry) {
	type variable struct {
		name, from string
		value      data.Value
	}
	var all []variable
	at := make(map[string]int)
	for _, a := range c.stacked {
		for _, text := range from.GetEqualFoldAttributeValues(a) {
			name, value, cut := strings.Cut(text, "=")
			v := variable{name: name, from: "stacked " + a}
			if cut {
				v.value = convert(value)
			}
			if i, again := at[name]; again {
				all[i] = v
				continue
			}
			at[name] = len(all)
			all = append(all, v)
		}
	}
	for _, v := range all {
		e.Param(v.name, v.value, v.from)
	}
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
