package types_test

import (
	"errors"
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/language/types"
)

// errBeyond is an expression that needs more than constants.
var errBeyond = errors.New("needs an evaluator")

// An evaluator knows constants, types, and a few operators and functions.
type evaluator struct {
	aliases   map[string]*syntax.TypeAlias
	resolved  map[string]types.Type
	failed    error // of an alias
	variables map[string]data.Value
	functions map[string]*syntax.Function
}

// evaluate returns the value of a program, and errBeyond if it needs more.
func evaluate(code string) (data.Value, error) {
	prog, report := syntax.Parse(&syntax.Source{Text: code}, syntax.Options{})
	if report.Failure != nil {
		return data.Value{}, errBeyond
	}
	e := &evaluator{map[string]*syntax.TypeAlias{}, map[string]types.Type{}, nil, map[string]data.Value{}, map[string]*syntax.Function{}}
	v, err := e.value(prog.Body)
	if e.failed != nil {
		err = e.failed
	}
	return v, err
}

// named returns the type of an alias of the program.
func (e *evaluator) named(name string) types.Type {
	if t, ok := e.resolved[name]; ok {
		return t
	}
	def, ok := e.aliases[name]
	switch {
	case ok:
	case slices.Contains([]string{"typealias"}, name), strings.HasPrefix(name, "goldenmod::"):
		e.failed = errBeyond // types of objects, and of modules
		return nil
	default:
		return nil
	}
	t, err := types.NewAlias(def.Name, func(self types.Type) (types.Type, error) {
		e.resolved[name] = self
		v, err := types.Constant(def.Type, func(name string) types.Type {
			if t := e.named(name); t != nil {
				return t
			}
			return types.Unresolved(name)
		})
		if err != nil {
			return nil, err
		}
		t, ok := types.AsType(v)
		if !ok {
			return nil, errBeyond
		}
		return t, nil
	})
	if err != nil {
		if strings.HasSuffix(err.Error(), "not a constant") {
			err = errBeyond
		}
		if e.failed == nil {
			e.failed = err
		}
		return nil
	}
	e.resolved[name] = t
	return t
}

func (e *evaluator) typeOf(n syntax.Node) (types.Type, error) {
	v, err := types.Constant(n, e.named)
	if err != nil {
		return nil, err
	}
	t, ok := types.AsType(v)
	if !ok {
		return nil, errBeyond
	}
	return t, nil
}

func (e *evaluator) values(nodes []syntax.Node) ([]data.Value, error) {
	out := make([]data.Value, 0, len(nodes))
	for _, n := range nodes {
		star, ok := n.(*syntax.Unary)
		if ok = ok && star.Op == "*"; ok {
			n = star.Expr
		}
		v, err := e.value(n)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, types.Unfolded(v)...)
		} else {
			out = append(out, v)
		}
	}
	return out, nil
}

func (e *evaluator) value(node syntax.Node) (data.Value, error) {
	switch n := node.(type) {
	case *syntax.Block:
		return e.block(n)
	case *syntax.Paren:
		return e.value(n.Expr)
	case *syntax.Array:
		l, err := e.values(n.Values)
		return data.OfList(l), err
	case *syntax.Hash:
		var h []data.Pair
		for _, entry := range n.Entries {
			key, err := e.value(entry.Key)
			if err != nil {
				return key, err
			}
			v, err := e.value(entry.Value)
			if err != nil {
				return v, err
			}
			if slices.ContainsFunc(h, func(p data.Pair) bool { return data.Equal(p.Key, key) }) {
				return data.Value{}, errBeyond
			}
			h = append(h, data.Pair{Key: key, Value: v})
		}
		return data.OfHash(h), nil
	case *syntax.Variable:
		if v, ok := e.variables[n.Name]; ok {
			return v, nil
		}
		return data.Value{}, errBeyond
	case *syntax.Unary:
		if n.Op == "!" {
			v, err := e.value(n.Expr)
			return data.OfBool(!v.Truthy()), err
		}
		if n.Op == "*" {
			l, err := e.values([]syntax.Node{n})
			return data.OfList(l), err
		}
	case *syntax.Binary:
		return e.binary(n)
	case *syntax.Call:
		return e.call(n)
	case *syntax.Method:
		return e.method(n)
	case *syntax.Access:
		return e.access(n)
	case *syntax.Concat:
		return e.concat(n)
	case *syntax.TypeAlias:
		key := strings.ToLower(n.Name)
		if types.Standard()[key] != nil {
			return data.Value{}, errBeyond
		}
		e.aliases[key] = n
		return data.Value{}, nil
	case *syntax.Function:
		e.functions[n.Name] = n
		return data.Value{}, nil
	}
	v, err := types.Constant(node, e.named)
	if err != nil && strings.HasSuffix(err.Error(), "not a constant") {
		err = errBeyond
	}
	return v, err
}

