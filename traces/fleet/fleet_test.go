//go:build unix

package fleet_test

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/traces"
	"indirtui/traces/fleet"
	"indirtui/traces/fleet/fleettest"
	"indirtui/traces/store"
)

// grants are those of docs/FLEETS.md.
func grants(t testing.TB, role string) []string {
	t.Helper()
	var all []string
	for _, g := range []string{
		"GRANT USAGE ON SCHEMA indirtui TO %s",
		"GRANT SELECT ON indirtui.schema_version TO %s",
		`GRANT INSERT ON indirtui.traces, indirtui."values" TO %s`,
		"GRANT EXECUTE ON FUNCTION indirtui.enter, indirtui.advance, indirtui.alive, indirtui.note, indirtui.day TO %s",
	} {
		all = append(all, fmt.Sprintf(g, role))
	}
	return all
}

// TestInsertOnly ships by a role that can read and change nothing. Rule FLEET-03.
func TestInsertOnly(t *testing.T) {
	t.Parallel()
	url, _ := filled(t, 20)
	name := fmt.Sprintf("ship%d", time.Now().UnixNano())
	server.Exec(t, url, append([]string{"CREATE ROLE " + name + " LOGIN"}, grants(t, name)...)...)
	as := strings.Replace(url, "owner@", name+"@", 1)
	in := record(t, as, "proxy2", store.Options{})
	in.askMany(t, 500)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if st := shipAll(t, as, in.Path()); st.Shipped != 500 || st.Damaged != 0 {
		t.Errorf("got %+v", st)
	}
	c := connect(t, url)
	same(t, shipped(t, c, "proxy2"), recorded(t, in.Path()))
	limited := connect(t, as)
	for _, sql := range []string{
		"SELECT key FROM indirtui.traces", `SELECT line FROM indirtui."values"`, "SELECT name FROM indirtui.instances", "SELECT run FROM indirtui.runs",
		"UPDATE indirtui.traces SET key = ''", "DELETE FROM indirtui.traces", "TRUNCATE indirtui.traces", "UPDATE indirtui.instances SET position = 0",
		"DROP TABLE indirtui.traces_other", "CREATE TABLE indirtui.mine (x int)",
	} {
		if _, err := limited.Exec(context.Background(), sql); err == nil || !strings.Contains(err.Error(), "42501") {
			t.Errorf("%s: got %v, want a refusal", sql, err)
		}
	}
	if _, err := fleet.Open(t.Context(), as); err == nil {
		t.Error("a role that may only insert has opened the fleet")
	}
}

