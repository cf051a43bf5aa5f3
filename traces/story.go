package traces

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Story returns in one sentence what matters most about a request: not what was
// called, but why the answer is what it is.
func Story(t *Trace) string {
	if t.Outcome == Run {
		return "in progress"
	}
	if t.Outcome == HeldOutcome {
		if held := storyOfNote(t); held != "" {
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
	switch q, primary := t.Steps[Terminus], t.Primary.Winner().Terminus; {
	case t.Served == ByInjection && q.Took > 0:
		return "the caller got that instead of what terminus " + primary + " had answered"
	case t.Served == ByInjection && t.Steps[CacheRead].Took > 0 && t.Steps[CacheRead].Answer == Found:
		return "the caller got that instead of what cache " + t.Cache.Winner().Terminus + " had answered"
	case t.Served == ByInjection:
		return "the caller got that, and terminus " + primary + " was not asked"
	case t.Error != "" && t.failedByYou():
		return "the caller got that error" + t.then()
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
		storyOfInjection, storyOfRefusal, storyOfLeftover, storyOfNote, storyOfRoute, storyOfFailure, storyOfChoice,
		storyOfCache, storyOfNothing, storyOfAnswer,
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
	return cmp.Or(storyOfNote(t), "the answer was injected by you")
}

// storyOfRefusal is about an expired entry when the terminus may not be asked,
// which is why there is no answer.
func storyOfRefusal(t *Trace) string {
	expiry := t.Steps[Expiry]
	if expiry.Answer != Expired || t.Steps[Terminus].Because.Reason != SkippedIgnoreTerminus {
		return ""
	}
	_, ago, _ := strings.Cut(expiry.Because.About, ", ")
	return fmt.Sprintf("cache had it, expired %s ago; primary skipped by flag", human(strings.TrimSuffix(ago, " ago")))
}

// storyOfLeftover is about an answer of a terminus that is not the configured
// one. A failure comes first.
func storyOfLeftover(t *Trace) string {
	if t.Outcome != Good && t.Outcome != Hit {
		return ""
	}
	return storyOfChoice(t)
}

// storyOfNote is about the strongest note.
func storyOfNote(t *Trace) string {
	if len(t.Notes) == 0 {
		return ""
	}
	return t.Notes[0]
}

// storyOfRoute is about what decided the route, or would have. A failure comes
// first.
func storyOfRoute(t *Trace) string {
	if t.Error != "" && t.Steps[Route].Answer != Raised {
		return ""
	}
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

// Ours begins a message about what this program lacks. It is no failure of
// Puppet, so that nothing stands before it.
const Ours = "indirtui has no "

func storyOfFailure(t *Trace) string {
	term, write := t.Steps[Terminus], t.Steps[CacheWrite]
	primary, cache := t.Primary.Winner().Terminus, t.Cache.Winner().Terminus
	switch {
	case strings.HasPrefix(t.Error, Ours):
		return t.Error + t.then()
	case term.Because.Reason == VerbMissing:
		return fmt.Sprintf("terminus %s has no %s", primary, t.Verb)
	case write.Answer == Raised && t.Verb == Find:
		return "primary ok, cache write failed (stage cache.write): " + t.Error + t.hiddenCause()
	case write.Answer == Raised && (term.Answer == Written || term.Answer == Removed):
		return fmt.Sprintf("terminus %s: %s; cache %s failed: %s", primary, term.Answer, cache, t.Error)
	case t.Error != "":
		return t.stageOfError() + ": " + t.Error + t.hiddenCause() + t.then()
	}
	for _, f := range t.Faults {
		if f.Shown {
			continue
		}
		if f.Step == CacheRead {
			return "cache read error swallowed: " + f.Message + after(t)
		}
		return f.Origin + " error swallowed: " + f.Message + after(t)
	}
	return ""
}

func (t *Trace) stageOfError() string {
	s, ok := t.broken()
	switch {
	case !ok:
		return "failed"
	case s == Terminus:
		return "terminus " + t.Primary.Winner().Terminus + " failed"
	case s == CacheRead || s == CacheWrite:
		return s.String() + " " + t.Cache.Winner().Terminus + " failed"
	}
	return s.String() + " failed"
}

// hiddenCause is what the error that reached the caller leaves out.
func (t *Trace) hiddenCause() string {
	for i := len(t.Faults) - 1; i >= 0; i-- {
		f := &t.Faults[i]
		line, _, _ := strings.Cut(strings.TrimSpace(f.Hidden), "\n")
		if f.Shown && line != "" && !strings.Contains(t.Error, line) {
			return " (" + line + ")"
		}
	}
	return ""
}

// then is what the caller did about an error, if known: the part after the
// colon in Rescue.
func (t *Trace) then() string {
	because := t.Steps[Caller].Because
	if _, did, ok := strings.Cut(because.About, ": "); ok && because.Reason == Rescued {
		return "; " + did
	}
	return ""
}

// after is what the request did once an error had been swallowed.
func after(t *Trace) string {
	switch term := t.Steps[Terminus]; term.Answer {
	case OK, False:
		return "; terminus " + t.Primary.Winner().Terminus + " answered instead"
	case Nothing:
		return "; terminus " + t.Primary.Winner().Terminus + " had nothing either"
	case NotAsked:
		return "; the terminus was not asked"
	}
	return ""
}

// storyOfChoice is about a terminus that is not the configured one.
func storyOfChoice(t *Trace) string {
	c := t.Primary.Winner()
	switch c.Kind {
	case FromFace:
		s := "terminus set by face " + c.Source
		if !c.At.IsZero() {
			s += " at " + c.At.Format("15:04:05")
		}
		return s
	case FromThread:
		return "thread-local override: " + c.Terminus + ", " + c.Source
	}
	return ""
}

func storyOfCache(t *Trace) string {
	read, expiry := t.Steps[CacheRead], t.Steps[Expiry]
	primary, cache := t.Primary.Winner().Terminus, t.Cache.Winner().Terminus
	switch {
	case t.Verb == Expire && t.Steps[ExpirySet].Because.Reason == NoExpiryKept:
		return fmt.Sprintf("no effect: %s/%s drops expiration", t.Indirection, cache)
	case t.Verb == Expire:
		return ""
	case t.Outcome == Stale:
		failed := "terminus " + primary + " had failed"
		if t.Failed != 0 {
			failed = fmt.Sprintf("#%d had failed", t.Failed)
		}
		return fmt.Sprintf("%s, so cache %s answered%s; %s was not asked again%s", failed, cache, t.age(), primary, t.failedWith())
	case t.Served == ByCache && t.Failed != 0:
		return fmt.Sprintf("hit in cache %s%s, primary %s not asked; last primary result: error of #%d%s", cache, t.age(), primary, t.Failed, t.failedWith())
	case t.Served == ByCache && t.Steps[Filter].Because.Reason == CacheNotFiltered:
		return "cached result is unfiltered"
	case t.Served == ByCache && t.Steps[Terminus].Because.Reason == SkippedIgnoreTerminus && t.Caller != "":
		return fmt.Sprintf("primary skipped: ignore_terminus set by %s; cache %s answered%s", t.Caller, cache, t.age())
	case t.Served == ByCache && expiry.Because.Reason == NoExpiryKept:
		return fmt.Sprintf("immortal cache entry: %s/%s drops expiration; %s not asked%s", t.Indirection, cache, primary, t.age())
	case t.Served == ByCache && expiry.Because.Reason == NotExpired:
		return fmt.Sprintf("cache hit, expires in %s; %s not run", human(strings.TrimPrefix(expiry.Because.About, "for ")), primary)
	case t.Served == ByCache:
		return fmt.Sprintf("cache hit in %s; %s not asked", cache, primary)
	case t.Named != "" && t.Indirection != "file_metadata" && t.Indirection != "file_content": // names are as in the file
		return fmt.Sprintf("cache key %s ≠ requested %s: the answer goes by another name", t.Named, t.Key)
	case read.Because.Reason == IgnoredByCaller && cache != "":
		return "cache skipped: flag from " + orUnknown(t.Caller)
	case t.Verb == Save && t.Indirection == "report" && t.Application == "device" && cache == "":
		return "no cache set for report in application device"
	}
	return ""
}

// failedWith is the message of the failure that a cache hides.
func (t *Trace) failedWith() string {
	line, _, _ := strings.Cut(t.FailedWith, "\n")
	if line == "" {
		return ""
	}
	return ": " + line
}

// age returns the age of an entry of the cache, if known.
func (t *Trace) age() string {
	if age := t.CacheAge(); age != "" {
		return ", written " + age + " ago"
	}
	return ""
}

// CacheAge returns how old the entry was that the cache had: "1h 31m"; "" if
// that is not known.
func (t *Trace) CacheAge() string {
	for i := range t.Spans {
		if t.Spans[i].Step != CacheRead {
			continue
		}
		for _, a := range t.Spans[i].Attrs {
			if at, err := time.Parse(time.RFC3339, a.Value); a.Key == "written" && err == nil {
				return Age(t.Start.Sub(at))
			}
		}
	}
	return ""
}

// Age writes how long ago something was, in the two units that matter: "42s",
// "12m", "1h 31m", "41d".
func Age(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh %02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

func storyOfNothing(t *Trace) string {
	term := t.Steps[Terminus]
	primary := t.Primary.Winner().Terminus
	switch {
	case t.Outcome != Nil && t.Outcome != NilHidden:
		return ""
	case term.Because.Reason == SkippedIgnoreTerminus:
		return "nothing in the cache; primary skipped by flag"
	case term.Because.Reason == NilFromEmptyOutput && t.Indirection == "node":
		return "the classifier (ENC) printed nothing, so Puppet has no node"
	case term.Answer == Nothing && term.Because.About != "":
		return fmt.Sprintf("terminus %s has nothing: %s", primary, term.Because.Words())
	}
	return fmt.Sprintf("terminus %s has nothing by that name", primary)
}

func storyOfAnswer(t *Trace) string {
	primary := t.Primary.Winner()
	verbs := map[Verb]string{Find: "answered", Search: "listed", Head: "has it", Save: "stored it", Destroy: "removed it", Expire: "expired it"}
	s := fmt.Sprintf("terminus %s %s", primary.Terminus, verbs[t.Verb])
	switch {
	case t.Verb == Save && t.Steps[Terminus].Answer == NotAsked:
		s = "primary skipped by flag; cache " + t.Cache.Winner().Terminus + " stored it"
	case t.Verb == Expire:
		s = "cache " + t.Cache.Winner().Terminus + " expired it"
		if t.Steps[CacheRead].Answer != Found {
			s = "nothing to expire"
		}
	case t.Steps[Expiry].Answer == Expired:
		_, ago, _ := strings.Cut(t.Steps[Expiry].Because.About, ", ")
		s += "; the cache entry had expired " + ago
	case t.Steps[CacheWrite].Answer == Written:
		s += "; cache " + t.Cache.Winner().Terminus + " written too"
	}
	return s
}

func orUnknown(s string) string {
	if s == "" {
		return "an unknown caller"
	}
	return s
}

// human formats a duration: "17 min", "3 h", "5 d".
func human(s string) string {
	d, err := time.ParseDuration(s)
	if err != nil {
		return s
	}
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Round(time.Second)/time.Second))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute)/time.Minute))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Round(time.Hour)/time.Hour))
	}
	return fmt.Sprintf("%d d", int(d/(24*time.Hour)))
}

