package flatfile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
)

var node = &model.Node{Name: "n1", Environment: "production"}

// names returns the keys of what a search found.
func names(found []indirector.Instance, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	keys := make([]string, len(found))
	for i, inst := range found {
		keys[i] = inst.Key()
	}
	return strings.Join(keys, " ")
}

// TestSearch asks for names and patterns. Rule TERM-FILE-12.
func TestSearch(t *testing.T) {
	t.Parallel()
	for terminus, want := range map[string]map[string]string{
		"yaml":    {"*": "n1 n2 x", "n1": "", "n1.yaml": "n1", "n?.yaml": "n1 n2", "{x,n1}.yaml": "x n1", "nobody": ""},
		"json":    {"*": "n1 n2 x", "n1": "n1", "n1.json": "", "n?": "n1 n2", "[!n]*": "x", "nobody": ""},
		"msgpack": {"*": "n1 n2 x", "n1": "n1", "nobody": ""},
	} {
		m := newTerminus(t, "node", terminus, everywhere(t.TempDir()))
		for _, key := range []string{"n1", "n2", "x"} {
			if _, err := m.save(t.Context(), key, &model.Node{Name: key, Environment: "production"}); err != nil {
				t.Fatal(err)
			}
		}
		for key, want := range want {
			if got := names(m.search(t.Context(), key)); got != want {
				t.Errorf("%s %q: got %q, want %q", terminus, key, got, want)
			}
		}
	}
}

// TestSearchFails finds one bad file among good ones: the whole search fails,
// in yaml with the words of the loader alone. Rules TERM-FILE-12, TERM-FQ-05.
func TestSearchFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "node", "bad.yaml"), []byte("--- !ruby/object:Puppet::Node::Facts {}\n"))
	write(t, filepath.Join(dir, "node", "bad.json"), []byte("null"))
	write(t, filepath.Join(dir, "facts", "bad.yaml"), []byte("name: n1\n"))
	write(t, filepath.Join(dir, "facts", "empty.yaml"), nil)
	for _, tt := range []struct{ indirection, terminus, key, want string }{
		{"node", "yaml", "*.yaml", "error: (" + dir + "/node/bad.yaml): Tried to load unspecified class: Puppet::Node::Facts"},
		{"node", "json", "*", "error: Could not parse JSON data for node *: Could not intern from json: "},
		{"node", "yaml", "", "error: Is a directory @ io_fread - " + dir + "/node/"},
		{"node", "yaml", "a/b", "error: invalid key"},
		{"facts", "yaml", "x", "error: undefined method `name' for {\"name\"=>\"n1\"}"},
	} {
		got := names(newTerminus(t, tt.indirection, tt.terminus, everywhere(dir)).search(t.Context(), tt.key))
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s/%s %q:\ngot  %s\nwant %s", tt.indirection, tt.terminus, tt.key, got, tt.want)
		}
	}
}

// TestResults is what save and destroy answer. Rules TERM-FILE-10,
// TERM-FILE-11.
func TestResults(t *testing.T) {
	t.Parallel()
	for terminus, want := range map[string]string{"yaml": "0 1 <nil>", "json": "0 1 1", "msgpack": "0 1 1"} {
		m := newTerminus(t, "node", terminus, everywhere(t.TempDir()))
		saved, err1 := m.save(t.Context(), "n1", node)
		first, err2 := m.destroy(t.Context(), "n1")
		again, err3 := m.destroy(t.Context(), "n1")
		if got := fmt.Sprint(saved, first, again); got != want || errors.Join(err1, err2, err3) != nil {
			t.Errorf("%s: got %s, want %s; errors %v, %v, %v", terminus, got, want, err1, err2, err3)
		}
	}
}

// TestFoundAgain finds what is remembered as long as the file has the same bytes, and
// no longer.
func TestFoundAgain(t *testing.T) {
	t.Parallel()
	for _, terminus := range []string{"json", "msgpack"} {
		dir := t.TempDir()
		m := newTerminus(t, "node", terminus, everywhere(dir))
		found := func() string {
			inst, err := m.find(t.Context(), "n1")
			if err != nil {
				return "failed"
			}
			return inst.(*model.Node).Environment
		}
		saved := func(environment string) {
			if _, err := m.save(t.Context(), "n1", &model.Node{Name: "n1", Environment: environment}); err != nil {
				t.Fatal(err)
			}
		}
		saved("a")
		got := found() + found()
		saved("b")
		got += found()
		saved("a")
		got += found()
		write(t, filepath.Join(dir, "node", "n1."+terminus), []byte("\xc1"))
		if got += found() + found(); got != "aabafailedfailed" {
			t.Errorf("%s: got %s", terminus, got)
		}
	}
}

