// Package traces describes requests as plain data.
//
// A [Trace] is one request: a fixed list of steps, each with an answer and the
// reason for it, and below the steps the spans of real work (a file read, a
// command run, bytes decoded). Steps that did not happen are steps too. The
// Indirector fills in one Trace as a request goes and hands it to a [Recorder].
//
// The package imports only the standard library, so every other package may
// import it.
package traces

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Verb is one of the things that can be asked of an indirection.
type Verb uint8

// The verbs. Expire is internal: it lets a cached instance expire.
const (
	NoVerb Verb = iota
	Find
	Search
	Head
	Save
	Destroy
	Expire
)

var verbs = [...]string{"", "find", "search", "head", "save", "destroy", "expire"}

func (v Verb) String() string { return name(verbs[:], int(v), "Verb") }

// ParseVerb returns the verb spelled s, or NoVerb.
func ParseVerb(s string) Verb { return Verb(index(verbs[:], s)) }

// A Step is one of the questions asked about every request, in this order.
type Step uint8

// The steps.
const (
	Route Step = iota
	Authorize
	Validate
	CacheRead
	Expiry
	Terminus
	ExpirySet
	CacheWrite
	Filter
	Caller
	StepCount = 10
)

var steps = [...]string{
	"route", "authorize", "validate", "cache read", "expiry",
	"terminus", "expiry set", "cache write", "filter", "caller",
}

func (s Step) String() string { return name(steps[:], int(s), "Step") }

// ParseStep returns the step spelled s ("cache read", "cache-read" and
// "cache_read" alike) and whether there is one.
func ParseStep(s string) (Step, bool) {
	b := []byte(s)
	for i, c := range b {
		if c == '-' || c == '_' {
			b[i] = ' '
		}
	}
	for i, n := range steps {
		if n == string(b) {
			return Step(i), true
		}
	}
	return 0, false
}

// An Answer is the result of a step. The zero Answer is not reached.
type Answer uint8

// The answers.
const (
	NotReached Answer = iota
	NotAsked          // the question did not arise; see the reason
	Chosen            // route: a terminus was selected
	NotChecked        // authorize: there is nothing to check
	Allowed           // authorize: yes
	Denied            // authorize: no
	OK                // validate: yes; terminus: an instance; expiry: fresh
	Invalid           // validate: no
	Found             // cache read: an instance
	Miss              // cache read: nothing
	Expired           // expiry: too old to be used
	Kept              // expiry set: the instance had one already
	Set               // expiry set: now + ttl
	Nothing           // terminus: nil
	False             // terminus or cache: Ruby's false
	Written           // cache write: stored
	Removed           // destroy: gone
	Absent            // destroy: there was nothing
	Filtered          // filter: something may have been taken away
	Unfiltered        // filter: not applied
	Raised            // failed, and the request with it
	Swallowed         // failed, and the request went on
	Passed            // caller: got the result
)

var answers = [...]string{
	"not reached", "not asked", "chosen", "not checked", "allowed", "denied", "ok", "invalid",
	"found", "miss", "expired", "kept", "set", "nil", "false", "written", "removed", "absent",
	"filtered", "none", "raised", "swallowed", "returned",
}

func (a Answer) String() string { return name(answers[:], int(a), "Answer") }

// A Reason is why an answer is what it is, from a closed list.
type Reason uint8

