package indirector

import (
	"fmt"
	"strings"

	"indirtui/traces"
)

// route selects terminus and cache, even if the terminus will not be asked.
// Rule IND-PREP-01.
func route(c *call) (traces.Answer, traces.Because, error) {
	if !c.choose() {
		return traces.Raised, traces.Because{}, &Failure{
			Class:   "ArgumentError",
			Message: fmt.Sprintf(msgNoIndirection, c.req.Indirection),
			Hidden:  hint(c.x.cfg.Registry.Nearest(c.req.Indirection)), Err: ErrNoRoute,
		}
	}
	because := traces.Because{Reason: c.to.primary.Kind.Reason(), About: c.to.primary.Source}
	err := c.x.resolve(&c.req, c.to)
	c.live.Trace.Environment = c.req.Environment
	if err != nil {
		return traces.Raised, because, err
	}
	if c.to.spec.BeforeSave != nil && c.req.Verb == Save {
		if err := c.to.spec.BeforeSave(c.ctx(), c.x, &c.req); err != nil {
			return traces.Raised, because, err
		}
	}
	if c.req.Verb == Expire {
		return traces.Chosen, because, nil // only the cache is used: IND-EXP-04
	}
	if err := c.openPrimary(); err != nil {
		return traces.Raised, because, err
	}
	return traces.Chosen, because, nil
}

// choose looks up the route, with the terminus or cache that the request names
// on top; the table stays as it is. Gap L3. It reports false if there is no such
// indirection.
func (c *call) choose() bool {
	if c.to = c.x.table.Load().by[c.req.Indirection]; c.to == nil {
		return false
	}
	if c.req.Terminus != "" || c.req.Cache != "" {
		c.to = c.x.own(c.to, &c.req)
	}
	c.live.Trace.Primary, c.live.Trace.Cache = c.to.route.Primary, c.to.route.Cache
	if h := c.to.primaryHolder; h != nil && h.desc != nil {
		c.live.Trace.Party = h.desc.Party
	}
	return true
}

func (c *call) openPrimary() error {
	if c.to.primaryHolder == nil {
		return &Failure{Class: "Puppet::DevError", Message: fmt.Sprintf(msgNoSelection, c.req.Indirection), Err: ErrNoRoute}
	}
	return c.to.primaryHolder.open(c.x)
}

// An ownRoute is a route with the choices of a request on top.
type ownRoute struct {
	terminus, cache string
	by              traces.SourceKind
	source          string
	to              *resolved
}

// own returns the route with the request's own choices on top. Those of a run all want the
// same, so the last one is kept until routes change; but not one with a wrapper, which
// counts for its request alone.
func (x *Indirector) own(to *resolved, req *Request) *resolved {
	last := to.own.Load()
	if last != nil && last.terminus == req.Terminus && last.cache == req.Cache && last.by == req.By && last.source == req.Source {
		return last.to
	}
	own := x.makeOwn(to, req)
	if !strings.Contains(req.Terminus+req.Cache, "(") {
		to.own.Store(&ownRoute{req.Terminus, req.Cache, req.By, req.Source, own})
	}
	return own
}

func (x *Indirector) makeOwn(to *resolved, req *Request) *resolved {
	source, place := req.By, req.Source
	if source == traces.NoSource {
		source, place = traces.FromRequest, "this request"
	}
	own := *to
	if req.Terminus != "" {
		own.primary = traces.Choice{Terminus: req.Terminus, Kind: source, Source: place}
		own.primaryHolder = x.holder(req.Indirection, own.primary)
		own.route.Primary = above(own.route.Primary, own.primary)
	}
	if req.Cache != "" {
		own.cache, own.cacheHolder = traces.Choice{Terminus: Off, Kind: source, Source: place}, nil
		if req.Cache != Off && req.Cache != "none" {
			own.cache.Terminus = req.Cache
			own.cacheHolder = x.holder(req.Indirection, own.cache)
		}
		own.route.Cache = above(own.route.Cache, own.cache)
	}
	return &own
}

// above puts c on top, whatever its source: it is what is asked.
func above(s traces.Slot, c traces.Choice) traces.Slot {
	return append(append(make(traces.Slot, 0, len(s)+1), c), s...)
}

// authorize asks the terminus about requests that carry a node. Rules
// IND-AUTH-01, IND-AUTH-02.
func authorize(c *call) (traces.Answer, traces.Because, error) {
	if c.req.Remote == nil || c.req.Remote.Node == "" {
		return traces.NotChecked, traces.Because{Reason: traces.NoNodeInRequest}, nil
	}
	a := c.to.primaryHolder.authorizer
	if a == nil && c.req.Remote.Rule != "" {
		return traces.Allowed, traces.Because{Reason: traces.RuleAllowed, About: c.req.Remote.Rule}, nil
	}
	if a == nil {
		return traces.Allowed, traces.Because{Reason: traces.NoRule}, nil
	}
	if a.Authorized(c.ctx(), &c.req) {
		return traces.Allowed, traces.Because{Reason: traces.RuleAllowed, About: c.req.Remote.Node}, nil
	}
	msg := fmt.Sprintf(msgNotAuthorized, c.req.Verb, c.req.Description())
	if len(c.req.Options) > 0 {
		msg += " with " + inspectOptions(c.req.Options)
	}
	return traces.Denied, traces.Because{Reason: traces.RuleDenied, About: c.req.Remote.Node}, &Failure{Class: "ArgumentError", Message: msg, Err: ErrDenied}
}

// validate checks model and key of a save as the primary terminus wants it; the
// cache is not asked. Rules IND-VAL-01 to IND-VAL-03.
func validate(c *call) (traces.Answer, traces.Because, error) {
	inst := c.req.Instance
	if inst == nil {
		return traces.OK, traces.Because{Reason: traces.NothingToValidate}, nil
	}
	err := func() error {
		if v := c.to.primaryHolder.validator; v != nil {
			return v.Validate(c.ctx(), &c.req)
		}
		return c.to.spec.Validate(inst, c.req.Key)
	}()
	if err != nil {
		return traces.Invalid, traces.Because{Reason: traces.ValidationFailed, About: firstLine(Message(err))}, err
	}
	return traces.OK, traces.Because{}, nil
}

// Validate checks the model of inst and that its name matches the key, as every
// terminus does that is no [Validator]. Rule IND-VAL-01.
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

// ValidateModel is Validate without the key. Rule IND-VAL-02.
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
