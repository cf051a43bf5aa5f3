package terminustest_test

import (
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rule is how comments, messages and names of subtests cite the specification.
var rule = regexp.MustCompile(`(?:^|[^-\w])((?:(?:IND|TERM|FMT)(?:-[A-Z]+)?|REST-CLI)-[0-9]+)\b`)

// TestRulesAreTested compares the rules that code cites, those that tests cite,
// and the list of all rules, which gives the reason for those that have no
// meaning here.
func TestRulesAreTested(t *testing.T) {
	t.Parallel()
	code, tests := citations(t, "../..")
	known := rules(t, "testdata/rules.txt")
	for _, id := range slices.Sorted(maps.Keys(code)) {
		if tests[id] == "" {
			t.Errorf("%s is cited by %s, and by no test", id, code[id])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(known)) {
		switch why, absent := strings.CutPrefix(known[id], "not-here: "); {
		case absent && why == "", !absent && known[id] != "tested":
			t.Errorf("rules.txt: %s is %q; want tested, or not-here: and why", id, known[id])
		case absent && tests[id] != "":
			t.Errorf("rules.txt: %s is not here, but %s tests it", id, tests[id])
		case !absent && tests[id] == "":
			t.Errorf("%s is cited by no test", id)
		}
	}
	for _, cited := range []map[string]string{code, tests} {
		for id, file := range cited {
			if _, ok := known[id]; !ok {
				t.Errorf("%s cites %s, which is no rule", file, id)
			}
		}
	}
}

// citations returns the rules that Go files below root cite, each with one of
// those files: of code, and of tests.
func citations(t *testing.T, root string) (code, tests map[string]string) {
	t.Helper()
	code, tests = map[string]string{}, map[string]string{}
	tree := os.DirFS(root)
	err := fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || len(path) > 1 && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		b, err := fs.ReadFile(tree, path)
		into := code
		if strings.HasSuffix(path, "_test.go") {
			into = tests
		}
		// HIERA-IND-01 is a rule of another list.
		for _, m := range rule.FindAllStringSubmatch(string(b), -1) {
			into[m[1]] = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(code) == 0 || len(tests) == 0 {
		t.Fatalf("%s: no rules are cited; is it the top of the sources?", root)
	}
	return code, tests
}

// rules reads the list of all rules: on each line a rule and its status.
func rules(t *testing.T, name string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		id, status, _ := strings.Cut(line, " ")
		if _, twice := all[id]; twice || rule.FindString(id) != id {
			t.Errorf("%s: %q is no rule, or is there twice", name, id)
		}
		all[id] = status
	}
	return all
}
