package export

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"indirtui/traces"
	"indirtui/traces/store"
)

// A span is one request, one step that took time, or one piece of work below
// it, as OpenTelemetry has them.
type span struct {
	trace      [16]byte
	id, parent [8]byte // a zero parent is none
	name       string
	client     bool // it asked over a network
	server     bool // it was asked over a network, by a span that is known
	start, end time.Time
	attrs      []attr
	events     []event
	failed     string // what went wrong and reached the caller; "" if nothing did
	isError    bool
}

// An attr has a string, an int64, a bool or a []string.
type attr struct {
	key   string
	value any
}

type event struct {
	at    time.Time
	name  string
	attrs []attr
}

// attrs leaves out what is empty.
func (s *span) attr(key string, value any) { s.attrs = withAttr(s.attrs, key, value) }

func withAttr(attrs []attr, key string, value any) []attr {
	switch v := value.(type) {
	case string:
		if v == "" {
			return attrs
		}
	case []string:
		if len(v) == 0 {
			return attrs
		}
	}
	return append(attrs, attr{key, value})
}

// maxAncestors is how far up a root is looked for.
const maxAncestors = 64

// trunkOf returns the OpenTelemetry trace of t and its parent span: those of
// the traceparent if there is one, else of its run. A run that is no UUID has a
// trace for each request without a parent, since names of runs come again.
func trunkOf(s *store.Store, t *traces.Trace) ([16]byte, *parent) {
	root := parent{t.ID, t.Start}
	var asked *parent
	up := t.Parent
	for range maxAncestors {
		row, ok := s.Row(up)
		if up == 0 || !ok {
			break
		}
		root = parent{row.ID, row.Start}
		if asked == nil {
			asked = &parent{row.ID, row.Start}
		}
		up = row.Parent
	}
	if t.Traceparent != nil {
		return t.Traceparent.Trace, asked
	}
	if id, ok := traces.TraceID(t.Run); ok {
		return id, asked
	}
	return traces.RootID(root.id, root.start), asked
}

// spansOf returns the spans of one request, its own first.
func spansOf(r *request) []span {
	t := r.trace
	own := span{trace: r.trunk, id: traces.SpanID(t.ID, t.Start), name: t.Verb.String() + " " + t.Indirection, start: t.Start, end: t.Start.Add(max(t.Elapsed(), 0))}
	switch {
	case r.parent != nil:
		own.parent = traces.SpanID(r.parent.id, r.parent.start)
	case t.Traceparent != nil:
		own.parent, own.server = t.Traceparent.Span, t.Parent == 0
	}
	describe(&own, t)
	spans := []span{own}
	var steps [traces.StepCount][8]byte // the spans of steps that have one
	for i, q := range t.Steps {
		at := t.Start.Add(q.At)
		about := withAttr(nil, "puppet.answer", q.Answer.String())
		about = withAttr(about, "puppet.because", q.Because.Reason.String())
		about = withAttr(about, "puppet.because.about", q.Because.About)
		if q.Took <= 0 {
			if q.Answer != traces.NotReached {
				spans[0].events = append(spans[0].events, event{at, traces.Step(i).String(), about})
			}
			continue
		}
		steps[i] = traces.StepID(t.ID, t.Start, traces.Step(i))
		s := span{
			trace: r.trunk, id: steps[i], parent: own.id, name: stepName(t, traces.Step(i)), start: at, end: at.Add(q.Took), attrs: about,
			isError: q.Answer == traces.Raised || q.Answer == traces.Swallowed,
		}
		if s.isError {
			s.failed = q.Because.About
		}
		spans = append(spans, s)
	}
	slices.SortStableFunc(spans[0].events, func(a, b event) int { return a.at.Compare(b.at) })
	for i := range t.Spans {
		spans = append(spans, work(r, &t.Spans[i], steps))
	}
	return spans
}

// stepName names the terminus where one was asked: "terminus exec".
func stepName(t *traces.Trace, s traces.Step) string {
	switch s {
	case traces.Terminus:
		return "terminus " + orNone(t.Primary.Winner().Terminus)
	case traces.CacheRead, traces.CacheWrite:
		return s.String() + " " + orNone(t.Cache.Winner().Terminus)
	}
	return s.String()
}

