package providers_test

import (
	"slices"
	"strings"
	"testing"

	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/systemtest"
	"indirtui/indirector/resource/types"
)

// TestListed: packages of all managers are listed, each by one command; of several that have a
// name the first counts. One that cannot be listed is left out, with the reason. Rule RES-RAL-06.
func TestListed(t *testing.T) {
	t.Parallel()
	const dpkg = "install ok installed shared 1.0\n"
	gems := systemtest.Rule{Run: "/usr/bin/gem list --local", Out: "\nrake (13.0, default: 12.1 ruby)\nshared (9)\n*** odd\n"}
	for _, tt := range []struct {
		name     string
		commands []systemtest.Rule
		want     string
		note     string
	}{
		{
			"all",
			[]systemtest.Rule{
				gems,
				{Run: "/usr/bin/pip --version", Out: "note\npip 23.2.1 from /x (python 3.11)\n"},
				{Run: "/usr/bin/pip freeze --all", Out: "requests==2.31\r\nrake==1\nodd===1+local\n-e git+https://x#egg=y\ny @ file:///x\n"},
			},
			"shared 1.0 apt, rake [\"13.0\", \"12.1\"] gem, requests 2.31 pip, odd 1+local pip", "",
		},
		{
			"an old pip does not list itself",
			[]systemtest.Rule{
				gems, {Run: "/usr/bin/pip --version", Out: "pip 8.0.3 from /x\n"}, {Run: "/usr/bin/pip freeze", Out: "a==1\n"},
			},
			"shared 1.0 apt, rake [\"13.0\", \"12.1\"] gem, a 1 pip, pip 8.0.3 pip", "",
		},
		{
			"a pip that is broken",
			[]systemtest.Rule{gems, {Run: "/usr/bin/pip --version", Out: "command not found\n", Exit: 127}},
			"shared 1.0 apt, rake [\"13.0\", \"12.1\"] gem", "cannot be listed: Execution of '/usr/bin/pip --version' returned 127: command not found",
		},
		{
			"a gem that is broken, a pip without a version",
			[]systemtest.Rule{
				{Run: "/usr/bin/gem list --local", Out: "no\n", Exit: 1}, {Run: "/usr/bin/pip --version", Out: "what?\n"},
			},
			"shared 1.0 apt", "cannot be listed: Could not list gems: Execution of '/usr/bin/gem list --local' returned 1: no, cannot be listed: Cannot resolve pip version",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := systemtest.New(systemtest.Case{
				MoreBins: []string{"/usr/bin/gem", "/usr/bin/pip"}, Commands: append(tt.commands, systemtest.Rule{Run: "~/usr/bin/dpkg-query -W .*", Out: dpkg}),
			}, t.TempDir(), nil)
			var notes []string
			found, err := new(providers.Set).List(t.Context(), s, s, types.All()["package"], providers.Listing{Note: func(about, text string) {
				if strings.HasPrefix(text, "cannot be listed") {
					notes = append(notes, text)
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, is := range found {
				got = append(got, is.Name+" "+is.Properties[0].Value.Text()+" "+is.Provider.Name)
			}
			if got := strings.Join(got, ", "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if got := strings.Join(notes, ", "); got != tt.note {
				t.Errorf("notes: got %s, want %s", got, tt.note)
			}
		})
	}
}

// TestEnough: what is after the provider that is enough is not asked.
func TestEnough(t *testing.T) {
	t.Parallel()
	s := systemtest.New(systemtest.Case{
		MoreBins: []string{"/usr/bin/gem", "/usr/bin/pip"}, Commands: []systemtest.Rule{{Run: "~/usr/bin/dpkg-query -W .*", Out: "install ok installed a 1.0\n"}},
	}, t.TempDir(), nil)
	found, err := new(providers.Set).List(t.Context(), s, s, types.All()["package"], providers.Listing{Enough: func(p *types.Provider, found []providers.Found) bool {
		return p.Name == "apt" && len(found) == 1
	}})
	if err != nil || len(found) != 1 || slices.ContainsFunc(s.Calls(), func(c systemtest.Call) bool { return !strings.Contains(c.Line(), "dpkg-query") }) {
		t.Errorf("got %v, %v after %v", found, err, s.Calls())
	}
}
