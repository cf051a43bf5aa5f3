//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd

package ca

import (
	"io/fs"
	"path/filepath"
	"strings"
)

func fileID(fs.FileInfo) uint64 { return 0 }

func giveTo(string, string) error { return nil }

// runnable goes by the name.
func runnable(info fs.FileInfo) bool {
	switch strings.ToLower(filepath.Ext(info.Name())) {
	case ".exe", ".bat", ".cmd", ".com":
		return true
	}
	return false
}

func brokenPipe(error) bool { return false }
