package types

// mailaliasType is a line of the aliases of mail. Rule RES-LIST-04.
func mailaliasType() *Type {
	return Define(Type{
		Name: "mailalias", Module: "mailalias_core", Doc: "An entry of the aliases of mail: who gets what is sent to a name.",
		Namevars: []string{"name"}, Instances: ByProviders, Providers: mailaliasProviders,
		Validate: func(r *Resource) error {
			if r.Value("recipient").Truthy() && r.Value("file").Truthy() {
				return refuse("You cannot specify both a recipient and a file")
			}
			return nil
		},
		Attributes: []*Attribute{
			ensurable("Whether the alias is there."),
			{Name: "recipient", Doc: "Where mail goes: addresses, or programs. A list of all.", All: true},
			{Name: "file", Doc: "A file that has the recipients, instead.", Validate: validateFilePath},
			target("The file of aliases. The default is that of the system.", "/etc/aliases"),
			nameParameter("The name that mail is sent to."),
		},
	})
}
