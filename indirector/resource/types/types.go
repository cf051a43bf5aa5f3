// Package types has the resource types of Puppet: which attributes each has, what
// their values may be and become, when a property is in sync, and what is written
// when it changes. A type knows no system: what needs one asks a Host.
//
// A type is data and the few functions that it needs, so that it reads like its
// documentation. Rules RES-TYPE-01 to RES-TYPE-11.
package types

import (
	"slices"
	"strings"

	"indirtui/indirector/data"
)

// A Type is a class of resources. It is made by Define, never written afterwards, and
// may be used from several goroutines.
type Type struct {
	Name       string   // "file", lower case
	Doc        string   // plain text, the first sentence is its summary
	Module     string   // that brings it; "" is Puppet itself
	Namevars   []string // mostly one
	Attributes []*Attribute
	Features   []string // that its providers may have
	Providers  []*Provider
	ApplyTo    string // host, device or both; "" is host

	Repeats       bool // several resources may have the same namevars (exec, tidy)
	SelfRefresh   bool // refreshes itself after its own change (mount)
	Refreshable   bool
	Generates     bool // makes resources at the start of a run (tidy, resources, user)
	EvalGenerates bool // makes resources when it is evaluated (file)
	Instances     Instances

	// Ref is the reference of a resource, where that is not its type and title.
	Ref func(r *Resource) string
	// TitlePatterns are how a title gives namevars: the first that matches counts. If there
	// are none, the title is the first namevar. Rule RES-TYPE-10.
	TitlePatterns []TitlePattern
	// Titles returns the namevars that a title gives, in pairs of name and value. Define
	// makes it of TitlePatterns; it is nil if there are none.
	Titles func(title string) ([]data.Pair, error)
	// Validate checks the resource as a whole once everything is set. It may be nil.
	Validate func(r *Resource) error
	// Finish sets what follows from what was set, after Validate. It may be nil.
	Finish func(r *Resource) error
	// Redact marks what is sensitive along with some attributes, and returns those that are
	// left to the usual rule. It may be nil.
	Redact func(r *Resource, names []string) []string
	// Require, Before, Notify and Subscribe are the automatic relationships, in the
	// order in which they are made. Rule RES-GRAPH-03.
	Require, Before, Notify, Subscribe []Auto

	index    map[string]*Attribute
	all      []*Attribute // Attributes, then metaparameters
	declared []*Attribute
	presets  int // attributes that may have a default
}

// Auto is an automatic relationship with resources of one type.
type Auto struct {
	Type string // "user"
	// Titles returns those of the resources, whether they are in the catalog or not.
	// What depends on the catalog asks r.Catalog, which is not nil.
	Titles func(r *Resource) []string
}

// Instances is how the resources of a type are listed. Rule RES-RAL-06.
type Instances string

// The ways of listing. The zero value is None.
const (
	None        Instances = ""          // no providers: listing is an error
	ByProviders Instances = "providers" // what the providers find
	Own         Instances = "own"       // file, exec, tidy, schedule: an empty list
)

// A Ref names a resource: "File", "/etc/motd". The type is capitalised.
type Ref struct{ Type, Title string }

// String is "File[/etc/motd]".
func (f Ref) String() string { return f.Type + "[" + f.Title + "]" }

// Kind is what an attribute is for.
type Kind uint8

// The kinds of attributes.
const (
	Property      Kind = iota // exists on the system, can be out of sync
	Parameter                 // steers
	Metaparameter             // steers, in every type
)

// String is "property", "parameter" or "metaparameter".
func (k Kind) String() string { return [...]string{"property", "parameter", "metaparameter"}[k] }

// An Attribute is one of a type's. Functions that are nil have the usual rule.
type Attribute struct {
	Name     string
	Kind     Kind
	Doc      string
	Choices  []Choice
	Patterns []Pattern // in the order in which error texts list them
	Features []string  // without them it is not managed. Rule RES-TYPE-06.
	Other    []string  // features that a value takes that is no choice (versions of packages)
	All      bool      // array_matching => all. Rule RES-TYPE-05.
	Creates  bool      // an ensure of which present and absent are "created" and "removed"
	Always   bool      // out of sync in every run, and never corrective (notify's message)
	Secret   bool      // always sensitive. Rule RES-TYPE-09.
	Event    string    // the name of every event of it; "" is the usual one

	// Preset is the default; one that is nil or false is only documented, as is that beside
	// a Default. Rule RES-TYPE-01.
	Preset data.Value
	// Setting names the setting that is the default.
	Setting string
	// Default is asked for a default that depends on the resource; ok is false where
	// there is none.
	Default func(r *Resource) (v data.Value, ok bool)

	// Validate refuses a value, before Munge. A nil Validate checks Choices and Patterns.
	Validate func(r *Resource, v data.Value) error
	// Munge returns what the value becomes. A nil Munge makes symbols of Choices.
	Munge func(r *Resource, v data.Value) (data.Value, error)
	// Unmunge returns what is shown of a value: (mode) 4 digits. It may be nil.
	Unmunge func(v data.Value) data.Value
	// Wanted returns what is to be, where that depends on what is (groups of a user that
	// are added to those that it has). Rule RES-TYPE-08.
	Wanted func(r *Resource, should []data.Value, is data.Value) data.Value
	// InSync compares what is with what should be. Rule RES-TYPE-05. What a provider knows
	// better (names of accounts, versions of packages) it compares itself.
	InSync func(r *Resource, is data.Value) (bool, error)
	// Change is the message of an event. Rule RES-EV-04.
	Change func(r *Resource, is, should data.Value) string
	// ShowIs and ShowShould print a value in messages. Rule RES-TYPE-11.
	ShowIs, ShowShould func(r *Resource, v data.Value) string
}

