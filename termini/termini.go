// Package termini lists the indirections and the termini that this program
// has. It is the only place that knows them all.
package termini

import (
	"indirtui/indirector"
	"indirtui/termini/exec"
	"indirtui/termini/facter"
	"indirtui/termini/filebucket"
	"indirtui/termini/fileserving"
	"indirtui/termini/flatfile"
	"indirtui/termini/memory"
	"indirtui/termini/none"
	"indirtui/termini/plain"
	"indirtui/termini/reports"
	"indirtui/termini/status"
)

// All returns the descriptors of all termini, by indirection. What Puppet has
// besides these is not there: a route to it gives Puppet's own error. The
// slice is the caller's.
func All() []indirector.Descriptor {
	return []indirector.Descriptor{
		flatfile.CatalogJSON,
		flatfile.CatalogMsgpack,
		flatfile.CatalogYAML,
		none.DataBinding,
		facter.Facts,
		flatfile.FactsJSON,
		memory.Facts,
		flatfile.FactsYAML,
		filebucket.File,
		filebucket.BySelector,
		fileserving.ContentFile,
		fileserving.ContentServer,
		fileserving.ContentHTTP,
		fileserving.ContentSelector,
		fileserving.MetadataFile,
		fileserving.MetadataServer,
		fileserving.MetadataHTTP,
		fileserving.MetadataSelector,
		exec.Node,
		flatfile.NodeJSON,
		memory.Node,
		flatfile.NodeMsgpack,
		plain.Node,
		flatfile.NodeYAML,
		flatfile.ReportJSON,
		flatfile.ReportMsgpack,
		reports.Processor,
		flatfile.ReportYAML,
		status.Local,
	}
}
