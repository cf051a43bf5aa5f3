package types

// stageType is a run stage: classes are put into one by the metaparameter stage.
func stageType() *Type {
	return Define(Type{
		Name: "stage", Doc: "A run stage. Classes of one stage are applied before or after those of another.",
		Namevars:   []string{"name"},
		Attributes: []*Attribute{nameParameter("The name, by which classes choose the stage.")},
	})
}

// componentType stands for classes and defines. Its title is their reference.
func componentType() *Type {
	return Define(Type{
		Name: "component", Doc: "A class or a define in a catalog that is applied: it contains resources, and does nothing itself.",
		Namevars: []string{"name"}, Refreshable: true,
		Ref:        componentRef,
		Redact:     func(*Resource, []string) []string { return nil },
		Attributes: []*Attribute{nameParameter("The reference of the class or define.")},
	})
}

// componentRef is the title, which is a reference. Any other title is that of a class.
func componentRef(r *Resource) string {
	if _, ok := ParseRef(r.Title); ok {
		return r.Title
	}
	return "Class[" + Capital(r.Title) + "]"
}

// whitType marks where a container begins or ends. Rule RES-GRAPH-04.
func whitType() *Type {
	return Define(Type{
		Name: "whit", Doc: "The begin or the end of a container in the graph of relationships. It is never shown.",
		Namevars: []string{"name"}, Refreshable: true,
		Attributes: []*Attribute{nameParameter("What it stands for.")},
	})
}
