// Package machine is the machine that the program runs on, as resource types ask for
// it: facts, settings, features, files and programs. It reads, and changes nothing.
package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
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

// Here returns this machine with its facts as facter finds them, wherever facts are routed
// to. The flat names of old are among them, because providers ask by these. Rule RES-PROV-01.
func Here(ctx context.Context, do Do, certname, caller string, setting func(name string) (string, bool)) (*Machine, error) {
	resp, err := do(ctx, &indirector.Request{
		Indirection: "facts", Verb: indirector.Find, Key: certname, Terminus: "facter", Cache: indirector.Off, Caller: caller,
		Options: []indirector.Option{{Name: "show_legacy", Value: true}},
	})
	if err != nil && !errors.Is(err, indirector.ErrNotFound) {
		return nil, fmt.Errorf("find the facts of this machine: %w", err)
	}
	facts := data.OfHash(nil)
	if found, ok := resp.Instance().(*model.Facts); ok {
		facts = found.Values
	}
	return New(facts, setting), nil
}

// A Do answers a request.
type Do func(context.Context, *indirector.Request) (indirector.Response, error)

// Fact is a fact by its name, which may have dots.
func (m *Machine) Fact(name string) (data.Value, bool) {
	if v, ok := m.facts.Lookup(name); ok {
		return v, true
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
