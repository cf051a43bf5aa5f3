package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/host/child"
	"indirtui/traces"
)

// Exec is the type of devices that are programs.
const Exec = "exec"

// Limits on what a program writes.
const (
	maxAnswer = 64 << 20 // bytes
	maxValues = 1 << 20
	maxError  = 4 << 10 // bytes of stderr that are kept
)

// SettingLimit is how long a device may take, as 30s. It is not a setting of Puppet.
const SettingLimit = "device_timeout"

// Limit returns how long a device may take: five minutes, unless the settings have
// another time.
func Limit(s indirector.Settings) (time.Duration, error) {
	limit, err := indirector.DurationOf(s, SettingLimit, 0)
	return cmp.Or(limit, 5*time.Minute), err
}

// ErrType reports a device of another type than exec: Ruby knows it, or nothing does.
var ErrType = errors.New("not of the type exec")

// Facts returns the facts of a device, a hash. The limit is how long it may take.
func (d Device) Facts(ctx context.Context, limit time.Duration) (data.Value, error) {
	v, err := d.ask(ctx, limit, "", "facts")
	if err == nil && v.Kind() != data.Hash {
		err = d.failure(fmt.Errorf("a hash of facts was expected, got a %s", v.Kind()))
	}
	return v, err
}

// Get returns the resources of a type, or the one of that name unless it is "", as
// the device describes them.
func (d Device) Get(ctx context.Context, limit time.Duration, kind, name string) (data.Value, error) {
	if name == "" {
		return d.ask(ctx, limit, "", "get", kind)
	}
	return d.ask(ctx, limit, "", "get", kind, name)
}

// Set gives a resource the wanted values, a hash, and returns what the device
// answers.
func (d Device) Set(ctx context.Context, limit time.Duration, kind, name string, wanted data.Value) (data.Value, error) {
	text, err := format.AppendJSON(nil, wanted)
	if err != nil {
		return data.Value{}, d.failure(err)
	}
	return d.ask(ctx, limit, string(text)+"\n", "set", kind, name)
}

// Program returns the path of the program that a device of type exec is.
func (d Device) Program() (string, error) {
	if d.Type != Exec {
		return "", ErrType
	}
	u, err := url.Parse(d.URL)
	switch {
	case err != nil:
		return "", err
	case u.Scheme != "file" || u.Host != "" || u.RawQuery != "" || !filepath.IsAbs(u.Path):
		return "", fmt.Errorf("%q is no file:///path/to/program", Redact(d.URL))
	}
	return u.Path, nil
}

// ask calls the program, below a span.
func (d Device) ask(ctx context.Context, limit time.Duration, stdin string, args ...string) (data.Value, error) {
	program, err := d.Program()
	if err != nil {
		return data.Value{}, d.failure(err)
	}
	argv := append([]string{program}, args...)
	ctx, span := traces.Start(ctx, traces.Exec, "exec "+strings.Join(argv, " "))
	r := child.Call{
		Argv: argv, Env: child.Environment(), Stdin: stdin, Timeout: limit, MaxStdout: maxAnswer, MaxStderr: maxError,
	}.Do(ctx)
	failed := r.Err
	switch {
	case failed != nil && r.Stderr != "":
		failed = fmt.Errorf("%w: %s", failed, r.Stderr)
	case r.Stderr != "":
		failed = errors.New(r.Stderr)
	}
	span.Attr("device", d.Name)
	span.End(fmt.Sprintf("%d bytes", len(r.Stdout)), traces.Because{}, failed)
	if r.Err != nil {
		return data.Value{}, d.failure(failed)
	}
	if r.Stderr != "" {
		traces.AddNote(ctx, "the program of device "+d.Name+" wrote on stderr: "+r.Stderr)
	}
	if !utf8.ValidString(r.Stdout) {
		return data.Value{}, d.failure(errors.New("its answer is no JSON: it is not valid UTF-8"))
	}
	v, err := format.DecodeJSON([]byte(r.Stdout), format.Limits{Bytes: maxAnswer, Items: maxValues})
	if err != nil {
		return v, d.failure(fmt.Errorf("its answer is no JSON: %w", err))
	}
	return v, nil
}

// failure is in Puppet's words for a device that cannot be used. Rule RES-DEV-03.
func (d Device) failure(err error) error {
	return &indirector.Failure{
		Message: fmt.Sprintf("Can't load %s for %s: %s", d.Type, d.Name, Redact(err.Error())),
		Origin:  "exec", Path: Redact(d.URL), Err: err,
	}
}
