package compile_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/language/compile"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/origins"
)

// manifest compiles a text as a program.
func manifest(t testing.TB, code string) *eval.Program {
	t.Helper()
	prog, report := syntax.Parse(&syntax.Source{File: "site.pp", Text: code}, syntax.Options{})
	if report.Failure != nil {
		t.Fatal(report.Failure)
	}
	return eval.Compile(prog, compile.Library())
}

// compiled compiles a catalog from a text.
func compiled(t testing.TB, code string, change func(o *compile.Options)) (*compile.Result, error) {
	t.Helper()
	o := compile.Options{
		Node: compile.Node{Name: certname, Environment: "production"}, Main: []*eval.Program{manifest(t, code)}, RichData: true,
	}
	if change != nil {
		change(&o)
	}
	return compile.Compile(context.Background(), o)
}

const explained = `class k($p = 1,
  $q = 2) {
  file { '/x':
    mode  => '1',
    owner => 'a',
  }
  File <| title == '/x' |> { owner => 'b' }
}
class l inherits k {
  File['/x'] {
    mode => '2',
  }
  d { 'x': }
}
define d() {
  file { '/y': }
}
File {
  group => 'g',
}
class { 'l': noop => true }
class { 'm': }
class m($from_data) {
  contain o
}
class o { }
create_resources('notify', { 'n' => { 'message' => 'm' } })
Notify['n'] ->
  File['/x']
file { 'named':
  name => '/z',
}
`

// Every attribute keeps where its value came from, and what that replaced. Rule
// LANG-TRACE-04.
func TestWhy(t *testing.T) {
	t.Parallel()
	result, err := compiled(t, explained, func(o *compile.Options) {
		o.Origins = true
		o.Data = func(_ context.Context, key string) (data.Value, origins.Origin, bool, error) {
			return data.OfString("d"), origins.Origin{Level: "level common"}, key == "m::from_data", nil
		}
		o.Node.Classes = []compile.Class{{Name: "k", Params: []data.Pair{data.P("p", data.OfInt(5))}}}
	})
	if err == nil || !strings.Contains(err.Error(), "Duplicate declaration: Class[K]") {
		t.Fatalf("a class of the node that the manifest declares, too: %v, %v", result, err)
	}
	result, err = compiled(t, explained, func(o *compile.Options) {
		o.Origins = true
		o.Data = func(_ context.Context, key string) (data.Value, origins.Origin, bool, error) {
			return data.OfString("d"), origins.Origin{Level: "level common", File: "common.yaml", Line: 3}, key == "m::from_data", nil
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	doc := document{result.Catalog.Origins.Document(nil)}
	for _, tt := range []struct{ ref, attribute, want string }{
		{"File[/x]", "mode", "override site.pp:11, resource expression site.pp:4"},
		{"File[/x]", "owner", "collector site.pp:7, resource expression site.pp:5"},
		{"File[/x]", "group", "resource default site.pp:19"},
		{"File[/y]", "group", "resource default site.pp:19"},
		{"Class[K]", "q", "default of the parameter site.pp:2"},
		{"Class[M]", "from_data", "data common.yaml:3"},
		{"Notify[n]", "message", "function site.pp:27"},
		{"Notify[n]", "before", "relationship site.pp:28"},
		{"Notify[n]", "nope", ""},
		{"File[named]", "path", "resource expression site.pp:31"}, // as the catalog has it
		{"Notify[zz]", "message", ""},
	} {
		var parts []string
		for _, o := range doc.sources(tt.ref, tt.attribute) {
			at := o.Level
			if o.File != "" {
				at = origins.Place(o.File, o.Line)
			}
			parts = append(parts, o.From+" "+at)
		}
		if got := strings.Join(parts, ", "); got != tt.want {
			t.Errorf("%s %s: got %s, want %s", tt.ref, tt.attribute, got, tt.want)
		}
	}
	// A class has the place of what declared it, which Puppet's catalog has not.
	for ref, want := range map[string]string{"Class[O]": "site.pp:24", "Class[K]": "site.pp:9", "Class[M]": "site.pp:22", "File[/y]": "site.pp:16"} {
		if r := doc.Find(ref); r == nil || origins.Place(r.File, r.Line) != want {
			t.Errorf("%s is from %+v, want %s", ref, r, want)
		}
	}
	if got := strings.Join(doc.Why("File[/y]", nil).Within, " "); got != "Class[main] Class[L] D[x]" {
		t.Errorf("the containers of File[/y] are %s", got)
	}
}

// A document is where everything in a catalog is from.
type document struct{ *origins.Document }

// sources are where an attribute is from, and what it replaced.
func (d document) sources(ref, attribute string) []origins.Source {
	if r := d.Find(ref); r != nil {
		for _, a := range r.Attributes {
			if a.Name == attribute {
				return a.Sources
			}
		}
	}
	return nil
}

// Compiles end in an error that names the limit, and what repeats.
func TestLimits(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ code, want string }{
		"LANG-COMP-06 a define that contains itself": {
			"define a() { b { \"${name}x\": } }\ndefine b() { a { $name: } }\na { 'q': }",
			"9 containers within each other: A[qxxx] contains B[qxxxx] contains A[qxxxx] (file: site.pp, line: 2, column: 14)",
		},
		"a define that contains itself under its own name": {
			"define d() { d { $name: } }\nd { 'a': }",
			"Duplicate declaration: D[a] is already declared at (file: site.pp, line: 2); cannot redeclare",
		},
		"many resources": {
			"Integer[1, 1000].each |$i| { notify { \"${i}\": } }",
			"the catalog has more than 50 resources (file: site.pp, line: 1, column: 30)",
		},
		"classes within each other": {
			deep(2000),
			"1000 calls within each other",
		},
		"collectors that create what they collect": {
			"define d() { @d { \"${name}x\": } }\n@d { 'a': }\nD <| |>",
			"9 containers within each other: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := compiled(t, tt.code, func(o *compile.Options) {
				o.MaxContainers, o.MaxResources = 8, 50
				if strings.HasPrefix(tt.code, "class") {
					o.MaxResources = 0
				}
			})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// deep returns classes that include each the next.
func deep(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "class c%d { include c%d }\n", i, i+1)
	}
	fmt.Fprintf(&b, "class c%d { }\ninclude c0\n", n)
	return b.String()
}

// A compile that is cancelled ends, wherever it is.
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		"Integer[1, 9000000].each |$i| { $x = $i }",
		"define d() { }\nInteger[1, 2000].each |$i| { @d { \"${i}\": } }\nD <| title == 'q' |>\ncancel()",
	} {
		ctx, cancel := context.WithCancel(context.Background())
		cancelling := eval.Library{}
		for name, f := range compile.Library() {
			cancelling[name] = f
		}
		cancelling["cancel"] = &eval.Builtin{Name: "cancel", Ways: []eval.Way{{Do: func(*eval.Invocation) (data.Value, error) {
			cancel()
			return data.Value{}, nil
		}}}}
		prog, _ := syntax.Parse(&syntax.Source{Text: "cancel()\n" + code}, syntax.Options{})
		_, err := compile.Compile(ctx, compile.Options{
			Node: compile.Node{Name: certname}, Main: []*eval.Program{eval.Compile(prog, cancelling)},
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", code, err)
		}
		cancel()
	}
}

