package command

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
)

// The limits of a body that arrives.
const (
	maxBytes = 256 << 20
	maxDepth = 200
)

// readable are the commands that are read, with the first and the last version.
var readable = map[string][2]int{
	ReplaceCatalog:       {6, 9},
	ReplaceCatalogInputs: {1, 1},
	ReplaceFacts:         {4, 5},
	StoreReport:          {5, 8},
	DeactivateNode:       {3, 3},
}

// Read reads a command that arrived: name with blanks or underscores, and the others as
// the URL has them. If produced is zero, it is that of the body. The body may be 256 MiB, nested
// 200 deep. The versions that are read are 6 to 9 of catalogs, 4 and 5 of facts, 5 to
// 8 of reports, 3 of deactivations, and 1 of inputs of catalogs; an error names another.
func Read(name string, version int, certname string, produced time.Time, body []byte) (*Command, error) {
	c := &Command{Name: strings.ReplaceAll(name, "_", " "), Version: version, Certname: certname, Produced: produced}
	versions, ok := readable[c.Name]
	switch {
	case !ok:
		return nil, c.failed("read", errors.New("there is no such command"))
	case version < versions[0] || version > versions[1]:
		return nil, c.failed("read", fmt.Errorf("the versions that are known are %d to %d", versions[0], versions[1]))
	}
	v, err := format.DecodeJSON(body, format.Limits{Bytes: maxBytes, Depth: maxDepth})
	if err != nil {
		return nil, c.failed("read", err)
	}
	if v.Kind() != data.Hash {
		return nil, c.failed("read", fmt.Errorf("the body is a %s, not a hash", v.Kind()))
	}
	if produced.IsZero() {
		at, err := model.ParseTime(v.Get("producer_timestamp").Text())
		if err != nil {
			return nil, c.failed("read", fmt.Errorf("producer_timestamp: %w", err))
		}
		c.Produced = at.Time()
	}
	c.Produced = c.Produced.Truncate(time.Millisecond)
	c.Payload = v
	return c, nil
}

// failed returns the error of work on a command.
func (c *Command) failed(work string, err error) error {
	return fmt.Errorf("%s command %q version %d of %q: %w", work, c.Name, c.Version, c.Certname, err)
}

// Instance returns what the command stores: a *[model.Facts], *[model.Catalog] or
// *[model.Report], and nil for a command that stores none: a deactivation, or inputs of a
// catalog. What the command has not is not in the instance: secrets, virtual
// resources as such, and the environment of facts.
func (c *Command) Instance() (indirector.Instance, error) {
	var v data.Value
	class := ""
	switch c.Name {
	case ReplaceFacts:
		class, v = "facts", c.facts()
	case ReplaceCatalog:
		class, v = "catalog", c.catalog()
	case StoreReport:
		class, v = "report", c.report()
	default:
		return nil, nil
	}
	of, _ := model.Lookup(class)
	i, err := of.FromData(v)
	if err != nil {
		return nil, c.failed("understand", err)
	}
	return i, nil
}

// facts returns the data of the facts. The packages are a fact again.
func (c *Command) facts() data.Value {
	values := c.Payload.Get("values")
	if packages, ok := c.Payload.Lookup("package_inventory"); ok {
		values = values.With(inventory, data.OfHash([]data.Pair{data.P("packages", packages)}))
	}
	return data.OfHash([]data.Pair{
		data.P("name", c.Payload.Get("certname")),
		data.P("values", values),
		data.P("timestamp", data.OfString(model.At(c.Produced).String())),
	})
}

// catalog returns the data of the catalog. Of its edges it has those of containment: the
// others are among the parameters.
func (c *Command) catalog() data.Value {
	edges := c.Payload.Get("edges")
	if l := edges.List(); l != nil {
		kept := make([]data.Value, 0, len(l))
		for _, e := range l {
			if e.Get("relationship").Str() == contains {
				e = e.Without("relationship").With("source", refText(e.Get("source"))).With("target", refText(e.Get("target")))
				kept = append(kept, e)
			}
		}
		edges = data.OfList(kept)
	}
	h := []data.Pair{data.P("name", c.Payload.Get("certname")), data.P("edges", edges)}
	for _, k := range []string{"version", "code_id", "catalog_uuid", "environment", "resources"} {
		h = append(h, data.P(k, c.Payload.Get(k)))
	}
	return data.OfHash(h)
}

// refText returns a resource of an edge as a reference.
func refText(v data.Value) data.Value {
	return data.OfString(ref{v.Get("type").Text(), v.Get("title").Text()}.String())
}
