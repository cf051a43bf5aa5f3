// Package nested asks other indirections on behalf of a terminus, so that the trace of
// its request shows what was asked.
package nested

import (
	"context"
	"errors"
	"fmt"

	"indirtui/indirector"
	"indirtui/traces"
)

// Do is how a terminus sends a request: [indirector.Env].Do.
type Do = func(context.Context, *indirector.Request) (indirector.Response, error)

// Ask sends a request within a span of its own. Nothing found is a response without a
// value and no error. An error is that of the request, with its trace.
func Ask(ctx context.Context, do Do, req *indirector.Request) (indirector.Response, error) {
	key := req.Key
	if req.Instance != nil && key == "" {
		key = req.Instance.Key()
	}
	ctx, span := traces.Start(ctx, traces.Nested, req.Verb.String()+" "+req.Indirection+" "+key)
	resp, err := do(ctx, req)
	if e := (*indirector.Error)(nil); errors.As(err, &e) {
		span.Request(e.Trace)
	}
	switch {
	case errors.Is(err, indirector.ErrNotFound):
		span.End("nil", indirector.BecauseOf(err), nil)
		return indirector.Response{}, nil
	case err != nil:
		span.End("failed", traces.Because{}, err)
		return indirector.Response{}, err
	}
	span.Request(resp.Trace)
	span.End(answer(req.Verb, resp), traces.Because{Reason: traces.Returned, About: resp.Served.String()}, nil)
	return resp, nil
}

func answer(verb indirector.Verb, resp indirector.Response) string {
	switch verb {
	case indirector.Save:
		return "saved"
	case indirector.Search:
		all, _ := resp.Value.([]indirector.Instance)
		return fmt.Sprintf("%d found", len(all))
	}
	return "found"
}

// Find is Ask of what finds an instance; nil is nothing.
func Find(ctx context.Context, do Do, req *indirector.Request) (indirector.Instance, error) {
	resp, err := Ask(ctx, do, req)
	return resp.Instance(), err
}
