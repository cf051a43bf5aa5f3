//go:build !unix

package terminal

import "os"

// terminate ends a process.
func terminate(p *os.Process) { _ = p.Kill() }

func kill(p *os.Process) { _ = p.Kill() }

func signalOf(*os.ProcessState) int { return 0 }
