package providers

import (
	"context"
	"regexp"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// systemd does services by systemctl. Rule RES-SVC-01.
type systemd struct {
	log  logger
	last map[string]enabledState // answers of is-enabled, until something changes
}

type enabledState struct {
	output string
	exit   int
}

// A systemdService can be listed.
type systemdService struct {
	service
	way *systemd
}

func newSystemd(log logger) Provider {
	w := &systemd{log, map[string]enabledState{}}
	return &systemdService{service{log, w}, w}
}

var unitFile = regexp.MustCompile(`(?im)^(\S+)[ \t]+(disabled|enabled|masked|indirect|bad|static)[ \t]*([^-]\S+)?[ \t]*$`)

// Instances lists unit files, with what is-enabled answers, and asks for all units that are
// loaded at once; if systemctl cannot, Retrieve asks for each. The manager takes its time for
// each file, so that it is asked for services only; if it cannot, for all files, as Puppet
// does. Rule RES-SVC-03.
func (v *systemdService) Instances(ctx context.Context, s System) ([]Instance, error) {
	files := []string{command(s, "systemctl"), "list-unit-files", "--type", "service", "--full", "--all", "--no-pager"}
	out, code, err := ask(ctx, s, append(files[:len(files):len(files)], "*.service")...)
	if err == nil && code != 0 {
		out, code, err = ask(ctx, s, files...)
	}
	if err != nil || code != 0 {
		return nil, err
	}
	active, err := v.way.active(ctx, s)
	if err != nil {
		return nil, err
	}
	var all []Instance
	for _, m := range unitFile.FindAllStringSubmatch(out, -1) {
		is := Instance{Name: m[1]}
		if active != nil {
			is.Properties = unitIs(active[is.Name], m[2])
		}
		all = append(all, is)
	}
	return all, nil
}

// active finds the states of all units by one systemctl show: those that are not loaded,
// such as templates, have none. It is nil if systemctl cannot.
func (w *systemd) active(ctx context.Context, s System) (map[string]string, error) {
	out, code, err := ask(ctx, s, command(s, "systemctl"), "show", "--type", "service", "--property=Id,Names,ActiveState", "*")
	if err != nil || code != 0 {
		return nil, err
	}
	states := map[string]string{}
	for block := range strings.SplitSeq(out, "\n\n") {
		unit := map[string]string{}
		for line := range strings.SplitSeq(block, "\n") {
			name, value, _ := strings.Cut(line, "=")
			unit[name] = value
		}
		for _, name := range append(strings.Fields(unit["Names"]), unit["Id"]) {
			states[name] = unit["ActiveState"]
		}
	}
	return states, nil
}

// unitIs is what is-active and is-enabled answer to states. A file that systemd cannot use
// is asked for.
func unitIs(active, file string) []data.Pair {
	ensure, enable := "stopped", "false"
	if active == "active" || active == "reloading" {
		ensure = "running"
	}
	switch file {
	case "bad":
		return nil
	case "enabled", "static":
		enable = "true"
	}
	return []data.Pair{data.P("ensure", data.OfSymbol(ensure)), data.P("enable", data.OfSymbol(enable))}
}

var verbsOfSystemd = map[string]string{"start": "start", "stop": "stop", "restart": "restart", "status": "is-active"}

func (w *systemd) words(ctx context.Context, s System, r *types.Resource, verb string) ([]string, error) {
	if verb == "start" {
		if err := w.change(ctx, s, r, "unmask"); err != nil {
			return nil, err
		}
	}
	return []string{command(s, "systemctl"), verbsOfSystemd[verb], "--", r.Name()}, nil
}

// prepare lets systemd read its files again, if it needs to.
func (w *systemd) prepare(ctx context.Context, s System, r *types.Resource, verb string) error {
	if verb == "stop" {
		return nil
	}
	out, _, err := ask(ctx, s, command(s, "systemctl"), "show", "--property=NeedDaemonReload", "--", r.Name())
	if err == nil && strings.HasSuffix(strings.TrimSpace(out), "=yes") {
		_, _, err = ask(ctx, s, command(s, "systemctl"), "daemon-reload")
	}
	return err
}

// explain adds what the journal has.
func (w *systemd) explain(ctx context.Context, s System, r *types.Resource, verb string, err error) error {
	journal, _ := s.Run(ctx, Command{Argv: []string{"journalctl", "-n", "50", "--since", "5 minutes ago", "-u", r.Name(), "--no-pager"}}) // without it the failure is still one
	f := failure("Systemd %s for %s failed!\njournalctl log for %s:\n%s", verb, r.Name(), r.Name(), journal.Output)
	return withCause(f, err)
}

func (w *systemd) change(ctx context.Context, s System, r *types.Resource, verb string) error {
	delete(w.last, r.Name())
	_, err := execute(ctx, s, command(s, "systemctl"), verb, "--", r.Name())
	if err != nil {
		// Puppet has lost the output by then, and shows none.
		return withCause(failure("Could not %s %s: ", verb, r.Name()), err)
	}
	return nil
}

func (w *systemd) state(ctx context.Context, s System, r *types.Resource) (enabledState, error) {
	if is, ok := w.last[r.Name()]; ok {
		return is, nil
	}
	out, code, err := ask(ctx, s, command(s, "systemctl"), "is-enabled", "--", r.Name())
	is := enabledState{strings.TrimRight(out, "\r\n"), code}
	if err == nil {
		w.last[r.Name()] = is
	}
	return is, err
}

func (w *systemd) enabled(ctx context.Context, s System, r *types.Resource) (data.Value, error) {
	is, err := w.state(ctx, s, r)
	if err != nil {
		return data.Value{}, err
	}
	answer := "false"
	switch {
	case is.output == "masked" && r.Value("enable").Text() == "mask":
		answer = "mask"
	case is.output == "indirect":
	case is.exit == 0:
		answer = "true"
	case is.output == "":
		if family, _ := s.Fact("os.family"); strings.EqualFold(family.Text(), "debian") {
			return queryDebian(ctx, s, r)
		}
	}
	return data.OfSymbol(answer), nil
}

// InSync takes what cannot be enabled for in sync.
func (w *systemd) InSync(ctx context.Context, s System, r *types.Resource, _ string, is data.Value) (in, ok bool, err error) {
	state, err := w.state(ctx, s, r)
	want := r.Value("enable")
	switch {
	case err != nil:
		return false, true, err
	case state.output == "static" && want.Text() != "mask":
		w.log.note(r, "debug", "Unable to enable or disable static service "+r.Name())
		return true, true, nil
	case state.output == "indirect":
		w.log.note(r, "debug", "Service "+r.Name()+" is in 'indirect' state and cannot be enabled/disabled")
		return true, true, nil
	}
	return is.Text() == want.Text(), true, nil
}

func (w *systemd) enable(ctx context.Context, s System, r *types.Resource, to string) error {
	switch to {
	case "true":
		if err := w.change(ctx, s, r, "unmask"); err != nil {
			return err
		}
		return w.change(ctx, s, r, "enable")
	case "mask":
		if _, code, err := ask(ctx, s, command(s, "systemctl"), "cat", "--", r.Name()); err != nil {
			return err
		} else if code == 0 {
			if err := w.change(ctx, s, r, "disable"); err != nil {
				return err
			}
		}
		return w.change(ctx, s, r, "mask")
	}
	return w.change(ctx, s, r, "disable")
}
