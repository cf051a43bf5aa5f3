package ral

import (
	"context"
	"errors"
	"io"
	"maps"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/foreign"
	"indirtui/indirector/resource/transaction"
	"indirtui/indirector/resource/types"
)

var _ io.Closer = (*Terminus)(nil)

// Close ends the helper process, if there is one.
func (t *Terminus) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.helper == nil {
		return nil
	}
	return t.helper.Close()
}

// isForeign reports whether the type of a key is one that this program does not have, or has
// no provider of.
func isForeign(req *indirector.Request) bool {
	name, _, _ := strings.Cut(req.Key, "/")
	t := types.Find(name)
	return t == nil || !foreign.Native(t)
}

// byHelper returns the helper, and the type and title of the key.
func (t *Terminus) byHelper(req *indirector.Request) (h *foreign.Helper, name, title string, err error) {
	name, title, _ = strings.Cut(req.Key, "/")
	ruby, none := t.env.Ruby.ForResources(req)
	if ruby == "" {
		return nil, name, title, without(name, none)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.helper == nil {
		t.helper = foreign.New(foreign.Options{Ruby: ruby, Setting: func(name string) string {
			value, _ := t.env.Settings.Get(name)
			return value
		}})
	}
	return t.helper, name, title, nil
}

// without is the error where Ruby cannot be asked: Puppet's where there is no such type, with
// what would be needed.
func without(name, none string) error {
	return &indirector.Failure{
		Message: "Could not find type " + name,
		Hidden:  "this program does not do resources of the type " + name + " itself: a Ruby with Puppet does, and " + none,
	}
}

// typeOf asks for a type.
func typeOf(ctx context.Context, h *foreign.Helper, name string) (*types.Type, error) {
	t, err := h.Type(ctx, name)
	if errors.Is(err, foreign.ErrNoPuppet) {
		return nil, without(name, err.Error())
	}
	return t, err
}

// foreign lets the helper do the resource of a key.
func (t *Terminus) foreign(ctx context.Context, req *indirector.Request, l *look, o *transaction.Options) error {
	h, name, _, err := t.byHelper(req)
	if err != nil {
		return err
	}
	if l.typ, err = typeOf(ctx, h, name); err != nil {
		return err
	}
	o.Types = maps.Clone(o.Types)
	o.Types[l.typ.Name], o.Provider = l.typ, h.Provider
	return nil
}

func (t *Terminus) findForeign(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	h, name, title, err := t.byHelper(req)
	if err != nil {
		return nil, err
	}
	typ, err := typeOf(ctx, h, name)
	if err != nil {
		return nil, err
	}
	if title == "" {
		return nil, &indirector.Failure{Message: "Title or name must be provided"}
	}
	r, err := h.Find(ctx, typ.Name, title)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (t *Terminus) searchForeign(ctx context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	h, name, title, err := t.byHelper(req)
	if err != nil {
		return nil, err
	}
	typ, err := typeOf(ctx, h, name)
	if err != nil {
		return nil, err
	}
	all, err := h.Search(ctx, typ.Name)
	if err != nil {
		return nil, err
	}
	wanted := conditions(ctx, req, title)
	var found []*model.Resource
	for _, r := range all {
		if fits(r, wanted, typ.Namevars) {
			found = append(found, r)
		}
	}
	return sorted(found), nil
}
