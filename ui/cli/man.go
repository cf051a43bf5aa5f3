package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"indirtui/ui/command"
)

// A manCommand prints the page of the program, or that of one of its commands.
type manCommand struct {
	p    *program
	root *cobra.Command
}

func (m *manCommand) run(_ context.Context, args []string) error {
	about, rest, err := m.root.Find(args)
	if err != nil || len(rest) > 0 {
		return &command.UsageError{What: fmt.Sprintf("no command is called %q", strings.Join(args, " ")), Advice: "see indirtui --help"}
	}
	m.root.DisableAutoGenTag = true
	title := strings.ToUpper(strings.ReplaceAll(about.CommandPath(), " ", "-"))
	return doc.GenMan(about, &doc.GenManHeader{Title: title, Section: "1", Source: "indirtui", Manual: "indirtui"}, m.p.out)
}
