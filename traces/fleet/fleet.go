// Package fleet keeps the traces of many programs in one PostgreSQL: a [Shipper]
// copies what a program records into the database, and a [Fleet] shows what all
// of them have shipped as one store.
//
//	serve, proxy -> recording -> Shipper -> PostgreSQL -> Fleet -> store.Store -> the screen
//
// The recording is the queue. How far it was shipped stands in the database, and
// changes in the transaction that adds the rows: what is killed, cut off or
// stopped goes on where the database ends. A request never waits for any of it.
//
// Only what a recording holds leaves the machine, which is redacted. Rules
// FLEET-01 to FLEET-07.
package fleet

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// IsURL reports whether a text names a database and not a file.
func IsURL(text string) bool {
	return strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://")
}

// connectWithin bounds how long one attempt to connect takes.
const connectWithin = 10 * time.Second

// configOf reads the URL of a database. The password may be in PGPASSFILE. TLS is
// required unless the host is this one. No error has the password. Rule FLEET-03.
func configOf(text string) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(text)
	if err != nil {
		return nil, fmt.Errorf("read the URL of the database %q: %w", Place(text), redactedParse(err))
	}
	c := cfg.ConnConfig
	if strings.Contains(c.Host+c.Database, "@") {
		return nil, fmt.Errorf("read the URL of the database: %w", errNoURL)
	}
	c.ConnectTimeout = connectWithin
	c.RuntimeParams["application_name"] = "indirtui"
	c.RuntimeParams["search_path"] = "pg_catalog"
	c.RuntimeParams["timezone"] = "UTC"
	c.RuntimeParams["idle_in_transaction_session_timeout"] = "60000"
	if err := requireTLS(&c.Config); err != nil {
		return nil, err
	}
	return cfg, nil
}

// redactedParse is what is wrong with a URL. What is no URL is not quoted: the
// password may be part of what was understood as a host or a port.
func redactedParse(err error) error {
	var parse *pgconn.ParseConfigError
	if cause := errors.Unwrap(err); errors.As(err, &parse) && cause != nil && !errors.As(err, new(*url.Error)) {
		return cause
	}
	return errNoURL
}

var errNoURL = errors.New("it is no URL such as postgres://USER@HOST/DATABASE; what is special in a password is written as %40 for @")

// requireTLS takes away what would not be encrypted. Rule FLEET-03.
func requireTLS(c *pgconn.Config) error {
	var left []*pgconn.FallbackConfig
	for _, f := range append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}, c.Fallbacks...) {
		if f.TLSConfig != nil || isLocal(f.Host) {
			left = append(left, f)
		}
	}
	if len(left) == 0 {
		return fmt.Errorf("connect to %q: TLS is required unless the host is this one; sslmode=verify-full turns it on", c.Host)
	}
	c.Host, c.Port, c.TLSConfig, c.Fallbacks = left[0].Host, left[0].Port, left[0].TLSConfig, left[1:]
	for _, t := range left {
		if t.TLSConfig != nil {
			t.TLSConfig.MinVersion = max(t.TLSConfig.MinVersion, tls.VersionTLS12)
		}
	}
	return nil
}

// isLocal reports whether a host is this one: a socket, or the loopback.
func isLocal(host string) bool {
	if strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// Place names a database without user and password: "db1/traces".
func Place(text string) string {
	u, err := url.Parse(text)
	if err != nil || strings.Contains(u.Host+u.Path, "@") { // which would be part of a password
		return "the database"
	}
	host := u.Host
	if host == "" {
		host = u.Query().Get("host")
	}
	return strings.TrimSuffix(host+u.Path, "/")
}

// A conn is a connection, or a transaction on one.
type conn interface {
	Exec(context.Context, string, ...any) (pgconn.CommandTag, error)
	Query(context.Context, string, ...any) (pgx.Rows, error)
	QueryRow(context.Context, string, ...any) pgx.Row
}
