package ca

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
)

// HandlerOptions are the options of NewHandler. The zero value allows every
// anonymous client everything.
type HandlerOptions struct {
	// Who identifies the client; nil leaves it anonymous. Its certificate, if
	// authenticated, is the one that a renewal renews.
	Client func(*http.Request) indirector.Remote
	// Authorize returns why a request is denied; nil allows all.
	Authorize func(*http.Request, indirector.Remote) error
	// Run names the run that a request belongs to; nil and "" are that it is
	// alone.
	Run     func(*http.Request) (run string, guessed bool)
	Version string // what X-Puppet-Version says; "" is 7.23.0
	Body    int64  // the largest body, in bytes; 0 is 1 MiB, and 64 MiB for revocation lists
}

// Prefix is the path below which a Handler answers.
const Prefix = "/puppet-ca/v1/"

const (
	defaultVersion = "7.23.0"
	maxBody        = 1 << 20
	maxCRLBody     = 64 << 20
)

// A Handler serves version 1 of the HTTP interface of Puppet Server's CA. All
// that it says it has by asking indirections (certificate, certificate_request,
// certificate_revocation_list, certificate_status and ocsp), so that each answer
// has a trace, and routes decide who gives it. It must not stand behind an
// http.ServeMux, which would clean its paths.
//
// Besides Puppet Server's own paths it has ocsp: what RFC 6960 says of GET and
// POST, and PUT for the rest terminus. Rules REST section 10.
type Handler struct {
	x *indirector.Indirector
	o HandlerOptions
}

// NewHandler returns a Handler that asks x.
func NewHandler(x *indirector.Indirector, o HandlerOptions) *Handler {
	if o.Version == "" {
		o.Version = defaultVersion
	}
	if o.Client == nil {
		o.Client = func(*http.Request) indirector.Remote { return indirector.Remote{} }
	}
	return &Handler{x, o}
}

// Texts of Puppet Server, word for word.
const (
	msgRelative    = "Invalid relative path (.. or .) in: %s"
	msgForbidden   = "Forbidden request: %s (method :%s). Please see the server logs for details."
	msgNoCert      = "Could not find certificate %s"
	msgNoRequest   = "Could not find certificate_request %s"
	msgNoPending   = "No certificate request for %s"
	msgServerError = "Internal Server Error: %s"
	msgNotJSON     = "Request body is not JSON."
	msgNoState     = "Missing required parameter \"desired_state\""
	msgBadState    = "State %s invalid; Must specify desired state of 'signed' or 'revoked' for host %s."
	msgBadTTL      = "cert_ttl specified for host %s must be an integer, not %s"
	msgNoSubject   = "Invalid certificate subject."
	msgNoResource  = "Resource not found."
	msgUnsupported = "Unsupported media type."
	msgUnaccepted  = "No acceptable resource available."
	msgNoSegment   = "Missing URL Segment"
	msgNotFound    = "Not Found"
	msgAsync       = "Async mode is not currently supported."
	msgNoNames     = "Missing required key: 'certnames'. Please supply the list of certs you want to clean."
	msgNotCleaned  = "The following certs do not exist and cannot be revoked: %s"
	msgCleaned     = "Successfully cleaned all certs."
	msgCleanFailed = "Error while cleaning certs: %s"
)

// Media types as Puppet Server spells them.
const (
	plainType  = "text/plain"
	plainUTF8  = "text/plain;charset=utf-8"
	htmlUTF8   = "text/html;charset=utf-8"
	jsonType   = "application/json"
	jsonUTF8   = "application/json;charset=utf-8"
	psonUTF8   = "text/pson;charset=UTF-8"
	ocspAnswer = "application/ocsp-response"
	ocspAsk    = "application/ocsp-request"
)

