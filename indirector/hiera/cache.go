package hiera

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"indirtui/indirector/data"
	"indirtui/indirector/format/psych"
)

// maxFile bounds a data file. Rule HIERA-PERF-03.
const maxFile = 64 << 20

// maxFiles bounds how many files a Cache keeps. When there are more it begins anew,
// which costs less than to know which are the oldest.
const maxFiles = 10_000

// A Cache keeps what files hold, until they change. It is safe for concurrent use.
// Rules HIERA-DATA-07, HIERA-PERF-01.
type Cache struct {
	mu      sync.Mutex
	files   map[string]*file
	read    uint64              // how many files were read
	answers map[string]*answers // by the content of layers
	known   int                 // spans among the answers
}

// NewCache returns an empty Cache.
func NewCache() *Cache { return &Cache{files: map[string]*file{}, answers: map[string]*answers{}} }

// A file is the data of a file, with an index of its keys.
type file struct {
	number uint64 // no other file, and none before, has the same; 0 if it is no file
	stat   os.FileInfo
	value  data.Value
	index  map[string]data.Value
	config atomic.Pointer[config] // what it is as a hiera.yaml of version 5; nil if that is not known

	positions sync.Once
	lines     map[string]int // of its keys; see Cache.line
}

// load returns the data of a file, which parse makes of its content. The same
// content is parsed once. The system is asked about the file if stat is nil.
func (c *Cache) load(path string, stat os.FileInfo, parse func(content []byte) (data.Value, error)) (*file, error) {
	if stat == nil {
		var err error
		if stat, err = os.Stat(path); err != nil {
			return nil, readError(path, err)
		}
	}
	c.mu.Lock()
	f := c.files[path]
	c.mu.Unlock()
	if f != nil && f.is(stat) {
		return f, nil
	}
	content, err := readRegular(path, stat)
	if err != nil {
		return nil, err
	}
	v, err := parse(content)
	if err != nil {
		return nil, err
	}
	f = &file{stat: stat, value: v, index: indexOf(v)}
	c.mu.Lock()
	if len(c.files) >= maxFiles {
		clear(c.files)
	}
	c.read++
	f.number = c.read
	c.files[path] = f
	c.mu.Unlock()
	return f, nil
}

// load returns the data of a file from the cache.
func (c *Compile) load(path string, parse func(content []byte) (data.Value, error)) (*file, error) {
	if c.o.Used != nil {
		c.o.Used(path)
	}
	stat := c.stats[path]
	delete(c.stats, path)
	return c.cache.load(path, stat, parse)
}

// is reports whether a file did not change.
func (f *file) is(stat os.FileInfo) bool {
	return os.SameFile(f.stat, stat) && f.stat.Size() == stat.Size() && f.stat.ModTime().Equal(stat.ModTime())
}

// indexOf is a map of the string keys of a hash.
func indexOf(v data.Value) map[string]data.Value {
	index := make(map[string]data.Value, v.Len())
	for _, p := range v.Hash() {
		if p.Key.Kind() == data.String {
			index[p.Key.Str()] = p.Value
		}
	}
	return index
}

func readRegular(path string, stat os.FileInfo) ([]byte, error) {
	if !stat.Mode().IsRegular() {
		// A named pipe would wait for a writer.
		return nil, &Error{Class: "Errno::EISDIR", Message: fmt.Sprintf("Is a directory @ io_fread - %s", path)}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, readError(path, err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, readError(path, err)
	}
	if len(content) > maxFile {
		return nil, lookupError("%s: the file has more than %d MiB", path, maxFile>>20)
	}
	return content, nil
}

// readError is Ruby's error for a file that cannot be read.
func readError(path string, err error) error {
	switch {
	case errors.Is(err, os.ErrPermission):
		return &Error{Class: "Errno::EACCES", Message: "Permission denied @ rb_sysopen - " + path}
	case errors.Is(err, os.ErrNotExist):
		return &Error{Class: "Errno::ENOENT", Message: "No such file or directory @ rb_sysopen - " + path}
	}
	return fmt.Errorf("read %q: %w", path, err)
}

// parseYAML reads YAML as Puppet's safe_load with symbols does. What is empty is
// false. Rule HIERA-DATA-01.
func parseYAML(content []byte, path string) (data.Value, error) {
	doc, err := psych.Decode(content, psych.Limits{Bytes: maxFile, Depth: maxDepth})
	if doc != nil {
		if foreign, refused := doc.Refused("Symbol"); refused {
			return data.Value{}, &Error{Class: WrongYAML, Message: foreign.Message(path)}
		}
	}
	if err != nil {
		message := psych.Message(err, path)
		if errors.Is(err, psych.ErrLimit) {
			message = "(" + path + "): " + message // Ruby has no such limit
		}
		return data.Value{}, &Error{Class: WrongYAML, Message: message}
	}
	if doc.Empty || doc.Value.IsNil() {
		return data.OfBool(false), nil
	}
	return doc.Value, nil
}

// stringKeys makes strings of the symbols among keys.
func stringKeys(v data.Value) data.Value {
	switch v.Kind() {
	case data.List:
		list := make([]data.Value, v.Len())
		for i, e := range v.List() {
			list[i] = stringKeys(e)
		}
		return data.OfList(list)
	case data.Hash:
		h := make([]data.Pair, v.Len())
		for i, p := range v.Hash() {
			h[i] = data.Pair{Key: p.Key, Value: stringKeys(p.Value)}
			if p.Key.Kind() == data.Symbol {
				h[i].Key = data.OfString(p.Key.Str())
			}
		}
		return data.OfHash(h)
	default:
		return v
	}
}
