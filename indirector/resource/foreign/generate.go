package foreign

import (
	"context"
	"fmt"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/types"
)

// maxPart is about how much of a catalog the child is given at once, in bytes.
const maxPart = 4 << 20

// give lets the child have the catalog of the run, unless it has it: types may look for
// other resources, which then become instances there. What JSON cannot have is left out.
func (h *Helper) give(ctx context.Context) error {
	h.mu.Lock()
	c := h.catalog
	h.mu.Unlock()
	if c == nil || c == h.given {
		return nil
	}
	var part []data.Value
	size, first := 0, true
	send := func() error {
		q := question{do: "catalog", about: "of " + c.Name, secret: true, limit: h.o.Limit, fields: []data.Pair{
			data.P("first", data.OfBool(first)), data.P("resources", data.OfList(part)),
		}}
		part, size, first = nil, 0, false
		_, err := h.exchange(ctx, q)
		return err
	}
	for i := range c.Resources {
		r := &c.Resources[i]
		v := data.OfHash([]data.Pair{
			data.P("type", data.OfString(r.Type)), data.P("title", data.OfString(r.Title)), data.P("parameters", r.Parameters),
			data.P("sensitive", data.OfStrings(r.Sensitive)),
		})
		text, err := format.AppendJSON(nil, v)
		if err != nil || len(text) > maxPart || r.Virtual {
			continue
		}
		if size += len(text); size > maxPart {
			if err := send(); err != nil {
				return err
			}
			size = len(text)
		}
		part = append(part, v)
	}
	if err := send(); err != nil {
		return err
	}
	h.given = c
	return nil
}

// Generate returns what a resource makes at the start of a run. Rule RES-GRAPH-06.
func (w whole) Generate(ctx context.Context, _ providers.System, r *types.Resource) ([]*types.Resource, error) {
	return w.makes(ctx, "generate", r)
}

// EvalGenerate returns what a resource makes when it is evaluated, and those of the catalog
// that it changes. Rule RES-GRAPH-07.
func (w whole) EvalGenerate(ctx context.Context, _ providers.System, r *types.Resource) ([]*types.Resource, error) {
	return w.makes(ctx, "eval_generate", r)
}

// PreRunCheck lets a type refuse the run. Rule RES-TX-01.
func (w whole) PreRunCheck(ctx context.Context, _ providers.System, r *types.Resource) error {
	w.h.mu.Lock()
	checks := w.h.checks[r.Type.Name]
	w.h.mu.Unlock()
	if !checks {
		return nil
	}
	_, err := w.h.ask(ctx, asked("pre_run_check", r, true))
	return err
}

func (w whole) makes(ctx context.Context, do string, r *types.Resource) ([]*types.Resource, error) {
	v, err := w.h.ask(ctx, asked(do, r, true))
	if err != nil {
		return nil, err
	}
	all := make([]*types.Resource, v.Len())
	for i, x := range v.List() {
		if all[i], err = w.made(ctx, r, x); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// made is a resource that the child has made, or one of the catalog that it has changed.
func (w whole) made(ctx context.Context, by *types.Resource, v data.Value) (*types.Resource, error) {
	name, title := strings.ToLower(v.Get("type").Text()), v.Get("title").Text()
	values, sensitive := pairs(v.Get("parameters")), texts(v.Get("sensitive"))
	if by.Catalog != nil {
		if r := by.Catalog.Resource(types.Ref{Type: types.Capital(name), Title: title}); r != nil {
			return r, change(r, values, sensitive)
		}
	}
	t := types.Find(name)
	if t == nil {
		var err error
		if t, err = w.h.Type(ctx, name); err != nil {
			return nil, err
		}
	}
	r, err := types.New(t, by.Host, types.Given{
		Title: title, File: v.Get("file").Text(), Line: v.Get("line").Int(), Values: values, Sensitive: sensitive, Catalog: by.Catalog,
	}, by.Log)
	if err != nil {
		return nil, fmt.Errorf("%s makes what is refused: %w", by.Ref(), err)
	}
	return r, nil
}

// change sets what has changed of a resource.
func change(r *types.Resource, values []data.Pair, sensitive []string) error {
	for _, p := range values {
		if err := r.Set(p.Key.Str(), p.Value); err != nil {
			return err
		}
	}
	for _, name := range sensitive {
		r.MarkSensitive(name)
	}
	if len(values) == 0 {
		return nil
	}
	return r.Validate()
}
