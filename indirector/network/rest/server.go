package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/traces"
)

// Options are the options of NewHandler. The zero value answers what Puppet
// Server 7 answers, lets everybody ask, and believes the certificate of the
// connection.
type Options struct {
	// Version is what X-Puppet-Version says; "" is 7.23.0.
	Version string
	// Wide answers every indirection and verb that Puppet's own code would, not
	// only those that Puppet Server lets through: GET facts, searches, DELETE.
	Wide bool
	// Legacy answers the URLs of Puppet 2.6 to 3, too. Rule REST-URL-05.
	Legacy bool
	// PassThrough hands on the very bytes, status and headers that a terminus
	// got over the network, where it was the one that answered.
	PassThrough bool

	// Who identifies the client; nil leaves it anonymous, named by its address.
	Client func(*http.Request) indirector.Remote
	// Authorize refuses with a *Forbidden; nil lets everybody ask.
	Authorize func(*http.Request, indirector.Remote) error
	// Run names the run that a request belongs to, whose transaction_uuid, if it
	// has one, is its Run, and whether that is a guess; nil leaves that. What is no
	// indirection comes as a request of its own name.
	Run func(*http.Request, *indirector.Request) (run string, guessed bool)

	// CA answers below /puppet-ca/; nil leaves that to the indirections of the
	// registry, where there are any.
	CA http.Handler
	// Other answers what is no indirection: environments, status,
	// static_file_content, tasks. Nil is the handler itself.
	Other http.Handler

	// Settings are where environments are looked for; nil knows none.
	Settings Settings
	// CodeID returns the version of the code of an environment, and CodeContent
	// what a file had in it; see Commands. Nil is that no command is configured.
	CodeID      func(ctx context.Context, environment string) (string, error)
	CodeContent func(ctx context.Context, environment, codeID, path string) (Content, error)

	// Form and Body limit what is read into memory, in bytes; see Space.
	Form, Body int64
	// Stall is how long a client may take to send or to accept the next piece
	// of a body; 0 is a minute. No time runs while a request is answered.
	Stall time.Duration

	// Recorder gets a trace of what was refused before it reached the house; nil
	// keeps none.
	Recorder traces.Recorder
	Now      func() time.Time
	Log      *slog.Logger // nil discards
}

// A Forbidden is a refusal of Options.Authorize.
type Forbidden struct {
	Message string // to the client; "" is Puppet Server's sentence
	Why     string // for the trace: which rule, and where it is written
}

func (f *Forbidden) Error() string { return f.Why }

// A Handler serves Puppet's REST API. It must not stand behind an
// http.ServeMux, which would clean its paths: keys may hold what looks odd.
type Handler struct {
	x     *indirector.Indirector
	o     Options
	space Space
	// served says by the name in a URL which methods are answered.
	served  map[string]string
	version []string
}

// NewHandler returns the handler that decodes requests, asks x, and encodes
// what it answers. It is safe for concurrent use.
func NewHandler(x *indirector.Indirector, o Options) *Handler {
	if o.Version == "" {
		o.Version = "7.23.0"
	}
	if o.Stall == 0 {
		o.Stall = time.Minute
	}
	if o.Client == nil {
		o.Client = anonymous
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &Handler{x: x, o: o, version: []string{o.Version}, served: make(map[string]string)}
	h.space = Space{Legacy: o.Legacy, Form: o.Form, Body: o.Body, Has: func(name string) bool { return x.Registry().Spec(name) != nil }}
	for i := range table {
		ind := &table[i]
		methods, many := strings.CutSuffix(ind.served, " many")
		h.served[ind.name] = methods
		if many {
			h.served[ind.plural] = http.MethodGet
		}
	}
	return h
}

// anonymous names a client by its address, as Puppet does where no name server
// answers. Rule REST-PAR-01.
func anonymous(r *http.Request) indirector.Remote {
	ip := Address(r.RemoteAddr)
	return indirector.Remote{Node: ip, IP: ip}
}

// Address returns the host of a RemoteAddr.
func Address(remote string) string {
	if host, _, err := net.SplitHostPort(remote); err == nil {
		return host
	}
	return remote
}

// A call is one request on its way through the handler.
type call struct {
	h      *Handler
	w      http.ResponseWriter
	r      *http.Request
	rc     *http.ResponseController
	remote indirector.Remote

	start     time.Time
	path      string // decoded, without repeated slashes
	req       *indirector.Request
	wants     indirector.Wants // of req
	trace     uint64           // of the request, once the house has answered
	legacy    bool
	bare      bool // no X-Puppet-Version: Puppet is not asked
	committed bool // the status is on its way
	taken     bool // the answer has been sent while the request ran
	broken    bool // its contents did not arrive
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = Joined(r)
	c := &call{h: h, w: w, r: r, rc: http.NewResponseController(w), start: h.o.Now(), path: r.URL.Path}
	defer c.recover()
	// A limit of the server for the whole request would end it while a person
	// holds it: what remains is watched piece by piece.
	_ = c.rc.SetReadDeadline(time.Time{})
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &patient{body: r.Body, rc: c.rc, stall: h.o.Stall}
	}
	c.route()
}

