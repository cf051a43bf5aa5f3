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

type certificates struct{ finder }

// Find requests a certificate, which gets the name of the request: that of a CA
// has another.
func (t *certificates) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	inst, err := t.finder.Find(ctx, req)
	if c, ok := inst.(*model.Certificate); ok && c.Name != req.Key {
		named := *c
		named.Name = req.Key
		return &named, err
	}
	return inst, err
}

type certificateRequests struct{ finder }

// Save sends a request. Its result is nil.
func (t *certificateRequests) Save(ctx context.Context, req *indirector.Request) (any, error) {
	_, err := t.save(ctx, req, false)
	return nil, err
}

// Destroy removes a request.
func (t *certificateRequests) Destroy(ctx context.Context, req *indirector.Request) (any, error) {
	return t.destroy(ctx, req)
}

type certificateStatuses struct{ searcher }

// Save signs or revokes. Its result is nil.
func (t *certificateStatuses) Save(ctx context.Context, req *indirector.Request) (any, error) {
	_, err := t.save(ctx, req, false)
	return nil, err
}

// Destroy removes all of a name without revoking it.
func (t *certificateStatuses) Destroy(ctx context.Context, req *indirector.Request) (any, error) {
	return t.destroy(ctx, req)
}

// destroy removes what the key names, and reports whether there was something.
func (t *service) destroy(ctx context.Context, req *indirector.Request) (any, error) {
	answer, err := t.ask(ctx, req, false)
	switch {
	case err != nil:
		return nil, err
	case answer.Status == http.StatusNotFound:
		traces.Explain(ctx, "there is nothing to remove: "+sentence(req, answer))
		return false, nil
	case !answer.OK():
		return nil, t.refused(answer)
	}
	return true, nil
}

type ocsp struct{ *service }

// Save sends the question and returns the answer.
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
	_ indirector.Saver     = (*certificateRequests)(nil)
	_ indirector.Destroyer = (*certificateRequests)(nil)
	_ indirector.Saver     = (*certificateStatuses)(nil)
	_ indirector.Destroyer = (*certificateStatuses)(nil)
	_ indirector.Saver     = (*ocsp)(nil)
)

var caSettings = []indirector.Setting{
	{Name: "ca_server", Doc: "The CA."},
	{Name: "ca_port", Doc: "Its port."},
}

// Descriptors of the rest termini of the CA. Certificates carry their
// expiration.
var (
	Certificate = ofCA("certificate", "Asks the CA for a certificate; that of the name ca is the CA's own.",
		func(t *service) indirector.Terminus { return &certificates{finder{t}} })
	CertificateRequest = ofCA("certificate_request", "Sends requests to the CA, and asks for those that wait.",
		func(t *service) indirector.Terminus { return &certificateRequests{finder{t}} })
	CertificateRevocationList = ofCA("certificate_revocation_list", "Asks the CA for what is revoked. Puppet Server answers the key ca only.",
		func(t *service) indirector.Terminus { return finder{t} })
	CertificateStatus = ofCA("certificate_status", "Asks the CA what it knows of a host, and has it sign and revoke. Puppet Server lets those do it whose certificate has the extension pp_cli_auth.",
		func(t *service) indirector.Terminus { return &certificateStatuses{searcher{finder{t}}} })
	OCSP = ofCA("ocsp", "Asks the CA whether a certificate is good. Puppet Server does not know this.",
		func(t *service) indirector.Terminus { return &ocsp{t} })
)

func ofCA(indirection, doc string, wrap func(*service) indirector.Terminus) indirector.Descriptor {
	d := descriptor(indirection, doc, client.CA, wrap, caSettings...)
	d.KeepsExpiry = indirection == "certificate"
	return d
}
