package server

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/network/client"
	"indirtui/indirector/network/rest"
	"indirtui/indirector/stores"
	"indirtui/traces"
)

// As is the identity by which a proxy asks its server.
type As uint8

const (
	// AsHeaders asks as the proxy, with headers that name the client:
	// X-Client-Verify, X-Client-DN and X-Client-Cert.
	AsHeaders As = iota
	// AsAgent shows the client's certificate, whose key is at hand.
	AsAgent
	// AsProxy asks as the proxy and does not name the client.
	AsProxy
)

// A Forwarder passes on requests outside of indirections: environments,
// static_file_content, the status, and another server's CA. Answers are passed
// back byte by byte. Each is a trace.
type Forwarder struct {
	Client   *client.Client
	Server   *Server  // identifies clients and runs
	URL      *url.URL // the server; nil is that of the settings
	As       As
	Recorder traces.Recorder // nil keeps none
	Now      func() time.Time
	// Note returns a note for the trace of a request; "" is none. Nil notes
	// nothing.
	Note func(*http.Request) string
	// Became takes note of what becomes of PuppetDB's commands; nil if none pass.
	Became *stores.Log
}

var _ http.Handler = (*Forwarder)(nil)

func (f *Forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	remote := f.Server.Client(r)
	f.pass(w, r, &remote, f.about(r, &remote))
}

// Pass hands on a request that PuppetDB alone understands.
func (f *Forwarder) Pass(w http.ResponseWriter, r *http.Request, as rest.Unread) {
	remote := f.Server.Client(r)
	t := traces.NewTrace()
	t.Verb, t.Indirection, t.Key, t.Caller = as.Verb, as.Indirection, as.Key, "server "+remote.Node
	t.Party = "PuppetDB"
	t.Notes = append(t.Notes, traces.Remark{Step: traces.Terminus, Explains: traces.AnAnswer, Text: "passed on unread: " + cmp.Or(as.Note, "it is no request of an indirection")})
	f.pass(w, r, &remote, t)
}

// pass hands on a request as it came, with a trace that is begun.
func (f *Forwarder) pass(w http.ResponseWriter, r *http.Request, remote *indirector.Remote, t *traces.Trace) {
	came := rest.Onward(r, r.Body)
	x := &client.Exchange{
		URL: f.URL, Service: client.PuppetServer, Method: came.Method, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery, Target: came.Target, Header: came.Header,
		Trailer: came.Trailer, Chunked: came.Chunked, Body: came.Body, Size: came.Size,
		Once: true, Stream: true, Verbatim: true, Anonymous: !remote.Authenticated,
	}
	if strings.HasPrefix(r.URL.Path, "/puppet-ca/") {
		x.Service = client.CA
	}
	switch {
	case f.As == AsAgent && remote.Authenticated:
		x.Identity = remote.Node
	case f.As == AsHeaders:
		x.SetClient(remote)
	}
	live, end := f.trace(r, t)
	if f.Note != nil {
		if text := f.Note(r); text != "" {
			traces.AddNote(live, text)
		}
	}
	answer, err := f.Client.Do(live, x)
	if f.Became != nil && t.Indirection == "command" && r.Context().Err() == nil {
		note(f.Became, f.Now(), t.Key, answer, err)
	}
	if err != nil {
		status := http.StatusBadGateway
		if t := (interface{ Timeout() bool })(nil); errors.As(err, &t) && t.Timeout() {
			status = http.StatusGatewayTimeout
		}
		http.Error(w, indirector.Message(err), status)
		end(status, err)
		return
	}
	err = f.answer(w, r, answer)
	end(answer.Status, err)
	if err != nil {
		panic(http.ErrAbortHandler) // a broken answer must not look complete
	}
}

