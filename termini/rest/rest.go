// Package rest has the rest termini: they ask a Puppet server over HTTP.
//
// A request is encoded as by Puppet's client, by the package
// indirector/network/rest, and sent by the client of the engine. The answer
// becomes what Puppet makes of it: an instance, nil for a 404, or an error in
// its words; the trace keeps what gets lost. Gaps L8, L9, L10.
//
//	GET /puppet/v3/node/web01?…   200  *model.Node
//	                              404  nil: which of the five kinds of 404, and the server's message
//	                              500  Net::HTTPError "Error 500 on SERVER: …"
//
// Contents of files are streamed: up to 64 KiB are read at once, the rest when
// it is read.
package rest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client"
	wire "indirtui/indirector/network/rest"
	"indirtui/traces"
)

// A service asks one of Puppet's services about one indirection.
type service struct {
	env      indirector.Env
	client   *client.Client
	encoding wire.Encoding
	service  client.Service
	class    string // the model's, in Ruby
	forward  string
	follow   bool // use PSON by the version of the server
}

// Settings that Puppet does not have.
const (
	settingLegacy  = "rest_legacy_urls"
	settingForward = "rest_forward"
	settingFollow  = "rest_pson_for_old_servers"
)

// Values of the setting rest_forward: how the server learns for whom this host
// asks. If empty, it does not.
const (
	// forwardHeaders adds X-Client-Verify, X-Client-DN and X-Client-Cert. Puppet
	// Server trusts them with allow-header-cert-info.
	forwardHeaders = "headers"
	// forwardCertificate shows the client's certificate, from the directories of
	// the settings certdir and privatekeydir.
	forwardCertificate = "certificate"
)

func newService(env indirector.Env, name client.Service) (*service, error) {
	get := func(name string) string {
		v, _ := env.Settings.Get(name)
		return v
	}
	t := &service{
		env: env, client: client.Of(env), service: name, forward: get(settingForward), follow: get(settingFollow) == "true",
		encoding: wire.Encoding{
			Legacy: get(settingLegacy) == "true", Preferred: get("preferred_serialization_format"), Digest: get("digest_algorithm"),
			Plain: get("rich_data") == "false",
		},
	}
	if env.Spec != nil {
		t.class = env.Spec.Class
	}
	if list := get("supported_checksum_types"); list != "" {
		for name := range strings.SplitSeq(list, ",") {
			t.encoding.Checksums = append(t.encoding.Checksums, strings.TrimSpace(name))
		}
	}
	switch t.forward {
	case "", "false", forwardHeaders, forwardCertificate:
		return t, nil
	}
	return nil, &indirector.Failure{Class: "ArgumentError", Message: fmt.Sprintf("setting %s is %q; it may be %s, %s or false", settingForward, t.forward, forwardHeaders, forwardCertificate)}
}

// msgNoType is Puppet's message about an answer without a Content-Type.
const msgNoType = "No content type in http response; cannot parse"

// Close closes idle connections.
func (t *service) Close() error { return t.client.Close() }

// ask sends the request.
func (t *service) ask(ctx context.Context, req *indirector.Request, stream bool) (*client.Answer, error) {
	x, err := t.exchange(ctx, req, stream)
	if err != nil {
		return nil, err
	}
	t.passOn(x, req.Remote)
	return t.client.Do(ctx, x)
}

// exchange encodes the request, unless it goes on as it came.
func (t *service) exchange(ctx context.Context, req *indirector.Request, stream bool) (*client.Exchange, error) {
	w := req.Wire()
	if came := w.Onward(); came != nil {
		return t.onward(req, came, stream), nil
	}
	encoding := t.encoding
	if t.follow && encoding.Preferred != "pson" && old(t.client.Version(ctx, t.service)) {
		encoding.Preferred = "pson"
		traces.AddNote(ctx, "the server is older than Puppet 5, so it is sent PSON")
	}
	m, err := encoding.Encode(req)
	if err != nil {
		return nil, err
	}
	for _, w := range m.Warnings {
		t.env.Log.Warn(w)
	}
	if len(m.Warnings) > 0 {
		traces.Explain(ctx, model.PlainSentence(m.Warnings))
	}
	x := &client.Exchange{
		Service: t.service, Method: m.Method, Path: m.Path, Query: m.Query, Header: m.Header, Stream: stream, Wire: w,
		Anonymous: t.service == client.CA, // a host without a certificate asks for one
	}
	if m.Body != nil {
		x.Body, x.Size = m.Body.Open, m.Body.Size()
	}
	if t.service == client.FileServer && req.URI != nil && req.URI.Server != "" {
		x.URL = &url.URL{Scheme: "https", Host: net.JoinHostPort(req.URI.Server, strconv.Itoa(cmp.Or(req.URI.Port, 8140)))}
	}
	if w != nil && w.Came != nil {
		x.Coded, x.Once = stream, true
		sendOn(x.Header, wire.Forwarded(w.Came.Header))
	}
	return x, nil
}

