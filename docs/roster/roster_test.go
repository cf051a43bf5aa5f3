package roster_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/docs/roster"
	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/terminustest"
	"indirtui/termini"
	"indirtui/ui/cli"
)

// TestConformance is the test that docs/CONTRIBUTING.md shows.
func TestConformance(t *testing.T) {
	path := filepath.Join(t.TempDir(), "roster")
	if err := os.WriteFile(path, []byte("web01 ntp web\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	terminustest.Run(t, roster.Node, terminustest.Options{
		Settings: func(string) map[string]string { return map[string]string{"roster": path} },
		Seed: map[string]indirector.Instance{
			"web01": &model.Node{Name: "web01", Environment: "production", Classes: data.OfStrings([]string{"ntp", "web"})},
		},
	})
}

// TestListed does what the one more line in termini.go does.
func TestListed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "roster")
	if err := os.WriteFile(path, []byte("web01 ntp web\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, err strings.Builder
	code := cli.Main([]string{
		"find", "node", "web01", "--confdir", dir, "--vardir", dir, "--set", "node_terminus=roster", "--set", "roster=" + path, "--trace", "steps",
	}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &err}, termini.Specs(), append(termini.All(), roster.Node))
	if code != 0 || !strings.Contains(out.String(), `"classes": ["ntp", "web"]`) {
		t.Errorf("exit %d, %s", code, out.String())
	}
	for _, want := range []string{"answered  terminus roster", "setting node_terminus", "file read " + path + ": 14 bytes"} {
		if !strings.Contains(err.String(), want) {
			t.Errorf("want %q in\n%s", want, err.String())
		}
	}
}
