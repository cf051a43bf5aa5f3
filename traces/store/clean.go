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

	mu    sync.Mutex // guards what follows
	young map[string]bool
	old   map[string]bool // those before, of which the used ones become young again
}

// remembering returns a function that redacts as another one, which is the same for the
// same text; nil stays nil.
func remembering(redact func(string) (string, int)) func(string) (string, int) {
	if redact == nil {
		return nil
	}
	c := &cleanTexts{redact: redact, young: map[string]bool{}}
	return c.text
}

func (c *cleanTexts) text(s string) (string, int) {
	if len(s) > maxClean {
		return c.redact(s)
	}
	if c.isClean(s) {
		return s, 0
	}
	out, n := c.redact(s)
	if n == 0 && out == s {
		c.add(s)
	}
	return out, n
}

func (c *cleanTexts) isClean(s string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.young[s] {
		return true
	}
	if !c.old[s] {
		return false
	}
	c.keep(s)
	return true
}

func (c *cleanTexts) add(s string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(s)
}

func (c *cleanTexts) keep(s string) {
	if len(c.young) >= maxCleanOnes {
		c.young, c.old = make(map[string]bool, maxCleanOnes), c.young
	}
	c.young[strings.Clone(s)] = true // it may be a part of a large text
}
