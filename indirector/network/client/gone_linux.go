package client

import (
	"crypto/tls"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// leaveGone closes a connection that the other side has closed while it was idle: as
// nothing was written, the request is made on another one, whatever it is. Ruby's
// Net::HTTP looks likewise before it uses a connection again.
func leaveGone(conn net.Conn) {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	h, ok := conn.(*heedful)
	if !ok {
		return
	}
	socket, ok := h.Conn.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return
	}
	gone := false
	err = raw.Control(func(fd uintptr) {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}, 0)
		gone = err == nil && n > 0
	})
	if err == nil && gone {
		_ = h.Close() // it is gone
	}
}
