// Package replay asks recorded requests again, by the routes that there are now,
// and counts which of them come to another outcome or get another value.
package replay

import (
	"context"
	"errors"
	"strings"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/traces/diff"
	"indirtui/ui/command"
	"indirtui/ui/session"
)

// Request is the request that a trace was made of, to be asked again: that of
// Written with the very key that was asked for, as long as that is in memory,
// asked as the agent that asked it over the network, if one did: a proxy shows
// its certificate, and rules about nodes hold as they did. Its address is not
// known any more.
func Request(log session.Log, t *traces.Trace) *indirector.Request {
	req := Written(log, t)
	if key, ok := log.Asked(t.ID); ok {
		req.Key = key
	}
	if node, is := strings.CutPrefix(t.Caller, "agent "); is && node != "" {
		req.Remote = &indirector.Remote{Node: node, Authenticated: true}
	}
	return req
}

// Written is the request of a trace as it was recorded, to be shown and changed.
// Options are texts, and redacted ones stay redacted; those that were not kept
// in full are left out, and the story of the replay names them. The key is that
// of the trace.
func Written(log session.Log, t *traces.Trace) *indirector.Request {
	req := &indirector.Request{
		Indirection: t.Indirection, Verb: t.Verb, Key: t.Key, Flags: t.Flags, Environment: t.Environment, Caller: "you", Replay: t.ID,
	}
	for _, o := range t.Options {
		if partly(o) {
			if req.Wants == nil {
				req.Wants = new(indirector.Wants)
			}
			req.Wants.Notes = append(req.Wants.Notes, traces.Remark{Text: "option " + o.Name + " was not recorded in full and is left out of the replay"})
			continue
		}
		req.Options = append(req.Options, indirector.Option{Name: o.Name, Value: o.Value})
	}
	for _, slot := range []struct {
		choice traces.Choice
		to     *string
	}{{t.Primary.Winner(), &req.Terminus}, {t.Cache.Winner(), &req.Cache}} {
		if c := slot.choice; c.Kind == traces.FromRequest || c.Kind == traces.FromFace {
			*slot.to, req.By, req.Source = c.Terminus, c.Kind, c.Source
		}
	}
	if inst, ok := log.Instance(t.ID); ok && t.Verb == traces.Save {
		req.Instance, _ = inst.(indirector.Instance)
	}
	return req
}

// partly reports whether the value of an option is what a trace keeps of a long
// text, of an instance or of encoded facts: a beginning, a name, or a count; or of a
// filter, which is no text.
func partly(o traces.Option) bool {
	cut := strings.HasSuffix(o.Value, "…") && (len(o.Value) >= traces.LongestOption || strings.Contains(o.Value, "(masked "))
	return cut || indirector.Described(o.Value) || o.Name == "filter" || o.Name == "facts" && strings.HasPrefix(o.Value, "(")
}

// Without returns what a replay of t leaves out: ", without facts, …"; "" if nothing.
func Without(t *traces.Trace) string {
	var names []string
	for _, o := range t.Options {
		if partly(o) {
			names = append(names, o.Name)
		}
	}
	if names == nil {
		return ""
	}
	return ", without " + strings.Join(names, " and ") + ", not recorded in full"
}

// Compare compares the values of a request and of its replay, without what the
// rules leave out. The two logs may be one.
func Compare(log session.Log, then uint64, logNow session.Log, now uint64, rules []string) diff.Answer {
	a, errA := log.Trace(then)
	b, errB := logNow.Trace(now)
	if err := errors.Join(errA, errB); err != nil {
		return diff.Answer{Verdict: diff.Uncompared, Why: err.Error()}
	}
	return diff.Answers(log, a, logNow, b, diff.Options{Ignore: rules, Apart: log != logNow})
}

// An Engine answers requests, and plans them.
type Engine interface {
	Ask(context.Context, *indirector.Request) (indirector.Response, error)
	Plan(context.Context, *indirector.Request, indirector.Routes) indirector.Forecast
}

// A Replay asks requests of a log again, and counts. It is not safe for
// concurrent use.
type Replay struct {
	Log    session.Log // has the requests
	Now    session.Log // gets the new ones; it may be Log
	Engine Engine
	Caller string // of the new requests
	Dry    bool   // only plan them
	Ignore []string

	Counts Counts
	Values diff.Tally // all zero of a dry one
}

// Counts is how many requests came to what.
type Counts struct {
	Asked    int `json:"asked"`    // again, or planned
	Same     int `json:"same"`     // came to the same outcome, and no difference between the values is known
	Outcomes int `json:"outcomes"` // came to another outcome
	Depends  int `json:"depends"`  // unknown without asking; of a dry one only
	Left     int `json:"left"`     // out: nested, or writing
}

// A Result is a request that came out otherwise.
type Result struct {
	Was     *traces.Trace
	Now     uint64 // the new request; 0 if it was planned, or is not kept
	Outcome traces.Outcome
	Because string
	Value   *diff.Answer // nil if it was planned
}

// Again asks one request again. It returns nil if that came out as before, or was
// left out. Nested requests are asked by those that asked them.
func (r *Replay) Again(ctx context.Context, id uint64) *Result {
	t, err := r.Log.Trace(id)
	if err != nil || t.Parent != 0 || t.Verb != traces.Find && t.Verb != traces.Search && t.Verb != traces.Head {
		r.Counts.Left++
		return nil
	}
	req := Request(r.Log, t)
	req.Caller = r.Caller
	if r.Log != r.Now {
		req.Replay = 0 // its number is one of the other log
	}
	r.Counts.Asked++
	res := &Result{Was: t}
	if r.Dry {
		f := r.Engine.Plan(ctx, req, nil)
		if f.Outcome == traces.Run {
			r.Counts.Depends++
			return nil
		}
		res.Outcome, res.Because = f.Outcome, f.Why
	} else {
		r.ask(ctx, req, res)
		r.Values.Add(res.Value)
	}
	switch {
	case res.Outcome != t.Outcome:
		r.Counts.Outcomes++
	case res.Value == nil, res.Value.Verdict != diff.Different && res.Value.Verdict != diff.OneSided:
		r.Counts.Same++
		return nil
	}
	return res
}

// ask asks once more, and fills in what came of it.
func (r *Replay) ask(ctx context.Context, req *indirector.Request, res *Result) {
	resp, err := r.Engine.Ask(ctx, req)
	id := command.TraceOf(resp, err)
	if now, terr := r.Now.Trace(id); terr == nil {
		value := Compare(r.Log, res.Was.ID, r.Now, id, r.Ignore)
		res.Now, res.Outcome, res.Because, res.Value = id, now.Outcome, traces.Story(now), &value
		return
	}
	res.Outcome, res.Value = traces.Good, &diff.Answer{Verdict: diff.Uncompared, Why: "what was answered now is not kept"}
	if err != nil {
		res.Outcome, res.Because = traces.Err, indirector.Message(err)
	}
}
