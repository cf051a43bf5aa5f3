package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"indirtui/indirector/engine"
	languagesite "indirtui/indirector/language/site"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/foreign"
	"indirtui/indirector/resource/machine"
	"indirtui/indirector/resource/types"
	"indirtui/ui/describe"
)

// rubyPath is the interpreter that runs functions of modules, or "".
func (p *program) rubyPath() string {
	mine, _ := p.mine() // problems were reported at the start
	return p.ruby(mine).Path
}

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

// deferred returns what computes the deferred values of a catalog on this machine, for the
// caller to close. Functions in Ruby run only where ruby is the path of the interpreter.
func deferred(e *engine.Engine, host *machine.Machine, catalog *model.Catalog, ruby string) *languagesite.Site {
	settings := e.Settings.Load().In(catalog.Environment)
	get := func(name string) string { v, _ := settings.Get(name); return v }
	return languagesite.ForAgent(get, catalog.Environment, host.Facts(), ruby)
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
