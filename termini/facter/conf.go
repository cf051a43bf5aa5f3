package facter

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/format/hocon"
)

// A Config is what a facter.conf asks for. The zero value asks for nothing. It is
// not changed once it is read.
type Config struct {
	ExternalDirs []string // instead of those of Facter; none keep these
	CustomDirs   []string
	HideLegacy   bool      // unless a caller wants legacy facts
	Problems     []Problem // what is wrong with the file

	path     string
	blocked  *regexp.Regexp  // names of facts that are blocked; nil is none
	began    *regexp.Regexp  // what the names of blocked legacy facts begin with
	entries  map[string]bool // names that are blocked as they are written: those of files
	noLegacy bool            // all legacy facts are blocked
	dots     bool            // points in names lead into hashes
	ttls     []ttl           // by name of fact, the last first
}

// A ttl is how long a fact is cached, and in which file.
type ttl struct {
	fact, group string
	keep        time.Duration
	unknown     bool // the unit is none; nothing is cached
}

// DefaultConfig returns the path of the first facter.conf there is, that of
// Puppet's packages before that of Debian's; "" if there is none. Rule
// RES-FACT-01.
func DefaultConfig() string {
	for _, path := range []string{"/etc/puppetlabs/facter/facter.conf", "/etc/facter/facter.conf"} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// ReadConfig reads a facter.conf. One that cannot be read asks for nothing, as
// does one that is broken, which is a Problem. Rules RES-FACT-01, RES-FACT-04.
func ReadConfig(path string) *Config {
	cfg := &Config{path: path}
	if path == "" {
		return cfg
	}
	text, err := readText(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return cfg
	}
	v := data.Value{}
	if err == nil {
		v, err = hocon.Decode(text)
	}
	if err != nil {
		cfg.problem("Facter failed to read config file %s with the following error: %s", path, err)
		return cfg
	}
	global, facts := v.Get("global"), v.Get("facts")
	cfg.ExternalDirs, cfg.CustomDirs = texts(global.Get("external-dir")), texts(global.Get("custom-dir"))
	show := global.Get("show-legacy")
	cfg.HideLegacy = !show.IsNil() && !isTrueValue(show)
	cfg.dots = isTrueValue(global.Get("force-dot-resolution"))
	groups := cfg.groups(v.Get("fact-groups"))
	cfg.block(facts.Get("blocklist"), groups)
	cfg.cache(facts.Get("ttls"), groups)
	return cfg
}

func (cfg *Config) problem(format string, args ...any) {
	cfg.Problems = append(cfg.Problems, Problem{cfg.path, fmt.Sprintf(format, args...), true})
}

func isTrueValue(v data.Value) bool { return v.Kind() == data.Bool && v.Bool() }

// texts is a text, or those of a list.
func texts(v data.Value) []string {
	if v.Kind() == data.String {
		return []string{v.Str()}
	}
	var all []string
	for _, x := range v.List() {
		all = append(all, x.Text())
	}
	return all
}

// groups returns all groups, with those of the file over Facter's.
func (cfg *Config) groups(own data.Value) map[string][]string {
	groups := map[string][]string{"legacy": legacyNames()}
	for name, facts := range factGroups {
		groups[name] = strings.Fields(facts)
	}
	for _, p := range own.Hash() {
		groups[p.Key.Text()] = texts(p.Value)
	}
	return groups
}

// block reads the blocklist. Its names are expressions, as they are for Facter;
// what is no expression is a name. Rule RES-FACT-02.
func (cfg *Config) block(list data.Value, groups map[string][]string) {
	if !list.IsNil() && list.Kind() != data.List {
		cfg.problem("the blocklist of %s is no list, but a %s: nothing is blocked", cfg.path, list.Kind())
	}
	var parts []string
	cfg.entries = map[string]bool{}
	for _, entry := range texts(data.OfList(list.List())) {
		if entry == "legacy" {
			cfg.noLegacy = true
			continue
		}
		facts, known := groups[entry]
		if !known {
			facts = []string{entry}
		}
		for _, name := range facts {
			if cfg.entries[name] {
				continue
			}
			cfg.entries[name] = true
			if _, err := regexp.Compile(name); err != nil {
				name = regexp.QuoteMeta(name)
			}
			parts = append(parts, "(?:"+name+")")
		}
	}
	if parts == nil {
		return
	}
	names := strings.Join(parts, "|")
	whole, err := regexp.Compile(`^(?:` + names + `)(?:\..*)?$`)
	if err != nil {
		cfg.problem("the blocklist of %s is too large: nothing is blocked: %s", cfg.path, err)
		return
	}
	cfg.blocked, cfg.began = whole, regexp.MustCompile(`^(?:`+names+`)`)
}

// cache reads the ttls. Of two groups with the same fact the longer one counts.
// Rule RES-FACT-03.
func (cfg *Config) cache(list data.Value, groups map[string][]string) {
	var merged hash // the last of a name counts
	for _, x := range list.List() {
		for _, p := range x.Hash() {
			merged.put(p.Key.Text(), p.Value)
		}
	}
	longest := map[string]ttl{}
	for _, p := range merged {
		group := p.Key.Str()
		keep, known := cfg.duration(p.Value.Text())
		facts, isGroup := groups[group]
		if !isGroup {
			facts = []string{group}
		}
		for _, fact := range facts {
			if old, ok := longest[fact]; !isGroup || !ok || !old.unknown && old.keep < keep {
				longest[fact] = ttl{fact, group, keep, !known}
			}
		}
	}
	for _, fact := range slices.Backward(slices.Sorted(maps.Keys(longest))) {
		cfg.ttls = append(cfg.ttls, longest[fact])
	}
}

var (
	units = map[string]time.Duration{
		"ns": 1, "nanos": 1, "nanoseconds": 1, "us": time.Microsecond, "micros": time.Microsecond, "microseconds": time.Microsecond,
		"": time.Millisecond, "ms": time.Millisecond, "milis": time.Millisecond, "milliseconds": time.Millisecond,
		"s": time.Second, "seconds": time.Second, "m": time.Minute, "minutes": time.Minute,
		"h": time.Hour, "hours": time.Hour, "d": 24 * time.Hour, "days": 24 * time.Hour,
	}
	leading = regexp.MustCompile(`^\s*-?\d+`)
)

const unitNames = "ns, nanos, nanoseconds, us, micros, microseconds, ms, milis, milliseconds, s, seconds, m, minutes, h, hours, d, days"

// duration reads "30 days" as Facter does, in whole seconds. Rule RES-FACT-03.
func (cfg *Config) duration(s string) (d time.Duration, known bool) {
	number, unit, _ := strings.Cut(strings.TrimSpace(s), " ")
	unit = strings.TrimSpace(unit)
	if len(unit) > 2 && !strings.HasSuffix(unit, "s") {
		unit += "s"
	}
	scale, known := units[unit]
	if !known {
		cfg.problem("Could not parse time unit %s (try %s)", unit, unitNames)
		return 0, false
	}
	n, _ := strconv.ParseInt(strings.TrimSpace(leading.FindString(number)), 10, 64)
	const most = 1 << 62 // nanoseconds, more than a hundred years
	if n > int64(most/scale) {
		return most, true
	}
	return max(time.Duration(n)*scale, 0).Truncate(time.Second), true
}

// rules reports whether anything is blocked or cached.
func (cfg *Config) rules() bool {
	return cfg.blocked != nil || cfg.noLegacy || len(cfg.ttls) > 0
}

// hides reports whether a fact is blocked. Rule RES-FACT-02.
func (cfg *Config) hides(name string) bool {
	return cfg.blocked != nil && cfg.blocked.MatchString(name)
}

// hidesLegacy reports whether a legacy fact is blocked: all that begin as an entry
// are.
func (cfg *Config) hidesLegacy(name string) bool {
	return cfg.noLegacy || cfg.began != nil && cfg.began.MatchString(name)
}

// ttl returns how long a fact, or a file of this name, is cached.
func (cfg *Config) ttl(name string) (ttl, bool) {
	for _, t := range cfg.ttls {
		if t.fact == name {
			return t, !t.unknown
		}
	}
	for _, t := range cfg.ttls {
		if strings.HasPrefix(name, t.fact+".") {
			return t, !t.unknown
		}
	}
	return ttl{}, false
}
