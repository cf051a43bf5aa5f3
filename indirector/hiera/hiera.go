// Package hiera looks up data as Puppet's hiera 5 does: through three layers
// (global, environment, module), the levels of each, and the locations of each
// level; with interpolation, merging, lookup_options, and hiera.yaml of versions
// 5, 4 and 3.
//
// A [Compile] holds what one compile of a catalog shares: the hierarchies, which
// are resolved with the variables of its node, and the lookup_options, which are
// collected once. What is read from disk is in a [Cache], which compiles share.
//
//	c := hiera.New(hiera.Options{EnvironmentDir: dir, Scope: scope})
//	value, err := c.Lookup(hiera.Query{Keys: []string{"ntp::servers"}, Record: record})
//	record.Text() // what puppet lookup --explain prints
//
// What happens is recorded once, in a [Record]. The text of --explain, its
// structure and the spans of a trace are renderings of it, so that what is shown
// cannot differ from what happened. Rule HIERA-TRACE-02.
//
// What modules define in the Puppet language is behind [Language]. Without one, only the
// types of the language itself are known, and functions of modules are refused.
package hiera

import (
	"cmp"
	"os"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/language/onig"
	"indirtui/indirector/language/types"
)

// Options are the surroundings of a Compile. The zero value has no layers.
type Options struct {
	Environment    string // its name; "" is production
	EnvironmentDir string // where its hiera.yaml is; "" is no environment layer
	GlobalConfig   string // the setting hiera_config; "" is no global configuration
	CodeDir        string // for the default datadir of version 3

	// Module returns the directory of a module of the environment. If nil,
	// there are no modules.
	Module func(name string) (dir string, ok bool)

	// Strict is the setting strict: off, warning or error; "" is warning.
	Strict string

	// Binding is the setting data_binding_terminus; "" is hiera. Rule
	// HIERA-LAY-04.
	Binding string
	// Ask asks another data binding for a root key in place of the global
	// layer. If nil, it knows nothing.
	Ask func(terminus, key string, merge data.Value) (value data.Value, found bool, err error)

	// EnvironmentProvider is environment_data_provider of environment.conf; "" is
	// unset. Rule HIERA-LAY-05.
	EnvironmentProvider string

	// Used receives the path of every file that is read or was kept, each time. It may be
	// nil.
	Used func(path string)
	// Called receives the name of a function that a lookup calls beyond those of levels:
	// new, for convert_to. It may be nil.
	Called func(name string)

	Scope    Scope    // the variables; nil has none
	Language Language // nil knows no types and functions of modules
	Cache    *Cache   // of files; nil is a new one
	Warnings *Warnings

	// MaxMatching is how long the patterns of lookup_options may take together; 0 is
	// ten seconds.
	MaxMatching time.Duration
}

// A Scope has the variables that paths and data are interpolated with. It must be
// safe for use by one goroutine.
type Scope interface {
	// Variable returns the value of a variable, and whether it exists. The name
	// may begin with ::.
	Variable(name string) (value data.Value, exists bool)
}

// A Language finds what an environment and its modules define in the Puppet language.
// Errors are in Puppet's words.
type Language interface {
	// Type returns the type of a name, which is in small letters, or nil.
	Type(name string) (types.Type, error)
	// Function returns a function for a level, or nil.
	Function(name string) (Function, error)
}

// A Function gives the data of a level. What it gets depends on the kind of the
// level: options for data_hash, key and options for lookup_key, segments and
// options for data_dig. The value may be rich. One of before hiera.yaml gets nothing, not even
// the context. Rule HIERA-DATA-05.
type Function func(c *Context, args ...data.Value) (value data.Value, found bool, err error)

// A Compile is what the lookups of one compile share. It is not safe for
// concurrent use. Rules HIERA-OPT-04, HIERA-DATA-06.
type Compile struct {
	o        Options
	cache    *Cache
	warnings *Warnings
	language Language
	read     map[string]*file       // for functions, by path
	stats    map[string]os.FileInfo // of files that were found and not loaded yet
	calling  *invocation            // for which a function is running; nil if none is
	matching *onig.Budget           // of the patterns of lookup_options

	global, environment *layer
	modules             map[string]*layer
	missing             map[string]bool  // modules that are not there, also not later in the compile
	noEnvironment       bool             // the environment has no layer
	secret              bool             // something was decrypted since the search began
	unlike              bool             // another search of the key may find another value; see Find
	views               map[string]*view // by module

	globalOptions, environmentOptions collected
	options                           map[string]*keyOptions // by module; "" is no module
	defaultOptions                    map[string]*keyOptions // of the default_hierarchy of modules
}

// collected is a lookup_options hash that was looked for once.
type collected struct {
	done  bool
	value data.Value // nil if there is none
}

// New returns a Compile without any data loaded.
func New(o Options) *Compile {
	c := &Compile{
		o: o, cache: o.Cache, warnings: o.Warnings, language: o.Language, matching: onig.NewBudget(cmp.Or(o.MaxMatching, 10*time.Second)),
		views: map[string]*view{}, stats: map[string]os.FileInfo{}, modules: map[string]*layer{}, missing: map[string]bool{}, read: map[string]*file{}, options: map[string]*keyOptions{}, defaultOptions: map[string]*keyOptions{},
	}
	if c.cache == nil {
		c.cache = NewCache()
	}
	if c.warnings == nil {
		c.warnings = new(Warnings)
	}
	if c.language == nil {
		c.language = noLanguage{}
	}
	if c.o.Scope == nil {
		c.o.Scope = Variables{}
	}
	if c.o.Environment == "" {
		c.o.Environment = "production"
	}
	return c
}

// Variables is a Scope of top-level variables by their names, without a leading
// ::.
type Variables map[string]data.Value

// Variable implements Scope.
func (v Variables) Variable(name string) (data.Value, bool) {
	if len(name) > 2 && name[:2] == "::" {
		name = name[2:]
	}
	value, ok := v[name]
	return value, ok
}

// strict is the setting strict.
func (c *Compile) strict() string {
	if c.o.Strict == "" {
		return "warning"
	}
	return c.o.Strict
}

func (c *Compile) module(name string) (dir string, ok bool) {
	if c.o.Module == nil {
		return "", false
	}
	return c.o.Module(name)
}
