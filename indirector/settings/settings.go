// Package settings reads Puppet's settings as Puppet 7 and 8 do, each with its
// source.
//
// A setting can be given on the command line, in puppet.conf, in the
// environment.conf of the environment, by the application and by Puppet's own
// defaults. [Load] reads all of them once; its result never changes:
//
//	s, err := settings.Load(settings.Options{ConfDir: "/etc/puppetlabs/puppet", RunMode: "agent"})
//	value, source := s.Get("node_terminus") // "rest", "puppet.conf:7 [agent]"
//
// All other candidates are kept too, see [Setting]: those overruled and those
// not even read.
package settings

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"indirtui/traces/spell"
)

// An Override is a setting given on the command line.
type Override struct {
	Name, Value string
	Source      string // "" is "--set"
}

// Options are the options of Load. The zero value reads the settings of a user
// other than root without a home directory; see Process for those of this
// process.
type Options struct {
	ConfDir     string // --confdir; "" is the default of the user
	VarDir      string // --vardir; "" is the default of the user
	RunMode     string // "agent", "server" (or "master"), "user"; "" is "user"
	Environment string // --environment; "" is the setting
	Overrides   []Override

	Application         string            // "agent", "apply", …; "" is none
	ApplicationDefaults map[string]string // the application's own, weaker than puppet.conf

	Root     bool          // whether the system's directories are the default
	Home     string        // home directory, for defaults of other users and ~
	Dir      string        // what relative paths are relative to; "" is /
	Layout   Layout        // whose defaults apply
	Certname func() string // full name of this host; nil is asking the system
	Define   []Definition  // further settings that are known, as of one's own termini
}

// Process returns Options for the user and the host of this process.
func Process() Options {
	home, _ := os.UserHomeDir()
	dir, _ := os.Getwd()
	return Options{Root: os.Geteuid() == 0, Home: home, Dir: dir}
}

// Settings are the settings of one run mode and application. They are safe for
// concurrent use.
type Settings struct {
	options     Options
	directories directories
	file        string // of puppet.conf
	known       []Definition
	index       map[string]int // into known
	layers      []layer        // strongest first; see order
	values      map[string]Setting
	unknown     []string
	warnings    []Warning

	fileWarnings []Warning // about puppet.conf, which every environment shares
}

// A layer is one source of values.
type layer struct {
	values map[string][]candidate // by setting, strongest first
}

// A candidate is one candidate for the value of a setting.
type candidate struct {
	value raw
	Assignment
}

// An Assignment is a value for a setting from one source.
type Assignment struct {
	Value   string // as written
	Source  string // "puppet.conf:7 [agent]", "--set", "application agent", "environment production", "storeconfigs", "default"
	File    string // full path; "" if it is not in a file
	Line    int
	Section string
	Why     string // why it is not looked at; "" if it is only weaker
}

// A Setting is the value of a setting and how it came about.
type Setting struct {
	Definition
	Known      bool   // false: not defined, only found in a file
	Value      string // interpolated and in the form that Puppet prints; "" is also nothing
	Err        error  // why it has no value: Value is then the text as written
	Assignment        // the one that counts; its Value is hidden by the field above: see Raw
	Raw        string // as written, before interpolation
	Overruled  []Assignment

	kind kind // of the value
}

// Load reads the settings. That there is no puppet.conf is fine. If it cannot
// be understood the error is a ParseError, and the Settings are those without
// the file, which is what Puppet goes on with. Any other error comes without
// Settings. Values that are no good are no error: see Setting.Err and Warnings.
func Load(o Options) (*Settings, error) {
	o.RunMode = cmp.Or(o.RunMode, "user")
	if !slices.Contains([]string{"agent", "server", "master", "user"}, o.RunMode) {
		return nil, fmt.Errorf("invalid run mode %q; known are agent, server and user", o.RunMode)
	}
	o.Dir = cmp.Or(o.Dir, "/")
	if o.Certname == nil {
		o.Certname = sync.OnceValue(func() string {
			host, domain := hostname()
			return strings.TrimSuffix(host+"."+domain, ".")
		})
	}
	s := &Settings{options: o, directories: o.Layout.directories(o), index: map[string]int{}}
	s.known = append(definitions[:len(definitions):len(definitions)], o.Define...)
	for i, d := range s.known {
		if _, ok := s.index[d.Name]; !ok {
			s.index[d.Name] = i
		}
	}
	line, err := s.commandLine()
	if err != nil {
		return nil, err
	}
	application, defaults := s.application(), s.defaults()

	s.layers = []layer{line, application, defaults}
	config := s.resolver().resolve("config")
	if config.err != nil {
		return nil, fmt.Errorf("find the configuration file: %w", config.err)
	}
	s.file = config.text
	puppetConf, err := s.readFile()
	var bad *ParseError
	if err != nil && !errors.As(err, &bad) {
		return nil, err
	}
	s.layers = []layer{line, puppetConf, application, defaults}
	hook := s.storeconfigs()
	s.layers = []layer{line, puppetConf, application, hook, defaults}
	s.layers = []layer{line, {}, puppetConf, application, hook, defaults}
	return s.In(s.resolver().resolve("environment").text), err
}

