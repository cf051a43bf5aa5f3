package types

import (
	"regexp"

	"indirtui/indirector/data"
)

// resourcesType removes what is nowhere declared. all are the types that there are.
// Rule RES-MISC-05.
func resourcesType(all map[string]*Type) *Type {
	return Define(Type{
		Name: "resources", Doc: "Is about all resources of a type: removes those that are not in the catalog.",
		Namevars: []string{"name"}, Generates: true,
		Attributes: []*Attribute{
			{
				Name: "name", Kind: Parameter, Doc: "The type.", Munge: mungeText,
				Validate: func(_ *Resource, v data.Value) error {
					if find(all, v.Text()) == nil {
						return refuse("Could not find resource type '%s'", v.Text())
					}
					return nil
				},
			},
			purge(all),
			{
				Name: "unless_system_user", Kind: Parameter, Choices: choices("true", "false"), Patterns: patterns(`^\d+$`),
				Munge: mungeSystemUser, Default: defaultSystemUser,
				Doc: "Whether accounts of the system stay, or up to which number.",
			},
			{Name: "unless_uid", Kind: Parameter, Doc: "Accounts that stay, by their numbers.", Munge: mungeUIDs},
		},
	})
}

func purge(all map[string]*Type) *Attribute {
	a := boolean(Attribute{Name: "purge", Preset: data.OfSymbol("false"), Doc: "Whether what is not in the catalog is removed."})
	a.Validate = func(r *Resource, v data.Value) error {
		b, err := mungeBoolean(r, v)
		if err != nil || !b.Bool() {
			return err
		}
		if t := find(all, r.Name()); t == nil || t.Attribute("ensure") == nil {
			return refuse("Purging is only supported on types that accept 'ensure'")
		}
		return nil
	}
	return a
}

var numberFirst = regexp.MustCompile(`(?m)^\d+`)

func mungeSystemUser(r *Resource, v data.Value) (data.Value, error) {
	switch w := word(v); {
	case isInteger(v):
		return v, nil
	case v.Kind() == data.String && numberFirst.MatchString(w):
		return integer(w)
	case v.Kind() == data.String, w != "true" && w != "false":
		return v, badArgument("Invalid value %s", v.Inspect())
	case w == "true":
		return data.OfInt(lastSystemUID(r.Host)), nil
	}
	return data.OfBool(false), nil
}

func defaultSystemUser(r *Resource) (data.Value, bool) {
	return data.OfInt(lastSystemUID(r.Host)), r.Name() == "user"
}

func mungeUIDs(_ *Resource, v data.Value) (data.Value, error) {
	var uids []data.Value
	for _, u := range flat(v) {
		switch u.Kind() {
		case data.Int, data.Big:
		case data.String:
			n, err := integer(u.Str())
			if err != nil {
				return v, err
			}
			u = n
		default:
			return v, badArgument("Invalid value %s.", u.Inspect())
		}
		uids = append(uids, u)
	}
	return data.OfList(uids), nil
}
