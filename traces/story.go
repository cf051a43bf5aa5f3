package traces

import (
	"cmp"
	"fmt"
	"strings"
)

// Story returns in one sentence what matters most about a request: not what was
// called, but why the answer is what it is. An error comes first, then why this
// one answered; a note that explains neither is no story.
func Story(t *Trace) string {
	if t.Outcome == Run {
		return "in progress"
	}
	if t.Outcome == HeldOutcome {
		if held := t.explanation(AnAnswer); held != "" {
			return held
		}
		return "held: waiting for a person"
	}
	if touched := strings.Join(t.Touched, "; "); touched != "" {
		return touched + "; " + storyOfEnd(t)
	}
	return storyOfItself(t)
}

// storyOfEnd is what came of a request that was changed.
func storyOfEnd(t *Trace) string {
	switch q, primary := t.Steps[Terminus], t.object(); {
	case t.Served == ByInjection && q.Took > 0:
		return "the caller got that instead of what " + primary + " had answered"
	case t.Served == ByInjection && t.Steps[CacheRead].Took > 0 && t.Steps[CacheRead].Answer == Found:
		return "the caller got that instead of what " + t.cache() + " had answered"
	case t.Served == ByInjection:
		return "the caller got that, and " + primary + " was not asked"
	case t.Error != "" && t.failedByYou():
		return cmp.Or(t.then(), "the caller got that error")
	}
	return storyOfItself(t)
}

// failedByYou reports whether the first step that failed was made to.
func (t *Trace) failedByYou() bool {
	for _, q := range t.Steps {
		if q.Answer == Raised {
			return q.Because.Reason == ByYou
		}
	}
	return false
}

// storyOfItself is the story but for what was changed.
func storyOfItself(t *Trace) string {
	for _, sentence := range []func(*Trace) string{
		storyOfInjection, storyOfFailure, storyOfHidden, storyOfStale, storyOfRefusal, storyOfLeftover,
		storyOfExplanation, storyOfPassed, storyOfCache, storyOfRoute, storyOfChoice, storyOfNothing, storyOfAnswer,
	} {
		if s := sentence(t); s != "" {
			return s
		}
	}
	return t.Verb.String() + " " + t.Indirection + ": " + t.Outcome.String()
}

func storyOfInjection(t *Trace) string {
	if t.Served != ByInjection {
		return ""
	}
	return cmp.Or(t.explained(Terminus, AnAnswer), "the answer was injected by you")
}

// decisive returns the step that decided the outcome: the one that failed, else
// the one that answered, else the last that was asked.
func (t *Trace) decisive() Step {
	failed, ok := t.broken()
	switch {
	case t.Error != "" && ok:
		return failed
	case t.Served == ByCache, t.Verb == Find && t.Steps[Terminus].Answer == NotAsked:
		return CacheRead
	case t.Verb == Save && t.Steps[Terminus].Answer == NotAsked:
		return CacheWrite
	}
	return Terminus
}

// explained returns the first note that explains an outcome of a step; "" if
// there is none.
func (t *Trace) explained(s Step, e Explains) string {
	for i := range t.Notes {
		if n := &t.Notes[i]; n.Step == s && n.Explains == e {
			return n.Text
		}
	}
	return ""
}

// explanation returns the note that explains the outcome; "" if there is none.
func (t *Trace) explanation(e Explains) string { return t.explained(t.decisive(), e) }

// Explain puts a sentence that explains the answer before all other notes.
func (t *Trace) Explain(sentence string) {
	t.Notes = append([]Remark{{t.decisive(), AnAnswer, sentence}}, t.Notes...)
}

// storyOfExplanation is why the step that decided answered as it did, or else what
// the cache made of it.
func storyOfExplanation(t *Trace) string {
	return cmp.Or(t.explanation(AnAnswer), t.explained(CacheWrite, AnAnswer))
}

// storyOfRefusal is about an expired entry when the terminus may not be asked,
// which is why there is no answer.
func storyOfRefusal(t *Trace) string {
	if t.Steps[Expiry].Answer != Expired || t.Steps[Terminus].Because.Reason != SkippedIgnoreTerminus {
		return ""
	}
	return fmt.Sprintf("the cached copy expired %s ago, and %s forbade asking anyone else", t.late(), orCaller(t.who()))
}

// storyOfLeftover is about an answer of a terminus that is not the configured
// one. One that was named for this request is no surprise, and explains little.
func storyOfLeftover(t *Trace) string {
	c := t.Primary.Winner()
	if t.Outcome != Good && t.Outcome != Hit || c.Kind == FromFace && c.At.IsZero() {
		return ""
	}
	return storyOfChoice(t)
}

// storyOfRoute is about what decided the route, or would have.
func storyOfRoute(t *Trace) string {
	if s := t.Primary.note(); s != "" && t.Served != ByCache {
		return s
	}
	if t.Verb == Search {
		return "" // no cache is asked
	}
	return t.Cache.note()
}

