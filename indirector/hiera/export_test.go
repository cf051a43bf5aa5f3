package hiera

// Known returns how many spans a compile's cache remembers of lookups.
func Known(c *Compile) int {
	n := 0
	for _, a := range c.cache.answers {
		for _, one := range a.by {
			n += len(one.spans.all)
		}
	}
	return n
}
