package store

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// Limits of what is remembered as clean.
const (
	maxClean     = 256  // bytes of a text
	maxCleanOnes = 4096 // texts
)

// A cleanTexts remembers texts without secrets: those of requests are mostly the same few,
// and to look for secrets in them is a third of what a compile costs.
type cleanTexts struct {
	redact func(string) (string, int)
	known  *recent[string]
}

// remembering returns a function that redacts as another one, which is the same for the
// same text; nil stays nil.
func remembering(redact func(string) (string, int)) func(string) (string, int) {
	if redact == nil {
		return nil
	}
	c := &cleanTexts{redact, newRecent[string]()}
	return c.text
}

func (c *cleanTexts) text(s string) (string, int) {
	if len(s) > maxClean {
		return c.redact(s)
	}
	at, hash := c.known.place(s)
	if at.has(s) {
		return s, 0
	}
	out, n := c.redact(s)
	if n == 0 && out == s && at.again(hash) {
		at.keep(strings.Clone(s)) // it may be a part of a large text
	}
	return out, n
}

// cleanPairs remembers names and values that are clean together: to ask costs no text of
// both. A nil one remembers nothing.
type cleanPairs struct{ known *recent[[2]string] }

func newCleanPairs() *cleanPairs { return &cleanPairs{newRecent[[2]string]()} }

func (c *cleanPairs) has(name, value string) bool {
	if c == nil || len(name)+len(value) > maxClean {
		return false
	}
	at, _ := c.known.place([2]string{name, value})
	return at.has([2]string{name, value})
}

func (c *cleanPairs) add(name, value string) {
	if c == nil || len(name)+len(value) > maxClean {
		return
	}
	if at, hash := c.known.place([2]string{name, value}); at.again(hash) {
		at.keep([2]string{strings.Clone(name), strings.Clone(value)})
	}
}

// A recent has places for what comes again and again. Many share a place, in which the
// last one stays that came twice: what is used all the time is soon back, what comes once
// takes no memory, and nothing waits for a lock.
type recent[K comparable] struct {
	seed   maphash.Seed
	places [maxCleanOnes]place[K]
}

type place[K comparable] struct {
	known atomic.Pointer[K]
	last  atomic.Uint64 // the hash of what came last
}

func newRecent[K comparable]() *recent[K] { return &recent[K]{seed: maphash.MakeSeed()} }

func (r *recent[K]) place(k K) (at *place[K], hash uint64) {
	hash = maphash.Comparable(r.seed, k)
	return &r.places[hash%maxCleanOnes], hash
}

func (p *place[K]) has(k K) bool {
	known := p.known.Load()
	return known != nil && *known == k
}

// again reports whether it is what came last.
func (p *place[K]) again(hash uint64) bool { return p.last.Swap(hash) == hash }

func (p *place[K]) keep(k K) { p.known.Store(&k) }
