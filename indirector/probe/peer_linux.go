package probe

import (
	"fmt"
	"io/fs"
	"net"
	"syscall"
)

// peer is the user who has connected, as the kernel knows it.
func peer(c *net.UnixConn) (uid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *syscall.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		cred, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return 0, fmt.Errorf("who has connected is unknown: %w", err)
	}
	return int(cred.Uid), nil
}

// ownerOf is the user whom a file belongs to; -1 if that is not known.
func ownerOf(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return -1
}
