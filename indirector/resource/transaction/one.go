package transaction

import (
	"context"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/types"
)

// One is a resource that was applied by itself.
type One struct {
	Resource *types.Resource
	Is       []data.Pair // what was read of it afterwards
	Taken    Taken
	Report   *model.Report
}

// ApplyOne puts a resource alone into a new catalog and applies that: settings count, and
// the state file is written. Errors are those that leave it untouched, and the failure of
// the resource, which comes with what there is of it. Rule RES-RAL-05.
func ApplyOne(ctx context.Context, m *model.Resource, o Options) (*One, error) {
	t := newTransaction(ctx, o)
	t.Agent = false // there is no transaction store but for agents
	alone := &model.Catalog{Resources: []model.Resource{*m}}
	t.begin(alone)
	c, err := Convert(alone, Conversion{Types: t.Types, Host: t.System, Log: t.log.resource})
	if err != nil {
		return nil, err
	}
	t.catalog = c
	one := &One{Report: t.report, Resource: c.resources[0].RAL}
	var failed error
	t.Request = func(ctx context.Context, v *Visit) error {
		one.Taken, failed = v.Take(ctx, v.Wanted())
		return failed
	}
	err = t.evaluate()
	if saved := t.saveState(); err == nil {
		err = saved
	}
	if err != nil {
		return nil, err
	}
	t.finishReport()
	if p := t.providerOf(c.resources[0]); p != nil {
		one.Is, err = p.Retrieve(ctx, t.System, one.Resource)
	}
	if failed != nil {
		return one, failed
	}
	return one, err
}

type consentKey struct{}

// A Consent lets a resource be saved by itself: its user knows that this changes a machine.
// The zero Consent is for this one. Rule RES-SAFE-02.
type Consent struct {
	System  providers.System  // another machine, such as that of a demo; nil: this one
	Sources providers.Sources // what files are copied from there
}

// Context returns a context in which a resource may be saved by itself.
func (c Consent) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, consentKey{}, c)
}

// ConsentOf returns the Consent of a context, and whether there is one.
func ConsentOf(ctx context.Context) (c Consent, given bool) {
	c, given = ctx.Value(consentKey{}).(Consent)
	return c, given
}
