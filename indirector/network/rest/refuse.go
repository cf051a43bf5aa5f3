package rest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/traces"
)

// asError returns an *Error as it is, anything else as Puppet's internal error.
func asError(err error) *Error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e
	}
	return refuse(http.StatusInternalServerError, RuntimeError, "%s", indirector.Message(err))
}

// fail answers with an error, and records it.
func (c *call) fail(err error, at traces.Step) {
	e := asError(err)
	c.refused(e, at)
	c.write(e)
}

// refused records a refused request in a trace of its own, below that of the
// request, if it ran.
func (c *call) refused(e *Error, at traces.Step) {
	rec := c.h.o.Recorder
	if rec == nil {
		return
	}
	t := traces.NewTrace()
	t.Start, t.Caller, t.Verb = c.start, "agent "+c.remote.Node, verbs[c.r.Method]
	if c.remote.Node == "" {
		t.Caller = "agent " + Address(c.r.RemoteAddr)
	}
	t.Indirection, t.Key = c.subject()
	t.Traceparent = traces.TraceparentOf(c.r.Context())
	if c.req != nil {
		t.Verb, t.Environment, t.Flags = c.req.Verb, c.req.Environment, c.req.Flags
		t.Run, t.RunGuessed, t.Transaction = c.req.Run, c.req.RunGuessed, c.wants.Transaction
	} else if c.h.o.Run != nil {
		t.Run, t.RunGuessed = c.h.o.Run(c.r, &indirector.Request{Indirection: t.Indirection, Verb: t.Verb, Key: t.Key})
	}
	if c.trace != 0 {
		t.Parent, t.ParentStep = c.trace, traces.Caller
	}
	reason := traces.Because{Reason: traces.TerminusRaised, About: e.Message}
	answer := traces.Raised
	if at == traces.Authorize {
		answer, reason = traces.Denied, traces.Because{Reason: traces.RuleDenied, About: e.why}
	}
	for s := range t.Steps {
		t.Steps[s] = traces.Question{Answer: traces.NotReached, Because: traces.Because{Reason: traces.EarlierStepRaised}}
	}
	t.Steps[at] = traces.Question{Answer: answer, Because: reason}
	t.Error = e.Message
	if t.Error == "" {
		t.Error = http.StatusText(e.Status)
	}
	note := fmt.Sprintf("%s %s was refused with %d", c.r.Method, c.r.URL.Path, e.Status)
	if e.Kind != "" {
		note += " " + e.Kind
	}
	first, _, _ := strings.Cut(t.Error, "\n")
	t.Notes = append(t.Notes, traces.Remark{Step: at, Explains: traces.AnyFailure, Text: note + ": " + first})
	t.Faults = append(t.Faults, traces.Fault{Origin: at.String(), Step: at, Message: t.Error, Hidden: e.why, Shown: true})
	t.ID = rec.Begin(t)
	t.Took = max(c.h.o.Now().Sub(c.start), 1)
	t.Outcome = traces.Judge(t)
	rec.End(t, nil)
}

// subject returns the indirection and key of a refused request, or its path.
func (c *call) subject() (indirection, key string) {
	if c.req != nil {
		return c.req.Indirection, c.req.Key
	}
	if p, ok := c.h.space.split(c.path); ok && c.knows(p.name) {
		indirection, _ = singular(p.name)
		return indirection, p.key
	}
	const most = 1024
	return "", c.path[:min(len(c.path), most)]
}

// unrouted answers an unknown path or method as the web server below Puppet
// Server does: by Accept, and empty for methods without pages. Rule: captures
// 007, 018, 107, 147.
func (c *call) unrouted() {
	e := &Error{Status: http.StatusNotFound, Message: "Not Found", as: nothing, why: "no route for " + c.r.Method + " " + c.path}
	c.refused(e, traces.Route)
	h := c.w.Header()
	switch c.r.Method {
	case http.MethodGet, http.MethodPost, http.MethodHead:
		h.Set("Cache-Control", "must-revalidate,no-cache,no-store")
		kind, body := c.page(e)
		if kind != "" {
			h.Set("Content-Type", kind)
		}
		c.finish(e.Status, body)
		return
	}
	c.finish(e.Status, nil)
}

// page returns a page of the web server in the first accepted form.
func (c *call) page(e *Error) (kind string, body []byte) {
	accepted := c.accepted()
	if len(accepted) == 0 {
		accepted = []string{"*/*"}
	}
	for _, a := range accepted {
		a, _, _ = strings.Cut(a, ";")
		switch a {
		case "text/html", "text/*", "*/*":
			return "text/html;charset=iso-8859-1", []byte("<html>\n<head><title>Error 404 Not Found</title></head>\n<body><h2>HTTP ERROR 404 Not Found</h2></body>\n</html>\n")
		case "application/json", "text/json":
			doc, err := format.AppendJSON(nil, data.OfString(c.r.URL.EscapedPath()))
			if err != nil {
				return "", nil
			}
			return "application/json", fmt.Appendf(nil, "{\n\"message\":%q,\n\"url\":%s,\n\"status\":\"%d\"\n}", e.Message, doc, e.Status)
		case "text/plain":
			return "text/plain;charset=iso-8859-1", fmt.Appendf(nil, "HTTP ERROR 404 Not Found\nURI: %s\nSTATUS: 404\nMESSAGE: Not Found\n", c.r.URL.EscapedPath())
		}
	}
	return "", nil
}

