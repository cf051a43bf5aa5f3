package foreign

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/types"
)

// Find returns a resource as it is, like Puppet's terminus ral. Rule RES-RAL-02.
func (h *Helper) Find(ctx context.Context, name, title string) (*model.Resource, error) {
	name = strings.ToLower(name)
	v, err := h.ask(ctx, question{do: "find", about: types.Capital(name) + "[" + title + "]", fields: []data.Pair{
		data.P("type", data.OfString(name)), data.P("title", data.OfString(title)),
	}})
	if err != nil {
		return nil, err
	}
	return resource(v)
}

// Search returns all resources of a type, in the order in which Ruby lists them.
func (h *Helper) Search(ctx context.Context, name string) ([]*model.Resource, error) {
	name = strings.ToLower(name)
	v, err := h.ask(ctx, question{do: "search", about: name, fields: []data.Pair{data.P("type", data.OfString(name))}})
	if err != nil {
		return nil, err
	}
	all := make([]*model.Resource, 0, v.Len())
	for _, x := range v.List() {
		r, err := resource(x)
		if err != nil {
			return nil, fmt.Errorf("search %s by helper: %w", name, err)
		}
		all = append(all, r)
	}
	return all, nil
}

// resource reads one. Symbols are texts, as in Puppet's answers.
func resource(v data.Value) (*model.Resource, error) {
	r := &model.Resource{Type: v.Get("type").Text(), Title: v.Get("title").Text(), Tags: texts(v.Get("tags")), Kind: "compilable_type"}
	if r.Type == "" || r.Title == "" {
		return nil, errors.New("it answers with what is no resource")
	}
	all := pairs(v.Get("parameters"))
	for i := range all {
		all[i].Value = plain(all[i].Value)
	}
	r.Parameters = data.OfHash(all)
	return r, nil
}

func plain(v data.Value) data.Value {
	switch v.Kind() {
	case data.Symbol:
		return data.OfString(v.Str())
	case data.List:
		all := make([]data.Value, v.Len())
		for i, x := range v.List() {
			all[i] = plain(x)
		}
		return data.OfList(all)
	}
	return v
}
