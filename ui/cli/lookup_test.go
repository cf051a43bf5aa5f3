package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/format/psych"
	"indirtui/indirector/golden"
	"indirtui/termini"
	"indirtui/ui/cli"
)

// A lookupCall is a call of puppet lookup, as it was recorded.
type lookupCall struct {
	ID       string            `json:"id"`
	Args     []string          `json:"args"`
	Facts    string            `json:"facts"`
	Settings map[string]string `json:"settings"`
	Exit     int               `json:"exit"`
	Stdout   string            `json:"stdout"`
	Stderr   string            `json:"stderr"`
}

// TestGoldenLookup calls lookup as puppet lookup was called: standard output,
// standard error and exit code are the same. Rules HIERA-CMD-01, HIERA-CMD-02.
func TestGoldenLookup(t *testing.T) {
	t.Parallel()
	lists, err := filepath.Glob(filepath.Join(golden.Path(t, "lookup"), "*", "expected.json"))
	if err != nil || len(lists) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, list := range lists {
		site, err := filepath.Abs(filepath.Dir(list))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		var calls []lookupCall
		if err := json.Unmarshal(b, &calls); err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(site), func(t *testing.T) {
			t.Parallel()
			base := storedFacts(t, site)
			for _, c := range calls {
				t.Run(c.ID, func(t *testing.T) {
					t.Parallel()
					c.check(t, site, base)
				})
			}
		})
	}
}

