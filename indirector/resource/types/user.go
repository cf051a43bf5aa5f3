package types

import (
	"regexp"
	"strings"

	"indirtui/indirector/data"
)

// userType is an account. Rules RES-USER-01 to RES-USER-04.
func userType() *Type {
	return Define(Type{
		Name: "user", Doc: "An account of this system.",
		Namevars: []string{"name"}, Instances: ByProviders, Generates: true, Providers: userProviders,
		Features: strings.Fields("allows_duplicates manages_aix_lam manages_expiry manages_homedir manages_local_users_and_groups " +
			"manages_loginclass manages_password_age manages_password_salt manages_passwords manages_roles manages_shell " +
			"manages_solaris_rbac system_users"),
		Require:    []Auto{{"group", userGroups}, {"user", userRoles}},
		Attributes: append(append(userProperties(), userSolaris()...), userParameters()...),
	})
}

func userProperties() []*Attribute {
	return []*Attribute{
		{
			Name: "ensure", Creates: true, Default: presentIfManaged,
			Doc: "Whether the account is there. A role is an account of Solaris in which nothing logs in.",
			Choices: []Choice{
				{Name: "present", Event: "user_created"},
				{Name: "absent", Event: "user_removed"},
				{Name: "role", Event: "role_created", Features: []string{"manages_solaris_rbac"}},
			},
		},
		{Name: "home", Doc: "The home directory. It is made only with managehome."},
		{Name: "uid", Doc: "The number. If it is not given, the system chooses one.", Munge: mungeNumber},
		{Name: "gid", Doc: "The primary group, by name or number.", Munge: mungeNumber},
		{Name: "comment", Doc: "A description, mostly the full name."},
		{Name: "shell", Doc: "The login shell. It must be there, and executable.", Features: []string{"manages_shell"}},
		{
			Name: "password", Doc: "The password as the system keeps it: a hash. It is never shown.", Secret: true,
			Features: []string{"manages_passwords"}, Validate: validatePassword,
		},
		passwordAge("password_min_age", "Days that a password must be kept.", "Password minimum age must be provided as a number."),
		passwordAge("password_max_age", "Days after which a password must be changed.", "Password maximum age must be provided as a number."),
		passwordAge("password_warn_days", "Days before that on which the user is warned.", "Password warning days must be provided as a number."),
		userGroupList(),
		{
			Name: "expiry", Doc: "The day on which the account ends, as YYYY-MM-DD, or absent.",
			Choices: choices("absent"), Patterns: patterns(`^\d{4}-\d{2}-\d{2}$`),
			Features: []string{"manages_expiry"}, Validate: validateExpiry,
		},
	}
}

func userSolaris() []*Attribute {
	rbac := []string{"manages_solaris_rbac"}
	return []*Attribute{
		listed(Attribute{
			Name: "roles", Doc: "Roles that the user may take (Solaris).", Features: []string{"manages_roles"},
			Validate: validateNames("Role"),
		}, listing{separator: ",", membership: "role_membership"}),
		listed(Attribute{Name: "auths", Doc: "Authorisations (Solaris).", Features: rbac, Validate: validateNames("Auth")},
			listing{separator: ",", membership: "auth_membership"}),
		listed(Attribute{Name: "profiles", Doc: "Profiles of rights, in their order (Solaris).", Features: rbac, Validate: validateNames("Profile")},
			listing{separator: ",", ordered: true, membership: "profile_membership"}),
		keyValues(Attribute{Name: "keys", Doc: "Attributes of the user (Solaris).", Features: rbac}, pairing{";", "key_membership"}),
		{Name: "project", Doc: "The default project (Solaris).", Features: rbac},
		keyValues(Attribute{Name: "attributes", Doc: "Attributes of AIX.", Features: []string{"manages_aix_lam"}},
			pairing{" ", "attribute_membership"}),
		{Name: "salt", Doc: "The salt of the password (macOS).", Features: []string{"manages_password_salt"}},
		{Name: "iterations", Doc: "Rounds of hashing of the password (macOS).", Features: []string{"manages_password_salt"}, Munge: mungeNumber},
		{Name: "loginclass", Doc: "The login class (BSD).", Features: []string{"manages_loginclass"}, Validate: validateLoginClass},
	}
}

