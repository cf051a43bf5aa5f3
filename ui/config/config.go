// Package config reads the configuration of this program itself, which has
// nothing to do with Puppet's. Each value knows its source, and what it overruled.
//
// Flags are stronger than the environment, that is stronger than the file of
// the project, that is stronger than the file of the user, and that is stronger
// than what is built in:
//
//	c, err := config.Load(config.Options{User: "/home/me/.config/indirtui/config.yaml", Getenv: os.Getenv})
//	c.Theme   // "dark"
//	c.Values  // …{"theme", "dark", "config.yaml:3", overruled: auto (default)}
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"indirtui/ui/screen"
)

// A Config is what is in force. It is never changed.
type Config struct {
	Theme        string // "auto" by the environment, or one of Themes
	Glyphs       string // "auto" by the locale, "ascii", "unicode"
	Mouse        bool
	Motion       bool
	FPS          int    // frames a second at most
	Times        string // "clock" or "ago"
	Zone         *time.Location
	FunctionKeys bool
	Plain        bool
	Record       bool
	Memory       int64                      // bytes
	Rotate       int64                      // bytes of a recording's file; 0 is no limit
	Keep         int                        // files of recordings; 0 is all
	KeepSize     int64                      // bytes of them; 0 is no limit
	Keys         map[screen.Action][]string // by action
	Ruby         string                     // "off", "auto" for that in PATH, or its path
	RubyServe    bool                       // whether it runs for requests from the network, too
	Secrets      []string                   // further words that make a name a secret
	Ignore       []string                   // further paths that do not count in comparisons

	Values   []Value  // everything, in the order of the table, then the keys
	Warnings []string // what is written and does nothing
	Files    []string // that were read
}

// A Candidate is the value that one source gives.
type Candidate struct {
	Value  string `json:"value"`
	Source string `json:"place"` // "default", "~/.config/indirtui/config.yaml:3", "environment NO_COLOR", "--ascii"
}

// A Value is one key as it is in force. Lists have all their parts in force.
type Value struct {
	Key string // "theme", "keys.follow"
	Candidate
	Overruled []Candidate // strongest first
	Doc       string
}

// A Flag is one that was given on the command line.
type Flag struct{ Key, Value, Text string } // "glyphs", "ascii", "--ascii"

// Options are where Load looks. What is empty is not looked at.
type Options struct {
	User    string // file
	Project string // file
	Getenv  func(name string) string
	Flags   []Flag
}

// A key is one line of the table, with all that is known about it.
type key struct {
	name, def, doc string
	list           bool                        // each source adds to it
	env            []string                    // further variables that decide it, see fromEnvironment
	read           func(*Config, string) error // checks a value, and puts it in force
}

// runsPrograms are keys that let programs run. A project is not asked for them: to change
// into the directory of a stranger would be enough to run what is in it.
var runsPrograms = []string{"ruby", "ruby-serve"}

// Themes are the sets of colours that there are.
func Themes() []string { return []string{"auto", "terminal", "dark", "light", "mono", "none"} }