// An error names the containers of what failed, and the files that were searched.
func TestErrorPlace(t *testing.T) {
	t.Parallel()
	_, err := compiled(t, "class k { d { 'x': } }\ndefine d() { e { 'y': } }\ndefine e() { include nope::sub }\ninclude k", func(o *compile.Options) {
		o.Eval.Load = func(_ eval.Kind, name, _ string) (eval.Found, error) {
			return eval.Found{Tried: []string{name + ".pp"}}, nil
		}
	})
	var failed *compile.Error
	if !errors.As(err, &failed) {
		t.Fatal(err)
	}
	if got := strings.Join(failed.Containers, " "); got != "Class[K] D[x] E[y]" {
		t.Errorf("the containers are %s", got)
	}
	if got := failed.Tried["nope::sub"]; !slices.Equal(got, []string{"nope::sub.pp"}) {
		t.Errorf("the files are %s", got)
	}
}

// A program is compiled by many at once.
func TestParallel(t *testing.T) {
	t.Parallel()
	programs := []*eval.Program{manifest(t, "class k { File { mode => '1' } file { '/x': } File <| |> { owner => 'a' } }\ninclude k")}
	done := make(chan error)
	for range 8 {
		go func() {
			_, err := compile.Compile(context.Background(), compile.Options{Node: compile.Node{Name: certname}, Main: programs})
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// The case compile_100_resources of docs/SPEED.md.
func BenchmarkCompile100Resources(b *testing.B) {
	text, err := os.ReadFile(filepath.Join("testdata", "hundred.pp"))
	if err != nil {
		b.Fatal(err)
	}
	o := compile.Options{
		Node: compile.Node{Name: certname, Environment: "production"}, Main: []*eval.Program{manifest(b, string(text))}, RichData: true,
		Origins: true,
	}
	b.ReportAllocs()
	for b.Loop() {
		result, err := compile.Compile(context.Background(), o)
		if err != nil || len(result.Catalog.Resources) != 105 {
			b.Fatal(len(result.Catalog.Resources), err)
		}
	}
}

func BenchmarkCompile10000Resources(b *testing.B) {
	o := compile.Options{
		Node: compile.Node{Name: certname, Environment: "production"}, RichData: true,
		Main: []*eval.Program{manifest(b, "define d($n) { file { \"/f/${n}\": ensure => file, mode => '0644' } }\nInteger[1, 5000].each |$i| { d { \"d${i}\": n => $i } }")},
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := compile.Compile(context.Background(), o); err != nil {
			b.Fatal(err)
		}
	}
}

// Names of nodes that are regular expressions have the time that the compile has for all
// matches. Rule LANG-EV-10.
func TestNodesWithin(t *testing.T) {
	t.Parallel()
	_, err := compiled(t, "node /\\A(?=((a+)+)+\\z)/ { }\nnode default { }", func(o *compile.Options) {
		o.Node.Name = strings.Repeat("a", 10) + "1"
		o.Eval.MaxMatching = time.Nanosecond
	})
	if err == nil || !strings.Contains(err.Error(), "all matches together take more than 1ns") || !strings.Contains(err.Error(), "line: 1") {
		t.Errorf("got %v", err)
	}
}
