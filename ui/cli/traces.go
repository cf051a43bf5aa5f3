package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"indirtui/indirector/engine"
	"indirtui/traces/fleet"
	"indirtui/ui/command"
)

// A tracesCommand has the commands about the traces of a fleet below it.
type tracesCommand struct{ help func() error }

func (c *tracesCommand) build(cmd *cobra.Command) {
	cmd.Long = `Look after the traces that serve and proxy have shipped with --traces, and after
the recordings here. docs/FLEETS.md has how a fleet is set up.`
	c.help = cmd.Help
}

func (c *tracesCommand) run(context.Context, []string) error { return c.help() }

// needsURL refuses what names no database.
func needsURL(text string) error {
	if fleet.IsURL(text) {
		return nil
	}
	return &command.UsageError{What: fmt.Sprintf("%q names no database", text), Advice: "write postgres://USER@HOST/DATABASE"}
}

// A tracesListCommand lists the instances of a fleet.
type tracesListCommand struct{ p *program }

func (c *tracesListCommand) run(ctx context.Context, args []string) error {
	if err := needsURL(args[0]); err != nil {
		return err
	}
	all, err := fleet.List(ctx, args[0])
	if err != nil {
		return lostError{err}
	}
	for _, i := range all {
		state := "last seen " + i.Seen.Local().Format(time.DateTime)
		if i.Ended {
			state = "ended, all shipped"
		}
		fmt.Fprintf(c.p.out, "%s: %d requests, %s, clock %+.3f s\n", clean(i.Name), i.Shipped, state, i.Offset.Seconds())
		for _, n := range []struct {
			n    int64
			what string
		}{
			{i.Bare, "requests without detail: dropped before they were recorded"},
			{i.Damaged, "lines that could not be read"},
			{i.Missing, "parts of the recording removed before they were shipped"},
		} {
			if n.n > 0 {
				fmt.Fprintf(c.p.out, "  %d %s\n", n.n, n.what)
			}
		}
		for _, h := range i.Held {
			fmt.Fprintf(c.p.out, "  holds #%d %s since %s\n", h.Number, clean(h.Name), h.Since.Local().Format(time.DateTime))
		}
	}
	return nil
}

// A tracesShipCommand ships one recording.
type tracesShipCommand struct{ p *program }

func (c *tracesShipCommand) run(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return &command.UsageError{What: "traces ship needs a recording and a database", Advice: "see indirtui traces ship --help"}
	}
	if err := needsURL(args[1]); err != nil {
		return err
	}
	s, err := fleet.Ship(fleet.ShipOptions{URL: args[1], Path: args[0], Once: true, Report: func(s fleet.State) { c.p.report(s.String()) }})
	if err != nil {
		return &command.UsageError{What: err.Error()}
	}
	err = s.Wait(ctx)
	state := s.Close(ctx)
	fmt.Fprintf(c.p.out, "%d requests, %s\n", state.Shipped, clean(state.String()))
	return err
}

// A tracesPruneCommand removes what is old.
type tracesPruneCommand struct {
	p    *program
	keep string
}

func (c *tracesPruneCommand) build(cmd *cobra.Command) {
	cmd.Long = `Remove what is older than --keep: of a fleet the partitions of whole days, and
values and runs that nothing used since; without a URL the recordings of this
user that were made by themselves, unless a project compares with one.`
	cmd.Example = `  indirtui traces prune --keep 30d postgres://owner@db1.example.com/traces
  indirtui traces prune --keep 7d`
	cmd.Flags().StringVar(&c.keep, "keep", "", "how long traces stay, as `30d` or 12h")
}

func (c *tracesPruneCommand) run(ctx context.Context, args []string) error {
	keep, err := parseKeep(c.keep)
	if err != nil {
		return err
	}
	before := time.Now().Add(-keep)
	if len(args) == 0 {
		return c.pruneHere(before)
	}
	if err := needsURL(args[0]); err != nil {
		return err
	}
	p, err := fleet.Prune(ctx, args[0], before)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.p.out, "removed %d days, %d values, %d runs\n", p.Days, p.Values, p.Runs)
	return nil
}

// parseKeep reads a number of days or a duration of Go.
func parseKeep(text string) (time.Duration, error) {
	days, isDays := strings.CutSuffix(text, "d")
	if n, err := strconv.Atoi(days); isDays && err == nil && n > 0 && n < 100_000 {
		return time.Duration(n) * 24 * time.Hour, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d, nil
	}
	return 0, &command.UsageError{What: fmt.Sprintf("--keep %q is no time", text), Advice: "write 30d or 12h"}
}

// pruneHere removes recordings of this user that have ended before a time.
func (c *tracesPruneCommand) pruneHere(before time.Time) error {
	dir, err := engine.StateDir()
	if err != nil {
		return err
	}
	all, _, err := oldRecordings(dir)
	if err != nil {
		return err
	}
	var errs []error
	removed := 0
	for _, r := range all {
		if r.at.Before(before) {
			errs = append(errs, os.Remove(r.path))
			removed++
		}
	}
	fmt.Fprintf(c.p.out, "removed %d of %d recordings in %s\n", removed, len(all), filepath.Clean(dir))
	return errors.Join(errs...)
}
