// Package device serves the facts of network devices, each of which device.conf
// names: the terminus network_device of the indirection facts.
package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/device"
	"indirtui/indirector/format"
	"indirtui/indirector/host/child"
	"indirtui/indirector/model"
	"indirtui/termini/internal/nodefacts"
	"indirtui/traces"
)

// Facts describes the network_device terminus of the facts indirection.
var Facts = indirector.Descriptor{
	Indirection: "facts",
	Name:        "network_device",
	Party:       "the device",
	Note:        "asks the device that the key names",
	Doc: "Asks a device of device.conf for its facts. The key is its name; Puppet has one current device in each process, whatever the key. " +
		"A device of type exec is a program that is called with the word facts and answers JSON. " +
		"Other types are Ruby: puppet device asks them, where the configuration ruby allows that.",
	Settings: []indirector.Setting{
		{Name: "deviceconfig", Doc: "The file that lists devices."},
		{Name: "confdir", Doc: "Where puppet device looks."},
		{Name: "vardir", Doc: "Where puppet device keeps what it knows of devices."},
		{Name: "noop", Doc: "The fact clientnoop."},
		{Name: device.SettingLimit, Doc: "How long a device may take, as 30s; nothing is five minutes. Not a setting of Puppet."},
	},
	Rules: []string{"RES-DEV-01", "RES-DEV-03", "RES-DEV-04", "RES-DEV-06"},
	Type:  (*Terminus)(nil),
	New: func(env indirector.Env) (indirector.Terminus, error) {
		limit, err := device.Limit(env.Settings)
		if err != nil {
			return nil, err
		}
		return &Terminus{nodefacts.Code{From: "a remote device"}, env, limit}, nil
	},
}

const (
	// puppetVersion is the version of the Puppet whose behaviour this program has.
	puppetVersion = "7.23.0"

	// maxAnswer bounds what puppet device prints, in bytes.
	maxAnswer = 64 << 20

	// Puppet's words, to the letter. Rule RES-DEV-04.
	msgNoDevice = "undefined method `facts' for nil:NilClass"
)

// A Terminus reads device.conf anew at each find.
type Terminus struct {
	nodefacts.Code
	env   indirector.Env
	limit time.Duration
}

var (
	_ indirector.Finder    = (*Terminus)(nil)
	_ indirector.Saver     = (*Terminus)(nil)
	_ indirector.Destroyer = (*Terminus)(nil)
	_ indirector.Local     = (*Terminus)(nil)
)

// Find returns the facts of the device that the key names, with those that Puppet
// adds. Rules RES-DEV-04, RES-DEV-06.
func (t *Terminus) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	d, err := t.device(ctx, req.Key)
	if err != nil {
		return nil, err
	}
	values, err := d.Facts(ctx, t.limit)
	if errors.Is(err, device.ErrType) {
		_, none := t.env.Ruby.ForResources(req)
		values, err = t.byPuppet(ctx, d, none)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	noop, _ := t.env.Settings.Get("noop")
	for _, p := range model.LocalFacts(d.Name, puppetVersion, noop == "true") {
		values = values.With(p.Key.Str(), p.Value)
	}
	return &model.Facts{Name: req.Key, Values: model.SanitizeFacts(values), Timestamp: model.At(t.env.Now())}, nil
}

// device returns the device of a name. Without one Puppet has no current device,
// and fails as Ruby does.
func (t *Terminus) device(ctx context.Context, name string) (device.Device, error) {
	path, _ := t.env.Settings.Get("deviceconfig")
	_, span := traces.Start(ctx, traces.File, "read "+path)
	all, err := device.Read(path)
	span.End(fmt.Sprintf("%d devices", len(all)), traces.Because{}, err)
	if err != nil {
		return device.Device{}, err
	}
	if i := slices.IndexFunc(all, func(d device.Device) bool { return d.Name == name }); i >= 0 {
		return all[i], nil
	}
	hidden := fmt.Sprintf("%q is no device of %s, which has none", name, path)
	if len(all) > 0 {
		var names []string
		for _, d := range all[:min(len(all), 10)] {
			names = append(names, d.Name)
		}
		hidden = fmt.Sprintf("%q is no device of %s, which has %s", name, path, strings.Join(names, ", "))
	}
	return device.Device{}, &indirector.Failure{Class: "NoMethodError", Message: msgNoDevice, Path: path, Hidden: hidden}
}

// byPuppet lets puppet device ask a device whose type is Ruby. Without it the error
// is that of a type that cannot be loaded, and the trace has what could be used.
// Rules RES-DEV-03, RES-DEV-06.
func (t *Terminus) byPuppet(ctx context.Context, d device.Device, none string) (data.Value, error) {
	fails := func(detail, hidden string, err error) error {
		return &indirector.Failure{
			Class: "LoadError", Message: fmt.Sprintf("Can't load %s for %s: %s", d.Type, d.Name, detail),
			Origin: "exec", Path: device.Redact(d.URL), Hidden: hidden, Err: err,
		}
	}
	missing := fmt.Sprintf("cannot load such file -- puppet/util/network_device/%s/device", d.Type)
	puppet, err := exec.LookPath("puppet")
	switch {
	case none != "":
		return data.Value{}, fails(missing, "devices of the type exec need no Ruby; puppet device asks those of other types, and "+none, nil)
	case err != nil:
		return data.Value{}, fails(missing, "devices of the type exec need no Ruby; for others Puppet must be installed", nil)
	}
	get := func(name string) string {
		value, _ := t.env.Settings.Get(name)
		return value
	}
	argv := []string{
		puppet, "device", "--target", d.Name, "--facts", "--confdir", get("confdir"), "--vardir", get("vardir"),
		"--deviceconfig", get("deviceconfig"), "--color", "false",
	}
	_, span := traces.Start(ctx, traces.Exec, "exec "+strings.Join(argv, " "))
	r := child.Call{Argv: argv, Timeout: t.limit, MaxStdout: maxAnswer, MaxStderr: 4 << 10}.Do(ctx)
	span.End(fmt.Sprintf("%d bytes", len(r.Stdout)), traces.Because{}, r.Err)
	if r.Err != nil {
		detail := cmp.Or(r.Stderr, r.Err.Error())
		for _, prefix := range []string{"Error: ", "Could not run: ", fmt.Sprintf("Can't load %s for %s: ", d.Type, d.Name)} {
			detail = strings.TrimPrefix(detail, prefix)
		}
		return data.Value{}, fails(device.Redact(detail), "puppet device failed: "+r.Err.Error(), r.Err)
	}
	v, err := format.DecodeJSON([]byte(r.Stdout), format.Limits{Bytes: maxAnswer})
	if values := v.Get("values"); err == nil && values.Kind() == data.Hash {
		return values, nil
	}
	return data.Value{}, fails("puppet device printed no facts as JSON", "", err)
}
