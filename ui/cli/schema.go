package cli

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"indirtui/ui/command"
)

//go:embed schema
var schemas embed.FS

// schemaNames are the schemas that can be printed.
func schemaNames() []string {
	entries, err := schemas.ReadDir("schema")
	if err != nil {
		panic(err) // it is of this program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	return names
}

// A schemaCommand prints the JSON schema of what a command prints.
type schemaCommand struct{ p *program }

func (c *schemaCommand) build(cmd *cobra.Command) {
	cmd.Short += ": " + strings.Join(schemaNames(), ", ")
	cmd.ValidArgs = schemaNames()
	cmd.Long = `Print the JSON schema of what a command prints:

  cache, check-types, config,
  device, node, routes, settings, termini    of the same commands with --json
  check, compile, describe, diff,
  graph, parse, plan, replay, why    with --format json
  run                                with --format json, of each line
  demo                               demo --list --json
  trace                              find and the others with --trace json
  jsonl                              export --format jsonl, of each line
  har                                export --format har
  attach                             the lines between attach and a process

What was found is written as Puppet writes it, and export --format otlp as
OpenTelemetry says.

Exit code: 0 printed, 2 there is no such schema.`
}

func (c *schemaCommand) run(_ context.Context, args []string) error {
	name := args[0]
	if !slices.Contains(schemaNames(), name) {
		return &command.UsageError{What: fmt.Sprintf("there is no schema %q", name), Advice: "there are: " + strings.Join(schemaNames(), ", ")}
	}
	b, err := schemas.ReadFile("schema/" + name + ".json")
	if err != nil {
		return err
	}
	_, err = c.p.out.Write(b)
	return err
}
