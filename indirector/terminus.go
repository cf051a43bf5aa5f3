package indirector

import (
	"context"
	"log/slog"
	"time"

	"indirtui/traces"
)

// A Verb is what can be asked of an indirection.
type Verb = traces.Verb

// The verbs. Expire is internal to Puppet.
const (
	Find    = traces.Find
	Search  = traces.Search
	Head    = traces.Head
	Save    = traces.Save
	Destroy = traces.Destroy
	Expire  = traces.Expire
)

// An Instance is a value of an indirected model. Key returns its name. It is
// shared by caches, callers and traces, and never changed.
type Instance interface{ Key() string }

// A Name is an instance that is only a name, as a facts search returns.
type Name string

func (n Name) Key() string { return string(n) }

// False is Ruby's false, which Puppet's find returns for some unusable files:
// no instance, but not nil either. Rule IND-FIND-07.
var False Instance = falseInstance{}

type falseInstance struct{}

func (falseInstance) Key() string { return "" }

// A RunEnder is an Instance, a report, that has how a run of an agent ended. What
// it returns becomes part of the story of the save.
type RunEnder interface {
	Instance
	RunEnd() RunEnd
}

// A RunEnd is how a run ended.
type RunEnd = traces.RunEnd

// An Expirer is an Instance that can expire. Rules IND-EXP-01, IND-EXP-03.
type Expirer interface {
	Instance
	// Expiration is when the instance expires; zero is never.
	Expiration() time.Time
	// WithExpiration returns a copy that expires at t.
	WithExpiration(t time.Time) Instance
}

// A Terminus implements one or more of the interfaces below.
type Terminus any

// The verbs, one interface each. Without it the verb fails with
// [ErrVerbMissing]. Rule IND-TERM-12.
type (
	// A Finder returns the instance named by the key, or [NotFound].
	Finder interface {
		Find(context.Context, *Request) (Instance, error)
	}
	// A Searcher returns the instances that match the key; none is no error.
	// ErrNotFound is Puppet's nil, ErrNotArray an answer that is no list.
	Searcher interface {
		Search(context.Context, *Request) ([]Instance, error)
	}
	// A Header reports whether the key exists.
	Header interface {
		Head(context.Context, *Request) (bool, error)
	}
	// A Saver stores the request's instance. It returns what Puppet's terminus
	// returns: 0 for files, the names of the processors for reports, or nil.
	Saver interface {
		Save(context.Context, *Request) (any, error)
	}
	// A Destroyer removes the key. It returns what Puppet's terminus returns;
	// nil if there was nothing.
	Destroyer interface {
		Destroy(context.Context, *Request) (any, error)
	}
)

// Optional abilities. A Terminus that is an io.Closer is closed with the
// Indirector.
type (
	// A Yielder searches without holding all that it finds: it calls yield for
	// each instance, in the order of Search, from this goroutine. An error of
	// yield ends the search and is returned. It may be a Searcher too; if not,
	// a list is made of what it yields.
	Yielder interface {
		Yield(ctx context.Context, r *Request, yield func(Instance) error) error
	}
	// A Validator replaces the check of model and key before a save.
	// Rules IND-VAL-01, IND-VAL-02.
	Validator interface {
		Validate(context.Context, *Request) error
	}
	// An Authorizer decides on requests that carry a node. Rule IND-AUTH-01.
	Authorizer interface {
		Authorized(context.Context, *Request) bool
	}
	// A Filterer changes what the caller sees, not what the cache keeps.
	// Rule IND-FIND-09.
	Filterer interface {
		Filter(context.Context, Instance) (Instance, error)
	}
	// A Sharer stores the very objects that it answers with, as Puppet's memory
	// termini do. Shared is called when the Indirector has dated one: was is
	// the answer, is the dated copy that replaces it.
	Sharer interface {
		Shared(key string, was, is Instance)
	}
	// A Keeper overrides KeepsExpiry of its Descriptor.
	Keeper interface {
		KeepsExpiry() bool
	}
	// A Softener is a Saver whose failures a setting turns into log lines, as
	// those of PuppetDB's termini: the save counts as done. Soft returns the
	// name of the setting; "" if failures are the caller's.
	Softener interface {
		Soft() string
	}
	// A Local refuses requests from the network if LocalOnly is true.
	Local interface {
		LocalOnly() bool
	}
	// A Lister lists what the terminus keeps. It calls yield for each entry
	// until that returns false.
	Lister interface {
		List(ctx context.Context, yield func(Entry) bool) error
	}
	// A Peeker returns what a find would meet, without doing it. If there is
	// nothing, the Entry has no Key.
	Peeker interface {
		Peek(ctx context.Context, key string) (Entry, error)
	}
)

