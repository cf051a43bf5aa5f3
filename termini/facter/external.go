package facter

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"indirtui/indirector/data"
	"indirtui/traces"
)

// DefaultExternalDirs returns the directories that Facter looks into when it
// is given none: those of the system for root, those below home for others.
// Debian's Facter knows only the one without "puppetlabs"; a directory that is
// not there does not matter.
func DefaultExternalDirs(root bool, home string) []string {
	if root {
		return []string{"/etc/puppetlabs/facter/facts.d", "/etc/facter/facts.d", "/opt/puppetlabs/facter/facts.d"}
	}
	if home == "" {
		return nil
	}
	return []string{filepath.Join(home, ".facter", "facts.d"), filepath.Join(home, ".puppetlabs", "opt", "facter", "facts.d")}
}

// external returns the facts of the environment and of the directories. Names
// are in small letters, as Facter makes them. The first that gives a fact a
// value wins.
func (c *collector) external() hash {
	var facts hash
	seen := make(map[string]int)
	add := func(key string, v data.Value) {
		key = strings.ToLower(key)
		i, old := seen[key]
		switch {
		case c.o.Config.hides(key):
		case !old:
			seen[key] = len(facts)
			facts = append(facts, data.P(key, v))
		case facts[i].Value.IsNil():
			facts[i].Value = v
		}
	}
	for _, kv := range c.o.Environ {
		name, value, _ := strings.Cut(kv, "=")
		if m := environFact.FindStringSubmatch(name); m != nil && utf8.ValidString(value) {
			add(m[1], data.OfString(value))
		}
	}
	read := make(map[string]bool)
	for _, dir := range c.o.ExternalDirs {
		for _, path := range c.files(dir) {
			if c.ctx.Err() != nil {
				return facts
			}
			for _, p := range c.one(path, read).Hash() {
				add(p.Key.Text(), p.Value)
			}
		}
	}
	return facts
}

// one returns the facts of one file, unless its name is blocked: those that are
// cached, or those that are in it. Names in read are those of earlier files. Rules
// RES-FACT-02, RES-FACT-03.
func (c *collector) one(path string, read map[string]bool) data.Value {
	name := filepath.Base(path)
	if c.o.Config.entries[name] {
		_, span := traces.Start(c.ctx, traces.File, "external facts: "+path)
		span.End("blocked", traces.Because{}, nil)
		return data.Value{}
	}
	t, caches := c.o.Config.ttl(name)
	caches = caches && c.o.CacheDir != ""
	switch {
	case caches && read[name]:
		c.sentence(path, "Caching is enabled for group %q while there are at least two external facts files with the same filename", name)
		return data.Value{}
	case caches && t.group != name:
		c.sentence(path, "Cannot cache '%s' fact from '%s' group. Caching custom group is not supported for external facts.", name, t.group)
		caches = false
	}
	read[name] = true
	if caches {
		if k := c.cached(t); k.fresh {
			return k.facts()
		}
	}
	kind := traces.File
	if isProgram(path) {
		kind = traces.Exec
	}
	_, span := traces.Start(c.ctx, kind, "external facts: "+path)
	v, err := c.file(path)
	span.End(counted(v.Len()), traces.Because{}, err)
	if err != nil {
		c.refused(path, err)
		return data.Value{}
	}
	for _, p := range v.Hash() {
		if caches {
			c.cached(t).added[strings.ToLower(p.Key.Text())] = p.Value
		}
	}
	return v
}

// FACTERLIB is a fact named lib: an accident of Facter that is kept.
var environFact = regexp.MustCompile(`(?i)^facter_?(\w+)$`)

// files returns the fact files of dir, last name first. Hidden ones are none.
func (c *collector) files(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			c.problem(dir, "%s", cause(err))
		}
		return nil
	}
	var paths []string
	for _, e := range slices.Backward(entries) {
		if !strings.HasPrefix(e.Name(), ".") {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}

// parsers are the classes of Facter that read files of facts.
var parsers = map[string]string{".yaml": "YamlParser", ".json": "JsonParser", ".txt": "TextParser"}

// refused reports a file without facts. Rule RES-FACT-05.
func (c *collector) refused(path string, err error) {
	if parser := parsers[strings.ToLower(filepath.Ext(path))]; parser != "" {
		c.sentence(path, "Failed to handle %s as LegacyFacter::Util::Parser::%s facts: %s", path, parser, err)
		return
	}
	c.problem(path, "%s", err)
}

// file returns the facts of one file, by its kind. The extension goes before
// the permission to execute. A file of no kind has no facts; one that was
// surely meant to have some is an error.
func (c *collector) file(path string) (data.Value, error) {
	ext := strings.ToLower(filepath.Ext(path))
	decode := decoders[ext]
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return data.Value{}, cause(err)
	case decode == nil && executable(info, ext):
		return c.program(path)
	case ext == ".yml":
		return data.Value{}, errors.New("not read: Facter reads .yaml, not .yml")
	case decode == nil:
		return data.Value{}, nil
	case !info.Mode().IsRegular():
		return data.Value{}, errors.New("is no regular file")
	}
	text, err := readText(path)
	if err != nil {
		return data.Value{}, err
	}
	v, err := decode(text)
	if err == nil {
		v, err = facts(v)
	}
	return v, err
}

