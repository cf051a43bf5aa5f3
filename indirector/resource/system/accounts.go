package system

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector/resource/providers"
)

// local are the sources of nsswitch.conf that are the files themselves.
var local = []string{"files", "compat", "[NOTFOUND=return]", "[SUCCESS=merge]"}

// lines returns the entries of a database: of its file if the name service has no
// other source, else those that getent prints.
func (s *System) lines(ctx context.Context, database string) ([]string, error) {
	file := s.Path("/etc/" + database)
	if s.onlyFiles(ctx, database) {
		text, err := s.ReadFile(ctx, file)
		return strings.Split(string(text), "\n"), err
	}
	result, err := s.Run(ctx, providers.Command{Argv: []string{"getent", database}, Apart: true})
	if err != nil || result.Exit != 0 {
		text, err := s.ReadFile(ctx, file)
		return strings.Split(string(text), "\n"), err
	}
	return strings.Split(string(result.Output), "\n"), nil
}

// onlyFiles reports whether nsswitch.conf has no source for a database but its file.
func (s *System) onlyFiles(ctx context.Context, database string) bool {
	text, err := s.ReadFile(ctx, s.Path("/etc/nsswitch.conf"))
	if err != nil {
		return true
	}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		name, sources, _ := strings.Cut(line, ":")
		if strings.TrimSpace(name) == database {
			return !slices.ContainsFunc(strings.Fields(sources), func(source string) bool { return !slices.Contains(local, source) })
		}
	}
	return true
}

func (s *System) Users(ctx context.Context) ([]providers.User, error) {
	lines, err := s.lines(ctx, "passwd")
	return providers.ParseUsers(lines), err
}

func (s *System) Groups(ctx context.Context) ([]providers.Group, error) {
	lines, err := s.lines(ctx, "group")
	return providers.ParseGroups(lines), err
}

func (s *System) User(ctx context.Context, name string) (providers.User, bool, error) {
	all, err := s.Users(ctx)
	i := slices.IndexFunc(all, func(u providers.User) bool { return u.Name == name })
	if i < 0 {
		return providers.User{}, false, err
	}
	return all[i], true, nil
}

func (s *System) Group(ctx context.Context, name string) (providers.Group, bool, error) {
	all, err := s.Groups(ctx)
	i := slices.IndexFunc(all, func(g providers.Group) bool { return g.Name == name })
	if i < 0 {
		return providers.Group{}, false, err
	}
	return all[i], true, nil
}

func (s *System) Shadow(ctx context.Context, name string) (providers.Shadow, bool, error) {
	text, err := s.ReadFile(ctx, s.Path("/etc/shadow"))
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return providers.Shadow{}, false, nil
	}
	shadow, ok := ParseShadow(strings.Split(string(text), "\n"), name)
	return shadow, ok, err
}

// UserName is the name of a user by its number, or "".
func (s *System) UserName(uid int64) string {
	all, _ := s.Users(context.Background()) // without them there are no names
	for _, u := range all {
		if int64(u.UID) == uid {
			return u.Name
		}
	}
	return ""
}

// GroupName is the name of a group by its number, or "".
func (s *System) GroupName(gid int64) string {
	all, _ := s.Groups(context.Background()) // without them there are no names
	for _, g := range all {
		if int64(g.GID) == gid {
			return g.Name
		}
	}
	return ""
}

// ParseShadow returns the line of a user among lines of shadow.
func ParseShadow(lines []string, name string) (providers.Shadow, bool) {
	for _, line := range lines {
		f := strings.Split(line, ":")
		if f[0] != name || len(f) < 8 {
			continue
		}
		number := func(i int) int {
			n, err := strconv.Atoi(f[i])
			if err != nil {
				return -1
			}
			return n
		}
		return providers.Shadow{Password: f[1], Min: number(3), Max: number(4), Warn: number(5), Expire: number(7)}, true
	}
	return providers.Shadow{}, false
}
