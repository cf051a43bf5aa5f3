//go:build unix

// Package fleettest starts PostgreSQL for tests.
package fleettest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// binaries are where Debian has PostgreSQL.
const binaries = "/usr/lib/postgresql/15/bin"

// A Server is a PostgreSQL of its own, in a temporary directory, which listens on
// a socket only.
type Server struct {
	dir    string
	as     *syscall.SysProcAttr
	cmd    *exec.Cmd
	stderr bytes.Buffer
	next   atomic.Int64
	port   string   // also part of the name of the socket
	more   []string // arguments of the server
}

// Start makes a cluster and starts it. The error is why there is none: tests are
// skipped with it. Stop must be called.
func Start() (*Server, error) { return start(nil) }

// StartTLS is Start for a server that also listens on a port of this host, for TLS only,
// with a certificate and its key in PEM.
func StartTLS(certificate, key []byte) (s *Server, address string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	address = l.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	if err := l.Close(); err != nil {
		return nil, "", err
	}
	s, err = start(func(s *Server) error {
		s.port, s.more = port, []string{"-c", "listen_addresses=127.0.0.1", "-c", "ssl=on"}
		return errors.Join(s.own("server.crt", certificate), s.own("server.key", key),
			s.own("pg_hba.conf", []byte("local all all trust\nhostssl all all 127.0.0.1/32 trust\n")))
	})
	return s, address, err
}

// own writes a file of the cluster.
func (s *Server) own(name string, content []byte) error {
	path := filepath.Join(s.dir, "data", name)
	if err := os.WriteFile(path, content, 0o600); err != nil || s.as == nil {
		return err
	}
	return os.Chown(path, int(s.as.Credential.Uid), int(s.as.Credential.Gid))
}

// start makes a cluster, lets prepare change it, and starts it.
func start(prepare func(*Server) error) (*Server, error) {
	if _, err := os.Stat(filepath.Join(binaries, "initdb")); err != nil {
		return nil, fmt.Errorf("PostgreSQL 15 is not installed: %w", err)
	}
	dir, err := os.MkdirTemp("", "fleet") // short: the name of a socket has 107 bytes
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, port: "5432"}
	if os.Geteuid() == 0 { // whom PostgreSQL refuses
		const id = 65534 // of the user and the group that own nothing
		s.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
		err = os.Chown(dir, id, id)
	}
	if err == nil {
		init := s.command("initdb", "-D", filepath.Join(dir, "data"), "-A", "trust", "-U", "owner", "-E", "UTF8", "--no-locale", "-N")
		var out []byte
		if out, err = init.CombinedOutput(); err != nil {
			err = fmt.Errorf("initdb: %w\n%s", err, out)
		}
	}
	if err == nil && prepare != nil {
		err = prepare(s)
	}
	if err == nil {
		err = s.Up()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

func (s *Server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(binaries, name), args...)
	c.Dir, c.SysProcAttr, c.Env = s.dir, s.as, []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	return c
}

// Up starts the server, and returns when it answers.
func (s *Server) Up() error {
	args := []string{
		"-D", filepath.Join(s.dir, "data"), "-k", s.dir, "-p", s.port, "-c", "listen_addresses=",
		"-c", "fsync=off", "-c", "max_connections=60", "-c", "shared_buffers=64MB", "-c", "max_wal_size=2GB",
	}
	s.cmd = s.command("postgres", append(args, s.more...)...)
	s.stderr.Reset()
	s.cmd.Stderr = &s.stderr
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for {
		c, err := pgx.Connect(ctx, s.URL("postgres"))
		if err == nil {
			return c.Close(ctx)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("postgres does not answer: %w\n%s", err, s.stderr.String())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Down stops the server at once: connections are cut.
func (s *Server) Down() error {
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
		return err
	}
	return s.cmd.Wait()
}

// Stop ends the server and removes what it has. That of nil does nothing.
func (s *Server) Stop() {
	if s != nil {
		_ = s.Down()
		_ = os.RemoveAll(s.dir)
	}
}

// URL returns the URL of a database for the owner of the cluster.
func (s *Server) URL(database string) string {
	return fmt.Sprintf("postgres://owner@/%s?host=%s&port=%s", database, s.dir, s.port)
}

// Database makes an empty database and returns its URL.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("t%d", s.next.Add(1))
	s.Exec(t, s.URL("postgres"), "CREATE DATABASE "+name)
	return s.URL(name)
}

// Exec runs statements.
func (s *Server) Exec(t testing.TB, url string, statements ...string) {
	t.Helper()
	c, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	for _, sql := range statements {
		if _, err := c.Exec(context.Background(), sql); err != nil {
			t.Fatalf("%s: %v", strings.TrimSpace(sql), err)
		}
	}
}