// table is every key that there is, but those of keys.
var table = []key{
	{
		"theme", "auto", "colours: auto (as the terminal says), terminal (its own sixteen), dark or light (24 bits, for that background), mono (bold and underline only), none", false,
		[]string{"NO_COLOR"},
		func(c *Config, s string) error { return oneOf(&c.Theme, s, Themes()) },
	},
	{
		"glyphs", "auto", "lines and bars: auto (as the locale says), ascii, unicode", false, nil,
		func(c *Config, s string) error { return oneOf(&c.Glyphs, s, []string{"auto", "ascii", "unicode"}) },
	},
	{
		"mouse", "true", "whether clicks and the wheel are for the program; false leaves them to the terminal", false, nil,
		func(c *Config, s string) error { return truth(&c.Mouse, s) },
	},
	{
		"motion", "true", "whether a sign turns while something takes long; false leaves only the seconds", false, nil,
		func(c *Config, s string) error { return truth(&c.Motion, s) },
	},
	{"fps", "30", "frames a second at most, 1 to 60; 5 is good for slow lines", false, nil, readFPS},
	{
		"times", "clock", "times in lists: clock (of the day) or ago; t changes it", false, nil,
		func(c *Config, s string) error { return oneOf(&c.Times, s, []string{"clock", "ago"}) },
	},
	{"zone", "local", "time zone of what is shown: local, UTC, or a name as Europe/Berlin", false, nil, readZone},
	{
		"function-keys", "false", "while a request is held F5 continues, F10 steps over, F11 steps", false, nil,
		func(c *Config, s string) error { return truth(&c.FunctionKeys, s) },
	},
	{
		"plain", "false", "draw nothing: lines of text, for screen readers", false, nil,
		func(c *Config, s string) error { return truth(&c.Plain, s) },
	},
	{
		"record", "true", "whether sessions are recorded by themselves; --record FILE does it always", false, nil,
		func(c *Config, s string) error { return truth(&c.Record, s) },
	},
	{"memory", "256M", "what may be kept in memory, 64M to 64G; the oldest goes first, and is counted", false, nil, readMemory},
	{
		"rotate", "256M", "how large a file of a recording gets, 1M to 64G, until a new one is begun; 0 is no limit", false, nil,
		func(c *Config, s string) error { return readSize(&c.Rotate, s) },
	},
	{"keep", "20", "how many files of recordings that are made by themselves stay; 0 is all", false, nil, readKeep},
	{
		"keep-size", "2G", "how large these files are together, 1M to 64G; 0 is no limit", false, nil,
		func(c *Config, s string) error { return readSize(&c.KeepSize, s) },
	},
	{
		"ruby", "resources", "what Ruby may run: resources (those whose types or providers are written in Ruby, by Puppet), auto (also functions, templates and custom facts that modules bring, by ruby in PATH), the path of an interpreter for all of these, or never", false, nil,
		readRuby,
	},
	{
		"ruby-serve", "false", "whether serve does so for agents, too; its own --ruby does it once", false, nil,
		func(c *Config, s string) error { return truth(&c.RubyServe, s) },
	},
	{"mask", "", "further words that make a name a secret, beside password, token and the like", true, nil, readSecrets},
	{
		"ignore", "", "further paths that do not count in comparisons; * is any text", true, nil,
		func(c *Config, s string) error {
			if !strings.HasPrefix(s, ".") {
				return fmt.Errorf("%q is no path: it begins with a dot, as in .parameters.uptime", s)
			}
			c.Ignore = append(c.Ignore, s)
			return nil
		},
	},
}

// keysDoc documents keys.
const keysDoc = "keys of an action, instead of the built-in ones; indirtui config keys lists the actions"

// Keys returns the names of all keys, in order.
func Keys() []string {
	names := make([]string, 0, len(table)+1)
	for _, k := range table {
		names = append(names, k.name)
	}
	return append(names, "keys")
}

func oneOf(to *string, s string, all []string) error {
	if !slices.Contains(all, s) {
		return fmt.Errorf("%q is not one of %s", s, strings.Join(all, ", "))
	}
	*to = s
	return nil
}

func truth(to *bool, s string) error {
	switch s {
	case "true", "on", "yes":
		*to = true
	case "false", "off", "no":
		*to = false
	default:
		return fmt.Errorf("%q is neither true nor false", s)
	}
	return nil
}

func readFPS(c *Config, s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 60 {
		return fmt.Errorf("%q is no number from 1 to 60", s)
	}
	c.FPS = n
	return nil
}

func readZone(c *Config, s string) error {
	name := s
	if s == "local" {
		name = "Local"
	}
	zone, err := time.LoadLocation(name)
	if err != nil || s == "" {
		return fmt.Errorf("%q is no time zone that this host knows: write local, UTC, or a name as Europe/Berlin", s)
	}
	c.Zone = zone
	return nil
}

