package ral

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/types"
	"indirtui/termini/internal/nested"
)

// A machine is what types ask of the machine that this program runs on.
type machine struct {
	facts    data.Value
	settings indirector.Settings
	features map[string]bool
}

// machine asks for the facts of this machine, whatever the facts indirection is routed to.
func (t *Terminus) machine(ctx context.Context) (types.Host, error) {
	certname, _ := t.env.Settings.Get("certname")
	m := &machine{facts: data.OfHash(nil), settings: t.env.Settings, features: features()}
	found, err := nested.Find(ctx, t.env.Do, &indirector.Request{
		Indirection: "facts", Verb: indirector.Find, Key: certname, Terminus: "facter", Cache: indirector.Off, Caller: "ral",
	})
	if err != nil {
		return nil, err
	}
	if f, ok := found.(*model.Facts); ok {
		m.facts = f.Values
	}
	return m, nil
}

func features() map[string]bool {
	init, _ := os.ReadFile("/proc/1/comm") // where it is missing there is no systemd
	return map[string]bool{
		"posix": filepath.Separator == '/', "manages_symlinks": true, "root": os.Geteuid() == 0, "libshadow": true,
		"systemd": strings.Contains(string(init), "systemd"),
	}
}

func (m *machine) Fact(name string) (data.Value, bool) {
	if v, ok := m.facts.Lookup(name); ok {
		return v, true
	}
	v := m.facts.Dig(strings.Split(name, ".")...)
	return v, !v.IsNil()
}

func (m *machine) Setting(name string) (string, bool) {
	value, place := m.settings.Get(name)
	return value, place != ""
}

func (m *machine) Feature(name string) bool { return m.features[name] }

func (m *machine) Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Which looks into PATH, and where programs of root are.
func (m *machine) Which(program string) string {
	if filepath.IsAbs(program) {
		if m.Exists(program) {
			return program
		}
		return ""
	}
	if path, err := exec.LookPath(program); err == nil {
		return path
	}
	for _, dir := range []string{"/usr/local/sbin", "/usr/sbin", "/sbin"} {
		if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return path
		}
	}
	return ""
}
