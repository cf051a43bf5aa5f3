package eval_test

import (
	"fmt"
	"strings"
	"testing"

	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/fn"
	"indirtui/indirector/language/syntax"
)

// hundredLines is a program of 100 lines, as manifests have them: variables, texts,
// conditions, functions with lambdas.
func hundredLines() string {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, `$name%[1]d = "web%[1]d.example.com"
$list%[1]d = ['a', 'b', "c-${name%[1]d}"]
$port%[1]d = if $name%[1]d =~ /^web(\d+)/ { 8000 + Integer($1) } else { 80 }
$hash%[1]d = $list%[1]d.map |$x| { "${x}:${port%[1]d}" }.reduce({}) |$m, $x| { $m + {$x => true} }
$kind%[1]d = $port%[1]d ? { Integer[8010] => 'high', default => 'low' }
`, i)
	}
	return b.String()
}

func benchmark(b *testing.B, code string) {
	b.Helper()
	prog, report := syntax.Parse(&syntax.Source{Text: code}, syntax.Options{})
	if report.Failure != nil {
		b.Fatal(report.Failure)
	}
	p := eval.Compile(prog, fn.Library())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := eval.NewThread(eval.Options{}).Run(b.Context(), p); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRun100Lines(b *testing.B) { benchmark(b, hundredLines()) }

// BenchmarkCalls calls a function of the language, and one of a program, 1000 times each.
func BenchmarkCalls(b *testing.B) {
	b.Run("builtin", func(b *testing.B) { benchmark(b, "1000.each |$i| { max($i, 5) }") })
	b.Run("program", func(b *testing.B) { benchmark(b, "function f(Integer $x) { $x }\n1000.each |$i| { f($i) }") })
}

func BenchmarkCompile100Lines(b *testing.B) {
	code := hundredLines()
	b.ReportAllocs()
	for b.Loop() {
		eval.Read(&syntax.Source{Text: code}, syntax.Options{}, fn.Library())
	}
}
