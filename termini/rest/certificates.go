package rest

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client"
	"indirtui/traces"
)

// certificates ask a CA for certificates.
type certificates struct{ *service }

// Find asks for a certificate, which gets the name that was asked for: that of
// a CA's is another.
func (t *certificates) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	inst, err := t.find(ctx, req)
	if c, ok := inst.(*model.Certificate); ok && c.Name != req.Key {
		named := *c
		named.Name = req.Key
		return &named, err
	}
	return inst, err
}

// certificateRequests ask a CA for requests, and send it some.
type certificateRequests struct{ *service }

// Find asks for a request that waits.
func (t *certificateRequests) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	return t.find(ctx, req)
}

// Save sends a request. Its answer is nil.
func (t *certificateRequests) Save(ctx context.Context, req *indirector.Request) (any, error) {
	_, err := t.save(ctx, req, false)
	return nil, err
}

// Destroy has a request removed.
func (t *certificateRequests) Destroy(ctx context.Context, req *indirector.Request) (any, error) {
	return t.destroy(ctx, req)
}

// revocations ask a CA for its revocation lists.
type revocations struct{ *service }

// Find asks for the lists.
func (t *revocations) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	return t.find(ctx, req)
}

// certificateStatuses ask a CA what it knows of a name, and have it sign and
// revoke.
type certificateStatuses struct{ *service }

// Find asks for what is known of one name.
func (t *certificateStatuses) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	return t.find(ctx, req)
}

// Search asks for what is known of all; the option state limits it.
func (t *certificateStatuses) Search(ctx context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	return t.search(ctx, req)
}

// Save has a name signed or revoked. Its answer is nil.
func (t *certificateStatuses) Save(ctx context.Context, req *indirector.Request) (any, error) {
	_, err := t.save(ctx, req, false)
	return nil, err
}

// Destroy has what there is of a name removed, which revokes nothing.
func (t *certificateStatuses) Destroy(ctx context.Context, req *indirector.Request) (any, error) {
	return t.destroy(ctx, req)
}

// destroy asks for the removal of what the key names, and says whether there
// was something.
func (t *service) destroy(ctx context.Context, req *indirector.Request) (any, error) {
	answer, err := t.ask(ctx, req, false)
	switch {
	case err != nil:
		return nil, err
	case answer.Status == http.StatusNotFound:
		traces.AddNote(ctx, "there is nothing to remove: "+missing(answer))
		return false, nil
	case !answer.OK():
		return nil, t.refused(answer)
	}
	return true, nil
}

// ocsp asks a CA whether a certificate is good.
type ocsp struct{ *service }

// Save sends the question, and returns the answer.
func (t *ocsp) Save(ctx context.Context, req *indirector.Request) (any, error) {
	answer, err := t.save(ctx, req, false)
	if err != nil {
		return nil, err
	}
	if kind := mediaType(answer.Header.Get("Content-Type")); !strings.EqualFold(kind, "application/ocsp-response") {
		return nil, t.failure(answer, "Puppet::HTTP::ProtocolError", fmt.Sprintf("Content-Type %q is no answer to an OCSP request", kind), t.what(answer))
	}
	about := data.OfHash([]data.Pair{data.P("from", data.OfString(answer.URL.Host))})
	return &model.OCSPResponse{Name: req.Key, DER: answer.Body, Summary: about}, nil
}

var (
	_ indirector.Finder    = (*certificates)(nil)
	_ indirector.Finder    = (*certificateRequests)(nil)
	_ indirector.Saver     = (*certificateRequests)(nil)
	_ indirector.Destroyer = (*certificateRequests)(nil)
	_ indirector.Finder    = (*revocations)(nil)
	_ indirector.Finder    = (*certificateStatuses)(nil)
	_ indirector.Searcher  = (*certificateStatuses)(nil)
	_ indirector.Saver     = (*certificateStatuses)(nil)
	_ indirector.Destroyer = (*certificateStatuses)(nil)
	_ indirector.Saver     = (*ocsp)(nil)
)

var caSettings = []indirector.Setting{
	{Name: "ca_server", Doc: "The CA."},
	{Name: "ca_port", Doc: "Its port."},
}

// Descriptors of the rest termini of the CA. A certificate carries its end with
// it.
var (
	Certificate = ofCA("certificate", "Asks the CA for a certificate; that of the name ca is the CA's own.",
		(*certificates)(nil), func(t *service) indirector.Terminus { return &certificates{t} })
	CertificateRequest = ofCA("certificate_request", "Sends requests to the CA, and asks for those that wait.",
		(*certificateRequests)(nil), func(t *service) indirector.Terminus { return &certificateRequests{t} })
	CertificateRevocationList = ofCA("certificate_revocation_list", "Asks the CA for what is revoked. Puppet Server answers the key ca only.",
		(*revocations)(nil), func(t *service) indirector.Terminus { return &revocations{t} })
	CertificateStatus = ofCA("certificate_status", "Asks the CA what it knows of a host, and has it sign and revoke. Puppet Server lets those do it whose certificate has the extension pp_cli_auth.",
		(*certificateStatuses)(nil), func(t *service) indirector.Terminus { return &certificateStatuses{t} })
	OCSP = ofCA("ocsp", "Asks the CA whether a certificate is good. Puppet Server does not know this.",
		(*ocsp)(nil), func(t *service) indirector.Terminus { return &ocsp{t} })
)

func ofCA(indirection, doc string, typed indirector.Terminus, wrap func(*service) indirector.Terminus) indirector.Descriptor {
	d := descriptor(indirection, doc, client.CA, typed, wrap, caSettings...)
	d.KeepsExpiry = indirection == "certificate"
	return d
}
