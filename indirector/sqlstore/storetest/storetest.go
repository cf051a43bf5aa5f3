// Package storetest starts a PostgreSQL for tests of what is stored in one.
//
//	func TestMain(m *testing.M) { storetest.Main(m) }
//
//	url := storetest.Postgres(t) // skips the test where PostgreSQL is not installed
package storetest

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx

	"indirtui/traces/leaktest"
)

// cluster is the one of this test binary.
var cluster struct {
	once  sync.Once
	why   string // why there is none
	dir   string
	stop  func()
	count atomic.Int64
}

// Main runs the tests of a package, as leaktest.Main does, and stops what Postgres has started.
func Main(m *testing.M) { leaktest.Main(stopping{m}) }

type stopping struct{ m *testing.M }

func (s stopping) Run() int {
	code := s.m.Run()
	if cluster.stop != nil {
		cluster.stop()
	}
	return code
}

// Postgres returns the URL of an empty schema of its own in a cluster that listens on
// a socket in a temporary directory. The test is skipped where there are no binaries.
func Postgres(tb testing.TB) string {
	tb.Helper()
	cluster.once.Do(func() {
		if err := start(); err != nil {
			cluster.why = err.Error()
		}
	})
	if cluster.why != "" {
		tb.Skip("no PostgreSQL: " + cluster.why)
	}
	name := fmt.Sprintf("test%d", cluster.count.Add(1))
	db, err := sql.Open("pgx", at("public"))
	if err == nil {
		_, err = db.ExecContext(tb.Context(), "CREATE SCHEMA "+name)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		tb.Fatal(err)
	}
	return at(name)
}

func at(schema string) string {
	q := url.Values{"host": {cluster.dir}, "search_path": {schema}}
	return "postgres://tester:not-a-secret@/postgres?" + q.Encode()
}

// binaries returns the directory of initdb and postgres.
func binaries() (string, error) {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is good
	slices.Reverse(dirs)
	if path, err := exec.LookPath("initdb"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, "postgres")); err == nil {
			return dir, nil
		}
	}
	return "", errors.New("initdb and postgres are not installed")
}

func start() error {
	bin, err := binaries()
	if err != nil {
		return err
	}
	// Not below the directory of the test, whose name may be too long for a socket.
	if cluster.dir, err = os.MkdirTemp("", "pg"); err != nil {
		return err
	}
	as := []string{}
	if os.Geteuid() == 0 { // PostgreSQL refuses to run as root
		as = []string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"}
		if _, err := exec.LookPath("setpriv"); err != nil {
			return errors.Join(errors.New("this is root, and setpriv is not installed"), os.Remove(cluster.dir))
		}
		if err := os.Chown(cluster.dir, 65534, 65534); err != nil {
			return err
		}
	}
	data := filepath.Join(cluster.dir, "data")
	init := command(as, filepath.Join(bin, "initdb"), "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
	if out, err := init.CombinedOutput(); err != nil {
		return errors.Join(fmt.Errorf("initdb: %w: %s", err, bytes.TrimSpace(out)), os.RemoveAll(cluster.dir))
	}
	// The shell ends the server when its input ends, also when this process is killed.
	script := fmt.Sprintf(`'%s' -D '%s' -k '%s' -h '' -c fsync=off -c shared_buffers=16MB -c max_connections=100 >'%s/log' 2>&1 & read x; kill -QUIT $!; wait; rm -rf '%s'/*`,
		filepath.Join(bin, "postgres"), data, cluster.dir, cluster.dir, cluster.dir)
	server := command(as, "/bin/sh", "-c", script)
	in, err := server.StdinPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		return err
	}
	cluster.stop = func() { stop(in, server) }
	return await()
}

func command(as []string, args ...string) *exec.Cmd {
	args = append(slices.Clone(as), args...)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = cluster.dir
	return cmd
}

func stop(in io.Closer, server *exec.Cmd) {
	if err := errors.Join(in.Close(), server.Wait(), os.RemoveAll(cluster.dir)); err != nil {
		fmt.Fprintln(os.Stderr, "stop PostgreSQL:", err)
	}
}

// await waits until the server answers.
func await() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	db, err := sql.Open("pgx", at("public"))
	if err != nil {
		return err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if err = db.PingContext(ctx); err == nil {
			return db.Close()
		}
		select {
		case <-ctx.Done():
			log, _ := os.ReadFile(filepath.Join(cluster.dir, "log"))
			return errors.Join(fmt.Errorf("it does not answer: %w: %s", err, strings.TrimSpace(string(log))), db.Close())
		case <-tick.C:
		}
	}
}
