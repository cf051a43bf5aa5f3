package compile

import (
	"regexp"
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/types"
	"indirtui/indirector/origins"
)

// finish does what must wait until all resources are there. Rule LANG-COMP-07.
func (c *compilation) finish() error {
	if err := c.relate(); err != nil {
		return err
	}
	for _, r := range c.all[2:] { // the stage and the settings are Puppet's own
		k := key{r.typ, r.title}
		for _, o := range c.overrides[k] {
			if err := c.merge(r, o); err != nil {
				return err
			}
		}
		delete(c.overrides, k)
		if err := c.finishResource(r); err != nil {
			return err
		}
	}
	if err := c.inherit(); err != nil {
		return err
	}
	return c.leftOver()
}

func (c *compilation) finishResource(r *resource) error {
	if r.finished {
		return nil
	}
	r.finished = true
	c.tagWithContainer(r)
	for i := range r.params {
		if v, secret := types.Unwrap(r.params[i].value); secret {
			r.sensitive = append(r.sensitive, r.params[i].name)
			r.params[i].value = v
		}
	}
	if r.typ.builtin == nil {
		return c.checkFinished(r)
	}
	for _, p := range r.params {
		if !r.typ.has(p.name) {
			return placed(origins.Origin{File: r.file, Line: r.line}, "no parameter named '%s'%s on %s", p.name, place(r.file, r.line), r.ref())
		}
	}
	return nil
}

// checkFinished checks the parameters of a class or define again, which overrides may
// have changed; and those of a virtual define that was never evaluated for the first time.
func (c *compilation) checkFinished(r *resource) error {
	if r.def == nil || r.def.Container == nil {
		return nil
	}
	if len(r.sensitive) == 0 {
		return c.checkParams(r)
	}
	whole := *r
	whole.params = append([]param(nil), r.params...)
	for i := range whole.params {
		if p := &whole.params[i]; slices.Contains(r.sensitive, p.name) {
			p.value = types.OfSensitive(p.value)
		}
	}
	return c.checkParams(&whole)
}

// inherit passes metaparameters and tags on from the class main outwards. Rule
// LANG-CON-03.
func (c *compilation) inherit() error {
	queue, seen := []*resource{c.main}, make([]bool, len(c.all))
	for len(queue) > 0 {
		r := queue[0]
		queue = queue[1:]
		if seen[r.index] {
			continue
		}
		seen[r.index] = true
		for _, to := range r.out {
			for _, name := range inherited() {
				p := r.param(name)
				if p == nil || p.value.IsNil() || !to.get(name).IsNil() {
					continue
				}
				o := c.origins[p.origin]
				at := c.origin(origins.Origin{Kind: origins.Container, File: o.File, Line: o.Line, Level: r.ref()})
				if err := c.set(to, param{name: name, value: p.value, source: to.source, origin: at}); err != nil {
					return err
				}
			}
			to.tags.merge(&r.tags)
		}
		queue = append(queue, r.out...)
	}
	return nil
}

// leftOver fails if an override or a collector waits for a resource that is not there,
// or a relationship names one. Rules LANG-RES-11, LANG-RES-13, LANG-REL-02.
func (c *compilation) leftOver() error {
	var refs []string
	for _, k := range c.overrideOrder {
		for range c.overrides[k] {
			refs = append(refs, c.refText(k.typ, k.name))
		}
	}
	if refs != nil {
		return eval.Errorf("Could not find resource(s) %s for overriding", strings.Join(refs, ", "))
	}
	for _, col := range c.collectors {
		for _, ref := range col.fixed {
			t, title, _, err := c.refOf(ref)
			if err != nil {
				return err
			}
			refs = append(refs, c.refText(t, title))
		}
	}
	if refs != nil {
		return eval.Errorf("Failed to realize virtual resources %s", strings.Join(refs, ", "))
	}
	for _, r := range c.all {
		if r.virtual {
			continue
		}
		for i := range r.params {
			if p := &r.params[i]; isRelationship(p.name) {
				if err := c.checkRelationship(r, p); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// written is how a reference is written in a text.
var written = regexp.MustCompile(`(?s)^([^\[\]]+)\[(.+)\]$`)

func (c *compilation) checkRelationship(r *resource, p *param) error {
	for _, v := range eval.Flatten([]data.Value{p.value}) {
		if v.IsNil() {
			continue
		}
		t, title, text, err := c.refOf(v)
		if err != nil {
			return placed(c.placeOf(p), "%s", err)
		}
		if c.lookup(t, title) == nil {
			c.why = leftBehind(r, p.name, text)
			return placed(c.placeOf(p), "Could not find resource '%s' in parameter '%s'", text, p.name)
		}
	}
	return nil
}

func untitled(text string) error {
	return eval.Errorf("No title provided and %s is not a valid resource reference", data.OfString(text).Inspect())
}

// refOf returns the resource that a value refers to, and how it is written.
func (c *compilation) refOf(v data.Value) (t *resourceType, title, text string, err error) {
	if of, ok := types.AsType(v); ok {
		if ref, ok := types.AsReference(of); ok {
			t, title, err = c.reference(ref.Type, ref.Title)
			if text = c.refText(t, title); err != nil || title != "" {
				return t, title, text, err
			}
			v = data.OfString(text)
		}
	}
	text = eval.RubyText(v)
	m := written.FindStringSubmatch(text)
	if m == nil {
		return nil, "", text, untitled(text)
	}
	t, title, err = c.reference(m[1], m[2])
	return t, title, text, err
}
