package compile

// An OriginKind is how an attribute got its value.
type OriginKind uint8

// The kinds.
const (
	Unknown         OriginKind = iota
	FromLiteral                // the resource expression
	FromTypeDefault            // Type { … }
	FromOverride               // Ref[…] { … }
	FromCollector              // Type <| … |> { … }
	FromDefault                // the default of a parameter
	FromData                   // hiera
	FromClassifier             // the node classifier
	FromFunction               // create_resources and require
	FromContainer              // a metaparameter of what contains the resource
	FromRelation               // ->
)

var originNames = [...]string{
	"unknown", "resource expression", "resource default", "override", "collector", "default of the parameter", "data",
	"node classifier", "function", "container", "relationship",
}

// String returns the name of k.
func (k OriginKind) String() string { return originNames[k] }

// Options of a request for a catalog that a program in this process may give.
const (
	// OptionReceiver is a [*Receiver].
	OptionReceiver = "receiver"
	// OptionUnsaved is true if the facts that come with the request are not to be saved.
	OptionUnsaved = "unsaved"
	// OptionCommands is true if manifests may run commands, with the function generate, and
	// environment.conf with config_version: to look at a catalog runs nothing that they name.
	OptionCommands = "commands"
)

// A Receiver is given what a compile knows beyond the catalog.
type Receiver struct {
	Environment string  // of the node, as soon as that is known
	Result      *Result // nil if the compile failed
}

// Key names the Receiver where options are shown.
func (*Receiver) Key() string { return "of a program" }

// An Origin is where the value of an attribute came from.
type Origin struct {
	Kind OriginKind
	File string // "" if it is not known
	Line int    // from 1; 0 if it is not known
	From string // of data, the levels that have it; of several, with their files and lines
}

// An origin is one in the table of a compilation.
type origin struct {
	Kind OriginKind
	File string
	Line int
	From string
	lost int32 // the origin of the value that was replaced; 0 if there was none
}

func (c *compilation) origin(o origin) int32 {
	c.origins = append(c.origins, o)
	return int32(len(c.origins) - 1)
}

// placeOf returns the place that Puppet knows of a value: that of what is written as an
// attribute.
func (c *compilation) placeOf(p *param) origin {
	switch o := c.origins[p.origin]; o.Kind {
	case FromLiteral, FromTypeDefault, FromOverride, FromCollector:
		return o
	}
	return origin{}
}

// replacing returns an origin that replaces another. One that is used by several
// resources is copied.
func (c *compilation) replacing(i, old int32) int32 {
	o := c.origins[i]
	o.lost = old
	return c.origin(o)
}

// Why returns where the value of an attribute came from, and then where the values came
// from that it replaced. It is nil if there is no such resource or attribute.
func (r *Result) Why(ref, attribute string) []Origin {
	for _, x := range r.c.all {
		if x.ref() != ref {
			continue
		}
		p := x.param(attribute)
		if p == nil {
			return nil
		}
		var out []Origin
		for i := p.origin; ; i = r.c.origins[i].lost {
			o := r.c.origins[i]
			out = append(out, Origin{o.Kind, o.File, o.Line, o.From})
			if o.lost == 0 {
				return out
			}
		}
	}
	return nil
}

// Containers returns the references of what contains a resource, the outermost first.
func (r *Result) Containers(ref string) []string {
	for _, x := range r.c.all {
		if x.ref() != ref {
			continue
		}
		var out []string
		for at := x.scope.resource; at != nil && at != x; at = at.scope.resource {
			out = append([]string{at.ref()}, out...)
			if at.scope.resource == at {
				break
			}
		}
		return out
	}
	return nil
}
