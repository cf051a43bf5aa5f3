package types

import (
	"regexp"
	"strings"
	"sync"

	"indirtui/indirector/data"
)

// Metaparameters are the attributes that every type has, in order. They are not written.
func Metaparameters() []*Attribute { return metaList() }

var metaList = sync.OnceValue(func() []*Attribute {
	all := []*Attribute{
		{
			Name: "noop", Doc: "Whether the resource is only looked at. It beats the setting noop, in both directions.",
			Choices: choices("true", "false"), Munge: mungeTruth,
		},
		{Name: "schedule", Doc: "The schedule that governs when the resource may be applied, by its name."},
		{
			Name: "audit", Doc: "Attributes that are watched: a change of one is reported though it is not managed. A name, a list or all.",
			Validate: validateAudit, Munge: mungeAudit,
		},
		{
			Name: "loglevel", Doc: "The level of what is logged of the resource.", Preset: data.OfSymbol("notice"),
			Choices: choices("debug", "info", "notice", "warning", "err", "alert", "emerg", "crit", "verbose"), Munge: mungeLevel,
		},
		{Name: "alias", Doc: "Other titles, by which relationships find the resource.", Munge: mungeAlias},
		{Name: "tag", Doc: "Tags in addition to those that a resource has of its type, title, classes and defines.", Munge: mungeTag},
		{Name: "require", Doc: "Resources that are applied before this one.", Munge: mungeRefs},
		{Name: "subscribe", Doc: "Resources that are applied before this one, and that refresh it when they change.", Munge: mungeRefs},
		{Name: "before", Doc: "Resources that are applied after this one.", Munge: mungeRefs},
		{Name: "notify", Doc: "Resources that are applied after this one, and that are refreshed when it changes.", Munge: mungeRefs},
		{Name: "stage", Doc: "The run stage of a class. It is for classes alone."},
	}
	for _, a := range all {
		a.Kind = Metaparameter
	}
	return all
})

// mungeTruth makes true and false of their words.
func mungeTruth(_ *Resource, v data.Value) (data.Value, error) {
	return data.OfBool(word(v) == "true"), nil
}

func validateAudit(r *Resource, v data.Value) error {
	all := list(v)
	if len(all) == 1 && word(all[0]) == "all" {
		return nil
	}
	for _, x := range all {
		if r.Type.Attribute(word(x)) == nil {
			return refuse("Cannot audit %s: not a valid attribute for %s", word(x), r.Ref())
		}
	}
	return nil
}

// mungeAudit makes the properties that are watched, without values. Rule RES-AUD-01.
func mungeAudit(r *Resource, v data.Value) (data.Value, error) {
	names := list(v)
	if v.Kind() != data.List && word(v) == "all" {
		names = nil
		for _, a := range r.Type.Attributes {
			if a.Kind == Property && (r.Provider == nil || r.supports(a.Features)) {
				names = append(names, data.OfSymbol(a.Name))
			}
		}
	}
	watched := make([]data.Value, len(names))
	for i, n := range names {
		watched[i] = data.OfSymbol(word(n))
		if a := r.Type.Attribute(word(n)); a != nil && a.Kind == Property {
			r.attribute(a)
		}
	}
	return data.OfList(watched), nil
}

func mungeLevel(_ *Resource, v data.Value) (data.Value, error) {
	level := word(v)
	if level == "verbose" {
		level = "info"
	}
	return data.OfSymbol(level), nil
}

// mungeAlias refuses what is another resource already. That the catalog finds the
// resource by its aliases is up to the catalog.
func mungeAlias(r *Resource, v data.Value) (data.Value, error) {
	if r.Catalog == nil {
		return v, badArgument("Cannot add aliases without a catalog")
	}
	for _, other := range list(v) {
		if found := r.Catalog.Resource(Ref{r.Type.Title(), word(other)}); found != nil && found != r {
			return v, refuse("%s can not create alias %s: object already exists", r.Title, word(other))
		}
	}
	return data.OfList(list(v)), nil
}

func mungeTag(r *Resource, v data.Value) (data.Value, error) {
	var tags []string
	for _, t := range flat(v) {
		tags = append(tags, word(t))
	}
	if err := r.Tag(tags...); err != nil {
		return v, r.at(err)
	}
	return data.OfList(list(v)), nil
}

var validTag = regexp.MustCompile(`\A[\p{L}\p{M}\p{Nd}_][\p{L}\p{M}\p{Nd}_:.-]*\n?\z`)

// ValidTag reports whether a text can be a tag.
func ValidTag(tag string) bool { return validTag.MatchString(tag) }

// Tag adds tags, in lower case, and the parts of qualified ones.
func (r *Resource) Tag(tags ...string) error {
	var all []string
	for _, t := range tags {
		t = strings.ToLower(t)
		if !validTag.MatchString(t) {
			return refuse("Invalid tag '%s'", t)
		}
		all = append(all, t)
		if strings.Contains(t, "::") {
			all = append(all, strings.Split(t, "::")...)
		}
	}
	r.addTags(all...)
	return nil
}

// ownTags sets the tags that a resource begins with: its type, its title if that is a
// valid tag, and those that it was given.
func (r *Resource) ownTags(given []string) {
	if r.Type.Name != "component" && r.Type.Name != "whit" {
		r.addTags(r.Type.Name)
		if validTag.MatchString(r.Title) {
			_ = r.Tag(r.Title) // it is valid
		}
	}
	r.addTags(given...)
}

func (r *Resource) addTags(tags ...string) {
	has := make(map[string]bool, len(r.Tags)+len(tags))
	for _, t := range r.Tags {
		has[t] = true
	}
	for _, t := range tags {
		if !has[t] {
			has[t] = true
			r.Tags = append(r.Tags, t)
		}
	}
}

// ParseRef reads "File[/etc/motd]"; ok is false if it is no reference. Titles of classes
// are capitalised, and a component is a class.
func ParseRef(s string) (ref Ref, ok bool) {
	if end := strings.LastIndex(s, "]\n"); end >= 0 && s[len(s)-1] != ']' {
		s = s[:end+1] // what follows the line is no part of it
	}
	i := strings.IndexAny(s, "[]")
	if i <= 0 || s[i] == ']' || len(s) < i+3 || s[len(s)-1] != ']' {
		return ref, false
	}
	if ref = (Ref{Capital(s[:i]), s[i+1 : len(s)-1]}); ref.Type == "Class" || strings.EqualFold(ref.Type, "component") {
		ref = Ref{"Class", Capital(ref.Title)}
	}
	return ref, true
}

// mungeRefs makes a list of references, as their texts.
func mungeRefs(_ *Resource, v data.Value) (data.Value, error) {
	all := list(v)
	refs := make([]data.Value, len(all))
	for i, x := range all {
		ref, ok := ParseRef(word(x))
		if x.Kind() == data.Hash {
			return v, refuse("Puppet::Resource.new does not take a hash as the first argument. Did you mean (nil, nil) ?")
		}
		if !ok {
			return v, refuse("No title provided and %s is not a valid resource reference", x.Inspect())
		}
		if typ := strings.ToLower(ref.Type); !validTag.MatchString(typ) { // a reference has its type for a tag
			return v, refuse("Invalid tag '%s'", typ)
		}
		refs[i] = data.OfString(ref.String())
	}
	return data.OfList(refs), nil
}

// Refs are the references of a relationship metaparameter.
func (r *Resource) Refs(name string) []Ref {
	var refs []Ref
	for _, v := range r.Value(name).List() {
		if ref, ok := ParseRef(v.Str()); ok {
			refs = append(refs, ref)
		}
	}
	return refs
}
