package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"time"
)

// maxPath is the longest path that a Unix socket may have everywhere.
const maxPath = 103

// A socket is a Unix socket in a directory that only its users may enter.
type socket struct {
	path     string
	listener *net.UnixListener
	may      map[int]bool // users who may connect, by their numbers
}

// A refusedError is a connection of a user who may not connect.
type refusedError struct{ uid int }

func (e *refusedError) Error() string {
	return fmt.Sprintf("a connection of user %d was refused: only the user of this program, root and the one of --for may connect", e.uid)
}

// ourDir is the name of the directory of sockets.
const ourDir = "indirtui"

// DefaultPath is where the socket is if no other place is named: below
// XDG_RUNTIME_DIR, or /run/indirtui for root.
func DefaultPath() (string, error) {
	if os.Getuid() == 0 {
		return filepath.Join("/run", ourDir, "attach"), nil
	}
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		return "", errors.New("there is no XDG_RUNTIME_DIR, so the socket has no place: name one")
	}
	return filepath.Join(dir, ourDir, "attach"), nil
}

// listen makes the socket. One that is left from before, on which nothing listens,
// is replaced.
func listen(path, forUser string) (*socket, error) {
	s := &socket{path: path, may: map[int]bool{0: true, os.Getuid(): true}}
	if len(path) > maxPath {
		return nil, fmt.Errorf("make socket %q: the path is longer than %d bytes", path, maxPath)
	}
	owner := -1
	if forUser != "" {
		var err error
		if owner, err = s.admit(forUser); err != nil {
			return nil, err
		}
	}
	if err := s.private(filepath.Dir(path), owner); err != nil {
		return nil, err
	}
	if err := s.removeOld(); err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("make socket %q: %w", path, err)
	}
	l.SetUnlinkOnClose(true)
	err = os.Chmod(path, 0o600)
	if err == nil && owner >= 0 {
		err = os.Chown(path, owner, -1)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make socket %q: %w", path, err), l.Close())
	}
	s.listener = l
	return s, nil
}

// admit lets a user connect.
func (s *socket) admit(name string) (uid int, err error) {
	u, err := user.Lookup(name)
	if err != nil {
		return 0, fmt.Errorf("give the socket to %q: %w", name, err)
	}
	if uid, err = strconv.Atoi(u.Uid); err != nil {
		return 0, fmt.Errorf("give the socket to %q: its number is %q", name, u.Uid)
	}
	if os.Getuid() != 0 && uid != os.Getuid() {
		return 0, fmt.Errorf("give the socket to %q: only root can", name)
	}
	s.may[uid] = true
	return uid, nil
}

// private makes the directory of the socket, or checks that no other user may write
// there.
func (s *socket) private(dir string, owner int) error {
	err := os.Mkdir(dir, 0o700)
	switch {
	case err == nil:
		err = os.Chmod(dir, 0o700) // whatever the umask is
	case errors.Is(err, fs.ErrExist):
		err = nil
	}
	if err == nil && owner >= 0 && filepath.Base(dir) == ourDir { // another one may be more than ours
		err = os.Chown(dir, owner, -1)
	}
	if err != nil {
		return fmt.Errorf("make the directory of socket %q: %w", s.path, err)
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("make the directory of socket %q: %w", s.path, err)
	case !info.IsDir():
		return fmt.Errorf("make socket %q: %q is no directory", s.path, dir)
	case owner >= 0 && ownerOf(info) >= 0 && ownerOf(info) != owner:
		return fmt.Errorf("make socket %q: user %d cannot enter %q, which is that of user %d; name a directory that is not there yet", s.path, owner, dir, ownerOf(info))
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("make socket %q: other users may enter %q, mode %o; its mode must be 700", s.path, dir, info.Mode().Perm())
	}
	return nil
}

// removeOld removes a socket on which nothing listens any longer.
func (s *socket) removeOld() error {
	info, err := os.Lstat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("make socket %q: %w", s.path, err)
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("make socket %q: there is something else", s.path)
	}
	if c, err := net.DialTimeout("unix", s.path, time.Second); err == nil {
		_ = c.Close()
		return fmt.Errorf("make socket %q: another program listens there", s.path)
	}
	if err := os.Remove(s.path); err != nil {
		return fmt.Errorf("make socket %q: %w", s.path, err)
	}
	return nil
}

// accept returns the next connection of a user who may connect.
func (s *socket) accept() (net.Conn, error) {
	c, err := s.listener.AcceptUnix()
	if err != nil {
		return nil, err
	}
	uid, err := peer(c)
	if err == nil && !s.may[uid] {
		err = &refusedError{uid}
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

func (s *socket) close() error { return s.listener.Close() }
