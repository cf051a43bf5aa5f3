package transaction_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/golden"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/machine"
	"indirtui/indirector/resource/probetest"
	"indirtui/indirector/resource/systemtest"
	"indirtui/indirector/resource/types"
)

// rows are the lines of a recording.
func rows(tb testing.TB, file string) []map[string]json.RawMessage {
	tb.Helper()
	text, err := os.ReadFile(golden.PathBeside(tb, "..", "ral", file))
	if err != nil {
		tb.Fatal(err)
	}
	return golden.Decode[map[string]json.RawMessage](tb, bytes.NewReader(text))
}

// decode reads a part of a row; a part that is not there is left as it is.
func decode(tb testing.TB, raw json.RawMessage, to any) {
	tb.Helper()
	if raw == nil {
		return
	}
	if err := json.Unmarshal(raw, to); err != nil {
		tb.Fatal(err)
	}
}

// catalogOf reads a catalog as the agent does from its cache.
func catalogOf(tb testing.TB, text []byte) *model.Catalog {
	tb.Helper()
	f, _ := format.ByName("rich_data_json")
	inst, _, err := format.Intern(f, "catalog", text, format.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return inst.(*model.Catalog)
}

// allTypes are those that are built in, and the probe.
func allTypes() map[string]*types.Type {
	all := maps.Clone(types.All())
	all["probe"] = probetest.Type()
	return all
}

// A host has the settings of a case.
type host struct {
	types.Host
	settings map[string]string
}

func (h host) Setting(name string) (string, bool) { v, ok := h.settings[name]; return v, ok }

// system is that of a case.
func (p place) system(c systemtest.Case, settings map[string]string) *systemtest.System {
	real := host{machine.New(data.Value{}, nil), settings}
	return systemtest.New(c, p.dir+"/root", real)
}

// place is where a case lives: the placeholders of a recording stand for it.
type place struct{ dir string }

func newPlace(tb testing.TB) place {
	tb.Helper()
	p := place{tb.TempDir()}
	for _, sub := range []string{"root", "var/state", "var/public", "conf"} {
		if err := os.MkdirAll(filepath.Join(p.dir, sub), 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	return p
}

func (p place) replacer() *strings.Replacer {
	return strings.NewReplacer("@ROOT@", p.dir+"/root", "@VAR@", p.dir+"/var", "@CONF@", p.dir+"/conf", "@SITE@", p.dir+"/site.pp", "@DIR@", p.dir)
}

func (p place) expand(raw []byte) []byte { return []byte(p.replacer().Replace(string(raw))) }

// rubys are words that come from Ruby, not from Puppet: functions, and ends of temporary names.
var rubys = []struct {
	re   *regexp.Regexp
	with string
}{{regexp.MustCompile(`@ [a-z_0-9]+ - `), "@ <RUBY> - "}, {regexp.MustCompile(`\d{8}-\d+-\w+( does not exist or)`), "<TEMP>$1"}}

func (p place) norm(s string) string {
	for _, r := range rubys {
		s = r.re.ReplaceAllString(s, r.with)
	}
	return strings.NewReplacer(p.dir+"/root", "@ROOT@", p.dir+"/var", "@VAR@", p.dir+"/conf", "@CONF@", p.dir+"/site.pp", "@SITE@", p.dir, "@DIR@").Replace(s)
}

// settings are Puppet's, with those of a case.
func (p place) settings(more ...map[string]any) map[string]string {
	state, public := p.dir+"/var/state/", p.dir+"/var/public/"
	all := map[string]string{
		"certname": "node1.example.test", "environment": "production", "digest_algorithm": "sha256",
		"statefile": state + "state.yaml", "transactionstorefile": state + "transactionstore.yaml",
		"classfile": state + "classes.txt", "resourcefile": state + "resources.txt", "lastrunfile": public + "last_run_summary.yaml",
		"clientbucketdir": p.dir + "/var/clientbucket", "graphdir": state + "graphs", "statettl": "32d",
		"write_catalog_summary": "true", "default_schedules": "true", "show_diff": "false",
	}
	for _, m := range more {
		for k, v := range m {
			switch v := v.(type) {
			case bool:
				all[k] = "false"
				if v {
					all[k] = "true"
				}
			case string:
				all[k] = p.replacer().Replace(v)
			}
		}
	}
	return all
}
