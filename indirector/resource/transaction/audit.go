package transaction

import (
	"slices"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// auditEvent makes an event of a watched property one of an audit. Puppet cannot print a mode
// that was never recorded. Rule RES-AUD-01.
func (a *application) auditEvent(e *event, name string) error {
	if a.r.Type == "File" && name == "mode" && a.was[name].IsNil() {
		return noMethod("undefined method `rjust' for nil:NilClass")
	}
	e.Audited = true
	e.Status = "audit"
	if !data.Equal(a.was[name], a.is[name]) {
		e.Message = "audit change: previously recorded value " + a.shown(name, e.Historic, false) +
			" has been changed to " + a.shown(name, e.PreviousValue, false)
	}
	return nil
}

// noMethod is an error of Ruby that Puppet does not expect.
func noMethod(message string) error {
	return &indirector.Failure{Class: "NoMethodError", Message: message}
}

// auditNote is what the message of a change has at its end if the property is watched.
func (a *application) auditNote(name string, audited bool) string {
	was := a.was[name]
	if !audited || !was.Truthy() || data.Equal(was, a.is[name]) {
		return ""
	}
	return " (previously recorded value was " + a.shown(name, was, false) + ")"
}

// audit reports watched properties that changed by themselves. Puppet fails at a parameter,
// which it takes for a property. Rule RES-AUD-01.
func (a *application) audit() error {
	for _, name := range a.audited {
		was, known := a.was[name]
		switch {
		case !known && !(a.isProperty(name) && a.r.RAL.Has(name)):
			return noMethod("private method `format' called for nil:NilClass")
		case !known:
			a.log.ofProperty(a.r, name, "notice", "audit change: newly-recorded value "+a.recorded(name))
		case !data.Equal(was, a.is[name]) && !slices.Contains(a.synced, name):
			e := a.newEvent(name, a.is[name])
			if err := a.auditEvent(e, name); err != nil {
				return err
			}
			a.logEvent(name, e)
			e.stringify(a.r)
			a.s.add(e)
		}
	}
	return nil
}

func (a *application) recorded(name string) string {
	v := a.is[name]
	switch {
	case a.r.RAL.Sensitive(name):
		return redacted
	case v.Kind() == data.List || v.Kind() == data.Hash:
		return v.Inspect()
	}
	return v.Text()
}

// correct marks an event of a property that the system has changed since the last run.
// Rules RES-COR-01 and RES-COR-02.
func (a *application) correct(name string, e *event) {
	old, ok := a.store.value(a.r.Ref(), name)
	if !ok || a.r.RAL.Sensitive(name) || a.r.RAL.Type.Attribute(name).Always {
		return
	}
	restore := a.r.RAL.Substitute(name, old)
	same, err := a.inSync(name, e.PreviousValue)
	restore()
	if err != nil {
		a.log.puppet("info", "Unknown failure using insync_values? on type: "+a.r.Ref()+" / property: "+name+
			" to compare values "+data.OfList(old).Inspect()+" and "+e.PreviousValue.Inspect())
		e.UnknownCorrective()
		return
	}
	e.CorrectiveChange = !same
}

// remember keeps what the system has for the next run. Rule RES-COR-01.
func (a *application) remember() {
	byProperty := map[string]*event{}
	for _, e := range a.s.events {
		byProperty[e.property] = e
	}
	names := a.r.RAL.Names()
	if _, ok := a.is["ensure"]; ok && !a.r.RAL.Has("ensure") {
		names = append(names, "ensure")
	}
	for _, name := range names {
		if !a.isProperty(name) || a.r.RAL.Sensitive(name) {
			continue
		}
		a.store.set(a.r.Ref(), name, a.systemValue(name, byProperty[name]))
	}
}

// systemValue is what should be, or after a failure what was there before.
func (a *application) systemValue(name string, e *event) data.Value {
	if e == nil || e.Status == "success" {
		if should := a.r.RAL.Should(name); should != nil {
			return data.OfList(should)
		}
		return data.Value{}
	}
	if old, ok := a.store.value(a.r.Ref(), name); ok {
		return data.OfList(old)
	}
	if e.PreviousValue.Kind() == data.List {
		return data.Value{} // Puppet forgets to keep lists
	}
	return data.OfList([]data.Value{a.is[name]})
}

// isProperty reports whether an attribute is a property of the resource's type.
func (a *application) isProperty(name string) bool {
	x := a.r.RAL.Type.Attribute(name)
	return x != nil && x.Kind == types.Property
}
