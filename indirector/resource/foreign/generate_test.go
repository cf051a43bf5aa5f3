package foreign_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/format"
	"indirtui/indirector/host/child"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/transaction"
	"indirtui/indirector/resource/types"
)

// A mason makes a file and a brick at the start, changes the file when it is its turn, looks
// at other resources of the catalog, and can refuse the run.
const masonType = `
Puppet::Type.newtype(:mason) do
  newparam(:name, namevar: true)
  newparam(:dir)
  newparam(:refuses)
  newparam(:breaks)
  newproperty(:seen) do
    def retrieve; :absent; end
    def insync?(_); resource[:seen].to_s == 'none'; end
    def set(v); Puppet.notice("sees #{v}"); end
  end
  autorequire(:notify) { catalog.resources.select { |r| r.is_a?(Puppet::Type.type(:notify)) && r[:tag].to_s.include?('first') }.map(&:title) }
  def pre_run_check; raise Puppet::Error, "#{self[:refuses]} is refused" if self[:refuses]; end
  def generate
    raise Puppet::Error, 'no stones' if self[:breaks] == 'generate'
    passed = self[:noop].nil? ? {} : { noop: self[:noop] }
    [Puppet::Type.type(:file).new({ path: "#{self[:dir]}/made", ensure: :file, mode: '0640' }.merge(passed)),
     Puppet::Type.type(:brick).new(path: "#{self[:dir]}/brick", ensure: :present, colour: :blue)]
  end
  def eval_generate
    raise Puppet::Error, 'no mortar' if self[:breaks] == 'eval_generate'
    file = catalog.resource(:file, "#{self[:dir]}/made")
    file[:content] = catalog.resources.select { |r| r.is_a?(Puppet::Type.type(:notify)) }.map { |r| "#{r.title}: #{r[:message]}\n" }.sort.join
    [file, Puppet::Type.type(:file).new(path: "#{self[:dir]}/late", content: 'late')]
  end
end
`

// byPuppet applies each catalog twice with real Puppet, and returns the lines of its log.
func (s *site) byPuppet(t *testing.T, cases []makes) (logs [][]string) {
	t.Helper()
	f, _ := format.ByName("rich_data_json")
	var in bytes.Buffer
	for _, tt := range cases {
		text, err := format.Render(f, &model.Catalog{Name: "here", Format: 2, Environment: "production", Resources: tt.resources})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			fmt.Fprintf(&in, "{\"catalog\":%s,\"noop\":%t}\n", bytes.ReplaceAll(text, []byte("\n"), nil), tt.noop)
		}
	}
	cmd := exec.CommandContext(t.Context(), "ruby", "testdata/apply.rb", s.dir+"/confdir", s.dir+"/vardir", s.modulepath)
	cmd.Stdin, cmd.Env = &in, append(os.Environ(), "HOME="+s.dir)
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, problems.String())
	}
	d := json.NewDecoder(bytes.NewReader(out))
	for range cases {
		var log []string
		for range 2 {
			var lines [][3]string
			if err := d.Decode(&lines); err != nil {
				t.Fatal(err)
			}
			for _, l := range lines {
				if strings.HasPrefix(l[2], "Creating state file") {
					continue
				}
				log = append(log, strings.ReplaceAll(consoleLine(model.Log{Level: l[0], Source: l[1], Message: l[2]}), s.dir, "DIR"))
			}
		}
		logs = append(logs, log)
	}
	return logs
}

// tree is what files below a directory have.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		i, _ := d.Info()
		all[strings.TrimPrefix(path, dir)] = i.Mode().String() + " " + string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// makes is a catalog with resources that make others.
type makes struct {
	name      string
	noop      bool
	resources []model.Resource
}

func makesIn(dir string) []makes {
	mason := func(values ...any) model.Resource {
		return declared("Mason", "m", append([]any{"dir", dir}, values...)...)
	}
	return []makes{
		{"mason in noop", true, []model.Resource{mason("seen", "x"), declared("Notify", "b", "message", "two")}},
		{"mason", false, []model.Resource{
			mason("seen", "x"), declared("Notify", "b", "message", "two", "tag", "first"),
			declared("Notify", "a", "message", "one", "require", "Mason[m]"),
		}},
		{"noop by metaparameter", false, []model.Resource{mason("noop", true), declared("Notify", "b")}},
		{"refuses", false, []model.Resource{mason("refuses", "rain"), declared("Notify", "b")}},
		{"generate fails", false, []model.Resource{mason("breaks", "generate"), declared("Notify", "b")}},
		{"eval_generate fails", false, []model.Resource{mason("breaks", "eval_generate"), declared("Notify", "b")}},
	}
}

