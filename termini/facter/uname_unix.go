//go:build unix && !linux

package facter

import "golang.org/x/sys/unix"

// uname returns the release of the kernel and the kind of machine.
func uname() (release, machine string) {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "", ""
	}
	return unix.ByteSliceToString(u.Release[:]), unix.ByteSliceToString(u.Machine[:])
}
