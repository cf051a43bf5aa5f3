package scenarios_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"indirtui/indirector/probe"
	"indirtui/termini"
	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui/demo/scenarios"
)

// A played is a scenario that real Puppet plays over the files of its stage.
type played struct {
	*real
	variant scenarios.Scenario
	stage   *scenarios.Stage // its directory and its servers are those of the Ruby
	pid     int
	failed  string
}

// reproduced is how many of the fifty situations real Puppet must have with the same
// first line.
const reproduced = 45

// TestRubyScenarios plays situations on real Puppet with the probe: the first line
// must be that of this program.
func TestRubyScenarios(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("real Puppet takes its time")
	}
	ruby, err := exec.LookPath("ruby")
	if err == nil {
		err = exec.Command(ruby, "-e", "require 'puppet'").Run()
	}
	if err != nil {
		t.Skip("there is no ruby with puppet here: ", err)
	}
	all := stages(t)
	log := watchRuby(t, ruby, all)
	same := map[string]bool{}
	for _, p := range all {
		t.Run(p.variant.Name, func(t *testing.T) {
			if p.failed != "" {
				t.Fatal(p.failed)
			}
			got, want := steady(traces.Story(p.shown(t, log)), p.stage.Dir), p.inProcess(t)
			if got != want {
				t.Errorf("first line:\ngot  %s\nwant %s", got, want)
				return
			}
			same[p.variant.ID()] = true
		})
	}
	t.Logf("%d of 50 situations are reproduced", len(same))
	if len(same) < reproduced {
		t.Errorf("%d of 50 situations are reproduced, want %d", len(same), reproduced)
	}
}

// stages lays out the directory of each scenario that is played, and starts its
// servers.
func stages(t *testing.T) (all []*played) {
	t.Helper()
	entries := scenarios.Catalogue()
	if len(reals) < len(entries) {
		t.Errorf("the table has %d rows for %d situations", len(reals), len(entries))
	}
	named := map[string]bool{}
	for i := range reals {
		r := &reals[i]
		named[r.id] = true
		if (r.script == "") == (r.not == "") {
			t.Errorf("%s needs either a script, or a reason why there is none", r.id)
		}
		if r.script == "" {
			continue
		}
		variant := r.find(t)
		stage, err := variant.Open(scenarios.Options{Dir: t.TempDir(), Specs: termini.Specs(), Termini: termini.All()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = stage.Close() })
		all = append(all, &played{real: r, variant: variant, stage: stage})
	}
	for _, e := range entries {
		if !named[e.ID] {
			t.Errorf("%s is not in the table", e.ID)
		}
	}
	return all
}

// find returns the variant of the situation that a row names.
func (r *real) find(t *testing.T) scenarios.Scenario {
	t.Helper()
	e, ok := scenarios.Find(r.id)
	for _, v := range e.Variants {
		if strings.Contains(v.Name, r.variant) {
			return v
		}
	}
	t.Fatalf("%s %q: there is no such scenario (%v)", r.id, r.variant, ok)
	return scenarios.Scenario{}
}

// watchRuby plays all in one Ruby, and returns what its probe has reported.
func watchRuby(t *testing.T, ruby string, all []*played) *store.Store {
	t.Helper()
	log, err := store.Open(store.Options{Body: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "ruby") // a path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	listener, err := probe.Listen(probe.Options{Store: log, Path: filepath.Join(dir, "attach")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close(); _ = os.RemoveAll(dir) })
	if err := probe.WriteFiles(filepath.Join(dir, "probe")); err != nil {
		t.Fatal(err)
	}
	var scripts strings.Builder
	for i, p := range all {
		fmt.Fprintf(&scripts, "== %d|%s|%s\n%s\n", i, p.app, p.stage.Dir, p.stage.Expand(p.script))
	}
	file := filepath.Join(dir, "scenarios")
	if err := os.WriteFile(file, []byte(scripts.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), ruby, "-W0", filepath.Join("testdata", "ruby", "puppet"), file)
	cmd.Env = append(os.Environ(), "INDIRTUI_ATTACH="+listener.Path(), "INDIRTUI_WAIT=1", "RUBYOPT=-r"+filepath.Join(dir, "probe", "probe.rb"), "HOME="+dir, "LANG=C.UTF-8")
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, errors.String())
	}
	if errors.Len() > 0 {
		t.Logf("%s", errors.String())
	}
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
	for _, p := range listener.Processes() {
		if p.Faults > 0 || p.Dropped > 0 {
			t.Errorf("%s: %d faults, %d dropped: %s", p.Name, p.Faults, p.Dropped, p.Fault)
		}
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		what, rest, _ := strings.Cut(lines.Text(), "|")
		number, text, _ := strings.Cut(rest, "|")
		i, err := strconv.Atoi(number)
		if err != nil || i >= len(all) {
			continue // what a script printed
		}
		if what == "failed" {
			all[i].failed = text
		} else {
			all[i].pid, _ = strconv.Atoi(text)
		}
	}
	return log
}

// shown is the last request that the process asked for itself, of the indirection of
// the row if it names one.
func (p *played) shown(t *testing.T, log *store.Store) *traces.Trace {
	t.Helper()
	if err := log.Flush(); err != nil {
		t.Fatal(err)
	}
	suffix := fmt.Sprintf("-%d", p.pid)
	_, last := log.Range()
	later := p.later
	for id := last; id > 0; id-- {
		row, ok := log.Row(id)
		if !ok || !strings.HasSuffix(row.Instance, suffix) || row.Parent != 0 || p.shows != "" && p.shows != row.Indirection {
			continue
		}
		if later--; later >= 0 {
			continue
		}
		tr, err := log.Trace(id)
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	t.Fatal("Puppet has asked nothing")
	return nil
}

// inProcess is the first line of the scenario where this program plays it. Its server
// is another one, which has answered nothing yet.
func (p *played) inProcess(t *testing.T) string {
	t.Helper()
	s, err := p.find(t).Play(t.Context(), scenarios.Options{Dir: t.TempDir(), Specs: termini.Specs(), Termini: termini.All()})
	if s != nil {
		defer func() { _ = s.Close() }()
	}
	if err != nil {
		t.Fatal(err)
	}
	tr, err := s.Trace()
	if err != nil {
		t.Fatal(err)
	}
	return steady(traces.Story(tr), s.Dir)
}

// differs is what is another wherever a scenario is played: where it lies, which port
// is free, how many requests came before, when it was, and who asked, which is a line
// of Ruby for Puppet.
var differs = []struct {
	is  *regexp.Regexp
	new string
}{
	{regexp.MustCompile(`\b(localhost|127\.0\.0\.1):\d+`), "$1:PORT"},
	{regexp.MustCompile(`#\d+`), "#N"},
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d\b`), "TIME"},
	{regexp.MustCompile(`\S+:\d+ (forbade|asked)`), "the caller $1"},
}

// steady takes out of a first line what differs.
func steady(line, dir string) string {
	line = strings.ReplaceAll(line, dir, "DIR")
	for _, d := range differs {
		line = d.is.ReplaceAllString(line, d.new)
	}
	return line
}