func (e *evaluator) block(n *syntax.Block) (v data.Value, err error) {
	for _, s := range n.Statements { // definitions first, since they hold everywhere
		switch s.(type) {
		case *syntax.TypeAlias, *syntax.Function:
			if _, err := e.value(s); err != nil {
				return v, err
			}
		}
	}
	for _, s := range n.Statements {
		if v, err = e.value(s); err != nil {
			return v, err
		}
	}
	return v, nil
}

func (e *evaluator) concat(n *syntax.Concat) (data.Value, error) {
	var b strings.Builder
	for _, s := range n.Segments {
		if text, ok := s.(*syntax.Text); ok {
			s = text.Expr
		}
		v, err := e.value(s)
		if err != nil {
			return v, err
		}
		b.WriteString(interpolated(v))
	}
	return data.OfString(b.String()), nil
}

// interpolated is the form that a value has within a string. Rule LANG-VAL-03.
func interpolated(v data.Value) string {
	var parts []string
	switch v.Kind() {
	case data.List:
		for _, x := range v.List() {
			parts = append(parts, interpolated(x))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case data.Hash:
		for _, p := range v.Hash() {
			parts = append(parts, interpolated(p.Key)+" => "+interpolated(p.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return v.Text()
}

func (e *evaluator) access(n *syntax.Access) (data.Value, error) {
	left, err := e.value(n.Left)
	if err != nil {
		return left, err
	}
	args, err := e.values(n.Keys)
	if err != nil {
		return left, err
	}
	if t, ok := types.AsType(left); ok {
		v, err := types.Parametrize(t, args)
		if err != nil && strings.HasPrefix(err.Error(), "Resource not found") {
			err = errBeyond
		}
		return v, err
	}
	if left.Kind() == data.Hash && len(args) == 1 {
		for _, p := range left.Hash() {
			if data.Equal(p.Key, args[0]) {
				return p.Value, nil
			}
		}
		return data.Value{}, nil
	}
	return left, errBeyond
}

func (e *evaluator) call(n *syntax.Call) (data.Value, error) {
	if n.Lambda != nil {
		return data.Value{}, errBeyond
	}
	args, err := e.values(n.Args)
	if err != nil {
		return data.Value{}, err
	}
	name, ok := n.Functor.(*syntax.Name)
	if !ok {
		if _, ok := n.Functor.(*syntax.TypeName); !ok {
			if _, ok := n.Functor.(*syntax.Access); !ok {
				return data.Value{}, errBeyond
			}
		}
		v, err := e.value(n.Functor)
		if err != nil {
			return v, err
		}
		t, ok := types.AsType(v)
		if !ok {
			return v, errBeyond
		}
		return types.New(t, args)
	}
	if f, ok := e.functions[name.Value]; ok {
		return e.reject(f, args)
	}
	return function(name.Value, args)
}

func (e *evaluator) method(n *syntax.Method) (data.Value, error) {
	args, err := e.values(append([]syntax.Node{n.Functor.Left}, n.Args...))
	if err != nil || n.Lambda != nil {
		return data.Value{}, errBeyond
	}
	if v, ok := types.Member(args[0], n.Functor.Name.Value); ok && len(args) == 1 {
		return v, nil
	}
	return function(n.Functor.Name.Value, args)
}

func function(name string, args []data.Value) (data.Value, error) {
	if len(args) == 0 {
		return data.Value{}, errBeyond
	}
	t, isType := types.AsType(args[0])
	switch {
	case name == "type" && len(args) == 1:
		return types.OfType(types.Infer(args[0])), nil
	case name == "type" && len(args) == 2 && args[1].Str() == "detailed":
		return types.OfType(types.Infer(args[0])), nil
	case name == "type" && len(args) == 2 && args[1].Str() == "reduced":
		return types.OfType(types.Reduced(args[0])), nil
	case name == "type" && len(args) == 2 && args[1].Str() == "generalized":
		return types.OfType(types.Generalized(args[0])), nil
	case name == "new" && isType:
		return types.New(t, args[1:])
	case name == "assert_type" && isType && len(args) == 2:
		if text := types.Mismatch("assert_type():", t, args[1]); text != "" || !types.Instance(t, args[1]) {
			return data.Value{}, errors.New(text)
		}
		return args[1], nil
	}
	return data.Value{}, errBeyond
}

// reject calls a function whose parameters do not take the arguments.
func (e *evaluator) reject(f *syntax.Function, args []data.Value) (data.Value, error) {
	var names []string
	var all []types.Type
	required := 0
	for _, p := range f.Params {
		if p.Rest || p.Type == nil {
			return data.Value{}, errBeyond
		}
		t, err := e.typeOf(p.Type)
		if err != nil {
			return data.Value{}, err
		}
		names, all = append(names, p.Name), append(all, t)
		if p.Default == nil {
			required++
		}
	}
	if text := types.Rejection(f.Name, names, all, required, args); text != "" {
		return data.Value{}, errors.New(text)
	}
	return data.Value{}, errBeyond
}

func (e *evaluator) binary(n *syntax.Binary) (data.Value, error) {
	if n.Op == "=" {
		v, ok := n.Left.(*syntax.Variable)
		if !ok {
			return data.Value{}, errBeyond
		}
		right, err := e.value(n.Right)
		if _, bound := e.variables[v.Name]; bound || slices.Contains([]string{"trusted", "facts", "name", "title", "server_facts"}, v.Name) {
			return right, errBeyond
		}
		e.variables[v.Name] = right
		return right, err
	}
	both, err := e.values([]syntax.Node{n.Left, n.Right})
	if err != nil {
		return data.Value{}, err
	}
	a, b := both[0], both[1]
	switch n.Op {
	case "==", "!=":
		if a.Kind() == data.Rich && b.Kind() == data.Int {
			return data.Value{}, errBeyond // a time and a number
		}
		return data.OfBool(same(a, b) == (n.Op == "==")), nil
	case "=~", "!~":
		ok, err := matches(a, b)
		return data.OfBool(ok == (n.Op == "=~")), err
	case "in":
		ok, err := contained(a, b)
		return data.OfBool(ok), err
	case "<", ">", "<=", ">=":
		return order(n.Op, a, b)
	}
	return data.Value{}, errBeyond
}

// same is the operator == of the language. Rule LANG-OP-06.
func same(a, b data.Value) bool {
	if s, ok := types.Unwrap(a); ok {
		o, ok := types.Unwrap(b)
		return ok && same(s, o)
	}
	x, isType := types.AsType(a)
	y, both := types.AsType(b)
	switch {
	case isType && both:
		return x.Equal(y) || types.Assignable(x, y) && types.Assignable(y, x)
	case a.Kind() == data.String && b.Kind() == data.String:
		return types.FoldsTo(a.Str(), b.Str())
	case a.Kind() == data.Int && b.Kind() == data.Float:
		return float64(a.Int()) == b.Float()
	case a.Kind() == data.Float && b.Kind() == data.Int:
		return a.Float() == float64(b.Int())
	case a.Kind() == data.Rich && b.Kind() != data.Rich && !isType:
		return false
	case a.Kind() == data.List && b.Kind() == data.List:
		return slices.EqualFunc(a.List(), b.List(), same)
	case a.Kind() == data.Hash && b.Kind() == data.Hash:
		return a.Len() == b.Len() && !slices.ContainsFunc(a.Hash(), func(p data.Pair) bool {
			return !slices.ContainsFunc(b.Hash(), func(q data.Pair) bool { return data.Equal(p.Key, q.Key) && same(p.Value, q.Value) })
		})
	}
	return data.Equal(a, b)
}

// matches is the operator =~. Rule LANG-OP-08.
func matches(a, b data.Value) (bool, error) {
	if t, ok := types.AsType(b); ok {
		return types.Instance(t, a), nil
	}
	if ok, known := types.MatchesText(b.Rich(), a); known {
		return ok, nil
	}
	return false, errBeyond
}

// contained is the operator in. Rule LANG-OP-09.
func contained(a, b data.Value) (bool, error) {
	t, isType := types.AsType(a)
	_, isRegexp := types.AsRegexp(a)
	switch {
	case b.Kind() == data.String && a.Kind() == data.String:
		return strings.Contains(strings.ToLower(b.Str()), strings.ToLower(a.Str())), nil
	case isRegexp || b.Kind() == data.String || b.Kind() == data.Rich:
		return false, errBeyond
	}
	l := b.List()
	for _, p := range b.Hash() {
		l = append(l, p.Key)
	}
	return slices.ContainsFunc(l, func(x data.Value) bool { return isType && types.Instance(t, x) || !isType && same(a, x) }), nil
}

// order is the operators of order. Rule LANG-OP-07.
func order(op string, a, b data.Value) (data.Value, error) {
	if op[0] == '>' {
		a, b = b, a
	}
	x, isType := types.AsType(a)
	y, both := types.AsType(b)
	if isType && both {
		return data.OfBool(types.Assignable(y, x) && (len(op) == 2 || !same(a, b))), nil
	}
	if c, ok := types.Order(a, b); ok {
		return data.OfBool(c < 0 || c == 0 && len(op) == 2), nil
	}
	return data.Value{}, errBeyond
}
