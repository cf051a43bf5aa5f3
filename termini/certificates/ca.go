package certificates

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/network/ca"
	"indirtui/traces"
)

// Termini of certificate.
var (
	CertificateCA = indirector.Descriptor{
		Indirection: "certificate", Name: "ca", Note: "those that this host's CA signed",
		Doc: "The certificates that the CA of this host has signed, and under the name ca those of the CA. " +
			"A save stores a certificate; with the option renew it is signed again, with a new number and validity, and the answer is the new one.",
		Settings: ca.Settings, Rules: []string{"IND-EXP-05", "IND-KEY-01"}, KeepsExpiry: true, Type: (*signed)(nil),
		New: func(env indirector.Env) (indirector.Terminus, error) {
			return &signed{newFiles(env, location{dir: "signeddir", ca: "cacert", mode: 0o644}), authority{env: env}}, nil
		},
	}
	CertificateFile = indirector.Descriptor{
		Indirection: "certificate", Name: "file", Note: "those of this host",
		Doc:      "The certificates of this host's ssldir, and under the name ca those of the CA that it trusts.",
		Settings: []indirector.Setting{{Name: "certdir", Doc: "The directory."}, {Name: "localcacert", Doc: "The file of the name ca."}},
		Rules:    []string{"IND-EXP-05", "IND-KEY-01"}, KeepsExpiry: true, Type: (*files)(nil),
		New: func(env indirector.Env) (indirector.Terminus, error) {
			f := newFiles(env, location{dir: "certdir", ca: "localcacert", mode: 0o644})
			return &f, nil
		},
	}
	CertificateDisabledCA = disabled("certificate", "certificates")
)

// Termini of certificate_request.
var (
	RequestCA = indirector.Descriptor{
		Indirection: "certificate_request", Name: "ca", Note: "those that wait for this host's CA",
		Doc: "The requests that wait for the CA of this host. " +
			"A save is checked, kept, and signed if autosign says so: true, a list of names, or a command that gets the request on its standard input.",
		Settings: ca.Settings, Rules: []string{"IND-KEY-01", "IND-VAL-02"}, Type: (*requests)(nil),
		New: func(env indirector.Env) (indirector.Terminus, error) {
			return &requests{newFiles(env, location{dir: "csrdir", mode: 0o644}), authority{env: env}}, nil
		},
	}
	RequestFile = indirector.Descriptor{
		Indirection: "certificate_request", Name: "file", Note: "those of this host",
		Doc:      "The requests that this host has made.",
		Settings: []indirector.Setting{{Name: "requestdir", Doc: "The directory."}},
		Rules:    []string{"IND-KEY-01"}, Type: (*files)(nil),
		New: func(env indirector.Env) (indirector.Terminus, error) {
			f := newFiles(env, location{dir: "requestdir", mode: 0o644})
			return &f, nil
		},
	}
	RequestDisabledCA = disabled("certificate_request", "requests")
)

// Termini of certificate_revocation_list.
var (
	CRLCA = indirector.Descriptor{
		Indirection: "certificate_revocation_list", Name: "ca", Note: "what this host's CA has revoked",
		Doc:      "What the CA of this host has revoked, and what those that vouch for it have. A save takes newer lists of the latter; its own list only the CA writes. The key does not count.",
		Settings: ca.Settings, Type: (*revoked)(nil),
		New: func(env indirector.Env) (indirector.Terminus, error) {
			return &revoked{newFiles(env, location{single: "cacrl", mode: 0o644}), authority{env: env}}, nil
		},
	}
	CRLFile = indirector.Descriptor{
		Indirection: "certificate_revocation_list", Name: "file", Note: "the lists that this host goes by",
		Doc:      "The revocation lists that this host goes by. The key does not count.",
		Settings: []indirector.Setting{{Name: "hostcrl", Doc: "The file."}},
		Type:     (*files)(nil),
		New: func(env indirector.Env) (indirector.Terminus, error) {
			f := newFiles(env, location{single: "hostcrl", mode: 0o644})
			return &f, nil
		},
	}
	CRLDisabledCA = disabled("certificate_revocation_list", "revocation lists")
)

// A signed has the certificates of a CA.
type signed struct {
	files
	authority
}

