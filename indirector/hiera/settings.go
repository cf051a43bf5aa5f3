package hiera

import (
	"os"
	"path/filepath"
	"strings"
)

// FromSettings returns the Options that Puppet's settings of an environment stand
// for: the layers, and how strict they are. The caller adds scope, cache and
// warnings.
func FromSettings(get func(name string) string, environment string) Options {
	if environment == "" {
		environment = get("environment")
	}
	o := Options{
		Environment: environment, GlobalConfig: get("hiera_config"), CodeDir: get("codedir"), Strict: get("strict"),
		Binding: get("data_binding_terminus"), EnvironmentProvider: get("environment_data_provider"),
	}
	if o.Binding == "" {
		// An empty setting is as good as none. Rule HIERA-LAY-04.
		o.Binding = "none"
	}
	for _, dir := range filepath.SplitList(get("environmentpath")) {
		path := filepath.Join(dir, environment)
		if stat, err := os.Stat(path); err == nil && stat.IsDir() && isName(environment) {
			o.EnvironmentDir = path
			break
		}
	}
	modules := filepath.SplitList(get("modulepath"))
	o.Module = func(name string) (string, bool) {
		if !isName(name) {
			return "", false
		}
		for _, dir := range modules {
			path := filepath.Join(dir, name)
			if stat, err := os.Stat(path); err == nil && stat.IsDir() {
				return path, true
			}
		}
		return "", false
	}
	return o
}

// isName reports whether s may be the name of a module or an environment, and so
// leads nowhere else.
func isName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}
