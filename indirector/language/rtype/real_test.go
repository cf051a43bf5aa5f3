package rtype_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/language/rtype"
)

// askPuppet returns what the Puppet that is installed answers to testdata/types.rb.
func askPuppet(t *testing.T, args ...string) []byte {
	t.Helper()
	for _, program := range []string{"ruby", "puppet"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed, so nothing is compared with real Puppet", program)
		}
	}
	out, err := exec.CommandContext(t.Context(), "ruby", append([]string{"testdata/types.rb"}, args...)...).Output()
	if bad := (*exec.ExitError)(nil); errors.As(err, &bad) {
		t.Fatalf("%v: %s", err, bad.Stderr)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// real returns the types of modules as real Puppet has them.
func real(t *testing.T, modulepath string, names []string) map[string]described {
	t.Helper()
	var all struct{ Types map[string]described }
	if err := json.Unmarshal(askPuppet(t, append([]string{modulepath}, names...)...), &all); err != nil {
		t.Fatal(err)
	}
	return all.Types
}

// The types that are built in are those that testdata/types.rb finds in the Puppet that
// is installed.
func TestBuiltInAgain(t *testing.T) {
	t.Parallel()
	var want struct {
		Metaparameters []string
		Types          map[string]described
	}
	if err := json.Unmarshal(askPuppet(t), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Metaparameters, rtype.Metaparameters()); diff != "" {
		t.Errorf("metaparameters (-installed +ours):\n%s", diff)
	}
	got := map[string]described{}
	for name, typ := range rtype.BuiltIn() {
		got[name] = describe(typ)
	}
	if diff := cmp.Diff(want.Types, got); diff != "" {
		t.Errorf("types (-installed +ours):\n%s", diff)
	}
}

// The forms are read as real Puppet reads them.
func TestRealForms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var names []string
	ours := map[string]*rtype.Type{}
	for i, tt := range forms() {
		if tt.refused {
			continue
		}
		name := fmt.Sprintf("form%d", i)
		text := strings.NewReplacer("newtype(:x)", "newtype(:"+name+")", "newtype('x')", "newtype('"+name+"')", "name: 'x'", "name: '"+name+"'", ":name => 'x'", ":name => '"+name+"'").Replace(tt.ruby)
		path := filepath.Join(dir, "m/lib/puppet/type", name+".rb")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
		ours[name] = rtype.Ruby(name, tt.name, text)
	}
	for name, want := range real(t, dir, names) {
		if diff := cmp.Diff(want, describe(ours[name])); diff != "" {
			t.Errorf("%s (-Puppet +ours):\n%s", ours[name].File, diff)
		}
	}
}

// providers returns the files of providers that modules have for a type.
func providers(t *testing.T, modules, name string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(modules, "lib/puppet/provider", name, "*.rb"))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	return texts
}

// The types of the modules that are installed are read as real Puppet reads them.
// What is not understood was noted.
func TestRealModules(t *testing.T) {
	t.Parallel()
	const path = "/usr/share/puppet/modules"
	files, err := filepath.Glob(filepath.Join(path, "*/lib/puppet/type/*.rb"))
	if err != nil || len(files) == 0 {
		t.Skipf("there are no types in modules below %s, %v", path, err)
	}
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".rb"))
	}
	all := real(t, path, names)
	same := 0
	for i, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got := rtype.Ruby(names[i], file, string(b))
		if slices.ContainsFunc(providers(t, filepath.Join(path, "*"), names[i]), rtype.Provides) {
			got = got.WithProvider()
		}
		want := all[names[i]]
		switch diff := cmp.Diff(want, describe(got)); {
		case diff == "":
			same++
		case want.Error != "":
			t.Logf("%s: Puppet cannot load it: %s", file, want.Error)
		case len(got.Notes) == 0 || !got.Open && !slices.Equal(want.Parameters, describe(got).Parameters):
			t.Errorf("%s (-Puppet +ours):\n%s", file, diff)
		default:
			t.Logf("%s: %s", file, text(got))
		}
	}
	t.Logf("%d of %d types are the same as in real Puppet", same, len(files))
}