func userParameters() []*Attribute {
	no := data.OfBool(false)
	return []*Attribute{
		nameParameter("The name of the account. It is best short, and in lower case."),
		membership("membership", "Whether groups that are not named are taken away (inclusive) or stay."),
		boolean(Attribute{Name: "system", Preset: no, Doc: "Whether it is an account of the system, with a low number."}),
		boolean(Attribute{Name: "allowdupe", Preset: no, Doc: "Whether another account may have the same number."}),
		manageHome(),
		membership("role_membership", "Whether roles that are not named are taken away (inclusive) or stay."),
		membership("auth_membership", "Whether authorisations that are not named are taken away (inclusive) or stay."),
		membership("profile_membership", "Whether profiles that are not named are taken away (inclusive) or stay."),
		membership("key_membership", "Whether keys that are not named are taken away (inclusive) or stay."),
		{Name: "ia_load_module", Kind: Parameter, Doc: "The module of AIX that keeps the account.", Features: []string{"manages_aix_lam"}},
		membership("attribute_membership", "Whether attributes that are not named are removed (inclusive) or stay."),
		boolean(Attribute{
			Name: "forcelocal", Preset: no, Features: []string{"manages_local_users_and_groups"},
			Doc: "Whether the account is kept here although a directory is in use.",
		}),
		{
			Name: "purge_ssh_keys", Kind: Parameter, Choices: choices("true", "false"), Preset: data.OfSymbol("false"),
			Validate: validatePurgeKeys, Munge: mungePurgeKeys,
			Doc: "Whether keys that are not managed are removed from the user's authorized_keys, or from the files that are named.",
		},
	}
}

func validatePassword(_ *Resource, v data.Value) error {
	if v.Kind() == data.String && strings.Contains(v.Str(), ":") {
		return refuse("Passwords cannot include ':'")
	}
	return nil
}

var maybeNegative = regexp.MustCompile(`(?m)^-?\d+$`)

func passwordAge(name, doc, problem string) *Attribute {
	return &Attribute{
		Name: name, Doc: doc, Features: []string{"manages_password_age"},
		Validate: func(_ *Resource, v data.Value) error {
			if !maybeNegative.MatchString(v.Text()) {
				return failure(problem)
			}
			return nil
		},
		Munge: func(_ *Resource, v data.Value) (data.Value, error) {
			if v.Kind() == data.String {
				return integer(v.Str())
			}
			return v, nil
		},
	}
}

// userGroupList are the groups of a user. The message of a change shows those that should
// be as a list, and those that are joined.
func userGroupList() *Attribute {
	a := listed(Attribute{
		Name: "groups", Doc: "The groups besides the primary one, by their names.", Validate: validateGroups,
	}, listing{separator: ",", membership: "membership"})
	a.Change = func(r *Resource, is, should data.Value) string {
		if should.Kind() == data.String {
			should = data.OfStrings(splitWords(should.Str(), ","))
		}
		return r.usualChange(a, is, should)
	}
	return a
}

// splitWords is Ruby's split: nothing gives no words.
func splitWords(s, separator string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, separator)
}

func validateGroups(_ *Resource, v data.Value) error {
	s, isText := v.AsStr()
	switch {
	case !isText && v.Kind() != data.List && v.Kind() != data.Hash:
		return refuse("%s is no text", v.Inspect())
	case digits.MatchString(s):
		return refuse("Group names must be provided, not GID numbers.")
	case strings.Contains(s, ","):
		return refuse("Group names must be provided as an array, not a comma-separated list.")
	case s == "" && v.Len() == 0:
		return refuse("Group names must not be empty. If you want to specify \"no groups\" pass an empty array")
	}
	return nil
}

