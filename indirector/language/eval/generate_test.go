package eval_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A generator writes random programs. Most of what it writes has the types that
// operators and functions want.
type generator struct {
	*rand.Rand
	variables []string // of the lambdas around
	names     int      // of definitions: real Puppet takes each once
}

func (g *generator) pick(all ...string) string { return all[g.IntN(len(all))] }

// A kind is a kind of values.
type kind int

const (
	integer kind = iota
	float
	text
	boolean
	list
	hash
	typ
	rich
	kinds
)

// program returns a few assignments and an expression.
func (g *generator) program() string {
	g.variables = nil
	var b strings.Builder
	for i := range g.IntN(3) {
		fmt.Fprintf(&b, "$v%d = %s\n", i, g.any(2))
		g.variables = append(g.variables, fmt.Sprintf("$v%d", i))
	}
	switch g.IntN(12) {
	case 0:
		g.names++
		fmt.Fprintf(&b, "function f%d(%s$a, $b = $a, *$c) { [$a, $b, $c] }\nf%d(%s)", g.names, g.pick("", "", "Integer ", "String[1] ", "Array[Integer] "), g.names, g.arguments())
	case 1:
		g.names++
		fmt.Fprintf(&b, "type T%d = %s\n%s %s T%d", g.names, g.types(), g.any(1), g.pick("=~", "!~"), g.names)
	default:
		b.WriteString(g.any(3))
	}
	return b.String()
}

func (g *generator) arguments() string {
	var all []string
	for range g.IntN(4) {
		all = append(all, g.any(1))
	}
	return strings.Join(all, ", ")
}

// any returns an expression of any kind.
func (g *generator) any(depth int) string { return g.of(kind(g.IntN(int(kinds))), depth) }

// of returns an expression of a kind; sometimes of another.
func (g *generator) of(k kind, depth int) string {
	switch n := g.IntN(40); {
	case n == 0 && depth > 0:
		return g.any(depth - 1)
	case n == 1 && len(g.variables) > 0:
		return g.pick(g.variables...)
	case n == 2 && depth > 0:
		return g.conditional(k, depth-1)
	case n == 3 && depth > 0:
		return fmt.Sprintf("with(%s) |$w| { %s }", g.any(depth-1), g.within("$w", func() string { return g.of(k, depth-1) }))
	}
	if depth == 0 || g.IntN(4) == 0 {
		return g.literal(k)
	}
	return g.made(k, depth-1)
}

// within writes what may use more variables.
func (g *generator) within(name string, write func() string) string {
	before := g.variables
	g.variables = append(g.variables[:len(before):len(before)], name)
	out := write()
	g.variables = before
	return out
}

func (g *generator) conditional(k kind, depth int) string {
	yes, no := g.of(k, depth), g.of(k, depth)
	switch g.IntN(4) {
	case 0:
		return fmt.Sprintf("if %s { %s } else { %s }", g.of(boolean, depth), yes, no)
	case 1:
		return fmt.Sprintf("unless %s { %s }", g.of(boolean, depth), yes)
	case 2:
		return fmt.Sprintf("case %s { %s: { %s } %s, default: { %s } }", g.any(depth), g.option(depth), yes, g.option(depth), no)
	}
	return fmt.Sprintf("(%s ? { %s => %s, default => %s })", g.any(depth), g.option(depth), yes, no)
}

func (g *generator) option(depth int) string {
	return g.pick(g.any(depth), g.types(), "/a/", "/(b)c?/", "'ABC'", "*[1, 'b']", "undef")
}

func (g *generator) types() string {
	return g.pick("Integer", "Integer[0, 5]", "Float", "Numeric", "String", "String[1]", "String[2, 3]", "Boolean", "Array", "Array[Integer]", "Hash", "Hash[String, Integer]",
		"Enum['a', 'b']", "Pattern[/^a/]", "Optional[Integer]", "Variant[Integer, String]", "Undef", "Any", "Scalar", "Data", "Type", "Type[Integer]", "Regexp", "Collection[1]",
		"Tuple[Integer, String]", "Struct[{a => Integer}]", "NotUndef", "Timespan", "SemVer", "Iterable", "Sensitive", "Default")
}

