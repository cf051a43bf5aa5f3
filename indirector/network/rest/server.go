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
	"path"
	"runtime/debug"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/traces"
)

// Options are the options of NewHandler. The zero value answers what Puppet
// Server 7 answers, to every client.
type Options struct {
	// Version is X-Puppet-Version; "" is 7.23.0.
	Version string
	// Wide answers every indirection and verb of Puppet's code, also those that
	// Puppet Server blocks: GET facts, searches, DELETE.
	Wide bool
	// Legacy serves the URLs of Puppet 2.6 to 3, too. Rule REST-URL-05.
	Legacy bool
	// PassThrough passes on bytes, status and headers unchanged where a terminus
	// got the answer over the network.
	PassThrough bool

	// Who identifies the client; nil leaves it anonymous, named by its address.
	Client func(*http.Request) indirector.Remote
	// Authorize denies with a *Forbidden; nil allows all.
	Authorize func(*http.Request, indirector.Remote) error
	// Run returns the run of a request and whether that is a guess; nil leaves
	// Request.Run, the transaction_uuid. Requests outside of indirections have
	// their own names.
	Run func(*http.Request, *indirector.Request) (run string, guessed bool)

	// CA serves /puppet-ca/; nil leaves that to the indirections of the registry.
	CA http.Handler
	// Other serves what is no indirection: environments, status,
	// static_file_content, tasks. Nil is the handler itself.
	Other http.Handler

	// Settings find the environments; nil has none.
	Settings Settings
	// CodeID returns the code version of an environment, CodeContent a file of
	// it; see Commands. Nil is no command.
	CodeID      func(ctx context.Context, environment string) (string, error)
	CodeContent func(ctx context.Context, environment, codeID, path string) (Content, error)

	// Form and Body limit what is read into memory, in bytes; see Space.
	Form, Body int64
	// Bodies limits what all requests together have in memory of their bodies, as
	// they are and decoded, in bytes; 0 is 96 MiB. Requests wait for each other,
	// and get 503 after Wait; 0 is 5 seconds.
	Bodies int64
	Wait   time.Duration
	// Stall is how long a client may take to send or accept the next piece of a
	// body, and how much longer than 4 KiB a second in all; 0 is 30 seconds. It
	// does not limit how long a request runs.
	Stall time.Duration

	// Alerts returns what is wrong with this server although it answers, for the
	// status of its services; nil is nothing.
	Alerts func() []string

	// Recorder records requests that are refused before they run; nil none.
	Recorder traces.Recorder
	Now      func() time.Time
	Log      *slog.Logger // nil discards
}

// A Forbidden is a denial by Options.Authorize.
type Forbidden struct {
	Message string // to the client; "" is Puppet Server's
	Why     string // for the trace: the rule and its source
}

func (f *Forbidden) Error() string { return f.Why }

// A Handler serves Puppet's REST API. It must not stand behind an
// http.ServeMux, which would clean the paths of keys.
type Handler struct {
	x     *indirector.Indirector
	o     Options
	space Space
	// bodies are those of requests, in memory.
	bodies *budget
	// served are the methods answered by the name in a URL.
	served  map[string]string
	version []string
}

// NewHandler returns the handler that decodes requests, runs them on x, and
// encodes the answers. It is safe for concurrent use.
func NewHandler(x *indirector.Indirector, o Options) *Handler {
	o.Version = cmp.Or(o.Version, "7.23.0")
	o.Stall = cmp.Or(o.Stall, 30*time.Second)
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
	h.bodies = &budget{most: cmp.Or(o.Bodies, 96<<20), wait: cmp.Or(o.Wait, 5*time.Second)}
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

// A call is one request in the handler.
type call struct {
	h      *Handler
	w      http.ResponseWriter
	r      *http.Request
	rc     *http.ResponseController
	remote indirector.Remote

	kept      *kept          // the body; nil unless it may be passed on
	passed    io.WriteCloser // the answer of another server, once it is passed on
	start     time.Time
	path      string // decoded, without repeated slashes
	req       *indirector.Request
	wants     indirector.Wants // of req
	trace     uint64           // of the request, once it ran
	legacy    bool
	bare      bool // without X-Puppet-Version: not from Puppet
	committed bool // the status is sent
	taken     bool // the answer was sent while the request ran
	broken    bool // the contents did not arrive
}

var _ http.Handler = (*Handler)(nil)

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = Joined(r)
	c := &call{h: h, w: w, r: r, rc: http.NewResponseController(w), start: h.o.Now(), path: r.URL.Path}
	defer c.recover()
	if r.Body == nil || r.Body == http.NoBody {
		defer c.abort()
		// A time limit would end a request that is held.
		_ = c.rc.SetReadDeadline(time.Time{})
		c.route()
		return
	}
	held := &share{of: h.bodies, ctx: r.Context()}
	defer held.end()
	body := &patient{body: r.Body, rc: c.rc, ctx: r.Context(), stall: h.o.Stall, share: held}
	r.Body = body
	// An answer makes net/http read what is left of a body.
	_ = c.rc.SetReadDeadline(time.Now().Add(h.o.Stall))
	defer body.leave()
	defer c.abort()
	c.route()
}

// abort breaks off an answer that was passed on and not ended.
func (c *call) abort() {
	if t, ok := c.passed.(*takenOver); ok {
		t.Abort()
	}
}

// Joined returns r with the span of its header traceparent in the context.
// Malformed or repeated headers do not count.
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

