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

// Instances lists unit files, and asks for all of them at once what they are; if systemctl
// cannot, Retrieve asks for each. Rule RES-SVC-03.
func (v *systemdService) Instances(ctx context.Context, s System) ([]Instance, error) {
	out, code, err := ask(ctx, s, command(s, "systemctl"), "list-unit-files", "--type", "service", "--full", "--all", "--no-pager")
	if err != nil || code != 0 {
		return nil, err
	}
	var all []Instance
	for _, m := range unitFile.FindAllStringSubmatch(out, -1) {
		all = append(all, Instance{Name: m[1]})
	}
	return all, v.way.describe(ctx, s, all)
}

// describe finds what units are by one systemctl show. Templates are not loaded: they are
// stopped, and their files are asked for one by one.
func (w *systemd) describe(ctx context.Context, s System, all []Instance) error {
	argv := []string{command(s, "systemctl"), "show", "--property=Id,Names,ActiveState,UnitFileState", "--"}
	for _, is := range all {
		if !strings.Contains(is.Name, "@.") {
			argv = append(argv, is.Name)
		}
	}
	if len(argv) == 4 {
		return nil
	}
	out, code, err := ask(ctx, s, argv...)
	if err != nil || code != 0 {
		return err
	}
	units := map[string][]data.Pair{}
	for block := range strings.SplitSeq(out, "\n\n") {
		unit := map[string]string{}
		for line := range strings.SplitSeq(block, "\n") {
			name, value, _ := strings.Cut(line, "=")
			unit[name] = value
		}
		is := unitIs(unit["ActiveState"], unit["UnitFileState"])
		for _, name := range append(strings.Fields(unit["Names"]), unit["Id"]) {
			units[name] = is
		}
	}
	for i := range all {
		all[i].Properties = units[all[i].Name]
	}
	return nil
}

// unitIs is what is-active and is-enabled answer to states. If the state of the file is not
// known, the properties are left to be retrieved.
func unitIs(active, file string) []data.Pair {
	if active == "" || file == "" {
		return nil
	}
	ensure, enable := "stopped", "false"
	if active == "active" || active == "reloading" {
		ensure = "running"
	}
	switch file {
	case "enabled", "enabled-runtime", "static", "alias", "generated", "transient":
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