// In returns the settings in another environment, with its environment.conf.
func (s *Settings) In(environment string) *Settings {
	t := *s
	t.layers = slices.Clone(s.layers)
	t.layers[1] = layer{}
	t.warnings = slices.Clone(s.fileWarnings)
	t.unknown = nil
	t.layers[1] = t.environment(environment)
	t.settle()
	return &t
}

func (s *Settings) definition(name string) *Definition {
	if i, ok := s.index[name]; ok {
		return &s.known[i]
	}
	return nil
}

// commandLine is the strongest layer. Of two that give the same setting the
// later one counts.
func (s *Settings) commandLine() (layer, error) {
	o := &s.options
	given := o.Overrides
	for _, flag := range []Override{{"confdir", o.ConfDir, "--confdir"}, {"vardir", o.VarDir, "--vardir"}, {"environment", o.Environment, "--environment"}} {
		if flag.Value != "" {
			given = append([]Override{flag}, given...)
		}
	}
	l := layer{map[string][]candidate{}}
	for _, g := range slices.Backward(given) {
		if s.definition(g.Name) == nil {
			return l, &UnknownError{cmp.Or(g.Source, "--set"), g.Name, s.didYouMean(g.Name)}
		}
		l.add(g.Name, translate(g.Value), Assignment{Value: g.Value, Source: cmp.Or(g.Source, "--set")})
	}
	return l, nil
}

// An UnknownError reports an override of an unknown setting.
type UnknownError struct {
	Source string // of the override: "--set"
	Name   string
	hint   string
}

func (e *UnknownError) Error() string { return e.Source + ": " + e.What() }

// What returns the message without the source.
func (e *UnknownError) What() string { return fmt.Sprintf("there is no setting %q%s", e.Name, e.hint) }

func (l layer) add(name string, v raw, a Assignment) {
	l.values[name] = append(l.values[name], candidate{v, a})
}

func (s *Settings) didYouMean(name string) string {
	if n := spell.Nearest(name, slices.Collect(maps.Keys(s.index))); n != "" {
		return fmt.Sprintf("; did you mean %q?", n)
	}
	return ""
}

func (s *Settings) application() layer {
	l := layer{map[string][]candidate{}}
	for name, value := range s.options.ApplicationDefaults {
		l.add(name, raw{value, text}, Assignment{Value: value, Source: "application " + s.options.Application})
	}
	return l
}

func (s *Settings) defaults() layer {
	l := layer{map[string][]candidate{}}
	for _, d := range s.known {
		v := raw{d.Default, text}
		switch dir, ok := s.directories[d.Name]; {
		case d.Default == none:
			v = raw{}
		case d.Default == computed && ok && d.Name != "cadir":
			v.text = dir
		case d.Default == computed:
			v = raw{kind: later}
		}
		l.add(d.Name, v, Assignment{Value: v.text, Source: "default"})
	}
	return l
}

// readFile reads puppet.conf. With a ParseError the layer is empty.
func (s *Settings) readFile() (layer, error) {
	l := layer{map[string][]candidate{}}
	data, err := readFile(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, fmt.Errorf("read the settings: %w", err)
	}
	entries, err := parse(s.file, data, sections)
	if err != nil {
		return l, err
	}
	for _, e := range entries {
		if slices.Contains(environmentOnly, e.name) {
			return l, &ParseError{s.file, e.line, fmt.Sprintf(msgForbidden, e.name)}
		}
	}
	s.fileWarnings = s.checkEntries(entries)
	order := map[string]int{"server": 1, "master": 2, "main": 3}
	if s.options.RunMode == "agent" || s.options.RunMode == "user" {
		order = map[string]int{s.options.RunMode: 1, "main": 3}
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Compare(cmp.Or(order[a.section], 9), cmp.Or(order[b.section], 9))
	})
	first := map[[2]string]int{}
	for _, e := range entries {
		a := Assignment{Value: e.value.text, Source: source(s.file, e), File: s.file, Line: e.line, Section: e.section}
		key := [2]string{e.section, e.name}
		switch {
		case order[e.section] == 0:
			a.Why = fmt.Sprintf("section [%s] is not for run mode %s", e.section, s.options.RunMode)
		case first[key] != 0:
			a.Why = fmt.Sprintf("line %d of the same section comes first", first[key])
		default:
			first[key] = e.line
		}
		l.add(e.name, e.value, a)
	}
	return l, nil
}

