package fileserving

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"indirtui/indirector"
	"indirtui/indirector/modules"
)

// modulepath returns the directories of modules of an environment that exist.
func (t *Server) modulepath(environment string) []string {
	path, _ := t.env.SettingsIn(environment).Get("modulepath")
	return modules.Path(path)
}

// modules returns the modules of an environment by precedence.
func (t *Server) modules(environment string) ([]modules.Module, error) {
	all, err := modules.All(t.modulepath(environment))
	if bad := (*fs.PathError)(nil); errors.As(err, &bad) {
		return nil, fail(opList, bad.Path, bad.Err, "")
	}
	var usable []modules.Module
	for _, m := range all {
		if t.usable(m) {
			usable = append(usable, m)
		}
	}
	return usable, err
}

// module returns the module of that name, and whether there is one.
func (t *Server) module(environment, name string) (modules.Module, bool) {
	m, ok := modules.Find(t.modulepath(environment), name)
	return m, ok && t.usable(m)
}

// usable reports whether Puppet would load the module: metadata.json may be
// absent, but must not be half of one.
func (t *Server) usable(m modules.Module) bool {
	err := checkMetadata(m, join(m.Dir, "metadata.json"))
	strict, _ := t.env.Settings.Get("strict")
	if bad := (*json.SyntaxError)(nil); errors.As(err, &bad) {
		text := fmt.Sprintf("%s has an invalid and unparsable metadata.json file. The parse error: %s", m.Name, bad.Error())
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
		t.env.Log.Error(indirector.Message(err), "path", m.Dir)
		return false
	}
	return true
}

func checkMetadata(m modules.Module, path string) error {
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
	_, err = m.Metadata(text)
	return err
}