// An exchange is one request that is being answered.
type exchange struct {
	h      *Handler
	w      http.ResponseWriter
	r      *http.Request
	path   string
	remote indirector.Remote
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e := &exchange{h: h, w: w, r: r, path: r.URL.Path}
	if slices.ContainsFunc(strings.Split(e.path, "/"), func(s string) bool { return s == "." || s == ".." }) {
		// This answer is the web server's, which adds nothing.
		w.Header()["Content-Type"] = nil
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, msgRelative, e.path)
		return
	}
	w.Header().Set("X-Puppet-Version", h.o.Version)
	e.remote = h.o.Client(r)
	if h.o.Authorize != nil && h.o.Authorize(r, e.remote) != nil {
		w.Header()["Content-Type"] = nil
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprintf(w, msgForbidden, e.path, strings.ToLower(r.Method))
		return
	}
	e.route()
}

// route finds who answers a path.
func (e *exchange) route() {
	rest, ok := strings.CutPrefix(e.path, Prefix)
	name, key, keyed := strings.Cut(rest, "/")
	if !ok || name != "ocsp" && strings.ContainsAny(key, "/\\\x00") && rest != "sign/all" {
		e.notFound()
		return
	}
	type route struct {
		path, method string
		keyed        bool
	}
	handlers := map[route]func(key string){
		{"certificate", http.MethodGet, true}:                  e.certificate,
		{"certificate_request", http.MethodGet, true}:          e.request,
		{"certificate_request", http.MethodPut, true}:          e.saveRequest,
		{"certificate_request", http.MethodDelete, true}:       e.deleteRequest,
		{"certificate_revocation_list", http.MethodGet, true}:  e.crl,
		{"certificate_revocation_list", http.MethodPut, false}: e.saveCRL,
		{"expirations", http.MethodGet, false}:                 e.expirations,
		{"clean", http.MethodPut, false}:                       e.clean,
		{"sign", http.MethodPost, false}:                       e.sign,
		{"sign", http.MethodPost, true}:                        e.signAll,
		{"certificate_renewal", http.MethodPost, false}:        e.renew,
		{"ocsp", http.MethodGet, true}:                         e.ocspGet,
		{"ocsp", http.MethodPost, false}:                       e.ocspPost,
		{"ocsp", http.MethodPost, true}:                        e.ocspPost,
		{"ocsp", http.MethodPut, true}:                         e.ocspPut,
	}
	switch {
	case name == "certificate_status" && key != "":
		e.status(key)
	case name == "certificate_statuses" && keyed && key == "":
		e.plain(http.StatusBadRequest, plainUTF8, msgNoSegment)
	case name == "certificate_statuses" && keyed:
		e.statuses(key)
	default:
		answer, found := handlers[route{name, e.r.Method, key != ""}]
		if !found || name == "sign" && keyed && key != "all" || keyed && key == "" && name != "ocsp" {
			e.notFound()
			return
		}
		answer(key)
	}
}

func (e *exchange) notFound() { e.plain(http.StatusNotFound, htmlUTF8, msgNotFound) }

// plain answers with a text. A body is not sent to who asks for the head.
func (e *exchange) plain(status int, mediaType, text string) {
	e.w.Header()["Content-Type"] = []string{mediaType}
	e.w.WriteHeader(status)
	if e.r.Method != http.MethodHead && status != http.StatusNoContent && status != http.StatusNotModified {
		_, _ = io.WriteString(e.w, text)
	}
}

// found answers with what may be compressed on its way.
func (e *exchange) found(mediaType, text string) {
	e.w.Header().Add("Vary", "Accept-Encoding, User-Agent")
	e.plain(http.StatusOK, mediaType, text)
}

// failed answers with what went wrong: a refusal in its own words, anything
// else as a failure of the server.
func (e *exchange) failed(err error) {
	status, text := verdict(err)
	e.plain(status, plainUTF8, text)
}

