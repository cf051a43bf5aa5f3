package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/settings"
	"indirtui/traces"
)

func set(pairs ...string) []settings.Override {
	var all []settings.Override
	for _, p := range pairs {
		name, value, _ := strings.Cut(p, "=")
		all = append(all, settings.Override{Name: name, Value: value})
	}
	return all
}

// A setting that is changed at run time is stronger than the file, and its
// source is shown. It can be taken back.
func TestOverrideChangesRoutesAndTermini(t *testing.T) {
	t.Parallel()
	s := newStage(t, lookedAt)
	s.write("other/facts/n1.yaml", "--- !ruby/object:Puppet::Node::Facts\nname: n1\nvalues: {kernel: Darwin}\n")
	if err := s.Assign("facts", indirector.SlotCache, traces.Choice{Terminus: indirector.Off, Kind: traces.FromYou, Source: "test"}); err != nil {
		t.Fatal(err)
	}
	s.must(find("facts", "n1"))
	yaml, err := s.Terminus("facts", "yaml")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := s.Terminus("node", "plain")
	if err != nil {
		t.Fatal(err)
	}

	other, err := filepath.Abs(filepath.Join(s.Dir, "other"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Override(set("clientyamldir="+other, "node_terminus=plain"), ":set"); err != nil {
		t.Fatal(err)
	}
	if _, place := s.Settings.Get("node_terminus"); place != engine.SetHere {
		t.Errorf("got place %q, want %q", place, engine.SetHere)
	}
	if w := s.Routes()["node"].Primary.Winner(); w.Terminus != "plain" || !strings.Contains(w.Source, engine.SetHere) {
		t.Errorf("the route of node: %+v", w)
	}
	s.must(find("facts", "n1"))
	if tr := s.trace(); !strings.Contains(spans(tr), other) {
		t.Errorf("the terminus was not made anew: it read %s", spans(tr))
	}
	if w := s.Routes()["facts"].Cache.Winner(); w.Kind != traces.FromYou {
		t.Errorf("what was chosen by hand is gone: %+v", w)
	}
	if got := s.Overrides(); !slices.Equal(got, []string{"facts"}) {
		t.Errorf("overridden routes: %v, want those that were chosen by hand", got)
	}
	if again, _ := s.Terminus("facts", "yaml"); again == yaml {
		t.Error("facts yaml is the old one, although its directory is another")
	}
	if again, _ := s.Terminus("node", "plain"); again != plain {
		t.Error("node plain was made anew, although nothing that it reads has changed")
	}
	if w := s.Configured()["node"].Primary.Winner(); w.Terminus != "plain" {
		t.Errorf("configured: %+v", w)
	}

	if _, err := s.Override(nil, "undo"); err != nil {
		t.Fatal(err)
	}
	s.must(find("facts", "n1"))
	if tr := s.trace(); strings.Contains(spans(tr), other) {
		t.Errorf("it still reads %s", spans(tr))
	}
	if w := s.Routes()["node"].Primary.Winner(); w.Terminus != "exec" {
		t.Errorf("the route of node: %+v", w)
	}
	if w := s.Routes()["facts"].Cache.Winner(); w.Kind != traces.FromYou {
		t.Errorf("what was chosen by hand is gone: %+v", w)
	}
}

func spans(tr *traces.Trace) string {
	var names []string
	for _, sp := range tr.Spans {
		names = append(names, sp.Name)
		for _, a := range sp.Attrs {
			names = append(names, a.Value)
		}
	}
	return strings.Join(names, " ")
}

// Settings that follow are reported.
func TestOverrideFollow(t *testing.T) {
	t.Parallel()
	s := newStage(t, lookedAt)
	follow, err := s.Override(set("statedir=/var/tmp/state"), ":set")
	if err != nil || !slices.Contains(follow, "lastrunreport") || slices.Contains(follow, "statedir") {
		t.Errorf("got %v, %v", follow, err)
	}
	if _, err := s.Override(append(s.Overridden(), set("environment=staging")...), ":set"); err != nil {
		t.Fatal(err)
	}
	s.write("code/environments/staging/", "")
	s.must(find("facts", "n1"))
	if got := s.trace().Environment; got != "staging" {
		t.Errorf("environment %q, want staging", got)
	}
}

// Nothing changes when a name or a value is no good, or a file has become so.
func TestOverrideRefuses(t *testing.T) {
	t.Parallel()
	s := newStage(t, lookedAt)
	for _, tt := range []struct{ set, want string }{
		{"node_terminu=plain", `there is no setting "node_terminu"; did you mean "node_terminus"?`},
		{"storeconfigs=perhaps", "Invalid value '\"perhaps\"' for boolean parameter: storeconfigs"},
		{"runinterval=soon", "Invalid duration format '\"soon\"' for parameter: runinterval"},
		{"logdir=$logdir", "settings refer to each other"},
		{"http_proxy_password=$nothing", "Error converting value for param 'http_proxy_password'"},
	} {
		_, err := s.Override(set(tt.set), ":set")
		if refused := (*engine.RefusedError)(nil); !errors.As(err, &refused) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.set, err, tt.want)
		}
	}
	config, _ := s.Settings.Get("config")
	if err := os.WriteFile(config, []byte("[main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Override(set("node_terminus=plain"), ":set"); err == nil || !strings.Contains(err.Error(), "puppet.conf") {
		t.Errorf("a broken puppet.conf: got %v", err)
	}
	if len(s.Overridden()) != 0 || s.Routes()["node"].Primary.Winner().Terminus != "exec" {
		t.Errorf("something has changed: %v", s.Overridden())
	}
}
