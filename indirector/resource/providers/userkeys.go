package providers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"syscall"

	"indirtui/indirector"
	"indirtui/indirector/resource/listfile"
	"indirtui/indirector/resource/types"
)

// Keys are in files of their users, and written by them. Rule RES-LIST-04.
func newAuthorizedKey(log logger) Provider {
	l := newList(list{format: listfile.AuthorizedKeys, mode: 0o600, log: log, fields: []string{"options", "type", "key"}})
	l.ready = func(ctx context.Context, s System, r *types.Resource, target string) error {
		user := first(r.Should("user")).Text()
		if user == "" {
			return &indirector.Failure{Message: "Cannot write SSH authorized keys without user"}
		}
		account, ok, err := s.User(ctx, user)
		if err != nil {
			return err
		}
		switch {
		case !ok:
			return &indirector.Failure{Message: fmt.Sprintf("User '%s' does not exist", user)}
		case target == "": // the user had no home when the resource was made
			return &indirector.Failure{Message: "Path is nil"}
		}
		l.store = flat{l.log}
		if err := l.backUp(ctx, s, target); err != nil {
			return err
		}
		if r.Value("drop_privileges").Truthy() {
			l.store = keys{flat{l.log}, Owner{account.UID, account.GID}}
			return parentOfParent(ctx, s, target)
		}
		owner := Owner{account.UID, -1}
		if group, ok, err := s.Group(ctx, user); err != nil {
			return err
		} else if ok { // of the user's name, whatever its group is
			owner.GID = group.GID
		}
		l.store = handed{flat{l.log}, owner}
		return trusted(ctx, s, target)
	}
	return l
}

// parentOfParent reports that the directory of a target cannot be made: only the last one is.
func parentOfParent(ctx context.Context, s System, target string) error {
	dir := path.Dir(target)
	if _, err := s.Stat(ctx, dir); err == nil {
		return nil
	}
	_, err := s.Stat(ctx, path.Dir(dir))
	var errno syscall.Errno
	if errors.As(err, &errno) {
		err = &fs.PathError{Op: "mkdir", Path: dir, Err: errno}
	}
	return inRuby("dir_s_mkdir", err)
}

// trusted reports that a target may not be written with the rights of this process: others
// could change a directory on its way. Puppet does not look at the topmost one, and takes
// for its answer what logging it returns: without debug that is nothing.
func trusted(ctx context.Context, s System, target string) error {
	refused := &indirector.Failure{Message: "drop_privileges is false but the target path is not trusted"}
	dir := path.Dir(target)
	level, _ := s.Setting("log_level")
	if _, err := s.Stat(ctx, dir); err != nil || level != "debug" {
		return refused
	}
	for links := 0; path.Dir(dir) != "/"; {
		info, err := s.Lstat(ctx, dir)
		switch {
		case err == nil && info.Kind == "link" && links < 40:
			links++
			to, err := s.Readlink(ctx, dir)
			if err != nil {
				return refused
			}
			if dir = path.Join(path.Dir(dir), to); path.IsAbs(to) {
				dir = path.Clean(to)
			}
		case err != nil || info.Kind != "directory" || info.UID != s.UID() || info.Mode&0o022 != 0:
			return refused
		default:
			dir = path.Dir(dir)
		}
	}
	return nil
}

// keys is flat, and written as a user.
type keys struct {
	flat
	owner Owner
}

func (k keys) write(ctx context.Context, s System, target, text string, _ fs.FileMode) error {
	return k.wrote(target, s.ReplaceAs(ctx, target, []byte(text), k.owner))
}

// handed is flat, and given to a user once it is written.
type handed struct {
	flat
	owner Owner
}

func (h handed) write(ctx context.Context, s System, target, text string, mode fs.FileMode) error {
	if err := h.flat.write(ctx, s, target, text, mode); err != nil {
		return err
	}
	if err := s.Chown(ctx, target, h.owner); err != nil {
		return inRuby("apply2files", err)
	}
	return inRuby("apply2files", s.Chmod(ctx, target, 0o600))
}