// Save stores a certificate, or renews it.
func (t *signed) Save(ctx context.Context, req *indirector.Request) (any, error) {
	if renew := req.Option("renew"); renew == nil || renew == false || renew == "false" {
		return t.files.Save(ctx, req)
	}
	a, err := t.open()
	if err != nil {
		return nil, err
	}
	cert, ok := req.Instance.(*model.Certificate)
	if !ok {
		return nil, fmt.Errorf("a %T is no certificate", req.Instance)
	}
	old, err := ca.ParseCertificates(cert.PEM)
	if err != nil {
		return nil, failed(err)
	}
	renewed, err := a.Renew(ctx, old[0])
	if err != nil {
		return nil, failed(err)
	}
	return &model.Certificate{Name: req.Key, PEM: ca.EncodeCertificates(renewed), Until: renewed.NotAfter}, nil
}

// A requests has the waiting requests of a CA.
type requests struct {
	files
	authority
}

// Validate checks the model; the CA checks the names, in its own words.
func (t *requests) Validate(_ context.Context, req *indirector.Request) error {
	return t.files.env.Spec.ValidateModel(req.Instance)
}

// Save submits a request.
func (t *requests) Save(ctx context.Context, req *indirector.Request) (any, error) {
	a, err := t.open()
	if err != nil {
		return nil, err
	}
	csr, ok := req.Instance.(*model.CertificateRequest)
	if !ok {
		return nil, fmt.Errorf("a %T is no certificate_request", req.Instance)
	}
	cert, err := a.Submit(ctx, req.Key, csr.PEM)
	if err != nil {
		return nil, failed(err)
	}
	if cert == nil {
		t.files.env.Log.Info(fmt.Sprintf(msgWaiting, req.Key))
		traces.Explain(ctx, fmt.Sprintf(msgWaiting, req.Key))
	}
	return nil, nil
}

// A revoked has the revocation lists of a CA, which cannot be removed.
type revoked struct {
	file files
	authority
}

// Find returns the lists for agents.
func (t *revoked) Find(ctx context.Context, _ *indirector.Request) (indirector.Instance, error) {
	if e, err := t.Peek(ctx, "ca"); err != nil || e.Key == "" {
		return nil, errors.Join(err, indirector.NotFound(traces.NotFound, t.file.single))
	}
	a, err := t.open()
	if err != nil {
		return nil, err
	}
	text, written, err := a.CRL(ctx)
	if err != nil {
		return nil, failed(err)
	}
	crl, err := model.NewCRL(text)
	if err != nil {
		return nil, malformed(err, t.file.single)
	}
	crl.Modified = written
	return crl, nil
}

// Search returns the lists as one instance.
func (t *revoked) Search(ctx context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	inst, err := t.Find(ctx, req)
	if errors.Is(err, indirector.ErrNotFound) {
		return []indirector.Instance{}, nil
	}
	if err != nil {
		return nil, err
	}
	return []indirector.Instance{inst}, nil
}

func (t *revoked) List(ctx context.Context, yield func(indirector.Entry) bool) error {
	return t.file.List(ctx, yield)
}

func (t *revoked) Peek(ctx context.Context, key string) (indirector.Entry, error) {
	return t.file.Peek(ctx, key)
}

// Save updates the lists of other CAs.
func (t *revoked) Save(ctx context.Context, req *indirector.Request) (any, error) {
	a, err := t.open()
	if err != nil {
		return nil, err
	}
	crl, ok := req.Instance.(*model.CRL)
	if !ok {
		return nil, fmt.Errorf("a %T is no certificate_revocation_list", req.Instance)
	}
	return nil, failed(a.UpdateCRLs(ctx, crl.PEM))
}

// A disabledCA is for a server without a CA: local requests get the files of
// this host, others are refused.
type disabledCA struct{ file indirector.Verbs }

func disabled(indirection, what string) indirector.Descriptor {
	return indirector.Descriptor{
		Indirection: indirection, Name: "disabled_ca", Note: "for a server that is no CA",
		Doc:         "For a server that is no CA: passes requests of this host on to the file terminus, and refuses those that come over the network. Nobody else's " + what + " are here.",
		KeepsExpiry: indirection == "certificate", Type: (*disabledCA)(nil),
		New: func(env indirector.Env) (indirector.Terminus, error) {
			file, err := env.Sibling("file")
			return &disabledCA{indirector.VerbsOf(file)}, err
		},
	}
}

func (t *disabledCA) pass(ctx context.Context, verb indirector.Verb, req *indirector.Request) (any, error) {
	if req.IsRemote() {
		return nil, &indirector.Failure{Class: "Puppet::Error", Message: msgNotCA}
	}
	_, span := traces.Start(ctx, traces.Choose, "disabled_ca")
	span.End("file", traces.Because{}, nil)
	return t.file[verb](ctx, req)
}

