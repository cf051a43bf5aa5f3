// Package termini lists the indirections and the termini of this program. No
// other package knows all of them.
package termini

import (
	"indirtui/indirector"
	"indirtui/termini/certificates"
	"indirtui/termini/compiler"
	"indirtui/termini/device"
	"indirtui/termini/dns"
	"indirtui/termini/exec"
	"indirtui/termini/facter"
	"indirtui/termini/filebucket"
	"indirtui/termini/fileserving"
	"indirtui/termini/flatfile"
	"indirtui/termini/hiera"
	"indirtui/termini/ldap"
	"indirtui/termini/memory"
	"indirtui/termini/none"
	"indirtui/termini/plain"
	"indirtui/termini/puppetdb"
	"indirtui/termini/ral"
	"indirtui/termini/reports"
	"indirtui/termini/rest"
	"indirtui/termini/sqlstore"
	"indirtui/termini/status"
	"indirtui/termini/storeconfigs"
)

// All returns the descriptors of all termini, by indirection. What Puppet has
// besides these is not there: a route to it gives Puppet's own error. The
// slice is the caller's.
func All() []indirector.Descriptor {
	return []indirector.Descriptor{
		compiler.Catalog,
		flatfile.CatalogJSON,
		flatfile.CatalogMsgpack,
		sqlstore.PostgreSQLCatalog,
		puppetdb.Catalog,
		rest.Catalog,
		sqlstore.SQLiteCatalog,
		storeconfigs.Catalog,
		flatfile.CatalogYAML,
		certificates.CertificateCA,
		certificates.CertificateDisabledCA,
		certificates.CertificateFile,
		rest.Certificate,
		certificates.RequestCA,
		certificates.RequestDisabledCA,
		certificates.RequestFile,
		rest.CertificateRequest,
		certificates.CRLCA,
		certificates.CRLDisabledCA,
		certificates.CRLFile,
		rest.CertificateRevocationList,
		certificates.StatusFile,
		rest.CertificateStatus,
		hiera.DataBinding,
		none.DataBinding,
		facter.Facts,
		flatfile.FactsJSON,
		memory.Facts,
		device.Facts,
		sqlstore.PostgreSQLFacts,
		puppetdb.Facts,
		puppetdb.FactsApply,
		rest.Facts,
		sqlstore.SQLiteFacts,
		storeconfigs.Facts,
		flatfile.FactsYAML,
		filebucket.File,
		rest.BucketFile,
		filebucket.BySelector,
		fileserving.ContentFile,
		fileserving.ContentServer,
		fileserving.ContentHTTP,
		rest.FileContent,
		fileserving.ContentSelector,
		fileserving.MetadataFile,
		fileserving.MetadataServer,
		fileserving.MetadataHTTP,
		rest.FileMetadata,
		fileserving.MetadataSelector,
		dns.Node,
		exec.Node,
		flatfile.NodeJSON,
		ldap.Node,
		memory.Node,
		flatfile.NodeMsgpack,
		plain.Node,
		sqlstore.PostgreSQLNode,
		puppetdb.Node,
		rest.Node,
		sqlstore.SQLiteNode,
		storeconfigs.Node,
		flatfile.NodeYAML,
		certificates.KeyCA,
		certificates.KeyDisabledCA,
		certificates.KeyFile,
		certificates.OCSPCA,
		rest.OCSP,
		flatfile.ReportJSON,
		flatfile.ReportMsgpack,
		sqlstore.PostgreSQLReport,
		reports.Processor,
		rest.Report,
		sqlstore.SQLiteReport,
		flatfile.ReportYAML,
		sqlstore.PostgreSQLResource,
		puppetdb.Resource,
		ral.Resource,
		rest.Resource,
		sqlstore.SQLiteResource,
		storeconfigs.Resource,
		status.Local,
		rest.Status,
	}
}
