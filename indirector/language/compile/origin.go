package compile

import (
	"indirtui/indirector/model"
	"indirtui/indirector/origins"
)

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

// A Receiver is given what a compile knows beyond the catalog that nodes get.
type Receiver struct {
	Environment string         // of the node, as soon as that is known
	Catalog     *model.Catalog // with its virtual resources and its origins; nil if the compile failed
}

// Key names the Receiver where options are shown.
func (*Receiver) Key() string { return "of a program" }

func (c *compilation) origin(o origins.Origin) int32 {
	c.origins = append(c.origins, o)
	return int32(len(c.origins) - 1)
}

// placeOf returns the place that Puppet knows of a value: that of what is written as an
// attribute.
func (c *compilation) placeOf(p *param) origins.Origin {
	switch o := c.origins[p.origin]; o.Kind {
	case origins.Literal, origins.Default, origins.Override, origins.Collector:
		return o
	}
	return origins.Origin{}
}

// replacing returns an origin that replaces another. One that is used by several
// resources is copied.
func (c *compilation) replacing(i, old int32) int32 {
	o := c.origins[i]
	o.Lost = old
	return c.origin(o)
}

// originTable returns where everything in the catalog is from.
func (c *compilation) originTable() *origins.Table {
	t := &origins.Table{Resources: make([]origins.Resource, len(c.all)), Origins: c.origins}
	n := 0
	for _, r := range c.all {
		n += len(r.params)
	}
	attributes := make([]origins.Attribute, 0, n)
	for i, r := range c.all {
		from := len(attributes)
		for j := range r.params {
			attributes = append(attributes, origins.Attribute{Name: r.typ.written(r.params[j].name), Origin: r.params[j].origin})
		}
		out := &t.Resources[i]
		*out = origins.Resource{
			Type: r.typ.name, Title: r.title, File: r.file, Line: r.line, Virtual: r.virtual, Absent: r.virtual && !r.exported,
			Attributes: attributes[from:len(attributes):len(attributes)],
		}
		if r.file == "" && r.line == 0 {
			out.File, out.Line = c.origins[r.at].File, c.origins[r.at].Line
		}
		if at := r.scope.resource; at != nil && at != r {
			out.Container = int32(at.index) + 1
		}
	}
	return t
}
