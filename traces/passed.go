package traces

import "strings"

// Passed returns the terminus to which that of a step, the terminus or the cache,
// passed the request on; "" if that one answered itself.
func (t *Trace) Passed(step Step) string {
	to, _ := t.passed(step)
	return to
}

// passed is Passed, and what named that terminus.
func (t *Trace) passed(step Step) (to, source string) {
	for i := range t.Spans {
		switch s := &t.Spans[i]; {
		case s.Kind != Choose || s.Step != step:
		case s.Attr(AttrTerminus) != "":
			return s.Attr(AttrTerminus), s.Because.About
		case step == Terminus && s.Err == "" && t.Primary.Winner().Terminus == "selector":
			return s.Answer, s.Because.About
		}
	}
	return "", ""
}

// Owners returns the terminus that was routed for a step, and the one to which it
// passed the request on: "store_configs → puppetdb". Rule STORE-SC-10.
func (t *Trace) Owners(step Step) string {
	name := t.Primary.Winner().Terminus
	if step == CacheRead || step == CacheWrite {
		name = t.Cache.Winner().Terminus
	}
	return Owners(name, t.Passed(step))
}

// Owners is a terminus with the one to which it passes requests on; "" is none.
func Owners(terminus, to string) string {
	if to == "" {
		return terminus
	}
	return terminus + " → " + to
}

// passedBy is what named the terminus to which that of a step passed the request on,
// behind what chose the first: ", puppetdb: setting storeconfigs_backend, puppet.conf:9".
func (t *Trace) passedBy(step Step) string {
	to, source := t.passed(step)
	if to == "" {
		return ""
	}
	return ", " + to + ": " + source
}

// storyOfPassed is about a cache that passes requests on to a store which is only
// written: who keeps it, and why another one was asked.
func storyOfPassed(t *Trace) string {
	to, source := t.passed(CacheRead)
	if to == "" || t.Verb != Find || t.Steps[CacheRead].Because.Reason != AlwaysNil {
		return ""
	}
	return t.Indirection + " goes to " + to + ": " + strings.TrimPrefix(source, "setting ") + "; answers nil by contract, so " + t.object() + " was asked"
}
