package helper_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/language/erb"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/fn"
	"indirtui/indirector/language/helper"
	"indirtui/indirector/language/syntax"
	"indirtui/traces/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// evaluated evaluates a program that may call functions in Ruby, by their names.
func evaluated(tb testing.TB, ctx context.Context, o helper.Options, sources map[string]string, code string) (v data.Value, err error) {
	tb.Helper()
	library := eval.Library{}
	for name, b := range fn.Library() {
		library[name] = b
	}
	seen := erb.Options{Library: library, Variables: func(c *eval.Invocation) []data.Pair { return c.Variables() }}
	if o.Context = ctx; o.Ruby == "" {
		o.Ruby = interpreter(tb)
	}
	o.Host = func(c *eval.Invocation) helper.Host { return seen.Host(c) }
	h := helper.New(o)
	defer h.Close()
	t := eval.NewThread(eval.Options{Load: func(kind eval.Kind, name, _ string) (eval.Found, error) {
		text, ok := sources[name]
		if !ok || kind != eval.FunctionKind {
			return eval.Found{}, nil
		}
		b, err := h.Function(ctx, helper.Function{Name: name, Module: "m", File: "/m/" + name + ".rb", Text: text})
		return eval.Found{Builtin: b}, err
	}})
	p, report := syntax.Parse(&syntax.Source{Text: code}, syntax.Options{})
	if report.Failure != nil {
		tb.Fatal(report.Failure)
	}
	return t.Run(ctx, eval.Compile(p, library))
}

// function is the source of a function of one argument.
func function(name, body string) string {
	return "Puppet::Functions.create_function(:" + name + ") do\n  def " + name + "(x)\n" + body + "\n  end\nend\n"
}

// What functions do to the helper is one error, which names them, and nothing stays behind.
// Rule LANG-ERB-10.
func TestHostile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, body, want string }{
		{"ends", "exit!(3)", "the helper process ended: exit status 3"},
		{"exits", "exit", "SystemExit: exit"},
		{"never ends", "loop {}", "it takes longer than 500ms"},
		{"sleeps", "sleep", "it takes longer than 500ms"},
		{"ignores signals", "trap('TERM', 'IGNORE'); trap('INT', 'IGNORE'); loop {}", "it takes longer than 500ms"},
		{"answers much", "'x' * (17 << 20)", "it answers with more than 16777216 bytes"},
		{"prints much", "1000.times { $stderr.puts 'x' * 10_000; puts 'y' * 10_000 }; exit!(1)", "the helper process ended: exit status 1"},
		{"closes the pipe", "IO.for_fd(4).close; 1", "the helper process ended"},
		{"closes both", "IO.for_fd(3).close; IO.for_fd(4).close; 1", "the helper process ended"},
		{"kills itself", "Process.kill(:KILL, $$); sleep", "the helper process ended: signal: killed"},
		{"writes garbage", "IO.for_fd(4, autoclose: false).syswrite(\"garbage\\n\"); 1", "it answers with what is no message"},
		{"writes a wrong answer", "IO.for_fd(4, autoclose: false).syswrite(%({\"result\":{\"what\":1}}\\n)); 1", "it answers with what is no value"},
		{"writes a wrong handle", "IO.for_fd(4, autoclose: false).syswrite(%({\"result\":{\"handle\":7}}\\n)); 1", "it answers with what is no value"},
		{"asks for what is not", "IO.for_fd(4, autoclose: false).syswrite(%({\"ask\":\"what\",\"n\":1}\\n)); sleep", "it takes longer than 500ms"},
		{"asks for ever", "loop { closure_scope['x'] }", "it takes longer than 500ms"},
		{"logs for ever", "loop { Puppet.debug('x' * 1000) }", "it takes longer than 500ms"},
		{"takes memory", "a = []; loop { a << 'x' * 100_000_000 }", "NoMemoryError"},
		{"calls itself", "call_function('f', x)", "calls of Ruby within each other"},
		{"recurses", "g = proc { g.call }; g.call", "SystemStackError"},
		{"a circle", "a = []; a << a; a", "stack level too deep"},
		{"raises all", "raise Exception, 'bare'", "Exception: bare"},
		{"a strange class", "Object.new", "Object is no class of values that the language has"},
		{"Puppet's insides", "Puppet::Pops::Parser::EvaluatingParser.new", "Puppet::Pops::Parser is no part of the helper"},
		{"Puppet's settings", "Puppet[:vardir]", "the setting vardir is no part of the helper"},
		{"Puppet's files", "require 'puppet/util/execution'", "cannot load such file -- puppet/util/execution, which is no part of the helper"},
		{"copies itself", "fork; sleep 0.2; Object.new", "Object is no class of values that the language has"},
		{"a thread", "Thread.new { Puppet.warning('x') }.join", "threads of functions cannot ask for anything"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := helper.Options{Limit: 20 * time.Second}
			if strings.Contains(tt.want, "500ms") {
				o.Limit = 500 * time.Millisecond
			}
			_, err := evaluated(t, t.Context(), o, map[string]string{"f": function("f", tt.body)}, "f(1)")
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "function 'f' of module 'm' (/m/f.rb): ") {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// What stands beside a function in its file runs when that is read.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"exit!(4)", "the helper process ended: exit status 4"},
		{"loop { Puppet.warning('x' * 100_000) }", "it answers with more than 16777216 bytes"},
		{"Puppet::Parser::Scope.new['x']", "a file of functions cannot ask for that while it is read"},
		{"require 'nowhere'", "LoadError: cannot load such file -- nowhere"},
		{"def (", "SyntaxError: /m/f.rb:"},
		{"Process.kill(:STOP, $$)", "it takes longer than 1s"},
	} {
		o := helper.Options{Limit: 20 * time.Second}
		if strings.Contains(tt.want, "1s") {
			o.Limit = time.Second
		}
		_, err := evaluated(t, t.Context(), o, map[string]string{"f": tt.text + "\n" + function("f", "x")}, "f(1)")
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "function 'f' of module 'm' (/m/f.rb): ") {
			t.Errorf("%s: got %v, want %s", tt.text, err, tt.want)
		}
	}
}

