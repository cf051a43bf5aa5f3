package cli

import (
	"context"

	"github.com/spf13/cobra"
)

// An openCommand looks at a recording.
type openCommand struct {
	p       *program
	display interactive
}

func (c *openCommand) build(cmd *cobra.Command) {
	cmd.Long = `Look at a recording: a file of JSON lines that the interactive program wrote.
A damaged tail is dropped, and that is said. Nothing can be touched.

A URL such as postgres://USER@HOST/DATABASE opens what all programs of a fleet
have shipped there: the newest requests, older ones as they are looked at, what a
filter means, and what is new as it comes. The password belongs into PGPASSFILE.`
	cmd.Example = `  indirtui open incident.jsonl
  indirtui open postgres://traces@db1.example.com/traces`
	c.display.display(cmd)
}

func (c *openCommand) run(ctx context.Context, args []string) error {
	c.p.ui = c.display
	if err := (viewer{c.p}).needsTerminal(); err != nil {
		return err
	}
	s, err := openSession(args[0])
	if err != nil {
		return lostError{err}
	}
	return viewer{c.p}.look(ctx, s)
}
