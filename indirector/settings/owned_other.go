//go:build !unix

package settings

// owned reports whether path belongs to the user of this process. Only Debian
// asks, so here it never does.
func owned(string) bool { return false }