func (g *generator) literal(k kind) string {
	switch k {
	case integer:
		return g.pick("0", "1", "2", "-1", "3", "7", "-7", "10", "0x1F", "017", "(9223372036854775807 - 1)", "255")
	case float:
		return g.pick("0.0", "1.0", "1.5", "-2.5", "1e3", "1e-5", "3.14159", "0.1")
	case text:
		return g.pick("''", "'a'", "'b'", "'abc'", "'ABC'", "'Ab c'", "'10'", "'-3'", "'1.5'", "'0x1F'", "' 5 '", "'010'", "'héllo'", "'a,b,,c'", `"a\nb"`, "word", "'1.2.3'", "'%d|%s'", "'true'")
	case boolean:
		return g.pick("true", "false")
	case list:
		return g.pick("[]", "[1]", "[1, 2, 3]", "['a', 'b', 'A']", "[[1, 2], [3]]", "[undef]", "[1, 'a', 2.5]", "[{a => 1}]", "[3, 1, 2]", "[default]", "[*[1, 2], *{a => 1}, *3]", "[['a', 1], ['b', 2]]")
	case hash:
		return g.pick("{}", "{a => 1}", "{a => 1, 'b' => [2]}", "{1 => 'x', 2.0 => 'y'}", "{a => {b => {c => 1}}}", "{undef => 1}", "{a => undef, b => 'x'}", "{[1] => 2}", "{b => 2, a => 1}")
	case typ:
		return g.types()
	}
	return g.pick("undef", "default", "/a/", "/(b)(c)?/", "/^x$/", "Timespan(90)", "Timespan('1-02:03:04.5')", "Timestamp('2020-01-02T03:04:05 UTC')", "SemVer('1.2.3')", "SemVer('2.0.0-rc1')",
		"SemVerRange('>=1.0.0 <2.0.0')", "Sensitive('s')", "Binary('YWJj')", "URI('http://a.test/b/c?d=e')", "[1, 2, 3].reverse_each", "5.step(2)")
}

// made returns an expression that computes a value of a kind.
func (g *generator) made(k kind, depth int) string {
	switch k {
	case integer:
		return g.madeInteger(depth)
	case float:
		return g.pick(
			fmt.Sprintf("(%s %s %s)", g.of(float, depth), g.pick("+", "-", "*", "/"), g.of(kind(g.IntN(2)), depth)),
			fmt.Sprintf("(%s %s %s)", g.of(integer, depth), g.pick("+", "-", "*", "/", "%"), g.of(float, depth)),
			fmt.Sprintf("-(%s)", g.of(float, depth)), fmt.Sprintf("Float(%s)", g.any(depth)), fmt.Sprintf("abs(%s)", g.of(float, depth)))
	case text:
		return g.madeText(depth)
	case boolean:
		return g.madeBoolean(depth)
	case list:
		return g.madeList(depth)
	case hash:
		return g.madeHash(depth)
	case typ:
		return g.pick(fmt.Sprintf("type(%s)", g.any(depth)), fmt.Sprintf("type(%s, %s)", g.any(depth), g.pick("detailed", "reduced", "generalized")),
			fmt.Sprintf("Integer[%s, %s]", g.of(integer, depth), g.of(integer, depth)), fmt.Sprintf("Array[%s]", g.of(typ, depth)),
			fmt.Sprintf("Variant[%s, %s]", g.of(typ, depth), g.of(typ, depth)), fmt.Sprintf("String[%s]", g.of(integer, depth)))
	}
	return g.pick(
		fmt.Sprintf("(%s %s %s)", g.of(rich, depth), g.pick("+", "-", "*", "/", "%"), g.of(kind(g.pick("0", "1", "7")[0]-'0'), depth)),
		fmt.Sprintf("(%s %s %s)", g.of(integer, depth), g.pick("+", "-", "*"), g.of(rich, depth)),
		fmt.Sprintf("%s.%s", g.of(hash, depth), g.pick("dig('a')", "dig('a', 'b')", "get('a.b')", "get('a.b.c', 5)")),
		fmt.Sprintf("%s[%s]", g.of(hash, depth), g.pick("a", "'b'", "1", "a, b")),
		fmt.Sprintf("%s.%s |$x| { $x }", g.any(depth), g.pick("then", "lest", "unwrap")),
		fmt.Sprintf("max(%s, %s)", g.any(depth), g.any(depth)),
		fmt.Sprintf("assert_type(%s, %s)", g.of(typ, depth), g.any(depth)))
}

