package erb

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/fn"
	"indirtui/indirector/language/onig"
	"indirtui/indirector/language/types"
)

// maxDepth is how many calls may be within each other.
const maxDepth = 500

// A Host is what a template sees of the evaluation around it.
type Host interface {
	// Variable returns a variable of the scope, whose name may begin with ::.
	Variable(name string) (data.Value, bool)
	// NotFound does what Puppet does when a variable is not there that was asked for by its
	// name.
	NotFound(name string) error
	// Seen returns one of Variables.
	Seen(name string) (data.Value, bool)
	// Variables returns those of the scope and of the scopes around it.
	Variables() []data.Pair
	// Set binds a variable of the scope, unless it is bound already.
	Set(name string, v data.Value) (ok bool)
	// Changed receives a list or hash of a variable that the template changed in place.
	Changed(name string, v data.Value)
	// Call calls a function; older means that it must be one of the older kind. It is
	// false if there is none.
	Call(name string, args []data.Value, older bool) (v data.Value, known bool, err error)
	// Names returns the names of the classes or of the tags: what is "classes" or
	// "all_tags".
	Names(what string) ([]string, error)
	// Step and Spend count turns and bytes. Their errors end the evaluation.
	Step() error
	Spend(bytes int) error
	// Regexp compiles a regular expression, as [eval.Invocation.Regexp].
	Regexp(source string) (*onig.Regexp, error)
}

// An unsupported is Ruby that is not evaluated here. Rule LANG-ERB-02.
type unsupported struct {
	line int
	what string
}

func (e *unsupported) Error() string {
	return fmt.Sprintf("line %d: %s is not supported without Ruby", e.line, e.what)
}

func (e *unsupported) Unwrap() error { return errors.ErrUnsupported }

// A jump leaves blocks, loops and methods: it is no error.
type jump struct {
	word  string
	value value
	from  *proc // the block that is left by break; nil means a loop
}

func (j *jump) Error() string { return "unexpected " + j.word }

// A proc is a block with the variables around it, or a function of this program.
type proc struct {
	params   []param
	body     []node
	frame    *frame
	isLambda bool
	arity    int
	native   func(args []value) (value, error)
}

// A frame has the variables of a block, of a method or of the template.
type frame struct {
	vars  map[string]value
	up    *frame // around a block; nil for others
	proc  *proc  // whose frame it is; nil for a method
	block *proc  // that a method was given
	loops int    // that are under way in it
}

func (f *frame) get(name string) (value, bool) {
	for at := f; at != nil; at = at.up {
		if v, ok := at.vars[name]; ok {
			return v, true
		}
	}
	return nil, false
}

func (f *frame) set(name string, v value) {
	for at := f; at != nil; at = at.up {
		if _, ok := at.vars[name]; ok {
			at.vars[name] = v
			return
		}
	}
	f.vars[name] = v
}

// owner returns the block that break leaves, or nil if a loop is nearer.
func (f *frame) owner(word string) *proc {
	if f.loops > 0 || word != "break" {
		return nil
	}
	return f.proc
}

// A run is the evaluation of one template.
type run struct {
	host      Host
	out       strings.Builder
	texts     []string // of the template
	frame     *frame
	instances map[string]value
	hasAll    bool            // every variable of the scope is one of instances
	set       map[string]bool // those that the template set in the scope, which are none
	shared    []shared
	methods   map[string]*defNode
	last      *found // of regular expressions
	line      int
	depth     int
}

func newRun(host Host) *run {
	return &run{host: host, frame: &frame{vars: map[string]value{}}, instances: map[string]value{}, methods: map[string]*defNode{}}
}

// instance returns an instance variable: one that the template assigned, or a variable of
// the scope. Few of those are used: all are looked at only for a name that none has, because
// one with other characters may be meant.
func (r *run) instance(name string) (value, bool) {
	if v, ok := r.instances[name]; ok || r.hasAll || r.set[name] {
		return v, ok
	}
	if v, ok := r.host.Seen(name[1:]); ok {
		if v.IsNil() {
			return nil, false
		}
		r.instances[name] = v
		return v, true
	}
	r.all()
	v, ok := r.instances[name]
	return v, ok
}

