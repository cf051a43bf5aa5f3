package types

import "indirtui/indirector/data"

// selbooleanType is a switch of SELinux.
func selbooleanType() *Type {
	return Define(Type{
		Name: "selboolean", Module: "selinux_core", Doc: "A boolean of SELinux.",
		Namevars: []string{"name"}, Instances: ByProviders, Providers: selbooleanProviders,
		Attributes: []*Attribute{
			{Name: "value", Doc: "Whether it is on.", Choices: choices("on", "off", "true", "false"), Munge: mungeOnOff},
			nameParameter("The name of the boolean."),
			{
				Name: "persistent", Kind: Parameter, Choices: choices("true", "false"), Preset: data.OfSymbol("false"),
				Doc: "Whether it stays so after the next start.",
			},
		},
	})
}

func mungeOnOff(_ *Resource, v data.Value) (data.Value, error) {
	if w := word(v); w == "true" || w == "on" {
		return data.OfSymbol("on"), nil
	}
	return data.OfSymbol("off"), nil
}

// selmoduleType is a module of the policy of SELinux.
func selmoduleType() *Type {
	return Define(Type{
		Name: "selmodule", Module: "selinux_core", Doc: "A module of the policy of SELinux.",
		Namevars: []string{"name"}, Instances: ByProviders, Providers: selmoduleProviders,
		Require: []Auto{{"file", func(r *Resource) []string {
			if p := r.Value("selmodulepath"); p.Truthy() {
				return []string{p.Text()}
			}
			return []string{r.Value("selmoduledir").Text() + "/" + r.Name() + ".pp"}
		}}},
		Attributes: []*Attribute{
			ensurable("Whether the module is loaded."),
			{Name: "syncversion", Doc: "Whether a module of another version is replaced.", Choices: choices("true", "false")},
			nameParameter("The name of the module."),
			{
				Name: "selmoduledir", Kind: Parameter, Preset: data.OfString("/usr/share/selinux/targeted"),
				Doc: "Where the file of the module is.",
			},
			{Name: "selmodulepath", Kind: Parameter, Doc: "The file of the module, if it is elsewhere."},
		},
	})
}
