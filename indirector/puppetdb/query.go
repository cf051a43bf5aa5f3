package puppetdb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// Headers of queries.
var (
	plainHeader = http.Header{"Accept": {"application/json"}}
	formHeader  = http.Header{"Accept": {"application/json"}, "Content-Type": {"application/x-www-form-urlencoded; charset=UTF-8"}}
	jsonHeader  = http.Header{"Accept": {"application/json"}, "Content-Type": {"application/json; charset=UTF-8"}}
)

// ask sends a query. The attempts are those of this query; the last that was not
// left answered.
func (c *Client) ask(ctx context.Context, q *question) ([]attempt, error) {
	cfg, err := c.Config()
	if err != nil {
		return nil, err
	}
	tried, err := c.failover(ctx, cfg, cfg.ServerURLs, cfg.Sticky, q)
	if err != nil && ctx.Err() == nil && len(tried) > 0 && !errors.Is(err, errMissing) {
		if why := leftBehind(tried); why != "" {
			traces.ExplainFailure(ctx, "no PuppetDB answered: "+why)
		}
	}
	return tried, err
}

// get asks for a path, and fails unless the answer is a success.
func (c *Client) get(ctx context.Context, name, path string, header http.Header) (*attempt, []attempt, error) {
	tried, err := c.ask(ctx, &question{name: name, method: http.MethodGet, path: path, header: header})
	if err != nil {
		return nil, tried, err
	}
	a := answered(tried)
	c.deprecated(ctx, a.answer.Header)
	if !a.answer.OK() {
		return nil, tried, &indirector.Failure{Message: refusal(a.answer), Origin: "network", Path: a.url.Redacted(), Status: a.answer.Status}
	}
	return a, tried, nil
}

// decode reads the body of an answer.
func (c *Client) decode(ctx context.Context, a *attempt) (data.Value, error) {
	_, span := traces.Start(ctx, traces.Codec, "decode json")
	v, err := format.DecodeJSON(a.answer.Body, format.Limits{Bytes: int(c.answer), Depth: c.depth})
	span.End(v.Kind().String(), traces.Because{}, err)
	if err != nil {
		return v, &indirector.Failure{
			Class: "JSON::ParserError", Message: err.Error(), Origin: "decode", Path: a.url.Redacted(),
			Hidden: fmt.Sprintf("%s answered with %d bytes that cannot be read; limits are %s and %s", a.url.Host, len(a.answer.Body), settingAnswer, settingDepth), Err: err,
		}
	}
	return v, nil
}

// rows returns the elements of an answer, which is a list of hashes. Puppet fails
// in Ruby's words where it is not.
func rows(a *attempt, v data.Value) ([]data.Value, error) {
	wrong := func(what string) error {
		return &indirector.Failure{
			Class: "TypeError", Message: "no implicit conversion of String into Integer", Origin: "decode", Path: a.url.Redacted(),
			Hidden: fmt.Sprintf("%s answered with %s, and not a list of rows", a.url.Host, what),
		}
	}
	if v.Kind() != data.List {
		return nil, wrong("a " + v.Kind().String())
	}
	for i, row := range v.List() {
		if row.Kind() != data.Hash {
			return nil, wrong(fmt.Sprintf("a list whose row %d is a %s", i+1, row.Kind()))
		}
	}
	return v.List(), nil
}

// text returns a text of row i, which must be there.
func text(a *attempt, row data.Value, i int, key string) (string, error) {
	if v := row.Get(key); v.Kind() == data.String && v.Len() > 0 {
		return v.Str(), nil
	}
	return "", &indirector.Failure{
		Message: fmt.Sprintf("row %d of PuppetDB's answer has no text %q, but %s", i+1, key, row.Get(key).Inspect()), Origin: "decode", Path: a.url.Redacted(),
	}
}

// nodePath is the path of what PuppetDB has of a node. Names that mean a
// directory are refused: they would lead to another path.
func nodePath(key string) (string, error) {
	if key == "" || key == "." || key == ".." {
		return "", &indirector.Failure{Class: "ArgumentError", Message: "invalid key", Hidden: fmt.Sprintf("%q is no certname", key), Err: indirector.ErrInvalid}
	}
	return "/pdb/query/v4/nodes/" + url.QueryEscape(key), nil
}

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

// rephrased is err in words that begin as Puppet's, with what it hides.
func rephrased(ctx context.Context, begin string, err error) error {
	if ctx.Err() != nil {
		return err
	}
	f := &indirector.Failure{Message: begin + indirector.Message(err), Origin: "network", Err: err}
	if inner := (*indirector.Failure)(nil); errors.As(err, &inner) {
		f.Origin, f.Path, f.Hidden = cmp.Or(inner.Origin, f.Origin), inner.Path, inner.Hidden
	}
	return f
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
	return c.resources(ctx, a)
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

// Query asks PQL, a text, or an AST, a list. The answer is what came as JSON:
// below 500 a status does not count, but for a 404. Rule PDB-QRY-07.
func (c *Client) Query(ctx context.Context, query data.Value) (data.Value, error) {
	body, err := format.AppendJSON(nil, data.OfHash([]data.Pair{data.P("query", query)}))
	if err != nil {
		return data.Value{}, fmt.Errorf("write the query to PuppetDB: %w", err)
	}
	tried, err := c.ask(ctx, &question{name: "query", method: http.MethodPost, path: "/pdb/query/v4", header: jsonHeader, body: body})
	if err != nil {
		return data.Value{}, err
	}
	return c.decode(ctx, answered(tried))
}

// Status returns what PuppetDB knows of a node: a hash with certname,
// deactivated, expired and times. A node that is unknown is an
// indirector.ErrNotFound. Rule PDB-QRY-08.
func (c *Client) Status(ctx context.Context, key string) (data.Value, error) {
	path, err := nodePath(key)
	if err != nil {
		return data.Value{}, err
	}
	a, tried, err := c.get(ctx, "status", path, formHeader)
	if errors.Is(err, errMissing) {
		return data.Value{}, missing(ctx, tried)
	}
	if err != nil {
		return data.Value{}, err
	}
	v, err := c.decode(ctx, a)
	if err == nil && v.Kind() != data.Hash {
		_, err = rows(a, data.OfList([]data.Value{v}))
	}
	return v, err
}
