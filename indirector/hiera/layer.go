package hiera

import (
	"fmt"
	"path/filepath"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
)

type layerKind uint8

const (
	globalLayer layerKind = iota
	environmentLayer
	moduleLayer
)

var layerNames = [...]string{globalLayer: "Global", environmentLayer: "Environment", moduleLayer: "Module"}

// A layer is a data provider with a configuration: global, of the environment, or
// of a module. Rule HIERA-LAY-01.
type layer struct {
	c      *Compile
	kind   layerKind
	module string
	file   string  // where its hiera.yaml is, or would be
	config *config // nil until it is read

	resolved         bool
	levels, defaults []*level
	used             []variable

	view  *layerView // nil until it is known
	shown shown
}

// title names the layer in explanations; its configuration only once it is read.
func (l *layer) title() string {
	title := layerNames[l.kind] + " "
	if l.kind == moduleLayer {
		title += `"` + l.module + `" `
	}
	title += "Data Provider"
	if l.config != nil {
		title += fmt.Sprintf(" (hiera configuration version %d)", l.config.version)
	}
	return title
}

func (l *layer) configPath() string {
	if l.config == nil {
		return ""
	}
	return l.config.path
}

// read reads the configuration. A version that the layer may not have is refused,
// or left out with a warning.
func (l *layer) read() (err error) {
	if l.config != nil {
		return nil
	}
	cfg, err := l.c.readConfig(l.file, l.kind)
	if err != nil {
		return err
	}
	switch {
	case l.kind == globalLayer && cfg.version == 4:
		return cfg.fail(nil, "hiera.yaml version 4 cannot be used in the global layer")
	case l.kind == globalLayer || cfg.version > 3:
		l.config = cfg
		return nil
	}
	place, root := "a module", "module root"
	if l.kind == environmentLayer {
		place, root = "an environment", "the environment root"
	}
	if l.c.strict() == "error" {
		return cfg.fail(nil, "hiera.yaml version 3 cannot be used in %s", place)
	}
	l.c.warnings.once("version 3 at "+cfg.path, cfg.path, "hiera.yaml version 3 found at "+root+" was ignored")
	return nil
}

// globalLayer is the layer of the setting hiera_config.
func (c *Compile) globalLayer() *layer {
	if c.global == nil {
		c.global = &layer{c: c, kind: globalLayer, file: c.o.GlobalConfig}
	}
	return c.global
}

// environmentLayer is the layer of the environment, or nil if it has none.
func (c *Compile) environmentLayer() (*layer, error) {
	if c.environment != nil || c.noEnvironment || c.o.EnvironmentDir == "" {
		return c.environment, nil
	}
	l := &layer{c: c, kind: environmentLayer, file: filepath.Join(c.o.EnvironmentDir, "hiera.yaml")}
	conf := filepath.Join(c.o.EnvironmentDir, "environment.conf")
	l, err := c.provided(l, c.o.EnvironmentProvider, oldProvider{
		what: "environment_data_provider", file: conf, function: "environment::data", name: c.o.EnvironmentProvider,
		set: fmt.Sprintf("Defining environment_data_provider='%s' in environment.conf is deprecated", c.o.EnvironmentProvider),
	})
	if err != nil {
		return nil, err
	}
	c.environment, c.noEnvironment = l, l == nil
	return l, nil
}

// moduleLayer is the layer of a module, or nil if it has none.
func (c *Compile) moduleLayer(name string) (*layer, error) {
	if l, ok := c.modules[name]; ok {
		return l, nil
	}
	dir, ok := c.module(name)
	if !ok {
		c.modules[name], c.missing[name] = nil, true
		return nil, nil
	}
	metadata := filepath.Join(dir, "metadata.json")
	provider := c.providerOf(metadata)
	l, err := c.provided(&layer{c: c, kind: moduleLayer, module: name, file: filepath.Join(dir, "hiera.yaml")}, provider, oldProvider{
		what: "module_data_provider", file: metadata, function: name + "::data", name: provider,
		set: fmt.Sprintf(`Defining "data_provider": "%s" in metadata.json is deprecated.`, provider),
	})
	if err != nil {
		return nil, err
	}
	c.modules[name] = l
	return l, nil
}

// providerOf is the key data_provider of a metadata.json.
func (c *Compile) providerOf(path string) string {
	f, err := c.cache.load(path, nil, func(content []byte) (data.Value, error) { return format.DecodeJSON(content, format.Limits{}) })
	if err != nil {
		return ""
	}
	return f.value.Get("data_provider").Text()
}

// An oldProvider is what environments and modules had before hiera.yaml. Rule
// HIERA-LAY-05.
type oldProvider struct{ what, name, file, function, set string }

