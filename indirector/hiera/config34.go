package hiera

import (
	"path/filepath"
	"regexp"
	"slices"

	"indirtui/indirector/data"
)

// structure4 is what a hiera.yaml of version 4 must look like. Rule HIERA-CFG-10.
var structure4 = &kind{is: structKind, fields: []field{
	{"version", integerType(4, 4), false},
	{"datadir", nonEmpty, true},
	{"hierarchy", arrayOf(&kind{is: structKind, fields: []field{
		{"backend", nonEmpty, false},
		{"name", nonEmpty, false},
		{"datadir", nonEmpty, true},
		{"path", nonEmpty, true},
		{"paths", arrayOf(nonEmpty, 0, highest), true},
	}}, 0, highest), true},
}}

func (cfg *config) check4() error {
	common := data.OfHash([]data.Pair{data.P("name", data.OfString("common")), data.P("backend", data.OfString("yaml"))})
	cfg.raw = or(or(cfg.raw, "datadir", data.OfString("data")), "hierarchy", data.OfList([]data.Value{common}))
	return assertType("The Lookup Configuration at '"+cfg.path+"'", structure4, cfg.raw)
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
	textOrTexts := &kind{is: variantKind, types: []*kind{nonEmpty, arrayOf(nonEmpty, 0, highest)}}
	fields := []field{
		{"version", integerType(3, 3), true},
		{"backends", textOrTexts, true},
		{"logger", nonEmpty, true},
		{"merge_behavior", &kind{is: enumKind, words: []string{"deep", "deeper", "native"}}, true},
		{"deep_merge_options", hashOf(nonEmpty, &kind{is: variantKind, types: []*kind{stringType, booleanType}}), true},
		{"hierarchy", textOrTexts, true},
	}
	for _, backend := range flat(raw.Get("backends")) {
		name := backend.Text()
		if !slices.ContainsFunc(fields, func(f field) bool { return f.name == name }) {
			fields = append(fields, field{name, hashOf(nonEmpty, anyType), true})
		}
	}
	if err := assertType("The Lookup Configuration at '"+cfg.path+"'", &kind{is: structKind, fields: fields}, raw); err != nil {
		return err
	}
	return cfg.merge3(c)
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
	options, err := r.in.interpolate(r.cfg.raw.Get(backend), false)
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
