package system

import (
	"os"
	"syscall"
	"time"
)

// ctime returns when a file or what is known of it changed.
func ctime(info os.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(int64(s.Ctim.Sec), int64(s.Ctim.Nsec))
	}
	return info.ModTime()
}