// describe names a request and its outcome.
func describe(s *span, t *traces.Trace) {
	primary, cache := t.Primary.Winner(), t.Cache.Winner()
	for _, a := range []attr{
		{"puppet.verb", t.Verb.String()},
		{"puppet.indirection", t.Indirection},
		{"puppet.key", t.Key},
		{"puppet.environment", t.Environment},
		{"puppet.application", t.Application},
		{"puppet.terminus", primary.Terminus},
		{"puppet.terminus.set_by", primary.Kind.String()},
		{"puppet.terminus.place", primary.Source},
		{"puppet.cache", cache.Terminus},
		{"puppet.cache.set_by", cache.Kind.String()},
		{"puppet.cache.place", cache.Source},
		{"puppet.flags", t.Flags.Names()},
		{"puppet.transaction", cmp.Or(t.Transaction, t.Run)},
		{"indirtui.request", int64(t.ID)},
		{"indirtui.outcome", t.Outcome.String()},
		{"indirtui.hidden", t.Outcome.HiddenFrom(t.Caller)},
		{"indirtui.served", t.Served.String()},
		{"indirtui.caller", t.Caller},
		{"indirtui.story", traces.Story(t)},
		{"indirtui.value.model", t.Value().Model},
		{"indirtui.value.digest", t.Value().Digest},
	} {
		s.attr(a.key, a.value)
	}
	if t.RunGuessed {
		s.attr("indirtui.run.guessed", true)
	}
	s.attr("indirtui.sent.model", t.Sent().Model)
	s.attr("indirtui.sent.digest", t.Sent().Digest)
	if t.Value().Size > 0 {
		s.attr("indirtui.value.size", int64(t.Value().Size))
	}
	if t.Sent().Size > 0 {
		s.attr("indirtui.sent.size", int64(t.Sent().Size))
	}
	for _, o := range t.Options {
		s.attr("puppet.option."+o.Name, o.Value)
	}
	for _, f := range t.Faults {
		attrs := withAttr(nil, "exception.message", f.Message)
		attrs = withAttr(attrs, "exception.type", f.Origin)
		attrs = withAttr(attrs, "exception.escaped", f.Shown)
		attrs = withAttr(attrs, "indirtui.hidden", f.Hidden)
		attrs = withAttr(attrs, "indirtui.path", f.Path)
		attrs = withAttr(attrs, "puppet.step", f.Step.String())
		s.events = append(s.events, event{t.Start.Add(t.Steps[f.Step].At + t.Steps[f.Step].Took), "exception", attrs})
	}
	note := func(text string) {
		s.events = append(s.events, event{t.Start, "note", []attr{{"indirtui.note", text}}})
	}
	for _, change := range t.Touched {
		note(change)
	}
	for _, n := range t.Notes {
		note(n.Text)
	}
	s.isError, s.failed = t.Outcome == traces.Err || t.Outcome == traces.Part, t.Error
}

// work is a piece of work below a step.
func work(r *request, w *traces.Span, steps [traces.StepCount][8]byte) span {
	t := r.trace
	id := func(n int) [8]byte { return traces.WorkID(t.ID, t.Start, n) }
	at := t.Start.Add(w.At)
	s := span{
		trace: r.trunk, id: id(w.ID), parent: traces.SpanID(t.ID, t.Start), name: w.Kind.String() + ": " + w.Name, client: w.Kind == traces.Network,
		start: at, end: at.Add(max(w.Took, 0)), isError: w.Err != "", failed: w.Err,
	}
	switch {
	case w.Parent != 0:
		s.parent = id(w.Parent)
	case int(w.Step) < len(steps) && steps[w.Step] != [8]byte{}:
		s.parent = steps[w.Step]
	}
	s.attr("indirtui.kind", w.Kind.String())
	s.attr("puppet.step", w.Step.String())
	s.attr("puppet.answer", w.Answer)
	s.attr("puppet.because", w.Because.Reason.String())
	s.attr("puppet.because.about", w.Because.About)
	if w.Request != 0 {
		s.attr("indirtui.request", int64(w.Request))
	}
	h, ok := w.HTTP()
	if !ok {
		for _, a := range w.Attrs {
			s.attr(a.Key, a.Value)
		}
		return s
	}
	host, port := traces.HostPort(h.Server)
	for _, a := range []attr{{"http.request.method", h.Method}, {"url.full", h.URL}, {"server.address", host}, {"network.peer.address", h.Peer}} {
		s.attr(a.key, a.value)
	}
	if n, err := strconv.ParseInt(port, 10, 64); err == nil {
		s.attr("server.port", n)
	}
	if h.Status != 0 {
		s.attr("http.response.status_code", int64(h.Status))
	}
	if h.Sent >= 0 {
		s.attr("http.request.body.size", h.Sent)
	}
	if h.Received >= 0 {
		s.attr("http.response.body.size", h.Received)
	}
	for _, a := range h.Other {
		s.attr(a.Key, a.Value)
	}
	headers(&s, "http.request.header.", h.Request)
	headers(&s, "http.response.header.", h.Response)
	s.isError = s.isError || h.Status >= 400
	return s
}

// headers adds headers, each with all its values.
func headers(s *span, prefix string, all []traces.Attr) {
	for i, h := range all {
		if i > 0 && all[i-1].Key == h.Key {
			last := &s.attrs[len(s.attrs)-1]
			last.value = append(last.value.([]string), h.Value)
			continue
		}
		s.attr(prefix+strings.ToLower(h.Key), []string{h.Value})
	}
}