// write sends an error. Rule: specification of the wire, 5.
func (c *call) write(e *Error) {
	if c.committed {
		panic(http.ErrAbortHandler) // a broken answer must not look complete
	}
	h := c.w.Header()
	clear(h)
	if !c.bare && c.versioned(e) {
		h["X-Puppet-Version"] = c.h.version
	}
	body := []byte(e.Message)
	switch e.as {
	case document:
		if c.legacy {
			h.Set("Content-Type", "text/plain")
			break
		}
		h["Content-Type"] = jsonType
		body = e.appendDocument(nil)
	case plainText:
		h.Set("Content-Type", "text/plain")
	case plainUTF8:
		h.Set("Content-Type", "text/plain;charset=utf-8")
	case bareText:
		h["Content-Type"] = nil // net/http would guess one
	case nothing:
		body = nil
	}
	if e.Status == http.StatusRequestEntityTooLarge || e.retry > 0 { // much of the body may not be read
		h.Set("Connection", "close")
	}
	if e.retry > 0 {
		h.Set("Retry-After", strconv.Itoa(e.retry))
	}
	c.finish(e.Status, body)
}

// versioned reports whether an error has the header with Puppet's version:
// those of the web server and the router have not.
func (c *call) versioned(e *Error) bool {
	return !(e.as == bareText && e.Status == http.StatusBadRequest) && !(e.as == plainText && strings.HasPrefix(e.Message, "A file_"))
}

// finish sends status and body.
func (c *call) finish(status int, body []byte) {
	c.w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
	c.commit(status)
	c.put(body)
}

// put sends a body in memory.
func (c *call) put(body []byte) {
	if c.r.Method == http.MethodHead {
		return
	}
	for out := c.out(); len(body) > 0; {
		n, err := out.Write(body[:min(len(body), step)])
		if err != nil {
			c.lost(err)
		}
		body = body[n:]
	}
}

// step is how much is sent within one time limit, in bytes.
const step = 256 << 10

func (c *call) commit(status int) {
	c.committed = true
	c.mayWrite(0)
	c.w.WriteHeader(status)
}

// lost records that the client did not take its answer.
func (c *call) lost(err error) {
	c.refused(&Error{Status: 499, Message: fmt.Sprintf("the client did not take its answer: %v", err), as: nothing}, traces.Caller)
	panic(http.ErrAbortHandler)
}

// unanswered sends the error of a request that failed.
func (c *call) unanswered(err error) {
	unknown, ours := (*indirector.EnvironmentNotFound)(nil), (*Error)(nil)
	var e *Error
	switch {
	case errors.As(err, &ours):
		e = ours
	case errors.As(err, &unknown):
		e = refuse(http.StatusNotFound, RuntimeError, msgEnvironment, unknown.Name)
	case errors.Is(err, indirector.ErrNotFound) && c.req.Verb == indirector.Search:
		e = refuse(http.StatusNotFound, ResourceNotFound, msgNoneFound, c.req.Indirection, c.req.Key)
	case errors.Is(err, indirector.ErrNotFound):
		e = refuse(http.StatusNotFound, ResourceNotFound, msgNotFound, c.req.Indirection, c.req.Key)
	case c.r.Context().Err() != nil:
		panic(http.ErrAbortHandler) // the client is gone
	case c.h.o.PassThrough && offline(err):
		status := http.StatusBadGateway
		if timedOut(err) {
			status = http.StatusGatewayTimeout
		}
		e = refuse(status, RuntimeError, "%s", indirector.Message(err))
	case c.h.o.PassThrough && injected(err) != nil:
		e = injected(err)
	default:
		e = asError(err)
		if c.legacy {
			e.Status, e.Message = http.StatusBadRequest, indirector.Message(err)
		}
	}
	c.write(e)
}

// injected returns an injected error with a status, as the server it stands for
// would send it; nil for other errors.
func injected(err error) *Error {
	f := (*indirector.Failure)(nil)
	if !errors.As(err, &f) || f.Origin != "injected" || f.Status < 400 {
		return nil
	}
	message := strings.TrimPrefix(f.Message, fmt.Sprintf("Error %d on SERVER: ", f.Status))
	return &Error{Status: f.Status, Kind: RuntimeError, Message: message, Puppet: true}
}

// offline reports whether the other side did not answer.
func offline(err error) bool {
	f, op := (*indirector.Failure)(nil), net.Error(nil)
	return errors.As(err, &op) || errors.As(err, &f) && (f.Origin == "network" || f.Origin == "tls") || timedOut(err)
}

func timedOut(err error) bool {
	op := net.Error(nil)
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &op) && op.Timeout()
}
