package loader

import (
	"io/fs"
	"syscall"
	"time"
)

// changed returns when a directory was last changed, which no program can set.
func changed(info fs.FileInfo) (at time.Time, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return at, false
	}
	return time.Unix(int64(s.Ctim.Sec), int64(s.Ctim.Nsec)), true
}
