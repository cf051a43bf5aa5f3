package site

import (
	"context"
	"errors"

	"indirtui/indirector/data"
	"indirtui/indirector/hiera"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/fn"
	"indirtui/indirector/language/types"
)

// host is what functions need of the environment.
type host struct{ s *Site }

var _ fn.Host = host{}

// callScope has the variables that the place of a call sees.
type callScope struct{ call *eval.Invocation }

// Variable implements hiera.Scope.
func (s callScope) Variable(name string) (data.Value, bool) { return s.call.Variable(name) }

// Lookup implements fn.Host.
func (h host) Lookup(c *eval.Invocation, q fn.Query) (data.Value, error) {
	query := hiera.Query{
		Keys: q.Keys, Of: q.Type, Merge: q.Merge, Default: q.Default, HasDefault: q.HasDefault, Otherwise: q.Otherwise,
		Overrides: q.Overrides, Defaults: q.Defaults, Older: q.Older, Scope: callScope{c},
	}
	var v data.Value
	var err error
	if h.s.o.Search != nil {
		v, err = h.s.Data.LookupBy(query, func(key string) (data.Value, bool, error) { return h.s.o.Search(c.Context(), h.s.Data, key, query) })
	} else {
		v, err = h.s.Data.Lookup(query)
	}
	return types.OfData(v), inPrograms(err)
}

// ModuleDir implements fn.Host.
func (h host) ModuleDir(name string) (string, bool) {
	env, err := h.s.environment()
	if env == nil || err != nil {
		return "", false
	}
	return env.ModuleDir(name)
}

// Find implements fn.Host.
func (h host) Find(below, name string) (string, bool) {
	env, err := h.s.environment()
	if env == nil || err != nil {
		return "", false
	}
	path, ok := h.s.definitions.File(below, name)
	if ok && below == "templates" && h.s.o.Used != nil {
		h.s.o.Used(h.s.context(), "template", path)
	}
	return path, ok
}

// Read implements fn.Host.
func (h host) Read(path string) ([]byte, error) { return h.s.env.ReadFile(path) }

// Made implements fn.Host.
func (h host) Made(path string, make func(text string) any) (any, error) {
	return h.s.definitions.Made(path, make)
}

// Template implements fn.Host.
func (h host) Template(path string) (*eval.Program, error) { return h.s.definitions.Template(path) }

// Library implements fn.Host.
func (h host) Library() eval.Library { return library() }

// Generate implements fn.Host.
func (h host) Generate(ctx context.Context, command []string) (string, error) {
	if h.s.o.Generate == nil {
		return "", errors.New("programs may not run commands here")
	}
	return h.s.o.Generate(ctx, command)
}

// Validate implements fn.Host.
func (h host) Validate(ctx context.Context, content, command string) error {
	if h.s.o.Validate == nil {
		return errors.New("programs may not run commands here")
	}
	return h.s.o.Validate(ctx, content, command)
}
