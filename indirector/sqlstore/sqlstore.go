// Package sqlstore keeps the catalogs, facts and reports of nodes in SQL: in one
// SQLite file, or in PostgreSQL for several servers. It is what PuppetDB is to
// Puppet, without a server: what nodes export can be collected, facts be searched,
// nodes be deactivated.
//
//	s, err := sqlstore.Open(ctx, sqlstore.Options{Path: "/var/lib/puppet/indirtui/stores.db"})
//	outcome, err := s.Apply(ctx, command) // "500 resources: 3 new, 1 changed; 496 untouched"
//	err = s.EachExported(ctx, sqlstore.Collection{Type: "Sshkey", Host: "web01"}, yield)
//
// What is stored are the commands of package command, the same that PuppetDB gets,
// and what becomes of them is what PuppetDB makes of them, only at once. Each is one
// transaction. Only what differs from what is there is written. Rules STORE-SQL-01 to
// STORE-SQL-11.
//
// Tables and views may be read by other programs: docs/STORES.md describes them.
package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"indirtui/indirector/stores"
)

// Options are the options of Open. Path or URL is required; of the others zero is the default.
type Options struct {
	Path        string // of the SQLite file, which is made, with its directory
	URL         string // of PostgreSQL; if set, Path does not count
	Synchronous string // of SQLite: off, normal, full or extra; "" is normal
	// Existing reports a file that is not there as fs.ErrNotExist, instead of making it.
	Existing bool
	// Lax stores what PuppetDB would refuse, as far as it can be stored, and
	// reports that. Rule STORE-SQL-03.
	Lax bool
	// Retention is how long what is not renewed is kept.
	Retention Retention
	Now       func() time.Time // nil is time.Now

	became *stores.Log // what became of commands; nil keeps none
}

// A Store is an open file or database. It is safe for concurrent use, also by several
// processes.
type Store struct {
	o    Options
	d    *dialect
	name string // the path, or the URL without its password
	db   *sql.DB
	// steps are the migrations.
	steps []migration
	// Connections of SQLite, which keep their statements. One of them writes.
	writers, readers chan *conn

	mu     sync.Mutex // guards the fields below
	closed bool
	swept  time.Time // when a sweep was begun; zero is unknown
	stop   context.CancelFunc
	work   sync.WaitGroup
}

// Open opens the store, makes it if there is none, and brings an older one up to
// date. Errors name the path or the URL, but no password.
func Open(ctx context.Context, o Options) (*Store, error) { return open(ctx, o, migrations) }

func open(ctx context.Context, o Options, steps []migration) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Store{o: o, name: o.Path, steps: steps}
	s.o.became = stores.NewLog("") // until it is open
	connect := s.openSQLite
	if o.URL != "" {
		s.name = redacted(o.URL)
		connect = s.openPostgres
	}
	err := connect(ctx)
	if err == nil {
		err = s.migrate(ctx)
	}
	if err == nil {
		err = s.checkTables(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the store %s: %w", s.name, s.plain(err)), s.Close())
	}
	if o.became != nil {
		s.o.became = o.became
	}
	return s, nil
}

// Name returns the path of the file, or the URL without its password.
func (s *Store) Name() string { return s.name }

// base is the name in spans: that of the file, without its path, or of the engine.
func (s *Store) base() string {
	if s.o.URL != "" {
		return PostgreSQL
	}
	return filepath.Base(s.name)
}

// Close ends a sweep, waits for what is being done, and closes all connections. A
// second Close does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	closed, stop := s.closed, s.stop
	s.closed = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	if stop != nil {
		stop()
	}
	s.work.Wait()
	var errs []error
	for _, pool := range []chan *conn{s.writers, s.readers} {
		for range cap(pool) {
			if c := <-pool; c != nil {
				errs = append(errs, c.close())
			}
		}
		if pool != nil {
			close(pool)
		}
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	return errors.Join(errs...)
}