// onward returns the exchange of a request as it came. Contents pass through
// the instance, which hashes them.
func (t *service) onward(req *indirector.Request, came *indirector.Came, stream bool) *client.Exchange {
	path, query, _ := strings.Cut(came.Target, "?")
	x := &client.Exchange{
		Service: t.service, Method: came.Method, Path: path, Query: query, Target: came.Target, Header: http.Header(came.Header).Clone(),
		Trailer: came.Trailer, Chunked: came.Chunked, Body: came.Body, Size: came.Size, Again: came.Again,
		Once: true, Stream: stream, Coded: stream, Wire: req.Wire(), Anonymous: t.service == client.CA,
	}
	if file, ok := req.Instance.(*model.FileBucketFile); ok && came.Body == nil {
		x.Body = file.Contents.Open
	}
	return x
}

// sendOn adds the headers of the forwarded request; those of this one are
// stronger.
func sendOn(h http.Header, sent map[string][]string) {
	for name, values := range sent {
		if _, ours := h[name]; !ours {
			h[name] = values
		}
	}
	if _, offered := h["Accept-Encoding"]; !offered {
		h["Accept-Encoding"] = nil // else the client adds its own
	}
}

// passOn sends the server for whom this host asks.
func (t *service) passOn(x *client.Exchange, remote *indirector.Remote) {
	switch {
	case remote == nil:
	case t.forward == forwardCertificate && remote.Authenticated:
		x.Identity = remote.Node
	case t.forward == forwardHeaders:
		x.SetClient(remote)
	}
}

// A finder finds one instance. Rules: specification of termini, 0; IND-FIND-06.
type finder struct{ *service }

func (t finder) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	inst, _, err := t.find(ctx, req)
	return inst, err
}

// find is Find that also returns the format of the answer.
func (t finder) find(ctx context.Context, req *indirector.Request) (indirector.Instance, *format.Format, error) {
	answer, err := t.ask(ctx, req, false)
	if err != nil {
		return nil, nil, err
	}
	if !answer.OK() {
		return nil, nil, t.notFound(ctx, req, answer)
	}
	return t.intern(ctx, req, answer)
}

// notFound returns the error of a find that failed: nil for a 404, unless the
// caller wants an error.
func (t *service) notFound(ctx context.Context, req *indirector.Request, answer *client.Answer) error {
	if answer.Status != http.StatusNotFound {
		return t.refused(answer)
	}
	about := missing(answer)
	if req.Flags&traces.FailOn404 == 0 {
		traces.Explain(ctx, sentence(req, answer))
		return indirector.NotFound(traces.NilFrom404, about)
	}
	if answer.Header.Get("Content-Type") == "" {
		return t.failure(answer, "RuntimeError", msgNoType, about)
	}
	path := answer.URL.EscapedPath()
	if len(path) > 100 && !t.env.Log.Enabled(ctx, slog.LevelDebug) {
		path = path[:97] + "..."
	}
	return t.failure(answer, "Puppet::Error", fmt.Sprintf("Find %s resulted in 404 with the message: %s", path, answer.Body), about)
}

// missing describes a 404: its kind and the server's message. Gap L8.
func missing(a *client.Answer) string {
	e := wire.ParseError(a.Status, a.Header.Get("Content-Type"), a.Body)
	what := e.Missing().String()
	if e.Kind != "" {
		what += " (" + e.Kind + ")"
	}
	switch message := strings.TrimSpace(e.Message); {
	case message != "":
		what += ": " + message
	case len(a.Body) == 0:
		what += ": the answer has no body"
	}
	return fmt.Sprintf("%d from %s, %s", a.Status, a.URL.Host, what)
}

// sentence is what a 404 means.
func sentence(req *indirector.Request, a *client.Answer) string {
	return wire.ParseError(a.Status, a.Header.Get("Content-Type"), a.Body).About(a.URL.Host, req)
}

func (t *service) failure(a *client.Answer, class, message, hidden string) error {
	return &indirector.Failure{Class: class, Message: message, Origin: "network", Path: a.URL.Redacted(), Hidden: hidden}
}

