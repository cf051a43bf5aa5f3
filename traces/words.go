package traces

import (
	"fmt"
	"strconv"
	"strings"
)

// A wording is a reason in words for users: alone, and with what it is about in
// the place of %s. Without about, what it is about adds nothing, or is too long.
type wording struct{ alone, about string }

// wordings are the words for every reason. Those that repeat the answer beside
// them are empty. Codes are for recordings, filters and programs.
var wordings = [ReasonCount]wording{
	DefaultInCode:  {"the default of this indirection", "%s"},
	BySetting:      {"a setting", "%s"},
	ByApplication:  {"the application", "%s"},
	ByRoutesFile:   {"routes.yaml", "%s"},
	ByStoreconfigs: {"storeconfigs is on", "%s"},
	ByFace:         {"a command of puppet set it", "set by puppet %s"},
	ByThread:       {"this thread only", "%s only"},
	ByYou:          {"you", "%s"},
	ByRequest:      {"this request names it", "%s"},
	NotApplied:     {"does not count", "does not count: %s"},

	NoCacheRouted:   {"no cache configured", "no cache: %s"},
	IgnoredByCaller: {"ignore_cache", "ignore_cache, by %s"},
	VerbHasNoCache:  {"not part of this verb", "not part of %s"},
	NotFound:        {"nothing under this key", "%s"},
	ExpiredAt:       {"too old", "expired %s"},
	NoExpiryKept:    {"never expires: no expiry is stored", "never expires: %s stores no expiry"},
	ReadFailed:      {"reading failed", "%s"},
	AlwaysNil:       {"it never has anything", ""},

	Asked:                 {"it is asked", "asks %s"},
	SkippedIgnoreTerminus: {"ignore_terminus", "ignore_terminus, by %s"},
	SkippedCacheHit:       {"the cache answered", ""},
	Returned:              {"", "%s"},
	ReturnedNil:           {"no reason given", "%s"},
	NilFrom404:            {"the server answered 404", "%s"},
	NilFromEmptyOutput:    {"the command printed nothing", "printed nothing: %s"},
	TerminusRaised:        {"it failed", "%s"},
	VerbMissing:           {"it cannot do this", "it cannot do %s"},
	TerminusUnknown:       {"there is none by that name", "there is no %s"},

	SkippedIgnoreCacheSave: {"ignore_cache_save", "ignore_cache_save, by %s"},
	SkippedNoResult:        {"nothing was found", ""},
	StoreFailed:            {"writing failed", "%s"},
	SoftFailed:             {"a setting makes this no error", "%s makes this no error"},

	NoNodeInRequest:   {"the request names no node", ""},
	NoRule:            {"no rule", ""},
	RuleAllowed:       {"a rule allows it", "%s"},
	RuleDenied:        {"a rule denies it", "%s"},
	NothingToValidate: {"nothing to check", ""},
	ValidationFailed:  {"it is not what was asked for", "%s"},

	FormatRequested: {"the format that was asked for", "%s was asked for"},
	FormatAccepted:  {"a format that was accepted", "%s was accepted"},
	FellBack:        {"another format had failed", "another format had failed: %s"},
	Lossy:           {"the format cannot keep all of it", "the format cannot keep all of it: %s"},

	EnvAgent:    {"the agent chose it", "the agent chose it: %s"},
	EnvCLI:      {"the command line", "the command line: %s"},
	EnvLastRun:  {"as in the last run", "as in the last run: %s"},
	EnvENC:      {"the classifier chose it", "the classifier chose it: %s"},
	EnvCatalog:  {"the catalog came with it", "the catalog came with it: %s"},
	EnvNotFound: {"there is no such environment", "there is no environment %s"},

	TTL:                 {"the lifetime of this indirection", "%s"},
	AlreadySet:          {"it had one already", ""},
	NoExpiration:        {"it never expires", ""},
	NotExpired:          {"not expired yet", "good for %s more"},
	TerminusHasNoFilter: {"the terminus has no filter", ""},
	CacheNotFiltered:    {"a cached answer is not filtered", ""},

	EarlierStepRaised:   {"an earlier step failed", ""},
	EarlierStepAnswered: {"an earlier step answered", ""},

	CallerReturned: {"", "to %s"},
	Rescued:        {"the caller went on", "caught by %s"},
	Retried:        {"asked again", "asked again: %s"},
	CallerRaised:   {"it reached the caller", "%s"},
	CallerUnknown:  {"not seen here", ""},

	InSync:           {"it is as it should be", "as it should be, %s"},
	OutOfSync:        {"it was not as it should be", "%s differed"},
	ByNoop:           {"noop", "%s"},
	ByTags:           {"its tags", "not of the tags asked for: %s"},
	BySchedule:       {"its schedule", "it is not due by schedule %s"},
	DependencyFailed: {"what it waits for failed", "%s failed"},
	PrefetchFailed:   {"reading all of its kind failed", "reading all of its kind failed: %s"},
	Unsuitable:       {"its provider cannot work here", "provider %s cannot work here"},
	CheckRefused:     {"its checks refuse it", "refused by %s"},
	NotDeclared:      {"nothing of it is managed", "%s"},
	RefreshedBy:      {"what it subscribes to has changed", "%s has changed"},
	RefreshLost:      {"no later run tries it again", "%s; no later run tries it again"},
}

