package sqlstore

import (
	"context"
	"time"
)

// A Retention is how long something is kept; zero is for ever. Rule PDB-SEM-07.
type Retention struct {
	Node   time.Duration // after its last command a node expires
	Purge  time.Duration // after it was deactivated or expired a node is removed
	Report time.Duration // after it was produced a report is removed
}

func (s *Store) sweepWhenDue(ctx context.Context) {}
