package providers

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// This file is what forcelocal of users and groups means: accounts are those of the files
// of this machine, whatever the name service has besides, and are changed by the programs
// of libuser. Rule RES-USER-05.

func isLocal(r *types.Resource) bool { return r.Value("forcelocal").Truthy() }

// localOr is the program that does for local accounts what another does: "luseradd".
func localOr(r *types.Resource, program string) string {
	if isLocal(r) {
		return "l" + program
	}
	return program
}

// localEnv is the environment of programs for local accounts.
func localEnv(s System, r *types.Resource) []string {
	if isLocal(r) {
		return []string{"LIBUSER_CONF=" + types.LibuserConf(s)}
	}
	return nil
}

// asLocal makes a text of a number: that is how it stands in the file.
func asLocal(r *types.Resource, all []data.Pair, number string) []data.Pair {
	for i, p := range all {
		if isLocal(r) && p.Key.Str() == number {
			all[i].Value = data.OfString(p.Value.Text())
		}
	}
	return all
}

// localAccounts are those of /etc/passwd and /etc/group, for a resource.
type localAccounts struct {
	s          System
	kind, name string
}

func (l localAccounts) lines(ctx context.Context, file string) ([]string, error) {
	text, err := l.s.ReadFile(ctx, l.s.Path(file))
	if errors.Is(err, fs.ErrNotExist) {
		err = failure("Forcelocal set for %s resource '%s', but %s does not exist", l.kind, l.name, file)
	}
	return strings.Split(string(text), "\n"), err
}

func (l localAccounts) Users(ctx context.Context) ([]User, error) {
	lines, err := l.lines(ctx, "/etc/passwd")
	return ParseUsers(lines), err
}

func (l localAccounts) Groups(ctx context.Context) ([]Group, error) {
	lines, err := l.lines(ctx, "/etc/group")
	return ParseGroups(lines), err
}

func (l localAccounts) User(ctx context.Context, name string) (User, bool, error) {
	all, err := l.Users(ctx)
	for _, u := range all {
		if u.Name == name {
			return u, true, err
		}
	}
	return User{}, false, err
}

func (l localAccounts) Group(ctx context.Context, name string) (Group, bool, error) {
	all, err := l.Groups(ctx)
	for _, g := range all {
		if g.Name == name {
			return g, true, err
		}
	}
	return Group{}, false, err
}

// ParseUsers reads lines of passwd. Lines that are none are left out.
func ParseUsers(lines []string) []User {
	var all []User
	for _, line := range lines {
		f := strings.Split(line, ":")
		if len(f) < 7 || f[0] == "" || strings.HasPrefix(f[0], "#") {
			continue
		}
		uid, err1 := strconv.Atoi(f[2])
		gid, err2 := strconv.Atoi(f[3])
		if err1 == nil && err2 == nil {
			all = append(all, User{Name: f[0], UID: uid, GID: gid, Comment: f[4], Home: f[5], Shell: f[6]})
		}
	}
	return all
}

// ParseGroups reads lines of group. Lines that are none are left out.
func ParseGroups(lines []string) []Group {
	var all []Group
	for _, line := range lines {
		f := strings.Split(line, ":")
		if len(f) < 4 || f[0] == "" || strings.HasPrefix(f[0], "#") {
			continue
		}
		if gid, err := strconv.Atoi(f[2]); err == nil {
			members := slices.DeleteFunc(strings.Split(f[3], ","), func(m string) bool { return m == "" })
			all = append(all, Group{Name: f[0], GID: gid, Members: members})
		}
	}
	return all
}
