package puppetdb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/stores"
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
	if err == nil || errors.Is(err, errMissing) {
		c.became.Reached()
		return tried, err
	}
	if why := leftBehind(tried); why != "" && ctx.Err() == nil {
		traces.ExplainFailure(ctx, traces.NoPuppetDB(why))
		c.became.Add(stores.Failed, c.now(), q.name+": "+why)
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