// What is no Ruby is an error, too.
func TestNoRuby(t *testing.T) {
	t.Parallel()
	for ruby, want := range map[string]string{
		"/nowhere/ruby": "start /nowhere/ruby: fork/exec /nowhere/ruby: no such file or directory",
		"/bin/true":     "the helper process ended",
		"/bin/echo":     `the helper process ended; it wrote "--disable=gems -W0 -"`,
		"/bin/sh":       "the helper process ended: exit status ",
		"/dev/null":     "start /dev/null: fork/exec /dev/null: permission denied",
	} {
		_, err := evaluated(t, t.Context(), helper.Options{Ruby: ruby}, map[string]string{"f": function("f", "x")}, "f(1)")
		if err == nil || !strings.Contains(err.Error(), "function 'f' of module 'm' (/m/f.rb): "+want) {
			t.Errorf("%s: got %v, want %s", ruby, err, want)
		}
	}
}

// The process and all that it started end with the compile, and so does its directory.
func TestNothingStays(t *testing.T) {
	t.Parallel()
	notes := filepath.Join(t.TempDir(), "notes")
	body := "child = fork { sleep }; File.write('left', 'x'); File.write(x, [$$, child, Dir.pwd].join(' ')); 1"
	if _, err := evaluated(t, t.Context(), helper.Options{}, map[string]string{"f": function("f", body)}, "f('"+notes+"')"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(notes)
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(text))
	for _, pid := range words[:2] {
		waitFor(t, "the end of "+pid, func() bool {
			stat, err := os.ReadFile("/proc/" + pid + "/stat")
			// Who adopted the second one may be slow to bury it.
			return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) || strings.Contains(string(stat), ") Z ")
		})
	}
	if _, err := os.Stat(words[2]); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory %s is still there: %v", words[2], err)
	}
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 500 {
		if done() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("waited in vain for", what)
}

// A compile that is cancelled ends the process, also while it is busy.
func TestCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	begun := filepath.Join(t.TempDir(), "begun")
	go func() {
		waitFor(t, "the function", func() bool { _, err := os.Stat(begun); return err == nil })
		cancel()
	}()
	_, err := evaluated(t, ctx, helper.Options{Limit: time.Minute}, map[string]string{"f": function("f", "File.write(x, ''); loop {}")}, "f('"+begun+"')")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// What is printed does no harm, and the environment is empty.
func TestSurroundings(t *testing.T) {
	t.Setenv("SECRET", "hush")
	for _, tt := range []struct{ body, want string }{
		{"puts 'out'; $stderr.puts 'err'; system('echo more'); 'fine'", "fine"},
		{"ENV.keys.sort.join(' ')", "HOME LANG PATH TMPDIR"},
		{"Dir.children('.').size.to_s + ' ' + $stdin.read.inspect", "0 \"\""},
		{"`cat`", ""},
	} {
		v, err := evaluated(t, t.Context(), helper.Options{}, map[string]string{"f": function("f", tt.body)}, "f(1)")
		if err != nil || v.Str() != tt.want {
			t.Errorf("%s: got %s, %v, want %s", tt.body, v.Inspect(), err, tt.want)
		}
	}
}

