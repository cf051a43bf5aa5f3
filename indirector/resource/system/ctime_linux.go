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

// atime returns when a file was last read.
func atime(info os.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(int64(s.Atim.Sec), int64(s.Atim.Nsec))
	}
	return info.ModTime()
}
