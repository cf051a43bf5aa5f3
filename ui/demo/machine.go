package demo

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/system"
	"indirtui/indirector/resource/types"
)

// A Machine is the node web of the site: its files are below a directory of the site, and
// its commands answer from here. Plans only look at it.
type Machine struct {
	providers.System
	root string
}

var _ providers.System = (*Machine)(nil)

// Machine returns the node web with settings.
func (s *Site) Machine(setting func(name string) (string, bool)) *Machine {
	m := &Machine{root: filepath.Join(s.Dir, "machine")}
	m.System = system.ReadOnly(&system.System{Host: &node{m, setting}, Root: m.root})
	return m
}

// Changeable returns the machine as runs change it: within the directory of the site.
func (m *Machine) Changeable() *Changeable {
	changed := &Machine{root: m.root}
	changed.System = &system.System{Host: m.System, Root: m.root}
	return &Changeable{changed}
}

func (m *Machine) at(name string) string { return filepath.Join(m.root, name) }

// Files of the node are below root.

func (m *Machine) Lstat(ctx context.Context, name string) (providers.Info, error) {
	return m.System.Lstat(ctx, m.at(name))
}

func (m *Machine) Stat(ctx context.Context, name string) (providers.Info, error) {
	return m.System.Stat(ctx, m.at(name))
}

func (m *Machine) ReadFile(ctx context.Context, name string) ([]byte, error) {
	return m.System.ReadFile(ctx, m.at(name))
}

func (m *Machine) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	return m.System.Open(ctx, m.at(name))
}

func (m *Machine) ReadDir(ctx context.Context, name string) ([]string, error) {
	return m.System.ReadDir(ctx, m.at(name))
}

func (m *Machine) Readlink(ctx context.Context, name string) (string, error) {
	return m.System.Readlink(ctx, m.at(name))
}

func (m *Machine) UID() int { return 0 }

// answers are the commands that the node has, by how they begin.
var answers = []struct{ begins, prints string }{
	{"dpkg-query ", "install ok installed nginx 1.22.1-9+deb12u1\n"},
	{"systemctl is-active ", "active\n"},
	{"systemctl is-enabled ", "enabled\n"},
	{"systemctl list-unit-files ", "nginx.service enabled enabled\n"},
	{"systemctl show ", "no\n"},
	{"systemctl restart ", ""},
}

// Run answers the commands of providers that look.
func (m *Machine) Run(_ context.Context, c providers.Command) (providers.Result, error) {
	line := strings.Join(c.Argv, " ")
	line = strings.TrimPrefix(strings.TrimPrefix(line, "/usr"), "/bin/")
	for _, a := range answers {
		if strings.HasPrefix(line, a.begins) {
			return providers.Result{Output: []byte(a.prints)}, nil
		}
	}
	return providers.Result{Exit: 127}, fmt.Errorf("the demo has no command %q", c.String())
}

// Modules are the files that resources of the site are copied from: a providers.Sources.
type Modules struct{ dir string }

var _ providers.Sources = Modules{}

// Modules returns those of the site.
func (s *Site) Modules() Modules { return Modules{filepath.Join(s.Dir, filepath.FromSlash(modules))} }

const modules = "code/environments/production/modules"

// Find is what the modules have of a source; nil if they have nothing.
func (m Modules) Find(_ context.Context, source string, _ providers.Query) (*providers.Source, error) {
	rest, is := strings.CutPrefix(source, "puppet:///modules/")
	module, name, _ := strings.Cut(rest, "/")
	if !is {
		return nil, nil
	}
	path := filepath.Join(m.dir, module, "files", name)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return &providers.Source{
		URL: source, Relative: ".", Kind: "file", UID: -1, GID: -1, Mode: 0o644,
		Checksum: fmt.Sprintf("{sha256}%x", sha256.Sum256(text)), Target: path,
	}, nil
}

// Open opens what was found.
func (m Modules) Open(_ context.Context, s *providers.Source) (io.ReadCloser, error) {
	return os.Open(s.Target)
}

// Search finds nothing: the site has no directories that are copied.
func (m Modules) Search(context.Context, string, providers.Query) ([]providers.Source, error) {
	return nil, nil
}

// A node answers what resource types ask of web.
type node struct {
	m       *Machine
	setting func(name string) (string, bool)
}

var debian = map[string]string{
	"os.family": "Debian", "os.name": "Debian", "os.release.major": "12", "os.release.full": "12.5", "kernel": "Linux",
	"osfamily": "Debian", "operatingsystem": "Debian", "operatingsystemmajrelease": "12", "operatingsystemrelease": "12.5",
}

var _ types.Host = (*node)(nil)

func (n *node) Fact(name string) (data.Value, bool) {
	v, ok := debian[name]
	return data.OfString(v), ok
}

func (n *node) Setting(name string) (string, bool) { return n.setting(name) }

func (n *node) Feature(name string) bool {
	return name == "posix" || name == "root" || name == "systemd" || name == "manages_symlinks"
}

func (n *node) Exists(path string) bool {
	_, err := os.Stat(n.m.at(path))
	return err == nil
}

func (n *node) Which(program string) string {
	switch filepath.Base(program) {
	case "dpkg", "dpkg-query", "apt-get", "apt-cache", "apt-mark", "debconf-set-selections", "systemctl":
		return "/usr/bin/" + filepath.Base(program)
	}
	return ""
}