func verdict(err error) (int, string) {
	refusal := (*Refusal)(nil)
	switch {
	case errors.As(err, &refusal) && refusal.Kind == Conflict:
		return http.StatusConflict, refusal.Message
	case errors.As(err, &refusal) && refusal.Kind == Forbidden:
		return http.StatusForbidden, refusal.Message
	case errors.As(err, &refusal) && refusal.Kind == Disabled:
		return http.StatusNotFound, msgNotFound
	case errors.As(err, &refusal) && (refusal.Kind <= Signature || refusal.Kind == BadList):
		return http.StatusBadRequest, refusal.Message
	case errors.Is(err, indirector.ErrInvalid):
		return http.StatusBadRequest, indirector.Message(err)
	case errors.Is(err, indirector.ErrDenied):
		return http.StatusForbidden, indirector.Message(err)
	}
	return http.StatusInternalServerError, fmt.Sprintf(msgServerError, indirector.Message(err))
}

// do asks the house.
func (e *exchange) do(indirection string, verb indirector.Verb, key string, inst indirector.Instance, options ...indirector.Option) (any, error) {
	req := &indirector.Request{
		Indirection: indirection, Verb: verb, Key: key, Instance: inst, Options: options, Remote: &e.remote, Caller: "agent",
	}
	if e.h.o.Run != nil {
		req.Run, req.RunGuessed = e.h.o.Run(e.r)
	}
	resp, err := e.h.x.Do(e.r.Context(), req)
	if err != nil {
		return nil, err
	}
	return resp.Value, nil
}

// absent reports whether an error is that there is nothing of that name, or
// cannot be.
func absent(err error) bool {
	f := (*indirector.Failure)(nil)
	return errors.Is(err, indirector.ErrNotFound) || errors.As(err, &f) && f.Class == "ArgumentError" && errors.Is(err, indirector.ErrInvalid)
}

// text finds an instance of the format s.
func (e *exchange) text(indirection, key, missing string) {
	v, err := e.do(indirection, indirector.Find, key, nil)
	switch t, ok := v.(model.Texter); {
	case absent(err):
		e.plain(http.StatusNotFound, plainType, fmt.Sprintf(missing, key))
	case err != nil:
		e.failed(err)
	case !ok:
		e.failed(fmt.Errorf("a %T is no %s", v, indirection))
	default:
		e.found(plainType, string(t.Text()))
	}
}

func (e *exchange) certificate(key string) { e.text("certificate", key, msgNoCert) }
func (e *exchange) request(key string)     { e.text("certificate_request", key, msgNoRequest) }

// body reads the body of a request, and answers itself if it cannot.
func (e *exchange) body(most int64) ([]byte, bool) {
	if e.h.o.Body > 0 {
		most = e.h.o.Body
	}
	b, err := io.ReadAll(http.MaxBytesReader(e.w, e.r.Body, most))
	if err == nil {
		return b, true
	}
	tooLarge := (*http.MaxBytesError)(nil)
	if errors.As(err, &tooLarge) {
		e.plain(http.StatusRequestEntityTooLarge, plainUTF8, fmt.Sprintf("The body is larger than %d bytes", most))
		return nil, false
	}
	e.plain(http.StatusBadRequest, plainUTF8, "Bad Request: "+err.Error())
	return nil, false
}

func (e *exchange) saveRequest(key string) {
	b, ok := e.body(maxBody)
	if !ok {
		return
	}
	csr, err := model.NewCertificateRequest(key, b)
	if err != nil {
		e.failed(err)
		return
	}
	if _, err := e.do("certificate_request", indirector.Save, key, csr); err != nil {
		e.failed(err)
		return
	}
	e.plain(http.StatusOK, plainType, "")
}

func (e *exchange) deleteRequest(key string) {
	v, err := e.do("certificate_request", indirector.Destroy, key, nil)
	switch {
	case absent(err), err == nil && (v == nil || v == false):
		e.plain(http.StatusNotFound, plainType, fmt.Sprintf(msgNoPending, key))
	case err != nil:
		e.failed(err)
	default:
		e.plain(http.StatusNoContent, plainType, "")
	}
}

