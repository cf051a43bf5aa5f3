//go:build !linux

package sqlstore

import "syscall"

// errReadOnly is what a file system that cannot be written gives.
const errReadOnly = syscall.EROFS

// networkFS knows no file systems here.
func networkFS(string) (string, error) { return "", nil }
