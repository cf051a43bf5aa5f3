package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"indirtui/ui/uitest"
)

// compiled is what a catalog is compiled from: with data that wins over a default, a
// collector that overrules, and secrets.
var compiled = map[string]string{
	"var/server_data/catalog/n1.json":    `{"name":"n1","version":1,"environment":"app","resources":[{"type":"Class","title":"main","exported":false}],"edges":[],"classes":[]}`,
	"conf/puppet.conf":                   "[main]\nfacts_terminus = yaml\n",
	"var/yaml/facts/n1.yaml":             "--- !ruby/object:Puppet::Node::Facts\nname: n1\nvalues: {clientcert: n1}\n",
	"environments/app/hiera.yaml":        "version: 5\nhierarchy: [{name: common, path: common.yaml}]\n",
	"environments/app/data/common.yaml":  strings.Repeat("# nothing\n", 30) + "app::servers: [a]\napp::password: hunter2\n",
	"environments/app/manifests/site.pp": "include app\nFile { owner => 'root' }\n@@notify { 'exported': }\n",
	"environments/app/modules/app/manifests/init.pp": `class app(Array $servers, String $password, $mode = '0644') {
  file { '/etc/app.conf':
    content => 'servers',
    mode    => $mode,
  }
  File <| title == '/etc/app.conf' |> {
    mode => '0600',
  }
  exec { 'mysql -u root -phunter2 x': path => '/bin' }
}
`,
}

