package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/spf13/cobra"

	"indirtui/ui/command"
	"indirtui/ui/demo/scenarios"
)

// A demoCommand plays the demo, or one of the confusing situations.
type demoCommand struct {
	listing
	list  bool
	trace string
}

func (c *demoCommand) build(cmd *cobra.Command) {
	cmd.Long = `Without a name play the demo site in the interactive program, as --demo does.

With the number of a situation open it in the interactive program, where the
terminal is one. With --plain or --trace, or without a terminal, lay out a small site in a temporary directory,
ask what has to be asked, tell what Puppet shows of it and what the trace says,
and take the site away again. A situation that needs a server starts one on the
loopback interface; nothing else is asked. --list lists all fifty.

Exit code: 0 played, 1 it went another way than it should, 2 usage, 3 this build
lacks a terminus that it needs.`
	cmd.Example = "  indirtui demo --list\n  indirtui demo S-07\n  indirtui demo S-07 --plain\n  indirtui demo S-01 --trace steps"
	f := cmd.Flags()
	f.BoolVar(&c.list, "list", false, "list the situations, and what is missing for some")
	c.flag(cmd, "with --list: as JSON")
	f.StringVar(&c.trace, "trace", "story", "what to tell of a request: none, story, steps or json")
	f.StringVar(&c.p.ui.record, "record", "", "write the recording of the interactive program to this file")
	c.p.ui.display(cmd)
}

func (c *demoCommand) run(ctx context.Context, args []string) error {
	switch {
	case c.list:
		return c.situations()
	case len(args) == 0:
		c.p.ui.demo = true
		return viewer{c.p}.run(ctx)
	}
	if err := checkTrace(c.trace); err != nil {
		return err
	}
	if v := (viewer{c.p}); v.draws() && !v.flagged("trace") {
		e, err := c.situation(args[0])
		if err != nil {
			return err
		}
		s, err := v.situationSession(e.Variants[0])
		if err != nil {
			return err
		}
		return v.look(ctx, s)
	}
	return c.play(ctx, args[0])
}

// situations are the numbers and titles of all situations.
func situations() [][2]string {
	var all [][2]string
	for _, e := range scenarios.Catalogue() {
		all = append(all, [2]string{e.ID, e.Title})
	}
	return all
}

// A situationRow is one situation, as --list --json prints it.
type situationRow struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Seen     string   `json:"seen"`
	Variants []string `json:"variants"`
	Missing  []string `json:"missing"`
}

func (c *demoCommand) situations() error {
	var rows []situationRow
	missing := 0
	for _, e := range scenarios.Catalogue() {
		r := situationRow{ID: e.ID, Title: e.Title, Seen: e.Seen, Variants: []string{}, Missing: []string{}}
		for _, v := range e.Variants {
			r.Variants = append(r.Variants, v.Name)
		}
		if lacks := e.Missing(c.p.termini); lacks != nil {
			r.Missing = lacks
			missing++
		}
		rows = append(rows, r)
	}
	return c.print(rows, func(out io.Writer) error { return printSituations(out, rows, missing) })
}

func printSituations(out io.Writer, rows []situationRow, missing int) error {
	err := printTable(out, "", rows, func(r situationRow, put func(...string)) {
		seen := "Puppet shows: " + r.Seen
		if len(r.Missing) > 0 {
			seen = "cannot be played: no " + strings.Join(r.Missing, ", no ")
		}
		put(r.ID, r.Title, seen)
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%d of %d can be played\n", len(rows)-missing, len(rows))
	return err
}

// situation finds a situation that can be played.
func (c *demoCommand) situation(name string) (scenarios.Entry, error) {
	e, ok := scenarios.Find(name)
	if !ok {
		return e, &command.UsageError{What: fmt.Sprintf("there is no situation %q", name), Advice: "they are S-01 to S-50: indirtui demo --list"}
	}
	if lacks := e.Missing(c.p.termini); lacks != nil {
		return e, lostError{fmt.Errorf("%s (%s) cannot be played: this build has no %s", e.ID, e.Title, strings.Join(lacks, " and no "))}
	}
	return e, nil
}

// play plays every variant of a situation, and prints its trace.
func (c *demoCommand) play(ctx context.Context, name string) error {
	e, err := c.situation(name)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.p.out, "%s  %s\nPuppet shows: %s\n", e.ID, e.Title, e.Seen)
	for _, v := range e.Variants {
		if err := c.playOne(ctx, v); err != nil {
			return err
		}
	}
	return nil
}

func (c *demoCommand) playOne(ctx context.Context, v scenarios.Scenario) (err error) {
	o, err := c.p.options()
	if err != nil {
		return err
	}
	s, err := v.Play(ctx, scenarios.Options{Specs: o.Specs, Termini: o.Termini, Ended: o.Ended})
	if s != nil {
		defer func() { err = errors.Join(err, s.Close()) }()
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(c.p.out, "\n%s\n", v.Name)
	if v.Problem != "" {
		for _, problem := range s.Configuration().Problems {
			fmt.Fprintln(c.p.out, "  start     "+clean(problem.String()))
		}
	}
	if err := s.Store.Flush(); err != nil {
		return err
	}
	return printTrace(c.p.out, s.Store, c.trace, s.Last)
}

// open opens the demo, or a situation, instead of what is shown.
func (c *demoCommand) open(name string, switchTo func(opener) tea.Cmd) (tea.Cmd, error) {
	opens := func() (*workspace, error) {
		c.p.ui.demo = true
		return viewer{c.p}.session()
	}
	if name != "" {
		e, err := c.situation(name)
		if err != nil {
			return nil, err
		}
		opens = func() (*workspace, error) { return viewer{c.p}.situationSession(e.Variants[0]) }
	}
	return func() tea.Msg { return switchTo(opens)() }, nil // not before the user agrees
}
