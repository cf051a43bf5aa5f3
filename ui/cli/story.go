package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"indirtui/traces/export"
	"indirtui/traces/store"
)

// A storyCommand prints the stories of a recording.
type storyCommand struct{ reading }

func (c *storyCommand) build(cmd *cobra.Command) {
	cmd.Long = `Tell what happened in a recording: for each request why the answer is what it
is, who answered, who was asked, who decided that, and every step. Runs of agents
come first, each in one sentence.

` + selectorHelp + `

Exit code: 0 told, 2 usage, 3 the recording cannot be read.`
	cmd.Example = "  indirtui story --recording incident.jsonl hidden\n  indirtui story --recording incident.jsonl '#1042'"
	c.flags(cmd)
}

func (c *storyCommand) run(_ context.Context, args []string) error {
	c.words = args
	return c.with(func(s *store.Store) error {
		ids, err := selected(s, args)
		if err != nil {
			return err
		}
		for _, sentence := range runStories(s, ids) {
			fmt.Fprintf(c.p.out, "%s\n\n", clean(sentence))
		}
		_, err = export.Write(c.p.out, s, ids, c.options(export.Story))
		return err
	})
}
