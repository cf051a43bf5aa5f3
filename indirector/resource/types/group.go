package types

import (
	"regexp"
	"slices"
	"strings"

	"indirtui/indirector/data"
)

// groupType is a group of accounts. Rules RES-USER-01 and RES-USER-05.
func groupType() *Type {
	ensure := ensurable("Whether the group is there.")
	ensure.Default, ensure.Preset = nil, data.OfSymbol("present")
	return Define(Type{
		Name: "group", Doc: "A group of accounts.",
		Namevars: []string{"name"}, Instances: ByProviders, Providers: groupProviders,
		Features: []string{"manages_aix_lam", "manages_local_users_and_groups", "manages_members", "system_groups"},
		Attributes: []*Attribute{
			ensure,
			{Name: "gid", Doc: "The number. If it is not given, the system chooses one.", Munge: mungeGID},
			{
				Name: "members", Doc: "The members, where they are kept with the group.", All: true,
				Features: []string{"manages_members"},
				InSync:   membersInSync, Change: membersChange, ShowIs: showMembers, ShowShould: showMembers,
			},
			keyValues(Attribute{Name: "attributes", Doc: "Attributes of AIX.", Features: []string{"manages_aix_lam"}},
				pairing{" ", "attribute_membership"}),
			boolean(Attribute{Name: "auth_membership", Preset: data.OfBool(false), Doc: "Whether the members are all that there are."}),
			nameParameter("The name. It is best short, and in lower case."),
			boolean(Attribute{Name: "allowdupe", Preset: data.OfBool(false), Doc: "Whether another group may have the same number."}),
			{Name: "ia_load_module", Kind: Parameter, Doc: "The module of AIX that keeps the group.", Features: []string{"manages_aix_lam"}},
			membership("attribute_membership", "Whether attributes that are not named are removed (inclusive) or stay."),
			boolean(Attribute{Name: "system", Preset: data.OfBool(false), Doc: "Whether it is a group of the system, with a low number."}),
			boolean(Attribute{
				Name: "forcelocal", Preset: data.OfBool(false), Features: []string{"manages_local_users_and_groups"},
				Doc: "Whether the group is kept here although a directory is in use.",
			}),
		},
	})
}

// membersInSync compares members: with those that are there, unless auth_membership names
// all. What they are to be is noted for messages.
func membersInSync(r *Resource, is data.Value) (bool, error) {
	present, all := members(is), textsOf(r.Should("members"))
	if !r.Value("auth_membership").Truthy() {
		all = append(all, present...)
	}
	wanted := sortedOnce(all)
	r.Settle("members", data.OfStrings(wanted))
	return slices.Equal(sortedOnce(present), wanted), nil
}

// members are those of a list or a text; nothing if there is none.
func members(v data.Value) []string {
	switch v.Kind() {
	case data.List:
		return textsOf(v.List())
	case data.String:
		return strings.Split(v.Str(), ",")
	}
	return nil
}

func textsOf(all []data.Value) []string {
	out := make([]string, len(all))
	for i, v := range all {
		out[i] = v.Text()
	}
	return out
}

func sortedOnce(all []string) []string { return slices.Compact(slices.Sorted(slices.Values(all))) }

func showMembers(_ *Resource, v data.Value) string { return strings.Join(members(v), ",") }

// membersChange shows each member once, though a text of several is wanted.
func membersChange(r *Resource, is, should data.Value) string {
	after := strings.Split(r.ShowShould("members", should), ",")
	return "members changed " + showMembers(r, is) + " to " + strings.Join(sortedOnce(after), ",")
}

// membership is whether what is there besides is kept.
func membership(name, doc string) *Attribute {
	return &Attribute{
		Name: name, Kind: Parameter, Doc: doc,
		Choices: choices("inclusive", "minimum"), Preset: data.OfSymbol("minimum"),
	}
}

var signedDigits = regexp.MustCompile(`(?m)^[-0-9]+$`)

func mungeGID(r *Resource, v data.Value) (data.Value, error) {
	if v.Kind() != data.String {
		return v, nil
	}
	if !signedDigits.MatchString(v.Str()) {
		return v, r.at(refuse("Invalid GID %s", v.Str()))
	}
	return integer(v.Str())
}

// mungeNumber makes a number of a text of digits; others stay as they are.
func mungeNumber(_ *Resource, v data.Value) (data.Value, error) {
	if v.Kind() == data.String && signedDigits.MatchString(v.Str()) {
		return integer(v.Str())
	}
	return v, nil
}