// An Entry is what a terminus keeps under one key.
type Entry struct {
	Indirection, Terminus string
	Key                   string
	Path                  string    // "" if it is not a file
	Size                  int64     // bytes; -1 if unknown
	Written               time.Time // zero if unknown
	Produced              time.Time // by the node or the server that made it, where a store knows that; else zero
	Note                  string    // what else a store knows of it: by whom it was made, since when its node is not active
	Expiration            time.Time // zero is never, or not kept
	KeepsExpiry           bool      // of this model, by this terminus
	Err                   error     // why the entry cannot be read
}

// A Handler calls a verb of a Terminus. Find answers an Instance, Head a bool,
// Search []Instance, or the number of instances that went to Yield.
type Handler func(context.Context, *Request) (any, error)

// Verbs are the verbs of a Terminus; nil is missing.
type Verbs [traces.Expire]Handler

// VerbsOf returns the verbs of t. It reads only the method set, so that a typed
// nil will do.
func VerbsOf(t Terminus) Verbs {
	if w, ok := t.(*wrapper); ok {
		return w.verbs()
	}
	var can Verbs
	adapt(&can, Find, t, Finder.Find)
	can[Search] = search(t)
	adapt(&can, Head, t, Header.Head)
	adapt(&can, Save, t, Saver.Save)
	adapt(&can, Destroy, t, Destroyer.Destroy)
	return can
}

func adapt[C, V any](can *Verbs, verb Verb, t Terminus, call func(C, context.Context, *Request) (V, error)) {
	if c, ok := t.(C); ok {
		can[verb] = func(ctx context.Context, r *Request) (any, error) { return call(c, ctx, r) }
	}
}

// search returns the Handler of a Searcher, a Yielder, or both.
func search(t Terminus) Handler {
	lists, _ := t.(Searcher)
	yields, _ := t.(Yielder)
	if lists == nil && yields == nil {
		return nil
	}
	return func(ctx context.Context, r *Request) (any, error) {
		found := []Instance{}
		yield := r.yield()
		switch {
		case yield == nil && lists != nil:
			return lists.Search(ctx, r)
		case yield == nil:
			err := yields.Yield(ctx, r, func(i Instance) error {
				found = append(found, i)
				return nil
			})
			return found, err
		}
		n := 0
		count := func(i Instance) error {
			n++
			return yield(i)
		}
		if yields != nil {
			err := yields.Yield(ctx, r, count)
			return n, err
		}
		found, err := lists.Search(ctx, r)
		for i := 0; err == nil && i < len(found); i++ {
			err = count(found[i])
		}
		return n, err
	}
}

// A Setting is read by a Terminus. Type and Default are for settings that
// Puppet does not have.
type Setting struct {
	Name, Doc string
	Type      string // as Puppet names them: "boolean", "duration"; "" is any text
	Default   string
}

