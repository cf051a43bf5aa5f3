// Package stdlib has the functions of the module puppetlabs-stdlib, native.
//
// They exist where the module does: whoever loads functions asks [Functions] for them
// once it sees the module on the modulepath, and adds them to those of package fn, which
// come first. Types and functions that the module writes in the language are read from
// its files, like those of any other module.
//
//	library := maps.Clone(fn.Library())
//	for name, f := range stdlib.Functions(stdlib.Options{Dir: dir}) {
//		if library[name] == nil {
//			library[name] = f
//		}
//	}
//
// Most are of Puppet's older kind: they are given texts for undef and for rich values,
// and check arguments by themselves, each in words of its own. These are rows of tables,
// a file for each group. Functions call each other as Ruby's do, by their names and
// without another conversion. Rules LANG-STD-01, LANG-STD-04.
package stdlib

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/onig"
	"indirtui/indirector/language/syntax"
)

// Options are what functions see of the world. The zero value shows nothing of it.
type Options struct {
	// Dir is the directory of the module, which messages name.
	Dir string
	// ModuleDir returns the directory of a module, and false if there is none. If nil,
	// there are none.
	ModuleDir func(c *eval.Invocation, name string) (dir string, ok bool)
	// Files is the file system from its root on, for loadyaml, loadjson, glob and
	// load_module_metadata. If nil, these functions fail.
	Files fs.FS
	// Find returns the parameters of a resource of the catalog. If nil, functions that
	// look at resources fail.
	Find func(c *eval.Invocation, kind, title string) (parameters data.Value, ok bool)
	// Validate runs a command on a file with the content, for validate_cmd, which fails if
	// nil.
	Validate func(c *eval.Invocation, content, command string) error
	// Library has the functions that are called by their names beyond those of stdlib:
	// fqdn_rand, sprintf, versioncmp, fail, create_resources.
	Library eval.Library
	// Now is the clock of the function time. If nil, it is that of the machine.
	Now func() time.Time
	// Random returns a number below a bound, for shuffle and str2saltedsha512. If nil,
	// numbers are different at each call.
	Random func(below int64) int64
}

// A do is what a function does.
type do = func(c *call) (data.Value, error)

// An older is a function of Puppet's older kind.
type older struct {
	least, most int    // arguments; a most of 0 means any number
	wrong       string // what is reported about another number, which %d stands for
	do          do
	statement   bool // returns nothing
}

// A set is the functions of one environment.
type set struct {
	Options
	old map[string]older
}

// A call is one of a function of the set.
type call struct {
	*eval.Invocation
	set *set
}

var undef data.Value

// Functions returns the functions of the module by their names. They may be shared by
// evaluations that run at once.
func Functions(opts Options) eval.Library {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Random == nil {
		opts.Random = rand.Int64N
	}
	s := &set{Options: opts, old: map[string]older{}}
	out := eval.Library{}
	for _, group := range []map[string]older{
		lists(), hashes(), texts(), shell(), numbers(), randoms(), network(), predicates(), validators(), conversions(), machine(), resources(),
	} {
		for name, f := range group {
			s.old[name] = f
			out[name] = &eval.Builtin{Name: name, Old: true, Ways: []eval.Way{{Params: "Any args*", Do: func(c *eval.Invocation) (data.Value, error) {
				return (&call{c, s}).older(name, c.Args...)
			}}}}
		}
	}
	for _, group := range []map[string][]way{newTexts(), newHashes(), newConversions(), facts(), newResources(), legacy()} {
		for name, ways := range group {
			out[name] = &eval.Builtin{Name: name, Ways: s.ways(ways)}
		}
	}
	for name, instead := range renamed() {
		out[name] = &eval.Builtin{Name: name, Ways: s.ways([]way{{anything, func(c *call) (data.Value, error) {
			if err := c.deprecate(instead.key, instead.message); err != nil {
				return undef, err
			}
			return c.older(name, c.Args...)
		}}})}
	}
	return out
}

// anything is what functions take that drop a lambda and check all else by themselves.
const anything = "Any args*; Callable &-?"

// A way is one of the signatures of a function of Puppet's newer kind.
type way struct {
	params string
	do     do
}

func (s *set) ways(all []way) []eval.Way {
	out := make([]eval.Way, len(all))
	for i, w := range all {
		out[i] = eval.Way{Params: w.params, Do: func(c *eval.Invocation) (data.Value, error) {
			v, err := w.do(&call{c, s})
			if err != nil {
				return undef, err
			}
			return v, charge(c, v)
		}}
	}
	return out
}

