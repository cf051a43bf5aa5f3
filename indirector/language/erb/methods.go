package erb

import (
	"errors"
	"maps"
	"math/big"
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/format/psych"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/types"
)

// A send is one call of a method.
type send struct {
	r     *run
	self  value
	args  []value
	block *proc
}

// A method is what a value does.
type method = func(c *send) (value, error)

func (c *send) arg(i int) value { return arg(c.args, i) }

func (c *send) yield(args ...value) (value, error) {
	if c.block == nil {
		return nil, fail("LocalJumpError", "no block given (yield)")
	}
	if l, ok := c.self.(*list); ok && l.pairs && len(args) == 1 {
		if pair, ok := args[0].(*list); ok {
			args = pair.l
		}
	}
	return c.r.yield(c.block, args...)
}

// text returns an argument that must be a string.
func (c *send) text(i int) (string, error) {
	t, ok := c.arg(i).(*text)
	if !ok {
		return "", noString(c.arg(i))
	}
	return t.s, nil
}

// integer returns an argument that must be an integer, or what is usual if there is none.
func (c *send) integer(i, usual int) (int, error) {
	if i >= len(c.args) {
		return usual, nil
	}
	switch n := c.args[i].(type) {
	case int64:
		if n > 1<<40 || n < -1<<40 {
			return 0, fail("RangeError", "bignum too big to convert into `long'")
		}
		return int(n), nil
	case float64:
		return int(n), nil
	}
	what := classOf(c.args[i])
	if c.args[i] == nil {
		what = "nil"
	}
	return 0, fail("TypeError", "no implicit conversion of %s into Integer", what)
}

// made counts a value that was made.
func (c *send) made(v value) (value, error) {
	n := 16
	switch v := v.(type) {
	case *text:
		n = len(v.s)
	case *list:
		n = 16 * len(v.l)
	case *table:
		n = 64 * len(v.keys)
	}
	return v, c.r.spend(n)
}

// call calls a method of a value. What Ruby has and this package has not is an error that
// no rescue sees.
func (r *run) call(v value, name string, args []value, b *proc) (value, error) {
	if err := r.step(); err != nil {
		return nil, err
	}
	if _, ok := v.(self); ok {
		return r.function(name, args, b, false)
	}
	all := methodsOf()
	class := classOf(v)
	c := &send{r, v, args, b}
	if library.others["deep"][name] {
		if err := r.weigh(v); err != nil {
			return nil, err
		}
	}
	if err := r.weigh(args...); err != nil {
		return nil, err
	}
	if library.others["putting"][name] {
		if err := r.refuseCircle(v, args...); err != nil {
			return nil, err
		}
	}
	if e, ok := v.(*list); ok && e.isLazy {
		if m := lazyMethod(e, name); m != nil {
			return m(c)
		}
		class = "Array"
	}
	if _, ok := v.(*failure); ok {
		class = "exception"
	}
	if n, exact := library.counts[class+" "+name]; exact && n != len(args) {
		return nil, fail("ArgumentError", "wrong number of arguments (given %d, expected %d)", len(args), n)
	}
	if m := all[class][name]; m != nil {
		return m(c)
	}
	if class == "Puppet::Parser::Scope" && strings.HasPrefix(name, "function_") {
		return scopeFunction(c, strings.TrimPrefix(name, "function_"))
	}
	if class == "Range" && all["Enumerable"][name] != nil { // what it does by its elements
		l, err := r.elements(v)
		if err != nil {
			return nil, err
		}
		c.self = &list{l: l}
		return all["Enumerable"][name](c)
	}
	if m := all["Object"][name]; m != nil {
		return m(c)
	}
	if library.others[class][name] || library.others["Object"][name] || class == "Puppet::Parser::Scope" || class == "Object" {
		return nil, r.unsupported("the method %s of %s", name, class)
	}
	return nil, noMethod(name, v)
}

// deep are methods that look at all that is in their receiver.
const deep = `== != eql? <=> === inspect to_s join flatten flatten! uniq uniq! - & | include? member? index find_index count delete sort sort!
 min max sum to_json to_yaml invert key value? has_value? compact to_h group_by zip product transpose`

// putting are methods that put their arguments into the receiver.
const putting = "<< push append unshift prepend insert []= store"

var errTooDeep, errCircle = errors.New("nested too deep"), errors.New("within itself")

