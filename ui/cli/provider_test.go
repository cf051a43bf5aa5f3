package cli_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"indirtui/indirector/golden"
	"indirtui/termini"
	"indirtui/ui/cli"
)

// defaults prints the default provider of each type that is named.
const defaults = `
require 'puppet'
dir = ARGV.shift
Puppet.initialize_settings(['--vardir', dir, '--confdir', dir])
ARGV.each do |name|
  type = Puppet::Type.type(name) or next
  puts "#{name} #{type.defaultprovider ? type.defaultprovider.name : ''}"
end
`

// TestProvidersAsPuppet: on this machine the same providers are used as by real Puppet.
// Rule RES-PROV-02.
func TestProvidersAsPuppet(t *testing.T) {
	golden.NeedsPuppet(t)
	t.Parallel()
	names := []string{"user", "group", "package", "service", "exec", "file", "cron", "host", "mount", "mailalias", "sshkey", "ssh_authorized_key"}
	out, err := exec.CommandContext(t.Context(), "ruby", append([]string{"-e", defaults, "--", t.TempDir()}, names...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, provider, _ := strings.Cut(strings.TrimSpace(line), " ")
		want[name] = provider
	}
	if len(want) < 6 {
		t.Fatalf("Puppet has only %v", want)
	}
	var printed, problems bytes.Buffer
	dir := t.TempDir()
	args := append([]string{"describe", "--format", "json", "--confdir", dir, "--vardir", dir}, slices.Sorted(maps.Keys(want))...)
	if code := cli.Main(args, cli.Streams{In: strings.NewReader(""), Out: &printed, Err: &problems}, termini.Specs(), termini.All()); code != 0 {
		t.Fatalf("exit %d: %s", code, &problems)
	}
	var all []struct{ Name, Provider string }
	if err := json.Unmarshal(printed.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	for _, got := range all {
		if got.Provider != want[got.Name] {
			t.Errorf("%s: got %q, want %q", got.Name, got.Provider, want[got.Name])
		}
	}
}
