package hiera

import (
	"regexp"
	"slices"
	"strings"

	"indirtui/indirector/data"
)

// The keys of a level.
var (
	functionKeys = []string{"data_hash", "lookup_key", "data_dig", "hiera3_backend"}
	locationKeys = []string{"path", "paths", "glob", "globs", "uri", "uris", "mapped_paths"}
)

const (
	optionsHash = `Hash[Pattern[/\A[A-Za-z](:?[0-9A-Za-z_-]*[0-9A-Za-z])?\z/], Data]`

	levels5 = `Array[Struct[{
	name => String[1], Optional[options] => ` + optionsHash + `,
	Optional[data_hash] => String[1], Optional[lookup_key] => String[1], Optional[hiera3_backend] => String[1],
	Optional[v4_data_hash] => String[1], Optional[data_dig] => String[1],
	Optional[path] => String[1], Optional[paths] => Array[String[1], 1],
	Optional[glob] => String[1], Optional[globs] => Array[String[1], 1],
	Optional[uri] => String[1], Optional[uris] => Array[String[1], 1],
	Optional[mapped_paths] => Array[String[1], 3, 3], Optional[datadir] => String[1]}]]`
)

// structure5 is what a hiera.yaml of version 5 must look like. Rule HIERA-CFG-03.
var structure5 = ofType(`Struct[{
	version => Integer[5, 5],
	Optional[defaults] => Struct[{Optional[data_hash] => String[1], Optional[lookup_key] => String[1], Optional[data_dig] => String[1],
		Optional[datadir] => String[1], Optional[options] => ` + optionsHash + `}],
	Optional[hierarchy] => ` + levels5 + `, Optional[plan_hierarchy] => ` + levels5 + `, Optional[default_hierarchy] => ` + levels5 + `}]`)

func (cfg *config) check5(kind layerKind) error {
	cfg.raw = or(or(cfg.raw, "defaults", defaultDefaults), "hierarchy", defaultHierarchy)
	if err := assertType("The Lookup Configuration at '"+cfg.path+"'", structure5(), cfg.raw); err != nil {
		return err
	}
	defaults := cfg.raw.Get("defaults")
	if err := cfg.checkDefaults(defaults); err != nil {
		return err
	}
	for _, name := range []string{"hierarchy", "plan_hierarchy"} {
		if err := cfg.checkLevels(cfg.raw.Get(name), defaults, kind); err != nil {
			return err
		}
	}
	hierarchy, ok := cfg.raw.Lookup("default_hierarchy")
	if !ok {
		return nil
	}
	cfg.hasDefault = true
	if kind != moduleLayer {
		return cfg.fail(regexp.MustCompile(`(?:^|\s+)default_hierarchy:`), "'default_hierarchy' is only allowed in the module layer")
	}
	return cfg.checkLevels(hierarchy, defaults, kind)
}

func (cfg *config) checkDefaults(defaults data.Value) error {
	if count(defaults, functionKeys) > 1 {
		return cfg.fail(nil, "Only one of %s can be defined in defaults", combined(functionKeys))
	}
	for _, key := range []string{"path", "uri"} {
		if _, ok := defaults.Get("options").Lookup(key); ok {
			return cfg.fail(nil, "Option key '%s' used in defaults is reserved by Puppet", key)
		}
	}
	return nil
}

func (cfg *config) checkLevels(hierarchy, defaults data.Value, kind layerKind) error {
	for _, entry := range hierarchy.List() {
		if err := cfg.checkLevel(entry, defaults, kind); err != nil {
			return err
		}
	}
	return nil
}

