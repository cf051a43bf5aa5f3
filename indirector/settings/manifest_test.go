package settings_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/settings"
)

// valuesOf are the values that manifests see, and their names in order.
func valuesOf(s *settings.Settings) (values map[string]any, names []string) {
	values = map[string]any{}
	s.Each(func(name string, value any) {
		values[name] = value
		names = append(names, name)
	})
	return values, names
}

func TestEach(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "puppet.conf"), "[main]\nvardir = /v\nca_ttl = 5y\nmaxwaitforlock = unlimited\nserverport = 8141\n"+
		"server_list = a:1, b\ndisable_warnings = deprecations\ncertificate_revocation = false\nmax_errors = many\n")
	s, err := settings.Load(settings.Options{ConfDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	got, names := valuesOf(s)
	if got["confdir"] != dir || names[0] != "confdir" || names[1] != "codedir" || names[2] != "vardir" || names[3] != "logdir" {
		t.Errorf("the first are %v, and confdir is %v", names[:4], got["confdir"])
	}
	for name, want := range map[string]any{
		"vardir": "/v", "statedir": "/v/state", "noop": false, "ca_ttl": int64(157680000), "maxwaitforlock": math.Inf(1),
		"masterport": int64(8140), "serverport": int64(8141), "server_list": []any{[]any{"a", "1"}, []any{"b"}}, "http_extra_headers": []any{},
		"disable_warnings": []any{"deprecations"}, "certificate_revocation": false, "node_cache_terminus": nil, "max_errors": "many",
	} {
		if diff := cmp.Diff(want, got[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// puppetValues prints what transform_setting of Puppet's scope makes of each setting.
const puppetValues = `
require 'puppet'
require 'json'
Puppet.initialize_settings(ARGV, true, false)
def plain(v)
  case v
  when String, Integer, true, false, nil then v
  when Float then v.to_s
  when Array then v.map { |e| plain(e) }
  else :undef == v ? nil : v.to_s
  end
end
all = []
Puppet.settings.each_key { |n| all << [n, plain(Puppet.settings.value_sym(n, :production))] unless n == :name }
puts JSON.generate(all)
`

// TestEachAgainstPuppet compares types and order with those of the real Puppet.
func TestEachAgainstPuppet(t *testing.T) {
	t.Parallel()
	if exec.Command("ruby", "-rpuppet", "-e", "exit Puppet.version.start_with?('7.')").Run() != nil {
		t.Skip("no Puppet 7 on this machine to compare with")
	}
	confDir, varDir := t.TempDir(), t.TempDir()
	given := map[string]string{"certname": "web01", "server_list": "a:1,b", "http_extra_headers": "a:b,c:d", "environment_timeout": "unlimited", "autosign": "true"}
	args := []string{"-e", puppetValues, "--", "--confdir", confDir, "--vardir", varDir}
	o := settings.Process()
	o.ConfDir, o.VarDir, o.Layout = confDir, varDir, settings.DebianLayout
	for name, value := range given {
		args = append(args, "--"+name, value)
		o.Overrides = append(o.Overrides, settings.Override{Name: name, Value: value})
	}
	out, err := exec.Command("ruby", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var want [][2]any
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	s, err := settings.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	got, names := valuesOf(s)
	if len(names) < len(want) { // those of other versions come last
		t.Fatalf("got %d settings, want %d", len(names), len(want))
	}
	for i, w := range want {
		name := w[0].(string)
		if names[i] != name {
			t.Errorf("setting %d is %s, want %s", i, names[i], name)
		}
		switch name {
		case "http_user_agent": // the Ruby is that of the machine
			continue
		case "manifest", "modulepath": // of an environment, which the script has none of
			continue
		}
		if g, w := asJSON(got[name]), asJSON(w[1]); g != w {
			t.Errorf("%s is %s, want %s", name, g, w)
		}
	}
}

func asJSON(v any) string {
	if f, ok := v.(float64); ok && math.IsInf(f, 1) {
		v = "Infinity"
	}
	b, err := json.Marshal(v)
	return fmt.Sprint(string(b), err)
}
