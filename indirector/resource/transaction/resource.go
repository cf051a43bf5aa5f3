package transaction

import (
	"regexp"
	"strings"

	"indirtui/indirector/model"
	"indirtui/indirector/resource/types"
)

// Kind is what a resource is to the graph.
type Kind uint8

// The kinds of resources.
const (
	Plain     Kind = iota // an instance of a type
	Component             // a class, or what a define or a type that is not known declares
	Whit                  // the begin or the end of a container
	Foreign               // of a type that is not known here
)

// A Resource is one of a catalog as a run sees it. It belongs to one goroutine.
type Resource struct {
	Kind  Kind
	Type  string // "File", "Class", "Foo::Bar"; "Whit"
	Title string
	File  string // "" is unset
	Line  int64  // 0 is unset
	Tags  []string
	RAL   *types.Resource // nil if it is not Plain

	ref       string          // of one with a RAL, whose names stay; a run asks for it a dozen times
	declared  *model.Resource // nil if the catalog has none of it
	of        *Resource       // what a whit begins or ends
	shown     string          // what messages call a whit
	completed bool            // a whit is the end
	waits     []relation      // by require, subscribe, before and notify, in this order
	virtual   bool
	byDefault bool        // was not declared
	over      bool        // its turn in a run of requests is over
	problem   error       // why its type refuses a Foreign one; nil if the type is not known
	parents   []*Resource // what contains it
	children  []*Resource
	path      string
	vertex
}

// A relation is what a metaparameter asks for.
type relation struct {
	kind EdgeKind
	to   []types.Ref
}

// Ref is the reference of r: "File[/etc/motd]", "Whit[Admissible_class[Main]]".
func (r *Resource) Ref() string {
	if r.ref != "" {
		return r.ref
	}
	return r.Type + "[" + r.Title + "]"
}

// String is what messages call r: whits are what they begin or end.
func (r *Resource) String() string {
	if r.Kind == Whit {
		return r.shown
	}
	return r.Ref()
}

// Container reports whether whits take its place in the graph. Rule RES-GRAPH-04.
func (r *Resource) Container() bool {
	return r.Kind == Component || r.Kind != Whit && r.Type == "Stage"
}

// Parent is the first that contains r, or nil.
func (r *Resource) Parent() *Resource {
	if len(r.parents) == 0 {
		return nil
	}
	return r.parents[0]
}

// Path is the source of its log lines: "/Stage[main]/Main/File[/etc/motd]". It does
// not change any more once it was asked for, as in Puppet. Rule RES-CONV-06.
func (r *Resource) Path() string {
	if r.Kind == Whit {
		return r.String()
	}
	if r.path == "" {
		r.path = "/" + strings.Join(r.Containment(), "/")
	}
	return r.path
}

// propertyPath is the source of the log lines of a property: it has what contains r now.
func (r *Resource) propertyPath(property string) string {
	return "/" + strings.Join(append(r.Containment(), property), "/")
}

// Containment has what contains r, the outermost first, and r.
func (r *Resource) Containment() []string {
	var up []*Resource
	seen := map[*Resource]bool{} // containers may contain each other
	for x := r; x != nil && !seen[x]; x = x.Parent() {
		up = append(up, x)
		seen[x] = true
	}
	path := make([]string, len(up))
	for i, x := range up {
		name := x.Ref()
		if x.Kind == Component && x.Type == "Class" {
			name = x.Title
		}
		path[len(up)-1-i] = name
	}
	return path
}

// contain puts the child into the container, once.
func contain(container, child *Resource) {
	for _, p := range child.parents {
		if p == container {
			return
		}
	}
	container.children = append(container.children, child)
	child.parents = append(child.parents, container)
}

// whitName is how a title like "admissible_Class[Main]" becomes a reference.
var whitName = regexp.MustCompile(`(?ms)^([^\[\]]+)\[(.+)\]$`)

// newWhit makes the whit that begins or ends a resource.
func newWhit(of *Resource, prefix, name string) *Resource {
	w := &Resource{Kind: Whit, Type: "Whit", Title: prefix + name, of: of, shown: name, completed: prefix == completedPrefix}
	if m := whitName.FindStringSubmatch(w.Title); m != nil {
		w.Title = capitalize(m[1]) + "[" + m[2] + "]"
	}
	return w
}

const (
	admissiblePrefix = "admissible_"
	completedPrefix  = "completed_"
)

// capitalize writes the name of a type as Puppet compares it: "Foo::Bar".
func capitalize(name string) string {
	parts := strings.Split(name, "::")
	for i, p := range parts {
		if p != "" {
			parts[i] = strings.ToUpper(p[:1]) + strings.ToLower(p[1:])
		}
	}
	return strings.Join(parts, "::")
}
