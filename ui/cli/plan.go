package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/machine"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/system"
	"indirtui/indirector/resource/transaction"
	"indirtui/indirector/resource/types"
	"indirtui/traces/diff"
	"indirtui/ui/command"
	"indirtui/ui/demo"
	"indirtui/ui/plan"
	"indirtui/ui/session"
)

// A planCommand prints what applying a catalog here would do.
type planCommand struct {
	p               *program
	format, against string
	want            plan.Want
	adapt           func(*transaction.Options, *model.Catalog) // to a device; nil is none
}

func (c *planCommand) build(cmd *cobra.Command) {
	cmd.Args = usageArgs(cobra.ExactArgs(1))
	cmd.Long = `Print what applying a catalog to this machine would do: for each resource that is
not as it should be which properties are not, what would be refreshed, what is
skipped and why, what would fail, and what cannot be known; and the totals.

` + catalogHelp + `
A plan that was printed with --format json is printed again.

Nothing is changed: no file is written, no state is kept, and only commands run
that are known to look. Checks of exec (unless, onlyif) are commands that may do
anything: they are named, and run only with --checks. Resources whose types or
providers are written in Ruby cannot be known; what depends on them is planned as
if they were in sync. With --helper, Puppet looks at those in a process beside this
one, in noop: what its types and providers do to look is theirs. Deferred values are
computed, but by no function that runs commands, asks PuppetDB or is written in Ruby.
--format diff prints only how the contents of files would change, as unified diffs.

With --against the plan is compared: with that of another catalog, with a plan that
was printed as JSON, or with the report of a run, such as last_run_report.yaml. Each
difference is a line; --format json is that of diff.

"indirtui schema plan" prints the schema of --format json.

Exit code: 0 there is nothing to do, 1 the catalog cannot be applied as a whole, 2 there is something to do (or usage), 3 there is no such catalog, 4 something cannot be done. With --against: 0 no difference, 1 differences.`
	cmd.Example = `  indirtui plan catalog.json
  indirtui plan web01.example.com --tags web --format json
  indirtui plan catalog.json --skip_tags slow --format diff
  indirtui plan catalog.json --against /var/lib/puppet/state/last_run_report.yaml`
	f := cmd.Flags()
	f.StringVar(&c.format, "format", "text", "text, json or diff")
	f.StringVar(&c.against, "against", "", "compare with this `CATALOG`, plan or report")
	f.BoolVar(&c.want.Checks, "checks", false, "run the checks of exec, as noop does")
	f.StringSliceVar(&c.want.Tags, "tags", nil, "only resources with one of these `TAGS`")
	f.StringSliceVar(&c.want.SkipTags, "skip_tags", nil, "no resources with one of these `TAGS`")
	f.BoolVar(&c.want.Helper, "helper", false, "let Puppet look at resources that are written in Ruby")
}

func (c *planCommand) run(ctx context.Context, args []string) error {
	formats := []string{"text", "json", "diff"}
	if c.against != "" {
		formats = formats[:2]
	}
	if err := checkOneOf("format", c.format, formats...); err != nil {
		return err
	}
	if ruby, none := c.p.foreignRuby(); c.want.Helper && ruby == "" {
		return &command.UsageError{What: "--helper needs Ruby, and " + none}
	}
	return c.p.withEngine(func(e *engine.Engine) error {
		kept, err := c.p.kept(ctx, e, args[0])
		switch {
		case err != nil:
			return err
		case kept.Report != nil:
			return &command.UsageError{What: fmt.Sprintf("%q is a report, which is no plan", args[0]), Advice: "compare a plan with it: --against"}
		}
		made := kept.Plan
		if made == nil {
			if made, err = c.make(ctx, e, kept.Catalog); err != nil {
				return err
			}
		}
		if c.against != "" {
			return c.compare(ctx, e, "plan of "+args[0], made)
		}
		return c.answer(e, made)
	})
}

// make makes the plan of a catalog, and reports what Puppet could look at.
func (c *planCommand) make(ctx context.Context, e *engine.Engine, catalog *model.Catalog) (*transaction.Plan, error) {
	r, err := c.p.planOf(ctx, e, nil, catalog, c.want, c.adapt)
	switch {
	case r.Foreign == 1:
		c.p.report("1 resource is written in Ruby: plan --helper lets Puppet look at it")
	case r.Foreign > 1:
		c.p.report(fmt.Sprintf("%d resources are written in Ruby: plan --helper lets Puppet look at them", r.Foreign))
	}
	return r.Plan, err
}

