package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/device"
	"indirtui/indirector/engine"
	"indirtui/indirector/model"
	"indirtui/ui/command"
)

// A deviceCommand lists the devices of device.conf, or asks one.
type deviceCommand struct {
	listing
	target, trace          string
	facts, resources       bool
	apply                  string
	noop, really, detailed bool
}

func (c *deviceCommand) build(cmd *cobra.Command) {
	cmd.Long = `List the devices of device.conf, and what would be asked for their facts and
resources. With --target and --facts the facts of a device are found and printed,
as by "puppet device"; the trace goes to standard error. With --target and
--resource a device of type exec is asked for the resources of a type, or for one.
With attributes it is told to change that, as "puppet resource" would be; that
needs --write. With --target and --apply a catalog, or a manifest that is compiled
with the facts of the device, is applied to it, as by "puppet device --apply"; that
needs --noop or --really, and --write, and is else a plan. Resources of hosts are
skipped. The report and the state of runs are kept below the setting devicedir.

A device of type exec is a program. It is called with the word facts, with get TYPE
and perhaps a name, or with set TYPE NAME and the wanted attributes as JSON on its
standard input, and answers JSON. Other types are Ruby: puppet device asks them
for their facts, unless --ruby is never.

Exit code: 0 done, 1 failed, or there is no device, 2 usage; with --apply that of apply.`
	cmd.Example = `  indirtui device
  indirtui device --target switch1.example.com --facts
  indirtui device --target switch1.example.com --resource vlan 7
  indirtui device --target switch1.example.com --resource vlan 7 ensure=present --write
  indirtui device --target switch1.example.com --apply switch.pp --really --write`
	f := cmd.Flags()
	f.StringVar(&c.target, "target", "", "the `DEVICE` to ask, by its name in device.conf")
	f.BoolVar(&c.facts, "facts", false, "print the facts of the device")
	f.BoolVar(&c.resources, "resource", false, "print resources of the device")
	f.StringVar(&c.apply, "apply", "", "apply this `FILE`, a catalog or a manifest, to the device")
	f.BoolVar(&c.noop, "noop", false, "of --apply: show what would be changed, as Puppet's noop does; needs --write")
	f.BoolVar(&c.really, "really", false, "of --apply: change the device; needs --write")
	f.BoolVar(&c.detailed, "detailed-exitcodes", false, "of --apply: exit codes say whether something was changed, or failed")
	f.StringVar(&c.trace, "trace", "story", "what to tell of the request for facts: none, story, steps or json")
	c.flag(cmd, "print the list in JSON, see `indirtui schema device`")
}

func (c *deviceCommand) run(ctx context.Context, args []string) error {
	switch {
	case c.facts && c.resources || c.apply != "" && (c.facts || c.resources):
		return &command.UsageError{What: "--facts, --resource and --apply are commands of their own"}
	case c.apply == "" && (c.noop || c.really || c.detailed):
		return &command.UsageError{What: "--noop, --really and --detailed-exitcodes are for --apply"}
	case len(args) > 0 && !c.resources:
		return &command.UsageError{What: fmt.Sprintf("%q is for --resource", args[0])}
	case c.resources && c.target == "": // Puppet's words, as those that follow. Rule RES-DEV-02.
		return words("Could not run: resource command requires target")
	case c.facts && c.target == "":
		return words("Could not run: facts command requires target")
	}
	if err := checkTrace(c.trace); err != nil {
		return err
	}
	if c.apply != "" {
		if err := c.checkApply(); err != nil {
			return err
		}
	}
	return c.p.withEngine(func(e *engine.Engine) error {
		path, _ := e.Settings.Get("deviceconfig")
		all, err := device.Read(path)
		if err != nil {
			return words("Could not run: %s", err)
		}
		if c.target != "" {
			all = slices.DeleteFunc(all, func(d device.Device) bool { return d.Name != c.target })
		}
		switch {
		case len(all) == 0 && c.target != "":
			return words("Could not run: Target device / certificate '%s' not found in %s", c.target, path)
		case len(all) == 0:
			return words("No device found in %s", path)
		case c.apply != "":
			return c.applyTo(ctx, e, all[0])
		case c.facts:
			return c.find(ctx, e)
		case c.resources:
			return c.resource(ctx, e, all[0], args)
		}
		return c.list(all)
	})
}

