package system

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"indirtui/indirector/host/files"
	"indirtui/indirector/resource/providers"
)

func (s *System) Lstat(ctx context.Context, name string) (providers.Info, error) {
	return look(ctx, "lstat", name, os.Lstat)
}

func (s *System) Stat(ctx context.Context, name string) (providers.Info, error) {
	return look(ctx, "stat", name, os.Stat)
}

func look(ctx context.Context, what, name string, call func(string) (os.FileInfo, error)) (providers.Info, error) {
	span := looked(ctx, what, name)
	info, err := call(name)
	if err != nil {
		span.end("", err)
		return providers.Info{}, err
	}
	i := providers.Info{Kind: kind(info.Mode()), Mode: bits(info.Mode()), Size: info.Size(), MTime: info.ModTime(), CTime: ctime(info), ATime: atime(info)}
	i.UID, i.GID = owner(info)
	span.end(i.Kind, nil)
	return i, nil
}

// kind is the word that Ruby has for a kind of file.
func kind(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeSymlink != 0:
		return "link"
	case mode&fs.ModeNamedPipe != 0:
		return "fifo"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeCharDevice != 0:
		return "characterSpecial"
	case mode&fs.ModeDevice != 0:
		return "blockSpecial"
	}
	return "unknown"
}

// special are the three bits above the permissions, as Go and the system have them.
var special = [...]struct{ mode, bit fs.FileMode }{{fs.ModeSetuid, 0o4000}, {fs.ModeSetgid, 0o2000}, {fs.ModeSticky, 0o1000}}

// bits returns a mode as the system has it: 0 to 07777.
func bits(mode fs.FileMode) fs.FileMode {
	m := mode.Perm()
	for _, s := range special {
		if mode&s.mode != 0 {
			m |= s.bit
		}
	}
	return m
}

// modeOf is bits turned round.
func modeOf(m fs.FileMode) fs.FileMode {
	mode := m.Perm()
	for _, s := range special {
		if m&s.bit != 0 {
			mode |= s.mode
		}
	}
	return mode
}

func (s *System) ReadFile(ctx context.Context, name string) (content []byte, err error) {
	span := looked(ctx, "read", name)
	defer func() { span.end(strconv.Itoa(len(content))+" bytes", err) }()
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(content) > maxFile {
		return nil, fmt.Errorf("read %q: it has more than %d MiB", name, maxFile>>20)
	}
	return content, err
}

