package server

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"indirtui/indirector/network/rest"
	"indirtui/traces"
)

// record keeps a trace of a request that reached no handler. The client does not
// learn why.
func (s *Server) record(r *http.Request, start time.Time, status int, why string) {
	if s.o.Recorder == nil {
		return
	}
	parts := strings.SplitN(strings.TrimPrefix(r.URL.Path, "/"), "/", 4)
	t := s.refused(start, "http", r.URL.Path)
	t.Traceparent = traces.TraceparentOf(r.Context())
	if len(parts) == 4 {
		t.Indirection, t.Key = parts[2], parts[3]
	}
	if k, err := s.known(r); err == nil {
		t.Caller = "agent " + k.remote.Node
	}
	t.Verb = rest.VerbOf(r.Method)
	message := strconv.Itoa(status) + " " + http.StatusText(status)
	step, origin := traces.Route, "server"
	if status == http.StatusForbidden {
		step, origin = traces.Authorize, "authorize"
		t.Steps[step] = traces.Question{Answer: traces.Denied, Because: traces.Because{Reason: traces.RuleDenied, About: why}}
	}
	s.end(t, step, origin, message, why)
}

// refused begins the trace of a refused request.
func (s *Server) refused(start time.Time, about, key string) *traces.Trace {
	t := traces.NewTrace()
	t.Start, t.Application, t.Caller = start, s.o.Application, "agent"
	t.Verb, t.Indirection, t.Key = traces.Find, about, key
	for i := range t.Steps {
		t.Steps[i] = traces.Question{Because: traces.Because{Reason: traces.EarlierStepRaised}}
	}
	t.ID = s.o.Recorder.Begin(t)
	return t
}

// end ends it: the client got message, but not why.
func (s *Server) end(t *traces.Trace, step traces.Step, origin, message, why string) {
	t.Outcome, t.Error, t.Took = traces.Err, message, max(s.now().Sub(t.Start), 1)
	if t.Steps[step].Answer == traces.NotReached {
		t.Steps[step] = traces.Question{Answer: traces.Raised, Because: traces.Because{Reason: traces.TerminusRaised, About: message}}
	}
	t.Faults = append(t.Faults, traces.Fault{Origin: origin, Step: step, Message: message, Hidden: why, Shown: true})
	t.Notes = append(t.Notes, traces.Remark{Step: step, Explains: traces.AnyFailure, Text: message + ": " + why})
	s.o.Recorder.End(t, nil)
}

// recordHandshake keeps a trace of a failed handshake. A client that just
// disconnects is only logged.
func (s *Server) recordHandshake(addr, why string) {
	if why == "EOF" || strings.HasSuffix(why, "connection reset by peer") {
		s.log.Debug("a connection ended before its handshake", "client", addr)
		return
	}
	s.log.Warn("a connection was refused", "client", addr, "why", why)
	if s.o.Recorder == nil {
		return
	}
	message := "the TLS handshake failed"
	if strings.HasPrefix(why, "remote error: ") {
		message = "the client ended the TLS handshake"
		if strings.Contains(why, "certificate") {
			why += ": it does not accept the server's " + describe(s.keys.current().leaf)
		}
	}
	t := s.refused(s.now(), "tls", rest.Address(addr))
	t.Spans = append(t.Spans, traces.Span{ID: 1, Step: traces.Route, Kind: traces.Network, Name: "handshake with " + addr, Answer: "refused", Err: why})
	s.end(t, traces.Route, "tls", message, why)
}
