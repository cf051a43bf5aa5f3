package eval_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/fn"
	"indirtui/indirector/language/syntax"
)

// program compiles a source, which is valid.
func program(t *testing.T, file, code string) *eval.Program {
	t.Helper()
	prog, report := syntax.Parse(&syntax.Source{File: file, Text: code}, syntax.Options{})
	if report.Failure != nil {
		t.Fatal(report.Failure)
	}
	return eval.Compile(prog, fn.Library())
}

// run evaluates a source in a thread of its own.
func run(t *testing.T, code string, opts eval.Options) (data.Value, error) {
	t.Helper()
	return eval.NewThread(opts).Run(t.Context(), program(t, "", code))
}

// Rule LANG-EV-10: hostile programs end in an error that names the limit.
func TestLimits(t *testing.T) {
	t.Parallel()
	text, wild := "'"+strings.Repeat("a", 60)+"!'", `/\A(?=((a+)+)+\z)/`
	stopped := "regular expression " + wild + ": limit of regular expressions: no answer within 1s"
	for _, tt := range []struct{ name, code, want string }{
		{"a match that runs away", text + " =~ " + wild, stopped},
		{"a type that runs away", text + " =~ Pattern[" + wild + "]", stopped},
		{"a substitution that runs away", "regsubst(" + text + ", " + wild + ", '')", stopped},
		{"a parameter that runs away", "function f(Pattern[" + wild + "] $x) { }\nf(" + text + ")", stopped},
		{"an assertion that runs away", "assert_type(Pattern[" + wild + "], " + text + ") |$a, $b| { 1 }", stopped},
		{"recursion", "function f($n) { g($n) }\nfunction g($n) { f($n + 1) }\nf(1)", "calls within each other: f calls g calls f"},
		{"recursion through a lambda", "function f($n) { [1].each |$x| { f($n) } }\nf(1)", "f calls f"},
		{"counting", "1000000000000.each |$x| { }", "more than 100000 steps"},
		{"counting without a lambda", "1000000000000.reduce(0) |$m, $x| { $m }", "more than 100000 steps"},
		{"doubled texts", `$a = 30.reduce('xxxxxxxxxxxxxxxx') |$m, $x| { "${m}${m}" }`, "more than 16777216 bytes"},
		{"doubled lists", "$a = 60.reduce([1]) |$m, $x| { [$m, $m] }", "more than 16777216 bytes"},
		{"doubled lists by a lambda", "$a = 60.reduce([1]) |$m, $x| { [1, 2].map |$y| { $m } }", "more than 16777216 bytes"},
		{"doubled hashes", "$a = 60.reduce({}) |$m, $x| { {a => $m, b => $m} }", "more than 16777216 bytes"},
		{"concatenated lists", "$a = 60.reduce([1]) |$m, $x| { $m + $m }", "more than 16777216 bytes"},
		{"many matches", "$a = 20.reduce('aaaa') |$m, $x| { regsubst($m, 'a', $m, 'G') }", "more than 16777216 bytes"},
		{"long separators", "$a = 20.reduce('aaaa') |$m, $x| { join(split($m, ''), $m) }", "more than 16777216 bytes"},
		{"wide numbers", "$a = 100.map |$x| { sprintf('%1000000d', 1) }", "more than 16777216 bytes"},
		{"doubled lists by a function", "$a = 60.reduce([1]) |$m, $x| { flatten($m, $m) }", "more than 16777216 bytes"},
		{"a function of a large list", "$l = Array(500000)\n100000.each |$x| { flatten($l) }", "more than 100000 steps"},
		{"deep lists", "$a = 2000.reduce([1]) |$m, $x| { [$m] }", "more than 1000 deep"},
		{"deep lists by a function", "$a = 2000.reduce([1]) |$m, $x| { $m.partition |$e| { true } }", "more than 1000 deep"},
		{"wide lists", "[*100000000000.step(1)]", "more than 4194304 elements"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := run(t, tt.code, eval.Options{MaxSteps: 100_000, MaxBytes: 16 << 20})
			var e *eval.Error
			if !errors.As(err, &e) || !strings.Contains(e.Message, tt.want) || e.Line == 0 {
				t.Errorf("got %v, want an error with %q and its place", err, tt.want)
			}
		})
	}
}

