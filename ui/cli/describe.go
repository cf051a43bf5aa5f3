package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/resource/foreign"
	"indirtui/indirector/resource/machine"
	"indirtui/indirector/resource/types"
	"indirtui/ui/command"
	"indirtui/ui/describe"
)

// A describeCommand shows resource types, as puppet describe does, and why a provider is
// used here.
type describeCommand struct {
	p           *program
	format      string
	list, short bool
}

func (c *describeCommand) build(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.format, "format", "text", "text or json")
	f.BoolVarP(&c.list, "list", "l", false, "list the types, with a sentence each")
	f.BoolVarP(&c.short, "short", "s", false, "only the names of attributes and providers")
	cmd.Long = `What is known of a resource type: what names it, its properties and parameters
with the values that they take and their defaults, which resources it requires by
itself, and its providers. The one that is used on this machine comes first, and
each has what counts for and against it here: facts, features, programs. Facts are
those of facter; nothing is changed. Types that are written in Ruby are asked of Puppet,
unless --ruby is never.

"indirtui schema describe" prints the schema of --format json, which is an object for
each type.

Exit code: 0 described, 1 there is no such type, 2 usage.`
	cmd.Example = "  indirtui describe file\n  indirtui describe package service --short\n  indirtui describe --list"
}

func (c *describeCommand) run(ctx context.Context, args []string) error {
	if err := checkFormat(c.format); err != nil {
		return err
	}
	if c.list {
		args = describe.Names()
	}
	if len(args) == 0 {
		return &command.UsageError{What: "describe which type?", Advice: "indirtui describe --list lists them"}
	}
	if c.list && c.format == "text" {
		_, err := io.WriteString(c.p.out, describe.Text(describe.List()))
		return err
	}
	return c.p.withEngine(func(e *engine.Engine) (err error) {
		helper := c.p.helper(e)
		if helper != nil {
			defer func() { err = errors.Join(err, helper.Close()) }()
		}
		host := machineOf(ctx, e)
		all := []describe.Type{}
		var problems []error
		for _, name := range args {
			t, err := c.find(ctx, helper, name)
			if err != nil {
				problems = append(problems, err)
				continue
			}
			all = append(all, describe.New(t, host))
		}
		return errors.Join(append(problems, c.print(all))...)
	})
}

// find returns a type; one that this program does not have is Ruby's, if that is allowed.
func (c *describeCommand) find(ctx context.Context, helper *foreign.Helper, name string) (*types.Type, error) {
	t, err := describe.Find(name)
	switch {
	case err == nil:
		return t, nil
	case helper == nil:
		_, none := c.p.foreignRuby()
		return nil, fmt.Errorf("%w; types that are written in Ruby are not known: %s", err, none)
	}
	return typeByRuby(ctx, helper, name)
}

func (c *describeCommand) print(all []describe.Type) error {
	if c.format == "json" {
		return writeJSON(c.p.out, all)
	}
	for i, d := range all {
		rows := d.Rows()
		if c.short {
			rows = d.Short()
		}
		text := describe.Text(rows)
		if i > 0 {
			text = "\n" + text
		}
		if _, err := io.WriteString(c.p.out, text); err != nil {
			return err
		}
	}
	return nil
}

// machineOf is this machine with the facts that facter has. Without facts only what
// depends on none of them is known.
func machineOf(ctx context.Context, e *engine.Engine) types.Host {
	host, err := thisMachine(ctx, e)
	if err != nil {
		return machine.New(data.OfHash(nil), offline(e).Setting)
	}
	return host
}
