package rest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/puppetdb/api"
	"indirtui/traces"
)

// A PuppetDB decides how a proxy answers PuppetDB's API: commands and queries of
// Puppet's termini are requests, all else passes unread.
type PuppetDB struct {
	// Terminus answers the requests, chosen by Source, unless it is routed, perhaps
	// within another: fault(forward, 503).
	Terminus, Source string
	// Pass hands on what is no request, as it came.
	Pass func(http.ResponseWriter, *http.Request, Unread)
	// Authorize denies with a *Forbidden; nil allows all.
	Authorize func(*http.Request) error
	// Run is Options.Run for a request that a server sends for a node.
	Run func(node string, req *indirector.Request) (run string, guessed bool)
	// Alone answers nothing but PuppetDB's API.
	Alone bool
}

// An Unread is a request that passes unread, for the trace.
type Unread struct {
	Verb             indirector.Verb
	Indirection, Key string // "command", "replace catalog inputs web01"
	Note             string // why; "" is that it is no request of an indirection
}

// has reports whether a path is of PuppetDB's API. Of the status, which Puppet
// Server has, too, it is only that of the service itself.
func (p *PuppetDB) has(path string) bool {
	return p != nil && (strings.HasPrefix(path, "/pdb/") || strings.HasPrefix(path, "/status/v1/services/puppetdb-status") ||
		p.Alone && (strings.HasPrefix(path, "/status/") || strings.HasPrefix(path, "/metrics/")))
}

// puppetDB serves PuppetDB's API.
func (c *call) puppetDB() {
	c.bare = true
	c.remote = c.h.o.Client(c.r)
	if allow := c.h.o.PuppetDB.Authorize; allow != nil {
		if err := allow(c.r); err != nil {
			c.denied(err)
			return
		}
	}
	path := c.r.URL.EscapedPath()
	switch {
	case path == api.Commands && c.r.Method == http.MethodPost:
		c.command()
	case c.r.Method == http.MethodGet:
		if req := api.Asked(path, c.r.URL.RawQuery); req != nil {
			c.asPuppetDB(req, nil)
			return
		}
		fallthrough
	default:
		c.unread(Unread{Verb: VerbOf(c.r.Method)})
	}
}

// unread hands the request on as it came.
func (c *call) unread(u Unread) {
	if u.Indirection == "" {
		u.Indirection, u.Key = "puppetdb", c.path
		if rest, ok := strings.CutPrefix(c.path, api.Queries); ok {
			u.Indirection, u.Key = "query", strings.TrimPrefix(rest, "/")
		}
	}
	if c.kept != nil {
		c.r.Body = c.kept.again()
	}
	c.h.o.PuppetDB.Pass(c.w, c.r, u)
}

// command reads a command. One that cannot be read is left to PuppetDB.
func (c *call) command() {
	if c.r.Body == nil {
		c.r.Body = http.NoBody
	}
	c.kept = &kept{ReadCloser: c.r.Body}
	c.r.Body = c.kept
	u := Unread{Verb: indirector.Save, Indirection: "command"}
	body, err := c.commandBody()
	if busy := (*Error)(nil); errors.As(err, &busy) && busy.Status == http.StatusServiceUnavailable {
		busy.retry = 0 // PuppetDB's client waits for that, and gives up. Rule PDB-HTTP-12
		c.refused(busy, traces.Route)
		c.failPuppetDB(err)
		return
	}
	called, unreadable := api.Called(c.r.URL.RawQuery, body)
	if err == nil {
		err = unreadable
	}
	var req *indirector.Request
	if err == nil {
		req, err = called.Request()
	}
	u.Key = strings.TrimSpace(called.Name + " " + called.Certname)
	switch {
	case err != nil:
		u.Note = indirector.Message(err)
		c.unread(u)
	case req == nil:
		c.unread(u)
	default:
		c.asPuppetDB(req, called)
	}
}

// commandBody returns the body of a command, unpacked. What is read of it, and
// what is made of it, counts as memory of the request.
func (c *call) commandBody() ([]byte, error) {
	body, err := readBody(c.r, c.h.space.Body, defaultBody)
	if err != nil {
		return nil, err
	}
	switch coding := c.r.Header.Get("Content-Encoding"); coding {
	case "", "identity":
	case "gzip", "x-gzip":
		if body, err = c.unzipped(body); err != nil {
			return nil, fmt.Errorf("unpack the body: %w", err)
		}
	default:
		return nil, fmt.Errorf("unpack the body: %q is no known encoding", coding)
	}
	const decoded = 3 // a value is so much larger than its text
	return body, shareOf(c.r).grow(decoded * int64(len(body)))
}