// TestNewer refuses a schema that a newer program has made. Rule FLEET-06.
func TestNewer(t *testing.T) {
	t.Parallel()
	url, in := filled(t, 3)
	server.Exec(t, url, "INSERT INTO indirtui.schema_version VALUES (7)")
	_, err := fleet.Open(t.Context(), url)
	want := "the schema of the database is version 7, and this program knows up to 1"
	if !errors.Is(err, fleet.ErrNewer) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	s, err := fleet.Ship(fleet.ShipOptions{URL: url, Path: in.Path()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(t.Context()); !errors.Is(err, fleet.ErrNewer) {
		t.Errorf("got %v", err)
	}
	if st := s.Close(t.Context()); !st.Fatal || !strings.Contains(st.String(), want) {
		t.Errorf("got %s", st)
	}
}

// TestRestart stops the database while something is shipped, and starts it again.
// It has a server of its own.
func TestRestart(t *testing.T) {
	t.Parallel()
	if absent != nil {
		t.Skip(absent)
	}
	own, err := fleettest.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer own.Stop()
	url := own.Database(t)
	in := record(t, url, "proxy1", store.Options{})
	reports := make(chan fleet.State, 10)
	s, err := fleet.Ship(fleet.ShipOptions{URL: url, Path: in.Path(), Report: func(s fleet.State) { reports <- s }, Ended: func() uint64 { return in.Stats().Total }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	in.askMany(t, 1000)
	until(t, "the first requests", func() bool { return s.State().Behind == 0 })
	f, err := fleet.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := f.Store.View(nil)
	if err := own.Down(); err != nil {
		t.Log(err) // it was interrupted
	}
	began := time.Now()
	in.askMany(t, 1000)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("requests took %s while the database was down", took)
	}
	if st := <-reports; st.Since.IsZero() || !strings.Contains(st.String(), "not reached for") {
		t.Errorf("got %s", st)
	}
	until(t, "what waits to be counted", func() bool { return s.State().Behind != 0 })
	until(t, "the screen to show it", func() bool { return strings.Contains(f.About(), "not reached") })
	if err := own.Up(); err != nil {
		t.Fatal(err)
	}
	until(t, "the rest", func() bool { return s.State().Behind == 0 })
	if st := <-reports; !st.Since.IsZero() {
		t.Errorf("got %s", st)
	}
	same(t, shipped(t, connect(t, url), "proxy1"), recorded(t, in.Path()))
	until(t, "the news on the screen", func() bool {
		return len(shown(t, f, all)) == 2000 && f.About() == ""
	})
}

// TestOthers ships what a program that was killed has left.
func TestOthers(t *testing.T) {
	t.Parallel()
	url := database(t)
	dir := t.TempDir()
	left := record(t, url, "proxy1", store.Options{Path: filepath.Join(dir, "old.jsonl"), Rotate: 50 << 10})
	left.askMany(t, 700) // and it is never closed
	elsewhere := record(t, "postgres://other/db", "proxy1", store.Options{Path: filepath.Join(dir, "other.jsonl")})
	elsewhere.askMany(t, 10)
	in := record(t, url, "proxy1", store.Options{Path: filepath.Join(dir, "new.jsonl")})
	in.askMany(t, 30)
	s, err := fleet.Ship(fleet.ShipOptions{URL: url, Path: in.Path(), Others: true})
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, url)
	until(t, "both", func() bool {
		return one[bool](t, c, "SELECT to_regclass('indirtui.traces') IS NOT NULL") && one[int](t, c, "SELECT count(*) FROM indirtui.traces") == 730
	})
	s.Close(t.Context())
	if n := one[int](t, c, "SELECT count(*) FROM indirtui.instances"); n != 2 {
		t.Errorf("%d sessions, want 2", n)
	}
}

// TestOneStory is a run of an agent that is spread over three instances, one of
// which has a clock that is wrong. Rule FLEET-04.
func TestOneStory(t *testing.T) {
	t.Parallel()
	url := database(t)
	const uuid, node = "d9c5f7a0-1111-4222-8333-123456789abc", "web01.example.com"
	at := time.Now().Add(-10 * time.Minute).Truncate(time.Millisecond)
	one := record(t, url, "proxy1", store.Options{})
	two := record(t, url, "proxy2", store.Options{})
	three := record(t, url, "server1", store.Options{})
	agent := "agent " + node

	// The plugins pass proxy1, which never learns the uuid.
	one.ask(traces.Trace{Indirection: "file_metadata", Verb: traces.Search, Key: "plugins", Caller: agent, Run: "aaaaaaaa", RunGuessed: true, Start: at}, "[]")
	// The catalog passes proxy2, which asks server1, whose clock is an hour ahead.
	start := at.Add(time.Second)
	span := traces.Span{ID: 1, Kind: traces.Network, Name: "POST", Step: traces.Terminus}
	asked := two.ask(traces.Trace{Indirection: "catalog", Key: node, Caller: agent, Run: "bbbbbbbb", Transaction: uuid, Start: start, Took: time.Second, Spans: []traces.Span{span}}, "{}")
	id := traces.WorkID(asked, start, 1)
	parent, ok := traces.ParseTraceparent("00-" + strings.ReplaceAll(uuid, "-", "") + "-" + hex.EncodeToString(id[:]) + "-01")
	if !ok {
		t.Fatal("no traceparent")
	}
	three.ask(traces.Trace{Indirection: "catalog", Key: node, Caller: agent, Run: uuid, Start: start.Add(time.Hour - 100*time.Millisecond), Traceparent: &parent}, "{}")
	// The report goes to proxy1 again, in another guessed run; another node's run is apart.
	one.ask(traces.Trace{Indirection: "report", Verb: traces.Save, Key: node, Caller: agent, Run: uuid, Start: at.Add(5 * time.Second)}, "{}")
	one.ask(traces.Trace{Indirection: "catalog", Key: "db02.example.com", Caller: "agent db02.example.com", Run: "cccccccc", Start: at.Add(2 * time.Second)}, "{}")
	for _, in := range []instance{one, two, three} {
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
		shipAll(t, url, in.Path())
	}
	server.Exec(t, url, "UPDATE indirtui.instances SET clock_offset = 3600 WHERE name = 'server1'", "UPDATE indirtui.instances SET clock_offset = 0 WHERE name <> 'server1'")

	f := open(t, url)
	var story traces.RunStory
	var keys []string
	for _, r := range shown(t, f, f.Store.View(nil)) {
		if r.Run != uuid {
			keys = append(keys, "apart "+r.Run)
			continue
		}
		keys = append(keys, r.Instance+" "+r.Indirection)
		tr, err := f.Store.Trace(r.ID)
		if err != nil {
			t.Fatal(err)
		}
		story.Add(tr, nil)
		if r.Instance == "server1" {
			if up, ok := f.Store.Row(r.Parent); !ok || up.Instance != "proxy2" {
				t.Errorf("server1 was asked by %+v", up)
			}
		}
	}
	if got, want := strings.Join(keys, ", "), "proxy1 file_metadata, proxy2 catalog, server1 catalog, apart cccccccc, proxy1 report"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := story.String(); !strings.HasPrefix(got, "web01.example.com run ~"+uuid) || !strings.Contains(got, "through proxy1, proxy2, server1") {
		t.Errorf("got %s", got)
	}
	rows := shown(t, f, f.Store.View(nil))
	if l := f.Store.Links(rows[0].ID); l.NextInRun != rows[1].ID {
		t.Errorf("after #%d comes #%d in the run, want #%d", rows[0].ID, l.NextInRun, rows[1].ID)
	}
}

// TestURLs is about what is refused, and never shows the password. Rule FLEET-03.
func TestURLs(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"postgres://me:hunter2-secret@db1.example.com/traces?sslmode=disable":      "TLS is required",
		"postgres://me:hunter2-secret@db1.example.com/traces?sslmode=nonsense":     "sslmode",
		"postgres://me:hunter2-secret@db1.example.com:port/traces":                 "",
		"postgres://me:hunter2-secret@127.0.0.1:1/traces":                          "",
		"postgres://me:hunter2-secret@127.0.0.1:1/traces?sslmode=verify-full&x=%z": "",
		"postgres://me:hunter2-secret%zz@db1/traces":                               "",
		"postgres://me:hunter2-secret/x@db1/traces":                                "no URL",
		"postgres://me:12/hunter2-secret@127.0.0.1/traces?port=1":                  "no URL",
	} {
		_, err := fleet.Open(t.Context(), url)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: got %v, want %q", url, err, want)
		}
	}
	if got := fleet.Place("postgres://me:hunter2-secret@db1.example.com/traces?password=hunter2-secret"); got != "db1.example.com/traces" {
		t.Errorf("got %q", got)
	}
}

