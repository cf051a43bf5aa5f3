package traces

import "slices"

// Judge returns the outcome of a finished request from its own steps. Stale
// needs the requests before, see [JudgeStale]. Rule: UI design, section 4.
func Judge(t *Trace) Outcome { return judge(t, t.Served, t.Error != "") }

// Outcome returns what Judge would if the request ended now: answered by
// served, or failed.
func (l *Live) Outcome(served Served, failed bool) Outcome {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return Run
	}
	return judge(l.Trace, served, failed)
}

func judge(t *Trace, served Served, failed bool) Outcome {
	term, write := t.Steps[Terminus], t.Steps[CacheWrite]
	applied := judgeApplied(t)
	switch {
	case served == ByInjection:
		return Sim
	case failed && write.Answer == Raised && (term.Answer == Written || term.Answer == Removed):
		return Part
	case failed:
		return Err
	case soft(t):
		return Part
	case swallowed(t):
		return ErrHidden
	case applied != Run:
		return applied
	case served == ByCache:
		return Hit
	case served == ByTerminus:
		return Good
	case t.Verb == Save && (term.Answer == Written || write.Answer == Written):
		return Good
	case t.Verb == Expire:
		return Good
	case term.Because.Reason == NilFrom404 || term.Because.Reason == NilFromEmptyOutput:
		return NilHidden
	}
	return Nil
}

// judgeApplied returns what became of a resource that was applied; Run if none was.
func judgeApplied(t *Trace) Outcome {
	if t.Indirection != "resource" || t.Verb != Save {
		return Run
	}
	switch q := &t.Steps[Terminus]; q.Because.Reason {
	case InSync, CheckRefused:
		return Same
	case OutOfSync, RefreshedBy:
		return Changed
	case ByNoop:
		return Planned
	case ByTags, BySchedule, DependencyFailed, PrefetchFailed:
		return Skipped
	case NotDeclared: // one that is virtual is not even looked at
		if q.Answer == OK {
			return Same
		}
		return Skipped
	case ByYou:
		if q.Answer == NotAsked || q.Answer == Nothing {
			return Skipped
		}
	}
	return Run
}

// JudgeStale reports whether a request that a cache answered is stale: the
// terminus was skipped, and the last request of the same indirection and key
// in the same run failed.
func JudgeStale(t *Trace, previous Outcome) bool {
	return t.Outcome == Hit && previous == Err && t.Flags&IgnoreTerminus != 0
}

// soft reports whether a setting hides that a save stored nothing.
func soft(t *Trace) bool {
	return slices.ContainsFunc(t.Faults, func(f Fault) bool { return f.Soft })
}

func swallowed(t *Trace) bool {
	for i := range t.Faults {
		if !t.Faults[i].Shown {
			return true
		}
	}
	return false
}
