package types

import "indirtui/indirector/data"

// A Resource is an instance of a Type with its attributes set. It belongs to one
// goroutine.
type Resource struct {
	Type     *Type
	Title    string
	File     string // "" is unset
	Line     int64  // 0 is unset
	Tags     []string
	Exported bool
	Virtual  bool
	Provider *Provider // nil: there is none, or none is suitable
	Host     Host
	// Log takes warnings of setting attributes, in Puppet's words. It may be nil.
	Log func(level, message string)

	values map[string]*value
}

// A value is an attribute of a resource.
type value struct {
	of        *Attribute
	should    []data.Value // one for parameters; wanted values of properties
	sensitive bool
	defaulted bool
}

// Given is what a resource is made of.
type Given struct {
	Title     string
	File      string
	Line      int64
	Tags      []string
	Exported  bool
	Virtual   bool
	Values    []data.Pair
	Sensitive []string
}

// New makes a resource: attributes are set in the type's order, then defaults, then
// the whole is validated. Errors are those of Puppet: "Parameter mode failed on
// File[/x]: ...". Rules RES-TYPE-01 and RES-TYPE-02.
func New(t *Type, host Host, g Given, log func(level, message string)) (*Resource, error)

// Ref is "File[/etc/motd]", with the title.
func (r *Resource) Ref() string

// Name is the value of the (first) namevar.
func (r *Resource) Name() string

// UniqueKey is the namevars as one text. Rule RES-TYPE-10.
func (r *Resource) UniqueKey() string

// Set sets one attribute: validates, then munges.
func (r *Resource) Set(name string, v data.Value) error

// Has reports whether an attribute is set, by a manifest or by its default.
func (r *Resource) Has(name string) bool

// Value is that of a parameter, or the first wanted one of a property (all of them,
// as a list, where the property takes all); nil if it is not set.
func (r *Resource) Value(name string) data.Value

// Should is all wanted values of a property.
func (r *Resource) Should(name string) []data.Value

// Properties are the names of those that are set, in the type's order: ensure first.
func (r *Resource) Properties() []string

// Sensitive reports whether the values of an attribute are to be redacted.
func (r *Resource) Sensitive(name string) bool

// InSync reports whether what is is what should be. Rule RES-TYPE-05.
func (r *Resource) InSync(property string, is data.Value) (bool, error)

// ChangeText is the message for a change of a property. Rule RES-EV-04.
func (r *Resource) ChangeText(property string, is data.Value) string

// EventName is "mode_changed" or the name that the value of ensure has. Rule RES-EV-03.
func (r *Resource) EventName(property string, is data.Value) string

// Select returns the provider of a type on a host and what was thought of each: the
// answer to "why this one". Rule RES-PROV-02.
func Select(t *Type, h Host) (*Provider, []Candidate)

// A Candidate is a provider with what counts for and against it.
type Candidate struct {
	Provider    *Provider
	Suitable    bool
	Why         string // "not suitable: /usr/bin/dnf is not there", "default for os.family = debian"
	Specificity int
}

// All are the types that are built in, by name.
func All() map[string]*Type
