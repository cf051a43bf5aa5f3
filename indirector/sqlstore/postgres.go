package sqlstore

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// openPostgres connects. A password may also be in PGPASSFILE. Rule STORE-SQL-01.
func (s *Store) openPostgres(ctx context.Context) error {
	s.d = &postgresDialect
	cfg, err := pgx.ParseConfig(s.o.URL)
	if err != nil {
		return err
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = 10 * time.Second
	}
	for name, value := range map[string]string{"application_name": "indirtui", "lock_timeout": "30s", "idle_in_transaction_session_timeout": "60s", "timezone": "UTC"} {
		if _, given := cfg.RuntimeParams[name]; !given {
			cfg.RuntimeParams[name] = value
		}
	}
	s.db = stdlib.OpenDB(*cfg)
	s.db.SetMaxOpenConns(16)
	s.db.SetMaxIdleConns(maxRetries) // so that those that were lost are not all that is tried
	s.db.SetConnMaxIdleTime(time.Minute)
	return s.db.PingContext(ctx)
}

// redacted returns a URL, or a connection string of another form, without what may be
// a password.
func redacted(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" && u.Path == "" || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return "postgresql_url"
	}
	q := u.Query()
	for name := range q {
		if strings.Contains(strings.ToLower(name), "pass") {
			q.Set(name, "xxxxx")
		}
	}
	u.RawQuery = q.Encode()
	return u.Redacted()
}

// postgresAgain reports whether a transaction may succeed when it is tried again: after a
// conflict, a deadlock, a set of parameters that went while it was to be used, and a
// connection that was lost, but not one that cannot be made.
func postgresAgain(err error) bool {
	if e := (*pgconn.PgError)(nil); errors.As(err, &e) {
		return slices.Contains([]string{"40001", "40P01", "23503", "23505", "57P01", "57P02"}, e.Code)
	}
	if e := (*pgconn.ConnectError)(nil); errors.As(err, &e) {
		return false
	}
	lost := (*net.OpError)(nil)
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, driver.ErrBadConn) ||
		errors.As(err, &lost) || pgconn.SafeToRetry(err)
}

// usedAgain reports that a row was to be removed to which another transaction has just
// referred.
func usedAgain(err error) bool {
	e := (*pgconn.PgError)(nil)
	return errors.As(err, &e) && e.Code == "23503"
}

// plain returns an error without the password, if it has one, and with advice.
func (s *Store) plain(err error) error {
	if err == nil || s.o.URL == "" {
		return sqliteAdvice(err)
	}
	text := err.Error()
	if u, e := url.Parse(s.o.URL); e == nil && u.User != nil {
		if password, _ := u.User.Password(); password != "" {
			text = strings.ReplaceAll(text, password, "xxxxx")
		}
	} else if e != nil {
		text = strings.ReplaceAll(text, s.o.URL, "postgresql_url")
	}
	if text == err.Error() {
		return err
	}
	return &redactedError{text, err}
}

// A redactedError has the text of another without its secret.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string        { return e.text }
func (e *redactedError) Is(target error) bool { return errors.Is(e.err, target) }
