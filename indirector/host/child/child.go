// Package child is what the commands that are run have in common: the
// environment that Puppet gives them, output that is kept up to a limit, an end
// for all that they started, and files that can be run as soon as they are
// written.
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

// Environment is that of this process in the C locale and without a user, as
// Puppet's commands have it.
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

// WriteFile writes a file that is going to be run. While a file is open for
// writing, a fork in another goroutine hands it to a child, and as long as that
// has not become another program the kernel refuses to run the file
// (ETXTBSY); so there is no fork meanwhile.
func WriteFile(name string, content []byte, mode fs.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(name, content, mode)
}

// Run runs a command as its method Run does. What it prints goes to its Stdout
// and Stderr, two writers, up to the end; when it has ended and something that it
// started holds on to them, they are still waited for as long as drain, and the
// error is exec.ErrWaitDelay, unless there is another one. That is counted in
// turns that this process gets, not by the clock: what a command has printed is
// not lost because the machine is busy.
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
