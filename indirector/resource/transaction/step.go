package transaction

import "context"

// A Step is a question that is asked of each resource, in this order.
type Step string

// The steps.
const (
	Dependencies Step = "dependencies"
	Schedule     Step = "schedule and tags"
	Provider     Step = "provider"
	Retrieve     Step = "retrieve"
	Compare      Step = "compare"
	Change       Step = "change" // one for each property that is out of sync
	Flush        Step = "flush"
	EventsOut    Step = "events out"
	Refresh      Step = "refresh"
)

// A Reason is why a step had its answer. The list is closed.
type Reason string

// The reasons.
const (
	InSync           Reason = "in-sync"
	OutOfSync        Reason = "out-of-sync"
	Noop             Reason = "noop"              // Detail: by the setting, or by the metaparameter
	ByTags           Reason = "tags"              // Detail: those that were asked for
	BySchedule       Reason = "schedule"          // Detail: its name
	DependencyFailed Reason = "dependency-failed" // Chain: up to the first failure
	PrefetchFailed   Reason = "prefetch-failed"   // Detail: the error
	Unsuitable       Reason = "unsuitable"        // Detail: the provider
	CheckRefused     Reason = "check-refused"
	CheckNotAsked    Reason = "check-not-asked" // of a plan. Detail: the check
	DeferredValue    Reason = "deferred"        // of a plan: it is computed in a run
	NotDeclared      Reason = "not-declared"    // nothing of it is managed
	RefreshedBy      Reason = "refreshed-by"    // Chain: what sent the events
	RefreshLost      Reason = "refresh-lost"    // it failed, and the next run does not try it again
	ByYou            Reason = "you"             // left out at a breakpoint. Detail: what
)

// An Answer is what became of a step.
type Answer struct {
	Step     Step
	Property string // of a change
	Text     string // "created", "skipped": in words
	Because  Reason
	Detail   string
	Chain    []*Resource
	Err      error
}

// An Observer sees the steps of a run, and may hold them. It is called on the goroutine
// of the run.
type Observer interface {
	// Before is called before a step is taken. An error is taken for its failure.
	Before(ctx context.Context, r *Resource, step Step, property string) error
	// After is called with what became of it.
	After(ctx context.Context, r *Resource, a Answer)
}

// skippedText is the text of an answer that leaves the resource out.
const skippedText = "skipped"

// before reports whether a step may be taken.
func (t *transaction) before(r *Resource, step Step, property string) error {
	if r.Kind == Whit {
		return nil
	}
	if t.visiting != nil {
		t.visiting.begin(step, property)
		if err := t.visiting.hold(step, property, nil); err != nil {
			return err
		}
	}
	if t.Observer == nil {
		return nil
	}
	return t.Observer.Before(t.ctx, r, step, property)
}

func (t *transaction) after(r *Resource, a Answer) {
	t.note(r, a)
	if t.Observer != nil && r.Kind != Whit {
		t.Observer.After(t.ctx, r, a)
	}
}

// stop lets the request of a resource be held before a step that only its trace has.
func (t *transaction) stop(r *Resource, step Step, property string) error {
	if t.visiting == nil || r.Kind == Whit {
		return nil
	}
	return t.visiting.hold(step, property, nil)
}

// note adds an answer to the trace of a request.
func (t *transaction) note(r *Resource, a Answer) {
	if t.visiting != nil && r.Kind != Whit {
		t.visiting.end(a)
	}
}
