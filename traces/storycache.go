package traces

import (
	"fmt"
	"strings"
	"time"
)

// storyOfStale is about an answer of a cache that hides a failure.
func storyOfStale(t *Trace) string {
	if t.Served != ByCache {
		return ""
	}
	failed := "had failed"
	if t.Failed != 0 {
		failed = fmt.Sprintf("had failed (#%d)", t.Failed)
	}
	switch {
	case t.Outcome == Stale:
		return fmt.Sprintf("%s %s, so the cached %s%s was used%s", t.subject(), failed, t.Indirection, t.aged(), t.failedWith())
	case t.Failed != 0:
		return fmt.Sprintf("%s answered, so %s was not asked; its last answer was an error (#%d)%s", t.cache(), t.object(), t.Failed, t.failedWith())
	}
	return ""
}

// storyOfCache is about why a cache answered, or did not. What is wrong with the
// route comes after it.
func storyOfCache(t *Trace) string {
	s := t.cached()
	if note := storyOfRoute(t); s != "" && note != "" && note != s {
		s += "; " + note
	}
	return s
}

func (t *Trace) cached() string {
	cache := t.Cache.Winner().Terminus
	switch {
	case t.Verb == Expire && t.Steps[ExpirySet].Because.Reason == NoExpiryKept:
		return fmt.Sprintf("nothing expires: %s does not store an expiry for %s", cache, t.many())
	case t.Verb == Expire:
		return ""
	case t.Served == ByCache:
		return storyOfHit(t)
	case t.Steps[Expiry].Answer == Expired:
		return storyOfExpiry(t)
	case t.Named != "" && t.Indirection == "catalog" && t.Application == "agent":
		return fmt.Sprintf("the catalog is named %s, not %s: the agent keeps it as %s, so that a fallback for %s will find nothing", t.Named, t.Key, t.Named, t.Key)
	case t.Named != "" && t.Indirection == "resource" && strings.EqualFold(t.Named, t.Key): // the type is written large
	case t.Named != "" && t.Indirection != "file_metadata" && t.Indirection != "file_content": // names are as in the file
		return fmt.Sprintf("the answer is named %s, not %s", t.Named, t.Key)
	case t.Steps[CacheRead].Because.Reason == IgnoredByCaller && cache != "":
		who, part := t.who()
		return fmt.Sprintf("%s asked not to use the cache (%s)", orCaller(who, part), strings.TrimSuffix("ignore_cache, "+part, ", "))
	case t.Verb == Save && t.Indirection == "report" && t.Application == "device" && cache == "":
		return NoLastReport
	}
	return ""
}

// NoLastReport is the warning of puppet device about its reports. Gap S-33.
const NoLastReport = "puppet device keeps no last report: it has no cache for reports"

// storyOfHit is about an answer of a cache that hides no failure.
func storyOfHit(t *Trace) string {
	expiry, cache := t.Steps[Expiry].Because, t.Cache.Winner().Terminus
	who, part := t.who()
	switch {
	case t.Indirection == "catalog" && t.Steps[Filter].Because.Reason == CacheNotFiltered:
		return "exported and virtual resources are still in it: a cached catalog is not filtered"
	case t.Steps[Terminus].Because.Reason == SkippedIgnoreTerminus && part == "use_cached_catalog":
		return fmt.Sprintf("use_cached_catalog is on: %s was not asked, and the cached catalog%s was used", t.object(), t.aged())
	case t.Steps[Terminus].Because.Reason == SkippedIgnoreTerminus && who != "":
		return fmt.Sprintf("%s forbade asking %s (ignore_terminus), so the cached %s%s was used", who, t.object(), t.Indirection, t.aged())
	case expiry.Reason == NoExpiryKept:
		return fmt.Sprintf("served from a %scache entry that never expires (%s does not store an expiry for %s); %s was not asked", t.old(), cache, t.many(), t.object())
	case expiry.Reason == NotExpired && t.object() == "facter":
		return fmt.Sprintf("cached facts, good for %s; facter was not run", more(expiry.About))
	case expiry.Reason == NotExpired:
		return fmt.Sprintf("cached %s, good for %s; %s was not asked", t.Indirection, more(expiry.About), t.object())
	}
	return fmt.Sprintf("%s answered; %s was not asked", t.cache(), t.object())
}

