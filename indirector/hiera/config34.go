package hiera

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/types"
)

// structure4 is what a hiera.yaml of version 4 must look like. Rule HIERA-CFG-10.
var structure4 = ofType(`Struct[{
	version => Integer[4, 4], Optional[datadir] => String[1],
	Optional[hierarchy] => Array[Struct[{backend => String[1], name => String[1],
		Optional[datadir] => String[1], Optional[path] => String[1], Optional[paths] => Array[String[1]]}]]}]`)

func (cfg *config) check4() error {
	common := data.OfHash([]data.Pair{data.P("name", data.OfString("common")), data.P("backend", data.OfString("yaml"))})
	cfg.raw = or(or(cfg.raw, "datadir", data.OfString("data")), "hierarchy", data.OfList([]data.Value{common}))
	return assertType("The Lookup Configuration at '"+cfg.path+"'", structure4(), cfg.raw)
}

// functionOf is the data_hash function and the extension for a backend of old.
func functionOf(backend string) (function, extension string, ok bool) {
	switch backend {
	case "yaml", "json":
		return backend + "_data", "." + backend, true
	case "hocon":
		return "hocon_data", ".conf", true
	}
	return "", "", false
}

func (r *resolver) levels4() error {
	for _, entry := range r.cfg.raw.Get("hierarchy").List() {
		name, backend := entry.Get("name").Text(), entry.Get("backend").Text()
		if r.has(name) {
			return r.cfg.twice(nameLine(name), "Hierarchy name '"+name+"' defined more than once.")
		}
		paths := entry.Get("paths").List()
		if entry.Get("paths").IsNil() {
			paths = []data.Value{entry.Get("path")}
			if paths[0].IsNil() {
				paths[0] = entry.Get("name")
			}
		}
		datadir := entry.Get("datadir").Text()
		if datadir == "" {
			datadir = r.cfg.raw.Get("datadir").Text()
		}
		function, ext, ok := functionOf(backend)
		if !ok {
			return r.cfg.fail(wordLine(backend), "No data provider is registered for backend '%s'", backend)
		}
		locations, err := r.paths(joined(r.cfg.root, datadir), paths, ext)
		if err != nil {
			return err
		}
		r.levels = append(r.levels, &level{layer: r.layer, name: name, kind: "data_hash", function: function, locations: locations})
	}
	return nil
}

func wordLine(word string) *regexp.Regexp {
	return regexp.MustCompile(`[^\w]` + regexp.QuoteMeta(word) + `(?:[^\w]|$)`)
}

// check3 checks a hiera.yaml of version 3. Rule HIERA-CFG-11.
func (cfg *config) check3(c *Compile) error {
	raw := cfg.raw
	for _, p := range []data.Pair{
		data.P("version", data.OfInt(3)),
		data.P("backends", defaultConfig3.Get("backends")),
		data.P("hierarchy", defaultConfig3.Get("hierarchy")),
		data.P("merge_behavior", defaultConfig3.Get("merge_behavior")),
		data.P("deep_merge_options", data.OfHash(nil)),
	} {
		raw = or(raw, p.Key.Str(), p.Value)
	}
	cfg.raw = raw
	if err := assertType("The Lookup Configuration at '"+cfg.path+"'", structure3(flat(raw.Get("backends"))), raw); err != nil {
		return err
	}
	return cfg.merge3(c)
}

// structure3 is what a hiera.yaml of version 3 with such backends must look like, each
// of which has settings by its name.
func structure3(backends []data.Value) types.Type {
	var b strings.Builder
	b.WriteString(`Struct[{
	Optional[version] => Integer[3, 3], Optional[backends] => Variant[String[1], Array[String[1]]], Optional[logger] => String[1],
	Optional[merge_behavior] => Enum[deep, deeper, native], Optional[deep_merge_options] => Hash[String[1], Variant[String, Boolean]],
	Optional[hierarchy] => Variant[String[1], Array[String[1]]]`)
	seen := []string{"", "version", "backends", "logger", "merge_behavior", "deep_merge_options", "hierarchy"}
	for _, backend := range backends {
		if name := backend.Text(); !slices.Contains(seen, name) {
			seen = append(seen, name)
			b.WriteString(", Optional['" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(name) + "'] => Hash[String[1], Any]")
		}
	}
	return ofType(b.String() + "}]")()
}

// merge3 is how hash lookups of hiera 3 merge.
func (cfg *config) merge3(c *Compile) (err error) {
	cfg.merge = firstFound
	if behavior := cfg.raw.Get("merge_behavior").Text(); behavior != "native" {
		name := "unconstrained_deep"
		if behavior == "deep" {
			name = "reverse_deep"
		}
		options := append([]data.Pair{data.P("strategy", data.OfString(name))}, cfg.raw.Get("deep_merge_options").Hash()...)
		cfg.merge, err = c.strategy(data.OfHash(options))
	}
	return err
}

// levels3 makes one level for each backend, which searches the whole hierarchy.
func (r *resolver) levels3() error {
	for _, b := range flat(r.cfg.raw.Get("backends")) {
		backend := b.Text()
		if r.has(backend) {
			return r.cfg.twice(wordLine(backend), "Backend '"+backend+"' is defined more than once.")
		}
		l, err := r.level3(backend)
		if err != nil {
			return err
		}
		r.levels = append(r.levels, l)
	}
	return nil
}

func (r *resolver) level3(backend string) (*level, error) {
	options, err := r.interpolate(r.cfg.raw.Get(backend))
	if err != nil {
		return nil, err
	}
	dir := options.Get("datadir").Text()
	if dir == "" {
		if dir, err = r.text(filepath.Join(r.layer.c.o.CodeDir, "environments", "%{::environment}", "hieradata")); err != nil {
			return nil, err
		}
	}
	l := &level{layer: r.layer, name: backend, kind: "v3_data_hash"}
	ext := "." + backend
	switch function, usual, ok := functionOf(backend); {
	case ok:
		l.function, ext = function, usual
	case backend == "eyaml":
		l.kind, l.function = "v3_lookup_key", "eyaml_lookup_key"
		l.options = options.Without("datadir")
	default:
		return nil, lacking("the backend '%s' of hiera 3 is written in Ruby, which is not run here (file: %s)", backend, r.cfg.path)
	}
	if own := options.Get("extension").Text(); own != "" {
		ext = "." + own
	}
	l.locations, err = r.paths(dir, flat(r.cfg.raw.Get("hierarchy")), ext)
	return l, err
}