// keep keeps the instance variable of a name as it is before the template sets the variable
// of the scope.
func (r *run) keep(name string) {
	at := instanceName(name)
	if _, ok := r.instances[at]; !ok && !r.hasAll {
		if v, ok := r.host.Seen(name); ok && !v.IsNil() {
			r.instances[at] = v
		}
	}
	if r.set == nil {
		r.set = map[string]bool{}
	}
	r.set[at] = true
}

// all makes instance variables of those of the scope as they are now.
func (r *run) all() {
	if r.hasAll {
		return
	}
	r.hasAll = true
	for _, p := range r.host.Variables() {
		name := instanceName(p.Key.Str())
		if _, ok := r.instances[name]; !ok && name != "" && !p.Value.IsNil() && !r.set[name] {
			r.instances[name] = p.Value
		}
	}
}

// instanceName returns the name that a variable has in a template.
func instanceName(name string) string {
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return ""
	}
	return "@" + strings.Map(func(c rune) rune {
		if c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' {
			return c
		}
		return '_'
	}, name)
}

func (r *run) step() error           { return r.host.Step() }
func (r *run) spend(bytes int) error { return r.host.Spend(bytes) }

// spendTimes is spend of so many bytes, so often.
func (r *run) spendTimes(bytes, times int) error {
	high, low := bits.Mul64(uint64(max(bytes, 0)), uint64(max(times, 0)))
	if high != 0 || low > math.MaxInt {
		low = math.MaxInt / 2 // more than there may be
	}
	return r.spend(int(low))
}

func (r *run) unsupported(format string, args ...any) error {
	return &unsupported{r.line, fmt.Sprintf(format, args...)}
}

// A shared value is one of a variable of the scope, as it was and as the template has it.
type shared struct {
	name string
	was  data.Value
	is   value
}

// giveBack passes on what was changed in place.
func (r *run) giveBack() error {
	for _, s := range r.shared {
		if err := r.weigh(s.is); err != nil {
			return err
		}
		if equal(s.is, fromData(s.was)) {
			continue
		}
		v, err := toData(s.is)
		if err != nil {
			return err
		}
		r.host.Changed(s.name, v)
	}
	return nil
}

// variable returns an instance or global variable. Those of the scope are converted when
// they are asked for first.
func (r *run) variable(name string) (value, error) {
	if strings.HasPrefix(name, "@") {
		v, _ := r.instance(name)
		if d, ok := v.(data.Value); ok {
			v = fromData(d)
			if source, ok := types.RegexpSource(d); ok {
				var err error
				if v, err = r.pattern(source, 0); err != nil {
					return nil, err
				}
			}
			r.instances[name] = v
			if d.Kind() == data.List || d.Kind() == data.Hash {
				r.shared = append(r.shared, shared{name[1:], d, v})
			}
		}
		return v, nil
	}
	if n, err := strconv.Atoi(name[1:]); err == nil && r.last != nil {
		return r.last.group(n), nil
	}
	switch {
	case r.last == nil && (name == "$~" || name[1] >= '0' && name[1] <= '9'):
		return nil, nil
	case name == "$~":
		return r.last, nil
	case name == "$&" && r.last == nil:
		return nil, nil
	case name == "$&":
		return r.last.group(0), nil
	}
	return nil, r.unsupported("the global variable %s", name)
}

func (r *run) pattern(source string, options int) (value, error) {
	prefix := ""
	if options&1 != 0 {
		prefix += "i"
	}
	if options&4 != 0 {
		prefix += "m"
	}
	if options&2 != 0 {
		prefix += "x"
	}
	text := source
	if prefix != "" {
		text = "(?" + prefix + ")" + source
	}
	re, err := r.host.Regexp(text)
	if err != nil {
		if errors.Is(err, errors.ErrUnsupported) {
			return nil, r.unsupported("%s", err)
		}
		return nil, &failure{"RegexpError", err.Error()}
	}
	return &pattern{source, options, re}, nil
}

// text returns what to_s makes of a value, and counts it.
func (r *run) text(v value) (string, error) {
	if err := r.weigh(v); err != nil {
		return "", err
	}
	s := toS(v)
	if _, ok := v.(scopeObject); ok {
		s = "Scope(Class[main])"
	}
	return s, r.spend(len(s))
}

func (r *run) deeper() error {
	if r.depth++; r.depth > maxDepth {
		return r.unsupported("more than %d calls within each other", maxDepth)
	}
	return nil
}

