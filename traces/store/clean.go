package store

import (
	"strings"
	"sync"
)

// Limits of what is remembered as clean.
const (
	maxClean     = 256  // bytes of a text
	maxCleanOnes = 4096 // texts of a generation
)

// A cleanTexts remembers texts without secrets: those of requests are mostly the same few,
// and to look for secrets in them is a third of what a compile costs.
type cleanTexts struct {
	redact func(string) (string, int)
	known  generations[string]
}

// remembering returns a function that redacts as another one, which is the same for the
// same text; nil stays nil.
func remembering(redact func(string) (string, int)) func(string) (string, int) {
	if redact == nil {
		return nil
	}
	c := &cleanTexts{redact: redact}
	return c.text
}

func (c *cleanTexts) text(s string) (string, int) {
	if len(s) > maxClean {
		return c.redact(s)
	}
	if c.known.has(s) {
		return s, 0
	}
	out, n := c.redact(s)
	if n == 0 && out == s {
		c.known.add(strings.Clone(s)) // it may be a part of a large text
	}
	return out, n
}

// cleanPairs remembers names and values that are clean together: to ask costs no text of
// both. A nil one remembers nothing.
type cleanPairs struct{ known generations[[2]string] }

func (c *cleanPairs) has(name, value string) bool {
	return c != nil && len(name)+len(value) <= maxClean && c.known.has([2]string{name, value})
}

func (c *cleanPairs) add(name, value string) {
	if c != nil && len(name)+len(value) <= maxClean {
		c.known.add([2]string{strings.Clone(name), strings.Clone(value)})
	}
}

// A generations is a set that forgets what was not asked for lately. The zero value is
// empty. It is safe for concurrent use.
type generations[K comparable] struct {
	mu    sync.Mutex
	young map[K]K
	old   map[K]K // those before, of which the used ones become young again
}

func (g *generations[K]) has(k K) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.young[k]; ok {
		return true
	}
	known, ok := g.old[k]
	if ok {
		g.keep(known)
	}
	return ok
}

func (g *generations[K]) add(k K) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.keep(k)
}

func (g *generations[K]) keep(k K) {
	if g.young == nil || len(g.young) >= maxCleanOnes {
		g.young, g.old = make(map[K]K), g.young
	}
	g.young[k] = k
}
