package fleet

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver
)

//go:embed sqlite.sql
var sqliteSchema string

// WriteSQLite writes a recording as the tables of a fleet into a new file of
// SQLite. Times are texts in RFC 3339, of UTC. Lines that cannot be read are
// counted. Rule FLEET-06.
func WriteSQLite(ctx context.Context, file, recording string) (requests, damaged int, err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, 0, fmt.Errorf("make a file of SQLite: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write %s: %w", file, err), os.Remove(file))
		}
	}()
	if err := f.Close(); err != nil {
		return 0, 0, err
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	q, err := openQueue(recording)
	if err != nil {
		return 0, 0, err
	}
	defer q.close()
	if _, err := q.seek(place{part: q.header.Part}); err != nil {
		return 0, 0, err
	}
	x := &sqliteWriter{db: db, names: map[string]int{}}
	if _, err := db.ExecContext(ctx, sqliteSchema+fmt.Sprintf("INSERT INTO schema_version VALUES (%d);", len(migrations))); err != nil {
		return 0, 0, err
	}
	for pack := newPacker(); ; {
		b := newBatch(q.place, pack, int64(requests), func(from string) int { return x.instance(cmp.Or(from, q.header.Instance, "recording")) })
		if err := b.fill(q, maxRows); err != nil {
			return requests, damaged, err
		}
		if b.empty() {
			return requests, damaged, nil
		}
		if err := x.write(ctx, b); err != nil {
			return requests, damaged, err
		}
		requests += len(b.rows)
		damaged += b.damaged
	}
}

type sqliteWriter struct {
	db    *sql.DB
	names map[string]int // instances
	known int            // of these are in the file
}

func (x *sqliteWriter) instance(name string) int {
	if x.names[name] == 0 {
		x.names[name] = len(x.names) + 1
	}
	return x.names[name]
}

// sqliteTime sorts as text.
const sqliteTime = "2006-01-02T15:04:05.000000Z"

// write adds a batch in one transaction.
func (x *sqliteWriter) write(ctx context.Context, b *batch) (err error) {
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	for name, id := range x.names {
		if id <= x.known {
			continue
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO instances VALUES (?, ?)", id, name); err != nil {
			return err
		}
	}
	x.known = len(x.names)
	row, err := tx.PrepareContext(ctx, "INSERT OR IGNORE INTO traces VALUES (?"+strings.Repeat(", ?", len(columns)-1)+")")
	if err != nil {
		return err
	}
	defer row.Close()
	for _, r := range b.rows {
		for i, v := range r {
			if at, is := v.(time.Time); is {
				r[i] = at.Format(sqliteTime)
			}
		}
		if _, err := row.ExecContext(ctx, r...); err != nil {
			return err
		}
	}
	for digest, line := range b.values {
		key, _ := hex.DecodeString(digest) // it is one
		if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO "values" VALUES (?, ?)`, key, line); err != nil {
			return err
		}
	}
	for _, r := range b.sortedRuns() {
		_, err := tx.ExecContext(ctx, `INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
			first = min(first, excluded.first), last = max(last, excluded.last), requests = requests + excluded.requests`,
			r.instance, r.Run, r.Node, r.Transaction, r.First.UTC().Format(sqliteTime), r.Last.UTC().Format(sqliteTime), r.Requests)
		if err != nil {
			return err
		}
	}
	return tx.Commit()
}