// yield calls a block.
func (r *run) yield(p *proc, args ...value) (value, error) {
	if err := r.step(); err != nil {
		return nil, err
	}
	if p.native != nil {
		return p.native(args)
	}
	if err := r.deeper(); err != nil {
		return nil, err
	}
	saved := r.frame
	r.frame = &frame{vars: map[string]value{}, up: p.frame, proc: p}
	defer func() { r.frame, r.depth = saved, r.depth-1 }()
	here := func(name string, v value) { r.frame.vars[name] = v }
	if err := r.bind(here, p.params, args, p.isLambda); err != nil {
		return nil, err
	}
	v, err := r.body(p.body)
	if j, ok := err.(*jump); ok && (j.word == "next" || p.isLambda && j.word == "return" || p.isLambda && j.from == p) {
		return j.value, nil
	}
	return v, err
}

// bind gives parameters their arguments. A block takes a list apart if it has several
// parameters.
func (r *run) bind(set func(string, value), params []param, args []value, strict bool) error {
	if !strict && len(args) == 1 && (len(params) > 1 || len(params) == 1 && params[0].parts != nil) {
		if l, ok := args[0].(*list); ok && len(params) > 1 {
			args = l.l
		}
	}
	least, most := 0, 0
	for _, p := range params {
		switch {
		case p.rest:
			most = 1 << 30
		case p.usual != nil:
			most++
		default:
			least, most = least+1, most+1
		}
	}
	if strict && (len(args) < least || len(args) > most) {
		return fail("ArgumentError", "wrong number of arguments (given %d, expected %d)", len(args), least)
	}
	optional := max(0, len(args)-least)
	at := 0
	for i, p := range params {
		var v value
		switch {
		case p.rest:
			count := max(0, len(args)-at-(len(params)-1-i))
			v = &list{l: slices.Clone(args[min(at, len(args)):min(at+count, len(args))])}
			at += count
		case p.usual != nil && optional == 0:
			x, err := p.usual.eval(r)
			if err != nil {
				return err
			}
			v = x
		default:
			if p.usual != nil {
				optional--
			}
			if at < len(args) {
				v = args[at]
			}
			at++
		}
		if p.parts != nil {
			if err := r.bind(set, p.parts, asList(v), false); err != nil {
				return err
			}
			continue
		}
		if p.name != "" {
			set(p.name, v)
		}
	}
	return nil
}

// function calls a method of the template itself. A name may also be a variable that is
// not there.
func (r *run) function(name string, args []value, b *proc, isName bool) (value, error) {
	if d := r.methods[name]; d != nil {
		return r.method(d, args, b)
	}
	if err := r.weigh(args...); err != nil {
		return nil, err
	}
	if f := functionOf(name); f != nil {
		return f(r, args, b)
	}
	if r.frame != nil && name == "block_given?" {
		return r.frame.block != nil, nil
	}
	if library.others["private"][name] {
		return nil, r.unsupported("the method %s", name)
	}
	if name == "class" && !isName {
		return class(classOf(self{})), nil
	}
	if isName {
		return nil, fail("NameError", "undefined local variable or method `%s' for #<Puppet::Parser::TemplateWrapper>", name)
	}
	return nil, fail("NoMethodError", "undefined method `%s' for #<Puppet::Parser::TemplateWrapper>", name)
}

// method calls one that the template defines.
func (r *run) method(d *defNode, args []value, b *proc) (value, error) {
	if err := r.deeper(); err != nil {
		return nil, err
	}
	saved := r.frame
	r.frame = &frame{vars: map[string]value{}, block: b}
	defer func() { r.frame, r.depth = saved, r.depth-1 }()
	if err := r.bind(r.frame.set, d.params, args, true); err != nil {
		return nil, err
	}
	v, err := r.body(d.body)
	if j, ok := err.(*jump); ok && j.word == "return" {
		return j.value, nil
	}
	return v, err
}

// A native is a method of the template itself.
type native = func(r *run, args []value, b *proc) (value, error)

// library is made when it is asked for first: methods call others by their names.
var library struct {
	sync.Once
	functions map[string]native
	methods   map[string]map[string]method // by classes
	others    map[string]map[string]bool   // that Ruby has, by classes, and other sets of words
	counts    map[string]int               // of the arguments that methods have, which never have others
}