var _ interface {
	indirector.Finder
	indirector.Searcher
	indirector.Saver
	indirector.Destroyer
} = (*disabledCA)(nil)

func (t *disabledCA) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	v, err := t.pass(ctx, indirector.Find, req)
	if err != nil {
		return nil, err
	}
	inst, _ := v.(indirector.Instance)
	return inst, nil
}

func (t *disabledCA) Search(ctx context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	v, err := t.pass(ctx, indirector.Search, req)
	if err != nil {
		return nil, err
	}
	list, _ := v.([]indirector.Instance)
	return list, nil
}

func (t *disabledCA) Save(ctx context.Context, req *indirector.Request) (any, error) {
	return t.pass(ctx, indirector.Save, req)
}

func (t *disabledCA) Destroy(ctx context.Context, req *indirector.Request) (any, error) {
	return t.pass(ctx, indirector.Destroy, req)
}

// StatusFile describes the file terminus of certificate_status.
var StatusFile = indirector.Descriptor{
	Indirection: "certificate_status", Name: "file",
	Doc: "What the CA of this host knows of a name. A save with the desired state signed or revoked signs its request or revokes its certificate. " +
		"A destroy removes certificate, request and key, and revokes nothing; over the network the key stays. " +
		"A search is for all names: the option for limits it to certificate or certificate_request, state to requested, signed or revoked. The key does not count there.",
	Settings: ca.Settings, Rules: []string{"IND-VAL-02"}, Type: (*status)(nil),
	New: func(env indirector.Env) (indirector.Terminus, error) { return &status{authority{env: env}}, nil },
}

// A status has what the CA knows of names.
type status struct{ authority }

// Validate checks the model: the key counts, not the name of the instance. Rule
// IND-VAL-02.
func (t *status) Validate(_ context.Context, req *indirector.Request) error {
	return t.env.Spec.ValidateModel(req.Instance)
}

// Find returns the status of a name.
func (t *status) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	a, err := t.open()
	if errors.Is(err, ca.ErrNoCA) {
		return nil, indirector.NotFound(traces.NotFound, err.Error())
	}
	if err != nil {
		return nil, err
	}
	s, err := a.Status(ctx, req.Key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, indirector.NotFound(traces.NotFound, "neither a certificate nor a request in "+a.Config().Dir)
	}
	if err != nil {
		return nil, failed(err)
	}
	return statusOf(s), nil
}

func statusOf(s *ca.Status) *model.CertificateStatus {
	print := s.Fingerprint("SHA256")
	m := &model.CertificateStatus{
		Name: s.Name, State: s.State, DNSAltNames: s.DNSAltNames, AltNames: s.AltNames, Serial: s.Serial, NotBefore: s.From, NotAfter: s.Till,
		Fingerprint: print,
		Fingerprints: []data.Pair{
			data.P("SHA1", data.OfString(s.Fingerprint("SHA1"))), data.P("SHA256", data.OfString(print)),
			data.P("SHA512", data.OfString(s.Fingerprint("SHA512"))), data.P("default", data.OfString(print)),
		},
	}
	names := make([]string, 0, len(s.Authorizes))
	for name := range s.Authorizes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		m.Authorizes = append(m.Authorizes, data.P(name, data.OfString(s.Authorizes[name])))
	}
	return m
}

// Search returns every status.
func (t *status) Search(ctx context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	found := []indirector.Instance{}
	a, err := t.open()
	if errors.Is(err, ca.ErrNoCA) {
		traces.Explain(ctx, err.Error())
		return found, nil
	}
	if err != nil {
		return nil, err
	}
	state, _ := req.Option("state").(string)
	list, err := a.Statuses(ctx, state)
	if err != nil {
		return nil, failed(err)
	}
	kinds := req.Option("for")
	for _, s := range list {
		if wanted(kinds, s.Serial == nil) {
			found = append(found, statusOf(s))
		}
	}
	return found, nil
}

// wanted reports whether the option for includes certificates or requests.
func wanted(option any, request bool) bool {
	name := map[bool]string{true: "certificate_request", false: "certificate"}[request]
	switch v := option.(type) {
	case nil:
		return true
	case []string:
		return slices.Contains(v, name)
	case []any:
		return slices.ContainsFunc(v, func(x any) bool { return fmt.Sprint(x) == name })
	}
	return slices.Contains(strings.FieldsFunc(fmt.Sprint(option), func(r rune) bool { return r == ',' || r == ' ' }), name)
}

