// Package child is what the commands that are run have in common: the
// environment that Puppet gives them, output that is kept up to a limit, an end
// for all that they started, and files that can be run as soon as they are
// written.
package child

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
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
