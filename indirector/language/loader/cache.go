package loader

import (
	"container/list"
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/syntax"
)

// maxKept is how many bytes of sources a Cache keeps as programs. A program takes about
// ten times as much.
const maxKept = 16 << 20

// A RubyFunction is a function of a module that is written in Ruby.
type RubyFunction struct {
	Name   string
	Module string // "" if it is one of the environment itself
	File   string
	Text   string
	Old    bool // of Puppet's older kind: below lib/puppet/parser/functions
}

// A Cache keeps files as programs, until they change. It is safe for concurrent use, and
// serves all environments. Rule LANG-LOAD-14.
type Cache struct {
	library eval.Library
	native  func(RubyFunction) *eval.Builtin
	now     func() time.Time

	mu    sync.Mutex
	files map[fileKey]*list.Element
	used  list.List // of *kept, the last that was used first
	size  int
	held  map[string]fs.FileInfo // of files that did not lead out of their directories
	// What was listed, by path.
	directories map[string]*directory
}

// maxHeld bounds held and directories, which begin anew when there are more.
const maxHeld = 10_000

// A fileKey is a file, and how it is read.
type fileKey struct {
	path, namespace                         string
	epp, made                               bool
	strict                                  syntax.Strictness
	maxErrors, maxWarnings, maxDeprecations int
}

// In a namespace the file is one of a module, which may only have definitions of names that
// begin so.
func keyOf(dir, name, namespace string, o syntax.Options) fileKey {
	return fileKey{under(dir, name), namespace, o.EPP, false, o.DuplicateKeys, o.MaxErrors, o.MaxWarnings, o.MaxDeprecations}
}

// kept is a file that was read.
type kept struct {
	key     fileKey
	info    fs.FileInfo
	digest  [sha256.Size]byte
	size    int
	program *eval.Program
	made    any // of what is no program
}

// NewCache returns an empty cache of programs that call the functions of a library. In
// place of a function in Ruby they call what native returns, which may be nil: then the
// function cannot be called. The same holds if native is nil.
func NewCache(library eval.Library, native func(RubyFunction) *eval.Builtin) *Cache {
	return &Cache{library: library, native: native, now: time.Now, files: map[fileKey]*list.Element{}}
}

// Library returns the functions that the programs call.
func (c *Cache) Library() eval.Library { return c.library }

// A looker is what the system knows of a file: os.Stat, or what it knew before.
type looker func(path string) (fs.FileInfo, error)

// program returns the program of a file below a directory. An error is that of the file;
// what is wrong with the program is part of it. It also returns the size of the file, and
// whether it was parsed now.
func (c *Cache) program(look looker, key fileKey, dir, name string, o syntax.Options) (p *eval.Program, bytes int, parsed bool, err error) {
	known := c.known(key)
	if known != nil {
		// The same file as before did not lead out of the directory then.
		if info, err := look(key.path); err == nil && sameFile(known.info, info) {
			return known.program, known.size, false, nil
		}
	}
	info, err := stat(dir, name)
	if err != nil {
		return nil, 0, false, err
	}
	text, err := read(dir, name)
	if err != nil {
		return nil, 0, false, err
	}
	now := &kept{key: key, info: info, digest: sha256.Sum256([]byte(text)), size: len(text)}
	if known != nil && known.digest == now.digest {
		now.program = known.program
	} else {
		parsed = true
		if key.namespace != "" {
			o.Allowed = func(name string) bool { return strings.HasPrefix(strings.ToLower(name), key.namespace) }
		}
		now.program = eval.Read(&syntax.Source{File: key.path, Text: text}, o, c.library)
	}
	c.keep(now)
	return now.program, now.size, parsed, nil
}

// made returns what is made of the text of a file below a directory. A nil Cache keeps
// nothing.
func (c *Cache) made(look looker, dir, name string, make func(text string) any) (any, error) {
	if c == nil {
		text, err := read(dir, name)
		if err != nil {
			return nil, err
		}
		return make(text), nil
	}
	key := fileKey{path: under(dir, name), made: true}
	known := c.known(key)
	if known != nil {
		if info, err := look(key.path); err == nil && sameFile(known.info, info) {
			return known.made, nil
		}
	}
	info, err := stat(dir, name)
	if err != nil {
		return nil, err
	}
	text, err := read(dir, name)
	if err != nil {
		return nil, err
	}
	now := &kept{key: key, info: info, size: len(text), made: make(text)}
	c.keep(now)
	return now.made, nil
}

// holds reports whether there is a file below a directory. Of one that is as it was, the
// system is asked once: with each directory on the way it is asked six times. A nil Cache
// remembers nothing.
func (c *Cache) holds(look looker, dir, path string) bool {
	name := filepath.ToSlash(strings.TrimPrefix(path, dir+"/"))
	if c == nil {
		_, err := stat(dir, name)
		return err == nil
	}
	now, err := look(path)
	if err != nil {
		return false
	}
	c.mu.Lock()
	known := c.held[path]
	c.mu.Unlock()
	if known != nil && sameFile(known, now) {
		return true
	}
	if now, err = stat(dir, name); err != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil || len(c.held) >= maxHeld {
		c.held = map[string]fs.FileInfo{}
	}
	c.held[path] = now
	return true
}

func sameFile(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// known returns what the cache has of a file, and nil if it has nothing.
func (c *Cache) known(key fileKey) *kept {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.files[key]
	if at == nil {
		return nil
	}
	c.used.MoveToFront(at)
	return at.Value.(*kept)
}

// keep replaces what the cache has of a file. What was used longest ago goes.
func (c *Cache) keep(k *kept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.files[k.key]; at != nil {
		c.drop(at)
	}
	c.files[k.key] = c.used.PushFront(k)
	for c.size += k.size; c.size > maxKept && c.used.Len() > 1; {
		c.drop(c.used.Back())
	}
}

func (c *Cache) drop(at *list.Element) {
	k := c.used.Remove(at).(*kept)
	delete(c.files, k.key)
	c.size -= k.size
}
