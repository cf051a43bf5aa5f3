package fn

import (
	"context"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/types"
)

// A Host has what functions need of an environment: its data, its modules and their files.
// It is the Host of [eval.Options]. Without one, the functions that need it fail.
type Host interface {
	// Lookup looks data up. Errors are in Puppet's words.
	Lookup(c *eval.Invocation, q Query) (data.Value, error)
	// ModuleDir returns the directory of a module, and whether there is one.
	ModuleDir(name string) (string, bool)
	// Find returns the path of a file that is named as module/path, below a directory of
	// the module, or by its own path; and whether there is one.
	Find(below, name string) (string, bool)
	// Read returns the contents of what Find found.
	Read(path string) ([]byte, error)
	// Made returns what make makes of the text of a file that Find found. It may be shared,
	// and was perhaps made before.
	Made(path string, make func(text string) any) (any, error)
	// Template returns the program of a template that Find found.
	Template(path string) (*eval.Program, error)
	// Library returns all functions that programs call without loading them.
	Library() eval.Library
	// Generate runs a command and returns what it writes.
	Generate(ctx context.Context, command []string) (string, error)
	// Validate runs a command on a file with the content. An error is that of the command.
	Validate(ctx context.Context, content, command string) error
}

// A Query is a call of one of the functions that look data up. Rule HIERA-FN-01.
type Query struct {
	Keys       []string
	Type       types.Type // nil is any
	Merge      data.Value // a name or a hash; nil is that of lookup_options
	Default    data.Value
	HasDefault bool
	Otherwise  func() (data.Value, error) // makes the default; or nil
	Overrides  data.Value                 // a hash, or nil
	Defaults   data.Value                 // a hash, or nil
	Older      bool                       // it is one of the functions from before lookup
}

func hostOf(c *eval.Invocation, function string) (Host, error) {
	h, ok := c.Host().(Host)
	if !ok {
		return nil, eval.Errorf("%s() needs an environment, and there is none here", function)
	}
	return h, nil
}
