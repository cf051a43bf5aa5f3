package cli

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"indirtui/termini"
	"indirtui/ui/console"
)

// Every command of the shell is a row of the table of commands, and every row of
// the shell is a command.
func TestShellCommands(t *testing.T) {
	t.Parallel()
	p := &program{specs: termini.Specs(), termini: termini.All()}
	var rows []string
	for _, row := range console.ShellCommands() {
		rows = append(rows, row.Name)
	}
	slices.Sort(rows)
	if got := slices.Sorted(maps.Keys(p.commands(nil))); !slices.Equal(got, rows) {
		t.Errorf("got commands %q, want those of the table: %q", got, rows)
	}
	var built []string
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			built = append(built, strings.TrimPrefix(c.CommandPath(), "indirtui "))
			walk(c)
		}
	}
	walk(p.root())
	slices.Sort(built)
	if !slices.Equal(built, rows) {
		t.Errorf("got commands %q of the shell, want those of the table: %q", built, rows)
	}
}