// Save signs or revokes.
func (t *status) Save(ctx context.Context, req *indirector.Request) (any, error) {
	a, err := t.open()
	if err != nil {
		return nil, err
	}
	s, ok := req.Instance.(*model.CertificateStatus)
	if !ok {
		return nil, fmt.Errorf("a %T is no certificate_status", req.Instance)
	}
	switch s.Desired {
	case ca.Signed:
		cert, err := a.Sign(ctx, req.Key, ca.SignOptions{TTL: s.TTL})
		if err != nil {
			return nil, t.reworded(req, err)
		}
		traces.Explain(ctx, fmt.Sprintf("signed: serial 0x%04X, valid until %s", cert.SerialNumber, ca.FormatTime(cert.NotAfter)))
		return nil, nil
	case ca.Revoked:
		return nil, failed(a.Revoke(ctx, req.Key))
	}
	return nil, &indirector.Failure{Class: "Puppet::Error", Message: fmt.Sprintf(msgState, s.Desired, req.Key), Err: indirector.ErrInvalid}
}

// reworded returns Puppet's message; over the network it is Puppet Server's.
func (t *status) reworded(req *indirector.Request, err error) error {
	refusal := (*ca.Refusal)(nil)
	if !req.IsRemote() && errors.As(err, &refusal) && refusal.Kind == ca.Conflict {
		return &indirector.Failure{Class: "Puppet::Error", Message: fmt.Sprintf(msgNoRequest, req.Key), Err: err}
	}
	return failed(err)
}

// Destroy removes all of a name, and names what it removed.
func (t *status) Destroy(ctx context.Context, req *indirector.Request) (any, error) {
	var deleted []string
	for _, part := range []struct{ indirection, class string }{
		{"certificate", "Puppet::SSL::Certificate"}, {"certificate_request", "Puppet::SSL::CertificateRequest"}, {"key", "Puppet::SSL::Key"},
	} {
		if req.IsRemote() && part.indirection == "key" {
			continue // Puppet removes it, though it is not the CA's
		}
		resp, err := t.env.Do(ctx, &indirector.Request{Indirection: part.indirection, Verb: indirector.Destroy, Key: req.Key, Remote: req.Remote, Run: req.Run})
		if err != nil && !errors.Is(err, indirector.ErrNotFound) {
			return nil, err
		}
		if err == nil && resp.Value != nil && resp.Value != false {
			deleted = append(deleted, part.class)
		}
	}
	if len(deleted) == 0 {
		return msgNothing, nil
	}
	return fmt.Sprintf(msgDeleted, req.Key, strings.Join(deleted, ", ")), nil
}

// OCSPCA describes the ca terminus of ocsp.
var OCSPCA = indirector.Descriptor{
	Indirection: "ocsp", Name: "ca", Note: "good, revoked or unknown, by the CA of this host",
	Doc: "Says whether a certificate of the CA of this host is good, revoked or unknown, by its revocation list and its inventory. " +
		"It is a save that answers: what is saved is the question. The key does not count.",
	Settings: ca.Settings, Type: (*responder)(nil),
	New: func(env indirector.Env) (indirector.Terminus, error) { return &responder{authority{env: env}}, nil },
}

// A responder answers OCSP.
type responder struct{ authority }

// Validate checks the model.
func (t *responder) Validate(_ context.Context, req *indirector.Request) error {
	return t.env.Spec.ValidateModel(req.Instance)
}

// Save answers a question, also an invalid one; the trace has the reason.
func (t *responder) Save(ctx context.Context, req *indirector.Request) (any, error) {
	a, err := t.open()
	if err != nil {
		return nil, err
	}
	question, ok := req.Instance.(*model.OCSPRequest)
	if !ok {
		return nil, fmt.Errorf("a %T is no OCSP request", req.Instance)
	}
	der, about, err := a.OCSP(ctx, question.DER)
	h := []data.Pair{data.P("status", data.OfString(about))}
	if q, bad := ca.ParseOCSP(question.DER); bad == nil {
		h = append(h, data.P("serial_number", data.OfBig(q.Serial)), data.P("nonce", data.OfBool(q.Nonce != nil)))
		traces.Explain(ctx, fmt.Sprintf("serial 0x%04X: %s", q.Serial, about))
	}
	if err != nil {
		h = append(h, data.P("because", data.OfString(err.Error())))
		traces.AddNote(ctx, fmt.Sprintf("answered %s: %v", about, err))
	}
	return &model.OCSPResponse{Name: req.Key, DER: der, Summary: data.OfHash(h)}, nil
}
