package ral

import (
	"context"
	"errors"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/system"
	"indirtui/indirector/resource/transaction"
	"indirtui/indirector/resource/types"
	"indirtui/traces"
)

// Save applies a resource: in a run that is going on, if the request is of one, else by
// itself, and answers with the resource and a report. Rule RES-RAL-05.
func (t *Terminus) Save(ctx context.Context, req *indirector.Request) (any, error) {
	wanted, ok := req.Instance.(*model.Resource)
	if !ok {
		return nil, errors.New("save a resource: the instance is none")
	}
	if v := transaction.VisitOf(ctx); v != nil {
		taken, err := v.Take(ctx, wanted)
		return answered(ctx, wanted, &taken, err)
	}
	consent, given := transaction.ConsentOf(ctx)
	if !given {
		return nil, &indirector.Failure{
			Class: "Puppet::DevError", Message: "saving a resource changes this machine; nothing was changed",
			Hidden: "indirtui save resource KEY --write --really does it",
		}
	}
	return t.alone(ctx, req, wanted, consent)
}

// answered is the answer to a save: what became of the resource, and why. A refresh that
// failed is hidden: no later run tries it again.
func answered(ctx context.Context, wanted *model.Resource, taken *transaction.Taken, err error) (*indirector.Applied, error) {
	if err != nil {
		return nil, &indirector.Failure{Message: err.Error(), Err: err}
	}
	traces.Explain(ctx, taken.String())
	if taken.Lost != "" {
		traces.FromContext(ctx).Fault(traces.Fault{
			Step: traces.Terminus, Origin: "refresh", Message: taken.Lost,
			Hidden: wanted.Ref() + " goes on as it was: the next run does not try the refresh again",
		})
	}
	return taken.Applied(), nil
}

// alone applies a resource by itself.
func (t *Terminus) alone(ctx context.Context, req *indirector.Request, wanted *model.Resource, consent transaction.Consent) (any, error) {
	l, err := t.lookOn(ctx, req.Key, consent.System)
	if err != nil {
		return nil, err
	}
	requests := &providers.Requests{Do: t.env.Do}
	o := transaction.Options{
		Settings: transaction.ReadSettings(l.machine), System: l.machine, Types: types.All(), Sources: requests, Buckets: requests,
	}
	if consent.System != nil {
		o.Sources = consent.Sources
	}
	if h, _ := t.helperFor(req); h != nil { // it is asked only if the provider is Ruby's
		o.Provider = h.Provider
	}
	if isForeign(req) {
		if err := t.foreign(ctx, req, l, &o); err != nil {
			return nil, err
		}
	}
	pairs := wanted.Parameters.Hash()
	for _, p := range pairs {
		if l.typ.Attribute(p.Key.Text()) == nil {
			return nil, &indirector.Failure{Message: "no parameter named '" + p.Key.Text() + "'"}
		}
	}
	r, err := types.New(l.typ, l.host, types.Given{Title: wanted.Title, Values: pairs}, nil)
	if err != nil {
		return nil, refused(err)
	}
	m := *wanted
	m.Kind, m.Tags = "compilable_type", r.Tags
	one, err := transaction.ApplyOne(ctx, &m, o)
	if one == nil {
		return nil, err
	}
	if err != nil { // Puppet answers as if nothing were wrong
		traces.FromContext(ctx).Fault(traces.Fault{
			Step: traces.Terminus, Origin: "resource", Message: indirector.Message(err), Hidden: "the report has the failure, the answer has not",
		})
	}
	a, err := answered(ctx, wanted, &one.Taken, nil)
	if err != nil {
		return nil, err
	}
	managed := func(name string) bool { return name == "ensure" || one.Resource.Managed(name) }
	after := l.resource(one.Resource, one.Is, managed)
	after.Tags = m.Tags
	a.Value = []indirector.Instance{after, one.Report}
	return a, nil
}

// machineOf is this machine, with the bucket that backups go to.
func machineOf(host types.Host) *system.System {
	s := system.New(host)
	s.Bucket, _ = host.Setting("clientbucketdir")
	return s
}
