package foreign_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/golden"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/foreign"
	"indirtui/indirector/resource/machine"
	"indirtui/indirector/resource/system"
	"indirtui/indirector/resource/transaction"
	"indirtui/indirector/resource/types"
	"indirtui/traces/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A site is where tests work: settings of Puppet, a module with a type of its own.
type site struct {
	dir        string
	modulepath string
	helper     *foreign.Helper
}

// newSite returns one whose helper is real Puppet; it skips the test where that is missing.
func newSite(t *testing.T) *site {
	t.Helper()
	golden.NeedsPuppet(t)
	s := &site{dir: t.TempDir()}
	s.modulepath = filepath.Join(s.dir, "modules")
	for name, text := range map[string]string{
		"type/brick.rb": brickType, "provider/brick/clay.rb": brickProvider,
		"type/tile.rb": "Puppet::Type.newtype(:tile) do\n ensurable\n newparam(:path, namevar: true)\nend\n",
		"provider/tile/fired.rb": "Puppet::Type.type(:tile).provide(:fired) do\n confine exists: '" + s.dir + "/kiln'\n" +
			"def exists?; false; end\n def create; end\nend\n",
		"type/mason.rb": masonType,
	} {
		file := filepath.Join(s.modulepath, "wall/lib/puppet", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.helper = foreign.New(foreign.Options{Ruby: "ruby", Setting: s.setting})
	t.Cleanup(func() { _ = s.helper.Close() }) // it has no errors
	return s
}

// modules adds a module of the machine, or skips the test.
func (s *site) modules(t *testing.T, name string) {
	t.Helper()
	for _, dir := range []string{"/usr/share/puppet/modules", "/opt/puppetlabs/puppet/vendor_modules", "/etc/puppetlabs/code/modules"} {
		if _, err := os.Stat(filepath.Join(dir, name, "lib")); err == nil {
			s.modulepath += string(filepath.ListSeparator) + dir
			return
		}
	}
	t.Skipf("the module %s is not installed", name)
}

func (s *site) setting(name string) string {
	switch name {
	case "confdir", "codedir", "vardir":
		return filepath.Join(s.dir, name)
	case "modulepath":
		return s.modulepath
	}
	return ""
}

// A brick is a file that has a colour.
const brickType = `
Puppet::Type.newtype(:brick) do
  @doc = "A brick."
  ensurable
  feature :painting, "It paints."
  newparam(:path, namevar: true) do
    desc "Where it is."
    validate { |v| raise ArgumentError, "no absolute path: #{v}" unless v.start_with?('/') }
  end
  newproperty(:colour, required_features: :painting) do
    desc "Its colour."
    newvalues(:red, :blue)
    aliasvalue(:rot, :red)
    defaultto :red
  end
  newproperty(:note)
  newparam(:by) { defaultto { "#{resource[:path]} itself" } }
  autorequire(:file) { File.dirname(self[:path]) }
  def refresh; provider.shake; end
end
`

const brickProvider = `
Puppet::Type.type(:brick).provide(:clay) do
  desc "Of clay."
  has_feature :painting
  def self.instances; []; end
  def exists?; File.exist?(resource[:path]); end
  def create; write(colour: resource[:colour].to_s); end
  def destroy; File.delete(resource[:path]); end
  def colour; File.read(resource[:path])[/colour: (.*)/, 1] || :absent; end
  def colour=(v); Puppet.debug("painting"); raise Puppet::Error, "no paint" if resource[:note] == 'dry'; write(colour: v.to_s); end
  def note; File.read(resource[:path])[/note: (.*)/, 1] || :absent; end
  def note=(v); File.write(resource[:path], "note: #{v}\n", mode: 'a'); end
  def flush; Puppet.debug("flushed"); raise "wet" if resource[:note] == 'wet'; end
  def shake; warning("shaken"); end
  def write(h); File.write(resource[:path], h.map { |k, v| "#{k}: #{v}\n" }.join); end
end
`

func declared(typ, title string, values ...any) model.Resource {
	r := model.Resource{Type: typ, Title: title, Kind: "compilable_type", Tags: []string{strings.ToLower(typ)}}
	var all []data.Pair
	for i := 0; i < len(values); i += 2 {
		all = append(all, data.P(values[i].(string), data.OfAny(values[i+1])))
	}
	r.Parameters = data.OfHash(all)
	return r
}

// applied applies resources with the helper, and returns the lines of the log and the statuses.
func (s *site) applied(t *testing.T, noop bool, resources ...model.Resource) (lines []string, report *model.Report) {
	t.Helper()
	c := &model.Catalog{Name: "here", Format: 2, Resources: resources}
	all, problems := s.helper.Types(t.Context(), types.All(), c)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	m := system.New(machine.New(data.OfHash(nil), func(name string) (string, bool) { return "sha256", name == "digest_algorithm" }))
	o := transaction.Options{System: m, Types: all, Foreign: true, Provider: s.helper.Provider, Settings: transaction.Settings{Noop: noop, ClientBucket: s.dir + "/bucket"}}
	result := transaction.Run(t.Context(), c, o)
	for _, l := range result.Report.Logs {
		if text := consoleLine(l); !strings.Contains(text, "Applied catalog in") && !strings.Contains(text, "Using environment") {
			lines = append(lines, strings.ReplaceAll(text, s.dir, "DIR"))
		}
	}
	return lines, result.Report
}

func consoleLine(l model.Log) string {
	text, _ := transaction.ConsoleLine(l)
	return text
}

func compare(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestFileLine: a type of stdlib. Rules RES-EV-02 and RES-EV-07.
func TestFileLine(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.modules(t, "stdlib")
	file := filepath.Join(s.dir, "motd")
	if err := os.WriteFile(file, []byte("a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := declared("File_line", "x", "path", file, "line", "hello")
	text := func() string {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	got, _ := s.applied(t, true, r)
	compare(t, got, "Notice: /File_line[x]/ensure: current_value 'absent', should be 'present' (noop)")
	if text() != "a\n" {
		t.Errorf("noop wrote %q", text())
	}
	got, _ = s.applied(t, false, r)
	compare(t, got, "Notice: /File_line[x]/ensure: created")
	if text() != "a\nhello\n" {
		t.Errorf("got %q", text())
	}
	got, report := s.applied(t, false, r)
	compare(t, got)
	if report.Statuses[0].Changed {
		t.Errorf("got %+v", report.Statuses[0])
	}
}

// TestModule: a type of a module with a provider of its own, its order and its refresh.
func TestModule(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	below := filepath.Join(s.dir, "below")
	path := filepath.Join(below, "b")
	brick := func(values ...any) model.Resource {
		return declared("Brick", path, append([]any{"ensure", "present"}, values...)...)
	}
	// The directory comes first, by the automatic relationship that Ruby knows.
	got, _ := s.applied(t, false, brick(), declared("File", below, "ensure", "directory", "notify", "Brick["+path+"]"))
	compare(t, got,
		"Notice: /File[DIR/below]/ensure: created",
		"Info: /File[DIR/below]: Scheduling refresh of Brick[DIR/below/b]",
		"Notice: /Brick[DIR/below/b]/ensure: created",
		"Warning: Brick[DIR/below/b](provider=clay): shaken",
		"Notice: /Brick[DIR/below/b]: Triggered 'refresh' from 1 event")
	got, report := s.applied(t, false, brick("colour", "blue"))
	compare(t, got, "Notice: /Brick[DIR/below/b]/colour: colour changed 'red' to 'blue'")
	if e := report.Statuses[0].Events[0]; e.Name != "colour_changed" || e.PreviousValue.Text() != "red" || e.DesiredValue.Text() != "blue" {
		t.Errorf("got %+v", e)
	}
	got, _ = s.applied(t, false, brick("colour", "rot", "note", "dry"))
	compare(t, got,
		"Error: no paint",
		"Error: /Brick[DIR/below/b]/colour: change from 'blue' to 'red' failed: no paint",
		"Notice: /Brick[DIR/below/b]/note: defined 'note' as 'dry'")
	got, report = s.applied(t, false, brick("colour", "blue", "note", "wet"))
	compare(t, got,
		"Notice: /Brick[DIR/below/b]/note: note changed 'dry' to 'wet'",
		"Error: /Brick[DIR/below/b]: Could not evaluate: wet")
	if !report.Statuses[0].Failed {
		t.Error("a flush that fails is no failure")
	}
	secret := brick("colour", "red")
	secret.Sensitive = []string{"colour"}
	got, report = s.applied(t, false, secret)
	compare(t, got, "Notice: /Brick[DIR/below/b]/colour: changed [redacted] to [redacted]")
	if e := report.Statuses[0].Events[0]; e.PreviousValue.Text() != "[redacted]" || e.DesiredValue.Text() != "[redacted]" {
		t.Errorf("got %+v", e)
	}
	got, _ = s.applied(t, true, declared("Brick", path, "ensure", "absent", "noop", false))
	compare(t, got, "Notice: /Brick[DIR/below/b]/ensure: removed")
}

// TestRefused: what Ruby refuses is the problem of that resource.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	got, report := s.applied(t, false,
		declared("Brick", "relative", "ensure", "present"), declared("Notify", "n"))
	compare(t, got,
		"Warning: /Brick[relative]: automatic relationships are not known: Parameter path failed on Brick[relative]: no absolute path: relative",
		"Error: /Brick[relative]: Could not evaluate: Parameter path failed on Brick[relative]: no absolute path: relative",
		"Notice: n",
		"Notice: /Notify[n]/message: defined 'message' as 'n'")
	if len(report.Statuses) != 3 /* a filebucket is added */ {
		t.Errorf("got %d statuses", len(report.Statuses))
	}
}

// TestType: what is known of a type.
func TestType(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	brick, err := s.helper.Type(t.Context(), "Brick")
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.helper.Type(t.Context(), "brick")
	if err != nil || again != brick {
		t.Errorf("it is asked for again: %v", err)
	}
	colour := brick.Attribute("colour")
	if colour == nil || colour.Kind != types.Property || colour.Preset.Text() != "red" || colour.Doc != "Its colour." ||
		len(colour.Choices) != 2 || !slices.Equal(colour.Choices[0].Aliases, []string{"rot"}) || !slices.Equal(colour.Features, []string{"painting"}) {
		t.Errorf("got %+v", colour)
	}
	chosen, _ := types.Select(brick, machine.New(data.OfHash(nil), nil))
	if chosen == nil || chosen.Name != "clay" || !brick.Refreshable || !slices.Equal(brick.Namevars, []string{"path"}) {
		t.Errorf("got %+v of %+v", chosen, brick)
	}
	for name, want := range map[string]string{"nothere": "Could not find type nothere", "../x": `"../x" is no name of a resource type`} {
		if _, err := s.helper.Type(t.Context(), name); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
}

// TestAugeas: a type that this program knows, but has no provider of.
func TestAugeas(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.modules(t, "augeas_core")
	if out, err := exec.CommandContext(t.Context(), "ruby", "-raugeas", "-e", "").CombinedOutput(); err != nil {
		t.Skipf("this Ruby has no Augeas: %s", out)
	}
	file := filepath.Join(s.dir, "hosts")
	if err := os.WriteFile(file, []byte("127.0.0.1 localhost\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := declared("Augeas", "h", "incl", file, "lens", "Hosts.lns", "changes", `set *[ipaddr="127.0.0.1"]/canonical x`)
	got, _ := s.applied(t, true, r)
	compare(t, got, "Notice: /Augeas[h]/returns: current_value 'need_to_run', should be 0 (noop)")
	got, _ = s.applied(t, false, r)
	compare(t, got, "Notice: /Augeas[h]/returns: executed successfully")
	if b, err := os.ReadFile(file); err != nil || string(b) != "127.0.0.1 x\n" {
		t.Errorf("got %q, %v", b, err)
	}
	got, _ = s.applied(t, false, r)
	compare(t, got)
}

// TestSuitable: a provider may become suitable in a run. Rule RES-TX-08.
func TestSuitable(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	got, _ := s.applied(t, false, declared("Tile", "t", "ensure", "present"), declared("Notify", "n"))
	compare(t, got,
		"Notice: n", "Notice: /Notify[n]/message: defined 'message' as 'n'",
		"Error: Could not find a suitable provider for tile")
	got, _ = s.applied(t, false, declared("Tile", "t", "ensure", "present", "provider", "fired"))
	compare(t, got, "Error: /Tile[t]: Provider fired is not functional on this host")
	got, report := s.applied(t, false,
		declared("Tile", "t", "ensure", "present"), declared("File", s.dir+"/kiln", "ensure", "file"), declared("Tile", "u", "ensure", "present"))
	compare(t, got,
		"Notice: /File[DIR/kiln]/ensure: created", "Notice: /Tile[u]/ensure: created", "Notice: /Tile[t]/ensure: created")
	for _, r := range report.Statuses {
		if r.Type == "Tile" && r.Provider != "fired" {
			t.Errorf("got %+v", r)
		}
	}
}

// TestPlan: without the helper such a resource cannot be known, with it it is looked at.
// Rule RES-SAFE-01.
func TestPlan(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path := filepath.Join(s.dir, "b")
	c := &model.Catalog{Name: "here", Format: 2, Resources: []model.Resource{
		declared("Brick", path, "ensure", "present"), declared("Notify", "n"),
	}}
	o := transaction.Options{
		System: system.New(machine.New(data.OfHash(nil), nil)), Types: types.All(), Settings: transaction.Settings{ClientBucket: s.dir + "/bucket"},
	}
	plan, err := transaction.MakePlan(t.Context(), c, o, false)
	if err != nil || plan.Resources[0].Outcome != transaction.CannotBeKnown || plan.Totals.Change != 1 {
		t.Errorf("got %+v, %v", plan, err)
	}
	o.Types, _ = s.helper.Types(t.Context(), o.Types, c)
	o.Provider = s.helper.Provider
	plan, err = transaction.MakePlan(t.Context(), c, o, false)
	if err != nil || plan.Resources[0].Outcome != transaction.WouldChange || plan.Totals.Change != 2 {
		t.Errorf("got %+v, %v", plan, err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the plan made it")
	}
}

// TestWithout: an apply without the helper fails such resources alone. Rule RES-TX-08.
func TestWithout(t *testing.T) {
	t.Parallel()
	c := &model.Catalog{Name: "here", Format: 2, Resources: []model.Resource{
		declared("Brick", "/b"), declared("Notify", "n"), declared("Notify", "after", "require", "Brick[/b]"),
	}}
	result := transaction.Run(t.Context(), c, transaction.Options{
		System: system.New(machine.New(data.OfHash(nil), nil)), Types: types.All(), Foreign: true, LogLevel: "notice",
		Settings: transaction.Settings{ClientBucket: t.TempDir()},
	})
	var got []string
	for _, l := range result.Report.Logs {
		text, _ := transaction.ConsoleLine(l)
		got = append(got, text)
	}
	compare(t, got[:len(got)-1],
		"Notice: n", "Notice: /Notify[n]/message: defined 'message' as 'n'",
		"Notice: /Notify[after]: Dependency Brick[/b] has failures: true",
		"Warning: /Notify[after]: Skipping because of failed dependencies",
		"Error: Could not find a suitable provider for brick")
}