// The reasons, in the groups of the list that help prints.
const (
	NoReason Reason = iota
	// Sources of a route.
	DefaultInCode
	BySetting
	ByApplication
	ByRoutesFile
	ByStoreconfigs
	ByFace
	ByThread
	ByYou
	ByRequest
	NotApplied
	// Cache.
	NoCacheRouted
	IgnoredByCaller
	VerbHasNoCache
	CacheFound
	NotFound
	ExpiredAt
	NoExpiryKept
	ReadFailed
	AlwaysNil
	// Terminus.
	Asked
	SkippedIgnoreTerminus
	SkippedCacheHit
	Returned
	ReturnedNil
	NilFrom404
	NilFromEmptyOutput
	TerminusRaised
	VerbMissing
	TerminusUnknown
	// Store.
	StoreWritten
	SkippedIgnoreCacheSave
	SkippedNoResult
	StoreFailed
	SoftFailed
	// Authorization and validation.
	NoNodeInRequest
	NoRule
	RuleAllowed
	RuleDenied
	NothingToValidate
	ValidationFailed
	// Format.
	FormatRequested
	FormatAccepted
	FellBack
	Lossy
	// Environment.
	EnvAgent
	EnvCLI
	EnvLastRun
	EnvENC
	EnvCatalog
	EnvNotFound
	// Expiry and filter.
	TTL
	AlreadySet
	NoExpiration
	NotExpired
	TerminusHasNoFilter
	CacheNotFiltered
	FilterApplied
	// What came before.
	EarlierStepRaised
	EarlierStepAnswered
	// Caller.
	CallerReturned
	Rescued
	Retried
	CallerRaised
	CallerUnknown
	// Resources of a run.
	InSync
	OutOfSync
	ByNoop
	ByTags
	BySchedule
	DependencyFailed
	PrefetchFailed
	Unsuitable
	CheckRefused
	NotDeclared
	RefreshedBy
	RefreshLost
	ReasonCount
)

var reasons = [...]string{
	"", "default-in-code", "setting", "application", "routes-file", "storeconfigs", "face", "thread", "you", "request", "not-applied",
	"no-cache-routed", "ignored-by-caller", "verb-has-no-cache", "found", "not-found", "expired", "no-expiry-kept", "read-failed", "always-nil-terminus",
	"asked", "skipped(ignore_terminus)", "skipped(cache-hit)", "returned", "nil", "nil-from-404", "nil-from-empty-output", "raised", "verb-missing", "terminus-unknown",
	"written", "skipped(ignore_cache_save)", "skipped(no-result)", "failed", "soft-failed",
	"no-node-in-request", "terminus-has-no-rule", "allowed", "denied", "nothing-to-validate", "validation-failed",
	"requested", "accepted", "fell-back", "lossy",
	"agent", "cli", "last-run", "enc", "catalog-answer", "environment-not-found",
	"ttl", "already-set", "no-expiration", "not-expired", "terminus-has-no-filter", "cache-is-not-filtered", "filter-applied",
	"earlier-step-raised", "earlier-step-answered",
	"caller-returned", "rescued", "retried", "caller-raised", "unknown",
	"in-sync", "out-of-sync", "noop", "tags", "schedule", "dependency-failed", "prefetch-failed", "unsuitable", "check-refused",
	"not-declared", "refreshed-by", "refresh-lost",
}

func (r Reason) String() string { return name(reasons[:], int(r), "Reason") }

// ParseReason returns the reason spelled s, or NoReason.
func ParseReason(s string) Reason { return Reason(index(reasons[:], s)) }

// A Because is the reason for an answer and what it is about: a place
// ("routes.yaml:4"), a time, a setting, the text of an error.
type Because struct {
	Reason Reason
	About  string
}

func (b Because) String() string {
	reason := b.Reason.String()
	switch {
	case b.About == "":
		return reason
	case b.Reason >= DefaultInCode && b.Reason <= ByRequest:
		// A source that names its kind itself.
		if strings.HasPrefix(b.About, reason) || b.Reason == ByRequest {
			return b.About
		}
	case strings.HasSuffix(reason, ")"): // skipped(ignore_terminus): by the caller named
		return reason + " by " + b.About
	}
	return reason + "(" + b.About + ")"
}

// A Question is one step of one request: what was answered, why, and when.
type Question struct {
	Answer  Answer
	Because Because
	At      time.Duration // since the request began; zero if no clock was read
	Took    time.Duration // zero if nothing was asked
}

// A Point locates a step of a verb of an indirection: for spans, breakpoints
// and errors.
type Point struct {
	Indirection string
	Terminus    string // "" before routing
	Verb        Verb
	Step        Step
}

