package types_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A generator writes random types and values of the language.
type generator struct{ *rand.Rand }

func (g generator) pick(all ...string) string { return all[g.IntN(len(all))] }

// size returns the bounds of a size, or nothing.
func (g generator) size() string {
	return g.pick("", "", "", ", 0", ", 1", ", 2", ", 0, 0", ", 0, 1", ", 1, 2", ", 2, 3", ", default, 2")
}

func (g generator) bounds() string {
	return g.pick("", "", "[0]", "[1]", "[1, 5]", "[default, 3]", "[-2, 2]", "[3, 3]", "[6, 9]")
}

func (g generator) scalarType() string {
	switch g.IntN(22) {
	case 0, 1, 2:
		return "Integer" + g.bounds()
	case 3:
		return "Float" + g.pick("", "[0.5]", "[1, 2]", "[default, 1.5]", "[1.5, 1.5]")
	case 4, 5:
		return "String" + g.pick("", "[0]", "[1]", "[1, 1]", "[2, 3]", "[0, 2]", "[Integer[1, 2]]")
	case 6, 7:
		return "Enum" + g.pick("", "['a']", "['a', 'b']", "['b', 'abc']", "['A', true]", "['x', 'Y', true]", "['', 'a']")
	case 8:
		return "Pattern" + g.pick("", "[/a/]", "[/^a/, /b$/]", `[/\A[a-c]+\z/]`)
	case 9:
		return "Boolean" + g.pick("", "[true]", "[false]")
	case 10:
		return "Regexp" + g.pick("", "[/a/]", "[/b/]")
	case 11:
		return g.pick("SemVer", "SemVer['1.x']", "SemVer['>=1.0.0 <2.0.0']", "SemVer['1.2.3']", "SemVerRange")
	case 12:
		return "Timestamp" + g.pick("", "['2020-01-01']", "['2020-01-01', '2021-01-01']", "[default, '2021-01-01']")
	case 13:
		return "Timespan" + g.pick("", "[1]", "[1, 90]", "[default, '1:00:00']")
	case 14:
		return g.pick("Undef", "Default", "Binary", "URI", "URI['http://a.test/x']", "Any")
	case 15:
		return g.pick("Class", "Class['a']", "Class['b']", "File", "File['/x']", "File['/y']", "Resource", "CatalogEntry", "Notify['x']")
	case 16:
		return g.pick("Data", "RichData", "RichDataKey")
	}
	return g.pick("Numeric", "Scalar", "ScalarData", "Any", "Undef", "Data")
}

func (g generator) types(depth, least, most int) []string {
	var out []string
	for range least + g.IntN(most-least+1) {
		out = append(out, g.typ(depth-1))
	}
	return out
}

func (g generator) structType(depth int) string {
	var members []string
	for i := range g.IntN(4) {
		name := "'" + string("abc"[i]) + "'"
		members = append(members, fmt.Sprintf(g.pick("%s", "%s", "Optional[%s]", "NotUndef[%s]"), name)+" => "+g.typ(depth-1))
	}
	return "Struct[{" + strings.Join(members, ", ") + "}]"
}

func (g generator) callable(depth int) string {
	params := strings.Join(g.types(depth, 0, 2), ", ")
	if params == "" {
		params = g.pick("0, 0", "1", "default")
	} else {
		params += g.pick("", "", ", 0, 2", ", 1", ", 1, 1")
	}
	params += g.pick("", "", "", ", Callable[Integer]", ", Optional[Callable]")
	if g.IntN(3) == 0 {
		return "Callable[[" + params + "], " + g.typ(depth-1) + "]"
	}
	return "Callable[" + params + "]"
}

// typ returns the text of a type.
func (g generator) typ(depth int) string {
	if depth <= 0 {
		return g.scalarType()
	}
	switch g.IntN(18) {
	case 0, 1:
		return "Array[" + g.typ(depth-1) + g.size() + "]"
	case 2, 3:
		return "Hash[" + g.pick("String", "String[1]", "Enum['a', 'b']", "Scalar", g.typ(depth-1)) + ", " + g.typ(depth-1) + g.size() + "]"
	case 4, 5:
		return "Tuple[" + strings.Join(g.types(depth, 1, 3), ", ") + g.size() + "]"
	case 6, 7:
		return g.structType(depth)
	case 8, 9:
		return "Variant[" + strings.Join(g.types(depth, 1, 3), ", ") + "]"
	case 10, 11:
		return "Optional[" + g.typ(depth-1) + "]"
	case 12:
		return g.pick("NotUndef", "Iterable", "Type", "Sensitive", "Iterator") + "[" + g.typ(depth-1) + "]"
	case 13:
		return g.pick("Array", "Hash", "Tuple", "Struct", "Variant", "Optional", "NotUndef", "Iterable", "Iterator", "Type", "Sensitive", "Callable", "Collection", "Collection[1]", "Collection[0, 2]", "Array[1, 2]", "Hash[0, 0]", "Array[0, 0]")
	case 14:
		return g.callable(depth)
	case 15:
		return "Init[" + g.pick("Integer", "Float", "Boolean", "String", "Array", "Hash", "Numeric", "Timespan", "Integer, 16") + "]"
	}
	return g.scalarType()
}

func (g generator) scalar() string {
	return g.pick("0", "1", "2", "5", "-3", "7", "42", "0.5", "1.5", "-2.25", "1e20", "true", "false", "undef", "default",
		"''", "'a'", "'b'", "'abc'", "'A'", "'héé'", "'5'", "'0x1f'", "'1.5'", "'yes'", "'x y'", `"a\nb"`, `'it\'s'`,
		"/a/", "/b/", "Integer", "Integer[1, 5]", "Enum['a', 'b']", "String", "File['/x']", "Class['a']",
		"Sensitive('a')", "Sensitive(5)", "SemVer('1.2.3')", "SemVer('2.0.0')", "Timestamp('2020-06-01')", "Timespan(60)", "Binary('aGk=')", "URI('http://a.test/x')")
}

