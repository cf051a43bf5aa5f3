package sqlstore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/puppetdb/command"
	"indirtui/indirector/sqlstore"
	"indirtui/indirector/sqlstore/storetest"
)

// TestCloseLeavesOneFile checks that nothing is left in the log.
func TestCloseLeavesOneFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := sqlstore.Open(t.Context(), sqlstore.Options{Path: filepath.Join(dir, "sub", "stores.db")})
	if err != nil {
		t.Fatal(err)
	}
	apply(t, s, facts(t, "a", 1, `{"k":1}`))
	if _, err := s.Facts(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "sub"))
	if err != nil || len(entries) != 1 {
		t.Fatalf("got %v, %v", entries, err)
	}
	if info, err := entries[0].Info(); err != nil || info.Mode() != 0o600 {
		t.Errorf("got the mode %v, %v", info.Mode(), err)
	}
	if _, err := s.Facts(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "the store is closed") {
		t.Errorf("after close: %v", err)
	}
}

// TestOutcomes are what commands report. Rules STORE-SQL-04, PDB-SEM-01, PDB-SEM-02.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	many := func(n int, extra string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"title":"r%03d"}`, i))
		}
		return "[" + strings.Join(all, ",") + extra + "]"
	}
	everyDialect(t, func(t *testing.T, o sqlstore.Options) {
		s := open(t, o)
		for _, tt := range []struct {
			name string
			c    *command.Command
			want string
		}{
			{"facts", facts(t, "a", 1, `{"a":1,"b":2,"c":3}`), "3 facts: 3 new"},
			{"facts again", facts(t, "a", 2, `{"c":3,"a":1,"b":2}`), "unchanged: 3 facts"},
			{"facts that differ", facts(t, "a", 3, `{"a":1,"b":3,"d":4}`), "4 facts: 1 new, 1 changed, 1 gone; 1 untouched"},
			{"older facts", facts(t, "a", 2.5, `{}`), "ignored as older: stored is 08:00:03, this one was produced 08:00:02"},
			{"older by milliseconds", facts(t, "a", 2.999, `{}`), "ignored as older: stored is 08:00:03, this one was produced 08:00:02"},
			{"older in one second", facts(t, "a", 3.5, `{"a":1}`), "3 facts: 2 gone; 1 untouched"},
			{"older in the same second", facts(t, "a", 3.25, `{"a":1}`), "ignored as older: stored is 08:00:03.500, this one was produced 08:00:03.250"},
			{"older by days", facts(t, "a", -86400, `{"a":1}`), "ignored as older: stored is 2026-11-22 08:00:03, this one was produced 2026-11-21 08:00:00"},
			{"catalog", catalog(t, "a", 1, many(495, `,{"title":"x"},{"title":"y"}`), `[]`), "497 resources: 497 new"},
			{"catalog that differs", catalog(t, "a", 2, many(495, `,{"title":"n1"},{"title":"n2"},{"title":"n3"}`), `[]`), "500 resources: 3 new, 2 gone; 495 untouched"},
			{"edges", catalog(t, "a", 3, many(495, `,{"title":"n1"},{"title":"n2"},{"title":"n3"}`), `[["n1","n2","before"],["n1","n2","before"]]`), "498 resources: 1 edges new; 498 untouched"},
			{"no edges", catalog(t, "a", 4, many(495, `,{"title":"n1"},{"title":"n2","tags":["t"]},{"title":"n3"}`), `[]`), "498 resources: 1 changed, 1 edges gone; 497 untouched"},
			{"report", report("a", 5, "changed", "x", "y"), "2 events: 2 new"},
			{"report again", report("a", 5, "failed", "x", "y"), "unchanged: 2 events"},
			{"report without events", report("a", 6, "unchanged"), "stored"},
			{"early deactivation", deactivate("a", 5.5), "ignored as older: stored is 08:00:06, this one was produced 08:00:05"},
			{"deactivation", deactivate("a", 6), "stored"},
			{"deactivation again", deactivate("a", 6), "unchanged"},
			{"older deactivation", deactivate("a", 5), "ignored as older: deactivated since 08:00:06, this one was produced 08:00:05"},
			{"facts before it", facts(t, "a", 5.75, `{"a":2}`), "1 facts: 1 changed; the node stays inactive: since 2026-11-22 08:00:06"},
		} {
			if got := apply(t, s, tt.c); got.String() != tt.want {
				t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
			}
		}
		checked(t, s)
		all, err := s.Commands(t.Context(), "a")
		if err != nil || len(all) != 20 || all[0].Outcome != "stored" || all[1].Outcome != "ignored as older" {
			t.Errorf("commands: %d, %v: %+v", len(all), err, all[:min(2, len(all))])
		}
	})
}