func (p Point) String() string {
	s := p.Verb.String() + " " + p.Indirection + ": " + p.Step.String()
	if p.Terminus != "" {
		s += " " + p.Terminus
	}
	return s
}

// A SourceKind is what kind of source named a candidate.
type SourceKind uint8

// The sources, weakest first. Rule: specification of the indirector, 4.1.
const (
	NoSource SourceKind = iota
	FromDeclaration
	FromSetting
	FromStoreconfigs
	FromApplication
	FromRoutesFile
	FromFace
	FromThread
	FromYou
	FromRequest // this request only
)

var sources = [...]string{
	"", "default in code", "setting", "storeconfigs", "application", "routes file", "face", "thread", "you", "request",
}

func (s SourceKind) String() string { return name(sources[:], int(s), "Source") }

// Reason returns the reason that names s.
func (s SourceKind) Reason() Reason {
	return [...]Reason{
		NoReason, DefaultInCode, BySetting, ByStoreconfigs, ByApplication, ByRoutesFile, ByFace, ByThread, ByYou, ByRequest,
	}[s]
}

// A Choice is one candidate for a slot.
type Choice struct {
	Terminus string // as written; "" abstains
	Kind     SourceKind
	Source   string    // "routes.yaml:4", "setting node_terminus, puppet.conf:7", "application agent"
	Why      string    // why it does not count, for a Choice that was not applied; "" otherwise
	Note     string    // for the user; may be ""
	Setting  string    // the setting that named it; "" if none did
	Symbol   bool      // written as a Ruby symbol, not as a string (IND-TERM-09, IND-ROUTE-09)
	At       time.Time // when it was made; zero for what was there at start
}

// A Slot holds every candidate, strongest first. The first that names a
// terminus and was applied wins; the others show what was overruled.
type Slot []Choice

// Winner returns the Choice that counts, or a zero Choice.
func (s Slot) Winner() Choice {
	if i := s.Wins(); i >= 0 {
		return s[i]
	}
	return Choice{}
}

// Wins returns the position of the winner, or -1.
func (s Slot) Wins() int {
	for i := range s {
		if s[i].Terminus != "" && s[i].Why == "" {
			return i
		}
	}
	return -1
}

// RunnerUp returns the choice that would win without the winner; zero if there
// is none.
func (s Slot) RunnerUp() Choice { return s[s.Wins()+1:].Winner() }

// Flags are the switches of a request.
type Flags uint8

// The flags.
const (
	IgnoreCache Flags = 1 << iota
	IgnoreCacheSave
	IgnoreTerminus
	FailOn404
)

var flagNames = [...]string{"ignore_cache", "ignore_cache_save", "ignore_terminus", "fail_on_404"}