func methodsOf() map[string]map[string]method {
	library.Do(func() {
		library.functions = templateFunctions()
		library.methods = map[string]map[string]method{
			"String": textMethods(), "Symbol": symbolMethods(), "Array": listMethods(), "Hash": tableMethods(), "Integer": integerMethods(),
			"Float": floatMethods(), "Range": spanMethods(), "Regexp": patternMethods(), "MatchData": foundMethods(), "NilClass": nilMethods(),
			"Proc": procMethods(), "Puppet::Parser::Scope": scopeMethods(), "Class": classMethods(), "exception": failureMethods(),
			"Object": objectMethods(), "IPAddr": addressMethods(), "Enumerable": enumerable(), "TrueClass": boolMethods(), "FalseClass": boolMethods(),
		}
		library.counts = map[string]int{}
		library.others = map[string]map[string]bool{"constant": setOf(known), "deep": setOf(deep), "putting": setOf(putting)}
		for class, words := range rubyMethods {
			library.others[class] = map[string]bool{}
			for w := range strings.FieldsSeq(words) {
				name, count, exact := strings.Cut(w, ":")
				library.others[class][name] = true
				if n, err := strconv.Atoi(count); exact && err == nil {
					library.counts[class+" "+name] = n
				}
			}
		}
	})
	return library.methods
}