// TestRefusals are what PuppetDB refuses, and what no store can keep. Rule PDB-SEM-04.
func TestRefusals(t *testing.T) {
	t.Parallel()
	good := catalog(t, "a", 1, `[{"title":"r"}]`, `[]`)
	with := func(key string, v data.Value) *command.Command {
		c := *good
		c.Payload = c.Payload.With(key, v)
		return &c
	}
	bad := facts(t, "a", 1, `{}`)
	bad.Payload = bad.Payload.With("values", list())
	noTime := facts(t, "a", 1, `{}`)
	noTime.Produced = time.Time{}
	reported := func(key string, v data.Value) *command.Command {
		c := report("a", 1, "changed", "/x")
		c.Payload = c.Payload.With(key, v)
		return c
	}
	noTags := hash(data.P("level", str("notice")), data.P("message", str("m")), data.P("source", str("s")), data.P("time", str("2026-11-22T08:00:00Z")), data.P("tags", list(data.Value{})))
	tests := []struct {
		name   string
		c      *command.Command
		reason string
		lax    string // what a lax store reports; "" if it refuses, too
	}{
		{"tag", catalog(t, "a", 1, `[{"title":"x","tags":["Upper"]}]`, `[]`), "PuppetDB refuses tags with capital letters: Notify[x] has 'Upper'", "1 resources: 1 new; not as PuppetDB: tags with capital letters: Notify[x] has 'Upper'"},
		{"odd tag", catalog(t, "a", 1, `[{"title":"x","tags":["a b"]}]`, `[]`), `PuppetDB refuses tags of other characters than letters, digits, _ : . and -: Notify[x] has "a b"`, `1 resources: 1 new; not as PuppetDB: tags of other characters than letters, digits, _ : . and -: Notify[x] has "a b"`},
		{"edge", catalog(t, "a", 1, `[{"title":"x"}]`, `[["x","no","before"]]`), "PuppetDB refuses an edge to nowhere: Notify[no] is not in the catalog", "1 resources: 1 new; not as PuppetDB: an edge to nowhere: Notify[no] is not in the catalog"},
		{"relation", catalog(t, "a", 1, `[{"title":"x"}]`, `[["x","x","loves"]]`), `PuppetDB refuses an edge of no kind: "loves"`, `1 resources: 1 new; not as PuppetDB: an edge of no kind: "loves"`},
		{"twice", catalog(t, "a", 1, `[{"title":"x"},{"title":"x"}]`, `[]`), "PuppetDB refuses a resource that is there twice: Notify[x]", "1 resources: 1 new; not as PuppetDB: a resource that is there twice: Notify[x]"},
		{"uuid", with("catalog_uuid", str("u")), `PuppetDB refuses what is no uuid: catalog_uuid is "u"`, `1 resources: 1 new; not as PuppetDB: what is no uuid: catalog_uuid is "u"`},
		{"NUL", catalog(t, "a", 1, `[{"title":"x\u0000y"}]`, `[]`), `a resource has a NUL: "Notify\nx\x00y"`, ""},
		{"no type", catalog(t, "a", 1, `[{"title":"x","type":""}]`, `[]`), `a resource has no type: its title is "x"`, ""},
		{"long", catalog(t, "a", 1, `[{"title":"`+strings.Repeat("x", 70000)+`"}]`, `[]`), "a resource has 70007 bytes, and may have ", ""},
		{"no list", with("resources", str("x")), "its resources are no list but string", ""},
		{"facts", bad, "PuppetDB refuses facts that are no hash: they are list", ""},
		{"no time", noTime, "it has no producer_timestamp", ""},
		{"odd time", reported("start_time", str("soon")), `start_time is no time: "soon"`, ""},
		{"no start", reported("start_time", data.Value{}), "PuppetDB refuses a report without start_time", "1 events: 1 new; not as PuppetDB: a report without start_time"},
		{"no version", reported("configuration_version", data.Value{}), "PuppetDB refuses a report without configuration_version", "1 events: 1 new; not as PuppetDB: a report without configuration_version"},
		{"no tag of a log", reported("logs", list(noTags)), "PuppetDB refuses a log with a null in its tags", "1 events: 1 new; not as PuppetDB: a log with a null in its tags"},
		{"no tags", catalog(t, "a", 1, `[{"title":"x","tags":null}]`, `[]`), "PuppetDB refuses a resource without tags", "1 resources: 1 new; not as PuppetDB: a resource without tags"},
	}
	everyDialect(t, func(t *testing.T, o sqlstore.Options) {
		s := open(t, o)
		o.Lax = true
		lax := open(t, o)
		for i, tt := range tests {
			c := *tt.c
			c.Certname = fmt.Sprint("node", i)
			c.Payload = c.Payload.With("certname", str(c.Certname))
			out, err := s.Apply(t.Context(), &c)
			refusal := (*sqlstore.Refusal)(nil)
			if !errors.As(err, &refusal) || !strings.HasPrefix(refusal.Reason, tt.reason) || out.Result != sqlstore.Refused {
				t.Errorf("%s: got %v, %v; want %s", tt.name, out, err, tt.reason)
			}
			if n, err := s.Node(t.Context(), c.Certname); n != nil || err != nil {
				t.Errorf("%s: the node is there: %v, %v", tt.name, n, err)
			}
			if logged, err := s.Commands(t.Context(), c.Certname); !c.Produced.IsZero() && (err != nil || len(logged) != 1 || logged[0].Outcome != "refused") {
				t.Errorf("%s: logged %v, %v", tt.name, logged, err)
			}
			out, err = lax.Apply(t.Context(), &c)
			if tt.lax == "" && !errors.As(err, &refusal) || tt.lax != "" && (err != nil || out.String() != tt.lax) {
				t.Errorf("%s, lax: got %v, %v; want %s", tt.name, out, err, tt.lax)
			}
		}
		checked(t, s)
		st, err := s.Stats(t.Context())
		if err != nil || len(st.Refused) == 0 || st.Nodes != 10 {
			t.Errorf("stats: %+v, %v", st, err)
		}
	})
}

