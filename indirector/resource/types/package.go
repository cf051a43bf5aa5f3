package types

import (
	"strings"

	"indirtui/indirector/data"
)

// packageType is software. Rules RES-PKG-01 to RES-PKG-04.
func packageType() *Type {
	return Define(Type{
		Name: "package", Doc: "Software, by the package manager of the system or of a language.",
		Namevars: []string{"name", "provider", "command"}, Instances: ByProviders, Refreshable: true,
		Providers: packageProviders, Validate: validatePackage, Require: []Auto{{"file", packageFiles}},
		Features: strings.Fields("disableable holdable install_only install_options installable package_settings purgeable " +
			"reinstallable supports_flavors targetable uninstall_options uninstallable upgradeable version_ranges versionable virtual_packages"),
		Attributes: append([]*Attribute{
			packageEnsure(),
			{Name: "package_settings", Doc: "Settings of the package, in the form of its provider.", Features: []string{"package_settings"}},
			{
				Name: "flavor", Doc: "The variant of the package.", Features: []string{"supports_flavors"},
				Validate: func(r *Resource, v data.Value) error {
					if r.Value("ensure").Text() == "disabled" && v.Truthy() {
						return refuse("Cannot have both `ensure => disabled` and `flavor`")
					}
					return nil
				},
			},
			{
				Name: "mark", Doc: "Whether the package is held at its version. It needs ensure to be present or a version.",
				Choices: choices("hold", "none"), Features: []string{"holdable"}, Wanted: onlyMark, InSync: markInSync,
			},
		}, packageParameters()...),
	})
}

func packageEnsure() *Attribute {
	return &Attribute{
		Name: "ensure", Creates: true, Preset: data.OfSymbol("installed"), Patterns: patterns("."),
		ShowShould: func(r *Resource, v data.Value) string {
			if !r.Latest.IsNil() {
				v = r.Latest
			}
			return Display(v)
		},
		Doc: "Whether the package is there (present), the newest (latest), gone with its configuration (purged), or which version it has.",
		Choices: []Choice{
			{Name: "present", Aliases: []string{"installed"}, Event: "package_installed"},
			{Name: "absent", Event: "package_removed"},
			{Name: "purged", Event: "package_purged", Features: []string{"purgeable"}},
			{Name: "disabled", Features: []string{"disableable"}},
			{Name: "latest", Features: []string{"upgradeable"}},
		},
		Other:  []string{"versionable"},
		InSync: packageInSync,
		Change: packageChange,
	}
}

// onlyMark is the mark, if there is one alone.
func onlyMark(_ *Resource, should []data.Value, _ data.Value) data.Value {
	if len(should) != 1 {
		return data.Value{}
	}
	return should[0]
}

func markInSync(r *Resource, is data.Value) (bool, error) {
	should := r.Should("mark")
	return len(should) > 0 && data.Equal(should[0], is), nil
}

// packageInSync knows what is there, gone or of one version. What is latest, and ranges
// of versions, the provider compares. Rule RES-PKG-03.
func packageInSync(r *Resource, is data.Value) (bool, error) {
	gone := is.Str() == "absent" || is.Str() == "purged"
	for _, want := range r.Should("ensure") {
		switch {
		case want.Kind() != data.Symbol:
			for _, v := range list(is) {
				if equal(v, want) {
					return true, nil
				}
			}
		case want.Str() == "present":
			return !gone && is.Str() != "disabled", nil
		case want.Str() == "absent":
			return gone, nil
		case want.Str() == is.Str():
			return true, nil
		}
	}
	return false, nil
}

func packageChange(r *Resource, is, should data.Value) string {
	goes := should.Kind() == data.Symbol && (should.Str() == "purged" || should.Str() == "absent")
	missing := is.IsNil() || is.Kind() == data.Symbol && (is.Str() == "absent" || is.Str() == "purged")
	switch {
	case goes && should.Str() == "purged":
		return "purged"
	case missing && !goes:
		return "created"
	}
	return r.usualChange(r.Type.Attribute("ensure"), is, should)
}

