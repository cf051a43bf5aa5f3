package facter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/host/files"
	"indirtui/traces"
)

// DefaultCacheDir returns where Facter caches facts: that of Puppet's packages if
// the configuration is theirs, else that of Debian's. Rule RES-FACT-03.
func DefaultCacheDir(config string) string {
	if strings.HasPrefix(config, "/etc/puppetlabs/") {
		return "/opt/puppetlabs/facter/cache/cached_facts"
	}
	return "/var/cache/facter/facts"
}

const versionKey = "cache_format_version"

// A cached is the file of one group.
type cached struct {
	ttl
	path    string // "" if the group has no name for a file
	written time.Time
	fresh   bool
	old     map[string]data.Value // what a fresh file has
	added   map[string]data.Value // what was found out
}

// cached returns the file of a group, which is read at its first use.
func (c *collector) cached(t ttl) *cached {
	k := c.caches[t.group]
	if k != nil {
		return k
	}
	k = &cached{ttl: t, added: map[string]data.Value{}}
	if c.caches == nil {
		c.caches = map[string]*cached{}
	}
	c.caches[t.group] = k
	if strings.ContainsAny(t.group, "/\x00") || t.group == "" || t.group == "." || t.group == ".." {
		c.problem(c.o.CacheDir, "the group %q has no name for a file, and is not cached", t.group)
		return k
	}
	k.path = filepath.Join(c.o.CacheDir, t.group)
	_, span := traces.Start(c.ctx, traces.File, "read cache "+k.path)
	answer, err := k.read()
	span.End(answer, traces.Because{}, err)
	return k
}

// read reads the file if it is fresh, and returns a word about it. What is no
// cache of Facter is none.
func (k *cached) read() (string, error) {
	info, err := os.Stat(k.path)
	if err != nil || !info.Mode().IsRegular() {
		return "none", nil
	}
	k.written = info.ModTime()
	if age := time.Since(k.written); age >= k.keep {
		return fmt.Sprintf("expired %s ago", (age - k.keep).Round(time.Second)), nil
	}
	text, err := readText(k.path)
	if err != nil {
		return "unreadable", err
	}
	v, err := decodeJSON(text)
	if err != nil || v.Kind() != data.Hash {
		return "broken", err
	}
	if version := v.Get(versionKey); version.Kind() != data.Int || version.Int() != 1 {
		return "of another version", nil
	}
	k.fresh, k.old = true, make(map[string]data.Value, v.Len())
	for _, p := range v.Hash() {
		if name := p.Key.Text(); name != versionKey {
			k.old[name] = p.Value
		}
	}
	return fmt.Sprintf("%d facts", len(k.old)), nil
}

// hit returns a fact that is cached; nil if it is cached that there is none.
func (c *collector) hit(name string) (data.Value, bool) {
	if c.o.CacheDir == "" {
		return data.Value{}, false
	}
	t, ok := c.o.Config.ttl(name)
	if !ok {
		return data.Value{}, false
	}
	v, ok := c.cached(t).old[name]
	return v, ok
}

// keep notes a fact that was found out, if it is to be cached. That there is none
// is kept, too: it keeps Facter from reading the group anew each time.
func (c *collector) keep(name string, v data.Value) {
	if t, ok := c.o.Config.ttl(name); ok && c.o.CacheDir != "" {
		c.cached(t).added[name] = v
	}
}

// cachedCustom are the facts of fresh files, of which Ruby takes those that are custom. A
// value that is none or false counts as not cached, as for Facter.
func (c *collector) cachedCustom() hash {
	if c.o.CacheDir == "" {
		return nil
	}
	for _, t := range c.o.Config.ttls {
		if !t.unknown {
			c.cached(t)
		}
	}
	var h hash
	for _, k := range c.caches {
		for name := range k.old {
			if v, ok := c.hit(name); ok && v.Truthy() {
				h.value(name, v)
			}
		}
	}
	return h
}

// throughCache puts custom facts that are cached in the place of those that were found out,
// and keeps the others.
func (c *collector) throughCache(h hash) {
	for i, p := range h {
		name := p.Key.Str()
		if v, ok := c.hit(name); ok && v.Truthy() {
			h[i].Value = v
		} else {
			c.keep(name, p.Value)
		}
	}
}

// facts are those of the file of an external one.
func (k *cached) facts() data.Value {
	var h hash
	for _, name := range slices.Sorted(maps.Keys(k.old)) {
		h.put(name, k.old[name])
	}
	return data.OfHash(h)
}

// saveCaches writes what was found out. A fresh file that lacks something gets it,
// and does not live longer for that.
func (c *collector) saveCaches() {
	if c.o.ReadOnly {
		return
	}
	for _, group := range slices.Sorted(maps.Keys(c.caches)) {
		k := c.caches[group]
		if len(k.added) == 0 || k.path == "" {
			continue
		}
		_, span := traces.Start(c.ctx, traces.File, "write cache "+k.path)
		err := k.write()
		span.End(fmt.Sprintf("%d facts", len(k.old)+len(k.added)), traces.Because{}, err)
		if err != nil {
			c.sentence(k.path, "Could not write cache: %s", err)
		}
	}
}

func (k *cached) write() error {
	var all hash
	for _, facts := range []map[string]data.Value{k.old, k.added} {
		for _, name := range slices.Sorted(maps.Keys(facts)) {
			all.put(name, facts[name])
		}
	}
	all.num(versionKey, 1)
	line, err := format.AppendJSON(nil, data.OfHash(all))
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, line, "", "  "); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(k.path), 0o755); err != nil {
		return err
	}
	if err := files.Write(k.path, out.Bytes(), files.Options{Mode: 0o644}); err != nil || !k.fresh {
		return err
	}
	return os.Chtimes(k.path, k.written, k.written)
}
