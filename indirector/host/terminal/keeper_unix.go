//go:build unix

package terminal

import (
	"os"
	"os/exec"
	"syscall"
)

// A keeper is a process that takes what a command writes after this program was
// killed. Without it the command would get a hangup and errors of its output.
type keeper struct {
	cmd  *exec.Cmd
	till *os.File // it waits for the end of this pipe
}

// keeping waits for a line, which is the end that is meant, or for the end of the
// pipe, which is that of this program.
const keeping = `read end || exec cat <&3 >/dev/null 2>&1`

// keep starts the keeper of a terminal.
func keep(terminal *os.File) (*keeper, error) {
	end, till, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer end.Close()
	k := &keeper{exec.Command("/bin/sh", "-c", keeping), till}
	k.cmd.Stdin, k.cmd.ExtraFiles = end, []*os.File{terminal}
	k.cmd.Env = []string{"PATH=/usr/bin:/bin"}
	k.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // what ends this program does not end it
	if err := k.cmd.Start(); err != nil {
		_ = till.Close()
		return nil, err
	}
	return k, nil
}

// end ends it.
func (k *keeper) end() {
	_, _ = k.till.WriteString("\n") // it may have been killed
	_ = k.till.Close()
	_ = k.cmd.Wait()
}