func validateNames(what string) func(*Resource, data.Value) error {
	return func(_ *Resource, v data.Value) error {
		s, err := textOf(v)
		switch {
		case err != nil:
			return err
		case digits.MatchString(s):
			return refuse("%s names must be provided, not numbers", what)
		case strings.Contains(s, ","):
			return refuse("%s names must be provided as an array, not a comma-separated list", what)
		}
		return nil
	}
}

var isoDate = regexp.MustCompile(`(?m)^\d{4}-\d{2}-\d{2}$`)

func validateExpiry(_ *Resource, v data.Value) error {
	s, err := textOf(v)
	if err == nil && s != "absent" && !isoDate.MatchString(s) {
		return refuse("Expiry dates must be YYYY-MM-DD or the string \"absent\"")
	}
	return err
}

func validateLoginClass(_ *Resource, v data.Value) error {
	if v.Kind() == data.String && digits.MatchString(v.Str()) {
		return refuse("Class name must be provided.")
	}
	return nil
}

// manageHome asks the provider whether it can. It takes yes and no in any case.
func manageHome() *Attribute {
	a := boolean(Attribute{Name: "managehome", Preset: data.OfBool(false), Doc: "Whether the home directory is made and removed with the account."})
	a.Validate = func(r *Resource, v data.Value) error {
		b, err := mungeBoolean(r, v)
		if err == nil && b.Bool() && r.Provider != nil && !r.Provider.Supports([]string{"manages_homedir"}) {
			return refuse("User provider %s can not manage home directories", r.Provider.Name)
		}
		return err
	}
	return a
}

var belowHome = regexp.MustCompile(`(?m)^(~|%h)/`)

func validatePurgeKeys(r *Resource, v data.Value) error {
	if w := word(v); v.Kind() != data.List && (w == "true" || w == "false") {
		return nil
	}
	if k := v.Kind(); k != data.String && k != data.List {
		return refuse("purge_ssh_keys must be true, false, or an array of file names, not %s", v.Inspect())
	}
	for _, f := range list(v) {
		if f.Kind() != data.String {
			return refuse("Each entry for purge_ssh_keys must be a string, not a %s", data.RubyClass(f))
		}
		if !r.absolute(f) && !belowHome.MatchString(f.Str()) {
			return refuse("Paths to keyfiles must be absolute, not %s", f.Str())
		}
	}
	return nil
}

// mungePurgeKeys makes a list of files. Rule RES-USER-04.
func mungePurgeKeys(r *Resource, v data.Value) (data.Value, error) {
	dir := r.Value("home").Text()
	if dir == "" {
		dir = home(r.Host, r.Name())
	}
	files := []string{}
	switch {
	case v.Kind() != data.List && word(v) == "false":
	case v.Kind() != data.List && word(v) == "true":
		if dir != "" {
			files = append(files, dir+"/.ssh/authorized_keys")
		}
	default:
		for _, f := range list(v) {
			if !belowHome.MatchString(f.Str()) {
				files = append(files, f.Str())
			} else if dir != "" {
				files = append(files, belowHome.ReplaceAllLiteralString(f.Str(), dir+"/"))
			}
		}
	}
	return data.OfStrings(files), nil
}

// userGroups are the groups of an account; that of a number is found by its gid.
func userGroups(r *Resource) []string {
	var names []string
	for _, g := range r.Original("gid") {
		n := g
		if g.Kind() == data.String && digits.MatchString(g.Str()) {
			n, _ = integer(g.Str())
		}
		if n.Kind() != data.Int {
			names = append(names, n.Text())
			continue
		}
		for _, other := range r.Catalog.Resources("group") {
			if data.Equal(other.Value("gid"), n) {
				names = append(names, other.Title)
				break
			}
		}
	}
	return append(names, splitWords(r.Value("groups").Text(), ",")...)
}

func userRoles(r *Resource) []string { return splitWords(r.Value("roles").Text(), ",") }
