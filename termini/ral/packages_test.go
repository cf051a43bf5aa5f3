package ral_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector"
	"indirtui/indirector/format"
	"indirtui/indirector/golden"
	"indirtui/indirector/host/child"
	"indirtui/indirector/model"
)

// packages prints what the terminus of Puppet finds, a resource on each line.
const packages = `require 'puppet'
Puppet.initialize_settings(["--confdir=#{ARGV[0]}", "--vardir=#{ARGV[0]}"])
Puppet.push_context(Puppet.base_context(Puppet.settings))
puts JSON.generate(Puppet::Resource.indirection.search('package/').map(&:to_data_hash))`

// TestPackagesBesidePuppet: the packages of all managers of this machine, and of a pip, are
// those that real Puppet finds. Rules RES-RAL-03 and RES-RAL-06.
func TestPackagesBesidePuppet(t *testing.T) {
	golden.NeedsPuppet(t)
	bin := t.TempDir()
	const pip = "#!/bin/sh\ncase $1 in --version) echo 'pip 23.2.1 from /x (python 3.11)' ;; *) printf 'requests==2.31.0\\nOdd===1+local\\n-e git+https://x#egg=y\\n' ;; esac\n"
	for _, name := range []string{"pip", "pip2", "pip3"} {
		if err := child.WriteFile(filepath.Join(bin, name), []byte(pip), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	out, err := exec.CommandContext(t.Context(), "ruby", "-e", packages, t.TempDir()).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var want, got []any
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	found, err := foreignTerminus(t, "").Search(t.Context(), &indirector.Request{Indirection: "resource", Key: "package/"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range found {
		text, err := format.AppendJSON(nil, r.(*model.Resource).Data())
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		got = append(got, v)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("want -, got +\n%s", d)
	}
}
