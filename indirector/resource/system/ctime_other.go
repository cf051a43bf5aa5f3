//go:build !linux

package system

import (
	"os"
	"time"
)

// ctime is not known here.
func ctime(info os.FileInfo) time.Time { return info.ModTime() }

// atime is not known here.
func atime(info os.FileInfo) time.Time { return info.ModTime() }
