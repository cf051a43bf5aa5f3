package traces

import (
	"cmp"
	"fmt"
	"strings"
)

// Cause is why the terminus failed, if that was explained, or else the error that the
// caller got; "" if there is neither.
func (t *Trace) Cause() string { return cmp.Or(t.explained(Terminus, AnyFailure), t.Error) }

// Ours begins a message about what this program lacks. It is no failure of
// Puppet, so that nothing stands before it.
const Ours = "indirtui has no "

// storyOfFailure is about the error that the caller got. What came of it stands
// before the text of the error, which may be long.
func storyOfFailure(t *Trace) string {
	switch {
	case t.Error == "":
		return ""
	case strings.HasPrefix(t.Error, Ours) && t.then() == "":
		return t.Error
	case strings.HasPrefix(t.Error, Ours):
		return t.Error + "; " + t.then()
	}
	if did := t.then(); did != "" {
		return did + ": " + t.failure()
	}
	return t.failure()
}

func (t *Trace) failure() string {
	term, write := t.Steps[Terminus], t.Steps[CacheWrite]
	note, f := t.explanation(AnyFailure), t.shownFault()
	wrong := t.sentence(f)
	why := cmp.Or(note, wrong.text)
	switch {
	case term.Because.Reason == VerbMissing:
		return fmt.Sprintf("%s cannot do %s", t.subject(), t.Verb)
	case write.Answer == Raised && t.Verb == Find:
		return fmt.Sprintf("%s answered, but the cache could not be written (%s), so Puppet throws the answer away", t.subject(), why)
	case write.Answer == Raised && term.Answer == Written:
		return fmt.Sprintf("%s stored it, but %s failed: %s", t.subject(), t.cache(), why)
	case write.Answer == Raised && term.Answer == Removed:
		return fmt.Sprintf("%s removed it, but %s failed: %s", t.subject(), t.cache(), why)
	case note != "":
		return note
	}
	s := t.failed() + ": " + wrong.text
	if failed, ok := t.broken(); wrong.known && ok && failed == Route || strings.HasPrefix(wrong.text, t.subject()+" ") {
		s = wrong.text // it names what failed
	}
	if cause := t.hiddenCause(); cause != "" && !wrong.whole {
		s += " (" + cause + ")"
	}
	return s
}

// shownFault is the fault that reached the caller, with the message that the
// caller got.
func (t *Trace) shownFault() *Fault {
	step, _ := t.broken()
	f := Fault{Step: step}
	for i := range t.Faults {
		if t.Faults[i].Shown {
			f = t.Faults[i]
		}
	}
	f.Message = t.Error
	return &f
}

// failed is "the server failed", or which step did.
func (t *Trace) failed() string {
	switch s, ok := t.broken(); {
	case !ok:
		return "failed"
	case s == Terminus:
		return t.subject() + " failed"
	case s == CacheRead:
		return t.cache() + " could not be read"
	case s == CacheWrite:
		return t.cache() + " could not be written"
	default:
		return s.String() + " failed"
	}
}

// hiddenCause is what the error that reached the caller leaves out.
func (t *Trace) hiddenCause() string {
	for i := len(t.Faults) - 1; i >= 0; i-- {
		f := &t.Faults[i]
		line, _, _ := strings.Cut(strings.TrimSpace(f.Hidden), "\n")
		if f.Shown && line != "" && !strings.Contains(t.Error, line) {
			return line
		}
	}
	return ""
}

// then is what the caller did about an error, if known: the part after the
// colon in Rescue.
func (t *Trace) then() string {
	because := t.Steps[Caller].Because
	if _, did, ok := strings.Cut(because.About, ": "); ok && because.Reason == Rescued {
		return did
	}
	return ""
}

// storyOfHidden is about an error that the caller did not get.
func storyOfHidden(t *Trace) string {
	for i := range t.Faults {
		f := &t.Faults[i]
		_, processor := processorOf(f)
		why := t.Wrong(f)
		switch {
		case f.Shown:
		case f.Soft:
			return why
		case f.Step == CacheRead:
			return t.cache() + " could not be read, and Puppet goes on without it" + t.after() + ": " + why
		case processor:
			return why + ", and the caller does not learn of it" + t.after()
		default:
			origin, _, _ := strings.Cut(f.Origin, " › ")
			return origin + " failed, and the caller does not learn of it" + t.after() + ": " + why
		}
	}
	return ""
}

// after is what the request did once an error had been hidden.
func (t *Trace) after() string {
	switch t.Steps[Terminus].Answer {
	case OK, False:
		return "; " + t.subject() + " answered"
	case Nothing:
		return "; " + t.subject() + " has nothing"
	case NotAsked:
		return "; nothing else was asked"
	}
	return ""
}