// A Choice is one value of an enumeration.
type Choice struct {
	Name     string
	Aliases  []string
	Features []string // that the provider must have
	Event    string   // "file_created"; "" is the usual name. Rule RES-EV-03.
	// Unschedules reports a value that takes back a pending refresh. Rule RES-REF-06.
	Unschedules bool
}

// A Provider is how a type is done on one kind of system: what selects it, not what
// it does. Rules RES-PROV-01 and RES-PROV-02.
type Provider struct {
	Name          string
	Doc           string
	Source        string   // providers of one source list the same things; "" is its name
	Parents       []string // nearest first
	Features      []string
	Confines      []Confine
	DefaultFor    []Facts // one of them must match
	NotDefaultFor []Facts
	Last          bool // it is used only where there is no other (gem, pip)
	Commands      []Command
}

// Facts are facts with the values that are allowed, by dotted names: all must match.
type Facts map[string][]string

// Supports reports whether p has all of some features. A nil p has none.
func (p *Provider) Supports(features []string) bool {
	for _, f := range features {
		if p == nil || !slices.Contains(p.Features, f) {
			return false
		}
	}
	return true
}

// A Command is a program that a provider needs, or may use.
type Command struct {
	Name, Path string // "aptget", "/usr/bin/apt-get"
	Optional   bool
}

// A Confine is a condition for a provider to be suitable.
type Confine struct {
	// Kind is exists, feature, true or false (a feature that must be there, or must not),
	// fact or not (a fact or setting that has one of the values, or none), any, or ruby (Ruby
	// has found that it does not hold, Name is why).
	Kind   string
	Name   string // of the feature or fact; the path for exists
	Values []string
	Any    []Facts
}

// A Host answers what types and the selection of providers ask of a system. Its
// methods may be called from several goroutines.
type Host interface {
	// Fact is one by its dotted name: "os.family".
	Fact(name string) (data.Value, bool)
	Setting(name string) (string, bool)
	// Feature is one of Puppet's ("posix", "root", "selinux", "libuser"), or "systemd": the
	// first process is systemd.
	Feature(name string) bool
	Exists(path string) bool
	// Which is the path of a program, or "".
	Which(program string) string
}

// A Catalog is what resources ask of the catalog that they are in.
type Catalog interface {
	// Resource is one by its title, an alias or what is unique of it; nil if there is none.
	Resource(ref Ref) *Resource
	// Resources are those of a type, in order.
	Resources(typ string) []*Resource
}

// Define completes a type: attributes get their kinds' order (namevars, provider,
// properties with ensure first, parameters), and the parameter provider if there are
// providers.
func Define(t Type) *Type {
	if t.ApplyTo == "" {
		t.ApplyTo = "host"
	}
	all := t.Attributes
	if len(t.Providers) > 0 && !slices.ContainsFunc(all, func(a *Attribute) bool { return a.Name == "provider" }) {
		all = append(slices.Clip(all), providerParameter())
	}
	t.declared = all
	if len(t.TitlePatterns) > 0 {
		t.Titles = titles(t.TitlePatterns)
	}
	rank := func(a *Attribute) int {
		if i := slices.Index(t.Namevars, a.Name); i >= 0 {
			return i
		}
		switch {
		case a.Name == "provider":
			return len(t.Namevars)
		case a.Name == "ensure":
			return len(t.Namevars) + 1
		}
		return len(t.Namevars) + 2 + int(a.Kind)
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b *Attribute) int { return rank(a) - rank(b) })
	t.Attributes = all
	t.all = slices.Concat(all, Metaparameters())
	t.index = make(map[string]*Attribute, len(t.all))
	for _, a := range slices.Backward(t.all) { // those of the type count
		t.index[a.Name] = a
		if a.Preset.Truthy() || a.Default != nil || a.Setting != "" {
			t.presets++
		}
	}
	return &t
}

// Declared are the attributes in the order in which Puppet declares them, which is that
// of a compiler.
func (t *Type) Declared() []*Attribute { return slices.Clone(t.declared) }

// Attribute is an attribute or metaparameter by its name, or nil.
func (t *Type) Attribute(name string) *Attribute {
	if a := t.index[name]; a != nil {
		return a
	}
	if name == "name" && len(t.Namevars) == 1 {
		return t.index[t.Namevars[0]]
	}
	return nil
}

// Provider is a provider by its name, or nil.
func (t *Type) Provider(name string) *Provider {
	i := slices.IndexFunc(t.Providers, func(p *Provider) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return t.Providers[i]
}

// Title is the name of the type as references have it: "Ssh_authorized_key".
func (t *Type) Title() string { return Capital(t.Name) }

// Capital is the name of a type as references have it: "Foo::Bar" for "foo::bar". A
// name that begins with a capital letter stays as it is.
func Capital(name string) string {
	if name != "" && name[0] >= 'A' && name[0] <= 'Z' {
		return name
	}
	parts := strings.Split(name, "::")
	for i, p := range parts {
		if p != "" {
			parts[i] = strings.ToUpper(p[:1]) + strings.ToLower(p[1:])
		}
	}
	return strings.Join(parts, "::")
}