func setOf(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

func functionOf(name string) native {
	methodsOf()
	return library.functions[name]
}

func isFunction(name string) bool { return functionOf(name) != nil }

// templateFunctions are the methods of a template.
func templateFunctions() map[string]native {
	return map[string]native{
		"scope": func(*run, []value, *proc) (value, error) { return scopeObject{}, nil },
		"raise": raise,
		"fail":  raise,
		"has_variable?": func(r *run, args []value, _ *proc) (value, error) {
			v, _ := r.host.Variable(toS(arg(args, 0)))
			return !v.IsNil(), nil
		},
		"classes":  names("classes"),
		"all_tags": names("all_tags"),
		"tags": func(*run, []value, *proc) (value, error) {
			return nil, &eval.Error{Message: "Call 'all_tags' instead."}
		},
		"lambda": asLambda,
		"proc": func(r *run, _ []value, b *proc) (value, error) {
			if b == nil {
				return nil, fail("ArgumentError", "tried to create Proc object without a block")
			}
			return b, nil
		},
		"format":  formatted,
		"sprintf": formatted,
		"Integer": toInteger,
		"Float":   toFloat,
		"String":  func(r *run, args []value, _ *proc) (value, error) { return str(toS(arg(args, 0))), nil },
		"Array": func(r *run, args []value, _ *proc) (value, error) {
			return &list{l: slices.Clone(asList(arg(args, 0)))}, nil
		},
		"loop": func(r *run, _ []value, b *proc) (value, error) {
			for {
				if _, err := r.yield(b); err != nil {
					if f, ok := err.(*failure); ok && f.class == "StopIteration" {
						return nil, nil
					}
					return nil, err
				}
			}
		},
		"require": func(r *run, args []value, _ *proc) (value, error) {
			if name := toS(arg(args, 0)); !slices.Contains([]string{"json", "yaml", "erb", "uri", "cgi", "shellwords", "set", "ipaddr"}, name) {
				return nil, r.unsupported("require %s", data.InspectString(name))
			}
			return true, nil
		},
		"__erb_text__": func(r *run, args []value, _ *proc) (value, error) {
			s := r.texts[args[0].(int64)]
			r.out.WriteString(s)
			return nil, r.spend(len(s))
		},
		"__erb_value__": func(r *run, args []value, _ *proc) (value, error) {
			s, err := r.text(arg(args, 0))
			r.out.WriteString(s)
			return nil, err
		},
	}
}

func arg(args []value, i int) value {
	if i >= 0 && i < len(args) {
		return args[i]
	}
	return nil
}

func names(what string) native {
	return func(r *run, _ []value, _ *proc) (value, error) {
		all, err := r.host.Names(what)
		if err != nil {
			return nil, r.unsupported("%s", what)
		}
		out := &list{}
		for _, s := range all {
			out.l = append(out.l, str(s))
		}
		return out, nil
	}
}

func asLambda(_ *run, _ []value, b *proc) (value, error) {
	if b == nil {
		return nil, fail("ArgumentError", "tried to create Proc object without a block")
	}
	l := *b
	l.isLambda = true
	return &l, nil
}

func raise(r *run, args []value, _ *proc) (value, error) {
	switch v := arg(args, 0).(type) {
	case nil:
		return nil, &failure{"RuntimeError", "unhandled exception"}
	case *failure:
		return nil, v
	case class:
		message := string(v)
		if len(args) > 1 {
			message = toS(args[1])
		}
		return nil, &failure{string(v), message}
	case *text:
		return nil, &failure{"RuntimeError", v.s}
	}
	return nil, &failure{"TypeError", "exception class/object expected"}
}

// ancestors are the classes of exceptions that others belong to.
var ancestors = map[string]string{
	"NoMethodError": "NameError", "KeyError": "IndexError", "StopIteration": "IndexError", "FloatDomainError": "RangeError",
	"ZeroDivisionError": "StandardError", "FrozenError": "RuntimeError", "Puppet::ParseError": "Puppet::Error", "Puppet::Error": "RuntimeError",
	"IPAddr::InvalidAddressError": "IPAddr::Error", "IPAddr::AddressFamilyError": "IPAddr::Error", "IPAddr::InvalidPrefixError": "IPAddr::InvalidAddressError",
	"IPAddr::Error": "ArgumentError", "Exception": "", "StandardError": "Exception",
}

// is reports whether a failure is of one of several classes; without any, of the usual.
func (f *failure) is(classes []string) bool {
	if len(classes) == 0 {
		classes = []string{"StandardError"}
	}
	for at := f.class; at != ""; {
		if slices.Contains(classes, at) {
			return true
		}
		above, ok := ancestors[at]
		if !ok {
			above = "StandardError"
		}
		at = above
	}
	return false
}

func formatted(r *run, args []value, _ *proc) (value, error) {
	if len(args) == 0 {
		return nil, fail("ArgumentError", "too few arguments")
	}
	f, ok := args[0].(*text)
	if !ok {
		return nil, noString(args[0])
	}
	var all []data.Value
	for _, v := range args[1:] {
		d, err := toData(v)
		if err != nil {
			d = data.OfRich(shown(toS(v)))
			if strings.Contains(f.s, "p") { // as it is for %p
				d = data.OfRich(shown(inspect(v)))
			}
		}
		all = append(all, d)
	}
	s, err := fn.Sprintf(f.s, all)
	if err != nil {
		return nil, &failure{"ArgumentError", err.Error()}
	}
	return str(s), r.spend(len(s))
}

// A shown is a value that formats only print.
type shown string

func (s shown) String() string { return string(s) }

// EqualRich reports whether both are printed alike.
func (s shown) EqualRich(o data.RichValue) bool { return s == o }

func noString(v value) error {
	name := classOf(v)
	if v == nil {
		name = "nil"
	}
	return fail("TypeError", "no implicit conversion of %s into String", name)
}

func toInteger(r *run, args []value, _ *proc) (value, error) {
	switch v := arg(args, 0).(type) {
	case int64:
		return v, nil
	case float64:
		return truncated(v)
	case *text:
		if base, ok := arg(args, 1).(int64); ok {
			return r.integerOf(unprefixed(v.s, int(base)), int(base))
		}
		n, err := fn.ParseInteger(v.s)
		if err != nil {
			return nil, &failure{"ArgumentError", err.Error()}
		}
		return whole(n), nil
	case nil:
		return nil, fail("TypeError", "can't convert nil into Integer")
	default:
		return nil, fail("TypeError", "can't convert %s into Integer", classOf(v))
	}
}

func toFloat(r *run, args []value, _ *proc) (value, error) {
	switch v := arg(args, 0).(type) {
	case *text:
		f, err := fn.ParseFloat(v.s)
		if err != nil {
			return nil, &failure{"ArgumentError", err.Error()}
		}
		return f, nil
	case nil:
		return nil, fail("TypeError", "can't convert nil into Float")
	default:
		f, ok := floatOf(v)
		if !ok {
			return nil, fail("TypeError", "can't convert %s into Float", classOf(v))
		}
		return f, nil
	}
}
