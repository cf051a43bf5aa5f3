package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is wrong with a manifest is printed as Puppet prints it. Some errors end
// Puppet, which is started for these alone. Defines have names of their own, since
// Puppet keeps them from file to file.
func TestParseAsPuppet(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("puppet"); err != nil {
		t.Skip("puppet is not installed, so nothing is compared with it")
	}
	dir := t.TempDir()
	for i, sources := range [][]string{
		{
			"1 +", "$x y", "class a {} class a {}", "define d($notify) {}", "class c($noop = 1, $x) {}", "define a() {} class a {}",
			"class e {} define e() {}", "node x {} node 'X' {}", "node /x.*/ {} node /x.*/ {}", "class n {} node n {}", "node n {} class n {}",
			"node default {} node default {}", "$a = \"\\q ${b}\"", "{ a => 1, a => 2 }", "$A = 1\n$b::c = 2\n$d += 1",
			"class a { function f() {} }", "class { }", "notify { 'a': message +> 1 }", "", "# nothing", "\"unclosed", "define plan() {}",
			"\xEF\xBB\xBF$x = 1", "class b { class a($tag = 2, $alias) {} }",
		},
		{"function f() {} function f() {}"},
		{"define a() {} define a() {}"},
		{"plan a() {}"},
		{"$x = 1e999"},
	} {
		var names []string
		for j, code := range sources {
			name := filepath.Join(dir, fmt.Sprintf("%d-%02d.pp", i, j))
			if err := os.WriteFile(name, []byte(code), 0o600); err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
		code, _, problems := indirtui(append([]string{"parse"}, names...)...)
		args := []string{"parser", "validate", "--color", "false", "--confdir", dir, "--vardir", dir}
		out, err := exec.CommandContext(t.Context(), "puppet", append(args, names...)...).CombinedOutput()
		want := strings.Replace(string(out), "Error: Try 'puppet help parser validate' for usage\n", "", 1) // which explains nothing
		if diff := cmp.Diff(sorted(want), sorted(problems)); diff != "" || (code == 0) != (err == nil) {
			t.Errorf("%q: got exit code %d, want %v (-want +got):\n%s", sources, code, err, diff)
		}
	}
}

// sorted returns lines in an order of their own: Puppet reports errors last.
func sorted(text string) []string {
	return slices.Sorted(strings.SplitSeq(text, "\n"))
}