func (e *exchange) crl(string) {
	v, err := e.do("certificate_revocation_list", indirector.Find, "ca", nil)
	crl, ok := v.(*model.CRL)
	switch {
	case absent(err):
		e.plain(http.StatusNotFound, plainType, "Could not find certificate_revocation_list ca")
		return
	case err != nil:
		e.failed(err)
		return
	case !ok:
		e.failed(fmt.Errorf("a %T is no certificate_revocation_list", v))
		return
	}
	if !crl.Modified.IsZero() {
		e.w.Header().Set("Last-Modified", crl.Modified.UTC().Format(http.TimeFormat))
	}
	// A date that is none is as if there were none.
	if since, err := http.ParseTime(e.r.Header.Get("If-Modified-Since")); err == nil && !crl.Modified.IsZero() && !crl.Modified.Truncate(time.Second).After(since) {
		e.plain(http.StatusNotModified, plainType, "")
		return
	}
	e.found(plainType, string(crl.PEM))
}

func (e *exchange) saveCRL(string) {
	b, ok := e.body(maxCRLBody)
	if !ok {
		return
	}
	crl, err := model.NewCRL(b)
	if err != nil {
		e.plain(http.StatusBadRequest, plainUTF8, msgNoCRLs)
		return
	}
	if _, err := e.do("certificate_revocation_list", indirector.Save, "ca", crl); err != nil {
		e.failed(err)
		return
	}
	e.plain(http.StatusOK, plainUTF8, msgUpdated)
}

// accept chooses the type of a status: of those that are wanted equally, the
// last. It is "" if none will do, and negotiated if the answer depends on it.
func (e *exchange) accept() (mediaType string, negotiated bool) {
	header := e.r.Header.Values("Accept")
	if len(header) == 0 {
		return jsonUTF8, false
	}
	best := 0.0
	for part := range strings.SplitSeq(strings.Join(header, ","), ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		weight := 1.0
		if q, ok := strings.CutPrefix(strings.TrimSpace(params), "q="); ok {
			if _, err := fmt.Sscanf(q, "%g", &weight); err != nil {
				weight = 0
			}
		}
		var offered string
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "application/json", "*/*", "application/*":
			offered = jsonUTF8
		case "text/pson", "pson", "text/*":
			offered = psonUTF8
		}
		if offered != "" && weight > 0 && weight >= best {
			best, mediaType = weight, offered
		}
	}
	return mediaType, true
}

// status answers what Puppet Server calls a resource: it decides in the order
// in which that does.
func (e *exchange) status(key string) {
	if m := e.r.Method; m != http.MethodGet && m != http.MethodPut && m != http.MethodDelete {
		e.w.Header().Set("Allow", "GET, PUT, DELETE")
		e.plain(http.StatusMethodNotAllowed, plainUTF8, "Method not allowed.")
		return
	}
	var wish *model.CertificateStatus
	if e.r.Method == http.MethodPut {
		var ok bool
		if wish, ok = e.wish(key); !ok {
			return
		}
	}
	mediaType, negotiated := e.accept()
	if mediaType == "" {
		e.plain(http.StatusNotAcceptable, plainUTF8, msgUnaccepted)
		return
	}
	if negotiated {
		e.w.Header().Add("Vary", "Accept")
	}
	v, err := e.do("certificate_status", indirector.Find, key, nil)
	switch {
	case absent(err) && wish != nil:
		e.w.Header().Del("Vary")
		e.plain(http.StatusNotFound, plainUTF8, msgNoSubject)
		return
	case absent(err):
		e.plain(http.StatusNotFound, mediaType, msgNoResource)
		return
	case err != nil:
		e.failed(err)
		return
	}
	switch e.r.Method {
	case http.MethodGet:
		e.status200(mediaType, v)
	case http.MethodPut:
		if _, err := e.do("certificate_status", indirector.Save, key, wish); err != nil {
			e.w.Header().Del("Vary")
			e.failed(conflict(err))
			return
		}
		e.plain(http.StatusNoContent, plainType, "")
	default:
		if _, err := e.do("certificate_status", indirector.Destroy, key, nil); err != nil {
			e.failed(err)
			return
		}
		e.plain(http.StatusNoContent, mediaType, "")
	}
}