// Limits of what may be kept in memory.
const (
	minMemory = 64 << 20
	maxMemory = 64 << 30
)

func readMemory(c *Config, s string) error {
	n, ok := bytesOf(s)
	if !ok || n < minMemory {
		return fmt.Errorf("%q is no size from 64M to 64G, as in 512M", s)
	}
	c.Memory = n
	return nil
}

// bytesOf returns the bytes of "512M".
func bytesOf(s string) (int64, bool) {
	digits := strings.TrimRight(s, "MG")
	n, err := strconv.ParseInt(digits, 10, 64)
	unit, known := map[string]int64{"M": 1 << 20, "G": 1 << 30}[s[len(digits):]]
	if err != nil || !known || n < 1 || n > maxMemory/unit {
		return 0, false
	}
	return n * unit, true
}

func readSize(to *int64, s string) error {
	n, ok := bytesOf(s)
	if !ok && s != "0" {
		return fmt.Errorf("%q is no size from 1M to 64G, as in 512M, nor 0", s)
	}
	*to = n
	return nil
}

func readKeep(c *Config, s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 1_000_000 {
		return fmt.Errorf("%q is no number of files", s)
	}
	c.Keep = n
	return nil
}

func readRuby(c *Config, s string) error {
	if !slices.Contains([]string{"resources", "auto", "never", "off"}, s) && !filepath.IsAbs(s) {
		return fmt.Errorf("%q is neither auto nor never nor resources nor a path that begins with a slash", s)
	}
	c.Ruby = s
	return nil
}

func readSecrets(c *Config, s string) error {
	if len(s) < 3 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") != "" {
		return fmt.Errorf("%q is no word: write three or more of letters, digits, dots and _ -", s)
	}
	c.Secrets = append(c.Secrets, s)
	return nil
}

// A given is what one source gives for a key: one value, or several for lists
// and for the keys of an action.
type given struct {
	key    string
	values []string
	source string
	file   string // where it is, for errors; "" if it is in none
	line   int
}

// A ValueError reports a value that is no good, or a file that cannot be read.
type ValueError struct {
	Source string // "/home/me/.config/indirtui/config.yaml:3"
	Key    string // "" if it is about the file
	Text   string
}

func (e *ValueError) Error() string {
	if e.Key == "" {
		return e.Source + ": " + e.Text
	}
	return e.Source + ": " + e.Key + ": " + e.Text
}

// Load reads all sources. Unknown keys are Warnings. The error joins a *ValueError
// for each value that is no good; the Config is then made of the others.
func Load(o Options) (*Config, error) {
	c := &Config{Keys: map[screen.Action][]string{}}
	var all []given // strongest first
	var errs []error
	for _, f := range o.Flags {
		all = append(all, given{key: f.Key, values: []string{f.Value}, source: f.Text})
	}
	if o.Getenv != nil {
		all = append(all, fromEnvironment(o.Getenv)...)
	}
	for _, path := range []string{o.Project, o.User} {
		if path == "" {
			continue
		}
		data, err := readFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			errs = append(errs, &ValueError{Source: path, Text: err.Error()})
			continue
		}
		c.Files = append(c.Files, path)
		found, problems := Parse(path, data)
		errs = append(errs, problems...)
		for _, s := range found {
			text := unknown(s)
			if path == o.Project && slices.Contains(runsPrograms, s.key) {
				text = s.key + " lets programs run, so it does not count in the file of a project: write it to your own"
			}
			if text != "" {
				c.Warnings = append(c.Warnings, fmt.Sprintf("%s: %s", s.source, text))
				continue
			}
			all = append(all, s)
		}
	}
	for _, k := range table {
		errs = append(errs, c.settle(k, all)...)
	}
	errs = append(errs, c.settleKeys(all)...)
	return c, errors.Join(errs...)
}