// Matches of which each has an answer in time are stopped when all of them together take too
// long. Those that take linear time do not count. Rule LANG-EV-10.
func TestMatchingLimit(t *testing.T) {
	t.Parallel()
	const slow = `/\A(?=((a+)+)+\z)/`
	for _, tt := range []struct{ name, code, want string }{
		{"an operator", "100000.each |$i| { 'aaaaaaaa!' =~ " + slow + " }", "all matches together take more than 50ms"},
		{"an option", "100000.each |$i| { case 'aaaaaaaa!' { " + slow + ": { } } }", "all matches together take more than 50ms"},
		{"a function", "100000.each |$i| { regsubst('aaaaaaaa!', " + slow + ", '') }", "all matches together take more than 50ms"},
		{"a type", "100000.each |$i| { 'aaaaaaaa!' =~ Pattern[" + slow + "] }", "all matches together take more than 50ms"},
		{"a type within others", "type Slow = Optional[Variant[Integer, Pattern[" + slow + "]]]\n100000.each |$i| { ['aaaaaaaa!'] =~ Array[Slow] }", "all matches together take more than 50ms"},
		{"a parameter", "100000.each |$i| { with('aaaaaaaa!') |Variant[Pattern[" + slow + "], String] $s| { } }", "all matches together take more than 50ms"},
		{"a parameter of a function", "function f(Variant[Pattern[" + slow + "], String] $s) { $s }\n100000.each |$i| { f('aaaaaaaa!') }", "all matches together take more than 50ms"},
		{"a function that asserts", "100000.each |$i| { assert_type(Variant[Pattern[" + slow + "], String], 'aaaaaaaa!') }", "all matches together take more than 50ms"},
		{"linear ones", "1000.each |$i| { 'aaaaaaaa!' =~ /\\A((a+)+)+\\z/ }", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := run(t, tt.code, eval.Options{MaxMatching: 50 * time.Millisecond})
			if tt.want == "" && err == nil {
				return
			}
			var e *eval.Error
			if tt.want == "" || !errors.As(err, &e) || !strings.Contains(e.Message, tt.want) || e.Line == 0 {
				t.Errorf("got %v, want an error with %q and its place", err, tt.want)
			}
		})
	}
}

// A long list that is made element by element stays within the limits: what its elements
// are is not counted again and again.
func TestWithinLimits(t *testing.T) {
	t.Parallel()
	v, err := run(t, "$a = 2000.reduce([]) |$m, $x| { $m + [{name => 'x', tags => ['a', 'b', 'c'], options => {a => 1, b => 2}}] }\n$a.size", eval.Options{})
	if err != nil || v.Int() != 2000 {
		t.Errorf("got %s, %v", eval.Text(v), err)
	}
}

// A cancelled evaluation ends, whatever it does.
func TestCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	turns := 0
	thread := eval.NewThread(eval.Options{Log: func(eval.LogEntry) {
		if turns++; turns == 10 {
			cancel()
		}
	}})
	_, err := thread.Run(ctx, program(t, "", "1000000000.each |$x| { notice($x) }"))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if turns > 1000 {
		t.Errorf("%d turns were made after the cancellation", turns-10)
	}
}

// A program is shared by evaluations that run at once, none of which sees another.
func TestShared(t *testing.T) {
	t.Parallel()
	p := program(t, "site.pp", `type T = Array[Integer]
function f(T $l) { $l.map |$x| { if "a${x}" =~ /a(\d)/ { $1 } } }
$r = f([1, 2, $n])
"${r}"`)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			thread := eval.NewThread(eval.Options{})
			thread.Set("n", data.OfInt(int64(i)))
			v, err := thread.Run(t.Context(), p)
			if want := "[1, 2, " + data.OfInt(int64(i)).Text() + "]"; err != nil || v.Str() != want {
				t.Errorf("got %s, %v, want %s", v, err, want)
			}
		})
	}
	all.Wait()
}

