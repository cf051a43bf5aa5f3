package cli

import (
	"context"
	"errors"

	"indirtui/indirector/engine"
	languagesite "indirtui/indirector/language/site"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/foreign"
	"indirtui/indirector/resource/machine"
	"indirtui/indirector/resource/types"
)

// rubyPath is the path of the interpreter, or "" where Ruby is off.
func (p *program) rubyPath() string {
	mine, _ := p.mine() // problems were reported at the start
	return p.ruby(mine).Path
}

// helper returns what does resources of types that are written in Ruby, for the caller to
// close; nil where Ruby is off.
func (p *program) helper(e *engine.Engine) *foreign.Helper {
	ruby := p.rubyPath()
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
	return h.Type(ctx, name)
}
