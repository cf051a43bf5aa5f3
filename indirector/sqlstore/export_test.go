package sqlstore

import "context"

// OpenWith opens a store with other migrations.
func OpenWith(ctx context.Context, o Options, steps []string) (*Store, error) {
	return open(ctx, o, steps)
}

// Migrations are those of the program.
func Migrations() []string { return migrations }
