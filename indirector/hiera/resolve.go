package hiera

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/host/fnmatch"
)

// maxLocations bounds the locations of one level. Rule HIERA-PERF-03.
const maxLocations = 10_000

// A location is a file or URI where a level looks.
type location struct {
	original string // as it is written
	where    string
	exists   bool
	uri      bool
	index    int // among those of the layer
	shown    shown
}

// A resolver makes the levels of a configuration with the variables of a compile,
// and notes which it used. Rule HIERA-CFG-09.
type resolver struct {
	layer  *layer
	cfg    *config
	in     *invocation
	levels []*level
}

// resolve makes the levels of a layer, and those of its default_hierarchy.
func (l *layer) resolve(in *invocation) error {
	var used []variable
	// The variables of paths are no part of the explanation.
	quiet := &invocation{c: in.c, scope: in.scope, used: &used}
	r := &resolver{layer: l, cfg: l.config, in: quiet}
	levels, err := r.all(false)
	if err != nil {
		return err
	}
	var defaults []*level
	if l.config.hasDefault {
		if defaults, err = r.all(true); err != nil {
			return err
		}
	}
	l.levels, l.defaults, l.resolved, l.used, l.view = levels, defaults, true, used, nil
	return nil
}

func (r *resolver) all(defaults bool) ([]*level, error) {
	r.levels = nil
	var err error
	switch {
	case r.cfg.version == 3:
		err = r.levels3()
	case r.cfg.version == 4:
		err = r.levels4()
	case defaults:
		err = r.levels5(r.cfg.raw.Get("default_hierarchy"))
	default:
		err = r.levels5(r.cfg.raw.Get("hierarchy"))
	}
	if u, ok := errors.AsType[*undefinedError](err); ok {
		return nil, r.cfg.fail(regexp.MustCompile(`%\{['"]?`+regexp.QuoteMeta(u.name)+`['"]?}`), "Undefined variable '%s'", u.name)
	}
	return r.levels, err
}

func (r *resolver) has(name string) bool {
	return slices.ContainsFunc(r.levels, func(l *level) bool { return l.name == name })
}

// interpolate replaces the expressions in a part of the configuration, which may have no
// methods. What is wrong with them is wrong with the configuration.
func (r *resolver) interpolate(v data.Value) (data.Value, error) {
	out, err := r.in.interpolate(v, false)
	if e, ok := errors.AsType[*Error](err); ok && e.issue && e.File == "" {
		placed := *e
		placed.File = r.cfg.path
		err = &placed
	}
	return out, err
}

// text interpolates a text, without methods.
func (r *resolver) text(s string) (string, error) {
	v, err := r.interpolate(data.OfString(s))
	return v.Text(), err
}

// joined is a path relative to a directory; dots at its beginning are followed, and
// no others, as Ruby's Pathname joins.
func joined(dir, path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	for {
		switch first, rest, _ := strings.Cut(path, "/"); first {
		case ".":
			path = strings.TrimLeft(rest, "/")
		case "..":
			dir, path = filepath.Dir(dir), strings.TrimLeft(rest, "/")
		default:
			if path == "" {
				return dir
			}
			return strings.TrimSuffix(dir, "/") + "/" + path
		}
	}
}

// exists reports whether there is a file. What the system knows of it is kept until it is
// loaded.
func (c *Compile) exists(path string) bool {
	if c.stats[path] != nil {
		return true
	}
	stat, err := os.Stat(path)
	if err == nil {
		c.stats[path] = stat
	}
	return err == nil
}

// paths resolves paths, which get the extension unless they have it. Those of the
// default configuration are dropped if they do not exist. Rule HIERA-CFG-05.
func (r *resolver) paths(dir string, declared []data.Value, ext string) ([]*location, error) {
	locations := make([]*location, 0, len(declared))
	for _, d := range declared {
		path, err := r.text(d.Text())
		if err != nil {
			return nil, err
		}
		if !strings.HasSuffix(path, ext) {
			path += ext
		}
		l := &location{original: d.Text(), where: joined(dir, path)}
		l.exists = r.in.c.exists(l.where)
		if l.exists || r.cfg.path != "" {
			locations = append(locations, l)
		}
	}
	return locations, r.bounded(len(locations))
}

func (r *resolver) bounded(n int) error {
	if n <= maxLocations {
		return nil
	}
	return r.cfg.fail(nil, "a level has more than %d locations", maxLocations)
}

// globs finds files, in the order of their names. Rule HIERA-CFG-07.
func (r *resolver) globs(dir string, declared []data.Value) ([]*location, error) {
	var locations []*location
	for _, d := range declared {
		pattern, err := r.text(d.Text())
		if err != nil {
			return nil, err
		}
		glob := joined(dir, pattern)
		for _, path := range fnmatch.Glob(glob, maxLocations+1) {
			if !r.in.c.exists(path) || !r.in.c.stats[path].IsDir() {
				locations = append(locations, &location{original: glob, where: path, exists: true})
			}
		}
		if err := r.bounded(len(locations)); err != nil {
			return nil, err
		}
	}
	return locations, nil
}

// uris resolves URIs, which always exist. Rule HIERA-DATA-06.
func (r *resolver) uris(declared []data.Value) ([]*location, error) {
	var locations []*location
	for _, d := range declared {
		uri, err := r.text(d.Text())
		if err != nil {
			return nil, err
		}
		if _, err := url.Parse(uri); err != nil || strings.ContainsAny(uri, " <>{}|\\^`\"") {
			return nil, &Error{Class: "URI::InvalidURIError", Message: "bad URI(is not URI?): " + data.InspectString(uri)}
		}
		locations = append(locations, &location{original: d.Text(), where: uri, exists: true, uri: true})
	}
	return locations, r.bounded(len(locations))
}

// mapped makes a path of each element of a variable. Rule HIERA-CFG-06.
func (r *resolver) mapped(dir string, triplet []data.Value) ([]*location, error) {
	v, err := r.in.variable(triplet[0].Text(), "mapped_path[0]")
	if err != nil {
		return nil, err
	}
	var elements []data.Value
	switch v.Kind() {
	case data.List:
		elements = v.List()
	case data.String:
		if v.Len() > 0 {
			elements = []data.Value{v}
		}
	case data.Nil:
	case data.Hash:
		// Ruby maps a hash to pairs of key and value.
		for _, p := range v.Hash() {
			elements = append(elements, data.OfList([]data.Value{p.Key, p.Value}))
		}
	default:
		return nil, &Error{Class: "NoMethodError", Message: "undefined method `empty?' for " + v.Inspect() + ":" + data.RubyClass(v)}
	}
	name, template := triplet[1].Text(), triplet[2].Text()
	outer, seen := r.in.scope, len(*r.in.used)
	defer func() {
		r.in.scope = outer
		// What the template was made with is no variable of the scope.
		used := *r.in.used
		*r.in.used = append(used[:seen:seen], slices.DeleteFunc(slices.Clone(used[seen:]), func(v variable) bool { return v.root == name })...)
	}()
	var locations []*location
	for _, e := range elements {
		r.in.scope = local{outer, name, e}
		path, err := r.text(template)
		if err != nil {
			return nil, err
		}
		l := &location{original: template, where: joined(dir, path)}
		l.exists = r.in.c.exists(l.where)
		locations = append(locations, l)
	}
	return locations, r.bounded(len(locations))
}

// local is a scope with one more variable.
type local struct {
	Scope
	name  string
	value data.Value
}

// Variable implements Scope.
func (s local) Variable(name string) (data.Value, bool) {
	if name == s.name {
		return s.value, true
	}
	return s.Scope.Variable(name)
}
