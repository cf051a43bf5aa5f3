package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/device"
	"indirtui/indirector/engine"
	"indirtui/indirector/host/child"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/ondevice"
	"indirtui/indirector/resource/transaction"
	"indirtui/ui/command"
)

// checkApply refuses what cannot be applied, in Puppet's words where it has them. Rule
// RES-DEV-02.
func (c *deviceCommand) checkApply() error {
	switch i, err := os.Stat(c.apply); {
	case c.target == "":
		return words("Could not run: missing argument: --target is required when using --apply")
	case err != nil || !i.Mode().IsRegular():
		return words("Could not run: %s does not exist, cannot apply", c.apply)
	case (c.noop || c.really) && !c.p.write:
		return &command.UsageError{What: "--noop and --really write: files of state, the report, and with --really the device", Advice: "add --write"}
	}
	return nil
}

// applyTo applies a catalog or a manifest to a device; without --noop and --really it prints
// the plan. Rule RES-DEV-05.
func (c *deviceCommand) applyTo(ctx context.Context, e *engine.Engine, d device.Device) error {
	if d.Type != device.Exec {
		return c.applyByPuppet(ctx, e, d)
	}
	limit, err := device.Limit(e.Settings)
	if err != nil {
		return err
	}
	get := func(name string) string {
		value, _ := e.Settings.Get(name)
		return value
	}
	c.p.set = append(c.p.set, // its state is kept apart
		"deviceconfig="+get("deviceconfig"), "certname="+d.Name, "codedir="+get("codedir"))
	c.p.routed = append(c.p.routed, "report=yaml") // as Puppet does, whose server does not get it
	c.p.varDir = filepath.Join(get("devicedir"), d.Name)
	a := &applyCommand{
		compiling: compiling{p: c.p}, noop: c.noop, really: c.really, detailed: c.detailed,
		adapt: func(o *transaction.Options, catalog *model.Catalog) {
			ondevice.Adapt(o, catalog, timed{d, limit})
		},
		known: func(ctx context.Context, e *engine.Engine) (data.Value, error) { return deviceFacts(ctx, e, d.Name) },
	}
	return a.run(ctx, []string{c.apply})
}

// timed is a device with how long it may take.
type timed struct {
	device.Device
	limit time.Duration
}

func (t timed) Get(ctx context.Context, kind, name string) (data.Value, error) {
	return t.Device.Get(ctx, t.limit, kind, name)
}

func (t timed) Set(ctx context.Context, kind, name string, wanted data.Value) (data.Value, error) {
	return t.Device.Set(ctx, t.limit, kind, name, wanted)
}

// deviceFacts are those that a manifest is compiled with.
func deviceFacts(ctx context.Context, e *engine.Engine, name string) (data.Value, error) {
	resp, err := e.Once(ctx, &indirector.Request{
		Indirection: "facts", Verb: indirector.Find, Key: name, Terminus: "network_device", Cache: indirector.Off, Caller: "cli",
	})
	if err != nil {
		return data.Value{}, fmt.Errorf("find the facts of the device: %w", err)
	}
	facts, ok := resp.Instance().(*model.Facts)
	if !ok {
		return data.Value{}, fmt.Errorf("the answer for %q is no facts", name)
	}
	return facts.Values, nil
}

// applyByPuppet lets puppet device apply a manifest to a device whose type is Ruby.
func (c *deviceCommand) applyByPuppet(ctx context.Context, e *engine.Engine, d device.Device) error {
	if !c.noop && !c.really {
		return &command.UsageError{What: d.Name + " is of the type " + d.Type + ", which Puppet applies to", Advice: "add --noop or --really, and --write"}
	}
	if _, none := c.p.foreignRuby(); none != "" {
		return fmt.Errorf("apply to %s: devices of the type exec need no Ruby; puppet device does others, and %s", d.Name, none)
	}
	argv := []string{"puppet", "device", "--target", d.Name, "--apply", c.apply, "--color", "false"}
	for _, name := range []string{"confdir", "vardir", "deviceconfig"} {
		value, _ := e.Settings.Get(name)
		argv = append(argv, "--"+name, value)
	}
	if c.noop {
		argv = append(argv, "--noop")
	}
	if c.detailed {
		argv = append(argv, "--detailed-exitcodes")
	}
	limit, err := device.Limit(e.Settings)
	if err != nil {
		return err
	}
	r := child.Call{Argv: argv, Timeout: limit, MaxStdout: maxPrinted, MaxStderr: maxPrinted}.Do(ctx)
	_, _ = io.WriteString(c.p.Err, cleanLines([]byte(redacted(e, r.Stderr))))
	if _, err := io.WriteString(c.p.out, cleanLines([]byte(redacted(e, r.Stdout)))); err != nil {
		return err
	}
	if r.Err != nil {
		return fmt.Errorf("puppet device: %w", r.Err)
	}
	return nil
}

// maxPrinted is how much is kept of what puppet device prints, in bytes.
const maxPrinted = 4 << 20
