package indirector

import (
	"fmt"

	"indirtui/traces"
)

// route selects the terminus and the cache. It comes first, also when the
// terminus will not be asked. Rule IND-PREP-01.
func route(f *flight) (traces.Answer, traces.Because, error) {
	t := f.live.Trace
	f.to = f.x.table.Load().by[f.req.Indirection]
	if f.to == nil {
		return traces.Raised, traces.Because{}, &Failure{
			Class:   "ArgumentError",
			Message: fmt.Sprintf(msgNoIndirection, f.req.Indirection),
			Hidden:  hint(f.x.cfg.Registry.Nearest(f.req.Indirection)), Err: ErrNoRoute,
		}
	}
	t.Primary, t.Cache = f.to.route.Primary, f.to.route.Cache
	if f.req.Terminus != "" || f.req.Cache != "" {
		f.ownRoute()
	}
	because := traces.Because{Reason: f.to.primary.Kind.Reason(), About: f.to.primary.Source}
	if err := f.x.resolve(&f.req, f.to); err != nil {
		t.Environment = f.req.Environment
		return traces.Raised, because, err
	}
	t.Environment = f.req.Environment
	if f.to.spec.BeforeSave != nil && f.req.Verb == Save {
		if err := f.to.spec.BeforeSave(f.ctx(), f.x, &f.req); err != nil {
			return traces.Raised, because, err
		}
	}
	if f.req.Verb == Expire {
		return traces.Chosen, because, nil // only the cache is used: IND-EXP-04
	}
	if f.to.primaryHolder == nil {
		return traces.Raised, because, &Failure{Class: "Puppet::DevError", Message: fmt.Sprintf(msgNoSelection, f.req.Indirection), Err: ErrNoRoute}
	}
	if err := f.to.primaryHolder.open(f.x); err != nil {
		return traces.Raised, because, err
	}
	return traces.Chosen, because, nil
}

// ownRoute is the route of a request that names its own terminus or cache. The
// table is not touched. Gap L3.
func (f *flight) ownRoute() {
	f.to = f.x.own(f.to, &f.req)
	f.live.Trace.Primary, f.live.Trace.Cache = f.to.route.Primary, f.to.route.Cache
}

// own returns the route with what the request says about it itself on top.
func (x *Indirector) own(to *resolved, req *Request) *resolved {
	source, place := req.By, req.Source
	if source == traces.NoSource {
		source, place = traces.FromRequest, "this request"
	}
	own := *to
	if req.Terminus != "" {
		own.primary = traces.Choice{Terminus: req.Terminus, Kind: source, Source: place}
		own.primaryHolder = x.holder(req.Indirection, own.primary)
		own.route.Primary = push(own.route.Primary, own.primary)
	}
	if req.Cache != "" {
		own.cache, own.cacheHolder = traces.Choice{Terminus: Off, Kind: source, Source: place}, nil
		if req.Cache != Off && req.Cache != "none" {
			own.cache.Terminus = req.Cache
			own.cacheHolder = x.holder(req.Indirection, own.cache)
		}
		own.route.Cache = push(own.route.Cache, own.cache)
	}
	return &own
}

// authorize asks the terminus about requests that carry a node. Rules
// IND-AUTH-01, IND-AUTH-02.
func authorize(f *flight) (traces.Answer, traces.Because, error) {
	if f.req.Remote == nil || f.req.Remote.Node == "" {
		return traces.NotChecked, traces.Because{Reason: traces.NoNodeInRequest}, nil
	}
	a := f.to.primaryHolder.authorizer
	if a == nil && f.req.Remote.Rule != "" {
		return traces.Allowed, traces.Because{Reason: traces.RuleAllowed, About: f.req.Remote.Rule}, nil
	}
	if a == nil {
		return traces.Allowed, traces.Because{Reason: traces.NoRule}, nil
	}
	if a.Authorized(f.ctx(), &f.req) {
		return traces.Allowed, traces.Because{Reason: traces.RuleAllowed, About: f.req.Remote.Node}, nil
	}
	msg := fmt.Sprintf(msgNotAuthorized, f.req.Verb, f.req.Description())
	if len(f.req.Options) > 0 {
		msg += " with " + inspectOptions(f.req.Options)
	}
	return traces.Denied, traces.Because{Reason: traces.RuleDenied, About: f.req.Remote.Node}, &Failure{Class: "ArgumentError", Message: msg, Err: ErrDenied}
}

// validate checks model and key of a save, as the primary terminus wants it;
// the cache is never asked. Rules IND-VAL-01 to IND-VAL-03.
func validate(f *flight) (traces.Answer, traces.Because, error) {
	inst := f.req.Instance
	if inst == nil {
		return traces.OK, traces.Because{Reason: traces.NothingToValidate}, nil
	}
	err := func() error {
		if v := f.to.primaryHolder.validator; v != nil {
			return v.Validate(f.ctx(), &f.req)
		}
		return f.to.spec.Validate(inst, f.req.Key)
	}()
	if err != nil {
		return traces.Invalid, traces.Because{Reason: traces.ValidationFailed, About: firstLine(Message(err))}, err
	}
	return traces.OK, traces.Because{}, nil
}

// Validate is the check that every terminus makes unless it has its own: is
// the instance of the model, and does its name match the key. Rule IND-VAL-01.
func (s *Spec) Validate(inst Instance, key string) error {
	if err := s.ValidateModel(inst); err != nil {
		return err
	}
	if s.KeyMatches != nil {
		return s.KeyMatches(inst, key)
	}
	if name := inst.Key(); name != key {
		return &Failure{Class: "Puppet::Indirector::ValidationError", Message: fmt.Sprintf(msgBadName, inspect(name), inspect(key)), Err: ErrInvalid}
	}
	return nil
}

// ValidateModel is the first half of Validate, for termini that do not care
// for the key. Rule IND-VAL-02.
func (s *Spec) ValidateModel(inst Instance) error {
	if s.Model == nil || s.Model(inst) {
		return nil
	}
	class := fmt.Sprintf("%T", inst)
	if c, ok := inst.(interface{ RubyClass() string }); ok {
		class = c.RubyClass()
	}
	return &Failure{Class: "Puppet::Indirector::ValidationError", Message: fmt.Sprintf(msgBadType, class, s.Class), Err: ErrInvalid}
}
