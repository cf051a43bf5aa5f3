// Package manifest writes resources as puppet resource prints them: as a manifest that
// can be applied, or as data for Hiera.
package manifest

import (
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/types"
)

// shown are parameters that are shown of some types although they are no properties.
var shown = map[string][]string{"package": {"provider"}, "sshkey": {"name", "type"}}

// attributes are those that are shown, ensure first, the others by name: properties, and
// the parameters that extra names. What is empty or absent is left out. Of a type that is
// not known everything is shown. Rule RES-RAL-08.
func attributes(r *model.Resource, extra []string) []data.Pair {
	t := types.All()[strings.ToLower(r.Type)]
	var all []data.Pair
	for _, p := range r.Parameters.Hash() {
		name := p.Key.Text()
		if t != nil {
			a := t.Attribute(name)
			property := a != nil && a.Kind == types.Property
			if !property && !slices.Contains(extra, name) && !slices.Contains(shown[t.Name], name) {
				continue
			}
		}
		text := p.Value.Text()
		if text == "" || p.Value.Kind() == data.List && p.Value.Len() == 0 || text == "absent" && name != "ensure" {
			continue
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b data.Pair) int {
		first := func(p data.Pair) string {
			if p.Key.Text() == "ensure" {
				return ""
			}
			return p.Key.Text()
		}
		return strings.Compare(first(a), first(b))
	})
	return all
}

// Text returns the manifest of a resource, with a line break at its end. Extra names
// parameters to be shown; puppet resource shows the provider.
func Text(r *model.Resource, extra ...string) string {
	all := attributes(r, extra)
	longest := 0
	for _, p := range all {
		longest = max(longest, len(p.Key.Text()))
	}
	var b strings.Builder
	b.WriteString(strings.ToLower(r.Type) + " { '" + strings.ReplaceAll(r.Title, "'", `\'`) + "':\n")
	for _, p := range all {
		name := p.Key.Text()
		b.WriteString("  " + name + strings.Repeat(" ", longest-len(name)) + " => " + types.Display(p.Value) + ",\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// Hiera returns resources of one type as a hash that create_resources takes: the type,
// then titles, then attributes.
func Hiera(all []*model.Resource, extra ...string) data.Value {
	titles := make([]data.Pair, len(all))
	typ := ""
	for i, r := range all {
		typ = strings.ToLower(r.Type)
		titles[i] = data.P(r.Title, data.OfHash(attributes(r, extra)))
	}
	return data.OfHash([]data.Pair{data.P(typ, data.OfHash(titles))})
}
