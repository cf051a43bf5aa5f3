package traces

import (
	"fmt"
	"slices"
	"strings"
)

// appliedResources is what became of the resources that a run applied by requests.
type appliedResources struct {
	all     int
	failed  string // the first one
	why     string // it failed
	lost    string // the first that was left out because of it; a service counts before others
	others  int    // that were left out for the same reason
	byYou   string // the first that the user left out
	with    int    // that were not refreshed because of that
	service bool   // lost is one
	refresh bool   // it is a refresh that failed
}

// add takes in the save of a resource, and reports whether it was one.
func (a *appliedResources) add(t *Trace) bool {
	if t.Indirection != "resource" || t.Verb != Save {
		return false
	}
	a.all++
	typ, title, _ := strings.Cut(t.Key, "/")
	ref := typ + "[" + title + "]"
	if t.Error != "" {
		if a.failed == "" {
			a.failed, a.why = ref, t.Error
		}
		return true
	}
	if at := slices.IndexFunc(t.Faults, func(f Fault) bool { return f.Origin == "refresh" }); at >= 0 && a.failed == "" {
		a.failed, a.why, a.refresh = ref, t.Faults[at].Message, true
		return true
	}
	because := t.Steps[Terminus].Because
	switch {
	case because.Reason == ByYou && t.Outcome == Skipped:
		a.leftOut(ref, because.About)
	case because.Reason == PrefetchFailed && a.failed == "":
		a.failed, a.why = ref, because.Words()
	}
	causes := because.About // the first one comes first
	switch service := typ == "Service"; {
	case because.Reason != DependencyFailed || a.failed == "" || causes != a.failed && !strings.HasPrefix(causes, a.failed+", "):
	case a.lost == "":
		a.lost, a.service = ref, service
	case service && !a.service:
		a.lost, a.service = ref, true
		a.others++
	default:
		a.others++
	}
	return true
}

// leftOut takes in a resource that the user left out, or one that had an event by that.
func (a *appliedResources) leftOut(ref, about string) {
	switch {
	case a.byYou == "":
		a.byYou = ref
	case strings.HasPrefix(about, WithoutThatOf):
		a.with++
	}
}

// WithoutThatOf begins the reason where a resource was not refreshed because the refresh
// of another one, which follows, was left out.
const WithoutThatOf = "not refreshed without "

// cause is the first cause of what was not done: "Service[web] was not restarted:
// File[conf] failed (no space left); 11 more were skipped for the same reason". It is
// empty if nothing failed.
func (a *appliedResources) cause() string {
	if a.failed == "" {
		return a.choice()
	}
	text := fmt.Sprintf("%s failed (%s)", a.failed, a.why)
	if a.refresh {
		text = fmt.Sprintf("%s was not refreshed (%s), and no later run tries it again", a.failed, a.why)
	}
	switch {
	case a.service:
		text = a.lost + " was not restarted: " + text
	case a.lost != "":
		text = a.lost + " was skipped: " + text
	}
	switch a.others {
	case 0:
	case 1:
		text += "; 1 more was skipped for the same reason"
	default:
		text += fmt.Sprintf("; %d more were skipped for the same reason", a.others)
	}
	return text
}

// choice is what the user left out: "you left Service[web] out, and 1 more was not
// refreshed with it". It is empty if that is nothing.
func (a *appliedResources) choice() string {
	switch {
	case a.byYou == "":
		return ""
	case a.with == 0:
		return "you left " + a.byYou + " out"
	case a.with == 1:
		return "you left " + a.byYou + " out, and 1 more was not refreshed with it"
	}
	return fmt.Sprintf("you left %s out, and %d more were not refreshed with it", a.byYou, a.with)
}