// Joined returns r with a context that says which span of which trace asks it,
// if its header traceparent does. A malformed one is none, and so are two.
func Joined(r *http.Request) *http.Request {
	given := r.Header["Traceparent"]
	if len(given) != 1 || traces.TraceparentOf(r.Context()) != nil {
		return r
	}
	p, ok := traces.ParseTraceparent(given[0])
	if !ok {
		return r
	}
	return r.WithContext(traces.WithTraceparent(r.Context(), &p))
}

func (c *call) recover() {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler { //nolint:errorlint // net/http compares it
		panic(v)
	}
	c.h.o.Log.Error("panic of the REST handler", "path", c.r.URL.Path, "err", fmt.Sprint(v), "stack", string(debug.Stack()))
	if c.committed {
		panic(http.ErrAbortHandler)
	}
	c.fail(refuse(http.StatusInternalServerError, RuntimeError, "panic: %v", v), traces.Caller)
}

// route finds out what a path is about. What Puppet Server's router and web
// server answer, instead of Puppet, is answered as they do.
func (c *call) route() {
	h := c.h
	if err := checkPath(c.path); err != nil {
		if e := asError(err); e.as != bareText || mounted(path.Clean(c.path)) || h.o.Legacy {
			c.fail(err, traces.Route)
			return
		}
		c.unrouted()
		return
	}
	if !h.o.Legacy && strings.Contains(c.path, "//") {
		c.normalize(compact(c.path))
	}
	switch p := c.path; {
	case strings.HasPrefix(p, "/puppet-ca/") && h.o.CA != nil:
		h.o.CA.ServeHTTP(c.w, c.r)
	case strings.HasPrefix(p, caPrefix+"/"):
		c.indirection(p[len(caPrefix)+1:], true)
	case strings.HasPrefix(p, puppetPrefix+"/"):
		c.puppet(p[len(puppetPrefix)+1:])
	case h.o.Other != nil:
		h.o.Other.ServeHTTP(c.w, c.r)
	case strings.HasPrefix(p, "/status/v1/") && c.r.Method == http.MethodGet:
		c.status(p[len("/status/v1/"):])
	case h.o.Legacy && strings.Count(p, "/") > 2:
		c.legacy = true
		c.ask()
	default:
		c.unrouted()
	}
}

// normalize gives the request another path, for who decides about it and for
// who reads it alike.
func (c *call) normalize(path string) {
	u := *c.r.URL
	u.Path, u.RawPath = path, ""
	c.r = c.r.WithContext(c.r.Context())
	c.path, c.r.URL = path, &u
}

func (c *call) puppet(rest string) {
	name, key, _ := strings.Cut(rest, "/")
	special := c.h.o.Other
	switch {
	case name == "environments" && key == "" && c.r.Method == http.MethodGet && special == nil:
		c.environments()
	case name == "static_file_content" && rest != name && c.r.Method == http.MethodGet && special == nil:
		c.staticFileContent(key)
	default:
		c.indirection(rest, false)
	}
}

// indirection asks an indirection, if this server lets such requests through.
func (c *call) indirection(rest string, ca bool) {
	name, _, slash := strings.Cut(rest, "/")
	methods, known := c.h.served[name]
	switch {
	case c.h.o.Wide && (known || ca || c.knows(name)):
	case slash && hasField(methods, c.r.Method):
	case c.h.o.Other != nil:
		c.h.o.Other.ServeHTTP(c.w, c.r)
		return
	default:
		c.unrouted()
		return
	}
	c.ask()
}

func (c *call) knows(name string) bool {
	one, _ := singular(name)
	return c.h.x.Registry().Spec(one) != nil
}

// ask lets the house answer. The order of checks is Puppet Server's.
func (c *call) ask() {
	h := c.h
	if err := c.needsEnvironment(); err != nil {
		c.notOurs(err)
		return
	}
	if !c.authorized() {
		return
	}
	req, err := h.space.Parse(c.r)
	if err != nil {
		c.notOurs(c.catalogWords(err))
		return
	}
	c.req = req
	req.Wants = &c.wants
	if err := c.admitted(); err != nil {
		c.fail(err, traces.Route)
		return
	}
	req.Remote, req.Caller = &c.remote, "agent "+c.remote.Node
	if h.o.Run != nil {
		req.Run, req.RunGuessed = h.o.Run(c.r, req)
	}
	if h.o.PassThrough {
		c.wants.Wire = &indirector.Wire{Accept: c.accepted(), KeepBody: true, Parent: c.r.Header.Get("Traceparent"), Sent: sendOn(c.r.Header)}
		if len(c.r.Header["Accept"]) == 0 {
			c.wants.Wire.Accept = []string{""}
		}
	}
	switch req.Verb {
	case indirector.Find:
		c.find()
	case indirector.Search:
		c.search()
	case indirector.Head:
		c.head()
	case indirector.Save:
		c.save()
	case indirector.Destroy:
		c.destroy()
	}
}

