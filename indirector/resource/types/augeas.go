package types

import "indirtui/indirector/data"

// augeasType changes files through the library of Augeas.
func augeasType() *Type {
	return Define(Type{
		Name: "augeas", Module: "augeas_core", Doc: "Changes files of configuration as trees, by Augeas.",
		Namevars: []string{"name"}, Instances: ByProviders, Providers: augeasProviders,
		Features: []string{"execute_changes", "need_to_run?", "parse_commands"},
		Validate: func(r *Resource) error {
			if r.Has("lens") != r.Has("incl") {
				return refuse("You must specify both the lens and incl parameters, or neither.")
			}
			return nil
		},
		Attributes: []*Attribute{
			{
				Name: "returns", Doc: "For internal use: whether there is something to change.", Preset: data.OfInt(0),
				Change: func(*Resource, data.Value, data.Value) string { return "executed successfully" },
			},
			nameParameter("Any text that is unique."),
			{
				Name: "context", Kind: Parameter, Preset: data.OfString(""), Munge: mungeContext,
				Doc: "What is put before every path.",
			},
			{Name: "onlyif", Kind: Parameter, Preset: data.OfString(""), Doc: "A condition: get or match, with a comparison."},
			{Name: "changes", Kind: Parameter, Doc: "The commands: set, rm, ins and others. A text of lines, or a list."},
			{Name: "root", Kind: Parameter, Preset: data.OfString("/"), Doc: "The root of the file system."},
			{Name: "load_path", Kind: Parameter, Preset: data.OfString(""), Doc: "Where more lenses are, with colons between them, or a list."},
			{Name: "force", Kind: Parameter, Preset: data.OfBool(false), Doc: "Whether the changes are made although nothing seems to change."},
			{
				Name: "type_check", Kind: Parameter, Choices: choices("true", "false"), Preset: data.OfSymbol("false"),
				Doc: "Whether lenses are checked for their types.",
			},
			{Name: "lens", Kind: Parameter, Doc: "The lens by which the file is read. It goes with incl."},
			{Name: "incl", Kind: Parameter, Doc: "The one file that is read. It goes with lens."},
			boolean(Attribute{Name: "show_diff", Preset: data.OfSymbol("true"), Doc: "Whether differences are logged."}),
		},
	})
}

// mungeContext: without a context, paths are below the file that is read.
func mungeContext(r *Resource, v data.Value) (data.Value, error) {
	if k := v.Kind(); k != data.String && k != data.List && k != data.Hash {
		return v, badArgument("a context is text, not %s", v.Inspect())
	}
	if v.Len() == 0 && r.Value("incl").Truthy() {
		return data.OfString("/files" + r.Value("incl").Text()), nil
	}
	return v, nil
}