// unzipped returns what a body of gzip holds, as much as there is memory for.
func (c *call) unzipped(body []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	most := c.h.space.Body
	if most == 0 {
		most = defaultBody
	}
	for {
		if err := shareOf(c.r).grow(firstPiece); err != nil {
			return nil, err
		}
		n, err := io.CopyN(&out, z, firstPiece)
		switch {
		case int64(out.Len()) > most:
			return nil, fmt.Errorf("it is larger than %d bytes", most)
		case errors.Is(err, io.EOF) && n < firstPiece:
			return out.Bytes(), nil
		case err != nil:
			return nil, err
		}
	}
}

// asPuppetDB runs a request and answers as PuppetDB. Called is nil for a query.
func (c *call) asPuppetDB(req *indirector.Request, called *api.Call) {
	p := c.h.o.PuppetDB
	c.req = req
	req.Wants, req.Remote, req.Caller = &c.wants, &c.remote, "server "+c.remote.Node
	req.Cache, req.Terminus, req.By, req.Source = indirector.Off, p.Terminus, traces.FromApplication, p.Source
	if route, ok := c.h.x.Explain(req.Indirection); ok {
		if strings.Contains(route.Primary.Winner().Terminus, p.Terminus) {
			req.Terminus = ""
		}
	}
	c.wants.Wire = &indirector.Wire{Accept: c.accepted(), KeepBody: true, Parent: c.r.Header.Get("Traceparent"), Came: c.onward()}
	if called != nil {
		if doubt := called.Doubt(); doubt != "" {
			c.wants.Notes = append(c.wants.Notes, traces.Remark{Step: traces.Terminus, Text: doubt})
		}
	}
	if p.Run != nil {
		transaction := req.Run
		req.Run, req.RunGuessed = p.Run(api.NodeOf(req), req)
		if req.Run != transaction {
			c.wants.Transaction = transaction
		}
	}
	through := false
	if req.Verb == indirector.Search && !c.h.x.Holds() {
		c.wants.Wire.Through = func() io.Writer {
			through = true
			c.passOn(c.wants.Wire)
			return c.out()
		}
	}
	resp, err := c.h.x.Do(c.r.Context(), req)
	if err == nil {
		c.trace = resp.Trace
	}
	switch {
	case through && c.wants.Wire.Passed:
		c.endPassed()
	case through:
		panic(http.ErrAbortHandler) // a broken answer must not look complete
	case c.verbatim(resp, err):
	case req.Verb == indirector.Search && errors.Is(err, indirector.ErrNotFound):
		c.puppetDBDocument(http.StatusOK, []byte("[]"))
	case err != nil:
		c.failPuppetDB(err)
	default:
		c.reply(resp.Value)
	}
}

// reply answers with what did not come from PuppetDB.
func (c *call) reply(value any) {
	body, err := api.Reply(c.req, value)
	if err != nil {
		c.failPuppetDB(err)
		return
	}
	c.puppetDBDocument(http.StatusOK, body)
}

// denied refuses a client. PuppetDB would not have answered its handshake.
func (c *call) denied(err error) {
	e := asError(err)
	if f := (*Forbidden)(nil); errors.As(err, &f) {
		e = &Error{Status: http.StatusForbidden, Message: f.Message, as: plainUTF8, why: f.Why}
	}
	c.fail(e, traces.Authorize)
}

// failPuppetDB answers with an error. Termini of PuppetDB ask the next server
// after 404 and from 500 on. Rule PDB-HTTP-05.
func (c *call) failPuppetDB(err error) {
	status, ours := http.StatusInternalServerError, (*Error)(nil)
	switch {
	case errors.As(err, &ours):
		status = ours.Status
	case errors.Is(err, indirector.ErrNotFound):
		status = http.StatusNotFound
	case c.r.Context().Err() != nil:
		panic(http.ErrAbortHandler) // the client is gone
	case injected(err) != nil:
		status = injected(err).Status
	case timedOut(err):
		status = http.StatusGatewayTimeout
	case offline(err):
		status = http.StatusBadGateway
	}
	doc, invalid := format.AppendJSON(nil, data.OfHash([]data.Pair{data.P("error", data.OfString(indirector.Message(err)))}))
	if invalid != nil {
		doc = nil
	}
	c.puppetDBDocument(status, doc)
}

func (c *call) puppetDBDocument(status int, doc []byte) {
	clear(c.w.Header())
	c.w.Header()["Content-Type"] = jsonType
	c.finish(status, doc)
}