// answer passes the answer back.
func (f *Forwarder) answer(w http.ResponseWriter, r *http.Request, a *client.Answer) (err error) {
	if a.Stream != nil {
		defer a.Stream.Close()
	}
	passed := rest.Passed{Status: a.Status, Reason: a.Reason, Header: a.Header, Trailer: a.Trailer, Chunked: a.Chunked}
	to, err := passed.Begin(w, r)
	switch {
	case err != nil:
	case a.Stream == nil:
		_, err = to.Write(a.Body)
	default:
		_, err = io.Copy(to, a.Stream)
	}
	if err != nil {
		if broken, ok := to.(interface{ Abort() }); ok {
			broken.Abort()
		}
		return fmt.Errorf("hand the answer on: %w", err)
	}
	return to.Close()
}

// about returns the trace of a request: what it is about, and its run.
func (f *Forwarder) about(r *http.Request, remote *indirector.Remote) *traces.Trace {
	t := traces.NewTrace()
	t.Caller, t.Verb = "agent "+remote.Node, rest.VerbOf(r.Method)
	t.Indirection, t.Key = "http", r.URL.Path
	if parts := strings.SplitN(strings.TrimPrefix(r.URL.Path, "/"), "/", 4); len(parts) > 2 {
		t.Indirection, t.Key = parts[2], strings.Join(parts[3:], "")
		if parts[0] == "status" {
			t.Indirection, t.Key = "status", strings.Join(parts[2:], "/")
		}
	}
	query, _ := url.ParseQuery(r.URL.RawQuery) // an unreadable query is forwarded as it is
	t.Environment = query.Get("environment")
	transaction := query.Get("transaction_uuid")
	t.Run, t.RunGuessed = f.Server.Run(r, &indirector.Request{Indirection: t.Indirection, Verb: t.Verb, Key: t.Key, Run: transaction})
	if t.Run != transaction {
		t.Transaction = transaction
	}
	return t
}

// trace begins a trace, which the returned function ends.
func (f *Forwarder) trace(r *http.Request, t *traces.Trace) (*traces.Live, func(int, error)) {
	start := f.Now()
	t.Start, t.Traceparent = start, traces.TraceparentOf(r.Context())
	for s := range t.Steps {
		t.Steps[s] = traces.Question{Answer: traces.NotAsked, Because: traces.Because{Reason: traces.DefaultInCode, About: "no indirection"}}
	}
	t.Primary = traces.Slot{{Terminus: "forwarded", Kind: traces.FromApplication, Source: "what is no indirection"}}
	live := &traces.Live{Context: r.Context(), Trace: t, Now: f.Now, Step: traces.Terminus}
	if f.Recorder == nil {
		return live, func(int, error) { live.Close() }
	}
	t.ID = f.Recorder.Begin(t)
	return live, func(status int, err error) {
		live.Close()
		t.Took, t.Served = max(f.Now().Sub(start), 1), traces.ByTerminus
		question := traces.Question{Answer: traces.OK, Because: traces.Because{Reason: traces.Returned}, Took: t.Took}
		message := fmt.Sprintf("%d %s", status, http.StatusText(status))
		switch {
		case err != nil:
			message = indirector.Message(err)
			fallthrough
		case status >= 400 && status != http.StatusNotFound:
			t.Error, t.Served = message, traces.ByNone
			question.Answer, question.Because = traces.Raised, traces.Because{Reason: traces.TerminusRaised, About: message}
			fault := traces.Fault{Origin: "network", Step: traces.Terminus, Message: message, Shown: true, Path: r.URL.Path}
			if failed := (*indirector.Failure)(nil); errors.As(err, &failed) {
				fault.Hidden = failed.Hidden
			}
			t.Faults = append(t.Faults, fault)
		case status == http.StatusNotFound:
			t.Served = traces.ByNone
			question.Answer, question.Because = traces.Nothing, traces.Because{Reason: traces.NilFrom404, About: message}
		}
		t.Steps[traces.Terminus] = question
		t.Outcome = traces.Judge(t)
		f.Recorder.End(t, nil)
	}
}