// storyOfExpiry is about a cache whose entry had expired. That two clocks disagree
// is the reason only if a note of the cache reports it.
func storyOfExpiry(t *Trace) string {
	s := fmt.Sprintf("the cached %s expired %s ago%s, so %s was asked", t.Indirection, t.late(), t.kept(), t.object())
	if t.Steps[Terminus].Answer == Nothing {
		s += " and has nothing"
	}
	if clocks := t.explained(CacheRead, AnAnswer); clocks != "" {
		s += "; " + clocks
	}
	return s
}

// expiration returns when an expired entry expired and how long ago that was, as
// written in the reason of the step.
func (t *Trace) expiration() (at, ago string) {
	at, ago, _ = strings.Cut(t.Steps[Expiry].Because.About, ", ")
	return at, strings.TrimSuffix(ago, " ago")
}

// late is how long ago the entry expired.
func (t *Trace) late() string {
	_, ago := t.expiration()
	return human(ago)
}

// kept is for how long the entry was kept, if its file has the time.
func (t *Trace) kept() string {
	text, _ := t.expiration()
	at, err := time.Parse(time.RFC3339, text)
	written := t.cacheWritten()
	if d := at.Sub(written); err == nil && !written.IsZero() && d > 0 {
		return " (kept " + Human(d) + ")"
	}
	return ""
}

// failedWith is what went wrong in the failure that a cache hides.
func (t *Trace) failedWith() string {
	if t.FailedWith == "" {
		return ""
	}
	line, _, _ := strings.Cut(t.FailedWith, "\n")
	return ": " + t.sentence(&Fault{Step: Terminus, Message: strings.TrimRight(line, ": ")}).text
}

// aged is " (3 days old)", if the age of the entry is known.
func (t *Trace) aged() string {
	if at := t.cacheWritten(); !at.IsZero() {
		return " (" + Human(t.Start.Sub(at)) + " old)"
	}
	return ""
}

// old is "30-day-old ", if the age of the entry is known.
func (t *Trace) old() string {
	switch at := t.cacheWritten(); {
	case at.IsZero():
		return ""
	case t.Start.Sub(at) < time.Second:
		return "new "
	}
	n, unit, _ := strings.Cut(Human(t.Start.Sub(t.cacheWritten())), " ")
	unit = map[string]string{"s": "second", "min": "minute", "hours": "hour", "days": "day"}[unit]
	return n + "-" + unit + "-old "
}

// more is "17 more minutes".
func more(left string) string {
	n, unit, _ := strings.Cut(human(strings.TrimPrefix(left, "for ")), " ")
	switch unit {
	case "s":
		unit = "seconds"
	case "min":
		unit = "minutes"
	}
	return n + " more " + unit
}

// many is "nodes".
func (t *Trace) many() string {
	if strings.HasSuffix(t.Indirection, "s") {
		return t.Indirection
	}
	return t.Indirection + "s"
}

// CacheAge returns how old the entry was that the cache had: "1h 31m"; "" if
// that is not known.
func (t *Trace) CacheAge() string {
	if at := t.cacheWritten(); !at.IsZero() {
		return Age(t.Start.Sub(at))
	}
	return ""
}

// cacheWritten is when the file of the entry was written; zero if that is not
// known.
func (t *Trace) cacheWritten() time.Time {
	for i := range t.Spans {
		if at := t.Spans[i].Written(); t.Spans[i].Step == CacheRead && !at.IsZero() {
			return at
		}
	}
	return time.Time{}
}

// LateFile is a sentence about a file that was written after its instance had
// expired. An expire lets it end a minute before it is written (rule IND-EXP-04);
// the time of a copied file is that of the copy. Gap S-50.
func LateFile(expiration, written, now time.Time) string {
	const slack = 5 * time.Second // of a clock that is read to the second, and of a slow disk
	late := written.Sub(expiration)
	switch {
	case written.Sub(now) > slack:
		return fmt.Sprintf("two clocks disagree: the file is dated %s ahead of this host", Human(written.Sub(now)))
	case (late - time.Minute).Abs() < slack:
		return "it was made to expire, as saving the facts of a node does"
	}
	return fmt.Sprintf("the file was written %s after it had expired: it was copied, or two clocks disagree", Human(late))
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

// human is Human of a duration that is written as a text, or else the text.
func human(s string) string {
	d, err := time.ParseDuration(s)
	if err != nil {
		return s
	}
	return Human(d)
}

// Human writes a duration in a sentence: "17 min", "3 hours", "5 days".
func Human(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", max(d, 0).Round(time.Second)/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", d.Round(time.Minute)/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d hours", d.Round(time.Hour)/time.Hour)
	}
	return fmt.Sprintf("%d days", d.Round(24*time.Hour)/(24*time.Hour))
}
