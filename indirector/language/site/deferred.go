package site

import (
	"context"
	"encoding/base64"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/hiera"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/loader"
	"indirtui/indirector/language/types"
)

// ForAgent returns a Site as agents have it to compute deferred values: the functions of the
// plugins that were synced, and of an environment as far as it is on this machine, and no
// variable but facts. Those that change something or ask others (generate, validate_cmd,
// puppetdb_query) are not there; those in Ruby are, if there is an interpreter. Without one
// they are errors.ErrUnsupported. Rule RES-CONV-03.
func ForAgent(get func(name string) string, environment string, facts data.Value, ruby string) *Site {
	programs := NewPrograms()
	o := FromSettings(get, hiera.FromSettings(get, environment), programs)
	o.Variables, o.Ruby = hiera.Variables{"facts": facts}, ruby
	o.Open = func() (*loader.Environment, error) {
		from := loader.Options{Lib: get("libdir")}
		if dir := o.Hiera.EnvironmentDir; dir != "" {
			from.Dir, from.Modulepath, from.Strict, from.Cache = dir, get("modulepath"), get("strict"), programs
		}
		return loader.Open(from)
	}
	o.Hiera.Warnings = &hiera.Warnings{Log: func(string) {}}
	return New(o)
}

// Resolve returns a value of a catalog as resource types take it: what is deferred, at any
// depth, has been computed, and rich data are values. Secrets stay marked as such. Rules
// RES-CONV-03 and RES-TYPE-09.
func (s *Site) Resolve(ctx context.Context, v data.Value) (data.Value, error) {
	resolved, err := s.undeferred(ctx, v)
	if err != nil {
		return v, err
	}
	return forTypes(resolved), nil
}

// undeferred is a value of the language without anything deferred in it.
func (s *Site) undeferred(ctx context.Context, v data.Value) (data.Value, error) {
	switch v.Kind() {
	case data.List:
		all, err := s.allUndeferred(ctx, v.List())
		return data.OfList(all), err
	case data.Hash:
		switch v.Get("__ptype").Str() {
		case "Deferred":
			return s.call(ctx, v.Get("name").Str(), v.Get("arguments").List())
		case "Sensitive":
			inner, err := s.undeferred(ctx, v.Get("__pvalue"))
			return types.OfSensitive(inner), err
		case "":
			return s.hashUndeferred(ctx, v)
		}
	}
	return types.OfData(v), nil
}

func (s *Site) allUndeferred(ctx context.Context, from []data.Value) ([]data.Value, error) {
	all := make([]data.Value, len(from))
	for i, x := range from {
		var err error
		if all[i], err = s.undeferred(ctx, x); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (s *Site) hashUndeferred(ctx context.Context, v data.Value) (data.Value, error) {
	all := make([]data.Pair, v.Len())
	for i, p := range v.Hash() {
		x, err := s.undeferred(ctx, p.Value)
		if err != nil {
			return v, err
		}
		all[i] = data.Pair{Key: types.OfData(p.Key), Value: x}
	}
	return data.OfHash(all), nil
}

// call calls the function of a deferred value. One whose name begins with $ is a variable,
// and the arguments are a path into it.
func (s *Site) call(ctx context.Context, name string, given []data.Value) (data.Value, error) {
	args, err := s.allUndeferred(ctx, given)
	if err != nil {
		return data.Value{}, err
	}
	if variable, ok := strings.CutPrefix(name, "$"); ok {
		value, _ := s.Thread.Get(variable)
		name, args = "dig", append([]data.Value{value}, args...)
	}
	v, known, err := s.Thread.CallKnown(ctx, s.o.Programs.Library(), name, args...)
	if err == nil && !known {
		err = eval.Errorf("Unknown function '%s'", name)
	}
	return v, err
}

// forTypes is a value of the language as resource types take it: a Binary is its bytes, and
// a Sensitive is written as rich data has it.
func forTypes(v data.Value) data.Value {
	if inner, ok := types.Unwrap(v); ok {
		return sensitive(inner)
	}
	return within(v)
}

func sensitive(inner data.Value) data.Value {
	return data.OfHash([]data.Pair{data.P("__ptype", data.OfString("Sensitive")), data.P("__pvalue", within(inner))})
}

// within is forTypes for what is in a list or hash, where a Sensitive stays closed.
func within(v data.Value) data.Value {
	switch v.Kind() {
	case data.List, data.Hash:
		return v.Map(within)
	case data.Rich:
		if inner, ok := types.Unwrap(v); ok {
			return data.OfRich(secret{inner})
		}
		if source, ok := types.RegexpSource(v); ok {
			return data.OfRich(pattern(source))
		}
		if types.KindOf(v) == types.BinaryRich {
			text, _ := base64.StdEncoding.DecodeString(v.Rich().String()) // which is how it is written
			return data.OfString(string(text))
		}
	}
	return v
}

// A secret is a Sensitive which types do not open: its text is Ruby's.
type secret struct{ inner data.Value }

func (secret) String() string { return "Sensitive [value redacted]" }

// EqualRich implements data.RichValue.
func (s secret) EqualRich(o data.RichValue) bool {
	other, ok := o.(secret)
	return ok && data.Equal(s.inner, other.inner)
}

// Literal is how messages have it.
func (s secret) Literal() string { return s.RubyInspect() }

// RubyInspect is how Ruby has it in a list or hash.
func (secret) RubyInspect() string { return "#<Sensitive [value redacted]>" }

// RubyClass is how messages name the class.
func (secret) RubyClass() string { return "Puppet::Pops::Types::PSensitiveType::Sensitive" }

// RichData is what Ruby makes it of again.
func (s secret) RichData() data.Value { return sensitive(s.inner) }

// A pattern is a regular expression as agents have it: its text is Ruby's.
type pattern string

func (p pattern) String() string { return "(?-mix:" + string(p) + ")" }

// EqualRich implements data.RichValue.
func (p pattern) EqualRich(o data.RichValue) bool { return data.RichValue(p) == o }

// Literal is how messages have it.
func (p pattern) Literal() string { return string(p) }
