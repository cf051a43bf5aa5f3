// Package types has the resource types of Puppet: which attributes each has, what
// their values may be and become, when a property is in sync, and what is written
// when it changes. A type knows no system: what needs one asks a Host.
//
// A type is data and the few functions that it needs, so that it reads like its
// documentation. Rules RES-TYPE-01 to RES-TYPE-11.
package types

import (
	"regexp"

	"indirtui/indirector/data"
)

// A Type is a class of resources. It is never written once it is made, and may be
// used from several goroutines.
type Type struct {
	Name       string   // "file", lower case
	Doc        string   // plain text, the first sentence is its summary
	Namevars   []string // mostly one
	Attributes []*Attribute
	Features   []string // that its providers may have
	Providers  []*Provider
	ApplyTo    string // host, device or both

	Repeats       bool // several resources may have the same namevars (exec, tidy)
	SelfRefresh   bool // refreshes itself after its own change (mount)
	Refreshable   bool
	Generates     bool // makes resources at the start of a run (tidy, resources, user)
	EvalGenerates bool // makes resources when it is evaluated (file)
	Instances     Instances

	// Titles returns the namevars that a title gives, in pairs of name and value.
	// nil: the title is the only namevar. Rule RES-TYPE-10.
	Titles func(title string) ([]data.Pair, error)
	// Validate checks the resource as a whole once everything is set. It may be nil.
	Validate func(r *Resource) error
	// Autorequire, Autobefore, Autonotify and Autosubscribe return references, by the
	// type that they are of, whether they are in the catalog or not. Rule RES-GRAPH-03.
	Autorequire, Autobefore, Autonotify, Autosubscribe func(r *Resource) []Ref
}

// Instances is how the resources of a type are listed. Rule RES-RAL-06.
type Instances string

// The ways of listing.
const (
	ByProviders Instances = "providers"
	Own         Instances = "own"  // file, exec, tidy, schedule: an empty list
	None        Instances = "none" // no providers: listing is an error
)

// A Ref names a resource: "File", "/etc/motd".
type Ref struct{ Type, Title string }

// Kind is what an attribute is for.
type Kind uint8

// The kinds of attributes.
const (
	Property      Kind = iota // exists on the system, can be out of sync
	Parameter                 // steers
	Metaparameter             // steers, in every type
)

// An Attribute is one of a type's. Functions that are nil have the usual rule.
type Attribute struct {
	Name     string
	Kind     Kind
	Doc      string
	Choices  []Choice
	Patterns []*regexp.Regexp // in the order in which error texts list them
	Features []string         // without them it is not managed. Rule RES-TYPE-06.
	All      bool             // array_matching => all. Rule RES-TYPE-05.

	// Validate refuses a value, before Munge. A nil Validate checks Choices and Patterns.
	Validate func(r *Resource, v data.Value) error
	// Munge returns what the value becomes. A nil Munge makes symbols of Choices.
	Munge func(r *Resource, v data.Value) (data.Value, error)
	// Default is asked when nothing was set; ok is false where there is none.
	Default func(r *Resource) (v data.Value, ok bool)
	// InSync compares what is with what should be. Rule RES-TYPE-05.
	InSync func(r *Resource, is data.Value) (bool, error)
	// Change is the message of an event. Rule RES-EV-04.
	Change func(r *Resource, is data.Value) string
	// Show prints a value of it in messages. Rule RES-TYPE-11.
	Show func(v data.Value) string
}

// A Choice is one value of an enumeration.
type Choice struct {
	Name     string
	Aliases  []string
	Features []string // that the provider must have
	Event    string   // "file_created"; "" is the usual name. Rule RES-EV-03.
}

// A Provider is how a type is done on one kind of system: what selects it, not what
// it does. Rules RES-PROV-01 and RES-PROV-02.
type Provider struct {
	Name          string
	Doc           string
	Source        string   // providers of one source list the same things
	Parents       []string // nearest first
	Features      []string
	Confines      []Confine
	DefaultFor    []map[string][]string // facts and their values; one of the maps must match
	NotDefaultFor []map[string][]string
	Commands      []Command
}

// A Command is a program that a provider needs, or may use.
type Command struct {
	Name, Path string // "aptget", "/usr/bin/apt-get"
	Optional   bool
}

// A Confine is a condition for a provider to be suitable.
type Confine struct {
	Kind   string // exists, true, false, any, feature, fact
	Name   string // of the feature or fact; the path for exists
	Values []string
}

// A Host answers what types and the selection of providers ask of a system. Its
// methods may be called from several goroutines.
type Host interface {
	// Fact is one by its dotted name: "os.family".
	Fact(name string) (data.Value, bool)
	Setting(name string) (string, bool)
	// Feature is one of Puppet's: "posix", "root", "manages_symlinks".
	Feature(name string) bool
	Exists(path string) bool
	// Which is the path of a program, or "".
	Which(program string) string
}
