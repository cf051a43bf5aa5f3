package loader

import "time"

// SetClock makes a cache take directories for as old as a clock has it.
func (c *Cache) SetClock(now func() time.Time) { c.now = now }
