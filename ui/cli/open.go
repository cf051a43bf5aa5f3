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
A damaged tail is dropped, and that is said. Nothing can be touched.`
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
