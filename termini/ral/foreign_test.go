package ral_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/golden"
	"indirtui/indirector/host/child"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client/clienttest"
	"indirtui/indirector/resource/transaction"
	"indirtui/termini/ral"
)

// toolType is a type whose resources are files of a directory.
const toolType = `
Puppet::Type.newtype(:tool) do
  ensurable
  newparam(:name, namevar: true)
  newproperty(:size)
  provide(:dir) do
    def self.instances
      Dir.children('DIR').map { |name| new(name: name, ensure: :present, size: File.size("DIR/#{name}").to_s) }
    end
    mk_resource_methods
    def exists?; get(:ensure) == :present; end
  end
end
`

// terminus returns one with a module that has the type tool.
func foreignTerminus(t *testing.T, ruby string) *ral.Terminus {
	t.Helper()
	dir := t.TempDir()
	tools, lib := filepath.Join(dir, "tools"), filepath.Join(dir, "modules/tools/lib/puppet/type")
	for _, d := range []string{tools, lib} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for file, text := range map[string]string{
		tools + "/saw": "12345", tools + "/axe": "123", lib + "/tool.rb": strings.ReplaceAll(toolType, "DIR", tools),
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	made, err := ral.Resource.New(indirector.Env{
		Ruby: indirector.Ruby{Path: ruby, Resources: ruby},
		Do: func(context.Context, *indirector.Request) (indirector.Response, error) {
			return indirector.Response{Value: &model.Facts{Name: "here", Values: data.OfHash(nil)}}, nil
		},
		Settings: clienttest.Settings{"statedir": dir + "/state", "statefile": dir + "/state.yaml", "digest_algorithm": "sha256", "confdir": dir, "vardir": dir + "/var", "modulepath": dir + "/modules", "certname": "here"},
	})
	if err != nil {
		t.Fatal(err)
	}
	terminus := made.(*ral.Terminus)
	t.Cleanup(func() {
		if err := terminus.Close(); err != nil {
			t.Error(err)
		}
	})
	return terminus
}

// TestForeign: a type that is written in Ruby is read by the helper. Rules RES-RAL-02 to
// RES-RAL-04.
func TestForeign(t *testing.T) {
	t.Parallel()
	golden.NeedsPuppet(t)
	path, err := exec.LookPath("ruby")
	if err != nil {
		t.Fatal(err)
	}
	terminus := foreignTerminus(t, path)
	found, err := terminus.Find(t.Context(), &indirector.Request{Indirection: "resource", Key: "tool/saw"})
	if err != nil {
		t.Fatal(err)
	}
	r := found.(*model.Resource)
	if want := data.OfHash([]data.Pair{
		data.P("ensure", data.OfString("present")), data.P("size", data.OfString("5")), data.P("provider", data.OfString("dir")), data.P("loglevel", data.OfString("notice")),
	}); r.Ref() != "Tool[saw]" || !data.Equal(r.Parameters, want) {
		t.Errorf("got %s %s", r.Ref(), r.Parameters.Inspect())
	}
	found, err = terminus.Find(t.Context(), &indirector.Request{Indirection: "resource", Key: "tool/none"})
	if err != nil || found.(*model.Resource).Parameters.Get("ensure").Text() != "absent" {
		t.Errorf("got %v, %v", found, err)
	}
	for _, tt := range []struct {
		options []indirector.Option
		want    string
	}{
		{nil, "Tool[axe] Tool[saw]"},
		{[]indirector.Option{{Name: "size", Value: 5}}, "Tool[saw]"},
		{[]indirector.Option{{Name: "name", Value: "axe"}}, "Tool[axe]"},
		{[]indirector.Option{{Name: "environment", Value: "x"}}, "Tool[axe] Tool[saw]"},
	} {
		all, err := terminus.Search(t.Context(), &indirector.Request{Indirection: "resource", Key: "tool", Options: tt.options})
		var refs []string
		for _, r := range all {
			refs = append(refs, r.(*model.Resource).Ref())
		}
		if got := strings.Join(refs, " "); err != nil || got != tt.want {
			t.Errorf("%v: got %s, %v, want %s", tt.options, got, err, tt.want)
		}
	}
	var f *indirector.Failure
	if _, err = terminus.Find(t.Context(), &indirector.Request{Indirection: "resource", Key: "nothere/x"}); !errors.As(err, &f) || f.Message != "Could not find type nothere" {
		t.Errorf("got %v", err)
	}
}

// TestForeignWithoutRuby: the error names the type, and what would be needed. A request of
// the network has no Ruby.
func TestForeignWithoutRuby(t *testing.T) {
	t.Parallel()
	for ruby, req := range map[string]*indirector.Request{
		"":            {Indirection: "resource", Key: "tool/saw"},
		"/bin/nobody": {Indirection: "resource", Key: "tool/saw", Remote: &indirector.Remote{}},
	} {
		terminus := foreignTerminus(t, ruby)
		var f *indirector.Failure
		if _, err := terminus.Find(t.Context(), req); !errors.As(err, &f) || f.Message != "Could not find type tool" || !strings.Contains(f.Hidden, "a Ruby with Puppet") {
			t.Errorf("got %v", err)
		}
		if _, err := terminus.Search(t.Context(), req); !errors.As(err, &f) {
			t.Errorf("got %v", err)
		}
	}
}

// TestForeignProvider: a resource of a type that is ours, by a provider that is Ruby's.
func TestForeignProvider(t *testing.T) {
	t.Parallel()
	golden.NeedsPuppet(t)
	ruby, err := exec.LookPath("ruby")
	if err != nil {
		t.Skip("there is no Ruby here")
	}
	command := filepath.Join(t.TempDir(), "gem")
	if err := child.WriteFile(command, []byte("#!/bin/sh\ncase $1 in install) echo 'shiny (1.0)' >\"$0.has\" ;; list) cat \"$0.has\" 2>/dev/null ;; esac; exit 0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	save := func(ruby string) (any, error) {
		return foreignTerminus(t, ruby).Save(transaction.Consent{}.Context(t.Context()), &indirector.Request{
			Indirection: "resource", Verb: indirector.Save, Key: "package/shiny", Instance: &model.Resource{
				Type: "Package", Title: "shiny", Parameters: data.OfHash([]data.Pair{
					data.P("ensure", data.OfString("installed")), data.P("provider", data.OfString("gem")), data.P("command", data.OfString(command)),
				}),
			},
		})
	}
	if _, err := save(""); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(command + ".has"); err == nil {
		t.Error("it is installed without Ruby")
	}
	if _, err := save(ruby); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(command + ".has"); err != nil {
		t.Error(err)
	}
}