// weigh counts all that is in values, as if nothing in them were shared.
func (r *run) weigh(values ...value) error {
	for _, v := range values {
		err := walk(v, 0, func(_ value, parts int) error { return r.spend(parts) })
		if errors.Is(err, errTooDeep) {
			err = r.unsupported("nesting of more than %d lists", maxDepth)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// refuseCircle refuses to put into a list or hash what contains it: to look at that would
// take forever. The values have been weighed.
func (r *run) refuseCircle(into value, values ...value) error {
	for _, v := range values {
		if err := walk(v, 0, func(part value, _ int) error {
			if part == into {
				return errCircle
			}
			return nil
		}); err != nil {
			return r.unsupported("a list or hash within itself")
		}
	}
	return nil
}

// kept checks what a block made for the receiver.
func (c *send) kept(v value) error {
	if err := c.r.weigh(v); err != nil {
		return err
	}
	return c.r.refuseCircle(c.self, v)
}

// walk visits the lists, hashes and ranges of a value, with the number of their parts.
func walk(v value, depth int, visit func(v value, parts int) error) error {
	var parts [2][]value
	switch v := v.(type) {
	case *list:
		parts[0] = v.l
	case *table:
		parts = [2][]value{v.keys, v.values}
	case *span:
		parts[0] = []value{v.from, v.to}
	default:
		return nil
	}
	if depth > maxDepth {
		return errTooDeep
	}
	if err := visit(v, len(parts[0])+len(parts[1])); err != nil {
		return err
	}
	for _, l := range parts {
		for _, x := range l {
			if err := walk(x, depth+1, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

func noMethod(name string, v value) error {
	what := inspect(v)
	if v != nil {
		what += ":" + classOf(v)
	} else {
		what = "nil:NilClass"
	}
	return fail("NoMethodError", "undefined method `%s' for %s", name, what)
}

// has reports whether a value has a method.
func has(v value, name string) bool {
	all := methodsOf()
	class := classOf(v)
	return all[class][name] != nil || library.others[class][name] || all["Object"][name] != nil || class == "Range" && all["Enumerable"][name] != nil
}

// elements returns those of a list, a hash or a range.
func (r *run) elements(v value) ([]value, error) {
	switch v := v.(type) {
	case *list:
		return v.l, nil
	case *table:
		return v.pairs(), nil
	case *span:
		var out []value
		err := v.each(r, func(x value) error {
			out = append(out, x)
			return r.spend(16)
		})
		return out, err
	}
	return nil, noMethod("each", v)
}

// asList is Array().
func asList(v value) []value {
	switch v := v.(type) {
	case nil:
		return nil
	case *list:
		return v.l
	case *table:
		return v.pairs()
	case *span:
		from, ok := v.from.(int64)
		to, ok2 := v.to.(int64)
		if ok && ok2 && to-from < 1<<16 {
			var out []value
			for n := from; n < to || n == to && !v.exclusive; n++ {
				out = append(out, n)
			}
			return out
		}
	}
	return []value{v}
}

func toBig(v value) (*big.Int, bool) {
	switch v := v.(type) {
	case int64:
		return big.NewInt(v), true
	case *big.Int:
		return v, true
	}
	return nil, false
}

func floatOf(v value) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		return f, true
	case float64:
		return v, true
	}
	return 0, false
}

// equal is == . What nests deeper than all that is weighed equals nothing.
func equal(a, b value) bool { return alike(a, b, 0) }

func alike(a, b value, depth int) bool {
	if depth > maxDepth {
		return false
	}
	within := func(a, b value) bool { return alike(a, b, depth+1) }
	switch a := a.(type) {
	case *text:
		o, ok := b.(*text)
		return ok && a.s == o.s
	case *list:
		o, ok := b.(*list)
		return ok && slices.EqualFunc(a.l, o.l, within)
	case *table:
		o, ok := b.(*table)
		if !ok || len(a.keys) != len(o.keys) {
			return false
		}
		for i, k := range a.keys {
			if v, ok := o.get(k); !ok || !within(a.values[i], v) {
				return false
			}
		}
		return true
	case *span:
		o, ok := b.(*span)
		return ok && within(a.from, o.from) && within(a.to, o.to) && a.exclusive == o.exclusive
	case *pattern:
		o, ok := b.(*pattern)
		return ok && a.source == o.source && a.options == o.options
	case rich:
		o, ok := b.(rich)
		return ok && data.Equal(a.v, o.v)
	case int64, *big.Int, float64:
		c, ok := compareNumbers(a, b)
		return ok && c == 0
	}
	return a == b
}

func compareNumbers(a, b value) (int, bool) {
	x, ok := toBig(a)
	y, ok2 := toBig(b)
	if ok && ok2 {
		return x.Cmp(y), true
	}
	f, ok := floatOf(a)
	g, ok2 := floatOf(b)
	switch {
	case !ok || !ok2 || f != f || g != g:
		return 0, false
	case f < g:
		return -1, true
	case f > g:
		return 1, true
	}
	return 0, true
}

// order is <=> ; it is false for what has none.
func order(a, b value) (int, bool) {
	switch a := a.(type) {
	case *text:
		if o, ok := b.(*text); ok {
			return strings.Compare(a.s, o.s), true
		}
	case symbol:
		if o, ok := b.(symbol); ok {
			return strings.Compare(string(a), string(o)), true
		}
	case *list:
		o, ok := b.(*list)
		if !ok {
			return 0, false
		}
		for i := range min(len(a.l), len(o.l)) {
			if c, ok := order(a.l[i], o.l[i]); !ok || c != 0 {
				return c, ok
			}
		}
		return len(a.l) - len(o.l), true
	case int64, *big.Int, float64:
		return compareNumbers(a, b)
	}
	return 0, equal(a, b)
}

func notOrdered(a, b value) error {
	what := classOf(b)
	switch b.(type) {
	case nil, bool, int64, float64:
		what = inspect(b)
	}
	return fail("ArgumentError", "comparison of %s with %s failed", classOf(a), what)
}

// sort sorts values by an order, and fails if two have none.
func sort(l []value, by func(a, b value) (int, error)) ([]value, error) {
	out := slices.Clone(l)
	return out, data.Sort(out, by)
}

func naturally(a, b value) (int, error) {
	c, ok := order(a, b)
	if !ok {
		return 0, notOrdered(a, b)
	}
	return c, nil
}

// byBlock orders two values as a block does.
func (c *send) byBlock(a, b value) (int, error) {
	v, err := c.yield(a, b)
	if err != nil {
		return 0, err
	}
	n, ok := compareNumbers(v, int64(0))
	if !ok {
		return 0, notOrdered(a, b)
	}
	return n, nil
}

// objectMethods are those that all values have.
func objectMethods() map[string]method {
	is := func(c *send) (value, error) {
		k, ok := c.arg(0).(class)
		if !ok {
			return nil, fail("TypeError", "class or module required")
		}
		return isA(c.self, k), nil
	}
	return map[string]method{
		"nil?":         func(c *send) (value, error) { return c.self == nil, nil },
		"is_a?":        is,
		"kind_of?":     is,
		"instance_of?": func(c *send) (value, error) { return class(classOf(c.self)) == c.arg(0), nil },
		"class": func(c *send) (value, error) {
			if v, ok := c.self.(rich); ok {
				return class(eval.ClassName(v.v)), nil
			}
			return class(classOf(c.self)), nil
		},
		"unwrap": func(c *send) (value, error) {
			if v, ok := c.self.(rich); ok {
				if inner, ok := types.Unwrap(v.v); ok {
					return fromData(inner), nil
				}
			}
			return nil, noMethod("unwrap", c.self)
		},
		"to_s": func(c *send) (value, error) {
			s, err := c.r.text(c.self)
			return str(s), err
		},
		"inspect":     func(c *send) (value, error) { return c.made(str(inspect(c.self))) },
		"respond_to?": func(c *send) (value, error) { return has(c.self, toS(c.arg(0))), nil },
		"==":          func(c *send) (value, error) { return equal(c.self, c.arg(0)), nil },
		"!=":          func(c *send) (value, error) { return !equal(c.self, c.arg(0)), nil },
		"===":         func(c *send) (value, error) { return equal(c.self, c.arg(0)), nil },
		"=~":          func(*send) (value, error) { return nil, nil },
		"eql?":        func(c *send) (value, error) { return keyOf(c.self) == keyOf(c.arg(0)), nil },
		"equal?":      func(c *send) (value, error) { return c.self == c.arg(0), nil },
		"<=>": func(c *send) (value, error) {
			n, ok := order(c.self, c.arg(0))
			if !ok {
				return nil, nil
			}
			return int64(min(max(n, -1), 1)), nil
		},
		"!": func(c *send) (value, error) { return !truthy(c.self), nil },
		"freeze": func(c *send) (value, error) {
			if t, ok := c.self.(*text); ok {
				t.frozen = true
			}
			return c.self, nil
		},
		"frozen?": func(c *send) (value, error) {
			switch v := c.self.(type) {
			case *text:
				return v.frozen, nil
			case *list, *table:
				return nil, c.r.unsupported("the method frozen? of %s", classOf(v))
			}
			return true, nil
		},
		"dup":   duplicate,
		"clone": duplicate,
		"tap":   func(c *send) (value, error) { _, err := c.yield(c.self); return c.self, err },
		"then":  func(c *send) (value, error) { return c.yield(c.self) },
		"to_enum": func(c *send) (value, error) {
			l, err := c.r.elements(c.self)
			return &list{l: l, isLazy: true, method: "each", subject: c.self}, err
		},
		"to_json": toJSON,
		"to_yaml": toYAML,
	}
}

func duplicate(c *send) (value, error) {
	switch v := c.self.(type) {
	case *text:
		return c.made(str(v.s))
	case *list:
		return c.made(&list{l: slices.Clone(v.l)})
	case *table:
		return c.made(v.copy())
	}
	return c.self, nil
}

func (t *table) copy() *table {
	out := newTable()
	out.usual, out.maker = t.usual, t.maker
	for i := range t.keys {
		out.put(t.keys[i], t.values[i])
	}
	return out
}

// plain returns a value for writers of JSON and YAML: symbols as texts for the one.
func plain(v value, symbols bool) (data.Value, error) {
	if s, ok := v.(symbol); ok && !symbols {
		return data.OfString(string(s)), nil
	}
	switch v := v.(type) {
	case *list:
		out := make([]data.Value, len(v.l))
		for i, x := range v.l {
			d, err := plain(x, symbols)
			if err != nil {
				return d, err
			}
			out[i] = d
		}
		return data.OfList(out), nil
	case *table:
		out := make([]data.Pair, len(v.keys))
		for i, k := range v.keys {
			key := data.OfString(toS(k))
			if symbols {
				var err error
				if key, err = plain(k, symbols); err != nil {
					return key, err
				}
			}
			x, err := plain(v.values[i], symbols)
			if err != nil {
				return x, err
			}
			out[i] = data.Pair{Key: key, Value: x}
		}
		return data.OfHash(out), nil
	case rich:
		return data.OfString(v.v.Text()), nil
	}
	d, err := toData(v)
	if err != nil {
		return data.OfString(toS(v)), nil
	}
	return d, nil
}

func toJSON(c *send) (value, error) {
	v, err := plain(c.self, false)
	if err != nil {
		return nil, err
	}
	b, err := format.AppendJSON(nil, v)
	if err != nil {
		return nil, &failure{"JSON::GeneratorError", err.Error()}
	}
	return c.made(str(string(b)))
}

func toYAML(c *send) (value, error) {
	v, err := plain(c.self, true)
	if err != nil {
		return nil, err
	}
	return c.made(str(string(psych.Append(nil, v, psych.EncodeOptions{}))))
}

// isA reports whether a value is of a class or has a module.
func isA(v value, of class) bool {
	name := classOf(v)
	if f, ok := v.(*failure); ok {
		return f.is([]string{string(of)})
	}
	if string(of) == name || of == "Object" || of == "BasicObject" || of == "Kernel" {
		return true
	}
	switch of {
	case "Numeric":
		return name == "Integer" || name == "Float"
	case "Fixnum":
		return name == "Integer"
	case "Enumerable":
		return slices.Contains([]string{"Array", "Hash", "Range", "Enumerator"}, name)
	case "Comparable":
		return slices.Contains([]string{"String", "Integer", "Float"}, name)
	case "Module":
		return name == "Class"
	}
	return false
}

// boolMethods are those of true and false.
func boolMethods() map[string]method {
	return map[string]method{
		"&": func(c *send) (value, error) { return truthy(c.self) && truthy(c.arg(0)), nil },
		"|": func(c *send) (value, error) { return truthy(c.self) || truthy(c.arg(0)), nil },
		"^": func(c *send) (value, error) { return truthy(c.self) != truthy(c.arg(0)), nil },
	}
}

// comparing are the operators of what has an order, as strings and symbols.
func comparing() map[string]method {
	out := map[string]method{
		"between?": func(c *send) (value, error) {
			a, err := naturally(c.self, c.arg(0))
			if err != nil {
				return nil, err
			}
			b, err := naturally(c.self, c.arg(1))
			return a >= 0 && b <= 0, err
		},
	}
	for op, decide := range map[string]func(int) bool{
		"<": func(n int) bool { return n < 0 }, "<=": func(n int) bool { return n <= 0 },
		">": func(n int) bool { return n > 0 }, ">=": func(n int) bool { return n >= 0 },
	} {
		out[op] = func(c *send) (value, error) {
			n, err := naturally(c.self, c.arg(0))
			return decide(n), err
		}
	}
	return out
}

func nilMethods() map[string]method {
	return map[string]method{
		"&":    func(*send) (value, error) { return false, nil },
		"|":    func(c *send) (value, error) { return truthy(c.arg(0)), nil },
		"to_a": func(*send) (value, error) { return &list{}, nil },
		"to_i": func(*send) (value, error) { return int64(0), nil },
		"to_f": func(*send) (value, error) { return 0.0, nil },
		"to_h": func(*send) (value, error) { return newTable(), nil },
	}
}

func symbolMethods() map[string]method {
	out := map[string]method{
		"to_sym":  func(c *send) (value, error) { return c.self, nil },
		"id2name": func(c *send) (value, error) { return str(string(c.self.(symbol))), nil },
		"to_proc": func(c *send) (value, error) { return c.r.blockOf(&literal{c.self}) },
	}
	maps.Copy(out, comparing())
	for _, name := range []string{"length", "size", "empty?", "start_with?", "end_with?", "[]"} {
		out[name] = func(c *send) (value, error) {
			return c.r.call(str(string(c.self.(symbol))), name, c.args, c.block)
		}
	}
	for _, name := range []string{"upcase", "downcase", "capitalize", "swapcase", "succ"} {
		out[name] = func(c *send) (value, error) {
			v, err := c.r.call(str(string(c.self.(symbol))), name, c.args, c.block)
			return symbol(toS(v)), err
		}
	}
	return out
}

func procMethods() map[string]method {
	call := func(c *send) (value, error) { return c.r.yield(c.self.(*proc), c.args...) }
	return map[string]method{
		"call": call, "()": call, "[]": call, "yield": call, "===": call,
		"to_proc": func(c *send) (value, error) { return c.self, nil },
		"arity":   func(c *send) (value, error) { return int64(c.self.(*proc).arity), nil },
		"lambda?": func(c *send) (value, error) { return c.self.(*proc).isLambda, nil },
	}
}

func failureMethods() map[string]method {
	message := func(c *send) (value, error) { return str(c.self.(*failure).message), nil }
	return map[string]method{
		"message": message, "to_s": message,
		"backtrace": func(*send) (value, error) { return &list{}, nil },
	}
}

func patternMethods() map[string]method {
	return map[string]method{
		"match":  func(c *send) (value, error) { return c.r.match(c.self.(*pattern), c.arg(0)) },
		"=~":     func(c *send) (value, error) { return c.r.place(c.self.(*pattern), c.arg(0)) },
		"source": func(c *send) (value, error) { return str(c.self.(*pattern).source), nil },
		"match?": func(c *send) (value, error) {
			t, ok := c.arg(0).(*text)
			if !ok {
				return false, nil
			}
			return c.r.matches(c.self.(*pattern), t.s)
		},
		"===": func(c *send) (value, error) {
			if s, ok := c.arg(0).(symbol); ok {
				return c.r.matches(c.self.(*pattern), string(s))
			}
			if _, ok := c.arg(0).(*text); !ok {
				return false, nil
			}
			v, err := c.r.match(c.self.(*pattern), c.arg(0))
			return v != nil, err
		},
	}
}

// match matches a text, and keeps what was found.
func (r *run) match(p *pattern, v value) (value, error) {
	if v == nil {
		r.last = nil
		return nil, nil
	}
	s := toS(v)
	switch v.(type) {
	case *text, symbol:
	default:
		return nil, noString(v)
	}
	at, err := p.re.Find(s)
	if err != nil {
		return nil, err
	}
	if at == nil {
		r.last = nil
		return nil, nil
	}
	r.last = &found{s, at, p.re}
	return r.last, nil
}

func (r *run) matches(p *pattern, s string) (value, error) {
	ok, err := p.re.Match(s)
	if err != nil {
		return nil, err
	}
	return ok, nil
}

// place matches a text, and returns where, in characters.
func (r *run) place(p *pattern, v value) (value, error) {
	m, err := r.match(p, v)
	f, ok := m.(*found)
	if !ok {
		return nil, err
	}
	return int64(len([]rune(f.s[:f.at[0]]))), nil
}

func foundMethods() map[string]method {
	groups := func(from int) method {
		return func(c *send) (value, error) {
			m, out := c.self.(*found), &list{}
			for i := from; i < len(m.at)/2; i++ {
				out.l = append(out.l, m.group(i))
			}
			return out, nil
		}
	}
	return map[string]method{
		"[]": func(c *send) (value, error) {
			m := c.self.(*found)
			switch k := c.arg(0).(type) {
			case *text, symbol:
				if i := m.re.Named(toS(k), m.at); i > 0 {
					return m.group(i), nil
				}
				return nil, fail("IndexError", "undefined group name reference: %s", toS(k))
			}
			all, _ := groups(0)(c)
			return c.r.call(all, "[]", c.args, nil)
		},
		"captures":   groups(1),
		"to_a":       groups(0),
		"pre_match":  func(c *send) (value, error) { m := c.self.(*found); return str(m.s[:m.at[0]]), nil },
		"post_match": func(c *send) (value, error) { m := c.self.(*found); return str(m.s[m.at[1]:]), nil },
	}
}

// scopeMethods are those of the object scope. Rule LANG-ERB-04.
func scopeMethods() map[string]method {
	lookup := func(c *send) (value, error) {
		name := toS(c.arg(0))
		v, ok := c.r.host.Variable(name)
		if !ok {
			return nil, c.r.host.NotFound(name)
		}
		return fromData(v), nil
	}
	exists := func(c *send) (value, error) {
		_, ok := c.r.host.Variable(toS(c.arg(0)))
		return ok, nil
	}
	return map[string]method{
		"[]": lookup, "lookupvar": lookup, "exist?": exists, "bound?": exists,
		"include?": func(c *send) (value, error) { // unlike exist? it wants a value
			v, _ := c.r.host.Variable(toS(c.arg(0)))
			return !v.IsNil(), nil
		},
		"to_hash": func(c *send) (value, error) {
			out := newTable()
			for _, p := range c.r.host.Variables() {
				if !p.Value.IsNil() {
					out.put(fromData(p.Key), fromData(p.Value))
				}
			}
			return out, nil
		},
		"setvar": func(c *send) (value, error) {
			name := toS(c.arg(0))
			c.r.keep(name)
			v, err := toVariable(c.arg(1))
			if err == nil && !c.r.host.Set(name, v) {
				err = &failure{"Puppet::ParseError", "Cannot reassign variable '$" + name + "'"}
			}
			return c.arg(1), err
		},
		"call_function": func(c *send) (value, error) {
			args, err := dataOf(asList(c.arg(1)))
			if err != nil {
				return nil, err
			}
			name := toS(c.arg(0))
			v, known, err := c.r.host.Call(name, args, false)
			if err == nil && !known {
				err = &failure{"ArgumentError", "Unknown function '" + name + "'"}
			}
			return c.fromFunction(v, err)
		},
	}
}

func dataOf(l []value) ([]data.Value, error) {
	out := make([]data.Value, len(l))
	for i, v := range l {
		d, err := toData(v)
		if err != nil {
			return nil, err
		}
		out[i] = d
	}
	return out, nil
}

// fromFunction returns the result of a function. Its failure is an exception of Puppet.
func (c *send) fromFunction(v data.Value, err error) (value, error) {
	switch e := err.(type) {
	case nil:
		return fromData(v), nil
	case *failure:
		return nil, e
	case *eval.Error:
		return nil, err
	}
	if isFinal(err) {
		return nil, err
	}
	return nil, &failure{"Puppet::ParseError", err.Error()}
}

// scopeFunction is scope.function_x, which only functions of the older kind have.
func scopeFunction(c *send, name string) (value, error) {
	l, ok := c.arg(0).(*list)
	if !ok {
		return nil, fail("ArgumentError", "custom functions must be called with a single array that contains the arguments. For example, function_example([1]) instead of function_example(1)")
	}
	args, err := dataOf(l.l)
	if err != nil {
		return nil, err
	}
	v, known, err := c.r.host.Call(name, args, true)
	if err == nil && !known {
		return nil, fail("NoMethodError", "undefined method `function_%s' for Scope(Class[main]):Puppet::Parser::Scope", name)
	}
	return c.fromFunction(v, err)
}
