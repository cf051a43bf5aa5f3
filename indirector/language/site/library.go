package site

import (
	"errors"
	"maps"
	"os"
	"strings"
	"sync"

	"indirtui/indirector/data"
	"indirtui/indirector/language/compile"
	"indirtui/indirector/language/erb"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/fn"
	"indirtui/indirector/language/fn/stdlib"
	"indirtui/indirector/language/loader"
)

// library returns all functions of this program: those of Puppet and PuppetDB, those that
// work on a catalog, and templates of Ruby, which call all of them. It is the same for all
// callers.
var library = sync.OnceValue(func() eval.Library {
	all := maps.Clone(compile.Library())
	all["puppetdb_query"] = &eval.Builtin{Name: "puppetdb_query", Ways: []eval.Way{{Params: "Variant[String[1], Array[Data, 1]] query", Do: queryPuppetDB}}}
	maps.Copy(all, erb.Functions(templates(all)))
	return all
})

// templates are what templates see, which call the functions of a library.
func templates(all eval.Library) erb.Options {
	return erb.Options{
		Library: all,
		Find:    findTemplate,
		Variables: func(c *eval.Invocation) []data.Pair {
			return c.Variables()
		},
		Changed: compile.Changed,
		Names:   compile.Names,
		Ruby:    renderByRuby,
	}
}

// findTemplate finds the file of a template. What cannot be read is not there.
func findTemplate(c *eval.Invocation, name string) (path string, t *erb.Template, ok bool) {
	h, ok := c.Host().(fn.Host)
	if !ok {
		return "", nil, false
	}
	if path, ok = h.Find("templates", name); !ok {
		return "", nil, false
	}
	made, err := h.Made(path, func(text string) any {
		t, _ := erb.Parse(text) // its error is that of Render
		return t
	})
	if err != nil {
		return "", nil, false
	}
	return path, made.(*erb.Template), true
}

// NewPrograms returns a cache of programs that call the functions of this program. Where
// a module has a function in Ruby that this program has, too, that is called. Rules
// LANG-STD-01, LANG-STD-03.
func NewPrograms() *loader.Cache {
	n := &natives{}
	return loader.NewCache(library(), n.find)
}

// natives are the functions of modules that this program has, by the directories of the
// modules.
type natives struct {
	mu     sync.Mutex
	stdlib map[string]eval.Library
}

func (n *natives) find(f loader.RubyFunction) *eval.Builtin {
	dir, _, ok := strings.Cut(f.File, "/lib/puppet/")
	if !ok || f.Module != "stdlib" {
		return others[f.Name]
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.stdlib == nil {
		n.stdlib = map[string]eval.Library{}
	}
	if n.stdlib[dir] == nil {
		n.stdlib[dir] = stdlib.Functions(stdlib.Options{
			Dir: dir, Files: os.DirFS("/"), Library: library(), Find: compile.Find,
			ModuleDir: func(c *eval.Invocation, name string) (string, bool) {
				h, ok := c.Host().(fn.Host)
				if !ok {
					return "", false
				}
				return h.ModuleDir(name)
			},
			Validate: func(c *eval.Invocation, content, command string) error {
				h, ok := c.Host().(fn.Host)
				if !ok {
					return errNoEnvironment
				}
				return h.Validate(c.Context(), content, command)
			},
		})
	}
	return n.stdlib[dir][f.Name]
}

// errNoEnvironment reports a compile without an environment.
var errNoEnvironment = errors.New("there is no environment to compile in")
