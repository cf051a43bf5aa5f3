package site

import (
	"errors"

	"indirtui/indirector/language/compile"
	"indirtui/indirector/language/erb"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/fn"
	"indirtui/indirector/language/helper"
	"indirtui/indirector/language/loader"
	"indirtui/indirector/language/types"
)

// This file is what the helper for Ruby sees of a compile. Rule LANG-ERB-10.

func (s *Site) helperOptions() helper.Options {
	seen := templates(library())
	return helper.Options{
		Context: s.o.Context, Ruby: s.o.Ruby,
		Libs: func() []string {
			if s.env == nil {
				return nil
			}
			return s.env.Libs()
		},
		Host: func(c *eval.Invocation) helper.Host { return seen.Host(c) },
		Type: func(name string) types.Type {
			t, err := s.Thread.TypeNamed(name)
			if err != nil {
				return nil
			}
			return t
		},
		Log: func(e eval.LogEntry) {
			if s.o.Eval.Log != nil {
				s.o.Eval.Log(e)
			}
		},
		Resource: compile.Find, Defaults: compile.Defaults,
		Find: func(c *eval.Invocation, below, name string) (string, bool) {
			h, ok := c.Host().(fn.Host)
			if !ok {
				return "", false
			}
			return h.Find(below, name)
		},
	}
}

// rubyFunction returns a function of a module that the helper runs.
func (s *Site) rubyFunction(f loader.RubyFunction) (*eval.Builtin, error) {
	return s.helper.Function(s.context(), helper.Function(f))
}

// renderByRuby renders a template by the helper of a compile, if it has one. Rule LANG-ERB-02.
func renderByRuby(c *eval.Invocation, h erb.Host, name, path, source string) (text string, ok bool, err error) {
	at, isSite := c.Host().(host)
	if !isSite || at.s.helper == nil {
		return "", false, nil
	}
	if path == "" {
		path = "(erb)"
	}
	text, err = at.s.helper.Render(c, h, name, path, source)
	failed := (*helper.TemplateError)(nil)
	switch {
	case !errors.As(err, &failed):
		return text, true, err
	case failed.IsStandard, failed.Class == "SyntaxError":
		return "", true, erb.Failed(failed.Class, failed.Message, failed.Line)
	}
	return "", true, eval.Errorf("%s: %s: %s", name, failed.Class, failed.Message)
}

var _ helper.Host = erb.Host(nil)
