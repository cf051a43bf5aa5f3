package ruby_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector/language/ruby"
)

// show prints a tree in few words.
func show(n ruby.Node) string {
	switch n := n.(type) {
	case nil:
		return "none"
	case *ruby.Nil:
		return "nil"
	case *ruby.Bool:
		return fmt.Sprint(n.Value)
	case *ruby.Number:
		return "number"
	case *ruby.Text:
		return fmt.Sprintf("%q", parts(n.Parts))
	case *ruby.Regexp:
		return fmt.Sprintf("/%s/%d", parts(n.Parts), n.Options)
	case *ruby.Array:
		return "[" + all(n.Values) + "]"
	case *ruby.Hash:
		var pairs []string
		for _, p := range n.Pairs {
			pairs = append(pairs, show(p.Key)+"=>"+show(p.Value))
		}
		return "{" + strings.Join(pairs, " ") + "}"
	case *ruby.Const:
		return n.Path
	case *ruby.Variable:
		return n.Name
	case *ruby.Self:
		return "self"
	case *ruby.Call:
		text := n.Name + "(" + all(n.Args) + ")"
		if n.Receiver != nil {
			text = show(n.Receiver) + "." + text
		}
		if n.Block != nil {
			text += show(n.Block)
		}
		return text
	case *ruby.Block:
		return "<" + strings.Join(n.Params, ",") + "|" + all(n.Body) + ">"
	case *ruby.Unary:
		return n.Op + show(n.Value)
	case *ruby.Binary:
		return "(" + show(n.Left) + " " + n.Op + " " + show(n.Right) + ")"
	case *ruby.Assign:
		return show(n.Target) + n.Op + show(n.Value)
	case *ruby.Def:
		self := ""
		if n.Self {
			self = "self."
		}
		return "def " + self + n.Name + "(" + strings.Join(n.Params, ",") + ")" + show(&ruby.Block{Body: n.Body})
	case *ruby.Module:
		return "module " + n.Name + show(&ruby.Block{Body: n.Body})
	case *ruby.Branch:
		text := n.Word
		for _, body := range n.Bodies {
			text += show(&ruby.Block{Body: body})
		}
		return text
	case *ruby.Return:
		return "return " + show(n.Value)
	case *ruby.Other:
		return "?"
	}
	return fmt.Sprintf("%T", n)
}

func all(nodes []ruby.Node) string {
	var out []string
	for _, n := range nodes {
		out = append(out, show(n))
	}
	return strings.Join(out, " ")
}

// parse shows a source, with a sign behind it if it is not whole.
func parse(src string) string {
	nodes, whole := ruby.Parse(src)
	text := all(nodes)
	if !whole {
		text += " (cut)"
	}
	return text
}