func concatsIn(dir string) []makes {
	return []makes{
		{"concat", false, []model.Resource{
			declared("Concat_file", "f", "path", dir+"/f", "tag", "f", "mode", "0644", "ensure_newline", true),
			declared("Concat_fragment", "two", "target", "f", "order", "20", "content", "two"),
			declared("Concat_fragment", "one", "tag", "f", "target", dir+"/other", "order", "10", "content", "one"),
			declared("Exec", "/bin/true", "refreshonly", true, "subscribe", "Concat_file[f]"),
			declared("Notify", "n", "before", "Concat_file[f]"),
		}},
		{"concat absent", false, []model.Resource{declared("Concat_file", "f", "path", dir+"/old", "ensure", "absent", "tag", "f")}},
	}
}

// gems are resources of types that this program has, whose providers are Ruby's: a gem by a
// command, a service whose provider is none here.
func gemsIn(dir string) []makes {
	gem := func(ensure string) model.Resource {
		return declared("Package", "shiny", "provider", "gem", "command", dir+"/gem", "ensure", ensure)
	}
	return []makes{
		{"noop", true, []model.Resource{gem("installed")}},
		{"installed", false, []model.Resource{gem("installed"), declared("Notify", "n", "subscribe", "Package[shiny]")}},
		{"a version", false, []model.Resource{gem("2.0")}},
		{"absent", false, []model.Resource{gem("absent")}},
		{"not here", false, []model.Resource{declared("Service", "s", "provider", "upstart", "ensure", "running"), declared("Notify", "n")}},
	}
}

// gemCommand is a gem that keeps what is installed in a file beside it.
const gemCommand = `#!/bin/sh
kept=${0%/*}/installed
case "$*" in
  *--version*) echo 3.3.15 ;;
  list*) cat "$kept" 2>/dev/null; exit 0 ;;
  install*-v*2.0*) echo 'shiny (2.0)' >"$kept"; echo 'Successfully installed shiny-2.0' ;;
  install*) echo 'shiny (1.0)' >"$kept"; echo 'Successfully installed shiny-1.0' ;;
  uninstall*) rm -f "$kept"; echo 'Successfully uninstalled shiny' ;;
esac
`

// TestForeignProviders: a provider that this program does not have is Ruby's, though the
// type is ours.
func TestForeignProviders(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	same(t, s, func(dir string) []makes {
		if err := child.WriteFile(dir+"/gem", []byte(gemCommand), 0o755); err != nil {
			t.Fatal(err)
		}
		return gemsIn(dir)
	})
	c := &model.Catalog{Name: "here", Resources: []model.Resource{declared("Package", "a", "provider", "apt"), declared("Package", "b", "provider", "gem")}}
	converted, err := transaction.Convert(c, transaction.Conversion{Types: types.All(), Host: transaction.Offline{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range converted.Resources("package") {
		if native := s.helper.Provider(r) == nil; native != (r.Name() == "a") {
			t.Errorf("%s: native %t", r.Ref(), native)
		}
	}
}

// TestMakes: types that make resources, look at the catalog and refuse a run do so as in
// real Puppet: lines and files are the same, the first time and the second.
func TestMakes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	same(t, s, makesIn)
}

func TestConcat(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.modules(t, "concat")
	same(t, s, concatsIn)
}

// same compares what comes of catalogs here with what comes of them in real Puppet.
func same(t *testing.T, s *site, in func(dir string) []makes) {
	t.Helper()
	dir := s.dir + "/wall"
	build := func() []makes {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir+"/old", []byte("old\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return in(dir)
	}
	logs := s.byPuppet(t, build())
	files := tree(t, dir)
	for i, tt := range build() {
		var got []string
		for range 2 {
			lines, _ := s.applied(t, tt.noop, tt.resources...)
			got = append(got, lines...)
		}
		if d := cmp.Diff(logs[i], got); d != "" {
			t.Errorf("%s: Puppet -, this program +\n%s", tt.name, d)
		}
		if len(got) == 0 {
			t.Errorf("%s: nothing was logged", tt.name)
		}
	}
	if d := cmp.Diff(files, tree(t, dir)); d != "" {
		t.Errorf("files: Puppet -, this program +\n%s", d)
	}
}
