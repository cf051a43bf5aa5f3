package loader_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/fn"
	"indirtui/indirector/language/loader"
	"indirtui/indirector/language/syntax"
)

// run evaluates a source in an environment, as its initial manifest.
func run(t *testing.T, env *loader.Environment, cache *loader.Cache, code string) (string, error) {
	t.Helper()
	prog, report := syntax.Parse(&syntax.Source{Text: code}, syntax.Options{})
	if report.Failure != nil {
		t.Fatal(report.Failure)
	}
	var logged strings.Builder
	thread := eval.NewThread(eval.Options{
		Load: env.Definitions(cache, syntax.Options{}).Load,
		Log:  func(e eval.LogEntry) { fmt.Fprintf(&logged, "%s: %s (%d)\n", e.Level, e.Message, e.Line) },
	})
	v, err := thread.Run(t.Context(), eval.Compile(prog, fn.Library()))
	return logged.String() + eval.Text(v), err
}

// codeSite has functions and types, right and wrong ones.
var codeSite = map[string]string{
	"functions/f.pp":                                  `function environment::f() { "never" }`,
	"functions/environment/ff.pp":                     `function environment::ff() { "env ff" }`,
	"functions/g.pp":                                  `function g() { "env g" }`,
	"functions/loose.pp":                              `notice(1)`,
	"types/environment/tt.pp":                         `type Environment::TT = Integer`,
	"types/u.pp":                                      `type U = Integer`,
	"modules/a/functions/empty.pp":                    "",
	"modules/a/functions/two.pp":                      `function a::two() {} function a::x() {}`,
	"modules/a/functions/more.pp":                     `function a::more() {} function a::more::x() {}`,
	"modules/a/functions/none.pp":                     `type A::None = Integer`,
	"modules/a/functions/wrong.pp":                    `function a::bad() {}`,
	"modules/a/functions/longer.pp":                   `function a::longer_one() {}`,
	"modules/a/functions/logic.pp":                    `function a::logic() {} notice(1)`,
	"modules/a/functions/syntax.pp":                   `function a::syntax() { 1 + }`,
	"modules/a/functions/cls.pp":                      `class a::cls {}`,
	"modules/a/functions/chk.pp":                      `function a::chk() { class x {} }`,
	"modules/a/functions/warns.pp":                    "function a::warns() {\n  {a => 1, a => 2}\n}",
	"modules/a/functions/callb.pp":                    `function a::callb() { b::f() }`,
	"modules/a/functions/deep/in/dir.pp":              `function a::deep::in::dir() { "deep" }`,
	"modules/a/functions/link.pp":                     "-> /etc/hostname",
	"modules/a/types/empty.pp":                        "",
	"modules/a/types/two.pp":                          `type A::Two = Integer type A::X = Integer`,
	"modules/a/types/none.pp":                         `function a::none() {}`,
	"modules/a/types/wrong.pp":                        `type A::Bad = Integer`,
	"modules/a/types/logic.pp":                        `type A::Logic = Integer notice(1)`,
	"modules/a/types/syntax.pp":                       `type A::Syntax = `,
	"modules/a/types/rec.pp":                          `type A::Rec = Variant[Integer, Array[A::Rec]]`,
	"modules/a/types/self.pp":                         `type A::Self = A::Self`,
	"modules/a/types/unk.pp":                          `type A::Unk = Array[A::Nothere]`,
	"modules/a/metadata.json":                         `{"name":"x-a","source":"s","author":"a","version":"1.2.3","license":"l","dependencies":[{"name":"x/z"}]}`,
	"modules/a/functions/asks.pp":                     `function a::asks() { everywhere() }`,
	"modules/a/lib/puppet/datatypes/a/rt.rb":          "",
	"modules/b/functions/f.pp":                        `function b::f() { "b f" }`,
	"modules/b/lib/puppet/functions/b/ruby.rb":        "Puppet::Functions.create_function(:'b::ruby') do\nend",
	"modules/b/lib/puppet/functions/everywhere.rb":    "Puppet::Functions.create_function(:everywhere) do\nend",
	"modules/b/lib/puppet/parser/functions/old.rb":    "",
	"modules/b/lib/puppet/parser/functions/native.rb": "",
	"modules/ts/types/init_typeset.pp":                `type Ts = TypeSet[{pcore_version => '1.0.0', version => '1.0.0', types => {Port => Integer[1,100]}}]`,
	"modules/noset/types/init_typeset.pp":             `type Noset = Integer`,
	"modules/z/lib/puppet/functions/everywhere.rb":    "",
}