// refused returns Puppet's error of any other status.
func (t *service) refused(a *client.Answer) error {
	message := string(a.Body)
	kind := a.Header.Get("Content-Type")
	hidden := fmt.Sprintf("%s answered %d %s", a.Candidate, a.Status, a.Reason)
	if a.Status == http.StatusForbidden {
		hidden += " to " + cmp.Or(a.Identity, "somebody without a certificate")
		if strings.HasPrefix(message, "Forbidden request") { // Puppet Server's own
			hidden += ": a rule of its auth.conf says so"
		}
	}
	switch {
	case message == "":
		message = a.Reason
		hidden += " without a body"
	case strings.Contains(kind, "pson") || strings.Contains(kind, "json"):
		document, err := format.DecodeJSON(a.Body, format.Limits{})
		if err != nil {
			return t.failure(a, "Puppet::Util::Json::ParseError", err.Error(), hidden+", and its body is no "+mediaType(kind)+": "+wire.ParseError(a.Status, kind, a.Body).Message)
		}
		if document.Kind() == data.List {
			return t.failure(a, "TypeError", "no implicit conversion of String into Integer", hidden+"; its body is a list, and no document with a message")
		}
		message = ""
		if v := document.Get("message"); !v.IsNil() {
			message = v.Text()
		}
		if issue := document.Get("issue_kind"); issue.Kind() == data.String {
			hidden += "\nissue_kind " + issue.Str() // in the second line, which is for programs
		}
	case strings.Contains(kind, "html"):
		hidden += " in HTML, which no Puppet server does: " + traces.ProxyInTheWay
	}
	return t.failure(a, "Net::HTTPError", fmt.Sprintf("Error %d on SERVER: %s", a.Status, message), hidden)
}

// formatOf returns the format of an answer, or Puppet's error. Rule
// REST-FMT-09.
func (t *service) formatOf(ctx context.Context, a *client.Answer) (*format.Format, error) {
	header := a.Header.Get("Content-Type")
	if header == "" {
		return nil, t.failure(a, "Puppet::HTTP::ProtocolError", msgNoType, t.what(a))
	}
	f, ok := format.ByContentType(header)
	switch {
	case !ok:
		traces.ExplainFailure(ctx, traces.NoFormat(mediaType(header), t.what(a)))
		return nil, t.failure(a, "NoMethodError", "undefined method `name' for nil:NilClass", t.what(a))
	case f.Name == "yaml" || f.Name == "dot":
		return nil, t.failure(a, "Puppet::HTTP::ProtocolError", "Content-Type is unsupported", t.what(a))
	}
	return f, nil
}

// what describes an answer that is not Puppet's.
func (t *service) what(a *client.Answer) string {
	kind := mediaType(a.Header.Get("Content-Type"))
	begin := wire.ParseError(a.Status, "text/html", a.Body).Message
	if utf8.RuneCountInString(begin) > 120 {
		begin = string([]rune(begin)[:120]) + "…"
	}
	s := fmt.Sprintf("%s answered %d with %s", a.Candidate, a.Status, cmp.Or(kind, "no Content-Type"))
	if strings.Contains(kind, "html") {
		s += ": " + traces.ProxyInTheWay
	}
	if begin != "" {
		s += fmt.Sprintf("; it says %q", begin)
	}
	return s
}

func mediaType(header string) string {
	kind, _, _ := strings.Cut(header, ";")
	return strings.TrimSpace(kind)
}

