package loader_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/fn"
	"indirtui/indirector/language/loader"
	"indirtui/indirector/language/rtype"
	"indirtui/indirector/language/syntax"
)

// What comes and goes is seen by the next compile, though directories are listed once.
func TestDirectories(t *testing.T) {
	t.Parallel()
	hour := func() time.Time { return time.Now().Add(time.Hour) }
	for name, tt := range map[string]struct {
		file, text string // what comes
		has        func(*loader.Definitions) bool
	}{
		"a type":                 {"b/lib/puppet/type/later.rb", "Puppet::Type.newtype(:later) { newparam(:name) }", hasType},
		"a type in a new lib":    {"a/lib/puppet/type/later.rb", "Puppet::Type.newtype(:later) { newparam(:name) }", hasType},
		"a type behind a link":   {"linked/lib/puppet/type/later.rb", "Puppet::Type.newtype(:later) { newparam(:name) }", hasType},
		"a provider":             {"b/lib/puppet/provider/known/p.rb", "Puppet::Type.type(:known).provide(:p) { }", hasProvider},
		"a function":             {"b/lib/puppet/functions/later.rb", "Puppet::Functions.create_function(:later) { }", has(eval.FunctionKind, "later")},
		"a function, deeper":     {"b/lib/puppet/functions/b/later.rb", "Puppet::Functions.create_function(:'b::later') { }", has(eval.FunctionKind, "b::later")},
		"a function, in Puppet":  {"b/functions/later.pp", "function b::later() { }", has(eval.FunctionKind, "b::later")},
		"a class":                {"b/manifests/later.pp", "class b::later { }", has(eval.ClassKind, "b::later")},
		"a data type":            {"b/types/later.pp", "type B::Later = Integer", has(eval.TypeKind, "b::later")},
		"a module":               {"later/manifests/init.pp", "class later { }", has(eval.ClassKind, "later")},
		"metadata that is wrong": {"a/metadata.json", "{", func(d *loader.Definitions) bool { return !has(eval.ClassKind, "a")(d) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, _ := site(t, map[string]string{
				"modules/a/manifests/init.pp": "class a { }", "modules/b/lib/puppet/type/known.rb": "Puppet::Type.newtype(:known) { newparam(:name) }",
				"modules/b/lib/puppet/functions/known.rb": "", "else/lib/puppet/type/known.rb": "", "modules/linked": "-> ../else",
			})
			native := func(loader.RubyFunction) *eval.Builtin { return &eval.Builtin{} }
			cache := loader.NewCache(fn.Library(), native)
			cache.SetClock(hour)
			expect := func(want bool) {
				t.Helper()
				for range 3 { // the third compile knows what the second has listed
					env, err := loader.Open(loader.Options{Dir: dir, Modulepath: filepath.Join(dir, "modules"), Strict: "error", Cache: cache})
					if err != nil {
						t.Fatal(err)
					}
					if got := tt.has(env.Definitions(cache, syntax.Options{})); got != want {
						t.Errorf("it is seen: %v, want %v", got, want)
					}
				}
			}
			expect(false)
			file := filepath.Join(dir, "modules", tt.file)
			tick(t, dir)
			appear(t, file, tt.text)
			expect(true)
			tick(t, dir)
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			expect(false)
		})
	}
}

// tick waits until the clock of the file system goes on.
func tick(t *testing.T, dir string) {
	t.Helper()
	began := time.Now()
	for {
		probe := filepath.Join(dir, "probe")
		if err := os.WriteFile(probe, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(probe); err != nil || info.ModTime().After(began) {
			return
		}
	}
}

func appear(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func has(kind eval.Kind, name string) func(*loader.Definitions) bool {
	return func(d *loader.Definitions) bool {
		found, err := d.Load(kind, name, "")
		return err == nil && (found.Builtin != nil || len(found.Programs) > 0)
	}
}

func hasType(d *loader.Definitions) bool {
	found, err := d.ResourceType("later")
	return found != nil && err == nil
}

func hasProvider(d *loader.Definitions) bool {
	found, _ := d.ResourceType("known")
	return found != nil && slices.ContainsFunc(found.Attributes, func(a rtype.Attribute) bool { return a.Name == "provider" })
}
