package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// environmentOnly are settings that puppet.conf may not have.
var environmentOnly = []string{"modulepath", "manifest", "config_version"}

// environmentConf are settings that environment.conf may have.
var environmentConf = append(slices.Clone(environmentOnly), "environment_timeout", "environment_data_provider", "static_catalogs", "rich_data")

// noManifest is the setting manifest of an environment that has none.
const noManifest = "no_manifest"

// Internal reports whether an environment is there even without a directory: production
// is, as long as it is the one that is configured. It has the modules that every
// environment has, and no manifest. Source: Puppet.base_context.
func Internal(configured, name string) bool { return name == "production" && name == configured }

// environment returns the layer of an environment: its directory and its
// environment.conf. Without the directory the layer is empty, but for an internal one.
func (s *Settings) environment(name string) layer {
	l := layer{map[string][]candidate{}}
	r := s.resolver()
	path := r.resolve("environmentpath").text
	dir := environmentDir(path, name)
	if dir == "" {
		if Internal(r.resolve("environment").text, name) {
			from := Assignment{Source: "environment " + name + ", which has no directory"}
			for _, v := range [][2]string{{"modulepath", "$basemodulepath"}, {"manifest", noManifest}} {
				from.Value = v[1]
				l.add(v[0], raw{from.Value, text}, from)
			}
		}
		return l
	}
	entries := s.environmentEntries(filepath.Join(dir, "environment.conf"))
	for _, e := range entries {
		v := e.value
		switch {
		case v.kind == boolean:
		case e.name == "modulepath":
			v.text = modulePath(dir, v.text)
		case e.name == "manifest", e.name == "config_version":
			v.text = inside(dir, v.text)
		}
		a := Assignment{Value: e.value.text, Source: source(filepath.Join(dir, "environment.conf"), e), File: filepath.Join(dir, "environment.conf"), Line: e.line, Section: e.section}
		if e.name == "manifest" && r.resolve("disable_per_environment_manifest").text == "true" {
			a.Why = "disable_per_environment_manifest is true"
		}
		if len(l.values[e.name]) > 0 {
			a.Why = "an earlier line comes first"
		}
		l.add(e.name, v, a)
	}
	from := Assignment{Source: "environment " + name, File: dir}
	from.Value = filepath.Join(dir, "modules") + ":$basemodulepath"
	l.add("modulepath", raw{from.Value, text}, from)
	from.Value = r.resolve("default_manifest").text
	l.add("manifest", raw{inside(dir, from.Value), text}, from)
	return l
}

// EnvironmentDir returns the directory of the environment, or "" if there is none.
func (s *Settings) EnvironmentDir() string {
	path, _ := s.Get("environmentpath")
	name, _ := s.Get("environment")
	return environmentDir(path, name)
}

// environmentDir is the first directory of the environment, or "".
func environmentDir(path, name string) string {
	if !isWord(name) {
		return ""
	}
	for base := range strings.SplitSeq(path, ":") {
		dir := filepath.Join(base, name)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
	}
	return ""
}

func (s *Settings) environmentEntries(file string) []entry {
	data, err := readFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var entries []entry
	if err == nil {
		entries, err = parse(file, data, nil)
	}
	if err != nil {
		s.warn(Warning{ID: BadFile, File: file, Text: fmt.Sprintf("read the settings of the environment: %v", err)})
		return nil
	}
	return slices.DeleteFunc(entries, func(e entry) bool {
		w := Warning{ID: Ignored, Source: source(file, e), File: file, Line: e.line}
		switch {
		case e.section != "main":
			w.Text = fmt.Sprintf("%s is ignored: environment.conf may not have sections", e.name)
		case !slices.Contains(environmentConf, e.name):
			w.Text = fmt.Sprintf("%s is ignored: environment.conf has only %s", e.name, strings.Join(environmentConf, ", "))
		default:
			return false
		}
		s.warn(w)
		return true
	})
}

// inside makes a path relative to the environment absolute. What begins with a
// variable is left alone.
func inside(dir, path string) string {
	if filepath.IsAbs(path) || strings.HasPrefix(path, "$") {
		return path
	}
	return filepath.Join(dir, path)
}

func modulePath(dir, value string) string {
	var dirs []string
	for d := range strings.SplitSeq(value, ":") {
		d = inside(dir, d)
		if !strings.ContainsAny(d, "*?[{") || strings.HasPrefix(d, "$") {
			dirs = append(dirs, d)
			continue
		}
		found, _ := filepath.Glob(d)
		dirs = append(dirs, found...)
	}
	return strings.Join(dirs, ":")
}
