package facter_test

import (
	"errors"
	"io"
	"log/slog"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/termini/facter"
)

// settings maps a name to a value and its place, "value@place".
type settings map[string]string

func (s settings) Get(name string) (value, place string) {
	value, place, _ = strings.Cut(s[name], "@")
	return value, place
}

var noon = time.Date(2024, 5, 6, 12, 0, 0, 7, time.UTC)

func terminus(t *testing.T, s settings) *facter.Terminus {
	t.Helper()
	isolated := settings{"facter_config": filepath.Join(t.TempDir(), "none")}
	maps.Copy(isolated, s)
	term, err := facter.Facts.New(indirector.Env{
		Settings: isolated,
		Log:      slog.New(slog.NewTextHandler(io.Discard, nil)),
		Now:      func() time.Time { return noon },
	})
	if err != nil {
		t.Fatal(err)
	}
	return term.(*facter.Terminus)
}

func find(t *testing.T, s settings, options ...indirector.Option) *model.Facts {
	t.Helper()
	inst, err := terminus(t, s).Find(t.Context(), &indirector.Request{
		Indirection: "facts", Verb: indirector.Find, Key: "web01", Options: options,
	})
	if err != nil {
		t.Fatal(err)
	}
	return inst.(*model.Facts)
}

func TestFind(t *testing.T) {
	t.Parallel()
	modules := write(t, map[string]string{
		"one/facts.d/a.txt":        "from=module one\nm1=1\n",
		"two/facts.d/a.txt":        "from=module two\nm2=1\n",
		"two/lib/facter/custom.rb": "",
	})
	plugins := write(t, map[string]string{"p.yaml": "from: plugins\np: ~\nq: [~]\n"})
	further := write(t, map[string]string{"f.txt": "f=1\n"})
	f := find(t, settings{
		"certname": "agent.example", "noop": "true", "environment": "test@puppet.conf:3 [agent]",
		"modulepath": modules + string(filepath.ListSeparator) + "/missing", "pluginfactdest": plugins,
	}, indirector.Option{Name: "external_dir", Value: further})

	if f.Key() != "web01" || !f.Timestamp.Time().Equal(noon) {
		t.Errorf("got key %q and time %s, want those of the request and of the clock", f.Key(), f.Timestamp)
	}
	for key, want := range map[string]string{
		"clientcert": `"agent.example"`, "clientversion": `"7.23.0"`, "clientnoop": "true", "puppetversion": `"7.23.0"`,
		"agent_specified_environment": `"test"`, "from": `"module one"`, "m1": `"1"`, "m2": `"1"`, "q": `[""]`, "f": `"1"`,
	} {
		if got := f.Get(key).String(); got != want {
			t.Errorf("%s: got %s, want %s", key, got, want)
		}
	}
	if f.Get("osfamily").IsNil() {
		t.Error("no legacy facts, though Puppet 7 includes them")
	}
}

func TestFindWithout(t *testing.T) {
	t.Parallel()
	f := find(t, settings{"include_legacy_facts": "false", "environment": "production@default"})
	for _, key := range []string{"osfamily", "agent_specified_environment"} {
		if v := f.Get(key); !v.IsNil() {
			t.Errorf("%s: got %s, want none", key, v)
		}
	}
	if got := f.Get("clientnoop").String(); got != "false" {
		t.Errorf("clientnoop: got %s", got)
	}
}

func TestFindResolves(t *testing.T) {
	t.Parallel()
	resolve := indirector.Option{Name: "resolve_options", Value: true}
	all := find(t, settings{"certname": "x"}, resolve)
	if v := all.Get("clientcert"); !v.IsNil() {
		t.Errorf("clientcert: got %s, want none", v)
	}
	if v := all.Get("path"); v.IsNil() {
		t.Error("no facts")
	}
	some := find(t, nil, resolve, indirector.Option{Name: "user_query", Value: []string{"puppetversion", "os.nothing", "identity.uid.x"}})
	if got, want := some.Values.String(), `{"identity.uid.x"=>"", "os.nothing"=>"", "puppetversion"=>"7.23.0"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSaveAndDestroyFailInPuppetsWords(t *testing.T) {
	t.Parallel()
	term := terminus(t, nil)
	_, err := term.Save(t.Context(), &indirector.Request{})
	failsWith(t, err, "You cannot save facts to the code store; it is only used for getting facts from Facter")
	_, err = term.Destroy(t.Context(), &indirector.Request{})
	failsWith(t, err, "You cannot destroy facts in the code store; it is only used for getting facts from Facter")
	if !term.LocalOnly() {
		t.Error("answers requests from the network")
	}
}

func failsWith(t *testing.T, err error, want string) {
	t.Helper()
	var f *indirector.Failure
	if !errors.As(err, &f) || f.Message != want || f.Class != "Puppet::DevError" {
		t.Errorf("got %#v, want a DevError %q", err, want)
	}
}

func TestFindFails(t *testing.T) {
	t.Parallel()
	_, err := terminus(t, settings{"facter_command": "/no/such/facter"}).Find(t.Context(), &indirector.Request{Key: "web01"})
	var f *indirector.Failure
	if !errors.As(err, &f) || f.Path != "/no/such/facter" || !strings.Contains(f.Message, "web01") {
		t.Errorf("got %v, want a failure that names the command", err)
	}
}

func TestNewRefusesTimeout(t *testing.T) {
	t.Parallel()
	_, err := facter.Facts.New(indirector.Env{Settings: settings{"facter_timeout": "soon@puppet.conf:9"}})
	if err == nil || !strings.Contains(err.Error(), "puppet.conf:9") {
		t.Errorf("got error %v, want one with the place", err)
	}
}

// The terminus reads exactly the settings of its descriptor.
func TestSettingsAreDescribed(t *testing.T) {
	t.Parallel()
	read := make(spy)
	term, err := facter.Facts.New(indirector.Env{Settings: read, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := term.(*facter.Terminus).Find(t.Context(), &indirector.Request{Key: "x"}); err != nil {
		t.Fatal(err)
	}
	for _, s := range facter.Facts.Settings {
		if !read[s.Name] {
			t.Errorf("setting %s is described, but not read", s.Name)
		}
		delete(read, s.Name)
	}
	for name := range read {
		t.Errorf("setting %s is read, but not described", name)
	}
}

type spy map[string]bool

func (s spy) Get(name string) (value, place string) {
	s[name] = true
	return "", ""
}
