//go:build !unix

package facter

import "runtime"

// uname returns the kind of machine that this program was built for. The
// release of the kernel is not known.
func uname() (release, machine string) {
	if runtime.GOARCH == "amd64" {
		return "", "x64"
	}
	return "", runtime.GOARCH
}
