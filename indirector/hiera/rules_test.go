package hiera_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/hiera"
)

// environment returns the options of a compile over an environment of given files.
func environment(t *testing.T, files map[string]string, scope hiera.Variables) hiera.Options {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	return hiera.Options{EnvironmentDir: dir, GlobalConfig: filepath.Join(dir, "none", "hiera.yaml"), Scope: scope}
}

func explained(t *testing.T, c *hiera.Compile, key string) (value, text string) {
	t.Helper()
	record := new(hiera.Record)
	v, err := c.Lookup(hiera.Query{Keys: []string{key}, Record: record})
	if err != nil {
		t.Fatal(err)
	}
	return v.Inspect(), record.Text()
}

func TestRules(t *testing.T) {
	t.Parallel()
	t.Run("HIERA-OPT-04 options are searched for once", func(t *testing.T) {
		t.Parallel()
		c := hiera.New(environment(t, map[string]string{"hiera.yaml": plainConfig, "data/a.yaml": "k: 1\nj: 2\n"}, nil))
		_, first := explained(t, c, "k")
		_, second := explained(t, c, "j")
		const search = `Searching for "lookup_options"`
		if !strings.Contains(first, search) || strings.Contains(second, search) {
			t.Errorf("got %s\nthen %s", first, second)
		}
	})
	t.Run("HIERA-CFG-09 a variable of a path changes", func(t *testing.T) {
		t.Parallel()
		scope := hiera.Variables{"v": data.OfString("a")}
		c := hiera.New(environment(t, map[string]string{
			"hiera.yaml": `{version: 5, hierarchy: [{name: x, path: "%{v}.yaml"}]}`, "data/a.yaml": "k: 1\n", "data/b.yaml": "k: 2\n",
		}, scope))
		if v, _ := explained(t, c, "k"); v != "1" {
			t.Errorf("got %s", v)
		}
		scope["v"] = data.OfString("b")
		v, text := explained(t, c, "k")
		if v != "2" || !strings.Contains(text, "Hiera configuration recreated due to change of scope variables") {
			t.Errorf("got %s: %s", v, text)
		}
	})
	t.Run("HIERA-CFG-09 strict", func(t *testing.T) {
		t.Parallel()
		o := environment(t, map[string]string{"hiera.yaml": "version: 5\nhierarchy:\n  - {name: x, path: \"%{v}.yaml\"}\n"}, nil)
		o.Strict = "error"
		_, err := hiera.New(o).Lookup(hiera.Query{Keys: []string{"k"}})
		want := "Undefined variable 'v' (file: " + o.EnvironmentDir + "/hiera.yaml, line: 3)"
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
	t.Run("HIERA-OPT-01 patterns look around, and are stopped", func(t *testing.T) {
		t.Parallel()
		c := hiera.New(environment(t, map[string]string{
			"hiera.yaml": plainConfig, "data/a.yaml": "k1: '1'\nk2: '2'\nlookup_options: {'^k(?!2)': {convert_to: Integer}}\n",
		}, nil))
		for key, want := range map[string]string{"k1": "1", "k2": `"2"`} {
			if v, _ := explained(t, c, key); v != want {
				t.Errorf("%s is %s, want %s", key, v, want)
			}
		}
		key := strings.Repeat("a", 60) + "b"
		c = hiera.New(environment(t, map[string]string{
			"hiera.yaml": plainConfig, "data/a.yaml": key + ": 1\nlookup_options: {'^(?=((a+)+)+$)': {merge: deep}}\n",
		}, nil))
		_, err := c.Lookup(hiera.Query{Keys: []string{key}})
		if want := "lookup_options: regular expression /^(?=((a+)+)+$)/: limit of regular expressions: no answer within 1s"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
	t.Run("HIERA-OPT-01 patterns have their time together", func(t *testing.T) {
		t.Parallel()
		o := environment(t, map[string]string{
			"hiera.yaml": plainConfig, "data/a.yaml": "lookup_options: {'^(?=((a+)+)+$)': {merge: deep}}\n",
		}, nil)
		o.MaxMatching = 20 * time.Millisecond
		c := hiera.New(o)
		deadline := time.Now().Add(time.Minute)
		for i := 0; time.Now().Before(deadline); i++ {
			_, err := c.Lookup(hiera.Query{Keys: []string{strings.Repeat("a", 10) + fmt.Sprint(i)}, HasDefault: true})
			if err == nil {
				continue
			}
			if want := "all matches together take more than 20ms"; !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
			return
		}
		t.Error("the patterns have taken a minute")
	})
	t.Run("HIERA-LAY-04 another data binding", func(t *testing.T) {
		t.Parallel()
		o := environment(t, map[string]string{"hiera.yaml": plainConfig, "data/a.yaml": "k: 1\n"}, nil)
		o.Binding = "memory"
		o.Ask = func(terminus, key string, _ data.Value) (data.Value, bool, error) {
			return data.OfString(terminus + " has " + key), key == "k", nil
		}
		v, text := explained(t, hiera.New(o), "k")
		if v != `"memory has k"` || !strings.Contains(text, `Data Binding "memory"`) {
			t.Errorf("got %s: %s", v, text)
		}
		o.Binding = "none"
		if v, _ := explained(t, hiera.New(o), "k"); v != "1" {
			t.Errorf("got %s", v)
		}
	})
	t.Run("HIERA-PERF-03 depth", func(t *testing.T) {
		t.Parallel()
		deep := strings.Repeat("[", 1000) + strings.Repeat("]", 1000)
		o := environment(t, map[string]string{"hiera.yaml": plainConfig, "data/a.yaml": "k: " + deep + "\n"}, nil)
		_, err := hiera.New(o).Lookup(hiera.Query{Keys: []string{"k"}})
		if e := (*hiera.Error)(nil); !errors.As(err, &e) || !strings.Contains(err.Error(), "a.yaml") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("HIERA-DATA-07 a file that changes", func(t *testing.T) {
		t.Parallel()
		o := environment(t, map[string]string{"hiera.yaml": plainConfig, "data/a.yaml": "k: 1\n"}, nil)
		o.Cache = hiera.NewCache()
		if v, _ := explained(t, hiera.New(o), "k"); v != "1" {
			t.Errorf("got %s", v)
		}
		write(t, o.EnvironmentDir, map[string]string{"data/a.yaml": "k: changed\n"})
		if v, _ := explained(t, hiera.New(o), "k"); v != `"changed"` {
			t.Errorf("got %s", v)
		}
	})
	t.Run("LANG-TYPE-25 aliases of modules", func(t *testing.T) {
		t.Parallel()
		o := environment(t, map[string]string{
			"hiera.yaml": plainConfig, "data/a.yaml": "i: 5\nl: [1, [2]]\nport: '80'\nlookup_options: {port: {convert_to: 'Port'}, bad: {convert_to: 'Foo['}}\nbad: 1\n",
			"modules/m/types/tree.pp": "type M::Tree = Variant[M::Small, Array[M::Tree]]\n", "modules/m/types/small.pp": "type M::Small = Integer[1, 3]\n",
			"types/odd.pp":                    "type Other = Integer\n",
			"modules/s/types/init_typeset.pp": "type S = TypeSet[{version => '1.0.0', pcore_version => '1.0.0', types => {Port => Integer[1, 9], Ports => Array[Port], Point => {attributes => {x => Integer}}}}]\n",
		}, nil)
		o.Module = func(name string) (string, bool) {
			dir := filepath.Join(o.EnvironmentDir, "modules", name)
			_, err := os.Stat(dir)
			return dir, err == nil
		}
		c := withLanguage(o).Data
		for _, tt := range []struct{ key, kind, want string }{
			{"l", "M::Tree", ""},
			{"i", "Array[M::Tree]", "Found value has wrong type, expects an Array value, got Integer"},
			{"i", "S::Port", ""},
			{"l", "S::Ports", "Found value has wrong type, index 1 expects a S::Port = Integer[1, 9] value, got Tuple"},
			{"i", "S::Point", "Found value has wrong type, expects a S::Point value, got Integer"},
			{"i", "S::Nope", "Found value has wrong type, references an unresolved type 'S::Nope'"},
			{"i", "M::Small", "Found value has wrong type, expects a M::Small = Integer[1, 3] value, got Integer[5, 5]"},
			{"i", "Environment::Odd", "Found value has wrong type, references an unresolved type 'Environment::Odd'"},
			{"i", "M::Nope", "Found value has wrong type, references an unresolved type 'M::Nope'"},
			{"i", "m.nope", "The expression <m.nope> is not a valid type specification."},
			{"port", "", "The convert_to lookup_option for key 'port' raised error: Creation of new instance of type 'TypeReference['Port']' is not supported"},
			{"bad", "", "Invalid data type in lookup_options for key 'bad' could not parse 'Foo[', error: 'Syntax error at end of input"},
		} {
			_, err := c.Lookup(hiera.Query{Keys: []string{tt.key}, Type: tt.kind})
			if got := fmt.Sprint(err); err == nil && tt.want != "" || err != nil && got != tt.want {
				t.Errorf("%s of %s: got %s, want %s", tt.key, tt.kind, got, tt.want)
			}
		}
	})
	t.Run("HIERA-DATA-03 eyaml_lookup_key within a function", func(t *testing.T) {
		t.Parallel()
		dir, err := filepath.Abs(filepath.Join("testdata", "hiera", "037-eyaml"))
		if err != nil {
			t.Fatal(err)
		}
		o := environment(t, map[string]string{
			"hiera.yaml":                  fmt.Sprintf("{version: 5, hierarchy: [{name: a, lookup_key: environment::ey, path: %[1]s/data/secret.eyaml, options: {pkcs7_private_key: %[1]s/keys/private_key.pkcs7.pem}}]}", dir),
			"functions/environment/ey.pp": "function environment::ey($key, $options, $context) { eyaml_lookup_key($key, $options, $context) }\n",
		}, nil)
		direct := o
		direct.EnvironmentDir, direct.Scope = dir, hiera.Variables{"keys_dir": data.OfString(filepath.Join(dir, "keys"))}
		want, err := hiera.New(direct).Search("password", hiera.Query{})
		if err != nil || !want.Secret {
			t.Fatalf("got %v, %v", want, err)
		}
		c := withLanguage(o).Data
		for range 2 { // the second time it is kept
			got, err := c.Search("password", hiera.Query{})
			if err != nil || !got.Found || !got.Secret || got.Value.Text() != want.Value.Text() {
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
		}
		if got, err := c.Search("plain", hiera.Query{}); err != nil || !got.Found || got.Secret {
			t.Errorf("got %v, %v", got, err)
		}
		if got, err := c.Search("nothing", hiera.Query{}); err != nil || got.Found {
			t.Errorf("got %v, %v", got, err)
		}
	})
	t.Run("HIERA-CFG-04 a function that needs the language", func(t *testing.T) {
		t.Parallel()
		o := environment(t, map[string]string{
			"hiera.yaml": "{version: 5, hierarchy: [{name: a, lookup_key: environment::f}]}", "functions/environment/f.pp": "function environment::f() {}\n",
		}, nil)
		_, err := hiera.New(o).Lookup(hiera.Query{Keys: []string{"k"}})
		if e := (*hiera.Error)(nil); !errors.As(err, &e) || e.Class != hiera.Lacking || !strings.Contains(err.Error(), "environment::f") {
			t.Errorf("got %v", err)
		}
	})
}
