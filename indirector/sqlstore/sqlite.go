package sqlstore

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// applicationID is in the header of the file: "indi".
const applicationID = 0x696e6469

// readers is how many connections read at once.
const readers = 4

// openSQLite opens the file, after a look at it. Rule STORE-SQL-01.
func (s *Store) openSQLite(ctx context.Context) error {
	s.d = &sqliteDialect
	path, err := filepath.Abs(s.o.Path)
	if err != nil {
		return err
	}
	if err := prepareFile(path, s.o.Existing); err != nil {
		return err
	}
	synchronous := s.o.Synchronous
	if synchronous == "" {
		synchronous = "normal"
	}
	if !slices.Contains([]string{"off", "normal", "full", "extra"}, synchronous) {
		return fmt.Errorf("synchronous is %q; it is off, normal, full or extra", synchronous)
	}
	dsn := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{
		"_pragma": {"busy_timeout(5000)", "foreign_keys(1)", "synchronous(" + synchronous + ")", "temp_store(memory)", "cache_size(-6000)", "wal_autocheckpoint(4000)", "journal_size_limit(33554432)"},
	}.Encode()}
	connector, err := sqlite.NewConnector(dsn.String())
	if err != nil {
		return err
	}
	s.db = sql.OpenDB(connector)
	s.writers, s.readers = make(chan *conn, 1), make(chan *conn, readers)
	s.writers <- nil
	for range readers {
		s.readers <- nil
	}
	if err := s.ours(ctx); err != nil {
		return err
	}
	return s.alone(ctx, func(c *conn) error {
		var mode string
		if err := c.QueryRowContext(ctx, "PRAGMA journal_mode=WAL").Scan(&mode); err != nil {
			return err
		}
		if mode != "wal" {
			return fmt.Errorf("the file system takes no write-ahead log: journal_mode stays %q", mode)
		}
		return nil
	})
}

// alone does something with the connection that writes, outside of a transaction.
func (s *Store) alone(ctx context.Context, do func(*conn) error) error {
	c, release, err := s.take(ctx, s.writers)
	if err != nil {
		return err
	}
	defer release(false)
	return do(c)
}

// ours refuses a database of another program.
func (s *Store) ours(ctx context.Context) error {
	return s.alone(ctx, func(c *conn) error {
		var id, tables int
		err := c.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id)
		if err == nil {
			err = c.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables)
		}
		if err == nil && id != applicationID && (id != 0 || tables > 0) {
			err = fmt.Errorf("it is an SQLite database of another program (application_id %#x); name another file in sqlite_database", id)
		}
		return err
	})
}

// prepareFile makes the file, for this user only, or looks whether what is there can
// be a store.
func prepareFile(path string, existing bool) error {
	if !existing {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return err
		}
	}
	if kind, err := networkFS(filepath.Dir(path)); err != nil || kind != "" {
		if err == nil {
			err = fmt.Errorf("it is on a network file system (%s), where SQLite loses data; name a local file in sqlite_database, or use postgresql", kind)
		}
		return err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return errors.New("it is no regular file")
	}
	flags := os.O_RDWR | os.O_CREATE
	if existing {
		flags = os.O_RDWR
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errReadOnly) {
		f, err = os.Open(path) // it can be read, perhaps
	}
	if err != nil {
		return err
	}
	return errors.Join(inspect(f, path), f.Close())
}

// inspect refuses what is no whole SQLite file, before SQLite changes it.
func inspect(f *os.File, path string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := f.Chmod(0o600); err != nil {
			return fmt.Errorf("others may read it (mode %v): %w", info.Mode().Perm(), err)
		}
	}
	if info.Size() == 0 {
		return nil
	}
	const header = 100
	b := make([]byte, header)
	if n, err := io.ReadFull(f, b); err != nil || string(b[:16]) != "SQLite format 3\x00" {
		if err == nil || n < header {
			err = errors.New("it is no SQLite database; name another file in sqlite_database")
		}
		return err
	}
	// With a log beside it, the file may be behind its header.
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
		return nil
	}
	page := int64(binary.BigEndian.Uint16(b[16:]))
	if page == 1 {
		page = 64 << 10
	}
	if want := page * int64(binary.BigEndian.Uint32(b[28:])); info.Size() < want {
		return fmt.Errorf("it is cut off: %d of %d bytes are there; put a copy in its place, or remove it", info.Size(), want)
	}
	return nil
}

// sqliteAdvice puts what can be done behind what SQLite reports.
func sqliteAdvice(err error) error {
	e := (*sqlite.Error)(nil)
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("another process has been writing for 5 seconds: %w", err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("the disk is full: %w", err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return fmt.Errorf("the file cannot be written: %w", err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("the file is damaged; put a copy in its place, or remove it: %w", err)
	}
	return err
}
