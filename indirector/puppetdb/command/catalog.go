package command

import "indirtui/indirector/model"

// Catalog returns the command that replaces the catalog of a node. Its error is in
// Puppet's words: a relation that leads nowhere. Rules PDB-CAT-01 to PDB-CAT-07.
func Catalog(cat *model.Catalog, o Options) (*Command, error) {
	return o.command(ReplaceCatalog, 9, cat.Name), nil
}