// words are those of Puppet, to the letter.
func words(format string, args ...any) error {
	return &indirector.Failure{Message: fmt.Sprintf(format, args...)}
}

// A deviceRow is a device: schema device.
type deviceRow struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	URL     string `json:"url"` // without credentials
	Debug   bool   `json:"debug"`
	Asks    string `json:"asks"`    // what would be run for its facts; "" is nothing
	Problem string `json:"problem"` // why not, if that is known
}

func (c *deviceCommand) list(all []device.Device) error {
	rows := make([]deviceRow, len(all))
	for i, d := range all {
		rows[i] = deviceRow{Name: d.Name, Type: d.Type, URL: device.Redact(d.URL), Debug: d.Debug}
		program, err := d.Program()
		switch {
		case err == nil:
			rows[i].Asks = program + " facts"
		case d.Type == device.Exec:
			rows[i].Problem = err.Error()
		default:
			rows[i].Asks = "puppet device --target " + d.Name + " --facts"
			_, rows[i].Problem = c.p.foreignRuby()
		}
	}
	return c.print(rows, func(out io.Writer) error {
		return printTable(out, "DEVICE\tTYPE\tURL\tASKS\tPROBLEM", rows, func(r deviceRow, put func(...string)) {
			put(r.Name, r.Type, r.URL, r.Asks, r.Problem)
		})
	})
}

// find prints the facts of the device as Puppet does: under its certname.
func (c *deviceCommand) find(ctx context.Context, e *engine.Engine) error {
	ask := askCommand{p: c.p, verb: "find", trace: c.trace}
	req := &indirector.Request{
		Indirection: "facts", Verb: indirector.Find, Key: c.target, Terminus: "network_device", Cache: indirector.Off, Caller: "cli",
	}
	resp, err := e.Once(ctx, req)
	if err := ask.printTrace(e, resp, err); err != nil {
		return err
	}
	if err != nil {
		return ask.failed(ctx, e, nil, err)
	}
	if facts, ok := resp.Value.(*model.Facts); ok {
		named := *facts
		named.Name = facts.Get("clientcert").Text()
		return command.Write(c.p.out, &named, "")
	}
	return command.Write(c.p.out, resp.Value, "")
}

// resource asks for resources, or has one changed. Rule RES-DEV-06.
func (c *deviceCommand) resource(ctx context.Context, e *engine.Engine, d device.Device, args []string) error {
	if len(args) == 0 {
		return words("You must specify the type to display")
	}
	limit, err := device.Limit(e.Settings)
	if err != nil {
		return err
	}
	name := ""
	if len(args) > 1 {
		name = args[1]
	}
	var v data.Value
	if len(args) <= 2 {
		v, err = d.Get(ctx, limit, args[0], name)
	} else {
		var wanted data.Value
		if wanted, err = attributes(args[2:]); err != nil {
			return err
		}
		if !c.p.write {
			return &command.UsageError{What: fmt.Sprintf("%s %s of %s would be changed", args[0], name, d.Name), Advice: "give --write if it is to be"}
		}
		v, err = d.Set(ctx, limit, args[0], name, wanted)
	}
	if err != nil {
		return err
	}
	return command.Write(c.p.out, v, "")
}

// attributes reads words as name=value.
func attributes(words []string) (data.Value, error) {
	var h []data.Pair
	for _, word := range words {
		name, value, ok := strings.Cut(word, "=")
		if !ok || name == "" {
			return data.Value{}, &command.UsageError{What: fmt.Sprintf("%q is no ATTRIBUTE=VALUE", word)}
		}
		h = append(h, data.P(name, data.OfString(value)))
	}
	return data.OfHash(h), nil
}