// open does not wait for a writer if the file has become a pipe.
func open(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

func (s *System) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	span := looked(ctx, "open", name)
	f, err := open(name)
	span.end("", err)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (s *System) ReadDir(ctx context.Context, name string) ([]string, error) {
	span := looked(ctx, "list", name)
	entries, err := os.ReadDir(name)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	span.end(strconv.Itoa(len(names))+" entries", err)
	return names, err
}

func (s *System) Readlink(ctx context.Context, name string) (string, error) {
	span := looked(ctx, "read link", name)
	target, err := os.Readlink(name)
	span.end(target, err)
	return target, err
}

// Replace writes a file anew.
func (s *System) Replace(ctx context.Context, name string, content []byte, mode fs.FileMode) error {
	span := looked(ctx, "write", name)
	o := files.Options{}
	if _, err := os.Stat(name); err != nil {
		o.Mode = mode
	}
	if to, err := filepath.EvalSymlinks(name); err == nil {
		name = to // what it links to is written, as by copying over it
	}
	err := files.Write(name, content, o)
	span.end(strconv.Itoa(len(content))+" bytes", err)
	return err
}

// replaceAs replaces the file $1, which may be a link, by what it reads.
const replaceAs = `umask 077 && mkdir -p "${1%/*}" && to=$(readlink -f "$1") && new=$(mktemp "$to.XXXXXX") && cat >"$new" && mv -f "$new" "$to"`

// ReplaceAs needs a child: a process has the rights of one user.
func (s *System) ReplaceAs(ctx context.Context, name string, content []byte, as providers.Owner) error {
	c := providers.Command{Argv: []string{"/bin/sh", "-c", replaceAs, "sh", name}, Stdin: content}
	if os.Geteuid() == 0 {
		c.User = &as
	}
	span := looked(ctx, "write", name)
	result, err := s.run(ctx, c)
	if err == nil && result.Exit != 0 {
		err = fmt.Errorf("write %q as user %d: %s", name, as.UID, strings.TrimSpace(string(result.Output)))
	}
	span.end(strconv.Itoa(len(content))+" bytes", err)
	return err
}

// Write writes a temporary file, gives it mode and owner of what was there, and lets it
// take its place. Rule RES-FILE-06.
func (s *System) Write(ctx context.Context, name string, w providers.Writing) error {
	span := looked(ctx, "write", name)
	err := write(name, w)
	span.end("written", err)
	return err
}

func write(name string, w providers.Writing) (err error) {
	mode := fs.FileMode(0o644)
	old, missing := os.Lstat(name)
	if missing == nil {
		if _, err := os.Stat(name); err == nil { // of a link to something, the mode is the link's
			mode = bits(old.Mode())
		}
	}
	if w.Mode != nil {
		mode = *w.Mode
	}
	at := name
	if w.Staging != "" {
		at = filepath.Join(w.Staging, filepath.Base(name))
	}
	out, err := files.Create(at, files.Options{Mode: modeOf(mode), Owner: files.Must})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, out.Abort())
		}
	}()
	if err := w.Fill(out); err != nil {
		return err
	}
	if w.Check != nil {
		if err := w.Check(out.Name()); err != nil {
			return err
		}
	}
	if err := out.Commit(); err != nil || at == name {
		return err
	}
	if missing == nil {
		if uid, gid := owner(old); uid >= 0 {
			if err := errors.Join(os.Lchown(at, uid, gid), os.Chmod(at, modeOf(mode))); err != nil {
				return errors.Join(err, os.Remove(at))
			}
		}
	}
	return os.Rename(at, name)
}

func (s *System) Truncate(ctx context.Context, name string, mode fs.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, modeOf(mode))
	if err == nil {
		err = f.Close()
	}
	return change(ctx, "empty", name, err)
}

func (s *System) Remove(ctx context.Context, name string) error {
	return change(ctx, "remove", name, os.Remove(name))
}

func (s *System) RemoveAll(ctx context.Context, name string) error {
	return change(ctx, "remove all of", name, os.RemoveAll(name))
}

// Copy copies what is no directory by its content, following links as cp -r does not for
// what is within a directory.
func (s *System) Copy(ctx context.Context, from, to string) error {
	return change(ctx, "copy "+from+" to", to, copyTree(from, to, os.Stat))
}

func copyTree(from, to string, look func(string) (os.FileInfo, error)) error {
	info, err := look(from)
	if err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case info.IsDir():
		err = copyDir(from, to)
	default:
		err = copyFile(from, to)
	}
	if err != nil {
		return err
	}
	if uid, gid := owner(info); uid >= 0 && os.Geteuid() == 0 {
		if err := os.Lchown(to, uid, gid); err != nil {
			return err
		}
	}
	return errors.Join(os.Chmod(to, info.Mode()), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

func copyDir(from, to string) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := copyTree(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()), os.Lstat); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

func (s *System) Mkdir(ctx context.Context, name string, mode fs.FileMode) error {
	return change(ctx, "make directory", name, os.Mkdir(name, modeOf(mode)))
}

func (s *System) Symlink(ctx context.Context, target, name string) error {
	return change(ctx, "link", name, os.Symlink(target, name))
}

func (s *System) Chmod(ctx context.Context, name string, mode fs.FileMode) error {
	return change(ctx, "chmod", name, os.Chmod(name, modeOf(mode)))
}

func (s *System) Lchown(ctx context.Context, name string, o providers.Owner) error {
	return change(ctx, "chown", name, os.Lchown(name, o.UID, o.GID))
}

func (s *System) Chown(ctx context.Context, name string, o providers.Owner) error {
	return change(ctx, "chown", name, os.Chown(name, o.UID, o.GID))
}

// change notes what was done.
func change(ctx context.Context, what, name string, err error) error {
	span := looked(ctx, what, name)
	span.end("done", err)
	return err
}
