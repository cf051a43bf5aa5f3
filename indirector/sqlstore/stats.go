package sqlstore

import (
	"context"
	"os"
	"time"
)

// Stats are what is in a store.
type Stats struct {
	Name      string    `json:"name"` // path, or URL without a password
	Dialect   string    `json:"dialect"`
	Version   int       `json:"schema_version"`
	Bytes     int64     `json:"bytes"` // on disk, with the log
	Nodes     int       `json:"nodes"`
	Inactive  int       `json:"inactive"` // of them
	Factsets  int       `json:"factsets"`
	Facts     int       `json:"facts"`
	Catalogs  int       `json:"catalogs"`
	Resources int       `json:"resources"`
	Exported  int       `json:"exported"` // of them
	Sets      int       `json:"parameter_sets"`
	Edges     int       `json:"edges"`
	Reports   int       `json:"reports"`
	Events    int       `json:"events"`
	Oldest    time.Time `json:"oldest"`     // when the facts or the catalog of an active node were stored that are the oldest; zero if there are none
	LastSweep time.Time `json:"last_sweep"` // zero if there was none
	Sweep     string    `json:"sweep"`      // what it did
	Refused   []Logged  `json:"refused"`    // the last commands that were refused, the newest first
}

// A Logged command is one of the last of a node.
type Logged struct {
	Certname string    `json:"certname"`
	Command  string    `json:"command"`
	Produced time.Time `json:"produced"`
	Arrived  time.Time `json:"arrived"`
	Outcome  string    `json:"outcome"`
	Detail   string    `json:"detail"`
}

// Stats counts what is in the store.
func (s *Store) Stats(ctx context.Context) (st Stats, err error) {
	st = Stats{Name: s.name, Dialect: s.d.name, Version: len(s.steps), Refused: []Logged{}}
	active := "node IN (SELECT id FROM nodes WHERE deactivated IS NULL AND expired IS NULL)"
	err = s.look(ctx, func(c *conn) error {
		for _, q := range []struct {
			text string
			into *int
		}{
			{"nodes", &st.Nodes},
			{"nodes WHERE deactivated IS NOT NULL OR expired IS NOT NULL", &st.Inactive},
			{"factsets", &st.Factsets},
			{"facts", &st.Facts},
			{"catalogs", &st.Catalogs},
			{"catalog_resources", &st.Resources},
			{"catalog_resources WHERE exported", &st.Exported},
			{"parameter_sets", &st.Sets},
			{"catalog_edges", &st.Edges},
			{"reports", &st.Reports},
			{"events", &st.Events},
		} {
			if _, err := c.one(ctx, []any{q.into}, "SELECT count(*) FROM "+q.text); err != nil {
				return err
			}
		}
		for _, table := range []string{"factsets", "catalogs"} {
			var at stamp
			if _, err := c.one(ctx, []any{&at}, "SELECT min(stored) FROM "+table+" WHERE "+active); err != nil {
				return err
			}
			if t := at.time(); !t.IsZero() && (st.Oldest.IsZero() || t.Before(st.Oldest)) {
				st.Oldest = t
			}
		}
		var at stamp
		if _, err := c.one(ctx, []any{&at, &st.Sweep}, "SELECT at, detail FROM sweeps ORDER BY id DESC LIMIT 1"); err != nil {
			return err
		}
		st.LastSweep = at.time()
		if st.Refused, err = c.commands(ctx, "WHERE outcome = ? ORDER BY id DESC LIMIT 20", Refused.String()); err != nil {
			return err
		}
		return c.size(ctx, &st.Bytes)
	})
	return st, s.failed("count", err)
}

// size is what the store takes on disk.
func (c *conn) size(ctx context.Context, bytes *int64) error {
	if c.s.writers == nil {
		_, err := c.one(ctx, []any{bytes}, "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace")
		return err
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if info, err := os.Stat(c.s.o.Path + suffix); err == nil {
			*bytes += info.Size()
		}
	}
	return nil
}

// Commands returns the last commands of a node, the newest first.
func (s *Store) Commands(ctx context.Context, certname string) (all []Logged, err error) {
	err = s.look(ctx, func(c *conn) error {
		all, err = c.commands(ctx, "WHERE certname = ? ORDER BY id DESC", certname)
		return err
	})
	return all, s.failed("list the commands of "+certname, err)
}

func (c *conn) commands(ctx context.Context, which string, args ...any) ([]Logged, error) {
	all := []Logged{}
	err := c.each(ctx, func(scan func(...any) error) error {
		var l Logged
		var produced, arrived stamp
		err := scan(&l.Certname, &l.Command, &produced, &arrived, &l.Outcome, &l.Detail)
		l.Produced, l.Arrived = produced.time(), arrived.time()
		all = append(all, l)
		return err
	}, "SELECT certname, kind, produced, arrived, outcome, detail FROM commands "+which, args...)
	return all, err
}
