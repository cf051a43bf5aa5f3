package transaction

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/resource/types"
)

// A skip is why a resource is left out; the zero value is that it is not.
type skip struct {
	because Reason
	detail  string
	chain   []*Resource
}

// skipped asks in Puppet's order, and returns the first that holds. An error ends the
// run. Rules RES-SKIP-01 to RES-SKIP-04.
func (t *transaction) skipped(r *Resource) (skip, error) {
	if s := t.byTags(r); s.because != "" {
		return s, nil
	}
	if s, err := t.bySchedule(r); err != nil || s.because != "" {
		return s, err
	}
	if chain := t.failedDependencies(r); len(chain) > 0 {
		t.warnSkipped(r)
		return skip{DependencyFailed, "", chain}, nil
	}
	if t.status(r).Failed && t.prefetchFailed[keyOf(r)] != nil {
		t.log.resource(r, "warning", "Skipping because provider prefetch failed")
		return skip{because: PrefetchFailed, detail: t.prefetchFailed[keyOf(r)].Error()}, nil
	}
	switch {
	case r.virtual:
		t.log.resource(r, "debug", "Skipping because virtual")
		return skip{because: NotDeclared, detail: "virtual"}, nil
	case t.Device && r.RAL != nil && r.RAL.Type.ApplyTo == "host":
		t.log.resource(r, "debug", "Skipping host resources because running on a device")
		return skip{because: NotDeclared, detail: "host"}, nil
	case !t.Device && r.RAL != nil && r.RAL.Type.ApplyTo == "device":
		t.log.resource(r, "debug", "Skipping device resources because running on a posix host")
		return skip{because: NotDeclared, detail: "device"}, nil
	}
	return skip{}, nil
}

// byTags leaves out what has a tag of skip_tags, or none of tags. Rule RES-SKIP-01.
func (t *transaction) byTags(r *Resource) skip {
	has := func(tag string) bool { return slices.Contains(r.Tags, tag) }
	switch {
	case slices.ContainsFunc(t.SkipTags, has):
		t.log.resource(r, "debug", "Skipping with skip tags "+strings.Join(t.SkipTags, ", "))
		return skip{because: ByTags, detail: "skip_tags " + strings.Join(t.SkipTags, ", ")}
	case t.missesTags(r):
		t.log.resource(r, "debug", "Not tagged with "+strings.Join(t.Tags, ", "))
		return skip{because: ByTags, detail: strings.Join(t.Tags, ", ")}
	}
	return skip{}
}

func (t *transaction) missesTags(r *Resource) bool {
	return len(t.Tags) > 0 && !slices.ContainsFunc(t.Tags, func(tag string) bool { return slices.Contains(r.Tags, tag) })
}

// bySchedule leaves out what is not due. Rule RES-SKIP-03.
func (t *transaction) bySchedule(r *Resource) (skip, error) {
	if t.IgnoreSchedules || r.RAL == nil {
		return skip{}, nil
	}
	name := r.RAL.Value("schedule")
	if name.IsNil() {
		return skip{}, nil
	}
	s := t.catalog.find(types.Ref{Type: "schedule", Title: name.Text()})
	if s == nil {
		return skip{}, failf("Could not find schedule %s", name.Text())
	}
	checked := t.state.checked(r)
	if checked.IsZero() {
		checked = time.Unix(0, 0)
	}
	if !due(s.RAL, checked.Truncate(time.Second), t.System.Now()) {
		t.log.resource(r, "debug", "Not scheduled")
		return skip{because: BySchedule, detail: name.Text()}, nil
	}
	if s.RAL.Has("period") && s.RAL.Value("repeat").Text() == "0" && s.RAL.Value("periodmatch").Text() == "distance" {
		return skip{}, &indirector.Failure{Class: "ZeroDivisionError", Message: "divided by 0"}
	}
	return skip{}, nil
}

// propagate collects the failed dependencies of a resource: those that it waits for and
// that failed, and theirs. Rule RES-TX-03.
func (t *transaction) propagate(r *Resource) {
	s := t.status(r)
	if err := t.prefetchFailed[keyOf(r)]; err != nil {
		t.failWith(s, fmt.Sprintf("Prefetch failed for %s provider '%s'", r.RAL.Type.Name, r.RAL.Provider.Name))
	}
	seen := map[*Resource]bool{}
	var failed []*Resource
	add := func(x *Resource) {
		if !seen[x] {
			seen[x] = true
			failed = append(failed, x)
		}
	}
	r.dependencies(func(d *Resource) bool {
		ds := t.status(d)
		for _, x := range ds.failed {
			add(x)
		}
		if ds.hasFailed() {
			add(d)
		}
		return true
	})
	s.failed = failed
}

// failedDependencies announces those that were not announced in this run, and returns
// them all. Rule RES-TX-04.
func (t *transaction) failedDependencies(r *Resource) []*Resource {
	failed := t.status(r).failed
	switch {
	case t.MergeDependencyWarnings && r.Kind == Whit:
		t.announceClass(r, failed)
	case t.MergeDependencyWarnings || r.Kind == Whit:
	default:
		for _, d := range failed {
			if !t.announced[d.Ref()] {
				t.announced[d.Ref()] = true
				t.log.resource(r, "notice", fmt.Sprintf("Dependency %s has failures: %t", d, t.status(d).Failed))
			}
		}
	}
	return failed
}

func (t *transaction) announceClass(r *Resource, failed []*Resource) {
	var fresh []*Resource
	for _, d := range failed {
		if !t.announcedOfClass[d.Ref()] {
			fresh = append(fresh, d)
		}
	}
	for _, d := range fresh {
		t.announcedOfClass[d.Ref()] = true
		t.log.resource(r, "notice", fmt.Sprintf("Class dependency %s has failures: %t", d.Ref(), t.status(d).Failed))
	}
}

// warnSkipped warns once for each resource, or once for each class. Rule RES-TX-04.
func (t *transaction) warnSkipped(r *Resource) {
	if r.Kind == Whit {
		return
	}
	parent := r.Parent()
	if !t.MergeDependencyWarnings || parent == nil || len(t.status(parent).failed) == 0 {
		t.log.resource(r, "warning", "Skipping because of failed dependencies")
		return
	}
	for _, d := range t.status(parent).failed {
		if !t.warnedOfClass[d.Ref()] {
			t.warnedOfClass[d.Ref()] = true
			t.log.resource(parent, "warning", "Skipping resources in class because of failed class dependencies")
		}
	}
}
