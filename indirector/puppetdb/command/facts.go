package command

import (
	"fmt"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
)

const inventory = "_puppet_inventory_1" // the fact with the packages

// Facts returns the command that replaces the facts of a node. The trusted data take
// the place of a fact of their name. An error names facts that are no hash. Rules
// PDB-FACT-01 to PDB-FACT-03.
func Facts(f *model.Facts, o Options) (*Command, error) {
	c := o.command(ReplaceFacts, 5, f.Name)
	if kind := f.Values.Kind(); kind != data.Hash && kind != data.Nil {
		return nil, c.failed("make", fmt.Errorf("the values are a %s, not a hash", kind))
	}
	trusted := data.P("trusted", trustedHash(o.Trusted))
	var values []data.Pair
	var found data.Value
	for _, p := range f.Values.Hash() {
		if p.Key.Str() == inventory {
			found = p.Value
			continue
		}
		values = append(values, p)
	}
	rest := []data.Pair{
		data.P("environment", data.OfString(o.Environment)),
		data.P("producer_timestamp", wireTime(o.Produced)),
		data.P("producer", data.OfString(o.Producer)),
	}
	if found.Truthy() {
		rest = append(rest, data.P("package_inventory", found.Get("packages")))
	}
	payload := func(values data.Value) data.Value {
		return data.OfHash(append([]data.Pair{data.P("certname", data.OfString(f.Name)), data.P("values", values)}, rest...))
	}
	// Puppet adds the trusted data beside a fact of that name. Readers of JSON keep
	// the last of two.
	all := data.OfHash(values)
	if _, given := all.Lookup("trusted"); given {
		c.sent = payload(data.OfHash(append(values[:len(values):len(values)], trusted)))
	}
	c.Payload = payload(all.With("trusted", trusted.Value))
	return c, nil
}

// trustedHash returns trusted data as Puppet has them, in its order.
func trustedHash(v data.Value) data.Value {
	authenticated, ok := v.Lookup("authenticated")
	if !ok {
		authenticated = data.OfString("local")
	}
	certname := v.Get("certname")
	host, domain, dotted := strings.Cut(certname.Str(), ".")
	h := []data.Pair{
		data.P("authenticated", authenticated), data.P("certname", certname), data.P("extensions", orEmpty(v.Get("extensions"))),
		data.P("hostname", orNull(host)), data.P("domain", data.Value{}), data.P("external", orEmpty(v.Get("external"))),
	}
	if dotted {
		h[4].Value = data.OfString(domain)
	}
	return data.OfHash(h)
}

func orEmpty(v data.Value) data.Value {
	if v.IsNil() {
		return data.OfHash(nil)
	}
	return v
}
