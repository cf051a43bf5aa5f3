package termini

import (
	"fmt"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/model"
)

// Specs returns the indirections of Puppet 7 and 8 in the order in which a
// plain start declares them, and of the legacy ones those that have a terminus
// here. The slice is the caller's. Rules IND-REG-04, IND-REG-07.
func Specs() []indirector.Spec {
	return []indirector.Spec{
		{
			Name: "facts", Class: "Puppet::Node::Facts", Model: is[*model.Facts],
			Setting:    "facts_terminus",
			Doc:        "What a node knows of itself: its kernel, its addresses, its memory. The key is the certname. Saving facts expires the cached node of the same name.",
			BeforeSave: indirector.ExpireNode,
		},
		{
			Name: "node", Class: "Puppet::Node", Model: is[*model.Node],
			Setting: "node_terminus",
			Doc:     "What is known of a node before it is compiled: its environment, classes and parameters. The key is the certname.",
		},
		{
			Name: "file_metadata", Class: "Puppet::FileServing::Metadata", Model: is[*model.FileMetadata],
			Default: "selector",
			Doc:     "Owner, mode and checksum of served files. The key is a URI, an absolute path, or a mount and a path below it.",
		},
		{
			Name: "resource", Class: "Puppet::Resource", Model: is[*model.Resource],
			Default: "ral", KeyMatches: resourceMatches,
			Doc: "The state of one resource. The key is the type and the title, split at the first slash.",
		},
		{
			Name: "report", Class: "Puppet::Transaction::Report", Model: is[*model.Report],
			Default: "processor",
			Doc:     "What a run did. The key is the name of the host.",
		},
		{
			Name: "catalog", Class: "Puppet::Resource::Catalog", Model: is[*model.Catalog],
			Setting: "catalog_terminus",
			Doc:     "What is to be done on a node: all of its resources and how they depend on each other. The key is the certname.",
		},
		{
			Name: "data_binding", Class: "Puppet::DataBinding",
			Setting: "data_binding_terminus",
			Doc:     "Where the parameters of classes get their values from. The key is that of a lookup.",
		},
		{
			Name: "file_bucket_file", Class: "Puppet::FileBucket::File", Model: is[*model.FileBucketFile],
			Default: "selector",
			Doc:     "Contents of files, kept under their checksum. The key is the type and the text of the checksum, perhaps followed by the original path.",
		},
		{
			Name: "file_content", Class: "Puppet::FileServing::Content", Model: is[*model.FileContent],
			Default: "selector",
			Doc:     "Contents of served files. The key is a URI, an absolute path, or a mount and a path below it.",
		},
		{
			Name: "status", Class: "Puppet::Status", Model: is[*model.Status],
			Default: "local", Legacy: "2.6 to 6",
			Doc: "Whether a server is alive, and its version. The key does not count.",
		},
		{
			Name: "certificate", Class: "Puppet::SSL::Certificate", Model: is[*model.Certificate],
			Default: "file", Legacy: "2.6 to 6",
			Doc: "Certificates. The key is the certname; ca is the CA, whose certificates may be several.",
		},
		{
			Name: "certificate_request", Class: "Puppet::SSL::CertificateRequest", Model: is[*model.CertificateRequest],
			Default: "file", Legacy: "2.6 to 6",
			Doc: "Requests for certificates. The key is the certname.",
		},
		{
			Name: "certificate_revocation_list", Class: "Puppet::SSL::CertificateRevocationList", Model: is[*model.CRL],
			Default: "file", Legacy: "2.6 to 6", KeyMatches: anyKey,
			Doc: "What CAs have revoked. The key does not count.",
		},
		{
			Name: "certificate_status", Class: "Puppet::SSL::Host", Model: is[*model.CertificateStatus],
			Default: "file", Legacy: "2.7 to 5",
			Doc: "What a CA knows of a host, and what is to become of it. The key is the certname.",
		},
		{
			Name: "key", Class: "Puppet::SSL::Key", Model: is[*model.PrivateKey],
			Default: "file", Legacy: "2.6 to 6",
			Doc: "Private keys. The key is the certname; ca is the CA. They are never given over the network.",
		},
		{
			Name: "ocsp", Class: "Puppet::SSL::Ocsp::Request", Model: is[*model.OCSPRequest],
			Default: "ca", Legacy: "as an extension", KeyMatches: anyKey,
			Doc: "Whether a certificate is still good. What is saved is the question, and the answer is OCSP's. The key is for people.",
		},
	}
}

func is[T indirector.Instance](i indirector.Instance) bool {
	_, ok := i.(T)
	return ok
}

// anyKey is for models whose name is not their key.
func anyKey(indirector.Instance, string) error { return nil }

// resourceMatches compares type and title with the key: the type in any case
// of letters, the title as it is. Rule IND-VAL-02.
func resourceMatches(inst indirector.Instance, key string) error {
	kind, title, _ := strings.Cut(key, "/")
	r, ok := inst.(*model.Resource)
	if ok && strings.EqualFold(r.Type, kind) && r.Title == title {
		return nil
	}
	return &indirector.Failure{
		Class: "Puppet::Indirector::ValidationError", Message: "Resource instance does not match request key",
		Hidden: fmt.Sprintf("the instance is %s", inst.Key()), Err: indirector.ErrInvalid,
	}
}