// TestUnreachable ends in time although there is no database, and with nothing to
// ship.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	const url = "postgres://me:hunter2-secret@127.0.0.1:1/traces"
	in := record(t, url, "proxy1", store.Options{})
	s, err := fleet.Ship(fleet.ShipOptions{URL: url, Path: in.Path(), Ended: func() uint64 { return in.Stats().Total }})
	if err != nil {
		t.Fatal(err)
	}
	in.askMany(t, 10)
	until(t, "the refusal", func() bool { return !s.State().Since.IsZero() })
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	st := s.Close(ctx)
	if text := st.String(); st.Behind != 10 || !strings.HasPrefix(text, "127.0.0.1:1/traces not reached for") || !strings.HasSuffix(text, ", 10 behind") || strings.Contains(text, secret) {
		t.Errorf("got %s", text)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s to end", took)
	}
}

func TestPrune(t *testing.T) {
	t.Parallel()
	url := database(t)
	in := record(t, url, "proxy1", store.Options{})
	now := time.Now()
	for days := range 5 {
		in.ask(traces.Trace{Indirection: "node", Key: "web01", Run: fmt.Sprint("run", days), Start: now.AddDate(0, 0, -days)}, fmt.Sprint(days))
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	shipAll(t, url, in.Path())
	server.Exec(t, url, `UPDATE indirtui."values" SET seen = current_date - 9 WHERE digest IN (SELECT digest FROM indirtui."values" ORDER BY digest LIMIT 2)`)
	p, err := fleet.Prune(t.Context(), url, now.AddDate(0, 0, -2))
	if err != nil {
		t.Fatal(err)
	}
	if p.Days != 2 || p.Values != 2 || p.Runs == 0 {
		t.Errorf("got %+v", p)
	}
	if n := one[int](t, connect(t, url), "SELECT count(*) FROM indirtui.traces"); n != 3 {
		t.Errorf("%d requests are left, want 3", n)
	}
	if n := len(shown(t, open(t, url), open(t, url).Store.View(nil))); n != 3 {
		t.Errorf("%d are shown", n)
	}
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	in := record(t, "postgres://x/y", "proxy1", store.Options{})
	in.askMany(t, 2500)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "traces.db")
	n, damaged, err := fleet.WriteSQLite(t.Context(), file, in.Path())
	if err != nil || n != 2500 || damaged != 0 {
		t.Fatalf("%d, %d, %v", n, damaged, err)
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for query, want := range map[string]int{
		"SELECT count(*) FROM traces": 2500, "SELECT count(*) FROM traces WHERE outcome = 'err'": 357, `SELECT count(*) FROM "values"`: 10,
		"SELECT sum(requests) FROM runs": 2500, "SELECT count(*) FROM traces WHERE line LIKE '%hunter2%'": 0,
	} {
		var got int
		if err := db.QueryRow(query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: got %d, %v; want %d", query, got, err, want)
		}
	}
	if _, _, err := fleet.WriteSQLite(t.Context(), file, in.Path()); err == nil {
		t.Error("a file was overwritten")
	}
}