// checkLevel checks what a structure does not express. Rules HIERA-CFG-04,
// HIERA-CFG-05, HIERA-CFG-08.
func (cfg *config) checkLevel(entry, defaults data.Value, kind layerKind) error {
	name := entry.Get("name").Text()
	switch count(entry, append(slices.Clone(functionKeys), "v4_data_hash")) {
	case 0:
		if count(defaults, functionKeys) == 0 {
			return cfg.fail(nil, "One of %s must be defined in hierarchy '%s'", combined(functionKeys), name)
		}
	case 1:
	default:
		return cfg.fail(nil, "Only one of %s can be defined in hierarchy '%s'", combined(functionKeys), name)
	}
	if backend := entry.Get("hiera3_backend").Text(); backend != "" {
		if kind != globalLayer {
			return cfg.fail(regexp.MustCompile(`\s+hiera3_backend:`), "'hiera3_backend' is only allowed in the global layer")
		}
		if backend == "json" || backend == "yaml" || backend == "hocon" {
			return cfg.fail(regexp.MustCompile(`\s+hiera3_backend:\s*['"]?`+backend+`(?:[^\w]|$)`),
				`Use "data_hash: %[1]s_data" instead of "hiera3_backend: %[1]s"`, backend)
		}
	}
	if count(entry, locationKeys) > 1 {
		return cfg.fail(nil, "Only one of %s can be defined in hierarchy '%s'", combined(locationKeys), name)
	}
	for _, key := range []string{"path", "uri"} {
		if _, ok := entry.Get("options").Lookup(key); ok {
			return cfg.fail(nil, "Option key '%s' used in hierarchy '%s' is reserved by Puppet", key, name)
		}
	}
	return nil
}

func count(v data.Value, keys []string) int {
	n := 0
	for _, k := range keys {
		if _, ok := v.Lookup(k); ok {
			n++
		}
	}
	return n
}

// combined lists words as a sentence does.
func combined(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + ", or " + words[last]
}

// levels5 makes the levels of a hierarchy of version 5.
func (r *resolver) levels5(hierarchy data.Value) error {
	defaults := r.cfg.raw.Get("defaults")
	datadir := defaults.Get("datadir").Text()
	if datadir == "" {
		datadir = "data"
	}
	for _, entry := range hierarchy.List() {
		if err := r.level5(entry, defaults, datadir); err != nil {
			return err
		}
	}
	return nil
}

func (r *resolver) level5(entry, defaults data.Value, datadir string) error {
	name := entry.Get("name").Text()
	if r.has(name) {
		return r.cfg.twice(nameLine(name), "Hierarchy name '"+name+"' defined more than once.")
	}
	from := entry
	if count(entry, append(slices.Clone(functionKeys), "v4_data_hash")) == 0 {
		from = defaults
	}
	l := &level{layer: r.layer, name: name}
	for _, k := range append(slices.Clone(functionKeys), "v4_data_hash") {
		if f, ok := from.Lookup(k); ok {
			l.kind, l.function = k, f.Text()
			break
		}
	}
	if own := entry.Get("datadir").Text(); own != "" {
		datadir = own
	}
	dir, err := r.text(joined(r.cfg.root, datadir))
	if err != nil {
		return err
	}
	if l.locations, l.everywhere, err = r.locations5(dir, entry); err != nil {
		return err
	}
	if r.cfg.path == "" && !l.everywhere && len(l.locations) == 0 {
		return nil
	}
	options := entry.Get("options")
	if options.IsNil() {
		options = defaults.Get("options")
	}
	if l.options, err = r.interpolate(options); err != nil {
		return err
	}
	r.levels = append(r.levels, l)
	return nil
}

// locations5 resolves the locations of an entry; without any it is asked once, for
// everything.
func (r *resolver) locations5(dir string, entry data.Value) (locations []*location, everywhere bool, err error) {
	i := slices.IndexFunc(locationKeys, func(k string) bool { _, ok := entry.Lookup(k); return ok })
	if i < 0 {
		return nil, true, nil
	}
	v := entry.Get(locationKeys[i])
	list := v.List()
	if v.Kind() == data.String {
		list = []data.Value{v}
	}
	switch locationKeys[i] {
	case "path", "paths":
		locations, err = r.paths(dir, list, "")
	case "glob", "globs":
		locations, err = r.globs(dir, list)
	case "uri", "uris":
		locations, err = r.uris(list)
	default:
		locations, err = r.mapped(dir, list)
	}
	return locations, false, err
}
