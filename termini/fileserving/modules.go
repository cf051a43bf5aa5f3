package fileserving

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"indirtui/indirector"
)

// A module is a directory with the name of a module in the modulepath.
type module struct {
	name string
	dir  string
	in   string // the directory of the modulepath
}

// modulepath returns the directories of modules of an environment that exist.
func (t *Server) modulepath(environment string) []string {
	path, _ := t.env.SettingsIn(environment).Get("modulepath")
	dirs := filepath.SplitList(path)
	return slices.DeleteFunc(dirs, func(dir string) bool {
		info, err := os.Stat(dir)
		return err != nil || !info.IsDir()
	})
}

// isModuleName reports whether a line of name is a small letter and then
// letters, digits and underscores.
func isModuleName(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "\n"), func(line string) bool {
		if line == "" || line[0] < 'a' || 'z' < line[0] {
			return false
		}
		return strings.Trim(line, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
	})
}

// modules returns the modules of an environment by precedence: in the order of
// the modulepath, and within one directory in the arbitrary order of the file
// system.
func (t *Server) modules(environment string) ([]module, error) {
	var found []module
	seen := map[string]bool{}
	for _, dir := range t.modulepath(environment) {
		entries, err := list(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			name := e.Name()
			if seen[name] || !isModuleName(name) {
				continue
			}
			m := module{name: name, dir: join(dir, name), in: dir}
			if info, err := os.Stat(m.dir); err != nil || !info.IsDir() {
				continue
			}
			seen[name] = true
			if t.usable(m) {
				found = append(found, m)
			}
		}
	}
	return found, nil
}

// module returns the module of that name, and whether there is one.
func (t *Server) module(environment, name string) (module, bool) {
	if name == "" || strings.Contains(name, "/") || !isModuleName(name) {
		return module{}, false
	}
	for _, dir := range t.modulepath(environment) {
		m := module{name: name, dir: join(dir, name), in: dir}
		if info, err := os.Stat(m.dir); err == nil && info.IsDir() {
			return m, t.usable(m)
		}
	}
	return module{}, false
}

// usable reports whether Puppet would load the module: metadata.json may be
// absent, but must not be half of one.
func (t *Server) usable(m module) bool {
	err := checkMetadata(m, join(m.dir, "metadata.json"))
	strict, _ := t.env.Settings.Get("strict")
	if bad := (*json.SyntaxError)(nil); errors.As(err, &bad) {
		text := fmt.Sprintf("%s has an invalid and unparsable metadata.json file. The parse error: %s", m.name, bad.Error())
		switch strict {
		case "off":
			t.env.Log.Debug(text)
		case "error":
			t.env.Log.Error(text)
			return false
		default:
			t.env.Log.Warn(text)
		}
		return true
	}
	if err != nil {
		t.env.Log.Error(indirector.Message(err), "path", m.dir)
		return false
	}
	return true
}

func checkMetadata(m module, path string) error {
	file, _, err := open(path, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxConfiguration))
	if err != nil {
		return err
	}
	var known map[string]json.RawMessage
	if err := json.Unmarshal(text, &known); err != nil || len(known) == 0 {
		return err
	}
	for _, name := range []string{"source", "author", "version", "license", "dependencies"} {
		if v, ok := known[name]; !ok || string(v) == "null" {
			return missing("No %s module metadata provided for %s", name, m.name)
		}
	}
	if d := strings.TrimSpace(string(known["dependencies"])); !strings.HasPrefix(d, "[") {
		return missing("The value for the key dependencies in the file metadata.json of the module %s must be an array, not: '%s'", m.name, d)
	}
	return nil
}

func missing(format string, args ...any) error {
	return &indirector.Failure{Class: "Puppet::Module::MissingMetadata", Message: fmt.Sprintf(format, args...)}
}
