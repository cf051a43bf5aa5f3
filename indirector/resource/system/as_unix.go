//go:build unix

package system

import (
	"os"
	"os/exec"
	"syscall"

	"indirtui/indirector/resource/providers"
)

// as lets a command run as another user and group. Ids of -1 stay those of the process.
func as(run *exec.Cmd, o *providers.Owner) {
	c := &syscall.Credential{Uid: uint32(os.Geteuid()), Gid: uint32(os.Getegid())}
	if o.UID >= 0 {
		c.Uid = uint32(o.UID)
	}
	if o.GID >= 0 {
		c.Gid = uint32(o.GID)
	}
	c.NoSetGroups = os.Geteuid() != 0
	run.SysProcAttr.Credential = c
}

// owner returns user and group of a file.
func owner(info os.FileInfo) (uid, gid int) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid), int(s.Gid)
	}
	return -1, -1
}
