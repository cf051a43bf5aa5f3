package rtype

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"indirtui/indirector/language/ruby"
)

// Ruby returns what a Ruby file declares of a resource type. The type is always
// there; if the file does not declare it, or not in a way that can be read, it is
// open, with a note. Nothing is executed. Rule LANG-RT-03.
func Ruby(name, file, text string) *Type {
	r := &reader{file: file, wanted: name, methods: map[string]*ruby.Def{}, called: map[string]bool{}}
	if len(text) > ruby.MaxBytes {
		return Unreadable(name, file, fmt.Errorf("it is larger than %d bytes, and was not read", ruby.MaxBytes))
	}
	nodes, whole := ruby.Parse(text)
	r.statements(&scope{values: map[string]any{}}, nodes)
	if r.found == nil {
		return Unreadable(name, file, fmt.Errorf("it declares no type %s that can be read", name))
	}
	if !whole {
		r.found.open(0, "statements and their ends do not fit, as this is read")
	}
	r.finish(r.found)
	return r.found
}

// A reader walks the tree of one file.
type reader struct {
	evaluator
	file    string
	wanted  string // the type that is looked for
	found   *Type
	methods map[string]*ruby.Def // of the class of the type: def self.x
	called  map[string]bool      // those that were followed
	defined []string             // methods of its resources
	nesting int
}

// statements walks the statements of a file, or of a module in it.
func (r *reader) statements(s *scope, nodes []ruby.Node) {
	for _, n := range nodes {
		if !r.step() || r.nesting > maxDepth {
			return
		}
		switch n := n.(type) {
		case *ruby.Module:
			r.nested(func() { r.statements(s, n.Body) })
		case *ruby.Branch:
			r.nested(func() {
				for _, body := range n.Bodies {
					r.statements(s, body)
				}
			})
		case *ruby.Assign:
			r.assign(s, n)
		case *ruby.Call:
			r.topCall(s, n)
		}
	}
}

func (r *reader) nested(do func()) {
	r.nesting++
	do()
	r.nesting--
}

// topCall looks at a call outside of types: does it declare one?
func (r *reader) topCall(s *scope, c *ruby.Call) {
	receiver, _ := c.Receiver.(*ruby.Const)
	switch {
	case c.Name == "newtype" && receiver != nil && strings.HasSuffix(receiver.Path, "Type"):
		if t := r.declared(s, c); t != nil {
			r.options(t, s, c)
			if c.Block != nil {
				r.body(t, s.inner(), c.Block.Body)
			} else {
				t.open(c.At(), "the type has no block that can be read")
			}
		}
	case c.Name == "register_type" && receiver != nil && strings.HasSuffix(receiver.Path, "ResourceApi"):
		r.registered(s, c)
	case c.Block != nil:
		r.nested(func() {
			r.each(s, c, func(s *scope) { r.statements(s, c.Block.Body) }, func() {})
		})
	}
}

// declared returns the type that newtype declares, or nil if it is not the one
// that is looked for. If a file declares it twice the last counts, as in Puppet.
func (r *reader) declared(s *scope, c *ruby.Call) *Type {
	if len(c.Args) == 0 {
		return nil
	}
	name, ok := r.value(s, c.Args[0])
	if !ok || name != r.wanted {
		return nil
	}
	r.found = &Type{Name: r.wanted, File: r.file, Line: c.At()}
	r.defined = nil
	clear(r.methods)
	return r.found
}

// options reads those of newtype.
func (r *reader) options(t *Type, s *scope, c *ruby.Call) {
	if len(c.Args) < 2 {
		return
	}
	v, _ := r.value(s, c.Args[1])
	options, ok := v.(pairs)
	if !ok {
		t.note(c.At(), "the options of the type are not literal")
	}
	if same, given := options.get("isomorphic"); given {
		t.Many = same == false
	}
}

// assign keeps the value of a name.
func (r *reader) assign(s *scope, a *ruby.Assign) {
	var name string
	switch target := a.Target.(type) {
	case *ruby.Const:
		name = target.Path
	case *ruby.Variable:
		name = target.Name
	case *ruby.Call:
		if target.Receiver != nil {
			return
		}
		name = target.Name
	}
	v, ok := r.value(s, a.Value)
	if _, known := s.get(name); !ok || a.Op != "=" && (a.Op != "||=" || known) {
		v = nil
	}
	s.set(name, v)
}

// finish adds what Puppet adds to a type when its block has ended.
func (r *reader) finish(t *Type) {
	ensurable := true
	for _, name := range []string{"exists?", "create", "destroy"} {
		ensurable = ensurable && slices.Contains(r.defined, name)
	}
	if ensurable && !t.has("ensure") {
		r.add(t, "ensure", Property, t.Line)
	}
	slices.SortStableFunc(t.Attributes, func(a, b Attribute) int { return int(a.Kind) - int(b.Kind) })
	for _, name := range slices.Sorted(maps.Keys(r.methods)) {
		d := r.methods[name]
		if !r.called[name] && declares(&ruby.Block{Body: d.Body}) {
			t.open(d.At(), name+" declares attributes, and it is not known when")
		}
	}
	if r.steps > maxSteps {
		t.open(0, fmt.Sprintf("reading ended after %d steps", maxSteps))
	}
	if t.Titles != nil {
		return
	}
	switch title := r.methods["title_patterns"]; {
	case title != nil:
		r.titles(t, title)
	case len(t.Keys) == 0:
		t.Titles = []TitlePattern{}
	case len(t.Keys) == 1:
		t.Titles = WholeTitle(t.Keys[0])
	default:
		t.note(t.Line, "there are several namevars, and no title patterns that can be read")
	}
}

// add adds an attribute, unless the type has it already.
func (r *reader) add(t *Type, name string, kind Kind, line int) bool {
	switch {
	case t.has(name):
		t.note(line, fmt.Sprintf("%s is declared twice, which Puppet refuses", name))
		return false
	case len(t.Attributes) >= maxAttributes:
		t.open(line, fmt.Sprintf("more than %d attributes are not read", maxAttributes))
		return false
	}
	a := Attribute{name, kind}
	if name == "ensure" && kind == Property { // Puppet has it in front
		t.Attributes = slices.Insert(t.Attributes, 0, a)
	} else {
		t.Attributes = append(t.Attributes, a)
	}
	return true
}