// Names mean what they mean to real Puppet 7.23, which was asked with the same files; its
// errors are repeated letter by letter. Rules LANG-LOAD-10 to LANG-LOAD-12.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	dir, env := site(t, codeSite)
	cache := loader.NewCache(fn.Library(), nil)
	const call, name = "Evaluation Error: Error while evaluating a Function Call, ", "Evaluation Error: Error while evaluating a Type-Name, "
	for _, tt := range []struct{ code, want string }{
		{"environment::f()", "Evaluation Error: Unknown function: 'environment::f'. (line: 1, column: 1)"},
		{"environment::ff()", "env ff"},
		{"g()", "env g"},
		{"5 =~ Environment::T", "Evaluation Error: Resource type not found: Environment::T (line: 1, column: 6)"},
		{"5 =~ Environment::TT", "true"},
		{"5 =~ U", "true"},
		{"loose()", call + "The code loaded from <ENV>/functions/loose.pp does not define the function 'loose' - it is empty. (line: 1, column: 1)"},
		{"a::empty()", call + "The code loaded from <ENV>/modules/a/functions/empty.pp does not define the function 'a::empty' - it is empty. (line: 1, column: 1)"},
		{"a::two()", "Unacceptable location. The name 'a::x' is unacceptable in file '<ENV>/modules/a/functions/two.pp' (file: <ENV>/modules/a/functions/two.pp, line: 1, column: 22)"},
		{"a::more()", call + "The code loaded from <ENV>/modules/a/functions/more.pp must contain only the function 'a::more' - it has additional definitions. (line: 1, column: 1)"},
		{"a::none()", call + "The code loaded from <ENV>/modules/a/functions/none.pp does not define the function 'a::none' - no function found. (line: 1, column: 1)"},
		{"a::wrong()", "Unacceptable location. The name 'a::bad' is unacceptable in file '<ENV>/modules/a/functions/wrong.pp' (file: <ENV>/modules/a/functions/wrong.pp, line: 1, column: 1)"},
		{"a::longer()", call + "The code loaded from <ENV>/modules/a/functions/longer.pp produced function with the wrong name, expected a::longer, actual a::longer_one (line: 1, column: 1)"},
		{"a::logic()", "This Function Call is unacceptable as a top level construct in this location (file: <ENV>/modules/a/functions/logic.pp, line: 1, column: 24)"},
		{"a::syntax()", "Syntax error at '}' (file: <ENV>/modules/a/functions/syntax.pp, line: 1, column: 28)"},
		{"a::cls()", call + "The code loaded from <ENV>/modules/a/functions/cls.pp does not define the function 'a::cls' - no function found. (line: 1, column: 1)"},
		{"a::chk()", `err: Classes, definitions, and nodes may only appear at toplevel or inside other classes (1)
err: Unacceptable location. The name 'x' is unacceptable in file '<ENV>/modules/a/functions/chk.pp' (1)
Language validation logged 2 errors. Giving up (file: <ENV>/modules/a/functions/chk.pp)`},
		{"a::warns()", "warning: The key 'a' is declared more than once (2)\n{a => 2}"},
		{"[a::callb(), a::deep::in::dir()]", "[b f, deep]"},
		{"a::link()", call + "read <ENV>/modules/a/functions/link.pp: path escapes from parent (line: 1, column: 1)"},
		{"1 =~ A::Empty", name + "The code loaded from <ENV>/modules/a/types/empty.pp does not define the type 'a::empty' - it is empty. (line: 1, column: 6)"},
		{"1 =~ A::Two", name + "The code loaded from <ENV>/modules/a/types/two.pp must contain only the type 'a::two' - it has additional definitions. (line: 1, column: 6)"},
		{"1 =~ A::None", name + "The code loaded from <ENV>/modules/a/types/none.pp does not define the type 'a::none' - no type alias or type definition found. (line: 1, column: 6)"},
		{"1 =~ A::Wrong", name + "The code loaded from <ENV>/modules/a/types/wrong.pp produced type with the wrong name, expected 'a::wrong', actual 'A::Bad' (line: 1, column: 6)"},
		{"1 =~ A::Logic", "This Function Call is unacceptable as a top level construct in this location (file: <ENV>/modules/a/types/logic.pp, line: 1, column: 25)"},
		{"1 =~ A::Syntax", "Syntax error at end of input (file: <ENV>/modules/a/types/syntax.pp)"},
		{"[1, [2]] =~ A::Rec", "true"},
		{"1 =~ A::Self", name + "Type alias 'A::Self' cannot be resolved to a real type (line: 1, column: 6)"},
		{"1 =~ A::Unk", "false"},
		{"5 =~ Ts::Port and 500 !~ Ts::Port", "true"},
		{"5 =~ Ts::Nope", "Evaluation Error: Resource type not found: Ts::Nope (line: 1, column: 6)"},
		{"5 =~ Ts", "false"},
		{"5 =~ Noset", name + "The code loaded from <ENV>/modules/noset/types/init_typeset.pp does not define the TypeSet 'Noset' (line: 1, column: 6)"},
		{"a::nope()", "Evaluation Error: Unknown function: 'a::nope'. (line: 1, column: 1)"},
		{"1 =~ A::Nope", "Evaluation Error: Resource type not found: A::Nope (line: 1, column: 6)"},
		{"1 =~ A", "Evaluation Error: Resource type not found: A (line: 1, column: 6)"},
		{"function b::f() { 'mine' } b::f()", "mine"},
		{"type A::Rec = String 'x' =~ A::Rec", "true"},
		{"call('a::../../x')", "Evaluation Error: Error while evaluating a Function Call, Unknown function 'a::../../x' (line: 1, column: 1)"},
	} {
		t.Run(tt.code, func(t *testing.T) {
			t.Parallel()
			got, err := run(t, env, cache, tt.code)
			if err != nil {
				got += err.Error()
			}
			if got = strings.ReplaceAll(got, dir, "<ENV>"); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// Functions in Ruby are not run: there is a function of ours in their place, or an error
// that is recognised. Names without a module are looked for in the order in which the
// module that asks sees others. Rules LANG-LOAD-11, LANG-STD-03.
func TestRubyFunctions(t *testing.T) {
	t.Parallel()
	dir, env := site(t, codeSite)
	cache := loader.NewCache(fn.Library(), func(f loader.RubyFunction) *eval.Builtin {
		if f.Name != "native" && f.Name != "everywhere" {
			return nil
		}
		return &eval.Builtin{Name: f.Name, Ways: []eval.Way{{Params: "", Do: func(*eval.Invocation) (data.Value, error) {
			return data.OfString(fmt.Sprint(f.Module, " ", strings.TrimPrefix(f.File, dir), " ", f.Old)), nil
		}}}}
	})
	for _, tt := range []struct{ code, want string }{
		{"native()", "b /modules/b/lib/puppet/parser/functions/native.rb true"},
		{"everywhere()", "b /modules/b/lib/puppet/functions/everywhere.rb false"},
		{"a::asks()", "z /modules/z/lib/puppet/functions/everywhere.rb false"},
		{"b::ruby()", "Function 'b::ruby' of module 'b' is written in Ruby (" + dir + "/modules/b/lib/puppet/functions/b/ruby.rb) and cannot be run here"},
		{"old()", "Function 'old' of module 'b' is written in Ruby"},
		{"1 =~ A::Rt", "Type 'a::rt' of module 'a' is written in Ruby"},
	} {
		got, err := run(t, env, cache, tt.code)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %s, want %s", tt.code, got, tt.want)
		}
		if ruby := strings.Contains(tt.want, "in Ruby"); ruby != errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: got %v", tt.code, err)
		}
	}
}

// Classes and defines are found by the files that may have them; all that were read are
// part of the answer. Rule LANG-LOAD-10.
func TestManifests(t *testing.T) {
	t.Parallel()
	dir, env := site(t, map[string]string{
		"modules/a/manifests/init.pp": "class a { class inner { define deepest() {} } }",
		"modules/a/manifests/b.pp":    "class a::b {}\ndefine a::b::d() {}",
		"modules/a/manifests/b/c.pp":  "class a::b::c inherits a {}",
		"modules/a/manifests/bad.pp":  "class a::bad {",
	})
	defs := env.Definitions(loader.NewCache(fn.Library(), nil), syntax.Options{})
	for _, tt := range []struct {
		kind eval.Kind
		name string
		want string // the files that were read, then those that were not there
	}{
		{eval.ClassKind, "a", "init | "},
		{eval.ClassKind, "::a::inner", "init | inner"},
		{eval.ClassKind, "A::B::C", "init b/c | "},
		{eval.DefineKind, "a::b::d", "init b | b/d"},
		{eval.DefineKind, "a::b::c", "init b/c b | "},
		{eval.ClassKind, "a::bad", "init bad | "},
		{eval.ClassKind, "nothere", " | "},
	} {
		found, err := defs.Load(tt.kind, strings.ToLower(tt.name), "")
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		var read, missing []string
		for _, file := range found.Tried {
			short := strings.TrimSuffix(strings.TrimPrefix(file, dir+"/modules/a/manifests/"), ".pp")
			if _, err := os.Stat(file); err == nil {
				read = append(read, short)
			} else {
				missing = append(missing, short)
			}
		}
		if got := strings.Join(read, " ") + " | " + strings.Join(missing, " "); got != tt.want || len(read) != len(found.Programs) {
			t.Errorf("%s: got %d programs, %s, want %s", tt.name, len(found.Programs), got, tt.want)
		}
	}
}

// Within a compile a file is read once, whatever becomes of it: a class that it has would
// be defined twice.
func TestFilesAreReadOnce(t *testing.T) {
	t.Parallel()
	dir, env := site(t, map[string]string{"modules/a/manifests/init.pp": "class a { }", "modules/a/manifests/b.pp": "class a::b { }"})
	defs := env.Definitions(loader.NewCache(fn.Library(), nil), syntax.Options{})
	first := func(class string) *eval.Program {
		found, err := defs.Load(eval.ClassKind, class, "")
		if err != nil || len(found.Programs) == 0 {
			t.Fatalf("%s: got %v, %v", class, found, err)
		}
		return found.Programs[0]
	}
	before := first("a")
	if err := os.WriteFile(filepath.Join(dir, "modules/a/manifests/init.pp"), []byte("class a { notice(1) }"), 0o600); err != nil {
		t.Fatal(err)
	}
	if first("a::b") != before {
		t.Error("a file that changed was read a second time")
	}
}

// Within one compile a file is there, or not, as it was when it was first looked for; the
// next one sees what has changed.
func TestFilesAreLookedForOnce(t *testing.T) {
	t.Parallel()
	dir, env := site(t, map[string]string{"modules/a/manifests/b.pp": "class a::b { }", "modules/a/templates/t": "first"})
	cache := loader.NewCache(fn.Library(), nil)
	look := func(defs *loader.Definitions) (programs int, text string) {
		found, err := defs.Load(eval.ClassKind, "a::b", "")
		if err != nil {
			t.Fatal(err)
		}
		path, ok := defs.File("templates", "a/t")
		made, err := defs.Made(path, func(text string) any { return text })
		if !ok || err != nil {
			t.Fatalf("got %q, %v, %v", path, ok, err)
		}
		return len(found.Programs), made.(string)
	}
	defs := env.Definitions(cache, syntax.Options{})
	if n, text := look(defs); n != 1 || text != "first" {
		t.Fatalf("got %d programs, %q", n, text)
	}
	for name, text := range map[string]string{"manifests/init.pp": "class a { }", "templates/t": "changed"} {
		if err := os.WriteFile(filepath.Join(dir, "modules/a", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n, text := look(defs); n != 1 || text != "first" {
		t.Errorf("later in the compile: got %d programs, %q", n, text)
	}
	if n, text := look(env.Definitions(cache, syntax.Options{})); n != 2 || text != "changed" {
		t.Errorf("in the next compile: got %d programs, %q, want 2 and the new text", n, text)
	}
}

// A file is compiled again when it changes, and not before; it is shared by compiles that
// run at once. Rule LANG-LOAD-14.
func TestCache(t *testing.T) {
	t.Parallel()
	dir, env := site(t, codeSite)
	cache := loader.NewCache(fn.Library(), nil)
	program := func() *eval.Program {
		found, err := env.Definitions(cache, syntax.Options{}).Load(eval.FunctionKind, "b::f", "")
		if err != nil || len(found.Programs) != 1 {
			t.Fatalf("got %v, %v", found, err)
		}
		return found.Programs[0]
	}
	first := program()
	if program() != first {
		t.Error("a file that did not change was compiled again")
	}
	file := filepath.Join(dir, "modules/b/functions/f.pp")
	write := func(text string) {
		if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	write(codeSite["modules/b/functions/f.pp"])
	if program() != first {
		t.Error("the same contents were compiled again")
	}
	write(`function b::f() { "changed" }`)
	if got, err := run(t, env, cache, "b::f()"); err != nil || got != "changed" {
		t.Errorf("got %s, %v", got, err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got, err := run(t, env, cache, "[a::callb(), 5 =~ Ts::Port]"); err != nil || got != "[changed, true]" {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
	all.Wait()
}

// A cache lets go what was used longest ago.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	filler := "# " + strings.Repeat("x", 6<<20) + "\n"
	for _, name := range []string{"a", "b", "c"} {
		files["modules/m/functions/"+name+".pp"] = filler + "function m::" + name + "() { }"
	}
	_, env := site(t, files)
	cache := loader.NewCache(fn.Library(), nil)
	program := func(name string) *eval.Program {
		found, err := env.Definitions(cache, syntax.Options{}).Load(eval.FunctionKind, "m::"+name, "")
		if err != nil || len(found.Programs) != 1 {
			t.Fatalf("got %v, %v", found, err)
		}
		return found.Programs[0]
	}
	a, b := program("a"), program("b")
	if program("a") != a {
		t.Error("a was let go too early")
	}
	program("c")
	if program("a") != a {
		t.Error("a was let go, which was used later than b")
	}
	if program("b") == b {
		t.Error("b was kept")
	}
}