var decoders = map[string]func(string) (data.Value, error){
	".yaml": func(s string) (data.Value, error) { return decodeYAML(quoteTimes(s), "Date") },
	".json": decodeJSON,
	".txt":  func(s string) (data.Value, error) { return pairs(s), nil },
}

// isProgram reports whether a file is run.
func isProgram(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	info, err := os.Stat(path)
	return err == nil && decoders[ext] == nil && executable(info, ext)
}

func executable(info os.FileInfo, ext string) bool {
	return info.Mode().IsRegular() && info.Mode()&0o111 != 0 && !slices.Contains([]string{".bat", ".cmd", ".com", ".exe"}, ext)
}

// facts checks what was decoded. An empty file is no problem. A list gives
// facts without values, which is how Facter takes it.
func facts(v data.Value) (data.Value, error) {
	left := maxNodes
	if err := check(v, &left); err != nil {
		return data.Value{}, err
	}
	switch v.Kind() {
	case data.Hash, data.Nil:
		return v, nil
	case data.List:
		h := make([]data.Pair, v.Len())
		for i, x := range v.List() {
			h[i].Key = data.OfString(x.Text())
		}
		return data.OfHash(h), nil
	}
	return data.Value{}, fmt.Errorf("a hash of facts was expected, got a %s", v.Kind())
}

var errNotUTF8 = errors.New("is not valid UTF-8")

// program runs an executable and reads its output as YAML, of which JSON is a
// part, or else as lines of key=value. Its exit code does not matter to
// Facter, nor here, but it is reported, as is its stderr.
func (c *collector) program(path string) (data.Value, error) {
	r := c.run(path)
	if errors.Is(r.Err, syscall.ENOEXEC) { // it names no interpreter; Ruby takes this one
		r = c.run("/bin/sh", path)
	}
	if r.Stderr != "" {
		c.sentence(path, "Command %s completed with the following stderr message: %s", path, r.Stderr)
	}
	if r.Err != nil {
		c.problem(path, "%s", cause(r.Err))
		if !r.Ended {
			return data.Value{}, nil
		}
	}
	out := strings.TrimSpace(r.Stdout)
	if !utf8.ValidString(out) {
		return data.Value{}, fmt.Errorf("its output %w", errNotUTF8)
	}
	v, err := decodeYAML(out, "Symbol", "Time")
	if err != nil || v.Kind() != data.Hash {
		v = pairs(out)
	}
	if v.Len() == 0 && out != "" {
		c.sentence(path, "Fact file %s was parsed but no key=>value data was returned", path)
	}
	return facts(v)
}

// pairs reads lines of key=value; others are left out. Blanks belong to both.
func pairs(text string) data.Value {
	h := hash{}
	at := make(map[string]int)
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		// The key has at least one letter, which may be the equals sign.
		if i := strings.IndexByte(skipFirst(line), '='); i >= 0 {
			i += len(line) - len(skipFirst(line))
			if i+1 == len(line) {
				continue
			}
			key, value := line[:i], data.OfString(line[i+1:])
			if old, ok := at[key]; ok {
				h[old].Value = value
				continue
			}
			at[key] = len(h)
			h = append(h, data.P(key, value))
		}
	}
	return data.OfHash(h)
}

func skipFirst(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[n:]
}

// quoteTimes makes strings of the times in a YAML file, which would lose their
// spelling otherwise.
func quoteTimes(s string) string { return times.ReplaceAllString(s, `"$1"`) }

var times = regexp.MustCompile(`(?m)(\d{4}-\d{1,2}-\d{1,2}(?:[Tt]|\s+)\d{1,2}:\d\d:\d\d(?:\.\d*)?(?:\s*(?:Z|[-+]\d{1,2}:?(?:\d\d)?))?\s*$)`)

func readText(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", cause(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxText+1))
	switch {
	case err != nil:
		return "", cause(err)
	case len(b) > maxText:
		return "", fmt.Errorf("larger than %d MiB", maxText>>20)
	case !utf8.Valid(b):
		return "", errNotUTF8
	}
	return string(b), nil
}

// cause drops the path of err: a Problem has one.
func cause(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