// A Descriptor describes a Terminus to the route table, help, completion, the
// reference and the suite.
type Descriptor struct {
	Indirection  string // "node"
	Name         string // "exec", as Puppet spells it
	Doc          string // its first sentence is the summary
	Note         string // what matters when choosing it, in a few words; "" is what follows from the rest
	Party        string // what users call it in a sentence: "the server"; "" is its name
	Settings     []Setting
	Rules        []string // that it keeps
	KeepsExpiry  bool     // an expiration that was saved is found again (IND-EXP-05)
	ProcessLocal bool     // what it keeps ends with the process
	AlwaysNil    bool     // its find never answers
	Brief        bool     // its verbs keep neither context nor request, which are used again when they have returned
	Code         bool     // it runs programs, and stops in them: see [CodeStopsOf]
	REST         bool     // of Puppet's REST family, whose missing verbs are no StandardError (IND-TERM-12)
	Type         Terminus // a typed nil, whose methods are its abilities
	New          func(Env) (Terminus, error)
	// Passes is set if the terminus passes requests on to another one of its
	// indirection: it returns which, and what named that one, without making either.
	// A nil request asks what holds for all of them: the Choice is zero if that
	// depends on the request.
	Passes func(Env, *Request) traces.Choice
}

// Class returns the terminus' Ruby class in Puppet's messages:
// "Puppet::Node::Yaml".
func (d *Descriptor) Class(spec *Spec) string { return spec.Class + "::" + Constant(d.Name) }

// Settings reads settings. Place is who decided: "default", "puppet.conf:7
// [agent]", "--set". Both are "" if the setting is unknown.
type Settings interface {
	Get(name string) (value, place string)
}

// Env is what a Terminus may use.
type Env struct {
	Indirection string
	Terminus    string
	Application string
	Ruby        Ruby
	Spec        *Spec
	Settings    Settings
	// SettingsIn returns the settings of another environment, with its
	// environment.conf; "" is the current one.
	SettingsIn func(environment string) Settings
	// Environments returns nil if there is an environment of that name. It is nil itself
	// if there is every one.
	Environments func(name string) error
	// Do sends a nested request.
	Do func(context.Context, *Request) (Response, error)
	// Sibling returns another terminus of the same indirection, made if need
	// be, to pass requests on: see VerbsOf and Authorizer.
	Sibling func(name string) (Terminus, error)
	// Described returns the descriptor of another terminus of the same indirection;
	// nil if there is none.
	Described func(name string) *Descriptor
	// Passed returns the terminus to which another one of any indirection passes all
	// requests on; "" if that one answers itself. May be nil.
	Passed func(indirection, terminus string) string
	// Shared returns what termini have in common under a name, such as
	// connections. The first call makes it; before is what it replaces since settings
	// have changed, whose users may still be busy with it, or nil. Everyone who got it
	// closes it, so Close must be idempotent. May be nil.
	Shared func(name string, make func(before any) any) any
	// Go starts a goroutine whose panic is caught and recorded.
	Go  func(func())
	Log *slog.Logger
	Now func() time.Time
}

// A Spec declares an indirection. Rules IND-REG-04, IND-SEL-01.
type Spec struct {
	Name    string // "facts"
	Doc     string
	Class   string // of the model in Ruby: "Puppet::Node::Facts"
	Model   func(Instance) bool
	Setting string // the setting that names the terminus; "" if Default is fixed
	Default string // the declared terminus, if there is no Setting
	// Legacy is the versions in which the indirection existed; "" is still.
	Legacy string
	// BeforeSave runs before a save: saving facts expires the node. Rule
	// IND-EXP-06.
	BeforeSave func(context.Context, *Indirector, *Request) error
	// KeyMatches replaces the comparison of the instance's name with the key.
	// Rule IND-VAL-02.
	KeyMatches func(inst Instance, key string) error
}

// Constant returns the Ruby constant for a name: "file_server" is FileServer.
// Rule IND-TERM-02.
func Constant(name string) string {
	b := make([]byte, 0, len(name))
	up := true
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '_':
			up = true
			continue
		case up && 'a' <= c && c <= 'z':
			c -= 'a' - 'A'
		}
		up = false
		b = append(b, c)
	}
	return string(b)
}
