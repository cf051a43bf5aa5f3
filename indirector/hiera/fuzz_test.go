package hiera_test

import (
	"path/filepath"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/hiera"
)

// fuzzed looks a key up in an environment of given files. Whatever they hold, it
// ends, and the record can be rendered.
func fuzzed(t *testing.T, files map[string]string, key string) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	c := hiera.New(hiera.Options{
		EnvironmentDir: dir, GlobalConfig: filepath.Join(dir, "none", "hiera.yaml"), CodeDir: dir,
		Scope: hiera.Variables{"a": data.OfString("b"), "facts": data.OfHash([]data.Pair{data.P("l", data.OfStrings([]string{"x", "y"}))})},
	})
	record := new(hiera.Record)
	_, _ = c.Lookup(hiera.Query{Keys: []string{key}, Record: record})
	_, _ = record.Text(), record.Data()
}

const plainConfig = "{version: 5, hierarchy: [{name: a, path: a.yaml}]}\n"

func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		plainConfig, "version: 4", "version: 3", "{version: 5, hierarchy: [{name: a, glob: '**/*.yaml'}]}",
		"{version: 5, hierarchy: [{name: a, mapped_paths: [facts.l, v, '%{v}.yaml']}]}",
		"{version: 5, defaults: {options: {path: x}}}", "{version: 5, hierarchy: [{name: a, uri: 'http://x'}]}", "[", "--- x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, config string) {
		fuzzed(t, map[string]string{"hiera.yaml": config, "data/a.yaml": "k: 1\n"}, "k")
	})
}

func FuzzInterpolation(f *testing.F) {
	for _, seed := range []string{
		"%{a}", "%{lookup('k')}", "%{alias('j')}", "%{literal('%')}{a}", "%{facts.l.1}", "%{::a}", "%{", "%{scope('a')}", "%{x('y')}", "%{a.'b}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b := data.InspectString(text)
		fuzzed(t, map[string]string{"hiera.yaml": plainConfig, "data/a.yaml": "k: " + b + "\nj: {x: " + b + "}\n"}, "k")
	})
}

func FuzzKey(f *testing.F) {
	for _, seed := range []string{"k", "k.0.'a.b'", `k."x"`, "m::k", "::k", "", "k..", "lookup_options.x", "k.-1", "1.2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, key string) {
		fuzzed(t, map[string]string{"hiera.yaml": plainConfig, "data/a.yaml": "k: [{a.b: {x: 1}}]\n"}, key)
	})
}

func FuzzEyaml(f *testing.F) {
	for _, seed := range []string{"ENC[PKCS7,MIIB]", "ENC[GPG,aGk=]", "x ENC[aGk=] y", "ENC[PKCS7,MIIBeQYJKoZIhvcNAQcDoIIBajCC]", "ENC["} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		key, err := filepath.Abs("testdata/hiera/037-eyaml/keys/private_key.pkcs7.pem")
		if err != nil {
			t.Fatal(err)
		}
		fuzzed(t, map[string]string{
			"hiera.yaml":  "{version: 5, hierarchy: [{name: a, path: a.yaml, lookup_key: eyaml_lookup_key, options: {pkcs7_private_key: " + key + "}}]}\n",
			"data/a.yaml": "k: " + data.InspectString(text) + "\n",
		}, "k")
	})
}
