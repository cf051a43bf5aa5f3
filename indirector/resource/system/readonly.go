package system

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/types"
)

// ErrReadOnly reports a change that was refused: find, search and plan only look. Rule
// RES-SAFE-01.
var ErrReadOnly = errors.New("only commands that look are run here")

// ReadOnly returns a system that looks, and refuses to change anything. Commands are run
// if the closed list below has them.
func ReadOnly(s providers.System) providers.System { return readOnly{s} }

type readOnly struct{ providers.System }

// What types may ask besides is answered by the system that looks.
func (s readOnly) Target(typ string) string {
	if h, ok := s.System.(types.Targets); ok {
		return h.Target(typ)
	}
	return ""
}

func (s readOnly) Home(user string) string {
	if h, ok := s.System.(types.Homes); ok {
		return h.Home(user)
	}
	return ""
}

func (s readOnly) LastSystemUID() int64 {
	if h, ok := s.System.(types.SystemUsers); ok {
		return h.LastSystemUID()
	}
	return lastSystemUID
}

func (s readOnly) WorkingDirectory() string {
	if h, ok := s.System.(types.Directories); ok {
		return h.WorkingDirectory()
	}
	return "/"
}

func (s readOnly) UserName(uid int64) string {
	if h, ok := s.System.(types.Owners); ok {
		return h.UserName(uid)
	}
	return ""
}

func (s readOnly) GroupName(gid int64) string {
	if h, ok := s.System.(types.Owners); ok {
		return h.GroupName(gid)
	}
	return ""
}

func (s readOnly) Run(ctx context.Context, c providers.Command) (providers.Result, error) {
	if !Looks(c) {
		return providers.Result{Exit: -1}, fmt.Errorf("run %q: %w", c.String(), ErrReadOnly)
	}
	return s.System.Run(ctx, c)
}

func refuse(what, name string) error { return fmt.Errorf("%s %q: %w", what, name, ErrReadOnly) }

func (readOnly) Replace(_ context.Context, name string, _ []byte, _ fs.FileMode) error {
	return refuse("write", name)
}

func (readOnly) ReplaceAs(_ context.Context, name string, _ []byte, _ providers.Owner) error {
	return refuse("write", name)
}

func (readOnly) Write(_ context.Context, name string, _ providers.Writing) error {
	return refuse("write", name)
}

func (readOnly) Truncate(_ context.Context, name string, _ fs.FileMode) error {
	return refuse("write", name)
}
func (readOnly) Remove(_ context.Context, name string) error    { return refuse("remove", name) }
func (readOnly) Copy(_ context.Context, _, to string) error     { return refuse("write", to) }
func (readOnly) RemoveAll(_ context.Context, name string) error { return refuse("remove", name) }
func (readOnly) Mkdir(_ context.Context, name string, _ fs.FileMode) error {
	return refuse("make directory", name)
}
func (readOnly) Symlink(_ context.Context, _, name string) error { return refuse("link", name) }
func (readOnly) Chmod(_ context.Context, name string, _ fs.FileMode) error {
	return refuse("chmod", name)
}

func (readOnly) Lchown(_ context.Context, name string, _ providers.Owner) error {
	return refuse("chown", name)
}

func (readOnly) Chown(_ context.Context, name string, _ providers.Owner) error {
	return refuse("chown", name)
}

func (readOnly) SetContext(_ context.Context, name, _ string) error {
	return refuse("label", name)
}

func (readOnly) Backup(_ context.Context, name, _ string) (string, bool, error) {
	return "", false, refuse("back up", name)
}

// looks is the closed list: programs, and how their arguments begin. A last "…" allows
// more of them; a "*" is any one word that is no option.
var looks = map[string][]string{
	"dpkg-query":   {"-W …"},
	"dpkg-deb":     {"--show …"},
	"apt-mark":     {"showmanual", "showmanual *"},
	"apt-cache":    {"policy *", "madison *"},
	"rpm":          {"--version", "-q …", "-qa …"},
	"dnf":          {"module list …", "check-update"},
	"yum":          {"check-update"},
	"systemctl":    {"list-unit-files …", "is-active …", "is-enabled …", "show …", "cat …"},
	"gem":          {"list --local"},
	"pip":          pips,
	"pip2":         pips,
	"pip3":         pips,
	"pip-2":        pips,
	"pip-python":   pips,
	"crontab":      {"-l", "-u * -l"},
	"mount":        {""},
	"getent":       {"passwd", "group"},
	"ps":           {"-ef"},
	"matchpathcon": {"-n …"},
	"service":      {"* status"},
	"invoke-rc.d":  {"--quiet --query * start"},
	"chkconfig":    {"*"},
	"diff":         {"…"},
}

var pips = []string{"--version", "freeze", "freeze --all"}

// Looks reports whether a command only looks.
func Looks(c providers.Command) bool {
	argv := c.Argv
	if c.Shell != "" {
		if strings.ContainsAny(c.Shell, "|&;<>()$`\\\"'*?[#~=%\n") {
			return false
		}
		argv = strings.Fields(c.Shell)
	}
	if len(argv) == 0 || c.Stdin != nil && path.Base(argv[0]) != "diff" {
		return false
	}
	if dir := path.Dir(argv[0]); slices.Contains(initDirs, dir) {
		return len(argv) == 2 && argv[1] == "status"
	}
	return slices.ContainsFunc(looks[path.Base(argv[0])], func(form string) bool { return fits(strings.Fields(form), argv[1:]) })
}

// initDirs are where init scripts are. They print their status.
var initDirs = []string{"/etc/init.d", "/etc/rc.d/init.d"}

func fits(form, args []string) bool {
	for i, word := range form {
		switch {
		case word == "…":
			return true
		case i >= len(args), word == "*" && strings.HasPrefix(args[i], "-"), word != "*" && word != args[i]:
			return false
		}
	}
	return len(args) == len(form)
}
