package fleet

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

//go:embed schema.sql
var schema1 string

// migrations lead from each version of the schema to the next. What was released
// is never changed. Rule FLEET-06.
var migrations = []string{schema1}

// ErrNewer reports a schema that a newer program has made.
var ErrNewer = errors.New("use a newer program")

// prepare brings the schema to this version, where the role may do that; each
// migration is one transaction. A role that may not needs no more than the schema
// being there.
func prepare(ctx context.Context, c *pgx.Conn, versions []string) error {
	for {
		have, err := version(ctx, c)
		switch {
		case err != nil:
			return err
		case have > len(versions):
			return newer(have, len(versions))
		case have == len(versions):
			return nil
		}
		if err := migrate(ctx, c, have, versions[have]); err != nil {
			return fmt.Errorf("bring the schema of the database from version %d to %d: %w", have, have+1, err)
		}
	}
}

// known reports why the tables cannot be read: they are not there, or newer.
func known(ctx context.Context, c conn) error {
	have, err := version(ctx, c)
	switch {
	case err != nil:
		return err
	case have == 0:
		return errors.New("nothing was shipped there yet: there is no schema indirtui")
	case have > len(migrations):
		return newer(have, len(migrations))
	case have < len(migrations):
		return fmt.Errorf("the schema of the database is version %d, and this program needs %d: it is brought there by a program that ships", have, len(migrations))
	}
	return nil
}

func newer(have, known int) error {
	return fmt.Errorf("the schema of the database is version %d, and this program knows up to %d: %w", have, known, ErrNewer)
}

// schemaLock keeps two programs from migrating at the same time.
const schemaLock = 0x696e6469

func migrate(ctx context.Context, c *pgx.Conn, from int, script string) error {
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", schemaLock); err != nil {
			return err
		}
		if have, err := version(ctx, tx); err != nil || have != from {
			return err // another program was faster
		}
		if _, err := tx.Exec(ctx, script); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "INSERT INTO indirtui.schema_version (version) VALUES ($1)", from+1)
		return err
	})
}

// version returns the version of the schema; 0 if there is none.
func version(ctx context.Context, c conn) (n int, err error) {
	var there bool
	if err := c.QueryRow(ctx, "SELECT to_regclass('indirtui.schema_version') IS NOT NULL").Scan(&there); err != nil || !there {
		return 0, err
	}
	err = c.QueryRow(ctx, "SELECT max(version) FROM indirtui.schema_version").Scan(&n)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "42501" {
		return 0, fmt.Errorf("this role may not read the schema: docs/FLEETS.md has what it needs: %w", err)
	}
	return n, err
}