func parts(all []ruby.Part) string {
	text := ""
	for _, p := range all {
		switch {
		case p.Opaque:
			text += "#{?}"
		case p.Variable != "":
			text += "#{" + p.Variable + "}"
		default:
			text += p.Text
		}
	}
	return text
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ src, want string }{
		// Literals.
		{
			`[nil, true, 1.5, 0x1f, 1_000, :a, :"b c", :d?, :[]=, 'e\'\n', "f\t"]`,
			`[nil true number number number "a" "b c" "d?" "[]=" "e'\\n" "f\t"]`,
		},
		{`%w[a b] + %i(c d)`, `(["a" "b"] + ["c" "d"])`},
		{`[%q(a (b)), %Q{c}, %(d)]`, `["a (b)" "c" "d"]`},
		{`"a#{b}c#{d + "}"}"`, `"a#{b}c#{?}"`},
		{`'a' "b"`, `"ab"`},
		{`[/a\/b/i, %r{c/{2}d}mx]`, `[/a/b/1 /c/{2}d/6]`},
		{`{a: 1, 'b': 2, :c => 3, "d" => 4, **e}`, `{**e()=>**e() "a"=>number "b"=>number "c"=>number "d"=>number}`},
		{"a(<<-X, <<~'Y')\n1\n  X\n2\nY\nb", `a("1\n" "2\n") b()`},
		{"?a", `"a"`},
		// Calls.
		{"newparam :name, namevar: true do\n desc 'x'\nend", `newparam("name" {"namevar"=>true})<|desc("x")>`},
		{`newparam(:name) { |x, y| z }`, `newparam("name")<x,y|z()>`},
		{"a b c do\nend", `a(b(c()))<|>`},
		{"a(b do\nend)", `a(b()<|>)`},
		{"a.b\n  .c(:d)\n  # e\n  &.f", `a().b().c("d").f()`},
		{`A::B.c; A::d(1); ::E`, `A::B.c() A.d(number) E`},
		{`x = 1; x [2]; y [3]; x[4]`, `x()=number ? y([number]) x().[](number)`},
		{`a / b; a /b/; a.size / 2`, `(a() / b()) a(/b/0) (a().size() / number)`},
		{`a -1; a - 1`, `a(-number) (a() - number)`},
		{`a(*b, &c)`, `a(*b() &c())`},
		{`a.map(&:to_sym)`, `a().map(&"to_sym")`},
		{`l = ->(x) { x }; lambda { |y| y }`, `l()=<x|x()> lambda()<y|y()>`},
		{`a ? b : c; a.nil? ? 1 : 2`, `? ?`},
		{`a if b; c unless d; e rescue f`, `if<|a()> unless<|c()> e()`},
		{"a = b ||\n  c", `a()=(b() || c())`},
		{"A ||= [1,\n 2]\n", `A||=[number number]`},
		{`a, b = 1, 2`, `?`},
		// Statements.
		{"class A < B\n def self.x(a, b = 1, *c)\n  return 1 if a\n end\nend", `module A<|def self.x(a,b,c)<|if<|return number>>>`},
		{"class << self\n def a; end\nend", `module <|def a()<|>>`},
		{"def a=(x)\nend\ndef b = 1\ndef c?; end\ndef ==(o) o end", `def a=(x)<|> def b()<|number> def c?()<|> def ==(o)<|o()>`},
		{"if a then b elsif c\nd\nelse e end", `if<|b()><|d()><|e()>`},
		{"case a\nwhen 1, 2 then b\nwhen /x/\n c\nelse d\nend", `case<|><|b()><|c()><|d()>`},
		{"while a do b end; until c\nd\nend; for x in [1] do e end", `while<|b()> until<|d()> for<|e()>`},
		{"begin\n a\nrescue B => e\n c\nensure\n d\nend", `begin<|a()><|c()><|d()>`},
		{"a do\n b\nrescue\n c\nend", `a()<|b() rescue<|c()>>`},
		{"=begin\nx\n=end\na # b\n__END__\nc", `a()`},
		// What is not understood ends with its statement.
		{"a ] b\nc", `a() ? b() c() (cut)`},
		{"a do\nb", `a()<|b()> (cut)`},
		{"if a\nb { c", `if<|b()<|c()>> (cut)`},
		{"a(\x00)\nb", `a(?) b()`},
		{"BEGIN { a }\nb", `? b()`},
		{"end\na", `? a() (cut)`},
		{"a(", `a() (cut)`},
		{"a([1 end", `a([number ?] ?) ? (cut)`},
	} {
		if got := parse(tt.src); got != tt.want {
			t.Errorf("%q:\n got %s\nwant %s", tt.src, got, tt.want)
		}
	}
}

// A statement has the line where it begins, whatever is in front of it.
func TestLines(t *testing.T) {
	t.Parallel()
	nodes, _ := ruby.Parse("x = <<X\na\nb\nX\n=begin\n=end\n'a\nb'\n\\\ny(1,\n 2)\nz")
	var got []int
	for _, n := range nodes {
		got = append(got, n.At())
	}
	if fmt.Sprint(got) != "[1 7 10 12]" {
		t.Errorf("got %v: %s", got, all(nodes))
	}
}

// What nests too deep, or is too large, ends in a tree, and in time that grows with
// the size.
func TestHostile(t *testing.T) {
	t.Parallel()
	const n = 20_000
	for _, src := range []string{
		strings.Repeat("(", n), strings.Repeat("[", n), strings.Repeat("{", n), strings.Repeat("!", n), strings.Repeat("a ", n),
		strings.Repeat("if ", n), strings.Repeat("def a\n", n), strings.Repeat(`"#{`, n), strings.Repeat(`"a"`, n), strings.Repeat("a.", n),
		strings.Repeat("a+", n), strings.Repeat("<<A ", n), strings.Repeat("->", n), strings.Repeat("a do\n", n), strings.Repeat("\n", n),
		strings.Repeat("%w", n), strings.Repeat("end\n", n), strings.Repeat("x = y ? ", n), strings.Repeat("=begin\n", n), strings.Repeat("a\n#\n", n),
		strings.Repeat("a", ruby.MaxBytes+1),
	} {
		if nodes, _ := ruby.Parse(src); len(nodes) == 0 && strings.Trim(src, "\n=begin") != "" {
			t.Errorf("%.20q: nothing was read", src)
		}
	}
}

// FuzzParse: any text ends in a tree whose lines are those of the text.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("../rtype/testdata/lang/modules/*/modules/*/lib/puppet/type/*.rb")
	if err != nil || len(files) == 0 {
		f.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("a do |x|\n %w[b].each { |c| newparam(\"d_#{c}\") }\nrescue\nend if <<-E\nE\n")
	f.Fuzz(func(t *testing.T, src string) {
		last := strings.Count(src, "\n") + 1
		nodes, _ := ruby.Parse(src)
		for _, n := range nodes {
			if n.At() < 1 || n.At() > last {
				t.Errorf("line %d of %d: %s", n.At(), last, show(n))
			}
		}
	})
}
