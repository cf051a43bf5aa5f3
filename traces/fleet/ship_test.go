//go:build unix

package fleet_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"indirtui/traces/fleet"
	"indirtui/traces/store"
)

// shipAll ships a recording to its end.
func shipAll(t testing.TB, url, path string) fleet.State {
	t.Helper()
	s, err := fleet.Ship(fleet.ShipOptions{URL: url, Path: path, Once: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	err = s.Wait(ctx)
	st := s.Close(ctx)
	if err != nil || st.Err != nil {
		t.Fatalf("%v, %+v", err, st)
	}
	return st
}

// connect is a connection to look at the tables.
func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// one is the value of a query.
func one[T any](t testing.TB, c *pgx.Conn, sql string, args ...any) (v T) {
	t.Helper()
	if err := c.QueryRow(context.Background(), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// recorded are the lines of requests of recordings by their numbers.
func recorded(t testing.TB, paths ...string) map[int64]string {
	t.Helper()
	all := map[int64]string{}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for sc := lines(f); sc.Scan(); {
			var l struct{ Trace int64 }
			if json.Unmarshal(sc.Bytes(), &l) == nil && l.Trace != 0 {
				all[l.Trace] = sc.Text()
			}
		}
	}
	return all
}

func lines(r io.Reader) *bufio.Scanner {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 64<<20)
	return sc
}

// shipped are the lines of requests that the database has of an instance.
func shipped(t testing.TB, c *pgx.Conn, name string) map[int64]string {
	t.Helper()
	rows, err := c.Query(context.Background(), "SELECT sequence, line FROM indirtui.traces JOIN indirtui.instances i ON i.id = instance WHERE i.name = $1", name)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all := map[int64]string{}
	for rows.Next() {
		var n int64
		var packed []byte
		if err := rows.Scan(&n, &packed); err != nil {
			t.Fatal(err)
		}
		if _, twice := all[n]; twice {
			t.Errorf("request %d is there twice", n)
		}
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all[n] = string(b)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// same reports what differs between two sets of lines.
func same(t testing.TB, got, want map[int64]string) {
	t.Helper()
	for n, line := range want {
		if got[n] != line {
			t.Fatalf("request %d: got %q, want %q", n, got[n], line)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("got %d requests, want %d", len(got), len(want))
	}
}

func TestShip(t *testing.T) {
	t.Parallel()
	url := database(t)
	in := record(t, url, "proxy1", store.Options{})
	in.askMany(t, 10_000)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	st := shipAll(t, url, in.Path())
	if st.Shipped != 10_000 || st.Damaged != 0 {
		t.Errorf("got %+v", st)
	}
	c := connect(t, url)
	same(t, shipped(t, c, "proxy1"), recorded(t, in.Path()))
	if n := one[int](t, c, `SELECT count(*) FROM indirtui."values"`); n != 10 {
		t.Errorf("%d values, want 10: each once", n)
	}
	if n := one[int](t, c, "SELECT count(*) FROM indirtui.traces WHERE outcome = 'err' AND key = 'node3.example.com' AND problem LIKE 'it failed%'"); n == 0 {
		t.Error("no failures in the columns")
	}
	if n := one[int](t, c, "SELECT sum(requests) FROM indirtui.runs"); n != 10_000 {
		t.Errorf("%d requests in runs", n)
	}
	if !one[bool](t, c, "SELECT ended FROM indirtui.instances") {
		t.Error("the recording was closed, and the database does not know")
	}
	noSecret(t, url)
}

// noSecret looks for the secret in everything that the database holds.
func noSecret(t testing.TB, url string) {
	t.Helper()
	c := connect(t, url)
	for _, table := range []string{"traces", `"values"`, "instances", "runs"} {
		if n := one[int](t, c, "SELECT count(*) FROM indirtui."+table+" x WHERE x::text LIKE '%"+secret+"%'"); n > 0 {
			t.Errorf("%d rows of %s have the secret", n, table)
		}
	}
	rows, err := c.Query(context.Background(), `SELECT line FROM indirtui.traces UNION ALL SELECT line FROM indirtui."values"`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var packed []byte
		if err := rows.Scan(&packed); err != nil {
			t.Fatal(err)
		}
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(r); err != nil || bytes.Contains(b, []byte(secret)) {
			t.Fatalf("the secret is in %q: %v", b, err)
		}
	}
}

// TestShipRotated ships parts as they come, and those that are left.
func TestShipRotated(t *testing.T) {
	t.Parallel()
	url := database(t)
	in := record(t, url, "proxy1", store.Options{Rotate: 100 << 10})
	s, err := fleet.Ship(fleet.ShipOptions{URL: url, Path: in.Path(), Ended: func() uint64 { return in.Stats().Total }})
	if err != nil {
		t.Fatal(err)
	}
	in.askMany(t, 3000)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if st := s.Close(ctx); st.Shipped != 3000 || st.Behind != 0 || st.Missing != 0 || st.Err != nil {
		t.Errorf("got %+v", st)
	}
	parts, err := filepath.Glob(filepath.Join(filepath.Dir(in.Path()), "*.jsonl"))
	if err != nil || len(parts) < 4 {
		t.Fatalf("%d parts: %v", len(parts), err)
	}
	same(t, shipped(t, connect(t, url), "proxy1"), recorded(t, parts...))
}

// TestShipRemovedPart counts what was removed before it could be shipped.
func TestShipRemovedPart(t *testing.T) {
	t.Parallel()
	url := database(t)
	in := record(t, url, "proxy1", store.Options{Rotate: 100 << 10, Keep: 2})
	in.askMany(t, 3000)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if st := shipAll(t, url, in.Path()); st.Missing < 2 || !strings.Contains(st.String(), "parts removed before they were shipped") {
		t.Errorf("got %+v, %s", st, st)
	}
	if one[int](t, connect(t, url), "SELECT parts_missing FROM indirtui.instances") < 2 {
		t.Error("the database does not count them")
	}
}

// TestShipTruncated goes on when a line that was cut off becomes whole.
func TestShipTruncated(t *testing.T) {
	t.Parallel()
	url := database(t)
	in := record(t, url, "proxy1", store.Options{})
	in.askMany(t, 10)
	whole, err := os.ReadFile(in.Path())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cut.jsonl")
	cut := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 40
	for _, step := range []struct{ bytes, want int }{{cut, 9}, {len(whole), 10}} {
		if err := os.WriteFile(path, whole[:step.bytes], 0o600); err != nil {
			t.Fatal(err)
		}
		if st := shipAll(t, url, path); st.Shipped != int64(step.want) || st.Damaged != 0 {
			t.Errorf("after %d bytes: got %+v, want %d", step.bytes, st, step.want)
		}
	}
}

// TestShipHostile ships what can be read of a recording that is none.
func TestShipHostile(t *testing.T) {
	t.Parallel()
	url := database(t)
	in := record(t, url, "proxy1", store.Options{})
	in.askMany(t, 3)
	lines, err := os.ReadFile(in.Path())
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 3<<20)
	for _, l := range []string{
		"not JSON", "{", "[]", `{"trace":"seven"}`, `{"trace":-1,"t":"2020-01-01T00:00:00Z"}`, `{"trace":9007199254740993,"verb":"find"}`, `{"body":"short"}`,
		`{"trace":1,"t":"2020-01-01T00:00:00Z","verb":"find"}`,                                                        // a number that was there
		`{"trace":100,"t":"0001-01-01T00:00:00Z","verb":"find","key":"early"}`,                                        // a year that has no partition
		`{"trace":101,"t":"9999-12-31T23:59:59Z","verb":"\u0000find","key":"late\u0000","flags":["a,b"]}`,             // NUL
		`{"trace":102,"t":"2020-01-01T00:00:00Z","verb":"find","key":"` + long + `"}`,                                 // a long key
		`{"trace":103,"t":"2020-01-01T00:00:00Z","verb":"find","took":-5,"size":-1,"parent":103,"prev":103}`,          // itself
		`{"trace":104,"t":"2020-01-01T00:00:00Z","verb":"find","value":{"digest":"zz"},"run":"r","caller":"agent x"}`, // no digest
		"\xff\xfe", "   ",
	} {
		lines = append(lines, l+"\n"...)
	}
	path := filepath.Join(t.TempDir(), "hostile.jsonl")
	if err := os.WriteFile(path, lines, 0o600); err != nil {
		t.Fatal(err)
	}
	st := shipAll(t, url, path)
	if st.Shipped < 8 || st.Damaged < 8 {
		t.Errorf("got %+v, want 8 shipped and 8 damaged", st)
	}
	c := connect(t, url)
	if n := one[int](t, c, "SELECT count(*) FROM indirtui.traces_other"); n != 5 {
		t.Errorf("%d requests in the partition of all other days, want 5", n)
	}
}

// TestShipNothing is about files that are none of a recording.
func TestShipNothing(t *testing.T) {
	t.Parallel()
	url := database(t)
	for name, text := range map[string]string{"empty": "", "other": "hello\n", "half": `{"indirtui":1`, "missing": "-"} {
		path := filepath.Join(t.TempDir(), name)
		if text != "-" {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s, err := fleet.Ship(fleet.ShipOptions{URL: url, Path: path, Once: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "recording") {
			t.Errorf("%s: got %v", name, err)
		}
		s.Close(t.Context())
	}
}

// The environment of a process that ships until it is killed.
const (
	shipURL  = "INDIRTUI_TEST_SHIP_URL"
	shipPath = "INDIRTUI_TEST_SHIP_PATH"
)

func shipAndWait(url, path string) int {
	s, err := fleet.Ship(fleet.ShipOptions{URL: url, Path: path})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := s.Wait(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// TestShipKilled kills the shipping process at random moments, while the recording
// grows and is rotated. INDIRTUI_KILLS is how often.
func TestShipKilled(t *testing.T) {
	t.Parallel()
	url := database(t)
	kills := 20
	if text := os.Getenv("INDIRTUI_KILLS"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in := record(t, url, "proxy1", store.Options{Rotate: 1 << 20})
	more, asked := make(chan struct{}), make(chan int)
	go func() { // it goes on recording, but no more than can be shipped in the end
		n := 0
		for range more {
			in.askMany(t, 200)
			n += 200
		}
		asked <- n
	}()
	for range kills {
		more <- struct{}{}
		c := exec.CommandContext(t.Context(), program)
		c.Env = append(os.Environ(), shipURL+"="+url, shipPath+"="+in.Path())
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(20+rand.IntN(250)) * time.Millisecond) // the moment
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // it was killed
	}
	close(more)
	n := <-asked
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	shipAll(t, url, in.Path())
	parts, err := filepath.Glob(filepath.Join(filepath.Dir(in.Path()), "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	got := shipped(t, connect(t, url), "proxy1")
	same(t, got, recorded(t, parts...))
	if len(got) != n {
		t.Errorf("%d of %d requests were recorded and shipped", len(got), n)
	}
	t.Logf("%d kills, %d requests in %d parts", kills, n, len(parts))
}
