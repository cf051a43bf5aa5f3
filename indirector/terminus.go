package indirector

import (
	"context"
	"log/slog"
	"time"

	"indirtui/traces"
)

// A Verb is one of the things that can be asked of an indirection.
type Verb = traces.Verb

// The verbs, and the internal one, Expire.
const (
	Find    = traces.Find
	Search  = traces.Search
	Head    = traces.Head
	Save    = traces.Save
	Destroy = traces.Destroy
	Expire  = traces.Expire
)

// An Instance is a value of an indirected model. Key returns what Puppet calls
// its name. Instances are not changed once they have been handed over: they
// are shared by caches, callers and traces.
type Instance interface{ Key() string }

// A Name is an instance that is nothing but its name, as a facts search
// returns them.
type Name string

// Key implements Instance.
func (n Name) Key() string { return string(n) }

// False is what Puppet's find returns for some unusable files: Ruby's false,
// which is no instance, but is not nil either. Rule IND-FIND-07.
var False Instance = falseInstance{}

type falseInstance struct{}

func (falseInstance) Key() string { return "" }

// An Expirer is an Instance that can be too old. Only these take part in
// expiry. Rules IND-EXP-01, IND-EXP-03.
type Expirer interface {
	Instance
	// Expiration is when the instance is outdated; zero is never.
	Expiration() time.Time
	// WithExpiration returns a copy that is outdated from t on.
	WithExpiration(t time.Time) Instance
}

// A Terminus implements one or more of the interfaces below and nothing else:
// it does not trace, cache, authorize or pause. The house does that around it.
type Terminus any

// The verbs, one interface each. A Terminus that lacks one fails it with
// [ErrVerbMissing]. Rule IND-TERM-12.
type (
	// A Finder returns the instance named by the key, or an error that is
	// ErrNotFound, see NotFound.
	Finder interface {
		Find(context.Context, *Request) (Instance, error)
	}
	// A Searcher returns the instances that match the key; none is no error.
	// ErrNotFound is Puppet's nil, ErrNotArray an answer that is no list.
	Searcher interface {
		Search(context.Context, *Request) ([]Instance, error)
	}
	// A Header reports whether the key exists. (It has nothing to do with HTTP
	// headers.)
	Header interface {
		Head(context.Context, *Request) (bool, error)
	}
	// A Saver stores the request's instance. It returns what Puppet's terminus
	// returns: 0 for files, the names of the processors for reports, nil if
	// there is nothing to say.
	Saver interface {
		Save(context.Context, *Request) (any, error)
	}
	// A Destroyer removes the key. It returns what Puppet's terminus returns; nil
	// is that there was nothing.
	Destroyer interface {
		Destroy(context.Context, *Request) (any, error)
	}
)

// Optional abilities, found in the same way. A Terminus that is also an
// io.Closer is closed with the Indirector.
type (
	// A Yielder searches without holding all that it finds: it gives yield each
	// instance as it is found, in the order of Search, one at a time and from
	// this goroutine. It keeps nothing that grows with their number. An error of
	// yield ends the search and is returned. It may be a Searcher too, for
	// callers who want a list; otherwise one is made of what it yields.
	Yielder interface {
		Yield(ctx context.Context, r *Request, yield func(Instance) error) error
	}
	// A Validator replaces the check of model and key before a save.
	// Rules IND-VAL-01, IND-VAL-02.
	Validator interface {
		Validate(context.Context, *Request) error
	}
	// An Authorizer decides about requests that carry a node. Rule IND-AUTH-01.
	Authorizer interface {
		Authorized(context.Context, *Request) bool
	}
	// A Filterer changes what the caller sees, not what the cache keeps.
	// Rule IND-FIND-09.
	Filterer interface {
		Filter(context.Context, Instance) (Instance, error)
	}
	// A Sharer keeps the very objects that it answers with, as Puppet's memory
	// termini do: it is told when the house has given one an expiration, because
	// there the caller's object and the stored one are the same. Was is what it
	// answered, and is what that has become.
	Sharer interface {
		Shared(key string, was, is Instance)
	}
	// A Keeper says itself whether it keeps expirations, where that depends on
	// more than its Descriptor.
	Keeper interface {
		KeepsExpiry() bool
	}
	// A Softener is a Saver whose failures a setting turns into lines of the log, as
	// those of PuppetDB's termini: the save then goes on as if it were done. Soft
	// names the setting; "" is that failures are the caller's.
	Softener interface {
		Soft() string
	}
	// A Local refuses requests from the network when it returns true.
	Local interface {
		LocalOnly() bool
	}
	// A Lister tells what a terminus keeps, without asking it for anything. It
	// calls yield for each entry until that returns false.
	Lister interface {
		List(ctx context.Context, yield func(Entry) bool) error
	}
	// A Peeker tells what a find would meet, without doing it. An Entry without
	// a Key is that there is nothing.
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
	Expiration            time.Time // zero is never, or not kept
	KeepsExpiry           bool      // whether the terminus keeps the expiration of this model
	Err                   error     // the entry cannot be read
}

