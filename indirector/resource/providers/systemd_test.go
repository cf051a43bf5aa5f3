package providers_test

import (
	"os"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/systemtest"
	"indirtui/indirector/resource/types"
)

func recorded(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/systemd/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestServicesAtOnce: what systemctl lists of all units is what it answers for each, as
// systemd 252 of Debian 12 was asked. Rule RES-SVC-03.
func TestServicesAtOnce(t *testing.T) {
	t.Parallel()
	listed := recorded(t, "list-unit-files")
	s := systemtest.New(systemtest.Case{Commands: []systemtest.Rule{
		{Run: `~/usr/bin/systemctl list-unit-files .* \*\.service`, Out: listed},
		{Run: "~/usr/bin/systemctl show .*", Out: recorded(t, "show")},
	}}, t.TempDir(), nil)
	found, err := new(providers.Set).List(t.Context(), s, s, types.All()["service"], providers.Listing{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, is := range found {
		v := data.OfHash(is.Properties)
		ensure, _ := v.Lookup("ensure")
		enable, _ := v.Lookup("enable")
		got[is.Name] = ensure.Text() + " " + enable.Text()
	}
	for line := range strings.Lines(recorded(t, "is")) {
		words := strings.Fields(line)
		unit, active, enabled := words[0], words[1], words[len(words)-1] // is-active of a template is an error
		if enabled == "alias" || strings.HasSuffix(enabled, "-runtime") {
			continue // Puppet does not list them
		}
		want := "stopped"
		if active == "active" {
			want = "running"
		}
		if enabled == "enabled" || enabled == "static" {
			want += " true"
		} else {
			want += " false"
		}
		if got[unit] != want {
			t.Errorf("%s: got %q, want %q", unit, got[unit], want)
		}
		delete(got, unit)
	}
	if len(got) > 0 {
		t.Errorf("there are also %q", got)
	}
}

// TestQuotesOfDpkg: without a shell, dpkg-query prints the quotes of its format.
func TestQuotesOfDpkg(t *testing.T) {
	t.Parallel()
	s := systemtest.New(systemtest.Case{Commands: []systemtest.Rule{
		{Run: "~/usr/bin/dpkg-query -W .*", Out: "'install ok installed a 1.0\n''hold ok installed b 1.0\n''deinstall ok config-files c 1.0\n'"},
	}}, t.TempDir(), nil)
	found, err := new(providers.Set).List(t.Context(), s, s, types.All()["package"], providers.Listing{})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, is := range found {
		mark, _ := data.OfHash(is.Properties).Lookup("mark")
		ensure, _ := data.OfHash(is.Properties).Lookup("ensure")
		got += is.Name + " " + ensure.Text() + " " + mark.Text() + "\n"
	}
	if want := "a 1.0 none\nb 1.0 hold\nc absent absent\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
