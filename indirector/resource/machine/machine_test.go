package machine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/machine"
	"indirtui/indirector/resource/types"
)

func facts() data.Value {
	release := data.OfHash([]data.Pair{data.P("major", data.OfString("12"))})
	os := data.OfHash([]data.Pair{data.P("family", data.OfString("Debian")), data.P("name", data.OfString("Debian")), data.P("release", release)})
	return data.OfHash([]data.Pair{
		data.P("os", os), data.P("kernel", data.OfString("Linux")), data.P("osfamily", data.OfString("Debian")),
		data.P("operatingsystem", data.OfString("Debian")), data.P("operatingsystemmajrelease", data.OfString("12")),
	})
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

// TestHere: the facts are facter's, with those by which providers ask.
func TestHere(t *testing.T) {
	t.Parallel()
	var asked *indirector.Request
	do := func(_ context.Context, req *indirector.Request) (indirector.Response, error) {
		asked = req
		return indirector.Response{Value: &model.Facts{Name: req.Key, Values: facts()}}, nil
	}
	m, err := machine.Here(t.Context(), do, "web01", "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := types.Select(types.All()["cron"], m)
	if v, _ := m.Fact("osfamily"); v.Text() != "Debian" || asked.Terminus != "facter" || asked.Option("show_legacy") != true || p == nil && m.Which("crontab") != "" {
		t.Errorf("got the fact %q, provider %v; asked %+v", v.Text(), p, asked)
	}
	refused := errors.New("no facts today")
	if _, err := machine.Here(t.Context(), func(context.Context, *indirector.Request) (indirector.Response, error) {
		return indirector.Response{}, refused
	}, "", "", nil); !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
	nothing := func(context.Context, *indirector.Request) (indirector.Response, error) {
		return indirector.Response{}, indirector.ErrNotFound
	}
	if m, err := machine.Here(t.Context(), nothing, "", "", nil); err != nil || m.Facts().Len() != 0 {
		t.Errorf("got %v", err)
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
