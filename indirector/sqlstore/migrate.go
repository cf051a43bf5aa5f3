package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// migrate brings the schema to the version of this program. Rule STORE-SQL-08.
func (s *Store) migrate(ctx context.Context) error {
	version, err := s.version(ctx)
	if err != nil {
		return err
	}
	latest := len(s.steps)
	if version > latest {
		return fmt.Errorf("its schema has version %d, and this program knows %d: a newer one has written it", version, latest)
	}
	if version > 0 && version < latest && s.writers != nil {
		if err := s.backUp(ctx, version); err != nil {
			return err
		}
	}
	first := version
	for ; version < latest; version++ {
		if err := s.step(ctx, version); err != nil {
			return fmt.Errorf("migrate its schema from version %d to %d: %w", version, version+1, err)
		}
	}
	if first > 0 && first < latest && s.writers != nil {
		_ = s.alone(ctx, func(c *conn) error { // what it fails to give back is used again
			_, err := c.ExecContext(ctx, "VACUUM")
			return err
		})
	}
	return nil
}

// version returns that of the schema; 0 is an empty database.
func (s *Store) version(ctx context.Context) (version int, err error) {
	err = s.look(ctx, func(c *conn) error {
		version, err = c.version(ctx)
		return err
	})
	return version, err
}

func (c *conn) version(ctx context.Context) (version int, err error) {
	if c.s.writers != nil {
		return version, c.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	}
	var there bool
	if err := c.QueryRowContext(ctx, "SELECT to_regclass('schema_version') IS NOT NULL").Scan(&there); err != nil || !there {
		return 0, err
	}
	return version, c.QueryRowContext(ctx, "SELECT coalesce(max(version), 0) FROM schema_version").Scan(&version)
}

// step takes one step, unless another process has.
func (s *Store) step(ctx context.Context, from int) error {
	_, err := s.change(ctx, func(c *conn) error {
		if s.writers == nil {
			const lock = 0x696e6469 // any number that all agree on
			if _, err := c.ExecContext(ctx, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", lock)); err != nil {
				return err
			}
		}
		if is, err := c.version(ctx); err != nil || is != from {
			return err
		}
		step := s.steps[from]
		if _, err := c.ExecContext(ctx, s.d.types.Replace(step.text)); err != nil {
			return err
		}
		if step.then != nil {
			if err := step.then(ctx, c); err != nil {
				return err
			}
		}
		after := fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", from+1, applicationID)
		if s.writers == nil {
			after = fmt.Sprintf("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY, at TIMESTAMPTZ NOT NULL DEFAULT now()); INSERT INTO schema_version(version) VALUES (%d)", from+1)
		}
		_, err := c.ExecContext(ctx, after)
		return err
	})
	return err
}

// backUp copies the file as it is before a migration.
func (s *Store) backUp(ctx context.Context, version int) error {
	path := fmt.Sprintf("%s.version-%d", s.o.Path, version)
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path))
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := s.alone(ctx, func(c *conn) error {
		_, err := c.ExecContext(ctx, "VACUUM INTO ?", temp)
		return err
	})
	if err == nil {
		err = os.Chmod(temp, 0o600)
	}
	is := version
	if err == nil {
		is, err = s.version(ctx)
	}
	if err != nil {
		return fmt.Errorf("copy it to %s before its schema is migrated: %w", path, err)
	}
	if is != version { // another process was first, and has made the copy
		return os.Remove(temp)
	}
	return os.Rename(temp, path)
}

// checkTables refuses tables that were changed by hand: what is written to them would
// be lost, or fail halfway.
func (s *Store) checkTables(ctx context.Context) error {
	return s.look(ctx, func(c *conn) error {
		for _, t := range tablesOf(s.steps) {
			rows, err := c.QueryContext(ctx, "SELECT * FROM "+t.name+" LIMIT 0")
			if err != nil {
				return fmt.Errorf("its table %s cannot be read; restore a copy: %w", t.name, err)
			}
			columns, err := rows.Columns()
			if err := errors.Join(err, rows.Close()); err != nil {
				return err
			}
			for _, name := range columns {
				if !slices.Contains(t.columns, name) {
					return fmt.Errorf("its table %s has a column %q, which version %d of the schema has not: remove it, or keep what is yours in a table of your own", t.name, name, len(s.steps))
				}
			}
			for _, name := range t.columns {
				if !slices.Contains(columns, name) {
					return fmt.Errorf("its table %s lacks the column %q of version %d of the schema: restore a copy", t.name, name, len(s.steps))
				}
			}
		}
		return nil
	})
}

// A table is what the schema has of one.
type table struct {
	name    string
	columns []string
}

var (
	createTable = regexp.MustCompile(`(?s)CREATE TABLE (\w+) \(\n(.*?)\n\)`)
	columnLine  = regexp.MustCompile(`(?m)^\t([a-z_]+) `)
	addColumn   = regexp.MustCompile(`ALTER TABLE (\w+) ADD COLUMN (\w+)`)
	dropTable   = regexp.MustCompile(`DROP TABLE (\w+)`)
)

// tablesOf returns the tables that migrations make and leave, by name.
func tablesOf(steps []migration) (tables []table) {
	for _, step := range steps {
		for _, m := range createTable.FindAllStringSubmatch(step.text, -1) {
			t := table{name: m[1]}
			for _, c := range columnLine.FindAllStringSubmatch(m[2], -1) {
				t.columns = append(t.columns, c[1])
			}
			tables = append(tables, t)
		}
		for _, m := range addColumn.FindAllStringSubmatch(step.text, -1) {
			i := slices.IndexFunc(tables, func(t table) bool { return t.name == m[1] })
			tables[i].columns = append(tables[i].columns, m[2])
		}
		for _, m := range dropTable.FindAllStringSubmatch(step.text, -1) {
			tables = slices.DeleteFunc(tables, func(t table) bool { return t.name == m[1] })
		}
	}
	slices.SortFunc(tables, func(a, b table) int { return cmp.Compare(a.name, b.name) })
	return tables
}