// Names returns the set flags as Puppet spells them.
func (f Flags) Names() []string {
	var names []string
	for i, n := range flagNames {
		if f&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return names
}

// ParseFlag returns the flag spelled s, or zero.
func ParseFlag(s string) Flags {
	for i, n := range flagNames {
		if n == s {
			return 1 << i
		}
	}
	return 0
}

// Served is who answered.
type Served uint8

// Who may have answered.
const (
	ByNone Served = iota
	ByTerminus
	ByCache
	ByInjection
)

var serveds = [...]string{"none", "terminus", "cache", "sim"}

func (s Served) String() string { return name(serveds[:], int(s), "Served") }

// An Outcome is the one word for what became of a request.
type Outcome uint8

// The outcomes. Rule: UI design, section 4.
const (
	Run         Outcome = iota // in progress
	Good                       // ok: the terminus answered
	Hit                        // the cache answered
	Nil                        // all that were asked answered "nothing"
	NilHidden                  // nil!: a nil that hides something
	Stale                      // the cache answered because the terminus had failed
	Err                        // an error reached the caller
	ErrHidden                  // err~: an error was swallowed on the way
	Part                       // one of two stores was written, or none and a setting hides that
	HeldOutcome                // paused
	Sim                        // answered by injection
	Same                       // a resource was as it should be
	Changed                    // chg: a resource was changed, or refreshed
	Planned                    // plan: a resource would have been changed, but for noop
	Skipped                    // skip: a resource was left out of its run
	OutcomeCount
)

var outcomes = [...]string{"run", "ok", "hit", "nil", "nil!", "stale", "err", "err~", "part", "held", "sim", "same", "chg", "plan", "skip"}

func (o Outcome) String() string { return name(outcomes[:], int(o), "Outcome") }

// ParseOutcome returns the outcome spelled s and whether there is one.
func ParseOutcome(s string) (Outcome, bool) {
	for i, n := range outcomes {
		if n == s {
			return Outcome(i), true
		}
	}
	return 0, false
}

// Hidden reports whether the caller did not see what happened.
func (o Outcome) Hidden() bool {
	return o == NilHidden || o == Stale || o == ErrHidden || o == Part
}

// HiddenFrom is Hidden for one caller: those over the network, "agent NAME",
// have received the 404.
func (o Outcome) HiddenFrom(caller string) bool {
	return o.Hidden() && !(o == NilHidden && strings.HasPrefix(caller, "agent "))
}

// Well reports whether all went as it should: an answer, or a resource that was looked
// after.
func (o Outcome) Well() bool {
	return o == Good || o == Hit || o == Same || o == Changed || o == Planned
}

// Failed reports whether something went wrong, seen or not.
func (o Outcome) Failed() bool { return o == Err || o.Hidden() }

// A Kind is the kind of work below a step.
type Kind uint8

// The kinds of work.
const (
	NoKind  Kind = iota
	File         // a file read, written or removed
	Codec        // bytes decoded or encoded
	Exec         // a command run
	Network      // a connection or an exchange
	Stream       // content passed on
	Held         // waiting for the user
	Choose       // a second choice: which terminus a selector picked
	Nested       // a request asked by a terminus
	Note         // something worth knowing
	Code         // a part of a program that was evaluated
)

var kinds = [...]string{"", "file", "codec", "exec", "network", "stream", "held", "choose", "nested", "note", "code"}

func (k Kind) String() string { return name(kinds[:], int(k), "Kind") }

// An Attr is one fact about a span.
type Attr struct{ Key, Value string }

// A Span is one piece of real work below a step.
type Span struct {
	ID, Parent int // within the trace; Parent is 0 directly below the step
	Step       Step
	Kind       Kind
	Name       string // "read web01.yaml", "exec /usr/local/bin/enc web01"
	Answer     string // "412 bytes", "exit 1"
	Because    Because
	At, Took   time.Duration
	Attrs      []Attr
	Err        string // what failed; "" if nothing did
	Request    uint64 // of Nested: the number of that request
}

// The names of attributes that are read again. Those of Network spans are read by
// [Span.HTTP].
const (
	AttrEnvironment = "environment" // that the answer names
	AttrWritten     = "written"     // of File: when the file was, as RFC 3339
	AttrTerminus    = "terminus"    // of Choose: to which the request was passed on
)

// Attr returns the value of an attribute, or "".
func (s *Span) Attr(key string) string {
	for i := range s.Attrs {
		if s.Attrs[i].Key == key {
			return s.Attrs[i].Value
		}
	}
	return ""
}

// Format returns the name of the format that the span decoded or encoded, or "".
func (s *Span) Format() string {
	what, rest, _ := strings.Cut(s.Name, " ")
	if s.Kind != Codec || what != "decode" && what != "encode" {
		return ""
	}
	name, _, _ := strings.Cut(rest, " ") // "decode json as it comes"
	return name
}

// Written returns when the file of the span was written; zero if that is not
// known.
func (s *Span) Written() time.Time {
	at, _ := time.Parse(time.RFC3339, s.Attr(AttrWritten))
	return at
}

// A Fault is one thing that failed, at its origin. A request can have several:
// a swallowed one from the cache, another from the terminus.
type Fault struct {
	Origin  string // "cache-read yaml", "terminus exec", "route", "decode json", …
	Step    Step
	Message string // in Puppet's words
	Hidden  string // what Puppet hides: stderr, a path, an errno
	Shown   bool   // an error reached the caller
	Path    string // file, command or URL, if there was one
	// Soft is set if a setting made the failure of a save a line of the log:
	// nothing is stored, and the caller goes on. Its note has the setting.
	Soft bool
}

// An Explains is which outcome of its step a note explains. A note that explains
// none is beside the point of the request, and never in its first line.
type Explains uint8

// The outcomes that a note may explain.
const (
	NoOutcome  Explains = iota
	AnAnswer            // also that nothing was found
	AnyFailure          // an error of the step, seen by the caller or not
)

var explains = [...]string{"", "answer", "failure"}

func (e Explains) String() string { return name(explains[:], int(e), "Explains") }

// ParseExplains returns the outcome spelled s, or NoOutcome.
func ParseExplains(s string) Explains { return Explains(index(explains[:], s)) }

// A Remark is a sentence about one step of a request.
type Remark struct {
	Step     Step
	Explains Explains
	Text     string
}

func (r Remark) String() string { return r.Text }

// An Option is one option of a request, its value as text. A text that is
// longer than LongestOption ends with "…"; a store cuts it to that length when it
// has redacted it.
type Option struct{ Name, Value string }

// LongestOption is how much is kept of the value of an option, in bytes.
const LongestOption = 200

// A Value is what is known of an instance: never the instance itself.
type Value struct {
	Model    string  // "facts"; "" if there is no value
	Format   string  // of Body: "json" or "text"
	Size     int     // of the whole body in bytes
	Digest   string  // SHA-256 of the body in hex; the key of a body that is kept elsewhere
	Body     []byte  // redacted; nil if it is in Pieces, is kept elsewhere or was dropped
	Pieces   []Piece // the body, one after the other; nil if it is in Body
	Redacted int     // number of redacted values
	Source   string  // where it came from on disk: path, size, time; "" if unknown
}

// Values are what is known of the instances of a request. They lie apart from
// the Trace, so that the path of a request does not touch them.
type Values struct {
	Answer Value
	Sent   Value // the instance of a save
	// Origins is where what is in the answer is from, if that was made here: of a catalog,
	// see indirector/origins.
	Origins Value
}

// All are the values, by the names that recordings give them.
func (v *Values) All() [3]NamedValue {
	return [...]NamedValue{{"value", &v.Answer}, {"sent", &v.Sent}, {"origins", &v.Origins}}
}

// A NamedValue is one of the values of a request.
type NamedValue struct {
	Name string
	*Value
}

// A Piece is one of the texts, in UTF-8, that a body is made of.
type Piece struct {
	Text []byte
	// Digest is the SHA-256 of Text in hex if other bodies have the same piece;
	// else "".
	Digest string
}

// Content returns the body, whole or in pieces; nil if it is not
// here.
func (v *Value) Content() []byte {
	if v.Pieces == nil {
		return v.Body
	}
	b := make([]byte, 0, v.Size)
	for _, p := range v.Pieces {
		b = append(b, p.Text...)
	}
	return b
}

// A Trace is one request. It belongs to the Indirector until it ends, then to
// the recorder, which may hand out copies, never changes them, and may Free it.
type Trace struct {
	ID          uint64 // number within the recorder, from 1; 0 if it is not recorded
	Parent      uint64 // the request that asked this one; 0 if none did
	ParentStep  Step
	RunGuessed  bool         // Run is a guess by connection and time
	Run         string       // transaction_uuid, or the name the caller gave; "" if alone
	Transaction string       // Puppet's transaction_uuid of the run, if known and not Run itself
	Traceparent *Traceparent // the sender over the network, also of the parent; nil if unknown
	Caller      string       // "you", "agent", "demo", "cli", …
	Verb        Verb
	Indirection string
	Key         string
	Environment string
	Application string
	Flags       Flags
	Idle        Flags // flags that were given and changed nothing (gap L5)
	Options     []Option
	Primary     Slot   // every candidate for the terminus, as the request found them
	Cache       Slot   // every candidate for the cache
	Party       string // what users call the terminus: "the server"; "" is its name
	Start       time.Time
	Took        time.Duration // without Held
	Held        time.Duration // how long it, or what it asked, waited for the user
	Outcome     Outcome
	Served      Served
	Steps       [StepCount]Question
	Spans       []Span
	Later       Later // spans that are not made yet; a Store hands out none, see [Trace.Completed]
	Faults      []Fault
	Notes       []Remark  // in order of time
	Touched     []string  // what was changed by the user or a breakpoint, in order
	Values      *Values   // the answer, or what was sent; nil until the recorder has rendered them
	Named       string    // the name of the answer when it is not the key (S-26)
	Previous    uint64    // this is a replay of that request, or comes after it in its run
	Failed      uint64    // the request whose failure makes this one stale, or is hidden by this answer of a cache
	FailedWith  string    // its message to the caller
	LastGood    uint64    // the last request of the same key that was answered well
	Error       string    // message to the caller; "" if nothing failed
	From        *Instance // of a fleet; nil if it was traced here
}

// An Instance is the program of a fleet that traced a request, and the number of
// the request there.
type Instance struct {
	Name   string
	Number uint64
}

// String is as in "proxy1 #1045"; that of nil is "".
func (i *Instance) String() string {
	if i == nil {
		return ""
	}
	return i.Name + " #" + strconv.FormatUint(i.Number, 10)
}

// Elapsed is the time from beginning to end, with that for which the request was
// held.
func (t *Trace) Elapsed() time.Duration { return t.Took + t.Held }

// IsTouched reports whether the user or a breakpoint held or changed the request
// itself.
func (t *Trace) IsTouched() bool {
	held := func(s Span) bool { return s.Kind == Held }
	return len(t.Touched) > 0 || t.Held > 0 && slices.ContainsFunc(t.Spans, held)
}

// Value is the answer; it has no model if there is none.
func (t *Trace) Value() Value {
	if t.Values == nil {
		return Value{}
	}
	return t.Values.Answer
}

// Sent is the instance of a save; it has no model if there is none.
func (t *Trace) Sent() Value {
	if t.Values == nil {
		return Value{}
	}
	return t.Values.Sent
}

// Origins is where what is in the answer is from; it has no model if that is not known.
func (t *Trace) Origins() Value {
	if t.Values == nil {
		return Value{}
	}
	return t.Values.Origins
}

// Clone returns a copy that shares nothing with t that is still written to.
func (t *Trace) Clone() Trace {
	c := *t
	c.Options, c.Spans = slices.Clone(t.Options), slices.Clone(t.Spans)
	c.Faults, c.Notes = slices.Clone(t.Faults), slices.Clone(t.Notes)
	c.Touched = slices.Clone(t.Touched)
	return c
}

// A Recorder keeps traces. It is called from many goroutines and must not
// block. The number 0 means that the request is not kept.
type Recorder interface {
	// Begin announces a request and returns its number.
	Begin(*Trace) uint64
	// End hands over what became of it. Instance is the answer, or what was to be
	// saved, for the recorder to look at; it is nil if there was none.
	End(t *Trace, instance any)
}

// A Keeper is a Recorder that takes what has ended before it was announced, as
// a request of the memory terminus has, at less than the price of Begin and End.
type Keeper interface {
	Recorder
	// Keep is Begin and End in one, and returns the number.
	Keep(t *Trace, instance any) uint64
}

func name(names []string, i int, kind string) string {
	if i < len(names) {
		return names[i]
	}
	return kind + "(" + strconv.Itoa(i) + ")"
}

func index(names []string, s string) int {
	for i, n := range names {
		if n == s {
			return i
		}
	}
	return 0
}