// older calls a function of the older kind with arguments as they are.
func (c *call) older(name string, args ...data.Value) (data.Value, error) {
	f, ok := c.set.old[name]
	if !ok {
		return undef, eval.Errorf("undefined method `function_%s' for %s", name, "Scope(Class[main])")
	}
	if n := len(args); f.wrong != "" && (n < f.least || f.most > 0 && n > f.most) {
		return undef, refusef("%s", strings.ReplaceAll(f.wrong, "%d", fmt.Sprint(n)))
	}
	with := *c.Invocation
	with.Args = args
	v, err := f.do(&call{&with, c.set})
	switch {
	case err != nil:
		return undef, err
	case f.statement:
		return undef, nil
	}
	return v, charge(c.Invocation, v)
}

// charge counts what a function made.
func charge(c *eval.Invocation, v data.Value) error {
	if v.Kind() == data.String {
		return c.Spend(v.Len())
	}
	return c.Made(v)
}

// function calls a function of another library by its name.
func (c *call) function(name string, args ...data.Value) (data.Value, error) {
	with := *c.Invocation
	with.Block = nil
	v, known, err := with.Call(name, args, c.set.Library)
	if err == nil && !known {
		err = eval.Unsupported("calls of the function " + name)
	}
	return v, err
}

// A refusal is an error that Ruby has the class Puppet::ParseError for: what
// validate_legacy takes for an answer.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

func refusef(format string, args ...any) error { return &refusal{fmt.Sprintf(format, args...)} }

// deprecate logs once for each key that a function should not be used any more, or fails
// if the setting strict wants that.
func (c *call) deprecate(key, message string) error {
	at := c.Callers()
	message += " at "
	for i := range 2 {
		if i > 0 {
			message += ":"
		}
		if i < len(at) {
			message += fmt.Sprintf("[%s, %d]", data.InspectString(at[i].File), at[i].Line)
		}
	}
	switch c.Strict() {
	case syntax.StrictOff:
		return nil
	case syntax.StrictError:
		return eval.Errorf("deprecation. %s. %s", key, message)
	}
	if c.Once("deprecation " + key) {
		c.LogPlain("warning", message+"\n   (location: "+c.set.Dir+"/lib/puppet/functions/deprecation.rb:36:in `deprecation')")
	}
	return nil
}

// autoloader logs once what Puppet logs about functions that load another by its name.
func (c *call) autoloader(method, name string) {
	c.WarnOnce(eval.Deprecations, "The method 'Puppet::Parser::Functions.autoloader#"+method+"("+data.InspectString(name)+")' is deprecated in favor of using 'Scope#call_function'.", false)
}

// Short forms.

func str(s string) data.Value         { return data.OfString(s) }
func boolean(b bool) data.Value       { return data.OfBool(b) }
func isString(v data.Value) bool      { return v.Kind() == data.String }
func isList(v data.Value) bool        { return v.Kind() == data.List }
func isHash(v data.Value) bool        { return v.Kind() == data.Hash }
func isBool(v data.Value) bool        { return v.Kind() == data.Bool }
func isInteger(v data.Value) bool     { return v.Kind() == data.Int || v.Kind() == data.Big }
func isNumber(v data.Value) bool      { return isInteger(v) || v.Kind() == data.Float }
func list(l ...data.Value) data.Value { return data.OfList(l) }
func noMethod(m string, v data.Value) error {
	return eval.Errorf("undefined method `%s' for %s:%s", m, v.Inspect(), eval.ClassName(v))
}

// matches reports whether a regular expression of Ruby, which is one of this package and
// does not run away, matches.
func matches(source, s string) bool {
	re, err := onig.Shared(source)
	if err != nil {
		panic("stdlib: " + err.Error())
	}
	ok, _ := re.Match(s)
	return ok
}

// same is Ruby's == : numbers have no kind.
func same(a, b data.Value) bool {
	switch {
	case isNumber(a) && isNumber(b):
		order, err := eval.Compare(a, b)
		return err == nil && order == 0
	case isList(a) && isList(b):
		return a.Len() == b.Len() && allPairs(a.List(), b.List(), same)
	}
	return data.Equal(a, b)
}

func allPairs(a, b []data.Value, f func(a, b data.Value) bool) bool {
	for i := range a {
		if !f(a[i], b[i]) {
			return false
		}
	}
	return true
}

// asList is Ruby's Array(): of a hash its pairs, of a list itself.
func asList(v data.Value) []data.Value {
	switch v.Kind() {
	case data.Nil:
		return nil
	case data.List:
		return v.List()
	case data.Hash:
		out := make([]data.Value, 0, v.Len())
		for _, p := range v.Hash() {
			out = append(out, list(p.Key, p.Value))
		}
		return out
	}
	return []data.Value{v}
}
