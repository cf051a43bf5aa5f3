package hold

import (
	"cmp"

	"indirtui/indirector"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/indirector/probe"
	"indirtui/traces"
)

// stop returns a held request as the debugger looks at it.
func (h *Holder) stop(live *traces.Live, r *probe.Held) *indirector.Stop {
	t := live.Trace
	s := indirector.NewStop(live, homeOf(r, h.processes(), h.now()))
	step, _ := traces.ParseStep(r.Step) // the listener has checked it
	live.Step = step
	t.Key, t.Environment, t.Flags = cmp.Or(r.Key, t.Key), cmp.Or(r.Env, t.Environment), 0
	for _, name := range r.Flags {
		t.Flags |= traces.ParseFlag(name)
	}
	req := &indirector.Request{
		Indirection: t.Indirection, Verb: t.Verb, Key: t.Key, Keyed: true, Flags: t.Flags, Environment: r.Env,
		Terminus: r.Terminus, Cache: r.Cache, By: traces.FromThread, Source: "this thread of the process", Caller: t.Caller, Run: t.Run,
	}
	t.Options = nil
	for _, o := range r.Options {
		req.Options = append(req.Options, indirector.Option{Name: o.Name, Value: o.Value})
		t.Options = append(t.Options, traces.Option(o))
	}
	s.Point = traces.Point{Indirection: t.Indirection, Verb: t.Verb, Step: step, Terminus: cmp.Or(r.Terminus, t.Primary.Winner().Terminus)}
	s.Done, s.Request = r.Done, req
	if r.Answer != nil {
		given(s, r.Answer)
	}
	if r.Error != nil {
		s.Err = &indirector.Failure{Class: r.Error.Class, Message: r.Error.Message, Origin: "puppet", Hidden: r.Error.Place}
	}
	return s
}

// given adds the answer so far, or what is to be saved.
func given(s *indirector.Stop, a *probe.Answer) {
	v := valueOf(s.Request, a)
	if s.Request.Verb == indirector.Save {
		s.Request.Instance, _ = v.(indirector.Instance)
		return
	}
	s.Value, s.Served = v, traces.ByTerminus
	if s.Trace.Steps[traces.CacheRead].Answer == traces.Found && s.Trace.Steps[traces.Expiry].Answer != traces.Expired {
		s.Served = traces.ByCache
	}
}

// valueOf reads an answer. What cannot be read is in the other process only.
func valueOf(req *indirector.Request, a *probe.Answer) any {
	if req.Verb == indirector.Head {
		return a.Text == "true"
	}
	json, _ := format.ByName("json")
	text, elsewhere := []byte(a.Text), unseen(req.Key)
	if req.Verb == indirector.Search {
		if list, _, err := format.InternMultiple(json, req.Indirection, text, format.Options{}); err == nil {
			return list
		}
		return []indirector.Instance{elsewhere}
	}
	if inst, _, err := format.Intern(json, req.Indirection, text, format.Options{}); err == nil {
		return inst
	}
	if v, err := format.DecodeJSON(text, format.Limits{}); err == nil {
		return &model.Raw{Name: req.Key, Value: v}
	}
	return elsewhere
}

// An unseen is an instance in another process.
type unseen string

// Key returns the key of the request.
func (u unseen) Key() string { return string(u) }