// TestNoInstance saves what is none. Rule IND-VAL-03.
func TestNoInstance(t *testing.T) {
	t.Parallel()
	const name = "ArgumentError: You can only save objects that respond to :name"
	for _, tt := range []struct {
		terminus string
		inst     indirector.Instance
		want     string
	}{
		{"yaml", nil, name},
		{"yaml", indirector.False, name},
		{"yaml", &model.Raw{Value: data.OfHash(nil)}, name},
		{"json", nil, "NoMethodError: undefined method `render' for nil:NilClass"},
		{"json", indirector.False, "NoMethodError: undefined method `render' for false:FalseClass"},
		{"msgpack", &model.Raw{Value: data.OfString("x")}, "NoMethodError: undefined method `render' for \"x\""},
	} {
		_, err := newTerminus(t, "node", tt.terminus, everywhere(t.TempDir())).save(t.Context(), "n1", tt.inst)
		f := (*indirector.Failure)(nil)
		if !errors.As(err, &f) || f.Class+": "+f.Message != tt.want {
			t.Errorf("%s %v: got %v, want %s", tt.terminus, tt.inst, err, tt.want)
		}
	}
}

// TestDestroyFails removes what is no file. The json family wraps every error,
// the yaml family none. Rule TERM-FILE-11.
func TestDestroyFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for terminus, want := range map[string][2]string{
		"yaml": {"Is a directory @ apply2files - " + dir + "/node/d.yaml", "invalid key"},
		"json": {"Could not destroy json d: Is a directory @ apply2files - " + dir + "/node/d.json", "Could not destroy json ../x: invalid key"},
	} {
		if err := os.MkdirAll(filepath.Join(dir, "node", "d."+terminus), 0o777); err != nil {
			t.Fatal(err)
		}
		m := newTerminus(t, "node", terminus, everywhere(dir))
		for i, key := range []string{"d", "../x"} {
			if _, err := m.destroy(t.Context(), key); err == nil || err.Error() != want[i] {
				t.Errorf("%s %q: got %v, want %s", terminus, key, err, want[i])
			}
		}
	}
}

// TestPSON keeps a catalog with bytes that are no UTF-8, and finds it again.
func TestPSON(t *testing.T) {
	t.Parallel()
	class, _ := model.Lookup("catalog")
	catalog, err := class.FromData(data.OfHash([]data.Pair{data.P("name", data.OfString("n1")), data.P("version", data.OfString("a\xffb")), data.P("environment", data.OfString("production"))}))
	if err != nil {
		t.Fatal(err)
	}
	m := newTerminus(t, "catalog", "json", everywhere(t.TempDir()))
	if _, err := m.save(t.Context(), "n1", catalog); err != nil {
		t.Fatal(err)
	}
	inst, err := m.find(t.Context(), "n1")
	if err != nil {
		t.Fatal(err)
	}
	if got := inst.(*model.Catalog).Version.Str(); got != "a\xffb" {
		t.Errorf("version: got %q", got)
	}
	logs := m.logs.String()
	for _, want := range []string{"info Unable to serialize catalog to json, retrying with pson", "info Unable to deserialize catalog from json, retrying with pson"} {
		if !strings.Contains(logs, want) {
			t.Errorf("logs: got %s, want %s", logs, want)
		}
	}
}

// TestRunMode keeps files in the directory of the run mode.
func TestRunMode(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{"server": "s", "master": "s", "agent": "c", "user": "c", "": "c"} {
		dir := t.TempDir()
		for terminus, names := range map[string][2]string{"yaml": {"yamldir", "clientyamldir"}, "json": {"server_datadir", "client_datadir"}} {
			s := settings{"run_mode": mode, names[0]: dir + "/s", names[1]: dir + "/c"}
			if err := os.MkdirAll(dir+"/"+want, 0o777); err != nil {
				t.Fatal(err)
			}
			if _, err := newTerminus(t, "node", terminus, s).save(t.Context(), "n1", node); err != nil {
				t.Errorf("%s %s: %v", mode, terminus, err)
			}
			if _, err := os.Stat(filepath.Join(dir, want, "node", "n1."+terminus)); err != nil {
				t.Errorf("%s %s: %v", mode, terminus, err)
			}
		}
	}
}

// TestReports has one file for every key and format. Its mode is that of the
// setting, but for msgpack.
func TestReports(t *testing.T) {
	t.Parallel()
	for terminus, mode := range map[string]string{"yaml": "-rw-r-----", "json": "-rw-r-----", "msgpack": "-rw-rw----"} {
		dir := t.TempDir()
		m := newTerminus(t, "report", terminus, everywhere(dir))
		if found := names(m.search(t.Context(), "x")); found != "" {
			t.Errorf("%s: search on nothing finds %q", terminus, found)
		}
		if _, err := m.save(t.Context(), "web01", sized("report", 1)); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(dir, "state", "last_run_report.yaml"))
		if err != nil || info.Mode().String() != mode {
			t.Errorf("%s: mode %v, %v; want %s", terminus, info.Mode(), err, mode)
		}
		if inst, err := m.find(t.Context(), "../whatever"); err != nil || inst.Key() != "web01" {
			t.Errorf("%s: find by any key: %v, %v", terminus, inst, err)
		}
		if found := names(m.search(t.Context(), "x")); found != "web01" {
			t.Errorf("%s: search finds %q", terminus, found)
		}
	}
}