// value returns the text of a value.
func (g generator) value(depth int) string {
	var parts []string
	switch n := g.IntN(10); {
	case depth <= 0 || n < 4:
		return g.scalar()
	case n < 7:
		for range g.IntN(4) {
			parts = append(parts, g.value(depth-1))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	default:
		odd := g.IntN(4) == 0
		for i := range g.IntN(4) {
			key := "'" + string("abc"[i]) + "'"
			if odd {
				key = []string{"1", "''", "true"}[i]
			}
			parts = append(parts, key+" => "+g.value(depth-1))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
}

func (g generator) format() string {
	if g.IntN(5) == 0 {
		return "{" + g.pick("Integer", "Numeric", "Scalar", "Any", "String", "Float") + " => '" + g.plainFormat() + "', " +
			g.pick("Array => '%#a'", "Array => {format => '%(a', separator => '; '}", "Hash => {format => '%#h', separator2 => ': '}", "Boolean => '%y'", "Hash => '%a'") + "}"
	}
	return "'" + g.plainFormat() + "'"
}

func (g generator) plainFormat() string {
	return "%" + g.pick("", "", "", "#", "+", "-", "0", " ", "(", "[", "#+", "#0") + g.pick("", "", "", "3", "8", "12") + g.pick("", "", "", ".0", ".2", ".5") +
		g.pick("d", "x", "X", "o", "b", "B", "e", "E", "f", "g", "G", "s", "p", "a", "h", "c", "C", "u", "t", "T", "y", "Y", "A", "D", "v")
}

// parametrized returns a type with parameters that it may not take.
func (g generator) parametrized() string {
	name := g.pick("Integer", "Float", "String", "Enum", "Pattern", "Boolean", "Regexp", "SemVer", "Timestamp", "Timespan", "Collection", "Array", "Hash", "Tuple",
		"Struct", "Variant", "Optional", "NotUndef", "Iterable", "Iterator", "Type", "Sensitive", "Init", "Callable", "Class", "Resource", "File", "Runtime",
		"Numeric", "Any", "Undef", "Data", "Binary", "Default", "CatalogEntry", "Scalar", "URI")
	args := make([]string, 1+g.IntN(3))
	for i := range args {
		switch g.IntN(5) {
		case 0, 1:
			args[i] = g.typ(1)
		case 2:
			args[i] = g.value(1)
		default:
			args[i] = g.scalar()
		}
	}
	return name + "[" + strings.Join(args, ", ") + "]"
}

// subject returns a text for a regular expression.
func (g generator) subject() string {
	var b strings.Builder
	for range g.IntN(6) {
		b.WriteString(g.pick("a", "b", "ab", "A", "0", "9f", "é", " ", `\n`, `\t`, "_", "-", ".", "]", "É", "/", "[", "^"))
	}
	return `"` + b.String() + `"`
}

// expression returns a regular expression.
func (g generator) expression(depth int) string {
	var b strings.Builder
	for range 1 + g.IntN(3) {
		part := g.pick("a", "b", ".", "^", "$", `\A`, `\z`, `\Z`, `\h`, `\H`, `\d`, `\w`, `\W`, `\s`, `\S`, `\R`, "[ab]", "[^a]", "[a-z0-9_]", "[[:alpha:]]", "[[:upper:][:digit:]]",
			"[^[:space:]]", `[\h.]`, `[\]a]`, `\.`, `\/`, "é", "(?i:a)", "(?m:.)", "(?#x)", "(?<n>b)", `[\-a]`, `\t`, "[^\\n]")
		if depth > 0 && g.IntN(3) == 0 {
			part = g.pick("(", "(?:", "(?i:", "(?m-i:") + g.expression(depth-1) + g.pick("", "|"+g.expression(depth-1)) + ")"
		}
		b.WriteString(part)
		if !strings.HasSuffix(part, "^") && !strings.HasSuffix(part, "$") && !strings.HasSuffix(part, "x)") {
			b.WriteString(g.pick("", "", "", "?", "*", "+", "{1,2}", "*?"))
		}
	}
	return b.String()
}

// question returns an expression about types.
func (g generator) question() string {
	switch g.IntN(14) {
	case 13:
		return g.subject() + " =~ " + "Pattern[/" + g.expression(2) + "/]"
	case 12:
		return g.parametrized()
	case 0, 1, 2:
		return g.typ(2) + " <= " + g.typ(2)
	case 3, 4:
		return g.value(2) + " =~ " + g.typ(2)
	case 5, 6:
		return "assert_type(" + g.typ(2) + ", " + g.value(2) + ")"
	case 7:
		return "type(" + g.value(3) + ", " + g.pick("detailed", "reduced", "generalized") + ")"
	case 8:
		return g.typ(3)
	case 9:
		t := g.pick("Integer", "Float", "Numeric", "Boolean", "Array", "Hash", "String", "Integer[1, 5]", "Array[Integer]", "Tuple[Integer, String]", "Optional[Integer]", "Init[Integer]", "Init[Float]", "Init[Array]", "NotUndef[Float]", "Sensitive", g.typ(1))
		return t + ".new(" + g.value(2) + g.pick("", "", "", "", ", true", ", false", ", 16", ", 'tree'") + ")"
	case 10:
		return "String(" + g.value(2) + ")"
	}
	return "String(" + g.value(2) + ", " + g.format() + ")"
}
