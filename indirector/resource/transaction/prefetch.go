package transaction

import (
	"context"
	"fmt"
	"strings"

	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/types"
)

// A providerKey is a provider of a type.
type providerKey struct{ typ, provider string }

// keyOf is the provider of a resource; the zero key is none.
func keyOf(r *Resource) providerKey {
	if r.RAL == nil || r.RAL.Provider == nil {
		return providerKey{}
	}
	return providerKey{r.RAL.Type.Name, r.RAL.Provider.Name}
}

// providerOf is what does a resource here, or nil.
func (t *transaction) providerOf(r *Resource) providers.Provider {
	if r.RAL == nil {
		return nil
	}
	if t.Provider != nil {
		if p := t.Provider(r.RAL); p != nil {
			return p
		}
	}
	p, _ := t.native.Of(r.RAL.Type, keyOf(r).provider)
	return p
}

// providerLine logs what a provider reports.
func (t *transaction) providerLine(l providers.Line) {
	var r *Resource
	if l.Resource != nil {
		ref, _ := types.ParseRef(l.Resource.Ref())
		r = t.catalog.find(ref)
	}
	switch {
	case r == nil:
		t.log.puppet(l.Level, l.Message)
	case l.ByProvider:
		t.log.write(l.Level, l.Message, logSource{name: fmt.Sprintf("%s(provider=%s)", r.Ref(), keyOf(r).provider)})
	case l.Property != "":
		t.log.ofProperty(r, l.Property, l.Level, l.Message)
	default:
		t.log.resource(r, l.Level, l.Message)
	}
}

// suitable reports whether a resource can be done here. Rule RES-TX-08.
func (t *transaction) suitable(r *Resource) bool {
	if p, ok := t.providerOf(r).(providers.Suitabler); ok {
		return t.suits(r, p)
	}
	if r.RAL == nil || len(r.RAL.Type.Providers) == 0 {
		return r.Kind != Foreign
	}
	if r.RAL.Provider == nil || t.providerOf(r) == nil {
		return false
	}
	key := keyOf(r)
	ok, known := t.suitability[key]
	if !known {
		_, candidates := types.Select(r.RAL.Type, t.System)
		for _, c := range candidates {
			t.suitability[providerKey{key.typ, c.Provider.Name}] = c.Suitable
		}
		ok = t.suitability[key]
	}
	return ok
}

// suits asks a provider that knows itself, until it is suitable. One that cannot answer is
// taken for suitable: its error is that of the resource.
func (t *transaction) suits(r *Resource, p providers.Suitabler) bool {
	if len(r.RAL.Type.Providers) == 0 || t.suitability[keyOf(r)] {
		return true
	}
	ok, err := p.Suitable(t.ctx, r.RAL)
	ok = ok || err != nil
	if key := keyOf(r); ok && key.provider != "" {
		t.suitability[key] = true
	}
	return ok
}

// notSuitable fails a resource when nothing else can be done any more. Rule RES-TX-08.
func (t *transaction) notSuitable(r *Resource) {
	if t.missesTags(r) {
		return
	}
	if r.problem != nil { // its type refuses it
		t.log.resource(r, "err", r.problem.Error())
		t.failWith(t.status(r), r.problem.Error())
		t.after(r, Answer{Step: Provider, Text: "failed", Err: r.problem})
		return
	}
	name := keyOf(r).provider
	if name != "" {
		t.log.resource(r, "err", fmt.Sprintf("Provider %s is not functional on this host", name))
	} else {
		t.providerless = append(t.providerless, strings.ToLower(r.Type))
	}
	t.after(r, Answer{Step: Provider, Text: "failed", Because: Unsuitable, Detail: name})
	t.status(r).Failed = true
}

// prefetch lets a provider read for all of its resources, just before the first of them
// is evaluated. Rules RES-PROV-05 and RES-TX-06.
func (t *transaction) prefetch(r *Resource) {
	key := keyOf(r)
	p, ok := t.providerOf(r).(providers.Prefetcher)
	if !ok || t.prefetched[key] {
		return
	}
	t.prefetched[key] = true
	var all []*types.Resource
	for _, x := range t.catalog.added {
		if keyOf(x) == key {
			all = append(all, x.RAL)
		}
	}
	if err := p.Prefetch(t.ctx, t.System, all); err != nil && (t.plan == nil || !onlyPlanned(err)) {
		message := fmt.Sprintf("Could not prefetch %s provider '%s': %s", key.typ, key.provider, err)
		t.log.puppet("err", withCause(message, err))
		t.prefetchFailed[key] = err
	}
}

// A finisher is a provider that has something to do when all is done.
type finisher interface {
	PostResourceEval(ctx context.Context, s providers.System) error
}

// finishProviders is called once all resources were evaluated.
func (t *transaction) finishProviders() {
	seen := map[string]bool{}
	for _, typ := range t.providerless {
		if !seen[typ] {
			seen[typ] = true
			t.log.puppet("err", "Could not find a suitable provider for "+typ)
		}
	}
	for _, key := range t.finishing {
		if err := t.finishers[key].PostResourceEval(t.ctx, t.System); err != nil {
			t.log.puppet("err", fmt.Sprintf("post_resource_eval failed for provider %s: %s", key.provider, err))
		}
	}
}

// noteFinisher keeps a provider for finishProviders.
func (t *transaction) noteFinisher(r *Resource) {
	key := keyOf(r)
	if p, ok := t.providerOf(r).(finisher); ok && t.finishers[key] == nil {
		t.finishers[key] = p
		t.finishing = append(t.finishing, key)
	}
}

// A prechecker is a provider that can refuse a whole run before it begins.
type prechecker interface {
	PreRunCheck(ctx context.Context, s providers.System, r *types.Resource) error
}

// precheck asks all resources. Rule RES-TX-01.
func (t *transaction) precheck() error {
	failed := false
	for _, r := range t.catalog.added {
		if p, ok := t.providerOf(r).(prechecker); ok {
			if err := p.PreRunCheck(t.ctx, t.System, r.RAL); err != nil {
				failed = true
				t.log.resource(r, "err", withCause(err.Error(), err))
			}
		}
	}
	if failed {
		return failf("Some pre-run checks failed")
	}
	return nil
}