// notOurs refuses what is no request of an indirection. A proxy leaves that to
// the other side, unless a form has been read already.
func (c *call) notOurs(err error) {
	o := &c.h.o
	if o.PassThrough && o.Other != nil && !isForm(c.r) {
		o.Other.ServeHTTP(c.w, c.r)
		return
	}
	c.fail(err, traces.Route)
}

// needsEnvironment is what Puppet Server asks of file requests before anything
// else, since they might be about a project of Bolt.
func (c *call) needsEnvironment() error {
	if c.legacy {
		return nil
	}
	for _, name := range [...]string{"file_content", "file_metadatas"} {
		if !strings.HasPrefix(c.path, puppetPrefix+"/"+name+"/") {
			continue
		}
		if _, given := parseParameters(nil, c.r.URL.RawQuery).last("environment"); given {
			return nil
		}
		return &Error{Status: http.StatusBadRequest, as: plainText, Message: fmt.Sprintf(msgFileEnvironment, name)}
	}
	return nil
}

// catalogWords makes a wrong environment of a catalog what Puppet Server says
// of it: it looks before Puppet does, and takes none for one called null.
func (c *call) catalogWords(err error) error {
	if !strings.HasPrefix(c.path, puppetPrefix+"/catalog/") {
		return err
	}
	message := asError(err).Message
	switch {
	case message == prefixes[http.StatusBadRequest]+msgNoEnvironment:
		message = fmt.Sprintf(msgBadEnvironment, "null")
	case strings.HasPrefix(message, prefixes[http.StatusBadRequest]+"The environment must be"):
		message = strings.TrimPrefix(message, prefixes[http.StatusBadRequest])
	default:
		return err
	}
	return &Error{Status: http.StatusBadRequest, Message: message, as: plainUTF8}
}

func (c *call) authorized() bool {
	c.remote = c.h.o.Client(c.r)
	if c.h.o.Authorize == nil {
		return true
	}
	err := c.h.o.Authorize(c.r, c.remote)
	if err == nil {
		return true
	}
	e := asError(err)
	if f := (*Forbidden)(nil); errors.As(err, &f) {
		e = &Error{Status: http.StatusForbidden, Message: f.Message, as: bareText, why: f.Why}
		if e.Message == "" {
			e.Message = fmt.Sprintf(msgForbidden, c.path, strings.ToLower(c.r.Method))
		}
	}
	c.fail(e, traces.Authorize)
	return false
}

// admitted checks environment and terminus. Catalogs are also asked for in
// environments that do not exist, and then in the server's own: the compiler
// needs none. Rules REST-URL-03, REST-URL-04.
func (c *call) admitted() error {
	err := c.h.x.Admits(c.req.Indirection, c.req.Environment)
	unknown := (*indirector.EnvironmentNotFound)(nil)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unknown) && c.req.Indirection == "catalog" && c.req.Verb == indirector.Find:
		c.wants.Notes = append(c.wants.Notes, fmt.Sprintf("environment %s does not exist here; catalogs need none, so the server's own is used", c.req.Environment))
		c.req.Environment = ""
		return nil
	case errors.As(err, &unknown):
		return refuse(http.StatusNotFound, RuntimeError, msgEnvironment, c.req.Environment)
	case errors.Is(err, indirector.ErrLocalOnly):
		return refuse(http.StatusNotFound, NoRemoteRequests, msgNoRemote, c.req.Indirection)
	}
	return nil // the request says so itself, with a trace
}

// mounted reports whether a path is below one of Puppet Server's services.
func mounted(path string) bool {
	for _, p := range [...]string{"/puppet/", "/puppet-ca/", "/status/"} {
		if strings.HasPrefix(path, p) {
			return true
		}
	}
	return false
}

// compact returns the path with one slash where there are several, as Puppet
// Server makes it.
func compact(path string) string {
	b := make([]byte, 0, len(path))
	for i := range len(path) {
		if path[i] != '/' || i == 0 || path[i-1] != '/' {
			b = append(b, path[i])
		}
	}
	return string(b)
}

func hasField(fields, word string) bool {
	for fields != "" {
		var w string
		if w, fields, _ = strings.Cut(fields, " "); w == word {
			return true
		}
	}
	return false
}
