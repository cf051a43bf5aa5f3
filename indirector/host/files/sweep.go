package files

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// What is left of killed processes is removed when it has been unchanged for
// abandoned, by the first save in its directory and by the next ones after
// sweepAgain.
const (
	abandoned  = time.Hour
	sweepAgain = time.Hour
)

// swept are the directories that were looked through, so that a save costs no
// listing. It is the one package variable that changes: it is about the disk,
// which all engines of a process share, and holds no result. A field would be
// handed to every save of every terminus, screen and command, or be forgotten by
// one that then lists its directory each time.
var swept struct {
	mu sync.Mutex
	at map[string]time.Time
}

// sweepOnce sweeps a directory unless that was done not long ago.
func sweepOnce(dir string) {
	const most = 1024 // directories that are remembered
	now := time.Now()
	swept.mu.Lock()
	last, known := swept.at[dir]
	due := !known || now.Sub(last) > sweepAgain
	if due {
		if swept.at == nil || len(swept.at) >= most {
			swept.at = make(map[string]time.Time)
		}
		swept.at[dir] = now
	}
	swept.mu.Unlock()
	if due {
		sweep(dir, now.Add(-abandoned))
	}
}

// sweep removes temporary files in a directory that no process has and that were
// not written since. What cannot be removed does no harm and is left.
func sweep(dir string, since time.Time) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(1000)
		for _, name := range names {
			if isTemporary(name) {
				remove(filepath.Join(dir, name), since)
			}
		}
		if err != nil {
			return
		}
	}
}

// isTemporary reports whether createTemp makes such names.
func isTemporary(name string) bool {
	number, ok := strings.CutPrefix(name, Prefix)
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

func remove(path string, since time.Time) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.ModTime().After(since) || !mine(info) {
		return
	}
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	// The lock keeps two processes from removing what the second made meanwhile.
	if now, err := f.Stat(); err == nil && os.SameFile(info, now) && lock(f.Fd()) {
		if still, err := os.Lstat(path); err == nil && os.SameFile(now, still) {
			_ = os.Remove(path)
		}
	}
}