// conflict makes a refusal one of what is there, not of what was sent.
func conflict(err error) error {
	refusal := (*Refusal)(nil)
	if errors.As(err, &refusal) && refusal.Kind <= Signature {
		return &Refusal{Conflict, refusal.Message}
	}
	return err
}

// wish reads what is to become of a name, and answers itself if it cannot.
func (e *exchange) wish(key string) (*model.CertificateStatus, bool) {
	b, ok := e.body(maxBody)
	if !ok {
		return nil, false
	}
	var given map[string]any
	bad := func(format string, args ...any) (*model.CertificateStatus, bool) {
		e.plain(http.StatusBadRequest, plainUTF8, fmt.Sprintf(format, args...))
		return nil, false
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	if d.Decode(&given) != nil {
		return bad(msgNotJSON)
	}
	state, ok := given["desired_state"].(string)
	if !ok {
		return bad(msgNoState)
	}
	if state != Signed && state != Revoked {
		return bad(msgBadState, state, key)
	}
	s := &model.CertificateStatus{Name: key, Desired: state}
	if ttl, given := given["cert_ttl"]; given && ttl != nil {
		n, ok := ttl.(json.Number)
		seconds, err := n.Int64()
		if !ok || err != nil {
			text, _ := json.Marshal(ttl)
			return bad(msgBadTTL, key, text)
		}
		if seconds <= 0 || seconds > int64(maxTTL/time.Second) {
			return bad("cert_ttl specified for host %s must be from 1 to %d, not %d", key, int64(maxTTL/time.Second), seconds)
		}
		s.TTL = time.Duration(seconds) * time.Second
	}
	switch kind := e.r.Header.Get("Content-Type"); {
	case kind == "":
	default:
		kind, _, _ = strings.Cut(kind, ";")
		if kind = strings.TrimSpace(kind); kind != jsonType && kind != "text/pson" && kind != "pson" {
			e.plain(http.StatusUnsupportedMediaType, plainUTF8, msgUnsupported)
			return nil, false
		}
	}
	return s, true
}

func (e *exchange) status200(mediaType string, v any) {
	var list []indirector.Instance
	inst, one := v.(indirector.Instance)
	if !one {
		list, _ = v.([]indirector.Instance)
	}
	f, _ := format.ByName("json")
	var b []byte
	var err error
	if one {
		b, err = format.Render(f, inst)
	} else {
		b, err = format.RenderMultiple(f, list)
	}
	if err != nil {
		e.failed(err)
		return
	}
	e.found(mediaType, string(b))
}

func (e *exchange) statuses(key string) {
	if e.r.Method != http.MethodGet {
		e.w.Header().Set("Allow", "GET")
		e.plain(http.StatusMethodNotAllowed, plainUTF8, "Method not allowed.")
		return
	}
	mediaType, negotiated := e.accept()
	if mediaType == "" {
		e.plain(http.StatusNotAcceptable, plainUTF8, msgUnaccepted)
		return
	}
	if negotiated {
		e.w.Header().Add("Vary", "Accept")
	}
	var options []indirector.Option
	if s := e.r.URL.Query().Get("state"); s == Requested || s == Signed || s == Revoked {
		options = append(options, indirector.Option{Name: "state", Value: s})
	}
	v, err := e.do("certificate_status", indirector.Search, key, nil, options...)
	if err != nil && !absent(err) {
		e.failed(err)
		return
	}
	e.status200(mediaType, v)
}

func (e *exchange) expirations(string) {
	v, err := e.do("certificate", indirector.Find, "ca", nil)
	if err != nil {
		e.failed(err)
		return
	}
	l, err := e.do("certificate_revocation_list", indirector.Find, "ca", nil)
	if err != nil {
		e.failed(err)
		return
	}
	ca, okCA := v.(*model.Certificate)
	crl, okCRL := l.(*model.CRL)
	if !okCA || !okCRL {
		e.failed(errors.New("there is no CA"))
		return
	}
	certs, err := ParseCertificates(ca.PEM)
	if err != nil {
		e.failed(err)
		return
	}
	lists, err := ParseCRLs(crl.PEM)
	if err != nil {
		e.failed(err)
		return
	}
	var answer struct {
		Certs dates `json:"ca-certs"`
		CRLs  dates `json:"crls"`
	}
	for _, c := range certs {
		answer.Certs = append(answer.Certs, dated{c.Subject.CommonName, c.NotAfter})
	}
	for _, c := range lists {
		answer.CRLs = append(answer.CRLs, dated{c.Issuer.CommonName, c.NextUpdate})
	}
	b, err := json.Marshal(answer)
	if err != nil {
		e.failed(err)
		return
	}
	e.found(jsonType, string(b))
}

// dates is a JSON object of names and dates, in order.
type (
	dates []dated
	dated struct {
		name string
		at   time.Time
	}
)

// MarshalJSON implements json.Marshaler.
func (d dates) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, x := range d {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := json.Marshal(x.name)
		if err != nil {
			return nil, err
		}
		b = fmt.Appendf(b, `%s:%q`, name, FormatTime(x.at))
	}
	return append(b, '}'), nil
}

