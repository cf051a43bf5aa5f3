package sqlstore

import (
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A dialect is what SQLite and PostgreSQL differ in.
type dialect struct {
	name     string
	numbered bool              // placeholders are $1, not ?
	arrays   bool              // a value may be an array
	types    *strings.Replacer // of names in the schema
	lock     string            // the end of a SELECT that keeps others from the row
	// How transactions begin.
	beginWrite, beginRead string
	again                 func(error) bool // whether a transaction may succeed when it is tried again
	// What the index of facts has of a text, and the text of a fact: with a plus SQLite
	// does not put what it equals into that of the index, and uses it.
	indexed, factText string
	maxKey            int // bytes of what identifies a row: type and title
}

var (
	sqliteDialect = dialect{
		name: "sqlite",
		types: strings.NewReplacer(
			"{id}", "INTEGER PRIMARY KEY", "{ref}", "INTEGER", "{key}", "TEXT", "{time}", "TEXT", "{json}", "TEXT", "{flag}", "INTEGER",
			"{clustered}", "WITHOUT ROWID", "{hash of value}", "value", "{start of value}", "substr(value, 1, 32)", "{as text}", "", "{index of edges}", "",
			"{key of edges}", ", PRIMARY KEY (node, source_type, source_title, relation, target_type, target_title)",
		),
		beginWrite: "BEGIN IMMEDIATE",
		beginRead:  "BEGIN",
		again:      func(error) bool { return false },
		indexed:    "substr(%s, 1, 32)",
		factText:   "+f.value",
		maxKey:     64 << 10,
	}
	postgresDialect = dialect{
		name:     "postgresql",
		numbered: true,
		arrays:   true,
		// Text is compared by its bytes, as Go and SQLite do, and JSON is kept as it is written.
		types: strings.NewReplacer(
			"{id}", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "{ref}", "BIGINT", "{key}", `TEXT COLLATE "C"`, "{time}", "TIMESTAMPTZ", "{json}", "JSON", "{flag}", "BOOLEAN",
			"{clustered}", "", "{hash of value}", "md5(value::text)", "{start of value}", "md5(value::text)", "{as text}", "::text", "{key of edges}", "",
			// Two titles may be longer than an index takes.
			"{index of edges}", `CREATE UNIQUE INDEX edges_key ON edges
	(node, md5(source_type || '[' || source_title || '] ' || relation || ' ' || target_type || '[' || target_title || ']'));`,
		),
		lock:       " FOR UPDATE",
		beginWrite: "BEGIN",
		beginRead:  "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
		again:      postgresAgain,
		indexed:    "md5(%s)",
		factText:   "f.value::text",
		maxKey:     2500, // of the 2704 bytes that an index takes
	}
)

// sql returns a statement in the dialect. Its placeholders are question marks, and
// it has no others.
func (d *dialect) sql(text string) string {
	if !d.numbered {
		return text
	}
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(text, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("$" + strconv.Itoa(n))
		text = after
	}
}

// A stamp is a moment in a column: UTC, in milliseconds; the zero one is NULL.
type stamp time.Time

const stampFormat = "2006-01-02T15:04:05.000Z"

func (s stamp) time() time.Time { return time.Time(s) }

func (s stamp) Value() (driver.Value, error) {
	if s.time().IsZero() {
		return nil, nil
	}
	return s.time().UTC().Format(stampFormat), nil
}

// Scan reads what either dialect gives.
func (s *stamp) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*s = stamp{}
	case time.Time:
		*s = stamp(v.UTC())
	case string:
		t, err := time.Parse(time.RFC3339Nano, v)
		if err != nil {
			return fmt.Errorf("read a time: %w", err)
		}
		*s = stamp(t.UTC())
	default:
		return fmt.Errorf("read a time: it is a %T", v)
	}
	return nil
}

// marks returns "(?, ?), (?, ?)" for so many rows of so many values.
func marks(rows, values int) string {
	one := "(" + strings.Repeat("?, ", values-1) + "?)"
	return strings.Repeat(one+", ", rows-1) + one
}
