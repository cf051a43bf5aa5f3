package site_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/language/site"
	"indirtui/indirector/resource/types"
)

// TestResolve has what puppet apply 7.23 logs of these messages. Rules RES-CONV-03 and
// RES-TYPE-11.
func TestResolve(t *testing.T) {
	t.Parallel()
	facts, err := format.DecodeJSON([]byte(`{"os": {"family": "Debian"}}`), format.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{"environment": "production", "environmentpath": filepath.Join(t.TempDir(), "none")}
	s := site.ForAgent(func(name string) string { return settings[name] }, "production", facts, "")
	defer s.Close()
	for _, c := range []struct{ name, given, text, shown, failure string }{
		{name: "function", given: `{"__ptype": "Deferred", "name": "upcase", "arguments": ["text"]}`, text: "TEXT", shown: "'TEXT'"},
		{name: "no arguments", given: `{"__ptype": "Deferred", "name": "sprintf", "arguments": ["%s-%d", "x", 3]}`, text: "x-3", shown: "'x-3'"},
		{name: "variable", given: `{"__ptype": "Deferred", "name": "$facts", "arguments": ["os", "family"]}`, text: "Debian", shown: "'Debian'"},
		{name: "variable that is not there", given: `{"__ptype": "Deferred", "name": "$novar", "arguments": ["a"]}`},
		{
			name: "within another", text: "AB", shown: "'AB'",
			given: `{"__ptype": "Deferred", "name": "upcase", "arguments": [{"__ptype": "Deferred", "name": "join", "arguments": [["a", "b"]]}]}`,
		},
		{name: "in a list", given: `[{"__ptype": "Deferred", "name": "upcase", "arguments": ["a"]}, "b"]`, text: `["A", "b"]`, shown: "['A', 'b']"},
		{name: "time", given: `{"__ptype": "Timestamp", "__pvalue": "2020-01-01T00:00:00.000000000 UTC"}`, text: "2020-01-01T00:00:00.000000000 UTC", shown: "2020-01-01T00:00:00.000000000 UTC"},
		{name: "version", given: `{"__ptype": "SemVer", "__pvalue": "1.2.3"}`, text: "1.2.3", shown: "1.2.3"},
		{name: "pattern", given: `{"__ptype": "Regexp", "__pvalue": "a.b"}`, text: "(?-mix:a.b)", shown: "a.b"},
		{name: "default", given: `{"__ptype": "Default"}`, text: "default", shown: "default"},
		{name: "binary", given: `{"__ptype": "Binary", "__pvalue": "aGVsbG8="}`, text: "hello", shown: "'hello'"},
		{name: "unknown", given: `{"__ptype": "Deferred", "name": "nosuchfunction", "arguments": []}`, failure: "Unknown function 'nosuchfunction'"},
		{name: "that fails", given: `{"__ptype": "Deferred", "name": "fail", "arguments": ["boo"]}`, failure: "boo"},
		{name: "that would run a command", given: `{"__ptype": "Deferred", "name": "generate", "arguments": ["/bin/true"]}`, failure: "Failed to execute generator /bin/true: programs may not run commands here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := format.DecodeJSON([]byte(c.given), format.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Resolve(t.Context(), v)
			if c.failure != "" {
				if err == nil || err.Error() != c.failure {
					t.Errorf("got %v, want the error %q", err, c.failure)
				}
				return
			}
			if err != nil || got.Text() != c.text || types.Display(got) != c.shown {
				t.Errorf("got %q, shown as %s, error %v; want %q, %s", got.Text(), types.Display(got), err, c.text, c.shown)
			}
		})
	}
}

// TestResolveSecret: what is computed stays a secret, at any depth. Rule RES-TYPE-09.
func TestResolveSecret(t *testing.T) {
	t.Parallel()
	s := site.ForAgent(func(string) string { return "" }, "production", data.OfHash(nil), "")
	defer s.Close()
	v, err := format.DecodeJSON([]byte(`{"__ptype": "Sensitive", "__pvalue": {"__ptype": "Deferred", "name": "upcase", "arguments": ["a"]}}`), format.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Resolve(t.Context(), v)
	inner, isSecret := types.Unwrap(got)
	if err != nil || !isSecret || inner.Text() != "A" {
		t.Errorf("got %s, %v", got.Inspect(), err)
	}
	v, err = format.DecodeJSON([]byte(`["a", {"b": {"__ptype": "Sensitive", "__pvalue": "hunter2"}}]`), format.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err = s.Resolve(t.Context(), v); err != nil || got.Inspect() != `["a", {"b"=>#<Sensitive [value redacted]>}]` || strings.Contains(types.Display(got), "hunter2") {
		t.Errorf("got %s, displayed as %s, %v", got.Inspect(), types.Display(got), err)
	}
	if again := got.List()[1].Get("b").Rich().(interface{ RichData() data.Value }).RichData(); !data.Equal(again, v.List()[1].Get("b")) {
		t.Errorf("for Ruby it is %s", again)
	}
}

// TestResolvePlugins: functions in Ruby that an agent has synced are run where there is an
// interpreter, as Puppet's agent runs them, whatever environment there is. Else they are named
// as what is not supported. Rule RES-CONV-03.
func TestResolvePlugins(t *testing.T) {
	t.Parallel()
	lib := t.TempDir()
	for name, text := range map[string]string{
		"puppet/functions/shout.rb":        "Puppet::Functions.create_function(:shout) do\n  def shout(x)\n    x.upcase + '!'\n  end\nend\n",
		"puppet/functions/my/fails.rb":     "Puppet::Functions.create_function(:'my::fails') do\n  def fails(x)\n    raise Puppet::Error, 'it fails'\n  end\nend\n",
		"puppet/parser/functions/older.rb": "Puppet::Parser::Functions.newfunction(:older, type: :rvalue) { |args| args[0].reverse }\n",
	} {
		file := filepath.Join(lib, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ruby, _ := exec.LookPath("ruby")
	for _, tt := range []struct{ function, text, failure string }{
		{"shout", "HELLO!", ""}, {"older", "olleh", ""}, {"my::fails", "", "it fails"}, {"nosuch", "", "Unknown function 'nosuch'"}, {"upcase", "HELLO", ""},
	} {
		for _, ruby := range []string{ruby, ""} {
			t.Run(fmt.Sprintf("%s by %q", tt.function, ruby), func(t *testing.T) {
				t.Parallel()
				s := site.ForAgent(func(name string) string { return map[string]string{"libdir": lib}[name] }, "production", data.OfHash(nil), ruby)
				defer s.Close()
				got, err := s.Resolve(t.Context(), data.OfHash([]data.Pair{
					data.P("__ptype", data.OfString("Deferred")), data.P("name", data.OfString(tt.function)), data.P("arguments", data.OfStrings([]string{"hello"})),
				}))
				if ruby == "" && tt.failure != "Unknown function 'nosuch'" && tt.function != "upcase" {
					if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "Function '"+tt.function+"' of the plugins is written in Ruby ("+lib) {
						t.Errorf("got %v, %v", got.Inspect(), err)
					}
					return
				}
				if tt.failure != "" && (err == nil || err.Error() != tt.failure) || tt.failure == "" && (err != nil || got.Text() != tt.text) {
					t.Errorf("got %s, %v; want %s%s", got.Inspect(), err, tt.text, tt.failure)
				}
			})
		}
	}
}