// Words returns the reason as users read it; "" if it adds nothing to the
// answer. String returns it with its code.
func (b Because) Words() string {
	if b.Reason >= ReasonCount {
		return b.String()
	}
	w := wordings[b.Reason]
	switch about := b.about(); {
	case b.About == "" || w.about == "":
		return w.alone
	case about != b.About || w.about == "%s":
		return about
	}
	return fmt.Sprintf(w.about, b.About)
}

// about is what the reason is about where that alone is the sentence: the rest
// is as it came.
func (b Because) about() string {
	word := !strings.Contains(b.About, " ")
	switch b.Reason {
	case DefaultInCode:
		if strings.HasPrefix(b.About, "indirection ") {
			return "the default of " + b.About
		}
	case BySetting:
		if !strings.HasPrefix(b.About, "setting ") {
			return "setting " + b.About
		}
	case ByYou:
		if word && b.About != "you" {
			return "by " + b.About
		}
	case NotFound:
		if strings.HasPrefix(b.About, "/") && !strings.Contains(b.About, ": ") {
			return "there is no " + b.About
		}
	case RuleAllowed, RuleDenied:
		if word {
			return "for " + b.About
		}
	case CallerRaised:
		if word {
			return "it reached " + b.About
		}
	case SkippedIgnoreCacheSave:
		if b.About == "read-only mode" {
			return "nothing is written: " + b.About
		}
	case Returned:
		return counted(b.About)
	case ExpiredAt:
		at, ago, dated := strings.Cut(b.About, ", ")
		if !dated {
			ago = at
		}
		return "expired " + human(strings.TrimSuffix(ago, " ago")) + " ago"
	case NotExpired:
		return "good for " + human(strings.TrimPrefix(b.About, "for ")) + " more"
	case ByNoop:
		if b.About == "setting" || b.About == "metaparameter" {
			return "noop, by the " + b.About
		}
		return "noop, by " + b.About
	case TTL:
		if ago, ok := strings.CutPrefix(b.About, "now - "); ok {
			return ago + " ago"
		}
		return "good for " + human(strings.TrimPrefix(b.About, "now + "))
	}
	return b.About
}

// counted is what was returned: how many instances, or by what. False has
// nothing to add.
func counted(about string) string {
	n, err := strconv.Atoi(about)
	switch {
	case about == False.String():
		return ""
	case err != nil:
		return "the " + about + " answered"
	case n == 1:
		return "1 instance"
	}
	return about + " instances"
}

// Words returns the answer as users read it.
func (a Answer) Words() string {
	switch a {
	case Raised:
		return "failed"
	case Swallowed:
		return "ignored"
	case Nothing:
		return "nothing"
	}
	return a.String()
}

// Why returns the reason of a step as users read it.
func (t *Trace) Why(s Step) string {
	q := t.Steps[s]
	switch {
	case t.Verb == Search && q.Because.Reason == VerbHasNoCache:
		return "searches are never cached"
	case q.Because.Reason == EarlierStepRaised:
		if failed, ok := t.broken(); ok && failed < s {
			return failed.String() + " failed"
		}
	}
	return q.Because.Words()
}

// broken returns the step that ended the request, if one did.
func (t *Trace) broken() (Step, bool) {
	for s, q := range t.Steps {
		if q.Answer == Raised || q.Answer == Denied || q.Answer == Invalid {
			return Step(s), true
		}
	}
	return 0, false
}