// A Headline is the three lines that head every trace, before any detail.
type Headline struct {
	Answered string // "cache json", "nobody (error)"
	Asked    string // "terminus exec: failed"; "nobody"
	NotAsked string // "cache json (ignore_cache, by agent)"; "" if all were
	Decided  string // "exec: setting node_terminus, puppet.conf:7; json: routes.yaml:4"
}

// HeadlineOf returns who answered, what was asked and what not, with reasons,
// and who decided that.
func HeadlineOf(t *Trace) Headline {
	primary, cache := t.Primary.Winner(), t.Cache.Winner()
	h := Headline{Answered: "nobody"}
	switch {
	case t.Served == ByInjection:
		h.Answered = "you (injected)"
	case t.Served == ByCache:
		h.Answered = "cache " + cache.Terminus
	case t.Served == ByTerminus:
		h.Answered = "terminus " + primary.Terminus
	case t.Verb == Save && t.Steps[CacheWrite].Answer == Written:
		h.Answered = "cache " + cache.Terminus
	case t.Outcome == Run:
		h.Answered = "nobody yet"
	case t.Error != "":
		h.Answered = "nobody (error)"
	}
	var asked, not []string
	ask := func(who string, s Step) {
		q := t.Steps[s]
		switch {
		case q.Because.Reason == ByYou && q.Took == 0 && q.Answer != NotAsked:
			not = append(not, who+bracketed(q.Because.About))
		case q.Answer == NotAsked:
			if q.Because.Reason != VerbHasNoCache && q.Because.Reason != NoCacheRouted {
				not = append(not, who+bracketed(q.Because.Words()))
			}
		case q.Answer == NotReached:
			not = append(not, who+bracketed(cmp.Or(t.Why(s), "not reached")))
		default:
			asked = append(asked, who+": "+q.Answer.Words())
		}
	}
	if cache.Terminus != "" && (t.Verb == Find || t.Verb == Head || t.Verb == Expire) {
		ask("cache "+cache.Terminus, CacheRead)
	}
	if t.Verb != Expire && primary.Terminus != "" {
		ask("terminus "+primary.Terminus, Terminus)
	}
	if cache.Terminus != "" && (t.Verb == Save || t.Verb == Destroy) {
		ask("cache "+cache.Terminus, CacheWrite)
	}
	if cache.Terminus != "" && cache.Terminus != "off" && t.Verb == Search {
		not = append(not, "cache "+cache.Terminus+" (searches are never cached)")
	}
	h.Asked, h.NotAsked = strings.Join(asked, ", "), strings.Join(not, ", ")
	h.Asked = cmp.Or(h.Asked, "nobody")
	h.Decided = decided(primary)
	if cache.Terminus != "" {
		h.Decided += "; cache " + decided(cache)
	}
	return h
}

func bracketed(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

func decided(c Choice) string {
	switch {
	case c.Terminus == "":
		return "no terminus was chosen"
	case c.Source == "" || c.Source == c.Kind.String():
		return c.Terminus + ": " + c.Kind.String()
	case c.Kind == FromRequest || strings.Contains(c.Source, c.Kind.String()):
		return c.Terminus + ": " + c.Source
	}
	return c.Terminus + ": " + c.Kind.String() + ", " + c.Source
}
