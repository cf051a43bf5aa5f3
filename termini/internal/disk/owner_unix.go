//go:build unix

package disk

import (
	"fmt"
	"io/fs"
	"syscall"
)

func ownerOf(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf(" of %d:%d", s.Uid, s.Gid)
	}
	return ""
}
