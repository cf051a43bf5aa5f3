package hiera

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"indirtui/indirector/data"
)

// A config is a hiera.yaml, checked. Rule HIERA-CFG-01.
type config struct {
	path       string // "" is the default configuration
	kind       layerKind
	file       uint64 // its number in the cache; 0 is the default configuration
	root       string // what datadirs are relative to
	version    int
	raw        data.Value // with string keys
	hasDefault bool       // a default_hierarchy
	merge      *strategy  // of version 3
}

// defaultConfig serves the global layer if it has no file.
var defaultConfig = data.OfHash([]data.Pair{
	data.P("version", data.OfInt(5)),
	data.P("defaults", defaultDefaults),
	data.P("hierarchy", defaultHierarchy),
})

var (
	defaultDefaults = data.OfHash([]data.Pair{
		data.P("datadir", data.OfString("data")), data.P("data_hash", data.OfString("yaml_data")),
	})
	defaultHierarchy = data.OfList([]data.Value{data.OfHash([]data.Pair{
		data.P("name", data.OfString("Common")), data.P("path", data.OfString("common.yaml")),
	})})
	// defaultConfig3 stands for a file that holds no hash. Rule HIERA-CFG-02.
	defaultConfig3 = data.OfHash([]data.Pair{
		data.P("backends", data.OfStrings([]string{"yaml"})),
		data.P("hierarchy", data.OfStrings([]string{"nodes/%{::trusted.certname}", "common"})),
		data.P("merge_behavior", data.OfString("native")),
	})
)

// readConfig reads the configuration of a layer. No file is the default one.
func (c *Compile) readConfig(path string, kind layerKind) (*config, error) {
	cfg := &config{path: path, kind: kind, root: filepath.Dir(path), raw: defaultConfig}
	f := &file{}
	if !c.exists(path) {
		cfg.path = ""
	} else {
		var err error
		f, err = c.load(path, func(content []byte) (data.Value, error) {
			v, err := parseYAML(content, path)
			if err == nil && v.Kind() != data.Hash {
				c.warnings.warn("%s: File exists but does not contain a valid YAML hash. Falling back to Hiera version 3 default config", path)
				v = defaultConfig3
			}
			return v, err
		})
		if err != nil {
			return nil, err
		}
		if known := f.config.Load(); known != nil && known.kind == kind {
			return known, nil
		}
		cfg.raw, cfg.file = f.value, f.number
	}
	version := cfg.raw.Get("version")
	switch version.Kind() {
	case data.Nil:
		cfg.version = 3
	case data.Int:
		cfg.version = int(version.Int())
	default:
		cfg.version = leadingInt(version.Text())
	}
	cfg.raw = stringKeys(cfg.raw)
	switch cfg.version {
	case 5:
		err := cfg.check5(kind)
		if err == nil {
			f.config.Store(cfg)
		}
		return cfg, err
	case 4:
		c.deprecated(cfg)
		return cfg, cfg.check4()
	case 3:
		c.deprecated(cfg)
		return cfg, cfg.check3(c)
	}
	e := issuef("This runtime does not support hiera.yaml version %d", cfg.version)
	e.File = cfg.path
	return nil, e
}

var digits = regexp.MustCompile(`\A\s*[+-]?[0-9]+`)

// leadingInt is Ruby's to_i.
func leadingInt(s string) int {
	n, _ := strconv.Atoi(strings.TrimSpace(digits.FindString(s)))
	return n
}

func (c *Compile) deprecated(cfg *config) {
	if c.strict() != "off" {
		c.warnings.once("config "+cfg.path, cfg.path, cfg.path+": Use of 'hiera.yaml' version "+strconv.Itoa(cfg.version)+
			" is deprecated. It should be converted to version 5")
	}
}

// fail is an error of the configuration, at the line that match finds; nil has
// none.
func (cfg *config) fail(match *regexp.Regexp, format string, args ...any) *Error {
	e := issuef(format, args...)
	e.File = cfg.path
	if match != nil {
		e.Line = cfg.line(match, 1)
	}
	return e
}

// line returns the first line, from a number on, that matches without its comment;
// 0 if there is none.
func (cfg *config) line(match *regexp.Regexp, from int) int {
	content, err := os.ReadFile(cfg.path)
	if err != nil {
		return 0
	}
	for i, l := range bytes.Split(content, []byte("\n")) {
		if i+1 >= from && match.Match(uncommented(l)) {
			return i + 1
		}
	}
	return 0
}

// uncommented cuts a line at the first # outside of quotes, and drops the quotes'
// meaning but not the quotes.
func uncommented(line []byte) []byte {
	var quote byte
	for i, c := range line {
		switch {
		case c == '"' || c == '\'':
			switch quote {
			case c:
				quote = 0
			case 0:
				quote = c
			}
		case c == '#':
			return line[:i]
		}
	}
	return line
}

// nameLine matches the line of a level by its name.
func nameLine(name string) *regexp.Regexp {
	return regexp.MustCompile(`\s+name:\s+['"]?` + regexp.QuoteMeta(name) + `(?:[^\w]|$)`)
}

// twice is the error for a name that is defined again. Rule HIERA-CFG-03.
func (cfg *config) twice(match *regexp.Regexp, message string) *Error {
	first := cfg.line(match, 1)
	line := 0
	if first > 0 {
		line = cfg.line(match, first+1)
	}
	if line == 0 {
		first, line = 0, first
	}
	if first > 0 {
		message += " First defined at (line: " + strconv.Itoa(first) + ")"
	}
	e := issuef("%s", message)
	e.File, e.Line = cfg.path, line
	return e
}

// or returns the hash v with a value for a key that is nil.
func or(v data.Value, key string, value data.Value) data.Value {
	if v.Get(key).IsNil() {
		return v.With(key, value)
	}
	return v
}
