package puppetdb

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
)

// SearchResources returns the exported resources of a type that other nodes than
// host export, sorted by node and title. A filter is a nested list: see
// resourcesQuery. Rules PDB-QRY-01, PDB-QRY-02, STORE-COL-11.
func (c *Client) SearchResources(ctx context.Context, typ, host string, filter data.Value) ([]*model.Resource, error) {
	ast, err := resourcesQuery(typ, host, filter)
	if err != nil {
		return nil, err
	}
	path, err := queryPath("/pdb/query/v4/resources", ast)
	if err != nil {
		return nil, err
	}
	a, tried, err := c.get(ctx, "resources", path, plainHeader)
	if err != nil {
		if len(tried) == 0 {
			return nil, err
		}
		last := tried[len(tried)-1].url
		return nil, rephrased(ctx, fmt.Sprintf("Could not retrieve resources from the PuppetDB at https://%s:%s: ", last.Hostname(), portOf(last)), err)
	}
	found, err := c.resources(ctx, a)
	if err == nil {
		c.awaited(ctx, host, found)
	}
	return found, err
}

// resources reads rows of resources.
func (c *Client) resources(ctx context.Context, a *attempt) ([]*model.Resource, error) {
	v, err := c.decode(ctx, a)
	if err != nil {
		return nil, err
	}
	all, err := rows(a, v)
	if err != nil {
		return nil, err
	}
	found := make([]*model.Resource, len(all))
	for i, row := range all {
		if found[i], err = resourceOf(a, row, i); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(found, func(x, y *model.Resource) int {
		return cmp.Or(strings.Compare(x.Exporter, y.Exporter), strings.Compare(x.Type, y.Type), strings.Compare(x.Title, y.Title))
	})
	return found, nil
}

// resourceOf reads row i. Parameters that are null are left out.
func resourceOf(a *attempt, row data.Value, i int) (*model.Resource, error) {
	r := new(model.Resource)
	for key, into := range map[string]*string{"type": &r.Type, "title": &r.Title, "certname": &r.Exporter} {
		var err error
		if *into, err = text(a, row, i, key); err != nil {
			return nil, err
		}
	}
	params := row.Get("parameters")
	if params.Truthy() && params.Kind() != data.Hash {
		return nil, &indirector.Failure{
			Message: fmt.Sprintf("row %d of PuppetDB's answer, %s, has parameters that are a %s", i+1, r.Ref(), params.Kind()), Origin: "decode", Path: a.url.Redacted(),
		}
	}
	kept := make([]data.Pair, 0, params.Len())
	for _, p := range params.Hash() {
		if !p.Value.IsNil() {
			kept = append(kept, p)
		}
	}
	r.Parameters = data.OfHash(kept)
	r.File, r.Line = row.Get("file").Str(), row.Get("line").Int()
	return r, nil
}