// Rule LANG-ERR-09: an error has the calls that led to it.
func TestStack(t *testing.T) {
	t.Parallel()
	p := program(t, "site.pp", "function f($x) {\n  [1].each |$y| { fail('no') }\n}\n\nf(1)")
	_, err := eval.NewThread(eval.Options{}).Run(t.Context(), p)
	var e *eval.Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	want := []eval.Call{{Name: "f", File: "site.pp", Line: 5}, {Name: "each", File: "site.pp", Line: 2}}
	if len(e.Stack) != 2 || e.Stack[0] != want[0] || e.Stack[1] != want[1] {
		t.Errorf("got %v, want %v", e.Stack, want)
	}
	if got, want := err.Error(), "Evaluation Error: Error while evaluating a Function Call, no (file: site.pp, line: 2, column: 19)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Functions and types that programs do not define are loaded, once.
func TestLoad(t *testing.T) {
	t.Parallel()
	var asked []string
	sources := map[string]string{
		"m::double": "function m::double(M::Small $x) { $x * 2 }",
		"m::small":  "type M::Small = Integer[0, 9]",
	}
	opts := eval.Options{Load: func(_ eval.Kind, name, _ string) (found eval.Found, err error) {
		asked = append(asked, name)
		if sources[name] != "" {
			found.Programs = []*eval.Program{program(t, name, sources[name])}
		}
		return found, nil
	}}
	v, err := run(t, "[m::double(3), m::double(4), 5 =~ M::Small]", opts)
	if got, want := eval.Text(v), "[6, 8, true]"; err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if got, want := strings.Join(asked, " "), "m::double m::small"; got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
	asked = nil
	_, err = run(t, "with(1) |$x| { m::none() }", opts)
	if err == nil || !strings.Contains(err.Error(), "Unknown function: 'm::none'.") {
		t.Errorf("got %v", err)
	}
}

// Expressions that look around, refer back and keep what they matched work wherever one is
// taken. Rule LANG-OP-11.
func TestLookAround(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ code, want string }{
		{`'foobar' =~ /(o)\1(?=b)/; [$0, $1]`, `["oo", "o"]`},
		{`'foobaz' !~ /foo(?!bar)/`, `false`},
		{`case 'xaab' { /(?<c>a)\k<c>b/: { $1 } default: { 'none' } }`, `"a"`},
		{`'ab' ? { /(?<!a)b/ => 1, default => 2 }`, `2`},
		{`/(?<=a)b/ in ['b', 'ab']`, `true`},
		{`'1234567'.regsubst(/(\d)(?=(\d{3})+$)/, '\1,', 'G')`, `"1,234,567"`},
		{`regsubst('foobar', '(?<x>o)+\Kb', '[\0]')`, `"foo[b]ar"`},
		{`regsubst('aa-ab', '(?<x>a)(?>\k<x>|b)', '<\k<x>>', 'G')`, `"<a>-<a>"`},
		{`regsubst('baac', /a*/, '-', 'G')`, `"-b--c-"`},
		{`regsubst('a b]', 'a [ ] b # both', '-', 'E')`, `"-]"`},
		{`split('a1b22c', /(?<=\d)(?=[a-z])/)`, `["a1", "b22", "c"]`},
		{`match(['aa', 'ab'], /(.)\1/)`, `[["aa", "a"], nil]`},
		{`'xyy' =~ Pattern[/(.)\1\z/]`, `true`},
		{`type('x') ; 'abc' =~ Struct[{}] or 'abc' =~ Variant[Integer, Pattern[/\A(?!b)\w++\Z/]]`, `true`},
	} {
		v, err := run(t, tt.code, eval.Options{})
		if err != nil || v.Inspect() != tt.want {
			t.Errorf("%s: got %s %v, want %s", tt.code, v.Inspect(), err, tt.want)
		}
	}
}

// The error of a path that leads nowhere is given to a lambda as a value.
func TestPathError(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ code, want string }{
		{"get({a => 1}, 'a.b') |$e| { [$e.kind, $e.issue_code, $e.details['walked_path'], \"${e.details['value_type']}\"] }", `["SLICE_ERROR", "EXPECTED_COLLECTION", ["a"], "Integer[1, 1]"]`},
		{"get([1], 'b') |$e| { [$e.message, $e.details['index_type'] =~ Type] }", `["The given data requires an Integer index at [\"b\"], got 'String'", true]`},
		{"get([1], 'b') |$e| { $e =~ Error['SLICE_ERROR'] }", "true"},
	} {
		v, err := run(t, tt.code, eval.Options{})
		if err != nil || v.Inspect() != tt.want {
			t.Errorf("%s: got %s %v, want %s", tt.code, v.Inspect(), err, tt.want)
		}
	}
}

// What is not evaluated yet is an error that is recognised.
func TestUnsupported(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"notify { 'a': }", "class a { } class { 'a': }", "File['a'] -> File['b']", "Notify <| |>"} {
		if _, err := run(t, code, eval.Options{}); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: got %v, want %v", code, err, errors.ErrUnsupported)
		}
	}
}
