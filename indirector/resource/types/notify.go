package types

import "indirtui/indirector/data"

// notifyType logs a message. It is out of sync in every run.
func notifyType() *Type {
	return Define(Type{
		Name: "notify", Doc: "Logs a message on the agent in every run.",
		Namevars: []string{"name"}, ApplyTo: "both",
		Attributes: []*Attribute{
			{
				Name: "message", Doc: "What is logged. The default is the name.", Always: true,
				Default: func(r *Resource) (data.Value, bool) { return r.Value("name"), true },
				InSync:  func(*Resource, data.Value) (bool, error) { return false, nil },
			},
			{
				Name: "withpath", Kind: Parameter, Doc: "Whether the log names the whole path of the resource.",
				Choices: choices("true", "false"), Preset: data.OfSymbol("false"),
			},
			nameParameter("Any text that is unique."),
		},
	})
}
