package device_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/host/child"
	"indirtui/indirector/model"
	"indirtui/termini/device"
)

type settings map[string]string

func (s settings) Get(name string) (value, place string) { return s[name], "" }

// terminus returns one over a device.conf.
func terminus(t *testing.T, conf string, ruby indirector.Ruby) *device.Terminus {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "device.conf")
	if err := os.WriteFile(path, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	term, err := device.Facts.New(indirector.Env{
		Settings: settings{"deviceconfig": path, "confdir": dir, "vardir": filepath.Join(dir, "var"), "noop": "true"},
		Log:      slog.New(slog.NewTextHandler(io.Discard, nil)), Now: time.Now, Ruby: ruby,
	})
	if err != nil {
		t.Fatal(err)
	}
	return term.(*device.Terminus)
}

func find(ctx context.Context, term *device.Terminus, key string) (*model.Facts, error) {
	inst, err := term.Find(ctx, &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: key})
	facts, _ := inst.(*model.Facts)
	return facts, err
}

// program writes a program that prints facts, and returns its URL.
func program(t *testing.T, json string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "device")
	if err := child.WriteFile(path, fmt.Appendf(nil, "#!/bin/sh\ncat <<'END'\n%s\nEND\n", json), 0o755); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

// Rules RES-DEV-04, RES-DEV-06.
func TestFind(t *testing.T) {
	t.Parallel()
	term := terminus(t, "[r1]\ntype exec\nurl "+program(t, `{"model":"x1","n":null,"clientcert":"other","list":[null,1]}`)+"\n", indirector.Ruby{})
	facts, err := find(t.Context(), term, "r1")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model"=>"x1", "n"=>"", "clientcert"=>"r1", "list"=>["", 1], "clientversion"=>"7.23.0", "clientnoop"=>true}`
	if got := facts.Values.String(); got != want || facts.Name != "r1" || facts.Timestamp.Time().IsZero() {
		t.Errorf("got %q %s, want %s", facts.Name, got, want)
	}
}

func TestFindFails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, conf, class, want, hidden string }{
		{"RES-DEV-04 none", "", "NoMethodError", "undefined method `facts' for nil:NilClass", "which has none"},
		{"RES-DEV-04 another", "[r2]\n[r3]\n", "NoMethodError", "undefined method `facts' for nil:NilClass", "which has r2, r3"},
		{"RES-DEV-01", "x", "", "Invalid entry at (line: 1): x", ""},
		{
			"RES-DEV-03", "[r1]\ntype cisco\nurl ssh://u:secret@h/\n", "LoadError",
			"Can't load cisco for r1: cannot load such file -- puppet/util/network_device/cisco/device", "devices of the type exec need no Ruby",
		},
		{
			"RES-DEV-03 no type", "[r1]\n", "LoadError",
			"Can't load  for r1: cannot load such file -- puppet/util/network_device//device", "none is allowed",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := find(t.Context(), terminus(t, tt.conf, indirector.Ruby{}), "r1")
			var f *indirector.Failure
			if !errors.As(err, &f) || f.Message != tt.want || f.Class != tt.class || !strings.Contains(f.Hidden, tt.hidden) || strings.Contains(fmt.Sprintf("%+v", f), "secret") {
				t.Errorf("got %+v", err)
			}
		})
	}
}

// Rule RES-DEV-04.
func TestSaveAndDestroyFail(t *testing.T) {
	t.Parallel()
	term := terminus(t, "", indirector.Ruby{})
	_, saved := term.Save(t.Context(), &indirector.Request{})
	_, destroyed := term.Destroy(t.Context(), &indirector.Request{})
	for want, err := range map[string]error{
		"You cannot save facts to the code store; it is only used for getting facts from a remote device":    saved,
		"You cannot destroy facts in the code store; it is only used for getting facts from a remote device": destroyed,
	} {
		var f *indirector.Failure
		if !errors.As(err, &f) || f.Message != want || f.Class != "Puppet::DevError" {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if !term.LocalOnly() {
		t.Error("answers requests from the network")
	}
}

// A device in Ruby is asked by real Puppet. Rules RES-DEV-03, RES-DEV-06.
func TestFindByRealPuppet(t *testing.T) {
	ruby, err := exec.LookPath("ruby")
	if _, noPuppet := exec.LookPath("puppet"); err != nil || noPuppet != nil {
		t.Skip("puppet is not installed")
	}
	lib := t.TempDir()
	file := filepath.Join(lib, "puppet", "util", "network_device", "mine", "device.rb")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	source := `require 'puppet/util/network_device'
module Puppet::Util::NetworkDevice::Mine
  class Device
    def initialize(url, _options = {})
      raise "no route to #{url}" if url.include?('bad')
    end

    def facts
      { 'model' => 'x1', :sym => nil }
    end
  end
end
`
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("RUBYLIB", lib)
	t.Setenv("HOME", t.TempDir())
	const conf = "[r1]\ntype mine\nurl ssh://u:secret@h/\n[r2]\ntype mine\nurl ssh://u:secret@bad/\n[r3]\ntype nosuch\nurl ssh://h/\n"
	term := terminus(t, conf, indirector.Ruby{Path: ruby, Resources: ruby})
	facts, err := find(t.Context(), term, "r1")
	if err != nil || facts.Get("model").Str() != "x1" || facts.Get("sym").Kind().String() != "string" || facts.Get("clientcert").Str() != "r1" {
		t.Errorf("got %v, %v", facts, err)
	}
	for key, want := range map[string]string{
		"r2": "Can't load mine for r2: no route to ssh://xxxxx@bad/",
		"r3": "Can't load nosuch for r3: cannot load such file -- puppet/util/network_device/nosuch/device",
	} {
		if _, err := find(t.Context(), term, key); err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
