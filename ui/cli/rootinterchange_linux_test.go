package cli_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/termini"
	"indirtui/ui/cli"
)

// TestRootByPuppet: what real Puppet has made of a machine, as root, is in
// sync for this program, which knows by Puppet's files of state what was changed behind
// its back.
func TestRootByPuppet(t *testing.T) {
	t.Parallel()
	if !isNewRoot(t) {
		newRoot{cases: len(rootKinds)}.run(t)
		return
	}
	r := newRooted(t, rootKinds)
	r.all(t, r.puppetApply(t))
	r.puppet(t, "") // puppet apply keeps no transaction store
	r.none(t, "Puppet's agent", r.report(t))
	if printed, code := r.run("plan", r.path("catalog.json")); code != 0 {
		t.Errorf("plan: exit %d\n%s", code, printed)
	}
	r.none(t, "apply --noop", r.oursApply(t, "--noop"))
	r.drift(t)
	r.mended(t, r.oursApply(t, "--really"))
	r.none(t, "puppet apply", r.puppetApply(t))
}

// TestRootByUs is the reverse. Puppet reads our report, too.
func TestRootByUs(t *testing.T) {
	t.Parallel()
	if !isNewRoot(t) {
		newRoot{cases: len(rootKinds)}.run(t)
		return
	}
	r := newRooted(t, rootKinds)
	ours := r.oursApply(t, "--really")
	r.all(t, ours)
	if err := os.Rename(r.path("var/state/last_run_report.yaml"), r.path("ours.yaml")); err != nil {
		t.Fatal(err)
	}
	r.none(t, "puppet apply", r.puppetApply(t))
	r.drift(t)
	run := r.puppet(t, r.path("ours.yaml"))
	r.mended(t, r.report(t))
	if run.Read == nil || run.Read.Status != "changed" || run.Read.Corrective || len(run.Read.Resources) != len(ours.Statuses) {
		t.Errorf("real Puppet reads our report as %+v", run.Read)
	}
	r.none(t, "apply", r.oursApply(t, "--really"))
}

// A rooted place is one below a root of its own, where catalogs of all kinds are applied.
type rooted struct {
	shared
	kinds []rootKind
}

// newRooted prepares what the kinds need, and writes the catalog. Kinds that cannot be
// here are skipped by name.
func newRooted(t *testing.T, kinds []rootKind) *rooted {
	t.Helper()
	r := &rooted{shared: newPlaceToShare(t)}
	if _, err := exec.LookPath("puppet"); err != nil {
		t.Skip("there is no command puppet here")
	}
	resources := []string{`{"type": "Stage", "title": "main"}`}
	for _, k := range kinds {
		if _, err := exec.LookPath(k.command); k.command != "" && err != nil {
			t.Run(k.name, func(t *testing.T) { t.Skipf("there is no command %s here", k.command) })
			continue
		}
		r.shell(t, k.before)
		r.kinds = append(r.kinds, k)
		resources = append(resources, k.resources...)
	}
	r.catalog(t, resources...)
	return r
}

func (r *rooted) shell(t *testing.T, script string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", script).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

func (r *rooted) drift(t *testing.T) {
	t.Helper()
	for _, k := range r.kinds {
		r.shell(t, k.drift)
	}
}

// run is a run of this program: what it printed, and its exit code.
func (r *rooted) run(args ...string) (printed string, code int) {
	var out bytes.Buffer
	args = append(args, "--confdir", r.path("conf"), "--vardir", r.path("var"))
	code = cli.Main(args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out}, termini.Specs(), termini.All())
	return out.String(), code
}

// oursApply applies the catalog by this program, and returns the report.
func (r *rooted) oursApply(t *testing.T, how string) *model.Report {
	t.Helper()
	printed, code := r.run("apply", r.path("catalog.json"), how, "--write", "--detailed-exitcodes", "--route", "report=yaml")
	if code != 0 && code != 2 {
		t.Errorf("%s: exit %d\n%s", how, code, printed)
	}
	return r.report(t)
}

// puppetApply applies the catalog by real Puppet, and returns its report as we read it.
func (r *rooted) puppetApply(t *testing.T) *model.Report {
	t.Helper()
	c := exec.CommandContext(t.Context(), "puppet", "apply", "--catalog", r.path("catalog.json"), "--confdir", r.path("conf"), "--vardir", r.path("var"),
		"--color=false", "--detailed-exitcodes")
	printed, err := c.CombinedOutput()
	if failed := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &failed) || failed.ExitCode() != 2) {
		t.Errorf("puppet apply: %v\n%s", err, printed)
	}
	return r.report(t)
}

// report reads the report of the last run.
func (r *rooted) report(t *testing.T) *model.Report {
	t.Helper()
	text, err := os.ReadFile(r.path("var/state/last_run_report.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	f, _ := format.ByName("yaml")
	report, _, err := format.Intern(f, "report", text, format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return report.(*model.Report)
}

// events are what a run did to the resources of a kind: "Host[a]/ip", with its message.
// A resource that was generated counts to the kind of its type.
func (k *rootKind) events(report *model.Report) map[string]model.Event {
	all := map[string]model.Event{}
	for _, s := range report.Statuses {
		for _, e := range s.Events {
			if k.has(s.Type) {
				all[s.Ref+"/"+e.Property.Text()] = e
			}
		}
	}
	return all
}

func (k *rootKind) has(typ string) bool {
	return slices.ContainsFunc(k.resources, func(r string) bool { return strings.HasPrefix(r, `{"type": "`+typ+`"`) })
}

// all checks that each resource was changed, successfully.
func (r *rooted) all(t *testing.T, report *model.Report) {
	t.Helper()
	for _, k := range r.kinds {
		t.Run(k.name+"/are made", func(t *testing.T) {
			for _, s := range report.Statuses {
				if k.has(s.Type) && (!s.Changed || s.Failed) {
					t.Errorf("%s was not changed, or failed: %+v", s.Ref, s.Events)
				}
			}
			for ref, e := range k.events(report) {
				if e.Status != "success" || e.CorrectiveChange {
					t.Errorf("%s %s, corrective %t: %s", ref, e.Status, e.CorrectiveChange, e.Message)
				}
			}
		})
	}
}

// none checks that there was nothing to do.
func (r *rooted) none(t *testing.T, run string, report *model.Report) {
	t.Helper()
	for _, k := range r.kinds {
		t.Run(k.name+"/are in sync for "+run, func(t *testing.T) {
			for ref, e := range k.events(report) {
				t.Errorf("%s: %s", ref, e.Message)
			}
		})
	}
}

// mended checks that what had changed was mended, and no more, and that the run knew by
// the files of state that it was right before. Rule RES-COR-01.
func (r *rooted) mended(t *testing.T, report *model.Report) {
	t.Helper()
	for _, k := range r.kinds {
		t.Run(k.name+"/are mended", func(t *testing.T) {
			var got []string
			for ref, e := range k.events(report) {
				if e.Property.IsNil() {
					continue // a refresh
				}
				got = append(got, ref)
				kept := !strings.Contains(e.Message, "[redacted]") // secrets are not in the files of state
				if e.Status != "success" || e.CorrectiveChange != kept {
					t.Errorf("%s %s, corrective %t: %s", ref, e.Status, e.CorrectiveChange, e.Message)
				}
			}
			if slices.Sort(got); !slices.Equal(got, k.drifted) {
				t.Errorf("got %q, want %q", got, k.drifted)
			}
		})
	}
	if !report.CorrectiveChange {
		t.Error("the run is not corrective")
	}
}
