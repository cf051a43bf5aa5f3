// Package child runs commands as Puppet does: with its environment, limited
// output, an end of all that they started, and files that can be run as soon as
// they are written.
package child

import (
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Environment returns that of this process in the C locale and without a user,
// as for Puppet's commands.
func Environment() []string {
	drop := []string{
		"LANG", "LC_ALL", "LC_MESSAGES", "LANGUAGE", "LC_COLLATE", "LC_CTYPE", "LC_MONETARY", "LC_NUMERIC", "LC_TIME",
		"HOME", "USER", "LOGNAME",
	}
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(drop, name)
	})
	return append(env, "LANG=C", "LC_ALL=C")
}

// WriteFile writes a file that will be run. No fork may happen meanwhile: it
// would inherit the open file, and until the child's exec the kernel refuses to
// run it (ETXTBSY).
func WriteFile(name string, content []byte, mode fs.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(name, content, mode)
}

// Run runs a command like its method Run. Stdout and Stderr get all output up
// to its end. If a child of the command still holds them afterwards, Run waits
// for drain, and the error is exec.ErrWaitDelay, unless there is another. The
// wait is counted in turns of this process, not by the clock, so that a busy
// machine loses no output.
func Run(c *exec.Cmd, drain time.Duration) error {
	const turns = 25
	var copying sync.WaitGroup
	var readers, writers []*os.File
	end := func(files []*os.File) {
		for _, f := range files {
			_ = f.Close() // nothing is buffered
		}
	}
	for _, out := range []*io.Writer{&c.Stdout, &c.Stderr} {
		if _, plain := (*out).(*os.File); plain || *out == nil {
			continue
		}
		r, w, err := os.Pipe()
		if err != nil {
			end(slices.Concat(readers, writers))
			return err
		}
		to := *out
		readers, writers, *out = append(readers, r), append(writers, w), w
		copying.Go(func() { _, _ = io.Copy(to, r) }) // up to the end, or until it is closed
	}
	err := c.Start()
	end(writers)
	if err != nil {
		copying.Wait()
		end(readers)
		return err
	}
	err = c.Wait()
	copied := make(chan struct{})
	go func() {
		copying.Wait()
		close(copied)
	}()
	turn := time.NewTicker(max(drain/turns, 1))
	defer turn.Stop()
	for range turns {
		select {
		case <-copied:
			end(readers)
			return err
		case <-turn.C:
		}
	}
	end(readers)
	<-copied
	if err == nil {
		err = exec.ErrWaitDelay
	}
	return err
}

// A Buffer keeps the first Max bytes of what is written to it. It is for one
// goroutine.
type Buffer struct {
	Kept []byte
	Max  int
	Full func() // called at the first byte too many; may be nil
}

// Write always takes all of b.
func (w *Buffer) Write(b []byte) (int, error) {
	room := w.Max - len(w.Kept)
	w.Kept = append(w.Kept, b[:min(room, len(b))]...)
	if room < len(b) && w.Full != nil {
		w.Full()
		w.Full = nil
	}
	return len(b), nil
}
