package eval

import (
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/language/types"
)

// An alias is a type that a program defines. It is resolved when it is asked for first.
// Rule LANG-TYPE-25.
type alias struct {
	node     *syntax.TypeAlias
	origin   string     // where it is defined, as Puppet writes it
	resolved types.Type // nil before
	err      error
}

func (t *Thread) define(n *syntax.TypeAlias, source *syntax.Source) error {
	key := typeKey(n.Name)
	if known, err := types.Parse(n.Name, nil); err == nil && !types.Assignable(richTypes()["Resource"], known) {
		return redefined("type", key, "by Puppet-Type-System/Static-Loader")
	}
	if old := t.aliases[key]; old != nil {
		return redefined("type", key, "at "+old.origin)
	}
	t.aliases[key] = &alias{node: n, origin: originOf(source, n)}
	return nil
}

func typeKey(name string) string { return strings.ToLower(strings.TrimPrefix(name, "::")) }

// named returns the type that a name beyond those of the language means, or nil. The
// name is in small letters.
func (t *Thread) named(name string) (types.Type, error) {
	a, ok := t.aliases[name]
	if !ok {
		if err := t.loadType(name); err != nil {
			return nil, err
		}
		if a, ok = t.aliases[name]; !ok {
			return t.inSet(name)
		}
	}
	if a.resolved == nil && a.err == nil {
		a.resolve(t)
	}
	return a.resolved, a.err
}

// loadType loads a type, once.
func (t *Thread) loadType(name string) error {
	key := loadKey{TypeKind, name, ""}
	if _, asked := t.loaded[key]; asked || t.opts.Load == nil {
		return nil
	}
	_, err := t.load(key)
	if err == nil {
		t.loaded[key] = nil
	}
	return err
}

// inSet returns the type that a TypeSet has, whose name is the beginning of the name; or
// nil. Sets that programs define themselves do not give their types names.
func (t *Thread) inSet(name string) (types.Type, error) {
	for at := strings.LastIndex(name, "::"); at > 0; at = strings.LastIndex(name[:at], "::") {
		_, loaded := t.loaded[loadKey{TypeKind, name[:at], ""}]
		if _, known := t.aliases[name[:at]]; known && !loaded {
			continue
		}
		set, err := t.named(name[:at])
		if err != nil {
			return nil, err
		}
		if set != nil {
			return types.InSet(set, name[at+2:]), nil
		}
	}
	return nil, nil
}

func (a *alias) resolve(t *Thread) {
	var failed error
	resolved, err := types.NewAlias(a.node.Name, func(self types.Type) (types.Type, error) {
		a.resolved = self // which its definition may use
		v, err := types.Constant(a.node.Type, func(name string) types.Type {
			found, err := t.named(name)
			if err != nil {
				failed = err
			}
			if found == nil {
				return types.Unresolved(name)
			}
			return found
		})
		if err != nil {
			return nil, err
		}
		of, ok := types.AsType(v)
		if !ok {
			return nil, Errorf("%s is no type", Text(v))
		}
		return of, nil
	})
	if err == nil {
		err = failed
	}
	a.resolved, a.err = resolved, err
	if err != nil {
		a.resolved = nil
	}
}

// typeName compiles the name of a type.
func (c *compiler) typeName(n *syntax.TypeName) code {
	if v, err := types.Constant(n, nil); err == nil && n.Value != "Unit" { // which has no name in programs
		return constant(v)
	}
	s, key := c.site(n), typeKey(n.Value)
	return func(f *frame) (data.Value, error) {
		t, err := f.thread.named(key)
		if catalog := f.thread.opts.Catalog; err == nil && t == nil && catalog != nil {
			var ok bool
			if ok, err = catalog.HasType(key); ok {
				return types.OfReference(types.Reference{Type: n.Value}), nil
			}
		}
		if err == nil && t == nil {
			err = Issuef("Resource type not found: %s", n.Value)
		}
		if err != nil {
			return data.Value{}, s.fail(f, err)
		}
		return types.OfType(t), nil
	}
}

// typeFrom returns the type of a parameter, which is evaluated once in a thread.
func (p *typed) typeFrom(f *frame) (types.Type, error) {
	if p.constant != nil {
		return p.constant, nil
	}
	if t, ok := f.thread.checked[p.node]; ok {
		return t, nil
	}
	v, err := p.code(f)
	if err != nil {
		return nil, err
	}
	t, ok := types.AsType(v)
	if !ok {
		return nil, Errorf("%s is no type", Text(v))
	}
	f.thread.checked[p.node] = t
	return t, nil
}

// A typed is an expression that is a type: that of a parameter, or of a result.
type typed struct {
	node     syntax.Node
	constant types.Type // nil if the program must be asked
	code     code
}

// typed compiles a type; nil means any.
func (c *compiler) typed(n syntax.Node) *typed {
	if n == nil {
		return nil
	}
	out := &typed{node: n}
	if v, err := types.Constant(n, nil); err == nil {
		out.constant, _ = types.AsType(v)
	}
	if out.constant == nil {
		out.code = c.node(n)
	}
	return out
}
