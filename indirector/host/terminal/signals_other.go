//go:build !unix

package terminal

import "os"

// terminate ends a process.
func terminate(p *os.Process) { _ = p.Kill() }

func kill(p *os.Process) { _ = p.Kill() }

func signalOf(*os.ProcessState) int { return 0 }

// A keeper does nothing here.
type keeper struct{}

func keep(*os.File) (*keeper, error) { return &keeper{}, nil }

func (*keeper) end() {}
