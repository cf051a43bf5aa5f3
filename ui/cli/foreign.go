package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"indirtui/indirector/engine"
	"indirtui/indirector/resource/foreign"
	"indirtui/indirector/resource/types"
	"indirtui/ui/describe"
)

// foreignRuby is the interpreter that does resources of types in Ruby, or "" and why there
// is none.
func (p *program) foreignRuby() (path, none string) {
	mine, _ := p.mine() // problems were reported at the start
	r := p.ruby(mine)
	return r.Resources, r.None
}

// helper returns what does resources that are written in Ruby, for the caller to close; nil
// where nothing does.
func (p *program) helper(e *engine.Engine) *foreign.Helper {
	ruby, _ := p.foreignRuby()
	if ruby == "" {
		return nil
	}
	return foreign.New(foreign.Options{Ruby: ruby, Setting: func(name string) string {
		value, _ := e.Settings.Get(name)
		return value
	}})
}

// foreignType returns a type as Ruby has it, by a helper of its own.
func (p *program) foreignType(ctx context.Context, e *engine.Engine, name string) (t *types.Type, err error) {
	h := p.helper(e)
	defer func() { err = errors.Join(err, h.Close()) }()
	return typeByRuby(ctx, h, name)
}

// typeByRuby returns a type as Ruby has it. That there is none is reported as of all types.
func typeByRuby(ctx context.Context, h *foreign.Helper, name string) (*types.Type, error) {
	t, err := h.Type(ctx, name)
	_, unknown := describe.Find(name)
	switch {
	case err == nil || unknown == nil:
		return t, err
	case errors.Is(err, foreign.ErrNoPuppet):
		return nil, fmt.Errorf("%w; types that are written in Ruby are not known: %w", unknown, err)
	case err.Error() == "Could not find type "+strings.ToLower(name):
		return nil, unknown
	}
	return nil, err
}