// TestReportedResources: of the resources of a report those are kept that PuppetDB keeps:
// with events, or skipped.
func TestReportedResources(t *testing.T) {
	t.Parallel()
	everyDialect(t, func(t *testing.T, o sqlstore.Options) {
		s := open(t, o)
		c := report("a", 1, "changed", "/changed", "/skipped", "/unchanged")
		rows := c.Payload.Get("resources").List()
		rows[1] = rows[1].With("skipped", data.OfBool(true)).With("events", list())
		rows[2] = rows[2].With("events", list())
		c.Payload = c.Payload.With("resources", list(rows...))
		apply(t, s, c)
		got := map[string]string{}
		err := s.Reports(t.Context(), sqlstore.ReportQuery{Certname: "a"}, func(r *model.Report) error {
			for _, st := range r.Statuses {
				got[st.Title] = fmt.Sprintf("skipped %v, changed %v, %d events, line %d", st.Skipped, st.Changed, len(st.Events), st.Line)
			}
			return nil
		})
		want := map[string]string{"/changed": "skipped false, changed true, 1 events, line 3", "/skipped": "skipped true, changed false, 0 events, line 3"}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("(-want +got), %v:\n%s", err, diff)
		}
		checked(t, s)
	})
}

// TestFullTexts checks texts that SQL might trip over, as names and as values.
func TestFullTexts(t *testing.T) {
	t.Parallel()
	everyDialect(t, func(t *testing.T, o sqlstore.Options) {
		s := open(t, o)
		for i, text := range []string{"'", `"`, `\`, "'; DROP TABLE nodes; --", "?", "$1", "%s", "ünï", "\u2028", "a\tb\nc", "{}", "null", "日本", " ", "\xff"} {
			valid := strings.ToValidUTF8(text, "\ufffd")
			name := fmt.Sprintf("n%d %s", i, text)
			f := facts(t, name, 1, `{}`)
			f.Payload = f.Payload.With("values", hash(data.P(text, str(text))))
			apply(t, s, f)
			c := catalog(t, name, 1, `[{"title":"x","exported":true}]`, `[]`)
			r := c.Payload.Get("resources").List()[0]
			c.Payload = c.Payload.With("resources", list(r.With("title", str(text)).With("parameters", hash(data.P(text, str(text))))))
			apply(t, s, c)
			validName := fmt.Sprintf("n%d %s", i, valid)
			got, err := s.Facts(t.Context(), validName)
			if err != nil || got == nil || got.Values.Get(valid).Text() != valid {
				t.Errorf("facts of %q: %v, %v", text, got, err)
			}
			for _, name := range []string{"title", valid} {
				found, err := s.Exported(t.Context(), sqlstore.Collection{Type: "Notify", Filter: list(str(name), str("=="), str(valid))})
				if err != nil || len(found) != 1 || found[0].Title != valid || found[0].Exporter != validName {
					t.Errorf("%s == %q: %v, %v", name, text, found, err)
				}
			}
			names, err := s.FactSearch(t.Context(), []sqlstore.Condition{{Fact: valid, Op: "eq", Value: str(valid)}})
			if diff := cmp.Diff([]string{validName}, names); err != nil || diff != "" {
				t.Errorf("search for %q: %v %s", text, err, diff)
			}
		}
		checked(t, s)
	})
}

// TestExportedResource checks what a collected resource has.
func TestExportedResource(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	everyDialect(t, func(t *testing.T, o sqlstore.Options) {
		o.Now = func() time.Time { return now }
		s := open(t, o)
		apply(t, s, catalog(t, "b", 2, `[{"title":"z","exported":true,"tags":["t"],"file":"/x.pp","line":7,"kind":"compilable_type","parameters":{"b":null,"a":[1]},"sensitive_parameters":["secret"]}]`, `[]`))
		apply(t, s, catalog(t, "a", 1, `[{"title":"y","exported":true},{"title":"no"}]`, `[]`))
		apply(t, s, catalog(t, "asks", 1, `[{"title":"own","exported":true}]`, `[]`))
		found, err := s.Exported(t.Context(), sqlstore.Collection{Type: "Notify", Host: "asks"})
		if err != nil || len(found) != 2 {
			t.Fatalf("got %v, %v", found, err)
		}
		got := found[1]
		want := &model.Resource{
			Type: "Notify", Title: "z", Tags: []string{"t"}, File: "/x.pp", Line: 7, Exported: true, Kind: "compilable_type",
			Parameters: hash(data.P("a", list(data.OfInt(1)))), Sensitive: []string{"secret"}, Exporter: "b", Produced: at(2), Stored: now,
		}
		equal := cmp.Comparer(data.Equal)
		if diff := cmp.Diff(fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", got), equal); diff != "" {
			t.Errorf("%s", diff)
		}
		if found[0].Exporter != "a" {
			t.Errorf("the order is %v", found)
		}
	})
}

// TestSweep ends and removes what is old. Rule STORE-SQL-09.
func TestSweep(t *testing.T) {
	t.Parallel()
	everyDialect(t, func(t *testing.T, o sqlstore.Options) {
		now := at(0)
		o.Now = func() time.Time { return now }
		s := open(t, o) // which does not sweep by itself
		o.Retention = sqlstore.Retention{Node: 7 * 24 * time.Hour, Purge: 14 * 24 * time.Hour, Report: 14 * 24 * time.Hour}
		sweeper := open(t, o)
		apply(t, s, catalog(t, "old", 0, `[{"title":"x","exported":true,"parameters":{"only":"here"}}]`, `[["x","x","before"]]`))
		apply(t, s, facts(t, "old", 0, `{"k":1}`))
		apply(t, s, report("old", 0, "changed", "x"))
		apply(t, s, facts(t, "fresh", 0, `{"k":1}`))
		steps := []struct {
			days float64
			want sqlstore.Swept
			seen []string
		}{
			{6, sqlstore.Swept{}, []string{"fresh", "old"}},
			{8, sqlstore.Swept{Expired: 1}, []string{"fresh"}},
			{15, sqlstore.Swept{Reports: 1}, []string{"fresh"}},
			{23, sqlstore.Swept{Purged: 1, Sets: 1}, []string{"fresh"}},
		}
		for _, step := range steps {
			now = at(step.days * 86400)
			apply(t, s, facts(t, "fresh", step.days*86400, `{"k":1}`))
			got, err := sweeper.Sweep(t.Context())
			if err != nil || got != step.want {
				t.Errorf("day %v: got %+v, %v; want %+v", step.days, got, err, step.want)
			}
			names, err := s.FactSearch(t.Context(), []sqlstore.Condition{{Fact: "k", Op: "eq", Value: data.OfInt(1)}})
			if diff := cmp.Diff(step.seen, names); err != nil || diff != "" {
				t.Errorf("day %v: %v %s", step.days, err, diff)
			}
			checked(t, s)
		}
		if n, err := s.Node(t.Context(), "old"); n != nil || err != nil {
			t.Errorf("the node is there: %v, %v", n, err)
		}
		apply(t, s, facts(t, "old", 24*86400, `{"k":2}`))
		if n, err := s.Node(t.Context(), "old"); err != nil || n == nil || !n.Inactive().IsZero() {
			t.Errorf("the node does not come back: %v, %v", n, err)
		}
	})
}

// TestExpiredNodeComesBack checks that a newer command ends an expiration.
func TestExpiredNodeComesBack(t *testing.T) {
	t.Parallel()
	now := at(0)
	o := sqlstore.Options{Path: filepath.Join(t.TempDir(), "stores.db"), Now: func() time.Time { return now }}
	s := open(t, o) // which does not sweep by itself
	o.Retention = sqlstore.Retention{Node: time.Hour}
	sweeper := open(t, o)
	apply(t, s, facts(t, "a", 0, `{"k":1}`))
	now = at(7200)
	if w, err := sweeper.Sweep(t.Context()); err != nil || w.Expired != 1 {
		t.Fatalf("got %v, %v", w, err)
	}
	if o := apply(t, s, facts(t, "a", 3600, `{"k":1}`)); !o.Inactive.Equal(now) {
		t.Errorf("an older command: got %v", o)
	}
	if o := apply(t, s, facts(t, "a", 7201, `{"k":1}`)); !o.Inactive.IsZero() {
		t.Errorf("a newer command: got %v", o)
	}
}

// TestMigrations: a step is taken once, after a copy; a newer schema is refused. Rule
// STORE-SQL-08.
func TestMigrations(t *testing.T) {
	t.Parallel()
	everyDialect(t, func(t *testing.T, o sqlstore.Options) {
		s, err := sqlstore.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		apply(t, s, facts(t, "a", 1, `{"k":1}`))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		const more = "ALTER TABLE nodes ADD COLUMN colour TEXT;"
		newer := sqlstore.Version + 1
		for range 2 {
			s, err := sqlstore.OpenAt(t.Context(), o, sqlstore.Version, more)
			if err != nil {
				t.Fatal(err)
			}
			if f, err := s.Facts(t.Context(), "a"); err != nil || f.Values.Len() != 1 {
				t.Errorf("got %v, %v", f, err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if o.Path != "" {
			before := o
			before.Path += fmt.Sprint(".version-", sqlstore.Version)
			old := open(t, before)
			if f, err := old.Facts(t.Context(), "a"); err != nil || f.Values.Len() != 1 {
				t.Errorf("the copy: %v, %v", f, err)
			}
		}
		_, err = sqlstore.Open(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("its schema has version %d, and this program knows %d", newer, newer-1)) {
			t.Errorf("a newer schema: %v", err)
		}
		const broken = "CREATE TABLE half (x INTEGER); CREATE TABLE nodes (x INTEGER)"
		if _, err := sqlstore.OpenAt(t.Context(), o, sqlstore.Version, more, broken); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("migrate its schema from version %d to %d", newer, newer+1)) {
			t.Errorf("a step that fails: %v", err)
		}
		s, err = sqlstore.OpenAt(t.Context(), o, sqlstore.Version, more) // nothing of it is left
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestHostileFiles are files that are not ours. Errors name the path and what is wrong.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	write := func(content []byte) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	run := func(statements string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", path)
			if err == nil {
				_, err = db.ExecContext(t.Context(), statements)
			}
			if err := errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
	ours := func(then func(*testing.T, string)) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			s, err := sqlstore.Open(t.Context(), sqlstore.Options{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			apply(t, s, catalog(t, "a", 1, `[{"title":"x"}]`, `[]`))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			then(t, path)
		}
	}
	for _, tt := range []struct {
		name  string
		make  func(*testing.T, string)
		wants string
	}{
		{"text", write([]byte("kernel: Linux\n" + strings.Repeat("x", 200))), "it is no SQLite database"},
		{"short", write([]byte("SQLite")), "it is no SQLite database"},
		{"a directory", func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "it is no regular file"},
		{"another program's", run("CREATE TABLE bookmarks (url TEXT)"), "it is an SQLite database of another program (application_id 0x0)"},
		{"another application", run("PRAGMA application_id = 5"), "it is an SQLite database of another program (application_id 0x5)"},
		{"an extra column", ours(run("ALTER TABLE catalog_resources ADD COLUMN colour TEXT")), `its table catalog_resources has a column "colour", which version 2 of the schema has not`},
		{"a column less", ours(run("DROP VIEW exported; DROP VIEW edges; DROP VIEW resources; ALTER TABLE catalog_resources DROP COLUMN sensitive")), `its table catalog_resources lacks the column "sensitive"`},
		{"a table less", ours(run("DROP TABLE catalog_edges")), "its table catalog_edges cannot be read"},
		{"newer", ours(run("PRAGMA user_version = 99")), "its schema has version 99, and this program knows 2"},
		{"cut off", ours(func(t *testing.T, path string) {
			if err := os.Truncate(path, 8192); err != nil {
				t.Fatal(err)
			}
		}), "it is cut off: 8192 of "},
		{"damaged", ours(func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err == nil {
				_, err = f.WriteAt([]byte(strings.Repeat("\xa5", 3000)), 100)
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
		}), "the file is damaged"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "stores.db")
			tt.make(t, path)
			s, err := sqlstore.Open(t.Context(), sqlstore.Options{Path: path})
			if err == nil {
				t.Fatal("it was opened:", s.Close())
			}
			if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), tt.wants) {
				t.Errorf("got %v, want the path and %q", err, tt.wants)
			}
		})
	}
	if _, err := sqlstore.Open(t.Context(), sqlstore.Options{Path: filepath.Join(t.TempDir(), "no"), Existing: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := sqlstore.Open(t.Context(), sqlstore.Options{Path: filepath.Join(t.TempDir(), "x"), Synchronous: "perhaps"}); err == nil || !strings.Contains(err.Error(), `synchronous is "perhaps"`) {
		t.Errorf("synchronous: %v", err)
	}
}

// TestReadOnlyServer: a standby answers, and a save fails.
func TestReadOnlyServer(t *testing.T) {
	t.Parallel()
	o := sqlstore.Options{URL: storetest.Postgres(t)}
	apply(t, open(t, o), facts(t, "a", 1, `{"k":1}`))
	o.URL += "&default_transaction_read_only=on"
	s := open(t, o)
	if f, err := s.Facts(t.Context(), "a"); err != nil || f.Values.Len() != 1 {
		t.Errorf("got %v, %v", f, err)
	}
	if _, err := s.Apply(t.Context(), facts(t, "a", 2, `{"k":2}`)); err == nil || !strings.Contains(err.Error(), "read-only transaction") || !strings.Contains(err.Error(), "postgres://") {
		t.Errorf("got %v", err)
	}
}

// TestLostConnections: commands and questions go on over new ones.
func TestLostConnections(t *testing.T) {
	t.Parallel()
	o := sqlstore.Options{URL: storetest.Postgres(t) + "&application_name=lost"}
	s := open(t, o)
	db := connect(t, sqlstore.Options{URL: storetest.Postgres(t)})
	for i := range 5 {
		var work sync.WaitGroup
		for n := range 3 { // so that several connections are open
			work.Go(func() {
				if _, err := s.Apply(t.Context(), facts(t, fmt.Sprint("n", n), float64(i), `{"k":1}`)); err != nil {
					t.Error(err)
				}
			})
		}
		work.Wait()
		if _, err := db.ExecContext(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lost'"); err != nil {
			t.Fatal(err)
		}
		if f, err := s.Facts(t.Context(), "n0"); err != nil || f.Values.Len() != 1 {
			t.Errorf("got %v, %v", f, err)
		}
	}
	checked(t, s)
}

// TestTwoProcesses: two stores on one file take turns. Rule STORE-SQL-10.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	everyDialect(t, func(t *testing.T, o sqlstore.Options) {
		stores := []*sqlstore.Store{open(t, o), open(t, o)}
		var work sync.WaitGroup
		for w := range 10 {
			work.Go(func() {
				s := stores[w%2]
				for i := range 6 { // two writers for each of five nodes
					if _, err := s.Apply(t.Context(), catalog(t, fmt.Sprint("n", w/2), float64(i), generation(i+w), `[]`)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		work.Wait()
		for n := range 5 {
			whole(t, stores[0], fmt.Sprint("n", n))
		}
		checked(t, stores[1])
	})
}

// TestCancelled: what is cancelled is not stored, and the store goes on.
func TestCancelled(t *testing.T) {
	t.Parallel()
	everyDialect(t, func(t *testing.T, o sqlstore.Options) {
		s := open(t, o)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Apply(ctx, facts(t, "a", 1, `{"k":1}`)); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if n, err := s.Node(t.Context(), "a"); n != nil || err != nil {
			t.Errorf("got %v, %v", n, err)
		}
		apply(t, s, facts(t, "a", 1, `{"k":1}`))
	})
}

// TestNoSecretInErrors: a password is in no error. Rule STORE-SQL-01.
func TestNoSecretInErrors(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"postgres://me:hunter2@127.0.0.1:1/x", "postgres://me:hunter2@127.0.0.1:1/x?sslmode=never", "postgres://me:hunter2@[::1/x",
		"postgres://127.0.0.1:1/x?password=hunter2", "host=127.0.0.1 port=1 password=hunter2", "postgres://me:hunter2@127.0.0.1:port/x",
	} {
		_, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: url})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestCheckFinds makes faults, which a check finds.
func TestCheckFinds(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]string{
		"UPDATE facts SET value = '2'":                             `the facts of "a" have the hash`,
		"UPDATE declarations SET tags = '[]'":                      `the resources of "a" have the hash`,
		"UPDATE declarations SET file = '/x'":                      "the declaration ",
		"UPDATE catalog_edges SET relation = 'before'":             `the edges of "a" have the hash`,
		"UPDATE catalog_edges SET target = 7":                      `the edges of "a" have the hash`,
		"UPDATE parameter_sets SET value = '{\"x\":1}'":            "the set of parameters",
		"DELETE FROM exported_tags":                                `the tag "t" of the exported Notify[x] is not in exported_tags`,
		"INSERT INTO exported_tags VALUES ('u', 'Notify', 1, 'x')": `the tag "u" of Notify[x] is not that of an exported resource`,
		"UPDATE events SET message = 'other'":                      `the report of "a" of 2026-11-22T08:00:01.000`,
		"PRAGMA foreign_keys = off; DELETE FROM catalogs":          "1 resources without a catalog",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "stores.db")
			s := open(t, sqlstore.Options{Path: path})
			apply(t, s, facts(t, "a", 1, `{"k":1}`))
			apply(t, s, catalog(t, "a", 1, `[{"title":"x","exported":true,"tags":["t"]}]`, `[["x","x","contains"]]`))
			apply(t, s, report("a", 1, "changed", "x"))
			checked(t, s)
			db, err := sql.Open("sqlite", path)
			if err == nil {
				_, err = db.ExecContext(t.Context(), statement)
			}
			if err := errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
			ch, err := s.Check(t.Context())
			if err != nil || !strings.Contains(strings.Join(ch.Problems, "\n"), want) {
				t.Errorf("got %q, %v", ch.Problems, err)
			}
		})
	}
}

// older are commands that testdata/version1.sql has: resources that are declared alike, and
// an edge to nowhere.
func older(t *testing.T) []*command.Command {
	return []*command.Command{
		facts(t, "a", 1, `{"kernel":"Linux","size":1.0,"os":{"name":"Debian"}}`),
		catalog(t, "a", 1, `[{"title":"x","file":"/a.pp","line":1,"tags":["t","u"],"exported":true,"parameters":{"k":1}},
			{"title":"y","file":"/a.pp","line":2,"tags":["t","u"],"parameters":{"k":1}},{"title":"z","tags":["t","u"]},{"title":"w","file":"","tags":[]},
			{"type":"Class","title":"X","kind":"class","file":"/b.pp","tags":[],"sensitive_parameters":["secret"]}]`,
			`[["x","y","before"],["x","z","contains"],["z","z","notifies"],["x","y","contains"]]`),
		catalog(t, "b", 1, `[{"title":"x","file":"/a.pp","line":1,"tags":["t","u"],"parameters":{"k":1}},{"title":"y"}]`, `[["x","y","before"],["x","gone","before"]]`),
		facts(t, "b", 1, `{"kernel":"SunOS"}`),
	}
}

// TestMigratesSharedTexts brings a store of version 1, as that program wrote it, to the
// present one. What is there stays: the same commands change nothing.
func TestMigratesSharedTexts(t *testing.T) {
	t.Parallel()
	rows, err := os.ReadFile("testdata/version1.sql")
	if err != nil {
		t.Fatal(err)
	}
	everyDialect(t, func(t *testing.T, o sqlstore.Options) {
		s, err := sqlstore.OpenAt(t.Context(), o, 1)
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		write(t, o, string(rows))
		o.Lax = true
		s = open(t, o)
		if ch := checked(t, s); ch.Catalogs != 2 || ch.Factsets != 2 {
			t.Errorf("got %+v", ch)
		}
		for _, c := range older(t) {
			if o := apply(t, s, c); o.Result != sqlstore.Unchanged {
				t.Errorf("%s of %s: %v", c.Name, c.Certname, o)
			}
		}
	})
}