// settle puts the strongest candidate of a key in force, or all of a list. What
// is no good is an error even if it is overruled.
func (c *Config) settle(k key, all []given) (errs []error) {
	v := Value{Key: k.name, Doc: k.doc}
	won := false
	var parts, sources []string
	for _, s := range all {
		if s.key != k.name {
			continue
		}
		for _, value := range s.values {
			scratch := new(Config)
			if err := k.read(scratch, value); err != nil {
				errs = append(errs, &ValueError{s.source, k.name, err.Error()})
				continue
			}
			switch {
			case k.list && slices.Contains(parts, value):
			case k.list:
				_ = k.read(c, value) // it was read before
				parts = append(parts, value)
				if !slices.Contains(sources, s.source) {
					sources = append(sources, s.source)
				}
			case !won:
				_ = k.read(c, value)
				v.Candidate, won = Candidate{value, s.source}, true
			default:
				v.Overruled = append(v.Overruled, Candidate{value, s.source})
			}
		}
	}
	switch {
	case k.list:
		v.Candidate = Candidate{strings.Join(parts, ", "), cmp.Or(strings.Join(sources, ", "), "default")}
	case won:
		v.Overruled = append(v.Overruled, Candidate{k.def, "default"})
	default:
		_ = k.read(c, k.def) // it is good
		v.Candidate = Candidate{k.def, "default"}
	}
	c.Values = append(c.Values, v)
	return errs
}

// settleKeys does that for the keys of each action.
func (c *Config) settleKeys(all []given) (errs []error) {
	by := map[string]*Value{}
	for _, s := range all {
		action, is := strings.CutPrefix(s.key, "keys.")
		if !is {
			continue
		}
		for _, k := range s.values {
			if k == "" || k != " " && strings.ContainsAny(k, " \t\n") {
				errs = append(errs, &ValueError{s.source, s.key, fmt.Sprintf("%q is no key: write a character, space, or a name as ctrl+x or f5", k)})
			}
		}
		candidate := Candidate{strings.Join(named(s.values), " "), s.source}
		if v := by[action]; v != nil {
			v.Overruled = append(v.Overruled, candidate)
			continue
		}
		by[action] = &Value{Key: s.key, Candidate: candidate, Doc: keysDoc}
		c.Keys[screen.Action(action)] = s.values
	}
	for _, action := range slices.Sorted(maps.Keys(by)) {
		c.Values = append(c.Values, *by[action])
	}
	return errs
}

func named(keys []string) []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = screen.KeyName(k)
	}
	return out
}

// fromEnvironment is what the environment gives: INDIRTUI_FPS and so on, and the
// variables that others have too.
func fromEnvironment(getenv func(string) string) []given {
	var all []given
	for _, k := range table {
		name := "INDIRTUI_" + strings.ToUpper(strings.ReplaceAll(k.name, "-", "_"))
		if value := getenv(name); value != "" {
			values := []string{value}
			if k.list {
				values = strings.Split(value, ",")
			}
			all = append(all, given{key: k.name, values: values, source: "environment " + name})
		}
		for _, name := range k.env {
			if getenv(name) != "" {
				all = append(all, given{key: k.name, values: []string{"mono"}, source: "environment " + name})
			}
		}
	}
	return all
}

// maxFile is the largest file that is read, in bytes.
const maxFile = 1 << 20

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a file")
	case info.Size() > maxFile:
		return nil, fmt.Errorf("it has more than %d bytes", maxFile)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile))
}

// ProjectFile is the name of the file of a project.
const ProjectFile = ".indirtui.yaml"

// UserFile returns where the file of the user is, whether it is there or not:
// "" if there is no such directory. (XDG base directories.)
func UserFile(getenv func(string) string) string {
	dir := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home := getenv("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "indirtui", "config.yaml")
}

// FindProject returns the file of the project that dir is in, or "": the
// nearest at or above it. It is not looked for above a directory with .git, nor
// above the home directory.
func FindProject(dir, home string) string {
	for {
		path := filepath.Join(dir, ProjectFile)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
		up := filepath.Dir(dir)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || up == dir || dir == home {
			return ""
		}
		dir = up
	}
}
