package traces

import (
	"fmt"
	"strings"
)

// A RunEnd is how a run of an agent ended, by the report that it saves. The zero
// RunEnd is of a report without a status.
type RunEnd struct {
	Status     string // "failed", "changed", "unchanged"
	Noop       bool
	Corrective bool   // something had been changed behind Puppet's back
	Cached     string // cached_catalog_status: "not_used", "explicitly_requested", "on_failure"; "" before Puppet 4

	failed, restart, skipped int // resources
}

// Count takes in one resource.
func (e *RunEnd) Count(failed, notRestarted, skipped bool) {
	for _, c := range [...]struct {
		is bool
		n  *int
	}{{failed, &e.failed}, {notRestarted, &e.restart}, {skipped, &e.skipped}} {
		if c.is {
			*c.n++
		}
	}
}

// Stale reports whether an old catalog was applied because there was no new one.
// No request but the save of the report shows it: an agent reads its cache
// without asking. Pain P1.
func (e *RunEnd) Stale() bool { return e.Cached == "on_failure" }

// String is "status failed, 1 failed, noop".
func (e *RunEnd) String() string {
	text := "status " + e.Status
	for _, count := range [...]struct {
		n    int
		what string
	}{{e.failed, "failed"}, {e.restart, "failed to restart"}, {e.skipped, "skipped"}} {
		if count.n > 0 {
			text += fmt.Sprintf(", %d %s", count.n, count.what)
		}
	}
	if e.Corrective {
		text += ", corrective change"
	}
	if e.Noop {
		text += ", noop"
	}
	if cached := e.cached(); cached != "" {
		text += ", " + cached
	}
	return text
}

// cached is which catalog was applied, unless it was a new one.
func (e *RunEnd) cached() string {
	switch e.Cached {
	case "", "not_used":
		return ""
	case "on_failure":
		return "with the agent's cached catalog, because it got none from the server"
	case "explicitly_requested":
		return "with the agent's cached catalog, as use_cached_catalog is on"
	}
	return "with a cached catalog (" + e.Cached + ")"
}

// Sentence is what the story of the save reports; "" if there is no status. An old
// catalog comes first.
func (e *RunEnd) Sentence() string {
	if e.Status == "" {
		return ""
	}
	if cached := e.cached(); cached != "" {
		return "the run went " + cached + ": " + strings.TrimSuffix(e.String(), ", "+cached)
	}
	return "the run ended: " + e.String()
}
