package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"indirtui/indirector/engine"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/foreign"
	"indirtui/indirector/resource/machine"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/system"
	"indirtui/indirector/resource/transaction"
	"indirtui/indirector/resource/types"
	"indirtui/ui/command"
	"indirtui/ui/demo"
	"indirtui/ui/plan"
)

// A planCommand prints what applying a catalog here would do.
type planCommand struct {
	p      *program
	format string
	want   plan.Want
	helper bool
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
planned as if they were in sync. Deferred values are computed, but by no function that
runs commands, asks PuppetDB or is written in Ruby. With --helper and --ruby, Puppet looks at those in
a process beside this one, in noop: what its types and providers do to look is theirs.
--format diff prints only how the contents of files would change, as unified diffs.

"indirtui schema plan" prints the schema of --format json.

Exit code: 0 there is nothing to do, 1 the catalog cannot be applied as a whole, 2 there is something to do (or usage), 3 there is no such catalog, 4 something cannot be done.`
	cmd.Example = `  indirtui plan catalog.json
  indirtui plan web01.example.com --tags web --format json
  indirtui plan catalog.json --skip_tags slow --format diff`
	f := cmd.Flags()
	f.StringVar(&c.format, "format", "text", "text, json or diff")
	f.BoolVar(&c.want.Checks, "checks", false, "run the checks of exec, as noop does")
	f.StringSliceVar(&c.want.Tags, "tags", nil, "only resources with one of these `TAGS`")
	f.StringSliceVar(&c.want.SkipTags, "skip_tags", nil, "no resources with one of these `TAGS`")
	f.BoolVar(&c.helper, "helper", false, "let Puppet look at resources of types that are written in Ruby; it needs --ruby")
}

func (c *planCommand) run(ctx context.Context, args []string) error {
	if err := checkOneOf("format", c.format, "text", "json", "diff"); err != nil {
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
		return c.plan(ctx, e, catalog)
	})
}

// plan prints the plan of a catalog. The exit code is that of its totals.
func (c *planCommand) plan(ctx context.Context, e *engine.Engine, catalog *model.Catalog) (err error) {
	var h *foreign.Helper
	if c.helper {
		h = c.p.helper(e)
		defer func() { err = errors.Join(err, h.Close()) }()
	}
	r, err := planHere(ctx, e, nil, catalog, c.want, h)
	if err != nil {
		return err
	}
	if err := c.print(e, r.Plan); err != nil {
		return err
	}
	if code := r.Plan.Totals.Exit(); code != 0 {
		return exit(code)
	}
	return nil
}

func (c *planCommand) print(e *engine.Engine, p *transaction.Plan) error {
	for _, line := range p.Logs {
		fmt.Fprintln(c.p.Err, clean(line))
	}
	text := p.Text()
	switch c.format {
	case "json":
		return c.p.writeRedacted(e, p)
	case "diff":
		text = p.Diffs()
	}
	_, err := io.WriteString(c.p.out, redacted(e, text))
	return err
}

// planHere works out what applying a catalog would do: to this machine, or to that of the
// demo. Nothing is changed.
func planHere(ctx context.Context, e *engine.Engine, on site, catalog *model.Catalog, want plan.Want, h *foreign.Helper) (plan.Result, error) {
	var o transaction.Options
	if d, is := on.(*demo.Site); is {
		o.System, o.Sources = d.Machine(offline(e).Setting), d.Modules()
	} else {
		host, err := thisMachine(ctx, e)
		if err != nil {
			return plan.Result{}, err
		}
		values := deferred(e, host, catalog, "")
		defer values.Close()
		o.System, o.Sources, o.Resolve = system.New(host), &providers.Requests{Do: e.Ask}, values.Resolve
		if !want.Checks { // the checks of exec may be any command
			o.System = system.ReadOnly(o.System)
		}
	}
	o.Settings, o.Types, o.Unknown = transaction.ReadSettings(o.System), types.All(), want.Unknown
	if len(want.Tags) > 0 {
		o.Tags = want.Tags
	}
	if len(want.SkipTags) > 0 {
		o.SkipTags = want.SkipTags
	}
	var problems []error
	if h != nil {
		o.Types, problems = h.Types(ctx, o.Types, catalog)
		o.Provider = h.Provider
	}
	made, err := transaction.MakePlan(ctx, catalog, o, want.Checks)
	if err != nil {
		return plan.Result{}, fmt.Errorf("plan the catalog of %s: %w", catalog.Name, err)
	}
	for _, problem := range problems {
		made.Logs = append(made.Logs, problem.Error())
	}
	view, err := transaction.NewView(catalog, o.System, o.Types)
	return plan.Result{Plan: made, View: view}, err
}

// thisMachine is the host that the program runs on, with facts of its own.
func thisMachine(ctx context.Context, e *engine.Engine) (*machine.Machine, error) {
	certname, _ := e.Settings.Get("certname")
	return machine.Here(ctx, e.Once, certname, "cli", offline(e).Setting)
}
