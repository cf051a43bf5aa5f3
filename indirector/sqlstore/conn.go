package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"

	"indirtui/indirector/stores"
)

// errClosed reports the use of a Store after its Close.
var errClosed = errors.New("the store is closed")

// A conn is one connection, in a transaction. Statements have question marks for their
// values.
type conn struct {
	*sql.Conn
	s     *Store
	stmts map[string]*sql.Stmt // by text; nil where the driver keeps them
}

// maxStmts is how many statements a connection keeps. There are some dozens, but for
// searches of many conditions.
const maxStmts = 200

// exec returns how many rows were changed.
func (c *conn) exec(ctx context.Context, text string, args ...any) (int64, error) {
	stmt, err := c.statement(ctx, text)
	if err != nil {
		return 0, err
	}
	var res sql.Result
	if stmt != nil {
		res, err = stmt.ExecContext(c.within(ctx), args...)
	} else {
		res, err = c.ExecContext(c.within(ctx), c.s.d.sql(text), args...)
	}
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// each calls read for each row that a statement finds.
func (c *conn) each(ctx context.Context, read func(scan func(...any) error) error, text string, args ...any) error {
	stmt, err := c.statement(ctx, text)
	if err != nil {
		return err
	}
	var rows *sql.Rows
	if stmt != nil {
		rows, err = stmt.QueryContext(c.within(ctx), args...)
	} else {
		rows, err = c.QueryContext(c.within(ctx), c.s.d.sql(text), args...)
	}
	if err != nil {
		return err
	}
	for n := 0; err == nil && rows.Next(); n++ {
		if n&0xff == 0xff {
			err = ctx.Err()
		}
		if err == nil {
			err = read(rows.Scan)
		}
	}
	return errors.Join(err, rows.Err(), rows.Close())
}

// one reads the one row that a statement finds, and reports whether there is one.
func (c *conn) one(ctx context.Context, into []any, text string, args ...any) (found bool, err error) {
	err = c.each(ctx, func(scan func(...any) error) error {
		found = true
		return scan(into...)
	}, text, args...)
	return found, err
}

// statement returns a statement that is kept, or nil if it is to be parsed anew.
func (c *conn) statement(ctx context.Context, text string) (*sql.Stmt, error) {
	if err := ctx.Err(); err != nil || c.stmts == nil {
		return nil, err
	}
	stmt := c.stmts[text]
	if stmt == nil && len(c.stmts) < maxStmts {
		var err error
		if stmt, err = c.PrepareContext(c.within(ctx), c.s.d.sql(text)); err != nil {
			return nil, err
		}
		c.stmts[text] = stmt
	}
	return stmt, nil
}

// close closes the statements, which would keep the file open, and gives the connection
// back.
func (c *conn) close() error {
	var errs []error
	for _, stmt := range c.stmts {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, c.Close())...)
}

// within returns the context of one statement. One of SQLite takes no time that is
// worth a goroutine to watch over it; the context is looked at between them.
func (c *conn) within(ctx context.Context) context.Context {
	if c.stmts != nil {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

// take returns a connection of a pool, or a new one of PostgreSQL, and what gives it back.
func (s *Store) take(ctx context.Context, pool chan *conn) (c *conn, release func(broken bool), err error) {
	if pool == nil {
		s.mu.Lock()
		closed := s.closed
		s.mu.Unlock()
		if closed {
			return nil, nil, errClosed
		}
		plain, err := s.db.Conn(ctx)
		if err != nil {
			return nil, nil, err
		}
		return &conn{Conn: plain, s: s}, func(broken bool) {
			if broken {
				_ = plain.Raw(func(any) error { return driver.ErrBadConn }) // which closes it
			}
			_ = plain.Close() // it goes back to the pool
		}, nil
	}
	open := true
	select {
	case c, open = <-pool:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil || !open {
		return nil, nil, errors.Join(err, map[bool]error{false: errClosed}[open])
	}
	if c == nil {
		plain, err := s.db.Conn(ctx)
		if err != nil {
			pool <- nil
			return nil, nil, err
		}
		c = &conn{Conn: plain, s: s, stmts: make(map[string]*sql.Stmt)}
	}
	return c, func(broken bool) {
		if broken {
			_ = c.close() // the error is that of what broke it
			c = nil
		}
		pool <- c
	}, nil
}

// A wait is what a transaction waited for.
type wait struct {
	lock    time.Duration // until it could write
	retries int           // because of others that changed the same
}

// maxRetries is how often a transaction is begun anew. Rule STORE-SQL-10.
const maxRetries = 3

// change does something in a transaction that writes.
func (s *Store) change(ctx context.Context, do func(*conn) error) (w wait, err error) {
	return s.repeated(ctx, s.writers, s.d.beginWrite, do)
}

// look does something in a transaction that only reads, and sees one moment.
func (s *Store) look(ctx context.Context, do func(*conn) error) error {
	var done error
	_, err := s.repeated(ctx, s.readers, s.d.beginRead, func(c *conn) error {
		done = do(c)
		return done
	})
	switch {
	case err == nil:
		s.o.became.Reached()
	case ctx.Err() == nil && (done == nil || s.d.again(done)): // the connection is broken
		s.o.became.Add(stores.Failed, s.o.Now(), err.Error())
	}
	return err
}

// repeated does a transaction again that others have made impossible, or whose connection
// was lost: a command that is applied twice changes nothing the second time.
func (s *Store) repeated(ctx context.Context, pool chan *conn, begin string, do func(*conn) error) (w wait, err error) {
	for {
		began := time.Now()
		err = s.within(ctx, pool, begin, func() { w.lock += time.Since(began) }, do)
		if err == nil || w.retries == maxRetries || ctx.Err() != nil || !s.d.again(err) {
			return w, s.plain(err)
		}
		w.retries++
	}
}

func (s *Store) within(ctx context.Context, pool chan *conn, begin string, begun func(), do func(*conn) error) error {
	c, release, err := s.take(ctx, pool)
	if err != nil {
		return err
	}
	broken := false
	defer func() { release(broken) }()
	if _, err := c.ExecContext(ctx, begin); err != nil {
		broken = s.writers == nil
		return err
	}
	begun()
	if err = do(c); err == nil {
		if err = ctx.Err(); err == nil {
			_, err = c.ExecContext(c.within(ctx), "COMMIT")
		}
	}
	if err != nil {
		_, e := c.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		broken = e != nil && s.writers == nil || errors.Is(err, driver.ErrBadConn)
	}
	return err
}

// errStop ends a walk over rows.
var errStop = errors.New("no more rows are wanted")

// stopped returns err, unless it is errStop.
func stopped(err error) error {
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}