// route serves a path, or answers as Puppet Server's router and web server do.
func (c *call) route() {
	h := c.h
	if err := checkPath(c.path); err != nil {
		if c.handOn() {
			return
		}
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

// normalize changes the path of the request for authorization and decoding
// alike.
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

// indirection serves an indirection, unless this server blocks such requests.
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

// ask runs the request. The order of checks is Puppet Server's.
func (c *call) ask() {
	h := c.h
	if h.o.PassThrough && c.r.Body != nil {
		c.kept = &kept{ReadCloser: c.r.Body}
		c.r.Body = c.kept
	}
	if err := c.needsEnvironment(); err != nil {
		c.notIndirection(err)
		return
	}
	if !c.authorized() {
		return
	}
	req, err := h.space.Parse(c.r)
	if err != nil {
		c.notIndirection(c.catalogMessage(err))
		return
	}
	c.req = req
	req.Wants = &c.wants
	if err := c.admitted(); err != nil {
		c.unserved(err)
		return
	}
	if c.beyond() && c.handOn() {
		return
	}
	req.Remote, req.Caller = &c.remote, "agent "+c.remote.Node
	c.joinRun()
	if h.o.PassThrough {
		c.wants.Wire = &indirector.Wire{Accept: c.accepted(), KeepBody: true, Parent: c.r.Header.Get("Traceparent"), Came: c.onward()}
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

// joinRun puts the request into a run. Request.Run is the transaction_uuid
// before, if the request names one.
func (c *call) joinRun() {
	if c.h.o.Run == nil {
		return
	}
	transaction := c.req.Run
	c.req.Run, c.req.RunGuessed = c.h.o.Run(c.r, c.req)
	if c.req.Run != transaction {
		c.wants.Transaction = transaction
	}
}

// onward returns the request as it came. It ends the keeping of the body.
func (c *call) onward() *indirector.Came {
	came := Onward(c.r, nil)
	if came.Body != nil && c.kept != nil {
		came.Body, came.Again = func() (io.ReadCloser, error) { return c.kept.again(), nil }, c.kept.ended
	}
	return came
}

// handOn leaves the request to the server behind a proxy, as it came.
func (c *call) handOn() bool {
	if !c.h.o.PassThrough || c.h.o.Other == nil {
		return false
	}
	if c.kept != nil {
		c.r.Body = c.kept.again()
	}
	c.h.o.Other.ServeHTTP(c.w, c.r)
	return true
}

// notIndirection refuses what is no request of an indirection. A proxy leaves
// that to its server.
func (c *call) notIndirection(err error) {
	if !c.handOn() {
		c.fail(err, traces.Route)
	}
}

// unserved refuses a request that cannot be answered here. A proxy leaves that
// to its server, unless another terminus than that is routed.
func (c *call) unserved(err error) {
	if !c.onRoute() || !c.handOn() {
		c.fail(err, traces.Route)
	}
}

// onRoute reports whether the request goes to the server behind a proxy.
func (c *call) onRoute() bool {
	d := c.terminus()
	return d != nil && d.REST
}

func (c *call) terminus() *indirector.Descriptor {
	route, _ := c.h.x.Explain(c.req.Indirection)
	return c.h.x.Registry().Descriptor(c.req.Indirection, route.Primary.Winner().Terminus)
}

// beyond reports whether the server may answer what its terminus does not know:
// a verb, or a part of the contents.
func (c *call) beyond() bool {
	d := c.terminus()
	return d != nil && d.REST && (indirector.VerbsOf(d.Type)[c.req.Verb] == nil || len(c.r.Header["Range"]) > 0)
}

// needsEnvironment is Puppet Server's first check of file requests, which might
// be about a project of Bolt.
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

// catalogMessage replaces the error of a catalog's environment by that of Puppet
// Server, which checks before Puppet does and takes a missing one for null.
func (c *call) catalogMessage(err error) error {
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

// admitted checks environment and terminus. A catalog in an unknown environment
// is compiled in the server's own. Rules REST-URL-03, REST-URL-04.
func (c *call) admitted() error {
	err := c.h.x.Admits(c.req.Indirection, c.req.Environment)
	unknown := (*indirector.EnvironmentNotFound)(nil)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unknown) && c.req.Indirection == "catalog" && c.req.Verb == indirector.Find:
		c.wants.Notes = append(c.wants.Notes, traces.Remark{Step: traces.Terminus, Explains: traces.AnAnswer, Text: fmt.Sprintf(noEnvironment, c.req.Environment, c.h.own())})
		c.req.Environment = ""
		return nil
	case errors.As(err, &unknown):
		return refuse(http.StatusNotFound, RuntimeError, msgEnvironment, c.req.Environment)
	case errors.Is(err, indirector.ErrLocalOnly):
		return refuse(http.StatusNotFound, NoRemoteRequests, msgNoRemote, c.req.Indirection)
	}
	return nil // the request fails by itself, with a trace
}

// noEnvironment is the reason of a catalog that is not of the environment that was asked for.
const noEnvironment = "there is no environment %s here, which is what the 404 of other requests is about; a catalog needs none, so it was compiled in %s"

// own names the environment of requests that name none.
func (h *Handler) own() string {
	if h.o.Settings != nil {
		if name, _ := h.o.Settings.Get("environment"); name != "" {
			return name + ", the server's own"
		}
	}
	return "the server's own"
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

// compact joins repeated slashes, as Puppet Server does.
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
