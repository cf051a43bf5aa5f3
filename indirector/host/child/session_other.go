//go:build !unix

package child

import "os/exec"

// Session does nothing: this system has no sessions.
func Session(*exec.Cmd) {}
