package sqlstore

import (
	"context"

	"indirtui/indirector/model"
)

// Version is the one of the schema.
var Version = len(migrations)

// OpenAt opens a store of an older program, which knows so many migrations, or of a newer
// one, which knows more.
func OpenAt(ctx context.Context, o Options, version int, more ...string) (*Store, error) {
	steps := migrations[:version:version]
	for _, text := range more {
		steps = append(steps, migration{text: text})
	}
	return open(ctx, o, steps)
}

// Exported returns all that EachExported yields.
func (s *Store) Exported(ctx context.Context, q Collection) (found []*model.Resource, err error) {
	err = s.EachExported(ctx, q, func(r *model.Resource) error {
		found = append(found, r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}
