package loader_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector/language/loader"
	"indirtui/indirector/language/rtype"
)

// site makes an environment of these files, and opens it.
func site(t *testing.T, files map[string]string) (dir string, env *loader.Environment) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if target, isLink := strings.CutPrefix(text, "-> "); isLink {
			if err := os.Symlink(target, path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, open(t, dir, "warning")
}

func open(t *testing.T, dir, strict string) *loader.Environment {
	t.Helper()
	env, err := loader.Open(loader.Options{
		Dir: dir, Modulepath: filepath.Join(dir, "modules") + ":" + filepath.Join(dir, "more"),
		Manifest: filepath.Join(dir, "manifests"), Strict: strict,
	})
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// short is where a type is from, and its attributes.
func short(t *rtype.Type, dir string) string {
	if t == nil {
		return "none"
	}
	var names []string
	for _, a := range t.Attributes {
		names = append(names, a.Name)
	}
	where := "built in"
	if t.File != "" {
		where = strings.TrimPrefix(t.File, dir+"/")
	}
	return where + ": " + strings.Join(names, " ")
}

const (
	rubyType  = "Puppet::Type.newtype(:%) do\n newparam(:name)\n newparam(:ours)\nend"
	generated = "Puppet::Resource::ResourceType3.new('%', [], [Puppet::Resource::Param(Any, 'generated')])"
)

func named(text, name string) string { return strings.ReplaceAll(text, "%", name) }

func TestType(t *testing.T) {
	t.Parallel()
	dir, env := site(t, map[string]string{
		"modules/a/lib/puppet/type/x.rb":          named(rubyType, "x"),
		"modules/a/lib/puppet/type/tidy.rb":       named(rubyType, "tidy"),
		"modules/a/lib/puppet/type/both.rb":       named(rubyType, "both"),
		"modules/b/lib/puppet/provider/x/any.rb":  "Puppet::Type.type(:x).provide(:any) do\nend",
		"modules/b/lib/puppet/provider/both/b.rb": "class Puppet::Provider::Both::Both\nend",
		"modules/b/lib/puppet/provider/tidy/b.rb": "class Puppet::Provider::Tidy\nend",
		"more/a/lib/puppet/type/hidden.rb":        named(rubyType, "hidden"),
		"more/c/lib/puppet/type/x.rb":             "Puppet::Type.newtype(:x) do\nend",
		"more/c/lib/puppet/type/y.rb":             named(rubyType, "y"),
		".resource_types/both.pp":                 named(generated, "both"),
		".resource_types/wrong.pp":                named(generated, "other"),
		"modules/a/manifests/init.pp":             "class a { define inner($p) {} }\nclass a::c::d {}",
		"modules/a/manifests/vhost.pp":            "# first\ndefine a::vhost(String $docroot, $port = 80) {}\ndefine a::vhost::deep($q) {}",
		"modules/a/manifests/bad.pp":              "define a::bad(",
		"manifests/site.pp":                       "define local($here) {}",
		"manifests/sub/more.pp":                   "define a::vhost::first($r) {}",
		"modules/a/manifests/class.pp":            "class a::class {}",
		"modules/a/manifests/vhost/first.pp":      "define a::vhost::first($never) {}",
		"modules/escape/lib/puppet/type/leads.rb": "-> /etc/hostname",
	})
	for _, tt := range []struct{ name, want string }{
		{"x", "modules/a/lib/puppet/type/x.rb: name ours provider"},
		{"X", "modules/a/lib/puppet/type/x.rb: name ours provider"},
		{"::y", "more/c/lib/puppet/type/y.rb: name ours"},
		{"LANG-RT-03 both", ".resource_types/both.pp: generated"},
		{"notify", "built in: message withpath name"},
		{"tidy", "modules/a/lib/puppet/type/tidy.rb: name ours"},
		{"LANG-RES-01 a::vhost", "modules/a/manifests/vhost.pp: docroot port"},
		{"LANG-LOAD-10 a::vhost::deep", "modules/a/manifests/vhost.pp: q"},
		{"a::inner", "modules/a/manifests/init.pp: p"},
		{"LANG-LOAD-02 local", "manifests/site.pp: here"},
		{"LANG-LOAD-02 a::vhost::first", "manifests/sub/more.pp: r"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			words := strings.Fields(tt.name)
			got, err := env.Type(words[len(words)-1])
			if text := short(got, dir); text != tt.want || err != nil {
				t.Errorf("got %s, %v, want %s", text, err, tt.want)
			}
		})
	}
	for name, want := range map[string]string{
		"wrong":    "produced resource type with the wrong name, expected 'wrong', actual 'other'",
		"leads":    "path escapes from parent",
		"a::bad":   "Syntax error at end of input",
		"hidden":   `there is no resource type "hidden"`,
		"notfiy":   `there is no resource type "notfiy"; did you mean "notify"?`,
		"a::vhsot": `there is no resource type "a::vhsot"; did you mean "a::vhost"?`,
		"a::clas":  `there is no resource type "a::clas"`,
		"../x":     `there is no resource type "../x"`,
		"":         `there is no resource type ""`,
	} {
		_, err := env.Type(name)
		if missing := (*loader.MissingError)(nil); err == nil || !strings.Contains(err.Error(), want) || errors.As(err, &missing) && missing.Error() != want {
			t.Errorf("%q: got %v, want %s", name, err, want)
		}
	}
}

// The files that were tried are named in their order.
func TestTried(t *testing.T) {
	t.Parallel()
	dir, env := site(t, map[string]string{"modules/a/x": "", "modules/b/x": "", "manifests/site.pp": ""})
	for name, want := range map[string]string{
		"x":       ".resource_types/x.pp modules/a/lib/puppet/type/x.rb modules/b/lib/puppet/type/x.rb manifests/site.pp",
		"a":       ".resource_types/a.pp modules/a/lib/puppet/type/a.rb modules/b/lib/puppet/type/a.rb manifests/site.pp modules/a/manifests/init.pp",
		"a::b::c": "manifests/site.pp modules/a/manifests/b/c.pp modules/a/manifests/b.pp modules/a/manifests/init.pp",
	} {
		_, err := env.Type(name)
		missing := (*loader.MissingError)(nil)
		if !errors.As(err, &missing) {
			t.Fatalf("%s: %v", name, err)
		}
		if got := strings.ReplaceAll(strings.Join(missing.Tried, " "), dir+"/", ""); got != want {
			t.Errorf("LANG-LOAD-10 %s: got %s, want %s", name, got, want)
		}
	}
}

// All types are listed, also those that cannot be read; what cannot be read is
// named.
func TestTypes(t *testing.T) {
	t.Parallel()
	_, env := site(t, map[string]string{
		"modules/a/lib/puppet/type/x.rb":       named(rubyType, "x"),
		"modules/a/lib/puppet/type/z.rb":       "-> /dev/null",
		"modules/a/lib/puppet/type/file/y.rb":  "",
		"modules/a/lib/puppet/type/.hidden.rb": "",
		".resource_types/g.pp":                 "",
	})
	all, err := env.Types()
	known := map[string]bool{}
	for _, one := range all {
		known[one.Name] = one.Open
	}
	for name, isOpen := range map[string]bool{"x": false, "z": true, "g": true, "file": false} {
		if got, ok := known[name]; !ok || got != isOpen {
			t.Errorf("%s: got %v, %v", name, got, ok)
		}
	}
	if len(all) != len(rtype.BuiltIn())+3 {
		t.Errorf("got %d types", len(all))
	}
	for _, want := range []string{"g' - it is empty", "z.rb: path escapes"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}

// A module with metadata that cannot be used is left out, or named. Rule
// LANG-LOAD-03.
func TestMetadata(t *testing.T) {
	t.Parallel()
	dir, env := site(t, map[string]string{
		"modules/good/metadata.json":             `{"source": "s", "author": "a", "version": "1.2.3", "license": "l", "dependencies": []}`,
		"modules/good/lib/puppet/type/good.rb":   named(rubyType, "good"),
		"modules/bad/metadata.json":              `{"version": "1"}`,
		"modules/bad/lib/puppet/type/bad.rb":     named(rubyType, "bad"),
		"modules/broken/metadata.json":           `{`,
		"modules/broken/lib/puppet/type/half.rb": named(rubyType, "half"),
	})
	if name, version := env.Module(filepath.Join(dir, "modules/good/lib/x")); name != "good" || version != "1.2.3" {
		t.Errorf("got %s %s", name, version)
	}
	if name, _ := env.Module(filepath.Join(dir, "manifests/site.pp")); name != "" {
		t.Errorf("got %s", name)
	}
	if len(env.Problems()) != 2 {
		t.Errorf("got %v", env.Problems())
	}
	strict := open(t, dir, "error")
	for name, want := range map[string][2]bool{"good": {true, true}, "bad": {false, false}, "half": {true, false}} {
		_, err := env.Type(name)
		_, strictErr := strict.Type(name)
		if got := [2]bool{err == nil, strictErr == nil}; got != want {
			t.Errorf("%s: got %v, want %v: %v, %v", name, got, want, err, strictErr)
		}
	}
}
