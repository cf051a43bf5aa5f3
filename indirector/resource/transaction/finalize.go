package transaction

import (
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// relationships are the metaparameters that order resources, as Puppet goes through
// them. Rule RES-GRAPH-02.
var relationships = [...]struct {
	kind    EdgeKind
	in      bool // what it names comes before
	refresh bool
}{
	{Require, true, false},
	{Subscribe, true, true},
	{Before, false, false},
	{Notify, false, true},
}

// Finalize adds the default resources and checks relationships. bucket is the path of
// the default filebucket. Rule RES-CONV-04.
func (c *Catalog) Finalize(schedules bool, bucket string) error {
	if err := c.addDefaults(schedules, bucket); err != nil {
		return err
	}
	for _, key := range c.keys {
		r := c.table[key]
		if err := c.checkBucket(r); err != nil {
			return err
		}
		for _, k := range relationships {
			if err := c.check(r, k.kind, k.in); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Catalog) check(r *Resource, kind EdgeKind, in bool) error {
	word := "dependent"
	if in {
		word = "dependency"
	}
	for _, w := range r.waits {
		for _, ref := range w.to {
			if w.kind == kind && c.find(ref) == nil {
				return failf("Could not find %s %s for %s%s", word, ref, r.Ref(), at(r.File, r.Line))
			}
		}
	}
	return nil
}

// checkBucket refuses a file whose backups go to a bucket that there is not.
func (c *Catalog) checkBucket(r *Resource) error {
	if r.RAL == nil || r.Type != "File" {
		return nil
	}
	bucket := r.RAL.Value("backup")
	name := bucket.Text()
	if !bucket.Truthy() || strings.HasPrefix(name, ".") || name == "puppet" || c.find(types.Ref{Type: "Filebucket", Title: name}) != nil {
		return nil
	}
	return failf("Could not find filebucket %s specified in backup", name)
}

func (c *Catalog) addDefaults(schedules bool, bucket string) error {
	if schedules {
		if err := c.addDefault("schedule", "puppet", data.P("period", data.OfString("hourly")), data.P("repeat", data.OfString("2"))); err != nil {
			return err
		}
		for _, period := range []string{"hourly", "daily", "weekly", "monthly", "never"} {
			if err := c.addDefault("schedule", period, data.P("period", data.OfString(period))); err != nil {
				return err
			}
		}
	}
	var path []data.Pair
	if bucket != "" {
		path = append(path, data.P("path", data.OfString(bucket)))
	}
	return c.addDefault("filebucket", "puppet", path...)
}

// addDefault adds a resource unless it was declared, or its type is not known.
func (c *Catalog) addDefault(typ, title string, values ...data.Pair) error {
	t := c.Types[typ]
	if t == nil || c.find(types.Ref{Type: typ, Title: title}) != nil {
		return nil
	}
	ral, err := types.New(t, c.Host, types.Given{Title: title, Values: values, Catalog: c}, nil)
	if err != nil {
		return err
	}
	r := &Resource{byDefault: true}
	r.adopt(ral)
	return c.insert(r, len(c.resources))
}