func packageParameters() []*Attribute {
	param := func(name, doc string) *Attribute { return &Attribute{Name: name, Kind: Parameter, Doc: doc} }
	no := data.OfBool(false)
	return []*Attribute{
		{Name: "name", Kind: Parameter, Doc: "The name that the package manager knows.", Validate: validatePackageName},
		providerParameter(),
		{
			Name: "command", Kind: Parameter, Preset: data.OfSymbol("default"), Features: []string{"targetable"},
			Doc: "The program that is used, where several of a kind are installed (gem, pip).",
		},
		param("source", "Where the package is from: a file, or a URL. Not for those that have repositories."),
		param("instance", "For reading only. It has no meaning any more."),
		param("status", "For reading only. It has no meaning any more."),
		param("adminfile", "The file of defaults for the installation (Solaris)."),
		param("responsefile", "The file of answers to questions of the installation (Debian, Solaris)."),
		{
			Name: "configfiles", Kind: Parameter, Choices: choices("keep", "replace"), Preset: data.OfSymbol("keep"),
			Doc: "Whether changed files of configuration stay when a new version is installed.",
		},
		param("category", "For reading only."),
		param("platform", "For reading only."),
		param("root", "For reading only."),
		param("vendor", "For reading only."),
		param("description", "For reading only."),
		{Name: "allowcdrom", Kind: Parameter, Choices: choices("true", "false"), Doc: "Whether apt may install from a CD."},
		enableOnly(),
		boolean(Attribute{
			Name: "install_only", Preset: no, Features: []string{"install_only"},
			Doc: "Whether other versions stay beside the new one, as with kernels.",
		}),
		packageOptions("install_options", "Options of the command that installs: texts, and hashes of option and value."),
		packageOptions("uninstall_options", "Options of the command that removes: texts, and hashes of option and value."),
		boolean(Attribute{
			Name: "allow_virtual", Features: []string{"virtual_packages"}, Default: defaultVirtual,
			Doc: "Whether the name may be one that other packages provide.",
		}),
		{
			Name: "reinstall_on_refresh", Kind: Parameter, Choices: choices("true", "false"), Preset: data.OfSymbol("false"),
			Doc: "Whether a refresh installs the package again.",
		},
	}
}

func validatePackageName(_ *Resource, v data.Value) error {
	if v.Kind() != data.String {
		return refuse("Name must be a String not %s", data.RubyClass(v))
	}
	return nil
}

// enableOnly takes yes and no in any case, and cannot go with what it is the opposite of.
func enableOnly() *Attribute {
	a := boolean(Attribute{Name: "enable_only", Preset: data.OfBool(false), Doc: "Whether a module is enabled without installing anything (dnf)."})
	a.Validate = func(r *Resource, v data.Value) error {
		if word(v) == "true" && r.Value("flavor").Truthy() {
			return refuse("Cannot have both `enable_only => true` and `flavor`")
		}
		if r.Value("ensure").Text() == "disabled" {
			return refuse("Cannot have both `ensure => disabled` and `enable_only => true`")
		}
		return nil
	}
	return a
}

func packageOptions(name, doc string) *Attribute {
	return &Attribute{Name: name, Kind: Parameter, Doc: doc, Features: []string{name}, Munge: mungeOptions}
}

// mungeOptions puts quotes around what has blanks.
func mungeOptions(_ *Resource, v data.Value) (data.Value, error) {
	all := list(v)
	options := make([]data.Value, len(all))
	for i, o := range all {
		var err error
		switch o.Kind() {
		case data.String:
			options[i] = quoteOption(o.Str())
		case data.Hash:
			options[i], err = quoteOptions(o)
		default:
			err = refuse("Expected either a string or hash of options")
		}
		if err != nil {
			return v, err
		}
	}
	return data.OfList(options), nil
}

func quoteOptions(o data.Value) (data.Value, error) {
	var pairs []data.Pair
	for _, p := range o.Hash() {
		if p.Key.Kind() != data.String || p.Value.Kind() != data.String {
			return o, badArgument("options are text, not %s", o.Inspect())
		}
		pairs = append(pairs, data.Pair{Key: quoteOption(p.Key.Str()), Value: quoteOption(p.Value.Str())})
	}
	return data.OfHash(pairs), nil
}

func quoteOption(s string) data.Value {
	if !strings.Contains(s, " ") {
		return data.OfString(s)
	}
	return data.OfString(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
}

// defaultVirtual is true, but for dpkg and apt.
func defaultVirtual(r *Resource) (data.Value, bool) {
	name := ""
	if r.Provider != nil {
		name = r.Provider.Name
	}
	return data.OfBool(true), name != "apt" && name != "dpkg" && name != "aptitude" && name != "fink"
}

func validatePackage(r *Resource) error {
	ensure := r.Value("ensure").Text()
	if r.Has("mark") && (ensure == "absent" || ensure == "purged") {
		return refuse(`You cannot use "mark" property while "ensure" is one of ["absent", "purged"]`)
	}
	return nil
}

func packageFiles(r *Resource) []string {
	var files []string
	for _, name := range []string{"responsefile", "adminfile", "source"} {
		v := r.Value(name)
		if v.Truthy() && (name != "source" || r.absolute(v)) {
			files = append(files, v.Text())
		}
	}
	return files
}