// names reads a list of names out of a body.
func (e *exchange) names() (names []string, async, ok bool, raw map[string]json.RawMessage) {
	b, ok := e.body(maxBody)
	if !ok {
		return nil, false, false, nil
	}
	if json.Unmarshal(b, &raw) != nil || raw == nil {
		return nil, false, true, nil
	}
	_ = json.Unmarshal(raw["async"], &async)
	if json.Unmarshal(raw["certnames"], &names) != nil {
		names = nil
	}
	return names, async, true, raw
}

func (e *exchange) clean(string) {
	names, async, ok, raw := e.names()
	switch {
	case !ok:
		return
	case raw == nil:
		e.plain(http.StatusBadRequest, plainType, msgNotJSON)
		return
	case async:
		e.plain(http.StatusBadRequest, plainType, msgAsync)
		return
	case names == nil:
		e.plain(http.StatusBadRequest, plainType, msgNoNames)
		return
	}
	var missing, there []string
	for _, name := range names {
		switch _, err := e.do("certificate", indirector.Find, name, nil); {
		case absent(err):
			missing = append(missing, fmt.Sprintf("%q", name))
		case err != nil:
			e.plain(http.StatusInternalServerError, plainType, fmt.Sprintf(msgCleanFailed, indirector.Message(err)))
			return
		default:
			there = append(there, name)
		}
	}
	for _, name := range there {
		_, err := e.do("certificate_status", indirector.Save, name, &model.CertificateStatus{Name: name, Desired: Revoked})
		if err == nil {
			_, err = e.do("certificate", indirector.Destroy, name, nil)
		}
		if err != nil {
			e.plain(http.StatusInternalServerError, plainType, fmt.Sprintf(msgCleanFailed, indirector.Message(err)))
			return
		}
	}
	text := msgCleaned
	if len(missing) > 0 {
		text = fmt.Sprintf(msgNotCleaned, "["+strings.Join(missing, " ")+"]")
	}
	e.plain(http.StatusOK, plainType, text)
}

// A bulk is what became of many requests.
type bulk struct {
	Signed []string `json:"signed"`
	NoCSR  []string `json:"no-csr"`
	Errors []string `json:"signing-errors"`
}

func (e *exchange) sign(string) {
	names, _, ok, raw := e.names()
	switch {
	case !ok:
		return
	case names == nil:
		given := raw["certnames"]
		if len(given) == 0 {
			given = json.RawMessage("null")
		}
		b, _ := json.Marshal(map[string]any{"kind": "schema-violation", "submitted": given, "error": "(not (sequential? certnames))"})
		e.plain(http.StatusUnprocessableEntity, jsonType, string(b))
		return
	}
	e.signThese(names)
}

