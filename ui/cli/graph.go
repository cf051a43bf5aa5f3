package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"indirtui/indirector/engine"
	"indirtui/indirector/origins"
	"indirtui/indirector/resource/transaction"
	"indirtui/indirector/resource/types"
	"indirtui/ui/command"
)

// A graphCommand prints the order of a catalog's resources, or what one waits for.
type graphCommand struct {
	p            *program
	format, kind string
}

func (c *graphCommand) build(cmd *cobra.Command) {
	cmd.Args = usageArgs(cobra.RangeArgs(1, 2))
	cmd.Long = `Print the order in which the resources of a catalog are evaluated. With a
resource: what it waits for and what waits for it, by which kind of relationship
(require, before, notify, subscribe, an automatic one, or a container), and where
that is declared. If resources wait for each other, the cycles are printed, the
one with the shortest way around first, and the relationship without which the
fewest resources would be in a cycle.

` + catalogHelp + `

--format dot prints the graph for Graphviz as "puppet apply --graph" writes it.
"indirtui schema graph" prints the schema of --format json.

Exit code: 0 printed, 1 there are cycles, or it is no catalog, 2 usage, 3 there is no such catalog or resource.`
	cmd.Example = `  indirtui graph web01.example.com
  indirtui graph catalog.json 'Service[nginx]'
  indirtui graph catalog.json --format dot --kind expanded_relationships | dot -Tsvg`
	cmd.Flags().StringVar(&c.format, "format", "text", "text, json or dot")
	cmd.Flags().StringVar(&c.kind, "kind", "relationships", "of dot: resources, relationships or expanded_relationships")
}

func (c *graphCommand) run(ctx context.Context, args []string) error {
	if err := checkOneOf("format", c.format, "text", "json", "dot"); err != nil {
		return err
	}
	if err := checkOneOf("kind", c.kind, transaction.Kinds...); err != nil {
		return err
	}
	if c.format == "dot" && len(args) == 2 {
		return &command.UsageError{What: "dot has the whole graph, not one resource", Advice: "--format text or json"}
	}
	return c.p.withEngine(func(e *engine.Engine) error {
		catalog, err := c.p.catalog(ctx, e, args[0])
		if err != nil {
			return err
		}
		v, err := transaction.NewView(catalog, offline(e), types.All())
		if err != nil {
			return fmt.Errorf("order the catalog of %s: %w", catalog.Name, err)
		}
		if len(args) == 2 {
			at, err := origins.MatchRef(catalog.Name, args[1], v.References())
			if err != nil {
				return lostError{err}
			}
			v.Look(at)
		}
		if err := c.print(e, v); err != nil {
			return err
		}
		if len(v.Cycles) > 0 && v.Around == nil {
			return exit(exitFailed)
		}
		return nil
	})
}

func (c *graphCommand) print(e *engine.Engine, v *transaction.View) error {
	for _, problem := range v.Problems {
		c.p.report(problem)
	}
	switch c.format {
	case "json":
		return c.p.writeRedacted(e, v)
	case "dot":
		_, err := io.WriteString(c.p.out, redacted(e, string(v.Dot(c.kind))))
		return err
	}
	_, err := io.WriteString(c.p.out, redacted(e, v.Text()))
	return err
}
