package sqlstore_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/data"
	"indirtui/indirector/sqlstore"
)

// document is what other programs rely on.
func document(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/STORES.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// connect opens the database as another program would.
func connect(t *testing.T, o sqlstore.Options) *sql.DB {
	t.Helper()
	driver, at := "sqlite", "file:"+o.Path+"?mode=ro"
	if o.URL != "" {
		driver, at = "pgx", o.URL
	}
	return opened(t, driver, at)
}

// write changes the database by hand.
func write(t *testing.T, o sqlstore.Options, statements string) {
	t.Helper()
	driver, at := "sqlite", o.Path
	if o.URL != "" {
		driver, at = "pgx", o.URL
	}
	if _, err := opened(t, driver, at).ExecContext(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
}

func opened(t *testing.T, driver, at string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// TestTablesAreDocumented compares the tables and views with docs/STORES.md.
func TestTablesAreDocumented(t *testing.T) {
	t.Parallel()
	rows := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ((?:`[a-z_]+`(?:, )?)+)").FindAllStringSubmatch(document(t), -1)
	everyDialect(t, func(t *testing.T, o sqlstore.Options) {
		open(t, o)
		db := connect(t, o)
		seen := 0
		for _, row := range rows {
			found, err := db.QueryContext(t.Context(), "SELECT * FROM "+row[1]+" LIMIT 0")
			if err != nil {
				continue // a setting
			}
			columns, err := found.Columns()
			if err := errors.Join(err, found.Close()); err != nil {
				t.Fatal(err)
			}
			seen++
			if got, want := "`"+strings.Join(columns, "`, `")+"`", row[2]; got != want {
				t.Errorf("%s has the columns\n%s, documented are\n%s", row[1], got, want)
			}
		}
		if want := tables(t, db, o); seen != want {
			t.Errorf("%d tables and views are documented, and there are %d", seen, want)
		}
	})
}

// tables returns how many tables and views there are.
func tables(t *testing.T, db *sql.DB, o sqlstore.Options) (n int) {
	t.Helper()
	query := "SELECT count(*) FROM sqlite_schema WHERE type IN ('table', 'view')"
	if o.URL != "" {
		query = "SELECT count(*) FROM information_schema.tables WHERE table_schema = current_schema() AND table_name <> 'schema_version'"
	}
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestQuestions asks what docs/STORES.md has.
func TestQuestions(t *testing.T) {
	t.Parallel()
	queries := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(document(t), -1)
	want := []string{
		"a Notify same 2026-11-22T08:00:05.000Z\na Notify taken 2026-11-22T08:00:05.000Z\na Notify wanted 2026-11-22T08:00:05.000Z\nb Notify same 2026-11-22T08:00:05.000Z\n",
		"Notify same 2\n",
		"a Notify wanted\n",
		"a 2026-11-22T08:00:01.000Z 2026-11-22T08:00:05.000Z\n",
		"b\n",
		"\"Linux\" 1\n\"SunOS\" 1\n",
		"b /ntp.pp 3\n",
		"File /x 2\nFile /y 1\n",
		"b replace catalog 2026-11-22T09:00:00.000Z refused refused: PuppetDB refuses tags with capital letters: Notify[x] has 'Upper'\na replace facts 2026-11-22T09:00:00.000Z ignored as older ignored as older: stored is 08:00:01, this one was produced 08:00:00\n",
		"gone 2026-11-22T08:00:09.000Z\n",
	}
	if len(queries) != len(want) {
		t.Fatalf("%d questions, want %d", len(queries), len(want))
	}
	everyDialect(t, func(t *testing.T, o sqlstore.Options) {
		o.Now = func() time.Time { return at(3600) }
		fill(t, open(t, o))
		db := connect(t, o)
		for i, q := range queries {
			if diff := cmp.Diff(want[i], answered(t, db, q[1])); diff != "" {
				t.Errorf("%s\n%s", q[1], diff)
			}
		}
	})
}

// fill stores what makes each question have an answer.
func fill(t *testing.T, s *sqlstore.Store) {
	t.Helper()
	apply(t, s, facts(t, "a", 1, `{"kernel":"Linux"}`))
	apply(t, s, facts(t, "a", 0, `{"kernel":"Linux"}`))
	apply(t, s, catalog(t, "a", 5, `[{"title":"same","exported":true},{"title":"wanted","exported":true},{"title":"taken","exported":true}]`, `[]`))
	apply(t, s, facts(t, "b", 6, `{"kernel":"SunOS"}`))
	apply(t, s, catalog(t, "b", 5, `[{"title":"same","exported":true},{"title":"taken"},{"type":"Class","title":"Ntp","file":"/ntp.pp","line":3}]`, `[]`))
	for i, titles := range [][]string{{"/x"}, {"/x", "/y"}} {
		r := report("a", float64(7+i), "failed", titles...)
		rows := r.Payload.Get("resources").List()
		for k := range rows {
			event := rows[k].Get("events").List()[0].With("status", str("failure"))
			rows[k] = rows[k].With("events", data.OfList([]data.Value{event}))
		}
		apply(t, s, r)
	}
	if _, err := s.Apply(t.Context(), catalog(t, "b", 8, `[{"title":"x","tags":["Upper"]}]`, `[]`)); err == nil {
		t.Error("the tag was not refused")
	}
	apply(t, s, deactivate("gone", 9))
}

// answered returns rows as text.
func answered(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for rows.Next() {
		cells := make([]any, len(columns))
		for i := range cells {
			cells[i] = new(any)
		}
		if err := rows.Scan(cells...); err != nil {
			t.Fatal(err)
		}
		texts := make([]string, len(cells))
		for i, c := range cells {
			texts[i] = cellText(*c.(*any))
		}
		b.WriteString(strings.Join(texts, " ") + "\n")
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func cellText(v any) string {
	switch v := v.(type) {
	case time.Time:
		return v.UTC().Format("2006-01-02T15:04:05.000Z")
	case []byte:
		return string(v)
	}
	return fmt.Sprint(v)
}

// FuzzFilter gives collectors' queries to a store: what is no filter is an error, and
// nothing of it is taken for SQL.
func FuzzFilter(f *testing.F) {
	for _, seed := range []string{
		`["title","==","x"]`, `["tag","!=","t"]`, `[["title","==","x"],"and",["tag","==","t"]]`, `[["a","==",1],"or",["b","==",null]]`,
		`["title","==","' OR 1=1 --"]`, `["' OR 1=1 --","==","x"]`, `["tag","' OR 1=1 --","x"]`, `[]`, `"x"`, `{}`, `[1,2,3]`, `["?","==","$1"]`,
	} {
		f.Add(seed)
	}
	s := open(f, sqlstore.Options{Path: filepath.Join(f.TempDir(), "stores.db")})
	apply(f, s, catalog(f, "a", 1, `[{"title":"x","exported":true,"tags":["t"],"parameters":{"a":1}}]`, `[]`))
	f.Fuzz(func(t *testing.T, text string) {
		v, err := decoded(text)
		if err != nil {
			t.Skip()
		}
		found, err := s.Exported(t.Context(), sqlstore.Collection{Type: "Notify", Filter: v})
		injected(t, err)
		if found, err := s.Exported(t.Context(), sqlstore.Collection{Type: text, Host: text}); err != nil || len(found) > 0 && text != "" && text != "Notify" {
			t.Errorf("the type %q: %v, %v", text, found, err)
		}
		if len(found) > 1 {
			t.Errorf("%d resources", len(found))
		}
	})
}

// FuzzFactSearch gives names, operators and values of facts to both ways in which they
// reach a store.
func FuzzFactSearch(f *testing.F) {
	for _, seed := range [][3]string{{"k", "eq", `1`}, {"k", "gt", `0.5`}, {"k", "ne", `"x"`}, {"' OR 1=1 --", "eq", `"' OR 1=1 --"`}, {"k", "' OR 1=1", `1`}, {"k", "lt", `1e400`}, {"k", "eq", `123456789012345678901234567890`}} {
		f.Add(seed[0], seed[1], seed[2])
	}
	s := open(f, sqlstore.Options{Path: filepath.Join(f.TempDir(), "stores.db")})
	apply(f, s, facts(f, "a", 1, `{"k":1}`))
	f.Fuzz(func(t *testing.T, name, op, value string) {
		v, err := decoded(value)
		if err != nil {
			t.Skip()
		}
		names, err := s.FactSearch(t.Context(), []sqlstore.Condition{{Fact: name, Op: op, Value: v}})
		injected(t, err)
		if len(names) > 0 && name != "k" && op != "ne" {
			t.Errorf("%q %q %q finds %v", name, op, value, names)
		}
	})
}

// injected fails if an error is SQL's.
func injected(t *testing.T, err error) {
	t.Helper()
	if err != nil && strings.Contains(err.Error(), "SQL") {
		t.Error(err)
	}
}
