// Package machine is the machine that the program runs on, as resource types ask for
// it: facts, settings, features, files and programs. It reads, and changes nothing.
package machine

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// A Machine is a types.Host. It may be used from several goroutines.
type Machine struct {
	facts   data.Value
	setting func(name string) (string, bool)
}

var (
	_ types.Host        = (*Machine)(nil)
	_ types.Homes       = (*Machine)(nil)
	_ types.SystemUsers = (*Machine)(nil)
	_ types.Directories = (*Machine)(nil)
)

// New returns the machine with these facts, a hash. setting is asked for settings of
// Puppet, and may be nil.
func New(facts data.Value, setting func(name string) (string, bool)) *Machine {
	if setting == nil {
		setting = func(string) (string, bool) { return "", false }
	}
	return &Machine{facts, setting}
}

// Facts are those that the machine was made with.
func (m *Machine) Facts() data.Value { return m.facts }

// legacy are the names by which providers ask for facts, and where these are now.
var legacy = map[string]string{
	"osfamily":                  "os.family",
	"operatingsystem":           "os.name",
	"operatingsystemrelease":    "os.release.full",
	"operatingsystemmajrelease": "os.release.major",
	"lsbdistrelease":            "os.distro.release.full",
	"hostname":                  "networking.hostname",
	"fqdn":                      "networking.fqdn",
	"domain":                    "networking.domain",
}

// Fact is a fact by its dotted name. Those of old are found although they are not sent.
func (m *Machine) Fact(name string) (data.Value, bool) {
	if v, ok := m.facts.Lookup(name); ok {
		return v, true
	}
	if now := legacy[name]; now != "" {
		name = now
	}
	v := m.facts.Dig(strings.Split(name, ".")...)
	return v, !v.IsNil()
}

// Setting is one of Puppet's settings.
func (m *Machine) Setting(name string) (string, bool) { return m.setting(name) }

// Feature reports whether the machine has one of Puppet's features. Those that are
// libraries of Ruby it has not.
func (m *Machine) Feature(name string) bool {
	switch name {
	case "posix":
		return runtime.GOOS != "windows"
	case "root":
		return os.Geteuid() == 0
	case "systemd":
		comm, err := os.ReadFile("/proc/1/comm")
		return err == nil && strings.Contains(string(comm), "systemd")
	case "selinux":
		return m.Exists("/sys/fs/selinux/enforce")
	case "libuser":
		return executable("/usr/sbin/lgroupadd") && executable("/usr/sbin/luseradd") && m.Exists(types.LibuserConf(m))
	}
	return false
}

func executable(path string) bool {
	found, err := exec.LookPath(path)
	return err == nil && found == path
}

// Exists reports whether there is a file of this path.
func (m *Machine) Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Which is the path of a program, or "" if there is none that can be executed.
func (m *Machine) Which(program string) string {
	path, err := exec.LookPath(program)
	if err != nil || !filepath.IsAbs(path) {
		return ""
	}
	return path
}

// Home is the home directory of an account; "" if there is no such account.
func (m *Machine) Home(name string) string {
	u, err := user.Lookup(name)
	if err != nil {
		return ""
	}
	return u.HomeDir
}

var firstUID = regexp.MustCompile(`(?m)^\s*UID_MIN\s+(\d+)(\s*#.*)?$`)

// LastSystemUID is one below UID_MIN of /etc/login.defs, else what is usual.
func (m *Machine) LastSystemUID() int64 {
	text, err := os.ReadFile("/etc/login.defs")
	if found := firstUID.FindSubmatch(text); err == nil && found != nil {
		if n, err := strconv.ParseInt(string(found[1]), 10, 64); err == nil {
			return n - 1
		}
	}
	if family, _ := m.Fact("os.family"); family.Text() == "OpenBSD" || family.Text() == "FreeBSD" {
		return 999
	}
	return 499
}

// WorkingDirectory returns that of the process.
func (m *Machine) WorkingDirectory() string {
	dir, err := os.Getwd()
	if err != nil {
		return "/"
	}
	return dir
}