func (g *generator) madeInteger(depth int) string {
	return g.pick(
		fmt.Sprintf("(%s %s %s)", g.of(integer, depth), g.pick("+", "-", "*", "/", "%", "<<", ">>"), g.of(integer, depth)),
		fmt.Sprintf("(%s %s %s)", g.of(integer, depth), g.pick("+", "-", "*", "/", "%"), g.of(text, depth)),
		fmt.Sprintf("-(%s)", g.of(integer, depth)),
		fmt.Sprintf("%s.%s", g.of(list, depth), g.pick("size", "length", "reduce(0) |$m, $x| { $m + 1 }", "index(1)", "reduce |$m, $x| { $m }")),
		fmt.Sprintf("size(%s)", g.any(depth)),
		fmt.Sprintf("Integer(%s)", g.any(depth)),
		fmt.Sprintf("%s(%s)", g.pick("abs", "floor", "ceiling", "round"), g.of(kind(g.IntN(3)), depth)),
		fmt.Sprintf("compare(%s, %s)", g.any(depth), g.any(depth)),
		fmt.Sprintf("versioncmp(%s, %s)", g.of(text, depth), g.of(text, depth)),
		fmt.Sprintf("%s[%s]", g.of(list, depth), g.of(integer, depth)),
		fmt.Sprintf("%s(%s, %s)", g.pick("max", "min"), g.of(integer, depth), g.of(kind(g.IntN(3)), depth)))
}

func (g *generator) madeText(depth int) string {
	return g.pick(
		fmt.Sprintf(`"<${%s}>"`, g.any(depth)),
		fmt.Sprintf("%s(%s)", g.pick("upcase", "downcase", "capitalize", "camelcase", "strip", "lstrip", "rstrip", "chop", "chomp"), g.of(kind(g.pick("2", "2", "2", "0", "4")[0]-'0'), depth)),
		fmt.Sprintf("String(%s%s)", g.any(depth), g.pick("", "", ", '%p'", ", '%s'", ", '%d'", ", '%5x'", ", '%#a'")),
		fmt.Sprintf("sprintf('%s', %s, %s)", g.pick("%s %s", "%p %p", "%05d %s", "%-5s|%x", "%+.2f %s", "%2$s %1$s", "%%%c", "%.2s %e", "%b %o"), g.any(depth), g.any(depth)),
		fmt.Sprintf("join(%s, %s)", g.of(list, depth), g.of(text, depth)),
		fmt.Sprintf("regsubst(%s, %s, %s%s)", g.of(text, depth), g.pick("'a'", "/b/", "'(.)'", "'[a-c]'", "/\\d+/"), g.pick("'x'", `'<\1>'`, `'\0\0'`, "{'a' => 'z'}"), g.pick("", ", 'G'", ", 'GI'")),
		fmt.Sprintf("%s[%s, %s]", g.of(text, depth), g.of(integer, depth), g.of(integer, depth)),
		fmt.Sprintf("%s[%s]", g.of(text, depth), g.of(integer, depth)),
		fmt.Sprintf("%s(%s)", g.pick("md5", "sha256", "shellquote"), g.of(text, depth)),
		fmt.Sprintf("(if %s =~ /(\\w)(.)?/ { \"${1}-${2}\" } else { 'none' })", g.of(text, depth)))
}

