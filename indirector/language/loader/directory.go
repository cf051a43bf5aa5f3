package loader

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"
)

// settled is how long ago a directory must have changed until what it lists is kept: file
// systems count time in steps, and what changes twice in one looks as if it had changed once.
const settled = 2 * time.Second

// A directory is what one had when it was listed. Nil is one that is not there.
type directory struct {
	info    fs.FileInfo
	changed time.Time
	listed  bool
	entries []fs.DirEntry
	names   map[string]bool // of entries, in small letters, as some file systems have it; nil is not known
}

// mayHave reports whether there may be a file below a directory.
func (d *directory) mayHave(name string) bool {
	if d == nil {
		return false
	}
	first, _, _ := strings.Cut(name, "/")
	return d.names == nil || d.names[strings.ToLower(first)]
}

// directory looks at a directory. Its files are listed when it is looked at for the second time,
// and then until some come or go: half of what a compile asked of the system was about files
// that are not there. A nil Cache lists none.
func (c *Cache) directory(path string) *directory {
	if c == nil {
		if isMissing(path) {
			return nil
		}
		return &directory{}
	}
	now := c.now()
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil || !info.IsDir():
		return &directory{}
	}
	c.mu.Lock()
	known := c.directories[path]
	c.mu.Unlock()
	at, ok := changed(info)
	same := known != nil && known.changed.Equal(at) && os.SameFile(known.info, info)
	if same && known.listed {
		return known
	}
	d := &directory{info: info, changed: at, listed: same}
	if !ok || now.Sub(at) < settled {
		return d
	}
	if same { // the only compile that there is would list more than it asks for
		d.list(path)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.directories == nil || len(c.directories) >= maxHeld {
		c.directories = map[string]*directory{}
	}
	c.directories[path] = d
	return d
}

func (d *directory) list(path string) {
	entries, err := os.ReadDir(path)
	if err != nil || len(entries) > maxNames {
		return
	}
	d.entries, d.names = entries, make(map[string]bool, len(entries))
	for _, e := range entries {
		d.names[strings.ToLower(e.Name())] = true
	}
}

// directory looks at a directory below another, once.
func (e *Environment) directory(dir, below string) *directory {
	key := [2]string{dir, below}
	e.mu.Lock()
	d, ok := e.directories[key]
	e.mu.Unlock()
	if ok {
		return d
	}
	path := dir
	if below != "" {
		path = under(dir, below)
	}
	d = e.o.Cache.directory(path)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.directories[key] = d
	return d
}

// lacks reports whether there is no such directory below that of the environment or of a
// module: most modules have no functions and types in Ruby.
func (e *Environment) lacks(dir, below string) bool {
	return !e.directory(dir, "").mayHave(below) || e.directory(dir, below) == nil
}

// mayHave reports whether such a directory may have a file.
func (e *Environment) mayHave(dir, below, file string) bool {
	return !e.lacks(dir, below) && e.directory(dir, below).mayHave(file)
}

// has reports whether there is a file.
func (e *Environment) has(dir, file string) bool {
	_, err := stat(dir, file)
	return err == nil
}

// list lists a directory of the modulepath.
func (e *Environment) list(dir string) ([]fs.DirEntry, error) {
	if d := e.directory(dir, ""); d != nil && d.names != nil {
		return d.entries, nil
	}
	return os.ReadDir(dir)
}