// lay writes what a catalog is compiled from, and has a program compile it.
func lay(t *testing.T, p *program) {
	t.Helper()
	dir := p.site.Dir
	for name, text := range compiled {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.ui.demo, p.confDir, p.varDir, p.environment = false, filepath.Join(dir, "conf"), filepath.Join(dir, "var"), "app"
	p.set = append(p.set, "codedir="+dir, "certname=n1")
	p.asServer()
}

// shows opens the value of the catalog that was compiled, and goes to a line of it.
func (tr *trip) shows(text string) *trip {
	tr.t.Helper()
	tr.key("1", "Requests").key("g", "n1").key("v", "value of find catalog n1")
	return tr.key("/", "text in a key or a value").key(text, text).key("enter", text)
}

// A user finds in three keys where the value of an attribute is from: of a catalog that was
// just compiled, and of one in a recording.
func TestWhyOfACatalog(t *testing.T) {
	t.Parallel()
	travel(t, func(p *program) { lay(t, p) }, func(tr *trip) {
		tr.Command("find catalog n1 terminus=compiler")
		findWhy(tr)

		// What is from elsewhere has none of it, and gives the reason.
		tr.Command("find facts n1 terminus=yaml").Keys("1", "G", "v").Keys("w")
		tr.sees("this is no catalog")
		tr.Command("find catalog n1 terminus=json").Keys("1", "G", "v").Keys("w")
		tr.sees("only a catalog that was compiled here knows where its values are from")
		tr.Command("why #1 Class[App]")
		tr.sees("why Class[App]")

		tr.close()
		s, err := openSession(tr.program.ui.record)
		if err != nil {
			t.Fatal(err)
		}
		tr.show(s, sizes[tr.size][0], sizes[tr.size][1])
		findWhy(tr)
		if err := os.RemoveAll(tr.program.site.Dir); err != nil {
			t.Fatal(err)
		}
	})
}

func findWhy(tr *trip) {
	tr.t.Helper()
	tr.key("1", "Requests").key("g", "n1").key("v", "value of find catalog n1").key("w", "why of which resource", "Class[App]")
	tr.key("enter", "why Class[App]", "ATTRIBUTE", "PLACE").cursor("servers", "data level common", "common.yaml:31")
	tr.key("j", "password").cursor("password", "(masked passw", "common.yaml:32")
	tr.key("j", "mode").cursor("mode", "default of the parameter", "init.pp:1").Not("hunter2")

	// Its file, at the line; and back.
	tr.key("g", "servers").key("enter", "app::servers: [a]", "   30  # nothing", ">  31", "app::password: (masked").Not("hunter2")
	tr.key("esc", "why Class[App]").key("esc", "value of find catalog n1")

	// From a line within a resource there is no menu, and the cursor is on its attribute.
	tr.shows("0600").cursor("mode")
	tr.key("w", "why File[/etc/app.conf]", "within Class[main], Class[App]").cursor("mode", "collector", "init.pp:7")
	tr.key("j", "overruled").cursor("overruled: resource expression", "init.pp:4")
	tr.key("/", "text in this table").key("default", "default").key("enter", "owner").cursor("owner", "resource default", "site.pp:2")
	tr.key("y", "place", "value", "all").key("p", "copied")
	if got := tr.Copied[len(tr.Copied)-1]; !strings.HasSuffix(got, "site.pp:2") {
		tr.t.Errorf("copied %q", got)
	}

	// The title of the command has a password.
	tr.shows("/bin").key("w", "why Exec[mysql -u root -p(masked", "resource expression").Not("hunter2", "unknown")

	// The command can be completed.
	tr.key(":", "| : ").Keys("why fil")
	tr.key("tab", "why File[/etc/app.conf]").Keys("mo")
	tr.key("tab", "why File[/etc/app.conf] mode").key("enter", "why File[/etc/app.conf]").cursor("mode", "collector")

	// By a command, also of what the node does not get.
	tr.Command("why class[app] mode")
	tr.sees("why Class[App]").cursor("mode")
	tr.Command("why Notify[exported]")
	tr.sees("virtual: the", "It has no attributes.")
	tr.Command("why Nope[x]")
	tr.sees("the catalog of n1 has no resource Nope[x]")
	tr.Command("why Class[App] moed")
	tr.sees(`Class[App] has no attribute "moed"; did you mean mode?`)
	tr.Command("why")
	tr.sees("why of which resource?").Keys("esc", "esc")
}

// Two catalogs are compared with the origins of both sides above each difference.
func TestWhyCatalogsDiffer(t *testing.T) {
	t.Parallel()
	travel(t, func(p *program) { lay(t, p) }, func(tr *trip) {
		tr.Command("find catalog n1 terminus=compiler")
		_, last := tr.session.log.Range()
		site := filepath.Join(tr.program.site.Dir, "environments/app")
		for name, change := range map[string][2]string{
			"data/common.yaml":              {"[a]", "[a, b]"},
			"manifests/site.pp":             {"owner => 'root'", "owner => 'root', noop => true"},
			"modules/app/manifests/init.pp": {"    mode => '0600',\n", "    mode => '0640', content => 'all'\n"},
			"environment.conf":              {},
		} {
			text := strings.Replace(compiled["environments/app/"+name], change[0], change[1], 1)
			if err := os.WriteFile(filepath.Join(site, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		tr.Command("find catalog n1 terminus=compiler")
		tr.Command(fmt.Sprintf("diff #1 #%d", last+1))
		above := func(text, a, b string) {
			t.Helper()
			lines := strings.Split(tr.Frame(), "\n")
			at := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, " "+text+" ") })
			if at < 1 {
				t.Fatalf("no line has %s:\n%s", text, tr.Frame())
			}
			left, right, _ := strings.Cut(strings.Trim(lines[at-1], "|"), "|")
			if !strings.HasSuffix(strings.TrimSpace(left), a) || !strings.HasSuffix(strings.TrimSpace(right), b) {
				t.Errorf("above %s: got %q and %q, want %q and %q\n%s", text, left, right, a, b, tr.Frame())
			}
		}
		tr.Keys("g")
		tr.to("content")
		above("content", "init.pp:3", "init.pp:7")
		tr.to("mode")
		above("mode", "init.pp:7", "init.pp:7")
		tr.to("noop")
		above("noop", "", "site.pp:2")
		tr.Keys("u")
		tr.sees(" -> ", "init.pp:7").Keys("u", "=", "g", "]", "[").Exact()
		if err := os.RemoveAll(tr.program.site.Dir); err != nil {
			t.Fatal(err)
		}
	})
}

// What the screen is, without the size of the recording and how long the compile took.
func (tr *trip) place(name string) *trip {
	tr.t.Helper()
	tr.Golden(name+"-"+tr.size, func(frame string) string {
		lines := strings.Split(tr.clean(frame), "\n")
		return strings.Join(slices.Delete(lines, len(lines)-4, len(lines)-2), "\n")
	})
	return tr
}

func TestWhyFrames(t *testing.T) {
	t.Parallel()
	uitest.Sizes(t, func(t *testing.T, size string, width, height int) {
		visit(t, [2]int{width, height}, nil, func(p *program) { lay(t, p) }, func(tr *trip) {
			tr.size = size
			tr.Command("find catalog n1 terminus=compiler").Keys("1", "g", "v", "w", "enter")
			tr.place("why-class").Keys("enter")
			tr.place("why-source").Keys("esc", "esc")
			tr.shows("0600").Keys("w")
			tr.place("why-file")
			if err := os.RemoveAll(tr.program.site.Dir); err != nil {
				t.Fatal(err)
			}
		})
	})
}