// storedFacts lays out what the yaml terminus keeps, and returns the directory.
func storedFacts(t *testing.T, site string) string {
	t.Helper()
	tmp := t.TempDir()
	store := filepath.Join(tmp, "var", "yaml", "facts")
	for _, dir := range []string{store, filepath.Join(tmp, "conf")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	files, _ := filepath.Glob(filepath.Join(site, "stored", "*.yaml"))
	for _, f := range files {
		values, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		indented := "  " + strings.ReplaceAll(strings.TrimSpace(string(values)), "\n", "\n  ")
		text := "--- !ruby/object:Puppet::Node::Facts\nname: " + strings.TrimSuffix(filepath.Base(f), ".yaml") + "\nvalues:\n" + indented + "\n"
		if err := os.WriteFile(filepath.Join(store, filepath.Base(f)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return tmp
}

func (c *lookupCall) check(t *testing.T, site, tmp string) {
	t.Helper()
	global := filepath.Join(site, "hiera.yaml")
	if _, err := os.Stat(global); err != nil {
		global = filepath.Join(tmp, "none.yaml")
	}
	args := []string{
		"lookup", "--confdir", filepath.Join(tmp, "conf"), "--vardir", filepath.Join(tmp, "var"), "--set", "codedir=" + site,
		"--set", "environmentpath=" + filepath.Join(site, "environments"), "--set", "certname=server.example.test", "--set", "hiera_config=" + global,
	}
	for k, v := range c.Settings {
		args = append(args, "--set", k+"="+v)
	}
	if c.Facts != "" {
		args = append(args, "--facts", filepath.Join(site, "facts", c.Facts))
	}
	var out, errs strings.Builder
	code := cli.Main(append(args, c.Args...), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, termini.Specs(), termini.All())
	normal := func(s string) string {
		return strings.ReplaceAll(strings.ReplaceAll(s, site, "<SITE>"), tmp, "<TMP>")
	}
	if code != c.Exit {
		t.Errorf("exit code %d, want %d", code, c.Exit)
	}
	if strings.Contains(c.Stdout, ": &1\n") {
		// What occurs twice is written twice here, without anchors.
		c.Stdout = anchored(t, c.Stdout)
	}
	if d := cmp.Diff(c.Stdout, normal(out.String())); d != "" {
		t.Errorf("stdout %s", d)
	}
	if d := cmp.Diff(c.Stderr, normal(errs.String())); d != "" {
		t.Errorf("stderr %s", d)
	}
}

// anchored is YAML with its anchors resolved.
func anchored(t *testing.T, text string) string {
	t.Helper()
	doc, err := psych.Decode([]byte(text), psych.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return string(psych.Encode(doc.Value, ""))
}

// What convert_to makes is printed as real Puppet prints it, but for YAML. Rules
// HIERA-OPT-03, LANG-NEW-03.
func TestLookupOfRichValues(t *testing.T) {
	t.Parallel()
	site := t.TempDir()
	dir := filepath.Join(site, "environments", "production")
	for name, text := range map[string]string{
		"hiera.yaml": "{version: 5, hierarchy: [{name: a, path: a.yaml}]}\n",
		"data/a.yaml": "lookup_options:\n  ts: {convert_to: Timestamp}\n  span: {convert_to: [Timespan, '%H:%M']}\n  re: {convert_to: Regexp}\n  hash: {convert_to: Sensitive}\n  port: {convert_to: M::Port}\n" +
			"ts: '2020-01-02'\nspan: '10:30'\nre: a.b\nhash: {a: 1}\nport: '0x50'\nnumber: 5\n",
		"modules/m/types/port.pp": "type M::Port = Integer[1, 65535]\n",
		"facts.json":              `{"a": 1}`,
		"../../conf/puppet.conf":  "",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		args string
		out  string
		errs string
	}{
		{"ts --render-as json", `"2020-01-02T00:00:00.000000000 UTC"` + "\n", ""},
		{"ts --type Timestamp['2020-01-01']", "---\n__ptype: Timestamp\n__pvalue: 2020-01-02T00:00:00.000000000 UTC\n", ""},
		{"span --render-as s", "0-10:30:00.0\n", ""},
		{"re --render-as json", `"(?-mix:a.b)"` + "\n", ""},
		{"hash --render-as json", `"Sensitive [value redacted]"` + "\n", ""},
		{"hash --type Sensitive[String]", "", "Error: Could not run: Found value has wrong type, expects a Sensitive[String] value, got Sensitive[Hash[String, Integer]]\n"},
		{"port", "--- 80\n", ""},
		{"number --type M::Port", "--- 5\n", ""},
		{"number --type Tuple[Integer]", "", "Error: Could not run: Found value has wrong type, expects a Tuple value, got Integer\n"},
		{"number --type Integer[1,2,3]", "", "Error: Could not run: Invalid number of type parameters specified: Integer requires 1 or 2, 3 provided\n"},
	} {
		var out, errs strings.Builder
		args := append([]string{
			"lookup", "--confdir", filepath.Join(site, "conf"), "--vardir", filepath.Join(site, "var"), "--set", "codedir=" + site,
			"--set", "environmentpath=" + filepath.Dir(dir), "--set", "certname=n", "--facts", filepath.Join(dir, "facts.json"), "--node", "n",
		}, strings.Fields(tt.args)...)
		code := cli.Main(args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, termini.Specs(), termini.All())
		if out.String() != tt.out || errs.String() != tt.errs || (code == 0) != (tt.errs == "") {
			t.Errorf("%s: exit code %d\n got %s%s\nwant %s%s", tt.args, code, out.String(), errs.String(), tt.out, tt.errs)
		}
	}
}

// With --compile keys are looked up in the top scope of the node's catalog, as real Puppet
// does it. Rule HIERA-CMD-02.
func TestLookupCompiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, manifest, terminus, key, out, errs string }{
		{
			"variables of the top scope and of classes", "notice('hello') $a = 'set' class c($p = lookup('list')) { $v = $p[0] warning('inside') } include c", "plain", "text",
			"Notice: Scope(Class[main]): hello\n--- one set\n", "Warning: Scope(Class[C]): inside\n",
		},
		{
			"classes and parameters of the node classifier", "class c { $v = \"${trusted['certname']}\" }", "exec", "text",
			"--- n enc\n", "Warning: CA is not available, the operation will continue without using trusted facts.\n",
		},
		{
			"parameters of classes", "class c($v) { $a = 1 } include c $a = 2", "plain", "text",
			"--- bound 2\n", "",
		},
		{
			"a manifest that fails", "err('a') fail('oops')", "plain", "text",
			"", "Error: Scope(Class[main]): a\nError: Could not run: Evaluation Error: Error while evaluating a Function Call, oops (file: <SITE>/manifests/site.pp, line: 1, column: 10)\n",
		},
		{
			"a manifest that is none", "$a = =", "plain", "text",
			"", "Error: Could not run: Could not parse for environment production: Syntax error at '=' (file: <SITE>/manifests/site.pp, line: 1, column: 6)\n",
		},
		{"no such key", "", "plain", "nothing", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tmp := t.TempDir()
			dir := filepath.Join(tmp, "environments", "production")
			for name, text := range map[string]string{
				"hiera.yaml":             "{version: 5, hierarchy: [{name: a, path: a.yaml}]}\n",
				"data/a.yaml":            "text: '%{c::v} %{a}'\nlist: [one, two]\nc::v: bound\n",
				"manifests/site.pp":      tt.manifest,
				"facts.json":             `{"clientcert": "n", "hostname": "n", "domain": "", "fqdn": "n"}`,
				"../../enc":              "#!/bin/sh\necho 'classes: {c: {}}'\necho 'parameters: {a: enc}'\n",
				"../../conf/puppet.conf": "",
			} {
				path := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			var out, errs strings.Builder
			code := cli.Main([]string{
				"lookup", tt.key, "--compile", "--confdir", filepath.Join(tmp, "conf"), "--vardir", filepath.Join(tmp, "var"), "--set", "codedir=" + tmp,
				"--set", "environmentpath=" + filepath.Dir(dir), "--set", "node_terminus=" + tt.terminus, "--set", "external_nodes=/bin/sh " + filepath.Join(tmp, "enc"),
				"--facts", filepath.Join(dir, "facts.json"), "--node", "n",
			}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, termini.Specs(), termini.All())
			if got := strings.ReplaceAll(errs.String(), dir, "<SITE>"); out.String() != tt.out || got != tt.errs || (code == 0) != (tt.out != "") {
				t.Errorf("exit code %d\n got %s%s\nwant %s%s", code, out.String(), got, tt.out, tt.errs)
			}
		})
	}
}
