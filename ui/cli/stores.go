package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"indirtui/indirector/engine"
	"indirtui/indirector/sqlstore"
	"indirtui/ui/command"
)

// inSQL is what the commands share that look at stores in SQL.
type inSQL struct{ listing }

// each does something with the store of an engine, or with every one that there is.
func (c *inSQL) each(ctx context.Context, args []string, do func(*sqlstore.Store) error) error {
	engines := []string{sqlstore.SQLite, sqlstore.PostgreSQL}
	if len(args) > 0 {
		if args[0] != sqlstore.SQLite && args[0] != sqlstore.PostgreSQL {
			return &command.UsageError{What: fmt.Sprintf("there is no store %q", args[0]), Advice: "there are: sqlite, postgresql"}
		}
		engines = args
	}
	return c.p.withEngine(func(e *engine.Engine) error {
		found := 0
		for _, name := range engines {
			o, err := sqlstore.OptionsOf(e.Settings, name)
			if len(args) == 0 && o.URL == "" && name == sqlstore.PostgreSQL {
				continue
			}
			if err != nil {
				return err
			}
			o.Existing = true
			s, err := sqlstore.Open(ctx, o)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			found++
			if err := errors.Join(do(s), s.Close()); err != nil {
				return err
			}
		}
		if found == 0 {
			path, _ := e.Settings.Get("sqlite_database")
			c.p.report(fmt.Sprintf("nothing was ever stored: there is no %s, and postgresql_url is not set", clean(path)))
			return exit(exitNotFound)
		}
		return nil
	})
}

// A storesCommand shows what is in stores.
type storesCommand struct{ inSQL }

func (c *storesCommand) build(cmd *cobra.Command) {
	cmd.Long = `What is in the stores of the termini sqlite and postgresql: how much, how old,
when it was swept last, and which commands were refused and why.

Exit code: 0 shown, 1 failed, 2 usage, 3 there is no store.`
	cmd.Example = "  indirtui stores\n  indirtui stores check\n  indirtui stores export sqlite >stores.jsonl\n  indirtui stores --set sqlite_database=/var/lib/stores.db --json"
	c.flag(cmd, "as JSON")
}

func (c *storesCommand) run(ctx context.Context, args []string) error {
	all := []sqlstore.Stats{}
	err := c.each(ctx, args, func(s *sqlstore.Store) error {
		st, err := s.Stats(ctx)
		all = append(all, st)
		return err
	})
	if err != nil {
		return err
	}
	return c.print(all, func(out io.Writer) error {
		for _, st := range all {
			if err := printStats(out, st); err != nil {
				return err
			}
		}
		return nil
	})
}

func printStats(out io.Writer, st sqlstore.Stats) error {
	fmt.Fprintf(out, "%s %s, schema %d, %s\n", st.Dialect, clean(st.Name), st.Version, megabytes(st.Bytes))
	rows := [][2]string{
		{"nodes", fmt.Sprintf("%d, %d of them inactive", st.Nodes, st.Inactive)},
		{"facts", fmt.Sprintf("%d of %d nodes", st.Facts, st.Factsets)},
		{"catalogs", fmt.Sprintf("%d with %d resources, %d of them exported, %d sets of parameters, %d edges", st.Catalogs, st.Resources, st.Exported, st.Sets, st.Edges)},
		{"reports", fmt.Sprintf("%d with %d events", st.Reports, st.Events)},
		{"oldest", moment(st.Oldest)},
		{"swept", moment(st.LastSweep) + prefixed(": ", st.Sweep)},
		{"refused", fmt.Sprint(len(st.Refused))},
	}
	if err := printTable(out, "", rows, func(r [2]string, put func(...string)) { put("  "+r[0], r[1]) }); err != nil {
		return err
	}
	return printTable(out, "", st.Refused, func(l sqlstore.Logged, put func(...string)) {
		put("    "+l.Certname, l.Command, moment(l.Arrived), l.Detail)
	})
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// moment is a time in UTC; never for the zero one.
func moment(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format(time.RFC3339)
}

// A storesCheckCommand verifies stores.
type storesCheckCommand struct{ inSQL }

func (c *storesCheckCommand) build(cmd *cobra.Command) {
	cmd.Long = `Work out every hash of what is stored anew, and look for rows that refer to
nothing. Nothing is changed.

Exit code: 0 nothing is wrong, 1 something is, 2 usage, 3 there is no store.`
	c.flag(cmd, "as JSON")
}

// A checkedStore is a check of one store, as --json prints it.
type checkedStore struct {
	Name string `json:"name"`
	sqlstore.Checked
}

func (c *storesCheckCommand) run(ctx context.Context, args []string) error {
	all := []checkedStore{}
	err := c.each(ctx, args, func(s *sqlstore.Store) error {
		ch, err := s.Check(ctx)
		all = append(all, checkedStore{s.Name(), ch})
		return err
	})
	if err != nil {
		return err
	}
	bad := false
	err = c.print(all, func(out io.Writer) error {
		for _, s := range all {
			fmt.Fprintf(out, "%s: %d factsets, %d catalogs, %d sets of parameters, %d reports: %d problems\n",
				clean(s.Name), s.Factsets, s.Catalogs, s.Sets, s.Reports, len(s.Problems))
			for _, p := range s.Problems {
				fmt.Fprintf(out, "  %s\n", clean(p))
			}
		}
		return nil
	})
	for _, s := range all {
		bad = bad || len(s.Problems) > 0
	}
	if err == nil && bad {
		return exit(exitFailed)
	}
	return err
}

// A storesExportCommand writes what is stored.
type storesExportCommand struct{ inSQL }

func (c *storesExportCommand) build(cmd *cobra.Command) {
	cmd.Long = `Write what is stored as the commands that would store it again, a line of JSON
each: replace facts, replace catalog, store report, deactivate node.

Exit code: 0 written, 1 failed, 2 usage, 3 there is no store.`
}

func (c *storesExportCommand) run(ctx context.Context, args []string) error {
	return c.each(ctx, args, func(s *sqlstore.Store) error { return s.Export(ctx, c.p.out) })
}

// A storesSweepCommand removes what is too old.
type storesSweepCommand struct{ inSQL }

func (c *storesSweepCommand) build(cmd *cobra.Command) {
	cmd.Long = `End what is older than node_ttl, remove nodes that have been inactive for longer
than node_purge_ttl, reports that are older than report_ttl, and sets of
parameters that no resource has. Servers do that once in an hour by themselves.

Exit code: 0 done, 1 failed, 2 usage, 3 there is no store.`
}

func (c *storesSweepCommand) run(ctx context.Context, args []string) error {
	return c.each(ctx, args, func(s *sqlstore.Store) error {
		w, err := s.Sweep(ctx)
		if err == nil {
			fmt.Fprintf(c.p.out, "%s: %v\n", clean(s.Name()), w)
		}
		return err
	})
}
