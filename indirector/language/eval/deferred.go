package eval

import (
	"sync"

	"indirtui/indirector/data"
	"indirtui/indirector/language/types"
)

var deferredType = sync.OnceValue(func() types.Type { return MustType("Deferred") })

// wrongDeferred is [Thread.Wrong] for a value that an agent computes: what its function
// returns must be of the type. If the function has no type for that, Puppet warns instead.
func (t *Thread) wrongDeferred(f *frame, p *ContainerParam, v data.Value, library Library) ([]string, error) {
	nameOf, _ := types.Member(v, "name")
	given, _ := types.Member(v, "arguments")
	returned, err := t.returnType(f, nameOf.Str(), given, library)
	if err != nil {
		return nil, err
	}
	if returned == nil {
		(&Invocation{frame: f}).WarnOnce(Deprecations, "Deferred function "+nameOf.Str()+" has no return_type, unable to guarantee value type during compilation.", false)
		return nil, nil
	}
	if p.typed == nil {
		return nil, nil
	}
	of, err := p.typed.typeFrom(f)
	if err != nil || types.Assignable(types.Generalize(of), types.Generalize(returned)) {
		return nil, err
	}
	return []string{" " + types.MismatchOf("parameter '"+p.Name+"'", of, returned)}, nil
}

// returnType returns the type of what a function returns that is given arguments, or nil if
// it has none. It fails, in the words of Ruby, if there is no such function.
func (t *Thread) returnType(f *frame, name string, given data.Value, library Library) (types.Type, error) {
	args := given.List()
	noMatch := func() error {
		return &Exception{"ArgumentError", "No matching arity found for " + name + " with arguments " + given.Inspect()}
	}
	b := library[name]
	if b == nil {
		fn, err := t.function(name, "")
		switch {
		case err != nil:
			return nil, err
		case fn == nil:
			return nil, &Exception{"NoMethodError", "undefined method `dispatcher' for NilClass:Class"}
		case fn.builtin == nil:
			s, err := fn.signature(f)
			if err != nil {
				return nil, err
			}
			if !s.takes(args, nil) {
				return nil, noMatch()
			}
			if fn.returns == nil {
				return nil, nil
			}
			of, err := fn.returns.typeFrom(f)
			if err != nil || of.String() == "Any" { // as good as none
				return nil, err
			}
			return of, nil
		}
		b = fn.builtin
	}
	b.compile()
	for i := range b.Ways {
		if b.Old || b.Ways[i].signature.takes(args, nil) {
			if b.Ways[i].Returns == "" {
				return nil, nil
			}
			return types.Parse(b.Ways[i].Returns, nil)
		}
	}
	return nil, noMatch()
}

// isDeferred reports whether an agent computes a value.
func isDeferred(v data.Value) bool {
	return types.KindOf(v) == types.ObjectRich && Accepts(deferredType(), v)
}
