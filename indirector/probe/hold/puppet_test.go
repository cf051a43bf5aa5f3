package hold_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector/debugger"
	"indirtui/indirector/model"
	"indirtui/indirector/probe"
	"indirtui/traces"
)

// A run is puppet apply with the probe.
type run struct {
	dir  string
	cmd  *exec.Cmd
	out  bytes.Buffer
	done chan error
}

// apply applies a manifest. Dir is a directory of the test, with its files.
func (s *site) apply(t *testing.T, dir, manifest string, args ...string) *run {
	t.Helper()
	if _, err := exec.LookPath("puppet"); err != nil {
		t.Skip("puppet is not installed")
	}
	ruby := filepath.Join(filepath.Dir(s.path), "ruby")
	if err := probe.WriteFiles(ruby); err != nil {
		t.Fatal(err)
	}
	site := filepath.Join(dir, "site.pp")
	if err := os.WriteFile(site, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	argv := append([]string{"puppet", "apply", "--color=false", "--confdir", dir + "/conf", "--vardir", dir + "/var", "--rundir", dir + "/run"}, args...)
	cmd, _, err := probe.Launch{Argv: append(argv, site), Env: append(os.Environ(), "HOME="+dir), Dir: ruby, Socket: s.path}.Command()
	if err != nil {
		t.Fatal(err)
	}
	r := &run{dir: dir, cmd: cmd, done: make(chan error, 1)}
	cmd.Stdout, cmd.Stderr = &r.out, &r.out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { r.done <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // if it is there still
	return r
}

// wait waits for the end, and returns what Puppet has logged.
func (r *run) wait(t *testing.T) string {
	t.Helper()
	select {
	case err := <-r.done:
		if exit := (*exec.ExitError)(nil); err != nil && exit == nil {
			t.Log(err)
		}
	case <-time.After(2 * time.Minute):
		t.Fatalf("puppet goes on and on")
	}
	return r.out.String()
}

// find returns the requests of an indirection that have ended, oldest first.
func (s *site) find(t *testing.T, verb traces.Verb, indirection string) (all []*traces.Trace) {
	t.Helper()
	if err := s.store.Flush(); err != nil {
		t.Fatal(err)
	}
	_, last := s.store.Range()
	for id := uint64(1); id <= last; id++ {
		if row, ok := s.store.Row(id); ok && row.Indirection == indirection && row.Verb == verb {
			tr, err := s.store.Trace(id)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, tr)
		}
	}
	return all
}

// atLast is one for a process that takes its time to start.
func (s *site) atLast(t *testing.T, r *run) debugger.Held {
	t.Helper()
	limit := time.After(2 * time.Minute)
	for {
		if all := s.Debugger.Held(); len(all) > 0 {
			return all[0]
		}
		select {
		case <-s.Debugger.Changed():
		case <-limit:
			t.Fatalf("nothing is held; puppet: %s", r.out.String())
		case err := <-r.done:
			t.Fatalf("nothing was held; puppet ended: %v\n%s", err, r.out.String())
		}
	}
}

func write(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return name
}

// The node is found by another terminus in the whole process, the metadata of a file
// are those of another file, and the report is not saved.
func TestPuppetApply(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b, out := write(t, dir+"/a", "as it is\n", 0o600), write(t, dir+"/b", "edited\n", 0o600), dir+"/out"
	enc := write(t, dir+"/enc", "#!/bin/sh\necho '{classes: [], parameters: {from: enc}}'\n", 0o700)
	s := newSite(t, debugger.Options{})
	s.add(t, "ind=node before route do hold once")
	s.add(t, "ind=file_metadata verb=find before route do hold once")
	s.add(t, "ind=report verb=save at terminus do fail 'injected by a test'")
	r := s.apply(t, dir, fmt.Sprintf("file { %q: source => %q }\nnotify { \"from ${from}\": }\n", out, a), "--external_nodes", enc)

	node := s.atLast(t, r)
	if node.Request.Indirection != "node" || node.State.Home.String() == "" || node.State.Trace.Primary.Winner().Terminus != "plain" {
		t.Fatalf("held: %+v in %q", node.Request, node.State.Home)
	}
	plan, err := s.Plan(t.Context(), node.ID)
	if err != nil || plan.Why != "terminus plain would be asked" || plan.Unseen == "" {
		t.Errorf("plan: %+v, %v", plan, err)
	}
	if _, err := s.Holder.Swap("node", "terminus", "exec"); err != nil {
		t.Fatal(err)
	}
	if err := s.Resume(node.ID, debugger.Continue); err != nil {
		t.Fatal(err)
	}

	file := s.atLast(t, r)
	if file.Request.Indirection != "file_metadata" || !strings.HasSuffix(file.Request.Key, a) {
		t.Fatalf("held: %+v", file.Request)
	}
	if _, err := s.Edit(file.ID, debugger.Edit{Name: "key", Value: strings.Replace(file.Request.Key, a, b, 1)}); err != nil {
		t.Fatal(err)
	}
	if err := s.Resume(file.ID, debugger.Continue); err != nil {
		t.Fatal(err)
	}

	log := r.wait(t)
	s.until(t, "its leave", func() bool { return s.Processes()[0].Gone })
	for _, want := range []string{"from enc", "File written to disk did not match desired checksum", "Could not send report: injected by a test"} {
		if !strings.Contains(log, want) {
			t.Errorf("%q is not in the log", want)
		}
	}
	if got := s.find(t, traces.Find, "node"); len(got) != 1 || got[0].Primary.Winner().Terminus != "exec" {
		t.Errorf("node: %+v", got)
	}
	if got := s.find(t, traces.Find, "file_metadata"); len(got) == 0 || !strings.HasSuffix(got[0].Key, b) || len(got[0].Touched) != 1 || !strings.HasPrefix(got[0].Touched[0], "you changed key: ") {
		t.Errorf("file_metadata: %+v", got)
	}
	// Puppet saves it again, into its cache alone.
	if got := s.find(t, traces.Save, "report"); len(got) != 2 || got[0].Error != "injected by a test" || len(got[0].Touched) != 1 || got[1].Error != "" {
		t.Errorf("report: %+v", got)
	}
	if t.Failed() {
		t.Log(log)
	}
}

// The node is found by another terminus for this request alone, which is stepped
// through; what it answers is changed before Puppet gets it.
func TestPuppetSteps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	enc := write(t, dir+"/enc", "#!/bin/sh\necho '{classes: [], parameters: {from: enc}}'\n", 0o700)
	s := newSite(t, debugger.Options{})
	s.add(t, "ind=node before route do hold once")
	r := s.apply(t, dir, "notify { \"from ${from} ${length($long)}\": }\n", "--external_nodes", enc)
	h := s.atLast(t, r)
	if _, err := s.Edit(h.ID, debugger.Edit{Name: "terminus", Value: "exec"}); err != nil {
		t.Fatal(err)
	}
	var places []string
	for _, how := range []debugger.Go{debugger.Step, debugger.Step, debugger.Over, debugger.Over, debugger.Finish} {
		if err := s.Resume(h.ID, how); err != nil {
			t.Fatal(err)
		}
		h = s.atLast(t, r)
		places = append(places, h.Request.Indirection+" "+h.Where().String())
	}
	want := "node before authorize, node before validate, node before cache-read, node before terminus, node before caller"
	if got := strings.Join(places, ", "); got != want {
		t.Errorf("held %s\nwant %s", got, want)
	}
	v, ok := h.State.Value.(*model.Node)
	if !ok {
		t.Fatalf("the answer is %T", h.State.Value)
	}
	if from := v.Parameters.Get("from"); from.Inspect() != `"enc"` {
		t.Errorf("the answer is from %s", from.Inspect())
	}
	// It is longer than a line.
	text := `{"name":"n","environment":"production","classes":[],"parameters":{"from":"us","long":"` + strings.Repeat("long ", 40000) + `"}}`
	if err := s.Inject(h.ID, debugger.Action{Do: debugger.Value, Text: text}, debugger.Continue); err != nil {
		t.Fatal(err)
	}
	log := r.wait(t)
	s.until(t, "its leave", func() bool { return s.Processes()[0].Gone })
	if !strings.Contains(log, "from us 200000") {
		t.Errorf("the value was not taken:\n%s", log)
	}
	if got := s.find(t, traces.Find, "node"); len(got) != 1 || got[0].Held == 0 || len(got[0].Touched) != 2 {
		t.Errorf("node: %+v", got[0])
	}
}
