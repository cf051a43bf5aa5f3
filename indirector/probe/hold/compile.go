package hold

import (
	"strings"

	"indirtui/indirector/debugger"
	"indirtui/indirector/probe"
	"indirtui/traces"
)

// Compile returns the arms of a breakpoint for probes: what they can test. Others is
// what they cannot and is tested here, each time that a request has stopped. How often
// it acts is counted here, too, once for all processes. Where nothing stops there are no
// arms.
func Compile(b *debugger.Breakpoint) (arms []probe.Arm, others []string) {
	if unreached(b.Where) != "" {
		return nil, nil
	}
	ways, others := b.When.Narrow("verb", "ind", "key", "terminus")
	for _, way := range ways {
		a := probe.Arm{Do: "hold", Step: b.Where.Step.String(), Done: b.Where.After, Verb: way["verb"], Key: plain(way["key"], "?[]{}\\")}
		a.Ind = plain(way["ind"], "*")
		if s := b.Where.Step; s != traces.CacheRead && s != traces.Expiry && s != traces.CacheWrite {
			a.Terminus = plain(way["terminus"], "*") // at these it is the cache for the probe
		}
		arms = append(arms, a)
	}
	return arms, others
}

// unreached is why nothing stops at a place in other processes; "" if requests do.
func unreached(w debugger.Where) string {
	switch {
	case w.Code != (debugger.Place{}):
		return "only their requests can be held, not their programs"
	case w.Step == traces.ExpirySet:
		return "Puppet dates an answer on its way from the terminus to the cache"
	}
	return ""
}

// plain returns "", which matches all, for a text with characters that mean something
// else to the probe. The text is tested here again.
func plain(text, special string) string {
	if strings.ContainsAny(text, special) {
		return ""
	}
	return text
}

// Note is what users should know of a breakpoint in the processes that are attached;
// "" if they test it as it is, or if there are none.
func (h *Holder) Note(b *debugger.Breakpoint) string {
	if len(h.processes()) == 0 {
		return ""
	}
	_, others := Compile(b)
	switch why := unreached(b.Where); {
	case why != "":
		return "nothing stops " + b.Where.String() + " in other processes: " + why
	case len(others) > 0:
		return "other processes cannot test " + strings.Join(others, ", ") + ": each request that gets there waits for a moment until this program has"
	}
	return ""
}
