package machine_test

import (
	"os"
	"path/filepath"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/machine"
	"indirtui/indirector/resource/types"
)

func facts() data.Value {
	release := data.OfHash([]data.Pair{data.P("major", data.OfString("12"))})
	os := data.OfHash([]data.Pair{data.P("family", data.OfString("Debian")), data.P("name", data.OfString("Debian")), data.P("release", release)})
	return data.OfHash([]data.Pair{data.P("os", os), data.P("kernel", data.OfString("Linux"))})
}

func TestFact(t *testing.T) {
	t.Parallel()
	m := machine.New(facts(), nil)
	for name, want := range map[string]string{
		"os.family": "Debian", "kernel": "Linux", "osfamily": "Debian", "operatingsystemmajrelease": "12",
		"lsbdistrelease": "", "os.selinux": "", "kernel.x": "",
	} {
		v, ok := m.Fact(name)
		if v.Text() != want || ok != (want != "") {
			t.Errorf("%s is %q, %v, want %q", name, v.Text(), ok, want)
		}
	}
}

func TestFilesAndPrograms(t *testing.T) {
	t.Parallel()
	m := machine.New(facts(), func(name string) (string, bool) { return "x", name == "confdir" })
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !m.Exists(plain) || m.Exists(plain+"x") {
		t.Error("Exists is wrong")
	}
	if m.Which(plain) != "" || m.Which("no-such-program") != "" {
		t.Error("what cannot be executed is no program")
	}
	if m.Which("sh") == "" || m.Which(m.Which("sh")) != m.Which("sh") {
		t.Error("sh is not found")
	}
	if _, ok := m.Setting("confdir"); !ok || m.Home("no such account") != "" || !filepath.IsAbs(m.WorkingDirectory()) || m.LastSystemUID() < 1 {
		t.Error("settings, homes, directories or accounts are wrong")
	}
	if m.Feature("augeas") || m.Feature("nothing") {
		t.Error("there is no Ruby here")
	}
}

// TestSelect: whatever this machine is, files are done by posix here.
func TestSelect(t *testing.T) {
	t.Parallel()
	p, all := types.Select(types.All()["file"], machine.New(facts(), nil))
	if p == nil || p.Name != "posix" || len(all) != 2 {
		t.Errorf("%v, %v", p, all)
	}
}