func (e *exchange) signAll(string) {
	v, err := e.do("certificate_status", indirector.Search, "all", nil, indirector.Option{Name: "state", Value: Requested})
	if err != nil && !absent(err) {
		e.failed(err)
		return
	}
	list, _ := v.([]indirector.Instance)
	names := make([]string, 0, len(list))
	for _, i := range list {
		names = append(names, i.Key())
	}
	e.signThese(names)
}

func (e *exchange) signThese(names []string) {
	b := bulk{[]string{}, []string{}, []string{}}
	for _, name := range names {
		_, err := e.do("certificate_status", indirector.Save, name, &model.CertificateStatus{Name: name, Desired: Signed})
		refusal := (*Refusal)(nil)
		switch {
		case err == nil:
			b.Signed = append(b.Signed, name)
		case errors.As(err, &refusal) && refusal.Kind == Conflict, absent(err):
			b.NoCSR = append(b.NoCSR, name)
		default:
			b.Errors = append(b.Errors, name)
		}
	}
	text, err := json.Marshal(b)
	if err != nil {
		e.failed(err)
		return
	}
	e.plain(http.StatusOK, jsonType, string(text))
}

func (e *exchange) renew(string) {
	certs, err := ParseCertificates([]byte(e.remote.Certificate))
	if err != nil || !e.remote.Authenticated {
		e.plain(http.StatusBadRequest, plainType, msgNoCertificate)
		return
	}
	cert := certs[0]
	name := strings.ToLower(cert.Subject.CommonName)
	old := &model.Certificate{Name: name, PEM: EncodeCertificates(cert), Until: cert.NotAfter}
	v, err := e.do("certificate", indirector.Save, name, old, indirector.Option{Name: "renew", Value: true})
	renewed, ok := v.(*model.Certificate)
	switch {
	case err != nil:
		status, text := verdict(err)
		e.plain(status, plainType, text)
	case !ok:
		e.failed(fmt.Errorf("the terminus of certificate does not renew: it answered %T", v))
	default:
		e.plain(http.StatusOK, plainType, string(renewed.PEM))
	}
}

// ocspGet is a question in the path, in base 64. RFC 6960, appendix A.1.
func (e *exchange) ocspGet(key string) {
	text := key
	if raw, ok := strings.CutPrefix(e.r.URL.EscapedPath(), Prefix+"ocsp/"); ok {
		if unescaped, err := url.PathUnescape(raw); err == nil {
			text = unescaped
		}
	}
	der, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		e.ocspAnswer(OCSPMalformed)
		return
	}
	e.ocsp("ocsp", der)
}

func (e *exchange) ocspPost(string) {
	kind, _, _ := strings.Cut(e.r.Header.Get("Content-Type"), ";")
	if strings.TrimSpace(kind) != ocspAsk {
		e.plain(http.StatusUnsupportedMediaType, plainUTF8, msgUnsupported)
		return
	}
	e.ocspBody("ocsp")
}

// ocspPut is how the rest terminus asks.
func (e *exchange) ocspPut(key string) { e.ocspBody(key) }

func (e *exchange) ocspBody(key string) {
	der, err := io.ReadAll(http.MaxBytesReader(e.w, e.r.Body, maxOCSP))
	if err != nil {
		e.ocspAnswer(OCSPMalformed)
		return
	}
	e.ocsp(key, der)
}

func (e *exchange) ocsp(key string, der []byte) {
	v, err := e.do("ocsp", indirector.Save, key, &model.OCSPRequest{Name: key, DER: der})
	answer, ok := v.(*model.OCSPResponse)
	if err != nil || !ok {
		e.ocspAnswer(OCSPInternal)
		return
	}
	e.ocspAnswer(answer.DER)
}

func (e *exchange) ocspAnswer(der []byte) {
	e.w.Header()["Content-Type"] = []string{ocspAnswer}
	e.w.Header().Set("Content-Length", fmt.Sprint(len(der)))
	e.w.WriteHeader(http.StatusOK)
	_, _ = e.w.Write(der)
}
