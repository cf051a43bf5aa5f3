package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/machine"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/system"
	"indirtui/indirector/resource/transaction"
	"indirtui/indirector/resource/types"
	"indirtui/ui/command"
)

// A planCommand prints what applying a catalog here would do.
type planCommand struct {
	p      *program
	format string
	checks bool
	helper bool
	tags   []string
}

func (c *planCommand) build(cmd *cobra.Command) {
	cmd.Args = usageArgs(cobra.ExactArgs(1))
	cmd.Long = `Print what applying a catalog to this machine would do: for each resource that is
not as it should be which properties are not, what would be refreshed, what is
skipped and why, what would fail, and what cannot be known; and the totals.

` + catalogHelp + `

Nothing is changed: no file is written, no state is kept, and only commands run
that are known to look. Checks of exec (unless, onlyif) are commands that may do
anything: they are named, and run only with --checks. Resources whose types or
providers this program does not have cannot be known; what depends on them is
planned as if they were in sync. With --helper and --ruby, Puppet looks at those in
a process beside this one, in noop: what its types and providers do to look is theirs.

"indirtui schema plan" prints the schema of --format json.

Exit code: 0 there is nothing to do, 1 the catalog cannot be applied as a whole, 2 there is something to do (or usage), 3 there is no such catalog, 4 something cannot be done.`
	cmd.Example = `  indirtui plan catalog.json
  indirtui plan web01.example.com --tags web --format json`
	f := cmd.Flags()
	f.StringVar(&c.format, "format", "text", "text or json")
	f.BoolVar(&c.checks, "checks", false, "run the checks of exec, as noop does")
	f.BoolVar(&c.helper, "helper", false, "let Puppet look at resources of types that are written in Ruby; it needs --ruby")
	f.StringSliceVar(&c.tags, "tags", nil, "only resources with one of these `TAGS`")
}

func (c *planCommand) run(ctx context.Context, args []string) error {
	if err := checkFormat(c.format); err != nil {
		return err
	}
	if c.helper && c.p.rubyPath() == "" {
		return &command.UsageError{What: "--helper needs Ruby", Advice: "indirtui plan --helper --ruby auto CATALOG"}
	}
	return c.p.withEngine(func(e *engine.Engine) error {
		catalog, err := c.p.catalog(ctx, e, args[0])
		if err != nil {
			return err
		}
		host, err := thisMachine(ctx, e)
		if err != nil {
			return err
		}
		return c.plan(ctx, e, catalog, host)
	})
}

// plan prints the plan of a catalog. The exit code is that of its totals.
func (c *planCommand) plan(ctx context.Context, e *engine.Engine, catalog *model.Catalog, host types.Host) (err error) {
	options := transaction.Options{
		Settings: transaction.ReadSettings(host), System: system.New(host), Types: types.All(), Sources: &providers.Requests{Do: e.Once},
	}
	if !c.checks { // the checks of exec may be any command
		options.System = system.ReadOnly(options.System)
	}
	if len(c.tags) > 0 {
		options.Tags = c.tags
	}
	if c.helper {
		h := c.p.helper(e)
		defer func() { err = errors.Join(err, h.Close()) }()
		var problems []error
		options.Types, problems = h.Types(ctx, options.Types, catalog)
		options.Provider = h.Provider
		for _, problem := range problems {
			c.p.report(problem.Error())
		}
	}
	plan, err := transaction.MakePlan(ctx, catalog, options, c.checks)
	if err != nil {
		return fmt.Errorf("plan the catalog of %s: %w", catalog.Name, err)
	}
	if err := c.print(e, plan); err != nil {
		return err
	}
	if code := plan.Totals.Exit(); code != 0 {
		return exit(code)
	}
	return nil
}

func (c *planCommand) print(e *engine.Engine, plan *transaction.Plan) error {
	for _, line := range plan.Logs {
		fmt.Fprintln(c.p.Err, clean(line))
	}
	if c.format == "json" {
		return c.p.writeRedacted(e, plan)
	}
	_, err := io.WriteString(c.p.out, redacted(e, plan.Text()))
	return err
}

// thisMachine is the host that the program runs on, with facts of its own.
func thisMachine(ctx context.Context, e *engine.Engine) (types.Host, error) {
	certname, _ := e.Settings.Get("certname")
	resp, err := e.Once(ctx, &indirector.Request{
		Indirection: "facts", Verb: indirector.Find, Key: certname, Terminus: "facter", Cache: indirector.Off, Caller: "cli",
	})
	if err != nil && !errors.Is(err, indirector.ErrNotFound) {
		return nil, fmt.Errorf("find the facts of this machine: %w", err)
	}
	facts := data.OfHash(nil)
	if resp != nil {
		if f, ok := resp.Instance().(*model.Facts); ok {
			facts = f.Values
		}
	}
	return machine.New(facts, offline(e).Setting), nil
}
