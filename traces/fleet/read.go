package fleet

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"indirtui/traces/query"
	"indirtui/traces/store"
)

// A key is what names a request in the database.
type key struct {
	instance int32
	sequence int64
}

// A found is a request as its row has it.
type found struct {
	key
	at          time.Time
	arrived     int64
	parent      int64
	good        int64
	traceparent string
	sent        string
	head        store.Head
}

// before reports whether f is older than g in the order of pages.
func (f *found) before(g *found) bool {
	if c := f.at.Compare(g.at); c != 0 {
		return c < 0
	}
	if f.instance != g.instance {
		return f.instance < g.instance
	}
	return f.sequence < g.sequence
}

const selectRows = `SELECT instance, sequence, at, arrived, took, verb, indirection, key, environment, caller, outcome, served, terminus, cache,
	set_by, cache_set_by, run, transaction, run_guessed, parent, replay, good, flags, cache_written, touched, lost, origin, problem, size, traceparent, sent
	FROM indirtui.traces t `

// rows reads requests.
func rows(ctx context.Context, c conn, rest string, args ...any) ([]*found, error) {
	r, err := c.Query(ctx, selectRows+rest, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(r, func(r pgx.CollectableRow) (*found, error) {
		f := new(found)
		h := &f.head
		var flags string
		var size int64
		err := r.Scan(&f.instance, &f.sequence, &f.at, &f.arrived, &h.Took, &h.Verb, &h.Indirection, &h.Key, &h.Environment, &h.Caller,
			&h.Outcome, &h.Served, &h.Terminus, &h.Cache, &h.SetBy, &h.CacheSetBy, &h.Run, &h.Transaction, &h.Guessed, &f.parent, &h.Replay, &f.good,
			&flags, &h.CacheWrote, &h.Touched, &h.Lost, &h.Origin, &h.Fault, &size, &f.traceparent, &f.sent)
		h.Size, h.Time = int(size), f.at
		if flags != "" {
			h.Flags = strings.Split(flags, ",")
		}
		return f, err
	})
}

// A page is which requests are read: those that an expression means and that are
// older than one.
type page struct {
	where string
	args  []any
	exact bool // the condition is all of the expression
}

// older reads the newest requests of a page that are older than f; nil is none.
func (p *page) older(ctx context.Context, c conn, than *found, limit int) ([]*found, error) {
	args := append([]any{}, p.args...)
	where := "WHERE " + p.where
	if than != nil {
		where += fmt.Sprintf(" AND (at, instance, sequence) < ($%d, $%d, $%d)", len(args)+1, len(args)+2, len(args)+3)
		args = append(args, than.at, than.instance, than.sequence)
	}
	return rows(ctx, c, fmt.Sprintf("%s ORDER BY at DESC, instance DESC, sequence DESC LIMIT %d", where, limit), args...)
}

// columnsOf are the fields of expressions that have columns.
var columnsOf = map[string][]string{
	"verb": {"verb"}, "ind": {"indirection"}, "key": {"key"}, "env": {"environment"}, "out": {"outcome"}, "terminus": {"terminus"},
	"cache": {"cache"}, "served": {"served"}, "took": {"took"}, "caller": {"caller"}, "t": {"at"}, "run": {"run", "transaction"},
	"node":        {"key"},
	"type":        {"CASE WHEN indirection = 'resource' THEN split_part(key, '/', 1) ELSE '' END"},
	"instance":    {"(SELECT i.name FROM indirtui.instances i WHERE i.id = t.instance)"},
	"failed":      {"outcome IN ('" + strings.Join(query.Failures(), "', '") + "')"},
	"hidden":      {"outcome IN ('nil!', 'stale', 'err~', 'part') AND NOT (outcome = 'nil!' AND caller LIKE 'agent %')"},
	"traceparent": {"split_part(traceparent, '-', 2)", "traceparent"},
	"slow":        {"took >= 1000000000"}, "sent": {"caller = 'you'"},
}

// pageOf is the page of an expression.
func pageOf(e *query.Expr, also func(run string) []string) *page {
	p := &page{}
	p.where, p.exact = e.SQL(query.Table{
		Columns: columnsOf,
		Present: map[string]string{"node": "indirection IN ('node', 'facts', 'catalog', 'report')", "traceparent": "traceparent <> ''"},
		Arg: func(v any) string {
			p.args = append(p.args, v)
			return fmt.Sprintf("$%d", len(p.args))
		},
		Also: func(field, value string) []string {
			if field == "run" {
				return also(value)
			}
			return nil
		},
	})
	return p
}

func instances(ctx context.Context, c conn) ([]*Instance, error) {
	r, err := c.Query(ctx, `SELECT id, name, source, seen, clock_offset, shipped, without_detail, damaged, parts_missing, ended,
		CASE WHEN seen > now() - interval '1 minute' THEN held ELSE '[]' END FROM indirtui.instances ORDER BY id`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(r, func(r pgx.CollectableRow) (*Instance, error) {
		i := new(Instance)
		var offset float64
		err := r.Scan(&i.id, &i.Name, &i.Source, &i.Seen, &offset, &i.Shipped, &i.Bare, &i.Damaged, &i.Missing, &i.Ended, &i.Held)
		i.Offset = time.Duration(offset * float64(time.Second))
		return i, err
	})
}
