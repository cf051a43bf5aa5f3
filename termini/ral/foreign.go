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
func (t *Terminus) byHelper(ctx context.Context, req *indirector.Request) (h *foreign.Helper, typ *types.Type, title string, err error) {
	name, title, _ := strings.Cut(req.Key, "/")
	h, none := t.helperFor(req)
	if h == nil {
		return nil, nil, "", without(name, none)
	}
	typ, err = h.Type(ctx, name)
	if errors.Is(err, foreign.ErrNoPuppet) {
		err = without(name, err.Error())
	}
	return h, typ, title, err
}

// helperFor returns the helper, or why a request has none.
func (t *Terminus) helperFor(req *indirector.Request) (h *foreign.Helper, none string) {
	ruby, none := t.env.Ruby.ForResources(req)
	if ruby == "" {
		return nil, none
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.helper == nil {
		t.helper = foreign.New(foreign.Options{Ruby: ruby, Setting: func(name string) string {
			value, _ := t.env.Settings.Get(name)
			return value
		}})
	}
	return t.helper, ""
}

// without is the error where Ruby cannot be asked: Puppet's where there is no such type, with
// what would be needed.
func without(name, none string) error {
	return &indirector.Failure{
		Message: "Could not find type " + name,
		Hidden:  "this program does not do resources of the type " + name + " itself: a Ruby with Puppet does, and " + none,
	}
}

// foreign lets the helper do the resource of a key.
func (t *Terminus) foreign(ctx context.Context, req *indirector.Request, l *look, o *transaction.Options) error {
	h, typ, _, err := t.byHelper(ctx, req)
	if err != nil {
		return err
	}
	l.typ = typ
	o.Types = maps.Clone(o.Types)
	o.Types[typ.Name], o.Provider = typ, h.Provider
	return nil
}

func (t *Terminus) findForeign(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	h, typ, title, err := t.byHelper(ctx, req)
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
	h, typ, title, err := t.byHelper(ctx, req)
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