// storeconfigs is a layer because turning that setting on changes the default
// of another one. Rule IND-SEL-10.
func (s *Settings) storeconfigs() layer {
	l := layer{map[string][]candidate{}}
	if v := s.resolver().resolve("storeconfigs"); v.err == nil && v.text == "true" {
		l.add("catalog_cache_terminus", raw{"store_configs", text}, Assignment{Value: "store_configs", Source: "storeconfigs"})
	}
	return l
}

// candidates returns all candidates for a setting, strongest first. Those that
// do not apply have a Why.
func (s *Settings) candidates(name string) []candidate {
	var all []candidate
	for _, l := range s.layers {
		all = append(all, l.values[name]...)
	}
	if d := s.definition(name); d != nil && d.Type == "alias" {
		all = all[:len(all)-1] // its own default is nothing
		for _, c := range s.candidates(d.Values[0]) {
			if c.Source != "default" {
				c.Source += " " + d.Values[0]
			}
			all = append(all, c)
		}
	}
	return all
}

func (s *Settings) winner(name string) candidate {
	for _, c := range s.candidates(name) {
		if c.Why == "" {
			return c
		}
	}
	return candidate{}
}

// settle works out all values.
func (s *Settings) settle() {
	r := s.resolver()
	s.values = make(map[string]Setting, len(s.known))
	for _, d := range s.known {
		s.values[d.Name] = s.setting(r, d, true)
	}
	for _, l := range s.layers {
		for name := range l.values {
			if _, ok := s.values[name]; !ok {
				s.unknown = append(s.unknown, name)
				s.values[name] = s.setting(r, Definition{Name: name, Type: "string"}, false)
			}
		}
	}
	slices.Sort(s.unknown)
	s.checkValues()
}

func (s *Settings) setting(r *resolver, d Definition, known bool) Setting {
	v := r.resolve(d.Name)
	set := Setting{Definition: d, Known: known, Value: v.text, Err: v.err, kind: v.kind}
	won := false
	for _, c := range s.candidates(d.Name) {
		if !won && c.Why == "" {
			won, set.Assignment, set.Raw = true, c.Assignment, c.Assignment.Value
			continue
		}
		set.Overruled = append(set.Overruled, c.Assignment)
	}
	if d.Name == "certname" && v.err == nil && v.text != strings.ToLower(v.text) {
		set.Err = errorf(msgCertname)
	}
	if set.Default == none || set.Default == computed {
		set.Default = s.directories[d.Name]
	}
	return set
}

// Get returns the value of a setting and its source: "default", "puppet.conf:7
// [agent]", "application agent", "--set". Both are "" for an unknown setting
// that no file mentions. An invalid value is the text as written.
func (s *Settings) Get(name string) (value, source string) {
	set := s.values[name]
	return set.Value, set.Source
}

// Setting returns all that is known of a setting, and whether there is such a
// setting.
func (s *Settings) Setting(name string) (Setting, bool) {
	set, ok := s.values[name]
	return set, ok
}

// All returns the known settings in Puppet's order, then the unknown ones that
// a file mentions by name. The slice is the caller's.
func (s *Settings) All() []Setting {
	all := make([]Setting, 0, len(s.values))
	for i, d := range s.known {
		if s.index[d.Name] == i {
			all = append(all, s.values[d.Name])
		}
	}
	for _, name := range s.unknown {
		all = append(all, s.values[name])
	}
	return all
}

// RunMode returns the run mode: "agent", "server", "master" or "user".
func (s *Settings) RunMode() string { return s.options.RunMode }

// Duration returns the value of a setting of durations; nothing is zero,
// unlimited the longest duration there is.
func (s *Settings) Duration(name string) (time.Duration, error) {
	set, ok := s.values[name]
	switch {
	case !ok:
		return 0, fmt.Errorf("there is no setting %q%s", name, s.didYouMean(name))
	case set.Err != nil:
		return 0, fmt.Errorf("setting %s (%s): %w", name, set.Source, set.Err)
	case set.Value == "":
		return 0, nil
	case set.Value == "unlimited":
		return math.MaxInt64, nil
	}
	seconds, ok := parseDuration(raw{set.Value, text})
	if !ok {
		return 0, fmt.Errorf("setting %s (%s): %q is no duration such as 30m", name, set.Source, set.Value)
	}
	return time.Duration(seconds) * time.Second, nil
}
