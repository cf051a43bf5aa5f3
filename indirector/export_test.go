package indirector

import "time"

// TTL returns how long what is found of an indirection stays fresh.
func (x *Indirector) TTL(indirection string) time.Duration {
	return x.table.Load().by[indirection].ttl()
}