// A Handler is what the house makes of each verb of a Terminus. Find answers
// with an Instance, Head with a bool, Search with []Instance; a Search of a
// request that wants to Yield gives them to that, and answers with their number.
type Handler func(context.Context, *Request) (any, error)

// Verbs is what a Terminus can do, by verb; nil is that it cannot.
type Verbs [traces.Expire]Handler

// VerbsOf returns what t can do. No other code asks. It reads only the method
// set of t, so that a typed nil will do.
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

// search is the Handler of what lists, or yields, or both.
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

// A Setting is one that a Terminus reads. Type and Default are of those that
// Puppet does not have.
type Setting struct {
	Name, Doc string
	Type      string // as Puppet names them: "boolean", "duration"; "" is any text
	Default   string
}

// A Descriptor is the one source of all that is said about a Terminus.
type Descriptor struct {
	Indirection  string // "node"
	Name         string // "exec", as Puppet spells it
	Doc          string // the first sentence is the summary
	Settings     []Setting
	Rules        []string // the rules of the specification that it keeps
	KeepsExpiry  bool     // what it stores is still outdated when it is read back (IND-EXP-05)
	ProcessLocal bool     // what it stores is gone when the process ends
	AlwaysNil    bool     // its find never answers
	REST         bool     // of Puppet's REST family, whose missing verbs are no StandardError (IND-TERM-12)
	Type         Terminus // a typed nil; its methods are its capabilities
	New          func(Env) (Terminus, error)
}

// Class returns the name of the Ruby class that Puppet's messages use for the
// terminus: "Puppet::Node::Yaml".
func (d *Descriptor) Class(spec *Spec) string { return spec.Class + "::" + Constant(d.Name) }

// Settings is where termini read settings. Place says who decided: "default",
// "puppet.conf:7 [agent]", "--set". Of an unknown setting both are "".
type Settings interface {
	Get(name string) (value, place string)
}

// Env is all that a Terminus may take from its surroundings.
type Env struct {
	Indirection string
	Terminus    string
	Application string
	Spec        *Spec
	Settings    Settings
	// SettingsIn returns the settings as they are in another environment, with
	// what its environment.conf says now; "" is the current one.
	SettingsIn func(environment string) Settings
	// Do asks another indirection. The request becomes a nested one.
	Do func(context.Context, *Request) (*Response, error)
	// Sibling returns another terminus of the same indirection, for termini that
	// pass requests on: see VerbsOf and Authorizer. It is created if need be.
	Sibling func(name string) (Terminus, error)
	// Shared returns what termini of one house have in common under a name, as
	// connections. The first who asks makes it; who made or got it closes it when
	// the house is closed, perhaps more than once. Nil in houses without one.
	Shared func(name string, make func() any) any
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
	// Legacy says in which versions the indirection existed; "" is still.
	Legacy string
	// BeforeSave runs before a save. Saving facts expires the node. Rule
	// IND-EXP-06.
	BeforeSave func(context.Context, *Indirector, *Request) error
	// KeyMatches replaces the comparison of the instance's name with the key.
	// Rule IND-VAL-02.
	KeyMatches func(inst Instance, key string) error
}

// Constant returns the Ruby constant for a terminus or indirection name:
// "file_server" is FileServer. Puppet's own helper handles the first
// underscore only; nothing of ours has two. Rule IND-TERM-02.
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
