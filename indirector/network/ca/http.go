package ca

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/model"
)

// HandlerOptions are the options of NewHandler. The zero value allows every
// anonymous client everything.
type HandlerOptions struct {
	// Client identifies the client; nil leaves it anonymous. Its certificate, if
	// authenticated, is the one that a renewal renews.
	Client func(*http.Request) indirector.Remote
	// Authorize returns why a request is denied; nil allows all.
	Authorize func(*http.Request, indirector.Remote) error
	// Run returns the run of a request and whether that is a guess; nil and ""
	// are none.
	Run     func(*http.Request) (run string, guessed bool)
	Version string // X-Puppet-Version; "" is 7.23.0
	Body    int64  // the largest body, in bytes; 0 is 1 MiB, and 64 MiB for revocation lists
}

// Prefix is the path below which a Handler answers.
const Prefix = "/puppet-ca/v1/"

const (
	defaultVersion = "7.23.0"
	maxBody        = 1 << 20
	maxCRLBody     = 64 << 20
)

// A Handler serves version 1 of the HTTP interface of Puppet Server's CA. It
// only asks indirections (certificate, certificate_request,
// certificate_revocation_list, certificate_status and ocsp), so that each answer
// has a trace, and routes decide its terminus. It must not stand behind an
// http.ServeMux, which would clean its paths.
//
// Besides Puppet Server's own paths it has ocsp: GET and POST of RFC 6960, and
// PUT for the rest terminus. Rules REST section 10.
type Handler struct {
	x *indirector.Indirector
	o HandlerOptions
}

// NewHandler returns a Handler that asks x.
func NewHandler(x *indirector.Indirector, o HandlerOptions) *Handler {
	o.Version = cmp.Or(o.Version, defaultVersion)
	if o.Client == nil {
		o.Client = func(*http.Request) indirector.Remote { return indirector.Remote{} }
	}
	return &Handler{x, o}
}

// Puppet Server's messages, word for word.
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

var _ http.Handler = (*Handler)(nil)

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e := &exchange{h: h, w: w, r: r, path: r.URL.Path}
	if slices.ContainsFunc(strings.Split(e.path, "/"), func(s string) bool { return s == "." || s == ".." }) {
		// The web server's answer has no other headers.
		e.bare(http.StatusBadRequest, fmt.Sprintf(msgRelative, e.path))
		return
	}
	w.Header().Set("X-Puppet-Version", h.o.Version)
	e.remote = h.o.Client(r)
	if h.o.Authorize != nil && h.o.Authorize(r, e.remote) != nil {
		e.bare(http.StatusForbidden, fmt.Sprintf(msgForbidden, e.path, strings.ToLower(r.Method)))
		return
	}
	if err := e.route(); err != nil {
		e.failed(err)
	}
}

// bare answers without a Content-Type.
func (e *exchange) bare(status int, text string) {
	e.w.Header()["Content-Type"] = nil
	e.w.WriteHeader(status)
	_, _ = io.WriteString(e.w, text)
}

// route answers a path.
func (e *exchange) route() error {
	rest, ok := strings.CutPrefix(e.path, Prefix)
	name, key, keyed := strings.Cut(rest, "/")
	if !ok || name != "ocsp" && strings.ContainsAny(key, "/\\\x00") && rest != "sign/all" {
		return notFound
	}
	type route struct {
		path, method string
		keyed        bool
	}
	handlers := map[route]func(key string) error{
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
		return e.status(key)
	case name == "certificate_statuses" && keyed && key == "":
		return &reply{http.StatusBadRequest, plainUTF8, msgNoSegment}
	case name == "certificate_statuses" && keyed:
		return e.statuses(key)
	}
	answer, found := handlers[route{name, e.r.Method, key != ""}]
	if !found || name == "sign" && keyed && key != "all" || keyed && key == "" && name != "ocsp" {
		return notFound
	}
	return answer(key)
}

// A reply is an answer of Puppet Server's that ends a request as an error does.
type reply struct {
	status          int
	mediaType, text string
}

func (r *reply) Error() string { return r.text }

var notFound = &reply{http.StatusNotFound, htmlUTF8, msgNotFound}

// plain answers with a text; HEAD gets no body.
func (e *exchange) plain(status int, mediaType, text string) error {
	e.w.Header()["Content-Type"] = []string{mediaType}
	e.w.WriteHeader(status)
	if e.r.Method != http.MethodHead && status != http.StatusNoContent && status != http.StatusNotModified {
		_, _ = io.WriteString(e.w, text)
	}
	return nil
}

// found answers with what may be compressed on its way.
func (e *exchange) found(mediaType, text string) error {
	e.w.Header().Add("Vary", "Accept-Encoding, User-Agent")
	return e.plain(http.StatusOK, mediaType, text)
}

// failed answers with an error: a reply or a refusal in its own words, anything
// else as an internal error.
func (e *exchange) failed(err error) {
	if r := (*reply)(nil); errors.As(err, &r) {
		_ = e.plain(r.status, r.mediaType, r.text)
		return
	}
	status, text := verdict(err)
	_ = e.plain(status, plainUTF8, text)
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

// do runs a request.
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

// absent reports whether an error means that there is nothing of that name, or
// cannot be.
func absent(err error) bool {
	f := (*indirector.Failure)(nil)
	return errors.Is(err, indirector.ErrNotFound) || errors.As(err, &f) && f.Class == "ArgumentError" && errors.Is(err, indirector.ErrInvalid)
}

// text answers with an instance of the format s.
func (e *exchange) text(indirection, key, missing string) error {
	v, err := e.do(indirection, indirector.Find, key, nil)
	switch t, ok := v.(model.Texter); {
	case absent(err):
		return &reply{http.StatusNotFound, plainType, fmt.Sprintf(missing, key)}
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("a %T is no %s", v, indirection)
	default:
		return e.found(plainType, string(t.Text()))
	}
}

// body reads the request body.
func (e *exchange) body(most int64) ([]byte, error) {
	if e.h.o.Body > 0 {
		most = e.h.o.Body
	}
	b, err := io.ReadAll(http.MaxBytesReader(e.w, e.r.Body, most))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, &reply{http.StatusRequestEntityTooLarge, plainUTF8, fmt.Sprintf("The body is larger than %d bytes", most)}
	}
	if err != nil {
		return nil, &reply{http.StatusBadRequest, plainUTF8, "Bad Request: " + err.Error()}
	}
	return b, nil
}