// provided returns the layer if it has a configuration, or the one that an old
// provider stands for.
func (c *Compile) provided(l *layer, name string, old oldProvider) (*layer, error) {
	has := c.exists(l.file)
	if has {
		if err := l.read(); err != nil {
			return nil, err
		}
		has = l.config != nil
	}
	current := has && l.config.version >= 5
	if name != "" && c.strict() != "off" {
		c.warnings.once(old.what+" "+l.module, old.file, old.warning(l, current, has))
	}
	if name == "" || current {
		if !has {
			return nil, nil
		}
		return l, nil
	}
	switch name {
	case "none":
		return nil, nil
	case "hiera":
		return l, l.read()
	case "function":
		if c.strict() != "off" {
			c.warnings.once("legacy function", "", "Using of legacy data provider function '"+old.function+"'. Please convert to a 'data_hash' function")
		}
		legacy := &level{layer: l, name: "Legacy function '" + old.function + "'", kind: "v4_data_hash", function: old.function, everywhere: true}
		l.config = &config{root: filepath.Dir(l.file), version: 5}
		l.levels, l.resolved = []*level{legacy}, true
		return l, nil
	}
	return nil, &Error{Class: Failed, Message: fmt.Sprintf("Environment '%s', cannot find %s '%s'", c.o.Environment, old.what, name)}
}

func (o oldProvider) warning(l *layer, current, has bool) string {
	switch {
	case current && l.kind == moduleLayer:
		return strings.TrimSuffix(o.set, ".") + ". It is ignored since a 'hiera.yaml' with version >= 5 is present"
	case current:
		return o.set
	}
	message := strings.TrimSuffix(o.set, ".") + "."
	if !has {
		message += " A 'hiera.yaml' file should be used instead"
	}
	return message
}

// lookup asks the levels for a key, unless it is being looked up already.
func (l *layer) lookup(in *invocation, k key, s *strategy) (v data.Value, found bool, err error) {
	if err := in.enter(k.text); err != nil {
		return v, false, err
	}
	v, found, err = l.unguarded(in, k, s)
	in.leave()
	return v, found, asLookup(err)
}

// unguarded is lookup. Version 3 sees the scope of hiera 3, and nothing but the
// global layer if the environment has none of version 5.
func (l *layer) unguarded(in *invocation, k key, s *strategy) (v data.Value, found bool, err error) {
	if err := l.readIn(in); err != nil {
		return v, false, err
	}
	if _, old := in.scope.(hiera3Scope); l.config.version == 3 && !old {
		sub := in.child()
		sub.scope = hiera3Scope{in.scope}
		env, err := in.c.environmentLayer()
		if err != nil {
			return v, false, err
		}
		sub.only = in.only || env == nil || env.config.version < 5
		return l.ask(sub, k, s, false)
	}
	return l.ask(in, k, s, false)
}

// readIn reads the configuration below a node of its own if that fails, which is
// where Puppet reads it.
func (l *layer) readIn(in *invocation) error {
	err := l.read()
	if err != nil && l.kind != globalLayer {
		in.leaf(node{kind: layerNode, of: l})
	}
	return err
}

// lookupDefault asks the default_hierarchy.
func (l *layer) lookupDefault(in *invocation, k key, s *strategy) (v data.Value, found bool, err error) {
	if err := l.current(in); err != nil {
		return v, false, err
	}
	if len(l.defaults) == 0 {
		in.notFound(k.text)
		return v, false, nil
	}
	if err := in.enter(k.text); err != nil {
		return v, false, err
	}
	v, found, err = l.ask(in, k, s, true)
	in.leave()
	return v, found, asLookup(err)
}

// ask asks the levels in order.
func (l *layer) ask(in *invocation, k key, s *strategy, defaults bool) (v data.Value, found bool, err error) {
	defer in.into(node{kind: layerNode, of: l}).pop()
	if err := l.current(in); err != nil {
		return v, false, err
	}
	levels := l.levels
	if defaults {
		levels = l.defaults
	}
	if len(levels) == 0 {
		in.notFound(k.text)
		return v, false, nil
	}
	return in.over(s, len(levels), func(i int) (data.Value, bool, error) { return levels[i].lookup(in, k, s) })
}

// current makes sure that the levels are those of the variables as they are now.
// Rule HIERA-CFG-09.
func (l *layer) current(in *invocation) error {
	if l.resolved && l.stable(in) {
		return nil
	}
	if l.resolved {
		in.text("Hiera configuration recreated due to change of scope variables used in interpolation expressions")
	}
	in.c.unlike = true
	return l.resolve(in)
}

// stable reports whether all variables that the levels were made with have their
// values still.
func (l *layer) stable(in *invocation) bool {
	for i := range l.used {
		u := &l.used[i]
		v, _ := in.scope.Variable(u.root)
		if same(v, u.from) {
			continue
		}
		if !v.IsNil() && len(u.segments) > 0 {
			quiet := invocation{c: in.c}
			v, _, _ = quiet.dig(u.name, u.segments, v)
		}
		if !same(v, u.value) && !data.Equal(v, u.value) {
			return false
		}
	}
	return true
}