// Values cross the border in both directions as they are.
func TestValues(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		"undef", "true", "-5", "9223372036854775807", "1.5", "1.0e30", "1.0", "'ü€\\n'", "''", "default", "[1, [undef, 'a']]", "{'a' => {1 => [2]}, 2.5 => undef, undef => 1}",
		"/a+b/", "Integer", "File['/x']", "Class['a::b']", "Sensitive(['x'])", "Timestamp('2020-01-01T01:02:03.5')", "Timespan('1-02:03:04.5')", "SemVer('1.2.3-rc1+b')",
		"SemVerRange('>=1.0.0 <2.0.0')", "Binary('AP/+')", "URI('http://example.com/a?b=c')", "Variant[Integer, Enum['a;b']]", "[1, 2].map |$x| { $x }",
	} {
		v, err := evaluated(t, t.Context(), helper.Options{}, map[string]string{"f": function("f", "x")}, "$v = "+code+"\n[$v, f($v)]")
		if err != nil {
			t.Errorf("%s: %v", code, err)
			continue
		}
		if all := v.List(); !data.Equal(all[0], all[1]) || eval.Text(all[0]) != eval.Text(all[1]) {
			t.Errorf("%s: got %s, want %s", code, eval.Text(all[1]), eval.Text(all[0]))
		}
	}
}

// Calls go to and fro: blocks of both sides, other functions, and what they fail with.
func TestCalls(t *testing.T) {
	t.Parallel()
	sources := map[string]string{
		"f": function("f", "x"),
		"each_of": `Puppet::Functions.create_function(:each_of) do
  dispatch(:go) { param 'Array', :list; block_param }
  def go(list)
    list.map { |v| yield(v) }
  ensure
    call_function('notice', 'left')
  end
end`,
		"mapped":   function("mapped", "call_function('map', x) { |v| v * 2 }"),
		"indexed":  function("indexed", "call_function('map', x) { |i, v| [i, v] }"),
		"rescued":  function("rescued", "begin; call_function('fail', 'no'); rescue => e; \"#{e.class} #{e.message}\"; end"),
		"passed":   function("passed", "call_function('fail', 'no')"),
		"unknown":  function("unknown", "call_function('nowhere')"),
		"nested":   function("nested", "call_function('each_of', [1, 2]) { |v| call_function('f', v + x) }"),
		"raising":  function("raising", "call_function('map', [1]) { |v| raise 'within' }"),
		"slept":    function("slept", "call_function('f', 1); sleep 0.3; 'slept'"),
		"variable": function("variable", "closure_scope['v'].to_s + closure_scope.lookupvar('::v').to_s"),
	}
	for _, tt := range []struct{ code, want, fails string }{
		{"each_of([1, 2]) |$x| { $x + 1 }", "[2, 3]", ""},
		{"each_of([1, 2]) |$x| { next(7) }", "[7, 7]", ""},
		{"[[1, 2]].map |$l| { each_of($l) |$x| { break() } }", "[]", ""},
		{"each_of([1]) |$x| { fail('deep') }", "", "deep (line: 1, column: 21)"},
		{"mapped([1, 2])", "[2, 4]", ""},
		{"indexed(['a'])", "[[0, a]]", ""},
		{"rescued(1)", "Puppet::ParseError no", ""},
		{"passed(1)", "", "Error while evaluating a Function Call, no (line: 1, column: 1)"},
		{"unknown(1)", "", "Function unknown(): Unknown function: 'nowhere'"},
		{"nested(10)", "[11, 12]", ""},
		{"raising(1)", "", "Error while evaluating a Function Call, within"},
		{"slept(1)", "slept", ""},
		{"$v = 'w' variable(1)", "ww", ""},
		{"[1, 2].map |$x| { f($x) }", "[1, 2]", ""},
	} {
		v, err := evaluated(t, t.Context(), helper.Options{}, sources, tt.code)
		switch {
		case tt.fails != "":
			if err == nil || !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("%s: got %v, want %s", tt.code, err, tt.fails)
			}
		case err != nil || eval.Text(v) != tt.want:
			t.Errorf("%s: got %s, %v, want %s", tt.code, eval.Text(v), err, tt.want)
		}
	}
}

// What a call costs: the start of the process, and each call of one that runs.
func BenchmarkCall(b *testing.B) {
	sources := map[string]string{"f": function("f", "x")}
	b.Run("start", func(b *testing.B) {
		for b.Loop() {
			if _, err := evaluated(b, b.Context(), helper.Options{}, sources, "f(1)"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("thousand", func(b *testing.B) {
		for b.Loop() {
			if _, err := evaluated(b, b.Context(), helper.Options{}, sources, "Integer[1, 1000].each |$i| { f($i) }"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
