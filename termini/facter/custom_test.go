package facter_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/termini/facter"
)

// The files of the module stdlib, as far as they are recognised.
var stdlib = map[string]string{
	"root_home.rb":        "Facter.add(:root_home) do\nend\n",
	"package_provider.rb": "Facter.add(:package_provider) do\nend\n",
	"service_provider.rb": "Facter.add(:service_provider) do\nend\n",
	"puppet_settings.rb":  "Facter.add(:puppet_environmentpath) do\nend\n",
	"pe_version.rb":       "Facter.add('is_pe') do\nend\n",
}

var puppetSettings = map[string]string{"vardir": "/v", "confdir": "/c", "environmentpath": "/e", "server": "s"}

func TestStdlib(t *testing.T) {
	t.Parallel()
	dir := write(t, stdlib)
	v, problems := collect(t, facter.Options{CustomDirs: []string{dir, write(t, stdlib)}, Settings: puppetSettings})
	for fact, want := range map[string]string{
		"puppet_vardir": `"/v"`, "puppet_environmentpath": `"/e"`, "puppet_server": `"s"`, "is_pe": "false", "pe_version": "nil",
	} {
		if got := v.Get(fact).String(); got != want {
			t.Errorf("%s: got %s, want %s", fact, got, want)
		}
	}
	if runtime.GOOS == "linux" && v.Get("root_home").Str() != "/root" {
		t.Errorf("root_home: got %s", v.Get("root_home"))
	}
	if got := about(dir, problems); got != nil {
		t.Errorf("got problems %q", got)
	}
	if v, _ := collect(t, facter.Options{Settings: puppetSettings}); !v.Get("puppet_server").IsNil() || !v.Get("is_pe").IsNil() {
		t.Error("there are facts of stdlib without stdlib")
	}
	t.Run("external facts win", func(t *testing.T) {
		t.Parallel()
		v, _ := collect(t, facter.Options{
			CustomDirs: []string{dir}, Settings: puppetSettings,
			ExternalDirs: []string{write(t, map[string]string{"a.txt": "root_home=/else\npe_build=2021.7.1\n"})},
		})
		if got := v.Get("root_home").Str() + v.Get("pe_version").Str() + v.Get("pe_minor_version").Str() + v.Get("is_pe").String(); got != "/else2021.7.17true" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("blocked", func(t *testing.T) {
		t.Parallel()
		v, _ := collect(t, facter.Options{
			CustomDirs: []string{dir}, Settings: puppetSettings, Config: facter.ReadConfig(conf(t, `facts.blocklist : [ "puppet_server" ]`)),
		})
		if !v.Get("puppet_server").IsNil() || v.Get("puppet_vardir").IsNil() {
			t.Errorf("got %s, %s", v.Get("puppet_server"), v.Get("puppet_vardir"))
		}
	})
	t.Run("a file of that name that is another", func(t *testing.T) {
		t.Parallel()
		other := write(t, map[string]string{"root_home.rb": "Facter.add(:mine) { }\n"})
		v, problems := collect(t, facter.Options{CustomDirs: []string{other}})
		if got := about(other, problems); len(got) != 1 || !v.Get("root_home").IsNil() {
			t.Errorf("got %s, %q", v.Get("root_home"), got)
		}
	})
}

// Real Puppet has the same values of the facts of stdlib.
func TestRealStdlib(t *testing.T) {
	const dir = "/usr/share/puppet/modules/stdlib/lib/facter"
	puppet, err := exec.LookPath("puppet")
	if _, statErr := os.Stat(dir); err != nil || statErr != nil {
		t.Skip("puppet and its module stdlib are not installed")
	}
	settings := map[string]string{"confdir": t.TempDir(), "vardir": t.TempDir(), "environmentpath": "/environments", "server": "puppet.example"}
	names := []string{"root_home", "package_provider", "service_provider", "puppet_vardir", "puppet_environmentpath", "puppet_server", "is_pe"}
	args := []string{"facts", "show", "--custom-dir", dir, "--render-as", "json"}
	for name, value := range settings {
		args = append(args, "--"+name, value)
	}
	cmd := exec.CommandContext(t.Context(), puppet, append(args, names...)...)
	cmd.Env = append(plainEnviron(), "HOME="+t.TempDir())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("puppet facts: %v: %s", err, out)
	}
	want, err := format.DecodeJSON(out[strings.IndexByte(string(out), '{'):], format.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	got, problems := collect(t, facter.Options{CustomDirs: []string{dir}, Settings: settings})
	for _, name := range names {
		if !data.Equal(got.Get(name), want.Get(name)) {
			t.Errorf("%s: got %s, Puppet has %s; %v", name, got.Get(name), want.Get(name), problems)
		}
	}
}

// ruby returns an interpreter that has Facter.
func ruby(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("ruby")
	if err != nil || exec.Command(path, "-rfacter", "-e", "").Run() != nil {
		t.Skip("no Ruby with Facter is installed")
	}
	return path
}

func TestCustomByRuby(t *testing.T) {
	ruby := ruby(t)
	dir := write(t, map[string]string{
		"a.rb":         "Facter.add(:a) { setcode { {'x' => [1, 2.5, nil, :s]} } }\nFacter.add('B') { setcode { Facter.value(:outside) + '!' } }\n",
		"confined.rb":  "Facter.add(:c) { confine kernel: 'Nothing'\n setcode { 1 } }\n",
		"nil.rb":       "Facter.add(:n) { setcode { nil } }\n",
		"prints.rb":    "puts '{\"files\": 1}'\nFacter.add(:p) { setcode { puts 'x'; 'p' } }\n",
		"raises.rb":    "Facter.add(:r) { setcode { raise 'r' } }\n",
		"syntax.rb":    "def (\n",
		"exits.rb":     "exit 3\n",
		"bytes.rb":     "Facter.add(:bytes) { setcode { \"\\xff\" } }\n",
		"weak.rb":      "Facter.add(:outside) { setcode { 'of Ruby' } }\n",
		"kernel.rb":    "Facter.add(:kernel) { has_weight 100\n setcode { 'Mine' } }\n",
		"util/more.rb": "raise 'is not read'\n",
	})
	v, problems := collect(t, facter.Options{
		CustomDirs: []string{dir}, Ruby: ruby, Settings: map[string]string{"confdir": t.TempDir(), "vardir": t.TempDir()},
		ExternalDirs: []string{write(t, map[string]string{"e.txt": "outside=of a file\n"})},
		Environ:      append(plainEnviron(), "HOME="+t.TempDir()),
	})
	for fact, want := range map[string]string{
		"a": `{"x"=>[1, 2.5, nil, "s"]}`, "b": `"of a file!"`, "c": "nil", "n": "nil", "p": `"p"`, "r": "nil", "bytes": "nil",
		"outside": `"of a file"`, "kernel": `"Mine"`,
	} {
		if got := v.Get(fact).String(); got != want {
			t.Errorf("%s: got %s, want %s", fact, got, want)
		}
	}
	if v.Dig("ruby", "version").IsNil() || !v.Get("rubyversion").IsNil() {
		t.Errorf("got ruby %s, rubyversion %s; want one, and no legacy fact", v.Get("ruby"), v.Get("rubyversion"))
	}
	got := about(dir, problems)
	for _, want := range []string{"syntax.rb: Error loading fact syntax.rb: ", "exits.rb: Error loading fact exits.rb: exit"} {
		if !slices.ContainsFunc(got, func(p string) bool { return strings.HasPrefix(p, want) }) {
			t.Errorf("got problems %q, want %q", got, want)
		}
	}
	if len(got) != 2 {
		t.Errorf("got problems %q", got)
	}
}

// Of a fact that hangs only those that come after it are missing.
func TestCustomHangs(t *testing.T) {
	ruby := ruby(t)
	dir := write(t, map[string]string{
		"a.rb": "Facter.add(:a) { setcode { 1 } }\n", "b.rb": "Facter.add(:b) { setcode { sleep } }\n", "c.rb": "Facter.add(:c) { setcode { 3 } }\n",
	})
	for _, limit := range []time.Duration{5 * time.Second, time.Minute} { // a busy machine needs longer to come to b
		v, problems := collect(t, facter.Options{CustomDirs: []string{dir}, Ruby: ruby, Timeout: limit, Environ: append(plainEnviron(), "HOME="+t.TempDir())})
		if v.Get("a").IsNil() && limit < time.Minute {
			continue
		}
		got := about(dir, problems)
		if v.Get("a").Int() != 1 || !v.Get("c").IsNil() || len(got) != 2 || !strings.HasPrefix(got[0], "b.rb: this custom fact was not evaluated: killed: not finished") {
			t.Errorf("got a %s, c %s, problems %q", v.Get("a"), v.Get("c"), got)
		}
		return
	}
}

// Rubies that answer nothing leave all files unevaluated, and nothing else missing.
func TestCustomByBadRuby(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"a.rb": "Facter.add(:a) { setcode { 1 } }\n"})
	programs := write(t, map[string]string{
		"none*": "#!/bin/sh\necho oops >&2\nexit 1\n", "noise*": "#!/bin/sh\necho hello\n", "hangs*": "#!/bin/sh\nsleep 600\n",
		"list*": "#!/bin/sh\ncat >/dev/null\necho '[1]'\n", "odd*": "#!/bin/sh\ncat >/dev/null\necho '{\"files\": [1, {\"facts\": 3}]}'\n",
	})
	for _, name := range []string{"none", "noise", "hangs", "list", "odd", "missing"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := time.Minute
			if name == "hangs" {
				limit = 200 * time.Millisecond
			}
			v, problems := collect(t, facter.Options{CustomDirs: []string{dir}, Ruby: filepath.Join(programs, name), Timeout: limit})
			if v.Get("kernel").IsNil() || !v.Get("a").IsNil() {
				t.Errorf("got kernel %s, a %s", v.Get("kernel"), v.Get("a"))
			}
			if got := about(dir, problems); len(got) != 1 {
				t.Errorf("got problems %q", got)
			}
		})
	}
}