func (g *generator) madeBoolean(depth int) string {
	k := kind(g.IntN(int(kinds)))
	return g.pick(
		fmt.Sprintf("(%s %s %s)", g.of(k, depth), g.pick("==", "!=", "<", "<=", ">", ">="), g.of(k, depth)),
		fmt.Sprintf("(%s %s %s)", g.any(depth), g.pick("==", "!=", "<", ">="), g.any(depth)),
		fmt.Sprintf("(%s in %s)", g.any(depth), g.any(depth)),
		fmt.Sprintf("(%s %s %s)", g.any(depth), g.pick("=~", "!~"), g.pick(g.types(), "/a/", "'^a'", "/(b)/")),
		fmt.Sprintf("(%s %s %s)", g.any(depth), g.pick("and", "or"), g.any(depth)),
		fmt.Sprintf("!%s", g.of(boolean, depth)),
		fmt.Sprintf("empty(%s)", g.any(depth)), fmt.Sprintf("Boolean(%s)", g.any(depth)),
		fmt.Sprintf("%s.%s |$x| { $x == 1 }", g.of(kind(4+g.IntN(2)), depth), g.pick("any", "all")))
}

func (g *generator) madeList(depth int) string {
	body := g.within("$x", func() string { return g.any(depth) })
	return g.pick(
		fmt.Sprintf("[%s, %s]", g.any(depth), g.any(depth)),
		fmt.Sprintf("(%s %s %s)", g.of(list, depth), g.pick("+", "-", "<<"), g.any(depth)),
		fmt.Sprintf("%s.map |$x| { %s }", g.any(depth), body),
		fmt.Sprintf("%s.map |$i, $x| { [$i, $x] }", g.any(depth)),
		fmt.Sprintf("%s.%s |$x| { %s }", g.any(depth), g.pick("filter", "each", "partition"), body),
		fmt.Sprintf("%s.filter |$x| { if %s { next(true) } break() }", g.of(list, depth), g.within("$x", func() string { return g.of(boolean, depth) })),
		fmt.Sprintf("%s(%s)", g.pick("flatten", "unique", "sort", "keys", "values", "Array"), g.of(kind(4+g.IntN(2)), depth)),
		fmt.Sprintf("%s.%s", g.any(depth), g.pick("slice(2)", "step(2).map |$x| { $x }", "reverse_each.map |$x| { $x }", "unique", "tree_each.map |$e| { $e }")),
		fmt.Sprintf("split(%s, %s)", g.of(text, depth), g.pick("','", "''", "/b/", "'(,)'", "' '")),
		fmt.Sprintf("match(%s, %s)", g.of(text, depth), g.pick("/(a)(b)?/", "'b'", "Pattern[/x/, /a/]")),
		fmt.Sprintf("%s[%s, %s]", g.of(list, depth), g.of(integer, depth), g.of(integer, depth)))
}

func (g *generator) madeHash(depth int) string {
	return g.pick(
		fmt.Sprintf("{%s => %s, z => %s}", g.any(depth), g.any(depth), g.any(depth)),
		fmt.Sprintf("(%s %s %s)", g.of(hash, depth), g.pick("+", "-"), g.of(kind(4+g.IntN(2)), depth)),
		fmt.Sprintf("%s.filter |$k, $v| { %s }", g.of(hash, depth), g.within("$v", func() string { return g.any(depth) })),
		fmt.Sprintf("%s.group_by |$x| { %s }", g.of(kind(4+g.IntN(2)), depth), g.within("$x", func() string { return g.any(depth) })),
		fmt.Sprintf("Hash(%s)", g.of(list, depth)), fmt.Sprintf("unique(%s)", g.of(hash, depth)),
		fmt.Sprintf("upcase(%s)", g.of(hash, depth)))
}