// note returns the note of the winner, or of a stronger candidate that was not
// applied and would have changed the route; else "".
func (s Slot) note() string {
	winner := s.Winner()
	for _, c := range s {
		wins := c.Why == "" && c.Terminus != ""
		if c.Note != "" && (wins || c.Terminus != winner.Terminus) {
			return c.Note
		}
		if wins {
			break
		}
	}
	return ""
}

// storyOfChoice is about a terminus that is not the configured one.
func storyOfChoice(t *Trace) string {
	c := t.Primary.Winner()
	by, _, _ := strings.Cut(c.Source, ", ") // what comes behind is the line of Ruby
	switch {
	case c.Kind == FromFace && c.At.IsZero():
		return fmt.Sprintf("`puppet %s` chose the terminus %s", by, c.Terminus)
	case c.Kind == FromFace:
		return fmt.Sprintf("`puppet %s` has switched %s to %s (%s) and did not switch back", by, t.Indirection, c.Terminus, c.At.Format("15:04:05"))
	case c.Kind == FromThread:
		return fmt.Sprintf("only thread %q has another terminus (%s)", strings.TrimPrefix(by, "thread "), c.Terminus)
	}
	return ""
}

func storyOfNothing(t *Trace) string {
	term := t.Steps[Terminus]
	switch {
	case t.Outcome != Nil && t.Outcome != NilHidden:
		return ""
	case term.Because.Reason == SkippedIgnoreTerminus:
		return fmt.Sprintf("the cache has nothing, and %s forbade asking anyone else (ignore_terminus)", orCaller(t.who()))
	case term.Because.Reason == NilFromEmptyOutput && t.Indirection == "node":
		return EmptyClassifier
	case term.Answer == Nothing && term.Because.About != "":
		return fmt.Sprintf("%s has nothing: %s", t.subject(), term.Because.Words())
	}
	return t.subject() + " has nothing by that name"
}

func storyOfAnswer(t *Trace) string {
	verbs := map[Verb]string{Find: "answered", Search: "listed", Head: "has it", Save: "stored it", Destroy: "removed it", Expire: "expired it"}
	s := t.subject() + " " + verbs[t.Verb]
	switch {
	case t.Verb == Save && t.Steps[Terminus].Answer == NotAsked:
		return fmt.Sprintf("%s stored it; %s forbade asking %s (ignore_terminus)", t.cache(), orCaller(t.who()), t.object())
	case t.Verb == Expire && t.Steps[CacheRead].Answer != Found:
		return "nothing to expire"
	case t.Verb == Expire:
		return t.cache() + " expired it"
	case t.Steps[CacheRead].Because.Reason == AlwaysNil:
		return fmt.Sprintf("%s, as %s never does: it is only written", s, t.cache())
	case t.Steps[CacheWrite].Answer == Written:
		return s + ", and " + t.cache() + " keeps it"
	}
	return s
}

// subject is the terminus in a sentence that it begins: "the server", "terminus
// json".
func (t *Trace) subject() string {
	if t.Party == "" && t.asksServer() {
		return "the server"
	}
	return cmp.Or(t.Party, "terminus "+t.chosen())
}

// asksServer reports whether the terminus itself, or the one that it chose, asked
// over the network, or is of Puppet's REST family: recordings of earlier versions
// have no Party, and no exchange where a cache answered. What runs below other
// work is not its answer.
func (t *Trace) asksServer() bool {
	if t.chosen() == "rest" {
		return true
	}
	own := map[int]bool{0: true}
	for i := range t.Spans {
		switch s := &t.Spans[i]; {
		case s.Step != Terminus || !own[s.Parent]:
		case s.Kind == Network:
			return true
		case s.Kind == Choose:
			own[s.ID] = true
		}
	}
	return false
}

// chosen is the terminus that was asked: the one that the routed one passed the
// request on to, if it did.
func (t *Trace) chosen() string { return cmp.Or(t.Passed(Terminus), t.Primary.Winner().Terminus) }

// object is the terminus that was asked, or was not: "the server", "exec", "terminus
// json".
func (t *Trace) object() string {
	if t.Primary.Winner().Terminus == "exec" {
		return "exec"
	}
	return t.subject()
}

// cache is "the cache (json)".
func (t *Trace) cache() string { return "the cache (" + t.Cache.Winner().Terminus + ")" }

// who returns the caller in a sentence, and which part of it asked: "configurer
// (node lookup)" is the node lookup of the agent. Who is "" if it is not known.
func (t *Trace) who() (who, part string) {
	who, part, _ = strings.Cut(t.Caller, " (")
	if who == "configurer" || who == "agent" || strings.HasPrefix(who, "puppet/configurer.rb:") {
		who = "the agent"
	}
	return who, strings.TrimSuffix(part, ")")
}

func orCaller(who, _ string) string { return cmp.Or(who, "the caller") }
