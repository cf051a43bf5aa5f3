package puppetdb

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// Facts finds the facts of a node, without times and environment. A node that
// PuppetDB knows, and that has none, has facts without values. Rules PDB-QRY-03,
// PDB-QRY-04.
func (c *Client) Facts(ctx context.Context, key string) (*model.Facts, error) {
	path, err := nodePath(key)
	if err != nil {
		return nil, err
	}
	a, tried, err := c.get(ctx, "facts", path+"/facts", formHeader)
	if errors.Is(err, errMissing) {
		return nil, missing(ctx, tried)
	}
	var values []data.Pair
	if err == nil {
		values, err = c.facts(ctx, a)
	}
	if err != nil {
		return nil, rephrased(ctx, "Failed to find facts from PuppetDB at  ", err)
	}
	if len(values) == 0 {
		c.whyEmpty(ctx, key, path)
	}
	return &model.Facts{Name: key, Values: data.OfHash(values)}, nil
}

// facts reads rows of names and values. Of equal names the last counts.
func (c *Client) facts(ctx context.Context, a *attempt) ([]data.Pair, error) {
	v, err := c.decode(ctx, a)
	if err != nil {
		return nil, err
	}
	all, err := rows(a, v)
	if err != nil {
		if v.Kind() == data.Hash && v.Len() == 0 {
			return nil, nil // as Ruby walks it
		}
		return nil, err
	}
	values := make([]data.Pair, 0, len(all))
	at := make(map[string]int, len(all))
	for i, row := range all {
		name, err := text(a, row, i, "name")
		if err != nil {
			return nil, err
		}
		if n, twice := at[name]; twice {
			values[n].Value = row.Get("value")
			continue
		}
		at[name] = len(values)
		values = append(values, data.P(name, row.Get("value")))
	}
	return values, nil
}

// missing is Puppet's nil for what no PuppetDB has. It is not certain where one
// was not reached.
func missing(ctx context.Context, tried []attempt) error {
	var here, unknown []string
	for _, t := range tried {
		if t.missing {
			here = append(here, t.url.Host)
		} else {
			unknown = append(unknown, fmt.Sprintf("%s was not reached (%s)", t.url.Host, t.left))
		}
	}
	s := "not found at " + strings.Join(here, " and ")
	if len(unknown) > 0 {
		s += "; " + strings.Join(unknown, ", ") + ", so this nil is not certain"
	}
	traces.Explain(ctx, s)
	return indirector.NotFound(traces.NilFrom404, s)
}

// whyEmpty explains facts without values, where that is traced: it takes one
// more request, which Puppet does not make.
func (c *Client) whyEmpty(ctx context.Context, key, path string) {
	if traces.FromContext(ctx) == nil {
		return
	}
	a, _, err := c.get(ctx, "status, for the trace only", path, formHeader)
	if err != nil {
		return
	}
	v, err := c.decode(ctx, a)
	if err != nil {
		return
	}
	for _, state := range []string{"deactivated", "expired"} {
		if since := v.Get(state); since.Kind() == data.String {
			traces.Explain(ctx, fmt.Sprintf("facts are empty because %s is %s since %s, not because it has none", key, state, since.Str()))
			return
		}
	}
	traces.Explain(ctx, "facts are empty because PuppetDB has none of "+key+", which is active: only a catalog or a report of it")
}

// SearchFacts returns the names of the nodes whose facts meet the options, as
// PuppetDB orders them. Rules PDB-QRY-05, PDB-QRY-06.
func (c *Client) SearchFacts(ctx context.Context, options []indirector.Option) ([]indirector.Instance, error) {
	ast, err := factsQuery(options)
	if err != nil {
		return nil, err
	}
	names, err := c.searchFacts(ctx, ast)
	if err != nil && ctx.Err() == nil {
		f := rephrased(ctx, "", err).(*indirector.Failure)
		f.Class = "Puppet::Util::Puppetdb::InventorySearchError"
		return nil, f
	}
	return names, err
}

func (c *Client) searchFacts(ctx context.Context, ast data.Value) ([]indirector.Instance, error) {
	path, err := queryPath("/pdb/query/v4/nodes", ast)
	if err != nil {
		return nil, err
	}
	a, _, err := c.get(ctx, "facts search", path, formHeader)
	if err != nil {
		return nil, err
	}
	return c.names(ctx, a)
}

// names reads rows of nodes.
func (c *Client) names(ctx context.Context, a *attempt) ([]indirector.Instance, error) {
	v, err := c.decode(ctx, a)
	if err != nil {
		return nil, err
	}
	all, err := rows(a, v)
	if err != nil {
		return nil, err
	}
	names := make([]indirector.Instance, len(all))
	for i, row := range all {
		key := "name"
		if row.Get(key).IsNil() {
			key = "certname" // PuppetDB's since version 3; to Puppet these are nulls
		}
		name, err := text(a, row, i, key)
		if err != nil {
			return nil, err
		}
		names[i] = indirector.Name(name)
	}
	return names, nil
}