// answer prints a plan. The exit code is that of its totals.
func (c *planCommand) answer(e *engine.Engine, p *transaction.Plan) error {
	if err := c.print(e, p); err != nil {
		return err
	}
	if code := p.Totals.Exit(); code != 0 {
		return exit(code)
	}
	return nil
}

// compare prints how a plan differs from what it is compared with.
func (c *planCommand) compare(ctx context.Context, e *engine.Engine, name string, p *transaction.Plan) error {
	kept, err := c.p.kept(ctx, e, c.against)
	if err != nil {
		return err
	}
	other := &plan.Other{Name: c.against}
	if other.Plan, other.Report = kept.Happened(); other.Plan == nil {
		other.Name = "plan of " + c.against
		if other.Plan, err = c.make(ctx, e, kept.Catalog); err != nil {
			return err
		}
	}
	a, b := plan.Documents(name, p, other, hider(e))
	r, err := diff.Documents(a, b, diff.Options{})
	if err != nil {
		return err
	}
	return (&diffCommand{reading: reading{p: c.p}, format: c.format}).print(r)
}

// hider redacts texts and the values of properties.
func hider(e *engine.Engine) func(name, text string) string {
	return plan.Hider(&session.Env{RedactText: e.Redactor.Text})
}

func (c *planCommand) print(e *engine.Engine, p *transaction.Plan) error {
	p = p.Redacted(hider(e))
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

// planOf works out what applying a catalog would do: to this machine, or to that of the
// demo. Nothing is changed. Puppet looks at what is written in Ruby if that is wanted. With
// adapt it is what would be done to a device.
func (p *program) planOf(ctx context.Context, e *engine.Engine, on site, catalog *model.Catalog, want plan.Want, adapt func(*transaction.Options, *model.Catalog)) (r plan.Result, err error) {
	o := transaction.Options{Types: types.All(), Unknown: want.Unknown, NotAsked: "Puppet was not asked"}
	_, none := p.foreignRuby()
	d, played := on.(*demo.Site)
	switch {
	case played:
		o.System, o.Sources, o.NotAsked = d.Machine(offline(e).Setting), d.Modules(), "Puppet is not asked about this machine"
	case none != "":
		o.NotAsked = none
	}
	if !played {
		ask := func(ctx context.Context, req *indirector.Request) (indirector.Response, error) {
			req.Run = want.Run
			return e.Ask(ctx, req)
		}
		host, err := hereBy(ctx, e, ask)
		if err != nil {
			return r, err
		}
		values := deferred(e, host, catalog, "")
		defer values.Close()
		o.System, o.Sources, o.Resolve = system.New(host), &providers.Requests{Do: ask}, values.Resolve
		if !want.Checks { // the checks of exec may be any command
			o.System = system.ReadOnly(o.System)
		}
	}
	o.Settings = transaction.ReadSettings(o.System)
	if len(want.Tags) > 0 {
		o.Tags = want.Tags
	}
	if len(want.SkipTags) > 0 {
		o.SkipTags = want.SkipTags
	}
	var problems []error
	if adapt != nil {
		adapt(&o, catalog)
	} else if h := p.helper(e); h != nil && want.Helper && !played {
		defer func() { err = errors.Join(err, h.Close()) }()
		o.Types, problems = h.Types(ctx, o.Types, catalog)
		o.Provider, o.NotAsked = h.Provider, ""
	}
	if r.Plan, err = transaction.MakePlan(ctx, catalog, o, want.Checks); err != nil {
		return r, fmt.Errorf("plan the catalog of %s: %w", catalog.Name, err)
	}
	for _, problem := range problems {
		r.Plan.Logs = append(r.Plan.Logs, problem.Error())
	}
	if none == "" && !played {
		r.Foreign = r.Plan.InRuby
	}
	r.View, err = transaction.NewView(catalog, o.System, o.Types)
	return r, err
}

// thisMachine is the host that the program runs on, with facts of its own.
func thisMachine(ctx context.Context, e *engine.Engine) (*machine.Machine, error) {
	return hereBy(ctx, e, e.Once)
}

// hereBy is thisMachine, whose facts are asked for by do.
func hereBy(ctx context.Context, e *engine.Engine, do machine.Do) (*machine.Machine, error) {
	certname, _ := e.Settings.Get("certname")
	return machine.Here(ctx, do, certname, "cli", offline(e).Setting)
}