// intern decodes the instance of an answer, and returns its format.
func (t *service) intern(ctx context.Context, req *indirector.Request, a *client.Answer) (indirector.Instance, *format.Format, error) {
	f, err := t.formatOf(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	reason := traces.FormatAccepted
	if flattened(t.encoding.Accept(req), f) {
		reason = traces.Lossy
	}
	var inst indirector.Instance
	err = t.decode(ctx, a, f, reason, "", func(span *traces.Active) (notes format.Notes, err error) {
		inst, notes, err = format.Intern(f, t.env.Indirection, a.Body, format.Options{})
		if environment := environmentOf(inst); environment != "" {
			span.Attr(traces.AttrEnvironment, environment)
		}
		return notes, err
	})
	return inst, f, err
}

// environmentOf returns the environment that an answer names, or "".
func environmentOf(inst indirector.Instance) string {
	switch x := inst.(type) {
	case *model.Node:
		return x.Environment
	case *model.Catalog:
		return x.Environment
	}
	return ""
}

// flattened reports whether the format holds less than one that was accepted. Pain
// P38.
func flattened(accepted []string, f *format.Format) bool {
	rich := func(name string) bool { return strings.Contains(name, "rich") }
	return !rich(f.MediaType) && slices.ContainsFunc(accepted, rich)
}

// internMany decodes the instances of an answer.
func (t *service) internMany(ctx context.Context, a *client.Answer) ([]indirector.Instance, error) {
	f, err := t.formatOf(ctx, a)
	if err != nil {
		return nil, err
	}
	all := []indirector.Instance{}
	err = t.decode(ctx, a, f, traces.FormatAccepted, "multiple ", func(*traces.Active) (format.Notes, error) {
		many, notes, err := format.InternMultiple(f, t.env.Indirection, a.Body, format.Options{})
		all = append(all, many...)
		return notes, err
	})
	return all, err
}

func (t *service) decode(ctx context.Context, a *client.Answer, f *format.Format, reason traces.Reason, multiple string, intern func(*traces.Active) (format.Notes, error)) error {
	_, span := traces.Start(ctx, traces.Codec, "decode "+f.Name)
	notes, err := intern(span)
	if e := (*format.Error)(nil); errors.As(err, &e) && e.Err != nil {
		err = e.Err // Puppet's error does not name the format
	}
	switch {
	case err == nil:
	case strings.Contains(err.Error(), "does not respond to from_"):
		err = t.failure(a, "NotImplementedError", err.Error(), t.what(a))
	default:
		err = &indirector.Failure{
			Class:   "Puppet::HTTP::SerializationError",
			Message: fmt.Sprintf("Failed to deserialize %s%s from %s: %s", multiple, t.class, f.Name, err),
			Origin:  "decode", Path: a.URL.Redacted(), Hidden: t.what(a) + fmt.Sprintf("; the body has %d bytes", len(a.Body)), Err: err,
		}
	}
	span.End(strconv.Itoa(len(a.Body))+" bytes", traces.Because{Reason: reason, About: f.MediaType}, err)
	for _, n := range notes {
		traces.AddNote(ctx, n)
	}
	return err
}

// A searcher also finds all that match. A 404 is an empty list, and a fault in
// the trace if it has another cause than that nothing matches. Gap L8.
type searcher struct{ finder }

func (t searcher) Search(ctx context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	answer, err := t.ask(ctx, req, false)
	switch {
	case err != nil:
		return nil, err
	case answer.OK():
		all, err := t.internMany(ctx, answer)
		if err == nil && len(all) == 0 {
			traces.Explain(ctx, noneListed(answer))
		}
		return all, err
	}
	if err := t.unlisted(ctx, req, answer); err != nil {
		return nil, err
	}
	return []indirector.Instance{}, nil
}

// noneListed notes an empty list, which callers get for a 404, too. Pain P29.
func noneListed(a *client.Answer) string {
	return fmt.Sprintf("%s answered %d with an empty list: it was found, and nothing is in it", a.Candidate, a.Status)
}

// unlisted returns the error of a search that failed: nil for a 404.
func (t *service) unlisted(ctx context.Context, req *indirector.Request, answer *client.Answer) error {
	if answer.Status != http.StatusNotFound {
		return t.refused(answer)
	}
	about := missing(answer)
	traces.Explain(ctx, "Puppet takes this for an empty list: "+sentence(req, answer))
	e := wire.ParseError(answer.Status, answer.Header.Get("Content-Type"), answer.Body)
	if live := traces.FromContext(ctx); live != nil && e.Missing() != wire.MissingInstance {
		live.Fault(traces.Fault{
			Origin: "terminus rest › network", Step: live.Step, Message: fmt.Sprintf("Error %d on SERVER: %s", answer.Status, e.Message),
			Hidden: about, Path: answer.URL.Redacted(),
		})
	}
	return nil
}

// save sends the instance. It returns the answer of a success; nil for a 404,
// if that is no error.
func (t *service) save(ctx context.Context, req *indirector.Request, nilOn404 bool) (*client.Answer, error) {
	answer, err := t.ask(ctx, req, false)
	if err != nil {
		return nil, err
	}
	return t.saved(ctx, req, answer, nilOn404)
}

func (t *service) saved(ctx context.Context, req *indirector.Request, answer *client.Answer, nilOn404 bool) (*client.Answer, error) {
	switch {
	case answer.OK():
		return answer, nil
	case answer.Status == http.StatusNotFound && nilOn404:
		about := missing(answer)
		traces.Explain(ctx, "nothing was stored, and the caller does not learn of it: "+sentence(req, answer))
		if live := traces.FromContext(ctx); live != nil {
			live.Fault(traces.Fault{Origin: "terminus rest › network", Step: live.Step, Message: "nil", Hidden: about, Path: answer.URL.Redacted()})
		}
		return nil, nil
	}
	return nil, t.refused(answer)
}

// Validate checks the model; the server checks the key. Rule IND-VAL-02.
func (t *service) Validate(_ context.Context, req *indirector.Request) error {
	if t.env.Spec == nil {
		return nil
	}
	return t.env.Spec.ValidateModel(req.Instance)
}

var _ io.Closer = (*service)(nil)
